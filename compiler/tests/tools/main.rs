//! The tools around the compiler, from outside: what `vlad` does with arguments, files and standard input.
//!
//! One module for each tool; [`documented`] runs the commands that `docs/tools.md` shows.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

mod commands;

mod doc;

mod arguments;

mod derivative;

mod documented;

mod errors;

mod fmt;

mod json;

mod lsp;

mod manual;

mod new;

mod repl;

mod test;

/// What a command leaves: exit code, standard output, standard error.
type Outcome = (Option<i32>, String, String);

/// Runs `vlad` in a folder, with a text as its standard input.
fn vlad(folder: &TempDir, arguments: &[&str], input: &str) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vlad"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env_remove("CC");
    run(command, input)
}

/// Runs a command with a text as its standard input.
fn run(mut command: Command, input: &str) -> Outcome {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    // A program that does not read its input has closed it: no mistake. What it prints fits into the pipes.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("the command was started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// A folder with files in it.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("temporary folders can be made");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("the name is relative to the folder")).expect("it is new");
        fs::write(path, text).expect("temporary files can be written");
    }
    folder
}

/// The text of a file.
fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
