//! Open documents: texts with their positions, and what can be read of them while they are being written.
//!
//! The protocol counts lines from 0, and columns in units of UTF-16; the compiler counts bytes. A line ends in a line
//! feed, a carriage return, or both. What is read of a text is read once, when it is first asked for, and depends on
//! nothing but the text.

use crate::base::source::with_line_feeds;
use crate::base::{SourceMap, Span};
use crate::expand::program::bindings::Bindings;
use crate::syntax::{self, Datum};
use lsp_types::{Position, Range, TextDocumentContentChangeEvent, Uri};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// The distance in bytes of places whose number of units is known.
const BLOCK: usize = 256;

/// A text that an editor shows.
pub struct Document {
    /// The text, as the editor has it.
    text: String,
    /// The same as the compiler reads it, if that differs. No place is another.
    source: Option<String>,
    /// Where lines begin.
    lines: Vec<usize>,
    /// How many units of UTF-16 stand in front of each [`BLOCK`]: a program may be one line of a megabyte.
    units: Vec<usize>,
    read: OnceCell<(Vec<Datum>, Bindings)>,
}

impl Document {
    /// A document with that text.
    pub fn new(text: String) -> Document {
        let bytes = text.as_bytes();
        let ends_line = |at: &usize| match bytes[*at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let lines: Vec<usize> = std::iter::once(0).chain((0..bytes.len()).filter(ends_line).map(|at| at + 1)).collect();
        let is_read_so = lines[1..].iter().all(|start| bytes[start - 1] == b'\n');
        let source = if is_read_so { None } else { Some(with_line_feeds(text.clone())) };
        let mut units = Vec::with_capacity(text.len() / BLOCK + 1);
        let mut count = 0;
        for (at, c) in text.char_indices() {
            // The first character that begins in a block.
            while units.len() * BLOCK <= at {
                units.push(count);
            }
            count += c.len_utf16();
        }
        units.push(count);
        Document { text, source, lines, units, read: OnceCell::new() }
    }

    /// The first place in a block where a character begins.
    fn boundary(&self, block: usize) -> usize {
        let start = (block * BLOCK).min(self.text.len());
        (start..=self.text.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(self.text.len())
    }

    /// The units in front of a place where a character begins.
    fn units_before(&self, byte: usize) -> usize {
        let block = byte / BLOCK;
        self.units[block] + self.text[self.boundary(block)..byte].encode_utf16().count()
    }

    /// The document after a change.
    pub fn changed(&self, change: &TextDocumentContentChangeEvent) -> Document {
        let Some(range) = change.range else { return Document::new(change.text.clone()) };
        let (start, end) = (self.byte(range.start), self.byte(range.end));
        let mut text = self.text.clone();
        text.replace_range(start..end.max(start), &change.text);
        Document::new(text)
    }

    /// The text as the compiler reads it.
    pub fn text(&self) -> &str {
        self.source.as_deref().unwrap_or(&self.text)
    }

    /// The text as the editor has it.
    pub fn written(&self) -> &str {
        &self.text
    }

    fn read(&self) -> &(Vec<Datum>, Bindings) {
        self.read.get_or_init(|| {
            let datums = syntax::recover(SourceMap::new().add("", "", false), self.text());
            let bindings = Bindings::of(&datums);
            (datums, bindings)
        })
    }

    /// The datums, as far as they can be read.
    pub fn datums(&self) -> &[Datum] {
        &self.read().0
    }

    /// What the names stand for.
    pub fn bindings(&self) -> &Bindings {
        &self.read().1
    }

    /// A line without its end.
    fn line(&self, line: usize) -> std::ops::Range<usize> {
        let start = self.lines.get(line).copied().unwrap_or(self.text.len());
        let end = self.lines.get(line + 1).copied().unwrap_or(self.text.len());
        start..start + self.text[start..end].trim_end_matches(['\r', '\n']).len()
    }

    /// The byte at a position; the end of the line when it is shorter.
    pub fn byte(&self, position: Position) -> usize {
        let line = self.line(position.line as usize);
        let wanted = self.units_before(line.start) + position.character as usize;
        let block = self.units.partition_point(|units| *units <= wanted) - 1;
        let start = self.boundary(block).clamp(line.start, line.end);
        let mut units = self.units_before(start);
        for (place, c) in self.text[start..line.end].char_indices() {
            if units >= wanted {
                return start + place;
            }
            units += c.len_utf16();
        }
        line.end
    }

    /// The position of a byte.
    pub fn position(&self, byte: usize) -> Position {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let line = self.lines.partition_point(|start| *start <= byte) - 1;
        let character = self.units_before(byte) - self.units_before(self.lines[line]);
        Position::new(line as u32, character as u32)
    }

    /// The line of a byte.
    pub fn line_of(&self, byte: u32) -> u32 {
        self.lines.partition_point(|start| *start <= byte as usize) as u32 - 1
    }

    /// The range of a span.
    pub fn range(&self, span: Span) -> Range {
        Range::new(self.position(span.start as usize), self.position(span.end as usize))
    }

    /// The text that a span covers.
    pub fn covered(&self, span: Span) -> &str {
        self.text().get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

/// What names the file of a document: its path, or what stands for one where a document is in no file.
pub fn file(uri: &Uri) -> PathBuf {
    path(uri).unwrap_or_else(|| PathBuf::from(uri.as_str()))
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
    fn positions_are_found_in_long_lines() {
        let text = format!("{}\n{}\r\n", "a𝐱λ".repeat(700), "λ\u{1F600}".repeat(500));
        let document = Document::new(text.clone());
        let (mut line, mut character) = (0, 0);
        for (byte, c) in text.char_indices() {
            assert_eq!(document.position(byte), Position::new(line, character), "{byte}");
            if c != '\n' {
                assert_eq!(document.byte(Position::new(line, character)), byte);
            }
            character += c.len_utf16() as u32;
            if c == '\n' {
                (line, character) = (line + 1, 0);
            }
        }
        assert_eq!(document.position(text.len()), Position::new(2, 0));
        assert_eq!(document.byte(Position::new(1, 9999)), text.len() - 2);
    }

    #[test]
    fn lines_end_in_three_ways() {
        let document = Document::new("a\r\nbc\rd\n".to_string());
        assert_eq!(document.text(), "a\r\nbc\nd\n");
        assert_eq!(document.written(), "a\r\nbc\rd\n");
        assert_eq!(document.byte(Position::new(0, 9)), 1, "in front of the end of the line");
        let starts: Vec<usize> = (0..4).map(|line| document.byte(Position::new(line, 0))).collect();
        assert_eq!(starts, [0, 3, 6, 8]);
        assert_eq!(document.position(7), Position::new(2, 1));
    }

    #[test]
    fn changes_replace_ranges() {
        let change = |start, end, text: &str| TextDocumentContentChangeEvent {
            range: Some(Range::new(start, end)),
            range_length: None,
            text: text.to_string(),
        };
        let document = Document::new("a\r𝐱b".to_string());
        let changed = document.changed(&change(Position::new(1, 0), Position::new(1, 0), "\n"));
        assert_eq!(changed.written(), "a\r\n𝐱b");
        let changed = changed.changed(&change(Position::new(1, 2), Position::new(1, 3), "c"));
        assert_eq!(changed.written(), "a\r\n𝐱c");
    }

    #[test]
    fn files_have_uris() {
        let file = Path::new("/tmp/with space/ü.vlad");
        let uri = uri(file).expect("it is text");
        assert_eq!(uri.as_str(), "file:///tmp/with%20space/%C3%BC.vlad");
        assert_eq!(path(&uri).as_deref(), Some(file));
    }
}
