//! What processes that share work ([`crate::shards`]) write to each other: records of the values of shards.
//!
//! ~~~text
//! in a pipe:  first shard | words | leaves | boxes | shards | 0 | leaves ... | boxes ...
//! reference:  immediate: n << 3 | address outside of the heap: a | 1 | box: its place in the record << 3 | 2
//! box:        header, with what its words are in place of the count | words
//! ~~~
//!
//! A value is a row of leaves, which compiled code hands over one by one ([`crate::shards::vlad_exchange`]). A record
//! holds those of shards that follow each other. Behind them stand the boxes that they lead to, each once, in the order
//! in which they are found. Addresses outside of the heap count from where the program is in memory, which is not the
//! same for all ranks.

use crate::heap::{self, Heap};
use crate::layout::{
    BASE_OFFSET, COUNT_OFFSET, ELEMENTS_OFFSET, IMMEDIATES, MANY_POINTERS, VIEW, VIEW_WORDS, WORD, class_of,
    class_words,
};
use crate::question::Words;
use crate::words::Pages;
use crate::{memory, start, system};

/// What the words of a box are, in place of its count: as they stand; the first one an address within the box; a view,
/// whose first one counts from its base; a view of memory that is no box.
const PLAIN: u64 = 0;
const OWN: u64 = 1;
const SEEN: u64 = 2;
const FOREIGN: u64 = 3;

/// Says in the count of a box that the rest is its place in the record.
const MARK: u32 = 1 << 31;

const OUTSIDE: u64 = 1;
const INSIDE: u64 = 2;

/// How many words are in front of the leaves in a record, and what some of them are.
pub const HEAD: usize = 6;
const FIRST: usize = 0;
/// How many words stand behind the head.
pub const WORDS: usize = 1;
const LEAVES: usize = 2;
const BOXES: usize = 3;
const SHARDS: usize = 4;
/// Of a record that has been read: the address of the next one.
const LINK: usize = 5;

/// Words of a record.
///
/// # Safety
///
/// The head is there.
pub unsafe fn length(record: *const u64) -> usize {
    // SAFETY: the caller's obligation.
    HEAD + unsafe { *record.add(WORDS) } as usize
}

/// How many shards a record holds.
///
/// # Safety
///
/// As for [`length`].
pub unsafe fn shards(record: *const u64) -> u64 {
    // SAFETY: the caller's obligation.
    unsafe { *record.add(SHARDS) }
}

/// A copy of a record, from `aligned_alloc`.
///
/// # Safety
///
/// The record is whole.
pub unsafe fn copy(record: *const u64) -> *mut u64 {
    // SAFETY: the caller's obligation; there is room for all of it.
    unsafe {
        let length = length(record);
        let Some(copy) = system::allocate(16, (length * WORD).next_multiple_of(16)) else {
            memory::exhausted(memory::Use::Heap)
        };
        core::ptr::copy_nonoverlapping(record, copy.cast(), length);
        copy.cast()
    }
}

/// Records that wait.
#[derive(Clone, Copy)]
pub struct Queue {
    first: *mut u64,
    last: *mut u64,
}

impl Queue {
    /// None.
    pub const EMPTY: Queue = Queue { first: core::ptr::null_mut(), last: core::ptr::null_mut() };

    /// Adds a record.
    ///
    /// # Safety
    ///
    /// The record is whole, and nobody else refers to it.
    pub unsafe fn push(&mut self, record: *mut u64) {
        // SAFETY: records in the queue are whole.
        unsafe {
            *record.add(LINK) = 0;
            if self.first.is_null() {
                self.first = record;
            } else {
                *self.last.add(LINK) = record as u64;
            }
        }
        self.last = record;
    }

    /// The first shard of the first record.
    pub fn first(&self) -> Option<u64> {
        // SAFETY: records in the queue are whole.
        (!self.first.is_null()).then(|| unsafe { *self.first.add(FIRST) })
    }

    /// The first record, if it is one that is wanted.
    pub fn pop(&mut self, is_wanted: impl Fn(u64) -> bool) -> Option<*mut u64> {
        let record = self.first;
        // SAFETY: records in the queue are whole.
        unsafe {
            if record.is_null() || !is_wanted(*record.add(FIRST)) {
                return None;
            }
            self.first = *record.add(LINK) as *mut u64;
        }
        Some(record)
    }
}

/// Records that are written.
pub struct Sent {
    /// Their words, and where the last one begins.
    words: Pages,
    start: usize,
    /// Whether the last one is not finished.
    pub is_open: bool,
    /// The boxes of the record, and what stood in the headers of those that are marked.
    found: Pages,
    marked: Pages,
    /// The pointers among the leaves: where they stand in the record, and what they are.
    held: Pages,
}

impl Sent {
    /// None.
    pub const fn new() -> Sent {
        let [found, marked, held] = [Pages::new(), Pages::new(), Pages::new()];
        Sent { words: Pages::new(), start: 0, is_open: false, found, marked, held }
    }

    /// The words of all records.
    pub fn words(&self) -> &[u64] {
        self.words.all()
    }

    /// Begins a record.
    pub fn begin(&mut self, shard: u64) {
        self.start = self.words.all().len();
        self.words.push(shard);
        (FIRST + 1..HEAD).for_each(|_| self.words.push(0));
        self.is_open = true;
    }

    /// The first shard of the record.
    pub fn first(&self) -> u64 {
        self.words.all()[self.start + FIRST]
    }

    /// So many shards more have been handed over.
    pub fn add_shards(&mut self, count: u64) {
        self.words.set(self.start + SHARDS, self.words.all()[self.start + SHARDS] + count);
    }

    /// Whether there are pointers among what has been handed over.
    pub fn has_pointers(&self) -> bool {
        !self.held.all().is_empty()
    }

    /// Drops the record.
    pub fn drop_last(&mut self) {
        self.words.shorten(self.start);
        self.is_open = false;
    }

    /// Drops all records.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// A leaf of a worker's result.
    pub fn give(&mut self, is_pointer: bool, word: u64) {
        if is_pointer {
            if word >= IMMEDIATES {
                // It is to be there until the record is finished, and compiled code does not need it any more.
                // SAFETY: it is no immediate, so it is a box.
                unsafe { *(word as *mut u64).byte_add(COUNT_OFFSET as usize).cast::<u32>() += 1 };
            }
            self.held.push(self.words.all().len() as u64);
            self.held.push(word);
        }
        self.words.push(word);
        let leaves = self.words.all()[self.start + LEAVES];
        self.words.set(self.start + LEAVES, leaves + 1);
    }

    /// What stands for a pointer in a record.
    fn reference(&mut self, pointer: u64) -> u64 {
        if pointer < IMMEDIATES {
            return pointer << 3;
        }
        // SAFETY: it is no immediate, so it is a box; the heap is not in use.
        unsafe {
            if !(*program_heap()).contains(pointer as usize) {
                return pointer.wrapping_sub(origin()) | OUTSIDE;
            }
            let count = (pointer as *mut u64).byte_add(COUNT_OFFSET as usize).cast::<u32>();
            if *count & MARK != 0 {
                return u64::from(*count & !MARK) << 3 | INSIDE;
            }
            let place = self.found.all().len() as u64;
            self.found.push(pointer);
            if *count > 1 {
                self.marked.push(pointer);
                self.marked.push(u64::from(*count));
                *count = MARK | place as u32;
            }
            place << 3 | INSIDE
        }
    }

    /// Adds the boxes that the leaves of the record lead to.
    pub fn finish(&mut self) {
        for index in 0..self.held.all().len() / 2 {
            let (place, pointer) = (self.held.all()[2 * index], self.held.all()[2 * index + 1]);
            let reference = self.reference(pointer);
            self.words.set(place as usize, reference);
        }
        let mut next = 0;
        while let Some(address) = self.found.all().get(next).copied() {
            // SAFETY: boxes are found by references to them.
            unsafe { self.give_box(address as *const u64) };
            next += 1;
        }
        for index in 0..self.marked.all().len() / 2 {
            let (address, count) = (self.marked.all()[2 * index], self.marked.all()[2 * index + 1]);
            // SAFETY: a box that has been marked.
            unsafe { *(address as *mut u64).byte_add(COUNT_OFFSET as usize).cast::<u32>() = count as u32 };
        }
        self.words.set(self.start + WORDS, (self.words.all().len() - self.start - HEAD) as u64);
        self.words.set(self.start + BOXES, next as u64);
        for index in 0..self.held.all().len() / 2 {
            // SAFETY: they have had one more owner since they were handed over; an immediate needs none.
            unsafe { heap::vlad_release(self.held.all()[2 * index + 1] as *mut u64, program_heap()) };
        }
        self.held.clear();
        self.found.clear();
        self.marked.clear();
        self.is_open = false;
    }

    /// Adds a box.
    ///
    /// # Safety
    ///
    /// It is a box of the heap.
    unsafe fn give_box(&mut self, address: *const u64) {
        // SAFETY: the header of a box says which class it has and how many pointer fields follow.
        unsafe {
            let header = *address & 0xffff_ffff;
            let class = class(header);
            let first = *address.byte_add(ELEMENTS_OFFSET as usize);
            if class == VIEW {
                let base = *address.byte_add(BASE_OFFSET as usize);
                let (kind, from) = if base == 0 { (FOREIGN, origin()) } else { (SEEN, base) };
                let base_reference = self.reference(base);
                [header | kind << 32, first.wrapping_sub(from), base_reference]
                    .into_iter()
                    .for_each(|word| self.words.push(word));
                return;
            }
            let words = class_words(class);
            let mut pointers = (header & 0xff) as usize;
            let far = first.wrapping_sub(address as u64);
            // A number that looks like an address within its own box would be one of very few numbers near zero.
            if pointers == 0 && far < (words * WORD) as u64 && far > 0 && far.is_multiple_of(WORD as u64) {
                self.words.push(header | OWN << 32);
                self.words.push(far);
                self.words.extend(core::slice::from_raw_parts(address.add(2), words - 2));
                return;
            }
            self.words.push(header | PLAIN << 32);
            let mut at = 1;
            if pointers == MANY_POINTERS {
                pointers = first as usize;
                self.words.push(first);
                at = 2;
            }
            for pointer in at..at + pointers {
                let reference = self.reference(*address.add(pointer));
                self.words.push(reference);
            }
            let plain = at + pointers;
            self.words.extend(core::slice::from_raw_parts(address.add(plain), words - plain));
        }
    }
}

/// A record that is read.
pub struct Received {
    words: *mut u64,
    /// Whether it lies among others, and is not to be freed.
    is_in_place: bool,
    /// How many of its shards are left.
    pub ready: u64,
    /// The next leaf.
    leaf: usize,
    /// The addresses of its boxes.
    boxes: Pages,
}

impl Received {
    /// None.
    pub const fn new() -> Received {
        Received { words: core::ptr::null_mut(), is_in_place: false, ready: 0, leaf: 0, boxes: Pages::new() }
    }

    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        self.words.is_null()
    }

    /// Forgets the record if it lies among others.
    pub fn forget_in_place(&mut self) {
        if self.is_in_place {
            self.forget();
        }
    }

    /// Forgets the record.
    pub fn forget(&mut self) {
        if !self.words.is_null() && !self.is_in_place {
            // SAFETY: nobody else refers to it.
            unsafe { system::free(self.words.cast()) };
        }
        (self.words, self.is_in_place) = (core::ptr::null_mut(), false);
        self.ready = 0;
    }

    /// The same for one that lies among others and stays there.
    ///
    /// # Safety
    ///
    /// The record is whole, and stays until it is forgotten.
    pub unsafe fn unpack_in_place(&mut self, record: *mut u64) {
        // SAFETY: the caller's obligation.
        unsafe { self.unpack(record) };
        self.is_in_place = true;
    }

    /// Makes the boxes of a record. Its leaves come next.
    ///
    /// # Safety
    ///
    /// The record is whole, and nobody else refers to it.
    pub unsafe fn unpack(&mut self, record: *mut u64) {
        self.forget();
        (self.words, self.is_in_place, self.leaf) = (record, false, HEAD);
        self.boxes.clear();
        // SAFETY: a record is as a worker has written it; boxes have room for the words of their class.
        unsafe {
            let (leaves, boxes) = (*record.add(LEAVES) as usize, *record.add(BOXES) as usize);
            self.ready = *record.add(SHARDS);
            let start = record.add(HEAD + leaves);
            let mut at = start;
            for _ in 0..boxes {
                let class = class(*at);
                let new = heap::take(program_heap(), if class == VIEW { class_of(VIEW_WORDS) } else { class });
                // Nobody owns it yet.
                *new = *at & 0xffff_ffff;
                self.boxes.push(new as u64);
                at = at.add(size(class));
            }
            at = start;
            for place in 0..boxes {
                let new = self.boxes.all()[place] as *mut u64;
                let (class, kind) = (class(*at), *at >> 32);
                let words = size(class);
                let mut first_plain = 1;
                match kind {
                    OWN => {
                        *new.add(1) = new as u64 + *at.add(1);
                        first_plain = 2;
                    }
                    SEEN | FOREIGN => {
                        let base = if kind == SEEN { self.owned(*at.add(2)) } else { 0 };
                        let from = if kind == SEEN { base } else { origin() };
                        *new.add(1) = from.wrapping_add(*at.add(1));
                        *new.add(2) = base;
                        first_plain = 3;
                    }
                    _ => {
                        let mut pointers = (*at & 0xff) as usize;
                        if pointers == MANY_POINTERS {
                            pointers = *at.add(1) as usize;
                            *new.add(1) = pointers as u64;
                            first_plain = 2;
                        }
                        for field in first_plain..first_plain + pointers {
                            *new.add(field) = self.owned(*at.add(field));
                        }
                        first_plain += pointers;
                    }
                }
                core::ptr::copy_nonoverlapping(at.add(first_plain), new.add(first_plain), words - first_plain);
                at = at.add(words);
            }
        }
    }

    /// What a reference in a record is to, with one more owner.
    fn owned(&self, reference: u64) -> u64 {
        let pointer = match reference & 7 {
            0 => return reference >> 3,
            OUTSIDE => (reference & !7).wrapping_add(origin()),
            _ => self.boxes.all()[(reference >> 3) as usize],
        };
        // SAFETY: a box of this record, or one that is no part of the heap.
        unsafe { *(pointer as *mut u64).byte_add(COUNT_OFFSET as usize).cast::<u32>() += 1 };
        pointer
    }

    /// The next leaf of the record that is being taken.
    pub fn next_leaf(&mut self, is_pointer: bool) -> u64 {
        // SAFETY: compiled code takes as many leaves as have been given.
        let word = unsafe { *self.words.add(self.leaf) };
        self.leaf += 1;
        if is_pointer { self.owned(word) } else { word }
    }
}

impl Default for Sent {
    fn default() -> Sent {
        Sent::new()
    }
}

impl Default for Received {
    fn default() -> Received {
        Received::new()
    }
}

/// Where addresses outside of the heap count from.
fn origin() -> u64 {
    start::program_address() as u64 & !7
}

fn program_heap() -> *mut Heap {
    memory::vlad_heap.get()
}

/// The class of a box with this header.
const fn class(header: u64) -> usize {
    (header >> 8 & 0xff) as usize
}

/// Words of a box in a record.
const fn size(class: usize) -> usize {
    if class == VIEW { VIEW_WORDS } else { class_words(class) }
}
