//! Source text → datums with positions.
//!
//! ```text
//! text --lexer--> tokens --brackets--> tokens that nest properly --grammar--> datums
//! ```
//!
//! The lexer knows comments and literals. The bracket check stands between it and the grammar because its messages
//! need what a grammar does not see: which bracket was left open, and where. It also bounds the nesting of datums
//! ([`MAX_NESTING`]), so every later stage may recurse over them. The grammar only builds nodes.
//!
//! Requires text in UTF-8. A file with a mistake yields no datums, only messages, and all mistakes of the lexer and the
//! bracket check are reported at once.
//!
//! Tests: `tests/ui/syntax/`.

mod bodies;

mod brackets;

mod comments;

pub mod datum;

mod error;

pub mod format;

mod lexer;

mod number;

mod print;

mod recovery;

mod token;

lalrpop_util::lalrpop_mod!(
    #[allow(clippy::all, clippy::unwrap_used, missing_docs, unused)]
    grammar,
    "/syntax/grammar.rs"
);

pub use comments::comments;
pub use datum::{Datum, DatumKind, Prefix};
pub use error::Error;
pub use print::{flat, print};
pub use recovery::{recover, recover_parts};

use crate::base::{Diagnostic, FileId, SourceMap};
use std::ops::Range;

/// The number of brackets, quotes and datum comments that may be open at one place.
pub const MAX_NESTING: usize = 1000;

/// Reads all datums of a file. The datums are empty when there are messages.
pub fn parse(file: FileId, text: &str) -> (Vec<Datum>, Vec<Diagnostic>) {
    parse_part(file, text, 0..text.len())
}

/// Reads the datums in a part of a file, which begins and ends between datums.
pub fn parse_part(file: FileId, text: &str, part: Range<usize>) -> (Vec<Datum>, Vec<Diagnostic>) {
    let (datums, errors) = read(file, &text[..part.end], part.start);
    (datums, errors.iter().map(Error::to_diagnostic).collect())
}

/// Whether a text is the beginning of a longer one: it leaves brackets, a string or a comment open, and has no other
/// mistakes.
pub fn is_incomplete(text: &str) -> bool {
    let file = SourceMap::new().add("", "", false);
    let (_, errors) = read(file, text, 0);
    let open = |error: &Error| {
        matches!(error, Error::Unclosed { .. } | Error::UnterminatedString(_) | Error::UnterminatedComment(_))
    };
    !errors.is_empty() && errors.iter().all(open)
}

fn read(file: FileId, text: &str, start: usize) -> (Vec<Datum>, Vec<Error>) {
    let (tokens, mut errors) = lexer::tokens(file, text, start);
    // A string or comment without an end has swallowed the rest of the brackets.
    let complete = !errors.iter().any(|e| matches!(e, Error::UnterminatedString(_) | Error::UnterminatedComment(_)));
    if complete {
        brackets::check(file, &tokens, text, &mut errors);
    }
    if !errors.is_empty() {
        return (Vec::new(), errors);
    }
    let mut misplaced = Vec::new();
    let parsed = grammar::FileParser::new().parse(file, &mut misplaced, tokens.into_iter().map(Ok));
    match parsed {
        Ok(datums) if misplaced.is_empty() => (datums, Vec::new()),
        Ok(_) => (Vec::new(), misplaced),
        Err(error) => {
            misplaced.push(Error::from_parser(file, text.len(), error));
            (Vec::new(), misplaced)
        }
    }
}

#[cfg(test)]
mod tests;
