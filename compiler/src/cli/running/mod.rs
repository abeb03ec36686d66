//! Commands that run or compile a program.
//!
//! | file | |
//! |---|---|
//! | [`run`] | `vlad run` |
//! | [`eval`] | `vlad eval` |
//! | [`build`] | `vlad build` |
//! | [`library`] | `vlad build --lib` |
//! | [`embedded`] | executables that embed the reference evaluator |
//! | [`arguments`] | arguments of programs that are evaluated |
//! | [`watch`] | progress, limits of time, what is kept of them |

pub(super) mod arguments;
pub(super) mod build;
pub(super) mod embedded;
pub(super) mod eval;
pub(super) mod library;
pub(super) mod run;
pub(super) mod watch;
