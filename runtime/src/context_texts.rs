//! Texts in the calls of a library: those that the caller passes, that the program makes, and that it returns.
//!
//! As in executables (`text`), a text that is made has its address for a number, and equal texts have the same one.
//! Here a text belongs to its context: those of definitions of values are kept, others are forgotten at the end of the
//! call.
//!
//! A text that is passed is read byte by byte and made again, one that is returned is handed over in the same way, by
//! questions (`%ask`):
//!
//! | question | |
//! |---|---|
//! | 310 0 | begins to read an argument that is a text; how many bytes it has |
//! | 311 i | one of them |
//! | 312 n | begins to give a result that is a text of so many bytes |
//! | 313 x | the next one |

use crate::library::{ARGUMENT, Context, EXHAUSTED, FAULT, SIZE, refuse, say, word};
use crate::number;
use crate::row::Row;
use crate::system;
use core::ptr;

const READ: u32 = 310;
const BYTE: u32 = 311;
const GIVE: u32 = 312;
const GIVE_BYTE: u32 = 313;

/// What stands in front of the bytes of a text.
#[repr(C)]
struct Text {
    length: usize,
    hash: u64,
}

/// What a context knows of texts.
pub struct Texts {
    /// What has been written since the beginning of each text that is being made, innermost last. Before the bytes of
    /// one stands, in as many bytes as a word has, where the text around it began.
    bytes: Row<u8>,
    /// Where the innermost text begins; 0 when none is being made.
    start: usize,
    /// The texts, in the order in which they were made.
    all: Row<*mut Text>,
    /// The same as a hash table with open addressing, at most half full; its size is a power of two.
    places: Row<*mut Text>,
    /// The bytes of all texts.
    taken: u64,
    /// So many texts stay at the end of a call.
    kept: usize,
    /// The argument that is read, and where the next byte of a result goes.
    given: *const u8,
    result: *mut u8,
}

/// Bytes in front of a text that is being made.
const BEFORE: usize = size_of::<usize>();

impl Texts {
    /// None.
    pub const fn new() -> Texts {
        Texts {
            bytes: Row::new(),
            start: 0,
            all: Row::new(),
            places: Row::new(),
            taken: 0,
            kept: 0,
            given: ptr::null(),
            result: ptr::null_mut(),
        }
    }

    /// At the end of a call: forgets texts, or keeps those that have been made until now.
    ///
    /// # Safety
    ///
    /// Nobody knows the other texts any more.
    pub unsafe fn end(&mut self, keep_all: bool, keep_none: bool) {
        (self.start, self.bytes.length) = (0, 0);
        if keep_all {
            self.kept = self.all.length;
        }
        if keep_none {
            self.kept = 0;
        }
        if self.kept == self.all.length {
            return;
        }
        // SAFETY: the caller's obligation.
        unsafe {
            for text in &self.all.items()[self.kept..] {
                self.taken -= (**text).length as u64;
                system::free(text.cast());
            }
        }
        self.all.length = self.kept;
        self.fill();
    }

    /// Gives the memory back.
    ///
    /// # Safety
    ///
    /// Nobody uses the texts any more.
    pub unsafe fn free(&mut self) {
        // SAFETY: the caller's obligation.
        unsafe {
            self.end(false, true);
            self.bytes.free();
            self.all.free();
            self.places.free();
        }
    }

    /// Fills the table anew.
    fn fill(&mut self) {
        for index in 0..self.places.length {
            // SAFETY: so many places there are.
            unsafe { self.places.start.add(index).write(ptr::null_mut()) };
        }
        for index in 0..self.all.length {
            // SAFETY: texts are alive while they are among all; there is room in the table.
            unsafe {
                let text = self.all.items()[index];
                *self.place((*text).hash, content(text)) = text;
            }
        }
    }

    /// The place of the text with these bytes, or the free one where it would be.
    ///
    /// # Safety
    ///
    /// There is a free place.
    unsafe fn place(&self, hash: u64, bytes: &[u8]) -> *mut *mut Text {
        let mut index = (hash ^ (hash >> 32)) as usize;
        loop {
            // SAFETY: the index is below the size, and texts in the table are alive.
            unsafe {
                let place = self.places.start.add(index & (self.places.length - 1));
                let text = *place;
                if text.is_null() || (*text).hash == hash && content(text) == bytes {
                    return place;
                }
            }
            index = index.wrapping_add(1);
        }
    }

    /// The text with these bytes; `None` if there is no memory for it.
    fn made(&mut self, bytes: &[u8]) -> Option<*mut Text> {
        if 2 * self.all.length >= self.places.length {
            let larger = (2 * self.places.length).max(64);
            if !self.places.reserve(larger) {
                return None;
            }
            self.places.length = larger;
            self.fill();
        }
        // FNV-1a, see http://www.isthe.com/chongo/tech/comp/fnv/.
        let hash = bytes
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        // SAFETY: the table is never full; a new text has room for its bytes.
        unsafe {
            let place = self.place(hash, bytes);
            if (*place).is_null() {
                let size = (size_of::<Text>() + bytes.len()).next_multiple_of(16);
                let new = system::allocate(16, size)?.cast::<Text>();
                new.write(Text { length: bytes.len(), hash });
                ptr::copy_nonoverlapping(bytes.as_ptr(), new.add(1).cast(), bytes.len());
                if !self.all.push(new) {
                    system::free(new.cast());
                    return None;
                }
                self.taken += bytes.len() as u64;
                *place = new;
            }
            Some(*place)
        }
    }

    fn append(&mut self, bytes: &[u8]) -> bool {
        let length = self.bytes.length + bytes.len();
        if !self.bytes.reserve(length) {
            return false;
        }
        // SAFETY: there is room.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.bytes.start.add(self.bytes.length), bytes.len()) };
        self.bytes.length = length;
        true
    }
}

impl Default for Texts {
    fn default() -> Texts {
        Texts::new()
    }
}

unsafe fn content<'a>(text: *const Text) -> &'a [u8] {
    // SAFETY: the bytes stand behind the text.
    unsafe { core::slice::from_raw_parts(text.add(1).cast(), (*text).length) }
}

unsafe fn exhausted(context: *mut Context) -> ! {
    // SAFETY: compiled code runs on the stack of the context.
    unsafe { refuse(context, EXHAUSTED, b"error: out of memory for texts") }
}

/// Adds to the text that is being made.
unsafe fn keep(context: *mut Context, bytes: &[u8]) {
    // SAFETY: compiled code has a context, and nothing else refers to its texts.
    unsafe {
        let texts = &mut (*context).texts;
        if texts.start == 0 {
            refuse(context, FAULT, b"error: mistake in the compiler: a library writes nothing");
        }
        if !texts.append(bytes) {
            exhausted(context);
        }
    }
}

/// Begins a text: what is written from now on belongs to it.
///
/// # Safety
///
/// For compiled code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_begin_text(context: *mut Context) {
    // SAFETY: the caller's obligation.
    unsafe {
        let texts = &mut (*context).texts;
        if !texts.append(&texts.start.to_ne_bytes()) {
            exhausted(context);
        }
        texts.start = texts.bytes.length;
    }
}

/// Ends the innermost text; its number. The program has `count` texts; `offsets` says where they begin in `texts`, and
/// where the last one ends.
///
/// # Safety
///
/// For compiled code, which ends what it has begun.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_end_text(
    context: *mut Context,
    of_program: *const u8,
    offsets: *const usize,
    count: usize,
) -> u64 {
    // SAFETY: the caller's obligation; nothing appends to the bytes meanwhile.
    unsafe {
        let texts = &mut (*context).texts;
        let length = texts.bytes.length - texts.start;
        let bytes = core::slice::from_raw_parts(texts.bytes.start.add(texts.start), length);
        texts.bytes.length = texts.start - BEFORE;
        texts.start = ptr::read_unaligned(texts.bytes.start.add(texts.bytes.length).cast());
        let offsets = core::slice::from_raw_parts(offsets, count + 1);
        let found = offsets.windows(2).position(|ends| {
            ends[1] - ends[0] == length && core::slice::from_raw_parts(of_program.add(ends[0]), length) == bytes
        });
        if let Some(number) = found {
            return number as u64;
        }
        match texts.made(bytes) {
            Some(text) if texts.taken <= (*context).memory_limit => text as u64,
            _ => exhausted(context),
        }
    }
}

/// Writes to the text that is being made.
///
/// # Safety
///
/// For compiled code; `text` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_keep_text(context: *mut Context, text: *const u8, length: usize) {
    // SAFETY: the caller's obligation.
    unsafe { keep(context, core::slice::from_raw_parts(text, length)) }
}

/// The same in quotes.
///
/// # Safety
///
/// As for [`vlad_context_keep_text`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_keep_quoted(context: *mut Context, text: *const u8, length: usize) {
    // SAFETY: the caller's obligation.
    unsafe { number::quoted(core::slice::from_raw_parts(text, length), |piece| keep(context, piece)) }
}

/// Writes a number to the text that is being made.
///
/// # Safety
///
/// For compiled code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_keep_real(context: *mut Context, x: f64) {
    // SAFETY: the caller's obligation.
    unsafe { keep(context, number::format(x).as_bytes()) }
}

/// Writes the byte of this value to the text that is being made.
///
/// # Safety
///
/// For compiled code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_keep_byte(context: *mut Context, x: f64) {
    // SAFETY: the caller's obligation.
    unsafe { keep(context, &[x as u8]) }
}

/// The answer to a question about texts that are passed; `None` to others.
///
/// # Safety
///
/// Compiled code asks, in the order that is said above.
pub unsafe fn answer(context: *mut Context, question: u32, x: f64) -> Option<f64> {
    // SAFETY: the caller's obligation.
    unsafe {
        let texts = &raw mut (*context).texts;
        match question {
            READ => {
                (*texts).given = word(context) as *const u8;
                if (*texts).given.is_null() {
                    refuse(context, ARGUMENT, b"error: an argument that is a text is a null pointer");
                }
                let mut length = 0;
                while *(*texts).given.add(length) != 0 {
                    length += 1;
                }
                Some(length as f64)
            }
            BYTE => Some(f64::from(*(*texts).given.add(x as usize))),
            GIVE => {
                let (result, room, length) = (word(context) as *mut u8, word(context), word(context) as *mut usize);
                if !length.is_null() {
                    *length = x as usize;
                }
                if !result.is_null() && x >= room as f64 {
                    say(context, b"error: a result is a text of ");
                    say(context, number::format(x + 1.0).as_bytes());
                    say(context, b" bytes with the zero at its end, and there is room for ");
                    refuse(context, SIZE, number::format(room as f64).as_bytes());
                }
                (*texts).result = result;
                if !result.is_null() {
                    *result.add(x as usize) = 0;
                }
                Some(0.0)
            }
            GIVE_BYTE => {
                if !(*texts).result.is_null() {
                    *(*texts).result = x as u8;
                    (*texts).result = (*texts).result.add(1);
                }
                Some(0.0)
            }
            _ => None,
        }
    }
}
