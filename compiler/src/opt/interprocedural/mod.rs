//! Passes over the whole program: functions, calls, and what flows across calls.
//!
//! | file | |
//! |---|---|
//! | [`inline`] | calls replaced by code |
//! | [`tail_calls`] | tail calls, and loops of those of the function itself |
//! | [`constants_across_calls`] | parameters and results that are the same at every call |
//! | [`equal_across_calls`] | parameters and results that are equal to others |
//! | [`tags_across_calls`] | tests whose outcome is known from what flows there |
//! | [`dead_across_calls`] | parameters, results, fields and globals that nobody needs |
//! | [`merge_functions`] | functions that do the same |
//! | [`sharing`] | results for data that are shared, made once |
//! | [`compact`] | functions and blocks that nothing reaches, dense numbers |

pub mod compact;
pub mod constants_across_calls;
pub mod dead_across_calls;
pub mod equal_across_calls;
pub mod inline;
pub mod merge_functions;
pub mod sharing;
pub mod tags_across_calls;
pub mod tail_calls;
