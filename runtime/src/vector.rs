//! Vectors: new ones, and copies of those that more than one owner has.
//!
//! Compiled code reads elements, and changes a vector of its own, without help. See [`crate::layout`] for what the box
//! of a vector looks like.

use crate::heap::{Heap, take, vlad_release};
use crate::layout::{
    BASE_OFFSET, COUNT_OFFSET, ELEMENTS_OFFSET, IMMEDIATES, JOINED, LINE, MANY_POINTERS, MAX_WORDS, ROWS_FIRST,
    ROWS_ROOM, SHARED, TAG_OFFSET, VECTOR_HEADER_WORDS, VIEW, VIEW_WORDS, WORD, class_of, header, is_in_page,
    vector_words,
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
            *new.byte_add(ELEMENTS_OFFSET as usize) = new.add(VECTOR_HEADER_WORDS) as u64;
        } else {
            let pointers = length as usize * pointers;
            *new = header(MANY_POINTERS, class, 0);
            *new.add(1) = pointers as u64;
            ptr::write_bytes(new.add(VECTOR_HEADER_WORDS), 0, pointers);
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
        let room = count.checked_mul(length).and_then(|length| length.checked_mul(fields as u64));
        // Large boxes begin so that the third word begins a line of the cache. The elements begin the next one.
        let far = VECTOR_HEADER_WORDS + LINE / WORD;
        let room = room.filter(|room| *room <= (MAX_WORDS - far) as u64).unwrap_or(0) as usize;
        let near = ROWS_FIRST / WORD;
        let first = if is_in_page(class_of(near + room)) { near } else { far };
        let class = class_of(first + room);
        let new = take(heap, class);
        *new = header(0, class, 0);
        *new.byte_add(ELEMENTS_OFFSET as usize) = new.add(first) as u64;
        *new.byte_add(ROWS_ROOM as usize) = room as u64;
        (*wanted).count = new as u64;
    }
}

/// What [`vlad_copy_vector`] is given, and gives.
#[repr(C)]
pub struct Request {
    /// The vector, which has more than one owner or shares its elements; then its copy, which has one and does not.
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
    // SAFETY: the header of a box says which class it has and how many pointer fields follow; where there are none, the
    // elements stand where the second word says.
    unsafe {
        let Request { vector: old, words } = *request;
        let (pointers, class) = (*old & 0xff, (*old >> 8 & 0xff) as usize);
        let class = if class == VIEW { class_of(words) } else { class };
        let new = take(heap, class);
        *new = header(pointers as usize, class, 0);
        let own = new.add(VECTOR_HEADER_WORDS);
        let (start, from) = if pointers == 0 {
            (own as u64, *old.byte_add(ELEMENTS_OFFSET as usize) as *const u64)
        } else {
            (*old.add(1), old.add(VECTOR_HEADER_WORDS).cast_const())
        };
        *new.add(1) = start;
        ptr::copy_nonoverlapping(from, own, words - VECTOR_HEADER_WORDS);
        vlad_release(old, heap);
        if pointers == MANY_POINTERS as u64 {
            for index in 0..*new.add(1) as usize {
                let shared = *own.add(index);
                if shared >= IMMEDIATES {
                    *(shared as *mut u64).byte_add(COUNT_OFFSET as usize).cast::<u32>() += 1;
                }
            }
        }
        (*request).vector = new;
    }
}

/// What [`vlad_joined`] is given, and gives.
#[repr(C)]
pub struct Joined {
    /// The first vector; then the result.
    first: *mut u64,
    first_length: usize,
    second: *mut u64,
    second_length: usize,
    /// For so many numbers there should be room.
    room: f64,
}

/// The words of a box that vectors are joined in: the header, where the elements begin, how many there is room for,
/// and how many there are.
const JOINED_FIRST: usize = 4;

/// The numbers of two vectors, one behind the other. Nothing is copied if they stand so in memory. Otherwise the
/// first ones are copied to a box with room, unless they are there already, and the second ones behind them.
///
/// # Safety
///
/// `request` names two vectors of numbers of a compiled program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_joined(request: *mut Joined, heap: *mut Heap) {
    // SAFETY: the second word of vectors of numbers is the address of the first one; views have a base. What is
    // behind the numbers that a box says to have is nobody's.
    unsafe {
        let Joined { first, first_length, second, second_length, room } = *request;
        let [from, next] = [first, second].map(|vector| *vector.byte_add(ELEMENTS_OFFSET as usize) as *mut f64);
        if second_length == 0 || first_length == 0 {
            let (vector, start) = if second_length == 0 { (first, from) } else { (second, next) };
            (*request).first = view(heap, start, shared(vector));
            return;
        }
        let base = shared(first);
        if base == shared(second) && from.wrapping_add(first_length) == next {
            (*request).first = view(heap, from, base);
            return;
        }
        let length = first_length + second_length;
        if !base.is_null() && tag(base) == JOINED && *base.byte_add(ELEMENTS_OFFSET as usize) == from as u64 {
            let (room, there) = (*base.add(2) as usize, base.add(3));
            if *there == first_length as u64 && length <= room {
                ptr::copy_nonoverlapping(next, from.add(first_length), second_length);
                *there = length as u64;
                (*request).first = view(heap, from, base);
                return;
            }
        }
        let room = length.max(room as usize);
        if room > MAX_WORDS - JOINED_FIRST {
            (*heap).exhausted();
        }
        let class = class_of(JOINED_FIRST + room);
        let new = take(heap, class);
        *new = header(0, class, JOINED);
        *new.byte_add(ELEMENTS_OFFSET as usize) = new.add(JOINED_FIRST) as u64;
        *new.add(2) = room as u64;
        *new.add(3) = length as u64;
        let numbers = new.add(JOINED_FIRST).cast::<f64>();
        ptr::copy_nonoverlapping(from, numbers, first_length);
        ptr::copy_nonoverlapping(next, numbers.add(first_length), second_length);
        (*request).first = view(heap, numbers, new);
        // The view is its only owner.
        *new.byte_add(COUNT_OFFSET as usize).cast::<u32>() -= 1;
    }
}

/// The tag of a box.
unsafe fn tag(of: *const u64) -> u32 {
    // SAFETY: the caller has a box.
    unsafe { u32::from(*of.byte_add(TAG_OFFSET as usize).cast::<u16>()) }
}

/// The box that the elements of a vector lie in, or null if they are a caller's. From now on others see them, too.
unsafe fn shared(vector: *mut u64) -> *mut u64 {
    // SAFETY: the caller has a vector without pointers.
    unsafe {
        if (*vector >> 8 & 0xff) as usize != VIEW {
            return vector;
        }
        *vector.byte_add(TAG_OFFSET as usize).cast::<u16>() = SHARED as u16;
        *vector.byte_add(BASE_OFFSET as usize) as *mut u64
    }
}

/// A view of what others see, too, in a box, which has another owner then, or in a caller's memory.
unsafe fn view(heap: *mut Heap, start: *mut f64, base: *mut u64) -> *mut u64 {
    // SAFETY: the new box has room for what is written.
    unsafe {
        let view = take(heap, class_of(VIEW_WORDS));
        *view = header(0, VIEW, SHARED);
        *view.byte_add(ELEMENTS_OFFSET as usize) = start as u64;
        *view.byte_add(BASE_OFFSET as usize) = base as u64;
        if !base.is_null() {
            *base.byte_add(COUNT_OFFSET as usize).cast::<u32>() += 1;
        }
        view
    }
}
