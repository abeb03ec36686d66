//! Input: numbers and arrays of numbers, from standard input and the files that arguments name. See [`crate::reader`]
//! for what they look like.
//!
//! Numbers that were read in advance wait in a list of boxes of one size.

use crate::arguments::{self, Unreadable, Wrong};
use crate::cell::Single;
use crate::layout::{WORD, class_of, header};
use crate::reader::{self, Failure, Item, Reader};
use crate::table::Table;
use crate::{heap, memory, output, ranks, shards, start, system};
use core::ffi::c_int;
use core::fmt::{self, Write};
use core::ptr;

const CAPACITY: usize = 1 << 16;

/// The part of standard input that was read from the system and not yet used.
struct Buffer {
    bytes: [u8; CAPACITY],
    start: usize,
    end: usize,
    queue: Queue,
    /// The numbers of a row of which is not known yet whether they are wanted.
    held: Queue,
    /// Where the bytes come from.
    file: c_int,
    /// Why they could not be read, if they could not.
    error: c_int,
}

struct State {
    buffer: Buffer,
    reader: Reader,
}

static STATE: Single<State> = Single::new(State { buffer: Buffer::new(system::STDIN), reader: Reader::new() });

/// For the files that arguments name, one after another.
static FILE: Single<State> = Single::new(State { buffer: Buffer::new(system::STDIN), reader: Reader::new() });

/// Adds a number to those that the program reads next: one of its arguments.
pub fn push(number: f64) {
    crate::watch::argument(number);
    // SAFETY: nothing else refers to the state while this function runs.
    unsafe { &mut *STATE.get() }.buffer.queue.push(number);
}

/// Reads an array from a file that holds nothing else, and lets the program read its numbers next: how many, and each.
/// What is wrong with it is given to `complain`.
///
/// # Errors
///
/// When that was the case.
pub fn read_file(
    file: c_int,
    item: Item,
    table: &Table<'_>,
    complain: impl FnOnce(Wrong<'_>),
) -> Result<(), Unreadable> {
    // SAFETY: nothing else refers to the state while this function runs.
    let state = unsafe { &mut *FILE.get() };
    state.buffer.clear(file);
    state.reader.begin();
    let result = arguments::read_array(&mut state.buffer, &mut state.reader, (item, table), push);
    match (state.buffer.error, result) {
        (0, Ok(())) => return Ok(()),
        (0, Err(wrong)) => complain(wrong),
        (error, _) => complain(Wrong::Refused(core::str::from_utf8(system::describe_error(error)).unwrap_or(""))),
    }
    Err(Unreadable)
}

impl Buffer {
    const fn new(file: c_int) -> Buffer {
        Buffer { bytes: [0; CAPACITY], start: 0, end: 0, queue: Queue::new(), held: Queue::new(), file, error: 0 }
    }

    /// Goes on with another file.
    fn clear(&mut self, file: c_int) {
        (self.start, self.end, self.file, self.error) = (0, 0, file, 0);
    }

    #[cold]
    fn fill(&mut self) {
        // Whoever types the number should have seen the question.
        output::flush();
        let count = match ranks::group().filter(|_| self.file == system::STDIN) {
            None => read(self.file, &mut self.bytes),
            Some(group) => (group.read)(&mut self.bytes),
        };
        self.start = 0;
        self.end = count.unwrap_or(0);
        if let Err(error) = count {
            self.error = error;
        }
    }
}

/// Reads from a file; how many bytes.
///
/// # Errors
///
/// The system's.
pub fn read(file: c_int, bytes: &mut [u8]) -> Result<usize, c_int> {
    loop {
        // SAFETY: the pointer and the length are those of a slice.
        let count = unsafe { system::read(file, bytes.as_mut_ptr().cast(), bytes.len()) };
        match usize::try_from(count) {
            Ok(count) => return Ok(count),
            Err(_) if system::last_error() == system::EINTR => {}
            Err(_) => return Err(system::last_error()),
        }
    }
}

impl reader::Input for Buffer {
    fn peek(&mut self) -> Option<u8> {
        if self.start == self.end {
            self.fill();
        }
        self.bytes.get(self.start..self.end)?.first().copied()
    }
    fn advance(&mut self) {
        self.start += 1;
    }
    fn at_hand(&mut self) -> &[u8] {
        if self.start == self.end {
            self.fill();
        }
        self.bytes.get(self.start..self.end).unwrap_or(&[])
    }
    fn skip(&mut self, count: usize) {
        self.start += count;
    }
    fn push(&mut self, number: f64) {
        self.queue.push(number);
    }
    fn pop(&mut self) -> Option<f64> {
        self.queue.pop()
    }
    fn replace_first(&mut self, number: f64) {
        self.queue.replace_first(number);
    }
    fn hold(&mut self, number: f64) {
        self.held.push(number);
    }
    fn settle(&mut self, are_wanted: bool) {
        while let Some(number) = self.held.pop() {
            if are_wanted {
                self.queue.push(number);
            }
        }
    }
}

/// Words of a box of the queue: its header, the address of the next box, numbers.
const WORDS: usize = 1 << 12;
/// Where in a box its numbers begin.
const BEGINNING: usize = 2;

/// Numbers in boxes of [`WORDS`] words, of which the first is read and the last is filled. There is a box only where
/// there is a number.
struct Queue {
    first: *mut u64,
    /// The next number to take, in the first box.
    taken: usize,
    last: *mut u64,
    /// How many numbers still fit into the last box. (Zero at the beginning, as all: so it takes no place in
    /// executables.)
    room: usize,
}

impl Queue {
    const fn new() -> Queue {
        Queue { first: ptr::null_mut(), taken: 0, last: ptr::null_mut(), room: 0 }
    }

    fn push(&mut self, number: f64) {
        // SAFETY: boxes have as many words, and nothing else refers to them.
        unsafe {
            if self.room == 0 {
                let class = class_of(WORDS);
                let new = heap::take(memory::vlad_heap.get(), class);
                *new = header(0, class, 0);
                if self.first.is_null() {
                    (self.first, self.taken) = (new, BEGINNING);
                } else {
                    *self.last.add(1) = new as u64;
                }
                (self.last, self.room) = (new, WORDS - BEGINNING);
            }
            *self.last.add(WORDS - self.room) = number.to_bits();
        }
        self.room -= 1;
    }

    #[inline]
    fn pop(&mut self) -> Option<f64> {
        if self.first.is_null() {
            return None;
        }
        // SAFETY: the box has a number there, since there is a box.
        let number = f64::from_bits(unsafe { *self.first.add(self.taken) });
        self.taken += 1;
        let is_last = self.first == self.last;
        if self.taken == WORDS || is_last && self.taken == WORDS - self.room {
            // SAFETY: the queue owns the box, whose header says that it has no pointer fields; all its numbers are
            // taken.
            unsafe {
                let next = if is_last { ptr::null_mut() } else { *self.first.add(1) as *mut u64 };
                heap::vlad_release(self.first, memory::vlad_heap.get());
                (self.first, self.taken) = (next, BEGINNING);
            }
            if is_last {
                *self = Queue::new();
            }
        }
        Some(number)
    }

    fn replace_first(&mut self, number: f64) {
        if !self.first.is_null() {
            // SAFETY: as for `pop`.
            unsafe { *self.first.add(self.taken) = number.to_bits() };
        }
    }
}

const _: () = assert!(crate::layout::class_words(class_of(WORDS)) * WORD == WORDS * WORD);

/// Stands in the message about malformed input for what is wrong: U+FFFC.
const PLACEHOLDER: &[u8] = "\u{FFFC}".as_bytes();

/// The next item of standard input: a number (0), the length of a vector (1) or the number of rows of a matrix (2),
/// whose numbers are read next. When there is none, the program fails with the message; if that contains zero bytes,
/// what follows the first is the message for malformed input, with a placeholder for what is wrong, and what follows
/// the second that for input which the system does not let it read.
///
/// # Safety
///
/// `message` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_read(item: u64, message: *const u8, length: usize) -> f64 {
    shards::demand_program();
    // SAFETY: nothing else refers to the state while this function runs.
    let state = unsafe { &mut *STATE.get() };
    let item = match item {
        0 => Item::Real,
        1 => Item::Vector,
        _ => Item::Matrix,
    };
    let result = state.reader.read(&mut state.buffer, item);
    // Where nothing is open, there is nothing to read.
    let error = if state.buffer.error == system::EBADF { 0 } else { state.buffer.error };
    let failure = match result {
        Ok(number) if error == 0 => return number,
        Ok(_) => Failure::End,
        Err(failure) => failure,
    };
    // SAFETY: the caller's obligation.
    let message = unsafe { core::slice::from_raw_parts(message, length) };
    let mut messages = message.splitn(3, |byte| *byte == 0);
    let end = messages.next().unwrap_or(message);
    let malformed = messages.next().unwrap_or(end);
    match failure {
        _ if error != 0 => fail_with(messages.next().unwrap_or(end), &SystemError(error)),
        Failure::End => start::fail(end),
        Failure::Malformed(fault) => fail_with(malformed, &state.reader.report(fault)),
    }
}

/// What the system says about a failure, as the evaluator puts it.
pub struct SystemError(pub c_int);

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = core::str::from_utf8(system::describe_error(self.0)).unwrap_or("");
        write!(f, "{text} (os error {})", self.0)
    }
}

/// Ends the program with a message; what is wrong stands in it where the placeholder does.
pub fn fail_with(message: &[u8], report: &dyn fmt::Display) -> ! {
    let at = message.windows(PLACEHOLDER.len()).position(|part| part == PLACEHOLDER);
    let (before, after) = at.map_or((message, &[][..]), |at| (&message[..at], &message[at + PLACEHOLDER.len()..]));
    output::write_error(before);
    if at.is_some() {
        // There is nowhere to report that standard error cannot be written.
        let _ = write!(output::Stderr, "{report}");
    }
    start::fail(after)
}
