//! Optimisation: SSA to SSA.
//!
//! [`crate::pipeline::passes`] holds the table of all passes, says in which order they run and why, and runs them.
//! Every pass takes and leaves a program that [`crate::ssa::verify`] accepts, may assume nothing else of it, and has a
//! directory of programs before and after it in `tests/opt/`.
//!
//! A pass treats the whole program, or one function, for which it knows the [`Context`].
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

use crate::base::EntityVec;
use crate::ssa::ir::{Sum, SumId, VectorId, VectorLayout};
use analysis::effects::Effects;

/// What a pass that treats one function may know of the rest of the program.
#[derive(Clone, Copy, Debug)]
pub struct Context<'p> {
    /// What calls of functions may do, if the pass is said to ask for it.
    pub effects: &'p Effects,
    /// The alternatives of boxed sums.
    pub sums: &'p EntityVec<SumId, Sum>,
    /// What elements of vectors hold.
    pub vectors: &'p EntityVec<VectorId, VectorLayout>,
    /// Whether sums and products may be made in another order, which changes their last digits.
    pub fast_math: bool,
}
