//! Optimisation: SSA to SSA.
//!
//! [`pipeline`] holds the table of all passes, says in which order they run and why, and runs them. Every pass takes
//! and leaves a program that [`crate::ssa::verify`] accepts, may assume nothing else of it, and has a directory of
//! programs before and after it in `tests/opt/`.
//!
//! | passes within functions | |
//! |---|---|
//! | [`simplify_cfg`] | branches on constants, blocks that are not needed |
//! | [`fold`] | constants and exact algebra, operation by operation ([`gvn`] applies the same rules) |
//! | [`gvn`] | equal values, known outcomes of tests |
//! | [`jump_threading`] | decisions that the way there has made already |
//! | [`block_params`] | parameters of blocks that are always the same |
//! | [`dce`] | what nobody needs |
//! | [`dead_branches`] | branches that decide nothing |
//! | [`dead_loops`] | loops that compute nothing |
//! | [`tail_calls`] | tail calls, loops |
//! | [`licm`] | what does not change in a loop |
//! | [`early_checks`] | checks with the same outcome in all rounds of a loop |
//! | [`inductions`] | reals that count as integers, places that are in range |
//! | [`peel`] | first rounds of loops that are not like the others |
//! | [`select`] | selections instead of branches |
//! | [`fusion`] | vectors whose elements are computed where they are read |
//! | [`late_changes`] | changes of vectors behind reads |
//! | [`sink`] | what only errors need |
//! | [`jam`] | sums of several rounds of a loop around them at a time |
//! | [`lanes`] | two rounds of a loop at a time |
//! | [`rotate`] | tests at the ends of loops |
//! | [`rows`] | rows of a matrix in one piece of memory |
//!
//! | passes over the whole program | |
//! |---|---|
//! | [`inline`] | calls replaced by code |
//! | [`constants_across_calls`] | parameters and results that are the same at every call |
//! | [`tags_across_calls`] | tests whose outcome is known from what flows there |
//! | [`dead_across_calls`] | parameters, results, fields and globals that nobody needs |
//! | [`split_sums`] | a sum for each flow of data |
//! | [`sole_alternatives`] | sums of whose alternatives only one is made |
//! | [`flatten_sums`] | alternatives that hold a box of another sum as that box |
//! | [`unbox_fields`] | boxes that are made only to be stored in another one, or in a vector |
//! | [`recompute_fields`] | fields that follow from other fields |
//! | [`recompute_calls`] | tapes within tapes that cheap calls make again |
//! | [`tape_loops`] | tapes built and read by loops instead of recursion |
//! | [`invariant_fields`] | what is the same in all boxes of a tape |
//! | [`tape_vectors`] | tapes of loops that count their rounds as vectors |
//! | [`counters`] | chains that hold nothing but their length as numbers |
//! | [`tail_modulo_cons`] | recursion whose result is boxed as a loop |
//! | [`sharing`] | results for data that are shared made once |
//! | [`shared_zeros`] | tests for the symbolic zero that others answer |
//! | [`merge_functions`] | functions that do the same |
//! | [`compact`] | functions and blocks that nothing reaches, dense numbers |
//! | [`watch`] | checks of what operations give, where that is asked for |
//! | [`early_boxes`] | values that wait for the box that will hold them |
//! | [`schedule`] | the order of instructions |
//! | [`memory`] | reference counts: the last pass |
//!
//! The rest is what they share: [`rewrite`] and [`repair`] of functions, and facts about [`calls`], [`effects`], [`data_flow`], [`holders`],
//! [`loops`], [`termination`], [`liveness`], [`ownership`], [`handover`], [`taking`] and what has to be [`finite`].

pub mod pipeline;

pub mod simplify_cfg;

pub mod fold;

pub mod gvn;

pub mod jam;

pub mod jump_threading;

pub mod block_params;
pub mod chain_accumulators;

pub mod dce;

pub mod tail_calls;

pub mod early_checks;
pub mod licm;

pub mod inductions;

pub mod neutral_sums;
pub mod peel;

pub mod select;

pub mod late_changes;

pub mod fusion;

pub mod sink;

pub mod lanes;

pub mod shared_zeros;
pub mod sharing;
pub mod watch;

pub mod inline;

pub mod constants_across_calls;

pub mod tags_across_calls;

pub mod dead_across_calls;

pub mod dead_branches;
pub mod dead_loops;

pub mod merge_functions;

pub mod split_sums;

pub mod flatten_sums;
pub mod sole_alternatives;

pub mod unbox_fields;

pub mod recompute_calls;
pub mod recompute_fields;

pub mod tape_loops;

pub mod tape_vectors;

pub mod invariant_fields;

pub mod counters;

pub mod compact;

pub mod tail_modulo_cons;

pub mod early_boxes;

pub mod rotate;
pub mod rows;

pub mod schedule;

pub mod ownership;

pub mod handover;

pub mod taking;

pub mod liveness;

pub mod memory;

pub mod calls;

pub mod effects;

pub mod finite;

pub mod termination;

pub mod data_flow;

pub mod holders;

pub mod loops;

pub mod rewrite;

pub mod repair;
