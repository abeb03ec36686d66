//! The command line of a compiled program: what the C library hands to `main`, and files that it names.
//!
//! What arguments mean is in [`crate::arguments`], which the evaluator shares.

use crate::arguments::{self, Host, Outcome, Text, Unreadable};
use crate::cell::Single;
use crate::reader::{self, Item};
use crate::table::Table;
use crate::{input, output, start, system};
use core::ffi::{c_char, c_int};
use core::fmt::{self, Write};

/// How many words there are, and where.
static WORDS: Single<(usize, *const *const c_char)> = Single::new((0, core::ptr::null()));

/// The exit code after wrong usage.
pub const USAGE: c_int = 2;

/// Keeps what `main` was given.
pub fn initialise(count: c_int, words: *const *const c_char) {
    WORDS.store((usize::try_from(count).unwrap_or(0), words));
}

/// Gives the program what the command line says, or ends it: after the help with success, after a mistake with exit
/// code 2.
///
/// # Safety
///
/// `declaration` points to `length` bytes of text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_prepare_arguments(declaration: *const u8, length: usize) {
    // SAFETY: the caller's obligation.
    let declaration = unsafe { core::str::from_utf8_unchecked(core::slice::from_raw_parts(declaration, length)) };
    match arguments::prepare(declaration, &mut Process { out: Out, error: output::Stderr }) {
        Outcome::Ready => {}
        Outcome::Helped => start::finish(0),
        Outcome::Wrong => start::finish(USAGE),
    }
}

struct Process {
    out: Out,
    error: output::Stderr,
}

struct Out;

impl Write for Out {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        output::write_out(text.as_bytes());
        Ok(())
    }
}

fn word(index: usize) -> Option<&'static [u8]> {
    let (count, words) = WORDS.load();
    if index >= count {
        return None;
    }
    // SAFETY: the C library gives `main` so many texts, which nothing changes.
    Some(unsafe { system::text(*words.add(index)) })
}

impl Host for Process {
    fn word(&self, index: usize) -> Option<&[u8]> {
        word(index + 1)
    }
    fn program(&self) -> &[u8] {
        let path = word(0).unwrap_or(b"program");
        path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
    }
    fn push(&mut self, number: f64) {
        input::push(number);
    }
    fn file(&mut self, path: &[u8], item: Item, table: &Table<'_>) -> Result<(), Unreadable> {
        let mut name = Text::new();
        let _ = reader::write_bytes(&mut name, path);
        let name = name.as_str();
        let complain = |wrong: arguments::Wrong<'_>| {
            let _ = writeln!(output::Stderr, "error: `{name}`: {wrong}");
        };
        if path == b"-" {
            return input::read_file(system::STDIN, item, table, complain);
        }
        let mut zero_terminated = [0; 4097];
        let Some(place) = zero_terminated.get_mut(..path.len()) else { return Err(Unreadable) };
        place.copy_from_slice(path);
        // SAFETY: the path ends in a zero byte.
        let file = unsafe { system::open(zero_terminated.as_ptr().cast(), system::O_CLOEXEC) };
        if file < 0 {
            let _ = write!(output::Stderr, "error: cannot read `{name}`: ");
            output::raw_error(system::describe_error(system::last_error()));
            output::raw_error(b"\n");
            return Err(Unreadable);
        }
        let result = input::read_file(file, item, table, complain);
        // SAFETY: the file is open and not used any more.
        unsafe { system::close(file) };
        result
    }
    fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }
    fn error(&mut self) -> &mut dyn Write {
        output::flush();
        &mut self.error
    }
}
