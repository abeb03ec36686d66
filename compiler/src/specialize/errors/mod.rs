//! Errors of programs at run time, as compiled code reports them.
//!
//! | file | |
//! |---|---|
//! | [`catch`] | errors that the program handles |
//! | [`failure`] | messages, rendered when the program is compiled |
//! | [`watch`] | what to say where a number ceases to be finite |

pub mod catch;
pub mod failure;
pub mod watch;
