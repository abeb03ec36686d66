//! Files → the datums of one program, and the modules that they belong to.
//!
//! Includes are spliced: each file once for each module, where the first `include` of it stands; the same file is
//! recognised under any path. The definitions of a file that is imported come before those of the file that imports
//! it, once; what else it consists of is its own affair and left out. A file that includes or imports itself, directly
//! or through others, is a mistake. What can be read of a file with mistakes is read, so that others are found in it.
//!
//! An import may also mean a file of a package that the project depends on ([`crate::projects`]). Files of such a
//! package import each other, and what their own package depends on; none of them is outside its folder.

use crate::base::source::with_line_feeds;
use crate::base::{Diagnostic, FileId, SourceMap, Span};
use crate::expand::error::Error;
use crate::expand::names::basis;
use crate::expand::names::modules::{Import, ModuleId, Modules, Names, Origin};
use crate::expand::program::outline;
use crate::expand::program::stalingrad;
use crate::expand::stdlib;
use crate::expand::{Dialect, Options};
use crate::projects::Packages;
use crate::syntax::{self, Datum, DatumKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// How an import is written.
const IMPORT_FORM: &str = "(import \"name\" (only a b ...) (prefix p:))";
/// How a module says what it provides.
const PROVIDE_FORM: &str = "(provide name ...)";
/// What the names of the library's files begin with in imports.
const LIBRARY: &str = "library/";

/// Collects the datums of a program.
pub struct Loader<'a> {
    options: &'a Options,
    sources: &'a mut SourceMap,
    /// Canonical paths of all files met so far, with the modules that they belong to.
    seen: FxHashSet<(ModuleId, PathBuf)>,
    /// The modules that have been imported, by the canonical paths of their files.
    imported: FxHashMap<PathBuf, ModuleId>,
    modules: Modules,
    /// The module that what is read belongs to.
    current: ModuleId,
    packages: Packages,
    /// The package that what is read belongs to: 0 is that of the program.
    package: usize,
    /// The files being read, from the program's own file inwards.
    open: Vec<Open>,
    datums: Vec<Datum>,
    unread: Unread,
    errors: Vec<Diagnostic>,
}

/// What is not known of a program with mistakes in its text.
#[derive(Default)]
pub struct Unread {
    /// The names in what could not be read.
    pub names: FxHashSet<Rc<str>>,
    /// Whether whole files or declarations are missing.
    pub is_partial: bool,
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
        let (seen, imported, modules, open, datums, unread, errors) = Default::default();
        let (current, packages, package) = (Modules::PROGRAM, Packages::new(options.access), 0);
        Loader { options, sources, seen, imported, modules, current, packages, package, open, datums, unread, errors }
    }

    /// All datums, the modules, and what the mistakes say and hide that prevented reading some.
    pub fn finish(mut self) -> (Vec<Datum>, Modules, Unread, Vec<Diagnostic>) {
        self.modules.loaded(Modules::PROGRAM);
        (self.datums, self.modules, self.unread, self.errors)
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

    /// Reads a file; `include` is the place that asks for it. Returns whether it could be read.
    fn load(&mut self, path: &Path, include: Option<Span>) -> bool {
        let canonical = self.sources.canonical(path);
        if let Some(first) = self.open.iter().position(|open| open.canonical == canonical) {
            let mut cycle: Vec<String> = self.open[first..].iter().map(|open| open.shown.clone()).collect();
            cycle.push(path.display().to_string());
            if let Some(span) = include {
                self.error(Error::IncludeCycle(span, cycle));
            }
            return false;
        }
        if self.seen.contains(&(self.current, canonical.clone())) {
            return true;
        }
        let shown = path.display().to_string();
        let text = match self.sources.read(path) {
            Err(error) => Err(Box::new(Error::Unreadable(include, shown, error.to_string()))),
            Ok(bytes) => text_of(bytes, &shown, include, self.sources),
        };
        match text {
            Ok(text) => self.splice(path, canonical, &text),
            Err(error) => {
                self.error(*error);
                return false;
            }
        }
        true
    }

    /// The datums of a file. In place of a definition with mistakes in its text stands one that says nothing, so that
    /// its name is known.
    fn read(&mut self, file: FileId, text: &str) -> Vec<Datum> {
        let (datums, errors) = syntax::parse(file, text);
        if errors.is_empty() {
            return datums;
        }
        self.errors.extend(errors);
        let mut found = Vec::new();
        for (datums, is_right) in syntax::recover_parts(file, text) {
            if is_right {
                found.extend(datums);
                continue;
            }
            for datum in &datums {
                datum.names(&mut |name| {
                    self.unread.names.insert(name.clone());
                });
                found.extend(outline::definition(datum).map(|definition| unknown(&definition)));
            }
        }
        found
    }

    fn splice(&mut self, path: &Path, canonical: PathBuf, text: &str) {
        let shown = path.display().to_string();
        let file = self.sources.add(shown.clone(), text, false);
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        self.modules.own_file(file, self.current);
        self.seen.insert((self.current, canonical.clone()));
        self.open.push(Open { canonical, shown, folder });
        let mut datums = self.read(file, text);
        if self.options.dialect == Dialect::Stalingrad {
            let (program, error) = stalingrad::program(datums);
            error.into_iter().for_each(|error| self.error(error));
            datums = program;
        }
        let defined: FxHashSet<Rc<str>> =
            outline::definitions(&datums).into_iter().map(|definition| definition.name).collect();
        for datum in datums {
            let word = |word: &str| if defined.contains(word) { None } else { datum.behind(word) };
            if let Some(operands) = datum.behind("include") {
                self.include(datum.span, operands);
            } else if let Some(operands) = word(basis::IMPORT) {
                self.import(datum.span, operands);
            } else if let Some(operands) = word(basis::PROVIDE) {
                self.provide(datum.span, operands);
            } else if self.current == Modules::PROGRAM || outline::definition(&datum).is_some() {
                self.datums.push(datum);
            } else if word("arguments").is_some() {
                self.error(Error::ArgumentsInModule(datum.span));
            }
        }
        self.open.pop();
    }

    fn include(&mut self, span: Span, operands: &[Datum]) {
        let [Datum { kind: DatumKind::Str(name), .. }] = operands else {
            return self.error(Error::Malformed(span, "include", "(include \"name\")"));
        };
        if let Some(path) = self.find(span, name) {
            self.load(&path, Some(span));
        }
    }

    /// The file that a name stands for, beside the file being read or in one of the folders for that.
    fn find(&mut self, span: Span, name: &Rc<str>) -> Option<PathBuf> {
        self.first_file(span, name, self.candidates(name), self.package)
    }

    /// The first of these paths that is a file. In a package other than the program's it is inside.
    fn first_file(&mut self, span: Span, name: &Rc<str>, paths: Vec<PathBuf>, package: usize) -> Option<PathBuf> {
        let Some(found) = paths.iter().find(|path| self.sources.is_file(path)) else {
            let tried = paths.iter().map(|path| path.display().to_string()).collect();
            let own = "check the spelling, or add the folder with `-I`";
            let help = if package == 0 { own } else { "check the spelling" };
            self.error(Error::IncludeNotFound { span, name: name.clone(), tried, help });
            return None;
        };
        match self.packages.get(package) {
            Some(inside) if package > 0 && !self.sources.canonical(found).starts_with(&inside.folder) => {
                let (name, package) = (name.clone(), inside.name.clone());
                self.error(Error::OutsidePackage { span, name, package });
                None
            }
            _ => Some(found.clone()),
        }
    }

    fn candidates(&self, name: &str) -> Vec<PathBuf> {
        let file_name = if name.ends_with(".vlad") { name.to_string() } else { format!("{name}.vlad") };
        let beside = self.open.last().map(|open| open.folder.clone()).unwrap_or_default();
        // What a package means by its names does not depend on who uses it.
        let others = if self.package == 0 { &self.options.include_dirs[..] } else { &[] };
        std::iter::once(&beside).chain(others).map(|folder| folder.join(&file_name)).collect()
    }

    /// The file that an import stands for and its package, if that is one that the package at hand depends on. An error
    /// has been reported.
    fn dependency(&mut self, span: Span, name: &Rc<str>) -> Result<Option<(PathBuf, usize)>, ()> {
        let (Some(program), Some(from)) = (self.open.first(), self.open.last()) else { return Ok(None) };
        let from = from.shown.clone();
        if let Some(path) = self.sources.link(&from, name) {
            return Ok(Some((path, self.package)));
        }
        let found = match self.packages.find(&program.folder, self.package, name, self.sources) {
            Ok(found) => found,
            Err(mistakes) => {
                self.unread.is_partial = true;
                self.errors.extend(mistakes.into_iter().map(|mistake| mistake.secondary(span, "imported here")));
                let is_file = self.candidates(name).iter().any(|path| self.sources.is_file(path));
                return if is_file { Ok(None) } else { Err(()) };
            }
        };
        let Some((path, package)) = found else { return Ok(None) };
        let path = self.first_file(span, name, vec![path], package).ok_or(())?;
        let canonical = self.sources.canonical(&path);
        let is_other = |other: &&PathBuf| self.sources.is_file(other) && self.sources.canonical(other) != canonical;
        if let Some(other) = self.candidates(name).iter().find(is_other) {
            self.error(Error::FileAndDependency { span, name: name.clone(), file: other.display().to_string() });
            return Err(());
        }
        self.sources.add_link(&from, name, &path);
        Ok(Some((path, package)))
    }

    fn import(&mut self, span: Span, operands: &[Datum]) {
        let Some((name, only, prefix)) = import_parts(operands) else {
            return self.error(match operands.first().and_then(Datum::symbol) {
                Some(name) => {
                    let right = format!("(import \"{name}\")");
                    Error::Miswritten { span, form: "import", usage: IMPORT_FORM, right }
                }
                None => Error::Malformed(span, "import", IMPORT_FORM),
            });
        };
        let Ok(dependency) = self.dependency(span, name) else { return };
        let library = name.strip_prefix(LIBRARY).and_then(|name| stdlib::file_of(name.trim_end_matches(".vlad")));
        let from = match library {
            Some(file) if !self.candidates(name).iter().any(|path| self.sources.is_file(path)) => Origin::Library(file),
            _ => {
                let found = dependency.or_else(|| Some((self.find(span, name)?, self.package)));
                let Some((path, package)) = found else { return };
                let outer = std::mem::replace(&mut self.package, package);
                let module = self.module(&path, span);
                self.package = outer;
                let Some(module) = module else { return };
                Origin::Module(module)
            }
        };
        self.modules.module(self.current).imports.push(Import { from, only, prefix });
    }

    /// The module of a file; it is read if it has not been.
    fn module(&mut self, path: &Path, import: Span) -> Option<ModuleId> {
        let canonical = self.sources.canonical(path);
        let is_open = self.open.iter().any(|open| open.canonical == canonical);
        if let Some(module) = self.imported.get(&canonical).filter(|_| !is_open) {
            return Some(*module);
        }
        let module = self.modules.add(&path.display().to_string());
        let outer = std::mem::replace(&mut self.current, module);
        let is_read = self.load(path, Some(import));
        self.current = outer;
        self.modules.loaded(module);
        self.imported.insert(canonical, module);
        is_read.then_some(module)
    }

    fn provide(&mut self, span: Span, operands: &[Datum]) {
        match names(operands) {
            Some(names) => self.modules.module(self.current).provides.get_or_insert_default().extend(names),
            None => self.error(Error::Malformed(span, "provide", PROVIDE_FORM)),
        }
    }

    fn error(&mut self, error: Error) {
        self.unread.is_partial = true;
        self.errors.push(error.to_diagnostic());
    }
}

/// A function of the name that a definition defines, which takes any operands.
fn unknown(definition: &outline::Outline) -> Datum {
    let span = definition.name_span;
    let symbol = |name: &str| Datum { kind: DatumKind::Symbol(Rc::from(name)), span };
    let list = |items| Datum { kind: DatumKind::List(items), span };
    let nothing = list(Vec::new());
    let function = list(vec![symbol("lambda"), symbol("all"), nothing]);
    list(vec![symbol("define"), symbol(&definition.name), function])
}

/// The names that datums are, if there are any and nothing else is among them.
fn names(datums: &[Datum]) -> Option<Names> {
    let names = datums.iter().map(|datum| Some((datum.symbol()?.clone(), datum.span)));
    names.collect::<Option<Names>>().filter(|names| !names.is_empty())
}

/// The parts of an import: the file's name, the names wanted if not all are, and the prefix.
fn import_parts(operands: &[Datum]) -> Option<(&Rc<str>, Option<Names>, Rc<str>)> {
    let [Datum { kind: DatumKind::Str(name), .. }, clauses @ ..] = operands else { return None };
    let (mut only, mut prefix) = (None, None);
    for clause in clauses {
        match clause.list()? {
            [head, wanted @ ..] if head.is_symbol("only") && only.is_none() => only = Some(names(wanted)?),
            [head, text] if head.is_symbol("prefix") && prefix.is_none() => prefix = Some(text.symbol()?.clone()),
            _ => return None,
        }
    }
    Some((name, only, prefix.unwrap_or_default()))
}
