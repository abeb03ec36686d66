//! Source files and positions in them.

use crate::base::entity::{EntityVec, entity_id};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Component, Path, PathBuf};

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
    /// A number in place of a range.
    pub fn numbered(number: u32) -> Span {
        Span { file: Span::NUMBERED, start: number, end: number }
    }
    /// The number, if it is one.
    pub fn number(self) -> Option<u32> {
        (self.file == Span::NUMBERED).then_some(self.start)
    }
    /// The same number, with a mark.
    pub fn marked(self) -> Span {
        Span { end: self.start.wrapping_add(1), ..self }
    }
    /// Whether it has a mark.
    pub fn is_marked(self) -> bool {
        self.end != self.start
    }
    /// No file has this number.
    const NUMBERED: FileId = FileId(u32::MAX);
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
    /// The places where lines end.
    line_ends: Vec<usize>,
}

impl SourceFile {
    /// The one-based number of the line that a byte of the text lies in.
    pub fn line(&self, byte: usize) -> usize {
        self.line_ends.partition_point(|end| *end < byte) + 1
    }
}

/// A text whose lines all end in a line feed, perhaps behind a carriage return: one that stands alone, as old systems
/// end lines, becomes a line feed. No place in the text changes.
pub fn with_line_feeds(text: String) -> String {
    if !text.contains('\r') {
        return text;
    }
    let mut bytes = text.into_bytes();
    for at in 0..bytes.len() {
        if bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
            bytes[at] = b'\n';
        }
    }
    String::from_utf8(bytes).expect("one character of ASCII has replaced another")
}

/// All source texts of one compilation.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: EntityVec<FileId, SourceFile>,
    /// The files to read instead of those of the system, by name.
    carried: HashMap<PathBuf, String>,
    /// Whether there are no others.
    is_closed: bool,
    /// Folders that messages call otherwise, by what they call them.
    shown_folders: HashMap<PathBuf, PathBuf>,
    /// The files of dependencies that imports mean, by the name of the importing file and what stands there.
    links: BTreeMap<(String, String), String>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }
    /// Adds a file and returns its id.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>, is_library: bool) -> FileId {
        let text = text.into();
        let line_ends = text.match_indices('\n').map(|(end, _)| end).collect();
        self.files.push(SourceFile { name: name.into(), text, is_library, line_ends })
    }
    /// An empty map whose [`read`](Self::read) finds these files (name and text) and no others.
    pub fn carrying(files: impl IntoIterator<Item = (String, String)>) -> SourceMap {
        let carried = files.into_iter().map(|(name, text)| (normal(Path::new(&name)), text)).collect();
        SourceMap { carried, is_closed: true, ..SourceMap::default() }
    }
    /// The same map with these links.
    pub fn linked(self, links: BTreeMap<(String, String), String>) -> SourceMap {
        SourceMap { links, ..self }
    }
    /// An empty map whose [`read`](Self::read) finds these texts in place of the files of those names.
    pub fn showing(files: impl IntoIterator<Item = (PathBuf, String)>) -> SourceMap {
        SourceMap { carried: files.into_iter().collect(), ..SourceMap::default() }
    }
    /// The bytes of a file, from the system or from what an executable carries with it. Does not add it to the map.
    ///
    /// # Errors
    ///
    /// When there is no such file, or it cannot be read.
    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path = self.real(path);
        match self.carried.get(&normal(&path)) {
            Some(text) => Ok(text.clone().into_bytes()),
            None if self.is_closed => Err(io::ErrorKind::NotFound.into()),
            None => std::fs::read(path),
        }
    }
    /// Whether [`read`](Self::read) would find a file.
    pub fn is_file(&self, path: &Path) -> bool {
        let path = self.real(path);
        self.carried.contains_key(&normal(&path)) || !self.is_closed && path.is_file()
    }
    /// A path that is the same for all ways to name the same file.
    pub fn canonical(&self, path: &Path) -> PathBuf {
        let path = self.real(path);
        let found = if self.is_closed { None } else { path.canonicalize().ok() };
        found.unwrap_or_else(|| normal(&path))
    }
    /// Calls a folder otherwise, by a single name, so that what is made of its files does not depend on its place.
    pub fn show_folder(&mut self, shown: &Path, folder: PathBuf) {
        self.shown_folders.insert(shown.to_path_buf(), folder);
    }
    /// Where a file is that messages call so.
    pub fn real(&self, path: &Path) -> PathBuf {
        let mut components = path.components();
        let first = components.next().and_then(|first| self.shown_folders.get(Path::new(&first)));
        first.map_or_else(|| path.to_path_buf(), |folder| folder.join(components.as_path()))
    }
    /// Whether there are no files but those that the map began with.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }
    /// The file of a dependency that an import in the file `from` means.
    pub fn link(&self, from: &str, name: &str) -> Option<PathBuf> {
        self.links.get(&(from.to_string(), name.to_string())).map(PathBuf::from)
    }
    /// Notes which file of a dependency an import in the file `from` means.
    pub fn add_link(&mut self, from: &str, name: &str, file: &Path) {
        self.links.insert((from.to_string(), name.to_string()), file.display().to_string());
    }
    /// All links that have been noted.
    pub fn links(&self) -> &BTreeMap<(String, String), String> {
        &self.links
    }
    /// The number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }
    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
    /// Forgets all files but the first so many.
    pub fn truncate(&mut self, len: usize) {
        self.files.truncate(len);
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
    /// The file, line and column where `span` begins, as messages write them.
    pub fn place(&self, span: Span) -> String {
        let (line, column) = self.line_column(span);
        format!("{}:{line}:{column}", self.file(span.file).name)
    }
    /// One-based line and column (in characters) of the first byte of `span`.
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let file = &self.files[span.file];
        let text = &file.text;
        let mut start = (span.start as usize).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (file.line(start), column)
    }
}

/// The path without `.` and, where the folder before it is named, without `..`.
pub fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match (component, result.components().next_back()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                result.pop();
            }
            _ => result.push(component),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_of_a_line_is_seen() {
        assert_eq!(with_line_feeds("a\rb\r\nc\r\rd\r".to_string()), "a\nb\r\nc\n\nd\n");
    }

    #[test]
    fn folders_are_shown_by_other_names() {
        let mut sources = SourceMap::new();
        sources.show_folder(Path::new("<here>"), PathBuf::from("/some/where"));
        assert_eq!(sources.real(Path::new("<here>/in/it")), Path::new("/some/where/in/it"));
        assert_eq!(sources.real(Path::new("./<here>/in/it")), Path::new("./<here>/in/it"));
        assert_eq!(sources.real(Path::new("")), Path::new(""));
    }

    #[test]
    fn carried_files_are_found_under_all_their_names() {
        let sources = SourceMap::carrying([("lib/../main.vlad".to_string(), "1".to_string())]);
        assert_eq!(sources.read(Path::new("./main.vlad")).ok(), Some(b"1".to_vec()));
        assert!(sources.is_file(Path::new("other/../main.vlad")));
        assert!(!sources.is_file(Path::new("../main.vlad")));
        assert!(sources.read(Path::new("Cargo.toml")).is_err());
        assert_eq!(sources.canonical(Path::new("a/./b")), Path::new("a/b"));
    }
}
