//! Manifests → the packages of a project.
//!
//! Goes through the packages that each needs, depth first, in the order of their names. A name that is met again must
//! be the same folder; a package that is met within itself is a mistake. What the lock file and the cache have needs no
//! network and changes nothing; only if something is missing this begins again, with the right to change the cache, so
//! that of several processes one fetches, and the others find what it has fetched.

use super::cache::{self, Cache, Failure, Turn};
use super::lock::{self, Entry};
use super::manifest::{self, Dependency, Source};
use super::{Access, Package, Project, sure};
use crate::base::source::normal;
use crate::base::spelling::closest;
use crate::base::{Diagnostic, SourceMap, Span};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no project.
enum Stop {
    /// It is wrong.
    Mistake(Vec<Diagnostic>),
    /// Something has to be fetched.
    Absent,
}

impl From<Diagnostic> for Stop {
    fn from(mistake: Diagnostic) -> Stop {
        Stop::Mistake(vec![mistake])
    }
}

/// What an update has done to an entry of the lock file.
#[derive(Debug)]
pub struct Update {
    /// The name of the package.
    pub name: String,
    /// The revision that the manifest asks for.
    pub rev: String,
    /// The commit that it was before, if it was there.
    pub before: Option<String>,
    /// The commit that it is now, if it is needed.
    pub now: Option<String>,
}

/// Puts the packages of the project in a folder together.
///
/// # Errors
///
/// What is wrong with it.
pub fn project(root: &Path, access: Access, sources: &mut SourceMap) -> Result<Project, Vec<Diagnostic>> {
    whole(root, access, &|_| false, sources).map(|(project, _)| project)
}

/// Fetches dependencies by git of the project in a folder anew, all or those with these names, and writes the lock
/// file.
///
/// # Errors
///
/// What is wrong with the project.
pub fn update(root: &Path, names: &[String], sources: &mut SourceMap) -> Result<Vec<Update>, Vec<Diagnostic>> {
    let is_renewed = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let before = lock::read(&root.join(lock::NAME), sources).map_err(|error| vec![*error])?;
    let (project, now) = whole(root, Access::Fetch, &is_renewed, sources)?;
    for name in names {
        let known = || project.packages[1..].iter().map(|package| package.name.as_str());
        if !known().any(|known| known == name) {
            let message = format!("the project does not depend on `{name}`");
            let error = Diagnostic::error_without_place("V0514", message);
            return Err(vec![match closest(name, known()) {
                Some(nearest) => error.help(format!("did you mean `{nearest}`?")),
                None => error.help(format!("{} lists what it depends on", manifest::NAME)),
            }]);
        }
    }
    let rows = |entries: &[Entry]| -> BTreeMap<(String, String), String> {
        entries.iter().map(|row| ((row.name.clone(), row.rev.clone()), row.commit.clone())).collect()
    };
    let (before, now) = (rows(&before), rows(&now));
    let all: BTreeMap<_, _> = before.iter().chain(&now).collect();
    let updates = all.into_keys().filter(|key| is_renewed(&key.0) || before.get(key) != now.get(key));
    let update = |key: &(String, String)| Update {
        name: key.0.clone(),
        rev: key.1.clone(),
        before: before.get(key).cloned(),
        now: now.get(key).cloned(),
    };
    Ok(updates.map(update).collect())
}

fn whole(
    root: &Path,
    access: Access,
    is_renewed: &dyn Fn(&str) -> bool,
    sources: &mut SourceMap,
) -> Result<(Project, Vec<Entry>), Vec<Diagnostic>> {
    let lock_file = root.join(lock::NAME);
    let before = sources.len();
    let mut turn = None;
    loop {
        let locked = lock::read(&lock_file, sources).map_err(|error| vec![*error])?;
        let folder = sure(root).canonicalize().map_err(|error| vec![failed("read", root, &error)])?;
        let place = Place { shown: root.to_path_buf(), folder, within: None };
        let (needed, packages, asked, open) = Default::default();
        let mut resolver =
            Resolver { sources, access, is_renewed, turn: turn.as_ref(), locked, needed, packages, asked, open };
        let outcome = resolver.package(place, None);
        let Resolver { mut locked, mut needed, packages, .. } = resolver;
        needed.sort();
        locked.sort();
        match outcome {
            Err(Stop::Mistake(mistakes)) => return Err(mistakes),
            Ok(_) if needed == locked || access == Access::Look || turn.is_some() => {
                if needed != locked && access != Access::Look {
                    lock::write(&lock_file, &needed).map_err(|error| vec![failed("write", &lock_file, &error)])?;
                }
                sources.truncate(before);
                return Ok((Project { packages }, needed));
            }
            Ok(_) if access == Access::Locked => {
                let message = format!("{} has entries that are not needed", lock_file.display());
                return Err(vec![Diagnostic::error_without_place("V0511", message).help(UNLOCKED)]);
            }
            // Behind whoever changes the cache now, all may be there.
            _ => turn = Some(Cache::of_user().and_then(|cache| cache.turn()).map_err(|error| vec![no_cache(&error)])?),
        }
        sources.truncate(before);
    }
}

const UNLOCKED: &str = "`vlad update` writes the lock file anew; with `--locked` it stays as it is";

fn failed(what: &str, path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::error_without_place("V0513", format!("cannot {what} `{}`: {error}", path.display()))
}

fn no_cache(error: &io::Error) -> Diagnostic {
    let message = format!("the cache of packages cannot be used: {error}");
    Diagnostic::error_without_place("V0513", message).help("the variable VLAD_CACHE names another folder for it")
}

/// Where a package is.
struct Place {
    shown: PathBuf,
    folder: PathBuf,
    within: Option<PathBuf>,
}

struct Resolver<'a> {
    sources: &'a mut SourceMap,
    access: Access,
    /// Whether a package is fetched anew, whatever the lock file says.
    is_renewed: &'a dyn Fn(&str) -> bool,
    turn: Option<&'a Turn>,
    locked: Vec<Entry>,
    needed: Vec<Entry>,
    packages: Vec<Package>,
    /// For each package who asks for it first, where, and for what.
    asked: Vec<(Span, String)>,
    /// The packages around the one at hand.
    open: Vec<usize>,
}

impl Resolver<'_> {
    /// The package in a folder, with all that it needs. `asked` is the name that it is asked for by, and where, and
    /// what to say there.
    fn package(&mut self, place: Place, asked: Option<(&str, Span, String)>) -> Result<usize, Stop> {
        let file = place.shown.join(manifest::NAME);
        if let Some((name, span, _)) = asked.as_ref().filter(|_| !self.sources.is_file(&file)) {
            let message = format!("`{name}` is not a package");
            let error = Diagnostic::error("V0504", message, *span, "has no manifest");
            let error = error.note(format!("there is no file {}", file.display()));
            return Err(error.help(format!("a package is a folder with a file {}", manifest::NAME)).into());
        }
        let found = manifest::read(&file, self.sources).map_err(Stop::Mistake)?;
        if let Some((name, span, _)) = asked.as_ref().filter(|(name, ..)| *name != found.name) {
            let message = format!("the package `{name}` is called `{}` there", found.name);
            let error = Diagnostic::error("V0504", message, *span, "another name");
            let error = error.secondary(found.name_span, "the name of the package");
            return Err(error.help(format!("write `{}` here and in imports", found.name)).into());
        }
        let id = self.packages.len();
        let Place { shown, folder, within } = place;
        let (name, module) = (found.name, found.module);
        self.asked.push(asked.map_or((found.name_span, "the program's own package".into()), |row| (row.1, row.2)));
        self.packages.push(Package { name, shown, folder, within, module, dependencies: BTreeMap::new() });
        self.open.push(id);
        for (name, dependency) in found.dependencies {
            let (place, commit) = self.place(id, &name, &dependency)?;
            let known = self.packages.iter().position(|package| package.name == name);
            let requirer = &self.packages[id].name;
            let what = match &dependency.source {
                Source::Path(path) => format!("`{requirer}` needs the folder `{path}`"),
                Source::Git { rev, .. } => format!("`{requirer}` needs `{rev}`, commit {}", short(&commit)),
            };
            let target = match known {
                None => self.package(place, Some((&name, dependency.span, what)))?,
                Some(known) if self.packages[known].folder != place.folder => {
                    let revisions = self.packages[known].within.is_some() && place.within.is_some();
                    let places = if revisions { "at two revisions" } else { "from two places" };
                    let message = format!("`{name}` is needed {places}");
                    let error = Diagnostic::error("V0505", message, dependency.span, what);
                    let (first, why) = &self.asked[known];
                    let error = error.secondary(*first, why).note("a name stands for one package in all of a program");
                    return Err(error.help("let both ask for the same").into());
                }
                Some(known) if self.open.contains(&known) => {
                    let around = self.open.iter().skip_while(|open| **open != known).chain([&known]);
                    let names: Vec<String> = around.map(|id| format!("`{}`", self.packages[*id].name)).collect();
                    let message = format!("packages need each other in a circle: {}", names.join(" → "));
                    let error = Diagnostic::error("V0506", message, dependency.span, "closes the circle");
                    return Err(error.help("move what both need to a package of its own").into());
                }
                Some(known) => known,
            };
            self.packages[id].dependencies.insert(name, target);
        }
        self.open.pop();
        Ok(id)
    }

    /// Where a dependency of a package is, and its commit if it is one by git.
    fn place(&mut self, from: usize, name: &str, dependency: &Dependency) -> Result<(Place, String), Stop> {
        let Dependency { span, source } = dependency;
        let Package { shown, folder, within, .. } = &self.packages[from];
        match source {
            Source::Path(path) => {
                let joined = shown.join(path);
                let shorter = normal(&joined);
                // Behind a link, `..` leads elsewhere.
                let is_same = self.sources.canonical(&shorter) == self.sources.canonical(&joined);
                let shown = if is_same { shorter } else { joined };
                let error = |code, message: String, label: &str| Diagnostic::error(code, message, *span, label);
                let inside = |folder: &Path| within.as_ref().is_none_or(|within| folder.starts_with(within));
                let real = self.sources.real(&shown);
                let found = sure(&real).canonicalize();
                // What is not there may be so as well.
                if !inside(&normal(&real)) || found.as_ref().is_ok_and(|folder| !inside(folder)) {
                    let message = format!("`{path}` is outside the repository");
                    let help = "dependencies by path of a package from git are in the same repository";
                    return Err(error("V0508", message, "leads out of it").help(help).into());
                }
                let folder = found.map_err(|cause| {
                    let message = format!("there is no folder `{path}` for `{name}`");
                    error("V0504", message, "not found").note(cause.to_string()).help("correct `path`")
                })?;
                Ok((Place { shown, folder, within: within.clone() }, String::new()))
            }
            Source::Git { url, rev } => {
                // Git takes for a path what has no scheme and no host in front of a colon.
                let start = url.split('/').next().unwrap_or_default();
                let is_address = url.contains("://") || start.contains(':');
                let address = if is_address { url.into() } else { folder.join(url).into_os_string() };
                let (folder, commit) = self.checkout(name, (url, address), rev, *span)?;
                let shown = PathBuf::from(format!("<{name}>"));
                self.sources.show_folder(&shown, folder.clone());
                Ok((Place { shown, within: Some(folder.clone()), folder }, commit))
            }
        }
    }

    /// The checkout of a revision, and which commit that is. `url` is the repository as the manifest says it, and as
    /// git is told it.
    fn checkout(
        &mut self,
        name: &str,
        url: (&str, OsString),
        rev: &str,
        span: Span,
    ) -> Result<(PathBuf, String), Stop> {
        let error = |code, message: String, label: &str| Diagnostic::error(code, message, span, label);
        let cache = Cache::of_user().map_err(|error| no_cache(&error))?;
        let folder = |commit: &str| cache.checkout(name, commit);
        let canonical = |commit: &str| folder(commit).canonicalize().map_err(|error| Stop::from(no_cache(&error)));
        let fetch = |turn: &Turn, rev: &str| {
            let fetched = cache.fetch(turn, name, &url.1, rev);
            fetched.map_err(|failure| Stop::from(not_fetched(failure, name, url.0, rev, span)))
        };
        if let Some(entry) = self.needed.iter().find(|entry| entry.is_for(name, url.0, rev)) {
            return Ok((canonical(&entry.commit)?, entry.commit.clone()));
        }
        let is_it = |entry: &&Entry| entry.is_for(name, url.0, rev) && !(self.is_renewed)(name);
        let entry = match (self.locked.iter().find(is_it).cloned(), self.turn) {
            (Some(entry), turn) => {
                if !folder(&entry.commit).is_dir() {
                    match turn {
                        Some(turn) => drop(fetch(turn, &entry.commit)?),
                        None if self.access == Access::Look => {
                            let message = format!("`{name}` has not been fetched yet");
                            return Err(error("V0511", message, "not there").help("`vlad update` fetches it").into());
                        }
                        None => return Err(Stop::Absent),
                    }
                }
                if self.access != Access::Look {
                    let found = cache::hash(&folder(&entry.commit));
                    if !found.as_ref().is_ok_and(|found| *found == entry.sha256) {
                        let message = format!("`{name}` is not what {} says", lock::NAME);
                        let error = error("V0510", message, "other contents");
                        let error = error.note(format!("expected the hash {}", entry.sha256)).note(match found {
                            Ok(found) => format!("found the hash {found} in {}", folder(&entry.commit).display()),
                            Err(cause) => format!("{}: {cause}", folder(&entry.commit).display()),
                        });
                        let help = format!("`vlad update {name}` fetches it anew, and takes what it finds for right");
                        return Err(error.help(help).into());
                    }
                }
                entry
            }
            (None, _) if self.access != Access::Fetch => {
                let message = format!("`{name}` is not in {}", lock::NAME);
                return Err(error("V0511", message, "not there yet").help(UNLOCKED).into());
            }
            (None, None) => return Err(Stop::Absent),
            (None, Some(turn)) => {
                let is_there = lock::is_commit(rev) && folder(rev).is_dir() && !(self.is_renewed)(name);
                let commit = if is_there { rev.to_string() } else { fetch(turn, rev)? };
                let sha256 = cache::hash(&folder(&commit)).map_err(|error| no_cache(&error))?;
                Entry { name: name.into(), git: url.0.into(), rev: rev.into(), commit, sha256 }
            }
        };
        let found = (canonical(&entry.commit)?, entry.commit.clone());
        self.needed.push(entry);
        Ok(found)
    }
}

/// The beginning of the name of a commit.
fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

fn not_fetched(failure: Failure, name: &str, url: &str, rev: &str, span: Span) -> Diagnostic {
    let error = |message: String, label: &str| Diagnostic::error("V0509", message, span, label);
    match failure {
        Failure::NoGit(cause) => error(format!("cannot fetch `{name}` without git"), "a dependency by git")
            .note(format!("cannot run `git`: {cause}"))
            .help("install git, or use a folder: `path = \"...\"`"),
        Failure::Git(said) => {
            let error = error(format!("cannot fetch `{name}` from `{url}`"), "git fails");
            let error = said.lines().take(5).fold(error, |error, line| error.note(format!("git: {line}")));
            error.help("check the address, the network, and whether you may read the repository")
        }
        Failure::NoRevision => error(format!("`{url}` has no revision `{rev}`"), "not found")
            .help("name a commit, a tag or a branch that is in the repository"),
        Failure::Cache(cause) => no_cache(&cause),
    }
}
