//! Optimisation: SSA to SSA.
//!
//! [`crate::pipeline::passes`] holds the table of all passes, says in which order they run and why, and runs them.
//! Every pass takes and leaves a program that [`crate::ssa::verify`] accepts, may assume nothing else of it, and has a
//! directory of programs before and after it in `tests/opt/`.
//!
//! | folder | |
//! |---|---|
//! | [`edit`] | replacing values, copying blocks |
//! | [`analysis`] | facts that passes ask for |
//! | [`scalar`] | values, tests and control flow within functions |
//! | [`interprocedural`] | functions, calls, and what flows across them |
//! | [`layout`] | how data are represented |
//! | [`tape`] | what reverse derivatives keep |
//! | [`loops`] | loops and vectors |

pub mod analysis;
pub mod edit;
pub mod interprocedural;
pub mod layout;
pub mod loops;
pub mod scalar;
pub mod tape;
