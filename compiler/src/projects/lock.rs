//! `vlad.lock`: which commit each revision was, and what was in it.
//!
//! ```toml
//! version = 1
//!
//! [[package]]
//! name = "stats"
//! git = "https://example.org/stats"
//! rev = "v1.2"
//! commit = "0f5c..."
//! sha256 = "9ab3..."
//! ```
//!
//! It has an entry for each dependency by git, also for those of dependencies, in order. Folders on this machine are
//! not in it: they are what they are. A file appears when it is whole.

use super::manifest;
use crate::base::{Diagnostic, SourceMap, Span};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// The name of the file.
pub const NAME: &str = "vlad.lock";

const HEADING: &str = "# Written by vlad, for version control. `vlad update` renews it.\nversion = 1\n";

/// A dependency by git.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name of the package.
    pub name: String,
    /// The repository, as the manifest says.
    pub git: String,
    /// The revision, as the manifest says.
    pub rev: String,
    /// The commit that it was.
    pub commit: String,
    /// The hash of the files.
    pub sha256: String,
}

impl Entry {
    /// Whether it is about what a manifest asks for.
    pub fn is_for(&self, name: &str, git: &str, rev: &str) -> bool {
        (&*self.name, &*self.git, &*self.rev) == (name, git, rev)
    }
}

/// Whether a text is the name of a commit.
pub fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The entries of a lock file; a file that is not there has none.
///
/// # Errors
///
/// When it cannot be read, or was not written by this program.
pub fn read(path: &Path, sources: &mut SourceMap) -> Result<Vec<Entry>, Box<Diagnostic>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let (file, text) = manifest::text(path, sources)?;
    let broken = |range: std::ops::Range<usize>, label: &str| {
        let message = format!("{} is not what vlad writes", path.display());
        let help = format!("restore the file, or remove it: `vlad update` writes a new {NAME}");
        Box::new(Diagnostic::error("V0512", message, Span::new(file, range.start, range.end), label).help(help))
    };
    let table = DeTable::parse(&text).map_err(|error| broken(error.span().unwrap_or_default(), error.message()))?;
    let table = table.get_ref();
    if !matches!(table.get("version").map(|version| version.get_ref()), Some(DeValue::Integer(n)) if n.as_str() == "1")
    {
        return Err(broken(0..0, "expected `version = 1`"));
    }
    let Some(packages) = table.get("package") else { return Ok(Vec::new()) };
    let rows = packages.get_ref().as_array().ok_or_else(|| broken(packages.span(), "expected `[[package]]`"))?;
    let mut entries = Vec::new();
    for row in rows {
        let get = |key: &str| {
            let value = row.get_ref().as_table().and_then(|row| row.get(key));
            value.and_then(|value| value.get_ref().as_str()).map(str::to_string)
        };
        let keys = ["name", "git", "rev", "commit", "sha256"].map(get);
        let [Some(name), Some(git), Some(rev), Some(commit), Some(sha256)] = keys else {
            return Err(broken(row.span(), "expected `name`, `git`, `rev`, `commit` and `sha256`"));
        };
        if !is_commit(&commit) {
            return Err(broken(row.span(), "`commit` is not the name of a commit"));
        }
        entries.push(Entry { name, git, rev, commit, sha256 });
    }
    Ok(entries)
}

/// Writes a lock file, or removes it if there is nothing to say.
///
/// # Errors
///
/// When the folder does not allow it.
pub fn write(path: &Path, entries: &[Entry]) -> io::Result<()> {
    if entries.is_empty() {
        return if path.exists() { fs::remove_file(path) } else { Ok(()) };
    }
    let mut text = HEADING.to_string();
    for Entry { name, git, rev, commit, sha256 } in entries {
        text += "\n[[package]]\n";
        for (key, value) in [("name", name), ("git", git), ("rev", rev), ("commit", commit), ("sha256", sha256)] {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            text += &format!("{key} = \"{value}\"\n");
        }
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // What the user does not want for new files is taken away by the system.
    let permissions = fs::Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new().prefix(".vlad-lock-").permissions(permissions).tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}
