//! Errors of programs at run time, as compiled code reports them.
//!
//! | file | |
//! |---|---|
//! | [`catch`] | errors that the program handles |
//! | [`certain`] | errors that a program certainly meets |
//! | [`failure`] | messages, rendered when the program is compiled |
//! | [`watch`] | what to say where a number ceases to be finite |

pub mod catch;
pub mod certain;
pub mod failure;
pub mod watch;
