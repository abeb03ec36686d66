//! What has to hold so that a loop makes so many rounds more.
//!
//! Every test of the loop compares something that counts with something that does not change. It has the same outcome
//! in all rounds from one to another if it has it in the first, or in the last, of them: so one comparison is left,
//! with a bound that is moved by what happens in the rounds between.
//!
//! ```text
//! int_lt v1, v0         going up, two rounds           int_lt v1, (v0 - 1)
//! int_below v1, v0      going up                       the same, and v1 is not negative at first
//! int_lt v0, v1         going down                     int_lt (v0 + 1), v1
//! ```

use crate::opt::analysis::loops::Linear;
use crate::opt::edit::rewrite::Definitions;
use crate::opt::loops::vectorize::shape::Loop;
use crate::ssa::ir::{Function, IntCompare, Op, Value};

/// That a value that counts is below a bound, or that the bound is below the value, or that this is not so.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Test {
    pub(super) counter: Value,
    /// What does not change in the loop.
    pub(super) bound: Linear,
    /// Whether the counter is the first operand.
    pub(super) is_below: bool,
    pub(super) holds: bool,
}

/// What has to hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    /// Before the first of the rounds that are made together.
    pub(super) tests: Vec<Test>,
    /// Before the loop, in addition.
    pub(super) first: Vec<Test>,
    /// Before the loop: truth values that the loop does not change, with their outcome.
    pub(super) given: Vec<(Value, bool)>,
}

impl Bounds {
    /// What has to hold so that the loop makes so many rounds; `None` if that cannot be told.
    pub(super) fn new(function: &Function, definitions: &Definitions, found: &Loop, rounds: usize) -> Option<Bounds> {
        let mut bounds = Bounds::default();
        let mut waiting = found.conditions.clone();
        while let Some((condition, holds)) = waiting.pop() {
            if !found.is_inside(condition) {
                bounds.given.push((condition, holds));
                continue;
            }
            let inst = found.inst(condition)?;
            match (inst.op, holds) {
                (Op::And, true) | (Op::Or, false) => waiting.extend(inst.args.iter().map(|arg| (*arg, holds))),
                (Op::Not, _) => waiting.push((inst.args[0], !holds)),
                (Op::ConstBool(outcome), _) if outcome == holds => {}
                (Op::IntCompare(op @ (IntCompare::Lt | IntCompare::Below)), _) => {
                    let operands = [inst.args[0], inst.args[1]];
                    bounds.add(function, definitions, found, (op, operands, holds), rounds as i64 - 1)?;
                }
                _ => return None,
            }
        }
        Some(bounds)
    }

    fn add(
        &mut self,
        function: &Function,
        definitions: &Definitions,
        found: &Loop,
        (op, [x, y], holds): (IntCompare, [Value; 2], bool),
        more: i64,
    ) -> Option<()> {
        let fixed = |value: Value| match definitions.op(function, value) {
            Some(Op::ConstInt(number)) if number.unsigned_abs() < 1 << 31 => Some((None, number)),
            _ => (!found.is_inside(value)).then_some((Some(value), 0)),
        };
        let (counter, (base, offset), is_below) = match (found.stride(x)?, found.stride(y)?) {
            (0, 0) => return None,
            (_, 0) => (x, fixed(y)?, true),
            (0, _) => (y, fixed(x)?, false),
            _ => return None,
        };
        let stride = found.stride(counter)?;
        let test = |bound: Linear, is_below: bool, holds: bool| Test { counter, bound, is_below, holds };
        if op == IntCompare::Below {
            if !is_below || !holds {
                return None;
            }
            // Not negative, and below the bound, which is a length.
            if stride > 0 {
                if !found.starts_at_constant(function, definitions, counter) {
                    self.first.push(test((None, 0), true, false));
                }
                self.tests.push(test((base, offset - stride * more), true, true));
            } else {
                self.first.push(test((base, offset), true, true));
                self.tests.push(test((None, -stride * more), true, false));
            }
            return Some(());
        }
        // Whether the outcome is in danger in the last of the rounds, or in the first.
        let is_last = (stride > 0) == (is_below == holds);
        let moved = if is_last { offset - stride * more } else { offset };
        self.tests.push(test((base, moved), is_below, holds));
        Some(())
    }
}
