//! The run time of compiled programs: a small static library without dependencies, linked into every executable.
//!
//! | module | what it gives to compiled code |
//! |---|---|
//! | [`layout`] | the shape of boxes and size classes, shared with the code generator |
//! | [`heap`] | memory for boxes, and giving it back |
//! | [`vector`] | vectors: new ones, and copies of those that are shared |
//! | [`memory`] | how much memory the program may use |
//! | [`stack`] | a large stack that ends in a message, not in a crash |
//! | [`input`], [`output`] | numbers in, numbers and texts out |
//! | [`arguments`], [`command_line`] | what programs get from the command line |
//! | [`reader`] | numbers and arrays of numbers, read from bytes |
//! | [`number`] | numbers as text |
//! | [`progress`], [`terminal`] | how far a search has come; interruptions |
//! | [`start`] | `main`, exit codes |
//! | [`system`] | the few functions of the C library that all this needs |
//!
//! Compiled programs have one thread of their own (see [`stack`]) and everything here runs on it, so the state of the
//! modules is in [`cell::Single`] cells without locks.
//!
//! The build script of the compiler turns this crate into the archive that executables link (`--cfg vlad_archive`);
//! as an ordinary workspace member it is only checked and tested.

#![cfg_attr(not(test), no_std)]

pub mod arguments;
pub mod cell;
pub mod command_line;
pub mod heap;
pub mod input;
pub mod layout;
pub mod memory;
pub mod number;
pub mod output;
pub mod progress;
pub mod reader;
pub mod stack;
pub mod start;
pub mod system;
pub mod terminal;
pub mod vector;

/// Reached only through a mistake in this library; says so and ends the program the way an abort does.
#[cfg(all(vlad_archive, not(test)))]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    use core::fmt::Write;
    let _ = write!(output::Stderr, "vlad run time: internal error: {info}\n");
    system::abort_process()
}
