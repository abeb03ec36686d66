//! Files → the datums of one program: includes are spliced.
//!
//! Each file is spliced once, where the first `include` of it stands; the same file is recognised under any path. A
//! file that includes itself, directly or through others, is a mistake.

use crate::base::source::with_line_feeds;
use crate::base::{Diagnostic, SourceMap, Span};
use crate::expand::Options;
use crate::expand::error::Error;
use crate::syntax::{self, Datum, DatumKind};
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

/// Collects the datums of a program.
pub struct Loader<'a> {
    options: &'a Options,
    sources: &'a mut SourceMap,
    /// Canonical paths of all files met so far.
    seen: FxHashSet<PathBuf>,
    /// The files being read, from the program's own file inwards.
    open: Vec<Open>,
    datums: Vec<Datum>,
    errors: Vec<Diagnostic>,
}

struct Open {
    canonical: PathBuf,
    shown: String,
    folder: PathBuf,
}

/// The text that the bytes of a file are, with ends of lines that all know.
///
/// # Errors
///
/// When they are none. The file is added to the map, so that the message can show the place.
pub fn text_of(
    bytes: Vec<u8>,
    path: &str,
    include: Option<Span>,
    sources: &mut SourceMap,
) -> Result<String, Box<Error>> {
    String::from_utf8(bytes).map(with_line_feeds).map_err(|error| {
        let start = error.utf8_error().valid_up_to();
        // Up to there nothing is replaced.
        let file = sources.add(path, String::from_utf8_lossy(error.as_bytes()), false);
        let place = Span::new(file, start, start + char::REPLACEMENT_CHARACTER.len_utf8());
        Box::new(Error::NotText { place, path: path.to_string(), include })
    })
}

impl<'a> Loader<'a> {
    /// A loader that has read nothing.
    pub fn new(options: &'a Options, sources: &'a mut SourceMap) -> Loader<'a> {
        let (seen, open, datums, errors) = Default::default();
        Loader { options, sources, seen, open, datums, errors }
    }

    /// All datums, and the mistakes that prevented reading some.
    pub fn finish(self) -> (Vec<Datum>, Vec<Diagnostic>) {
        (self.datums, self.errors)
    }

    /// Reads the program's own file.
    pub fn load_program(&mut self, path: &Path) {
        self.load(path, None);
    }

    /// Reads a program from memory.
    pub fn load_text(&mut self, name: &str, text: &str) {
        let path = Path::new(name);
        let canonical = self.sources.canonical(path);
        self.splice(path, canonical, &with_line_feeds(text.to_string()));
    }

    /// Reads a file; `include` is the place that asks for it.
    fn load(&mut self, path: &Path, include: Option<Span>) {
        let canonical = self.sources.canonical(path);
        if let Some(first) = self.open.iter().position(|open| open.canonical == canonical) {
            let mut cycle: Vec<String> = self.open[first..].iter().map(|open| open.shown.clone()).collect();
            cycle.push(path.display().to_string());
            if let Some(span) = include {
                self.error(Error::IncludeCycle(span, cycle));
            }
            return;
        }
        if self.seen.contains(&canonical) {
            return;
        }
        let shown = path.display().to_string();
        match self.sources.read(path) {
            Err(error) => self.error(Error::Unreadable(include, shown, error.to_string())),
            Ok(bytes) => match text_of(bytes, &shown, include, self.sources) {
                Ok(text) => self.splice(path, canonical, &text),
                Err(error) => self.error(*error),
            },
        }
    }

    fn splice(&mut self, path: &Path, canonical: PathBuf, text: &str) {
        let shown = path.display().to_string();
        let file = self.sources.add(shown.clone(), text, false);
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        self.seen.insert(canonical.clone());
        self.open.push(Open { canonical, shown, folder });
        let (datums, errors) = syntax::parse(file, text);
        self.errors.extend(errors);
        for datum in datums {
            match include_operands(&datum) {
                Some(operands) => self.include(datum.span, operands),
                None => self.datums.push(datum),
            }
        }
        self.open.pop();
    }

    fn include(&mut self, span: Span, operands: &[Datum]) {
        let [Datum { kind: DatumKind::Str(name), .. }] = operands else {
            return self.error(Error::Malformed(span, "include", "(include \"name\")"));
        };
        let file_name = if name.ends_with(".vlad") { name.to_string() } else { format!("{name}.vlad") };
        let beside = self.open.last().map(|open| open.folder.clone()).unwrap_or_default();
        let folders = std::iter::once(&beside).chain(&self.options.include_dirs);
        let candidates: Vec<PathBuf> = folders.map(|folder| folder.join(&file_name)).collect();
        match candidates.iter().find(|path| self.sources.is_file(path)) {
            Some(path) => self.load(path, Some(span)),
            None => {
                let tried = candidates.iter().map(|path| path.display().to_string()).collect();
                self.error(Error::IncludeNotFound(span, name.clone(), tried));
            }
        }
    }

    fn error(&mut self, error: Error) {
        self.errors.push(error.to_diagnostic());
    }
}

/// The operands when the datum is an `include`.
fn include_operands(datum: &Datum) -> Option<&[Datum]> {
    let (head, operands) = datum.list()?.split_first()?;
    head.is_symbol("include").then_some(operands)
}
