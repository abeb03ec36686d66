//! The run time of compiled programs: a small static library without dependencies, linked into every executable and, in
//! another form, into every library.
//!
//! | module | what it gives to compiled code |
//! |---|---|
//! | [`layout`] | the shape of boxes and size classes, shared with the code generator |
//! | [`heap`] | memory for boxes, and giving it back |
//! | [`vector`] | vectors: new ones, and copies of those that are shared |
//! | [`results`] | results that are remembered |
//! | [`memory`] | how much memory the program may use |
//! | [`stack`] | a large stack that ends in a message, not in a crash |
//! | [`input`], [`output`] | numbers in, numbers and texts out |
//! | [`arguments`], [`declaration`], [`config`], [`help`], [`command_line`] | what programs get from the command line |
//! | [`reader`] | numbers and arrays of numbers, read from bytes |
//! | [`number`] | numbers as text, texts in quotes |
//! | [`text`] | texts that a program makes |
//! | [`progress`], [`terminal`] | how far a search has come; interruptions |
//! | [`question`], [`watch`], [`words`] | what programs ask: whether their time is up, what is kept of their searches |
//! | [`report`], [`chart`], [`whole`] | the page about a run; files that appear whole |
//! | [`check`], [`checks`] | what programs ask that check derivatives |
//! | [`shards`], [`records`], [`processes`] | work that several processes share |
//! | [`ranks`], [`rounds`], [`group`], [`mpi`] | those that a launcher of MPI has started |
//! | [`profile`] | where the program spends its time |
//! | [`trace`], [`callers`] | the calls that led to an error |
//! | [`finite`] | whether results are finite |
//! | [`processor`] | the instructions that the program needs |
//! | [`start`] | `main`, exit codes |
//! | [`library`] | contexts: what a library has in place of a process of its own |
//! | [`callbacks`], [`context_texts`], [`row`] | functions and texts that the caller of a library passes |
//! | [`system`] | the few functions of the C library that all this needs |
//!
//! Executables have one thread of their own (see [`stack`]) and everything here runs on it, so the state of the modules
//! is in [`cell::Single`] cells without locks. Libraries have no such state: `input`, `memory`, `output`, `stack` and
//! `start` are no part of them, and the rest is handed what it works on.
//!
//! The build script of the compiler turns this crate into what executables link (`--cfg vlad_archive`) and what
//! libraries are made of (`--cfg vlad_library` as well); as an ordinary workspace member it is only checked and tested.

#![cfg_attr(not(test), no_std)]

pub mod arguments;
#[cfg(target_arch = "x86_64")]
pub mod callbacks;
#[cfg(not(vlad_library))]
pub mod callers;
pub mod cell;
pub mod chart;
pub mod check;
#[cfg(not(vlad_library))]
pub mod checks;
#[cfg(not(vlad_library))]
pub mod command_line;
pub mod config;
#[cfg(target_arch = "x86_64")]
pub mod context_texts;
pub mod declaration;
pub mod finite;
#[cfg(not(vlad_library))]
pub mod group;
pub mod heap;
pub mod help;
#[cfg(not(vlad_library))]
pub mod input;
pub mod layout;
#[cfg(target_arch = "x86_64")]
pub mod library;
#[cfg(not(vlad_library))]
pub mod memory;
#[cfg(not(vlad_library))]
pub mod mpi;
pub mod number;
#[cfg(not(vlad_library))]
pub mod output;
#[cfg(not(vlad_library))]
pub mod processes;
#[cfg(not(vlad_library))]
pub mod processor;
#[cfg(not(vlad_library))]
pub mod profile;
pub mod progress;
pub mod question;
#[cfg(not(vlad_library))]
pub mod ranks;
pub mod reader;
#[cfg(not(vlad_library))]
pub mod records;
pub mod report;
pub mod results;
#[cfg(not(vlad_library))]
pub mod rounds;
pub mod row;
#[cfg(not(vlad_library))]
pub mod shards;
#[cfg(not(vlad_library))]
pub mod stack;
#[cfg(not(vlad_library))]
pub mod start;
pub mod system;
pub mod table;
#[cfg(not(vlad_library))]
pub mod terminal;
#[cfg(not(vlad_library))]
pub mod text;
#[cfg(not(vlad_library))]
pub mod trace;
pub mod vector;
#[cfg(not(vlad_library))]
pub mod watch;
#[cfg(not(vlad_library))]
pub mod whole;
#[cfg(not(vlad_library))]
pub mod words;

/// Reached only through a mistake in this library; says so and ends the program the way an abort does.
#[cfg(all(vlad_archive, not(vlad_library), not(test)))]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    use core::fmt::Write;
    let _ = write!(output::Stderr, "vlad run time: internal error: {info}\n");
    system::abort_process()
}

/// The same in a library, which has nowhere to say so.
#[cfg(all(vlad_library, not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    library::stop()
}
