//! What the arithmetic primitives compute, for every stage that computes: the reference evaluator, constant folding
//! and the SSA evaluator. Compiled code calls the same functions of the system's mathematics library.

use crate::core::prim::Prim;

/// The value of an arithmetic primitive of one operand.
///
/// `None` when `prim` is not one.
pub fn real1(prim: Prim, x: f64) -> Option<f64> {
    Some(match prim {
        Prim::Neg => -x,
        Prim::Sqrt => x.sqrt(),
        Prim::Exp => x.exp(),
        Prim::Log => x.ln(),
        Prim::Sin => x.sin(),
        Prim::Cos => x.cos(),
        Prim::Tan => x.tan(),
        Prim::Asin => x.asin(),
        Prim::Acos => x.acos(),
        Prim::Atan => x.atan(),
        Prim::Sinh => x.sinh(),
        Prim::Cosh => x.cosh(),
        Prim::Tanh => x.tanh(),
        Prim::Log1p => x.ln_1p(),
        Prim::Expm1 => x.exp_m1(),
        Prim::Abs => x.abs(),
        Prim::Floor => x.floor(),
        Prim::Ceiling => x.ceil(),
        Prim::Round => x.round_ties_even(),
        Prim::Truncate => x.trunc(),
        Prim::Sign => sign(x),
        Prim::Real => x,
        _ => return None,
    })
}

/// The value of an arithmetic primitive of two operands.
///
/// `None` when `prim` is not one.
pub fn real2(prim: Prim, x: f64, y: f64) -> Option<f64> {
    Some(match prim {
        Prim::Add => x + y,
        Prim::Sub => x - y,
        Prim::Mul | Prim::Scale => x * y,
        Prim::Div | Prim::Unscale => x / y,
        Prim::Atan2 => x.atan2(y),
        Prim::Expt => x.powf(y),
        _ => return None,
    })
}

/// The value of a comparison; `None` when `prim` is not one.
pub fn compare(prim: Prim, x: f64, y: f64) -> Option<bool> {
    Some(match prim {
        Prim::Eq => x == y,
        Prim::Lt => x < y,
        Prim::Gt => x > y,
        Prim::Le => x <= y,
        Prim::Ge => x >= y,
        _ => return None,
    })
}

/// -1, 0 or 1 as `x` is negative, zero or positive; `x` itself when it is not a number.
fn sign(x: f64) -> f64 {
    if x < 0.0 {
        -1.0
    } else if x > 0.0 {
        1.0
    } else if x == 0.0 {
        0.0
    } else {
        x
    }
}
