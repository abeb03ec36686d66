//! Partial derivatives of the primitives, as core code.
//!
//! [`pullback`] is the reverse phase of `x = (p y ...)`: from the sensitivity of `x` to contributions to those of the
//! operands. [`pushforward`] is its tangent: the sum of the contributions of the tangents of the operands. Every
//! contribution is linear in the sensitivity or tangent and made of `scale`, `unscale` and `plus`-free code, so that a
//! symbolic zero passes through without arithmetic.
//!
//! Conventions at kinks: `abs` 0 at 0; `sqrt` +inf at 0; rounding functions 0; `expt` 0 with respect to the base when
//! the exponent is 0, and 0 with respect to the exponent when the base is 0.

use super::code::Code;
use crate::core::ir::{Below, Body, Rhs, Var};
use crate::core::prim::Prim;

/// A call of a primitive whose derivative is wanted.
pub(super) struct Call<'a> {
    /// Which transformations of its operands it is below.
    pub below: Below,
    pub prim: Prim,
    /// The primal values of its operands.
    pub operands: &'a [Var],
    /// The primal value of its result.
    pub result: Var,
}

/// The contributions to the operands' sensitivities: pairs of operand position and variable.
///
/// `s` is the sensitivity of the result; operands that are not `active` get none.
pub(super) fn pullback(code: &mut Code<'_>, call: &Call<'_>, s: Var, active: &[bool]) -> Vec<(usize, Var)> {
    let active = active.iter().enumerate().filter(|(_, active)| **active);
    active.filter_map(|(position, _)| Some((position, contribution(code, call, position, s)?))).collect()
}

/// The tangent of the result of an arithmetic primitive; `None` when it is zero.
///
/// `tangents` are those of the operands; the ones that are zero may be left out.
pub(super) fn pushforward(code: &mut Code<'_>, call: &Call<'_>, tangents: &[Option<Var>]) -> Option<Var> {
    if let (Prim::Div | Prim::Unscale, [dividend, Some(divisor)]) = (call.prim, tangents) {
        // (∂a - x ∂b) (1/b): one multiplication where the sum of the contributions has two.
        let minus_one = code.number(-1.0);
        let negative = code.prim(Prim::Scale, &[minus_one, *divisor]);
        let product = code.prim(Prim::Scale, &[call.result, negative]);
        let difference = dividend.map_or(product, |dividend| code.prim(Prim::Plus, &[dividend, product]));
        return Some(quotient(code, difference, call.operands[1]));
    }
    let mut sum: Option<Var> = None;
    for (position, tangent) in tangents.iter().enumerate() {
        if let Some(more) = tangent.and_then(|tangent| contribution(code, call, position, tangent)) {
            sum = Some(sum.map_or(more, |sum| code.prim(Prim::Plus, &[sum, more])));
        }
    }
    sum
}

/// True for arithmetic primitives whose derivative is zero.
pub(super) fn is_constant(prim: Prim) -> bool {
    matches!(prim, Prim::Floor | Prim::Ceiling | Prim::Round | Prim::Truncate | Prim::Sign)
}

/// True for primitives that choose parts or forms of sums, whatever transformations these have been through.
pub(super) fn is_of_sums(prim: Prim) -> bool {
    matches!(prim, Prim::Handed | Prim::HandedFew | Prim::Kept | Prim::Lent | Prim::SumCar | Prim::SumCdr)
        || matches!(prim, Prim::SplitCar | Prim::SplitCdr)
        || matches!(prim, Prim::Adding | Prim::Plain | Prim::TakeElement | Prim::PutElement)
}

/// True for primitives that look at the transformations of their operands: in a transformed function they are done
/// below that transformation.
pub(super) fn is_lifted(prim: Prim) -> bool {
    matches!(prim, Prim::IsReal | Prim::IsForward | Prim::IsReverse | Prim::IsSeries)
        || matches!(prim, Prim::J | Prim::JInverse | Prim::JStar | Prim::Lift | Prim::Unlift)
        || matches!(prim, Prim::LiftDirections | Prim::UnliftDirections)
        || matches!(prim, Prim::Bundle | Prim::Primal | Prim::Tangent)
}

/// The partial derivative with respect to the operand at `position`, times `s`.
fn contribution(code: &mut Code<'_>, call: &Call<'_>, position: usize, s: Var) -> Option<Var> {
    if is_of_sums(call.prim) {
        return of_sums(code, call.prim, position, s);
    }
    match *call.operands {
        [a] => unary(code, call, a, s),
        [a, b] => binary(code, call, [a, b], s, position),
        // Linear in the sensitivity; the vector gives the shape of the zeros only.
        [_, index, _] if call.prim == Prim::InElement && position == 2 => Some(code.prim(Prim::VectorRef, &[s, index])),
        _ => None,
    }
}

/// The contribution to an operand of a primitive that chooses parts or forms of sums.
///
/// Everything that is added to a sum has the sensitivity of what the sum becomes in the end. So that of what is kept is
/// that of the whole sum, also of what is handed on meanwhile, or taken out, and comes back as a part of what is added.
fn of_sums(code: &mut Code<'_>, prim: Prim, position: usize, s: Var) -> Option<Var> {
    match prim {
        Prim::Kept => Some(s),
        Prim::PutElement => (position != 1).then_some(s),
        Prim::Adding => Some(code.prim(Prim::Plain, &[s])),
        Prim::Plain => Some(code.prim(Prim::Adding, &[s])),
        _ => None,
    }
}

/// The contribution to `y` in `x = (prim y)`.
fn unary(code: &mut Code<'_>, call: &Call<'_>, y: Var, s: Var) -> Option<Var> {
    let Call { below, prim, result: x, .. } = *call;
    let partial = match prim {
        // The sensitivity of a function is the list of those of its environment.
        Prim::Real | Prim::Opaque | Prim::Exchange | Prim::Environment => return Some(s),
        Prim::Write | Prim::WriteReal | Prim::WriteByte | Prim::WriteDouble => return Some(s),
        Prim::J => return Some(code.lifted(below, Prim::JInverse, &[s])),
        Prim::JInverse => return Some(code.lifted(below, Prim::J, &[s])),
        Prim::JStar => return Some(code.lifted(below, Prim::Primal, &[s])),
        Prim::Primal => return Some(code.lifted(below, Prim::JStar, &[s])),
        Prim::Lift => return Some(code.lifted(below, Prim::Unlift, &[s])),
        Prim::Unlift => return Some(code.lifted(below, Prim::Lift, &[s])),
        Prim::LiftDirections => return Some(code.lifted(below, Prim::UnliftDirections, &[s])),
        Prim::UnliftDirections => return Some(code.lifted(below, Prim::LiftDirections, &[s])),
        Prim::Series => {
            // A sensitivity may have come as that of a constant, which has no further coefficients: those of y are 0.
            let zero = code.prim(Prim::Zero, &[y]);
            let zero = code.prim(Prim::Series, &[zero]);
            let s = code.prim(Prim::Plus, &[zero, s]);
            return Some(code.prim(Prim::SeriesParts, &[s]));
        }
        Prim::SeriesParts => return Some(code.prim(Prim::Series, &[s])),
        Prim::Tangent => {
            let zero = code.prim(Prim::Zero, &[s]);
            return Some(code.lifted(below, Prim::Bundle, &[zero, s]));
        }
        Prim::Sqrt => {
            let half = code.number(0.5);
            let reciprocal = reciprocal(code, x);
            code.prim(Prim::Mul, &[half, reciprocal])
        }
        // Divided, since 1/y of what barely is a number overflows, and in y log y the sensitivity is as small.
        Prim::Log => return Some(code.prim(Prim::Unscale, &[s, y])),
        Prim::Log1p => {
            let one = code.number(1.0);
            let divisor = code.prim(Prim::Add, &[one, y]);
            return Some(quotient(code, s, divisor));
        }
        Prim::Asin | Prim::Acos => {
            let square = one_plus_square(code, Prim::Sub, y);
            let mut divisor = code.prim(Prim::Sqrt, &[square]);
            if prim == Prim::Acos {
                divisor = code.prim(Prim::Neg, &[divisor]);
            }
            return Some(quotient(code, s, divisor));
        }
        Prim::Atan => {
            let divisor = one_plus_square(code, Prim::Add, y);
            return Some(quotient(code, s, divisor));
        }
        Prim::Neg => code.number(-1.0),
        // Nobody forgets this by accident: the library gives the derivatives of the functions around these.
        Prim::Erf | Prim::Erfc | Prim::Gamma | Prim::LogGamma => code.number(f64::NAN),
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

/// `1/y`. The derivatives of a reciprocal need no other division, so derivatives of all orders share it.
fn reciprocal(code: &mut Code<'_>, y: Var) -> Var {
    let one = code.number(1.0);
    code.prim(Prim::Div, &[one, y])
}

/// `s/y` for a sensitivity or tangent: `(1/y) s`.
fn quotient(code: &mut Code<'_>, s: Var, y: Var) -> Var {
    let reciprocal = reciprocal(code, y);
    code.prim(Prim::Scale, &[reciprocal, s])
}

/// `1 + y²` or, with `Sub`, `1 - y²`.
fn one_plus_square(code: &mut Code<'_>, prim: Prim, y: Var) -> Var {
    let one = code.number(1.0);
    let square = code.prim(Prim::Mul, &[y, y]);
    code.prim(prim, &[one, square])
}

/// The contribution to the operand at `position` in `x = (prim a b)`.
fn binary(code: &mut Code<'_>, call: &Call<'_>, [a, b]: [Var; 2], s: Var, position: usize) -> Option<Var> {
    let Call { below, prim, result: x, .. } = *call;
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
            let quotient = quotient(code, s, b);
            if first {
                return Some(quotient);
            }
            // A quotient of a sensitivity may be a symbolic zero, and stays one.
            let negative = match prim {
                Prim::Div => code.prim(Prim::Neg, &[x]),
                _ => {
                    let minus_one = code.number(-1.0);
                    code.prim(Prim::Scale, &[minus_one, x])
                }
            };
            return Some(code.prim(Prim::Scale, &[negative, quotient]));
        }
        Prim::WithEnvironment => return (!first).then_some(s),
        Prim::Bundle if first => return Some(code.lifted(below, Prim::Primal, &[s])),
        Prim::Bundle => return Some(code.lifted(below, Prim::Tangent, &[s])),
        // Linear in the sensitivity; the pair gives the shape of the zero only.
        Prim::InCar | Prim::InCdr if first => return None,
        Prim::InCar => return Some(code.prim(Prim::Car, &[s])),
        Prim::InCdr => return Some(code.prim(Prim::Cdr, &[s])),
        Prim::Atan2 => {
            let (aa, bb) = (code.prim(Prim::Mul, &[a, a]), code.prim(Prim::Mul, &[b, b]));
            let square = code.prim(Prim::Add, &[aa, bb]);
            let numerator = if first { b } else { code.prim(Prim::Neg, &[a]) };
            let reciprocal = reciprocal(code, square);
            code.prim(Prim::Mul, &[reciprocal, numerator])
        }
        Prim::Expt if first => {
            let slope = |code: &mut Code<'_>| {
                let one = code.number(1.0);
                let lower = code.prim(Prim::Sub, &[b, one]);
                let power = code.prim(Prim::Expt, &[a, lower]);
                code.prim(Prim::Mul, &[b, power])
            };
            // Where both are zero there is no slope. Else it is that of b a^(b-1) even for an exponent of 0, as in a
            // derivative of higher order the exponent may vary.
            if_zero(code, b, |code| if_zero(code, a, |code| code.number(0.0), slope), slope)
        }
        Prim::Expt => if_zero(
            code,
            a,
            |code| code.number(0.0),
            |code| {
                let logarithm = code.prim(Prim::Log, &[a]);
                code.prim(Prim::Mul, &[x, logarithm])
            },
        ),
        _ => return None,
    };
    Some(code.prim(Prim::Scale, &[partial, s]))
}

/// `(if (= y 0) then other)`
fn if_zero(
    code: &mut Code<'_>,
    y: Var,
    then: impl FnOnce(&mut Code<'_>) -> Var,
    other: impl FnOnce(&mut Code<'_>) -> Var,
) -> Var {
    let zero = code.number(0.0);
    let is_zero = code.prim(Prim::Eq, &[y, zero]);
    let outer = std::mem::take(&mut code.bindings);
    let result = then(code);
    let then = Body { bindings: std::mem::take(&mut code.bindings), result };
    let result = other(code);
    let other = Body { bindings: std::mem::replace(&mut code.bindings, outer), result };
    code.bind("d", Rhs::If(is_zero, Box::new(then), Box::new(other)))
}
