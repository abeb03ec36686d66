//! Global state of a program that runs on one thread.

use core::cell::UnsafeCell;

/// A global variable that only the program's own thread touches.
///
/// The starting thread touches some before the program's thread exists and after it has ended, never meanwhile.
#[repr(transparent)]
pub struct Single<T>(UnsafeCell<T>);

// SAFETY: see the type's comment; the two threads are ordered by creation and join.
unsafe impl<T> Sync for Single<T> {}

impl<T> Single<T> {
    /// A cell with this content.
    pub const fn new(value: T) -> Single<T> {
        Single(UnsafeCell::new(value))
    }
    /// The address of the content.
    pub const fn get(&self) -> *mut T {
        self.0.get()
    }
}

impl<T: Copy> Single<T> {
    /// The content.
    pub fn load(&self) -> T {
        // SAFETY: no reference to the content exists while this runs, because none outlives a call of this module.
        unsafe { *self.0.get() }
    }
    /// Replaces the content.
    pub fn store(&self, value: T) {
        // SAFETY: as for `load`.
        unsafe { *self.0.get() = value }
    }
}
