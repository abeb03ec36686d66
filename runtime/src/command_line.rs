//! The command line of a compiled program: what the C library hands to `main`, and files that it names.
//!
//! What arguments mean is in [`crate::arguments`], which the evaluator shares.

use crate::arguments::{self, Config, Host, Outcome, Setting, Text, Unreadable};
use crate::cell::Single;
use crate::declaration::Purpose;
use crate::reader::{self, Item};
use crate::table::Table;
use crate::words::Pages;
use crate::{input, output, start, system, watch};
use core::ffi::{c_char, c_int};
use core::fmt::{self, Write};

/// How many words there are, and where.
static WORDS: Single<(usize, *const *const c_char)> = Single::new((0, core::ptr::null()));

/// The file with arguments, if there is one, and its name.
static CONFIG: Single<Option<Config>> = Single::new(None);
static CONFIG_NAME: Single<[u8; 4096]> = Single::new([0; 4096]);

/// The exit code after wrong usage.
pub const USAGE: c_int = 2;

/// Keeps what `main` was given.
pub fn initialise(count: c_int, words: *const *const c_char) {
    WORDS.store((usize::try_from(count).unwrap_or(0), words));
}

/// Gives the program what the command line says, or ends it: after the help with success, after a mistake with exit
/// code 2. The identity is that of the program.
///
/// # Safety
///
/// `declaration` points to `length` bytes of text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_prepare_arguments(identity: u64, declaration: *const u8, length: usize) {
    watch::program(identity);
    // SAFETY: the caller's obligation.
    let declaration = unsafe { core::str::from_utf8_unchecked(core::slice::from_raw_parts(declaration, length)) };
    finish(arguments::prepare(declaration, &mut Process { out: Out, error: output::Stderr }));
}

/// The same for a program that declares no arguments.
#[unsafe(no_mangle)]
pub extern "C" fn vlad_prepare_options(identity: u64) {
    watch::program(identity);
    finish(arguments::prepare_options(&mut Process { out: Out, error: output::Stderr }));
}

/// Ends the program, unless it is ready.
fn finish(outcome: Outcome) {
    match outcome {
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
        let file = open(path, 0, "read")?;
        let result = input::read_file(file, item, table, complain);
        // SAFETY: the file is open and not used any more.
        unsafe { system::close(file) };
        result
    }
    fn load(&mut self, path: &[u8]) -> Result<(), Unreadable> {
        let file = open(path, 0, "read")?;
        let mut pages = Pages::new();
        let count = pages.read(file);
        // SAFETY: the file is open and not used any more.
        unsafe { system::close(file) };
        let count = count.ok_or_else(|| cannot("read", path))?;
        // SAFETY: the pages stay as they are; so many bytes have been read.
        let config = unsafe {
            let name = (&mut *CONFIG_NAME.get()).get_mut(..path.len()).ok_or(Unreadable)?;
            name.copy_from_slice(path);
            Config { path: name, text: pages.bytes(count) }
        };
        CONFIG.store(Some(config));
        Ok(())
    }
    fn config(&self) -> Option<Config> {
        CONFIG.load()
    }
    fn set(&mut self, purpose: Purpose, setting: Setting<'_>) -> Result<(), Unreadable> {
        watch::set(purpose, setting)
    }
    fn begin_report(&mut self, about: &str) -> bool {
        watch::reported(|report| report.begin(self.program(), about)).is_some()
    }
    fn note(&mut self, name: &str, value: &[u8], source: &[u8]) {
        watch::reported(|report| report.argument(name, value, source));
    }
    fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }
    fn error(&mut self) -> &mut dyn Write {
        output::flush();
        &mut self.error
    }
}

/// Opens a file, for reading or as the flags say; where that cannot be, it says why there is nothing to `act` on.
///
/// # Errors
///
/// When it cannot be opened.
pub fn open(path: &[u8], flags: c_int, act: &str) -> Result<c_int, Unreadable> {
    try_open(path, flags).map_err(|error| {
        complain(act, path, system::describe_error(error));
        Unreadable
    })
}

/// The same, saying nothing.
///
/// # Errors
///
/// What the system says.
#[inline(never)]
pub fn try_open(path: &[u8], flags: c_int) -> Result<c_int, c_int> {
    let mut zero_terminated = [0; 4200];
    let place = zero_terminated[..4199].get_mut(..path.len()).ok_or(system::ENAMETOOLONG)?;
    place.copy_from_slice(path);
    // SAFETY: the path ends in a zero byte.
    let file = unsafe { system::open(zero_terminated.as_ptr().cast(), flags | system::O_CLOEXEC, 0o666) };
    if file < 0 { Err(system::last_error()) } else { Ok(file) }
}

/// Says that the system has just refused something with a file.
pub fn cannot(act: &str, path: &[u8]) -> Unreadable {
    complain(act, path, system::describe_error(system::last_error()));
    Unreadable
}

/// Says why something cannot be done with a file.
#[inline(never)]
pub fn complain(act: &str, path: &[u8], reason: &[u8]) {
    let mut name = Text::new();
    let _ = reader::write_bytes(&mut name, path);
    let _ = write!(output::Stderr, "error: cannot {act} `{}`: ", name.as_str());
    output::raw_error(reason);
    output::raw_error(b"\n");
}
