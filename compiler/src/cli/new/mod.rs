//! `vlad new`: make a folder with a program to start from, its tests, and what says how to use them.
//!
//! The files stand beside this one; `{{name}}` in them stands for the name of the folder, `{{package}}` for what a
//! package can be called instead of it. The folder appears when it is complete, and never replaces anything.

use super::{FAULT, USAGE, terminal};
use crate::base::Diagnostic;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What `vlad new` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder to make; the program is called so.
    name: PathBuf,
}

/// The files, by name.
const FILES: &[(&str, &str)] = &[
    ("main.vlad", include_str!("main.vlad")),
    ("line.vlad", include_str!("line.vlad")),
    ("test.vlad", include_str!("test.vlad")),
    ("vlad.toml", include_str!("vlad.toml")),
    ("README.md", include_str!("README.md")),
    (".gitignore", include_str!("gitignore")),
];

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> u8 {
    let folder = &arguments.name;
    let Some(name) = folder.file_name() else {
        return refused("this is not a name for a new folder", folder, "write a name such as `vlad new pendulum`");
    };
    if folder.symlink_metadata().is_ok() {
        return refused("there is something of this name", folder, "choose another name, or remove what is there");
    }
    match make(folder, &name.to_string_lossy()) {
        Ok(()) => {
            let folder = folder.display();
            terminal::print(&format!("made {folder}; try: cd {folder} && vlad run main.vlad && vlad test *.vlad\n"))
        }
        Err(error) => {
            let message = format!("cannot make `{}`: {error}", folder.display());
            terminal::report_plain(&Diagnostic::error_without_place("V0828", message));
            FAULT
        }
    }
}

fn refused(why: &str, folder: &Path, help: &str) -> u8 {
    let message = format!("cannot make `{}`: {why}", folder.display());
    terminal::report_plain(&Diagnostic::error_without_place("V0827", message).help(help));
    USAGE
}

/// The name of a package that is most like a name.
fn package(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    match name.trim_start_matches(|c: char| !c.is_ascii_alphabetic()) {
        "" | "library" => "program".to_string(),
        name => name.to_string(),
    }
}

fn make(folder: &Path, name: &str) -> io::Result<()> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !parent.is_dir() {
        return Err(io::Error::other(format!("there is no folder `{}`", parent.display())));
    }
    let unfinished = tempfile::Builder::new().prefix(".vlad-new-").tempdir_in(parent);
    // The error would name the temporary folder.
    let unfinished = unfinished.map_err(|error| io::Error::from(error.kind()))?;
    // Temporary folders are their owner's alone; this one is to be like others.
    let inner = unfinished.path().join("folder");
    fs::create_dir(&inner)?;
    for (file, text) in FILES {
        fs::write(inner.join(file), text.replace("{{name}}", name).replace("{{package}}", &package(name)))?;
    }
    fs::rename(&inner, folder)
}
