//! The library as editors see it: what it says about its functions, and files to read it in.
//!
//! The library is part of the compiler, so it is in no file. Where somebody asks for the definition of one of its
//! functions, its texts are written to a folder of the user's cache, which is named after their contents.

use super::document::Document;
use crate::base::Span;
use crate::expand;
use crate::expand::program::documentation::{self, Entry};
use crate::projects::cache;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What the names of the library's files begin with in imports.
const PREFIX: &str = "library/";

/// A function of the library.
struct Row {
    entry: Entry,
    /// The position of its file.
    file: usize,
    name: Span,
}

fn rows() -> &'static HashMap<String, Row> {
    static ROWS: OnceLock<HashMap<String, Row>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let mut found = HashMap::new();
        for (position, file) in expand::STDLIB.iter().enumerate() {
            let document = Document::new(file.text.to_string());
            for definition in &document.bindings().definitions {
                let entry = documentation::of(file.text, definition);
                found.insert(definition.name.to_string(), Row { entry, file: position, name: definition.name_span });
            }
        }
        found
    })
}

/// Whether programs can use a name of the library.
pub fn has(name: &str) -> bool {
    !name.starts_with('%') && rows().contains_key(name) || matches!(name, "list" | "vector")
}

/// What the library says about a function.
pub fn entry(name: &str) -> Option<&'static Entry> {
    rows().get(name).map(|row| &row.entry)
}

/// The names of the file that an import calls so, if it is one of the library's.
pub fn names_of(file: &str) -> impl Iterator<Item = &'static str> {
    let name = file.strip_prefix(PREFIX).map(|name| name.trim_end_matches(".vlad"));
    let file = expand::STDLIB.iter().position(|file| file.name.strip_suffix(".vlad") == name && name.is_some());
    let is_there = move |row: &&Row| Some(row.file) == file;
    let all = rows().iter().filter(move |(name, row)| is_there(row) && !name.starts_with('%'));
    all.map(|(name, _)| name.as_str())
}

/// The file that one of the library's can be read in, by the name that imports call it.
pub fn file(name: &str) -> Option<PathBuf> {
    let name = format!("{}.vlad", name.strip_prefix(PREFIX)?.trim_end_matches(".vlad"));
    let file = expand::STDLIB.iter().find(|file| file.name == name)?;
    Some(folder()?.join(file.name))
}

/// The file that a function of the library can be read in, and where it is defined there.
pub fn place(name: &str) -> Option<(PathBuf, Document, Span)> {
    let row = rows().get(name)?;
    let file = &expand::STDLIB[row.file];
    Some((folder()?.join(file.name), Document::new(file.text.to_string()), row.name))
}

/// Whether a file is one that the library can be read in.
pub fn is_in(path: &Path) -> bool {
    path.parent().is_some_and(|parent| parent == path_of_folder())
}

fn path_of_folder() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let made = FOLDER.get_or_init(|| {
        let mut digest = Sha256::new();
        expand::STDLIB.iter().for_each(|file| digest.update(file.text));
        let digest: String = digest.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        let cache = cache::root().unwrap_or_else(|| std::env::temp_dir().join("vlad"));
        cache.join(format!("library-{digest}"))
    });
    made.clone()
}

/// The folder with the texts, which nobody should change.
fn folder() -> Option<PathBuf> {
    let folder = path_of_folder();
    std::fs::create_dir_all(&folder).ok()?;
    for file in expand::STDLIB {
        let path = folder.join(file.name);
        if std::fs::read(&path).is_ok_and(|text| text == file.text.as_bytes()) {
            continue;
        }
        // Another server may write the same at the same time; each file appears at once.
        let written = tempfile::NamedTempFile::new_in(&folder).ok()?;
        std::fs::write(written.path(), file.text).ok()?;
        let mut permissions = std::fs::metadata(written.path()).ok()?.permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(written.path(), permissions).ok()?;
        written.persist(&path).ok()?;
    }
    Some(folder)
}
