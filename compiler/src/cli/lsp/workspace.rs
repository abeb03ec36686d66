//! The files that belong together, and what their top-level names stand for.
//!
//! A *module* is a file with those that it includes. It has the names that it defines, and those that it imports; see
//! [`crate::expand::names::modules`], whose rules these are, here for programs that may be wrong. A file may be part of
//! several modules: a name in it that it does not define itself stands for what the files say that include it.
//!
//! Files are read as the editor shows them, or else as they are. What has been found out about modules is kept until a
//! file changes.

use super::document::{self, Document};
use super::library;
use crate::base::source::normal;
use crate::expand::program::bindings::{BinderId, Occurrence, Role};
use crate::expand::program::outline::Outline;
use crate::projects::{self, Package, Project};
use lsp_types::Uri;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

/// Larger files are not looked at, nor more of them.
const MAX_BYTES: u64 = 4 << 20;
const MAX_FILES: usize = 10_000;

/// What a top-level name stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A definition: its file, and its position there.
    Definition(PathBuf, usize),
    /// A function of the library.
    Library(Rc<str>),
    /// What two imports bring with different meanings.
    Several,
}

/// What a name stands for where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A local variable.
    Local(BinderId),
    /// A top-level name: what it stands for in each module that the file is part of. Empty if nothing defines it.
    Top(Vec<Target>),
    /// A word of the language.
    Word,
}

/// The names of a module.
#[derive(Default)]
pub struct Module {
    /// The file of the module, and those that it includes.
    pub files: Vec<PathBuf>,
    own: FxHashMap<Rc<str>, Target>,
    /// What is defined and imported.
    pub names: FxHashMap<Rc<str>, Target>,
    provided: FxHashMap<Rc<str>, Target>,
    /// Names that are defined twice.
    pub twice: Vec<Rc<str>>,
}

/// The files whose modules are being put together.
struct Around {
    files: Vec<PathBuf>,
    /// The position of the outermost one that was needed again.
    outermost: usize,
}

impl Default for Around {
    fn default() -> Around {
        Around { files: Vec::new(), outermost: usize::MAX }
    }
}

/// A file of the system, as it was when it was read.
#[derive(Clone)]
struct OnDisk {
    changed: Option<SystemTime>,
    length: u64,
    document: Rc<Document>,
}

/// The files that include a file, directly or through others.
type Includers = FxHashMap<PathBuf, Vec<PathBuf>>;

/// All files that are known.
#[derive(Clone, Default)]
pub struct Workspace {
    include: Vec<PathBuf>,
    /// The folders that the editor has opened.
    pub folders: Vec<PathBuf>,
    open: FxHashMap<PathBuf, (Uri, Rc<Document>)>,
    disk: RefCell<FxHashMap<PathBuf, Option<OnDisk>>>,
    modules: RefCell<FxHashMap<PathBuf, Rc<Module>>>,
    /// Packages of projects, by their folders.
    packages: RefCell<FxHashMap<PathBuf, (Rc<Project>, usize)>>,
    includers: RefCell<Option<Rc<Includers>>>,
}

impl Workspace {
    /// A workspace without files.
    pub fn new(include: Vec<PathBuf>) -> Workspace {
        Workspace { include, ..Workspace::default() }
    }

    fn forget(&self) {
        self.modules.borrow_mut().clear();
        self.packages.borrow_mut().clear();
        self.includers.borrow_mut().take();
    }

    /// Shows a document in place of the file.
    pub fn open(&mut self, uri: Uri, document: Document) {
        self.open.insert(normal(&document::file(&uri)), (uri, Rc::new(document)));
        self.forget();
    }

    /// Shows the file again.
    pub fn close(&mut self, uri: &Uri) {
        self.open.remove(&normal(&document::file(uri)));
        self.forget();
    }

    /// An open document.
    pub fn shown(&self, uri: &Uri) -> Option<(PathBuf, Rc<Document>)> {
        let path = normal(&document::file(uri));
        let document = self.open.get(&path)?.1.clone();
        Some((path, document))
    }

    /// The open documents: their files, what the editor calls them, and their texts.
    pub fn all_shown(&self) -> impl Iterator<Item = (&PathBuf, &Uri, &Rc<Document>)> {
        self.open.iter().map(|(path, (uri, document))| (path, uri, document))
    }

    /// What the editor calls a file.
    pub fn uri(&self, path: &Path) -> Option<Uri> {
        self.open.get(path).map(|row| row.0.clone()).or_else(|| document::uri(path))
    }

    /// A file as the editor shows it, or as it is.
    pub fn document(&self, path: &Path) -> Option<Rc<Document>> {
        if let Some((_, document)) = self.open.get(path) {
            return Some(document.clone());
        }
        if let Some(known) = self.disk.borrow().get(path) {
            return known.as_ref().map(|file| file.document.clone());
        }
        let read = read(path);
        let document = read.as_ref().map(|file| file.document.clone());
        self.disk.borrow_mut().insert(path.to_path_buf(), read);
        document
    }

    /// Looks whether known files have changed.
    pub fn refresh(&self) {
        let mut disk = self.disk.borrow_mut();
        let stale = |path: &PathBuf, known: &Option<OnDisk>| {
            let now = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
            match (known, now) {
                (Some(known), Some(now)) => (known.changed, known.length) != (now.modified().ok(), now.len()),
                (None, None) => false,
                _ => true,
            }
        };
        let before = disk.len();
        disk.retain(|path, known| !stale(path, known));
        if disk.len() != before {
            drop(disk);
            self.forget();
        }
    }

    /// Reads the programs in the folders that the editor has opened. Without any, those in the folders of open files.
    pub fn scan(&self) {
        self.refresh();
        let mut waiting = self.folders.clone();
        let is_deep = !waiting.is_empty();
        if !is_deep {
            waiting.extend(self.open.keys().filter_map(|path| Some(path.parent()?.to_path_buf())));
        }
        let mut found = 0;
        while let Some(folder) = waiting.pop() {
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            for entry in entries {
                let (path, kind) = (entry.path(), entry.file_type());
                let name = entry.file_name().to_string_lossy().into_owned();
                if kind.as_ref().is_ok_and(std::fs::FileType::is_dir) {
                    let is_built = name.starts_with('.') || ["target", "node_modules"].contains(&&*name);
                    waiting.extend((is_deep && !is_built).then_some(path));
                } else if name.ends_with(".vlad") && kind.is_ok_and(|kind| kind.is_file()) && found < MAX_FILES {
                    found += 1;
                    let path = normal(&path);
                    if !self.disk.borrow().contains_key(&path) {
                        self.forget();
                        self.document(&path);
                    }
                }
            }
        }
    }

    /// All files that have been read.
    pub fn files(&self) -> Vec<PathBuf> {
        let disk = self.disk.borrow();
        let read = disk.iter().filter(|(_, file)| file.is_some()).map(|(path, _)| path);
        let mut files: Vec<PathBuf> = self.open.keys().chain(read).cloned().collect();
        files.sort();
        files.dedup();
        files
    }

    /// The same files, some of them with other texts.
    pub fn with(&self, changed: impl IntoIterator<Item = (PathBuf, String)>) -> Workspace {
        let mut other = self.clone();
        other.forget();
        for (path, text) in changed {
            if let Some(uri) = self.uri(&path) {
                other.open.insert(path, (uri, Rc::new(Document::new(text))));
            }
        }
        other
    }

    /// The file that a file imports under a name: one of a dependency, or one that it could include.
    pub fn find_import(&self, from: &Path, name: &str) -> Option<PathBuf> {
        self.dependency(from, name).or_else(|| self.find(from, name))
    }

    fn dependency(&self, from: &Path, name: &str) -> Option<PathBuf> {
        let shown = projects::root(from.parent()?)?;
        let root = shown.canonicalize().ok()?;
        if !self.packages.borrow().contains_key(&root) {
            let project = Rc::new(projects::look(&shown)?);
            let mut packages = self.packages.borrow_mut();
            for (id, package) in project.packages.iter().enumerate() {
                packages.insert(package.folder.clone(), (project.clone(), id));
            }
        }
        let (project, package) = self.packages.borrow().get(&root)?.clone();
        let (found, file) = project.find(package, name)?;
        let Package { shown, folder, .. } = &project.packages[found];
        // What is open has the name that the editor knows.
        let folder = if shown.is_absolute() { shown } else { folder };
        Some(normal(&folder.join(file))).filter(|path| self.document(path).is_some())
    }

    /// The file that a file includes under a name.
    pub fn find(&self, from: &Path, name: &str) -> Option<PathBuf> {
        let beside = from.parent().unwrap_or(Path::new("")).to_path_buf();
        let ending = if name.ends_with(".vlad") { "" } else { ".vlad" };
        let file = format!("{name}{ending}");
        let mut folders = std::iter::once(&beside).chain(&self.include);
        folders.find_map(|folder| Some(normal(&folder.join(&file))).filter(|path| self.document(path).is_some()))
    }

    // Modules.

    /// The module of a file.
    pub fn module(&self, path: &Path) -> Rc<Module> {
        self.module_within(path, &mut Around::default())
    }

    /// The same while others are being put together, which may not depend on themselves.
    fn module_within(&self, path: &Path, around: &mut Around) -> Rc<Module> {
        if let Some(module) = self.modules.borrow().get(path) {
            return module.clone();
        }
        if let Some(outer) = around.files.iter().position(|outer| outer == path) {
            around.outermost = around.outermost.min(outer);
            return Rc::default();
        }
        let depth = around.files.len();
        around.files.push(path.to_path_buf());
        let mut module = Module { files: self.closure(path), ..Module::default() };
        for file in &module.files {
            let Some(document) = self.document(file) else { continue };
            for (position, found) in document.bindings().definitions.iter().enumerate() {
                if module.own.contains_key(&found.name) {
                    module.twice.push(found.name.clone());
                    continue;
                }
                module.own.insert(found.name.clone(), Target::Definition(file.clone(), position));
            }
        }
        let mut names: FxHashMap<Rc<str>, Target> = FxHashMap::default();
        for (file, document) in module.files.iter().filter_map(|file| Some((file, self.document(file)?))) {
            for named in &document.bindings().files {
                let Some(import) = &named.import else { continue };
                for (name, target) in self.provided_to(file, &named.name, around) {
                    if import.only.as_ref().is_some_and(|only| !only.contains(&name)) {
                        continue;
                    }
                    let name: Rc<str> = Rc::from(format!("{}{name}", import.prefix));
                    let same = names.get(&name).is_none_or(|other| *other == target);
                    names.insert(name, if same { target } else { Target::Several });
                }
            }
        }
        names.extend(module.own.clone());
        module.names = names;
        let listed = self.provides(&module.files);
        module.provided = if listed.is_empty() {
            module.own.clone()
        } else {
            listed.iter().filter_map(|name| Some((name.clone(), module.names.get(name)?.clone()))).collect()
        };
        around.files.pop();
        let module = Rc::new(module);
        // In a circle, what was found may lack what those around were about to say.
        if around.outermost >= depth {
            around.outermost = usize::MAX;
            self.modules.borrow_mut().insert(path.to_path_buf(), module.clone());
        }
        module
    }

    fn provides(&self, files: &[PathBuf]) -> Vec<Rc<str>> {
        let documents = files.iter().filter_map(|file| self.document(file));
        documents.flat_map(|document| document.bindings().provides.clone().unwrap_or_default()).collect()
    }

    /// What a file provides to one that imports it under a name.
    fn provided_to(&self, from: &Path, name: &str, around: &mut Around) -> Vec<(Rc<str>, Target)> {
        match self.find_import(from, name) {
            Some(path) => {
                let module = self.module_within(&path, around);
                module.provided.iter().map(|(name, target)| (name.clone(), target.clone())).collect()
            }
            None => library::names_of(name).map(|name| (Rc::from(name), Target::Library(Rc::from(name)))).collect(),
        }
    }

    /// What the names stand for that a file imports with an import.
    pub fn imported(&self, from: &Path, name: &str) -> FxHashMap<Rc<str>, Target> {
        self.provided_to(from, name, &mut Around::default()).into_iter().collect()
    }

    /// A file and those that it includes, directly or through others.
    fn closure(&self, path: &Path) -> Vec<PathBuf> {
        let mut files = vec![path.to_path_buf()];
        let mut next = 0;
        while next < files.len() {
            let file = files[next].clone();
            next += 1;
            let Some(document) = self.document(&file) else { continue };
            for named in document.bindings().files.iter().filter(|named| named.import.is_none()) {
                let found = self.find(&file, &named.name).filter(|found| !files.contains(found));
                files.extend(found);
            }
        }
        files
    }

    /// The modules that a file is part of: its own first.
    pub fn modules_of(&self, path: &Path) -> Vec<Rc<Module>> {
        let mut modules = vec![self.module(path)];
        let known = self.includers.borrow().clone();
        let includers = known.unwrap_or_else(|| {
            let mut includers = Includers::default();
            for file in self.files() {
                let includes = self.document(&file).is_some_and(|document| document.text().contains("(include"));
                for part in if includes { self.closure(&file) } else { Vec::new() } {
                    if part != file {
                        includers.entry(part).or_default().push(file.clone());
                    }
                }
            }
            let includers = Rc::new(includers);
            *self.includers.borrow_mut() = Some(includers.clone());
            includers
        });
        modules.extend(includers.get(path).into_iter().flatten().map(|file| self.module(file)));
        modules
    }

    /// What a top-level name stands for in a file.
    pub fn meaning(&self, path: &Path, name: &str) -> Vec<Target> {
        let mut found: Vec<Target> = Vec::new();
        for module in self.modules_of(path) {
            let target = module.names.get(name).filter(|target| !found.contains(target));
            found.extend(target.cloned());
        }
        if found.is_empty() && library::has(name) {
            found.push(Target::Library(Rc::from(name)));
        }
        found
    }

    /// What a name stands for where it stands.
    pub fn symbol(&self, path: &Path, document: &Document, occurrence: &Occurrence) -> Symbol {
        match occurrence.role {
            Role::Binds(binder) | Role::Local(binder) => Symbol::Local(binder),
            Role::Defines(position) => Symbol::Top(vec![Target::Definition(path.to_path_buf(), position)]),
            Role::Free | Role::Provides => Symbol::Top(self.meaning(path, &occurrence.name)),
            Role::Imports(position) => {
                let file = &document.bindings().files[position].name;
                Symbol::Top(self.imported(path, file).get(&occurrence.name).cloned().into_iter().collect())
            }
            Role::Word | Role::Constructor | Role::Label => Symbol::Word,
        }
    }

    /// The definition that a top-level name stands for, with its file.
    pub fn definition(&self, target: &Target) -> Option<(PathBuf, Rc<Document>, Outline)> {
        let Target::Definition(path, position) = target else { return None };
        let document = self.document(path)?;
        let found = document.bindings().definitions.get(*position)?.clone();
        Some((path.clone(), document, found))
    }

    /// How a function is called that a top-level name stands for.
    pub fn call(&self, target: &Target) -> Option<String> {
        match target {
            Target::Library(name) => library::entry(name).and_then(|entry| entry.calls.first().cloned()),
            _ => self.definition(target).map(|(_, _, found)| found.header),
        }
    }

    /// The names that a file sees besides its local ones, with what they stand for.
    pub fn visible(&self, path: &Path) -> Vec<(Rc<str>, Target)> {
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        for module in self.modules_of(path) {
            let mut names: Vec<_> = module.names.iter().map(|(name, target)| (name.clone(), target.clone())).collect();
            names.sort_by(|a, b| a.0.cmp(&b.0));
            found.extend(names.into_iter().filter(|(name, _)| seen.insert(name.clone())));
        }
        found
    }
}

fn read(path: &Path) -> Option<OnDisk> {
    let metadata = std::fs::metadata(path).ok().filter(|found| found.is_file() && found.len() <= MAX_BYTES)?;
    let text = std::fs::read_to_string(path).ok()?;
    let (changed, length) = (metadata.modified().ok(), metadata.len());
    Some(OnDisk { changed, length, document: Rc::new(Document::new(text)) })
}
