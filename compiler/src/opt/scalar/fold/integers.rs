//! The rules of [`crate::opt::scalar::fold`] for integers and vectors.
//!
//! A real that an integer has become is that integer, so reals of integers compare as the integers do.
//!
//! What an element of a vector is follows from the changes that made the vector, as long as they tell their places
//! apart. If they do not, the read stays at the last change: it may not go back to an earlier one, which would have to
//! be kept for it.

use crate::opt::scalar::fold::{Folded, View, boolean, int, real};
use crate::ssa::arithmetic;
use crate::ssa::ir::{Compare, Int2, IntCompare, Op, Real1, Value};
use smallvec::smallvec;

impl View<'_> {
    fn int(&self, value: Value) -> Option<i64> {
        match self.inst(value)?.op {
            Op::ConstInt(x) => Some(x),
            _ => None,
        }
    }

    pub(super) fn int2(&self, op: Int2, x: Value, y: Value) -> Folded {
        if let (Some(x), Some(y)) = (self.int(x), self.int(y)) {
            return int(arithmetic::int2(op, x, y));
        }
        match (op, self.int(y)) {
            (Int2::Add | Int2::Sub, Some(0)) | (Int2::Mul, Some(1)) => Folded::Value(x),
            (Int2::Mul, Some(0)) => int(0),
            (Int2::Sub, _) if x == y => int(0),
            (Int2::Sub, _) => Folded::Unchanged,
            (Int2::Add | Int2::Mul, _) => self.sorted(Op::Int2(op), x, y).unwrap_or(Folded::Unchanged),
        }
    }

    pub(super) fn int_compare(&self, op: IntCompare, x: Value, y: Value) -> Folded {
        if let (Some(x), Some(y)) = (self.int(x), self.int(y)) {
            return boolean(arithmetic::int_compare(op, x, y));
        }
        if x == y {
            return boolean(matches!(op, IntCompare::Eq | IntCompare::Conform));
        }
        match (op, self.int(x), self.int(y)) {
            (IntCompare::Eq, _, Some(y)) => Folded::Op(Op::IntIs(y), smallvec![x]),
            (IntCompare::Eq, Some(x), _) => Folded::Op(Op::IntIs(x), smallvec![y]),
            (IntCompare::Eq | IntCompare::Conform, ..) => {
                self.sorted(Op::IntCompare(op), x, y).unwrap_or(Folded::Unchanged)
            }
            (IntCompare::Below, _, Some(0)) => boolean(false),
            (IntCompare::Below, _, Some(1)) => Folded::Op(Op::IntIs(0), smallvec![x]),
            (IntCompare::Below | IntCompare::Lt, ..) => Folded::Unchanged,
        }
    }

    pub(super) fn int_of(&self, x: Value) -> Folded {
        let Some(inst) = self.inst(x) else { return Folded::Unchanged };
        match inst.op {
            Op::ConstReal(bits) => int(arithmetic::int_of(f64::from_bits(bits))),
            Op::RealOf => Folded::Value(inst.args[0]),
            Op::Real1(Real1::Truncate) => Folded::Op(Op::IntOf, inst.args.clone()),
            _ => Folded::Unchanged,
        }
    }

    pub(super) fn real_of(&self, x: Value) -> Folded {
        self.int(x).and_then(arithmetic::real_of).map_or(Folded::Unchanged, real)
    }

    /// A comparison of reals that are integers.
    pub(super) fn compare_integers(&self, op: Compare, x: Value, y: Value) -> Option<Folded> {
        let x = self.operand_of(x, Op::RealOf)?;
        if let Some(y) = self.operand_of(y, Op::RealOf) {
            return match op {
                Compare::Eq => Some(Folded::Op(Op::IntCompare(IntCompare::Eq), smallvec![x, y])),
                Compare::Lt => Some(Folded::Op(Op::IntCompare(IntCompare::Lt), smallvec![x, y])),
                _ => None,
            };
        }
        let number = self.real(y).filter(|_| op == Compare::Eq)?;
        let integer = arithmetic::int_of(number);
        let is_integer = arithmetic::real_of(integer).is_some_and(|real| real == number);
        Some(if is_integer { Folded::Op(Op::IntIs(integer), smallvec![x]) } else { boolean(false) })
    }

    /// A field of an element that the changes of its vector tell.
    pub(super) fn element(&self, op: Op, args: &[Value]) -> Folded {
        let (Op::Element(vector, field), &[mut elements, length, place]) = (op, args) else { return Folded::Unchanged };
        while let Some(change) = self.inst(elements).filter(|inst| inst.op == Op::WithElement(vector)) {
            if change.args[1] == length && change.args[2] == place {
                return Folded::Value(change.args[3 + field as usize]);
            }
            if !self.least.are_apart(self.function, self.definitions, [change.args[2], place]) {
                break;
            }
            elements = change.args[0];
        }
        Folded::Unchanged
    }

    /// The vector itself, when an element is replaced by what it was.
    pub(super) fn changed(&self, op: Op, args: &[Value]) -> Folded {
        let Op::WithElement(vector) = op else { return Folded::Unchanged };
        let is_old = |(field, arg): (u32, &Value)| {
            let inst = self.inst(*arg);
            inst.is_some_and(|inst| inst.op == Op::Element(vector, field) && inst.args[..] == args[..3])
        };
        if (0..).zip(&args[3..]).all(is_old) { Folded::Value(args[0]) } else { Folded::Unchanged }
    }
}
