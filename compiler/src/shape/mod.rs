//! Shapes: the abstract values of the flow analysis, and what can be done with them.
//!
//! | file | |
//! |---|---|
//! | [`lattice`] | the abstract values: canonical graphs of alternatives |
//! | [`algebra`] | join, sums and knots of shapes |
//! | [`minimise`] | which nodes of a graph are the same shape |
//! | [`operators`] | the other derivative operators on shapes |
//! | [`primitive`] | what the primitives do to shapes |
//! | [`sites`] | which closures have been read from data |
//! | [`zeros`] | symbolic zeros and folded ones |
//! | [`vector`] | vectors and their sensitivities |
//! | [`widen`] | recognising growth, tying knots |
//! | [`collapse`] | making shapes small |
//! | [`known`] | what has been worked out about shapes |
//! | [`unification`] | making parts of a shape one |

pub mod algebra;
pub mod collapse;
pub mod known;
pub mod lattice;
pub mod minimise;
pub mod operators;
pub mod primitive;
pub mod sites;
pub mod unification;
pub mod vector;
pub mod widen;
pub mod zeros;

#[cfg(test)]
mod tests;
