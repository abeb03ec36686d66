//! Memory: pure SSA → SSA that counts the owners of boxes and vectors.
//!
//! [`counting`] is the pass that every program goes through, and the last one; what stands beside it brings programs
//! into a form that needs fewer counts, fewer boxes and fewer copies. Which of the dead boxes are used again, and which
//! vectors are changed in place, [`crate::codegen::decisions`] settles.
//!
//! | file | |
//! |---|---|
//! | [`counting`] | reference counts, from who owns what |
//! | [`ownership`] | who owns which box |
//! | [`borrowing`] | fields that need no owner because their box outlives them |
//! | [`owned_params`] | parameters that every caller hands over |
//! | [`move_elements`] | pointers that are taken out of a vector because they are replaced next |
//! | [`late_changes`] | vectors are changed after they have been read |
//! | [`tail_modulo_cons`] | recursion whose result is boxed as a loop |
//! | [`early_copies`] | vectors that loops change are copied before them |
//! | [`rows`] | rows of a matrix in one piece of memory |

pub mod borrowing;
pub mod counting;
pub mod early_copies;
pub mod late_changes;
pub mod move_elements;
pub mod owned_params;
pub mod ownership;
pub mod rows;
pub mod tail_modulo_cons;
