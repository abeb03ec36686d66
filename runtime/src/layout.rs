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
//! all elements stand before the other fields of all elements.
//!
//! Vectors of one length may lie in one box, the *rows* (see [`rows`]), one behind another, each with its header. They
//! belong to the class [`ROW`], own no memory, and have no pointer fields; the other three bytes of the first four say
//! how far behind the beginning of the box they stand (see [`row_offset`]).
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

/// The class of a vector that lies in a box of rows. No box has this size.
pub const ROW: usize = CLASSES - 1;

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
pub const HEAP_BYTES: usize = (3 * CLASSES + 10) * WORD;

/// Where in the heap the message stands with which it is exhausted, if it is.
pub const HEAP_COMPLAINT: i32 = (HEAP_BYTES - 3 * WORD) as i32;

/// Where in the heap the address of the table of remembered results stands, which is 0 when there are none.
pub const HEAP_REMEMBERED: i32 = (HEAP_BYTES - 2 * WORD) as i32;

/// What compiled code finds in a context of a library, behind the heap: the lowest address that the stack may reach,
pub const CONTEXT_STACK_LIMIT: i32 = HEAP_BYTES as i32;

/// the next word of the call,
pub const CONTEXT_WORDS: i32 = CONTEXT_STACK_LIMIT + WORD as i32;

/// the next element of the argument at hand,
pub const CONTEXT_ELEMENTS: i32 = CONTEXT_WORDS + WORD as i32;

/// where the next element of the result at hand goes,
pub const CONTEXT_RESULTS: i32 = CONTEXT_ELEMENTS + WORD as i32;

/// and what becomes of it: [`OVERWRITE`], [`ACCUMULATE`] or [`DISCARD`].
pub const CONTEXT_MODE: i32 = CONTEXT_RESULTS + WORD as i32;

/// Bytes of a context. The cells of the globals and then the constant boxes of the program follow.
pub const CONTEXT_BYTES: usize = 8192;

/// A result replaces what is there.
pub const OVERWRITE: u64 = 0;

/// A result is added to what is there.
pub const ACCUMULATE: u64 = 1;

/// Nobody wants the result.
pub const DISCARD: u64 = 2;

/// The first word of a call that computes the values of all globals,
pub const INITIALISE: f64 = 0.0;

/// and of one that calls an exported function, whose number comes next.
pub const CALL: f64 = 1.0;

/// Words that the largest class holds.
pub const MAX_WORDS: usize = class_words(ROW - 1);

/// Where in a box of rows their number stands; the bytes from one to the next; and the address of the first one.
pub const ROWS_COUNT: i32 = 8;
pub const ROWS_DISTANCE: i32 = 16;
pub const ROWS_FIRST: i32 = 24;

/// Where the first of short rows stands.
pub const SHORT_ROWS_FIRST: usize = ROWS_FIRST as usize + WORD;

/// The words from the beginning of a box of rows to any row are fewer.
pub const MOST_ROW_WORDS: usize = 1 << 24;

/// The bytes from the beginning of its box to a row, given the first half of the header of the row: bytes 0, 2 and 3,
/// in words.
pub const fn row_offset(half: u32) -> usize {
    (half & 0xff | half >> 8 & 0xff_ff00) as usize * WORD
}

/// Bytes of a line of the cache.
pub const LINE: usize = 64;

/// Rows that are longer than a page are not closer than so many lines to a whole number of pages apart. Processors that
/// compare the ends of addresses only, as most do at first, take what is written for what is read next where one
/// follows the other closely in its page; this should not happen for many rows of a matrix at once. An odd number.
const FAR: usize = 7;

/// Where the first row stands in its box, and the bytes from one to the next, given the words of each, with its header.
/// Longer rows begin behind their headers at a line of the cache, as other large boxes do, and an odd number of lines
/// apart, so that a walk down a column does not need the same few places of the cache again and again.
pub const fn rows(words: usize) -> (usize, usize) {
    let bytes = words * WORD;
    if is_in_page(class_of(words)) {
        return (SHORT_ROWS_FIRST, bytes);
    }
    let lines = bytes.div_ceil(LINE) | 1;
    let of_page = lines % (PAGE / LINE);
    let more = if of_page < FAR {
        FAR - of_page
    } else if of_page > PAGE / LINE - FAR {
        PAGE / LINE + FAR - of_page
    } else {
        0
    };
    (LINE, (lines + more) * LINE)
}

/// The header of a new box, owned once.
pub const fn header(pointers: usize, class: usize, tag: u32) -> u64 {
    let pointers = if pointers < MANY_POINTERS { pointers } else { MANY_POINTERS };
    pointers as u64 | (class as u64) << 8 | (tag as u64) << 16 | 1 << 32
}

/// Number of words before the fields of a box with this many pointer fields.
pub const fn header_words(pointers: usize) -> usize {
    if pointers < MANY_POINTERS { 1 } else { 2 }
}

/// Number of words before the fields of the elements of a vector that have this many pointer fields each.
pub const fn vector_header_words(pointers: usize) -> usize {
    if pointers == 0 { 1 } else { 2 }
}

/// Number of words in the box of a vector of this length whose elements have these numbers of fields; `None` if there
/// is no such box.
pub const fn vector_words(length: u64, pointers: usize, others: usize) -> Option<usize> {
    let header = vector_header_words(pointers);
    let width = (pointers + others) as u64;
    if width > 0 && length > (MAX_WORDS - header) as u64 / width {
        return None;
    }
    Some(header + (length * width) as usize)
}

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
    fn rows_lie_one_behind_another_at_a_distance_that_suits_the_cache() {
        for words in [1, 2, 4, 20, 60, 64, 65, 100, 200, 511, 512, 513, 1024, 100_000] {
            let (first, distance) = rows(words);
            // Behind the header and the fields of the box.
            assert!(first >= 4 * WORD, "{words}");
            assert!(distance >= words * WORD && distance < words * WORD + 2 * FAR * LINE + 2 * LINE, "{words}");
            assert!(words <= 64 || (first % LINE, distance % (2 * LINE)) == (0, LINE), "{words}");
        }
        assert_eq!(class_of(MAX_WORDS), ROW - 1);
        assert_eq!(row_offset(0x1234_7f56), 0x12_3456 * WORD);
    }

    #[test]
    fn headers_have_their_parts_in_place() {
        let bytes = header(3, 7, 0x1234).to_le_bytes();
        assert_eq!(bytes, [3, 7, 0x34, 0x12, 1, 0, 0, 0]);
        assert_eq!(header(1000, 2, 0).to_le_bytes()[0], 255);
    }

    #[test]
    fn boxes_of_vectors_have_the_pointers_of_all_elements_first() {
        assert_eq!(vector_words(5, 0, 1), Some(6));
        assert_eq!(vector_words(5, 2, 3), Some(27));
        assert_eq!(vector_words(0, 1, 0), Some(2));
        assert_eq!(vector_words(1 << 62, 3, 1), None);
        assert_eq!(vector_words(u64::MAX, 1, 0), None);
        assert_eq!(vector_words(MAX_WORDS as u64, 0, 1), None);
    }
}
