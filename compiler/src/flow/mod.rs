//! Flow analysis: abstract interpretation over shapes, which is partial evaluation at compile time.
//!
//! | file | |
//! |---|---|
//! | [`shape`] | the abstract values: canonical graphs of alternatives |
//! | [`algebra`] | join, sums, zeros and knots of shapes |
//! | [`operators`] | the other derivative operators on shapes |
//! | [`widen`] | recognising growth, tying knots |
//! | [`collapse`] | making shapes small |
//! | [`primitive`] | what a primitive does to shapes |
//! | [`analysis`] | the interpreter: specialised functions to a fixed point |
//! | [`print`] | shapes and results as text |

pub mod shape;

pub mod algebra;

pub mod operators;

pub mod widen;

mod collapse;

mod unification;

pub mod primitive;

mod sites;

pub mod vector;

pub mod limits;

pub mod analysis;

pub mod print;

pub use analysis::{Analysis, Unsupported, analyze};
pub use limits::{Options, Precision};

#[cfg(test)]
mod tests;
