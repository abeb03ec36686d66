//! Modules: files with top-level names of their own, and which of them other files see.
//!
//! ```text
//! (import "models")                      every name that models.vlad provides
//! (import "models" (only fit predict))   these two
//! (import "models" (prefix m:))          all of them, as m:fit, m:predict
//! (import "library/linear" (prefix l:))  what the library's file linear.vlad defines
//! (provide fit predict)                  what a file provides; without it, all that it defines
//! ```
//!
//! The program's own file is a module as well; a file that is included belongs to the module that includes it. A name
//! means what its module defines, or else what the module imports, or else what the library defines. A name that two
//! imports bring, and with different meanings, may not be used. Modules are loaded before those that import them
//! ([`crate::expand::program::load`]), so what one provides is known when it is imported.

use crate::base::entity::entity_id;
use crate::base::spelling::closest;
use crate::base::{EntityVec, FileId, Span};
use crate::core::ir::GlobalId;
use crate::expand::error::Error;
use crate::expand::stdlib;
use crate::syntax::Datum;
use rustc_hash::FxHashMap;
use std::rc::Rc;

entity_id! {
    /// A module of the program; the first is the program's own.
    ModuleId, "module"
}

/// What an import imports from.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// A module of the program.
    Module(ModuleId),
    /// A file of the library, by its position among [`stdlib::FILES`].
    Library(usize),
}

/// Names, and where they stand.
pub type Names = Vec<(Rc<str>, Span)>;

/// An import as written.
#[derive(Clone, Debug)]
pub struct Import {
    /// Where the names come from.
    pub from: Origin,
    /// The names wanted, if not all are, and where they stand.
    pub only: Option<Names>,
    /// What stands in front of each.
    pub prefix: Rc<str>,
}

/// A top-level name of another module or of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A definition of the program.
    User(GlobalId),
    /// A definition of the library.
    Library(GlobalId),
}

/// What an imported name stands for.
#[derive(Clone, Debug)]
enum Imported {
    /// One definition, and the file that it was imported from.
    One(Target, Rc<str>),
    /// Several, from these two files among others.
    Several([Rc<str>; 2]),
}

/// What a module's names stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// One definition.
    One(Target),
    /// Definitions of two modules.
    Several([Rc<str>; 2]),
}

/// A module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Its file, for people.
    pub shown: Rc<str>,
    /// Its imports, in order.
    pub imports: Vec<Import>,
    /// What it says that it provides; `None` stands for all that it defines.
    pub provides: Option<Names>,
    /// What it defines: the definitions of each name, and the blocks of definitions that they stand in, in order.
    own: FxHashMap<Rc<str>, Vec<(u32, GlobalId)>>,
    imported: FxHashMap<Rc<str>, Imported>,
}

/// All modules.
#[derive(Debug)]
pub struct Modules {
    modules: EntityVec<ModuleId, Module>,
    /// The module that a file belongs to.
    of_file: FxHashMap<FileId, ModuleId>,
    /// Modules in the order in which they were loaded, each behind those that it imports.
    order: Vec<ModuleId>,
    /// The module whose names are looked up.
    current: ModuleId,
    /// The block of definitions that names are looked up from. Only the language of the original compiler has more than
    /// one: see [`crate::expand::program::stalingrad`].
    block: u32,
}

impl Default for Modules {
    fn default() -> Modules {
        let mut modules = EntityVec::new();
        modules.push(Module::default());
        Modules { modules, of_file: FxHashMap::default(), order: Vec::new(), current: Modules::PROGRAM, block: 0 }
    }
}

impl Modules {
    /// The module of the program's own file.
    pub const PROGRAM: ModuleId = ModuleId(0);

    /// A new module, whose file is called `shown`.
    pub fn add(&mut self, shown: &str) -> ModuleId {
        self.modules.push(Module { shown: Rc::from(shown), ..Module::default() })
    }

    /// A module, to say what it imports and provides.
    pub fn module(&mut self, module: ModuleId) -> &mut Module {
        &mut self.modules[module]
    }

    /// Says which module a file belongs to.
    pub fn own_file(&mut self, file: FileId, module: ModuleId) {
        self.of_file.insert(file, module);
    }

    /// Says that everything in a module has been read.
    pub fn loaded(&mut self, module: ModuleId) {
        self.order.push(module);
    }

    /// From here on names are those of the module that this file belongs to, as seen from a block of definitions.
    pub fn enter(&mut self, file: FileId, block: u32) {
        self.block = block;
        self.current = self.of_file.get(&file).copied().unwrap_or(Modules::PROGRAM);
    }

    /// From here on names are those of the program's own module.
    pub fn enter_program(&mut self) {
        self.block = u32::MAX;
        self.current = Modules::PROGRAM;
    }

    /// The module whose names are looked up.
    pub fn current(&self) -> ModuleId {
        self.current
    }

    /// The block of definitions that names are looked up from.
    pub fn block(&self) -> u32 {
        self.block
    }

    /// Defines a name in the current module.
    pub fn define(&mut self, name: Rc<str>, global: GlobalId) {
        self.modules[self.current].own.entry(name).or_default().push((self.block, global));
    }

    /// What the current module defines or imports under a name.
    pub fn find(&self, name: &str) -> Option<Found> {
        self.find_in(self.current, name)
    }

    fn find_in(&self, module: ModuleId, name: &str) -> Option<Found> {
        let module = &self.modules[module];
        if let Some(definitions) = module.own.get(name) {
            // The last one so far; before all of them, the first.
            let seen = definitions.iter().rev().find(|(block, _)| *block <= self.block);
            return seen.or(definitions.first()).map(|(_, global)| Found::One(Target::User(*global)));
        }
        Some(match module.imported.get(name)? {
            Imported::One(target, _) => Found::One(*target),
            Imported::Several(files) => Found::Several(files.clone()),
        })
    }

    /// The names that the current module defines and imports.
    pub fn names(&self) -> impl Iterator<Item = &Rc<str>> {
        let module = &self.modules[self.current];
        module.own.keys().chain(module.imported.keys())
    }

    /// The library's names that imports of it give other names to, as far as these occur in the datums.
    pub fn library_names(&self, datums: &[Datum]) -> Vec<&'static str> {
        let mut names = Vec::new();
        for import in self.modules.values().flat_map(|module| &module.imports) {
            let Origin::Library(file) = import.from else { continue };
            let all = stdlib::names_in(file);
            match &import.only {
                Some(only) => names.extend(all.filter(|name| only.iter().any(|(wanted, _)| **wanted == **name))),
                None if import.prefix.is_empty() => {}
                None => {
                    let mut found = Vec::new();
                    for datum in datums {
                        datum.names(&mut |name| found.extend(name.strip_prefix(&*import.prefix)));
                    }
                    names.extend(all.filter(|name| found.iter().any(|mentioned| **mentioned == **name)));
                }
            }
        }
        names
    }

    /// Gives every module the names that it imports. All names are defined; `library` are those of the library that
    /// the program needs. Returns the mistakes: names that no module provides.
    pub fn resolve(&mut self, library: &FxHashMap<Rc<str>, GlobalId>) -> Vec<Error> {
        let mut errors = Vec::new();
        for position in 0..self.order.len() {
            let module = self.order[position];
            for import in self.modules[module].imports.clone() {
                self.import(module, &import, library, &mut errors);
            }
            for (name, span) in self.modules[module].provides.clone().unwrap_or_default() {
                if self.find_in(module, &name).is_none() {
                    let nearest = closest(&name, self.modules[module].own.keys().cloned());
                    errors.push(Error::NotProvided { span, name, file: None, nearest });
                }
            }
        }
        errors
    }

    fn import(
        &mut self,
        into: ModuleId,
        import: &Import,
        library: &FxHashMap<Rc<str>, GlobalId>,
        errors: &mut Vec<Error>,
    ) {
        let file = match import.from {
            Origin::Module(from) => self.modules[from].shown.clone(),
            Origin::Library(file) => Rc::from(stdlib::FILES[file].name),
        };
        let provided: FxHashMap<Rc<str>, Option<Target>> = match import.from {
            Origin::Module(from) => {
                let module = &self.modules[from];
                let named = module.provides.iter().flatten().map(|row| &row.0);
                let own = module.own.keys().filter(|_| module.provides.is_none());
                let target = |name: &Rc<str>| match self.find_in(from, name) {
                    Some(Found::One(target)) => Some(target),
                    _ => None,
                };
                named.chain(own).map(|name| (name.clone(), target(name))).collect()
            }
            // What is not needed is not there, and nobody asks for it.
            Origin::Library(file) => stdlib::names_in(file)
                .filter(|name| !name.starts_with('%'))
                .map(|name| (Rc::from(name), library.get(name).copied().map(Target::Library)))
                .collect(),
        };
        if let Some(only) = &import.only {
            for (name, span) in only.iter().filter(|(name, _)| !provided.contains_key(name)) {
                let nearest = closest(name, provided.keys().cloned());
                let (name, file) = (name.clone(), Some(file.clone()));
                errors.push(Error::NotProvided { span: *span, name, file, nearest });
            }
        }
        let is_wanted =
            |name: &Rc<str>| import.only.as_ref().is_none_or(|only| only.iter().any(|(wanted, _)| wanted == name));
        for (name, target) in provided {
            let Some(target) = target.filter(|_| is_wanted(&name)) else { continue };
            let name = Rc::from(format!("{}{name}", import.prefix));
            let imported = &mut self.modules[into].imported;
            let meaning = match imported.get(&name) {
                Some(Imported::One(other, first)) if *other != target => {
                    Imported::Several([first.clone(), file.clone()])
                }
                Some(Imported::Several(_)) => continue,
                _ => Imported::One(target, file.clone()),
            };
            imported.insert(name, meaning);
        }
    }
}
