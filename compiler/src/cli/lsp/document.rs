//! Open documents: texts with their positions, and what can be read of them while they are being written.
//!
//! The protocol counts lines from 0, and columns in units of UTF-16; the compiler counts bytes.

use crate::base::source::with_line_feeds;
use crate::base::{SourceMap, Span};
use crate::expand::names::visible;
use crate::expand::names::visible::Visible;
use crate::expand::program::outline;
use crate::expand::program::outline::{Named, Outline};
use crate::syntax::{self, Datum};
use lsp_types::{Position, Range, Uri};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A text that an editor shows.
pub struct Document {
    /// The text.
    pub text: String,
    /// Its datums, if it has no mistake in its brackets and literals.
    datums: Option<Vec<Datum>>,
}

impl Document {
    /// A document with that text.
    pub fn new(text: String) -> Document {
        let text = with_line_feeds(text);
        let datums = datums(&text);
        Document { text, datums }
    }

    /// The byte at a position; the end of the line when it is shorter.
    pub fn byte(&self, position: Position) -> usize {
        let mut start = 0;
        for _ in 0..position.line {
            match self.text[start..].find('\n') {
                Some(newline) => start += newline + 1,
                None => return self.text.len(),
            }
        }
        let mut units = 0;
        for (place, c) in self.text[start..].char_indices() {
            if units >= position.character || c == '\n' {
                return start + place;
            }
            units += c.len_utf16() as u32;
        }
        self.text.len()
    }

    /// The position of a byte.
    pub fn position(&self, byte: usize) -> Position {
        position(&self.text, byte)
    }

    /// The range of a span.
    pub fn range(&self, span: Span) -> Range {
        range(&self.text, span)
    }

    /// The definitions at top level; from a text with mistakes, those that begin a line.
    pub fn definitions(&self) -> Vec<Outline> {
        match &self.datums {
            Some(datums) => outline::definitions(datums),
            None => self.pieces().flat_map(|piece| outline::definitions(&piece)).collect(),
        }
    }

    /// The files included and imported.
    pub fn named(&self) -> Vec<Named> {
        let names = |datums: &[Datum]| datums.iter().filter_map(outline::named).collect::<Vec<_>>();
        match &self.datums {
            Some(datums) => names(datums),
            None => self.pieces().flat_map(|piece| names(&piece)).collect(),
        }
    }

    /// The definitions that files which import this one see.
    pub fn provided(&self) -> Vec<Outline> {
        let datums = self.datums.iter().flatten();
        let names: Vec<&Rc<str>> = datums.filter_map(outline::provided).flatten().collect();
        let mut definitions = self.definitions();
        definitions.retain(|definition| names.is_empty() || names.contains(&&definition.name));
        definitions
    }

    /// What can be read of the parts of the text that begin at a bracket at the start of a line.
    fn pieces(&self) -> impl Iterator<Item = Vec<Datum>> {
        let starts = self.text.match_indices('(').map(|row| row.0);
        let mut starts = starts.filter(|start| *start == 0 || self.text[..*start].ends_with('\n')).peekable();
        std::iter::from_fn(move || {
            let start = starts.next()?;
            Some((start, starts.peek().copied().unwrap_or(self.text.len())))
        })
        .filter_map(|(start, end)| part(&self.text, start, end))
    }

    /// What is visible at a byte.
    pub fn visible(&self, byte: usize) -> Visible {
        match &self.datums {
            Some(datums) => visible::at(datums, byte),
            None => {
                let ends_a_name = |c: char| c.is_whitespace() || "()[]'\";`".contains(c);
                let end = self.text[byte..].find(ends_a_name).map_or(self.text.len(), |length| byte + length);
                let start = self.text[..byte].rfind("\n(").map_or(0, |newline| newline + 1);
                let datums = part(&self.text, start, end).unwrap_or_default();
                visible::at(&datums, byte)
            }
        }
    }
}

/// The datums of a text without mistakes.
fn datums(text: &str) -> Option<Vec<Datum>> {
    let (datums, errors) = syntax::parse(SourceMap::new().add("", "", false), text);
    errors.is_empty().then_some(datums)
}

/// The datums in a part of a text, with the brackets closed that it leaves open. Their spans are those of the whole
/// text.
fn part(text: &str, start: usize, end: usize) -> Option<Vec<Datum>> {
    let closing = syntax::closing(&text[start..end])?;
    let text = format!("{}{closing}", &text[..end]);
    let (datums, errors) = syntax::parse_part(SourceMap::new().add("", "", false), &text, start..text.len());
    errors.is_empty().then_some(datums)
}

/// The position of a byte of a text.
pub fn position(text: &str, byte: usize) -> Position {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    let before = &text[..byte];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count();
    let character = before[start..].encode_utf16().count();
    Position::new(line as u32, character as u32)
}

/// The range of a span of a text.
pub fn range(text: &str, span: Span) -> Range {
    Range::new(position(text, span.start as usize), position(text, span.end as usize))
}

/// The file that a URI names.
pub fn path(uri: &Uri) -> Option<PathBuf> {
    let text = uri.as_str().strip_prefix("file://")?;
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = tail.get(..2).filter(|_| *first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    Some(PathBuf::from(String::from_utf8(bytes).ok()?))
}

/// The URI of a file.
pub fn uri(path: &Path) -> Option<Uri> {
    let mut text = "file://".to_string();
    for byte in path.to_str()?.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_units_of_utf_16() {
        let document = Document::new("(λ 𝐱 y)\n z".to_string());
        for (byte, line, character) in [(0, 0, 0), (3, 0, 2), (4, 0, 3), (8, 0, 5), (9, 0, 6), (12, 1, 0), (14, 1, 2)] {
            assert_eq!(document.position(byte), Position::new(line, character), "{byte}");
            assert_eq!(document.byte(Position::new(line, character)), byte);
        }
        assert_eq!(document.byte(Position::new(0, 99)), 11, "the end of the line");
        assert_eq!(document.byte(Position::new(9, 0)), 14);
    }

    #[test]
    fn files_have_uris() {
        let file = Path::new("/tmp/with space/ü.vlad");
        let uri = uri(file).expect("it is text");
        assert_eq!(uri.as_str(), "file:///tmp/with%20space/%C3%BC.vlad");
        assert_eq!(path(&uri).as_deref(), Some(file));
    }

    #[test]
    fn unfinished_texts_are_read_as_far_as_possible() {
        let text = "(include \"other\")\n(define (f x)\n  (let ((y 1))\n    (+ x y\n\n(define (g z) z)\n";
        let document = Document::new(text.to_string());
        let names: Vec<String> = document.definitions().iter().map(|found| found.name.to_string()).collect();
        assert_eq!(names, ["f", "g"]);
        assert_eq!(document.named().iter().map(|file| &*file.name).collect::<Vec<_>>(), ["other"]);
        let visible = document.visible(text.find("(+ x y").expect("it is there") + 6);
        let names: Vec<&str> = visible.locals.iter().map(|row| &*row.0).collect();
        assert_eq!(names, ["x", "y"]);
        assert_eq!(visible.name.map(|name| name.0.to_string()), Some("y".to_string()));
    }
}
