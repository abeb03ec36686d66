//! Texts with mistakes → the datums that they are if the mistakes are mended in the likeliest way.
//!
//! ```text
//! (define (f x)                (define (f x)
//!   (let ((y 1))                 (let ((y 1))
//!     (+ x y                  →    (+ x y
//!
//! (define (g z) z)]            )))(define (g z) z)
//! ```
//!
//! Editors ask about texts that are being written. What is read depends on the text alone, so an editor that has seen
//! a hundred versions gets the answers of one that has just opened the last of them. A text without mistakes reads as
//! ever. In others, a bracket at the start of a line inside of brackets begins a form of the top level (people and
//! editors indent all others), what is open there and at the end of the text is closed, and what closes nothing is
//! passed over. A string without an end goes to the end of its line. Spans are those of the text; brackets that are
//! not there take no space, and stand as far behind as they can, so that a place in an unfinished form is inside of it.

use crate::base::FileId;
use crate::syntax::lexer::Spanned;
use crate::syntax::token::{Bracket, Token};
use crate::syntax::{Datum, Error, MAX_NESTING, brackets, grammar, lexer, read};
use std::ops::Range;

/// Reads all datums of a text that may have mistakes.
pub fn recover(file: FileId, text: &str) -> Vec<Datum> {
    recover_from(file, text, 0)
}

/// Reads a text with mistakes in parts, each of which begins with a bracket at the start of a line. The datums of each
/// part, and whether it has no mistake itself. Where a string or comment does not end, one cannot tell.
pub fn recover_parts(file: FileId, text: &str) -> Vec<(Vec<Datum>, bool)> {
    let is_doubtful = lexer::tokens(file, text, 0).1.iter().any(is_endless);
    let read_part = |(start, end)| {
        let (datums, errors) = read(file, &text[..end], start);
        match errors.is_empty() {
            true => (datums, !is_doubtful),
            false => (recover_from(file, &text[..end], start), false),
        }
    };
    parts(text, 0).into_iter().map(read_part).collect()
}

/// The parts of a text from a byte on that begin with a bracket at the start of a line.
fn parts(text: &str, start: usize) -> Vec<(usize, usize)> {
    let starts = text[start..].match_indices("\n(").map(|(newline, _)| start + newline + 1);
    let starts: Vec<usize> = std::iter::once(start).chain(starts).collect();
    let ends = starts[1..].iter().copied().chain([text.len()]);
    starts.iter().copied().zip(ends).collect()
}

fn recover_from(file: FileId, text: &str, start: usize) -> Vec<Datum> {
    let (datums, errors) = read(file, text, start);
    if errors.is_empty() {
        return datums;
    }
    let tokens = tokens(file, text, start);
    let mut unlike = Vec::new();
    brackets::check(file, &tokens, text, &mut unlike);
    forms(tokens, text, !unlike.is_empty()).into_iter().flat_map(|form| parse(file, form)).collect()
}

/// The tokens from a byte on; where a string or comment does not end, those of the lines and forms behind it, too.
fn tokens(file: FileId, text: &str, start: usize) -> Vec<Spanned> {
    let (tokens, errors) = lexer::tokens(file, text, start);
    if !errors.iter().any(is_endless) {
        return tokens;
    }
    let mut found = Vec::new();
    for (start, end) in parts(text, start) {
        let mut at = start;
        while at < end {
            let (tokens, errors) = lexer::tokens(file, &text[..end], at);
            found.extend(tokens);
            at = match errors.iter().find(|error| is_endless(error)) {
                Some(Error::UnterminatedString(span)) => {
                    let quote = span.start as usize;
                    text[quote..end].find('\n').map_or(end, |length| quote + length)
                }
                _ => end,
            };
        }
    }
    found
}

fn is_endless(error: &Error) -> bool {
    matches!(error, Error::UnterminatedString(_) | Error::UnterminatedComment(_))
}

/// A bracket that is open, and what nests there. One that nests too deeply is passed over, and so is what closes it.
struct Opened {
    kind: Bracket,
    depth: usize,
    is_kept: bool,
}

/// The tokens of the forms at top level, with brackets that match.
fn forms(tokens: Vec<Spanned>, text: &str, mend: bool) -> Vec<Vec<Spanned>> {
    let mut forms = Vec::new();
    let mut form: Vec<Spanned> = Vec::new();
    let mut open: Vec<Opened> = Vec::new();
    // Marks in front of the next datum: they nest, too.
    let mut marks = 0;
    for (start, token, end) in tokens {
        let opens = match token {
            Token::Open(kind) => Some(kind),
            Token::OpenVector => Some(Bracket::Round),
            _ => None,
        };
        if mend && opens.is_some() && (start == 0 || text[..start].ends_with('\n')) {
            close_all(&mut open, &mut form, start);
        }
        if open.is_empty() && !ends_in_mark(&form) {
            forms.extend((!form.is_empty()).then(|| std::mem::take(&mut form)));
        }
        let depth = open.last().map_or(0, |opened| opened.depth) + marks + 1;
        let is_kept = depth <= MAX_NESTING;
        match token {
            Token::Prefix(_) | Token::Skip => {
                if is_kept {
                    form.push((start, token, end));
                    marks += 1;
                }
                continue;
            }
            Token::Close(_) => {
                let opened = open.pop();
                if let Some(Opened { kind, is_kept: true, .. }) = opened {
                    close(&mut form, kind, start..end);
                }
            }
            token => {
                open.extend(opens.map(|kind| Opened { kind, depth: depth.min(MAX_NESTING), is_kept }));
                if is_kept || opens.is_none() {
                    form.push((start, token, end));
                }
            }
        }
        marks = 0;
    }
    close_all(&mut open, &mut form, text.len());
    forms.extend((!form.is_empty()).then_some(form));
    forms
}

fn ends_in_mark(form: &[Spanned]) -> bool {
    form.last().is_some_and(|token| matches!(token.1, Token::Prefix(_) | Token::Skip))
}

/// Closes a bracket; marks before that have no datum.
fn close(form: &mut Vec<Spanned>, kind: Bracket, place: Range<usize>) {
    while ends_in_mark(form) {
        form.pop();
    }
    form.push((place.start, Token::Close(kind), place.end));
}

fn close_all(open: &mut Vec<Opened>, form: &mut Vec<Spanned>, place: usize) {
    while let Some(opened) = open.pop() {
        if opened.is_kept {
            close(form, opened.kind, place..place);
        }
    }
}

/// The datums that tokens with matching brackets are. Dots and datum comments that have no place are passed over.
fn parse(file: FileId, mut form: Vec<Spanned>) -> Vec<Datum> {
    for _ in 0..2 {
        let mut misplaced = Vec::new();
        let parsed = grammar::FileParser::new().parse(file, &mut misplaced, form.iter().cloned().map(Ok));
        if let Ok(datums) = parsed
            && misplaced.is_empty()
        {
            return datums;
        }
        form.retain(|token| !matches!(token.1, Token::Dot | Token::Skip));
        // A mark at the end stands before nothing.
        while form.last().is_some_and(|token| matches!(token.1, Token::Prefix(_))) {
            form.pop();
        }
        let mut index = 0;
        while index + 1 < form.len() {
            if matches!((&form[index].1, &form[index + 1].1), (Token::Prefix(_), Token::Close(_))) {
                form.remove(index);
                index = index.saturating_sub(1);
            } else {
                index += 1;
            }
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::SourceMap;
    use crate::syntax::print::flat;

    fn recovered(text: &str) -> String {
        let datums = recover(SourceMap::new().add("", "", false), text);
        datums.iter().map(flat).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn forms_are_closed_before_the_next() {
        assert_eq!(recovered("(f (g x)\n(h [y\n\n(i) j"), "(f (g x)) (h (y)) (i) j");
        assert_eq!(recovered("(f x))) (g]"), "(f x) (g)");
        assert_eq!(recovered("(f '\n(g '(a"), "(f) (g '(a))");
        assert_eq!(recovered("(f . ) (g a . b c) (h . t)"), "(f) (g a b c) (h . t)");
        assert_eq!(recovered("(( . x) y"), "((x) y)");
        assert_eq!(recovered("' #; ) x"), "'x");
    }

    #[test]
    fn parts_without_mistakes_are_known() {
        let parts = recover_parts(SourceMap::new().add("", "", false), "(f) (g\n(h x)\n(i)) j\n(k)");
        let shown = |part: &(Vec<Datum>, bool)| (part.0.iter().map(flat).collect::<Vec<_>>().join(" "), part.1);
        let expected = [("(f) (g)", false), ("(h x)", true), ("(i) j", false), ("(k)", true)];
        assert_eq!(parts.iter().map(shown).collect::<Vec<_>>(), expected.map(|part| (part.0.to_string(), part.1)));
    }

    #[test]
    fn strings_without_end_end_with_their_line() {
        assert_eq!(recovered("(f \"abc x)\n  y)\n(g \"a\")"), "(f y) (g \"a\")");
        assert_eq!(recovered("(f) #| (g)\n(h)"), "(f) (h)");
    }

    #[test]
    fn texts_without_mistakes_read_as_ever() {
        assert_eq!(recovered("(f '(1\n(2))) #;(g) h"), "(f '(1 (2))) h");
        let deep = format!("{}x", "(".repeat(3 * MAX_NESTING));
        assert_eq!(recovered(&deep).len(), 2 * MAX_NESTING + 1);
        assert_eq!(recovered(&"'".repeat(3 * MAX_NESTING)), "");
        assert_eq!(recovered(&format!("{}x", "'(".repeat(3 * MAX_NESTING))).matches('x').count(), 1);
        let marks = format!("(f {}(g)", "'1 ".repeat(2 * MAX_NESTING));
        assert!(recovered(&marks).ends_with(" (g))"));
    }
}
