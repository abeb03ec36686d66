//! Changing a function: what passes share that replace values or copy blocks.
//!
//! | file | |
//! |---|---|
//! | [`clone_region`] | copying blocks, also into functions of their own |
//! | [`rewrite`] | replacing values, finding definitions, counting uses |
//! | [`self_calls`] | tail calls of a function to itself as a loop |
//! | [`repair`] | SSA form again after code was copied |

pub mod clone_region;
pub mod repair;
pub mod rewrite;
pub mod self_calls;
