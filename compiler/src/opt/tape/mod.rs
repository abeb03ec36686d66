//! Passes over tapes: what the forward phase of a reverse derivative keeps for the reverse phase.
//!
//! A reverse transform returns its backpropagator as a closure, so that the tape of a recursion is a chain of boxes:
//! one closure for each call. These passes find such chains, whatever program they come from, and turn them into what a
//! programmer would have written: the forward phase becomes a loop, fields that are the same in all boxes are kept
//! once, a chain that holds nothing but its length becomes an integer, and a chain whose length is known where it is
//! made becomes a vector, which later passes may fuse away.
//!
//! | file | |
//! |---|---|
//! | [`recompute_calls`] | tapes within tapes that cheap calls make again |
//! | [`tape_loops`] | chains built and read by loops instead of recursion |
//! | [`invariant_fields`] | what is the same in all boxes of a tape |
//! | [`list_lengths`] | chains that hold nothing but their length as numbers, also those that a recursion makes |
//! | [`tape_vectors`] | tapes of loops that count their rounds as vectors |
//! | [`checkpointing`] | long tapes made again piece by piece |

pub mod checkpointing;
pub mod invariant_fields;
pub mod list_lengths;
pub mod recompute_calls;
pub mod tape_loops;
pub mod tape_vectors;
