//! Reals that may be the symbolic zero.
//!
//! Where a symbolic zero and a number meet, only run time knows which one there is. Such a value
//! ([`Fact::PerhapsZero`](crate::shape::lattice::Fact)) is a double; the symbolic zero is one particular NaN, which no
//! operation makes and no input has. It is told from numbers by its bits before anything is computed with it, so it
//! never gets to where numbers are expected.
//!
//! Sums and products are computed in any case and not used for the symbolic zero: choosing is cheaper than branching.

use crate::specialize::emit::Emitter;
use crate::ssa::ir::{Op, Real2, Type, Value};

/// A quiet NaN with a payload of its own.
const SYMBOLIC_ZERO: u64 = 0x7ff8_7a65_726f_0001;

/// The symbolic zero.
pub fn symbolic(e: &mut Emitter) -> Value {
    e.real(f64::from_bits(SYMBOLIC_ZERO))
}

/// Whether a value that may be the symbolic zero is it.
pub fn is_symbolic(e: &mut Emitter, value: Value) -> Value {
    e.value(Op::RealIs(SYMBOLIC_ZERO), &[value], Type::Bool)
}

fn choose(e: &mut Emitter, condition: Value, yes: Value, no: Value) -> Value {
    e.value(Op::Select, &[condition, yes, no], Type::F64)
}

/// The number that everything but `plus`, `scale` and `unscale` sees.
pub fn number(e: &mut Emitter, value: Value) -> Value {
    let (zero, is_zero) = (e.real(0.0), is_symbolic(e, value));
    choose(e, is_zero, zero, value)
}

/// The sum of two values, each with whether it may be the symbolic zero; the sum may be if both may.
pub fn plus(e: &mut Emitter, (x, x_perhaps): (Value, bool), (y, y_perhaps): (Value, bool)) -> Value {
    let mut sum = e.value(Op::Real2(Real2::Add), &[x, y], Type::F64);
    if y_perhaps {
        let is_zero = is_symbolic(e, y);
        sum = choose(e, is_zero, x, sum);
    }
    if x_perhaps {
        let is_zero = is_symbolic(e, x);
        sum = choose(e, is_zero, y, sum);
    }
    sum
}

/// `number`, or the symbolic zero if one of the other values is.
pub fn unless_zero(e: &mut Emitter, others: &[Value], number: Value) -> Value {
    let mut result = number;
    for other in others {
        let is_zero = is_symbolic(e, *other);
        result = choose(e, is_zero, *other, result);
    }
    result
}
