//! Boxes: where they come from and where they go.
//!
//! There is one list of boxes to hand out per size class. Compiled code takes from these lists inline and calls
//! [`vlad_refill`] when one is empty.
//!
//! Small boxes lie in pages, each of which has boxes of one class and a list of those that are free. A box that nobody
//! owns goes back to the list of its page; when that list was empty, the page joins the queue of its class. A refill
//! takes the list of a queued page. So boxes that are made one after another lie beside each other, whatever happened
//! before: with one list for all boxes that are free, programs that build and take apart several structures at a time
//! would soon scatter each of them over the whole heap.
//!
//! An executable has one heap, a library one for each context of its callers: so each operation is handed its heap, and
//! asks through it for memory ([`Supply`]).
//!
//! Large boxes go straight back to the list to hand out. Memory never goes back to the system and never changes its
//! size class, so the heap is as large as the sum over the classes of the most boxes that ever lived at once.
//!
//! A dead box releases its fields. Boxes that die of this wait in a list that goes through their own headers (see
//! [`crate::layout`]), so a chain of any length takes no stack.

use crate::layout::{
    BASE_OFFSET, CLASSES, COUNT_OFFSET, HEAP_BYTES, IMMEDIATES, LINE, MANY_POINTERS, PAGE, VECTOR_HEADER_WORDS, VIEW,
    VIEW_WORDS, WORD, class_of, class_words, is_in_page,
};
use core::ffi::CStr;
use core::ptr;

/// Where boxes come from.
#[repr(C)]
pub struct Heap {
    /// The first box to hand out of each size class, null when there is none. Compiled code takes from here.
    free_boxes: [*mut u64; CLASSES],
    /// The first page that has a free box, for each size class.
    queues: [*mut Page; CLASSES],
    /// Boxes of each class that were ever cut from a chunk.
    cut: [u64; CLASSES],
    /// The unused rest of the current chunk. Pages are cut from its beginning, large boxes from its end.
    next: *mut u8,
    end: *mut u8,
    /// Bytes in boxes, free or not, and how many may be before memory must be asked for.
    bytes: u64,
    /// Bytes that the tape of a loop may take before compiled code keeps states instead, from which it makes the tape
    /// again.
    pub tape_memory: u64,
    granted: u64,
    /// The chunks that boxes are cut from, the newest first.
    chunks: *mut Chunk,
    /// Chunks that hold no boxes.
    spare: *mut Chunk,
    supply: &'static Supply,
    /// What to say if there is no memory for what compiled code makes: a text that ends in zero, or null. It is null
    /// unless compiled code asks for memory.
    complaint: *const u8,
    /// The table of the results that are remembered, null when there are none, and how many there are. See
    /// [`crate::results`].
    pub remembered: *mut u64,
    pub remembered_count: u64,
}

const _: () = assert!(size_of::<Heap>() == HEAP_BYTES);

/// Where a heap gets its memory from. Each function is handed the heap.
pub struct Supply {
    /// Asks to have so many bytes in boxes. Returns how many may be, at least as many; or does not return.
    pub grant: unsafe fn(*mut Heap, u64) -> u64,
    /// Memory of that size for a chunk, aligned to pages; or `None`.
    pub chunk: unsafe fn(usize) -> Option<*mut u8>,
    /// Does not return: there is no more memory.
    pub exhausted: unsafe fn(*mut Heap) -> !,
}

/// What stands at the beginning of each page.
#[repr(C)]
struct Page {
    /// The first free box, null when there is none.
    free: *mut u64,
    /// The next page in the queue of the class. Queued are exactly the pages that have a free box.
    next: *mut Page,
    class: usize,
}

/// What stands at the beginning of each chunk, which has its first page for itself.
#[repr(C)]
struct Chunk {
    next: *mut Chunk,
    /// In bytes, the first page included.
    size: usize,
}

/// A chunk is as large as everything before it, but no smaller and no larger than this: boxes are cut from both of its
/// ends, so that a large chunk of which little is used would cost two large pages of the system.
const SMALLEST_CHUNK: usize = 1 << 20;
const LARGEST_CHUNK: usize = 64 << 20;
/// The least chunk that deserves large pages.
pub const WITH_LARGE_PAGES: usize = 32 << 20;
/// A refill gets as many boxes if it can, from several pages if need be; calling it should not happen often.
const ENOUGH: usize = 8;
/// The tape of a loop may take this part of the memory.
pub const TAPE_PART: u64 = 4;

/// What is much larger than this does not stay in a processor's cache.
const CACHED: u64 = 1 << 19;

impl Heap {
    /// A heap without boxes. So many bytes may be in boxes before its supply is asked.
    pub const fn new(supply: &'static Supply, granted: u64) -> Heap {
        Heap {
            free_boxes: [ptr::null_mut(); CLASSES],
            queues: [ptr::null_mut(); CLASSES],
            cut: [0; CLASSES],
            next: ptr::null_mut(),
            end: ptr::null_mut(),
            bytes: 0,
            tape_memory: i64::MAX as u64,
            granted,
            chunks: ptr::null_mut(),
            spare: ptr::null_mut(),
            supply,
            complaint: ptr::null(),
            remembered: ptr::null_mut(),
            remembered_count: 0,
        }
    }

    /// Counts memory that is not in boxes as if it were.
    pub fn charge(&mut self, bytes: u64) {
        self.bytes += bytes;
        if self.bytes > self.granted {
            // SAFETY: the supply of a heap is made for it.
            self.granted = unsafe { (self.supply.grant)(self, self.bytes) };
        }
    }

    /// Whether an address is one in the memory for boxes.
    pub fn contains(&self, address: usize) -> bool {
        let mut chunk = self.chunks;
        // SAFETY: chunks begin with what the list needs.
        unsafe {
            while !chunk.is_null() {
                if address.wrapping_sub(chunk as usize) < (*chunk).size {
                    return true;
                }
                chunk = (*chunk).next;
            }
        }
        false
    }

    /// What to say now that there is no more memory.
    pub fn take_complaint(&mut self) -> &'static [u8] {
        let complaint = core::mem::replace(&mut self.complaint, ptr::null());
        if complaint.is_null() {
            return b"error[V0311]: out of memory: too much data\n";
        }
        // SAFETY: a text of the compiled program.
        unsafe { CStr::from_ptr(complaint.cast()) }.to_bytes()
    }

    /// Does not return: there is no more memory.
    pub fn exhausted(&mut self) -> ! {
        // SAFETY: the supply of a heap is made for it.
        unsafe { (self.supply.exhausted)(self) }
    }

    /// Forgets all boxes and keeps the memory for new ones.
    ///
    /// # Safety
    ///
    /// Nobody refers to a box of the heap afterwards.
    pub unsafe fn reset(&mut self) {
        // SAFETY: chunks begin with what the list needs.
        unsafe {
            while !self.chunks.is_null() {
                let chunk = self.chunks;
                self.chunks = (*chunk).next;
                (*chunk).next = self.spare;
                self.spare = chunk;
            }
        }
        (self.chunks, self.next, self.end, self.bytes) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), 0);
        (self.free_boxes, self.queues) = ([ptr::null_mut(); CLASSES], [ptr::null_mut(); CLASSES]);
        self.cut = [0; CLASSES];
        (self.remembered, self.remembered_count) = (ptr::null_mut(), 0);
    }

    /// Gives every chunk to `free`, boxes and all.
    ///
    /// # Safety
    ///
    /// Nobody refers to a box of the heap afterwards, and `free` takes what the heap's supply gave.
    pub unsafe fn give_back(&mut self, free: unsafe fn(*mut u8, usize)) {
        // SAFETY: the caller's obligation; the next chunk is read before this one is gone.
        unsafe {
            self.reset();
            while !self.spare.is_null() {
                let chunk = self.spare;
                self.spare = (*chunk).next;
                free(chunk.cast(), (*chunk).size);
            }
        }
    }
}

/// Makes sure that the list of boxes to hand out of the class is not empty.
///
/// # Safety
///
/// Nothing else refers to the heap meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_refill(class: usize, heap: *mut Heap) {
    // SAFETY: only this function refers to the tables while it runs; pages are queued when they have free boxes, and
    // nobody but their lists refers to those.
    unsafe {
        let mut link = (&raw mut (*heap).free_boxes).cast::<*mut u64>().add(class);
        let queue = (&raw mut (*heap).queues).cast::<*mut Page>().add(class);
        let mut wanted = ENOUGH;
        while !(*queue).is_null() {
            let page = *queue;
            *queue = (*page).next;
            *link = core::mem::replace(&mut (*page).free, ptr::null_mut());
            if (*heap).bytes > CACHED {
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
            *link = fresh_boxes(heap, class);
        }
    }
}

/// A box of this class to hand out.
///
/// # Safety
///
/// Nothing else refers to the heap meanwhile.
pub unsafe fn take(heap: *mut Heap, class: usize) -> *mut u64 {
    // SAFETY: only this function refers to the table while it runs, except for the refill in between; after that the
    // list is not empty, and nobody but the list refers to its first box.
    unsafe {
        let list = (&raw mut (*heap).free_boxes).cast::<*mut u64>().add(class);
        if (*list).is_null() {
            vlad_refill(class, heap);
        }
        let first = *list;
        *list = (*first) as *mut u64;
        first
    }
}

/// A list of boxes that were never used, in the order of addresses.
///
/// # Safety
///
/// Nothing else refers to the heap meanwhile.
unsafe fn fresh_boxes(heap: *mut Heap, class: usize) -> *mut u64 {
    let size = class_words(class) * WORD;
    // SAFETY: the chunk's memory is what nothing else uses.
    unsafe {
        if !is_in_page(class) {
            let free = cut_large(&mut *heap, size).cast::<u64>();
            *free = 0;
            (*heap).cut[class] += 1;
            return free;
        }
        let page = cut_page(&mut *heap);
        *page.cast() = Page { free: ptr::null_mut(), next: ptr::null_mut(), class };
        let start = size_of::<Page>();
        let count = (PAGE - start) / size;
        let mut next: *mut u64 = ptr::null_mut();
        for index in (0..count).rev() {
            let free = page.add(start + index * size).cast::<u64>();
            *free.cast() = next;
            next = free;
        }
        (*heap).cut[class] += count as u64;
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

/// Does not return: a kernel has found no memory to work in.
///
/// # Safety
///
/// Nothing else refers to the heap meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_exhausted(_: u64, heap: *mut Heap) {
    // SAFETY: the caller's obligation.
    unsafe { (*heap).exhausted() }
}

/// Puts a page into the queue of its class, because its first free box has just joined its list.
///
/// # Safety
///
/// `page` is the beginning of a page of the heap, which is not in its queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_queue_page(page: *mut u64, heap: *mut Heap) {
    let page = page.cast::<Page>();
    // SAFETY: the caller's obligation; nothing else refers to the table while this runs.
    unsafe {
        let queue = (&raw mut (*heap).queues).cast::<*mut Page>().add((*page).class);
        (*page).next = *queue;
        *queue = page;
    }
}

/// The first byte of a box, in most the number of pointer fields, and its class times 256. Reads no more than that:
/// processors wait when they read as one what has been written in parts, and the count of owners is written most often.
///
/// # Safety
///
/// `of` is a box.
unsafe fn kind(of: *const u64) -> u16 {
    // SAFETY: the caller's obligation.
    unsafe { *of.cast() }
}

/// Takes back a box that nobody owns.
///
/// # Safety
///
/// `dead` is a box of the heap and of that class, and nobody refers to it.
pub unsafe fn take_back(heap: *mut Heap, mut dead: *mut u64, mut class: usize) {
    // SAFETY: the caller's obligation; boxes of these classes lie in pages, which begin at multiples of their size.
    // Each view owns the box that it looks at, which is no view and has no pointer fields.
    unsafe {
        if class == VIEW {
            let base = *dead.byte_add(BASE_OFFSET as usize) as *mut u64;
            take_back(heap, dead, class_of(VIEW_WORDS));
            if base.is_null() {
                return;
            }
            let count = base.byte_add(COUNT_OFFSET as usize).cast::<u32>();
            *count -= 1;
            if *count > 0 {
                return;
            }
            class = usize::from(kind(base) >> 8);
            dead = base;
        }
        let list = if is_in_page(class) {
            let page = dead.map_addr(|address| address & !(PAGE - 1)).cast::<Page>();
            if (*page).free.is_null() {
                vlad_queue_page(page.cast(), heap);
            }
            &raw mut (*page).free
        } else {
            (&raw mut (*heap).free_boxes).cast::<*mut u64>().add(class)
        };
        *dead.cast() = *list;
        *list = dead;
    }
}

/// Takes a fresh page from the beginning of the chunk.
fn cut_page(heap: &mut Heap) -> *mut u8 {
    demand(heap, PAGE);
    let start = heap.next;
    heap.next = start.wrapping_add(PAGE);
    start
}

/// Takes a fresh box from the end of the chunk. If it is a vector, its elements begin a line of the cache, and the
/// next such box of its size begins at another place of a page: processors that compare the ends of addresses only,
/// as most do at first, would take what one loop writes for what it reads from a vector of the same length.
fn cut_large(heap: &mut Heap, size: usize) -> *mut u8 {
    let apart = if size < PAGE { LINE } else { 5 * LINE };
    let wanted = size + apart;
    demand(heap, wanted + LINE);
    const BEFORE: usize = VECTOR_HEADER_WORDS * WORD;
    let end = ((heap.end as usize + BEFORE) & !(LINE - 1)) - BEFORE;
    heap.end = heap.end.with_addr(end - wanted);
    heap.end
}

/// Makes sure that so many bytes of the chunk are unused, and that the heap may use them.
fn demand(heap: &mut Heap, wanted: usize) {
    let bytes = heap.bytes + wanted as u64;
    if bytes > heap.granted {
        // SAFETY: the supply of a heap is made for it.
        heap.granted = unsafe { (heap.supply.grant)(heap, bytes) };
    }
    heap.bytes = bytes;
    if (heap.end as usize) - (heap.next as usize) < wanted {
        new_chunk(heap, wanted);
    }
}

/// Begins a chunk: a spare one, or new memory.
fn new_chunk(heap: &mut Heap, wanted: usize) {
    let wanted = wanted + PAGE;
    let chunk = take_spare(heap, wanted).unwrap_or_else(|| {
        let usual = (heap.bytes as usize).next_power_of_two().clamp(SMALLEST_CHUNK, LARGEST_CHUNK);
        let mut size = if wanted <= usual { usual } else { wanted.next_multiple_of(1 << 21) };
        // SAFETY: the supply of a heap is made for it, and gives memory for the beginning of a chunk at least.
        unsafe {
            let chunk = loop {
                match (heap.supply.chunk)(size) {
                    Some(start) => break start.cast::<Chunk>(),
                    None if size / 2 >= wanted.max(1 << 16) => size /= 2,
                    None => (heap.supply.exhausted)(heap),
                }
            };
            (*chunk).size = size;
            chunk
        }
    });
    // SAFETY: chunks begin with what the list needs.
    unsafe {
        (*chunk).next = heap.chunks;
        heap.chunks = chunk;
        heap.next = chunk.cast::<u8>().add(PAGE);
        heap.end = chunk.cast::<u8>().add((*chunk).size);
    }
}

/// The first spare chunk that is large enough, if there is one.
fn take_spare(heap: &mut Heap, wanted: usize) -> Option<*mut Chunk> {
    let mut link = &raw mut heap.spare;
    // SAFETY: chunks begin with what the list needs.
    unsafe {
        while !(*link).is_null() {
            let chunk = *link;
            if (*chunk).size >= wanted {
                *link = (*chunk).next;
                return Some(chunk);
            }
            link = &raw mut (*chunk).next;
        }
    }
    None
}

/// Gives a box back that nobody owns any more, and releases what it owned.
///
/// # Safety
///
/// `dead` is a box of the heap whose last owner is gone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_free(dead: *mut u64, heap: *mut Heap) {
    // SAFETY: the headers of boxes say how many pointer fields follow; a box whose count drops to zero has no owner
    // but this function; addresses of user space fit into 48 bits.
    unsafe {
        let mut current = dead;
        let mut waiting: *mut u64 = ptr::null_mut();
        loop {
            let kind = kind(current);
            let mut pointers = usize::from(kind & 0xff);
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
                if *count > 0 {
                    continue;
                }
                *child = u64::from(self::kind(child)) | (waiting as u64) << 16;
                waiting = child;
            }
            take_back(heap, current, usize::from(kind >> 8));
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
/// The caller owns `value`, a value of a compiled program with that heap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_release(value: *mut u64, heap: *mut Heap) {
    if (value as u64) < IMMEDIATES {
        return;
    }
    // SAFETY: the pointer is no immediate, so it is a box, which has a header.
    unsafe {
        let count = value.byte_add(COUNT_OFFSET as usize).cast::<u32>();
        *count -= 1;
        if *count == 0 {
            vlad_free(value, heap);
        }
    }
}

/// Boxes that are not free, and the bytes that boxes ever took.
///
/// # Safety
///
/// Nothing else refers to the heap meanwhile.
pub unsafe fn census(heap: *const Heap) -> (u64, u64) {
    let mut live = 0;
    // SAFETY: the caller's obligation; lists hold valid addresses.
    unsafe {
        let heap = &*heap;
        for class in 0..CLASSES {
            live += heap.cut[class] - length(heap.free_boxes[class]);
            let mut page = heap.queues[class];
            while !page.is_null() {
                live -= length((*page).free);
                page = (*page).next;
            }
        }
        (live, heap.bytes)
    }
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
