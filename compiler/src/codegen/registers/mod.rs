//! Functions in Cranelift's form, made easier for its register allocators.
//!
//! | file | |
//! |---|---|
//! | [`far`] | values that are needed far away wait in memory |
//! | [`pressure`] | which allocator to use |

pub mod far;
pub mod pressure;
