//! Facts about programs: the analyses that passes share. Nothing here changes a program.
//!
//! | file | |
//! |---|---|
//! | [`effects`] | what calls of a function may do besides returning results |
//! | [`least`] | numbers that only rise: the least that each can be |
//! | [`liveness`] | which values are needed at the start of each block |
//! | [`loops`] | the loops of a function, and what in them does not change |
//! | [`summary`] | what can be said of a function without looking at others |
//! | [`termination`] | which loops and which recursion are known to end |
//! | [`points_to`] | which places boxed values flow to (Steensgaard) |
//! | [`holders`] | what has fields: boxes and elements of vectors |
//! | [`finite`] | what has to be finite for all results of some code to be finite |

pub mod effects;
pub mod finite;
pub mod holders;
pub mod least;
pub mod liveness;
pub mod loops;
pub mod points_to;
pub mod summary;
pub mod termination;
