//! Errors of programs at run time, as compiled code reports them.
//!
//! | file | |
//! |---|---|
//! | [`failure`] | messages, rendered when the program is compiled |
//! | [`watch`] | what to say where a number ceases to be finite |

pub mod failure;
pub mod watch;
