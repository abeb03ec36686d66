//! Loops that end because they count: see the module above.
//!
//! What stays in a loop is put as `low <= high` or `x != y`. Such a test fails in the end if `low` rises or `high`
//! falls, or if `x` meets `y` on its way.

use super::{Code, Loop};
use crate::ssa::ir::{BlockId, Compare, Inst, Int2, IntCompare, Op, Real2, Terminator, Value};
use rustc_hash::FxHashSet;

/// Reals up to this count exactly.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// How far operations are followed.
const DEPTH: usize = 8;

/// What has to hold for a loop to go on.
#[derive(Clone, Copy)]
enum Stays {
    /// Of integers: the first is at most the second.
    AtMost(Value, Value),
    /// The same of reals, or one of them is not a number.
    RealAtMost(Value, Value),
    /// The value is not the other.
    Differs(Value, Value),
    RealDiffers(Value, Value),
    /// The integer is not this one.
    IsNot(Value, i64),
    /// The integer is not negative and less than one that does not change.
    Below(Value, Value),
}

/// A value of a loop as the parameter at this position and a constant, and by how much each round moves it.
struct Counter<N> {
    position: usize,
    offset: N,
    step: N,
}

/// The numbers that a real may be.
#[derive(Clone, Copy, Debug)]
struct Range {
    low: f64,
    high: f64,
    /// Whether there are integers only.
    is_integer: bool,
}

impl Range {
    fn exact(number: f64) -> Option<Range> {
        (number.abs() < LARGEST).then(|| Range { low: number, high: number, is_integer: number.fract() == 0.0 })
    }

    fn plus(self, change: f64) -> Option<Range> {
        let (mut low, mut high) = (self.low + change, self.high + change);
        if self.is_integer && change.abs() <= 1.0 {
            // Adding one to the largest number changes nothing.
            (low, high) = (low.max(-LARGEST), high.min(LARGEST));
        }
        let is_integer = self.is_integer && change.fract() == 0.0;
        (low.abs() <= LARGEST && high.abs() <= LARGEST).then_some(Range { low, high, is_integer })
    }

    fn or(self, other: Range) -> Range {
        Range {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            is_integer: self.is_integer && other.is_integer,
        }
    }

    /// The largest number without its sign.
    fn size(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }
}

impl Code<'_> {
    /// Whether a test that each round passes fails in the end because something counts.
    pub(super) fn counts(&self, around: &Loop<'_>) -> bool {
        let tests = around.body.iter().filter(|(_, is_inside)| **is_inside).map(|(id, _)| id);
        tests.filter(|id| self.is_in_each_round(around, *id)).any(|id| {
            let Terminator::Branch(condition, yes, no) = &self.function.blocks[id].terminator else { return false };
            match (around.body[yes.block], around.body[no.block]) {
                (true, false) => self.fails_in_the_end(around, *condition, true),
                (false, true) => self.fails_in_the_end(around, *condition, false),
                _ => false,
            }
        })
    }

    fn is_in_each_round(&self, around: &Loop<'_>, id: BlockId) -> bool {
        around.latches.iter().all(|latch| self.dominates(id, *latch))
    }

    fn fails_in_the_end(&self, around: &Loop<'_>, condition: Value, stays_if: bool) -> bool {
        let mut waiting = vec![(condition, stays_if)];
        while let Some((condition, holds)) = waiting.pop() {
            let Some(inst) = self.definitions.inst(self.function, condition) else { continue };
            match (inst.op, holds) {
                (Op::And, true) | (Op::Or, false) => waiting.extend(inst.args.iter().map(|arg| (*arg, holds))),
                (Op::Not, _) => waiting.push((inst.args[0], !holds)),
                (op, _) if stays(op, &inst.args, holds).is_some_and(|stays| self.is_left(around, stays)) => {
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    fn is_left(&self, around: &Loop<'_>, stays: Stays) -> bool {
        let is_fixed = |value: Value| self.is_fixed(around, value);
        match stays {
            Stays::AtMost(low, high) => {
                let rises = || self.int_counter(around, low).is_some_and(|counter| counter.step > 0);
                let falls = || self.int_counter(around, high).is_some_and(|counter| counter.step < 0);
                is_fixed(high) && self.is_at_most_a_count(high) && rises()
                    || is_fixed(low) && self.is_counted(low) && falls()
            }
            Stays::Below(x, y) => is_fixed(y) && self.int_counter(around, x).is_some_and(|counter| counter.step != 0),
            Stays::IsNot(x, y) => self.int_counter(around, x).is_some_and(|counter| {
                let starts = || around.starts.iter().map(|target| self.least(target.args[counter.position], DEPTH));
                // From above, one by one.
                counter.step == -1
                    && starts().all(|start| start.is_some_and(|start| start.saturating_add(counter.offset) >= y))
                    || counter.step == 1 && self.starts_below(around, &counter, |_| Some(y))
            }),
            Stays::Differs(x, y) => [(x, y), (y, x)].into_iter().any(|(x, y)| {
                is_fixed(y)
                    && self.int_counter(around, x).is_some_and(|counter| {
                        counter.step == 1 && self.starts_below(around, &counter, |code| code.least(y, DEPTH))
                    })
            }),
            Stays::RealAtMost(low, high) => {
                self.real_passes(around, low, high, 1.0) || self.real_passes(around, high, low, -1.0)
            }
            Stays::RealDiffers(x, y) => self.real_meets(around, x, y) || self.real_meets(around, y, x),
        }
    }

    /// Whether a counter that rises begins at constants that are at most the bound.
    fn starts_below(&self, around: &Loop<'_>, counter: &Counter<i64>, bound: impl Fn(&Self) -> Option<i64>) -> bool {
        let Some(bound) = bound(self) else { return false };
        around.starts.iter().all(|target| {
            let start = self.linear_int(target.args[counter.position]);
            start.is_some_and(|(base, start)| base.is_none() && start.saturating_add(counter.offset) <= bound)
        })
    }

    /// Whether a real counter moves towards a bound, up or down, and gets there.
    fn real_passes(&self, around: &Loop<'_>, moving: Value, bound: Value, direction: f64) -> bool {
        let Some(counter) = self.real_counter(around, moving) else { return false };
        let (Some(start), Some(bound)) = (self.start(around, &counter), self.fixed_range(around, bound)) else {
            return false;
        };
        // An addition that is not exact still has to change the number.
        let step = counter.step * direction;
        let size = start.size().max(bound.size());
        let is_exact = start.is_integer && counter.step.fract() == 0.0;
        counter.offset.abs() <= 1.0 && step > 0.0 && (is_exact || step >= size * f64::EPSILON * 4.0)
    }

    /// Whether a real counter moves towards a bound one by one and meets it.
    fn real_meets(&self, around: &Loop<'_>, moving: Value, bound: Value) -> bool {
        let Some(counter) = self.real_counter(around, moving) else { return false };
        let (Some(start), Some(bound)) = (self.start(around, &counter), self.fixed_range(around, bound)) else {
            return false;
        };
        let Some(start) = start.plus(counter.offset) else { return false };
        start.is_integer
            && bound.is_integer
            && (counter.step == 1.0 && start.high <= bound.low || counter.step == -1.0 && start.low >= bound.high)
    }

    fn start(&self, around: &Loop<'_>, counter: &Counter<f64>) -> Option<Range> {
        self.range_of_all(around.starts.iter().map(|target| target.args[counter.position]), DEPTH)
    }

    fn fixed_range(&self, around: &Loop<'_>, value: Value) -> Option<Range> {
        self.is_fixed(around, value).then(|| self.range(value, DEPTH))?
    }

    /// Whether a value is the same in all rounds.
    fn is_fixed(&self, around: &Loop<'_>, value: Value) -> bool {
        let Some(inst) = self.definitions.inst(self.function, value) else {
            return self.homes.get(value).is_some_and(|home| !around.body[home]);
        };
        let is_outside = self.homes.get(value).is_some_and(|home| !around.body[home]);
        match inst.op {
            Op::ConstInt(_) | Op::ConstReal(_) => true,
            Op::RealOf if !is_outside => self.is_fixed(around, inst.args[0]),
            _ => is_outside,
        }
    }

    fn int_counter(&self, around: &Loop<'_>, value: Value) -> Option<Counter<i64>> {
        let (param, offset) = self.linear_int(value)?;
        self.counter(around, param?, offset, |passed| self.linear_int(passed), |step| step.signum())
    }

    fn real_counter(&self, around: &Loop<'_>, value: Value) -> Option<Counter<f64>> {
        let (param, offset) = self.linear_real(value)?;
        self.counter(
            around,
            param?,
            offset,
            |passed| self.linear_real(passed),
            |step: &f64| {
                if *step > 0.0 { 1 } else { -i64::from(*step < 0.0) }
            },
        )
    }

    /// How a value of a loop counts, by the least step, if all rounds move it in one direction.
    fn counter<N: Copy + PartialOrd>(
        &self,
        around: &Loop<'_>,
        param: Value,
        offset: N,
        linear: impl Fn(Value) -> Option<(Option<Value>, N)>,
        sign: impl Fn(&N) -> i64,
    ) -> Option<Counter<N>> {
        let position = self.function.blocks[around.header].params.iter().position(|other| *other == param)?;
        let mut found: Option<N> = None;
        for target in &around.rounds {
            let (base, step) = linear(target.args[position])?;
            if base != Some(param) || found.is_some_and(|other| other != step) || sign(&step) == 0 {
                return None;
            }
            found = Some(step);
        }
        found.map(|step| Counter { position, offset, step })
    }

    /// An integer as another one and a constant.
    fn linear_int(&self, value: Value) -> Option<(Option<Value>, i64)> {
        let (mut base, mut sum) = (value, 0_i64);
        for _ in 0..DEPTH {
            let Some(inst) = self.definitions.inst(self.function, base) else { break };
            let constant = |value: Value| match self.definitions.op(self.function, value) {
                Some(Op::ConstInt(x)) if x.unsigned_abs() < 1 << 40 => Some(x),
                _ => None,
            };
            let (next, change) = match inst.op {
                Op::ConstInt(x) if x.unsigned_abs() < 1 << 40 => return Some((None, sum + x)),
                Op::Int2(Int2::Add) => match (constant(inst.args[0]), constant(inst.args[1])) {
                    (_, Some(x)) => (inst.args[0], x),
                    (Some(x), _) => (inst.args[1], x),
                    _ => break,
                },
                Op::Int2(Int2::Sub) => match constant(inst.args[1]) {
                    Some(x) => (inst.args[0], -x),
                    None => break,
                },
                _ => break,
            };
            (base, sum) = (next, sum + change);
        }
        Some((Some(base), sum))
    }

    /// A real as another one and a constant; `None` if two additions are rounded one after the other.
    fn linear_real(&self, value: Value) -> Option<(Option<Value>, f64)> {
        let Some(inst) = self.definitions.inst(self.function, value) else { return Some((Some(value), 0.0)) };
        let constant = |value: Value| match self.definitions.op(self.function, value) {
            Some(Op::ConstReal(bits)) => Some(f64::from_bits(bits)).filter(|x| x.abs() <= LARGEST),
            _ => None,
        };
        let (base, change) = match inst.op {
            Op::Real2(Real2::Add) => match (constant(inst.args[0]), constant(inst.args[1])) {
                (_, Some(x)) => (inst.args[0], x),
                (Some(x), _) => (inst.args[1], x),
                _ => return Some((Some(value), 0.0)),
            },
            Op::Real2(Real2::Sub) => match constant(inst.args[1]) {
                Some(x) => (inst.args[0], -x),
                None => return Some((Some(value), 0.0)),
            },
            _ => return Some((Some(value), 0.0)),
        };
        let is_plain = self.definitions.inst(self.function, base).is_none_or(|inst| !matches!(inst.op, Op::Real2(_)));
        is_plain.then_some((Some(base), change))
    }

    /// Whether an integer is a count, not the integer part of a real, which may be as large as one that is not reached,
    /// or one that stands for that.
    fn is_counted(&self, value: Value) -> bool {
        let mut seen = FxHashSet::default();
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.definitions.inst(self.function, value) {
                None => waiting.extend(self.passed(value).into_iter().flatten()),
                Some(inst) => match inst.op {
                    // Bounds that are not met are the largest integers.
                    Op::ConstInt(x) if x.unsigned_abs() > 1 << 53 => return false,
                    Op::IntOf if self.range(inst.args[0], DEPTH).is_none() => return false,
                    Op::Int2(_) => waiting.extend(&inst.args),
                    Op::Select => waiting.extend(&inst.args[1..]),
                    _ => {}
                },
            }
        }
        true
    }

    /// Whether an integer is at most a count, as the smaller one of two is where one of them is.
    fn is_at_most_a_count(&self, value: Value) -> bool {
        let Some(inst) = self.definitions.inst(self.function, value) else { return self.is_counted(value) };
        let is_smaller = |test: &Inst| test.op == Op::IntCompare(IntCompare::Lt) && test.args[..] == inst.args[1..];
        match inst.op {
            Op::Select if self.definitions.inst(self.function, inst.args[0]).is_some_and(is_smaller) => {
                inst.args[1..].iter().any(|one| self.is_at_most_a_count(*one))
            }
            _ => self.is_counted(value),
        }
    }

    /// The least number that an integer may be, if there is one that is not negative by far.
    fn least(&self, value: Value, depth: usize) -> Option<i64> {
        let depth = depth.checked_sub(1)?;
        let (base, sum) = self.linear_int(value)?;
        let Some(base) = base else { return Some(sum) };
        let of_base = match self.definitions.inst(self.function, base) {
            Some(inst) => match inst.op {
                Op::Select => self.least(inst.args[1], depth)?.min(self.least(inst.args[2], depth)?),
                Op::Int2(Int2::Add) => {
                    self.least(inst.args[0], depth)?.checked_add(self.least(inst.args[1], depth)?)?
                }
                Op::Int2(_) | Op::ConstInt(_) => return None,
                Op::IntOf => match self.range(inst.args[0], depth) {
                    Some(range) => range.low as i64,
                    None => return None,
                },
                _ => 0,
            },
            None => match self.passed(base) {
                None => 0,
                Some(passed) => {
                    let mut least = i64::MAX;
                    for value in passed {
                        // What only rises does not become less than at first.
                        if self.linear_int(value).is_some_and(|(from, step)| from == Some(base) && step >= 0) {
                            continue;
                        }
                        least = least.min(self.least(value, depth)?);
                    }
                    least
                }
            },
        };
        of_base.checked_add(sum)
    }

    /// What jumps pass for the parameter of a block, if that is not the first one of the function.
    fn passed(&self, param: Value) -> Option<impl Iterator<Item = Value>> {
        let (block, position) = self.param(param)?;
        let from = &self.graph.predecessors[block];
        (!from.is_empty()).then(|| {
            let targets = from.iter().flat_map(|from| self.function.blocks[*from].terminator.targets());
            targets.filter(move |target| target.block == block).map(move |target| target.args[position])
        })
    }

    fn range_of_all(&self, values: impl Iterator<Item = Value>, depth: usize) -> Option<Range> {
        let mut found: Option<Range> = None;
        for value in values {
            let range = self.range(value, depth)?;
            found = Some(found.map_or(range, |other| other.or(range)));
        }
        found
    }

    /// The numbers that a real may be, if they are known to be small enough to be counted.
    fn range(&self, value: Value, depth: usize) -> Option<Range> {
        let depth = depth.checked_sub(1)?;
        let Some(inst) = self.definitions.inst(self.function, value) else {
            let (mut rises, mut falls) = (false, false);
            let mut starts = Vec::new();
            for passed in self.passed(value)? {
                match self.linear_real(passed)? {
                    (Some(base), step) if base == value => {
                        if step.abs() != 1.0 && step != 0.0 {
                            return None;
                        }
                        (rises, falls) = (rises || step > 0.0, falls || step < 0.0);
                    }
                    _ => starts.push(passed),
                }
            }
            let start = self.range_of_all(starts.into_iter(), depth)?;
            // Counting by ones ends where adding one changes nothing.
            return match (rises, falls) {
                (false, false) => Some(start),
                (true, false) => start.is_integer.then_some(Range { high: LARGEST, ..start }),
                (false, true) => start.is_integer.then_some(Range { low: -LARGEST, ..start }),
                (true, true) => start.is_integer.then_some(Range { low: -LARGEST, high: LARGEST, ..start }),
            };
        };
        match inst.op {
            Op::ConstReal(bits) => Range::exact(f64::from_bits(bits)),
            Op::RealOf => {
                let low = self.least(inst.args[0], depth).map_or(-LARGEST, |least| least as f64);
                Some(Range { low, high: LARGEST, is_integer: true })
            }
            Op::Select => Some(self.range(inst.args[1], depth)?.or(self.range(inst.args[2], depth)?)),
            Op::Real2(Real2::Add | Real2::Sub) => match self.linear_real(value)? {
                (Some(base), change) if base != value => self.range(base, depth)?.plus(change),
                _ => None,
            },
            _ => None,
        }
    }
}

/// What a test says if it holds, or does not.
fn stays(op: Op, args: &[Value], holds: bool) -> Option<Stays> {
    let (x, y) = (*args.first()?, args.get(1).copied());
    Some(match (op, holds) {
        (Op::IntIs(number), false) => Stays::IsNot(x, number),
        (Op::IntCompare(IntCompare::Lt), true) => Stays::AtMost(x, y?),
        (Op::IntCompare(IntCompare::Lt), false) => Stays::AtMost(y?, x),
        (Op::IntCompare(IntCompare::Below), true) => Stays::Below(x, y?),
        (Op::IntCompare(IntCompare::Eq), false) => Stays::Differs(x, y?),
        (Op::Compare(Compare::Lt | Compare::Le), true) | (Op::Compare(Compare::Gt | Compare::Ge), false) => {
            Stays::RealAtMost(x, y?)
        }
        (Op::Compare(Compare::Gt | Compare::Ge), true) | (Op::Compare(Compare::Lt | Compare::Le), false) => {
            Stays::RealAtMost(y?, x)
        }
        (Op::Compare(Compare::Eq), false) | (Op::Compare(Compare::Ne), true) => Stays::RealDiffers(x, y?),
        _ => return None,
    })
}
