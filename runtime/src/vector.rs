//! Vectors: new ones, and copies of those that more than one owner has.
//!
//! Compiled code reads elements, and changes a vector of its own, without help. See [`crate::layout`] for what the box
//! of a vector looks like.

use crate::heap::{Heap, take};
use crate::layout::{
    COUNT_OFFSET, IMMEDIATES, MANY_POINTERS, MAX_WORDS, MOST_ROW_WORDS, ROW, ROWS_COUNT, ROWS_DISTANCE, ROWS_FIRST,
    WORD, class_of, header, rows, vector_words,
};
use core::ptr;

/// What [`vlad_new_vector`] is given, and gives.
#[repr(C)]
pub struct Wanted {
    /// The length; then the vector.
    length: u64,
    /// The numbers of fields of each element.
    pointers: usize,
    others: usize,
}

/// The elements of a new vector. Its pointers are immediates; the other fields hold anything.
///
/// # Safety
///
/// `wanted` names what a compiled program wants.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_new_vector(wanted: *mut Wanted, heap: *mut Heap) {
    // SAFETY: the caller's obligation; the box has room for so many words, and nothing else refers to it.
    unsafe {
        let Wanted { length, pointers, others } = *wanted;
        let Some(words) = vector_words(length, pointers, others) else { (*heap).exhausted() };
        let class = class_of(words);
        let new = take(heap, class);
        if pointers == 0 {
            *new = header(0, class, 0);
        } else {
            let pointers = length as usize * pointers;
            *new = header(MANY_POINTERS, class, 0);
            *new.add(1) = pointers as u64;
            ptr::write_bytes(new.add(2), 0, pointers);
        }
        (*wanted).length = new as u64;
    }
}

/// What [`vlad_new_rows`] is given, and gives.
#[repr(C)]
pub struct WantedRows {
    /// The number of rows; then the box.
    count: u64,
    /// The length of each.
    length: u64,
    /// The number of fields of each element, none of which are pointers.
    fields: usize,
}

/// A box of rows, none of which has been taken. What would be too large for a box has no rows.
///
/// # Safety
///
/// `wanted` names what a compiled program wants.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_new_rows(wanted: *mut WantedRows, heap: *mut Heap) {
    // SAFETY: the caller's obligation; the box has room for what is written, and nothing else refers to it.
    unsafe {
        let WantedRows { count, length, fields } = *wanted;
        let row = vector_words(length, 0, fields);
        let (first, distance) = rows(row.unwrap_or(0));
        let bytes = row.and_then(|_| (count as usize).checked_mul(distance));
        let words =
            bytes.map(|bytes| (first + bytes).div_ceil(WORD)).filter(|words| *words <= MAX_WORDS.min(MOST_ROW_WORDS));
        let class = class_of(words.unwrap_or(first / WORD));
        let new = take(heap, class);
        *new = header(0, class, 0);
        *new.byte_add(ROWS_COUNT as usize) = if words.is_some() { count } else { 0 };
        *new.byte_add(ROWS_DISTANCE as usize) = distance as u64;
        *new.byte_add(ROWS_FIRST as usize) = new.byte_add(first) as u64;
        (*wanted).count = new as u64;
    }
}

/// What [`vlad_copy_vector`] is given, and gives.
#[repr(C)]
pub struct Request {
    /// The vector, which has more than one owner; then its copy, which has one.
    vector: *mut u64,
    /// The words of the vector.
    words: usize,
}

/// Copies a vector, which loses an owner; what its elements refer to has one more.
///
/// # Safety
///
/// `request` names a vector of a compiled program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_copy_vector(request: *mut Request, heap: *mut Heap) {
    // SAFETY: the header of a box says which class it has and how many pointer fields follow. New boxes are no part of
    // others.
    unsafe {
        let Request { vector: old, words } = *request;
        let (pointers, class) = (*old & 0xff, (*old >> 8 & 0xff) as usize);
        let (pointers, class) = if class == ROW { (0, class_of(words)) } else { (pointers, class) };
        let new = take(heap, class);
        ptr::copy_nonoverlapping(old.add(1), new.add(1), words - 1);
        *new = header(pointers as usize, class, 0);
        *old.byte_add(COUNT_OFFSET as usize).cast::<u32>() -= 1;
        if pointers == MANY_POINTERS as u64 {
            for index in 0..*new.add(1) as usize {
                let shared = *new.add(2 + index);
                if shared >= IMMEDIATES {
                    *(shared as *mut u64).byte_add(COUNT_OFFSET as usize).cast::<u32>() += 1;
                }
            }
        }
        (*request).vector = new;
    }
}
