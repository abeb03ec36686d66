//! Source text → the same program, laid out as is usual.
//!
//! ```text
//! (define (f x)(if (> x 0)          (define (f x)
//!     (g x)       ; most of them      (if (> x 0)
//!   (h x)                    →            (g x)       ; most of them
//!  ))                                     (h x)))
//! ```
//!
//! The text becomes a tree that keeps comments and remembers where lines ended ([`tree`]); the tree is written out
//! ([`layout`]). Line breaks between the elements of a list are the author's, and are kept; what does not fit into
//! [`WIDTH`] columns gets more of them. Indentation, spaces and the places of closing brackets are decided here.
//!
//! What holds: the text reads to the same datums as before, no comment is lost, and formatting it again changes
//! nothing. The last follows from this: each decision depends on the line breaks that remain in the output, on widths
//! of what stands on one line, and on the column; none on breaks that are removed or on the columns of the source.
//!
//! Tests: `compiler/tests/format.rs`.

mod layout;

mod tree;

use crate::base::{Diagnostic, FileId};
use crate::syntax::{self, lexer};

/// Lines are broken so that they stay within this many characters where possible.
pub const WIDTH: usize = 100;

/// Formats the text of a file.
///
/// # Errors
///
/// When the text is wrong, with the messages of the reader.
pub fn format(file: FileId, text: &str) -> Result<String, Vec<Diagnostic>> {
    let (_, errors) = syntax::parse(file, text);
    if !errors.is_empty() {
        return Err(errors);
    }
    let (tokens, _) = lexer::tokens(file, text, 0);
    Ok(layout::write(&tree::read(text, &tokens)))
}
