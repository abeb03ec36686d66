//! Partial derivatives of the primitives, as core code.
//!
//! [`pullback`] is the reverse phase of `x = (p y ...)`: from the sensitivity of `x` to contributions to those of the
//! operands. Every contribution is linear in the sensitivity and made of `scale`, `unscale` and `plus`-free code, so
//! that a symbolic zero passes through without arithmetic.
//!
//! Conventions at kinks: `abs` 0 at 0; `sqrt` +inf at 0; rounding functions 0; `expt` 0 with respect to the base when
//! the exponent is 0, and 0 with respect to the exponent when the base is 0.

use super::reverse::Code;
use crate::core::ir::{Body, Rhs, Var};
use crate::core::prim::Prim;

/// The contributions to the operands' sensitivities: pairs of operand position and variable.
///
/// `operands` and `result` are the primal values, `s` the sensitivity of the result; operands that are not `active`
/// get none.
pub(super) fn pullback(
    code: &mut Code<'_>,
    prim: Prim,
    operands: &[Var],
    result: Var,
    s: Var,
    active: &[bool],
) -> Vec<(usize, Var)> {
    if !active.contains(&true) {
        return Vec::new();
    }
    if operands.len() == 1 {
        return unary(code, prim, operands[0], result, s).map(|contribution| (0, contribution)).into_iter().collect();
    }
    let mut contributions = Vec::new();
    if operands.len() == 2 {
        for (position, is_active) in active.iter().enumerate() {
            if *is_active && let Some(contribution) = binary(code, prim, operands[0], operands[1], result, s, position)
            {
                contributions.push((position, contribution));
            }
        }
    }
    contributions
}

/// The contribution to `y` in `x = (prim y)`.
fn unary(code: &mut Code<'_>, prim: Prim, y: Var, x: Var, s: Var) -> Option<Var> {
    let partial = match prim {
        Prim::Real | Prim::Write | Prim::WriteReal => return Some(s),
        Prim::J => return Some(code.prim(Prim::JInverse, &[s])),
        Prim::JInverse => return Some(code.prim(Prim::J, &[s])),
        Prim::Sqrt => {
            let twice = code.prim(Prim::Add, &[x, x]);
            return Some(code.prim(Prim::Unscale, &[s, twice]));
        }
        Prim::Log => return Some(code.prim(Prim::Unscale, &[s, y])),
        Prim::Log1p => {
            let one = code.number(1.0);
            let divisor = code.prim(Prim::Add, &[one, y]);
            return Some(code.prim(Prim::Unscale, &[s, divisor]));
        }
        Prim::Asin | Prim::Acos => {
            let square = one_plus_square(code, Prim::Sub, y);
            let mut divisor = code.prim(Prim::Sqrt, &[square]);
            if prim == Prim::Acos {
                divisor = code.prim(Prim::Neg, &[divisor]);
            }
            return Some(code.prim(Prim::Unscale, &[s, divisor]));
        }
        Prim::Atan => {
            let divisor = one_plus_square(code, Prim::Add, y);
            return Some(code.prim(Prim::Unscale, &[s, divisor]));
        }
        Prim::Neg => code.number(-1.0),
        Prim::Exp => x,
        Prim::Expm1 => code.prim(Prim::Exp, &[y]),
        Prim::Sin => code.prim(Prim::Cos, &[y]),
        Prim::Cos => {
            let sine = code.prim(Prim::Sin, &[y]);
            code.prim(Prim::Neg, &[sine])
        }
        Prim::Tan => one_plus_square(code, Prim::Add, x),
        Prim::Sinh => code.prim(Prim::Cosh, &[y]),
        Prim::Cosh => code.prim(Prim::Sinh, &[y]),
        Prim::Tanh => one_plus_square(code, Prim::Sub, x),
        Prim::Abs => code.prim(Prim::Sign, &[y]),
        _ => return None,
    };
    Some(code.prim(Prim::Scale, &[partial, s]))
}

/// `1 + y²` or, with `Sub`, `1 - y²`.
fn one_plus_square(code: &mut Code<'_>, prim: Prim, y: Var) -> Var {
    let one = code.number(1.0);
    let square = code.prim(Prim::Mul, &[y, y]);
    code.prim(prim, &[one, square])
}

/// The contribution to the operand at `position` in `x = (prim a b)`.
fn binary(code: &mut Code<'_>, prim: Prim, a: Var, b: Var, x: Var, s: Var, position: usize) -> Option<Var> {
    let first = position == 0;
    let partial = match prim {
        Prim::Add | Prim::Plus => return Some(s),
        Prim::Sub if first => return Some(s),
        Prim::Sub => code.number(-1.0),
        Prim::Mul | Prim::Scale => {
            if first {
                b
            } else {
                a
            }
        }
        Prim::Div | Prim::Unscale => {
            let quotient = code.prim(Prim::Unscale, &[s, b]);
            if first {
                return Some(quotient);
            }
            let negative = code.prim(Prim::Neg, &[x]);
            return Some(code.prim(Prim::Scale, &[negative, quotient]));
        }
        // Linear in the sensitivity; the pair gives the shape of the zero only.
        Prim::InCar | Prim::InCdr if first => return None,
        Prim::InCar => return Some(code.prim(Prim::Car, &[s])),
        Prim::InCdr => return Some(code.prim(Prim::Cdr, &[s])),
        Prim::Atan2 => {
            let (aa, bb) = (code.prim(Prim::Mul, &[a, a]), code.prim(Prim::Mul, &[b, b]));
            let square = code.prim(Prim::Add, &[aa, bb]);
            let numerator = if first { b } else { code.prim(Prim::Neg, &[a]) };
            code.prim(Prim::Div, &[numerator, square])
        }
        Prim::Expt if first => unless_zero(code, b, |code| {
            let one = code.number(1.0);
            let lower = code.prim(Prim::Sub, &[b, one]);
            let power = code.prim(Prim::Expt, &[a, lower]);
            code.prim(Prim::Mul, &[b, power])
        }),
        Prim::Expt => unless_zero(code, a, |code| {
            let logarithm = code.prim(Prim::Log, &[a]);
            code.prim(Prim::Mul, &[x, logarithm])
        }),
        _ => return None,
    };
    Some(code.prim(Prim::Scale, &[partial, s]))
}

/// `(if (= y 0) 0 value)`
fn unless_zero(code: &mut Code<'_>, y: Var, value: impl FnOnce(&mut Code<'_>) -> Var) -> Var {
    let zero = code.number(0.0);
    let is_zero = code.prim(Prim::Eq, &[y, zero]);
    let outer = std::mem::take(&mut code.bindings);
    let result = value(code);
    let other = Body { bindings: std::mem::replace(&mut code.bindings, outer), result };
    let then = Body { bindings: Vec::new(), result: zero };
    code.bind("d", Rhs::If(is_zero, Box::new(then), Box::new(other)))
}
