//! Where primitives have no derivative, and what is taken for it there.
//!
//! The numbers that the derivative transformations compute at these points follow from the rules in [`crate::ad`], the
//! same in both modes; this table is what users are told about them, here and in `docs/derivatives.md`.

use crate::core::prim::Prim;

/// What is taken for the derivative of a primitive at a point where it has none; `None` where it has one.
pub fn at(prim: Prim, operands: &[f64]) -> Option<&'static str> {
    match operands {
        [x] => unary(prim, *x),
        [x, y] => binary(prim, *x, *y),
        _ => None,
    }
}

fn unary(prim: Prim, x: f64) -> Option<&'static str> {
    let jumps = match prim {
        Prim::Floor | Prim::Ceiling => x.fract() == 0.0,
        Prim::Truncate => x.fract() == 0.0 && x != 0.0,
        Prim::Round => x.fract().abs() == 0.5,
        _ => false,
    };
    match prim {
        _ if jumps => Some("0"),
        Prim::Abs if x == 0.0 => Some("0"),
        Prim::Sqrt | Prim::Log if x == 0.0 => Some("+inf.0"),
        Prim::Log1p if x == -1.0 => Some("+inf.0"),
        Prim::Asin if x.abs() == 1.0 => Some("+inf.0"),
        Prim::Acos if x.abs() == 1.0 => Some("-inf.0"),
        Prim::Sqrt if x < 0.0 => Some("+nan.0"),
        Prim::Asin | Prim::Acos if x.abs() > 1.0 => Some("+nan.0"),
        Prim::Log if x < 0.0 => Some("1/x"),
        Prim::Log1p if x < -1.0 => Some("1/(1 + x)"),
        _ => None,
    }
}

fn binary(prim: Prim, x: f64, y: f64) -> Option<&'static str> {
    match prim {
        Prim::Div if y == 0.0 => Some("that of IEEE arithmetic, infinite or +nan.0"),
        Prim::Atan2 if x == 0.0 && y == 0.0 => Some("+nan.0 for both operands"),
        Prim::Atan2 if x == 0.0 && y < 0.0 => Some("that on either side of the jump"),
        Prim::Expt if x == 0.0 && y == 0.0 => Some("0 for both operands"),
        Prim::Expt if x == 0.0 && y < 1.0 => Some("infinite for the base, 0 for the exponent"),
        Prim::Expt if x < 0.0 && y.fract() != 0.0 => Some("+nan.0 for both operands"),
        _ => None,
    }
}

/// What is taken for the derivative of `max` and `min` where their operands are equal.
pub const EQUAL_OPERANDS: &str = "1 for the first operand, 0 for the other";
