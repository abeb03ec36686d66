//! VLAD as a tool of GradBench, and a harness of our own for the same programs.
//!
//! | module | |
//! |---|---|
//! | [`evals`] | the evals: what their inputs and outputs look like, which functions they have |
//! | [`encode`] | inputs as bytes, for programs in VLAD and in C |
//! | [`build`] | the programs, compiled |
//! | [`session`] | a running program: its output, and how long calls take |
//! | [`runs`] | how often to call |
//! | [`protocol`] | GradBench's messages |
//! | [`inputs`] | inputs of any size |
//! | [`check`] | derivatives compared with differences |
//! | [`harness`] | primal, derivative and C beside each other |
//! | [`compare`] | VLAD beside other tools |

pub mod evals;

pub mod encode;

pub mod build;

pub mod session;

pub mod runs;

pub mod protocol;

pub mod inputs;

pub mod check;

pub mod harness;

pub mod compare;

/// What goes wrong is told in words: to the user, or to the eval that sent the message.
pub type Result<T> = std::result::Result<T, String>;
