//! What the arithmetic of SSA computes: the operations of [`crate::core::arithmetic`] under their names here.

use crate::core::arithmetic;
use crate::core::prim::Prim;
use crate::ssa::ir::{Compare, Int2, IntCompare, Real1, Real2};

/// The primitive that an operation on one real is.
pub fn prim1(op: Real1) -> Prim {
    match op {
        Real1::Neg => Prim::Neg,
        Real1::Sqrt => Prim::Sqrt,
        Real1::Exp => Prim::Exp,
        Real1::Log => Prim::Log,
        Real1::Sin => Prim::Sin,
        Real1::Cos => Prim::Cos,
        Real1::Tan => Prim::Tan,
        Real1::Asin => Prim::Asin,
        Real1::Acos => Prim::Acos,
        Real1::Atan => Prim::Atan,
        Real1::Sinh => Prim::Sinh,
        Real1::Cosh => Prim::Cosh,
        Real1::Tanh => Prim::Tanh,
        Real1::Log1p => Prim::Log1p,
        Real1::Expm1 => Prim::Expm1,
        Real1::Erf => Prim::Erf,
        Real1::Erfc => Prim::Erfc,
        Real1::Gamma => Prim::Gamma,
        Real1::LogGamma => Prim::LogGamma,
        Real1::Abs => Prim::Abs,
        Real1::Floor => Prim::Floor,
        Real1::Ceiling => Prim::Ceiling,
        Real1::Round => Prim::Round,
        Real1::Truncate => Prim::Truncate,
    }
}

/// The primitive that an operation on two reals is.
pub fn prim2(op: Real2) -> Prim {
    match op {
        Real2::Add => Prim::Add,
        Real2::Sub => Prim::Sub,
        Real2::Mul => Prim::Mul,
        Real2::Div => Prim::Div,
        Real2::Atan2 => Prim::Atan2,
        Real2::Pow => Prim::Expt,
    }
}

/// The value of an operation on one real.
pub fn real1(op: Real1, x: f64) -> f64 {
    arithmetic::real1(prim1(op), x).expect("the primitive has one real operand")
}

/// The value of an operation on two reals.
pub fn real2(op: Real2, x: f64, y: f64) -> f64 {
    arithmetic::real2(prim2(op), x, y).expect("the primitive has two real operands")
}

/// The value of a comparison.
pub fn compare(op: Compare, x: f64, y: f64) -> bool {
    match op {
        Compare::Eq => x == y,
        Compare::Ne => x != y,
        Compare::Lt => x < y,
        Compare::Le => x <= y,
        Compare::Gt => x > y,
        Compare::Ge => x >= y,
    }
}

/// The value of an operation on two integers.
pub fn int2(op: Int2, x: i64, y: i64) -> i64 {
    match op {
        Int2::Add => x.wrapping_add(y),
        Int2::Sub => x.wrapping_sub(y),
        Int2::Mul => x.wrapping_mul(y),
    }
}

/// The value of a comparison of integers.
pub fn int_compare(op: IntCompare, x: i64, y: i64) -> bool {
    match op {
        IntCompare::Eq | IntCompare::Conform => x == y,
        IntCompare::Lt => x < y,
        IntCompare::Below => x.cast_unsigned() < y.cast_unsigned(),
    }
}

/// The integer that a real is without its fraction.
pub fn int_of(x: f64) -> i64 {
    x as i64
}

/// The real that an integer is; `None` for an integer that [`int_of`] does not give back.
pub fn real_of(x: i64) -> Option<f64> {
    let real = x as f64;
    (int_of(real) == x).then_some(real)
}
