//! Boxes: where they come from and where they go.
//!
//! There is one list of free boxes per size class. Compiled code takes from these lists inline and calls
//! [`vlad_refill`] when one is empty; that cuts a handful of boxes from the current chunk of fresh pages. A box that
//! nobody owns goes back to its list, first for reuse. Memory never goes back to the system and never changes its size
//! class, so the heap is as large as the sum over the classes of the most boxes that ever lived at once.
//!
//! A dead box releases its fields. Boxes that die of this wait in a list that goes through their own headers (see
//! [`crate::layout`]), so a chain of any length takes no stack.

use crate::cell::Single;
use crate::layout::{CLASSES, COUNT_OFFSET, IMMEDIATES, MANY_POINTERS, WORD, class_words};
use crate::memory::{self, Use};
use crate::system;
use core::ptr;

/// The first free box of each size class, null when there is none.
#[unsafe(no_mangle)]
pub static vlad_free_boxes: Single<[*mut u64; CLASSES]> = Single::new([ptr::null_mut(); CLASSES]);

/// Boxes of each class that were ever cut from a chunk.
static CUT: Single<[u64; CLASSES]> = Single::new([0; CLASSES]);

/// The unused rest of the current chunk.
static NEXT: Single<*mut u8> = Single::new(ptr::null_mut());
static END: Single<*mut u8> = Single::new(ptr::null_mut());

/// Bytes in boxes, free or not, and how many may be before memory must be asked for.
static BYTES: Single<u64> = Single::new(0);
static GRANTED: Single<u64> = Single::new(FREE_OF_CHARGE);

/// Heaps up to this size are not checked against the limits of the machine.
const FREE_OF_CHARGE: u64 = 1 << 20;
const FIRST_CHUNK: usize = 1 << 20;
const CHUNK: usize = 64 << 20;
/// About how many bytes are cut at once.
const BATCH: usize = 4096;

/// Makes sure that the free list of the class is not empty.
#[unsafe(no_mangle)]
pub extern "C" fn vlad_refill(class: usize) {
    let size = class_words(class) * WORD;
    let wanted = (BATCH / size).max(1) * size;
    let first = cut(wanted, size);
    let count = wanted / size;
    // SAFETY: `cut` returns `wanted` bytes that nothing else uses, aligned to words.
    unsafe {
        let mut next: *mut u64 = ptr::null_mut();
        for index in (0..count).rev() {
            let free = first.add(index * size).cast::<u64>();
            *free.cast() = next;
            next = free;
        }
        (*vlad_free_boxes.get())[class] = next;
        (*CUT.get())[class] += count as u64;
    }
}

/// Takes fresh bytes from the chunk.
fn cut(wanted: usize, smallest: usize) -> *mut u8 {
    let bytes = BYTES.load() + wanted as u64;
    if bytes > GRANTED.load() {
        GRANTED.store(memory::grant(Use::Heap, bytes));
    }
    BYTES.store(bytes);
    if (END.load() as usize) - (NEXT.load() as usize) < wanted {
        new_chunk(wanted.max(smallest));
    }
    let start = NEXT.load();
    NEXT.store(start.wrapping_add(wanted));
    start
}

fn new_chunk(wanted: usize) {
    let usual = if END.load().is_null() { FIRST_CHUNK } else { CHUNK };
    let mut size = wanted.next_multiple_of(1 << 21).max(usual);
    let start = loop {
        match system::map_pages(size, system::PROT_READ_WRITE) {
            Some(start) => break start,
            None if size / 2 >= wanted.max(1 << 16) => size /= 2,
            None => memory::exhausted(Use::Heap),
        }
    };
    if size >= CHUNK {
        // SAFETY: the pages have just been mapped.
        unsafe { system::prefer_large_pages(start, size) };
    }
    NEXT.store(start);
    END.store(start.wrapping_add(size));
}

/// Gives a box back that nobody owns any more, and releases what it owned.
///
/// # Safety
///
/// `dead` is a box of a compiled program whose last owner is gone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_free(dead: *mut u64) {
    // SAFETY: the headers of boxes say how many pointer fields follow; a box whose count drops to zero has no owner
    // but this function; addresses of user space fit into 48 bits.
    unsafe {
        let free_boxes = vlad_free_boxes.get();
        let mut current = dead;
        let mut waiting: *mut u64 = ptr::null_mut();
        loop {
            let header = *current;
            let mut pointers = (header & 0xff) as usize;
            let mut field = current.add(1);
            if pointers == MANY_POINTERS {
                pointers = *field as usize;
                field = field.add(1);
            }
            for index in 0..pointers {
                let child = *field.add(index);
                if child < IMMEDIATES {
                    continue;
                }
                let child = child as *mut u64;
                let count = child.byte_add(COUNT_OFFSET as usize).cast::<u32>();
                *count -= 1;
                if *count == 0 {
                    *child = *child & 0xffff | (waiting as u64) << 16;
                    waiting = child;
                }
            }
            let list = &raw mut (*free_boxes)[(header >> 8 & 0xff) as usize];
            *current.cast() = *list;
            *list = current;
            if waiting.is_null() {
                return;
            }
            current = waiting;
            waiting = (*current >> 16) as *mut u64;
        }
    }
}

/// One owner less for a value, which may be an immediate.
///
/// # Safety
///
/// The caller owns `value`, a value of a compiled program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_release(value: *mut u64) {
    if (value as u64) < IMMEDIATES {
        return;
    }
    // SAFETY: the pointer is no immediate, so it is a box, which has a header.
    unsafe {
        let count = value.byte_add(COUNT_OFFSET as usize).cast::<u32>();
        *count -= 1;
        if *count == 0 {
            vlad_free(value);
        }
    }
}

/// Boxes that are not in a free list, and the bytes that boxes ever took.
pub fn census() -> (u64, u64) {
    let mut live = 0;
    for class in 0..CLASSES {
        // SAFETY: only this function refers to the tables while it runs, and free lists hold valid addresses.
        unsafe {
            live += (*CUT.get())[class];
            let mut free = (*vlad_free_boxes.get())[class];
            while !free.is_null() {
                live -= 1;
                free = *free.cast();
            }
        }
    }
    (live, BYTES.load())
}
