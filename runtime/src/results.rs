//! Results of calls that are remembered: what is made of boxes that have more than one owner, so that it is made once
//! (see `opt::interprocedural::sharing` of the compiler).
//!
//! They stand in a hash table which is a box, and hold a chain of boxes for each hash: function, arguments, results. A
//! box that is remembered, be it as an argument or as a result, has an owner here, so its address stays its own. To
//! forget all is to release the table.

use crate::heap::{Heap, take, take_back, vlad_release};
use crate::layout::{
    COUNT_OFFSET, IMMEDIATES, MANY_POINTERS, MAX_WORDS, VECTOR_HEADER_WORDS, class_of, header, header_words,
};
use core::ptr;

/// What is asked, or to be remembered. The words follow: pointers among the arguments, other arguments, pointers among
/// the results, other results.
#[repr(C)]
pub struct Question {
    /// The number of the function; then whether its results are known.
    function: u64,
    /// How many words of each kind there are.
    counts: [usize; 4],
}

/// The chains of a new table.
const FEW: usize = 16;
/// How many words of a table stand before its chains.
const BEFORE: usize = VECTOR_HEADER_WORDS;

impl Question {
    /// The words of a kind.
    ///
    /// # Safety
    ///
    /// The words follow the question, and nobody else refers to them.
    unsafe fn words<'q>(question: *mut Question, kind: usize) -> &'q mut [u64] {
        // SAFETY: the caller's obligation.
        unsafe {
            let counts = (*question).counts;
            let before: usize = counts[..kind].iter().sum();
            core::slice::from_raw_parts_mut(question.add(1).cast::<u64>().add(before), counts[kind])
        }
    }

    unsafe fn hash(question: *mut Question) -> u64 {
        // SAFETY: the caller's obligation.
        let (pointers, others) = unsafe { (Question::words(question, 0), Question::words(question, 1)) };
        // SAFETY: the caller's obligation.
        let mut hash = unsafe { (*question).function };
        for word in pointers.iter().chain(others.iter()) {
            hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        hash ^ hash >> 32
    }
}

/// An entry: the next one, pointers among arguments and results; the hash, the function, other arguments and results.
struct Entry {
    next: *mut u64,
    hash: *mut u64,
    function: *mut u64,
    parts: [*mut u64; 4],
}

impl Entry {
    /// Where the parts of an entry are.
    ///
    /// # Safety
    ///
    /// `entry` is a box with room for what such a question asks.
    unsafe fn at(entry: *mut u64, [keys, other_keys, results, _]: [usize; 4]) -> Entry {
        // SAFETY: the caller's obligation.
        unsafe {
            let next = entry.add(header_words(1 + keys + results));
            let hash = next.add(1 + keys + results);
            let others = hash.add(2);
            let parts = [next.add(1), others, next.add(1 + keys), others.add(other_keys)];
            Entry { next, hash, function: hash.add(1), parts }
        }
    }
}

/// Whether the results of a call are remembered, and the results, which get an owner. Otherwise they are zero.
///
/// # Safety
///
/// `question` is one, with its words, of a compiled program with that heap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_recall(question: *mut Question, heap: *mut Heap) {
    // SAFETY: chains hold entries, and each question has its own number of words, which goes with the function.
    unsafe {
        let Question { function, counts } = *question;
        let hash = Question::hash(question);
        let mut entry = chain(hash, heap).map_or(ptr::null_mut(), |chain| *chain as *mut u64);
        while !entry.is_null() {
            let Entry { next, function: of, parts, .. } = Entry::at(entry, counts);
            let is_same = |kind: usize| {
                (0..).zip(&*Question::words(question, kind)).all(|(at, word)| *parts[kind].add(at) == *word)
            };
            if *of == function && is_same(0) && is_same(1) {
                for kind in [2, 3] {
                    for (at, word) in Question::words(question, kind).iter_mut().enumerate() {
                        *word = *parts[kind].add(at);
                        if kind == 2 {
                            own(*word);
                        }
                    }
                }
                (*question).function = 1;
                return;
            }
            entry = *next as *mut u64;
        }
        for kind in [2, 3] {
            Question::words(question, kind).fill(0);
        }
        (*question).function = 0;
    }
}

/// Remembers the results of a call.
///
/// # Safety
///
/// As for [`vlad_recall`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_remember(question: *mut Question, heap: *mut Heap) {
    // SAFETY: the new box has room for what is written; a table has been made before its chains are looked at.
    unsafe {
        let Question { function, counts } = *question;
        grow(heap);
        let pointers = 1 + counts[0] + counts[2];
        let words = header_words(pointers) + pointers + 2 + counts[1] + counts[3];
        let class = class_of(words);
        let entry = take(heap, class);
        *entry = header(pointers, class, 0);
        if pointers >= MANY_POINTERS {
            *entry.add(1) = pointers as u64;
        }
        let Entry { next, hash, function: of, parts } = Entry::at(entry, counts);
        (*hash, *of) = (Question::hash(question), function);
        for (kind, part) in parts.into_iter().enumerate() {
            for (at, word) in Question::words(question, kind).iter().enumerate() {
                *part.add(at) = *word;
                if kind == 0 || kind == 2 {
                    own(*word);
                }
            }
        }
        if let Some(chain) = chain(*hash, heap) {
            (*next, *chain) = (*chain, entry as u64);
        }
        (*heap).remembered_count += 1;
    }
}

/// Forgets all that is remembered.
///
/// # Safety
///
/// `heap` is that of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_forget(_: u64, heap: *mut Heap) {
    // SAFETY: the table has one owner, the heap.
    unsafe {
        let table = core::mem::replace(&mut (*heap).remembered, ptr::null_mut());
        (*heap).remembered_count = 0;
        vlad_release(table, heap);
    }
}

/// One more owner of a value.
unsafe fn own(value: u64) {
    if value >= IMMEDIATES {
        // SAFETY: what is no immediate is a box, which has a header.
        unsafe { *(value as *mut u64).byte_add(COUNT_OFFSET as usize).cast::<u32>() += 1 };
    }
}

/// The chain for a hash, if there is a table.
unsafe fn chain(hash: u64, heap: *mut Heap) -> Option<*mut u64> {
    // SAFETY: the table has so many chains as the word behind its header says, a power of two.
    unsafe {
        let table = (*heap).remembered;
        if table.is_null() {
            return None;
        }
        Some(table.add(BEFORE + (hash & (*table.add(1) - 1)) as usize))
    }
}

/// Makes sure that there is a table, with as many chains as entries if there can be so many.
unsafe fn grow(heap: *mut Heap) {
    // SAFETY: boxes have room for what is written. The old table is no box of the program, and holds nothing at the
    // end; the first pointer of an entry is the next one, and behind its pointers stands its hash.
    unsafe {
        let old = (*heap).remembered;
        let count = if old.is_null() { 0 } else { *old.add(1) as usize };
        let wanted = if count == 0 { FEW } else { 2 * count };
        if (*heap).remembered_count < count as u64 || BEFORE + wanted > MAX_WORDS {
            return;
        }
        let class = class_of(BEFORE + wanted);
        let new = take(heap, class);
        *new = header(MANY_POINTERS, class, 0);
        *new.add(1) = wanted as u64;
        ptr::write_bytes(new.add(BEFORE), 0, wanted);
        (*heap).remembered = new;
        for index in 0..count {
            let mut entry = *old.add(BEFORE + index) as *mut u64;
            while !entry.is_null() {
                let few = (*entry & 0xff) as usize;
                let pointers = if few == MANY_POINTERS { *entry.add(1) as usize } else { few };
                let next = entry.add(header_words(pointers));
                if let Some(chain) = chain(*next.add(pointers), heap) {
                    let rest = core::mem::replace(&mut *next, *chain);
                    *chain = entry as u64;
                    entry = rest as *mut u64;
                }
            }
        }
        if !old.is_null() {
            take_back(heap, old, class_of(BEFORE + count));
        }
    }
}
