//! Output: a buffer before standard output, and standard error without one.
//!
//! The buffer is written out when it is full, before anything goes to standard error, before the program waits for
//! input, at the end, and after every line if standard output is a terminal. When nobody reads standard output any
//! more (a closed pipe), the program ends without a message.

use crate::cell::Single;
use crate::finite::{Fault, Results};
use crate::{checks, number, ranks, shards, start, system, terminal, text, watch};
use core::ffi::c_int;
use core::fmt;

const CAPACITY: usize = 1 << 16;

static BUFFER: Single<[u8; CAPACITY]> = Single::new([0; CAPACITY]);
static USED: Single<usize> = Single::new(0);
static LINES: Single<bool> = Single::new(false);
/// Where the buffer goes.
static TARGET: Single<c_int> = Single::new(system::STDOUT);

/// Decides when the buffer is written out.
pub fn initialise() {
    // SAFETY: always sound.
    LINES.store(unsafe { system::isatty(system::STDOUT) } == 1);
}

/// Writes out what the buffer holds.
pub fn flush() {
    shards::demand_program();
    if USED.load() > 0 {
        terminal::undivided(|| write_buffer(USED.load()));
    }
}

/// Writes out the whole lines that the buffer holds.
pub fn write_whole_lines() {
    // SAFETY: nothing else refers to the buffer while this function runs.
    let bytes = unsafe { &(&*BUFFER.get())[..USED.load()] };
    if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
        write_buffer(end + 1);
    }
}

/// Writes what is for everybody, which one of the ranks does.
fn publish(target: c_int, bytes: &[u8]) -> Result<(), c_int> {
    if ranks::is_follower() { Ok(()) } else { write_all(target, bytes) }
}

/// Writes out so many bytes of the buffer; the others move to its beginning.
fn write_buffer(count: usize) {
    let used = USED.load();
    let target = TARGET.load();
    if LINES.load() && target == system::STDOUT {
        terminal::end_line();
    }
    // SAFETY: nothing else refers to the buffer while this function runs.
    let buffer = unsafe { &mut *BUFFER.get() };
    USED.store(0);
    if let Err(error) = publish(target, &buffer[..count]) {
        if error != system::EPIPE {
            raw_error(match target {
                system::STDOUT => b"error: cannot write to standard output\n",
                _ => b"error: cannot write the file\n",
            });
        }
        start::leave(start::FAULT);
    }
    buffer.copy_within(count..used, 0);
    USED.store(used - count);
}

/// Appends to standard output, or to the text that is being made.
pub fn write_out(bytes: &[u8]) {
    if text::keep(bytes) || checks::is_running() {
        return;
    }
    watch::reported(|report| if TARGET.load() == system::STDOUT { report.printed(bytes) } else { report.filed(bytes) });
    shards::demand_program();
    if bytes.len() > CAPACITY - USED.load() {
        // A line that has begun waits for its end, so that an interruption does not leave half of it.
        terminal::undivided(write_whole_lines);
    }
    if bytes.len() > CAPACITY - USED.load() {
        flush();
    }
    let used = USED.load();
    if bytes.len() > CAPACITY - used {
        // Longer than the whole buffer, which is empty now.
        if publish(TARGET.load(), bytes).is_err() {
            start::leave(start::FAULT);
        }
        return;
    }
    // SAFETY: nothing else refers to the buffer while this function runs.
    unsafe { (&mut (*BUFFER.get()))[used..used + bytes.len()].copy_from_slice(bytes) };
    USED.store(used + bytes.len());
    if LINES.load() && TARGET.load() == system::STDOUT && bytes.contains(&b'\n') {
        flush();
    }
}

/// Writes to standard error, after everything that was written to standard output.
pub fn write_error(bytes: &[u8]) {
    flush();
    terminal::end_line();
    raw_error(bytes);
}

/// Writes a message to standard error only; may be called in a signal handler.
pub fn raw_error(bytes: &[u8]) {
    watch::reported(|report| report.message(bytes));
    show(bytes);
}

fn show(bytes: &[u8]) {
    if ranks::is_follower() {
        return ranks::keep(bytes);
    }
    // There is nowhere to report that standard error cannot be written.
    let _ = write_all(system::STDERR, bytes);
}

/// Writes all bytes to a file; an error is the system's.
pub fn write_all(file: c_int, mut bytes: &[u8]) -> Result<(), c_int> {
    while !bytes.is_empty() {
        // SAFETY: the pointer and the length are those of a slice.
        let written = unsafe { system::write(file, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or(&[]),
            Err(_) if system::last_error() == system::EINTR => {}
            Err(_) => return Err(system::last_error()),
        }
    }
    Ok(())
}

/// The results of the program, and whether they must be finite.
static RESULTS: Single<Results> = Single::new(Results::new());
static IS_FINITE_DEMANDED: Single<bool> = Single::new(false);

/// Standard error.
const ERROR: u64 = 1;
/// Standard output, for results.
const RESULT: u64 = 2;

/// Demands that results are finite, or not.
pub fn demand_finite(demanded: bool) {
    IS_FINITE_DEMANDED.store(demanded);
}

/// The first number of a result that is not finite, where that is demanded.
pub fn fault() -> Option<Fault> {
    if IS_FINITE_DEMANDED.load() { RESULTS.load().fault() } else { None }
}

/// Writes to standard output (0), to standard error (1), or a result to standard output (2).
pub fn write_stream(stream: u64, bytes: &[u8]) {
    if stream == ERROR { write_error(bytes) } else { write_out(bytes) }
}

/// Writes a number to standard output (0) or standard error (1), or to standard output as part of a result (2).
#[unsafe(no_mangle)]
pub extern "C" fn vlad_write_real(stream: u64, x: f64) {
    if stream == RESULT {
        // SAFETY: nothing else refers to the results while this function runs.
        unsafe { &mut *RESULTS.get() }.number(x);
    }
    write_stream(stream, number::format(x).as_bytes());
}

/// Writes the byte of this value to standard output.
#[unsafe(no_mangle)]
pub extern "C" fn vlad_write_byte(x: f64) {
    write_out(&[x as u8]);
}

/// Writes the eight bytes of a number to standard output, the lowest first.
#[unsafe(no_mangle)]
pub extern "C" fn vlad_write_double(x: f64) {
    write_out(&x.to_le_bytes());
}

/// Writes a text to standard output (0) or standard error (1), or to standard output as part of a result (2), which
/// ends with its line.
///
/// # Safety
///
/// `text` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_write_text(stream: u64, text: *const u8, length: usize) {
    // SAFETY: the caller's obligation.
    let text = unsafe { core::slice::from_raw_parts(text, length) };
    if stream == RESULT && text == b"\n" {
        // SAFETY: nothing else refers to the results while this function runs.
        unsafe { &mut *RESULTS.get() }.end();
    }
    write_stream(stream, text);
}

/// The longest name of a file.
const LONGEST_NAME: usize = 4096;
/// What a file is called until it is whole: its name, and this.
const PART: &[u8] = b".part";

/// In place of a file that another rank writes.
const NOWHERE: c_int = -1;

/// The name of the file that is being written, with a zero byte behind it, and the name that it has meanwhile.
static NAMES: Single<[[u8; LONGEST_NAME + 8]; 2]> = Single::new([[0; LONGEST_NAME + 8]; 2]);

/// What is written to standard output from now on goes to a file. The message is for the case that it cannot be: what
/// is wrong stands in it where the placeholder does.
///
/// # Safety
///
/// `name` and `message` point to so many bytes.
#[cfg(not(vlad_library))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_begin_file(name: *const u8, length: usize, message: *const u8, message_length: usize) {
    // SAFETY: the caller's obligation.
    let (name, message) =
        unsafe { (core::slice::from_raw_parts(name, length), core::slice::from_raw_parts(message, message_length)) };
    if checks::is_running() {
        return;
    }
    if TARGET.load() != system::STDOUT {
        crate::input::fail_with(message, &"a file is being written already");
    }
    flush();
    // SAFETY: nothing else refers to the names while this function runs.
    let names = unsafe { &mut *NAMES.get() };
    if length > LONGEST_NAME {
        fail_with_file(message, name, system::ENAMETOOLONG);
    }
    if ranks::is_follower() {
        // Rank 0 writes it.
        names.iter_mut().for_each(|place| place.fill(0));
        TARGET.store(NOWHERE);
        return;
    }
    for (place, ending) in names.iter_mut().zip([&b""[..], PART]) {
        place.fill(0);
        place[..length].copy_from_slice(name);
        place[length..length + ending.len()].copy_from_slice(ending);
    }
    // SAFETY: the path ends in a zero byte.
    let file = unsafe { system::open(names[1].as_ptr().cast(), system::O_NEW | system::O_CLOEXEC, 0o666) };
    if file < 0 {
        fail_with_file(message, name, system::last_error());
    }
    watch::reported(|report| report.begin_file(name));
    TARGET.store(file);
}

/// Ends the file: it gets its name, or is forgotten. The message is as for [`vlad_begin_file`].
///
/// # Safety
///
/// `message` points to so many bytes.
#[cfg(not(vlad_library))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_end_file(whole: f64, message: *const u8, message_length: usize) {
    if TARGET.load() == system::STDOUT || checks::is_running() {
        return;
    }
    if whole == 0.0 {
        USED.store(0);
        forget_file();
        return;
    }
    watch::reported(|report| report.end_file(true));
    flush();
    if TARGET.load() == NOWHERE {
        TARGET.store(system::STDOUT);
        return;
    }
    // SAFETY: the caller's obligation; the file is open, and the names end in zero bytes.
    let (message, name, closed, renamed) = unsafe {
        let names = &*NAMES.get();
        let closed = system::close(TARGET.load());
        let renamed = system::rename(names[1].as_ptr().cast(), names[0].as_ptr().cast());
        (core::slice::from_raw_parts(message, message_length), &names[0], closed, renamed)
    };
    TARGET.store(system::STDOUT);
    if closed < 0 || renamed < 0 {
        let length = name.iter().position(|byte| *byte == 0).unwrap_or(0);
        fail_with_file(message, &name[..length], system::last_error());
    }
}

/// Ends the program with a message, in which stand the name of a file and what the system says about it.
#[cfg(not(vlad_library))]
fn fail_with_file(message: &[u8], name: &[u8], code: c_int) -> ! {
    struct Report<'r>(&'r [u8], c_int);
    impl fmt::Display for Report<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            crate::reader::write_bytes(f, self.0)?;
            write!(f, ": {}", crate::input::SystemError(self.1))
        }
    }
    crate::input::fail_with(message, &Report(name, code))
}

/// Removes a file that is not whole, if there is one; may be called in a signal handler.
pub fn forget_file() {
    if TARGET.load() != system::STDOUT {
        watch::reported(|report| report.end_file(false));
        // SAFETY: the file is open, and its name ends in a zero byte.
        unsafe {
            system::close(TARGET.load());
            system::unlink((*NAMES.get())[1].as_ptr().cast());
        }
        TARGET.store(system::STDOUT);
    }
}

/// Standard error for what is shown and is no message.
pub struct Shown;

impl fmt::Write for Shown {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        show(text.as_bytes());
        Ok(())
    }
}

/// Standard error for formatted messages.
pub struct Stderr;

impl fmt::Write for Stderr {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        raw_error(text.as_bytes());
        Ok(())
    }
}
