//! The text of `vlad.toml` → what it says.
//!
//! ```toml
//! [package]
//! name = "fit"
//! version = "0.1.0"
//! module = "fit.vlad"
//!
//! [dependencies]
//! linear = { path = "../linear" }
//! stats = { git = "https://example.org/stats", rev = "v1.2" }
//! ```
//!
//! Every mistake is found in one go. What is not known is a mistake, so that a misspelt key is not silently ignored.

use crate::base::spelling::closest;
use crate::base::{Diagnostic, FileId, SourceMap, Span};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// The name of the file.
pub const NAME: &str = "vlad.toml";

/// A package that others are needed for.
pub struct Manifest {
    /// What the package is called.
    pub name: String,
    /// Where that stands.
    pub name_span: Span,
    /// The file that the name alone stands for in imports.
    pub module: String,
    /// The packages that it needs, by name.
    pub dependencies: BTreeMap<String, Dependency>,
}

/// A package that is needed.
pub struct Dependency {
    /// Where its name stands.
    pub span: Span,
    /// Where it comes from.
    pub source: Source,
}

/// Where a package comes from.
pub enum Source {
    /// A folder.
    Path(String),
    /// A revision in a git repository.
    Git {
        /// The repository.
        url: String,
        /// A commit, tag or branch.
        rev: String,
    },
}

const PATH_OR_GIT: &str = "expected `{ path = \"folder\" }` or `{ git = \"address\", rev = \"commit or tag\" }`";

/// Reads a manifest, whose text becomes a file of the map.
///
/// # Errors
///
/// All mistakes in it, or that it cannot be read.
pub fn read(path: &Path, sources: &mut SourceMap) -> Result<Manifest, Vec<Diagnostic>> {
    let (file, text) = text(path, sources).map_err(|error| vec![*error])?;
    let table = DeTable::parse(&text).map_err(|error| vec![malformed(file, &error)])?;
    let mut reader = Reader { file, errors: Vec::new() };
    let manifest = reader.manifest(table.get_ref());
    manifest.filter(|_| reader.errors.is_empty()).ok_or(reader.errors)
}

/// Reads a file in TOML, whose text becomes a file of the map.
///
/// # Errors
///
/// When it cannot be read.
pub fn text(path: &Path, sources: &mut SourceMap) -> Result<(FileId, String), Box<Diagnostic>> {
    let shown = path.display().to_string();
    let bytes = sources.read(path).map_err(|error| {
        let message = Diagnostic::error_without_place("V0501", format!("cannot read {shown}"));
        Box::new(message.note(error.to_string()).help("check the path and the permissions"))
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let start = error.utf8_error().valid_up_to();
        let file = sources.add(&*shown, String::from_utf8_lossy(error.as_bytes()), false);
        let place = Span::new(file, start, start + char::REPLACEMENT_CHARACTER.len_utf8());
        let message = Diagnostic::error("V0501", format!("{shown} is not a text file"), place, "not in UTF-8");
        Box::new(message.help("convert the file to UTF-8"))
    })?;
    Ok((sources.add(shown, &*text, false), text))
}

/// The message about a text that is not TOML.
pub fn malformed(file: FileId, error: &toml::de::Error) -> Diagnostic {
    let Range { start, end } = error.span().unwrap_or_default();
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    Diagnostic::error("V0501", message, Span::new(file, start, end), "here")
        .help("the file is written in TOML: tables `[name]`, and lines `key = \"value\"`")
}

type Table<'t> = DeTable<'t>;

struct Reader {
    file: FileId,
    errors: Vec<Diagnostic>,
}

impl Reader {
    fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, range.start, range.end)
    }

    fn wrong(&mut self, span: Span, message: impl Into<String>, label: &str, help: &str) {
        self.errors.push(Diagnostic::error("V0503", message, span, label).help(help));
    }

    fn manifest(&mut self, top: &Table) -> Option<Manifest> {
        self.known(top, "the manifest", &["package", "dependencies"]);
        let Some((key, package)) = top.get_key_value("package") else {
            let start = Span::new(self.file, 0, 0);
            self.wrong(
                start,
                "`[package]` is missing",
                "expected here",
                "write `[package]` and `name = \"...\"` below",
            );
            return None;
        };
        let key = self.span(key.span());
        let package = self.table(package, "expected a table `[package]`", "write `[package]`")?;
        self.known(package, "`[package]`", &["name", "version", "module"]);
        let name = self.text(package, "name");
        if name.is_none() && !package.contains_key("name") {
            self.wrong(key, "the package has no name", "`name` is missing below", "write `name = \"...\"`");
        }
        if let Some((name, span)) = &name {
            self.name(name, *span);
        }
        if let Some((version, span)) = self.text(package, "version").filter(|(version, _)| !is_version(version)) {
            let message = format!("`{version}` is not a version");
            self.wrong(span, message, "expected three numbers", "write for instance `version = \"0.1.0\"`");
        }
        let module = self.text(package, "module").map(|(module, _)| module);
        let mut dependencies = BTreeMap::new();
        if let Some(listed) = top.get("dependencies") {
            let listed = self.table(listed, "expected a table `[dependencies]`", "write `[dependencies]`")?;
            for (key, value) in listed {
                let span = self.span(key.span());
                self.name(key.get_ref(), span);
                if let Some(source) = self.source(value) {
                    dependencies.insert(key.get_ref().to_string(), Dependency { span, source });
                }
            }
        }
        let (name, name_span) = name?;
        let module = module.unwrap_or_else(|| format!("{name}.vlad"));
        Some(Manifest { name, name_span, module, dependencies })
    }

    fn source(&mut self, value: &Spanned<DeValue>) -> Option<Source> {
        let span = self.span(value.span());
        let table = self.table(value, PATH_OR_GIT, "there is no registry of packages")?;
        let keys = ["path", "git", "rev"];
        self.known(table, "a dependency", &keys);
        let [path, url, rev] = keys.map(|key| self.text(table, key));
        for (key, (text, span)) in
            keys.iter().zip([&path, &url, &rev]).filter_map(|(key, row)| Some((key, row.as_ref()?)))
        {
            if text.is_empty() || text.starts_with('-') || text.contains(char::is_control) {
                // What begins so is an option for git.
                let help = "it may not be empty, begin with `-`, or hold control characters";
                self.wrong(*span, format!("`{}` is refused", text.escape_debug()), "not allowed here", help);
            } else if *key == "rev" && text.contains(|c: char| c.is_whitespace() || "~^:?*[\\".contains(c)) {
                self.wrong(
                    *span,
                    format!("`{text}` is not a revision"),
                    "expected a commit, tag or branch",
                    "name one",
                );
            }
        }
        match (path, url, rev) {
            (Some((path, _)), None, None) => Some(Source::Path(path)),
            (None, Some((url, _)), Some((rev, _))) => Some(Source::Git { url, rev }),
            (None, Some(_), None) if !table.contains_key("rev") => {
                let help = "add `rev = \"...\"`, a commit or a tag";
                self.wrong(span, "a dependency by git needs a revision", "`rev` is missing", help);
                None
            }
            // A key that is not known or has no text has been complained about.
            _ if table.iter().any(|(key, value)| !keys.contains(&&**key.get_ref()) || !value.get_ref().is_str()) => {
                None
            }
            _ => {
                self.wrong(span, PATH_OR_GIT, "neither of them", "name a folder, or a repository and a revision in it");
                None
            }
        }
    }

    /// Complains about keys that mean nothing.
    fn known(&mut self, table: &Table, place: &str, known: &[&str]) {
        for key in table.keys().filter(|key| !known.contains(&&**key.get_ref())) {
            let name: &DeString = key.get_ref();
            let message = format!("{place} has no key `{name}`");
            let error = Diagnostic::error("V0502", message, self.span(key.span()), "unknown key");
            let error = error.note(format!("it may have {}", list(known)));
            self.errors.push(match closest(name, known.iter()) {
                Some(nearest) => error.help(format!("did you mean `{nearest}`?")).fix(self.span(key.span()), *nearest),
                None => error.help("remove it"),
            });
        }
    }

    fn table<'t>(&mut self, value: &'t Spanned<DeValue<'t>>, message: &str, help: &str) -> Option<&'t Table<'t>> {
        if let DeValue::Table(table) = value.get_ref() {
            return Some(table);
        }
        self.wrong(self.span(value.span()), message, "not a table", help);
        None
    }

    fn text(&mut self, table: &Table, key: &str) -> Option<(String, Span)> {
        let value = table.get(key)?;
        let span = self.span(value.span());
        if let DeValue::String(text) = value.get_ref() {
            return Some((text.to_string(), span));
        }
        self.wrong(span, format!("`{key}` is a text"), "expected a text", "write it in quotes");
        None
    }

    /// Names are parts of imports and of names of folders, on all systems.
    fn name(&mut self, name: &str, span: Span) {
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        if name == "library" {
            let message = "a package cannot be called `library`";
            self.wrong(span, message, "means the standard library in imports", "choose another name");
        } else if !is_name {
            let message = format!("`{}` is not a name for a package", name.escape_debug());
            let help = "names consist of letters from a to z, digits, `-` and `_`, and begin with a letter";
            self.wrong(span, message, "expected a name", help);
        }
    }
}

fn is_version(text: &str) -> bool {
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let parts = text[..end].split('.');
    let all_numbers = parts.clone().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    all_numbers && parts.count() == 3
}

fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
