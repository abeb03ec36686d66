//! Boxes: where they come from and where they go.
//!
//! There is one list of boxes to hand out per size class. Compiled code takes from these lists inline and calls
//! [`vlad_refill`] when one is empty.
//!
//! Small boxes lie in pages, each of which has boxes of one class and a list of those that are free. A box that nobody
//! owns goes back to the list of its page; when that list was empty, the page joins the queue of its class. A refill
//! takes the list of a queued page. So boxes that are made one after another lie beside each other, whatever happened
//! before: with one list for all boxes that are free, programs that build and take apart several structures at a time would
//! soon scatter each of them over the whole heap.
//!
//! Large boxes go straight back to the list to hand out. Memory never goes back to the system and never changes its size
//! class, so the heap is as large as the sum over the classes of the most boxes that ever lived at once.
//!
//! A dead box releases its fields. Boxes that die of this wait in a list that goes through their own headers (see
//! [`crate::layout`]), so a chain of any length takes no stack.

use crate::cell::Single;
use crate::layout::{CLASSES, COUNT_OFFSET, IMMEDIATES, MANY_POINTERS, PAGE, WORD, class_words, is_in_page};
use crate::memory::{self, Use};
use crate::system;
use core::ptr;

/// The first box to hand out of each size class, null when there is none.
#[unsafe(no_mangle)]
pub static vlad_free_boxes: Single<[*mut u64; CLASSES]> = Single::new([ptr::null_mut(); CLASSES]);

/// What stands at the beginning of each page.
#[repr(C)]
struct Page {
    /// The first free box, null when there is none.
    free: *mut u64,
    /// The next page in the queue of the class. Queued are exactly the pages that have a free box.
    next: *mut Page,
    class: usize,
}

/// The first page that has a free box, for each size class.
static QUEUES: Single<[*mut Page; CLASSES]> = Single::new([ptr::null_mut(); CLASSES]);

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
/// A refill gets as many boxes if it can, from several pages if need be; calling it should not happen often.
const ENOUGH: usize = 8;
/// What is much larger than this does not stay in a processor's cache.
const CACHED: u64 = 1 << 19;

/// Makes sure that the list of boxes to hand out of the class is not empty.
#[unsafe(no_mangle)]
pub extern "C" fn vlad_refill(class: usize) {
    // SAFETY: only this function refers to the tables while it runs; pages are queued when they have free boxes, and
    // nobody but their lists refers to those.
    unsafe {
        let mut link = (*vlad_free_boxes.get()).as_mut_ptr().add(class);
        let queue = (*QUEUES.get()).as_mut_ptr().add(class);
        let mut wanted = ENOUGH;
        while !(*queue).is_null() {
            let page = *queue;
            *queue = (*page).next;
            *link = core::mem::replace(&mut (*page).free, ptr::null_mut());
            if BYTES.load() > CACHED {
                prefetch(page);
            }
            while wanted > 0 && !(*link).is_null() {
                link = (*link).cast();
                wanted -= 1;
            }
            if wanted == 0 {
                return;
            }
        }
        if wanted == ENOUGH {
            *link = fresh_boxes(class);
        }
    }
}

/// A box of this class to hand out.
pub fn take(class: usize) -> *mut u64 {
    // SAFETY: only this function refers to the table while it runs, except for the refill in between; after that the
    // list is not empty, and nobody but the list refers to its first box.
    unsafe {
        let list = (*vlad_free_boxes.get()).as_mut_ptr().add(class);
        if (*list).is_null() {
            vlad_refill(class);
        }
        let first = *list;
        *list = (*first) as *mut u64;
        first
    }
}

/// A list of boxes that were never used, in the order of addresses.
fn fresh_boxes(class: usize) -> *mut u64 {
    let size = class_words(class) * WORD;
    let (wanted, start) = if is_in_page(class) { (PAGE, size_of::<Page>()) } else { (size.next_multiple_of(PAGE), 0) };
    let bytes = cut(wanted);
    let count = (wanted - start) / size;
    // SAFETY: `cut` returns `wanted` bytes that nothing else uses, aligned to pages.
    unsafe {
        if start > 0 {
            *bytes.cast() = Page { free: ptr::null_mut(), next: ptr::null_mut(), class };
        }
        let mut next: *mut u64 = ptr::null_mut();
        for index in (0..count).rev() {
            let free = bytes.add(start + index * size).cast::<u64>();
            *free.cast() = next;
            next = free;
        }
        (*CUT.get())[class] += count as u64;
        next
    }
}

/// Asks for all of a page at once; walking through its boxes would ask for one after another.
fn prefetch(page: *const Page) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..PAGE).step_by(64) {
        // SAFETY: prefetching has no effect that a program can see, and every x86-64 processor can do it.
        unsafe { core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(page.byte_add(line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = page;
}

/// Puts a page into the queue of its class, because its first free box has just joined its list.
///
/// # Safety
///
/// `page` is the beginning of a page, which is not in its queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_queue_page(page: *mut u64) {
    let page = page.cast::<Page>();
    // SAFETY: the caller's obligation; nothing else refers to the table while this runs.
    unsafe {
        let queue = (*QUEUES.get()).as_mut_ptr().add((*page).class);
        (*page).next = *queue;
        *queue = page;
    }
}

/// Takes back a box that nobody owns.
///
/// # Safety
///
/// `dead` is a box of that class, and nobody refers to it.
unsafe fn take_back(dead: *mut u64, class: usize) {
    // SAFETY: the caller's obligation; boxes of these classes lie in pages, which begin at multiples of their size.
    unsafe {
        let list = if is_in_page(class) {
            let page = dead.map_addr(|address| address & !(PAGE - 1)).cast::<Page>();
            if (*page).free.is_null() {
                vlad_queue_page(page.cast());
            }
            &raw mut (*page).free
        } else {
            (*vlad_free_boxes.get()).as_mut_ptr().add(class)
        };
        *dead.cast() = *list;
        *list = dead;
    }
}

/// Takes fresh bytes from the chunk, a multiple of the size of a page.
fn cut(wanted: usize) -> *mut u8 {
    let bytes = BYTES.load() + wanted as u64;
    if bytes > GRANTED.load() {
        GRANTED.store(memory::grant(Use::Heap, bytes));
    }
    BYTES.store(bytes);
    if (END.load() as usize) - (NEXT.load() as usize) < wanted {
        new_chunk(wanted);
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
            take_back(current, (header >> 8 & 0xff) as usize);
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

/// Boxes that are not free, and the bytes that boxes ever took.
pub fn census() -> (u64, u64) {
    let mut live = 0;
    for class in 0..CLASSES {
        // SAFETY: only this function refers to the tables while it runs, and lists hold valid addresses.
        unsafe {
            live += (*CUT.get())[class] - length((*vlad_free_boxes.get())[class]);
            let mut page = (*QUEUES.get())[class];
            while !page.is_null() {
                live -= length((*page).free);
                page = (*page).next;
            }
        }
    }
    (live, BYTES.load())
}

/// The number of boxes in a list.
///
/// # Safety
///
/// `list` is null or the first box of a list of free boxes.
unsafe fn length(mut list: *const u64) -> u64 {
    let mut count = 0;
    while !list.is_null() {
        count += 1;
        // SAFETY: the caller's obligation.
        list = unsafe { *list.cast() };
    }
    count
}
