//! Loops that end when a counter equals a bound end when it is no longer before it.
//!
//! ```text
//! b1(v1: int):                              b1(v1: int):
//!     v2 = int_eq v1, v0              →         v2 = int_lt v1, v0
//!     branch v2, b3, b2                         branch v2, b2, b3
//! ```
//!
//! A counter that starts at or before the bound and goes there in steps of one meets it, and is before it until then.
//! If it starts past the bound, it never meets it: where that is not known not to be, the bound is one that is never
//! met either. So passes over loops know one form of tests.

use crate::opt::analysis::least::Least;
use crate::opt::analysis::loops::{Bound, Code, Linear, counter, linear};
use crate::opt::edit::rewrite::append;
use crate::ssa::ir::{BlockId, Function, Inst, Int2, IntCompare, Op, Terminator, Type, Value};

/// The end of a loop.
struct End {
    header: BlockId,
    counter: Value,
    bound: Bound,
    /// The counter goes downwards.
    falls: bool,
    /// Where the test finds the counter in the first round, if that may be past the bound.
    first: Option<Linear>,
}

/// Rewrites the tests at the beginnings of loops. True when there was one.
pub(super) fn rewrite(function: &mut Function) -> bool {
    let code = Code::new(function);
    let headers = code.graph.order.iter().filter(|block| code.graph.is_loop_header(**block));
    let mut least = Least::new(function, &code.graph, &code.definitions);
    let ends: Vec<End> = headers.filter_map(|header| end(&code, &mut least, *header)).collect();
    for end in &ends {
        end.apply(function);
    }
    !ends.is_empty()
}

/// How a loop ends, if that is by equality.
fn end(code: &Code<'_>, least: &mut Least, header: BlockId) -> Option<End> {
    let Terminator::Branch(condition, yes, no) = &code.function.blocks[header].terminator else { return None };
    let Inst { op, args, .. } = code.definitions.inst(code.function, *condition)?;
    let body = code.body(header);
    if code.homes.get(*condition) != Some(header) || body.contains(&yes.block) || !body.contains(&no.block) {
        return None;
    }
    let (tested, bound) = match (op, &args[..]) {
        (Op::IntIs(bound), &[tested]) => (tested, Bound::Constant(Op::ConstInt(*bound), Type::Int)),
        (Op::IntCompare(IntCompare::Eq), &[x, y]) => match (code.bound(y, &body), code.bound(x, &body)) {
            (Some(bound), _) => (x, bound),
            (None, Some(bound)) => (y, bound),
            (None, None) => return None,
        },
        _ => return None,
    };
    let (param, offset) = linear(code.function, &code.definitions, tested);
    let position = code.function.blocks[header].params.iter().position(|other| Some(*other) == param)?;
    let (start, step) = counter(code.function, &code.graph, &code.definitions, header, position)?;
    // With any other step it might pass the bound.
    if step.abs() != 1 {
        return None;
    }
    let first = (start.0, start.1 + offset);
    let falls = step < 0;
    let is_before = is_before(code, least, header, first, bound, falls);
    Some(End { header, counter: tested, bound, falls, first: (!is_before).then_some(first) })
}

/// Whether a counter is known not to start past the bound.
fn is_before(code: &Code<'_>, least: &mut Least, header: BlockId, first: Linear, bound: Bound, falls: bool) -> bool {
    let bound = match bound {
        Bound::Value(bound) => linear(code.function, &code.definitions, bound),
        Bound::Constant(Op::ConstInt(bound), _) => (None, bound),
        Bound::Constant(..) => return false,
    };
    let (low, high) = if falls { (bound, first) } else { (first, bound) };
    match (low, high) {
        ((low_base, low), (high_base, high)) if low_base == high_base => low <= high,
        ((None, low), (Some(base), offset)) => {
            least.stand_in(code.function, &code.graph, &code.definitions, header);
            least.of(code.function, &code.definitions, base) + offset as f64 >= low as f64
        }
        _ => false,
    }
}

impl End {
    fn apply(&self, function: &mut Function) {
        let mut insts = std::mem::take(&mut function.blocks[self.header].insts);
        let mut make = |op, args, ty| append(&mut function.values, &mut insts, op, args, ty, None);
        let mut bound = self.bound.made_by(&mut make);
        if let Some((base, offset)) = self.first {
            let offset = make(Op::ConstInt(offset), Vec::new(), Type::Int);
            let first = match base {
                Some(base) => make(Op::Int2(Int2::Add), vec![base, offset], Type::Int),
                None => offset,
            };
            let never = if self.falls { i64::MIN } else { i64::MAX };
            let never = make(Op::ConstInt(never), Vec::new(), Type::Int);
            let (low, high) = if self.falls { (first, bound) } else { (bound, first) };
            let is_past = make(Op::IntCompare(IntCompare::Lt), vec![low, high], Type::Bool);
            bound = make(Op::Select, vec![is_past, never, bound], Type::Int);
        }
        let (low, high) = if self.falls { (bound, self.counter) } else { (self.counter, bound) };
        let goes_on = make(Op::IntCompare(IntCompare::Lt), vec![low, high], Type::Bool);
        function.blocks[self.header].insts = insts;
        if let Terminator::Branch(condition, yes, no) = &mut function.blocks[self.header].terminator {
            *condition = goes_on;
            std::mem::swap(yes, no);
        }
    }
}
