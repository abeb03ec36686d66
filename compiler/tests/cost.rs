//! Derivatives preserve complexity: the number of arithmetic operations of a gradient in reverse mode, and of a
//! directional derivative in forward mode, is a small multiple of that of the function.
//!
//! `tests/cost/*.vlad` define a function `f` with a number as value and an argument `x`; includes are looked up from the
//! root of the tree. The reference evaluator counts the operations of `(f x)` and of its derivatives, less those of the
//! definitions.

mod common;

use common::run_command;
use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A derivative takes at most so many times the operations of the function.
const FACTOR: u64 = 5;

/// No program here takes anything like this long.
const LIMIT: Duration = Duration::from_secs(120);

/// Names of modes, and what is computed in them.
const MODES: [(&str, &str); 2] = [("reverse", "((gradient-R f) x)"), ("forward", "(jvp-F f x x)")];

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the compiler stands in the workspace");
    let folder = root.join("tests/cost");
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a folder can be listed").path())
        .collect();
    paths.sort();
    let mut trials = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for (mode, derivative) in MODES {
            let (path, root) = (path.clone(), root.to_path_buf());
            trials.push(Trial::test(format!("{name} ({mode})"), move || check(&path, &root, derivative)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn check(path: &Path, root: &Path, derivative: &str) -> Result<(), Failed> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let definitions = operations(&text, root)?;
    let primal = operations(&format!("{text}(f x)\n"), root)? - definitions;
    let derived = operations(&format!("{text}{derivative}\n"), root)? - definitions;
    println!("{}: {derived} operations, {primal} of the function", path.display());
    if derived <= FACTOR * primal {
        Ok(())
    } else {
        Err(format!("{derived} operations are more than {FACTOR} times the {primal} of the function").into())
    }
}

/// How many arithmetic operations a program takes.
fn operations(text: &str, root: &Path) -> Result<u64, Failed> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = scratch.path().join("program.vlad");
    fs::write(&file, text).map_err(|error| error.to_string())?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_vlad"));
    command.args(["eval", "--count", "-I"]).arg(root).arg(&file);
    let outcome = run_command(command, "", LIMIT);
    let total = outcome.messages.lines().find_map(|line| line.strip_prefix("total"));
    let count = total.and_then(|count| count.trim().parse().ok());
    match count {
        Some(count) if outcome.code == Some(0) => Ok(count),
        _ => Err(format!("ended with {:?}\n{}", outcome.code, outcome.messages).into()),
    }
}
