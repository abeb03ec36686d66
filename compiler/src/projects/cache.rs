//! Checkouts of packages: a commit of a git repository → a folder with its files.
//!
//! ```text
//! ~/.cache/vlad/packages/stats-0f5c…/     the files of a commit, read-only
//! ~/.cache/vlad/packages/unfinished-…/    what is being fetched, or was when that was interrupted
//! ~/.cache/vlad/packages/.lock            whoever fetches holds it
//! ```
//!
//! A checkout appears when it is whole. It holds what the commit holds, byte for byte: what git would do to the files
//! by way of attributes and settings is left out, and symbolic links are files that say where they would lead. So its
//! hash depends on the commit alone, and nothing in it leads out of it.

use super::lock::is_commit;
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why a commit could not be fetched.
pub enum Failure {
    /// There is no `git`, or it cannot be run.
    NoGit(io::Error),
    /// What git says.
    Git(String),
    /// The repository has no such revision.
    NoRevision,
    /// The cache cannot be written.
    Cache(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Cache(error)
    }
}

/// The folder for what can be made again: `VLAD_CACHE`, or `vlad` among the caches of the user.
pub fn root() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let users = || absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    let own = std::env::var_os("VLAD_CACHE").and_then(|name| std::path::absolute(name).ok());
    own.or_else(|| Some(users()?.join("vlad")))
}

/// Whether a file is in a checkout.
pub fn holds(path: &Path) -> bool {
    root().is_some_and(|root| path.starts_with(root.join(PACKAGES)))
}

const PACKAGES: &str = "packages";
const UNFINISHED: &str = "unfinished-";

/// The cache.
pub struct Cache {
    folder: PathBuf,
}

/// The right to change the cache, which one process has at a time. It ends with the process.
pub struct Turn {
    _file: File,
}

impl Cache {
    /// The cache of the user.
    ///
    /// # Errors
    ///
    /// When the environment does not say where it is.
    pub fn of_user() -> io::Result<Cache> {
        let root = root().ok_or_else(|| io::Error::other("neither VLAD_CACHE nor HOME names a folder"))?;
        Ok(Cache { folder: root.join(PACKAGES) })
    }

    /// Where the checkout of a commit is, if there is one.
    pub fn checkout(&self, name: &str, commit: &str) -> PathBuf {
        self.folder.join(format!("{name}-{commit}"))
    }

    /// Waits until no other process changes the cache, and takes away what interrupted ones have left.
    ///
    /// # Errors
    ///
    /// When the cache cannot be written.
    pub fn turn(&self) -> io::Result<Turn> {
        fs::create_dir_all(&self.folder)?;
        let file = File::create(self.folder.join(".lock"))?;
        file.lock()?;
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_name().as_bytes().starts_with(UNFINISHED.as_bytes()) {
                // The git of a process that was killed may go on for a while; the next turn comes.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(Turn { _file: file })
    }

    /// Fetches a revision, also if there is a checkout of it, and tells which commit it is.
    ///
    /// # Errors
    ///
    /// When the repository does not give it, or the cache cannot be written.
    pub fn fetch(&self, _turn: &Turn, name: &str, url: &OsStr, rev: &str) -> Result<String, Failure> {
        let unfinished = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&self.folder)?;
        let (repository, files) = (unfinished.path().join(".git"), unfinished.path().join("files"));
        fs::create_dir(&files)?;
        let git = |arguments: &[&OsStr]| git(&repository, &files, arguments);
        let words = |words: &str| words.split(' ').map(OsString::from).collect::<Vec<OsString>>();
        let run = |text: &str, more: &[&OsStr]| {
            let words = words(text);
            git(&words.iter().map(OsString::as_os_str).chain(more.iter().copied()).collect::<Vec<&OsStr>>())
        };
        run("init --quiet --template=", &[])?;
        fs::create_dir_all(repository.join("info"))?;
        fs::write(repository.join("info/attributes"), "* -text !filter -ident !working-tree-encoding\n")?;
        let fetch = "fetch --quiet --no-tags --no-recurse-submodules";
        // Servers give commits, tags and branches alone; beginnings of names of commits need the whole history.
        let alone = run(&format!("{fetch} --depth=1 --"), &[url, rev.as_ref()]);
        let commit = match alone {
            Ok(_) => run("rev-parse --verify --quiet FETCH_HEAD^{commit}", &[]),
            Err(Failure::NoGit(error)) => return Err(Failure::NoGit(error)),
            Err(_) => {
                let all = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
                run(&format!("{fetch} --update-head-ok --"), &[&[url], &all.map(OsStr::new)[..]].concat())?;
                run("rev-parse --verify --quiet", &[format!("{rev}^{{commit}}").as_ref()])
            }
        };
        let commit = commit.ok().filter(|commit| is_commit(commit)).ok_or(Failure::NoRevision)?;
        run("read-tree --reset -u --no-recurse-submodules", &[commit.as_ref()])?;
        protect(&files)?;
        let place = self.checkout(name, &commit);
        if place.symlink_metadata().is_ok() {
            // Somebody may be reading what is right.
            if hash(&place).is_ok_and(|found| hash(&files).is_ok_and(|new| new == found)) {
                return Ok(commit);
            }
            fs::rename(&place, unfinished.path().join("old"))?;
        }
        fs::rename(&files, place)?;
        Ok(commit)
    }
}

/// Runs git, for which the files of the repository belong where it runs; what it prints.
fn git(repository: &Path, files: &Path, arguments: &[&OsStr]) -> Result<String, Failure> {
    let mut command = Command::new("git");
    command.current_dir(files).arg("--git-dir").arg(repository);
    for setting in ["core.symlinks=false", "gc.auto=0", "maintenance.auto=false"] {
        command.args(["-c", setting]);
    }
    // Whoever calls this may be called by git for another repository.
    let names = "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES \
                 GIT_COMMON_DIR GIT_NAMESPACE GIT_SHALLOW_FILE GIT_PREFIX";
    for name in names.split(' ') {
        command.env_remove(name);
    }
    // Standard input is that of the program that is about to run.
    command.args(arguments).env("LC_ALL", "C").stdin(Stdio::null());
    let output = command.output().map_err(Failure::NoGit)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(Failure::Git(text(&output.stderr))) }
}

/// The files in a folder, by their paths there, and whether each is nothing else.
fn files(folder: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    let (mut found, mut waiting) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(inner) = waiting.pop() {
        for entry in fs::read_dir(folder.join(&inner))? {
            let entry = entry?;
            let (path, kind) = (inner.join(entry.file_name()), entry.file_type()?);
            if kind.is_dir() { waiting.push(path) } else { found.push((path, kind.is_file())) }
        }
    }
    found.sort();
    Ok(found)
}

/// Nobody should change a checkout by mistake.
fn protect(folder: &Path) -> io::Result<()> {
    for (path, _) in files(folder)? {
        let path = folder.join(path);
        let mut permissions = fs::metadata(&path)?.permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions)?;
    }
    Ok(())
}

/// The hash of the files in a folder: their names, lengths and bytes.
///
/// # Errors
///
/// When they cannot be read, or are not all files.
pub fn hash(folder: &Path) -> io::Result<String> {
    let mut digest = Sha256::new();
    for (path, is_file) in files(folder)? {
        if !is_file {
            return Err(io::Error::other(format!("{} is not a file", path.display())));
        }
        let bytes = fs::read(folder.join(&path))?;
        let name = path.as_os_str().as_bytes();
        digest.update((name.len() as u64).to_le_bytes());
        digest.update(name);
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(&bytes);
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_depend_on_names_and_bytes_alone() {
        let folder = |files: &[(&str, &str)]| {
            let folder = tempfile::tempdir().expect("temporary folders can be made");
            for (name, text) in files {
                let path = folder.path().join(name);
                fs::create_dir_all(path.parent().expect("it has one")).expect("it is new");
                fs::write(path, text).expect("it can be written");
            }
            hash(folder.path()).expect("they are files")
        };
        let first = folder(&[("a", "1"), ("b/c", "2")]);
        assert_eq!(first.len(), 64);
        assert_eq!(folder(&[("b/c", "2"), ("a", "1")]), first);
        for other in [&[("a", "1"), ("b/c", "3")][..], &[("a", "1"), ("b/d", "2")], &[("a", "12"), ("b/c", "")], &[]] {
            assert_ne!(folder(other), first);
        }
        let folder = tempfile::tempdir().expect("temporary folders can be made");
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("a")).expect("it is new");
        assert!(hash(folder.path()).is_err());
    }
}
