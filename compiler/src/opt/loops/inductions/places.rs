//! Places that are sums of integers are added up as integers.
//!
//! ```text
//! b1: v4 = real_of v1                       b1: v9 = int_of v0
//!     v5 = add v0, v4                           v6 = int_add v9, v1
//!     v6 = int_of v5                            v8 = int_below v6, v3
//!     v7 = eq v5, (real_of v6)           →      branch v8, b2, b3
//!     v8 = and v7, (int_below v6, v3)
//!     branch v8, b2, b3
//! ```
//!
//! So elements of a matrix in one vector, row by row, `(+ (* i n) j)`, are read as the elements of a row are: their
//! places count.
//!
//! A place is the sum of a real and of a few integers, each of a magnitude below 2^50, as the length of a vector is. If
//! the real is an integer, of any size, then the sum of reals is an integer, too, and exact unless its magnitude is far
//! beyond all lengths; and then that of the integers is out of range as well, since [`Op::IntOf`] gives the nearest
//! integer, and adding a few small ones does not bring it back. So both are the same place, or both are none. Of a real
//! that may be infinite, or no number, it is asked first whether it is small.
//!
//! Where nothing asks whether a place is in range, it is, and an integer. The real may have a fraction then, if it is
//! so small that the sum was rounded: the integer is the nearest one.

use super::bounds::{Equal, equal_integers};
use super::{LARGEST_STEP, integer};
use crate::opt::analysis::loops::{Code, counter, is_length, is_tested, linear};
use crate::opt::edit::rewrite::{Replacements, append, is_constant};
use crate::ssa::ir::{BlockId, Compare, Function, Inst, Int2, IntCompare, Op, Real1, Real2, Type, Value};
use rustc_hash::FxHashMap;

/// A place is the sum of so many integers that are not known.
const MOST_TERMS: usize = 3;
/// The same of operations that are looked at in search of an integer.
const DEPTH: usize = 8;
/// Products whose factors might have more binary digits together may not be finite.
const MOST_DIGITS: u32 = 900;
/// The binary digits of the largest integer, and of what a loop adds up of such.
const DIGITS: u32 = 63;
const DIGITS_OF_SUMS: u32 = 400;

/// Integers below are exact as reals, and so are their sums with a few that are small.
const EXACT: f64 = (1_u64 << 52) as f64;
/// This far away, no sum with a few integers that are small is in range.
const NOWHERE: i64 = i64::MIN / 2;

/// Treats a function.
pub(super) fn add_integers(function: &mut Function) -> bool {
    let has_sums = |inst: &Inst| inst.op == Op::IntOf;
    if !function.blocks.values().flat_map(|block| &block.insts).any(has_sums) {
        return false;
    }
    let found = Finder::new(function).places();
    let is_any = !found.is_empty();
    write(function, found);
    is_any
}

/// A sum: a real, which may be subtracted, integers, which may be, and a constant.
#[derive(Clone, Debug, Default)]
struct Sum {
    real: Option<(Value, bool)>,
    integers: Vec<(Value, bool)>,
    constant: i64,
}

/// A place to be computed otherwise.
struct Place {
    place: Value,
    sum: Sum,
    real: Real,
    /// Tests for an integer in range, and the test that is left.
    tests: Vec<(Value, Value)>,
}

/// What is known about the real of a sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Real {
    /// It is an integer.
    Integer,
    /// It is one if it is finite.
    Unbounded,
    /// It may have a fraction.
    Any,
}

struct Finder<'f> {
    code: Code<'f>,
    equal: Equal,
    /// The instructions that use each value; no value for those that terminators use.
    uses: FxHashMap<Value, Vec<Option<&'f Inst>>>,
}

impl<'f> Finder<'f> {
    fn new(function: &'f Function) -> Finder<'f> {
        let code = Code::new(function);
        let equal = equal_integers(function, &code.graph, &code.definitions);
        let mut uses: FxHashMap<Value, Vec<Option<&Inst>>> = FxHashMap::default();
        for block in function.blocks.values() {
            for inst in &block.insts {
                inst.args.iter().for_each(|arg| uses.entry(*arg).or_default().push(Some(inst)));
            }
            block.terminator.for_each_value(|value| uses.entry(value).or_default().push(None));
        }
        Finder { code, equal, uses }
    }

    fn places(&self) -> Vec<Place> {
        let function = self.code.function;
        let insts = self.code.graph.order.iter().flat_map(|block| function.blocks[*block].insts.iter());
        insts.filter(|inst| inst.op == Op::IntOf).filter_map(|inst| self.place(inst.results[0], inst.args[0])).collect()
    }

    fn place(&self, place: Value, real: Value) -> Option<Place> {
        let sum = self.sum(real, self.code.homes[place], DEPTH)?;
        if sum.integers.is_empty() {
            return None;
        }
        let uses = self.uses.get(&place)?;
        let mut tests = Vec::new();
        for used in uses {
            let used = (*used)?;
            match used.op {
                Op::IntCompare(IntCompare::Below) if used.args[1] != place => {
                    for test in self.used_by(used.results[0], Op::And)? {
                        let [x, y] = test.args[..] else { return None };
                        let other = if x == used.results[0] { y } else { x };
                        if !self.is_test_for_integer(other, real, place) {
                            return None;
                        }
                        tests.push((test.results[0], used.results[0]));
                    }
                }
                Op::RealOf => {
                    for equal in self.used_by(used.results[0], Op::Compare(Compare::Eq))? {
                        let tests = self.used_by(equal.results[0], Op::And)?;
                        if !equal.args.contains(&real) || !tests.iter().all(|test| self.asks_for_range(test, place)) {
                            return None;
                        }
                    }
                }
                Op::Element(..) | Op::WithElement(_) => {
                    let is_place = |(at, arg): (usize, &Value)| *arg != place || at == 2;
                    used.args.iter().enumerate().all(is_place).then_some(())?;
                }
                _ => return None,
            }
        }
        let is_asked = uses.iter().flatten().any(|used| used.op == Op::RealOf);
        let home = self.code.homes[place];
        let known = sum.real.map(|(real, _)| self.digits(real, home, DEPTH));
        let is_checked = is_asked || !tests.is_empty();
        let real = match known {
            None | Some(Some(Some(_))) => Real::Integer,
            // What is in range is finite.
            Some(Some(None)) if !is_checked => Real::Integer,
            Some(Some(None)) => Real::Unbounded,
            Some(None) if !is_checked => Real::Any,
            Some(None) => return None,
        };
        Some(Place { place, sum, real, tests })
    }

    /// The instructions that use a value, if all are such.
    fn used_by(&self, value: Value, op: Op) -> Option<Vec<&'f Inst>> {
        self.uses.get(&value)?.iter().map(|used| used.filter(|inst| inst.op == op)).collect()
    }

    /// Whether a condition is that a real is the integer that it is near to.
    fn is_test_for_integer(&self, condition: Value, real: Value, place: Value) -> bool {
        let inst = |value: Value| self.code.definitions.inst(self.code.function, value);
        let Some(equal) = inst(condition).filter(|inst| inst.op == Op::Compare(Compare::Eq)) else { return false };
        let is_place = |value: Value| inst(value).is_some_and(|inst| inst.op == Op::RealOf && inst.args[0] == place);
        let (x, y) = (equal.args[0], equal.args[1]);
        x == real && is_place(y) || y == real && is_place(x)
    }

    /// Whether one of two conditions is that a place is in range.
    fn asks_for_range(&self, test: &Inst, place: Value) -> bool {
        test.args.iter().any(|arg| {
            let of = self.code.definitions.inst(self.code.function, *arg);
            of.is_some_and(|of| of.op == Op::IntCompare(IntCompare::Below) && of.args[0] == place)
        })
    }

    /// What a real is the sum of; given where it is needed.
    fn sum(&self, value: Value, home: BlockId, depth: usize) -> Option<Sum> {
        let whole = || Sum { real: Some((value, false)), ..Sum::default() };
        let Some(inst) = self.code.definitions.inst(self.code.function, value) else { return Some(whole()) };
        match inst.op {
            Op::ConstReal(bits) => {
                let constant = integer(f64::from_bits(bits))?;
                Some(Sum { constant, ..Sum::default() })
            }
            Op::RealOf if self.is_small(inst.args[0], home, DEPTH) => {
                Some(Sum { integers: vec![(inst.args[0], false)], ..Sum::default() })
            }
            Op::Real2(op @ (Real2::Add | Real2::Sub)) if depth > 0 => {
                let parts = inst.args.iter().map(|arg| self.sum(*arg, home, depth - 1));
                let [x, y] = parts.collect::<Option<Vec<Sum>>>()?.try_into().ok()?;
                Some(x.plus(y, op == Real2::Sub).unwrap_or_else(whole))
            }
            _ => Some(whole()),
        }
    }

    /// Whether the magnitude of an integer is below that of the largest length, give or take a few.
    fn is_small(&self, value: Value, home: BlockId, depth: usize) -> bool {
        let Code { function, graph, definitions, .. } = &self.code;
        let (Some(base), _) = linear(function, definitions, value) else { return true };
        match self.code.header_of(base) {
            Some((header, position)) if depth > 0 => {
                let counts = counter(function, graph, definitions, header, position);
                counts.is_some_and(|((start, _), step)| {
                    step.abs() < LARGEST_STEP && start.is_none_or(|start| self.is_small(start, header, depth - 1))
                })
            }
            _ => is_length(&self.code, home, base, |_| false) || is_tested(&self.code, home, base),
        }
    }

    /// How many binary digits at most an integer has that a real is, if it is one; no number if it may be infinite, or
    /// no number.
    fn digits(&self, value: Value, home: BlockId, depth: usize) -> Option<Option<u32>> {
        let Code { function, graph, definitions, .. } = &self.code;
        if self.equal.at(graph, home, value).is_some() {
            return Some(Some(DIGITS));
        }
        let depth = depth.checked_sub(1)?;
        let Some(inst) = definitions.inst(function, value) else { return self.digits_of_sum(value, depth) };
        let digits = match inst.op {
            Op::RealOf => Some(DIGITS),
            Op::ConstReal(bits) => integer(f64::from_bits(bits)).map(|_| Some(DIGITS))?,
            Op::Real1(Real1::Floor | Real1::Ceiling) => None,
            Op::Real2(op @ (Real2::Add | Real2::Sub | Real2::Mul)) => {
                let (x, y) = (self.digits(inst.args[0], home, depth)?, self.digits(inst.args[1], home, depth)?);
                x.zip(y).map(|(x, y)| if op == Real2::Mul { x + y } else { x.max(y) + 1 })
            }
            _ => return None,
        };
        Some(digits.filter(|digits| *digits <= MOST_DIGITS))
    }

    /// The same of what a loop adds up. It makes fewer rounds than there are integers.
    fn digits_of_sum(&self, value: Value, depth: usize) -> Option<Option<u32>> {
        let Code { function, definitions, homes, .. } = &self.code;
        let (header, position) = self.code.header_of(value)?;
        let body = self.code.body(header);
        let [outside, inside] = self.code.passed(header, position, &body);
        let mut is_bounded = true;
        let mut add = |number: Value, from: BlockId| {
            let digits = self.digits(number, from, depth)?;
            is_bounded &= digits.is_some_and(|digits| digits < DIGITS_OF_SUMS);
            Some(())
        };
        for (from, start) in outside {
            add(start, from)?;
        }
        for (from, next) in inside.into_iter().filter(|(_, next)| *next != value) {
            let sum = definitions.inst(function, next)?;
            let step = match (sum.op, &sum.args[..]) {
                (Op::Real2(Real2::Add | Real2::Sub), [x, y]) if *x == value => *y,
                (Op::Real2(Real2::Add), [x, y]) if *y == value => *x,
                _ => return None,
            };
            let is_fixed = homes.get(step).is_some_and(|home| !body.contains(&home));
            if !is_fixed && !self.code.op(step).is_some_and(is_constant) {
                return None;
            }
            add(step, from)?;
        }
        Some(is_bounded.then_some(DIGITS_OF_SUMS + DIGITS))
    }
}

impl Sum {
    /// The sum, or the difference, if it has no more than one real.
    fn plus(mut self, other: Sum, is_negative: bool) -> Option<Sum> {
        let signed = |(value, sign): (Value, bool)| (value, sign != is_negative);
        if self.real.is_some() && other.real.is_some() {
            return None;
        }
        self.real = self.real.or(other.real.map(signed));
        self.integers.extend(other.integers.into_iter().map(signed));
        self.constant += if is_negative { -other.constant } else { other.constant };
        (self.integers.len() <= MOST_TERMS).then_some(self)
    }
}

fn write(function: &mut Function, found: Vec<Place>) {
    let mut replacements = Replacements::new(function);
    let mut sums: FxHashMap<Value, (Sum, Real)> = FxHashMap::default();
    for Place { place, sum, real, tests } in found {
        tests.into_iter().for_each(|(test, left)| replacements.replace(test, left));
        sums.insert(place, (sum, real));
    }
    for id in function.blocks.ids() {
        let old = std::mem::take(&mut function.blocks[id].insts);
        let mut insts = Vec::with_capacity(old.len());
        for inst in old {
            match inst.results.first().and_then(|result| sums.remove(result)) {
                Some((sum, real)) => {
                    let by = write_sum(function, &mut insts, sum, real);
                    replacements.replace(inst.results[0], by);
                }
                None => insts.push(inst),
            }
        }
        function.blocks[id].insts = insts;
    }
    replacements.apply(function);
}

fn write_sum(function: &mut Function, insts: &mut Vec<Inst>, sum: Sum, known: Real) -> Value {
    let mut make = |op: Op, args: Vec<Value>, ty: Type| append(&mut function.values, insts, op, args, ty, None);
    let mut terms = sum.integers;
    if let Some((mut real, is_negative)) = sum.real {
        if known == Real::Any {
            let half = make(Op::ConstReal(0.5_f64.to_bits()), Vec::new(), Type::F64);
            let above = make(Op::Real2(Real2::Add), vec![real, half], Type::F64);
            real = make(Op::Real1(Real1::Floor), vec![above], Type::F64);
        }
        let mut integer = make(Op::IntOf, vec![real], Type::Int);
        if known == Real::Unbounded {
            let size = make(Op::Real1(Real1::Abs), vec![real], Type::F64);
            let limit = make(Op::ConstReal(EXACT.to_bits()), Vec::new(), Type::F64);
            let is_exact = make(Op::Compare(Compare::Lt), vec![size, limit], Type::Bool);
            let nowhere = make(Op::ConstInt(NOWHERE), Vec::new(), Type::Int);
            integer = make(Op::Select, vec![is_exact, integer, nowhere], Type::Int);
        }
        terms.insert(0, (integer, is_negative));
    }
    // What does not change in a loop comes first.
    let is_first = terms.iter().position(|(_, is_negative)| !is_negative);
    let mut total = match is_first {
        Some(at) => terms.remove(at).0,
        None => make(Op::ConstInt(0), Vec::new(), Type::Int),
    };
    for (term, is_negative) in terms {
        let op = Op::Int2(if is_negative { Int2::Sub } else { Int2::Add });
        total = make(op, vec![total, term], Type::Int);
    }
    if sum.constant != 0 {
        let constant = make(Op::ConstInt(sum.constant), Vec::new(), Type::Int);
        total = make(Op::Int2(Int2::Add), vec![total, constant], Type::Int);
    }
    total
}
