//! Numbers that only rise: the least that each can be.
//!
//! A parameter of a block is at least `a` when each jump passes a constant that is, or a sum of constants and such
//! numbers that is. So a counter that starts at one and goes up is never zero, and the number before it never negative.
//! Rounding keeps the order of sums, and none of these is no number. Integers are such counters, which no loop takes to
//! where they would wrap.
//!
//! This is the lower half of an interval analysis (Cousot and Cousot, *Abstract Interpretation: A Unified Lattice Model
//! for Static Analysis of Programs*, 1977): from nothing passed downwards, and to nothing known where a parameter goes
//! on falling.

use crate::base::EntityVec;
use crate::opt::edit::rewrite::Definitions;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{Compare, Function, Int2, IntCompare, Op, Real2, Type, Value};

/// A parameter that falls more often may fall for ever.
const MOST_FALLS: u32 = 3;
/// So many sums in a row are looked through.
const DEEPEST: u32 = 8;
/// Integers of smaller magnitudes are exact as reals, and so are their sums.
const LARGEST: i64 = 1 << 51;

/// What is known about the parameters of a function's blocks.
#[derive(Debug)]
pub struct Least {
    /// The least that each can be; nothing where no loop counts from a constant.
    params: Option<EntityVec<Value, f64>>,
}

impl Least {
    /// Looks at a function.
    pub fn new(function: &Function, graph: &Graph, definitions: &Definitions) -> Least {
        if !counts_from_a_constant(function, graph, definitions) {
            return Least { params: None };
        }
        let mut params = function.values.same_ids(f64::NEG_INFINITY);
        let mut falls = function.values.same_ids(0_u32);
        for block in graph.order.iter().filter(|block| **block != Function::ENTRY) {
            function.blocks[*block].params.iter().for_each(|param| params[*param] = f64::INFINITY);
        }
        let mut least = Least { params: Some(params) };
        loop {
            let mut lower = Vec::new();
            for block in &graph.order {
                for target in function.blocks[*block].terminator.targets() {
                    for (param, arg) in function.blocks[target.block].params.iter().zip(&target.args) {
                        if matches!(function.values[*param], Type::F64 | Type::Int) {
                            let passed = least.of(function, definitions, *arg);
                            if passed < least.param(*param) {
                                lower.push((*param, passed));
                                least.set(*param, passed);
                            }
                        }
                    }
                }
            }
            if lower.is_empty() {
                return least;
            }
            for (param, _) in lower {
                falls[param] += 1;
                if falls[param] > MOST_FALLS {
                    least.set(param, f64::NEG_INFINITY);
                }
            }
        }
    }

    /// Whether a comparison holds, if that follows.
    pub fn decide(&self, function: &Function, definitions: &Definitions, op: Op, args: &[Value]) -> Option<bool> {
        self.params.as_ref()?;
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
                below(x, y).or_else(|| self.ordered(function, definitions, [x, y]))
            }
            _ => None,
        }
    }

    /// Whether one of two integers is below the other that are counted from the same one.
    fn ordered(&self, function: &Function, definitions: &Definitions, sides: [Value; 2]) -> Option<bool> {
        let [x, y] = sides.map(|side| counted(function, definitions, side).unwrap_or((side, 0)));
        let is_known = || self.of(function, definitions, x.0) > f64::NEG_INFINITY;
        (x.0 == y.0 && x.1 != y.1 && is_known()).then_some(x.1 < y.1)
    }

    fn param(&self, param: Value) -> f64 {
        // Younger values are not in the table.
        let known = self.params.as_ref().and_then(|params| params.get(param));
        known.copied().unwrap_or(f64::NEG_INFINITY)
    }

    fn set(&mut self, param: Value, least: f64) {
        if let Some(params) = &mut self.params {
            params[param] = least;
        }
    }

    /// The least that a value can be; the negative infinity where nothing is known, otherwise it is a number.
    pub fn of(&self, function: &Function, definitions: &Definitions, value: Value) -> f64 {
        self.within(function, definitions, value, DEEPEST)
    }

    fn within(&self, function: &Function, definitions: &Definitions, value: Value, deepest: u32) -> f64 {
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
            (Op::Int2(Int2::Add), _) => match counted(function, definitions, value) {
                Some((base, offset)) => sum(of(base), offset as f64),
                None => unknown,
            },
            _ => unknown,
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

/// The integer that another one is counted from, and how far it is from there.
fn counted(function: &Function, definitions: &Definitions, value: Value) -> Option<(Value, i64)> {
    let inst = definitions.inst(function, value).filter(|inst| inst.op == Op::Int2(Int2::Add))?;
    let constant = |value: Value| match definitions.op(function, value) {
        Some(Op::ConstInt(number)) => Some(number).filter(|number| number.abs() < LARGEST),
        _ => None,
    };
    match [constant(inst.args[0]), constant(inst.args[1])] {
        [None, Some(offset)] => Some((inst.args[0], offset)),
        [Some(offset), None] => Some((inst.args[1], offset)),
        _ => None,
    }
}

/// Whether a loop begins with a constant.
fn counts_from_a_constant(function: &Function, graph: &Graph, definitions: &Definitions) -> bool {
    let is_number = |value: Value| matches!(definitions.op(function, value), Some(Op::ConstReal(_) | Op::ConstInt(_)));
    graph.order.iter().filter(|block| graph.is_loop_header(**block)).any(|header| {
        let from = graph.predecessors[*header].iter();
        let mut targets = from.flat_map(|from| function.blocks[*from].terminator.targets());
        targets.any(|target| target.block == *header && target.args.iter().any(|arg| is_number(*arg)))
    })
}
