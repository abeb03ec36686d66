//! The shape of boxes in memory. The code generator includes this file, so that there is one definition.
//!
//! ```text
//! offset 0   1 byte    number of pointer fields, or 255: the next word holds it
//!        1   1 byte    size class
//!        2   2 bytes   tag
//!        4   4 bytes   reference count
//!        8   words     (number of pointer fields, if the first byte is 255), pointer fields, other fields
//! ```
//!
//! The elements of a vector are a box, too. If they have pointer fields, the first byte is 255; the pointer fields of
//! all elements stand before the other fields of all elements. If they have none, the second word is the address of the
//! first element: behind it, or anywhere if the box is a *view*:
//!
//! ```text
//! offset 0            header, of the class [`VIEW`]; the tag is 0, or [`SHARED`] if others may see the elements, too
//!        8            the address of the first element
//!        16           the box that the elements lie in, which has one more owner for that, or 0 if a caller owns them
//! ```
//!
//! The elements of several vectors of one length may lie in one box, the *rows*, one vector behind another. Each of
//! them is a view then.
//!
//! A pointer below [`IMMEDIATES`] is no address but the tag of an alternative without fields.
//!
//! The header of a dead box that waits for its fields to be released keeps its first two bytes; the rest holds the
//! address of the next such box. The first word of a free box is the address of the next free box of its size.

/// Pointers below this number are tags of alternatives without fields. No system maps the page at address 0.
pub const IMMEDIATES: u64 = 4096;

/// Offset of the reference count.
pub const COUNT_OFFSET: i32 = 4;

/// Offset of the tag.
pub const TAG_OFFSET: i32 = 2;

/// Bytes per word.
pub const WORD: usize = 8;

/// The number in the first header byte which says that the real number is in the next word.
pub const MANY_POINTERS: usize = 255;

/// Tags are below this number.
pub const MAX_TAGS: usize = 1 << 16;

/// Number of size classes.
pub const CLASSES: usize = 128;

/// The class of views, which are as large as boxes of [`VIEW_WORDS`]. No box has the size of this class.
pub const VIEW: usize = CLASSES - 1;

/// Words of a view.
pub const VIEW_WORDS: usize = 3;

/// The tag of a view of elements that others may see, too, so that nobody changes them in place.
pub const SHARED: u32 = 1;

/// The tag of a box that vectors are joined in, which is seen by views only.
pub const JOINED: u32 = 2;

/// Where in the box of a vector without pointer fields the address of its first element stands,
pub const ELEMENTS_OFFSET: i32 = 8;

/// and where in a view the box that they lie in.
pub const BASE_OFFSET: i32 = 16;

/// Classes up to this one are as many words as their number says.
pub const EXACT: usize = 32;

/// The smallest class that holds this many words (header included).
pub const fn class_of(words: usize) -> usize {
    if words <= EXACT {
        return if words < 2 { 2 } else { words };
    }
    let last = words - 1;
    let doublings = (last / EXACT).ilog2() as usize;
    let quarters = (last >> doublings) / (EXACT / 4) % 4;
    EXACT + 4 * doublings + quarters + 1
}

/// Number of words in a box of this class: above [`EXACT`], four steps for each doubling.
pub const fn class_words(class: usize) -> usize {
    if class <= EXACT {
        return class;
    }
    let step = class - EXACT;
    let (doublings, quarters) = (step / 4, step % 4);
    (EXACT << doublings) + (EXACT << doublings) / 4 * quarters
}

/// Boxes of the smaller classes lie in pages of this many bytes, each of which begins at a multiple of it and holds
/// boxes of one class.
pub const PAGE: usize = 4096;

/// Where in a page the address of its first free box stands.
pub const PAGE_FREE_OFFSET: i32 = 0;

/// Whether boxes of the class lie in pages; larger ones lie anywhere.
pub const fn is_in_page(class: usize) -> bool {
    class_words(class) <= PAGE / WORD / 8
}

/// Bytes of a heap. It begins with the first box to hand out of each size class.
pub const HEAP_BYTES: usize = (3 * CLASSES + 11) * WORD;

/// Where in the heap the number of bytes stands that it has taken,
pub const HEAP_TAKEN: i32 = (HEAP_BYTES - 9 * WORD) as i32;

/// and where the number of bytes that the tape of a loop may take.
pub const HEAP_TAPE_MEMORY: i32 = (HEAP_BYTES - 8 * WORD) as i32;

/// Where in the heap the message stands with which it is exhausted, if it is.
pub const HEAP_COMPLAINT: i32 = (HEAP_BYTES - 3 * WORD) as i32;

/// Where in the heap the address of the table of remembered results stands, which is 0 when there are none.
pub const HEAP_REMEMBERED: i32 = (HEAP_BYTES - 2 * WORD) as i32;

/// What compiled code finds in a context of a library, behind the heap: the lowest address that the stack may reach,
pub const CONTEXT_STACK_LIMIT: i32 = HEAP_BYTES as i32;

/// the next word of the call,
pub const CONTEXT_WORDS: i32 = CONTEXT_STACK_LIMIT + WORD as i32;

/// and the next element of the argument at hand.
pub const CONTEXT_ELEMENTS: i32 = CONTEXT_WORDS + WORD as i32;

/// Bytes of a context. The cells of the globals and then the constant boxes of the program follow.
pub const CONTEXT_BYTES: usize = 8192;

/// A result replaces what is there.
pub const OVERWRITE: u64 = 0;

/// A result is added to what is there.
pub const ACCUMULATE: u64 = 1;

/// Nobody wants the result.
pub const DISCARD: u64 = 2;

/// Callers pass this as the mode of a gradient with respect to a record that has other sizes than the argument.
pub const OTHER_SIZES: u64 = 3;

/// A result is a truth value: 0 or 1, in one byte. Callers cannot pass that.
pub const TRUTH: u64 = 1 << 32;

/// The first word of a call that computes the values of all globals,
pub const INITIALISE: f64 = 0.0;

/// and of one that calls an exported function, whose number comes next.
pub const CALL: f64 = 1.0;

/// Words that the largest class holds.
pub const MAX_WORDS: usize = class_words(VIEW - 1);

/// Where in a box of rows stands how many elements it has room for; the first of them follows.
pub const ROWS_ROOM: i32 = 16;
pub const ROWS_FIRST: usize = ROWS_ROOM as usize + WORD;

/// Bytes of a line of the cache.
pub const LINE: usize = 64;

/// The header of a new box, owned once.
pub const fn header(pointers: usize, class: usize, tag: u32) -> u64 {
    let pointers = if pointers < MANY_POINTERS { pointers } else { MANY_POINTERS };
    pointers as u64 | (class as u64) << 8 | (tag as u64) << 16 | 1 << 32
}

/// Number of words before the fields of a box with this many pointer fields.
pub const fn header_words(pointers: usize) -> usize {
    if pointers < MANY_POINTERS { 1 } else { 2 }
}

/// Number of words before the fields of the elements of a vector: the header, and how many pointer fields there are or,
/// if there are none, the address of the first element.
pub const VECTOR_HEADER_WORDS: usize = 2;

/// Number of words in the box of a vector of this length whose elements have these numbers of fields; `None` if there
/// is no such box.
pub const fn vector_words(length: u64, pointers: usize, others: usize) -> Option<usize> {
    let width = (pointers + others) as u64;
    if width > 0 && length > (MAX_WORDS - VECTOR_HEADER_WORDS) as u64 / width {
        return None;
    }
    Some(VECTOR_HEADER_WORDS + (length * width) as usize)
}

/// The table of calls by the program, for messages. It begins with words of four bytes: the number of calls and, for
/// each, in the order of the code, where its caller goes on, relative to [`PROFILE_ORIGIN`], and its place. Texts follow,
/// with a zero byte behind each, and places.
///
/// A place is given by where it begins behind the calls, from 1 on; 0 is none. It consists of numbers of seven bits in a
/// byte, the lowest ones first, with a mark on each byte but the last: where the name of the function around it begins
/// behind the calls; where that of the file does; the line; two times the column, and one more in a derivative; and the
/// place of the call that has been inlined around it.
pub const CALLERS: &str = "vlad_callers";
/// Marks the place of a call by a function of the library, which is where the program has called that.
pub const CALL_BY_LIBRARY: u32 = 1 << 31;

/// What the run time is told of a place that fails is the place of the call that has been inlined around it or, with this
/// mark, its own;
pub const FAILURE_ITSELF: u64 = 1 << 32;
/// whether the message has no notes yet;
pub const FAILURE_FIRST_NOTE: u64 = 1 << 33;
/// and, from this bit on, how many spaces notes begin with, or 0 if nothing is to be said.
pub const FAILURE_INDENT: u32 = 48;

/// The length of the file that samples are written to, most of which takes no room.
pub const PROFILE_BYTES: usize = 1 << 30;
/// The word there with the number of words that have been written behind [`PROFILE_FIRST`].
pub const PROFILE_USED: usize = 0;
/// The word with the address of [`PROFILE_ORIGIN`] in the process.
pub const PROFILE_BASE: usize = 1;
/// The word with the number of samples that there was no room for.
pub const PROFILE_LOST: usize = 2;
/// The first word of samples. Each has a word that holds, from its highest bits on, the processor time in nanoseconds
/// (32 bits), the number of words and the number of functions (16 bits each); the address of the instruction; words
/// that may be where the caller of a function without a frame goes on; and where the functions around go on, from the
/// innermost one on.
pub const PROFILE_FIRST: usize = 3;
/// The function that addresses are relative to.
pub const PROFILE_ORIGIN: &str = "vlad_main";
/// The variable of the environment that names the file, with a zero byte behind it.
pub const PROFILE_FILE: &str = "VLAD_PROFILE\0";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_grow_and_hold_what_they_are_chosen_for() {
        for class in 3..CLASSES {
            assert!(class_words(class) > class_words(class - 1), "{class}");
        }
        for words in (2..5000).chain([1 << 20, (1 << 20) + 1, MAX_WORDS - 1, MAX_WORDS]) {
            let class = class_of(words);
            assert!(class_words(class) >= words);
            assert!(class == 2 || class_words(class - 1) < words, "{words}");
        }
    }

    #[test]
    fn headers_have_their_parts_in_place() {
        let bytes = header(3, 7, 0x1234).to_le_bytes();
        assert_eq!(bytes, [3, 7, 0x34, 0x12, 1, 0, 0, 0]);
        assert_eq!(header(1000, 2, 0).to_le_bytes()[0], 255);
        assert_eq!(class_of(MAX_WORDS), VIEW - 1);
    }

    #[test]
    fn boxes_of_vectors_begin_with_two_words() {
        assert_eq!(vector_words(5, 0, 1), Some(7));
        assert_eq!(vector_words(5, 2, 3), Some(27));
        assert_eq!(vector_words(0, 1, 0), Some(2));
        assert_eq!(vector_words(1 << 62, 3, 1), None);
        assert_eq!(vector_words(u64::MAX, 1, 0), None);
        assert_eq!(vector_words(MAX_WORDS as u64, 0, 1), None);
    }
}
