//! Numbers that only rise: the least that each can be.
//!
//! A parameter of a block is at least `a` when each jump passes a constant that is, or a sum of constants and such
//! numbers that is, or what a test on the way to the jump has found to be. So a counter that starts at one and goes up
//! is never zero, and the number before it never negative. Rounding keeps the order of sums, and none of these is no
//! number. Integers are such counters, which no loop takes to where they would wrap.
//!
//! This is the lower half of an interval analysis (Cousot and Cousot, *Abstract Interpretation: A Unified Lattice Model
//! for Static Analysis of Programs*, 1977): from nothing passed downwards, and to nothing known where a parameter goes
//! on falling. Whoever walks the blocks adds what tests have found ([`Least::learn`]).

use crate::base::EntityVec;
use crate::opt::analysis::loops::{each_outcome, each_part, linear};
use crate::opt::edit::rewrite::Definitions;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Compare, Function, Inst, Int2, IntCompare, Op, Real2, Terminator, Type, Value};
use rustc_hash::FxHashMap;

/// A parameter that falls more often may fall for ever.
const MOST_FALLS: u32 = 3;
/// So many sums in a row are looked through.
const DEEPEST: u32 = 8;
/// So many blocks are looked at for tests before a jump.
const NEAR: usize = 4;
/// So many blocks are looked at for tests before a block.
const MOST_TESTS: usize = 32;
/// Integers of smaller magnitudes are exact as reals, and so are their sums.
const LARGEST: i64 = 1 << 51;

/// What is known about the parameters of a function's blocks.
#[derive(Debug)]
pub struct Least {
    /// The least that each can be; none where there is no loop.
    params: EntityVec<Value, f64>,
    /// What tests have found in the block that is looked at.
    found: FxHashMap<Value, f64>,
}

impl Least {
    /// Looks at a function.
    pub fn new(function: &Function, graph: &Graph, definitions: &Definitions) -> Least {
        if !graph.order.iter().any(|block| graph.is_loop_header(*block)) {
            return Least { params: EntityVec::new(), found: FxHashMap::default() };
        }
        let mut params = function.values.same_ids(f64::NEG_INFINITY);
        let mut falls = function.values.same_ids(0_u32);
        for block in graph.order.iter().filter(|block| **block != Function::ENTRY) {
            function.blocks[*block].params.iter().for_each(|param| params[*param] = f64::INFINITY);
        }
        let mut least = Least { params, found: FxHashMap::default() };
        loop {
            let mut lower = Vec::new();
            for block in &graph.order {
                for (position, target) in function.blocks[*block].terminator.targets().into_iter().enumerate() {
                    for (param, arg) in function.blocks[target.block].params.iter().zip(&target.args) {
                        if matches!(function.values[*param], Type::F64 | Type::Int) {
                            let mut passed = least.of(function, definitions, *arg);
                            if passed < least.param(*param) && function.values[*param] == Type::Int {
                                passed =
                                    passed.max(least.tested(function, graph, definitions, (*block, position), *arg));
                            }
                            if passed < least.param(*param) {
                                lower.push(*param);
                                least.params[*param] = passed;
                            }
                        }
                    }
                }
            }
            if lower.is_empty() {
                return least;
            }
            for param in lower {
                falls[param] += 1;
                if falls[param] > MOST_FALLS {
                    least.params[param] = f64::NEG_INFINITY;
                }
            }
        }
    }

    /// What tests shortly before a jump, by the position of its target, have found about a value.
    fn tested(
        &self,
        function: &Function,
        graph: &Graph,
        definitions: &Definitions,
        (from, position): (BlockId, usize),
        value: Value,
    ) -> f64 {
        let mut found = f64::NEG_INFINITY;
        let mut look = |inst: &Inst, holds: bool| {
            let facts = self.consequences(function, definitions, (inst.op, &inst.args), holds);
            facts.iter().filter(|(of, _)| *of == value).for_each(|(_, least)| found = found.max(*least));
        };
        if let Terminator::Branch(condition, yes, no) = &function.blocks[from].terminator
            && yes.block != no.block
        {
            each_part(function, definitions, (*condition, position == 0), &mut look);
        }
        let mut here = Some(from);
        for _ in 0..NEAR {
            let Some(block) = here else { break };
            each_outcome(function, graph, definitions, block, &mut look);
            here = graph.dominator[block];
        }
        found
    }

    /// Notes what tests have found on all ways to a block, and forgets what was noted before.
    pub fn stand_in(&mut self, function: &Function, graph: &Graph, definitions: &Definitions, block: BlockId) {
        self.found.clear();
        let above = std::iter::successors(Some(block), |block| graph.dominator[*block]);
        let mut blocks: Vec<BlockId> = above.take(MOST_TESTS).collect();
        while let Some(block) = blocks.pop() {
            for length in function.blocks[block].insts.iter().filter_map(Inst::vector_length) {
                self.learn(length, 0.0);
            }
            each_outcome(function, graph, definitions, block, |inst, holds| {
                for (value, least) in self.consequences(function, definitions, (inst.op, &inst.args), holds) {
                    self.learn(value, least);
                }
            });
        }
    }

    /// Whether a comparison holds, if that follows.
    pub fn decide(&self, function: &Function, definitions: &Definitions, op: Op, args: &[Value]) -> Option<bool> {
        if self.params.is_empty() && self.found.is_empty() {
            return None;
        }
        let least = |value: Value| self.of(function, definitions, value);
        let constant = |value: Value| match definitions.op(function, value) {
            Some(Op::ConstReal(bits)) => Some(f64::from_bits(bits)),
            Some(Op::ConstInt(number)) => exact(number),
            _ => None,
        };
        let below = |x: Value, y: Value| match (constant(x), constant(y)) {
            (None, Some(y)) => (y <= least(x)).then_some(false),
            (Some(x), None) => (x < least(y)).then_some(true),
            _ => None,
        };
        let at_most = |x: Value, y: Value| match (constant(x), constant(y)) {
            (None, Some(y)) => (y < least(x)).then_some(false),
            (Some(x), None) => (x <= least(y)).then_some(true),
            _ => None,
        };
        let differ = |x: Value, y: Value| match (constant(x), constant(y)) {
            (None, Some(constant)) => (constant < least(x)).then_some(true),
            (Some(constant), None) => (constant < least(y)).then_some(true),
            _ => None,
        };
        match (op, args) {
            (Op::Compare(Compare::Lt), &[x, y]) | (Op::Compare(Compare::Gt), &[y, x]) => below(x, y),
            (Op::Compare(Compare::Le), &[x, y]) | (Op::Compare(Compare::Ge), &[y, x]) => at_most(x, y),
            (Op::Compare(Compare::Ne), &[x, y]) => differ(x, y),
            (Op::Compare(Compare::Eq) | Op::IntCompare(IntCompare::Eq | IntCompare::Conform), &[x, y]) => {
                differ(x, y).map(|differ| !differ)
            }
            (Op::IntIs(number), &[x]) => (exact(number)? < least(x)).then_some(false),
            (Op::IntCompare(IntCompare::Lt), &[x, y]) => {
                below(x, y).or_else(|| Some(self.sign(function, definitions, [y, x])? == 1))
            }
            _ => None,
        }
    }

    /// Whether two places of a vector are known not to be the same.
    pub fn are_apart(&self, function: &Function, definitions: &Definitions, places: [Value; 2]) -> bool {
        self.sign(function, definitions, places).is_some_and(|sign| sign != 0)
    }

    /// Whether the difference of two integers is positive, negative or zero, if that is known: 1, -1, 0.
    fn sign(&self, function: &Function, definitions: &Definitions, [x, y]: [Value; 2]) -> Option<i64> {
        let mut difference = Terms::default();
        difference.add(function, definitions, x, 1, DEEPEST);
        difference.add(function, definitions, y, -1, DEEPEST);
        let constant = exact(difference.constant)?;
        difference.terms.retain(|(_, times)| *times != 0);
        if difference.terms.is_empty() {
            // The same integers are added to both: they do not wrap where they are places or counters.
            return Some(difference.constant.signum());
        }
        [1, -1].into_iter().find(|sign| {
            let mut least = constant * *sign as f64;
            for (value, times) in &difference.terms {
                let times = times * sign;
                let known = self.of(function, definitions, *value);
                least = if times > 0 { sum(least, known * times as f64) } else { f64::NEG_INFINITY };
            }
            least > 0.0
        })
    }

    /// Notes that a value is at least so much in the block that is looked at, and gives what was noted before.
    pub fn learn(&mut self, value: Value, least: f64) -> Option<f64> {
        let before = self.found.get(&value).copied();
        self.found.insert(value, before.map_or(least, |before| before.max(least)));
        before
    }

    /// Takes back what has been noted.
    pub fn forget(&mut self, value: Value, before: Option<f64>) {
        match before {
            Some(least) => drop(self.found.insert(value, least)),
            None => drop(self.found.remove(&value)),
        }
    }

    /// What follows from the outcome of a test: values, and the least that they can be.
    pub fn consequences(
        &self,
        function: &Function,
        definitions: &Definitions,
        (op, args): (Op, &[Value]),
        holds: bool,
    ) -> Vec<(Value, f64)> {
        let least = |value: Value| self.of(function, definitions, value);
        let (value, least) = match (op, args, holds) {
            (Op::IntCompare(IntCompare::Below), &[x, y], true) => {
                // The length is larger than the place, which is not negative.
                let least = least(x).max(0.0);
                return vec![(x, least), (y, least + 1.0)];
            }
            (Op::IntCompare(IntCompare::Lt), &[x, y], true) => (y, sum(least(x), 1.0)),
            (Op::IntCompare(IntCompare::Lt), &[x, y], false) => (x, least(y)),
            (Op::IntIs(number), &[x], false) if exact(number) == Some(least(x)) => (x, sum(least(x), 1.0)),
            _ => return Vec::new(),
        };
        if least == f64::NEG_INFINITY {
            return Vec::new();
        }
        let (base, offset) = linear(function, definitions, value);
        let of_base = base.filter(|base| *base != value).map(|base| (base, least - offset as f64));
        of_base.into_iter().chain([(value, least)]).collect()
    }

    fn param(&self, param: Value) -> f64 {
        // Younger values are not in the table.
        self.params.get(param).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// The least that a value can be; the negative infinity where nothing is known, otherwise it is a number.
    pub fn of(&self, function: &Function, definitions: &Definitions, value: Value) -> f64 {
        self.within(function, definitions, value, DEEPEST)
    }

    fn within(&self, function: &Function, definitions: &Definitions, value: Value, deepest: u32) -> f64 {
        let unknown = f64::NEG_INFINITY;
        let found = self.found.get(&value).copied().unwrap_or(unknown);
        found.max(self.computed(function, definitions, value, deepest))
    }

    /// What follows from how a value is computed.
    fn computed(&self, function: &Function, definitions: &Definitions, value: Value, deepest: u32) -> f64 {
        let unknown = f64::NEG_INFINITY;
        let Some(inst) = definitions.inst(function, value) else { return self.param(value) };
        let Some(deepest) = deepest.checked_sub(1) else { return unknown };
        let of = |value: Value| self.within(function, definitions, value, deepest);
        let is_constant = |value: Value| matches!(definitions.op(function, value), Some(Op::ConstReal(_)));
        match (inst.op, &inst.args[..]) {
            (Op::ConstReal(bits), _) => Some(f64::from_bits(bits)).filter(|number| !number.is_nan()).unwrap_or(unknown),
            (Op::ConstInt(number), _) => exact(number).unwrap_or(unknown),
            (Op::RealOf, &[x]) => of(x),
            (Op::Real2(Real2::Add), &[x, y]) => sum(of(x), of(y)),
            (Op::Real2(Real2::Sub), &[x, y]) if is_constant(y) => sum(of(x), -of(y)),
            (Op::Int2(_), _) => match linear(function, definitions, value) {
                (Some(base), offset) if base != value => sum(of(base), offset as f64),
                _ => unknown,
            },
            _ => unknown,
        }
    }
}

/// A sum of integers.
#[derive(Default)]
struct Terms {
    constant: i64,
    /// The others, with how many times each is added.
    terms: Vec<(Value, i64)>,
}

impl Terms {
    /// Adds an integer so many times.
    fn add(&mut self, function: &Function, definitions: &Definitions, value: Value, times: i64, deepest: u32) {
        let inst = definitions.inst(function, value).zip(deepest.checked_sub(1));
        match inst.map(|(inst, deepest)| (inst.op, &inst.args[..], deepest)) {
            Some((Op::ConstInt(number), ..)) => {
                self.constant = self.constant.saturating_add(number.saturating_mul(times));
            }
            Some((Op::Int2(op @ (Int2::Add | Int2::Sub)), &[x, y], deepest)) => {
                self.add(function, definitions, x, times, deepest);
                let times = if op == Int2::Add { times } else { -times };
                self.add(function, definitions, y, times, deepest);
            }
            _ => match self.terms.iter_mut().find(|(term, _)| *term == value) {
                Some((_, sum)) => *sum += times,
                None => self.terms.push((value, times)),
            },
        }
    }
}

/// A sum of least numbers, of which nothing is known if nothing is known of one of them.
fn sum(x: f64, y: f64) -> f64 {
    let sum = x + y;
    if x == f64::NEG_INFINITY || y == f64::NEG_INFINITY || sum.is_nan() { f64::NEG_INFINITY } else { sum }
}

/// The real that an integer is, if it is small.
fn exact(number: i64) -> Option<f64> {
    (number.abs() < LARGEST).then_some(number as f64)
}
