//! The tools around the compiler, from outside: what `vlad` does with arguments, files and standard input.
//!
//! One module for each tool; [`documented`] runs the commands that `docs/tools.md` shows.

#[path = "../common/mod.rs"]
mod common;

use common::{TOOLS_LIMIT, folder, run_command};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

mod commands;

mod contracts;

mod damaged;

mod doc;

mod arguments;

mod derivative;

mod documented;

mod errors;

mod files;

mod fmt;

mod gradcheck;

mod json;

mod jupyter;

mod lsp;

mod manual;

mod new;

mod options;

mod profile;

mod ranks;

mod repl;

mod report;

mod shards;

mod test;

/// What a command leaves: exit code, standard output, standard error.
type Outcome = (Option<i32>, String, String);

/// Runs `vlad` in a folder, with a text as its standard input.
fn vlad(folder: &TempDir, arguments: &[&str], input: &str) -> Outcome {
    let mut command = common::vlad(arguments);
    command.current_dir(folder);
    run(command, input)
}

/// Runs a command with a text as its standard input.
fn run(command: Command, input: &str) -> Outcome {
    let outcome = run_command(command, input, TOOLS_LIMIT);
    (outcome.code, outcome.output, outcome.messages)
}

/// The text of a file.
fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
