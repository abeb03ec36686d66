//! Operations → Cranelift instructions and calls of the run time.
//!
//! | file | |
//! |---|---|
//! | [`instruction`] | reals, truth values, texts and globals |
//! | [`lanes`] | two lanes at a time |
//! | [`vector`] | vectors |
//! | [`memory`] | boxes |
//! | [`results`] | results of calls that are remembered |

pub mod instruction;
pub mod lanes;
pub mod memory;
pub mod results;
pub mod vector;
