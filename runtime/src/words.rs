//! Rows of words and of bytes that grow, in pages of their own: they are no part of the program's heap, and may be read
//! and written where that is not in order.

use crate::question::Words;
use crate::report::Bytes;
use crate::{memory, system};

/// A row of words.
pub struct Pages {
    start: *mut u64,
    length: usize,
    room: usize,
}

/// How many words the first pages hold.
const FEW: usize = 1 << 13;

impl Pages {
    /// None.
    pub const fn new() -> Pages {
        Pages { start: core::ptr::null_mut(), length: 0, room: 0 }
    }

    /// Adds words.
    pub fn extend(&mut self, words: &[u64]) {
        let room = self.room_for(words.len()).as_mut_ptr();
        // SAFETY: there is room for them, where nothing else is.
        unsafe { core::ptr::copy_nonoverlapping(words.as_ptr(), room, words.len()) };
        self.length += words.len();
    }

    /// The room behind the words.
    fn rest(&mut self) -> &mut [u64] {
        self.room_for(1)
    }

    /// The room behind the words, for so many more at least.
    fn room_for(&mut self, more: usize) -> &mut [u64] {
        if self.room - self.length < more {
            let room = (2 * self.room).max((self.length + more).next_power_of_two()).max(FEW);
            let Some(start) = system::map_pages(room * 8, system::PROT_READ_WRITE) else {
                memory::exhausted(memory::Use::Heap)
            };
            let start = start.cast::<u64>();
            if self.room > 0 {
                // SAFETY: the new pages have room for what the old ones hold, which nobody else refers to.
                unsafe {
                    core::ptr::copy_nonoverlapping(self.start, start, self.length);
                    system::unmap_pages(self.start.cast(), self.room * 8);
                }
            }
            (self.start, self.room) = (start, room);
        }
        // SAFETY: so much room is there, in pages of zeros.
        unsafe { core::slice::from_raw_parts_mut(self.start.add(self.length), self.room - self.length) }
    }

    /// Reads a file up to its end; how many bytes that are, or `None` if the system refuses.
    pub fn read(&mut self, file: core::ffi::c_int) -> Option<usize> {
        let mut bytes = 0;
        loop {
            self.length = bytes / 8;
            let rest = self.rest();
            let (size, begun) = (rest.len() * 8, bytes % 8);
            // SAFETY: the pointer and the length are those of a part of a slice.
            let count = unsafe { system::read(file, rest.as_mut_ptr().cast::<u8>().add(begun).cast(), size - begun) };
            match usize::try_from(count) {
                Ok(0) => return Some(bytes),
                Ok(count) => bytes += count,
                Err(_) if system::last_error() == system::EINTR => {}
                Err(_) => return None,
            }
        }
    }

    /// The first bytes of the row.
    ///
    /// # Safety
    ///
    /// So many have been read, and nothing is pushed or read any more.
    pub unsafe fn bytes(&self, count: usize) -> &'static [u8] {
        // SAFETY: the caller's obligation.
        unsafe { core::slice::from_raw_parts(self.start.cast(), count) }
    }
}

impl Pages {
    /// Replaces a word that is there.
    pub fn set(&mut self, place: usize, word: u64) {
        if place < self.length {
            // SAFETY: so many words have been written.
            unsafe { *self.start.add(place) = word };
        }
    }

    /// Keeps so many words of the row.
    pub fn shorten(&mut self, length: usize) {
        self.length = self.length.min(length);
    }
}

impl Default for Pages {
    fn default() -> Pages {
        Pages::new()
    }
}

impl Words for Pages {
    fn all(&self) -> &[u64] {
        if self.start.is_null() {
            return &[];
        }
        // SAFETY: so many words have been written.
        unsafe { core::slice::from_raw_parts(self.start, self.length) }
    }
    fn push(&mut self, word: u64) {
        if let Some(place) = self.rest().first_mut() {
            *place = word;
        }
        self.length += 1;
    }
    fn clear(&mut self) {
        self.length = 0;
    }
}

/// A row of bytes.
pub struct Row {
    words: Pages,
    length: usize,
}

impl Row {
    /// None.
    pub const fn new() -> Row {
        Row { words: Pages::new(), length: 0 }
    }
}

impl Default for Row {
    fn default() -> Row {
        Row::new()
    }
}

impl Bytes for Row {
    fn all(&self) -> &[u8] {
        if self.words.start.is_null() {
            return &[];
        }
        // SAFETY: so many bytes have been written.
        unsafe { core::slice::from_raw_parts(self.words.start.cast(), self.length) }
    }
    #[inline(never)]
    fn extend(&mut self, bytes: &[u8]) {
        // The last word may not be full yet.
        self.words.room_for(bytes.len().div_ceil(8));
        if bytes.is_empty() {
            return;
        }
        // SAFETY: there is room for them behind those that are there, where nothing else is.
        unsafe {
            let room = self.words.start.cast::<u8>().add(self.length);
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), room, bytes.len());
        }
        self.length += bytes.len();
        self.words.length = self.length.div_ceil(8);
    }
    fn shorten(&mut self, length: usize) {
        self.length = self.length.min(length);
        self.words.length = self.length.div_ceil(8);
    }
}
