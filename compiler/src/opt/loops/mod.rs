//! Passes over loops.
//!
//! | file | |
//! |---|---|
//! | [`licm`] | loop-invariant code motion |
//! | [`hoist_guards`] | loop-invariant checks before the loop |
//! | [`range_checks`] | inductive range check elimination |
//! | [`inductions`] | induction variables as integers, places that are in range |
//! | [`upwards`] | loops that count upwards instead of downwards |
//! | [`peel`] | first rounds that are not like the others |
//! | [`rotate`] | tests at the ends of loops |
//! | [`fusion`] | vectors whose elements are computed where they are read |
//! | [`parallelize`] | loops whose rounds several processes compute |
//! | [`unroll_and_jam`] | unroll-and-jam of reductions |
//! | [`vectorize`] | two rounds of a loop at a time |
//! | [`neutral_sums`] | reductions that start at -0.0 instead of the symbolic zero |
//! | [`shared_zeros`] | tests for the symbolic zero that others answer |

pub mod distribute;
pub mod fusion;
pub mod hoist_guards;
pub mod inductions;
pub mod licm;
pub mod neutral_sums;
pub mod parallelize;
pub mod peel;
pub mod range_checks;
pub mod rotate;
pub mod shared_zeros;
pub mod unroll_and_jam;
pub mod upwards;
pub mod vectorize;
