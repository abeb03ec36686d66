//! The commands of README.md do what it says: `vlad-gradbench` measures, and calls a function on an input.
//!
//! `measure` is told to measure one eval, since all take a minute. Of `compare`, which fetches other tools and takes an
//! hour, only the options are looked at. `gradbench` itself is not here; `evals.rs` speaks its protocol.

use std::path::Path;
use std::process::{Command, Output};

/// Runs `vlad-gradbench` in a folder.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vlad-gradbench"));
    command.args(arguments).current_dir(folder).output().expect("the program starts")
}

#[test]
fn the_commands_of_the_readme_work() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = std::fs::read_to_string(page).expect("there is a README");
    let prefix = "cargo run --release -p vlad-gradbench -- ";
    let commands: Vec<Vec<&str>> = text
        .lines()
        .filter_map(|line| line.strip_prefix(prefix))
        .map(|command| command.split(" #").next().unwrap_or_default().split_whitespace().collect())
        .collect();
    let folder = tempfile::tempdir().expect("there are temporary folders");
    std::fs::write(folder.path().join("input.json"), r#"{"x": [1, 1], "min_runs": 2, "min_seconds": 0}"#)
        .expect("there is room");
    let mut measured = false;
    for command in &commands {
        if command[0] == "compare" {
            vlad_gradbench::compare::Options::parse(&command[1..])
                .unwrap_or_else(|error| panic!("{command:?}: {error}"));
            continue;
        }
        if command[0] == "measure" {
            // All the names of a command must be right; one is measured, once.
            let known = |name: &&str| vlad_gradbench::evals::Eval::find(name).is_ok();
            assert!(command[1..].iter().all(known), "{command:?}");
            if std::mem::replace(&mut measured, true) {
                continue;
            }
        }
        let arguments: &[&str] = if command[0] == "measure" { &["measure", "lse"] } else { command };
        let output = run(folder.path(), arguments);
        let (printed, messages) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{command:?}: {messages}");
        if command[0] == "measure" {
            let rows = printed.lines().filter(|line| line.starts_with("lse ")).count();
            assert_eq!(rows, 2, "{printed}");
        } else {
            let mut lines = printed.lines();
            assert_eq!(lines.next(), Some("[0.5,0.5]"), "{printed}");
            assert!(lines.clone().count() >= 2 && lines.all(|line| line.contains("\"evaluate\"")), "{printed}");
        }
    }
    assert!(measured && commands.len() >= 3, "{commands:?}");
}

#[test]
fn a_wrong_command_is_refused() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    for (arguments, message) in [
        (&["measure", "nothing"][..], "nothing"),
        (&["lse"][..], "usage: vlad-gradbench"),
        (&["lse", "missing.json", "gradient"][..], "missing.json"),
    ] {
        let output = run(folder.path(), arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(message), "{arguments:?}: {output:?}");
    }
}
