//! Passes that change how data are represented: which tagged unions there are, and which fields their boxes have.
//!
//! | file | |
//! |---|---|
//! | [`split_sums`] | a union for each flow of data, and one again in the end |
//! | [`sole_alternatives`] | unions of whose alternatives only one is made |
//! | [`unbox_fields`] | boxes that are made only to be stored in another one, or in a vector |
//! | [`recompute_fields`] | fields that follow from other fields |

pub mod recompute_fields;
pub mod sole_alternatives;
pub mod split_sums;
pub mod unbox_fields;
