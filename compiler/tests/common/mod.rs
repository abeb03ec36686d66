//! The ways to run a program that tests compare, and what tests of whole programs need besides: folders with files,
//! `vlad` with arguments, other commands, the pages of the documentation.
//!
//! Program text, standard input → what a person at a terminal sees. Every engine runs the whole `vlad` program, so that
//! messages and exit codes are tested with the rest.

#![allow(dead_code)]

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
pub use vlad::promises::Outcome;
use vlad::promises::Promises;

pub mod pages;

/// What `vlad` does with small programs takes nothing like this long, and installing Python's packages not either.
pub const TOOLS_LIMIT: Duration = Duration::from_secs(300);

/// Programs with which the evaluator is busy for seconds: other tests than those of executables leave them out.
const LONG: [&str; 9] = [
    "examples/batch-likelihood.vlad",
    "examples/logistic-regression.vlad",
    "tests/run/library/nested-searches.vlad",
    "tests/run/random/moments-of-parameters.vlad",
    "tests/run/recursion/deep.vlad",
    "tests/run/rounds/arrays.vlad",
    "tests/run/searches/bounds-and-conditions.vlad",
    "tests/run/searches/methods.vlad",
    "tests/run/termination/known-numbers.vlad",
];

/// Whether a program takes the evaluator long. All of the gallery do.
pub fn is_long(file: &Path) -> bool {
    file.components().any(|folder| folder.as_os_str() == "gallery") || LONG.iter().any(|name| file.ends_with(name))
}

/// The program `vlad`, its messages without colours.
pub fn vlad(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vlad"));
    command.args(arguments).env("NO_COLOR", "1").env_remove("CC").env_remove("VLAD_CACHE");
    command
}

/// A folder with files in it.
pub fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("temporary folders can be made");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("the name is relative to the folder")).expect("it is new");
        fs::write(path, text).expect("temporary files can be written");
    }
    folder
}

/// The names of everything in a folder, in order.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder exists");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A way to run programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Its name in the names of tests.
    pub name: &'static str,
    /// The arguments of `vlad` before the file.
    arguments: &'static [&'static str],
}

/// The reference evaluator: the oracle.
pub const EVALUATOR: Engine = Engine { name: "eval", arguments: &["eval"] };

/// Compiled code; a program that cannot be compiled completely is an error.
pub const NATIVE: Engine = Engine { name: "native", arguments: &["run", "--native"] };

impl Engine {
    /// The arguments of `vlad` before the file.
    pub fn arguments(&self) -> &'static [&'static str] {
        self.arguments
    }

    /// Runs the program in a file; after `limit` it is killed.
    pub fn run(&self, file: &Path, input: &str, limit: Duration) -> Outcome {
        let mut command = vlad(self.arguments);
        command.arg(file);
        run_command(command, input, limit)
    }
}

/// Runs a command with a text as its input; after `limit` it is killed.
pub fn run_command(command: Command, input: &str, limit: Duration) -> Outcome {
    let (code, output, messages) = run_on_bytes(command, input.as_bytes(), limit);
    Outcome { code, output: String::from_utf8_lossy(&output).into_owned(), messages }
}

/// The same with bytes: exit code, standard output, standard error.
pub fn run_on_bytes(mut command: Command, input: &[u8], limit: Duration) -> (Option<i32>, Vec<u8>, String) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = spawn(&mut command);
    let output = child.stdout.take().map(collect);
    let messages = child.stderr.take().map(collect);
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input has closed it: no mistake.
        let _ = stdin.write_all(input);
    }
    let code = wait(&mut child, limit);
    let bytes = |collector: Option<std::thread::JoinHandle<Vec<u8>>>| {
        collector.and_then(|collector| collector.join().ok()).unwrap_or_default()
    };
    (code, bytes(output), String::from_utf8_lossy(&bytes(messages)).into_owned())
}

/// Starts a command. An executable that has just been written is busy as long as a process that another thread was about
/// to start then still has the file.
fn spawn(command: &mut Command) -> Child {
    loop {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => std::thread::sleep(Duration::from_millis(1)),
            child => return child.unwrap_or_else(|error| panic!("{command:?}: {error}")),
        }
    }
}

/// Reads a stream to its end beside the test, so that a program that prints much does not block.
fn collect(mut stream: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        bytes
    })
}

fn wait(child: &mut Child, limit: Duration) -> Option<i32> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.code(),
            Ok(None) if start.elapsed() < limit => std::thread::sleep(pause),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// What the comments of a program give it as standard input.
pub fn input(text: &str) -> String {
    Promises::read(text).input
}
