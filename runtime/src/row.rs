//! Rows that grow, in memory of their own: what a context of a library keeps besides its heap.

use crate::system;
use core::ptr;

/// A row that grows. Its memory is given back by [`Row::free`].
pub struct Row<T> {
    /// The first item.
    pub start: *mut T,
    /// How many there are.
    pub length: usize,
    /// How many there is room for.
    pub room: usize,
}

impl<T: Copy> Row<T> {
    /// None.
    pub const fn new() -> Row<T> {
        Row { start: ptr::null_mut(), length: 0, room: 0 }
    }

    /// Makes room for so many; `false` if there is no memory for them.
    pub fn reserve(&mut self, room: usize) -> bool {
        if room <= self.room {
            return true;
        }
        let room = room.max(2 * self.room).max(16);
        let bytes = room.checked_mul(size_of::<T>()).and_then(|bytes| bytes.checked_next_multiple_of(64));
        let Some(start) = bytes.filter(|bytes| *bytes < 1 << 46).and_then(|bytes| system::allocate(64, bytes)) else {
            return false;
        };
        if !self.start.is_null() {
            // SAFETY: the new memory has room for what the old one holds, which nobody else refers to.
            unsafe {
                ptr::copy_nonoverlapping(self.start.cast::<u8>(), start, self.length * size_of::<T>());
                self.free();
            }
        }
        (self.start, self.room) = (start.cast(), room);
        true
    }

    /// Adds an item; `false` if there is no memory for it.
    pub fn push(&mut self, item: T) -> bool {
        if !self.reserve(self.length + 1) {
            return false;
        }
        // SAFETY: there is room.
        unsafe { self.start.add(self.length).write(item) };
        self.length += 1;
        true
    }

    /// All items.
    pub fn items(&self) -> &[T] {
        if self.start.is_null() {
            return &[];
        }
        // SAFETY: so many have been written.
        unsafe { core::slice::from_raw_parts(self.start, self.length) }
    }

    /// Gives the memory back.
    ///
    /// # Safety
    ///
    /// Nobody uses the row any more.
    pub unsafe fn free(&mut self) {
        if !self.start.is_null() {
            // SAFETY: `reserve` allocated it; the caller uses it no more.
            unsafe { system::free(self.start.cast()) };
        }
    }
}

impl<T: Copy> Default for Row<T> {
    fn default() -> Row<T> {
        Row::new()
    }
}
