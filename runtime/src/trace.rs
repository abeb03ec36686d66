//! The calls that led to an error of an executable: the stack → lines behind the message.
//!
//! Frame pointers lead from one function of the program to the next, and a table that the compiler has made
//! ([`layout::CALLERS`]) says where the calls stand whose results these wait for. Functions of the run time have no
//! frame pointers, so the walk begins with that of the innermost function of the program.

use crate::callers::{Call, Chain, Line};
use crate::layout::{CALL_BY_LIBRARY, FAILURE_FIRST_NOTE, FAILURE_INDENT, FAILURE_ITSELF};
use crate::{output, stack, start};
use core::ffi::CStr;
use core::fmt::Write;

/// The table.
#[derive(Clone, Copy)]
struct Table(*const u32);

/// What is said of a place: where the name of the function begins, where that of the file does, the line, and the column
/// with a mark.
type Said = [u32; 4];

impl Table {
    /// That of the program.
    fn own() -> Table {
        #[cfg(all(vlad_archive, not(test)))]
        unsafe extern "C" {
            #[link_name = "vlad_callers"]
            static TABLE: [u32; 1];
        }
        #[cfg(not(all(vlad_archive, not(test))))]
        static TABLE: [u32; 1] = [0];
        Table(&raw const TABLE as *const u32)
    }

    fn word(self, number: usize) -> u32 {
        // SAFETY: callers ask for words that the table has.
        unsafe { *self.0.add(number) }
    }

    /// What is behind the calls.
    fn rest(self, offset: u32) -> *const u8 {
        // SAFETY: callers ask for what the table has.
        unsafe { self.0.add(1 + 2 * self.word(0) as usize).cast::<u8>().add(offset as usize) }
    }

    /// The place of the call behind which a function goes on; 0 if it is not known.
    fn place_of(self, address: u64) -> u32 {
        let offset = address.wrapping_sub(start::program_address() as u64) as i64;
        let (mut first, mut end) = (0, self.word(0) as usize);
        while first < end {
            let middle = first.midpoint(end);
            if i64::from(self.word(1 + 2 * middle) as i32) < offset {
                first = middle + 1;
            } else {
                end = middle;
            }
        }
        let is_known = first < self.word(0) as usize && i64::from(self.word(1 + 2 * first) as i32) == offset;
        if is_known { self.word(2 + 2 * first) } else { 0 }
    }

    /// What is said of a place, and the place around it, if there is one.
    fn place(self, place: u32) -> Option<(Said, u32)> {
        let mut next = self.rest((place & !CALL_BY_LIBRARY).checked_sub(1)?);
        let [said @ .., around] = [(); 5].map(|()| {
            let (mut number, mut shift) = (0, 0);
            loop {
                // SAFETY: a place consists of so many numbers, and each ends with a byte without a mark.
                let byte = unsafe { *next };
                next = next.wrapping_add(1);
                number |= u32::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return number;
                }
            }
        });
        Some((said, around))
    }

    fn text(self, offset: u32) -> &'static str {
        // SAFETY: names are UTF-8, and each ends with a zero byte.
        unsafe { core::str::from_utf8_unchecked(CStr::from_ptr(self.rest(offset).cast()).to_bytes()) }
    }

    /// Adds a call, and those that it has been inlined in.
    fn add(self, chain: &mut Chain<Said>, mut place: u32, again: bool) {
        let mut again = again && place & CALL_BY_LIBRARY == 0;
        while let Some((said, around)) = self.place(place) {
            chain.add(said, again);
            (place, again) = (around, false);
        }
    }
}

/// Writes which calls led to a place that fails, or to a function without one, with that frame: as notes that begin with
/// so many spaces, or, for 0, at the beginning of the line.
#[cold]
#[inline(never)]
fn write(place: Option<u64>, mut frame: usize, indent: usize) {
    let table = Table::own();
    let is_itself = place.is_some_and(|place| place & FAILURE_ITSELF != 0);
    let mut is_first = place.is_some_and(|place| place & FAILURE_FIRST_NOTE != 0);
    let inner = place.unwrap_or_default() as u32;
    let mut chain = Chain::new(table.place(inner).map(|(said, _)| said).filter(|_| is_itself));
    table.add(&mut chain, inner, false);
    let (mut lowest, mut before, mut caller) = (0, 0, 0);
    while frame >= lowest
        && frame.is_multiple_of(size_of::<usize>())
        && stack::holds(frame)
        && stack::holds(frame + 2 * size_of::<usize>() - 1)
    {
        lowest = frame + 1;
        // SAFETY: both words lie in the open part of the stack.
        let address = unsafe {
            let address = *(frame as *const u64).add(1);
            frame = *(frame as *const usize);
            address
        };
        let again = address == before;
        if !again {
            (before, caller) = (address, table.place_of(address));
        }
        table.add(&mut chain, caller, again);
    }
    chain.write(|line| {
        let line = match line {
            Line::More(count) => Line::More(count),
            Line::Call([function, file, line, column], times) => {
                let (function, file) = (table.text(function), table.text(file));
                let call = Call { function, is_derivative: column & 1 != 0, file, line, column: column >> 1 };
                Line::Call(call, times)
            }
        };
        if is_first {
            let _ = writeln!(output::Stderr, "{:indent$}|", "");
        }
        is_first = false;
        let _ = writeln!(output::Stderr, "{:indent$}{}note: {line}", "", if indent > 0 { "= " } else { "" });
    });
}

/// Writes what is to be said behind the message of an error: `place` says where that is and what notes begin with, see
/// [`FAILURE_INDENT`]; `frame` is that of the function in which it is.
pub fn write_callers(place: u64, frame: usize) {
    let indent = (place >> FAILURE_INDENT) as usize;
    if indent > 0 {
        write(Some(place), frame, indent);
    }
}

/// The same for a function with that frame, behind a message that is no more than a line.
pub fn write_callers_of(frame: usize) {
    write(None, frame, 0);
}
