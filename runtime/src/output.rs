//! Output: a buffer before standard output, and standard error without one.
//!
//! The buffer is written out when it is full, before anything goes to standard error, before the program waits for
//! input, at the end, and after every line if standard output is a terminal. When nobody reads standard output any
//! more (a closed pipe), the program ends without a message.

use crate::cell::Single;
use crate::{number, start, system, terminal};
use core::ffi::c_int;
use core::fmt;

const CAPACITY: usize = 1 << 16;

static BUFFER: Single<[u8; CAPACITY]> = Single::new([0; CAPACITY]);
static USED: Single<usize> = Single::new(0);
static LINES: Single<bool> = Single::new(false);

/// Decides when the buffer is written out.
pub fn initialise() {
    // SAFETY: always sound.
    LINES.store(unsafe { system::isatty(system::STDOUT) } == 1);
}

/// Writes out what the buffer holds.
pub fn flush() {
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

/// Writes out so many bytes of the buffer; the others move to its beginning.
fn write_buffer(count: usize) {
    let used = USED.load();
    if LINES.load() {
        terminal::end_line();
    }
    // SAFETY: nothing else refers to the buffer while this function runs.
    let buffer = unsafe { &mut *BUFFER.get() };
    USED.store(0);
    if let Err(error) = write_all(system::STDOUT, &buffer[..count]) {
        if error != system::EPIPE {
            raw_error(b"error: cannot write to standard output\n");
        }
        start::leave(start::FAULT);
    }
    buffer.copy_within(count..used, 0);
    USED.store(used - count);
}

/// Appends to standard output.
pub fn write_out(bytes: &[u8]) {
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
        if write_all(system::STDOUT, bytes).is_err() {
            start::leave(start::FAULT);
        }
        return;
    }
    // SAFETY: nothing else refers to the buffer while this function runs.
    unsafe { (&mut (*BUFFER.get()))[used..used + bytes.len()].copy_from_slice(bytes) };
    USED.store(used + bytes.len());
    if LINES.load() && bytes.contains(&b'\n') {
        flush();
    }
}

/// Writes to standard error, after everything that was written to standard output.
pub fn write_error(bytes: &[u8]) {
    flush();
    terminal::end_line();
    raw_error(bytes);
}

/// Writes to standard error only; may be called in a signal handler.
pub fn raw_error(bytes: &[u8]) {
    // There is nowhere to report that standard error cannot be written.
    let _ = write_all(system::STDERR, bytes);
}

fn write_all(file: c_int, mut bytes: &[u8]) -> Result<(), c_int> {
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

fn write_stream(stream: u64, bytes: &[u8]) {
    if stream == 0 { write_out(bytes) } else { write_error(bytes) }
}

/// Writes a number to standard output (0) or standard error (1).
#[unsafe(no_mangle)]
pub extern "C" fn vlad_write_real(stream: u64, x: f64) {
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

/// Writes a text to standard output (0) or standard error (1).
///
/// # Safety
///
/// `text` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_write_text(stream: u64, text: *const u8, length: usize) {
    // SAFETY: the caller's obligation.
    write_stream(stream, unsafe { core::slice::from_raw_parts(text, length) });
}

/// Standard error for formatted messages.
pub struct Stderr;

impl fmt::Write for Stderr {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        raw_error(text.as_bytes());
        Ok(())
    }
}
