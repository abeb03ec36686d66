//! Operands of the wrong kind: those of arithmetic that are no numbers, with what to use for values of their kind, and
//! arguments of the library that do not fit its contracts ([`contract`]).

pub mod contract;

use crate::core::errors::Kind;
use crate::core::prim::Prim;

/// How to mend an operation on numbers that got a value of another kind.
pub fn not_a_number(prim: Prim, kind: &Kind) -> &'static str {
    // Primitives on numbers come first.
    let is_arithmetic = prim <= Prim::Ge;
    match (kind, prim) {
        (Kind::Vector, Prim::Add) => "use `v+` for vectors, or `vector-map` to add to each element",
        (Kind::Vector, Prim::Sub | Prim::Neg) => "use `v-` for vectors, or `vector-map` to subtract from each element",
        (Kind::Vector, Prim::Mul) => {
            "use `(k*v number vector)`, `dot` for two vectors, or `vector-map` for each element"
        }
        (Kind::Vector, Prim::Div) => "use `(k*v (/ 1 number) vector)`, or `vector-map` for each element",
        (Kind::Text, Prim::Add) => "use `string-append` for texts",
        (Kind::Text | Kind::Vector | Kind::Boolean, Prim::Eq) => match kind {
            Kind::Text => "use `string=?` for texts, or `equal?` for any values",
            _ => "use `equal?` for values that are no numbers",
        },
        (Kind::Text, Prim::Lt | Prim::Gt | Prim::Le | Prim::Ge) => "use `string<?` for texts",
        (kind, Prim::Eq) if kind.is_list() => "use `equal?` for lists",
        (Kind::Vector, _) if is_arithmetic => "use `vector-map` for each element of a vector",
        (kind, _) if kind.is_list() && is_arithmetic => {
            "use `map` for each element of a list, or `fold-left` for all of them"
        }
        _ => "arithmetic takes numbers: test with `real?` first if the value can vary",
    }
}
