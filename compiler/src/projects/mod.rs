//! Projects: a program's file → the packages that it may import from.
//!
//! ```text
//! fit/vlad.toml     [dependencies] stats = { git = "https://example.org/stats", rev = "v1.2" }
//! fit/vlad.lock     which commit `v1.2` was, and the hash of its files
//! fit/main.vlad     (import "stats")            the module of the package
//!                   (import "stats/models")     the file models.vlad in its folder
//! ```
//!
//! A package is a folder with a manifest ([`manifest`]). That of a program is the nearest one above its file; it is
//! looked for at the first import, and the packages that it needs, directly or through others, are put together at the
//! first import of one of them ([`resolve`]). So a program without dependencies pays nothing for those of others. A
//! name stands for one package in all of a program. Folders of this machine are used as they are; a revision in a git
//! repository is fetched once ([`cache`]), and [`lock`] holds what it was, so that it stays the same, everywhere.
//!
//! Files of a package by git are called `<stats>/models.vlad` in messages and in what is compiled, so that these do not
//! depend on where the cache is.

pub mod cache;

mod lock;

mod manifest;

mod resolve;

pub use resolve::{Update, update};

use crate::base::{Diagnostic, SourceMap};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// What may be done about dependencies that are not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// They are fetched, and noted in the lock file.
    #[default]
    Fetch,
    /// They are fetched as the lock file says, which is not changed.
    Locked,
    /// Nothing is fetched, written or compared: for editors.
    Look,
}

/// A package of a project.
#[derive(Clone, Debug)]
pub struct Package {
    /// What imports call it.
    pub name: String,
    /// Its folder as messages call it.
    pub shown: PathBuf,
    /// Its folder; the path is canonical.
    pub folder: PathBuf,
    /// The checkout that its files and its dependencies by path are in, if it is a dependency by git.
    within: Option<PathBuf>,
    /// The file that its name alone stands for.
    module: String,
    /// The packages that it needs, by name.
    dependencies: BTreeMap<String, usize>,
}

/// A package, and those that it needs.
#[derive(Clone, Debug)]
pub struct Project {
    /// All of them. The first is that of the program.
    pub packages: Vec<Package>,
}

impl Project {
    /// The package, and the file in its folder, that an import in a file of a package stands for, if it is one of a
    /// dependency.
    pub fn find(&self, package: usize, name: &str) -> Option<(usize, String)> {
        let (first, rest) = name.split_once('/').map_or((name, None), |(first, rest)| (first, Some(rest)));
        let found = *self.packages.get(package)?.dependencies.get(first)?;
        let file = match rest {
            None => self.packages[found].module.clone(),
            Some(rest) if rest.ends_with(".vlad") => rest.to_string(),
            Some(rest) => format!("{rest}.vlad"),
        };
        Some((found, file))
    }
}

/// The project of a program, as far as it has been needed.
#[derive(Debug, Default)]
pub struct Packages {
    access: Access,
    state: State,
}

#[derive(Debug, Default)]
enum State {
    /// Nobody has asked.
    #[default]
    Unknown,
    /// There is none.
    None,
    /// It is wrong, as has been said.
    Wrong,
    /// The folder of the manifest, and the names of what is needed.
    Manifest(PathBuf, Vec<String>),
    Whole(Project),
}

impl Packages {
    /// What is known before the first import.
    pub fn new(access: Access) -> Packages {
        Packages { access, state: State::Unknown }
    }

    /// A package.
    pub fn get(&self, package: usize) -> Option<&Package> {
        match &self.state {
            State::Whole(project) => project.packages.get(package),
            _ => None,
        }
    }

    /// The file that an import stands for if it is one of a dependency, and its package; `folder` is that of the
    /// program's file, `package` the one that the importing file belongs to.
    ///
    /// # Errors
    ///
    /// What is wrong with the project. It is said once; then there is nothing to say any more.
    pub fn find(
        &mut self,
        folder: &Path,
        package: usize,
        name: &str,
        sources: &mut SourceMap,
    ) -> Result<Option<(PathBuf, usize)>, Vec<Diagnostic>> {
        if let State::Unknown = self.state {
            let Some(root) = root(folder).filter(|_| !sources.is_closed()) else {
                self.state = State::None;
                return Ok(None);
            };
            self.state = State::Wrong;
            let before = sources.len();
            let manifest = manifest::read(&root.join(manifest::NAME), sources)?;
            sources.truncate(before);
            self.state = State::Manifest(root, manifest.dependencies.into_keys().collect());
        }
        if let State::Manifest(root, names) = &self.state {
            let first = name.split('/').next().unwrap_or_default();
            if !names.iter().any(|name| name == first) {
                return Ok(None);
            }
            let root = root.clone();
            self.state = State::Wrong;
            self.state = State::Whole(resolve::project(&root, self.access, sources)?);
        }
        match &self.state {
            State::Whole(project) => {
                let found = project.find(package, name);
                Ok(found.map(|(package, file)| (project.packages[package].shown.join(file), package)))
            }
            State::Wrong => Err(Vec::new()),
            _ => Ok(None),
        }
    }
}

/// The folder of the nearest manifest, in a folder or above it.
pub fn root(folder: &Path) -> Option<PathBuf> {
    let mut folder = folder.to_path_buf();
    let levels = sure(&folder).canonicalize().ok()?.components().count();
    for _ in 0..levels {
        if folder.join(manifest::NAME).is_file() {
            return Some(folder);
        }
        match folder.components().next_back() {
            Some(Component::Normal(_)) => drop(folder.pop()),
            _ => folder.push(".."),
        }
    }
    None
}

/// A folder whose name may be empty.
fn sure(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// The packages of the project in a folder, as they are now, for editors.
pub fn look(root: &Path) -> Option<Project> {
    resolve::project(root, Access::Look, &mut SourceMap::new()).ok()
}
