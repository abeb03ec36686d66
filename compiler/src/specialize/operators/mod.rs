//! The derivative operators on run-time values.
//!
//! | file | |
//! |---|---|
//! | [`sums`] | `zero`, `plus`, `in-car`, `in-cdr` |
//! | [`transform`] | `*j`, `*j-inverse`, `bundle`, `j*`, `primal`, `tangent` |
//! | [`vector`] | vectors: the primitives, and their sums |
//! | [`changes`] | vectors that are filled, and vectors with another element |
//! | [`element_sums`] | sums of elements |
//! | [`hots`] | sensitivities of vectors that a few reads give |
//! | [`kernel`] | kernels: operations of the run time on whole vectors |
//! | [`tables`] | those that any number of reads gives |
//! | [`zeros`] | reals that may be the symbolic zero |

mod changes;
pub mod element_sums;
pub mod hots;
pub mod kernel;
pub mod sums;
pub mod tables;
pub mod transform;
pub mod vector;
pub mod zeros;
