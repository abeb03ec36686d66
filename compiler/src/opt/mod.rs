//! Optimisation: SSA to SSA.
//!
//! [`PASSES`] describes every pass; [`pipeline`] says in which order they run and why. Every pass takes and leaves a
//! program that [`crate::ssa::verify`] accepts, and may assume nothing else of it.

pub mod pipeline;

pub mod rewrite;

pub mod calls;

pub mod effects;

pub mod simplify_cfg;

pub mod fold;

pub mod gvn;

pub mod dce;

pub mod block_params;

pub mod compact;

pub mod tail_calls;

pub mod inline;

pub mod ownership;

pub mod memory;

pub mod dead_across_calls;

pub mod constants_across_calls;

pub mod repair;

pub mod jump_threading;

pub mod merge_functions;

pub mod licm;

pub mod select;
