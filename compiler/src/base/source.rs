//! Source files and positions in them.

use crate::base::entity::{EntityVec, entity_id};
use std::collections::HashMap;
use std::io;
use std::path::Path;

entity_id! {
    /// A file of the program (or of the embedded standard library).
    FileId, "file"
}

/// A half-open range of bytes in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file that the range lies in.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { file, start: clamp(start), end: clamp(end) }
    }
    /// The smallest range that covers both; `self` when the files differ.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One source text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path as the user gave it, or `<stdlib>/lists.vlad` for the embedded library.
    pub name: String,
    /// The text.
    pub text: String,
    /// True for the embedded standard library: run-time errors prefer to blame the user's own files.
    pub is_library: bool,
}

/// All source texts of one compilation.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: EntityVec<FileId, SourceFile>,
    /// The files to read instead of those of the system, by name.
    carried: Option<HashMap<String, String>>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }
    /// Adds a file and returns its id.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>, is_library: bool) -> FileId {
        self.files.push(SourceFile { name: name.into(), text: text.into(), is_library })
    }
    /// An empty map whose [`read`](Self::read) finds these files (name and text) and no others.
    pub fn carrying(files: impl IntoIterator<Item = (String, String)>) -> SourceMap {
        SourceMap { carried: Some(files.into_iter().collect()), ..SourceMap::default() }
    }
    /// The bytes of a file, from the system or from what an executable carries with it. Does not add it to the map.
    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match &self.carried {
            None => std::fs::read(path),
            Some(files) => match files.get(&path.display().to_string()) {
                Some(text) => Ok(text.clone().into_bytes()),
                None => Err(io::ErrorKind::NotFound.into()),
            },
        }
    }
    /// All files in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.values()
    }
    /// The file with this id.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id]
    }
    /// True when `span` lies in the embedded standard library.
    pub fn is_library(&self, span: Span) -> bool {
        self.files[span.file].is_library
    }
    /// The text that `span` covers.
    pub fn text(&self, span: Span) -> &str {
        self.files[span.file].text.get(span.start as usize..span.end as usize).unwrap_or("")
    }
    /// One-based line and column (in characters) of the first byte of `span`.
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let text = &self.files[span.file].text;
        let mut start = (span.start as usize).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }
}
