//! Constant folding and algebraic simplification of single operations: the rules that [`crate::opt::scalar::gvn`]
//! applies.
//!
//! ```text
//! v1 = real 1.0
//! v2 = mul v0, v1          →     v3 = sqrt v0
//! v3 = sqrt v2
//! ```
//!
//! Every rule is exact: the new value has the same bits as the old one, except that the sign and the payload of a
//! result that is not a number may differ, which no operation of the language can see. So `x * 0` stays (it is not 0
//! when x is infinite), `x + 0` stays (it is +0 when x is -0) unless x is a square or the like, and nothing is
//! reassociated. Constants are computed by
//! [`crate::ssa::arithmetic`].
//!
//! Signs move outwards, where they meet and cancel: the negative of an operand of a product is the negative of the
//! product, which takes one more operation.
//!
//! Operands of commutative operations are sorted (constants last), and greater is turned into less, so that value
//! numbering sees that `a * b` and `b * a` are equal.
//!
//! Fields and tags of boxes that are made in the same function are known; so is a box that is made of all the fields
//! of another one. Integers and vectors are in [`integers`].
//!
//! Tests: `tests/opt/gvn/fold-*`.

mod integers;

use crate::opt::analysis::least::Least;
use crate::opt::edit::rewrite::{Definitions, is_constant};
use crate::ssa::arithmetic;
use crate::ssa::ir::{Compare, Function, Inst, Op, Real1, Real2, Value, Values};
use smallvec::smallvec;

/// How many selections are looked through for one test: they share operands, and a chain of them is tested at each
/// step.
const MOST_SELECTIONS: usize = 32;

/// So many operations in a row are looked through for fractions.
const DEEPEST: u32 = 4;

/// The outcome of [`fold`].
#[derive(Clone, Debug, PartialEq)]
pub enum Folded {
    /// No rule applies.
    Unchanged,
    /// The result is this value.
    Value(Value),
    /// This operation does the same.
    Op(Op, Values),
    /// The negative of the result of this operation is the same.
    Negated(Op, Values),
}

/// Simplifies an operation until no rule applies.
pub fn fold(function: &Function, definitions: &Definitions, least: &Least, op: Op, args: &[Value]) -> Folded {
    let view = View { function, definitions, least };
    let mut result = Folded::Unchanged;
    let (mut op, mut args) = (op, Values::from(args));
    // Every rule makes the operation simpler or its operands older; the bound only guards against a cycle of rules.
    for _ in 0..16 {
        match view.step(op, &args) {
            Folded::Unchanged => break,
            negated @ Folded::Negated(..) => return negated,
            Folded::Value(value) => return Folded::Value(value),
            Folded::Op(next, operands) => {
                (op, args) = (next, operands.clone());
                result = Folded::Op(next, operands);
            }
        }
    }
    result
}

struct View<'f> {
    function: &'f Function,
    definitions: &'f Definitions,
    least: &'f Least,
}

fn real(x: f64) -> Folded {
    Folded::Op(Op::ConstReal(x.to_bits()), Values::new())
}

/// A result that is worse than the operands stays where it is computed: that may be watched
/// ([`crate::opt::scalar::watch`]).
fn unless_born(result: f64, operands: &[f64]) -> Folded {
    let better = |x: &f64| if result.is_nan() { !x.is_nan() } else { x.is_finite() };
    if result.is_finite() || !operands.iter().all(better) { real(result) } else { Folded::Unchanged }
}

fn boolean(x: bool) -> Folded {
    Folded::Op(Op::ConstBool(x), Values::new())
}

fn int(x: i64) -> Folded {
    Folded::Op(Op::ConstInt(x), Values::new())
}

impl View<'_> {
    fn inst(&self, value: Value) -> Option<&Inst> {
        self.definitions.inst(self.function, value)
    }

    fn real(&self, value: Value) -> Option<f64> {
        match self.inst(value)?.op {
            Op::ConstReal(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn boolean(&self, value: Value) -> Option<bool> {
        match self.inst(value)?.op {
            Op::ConstBool(x) => Some(x),
            _ => None,
        }
    }

    /// The operand, when `value` is the result of this operation on one operand.
    fn operand_of(&self, value: Value, op: Op) -> Option<Value> {
        self.inst(value).filter(|inst| inst.op == op).map(|inst| inst.args[0])
    }

    fn step(&self, op: Op, args: &[Value]) -> Folded {
        match op {
            Op::Real1(op) => self.real1(op, args[0]),
            Op::Real2(op) => self.real2(op, args[0], args[1]),
            Op::Compare(op) => self.compare(op, args[0], args[1]),
            Op::Not => self.not(args[0]),
            Op::And | Op::Or => self.logic(op, args[0], args[1]),
            Op::IntIs(x) => self.int_is(x, args[0]),
            Op::RealIs(bits) => {
                self.real_is(bits, args[0], &mut { MOST_SELECTIONS }).map_or(Folded::Unchanged, boolean_or_condition)
            }
            Op::Select => self.select(args[0], args[1], args[2]),
            Op::Int2(op) => self.int2(op, args[0], args[1]),
            Op::IntCompare(op) => self.int_compare(op, args[0], args[1]),
            Op::IntOf => self.int_of(args[0]),
            Op::RealOf => self.real_of(args[0]),
            Op::Element(..) => self.element(op, args),
            Op::WithElement(_) => self.changed(op, args),
            Op::Tag(_) | Op::HasTag(..) | Op::Field(..) => self.access(op, args[0]),
            Op::Box(..) => self.rebuilt(op, args).map_or(Folded::Unchanged, Folded::Value),
            _ => Folded::Unchanged,
        }
    }

    fn real1(&self, op: Real1, x: Value) -> Folded {
        if let Some(x) = self.real(x) {
            return unless_born(arithmetic::real1(op, x), &[x]);
        }
        let inner = self.inst(x).map(|inst| (inst.op, &inst.args[..]));
        match (op, inner) {
            (Real1::Neg, Some((Op::Real1(Real1::Neg), &[y]))) => Folded::Value(y),
            (Real1::Abs, Some((Op::Real1(Real1::Neg), &[y]))) => Folded::Op(Op::Real1(Real1::Abs), smallvec![y]),
            (Real1::Abs, Some((Op::Real1(Real1::Abs), _))) => Folded::Value(x),
            // |0 - y| has the sign of |y| where y is a zero, too.
            (Real1::Abs, Some((Op::Real2(Real2::Sub), &[zero, y]))) if self.real(zero) == Some(0.0) => {
                Folded::Op(Op::Real1(Real1::Abs), smallvec![y])
            }
            (Real1::Floor | Real1::Ceiling | Real1::Truncate, _) if self.is_whole(x, DEEPEST) => Folded::Value(x),
            _ => Folded::Unchanged,
        }
    }

    /// Whether a real has no fraction: sums and products of integers are rounded to integers, if not to infinity.
    fn is_whole(&self, value: Value, deepest: u32) -> bool {
        let (Some(inst), Some(deepest)) = (self.inst(value), deepest.checked_sub(1)) else { return false };
        match inst.op {
            Op::ConstReal(bits) => f64::from_bits(bits).fract() == 0.0,
            Op::RealOf | Op::Real1(Real1::Floor | Real1::Ceiling | Real1::Truncate | Real1::Round) => true,
            Op::Real2(Real2::Add | Real2::Sub | Real2::Mul) => inst.args.iter().all(|arg| self.is_whole(*arg, deepest)),
            _ => false,
        }
    }

    fn real2(&self, op: Real2, x: Value, y: Value) -> Folded {
        if let (Some(x), Some(y)) = (self.real(x), self.real(y)) {
            return unless_born(arithmetic::real2(op, x, y), &[x, y]);
        }
        match op {
            Real2::Add => self.add(x, y),
            Real2::Sub => self.sub(x, y),
            Real2::Mul => self.mul(x, y),
            Real2::Div => self.div(x, y),
            Real2::Atan2 | Real2::Pow => Folded::Unchanged,
        }
    }

    fn add(&self, x: Value, y: Value) -> Folded {
        let neg = Op::Real1(Real1::Neg);
        if let Some(sorted) = self.sorted(Op::Real2(Real2::Add), x, y) {
            return sorted;
        }
        if is_bits(self.real(y), -0.0) || is_bits(self.real(y), 0.0) && self.is_never_negative_zero(x, 4) {
            return Folded::Value(x);
        }
        if let Some(y) = self.operand_of(y, neg) {
            return Folded::Op(Op::Real2(Real2::Sub), smallvec![x, y]);
        }
        if let Some(x) = self.operand_of(x, neg) {
            return Folded::Op(Op::Real2(Real2::Sub), smallvec![y, x]);
        }
        Folded::Unchanged
    }

    /// Whether a value cannot be -0, as far as the operations tell that it is computed by, at most so many deep.
    fn is_never_negative_zero(&self, value: Value, depth: u32) -> bool {
        let Some(inst) = self.inst(value).filter(|_| depth > 0) else { return false };
        let holds = |value: Value| self.is_never_negative_zero(value, depth - 1);
        match inst.op {
            Op::ConstReal(bits) => bits != (-0.0_f64).to_bits(),
            Op::RealOf | Op::Real1(Real1::Exp | Real1::Cosh | Real1::Abs) => true,
            Op::Real1(Real1::Sqrt) => holds(inst.args[0]),
            Op::Real2(Real2::Mul) => inst.args[0] == inst.args[1],
            // Only the sum of two -0 is -0.
            Op::Real2(Real2::Add) => holds(inst.args[0]) || holds(inst.args[1]),
            Op::Real2(Real2::Sub) => holds(inst.args[0]),
            Op::Select => holds(inst.args[1]) && holds(inst.args[2]),
            _ => false,
        }
    }

    fn sub(&self, x: Value, y: Value) -> Folded {
        if is_bits(self.real(y), 0.0) {
            return Folded::Value(x);
        }
        if is_bits(self.real(x), -0.0) {
            return Folded::Op(Op::Real1(Real1::Neg), smallvec![y]);
        }
        if let Some(y) = self.operand_of(y, Op::Real1(Real1::Neg)) {
            return Folded::Op(Op::Real2(Real2::Add), smallvec![x, y]);
        }
        Folded::Unchanged
    }

    fn mul(&self, x: Value, y: Value) -> Folded {
        let neg = Op::Real1(Real1::Neg);
        if let Some(sorted) = self.sorted(Op::Real2(Real2::Mul), x, y) {
            return sorted;
        }
        if is_bits(self.real(y), 1.0) {
            return Folded::Value(x);
        }
        if is_bits(self.real(y), -1.0) {
            return Folded::Op(neg, smallvec![x]);
        }
        self.product_of_negatives(Real2::Mul, x, y)
    }

    fn div(&self, x: Value, y: Value) -> Folded {
        let neg = Op::Real1(Real1::Neg);
        if is_bits(self.real(y), 1.0) {
            return Folded::Value(x);
        }
        if is_bits(self.real(y), -1.0) {
            return Folded::Op(neg, smallvec![x]);
        }
        self.product_of_negatives(Real2::Div, x, y)
    }

    /// A product or a quotient without the signs of its operands.
    fn product_of_negatives(&self, op: Real2, x: Value, y: Value) -> Folded {
        let operand = |value| self.operand_of(value, Op::Real1(Real1::Neg));
        let op = Op::Real2(op);
        match (operand(x), operand(y)) {
            (Some(x), Some(y)) => Folded::Op(op, smallvec![x, y]),
            (Some(x), None) => Folded::Negated(op, smallvec![x, y]),
            (None, Some(y)) => Folded::Negated(op, smallvec![x, y]),
            (None, None) => Folded::Unchanged,
        }
    }

    /// The operation with its operands sorted: constants last, otherwise older values first.
    fn sorted(&self, op: Op, x: Value, y: Value) -> Option<Folded> {
        let key = |value: Value| (self.inst(value).is_some_and(|inst| is_constant(inst.op)), value);
        (key(x) > key(y)).then(|| Folded::Op(op, smallvec![y, x]))
    }

    fn compare(&self, op: Compare, x: Value, y: Value) -> Folded {
        if let (Some(x), Some(y)) = (self.real(x), self.real(y)) {
            return boolean(arithmetic::compare(op, x, y));
        }
        if let Some(folded) = self.compare_integers(op, x, y) {
            return folded;
        }
        match op {
            Compare::Gt => Folded::Op(Op::Compare(Compare::Lt), smallvec![y, x]),
            Compare::Ge => Folded::Op(Op::Compare(Compare::Le), smallvec![y, x]),
            Compare::Lt if x == y => boolean(false),
            Compare::Eq | Compare::Ne => self.sorted(Op::Compare(op), x, y).unwrap_or(Folded::Unchanged),
            Compare::Lt | Compare::Le => Folded::Unchanged,
        }
    }

    fn not(&self, x: Value) -> Folded {
        let Some(inst) = self.inst(x) else { return Folded::Unchanged };
        match inst.op {
            Op::ConstBool(x) => boolean(!x),
            Op::Not => Folded::Value(inst.args[0]),
            Op::Compare(Compare::Eq) => Folded::Op(Op::Compare(Compare::Ne), inst.args.clone()),
            Op::Compare(Compare::Ne) => Folded::Op(Op::Compare(Compare::Eq), inst.args.clone()),
            _ => Folded::Unchanged,
        }
    }

    /// `and`, `or`: `neutral` leaves the other operand as it is, its opposite decides.
    fn logic(&self, op: Op, x: Value, y: Value) -> Folded {
        let neutral = op == Op::And;
        if x == y {
            return Folded::Value(x);
        }
        for (known, other) in [(x, y), (y, x)] {
            match self.boolean(known) {
                Some(value) if value == neutral => return Folded::Value(other),
                Some(_) => return boolean(!neutral),
                None => {}
            }
            if self.operand_of(known, Op::Not) == Some(other) {
                return boolean(!neutral);
            }
        }
        self.sorted(op, x, y).unwrap_or(Folded::Unchanged)
    }

    fn int_is(&self, x: i64, value: Value) -> Folded {
        let Some(inst) = self.inst(value) else { return Folded::Unchanged };
        match inst.op {
            Op::ConstInt(y) => boolean(x == y),
            Op::Tag(sum) => match u32::try_from(x) {
                Ok(tag) => Folded::Op(Op::HasTag(sum, tag), inst.args.clone()),
                Err(_) => boolean(false),
            },
            Op::Select => {
                let is = |value| match self.inst(value).map(|inst| inst.op) {
                    Some(Op::ConstInt(y)) => Some(x == y),
                    _ => None,
                };
                chosen_test(inst.args[0], is(inst.args[1]), is(inst.args[2]))
            }
            _ => Folded::Unchanged,
        }
    }

    /// Whether a value has these bits, which no operation makes. So many more selections are looked through.
    fn real_is(&self, bits: u64, value: Value, left: &mut usize) -> Option<Test> {
        let inst = self.inst(value)?;
        match inst.op {
            Op::ConstReal(found) => Some(Test::Known(found == bits)),
            Op::Real1(_) | Op::Real2(_) | Op::RealOf | Op::Read(..) | Op::Argument(_) => Some(Test::Known(false)),
            Op::Select => {
                let [condition, yes, no] = inst.args[..] else { return None };
                *left = left.checked_sub(1)?;
                // What has been found to have the bits has them.
                let yes_has = self.operand_of(condition, Op::RealIs(bits)) == Some(yes);
                let yes = if yes_has { Some(Test::Known(true)) } else { self.real_is(bits, yes, left) };
                match (yes?, self.real_is(bits, no, left)?) {
                    (Test::Known(true), Test::Known(false)) => Some(Test::Same(condition)),
                    (yes, no) if yes == no => Some(yes),
                    (Test::Same(inner), Test::Known(false)) if inner == condition => Some(Test::Same(condition)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn select(&self, condition: Value, yes: Value, no: Value) -> Folded {
        if yes == no {
            return Folded::Value(yes);
        }
        if let Some(condition) = self.boolean(condition) {
            return Folded::Value(if condition { yes } else { no });
        }
        if let Some(condition) = self.operand_of(condition, Op::Not) {
            return Folded::Op(Op::Select, smallvec![condition, no, yes]);
        }
        // A selection by the same condition within this one has been decided.
        for (position, operand) in [(1, yes), (2, no)] {
            if let Some(inner) = self.inst(operand)
                && inner.op == Op::Select
                && inner.args[0] == condition
            {
                let mut args = smallvec![condition, yes, no];
                args[position] = inner.args[position];
                return Folded::Op(Op::Select, args);
            }
        }
        match (self.boolean(yes), self.boolean(no)) {
            (Some(true), Some(false)) => Folded::Value(condition),
            (Some(false), Some(true)) => Folded::Op(Op::Not, smallvec![condition]),
            (Some(true), None) => Folded::Op(Op::Or, smallvec![condition, no]),
            (None, Some(false)) => Folded::Op(Op::And, smallvec![condition, yes]),
            _ => Folded::Unchanged,
        }
    }

    /// Tests and fields of a boxed sum.
    fn access(&self, op: Op, value: Value) -> Folded {
        let Some(inst) = self.inst(value) else { return Folded::Unchanged };
        let (made, tag) = match inst.op {
            Op::Box(sum, tag) | Op::Immediate(sum, tag) => (sum, tag),
            Op::Select => return self.access_of_choice(op, &inst.args),
            _ => return Folded::Unchanged,
        };
        match op {
            Op::Tag(_) => int(i64::from(tag)),
            Op::HasTag(_, expected) => boolean(tag == expected),
            // A field of another alternative, or of what fills an unused slot, is read only where control cannot get
            // to.
            Op::Field(sum, expected, field) if (made, tag) == (sum, expected) => {
                inst.args.get(field as usize).map_or(Folded::Unchanged, |value| Folded::Value(*value))
            }
            _ => Folded::Unchanged,
        }
    }

    fn access_of_choice(&self, op: Op, choice: &[Value]) -> Folded {
        let Op::HasTag(_, expected) = op else { return Folded::Unchanged };
        let has = |value| match self.inst(value).map(|inst| inst.op) {
            Some(Op::Box(_, tag) | Op::Immediate(_, tag)) => Some(tag == expected),
            _ => None,
        };
        chosen_test(choice[0], has(choice[1]), has(choice[2]))
    }

    /// The box that has exactly these fields, when they are all the fields of one box with the same tag.
    fn rebuilt(&self, op: Op, args: &[Value]) -> Option<Value> {
        let Op::Box(sum, tag) = op else { return None };
        let original = self.operand_of(*args.first()?, Op::Field(sum, tag, 0))?;
        let is_field =
            |(field, arg): (u32, &Value)| self.operand_of(*arg, Op::Field(sum, tag, field)) == Some(original);
        (0..).zip(args).all(is_field).then_some(original)
    }
}

/// What a test for certain bits comes to.
#[derive(Clone, Copy, PartialEq)]
enum Test {
    Known(bool),
    /// The same as this condition.
    Same(Value),
}

fn boolean_or_condition(test: Test) -> Folded {
    match test {
        Test::Known(x) => boolean(x),
        Test::Same(condition) => Folded::Value(condition),
    }
}

/// The test of a selection whose two operands pass it as told.
fn chosen_test(condition: Value, yes: Option<bool>, no: Option<bool>) -> Folded {
    match (yes, no) {
        (Some(true), Some(false)) => Folded::Value(condition),
        (Some(false), Some(true)) => Folded::Op(Op::Not, smallvec![condition]),
        (Some(x), Some(_)) => boolean(x),
        _ => Folded::Unchanged,
    }
}

fn is_bits(value: Option<f64>, expected: f64) -> bool {
    value.is_some_and(|x| x.to_bits() == expected.to_bits())
}
