//! The commands in blocks fenced with `sh`, of all pages, are run.
//!
//! Such blocks show commands without their output. Each of them stands in one of the tables below: either it is run
//! here (by the `vlad` that was just built, in the folder that its page speaks of), or the table says what runs it
//! instead.

use crate::common::pages::shell;
use crate::{folder, text};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Commands that are not run here: their beginning, and what runs them.
const ELSEWHERE: &[(&str, &str)] = &[
    ("cargo test --workspace", "whoever runs this"),
    ("VLAD_RANDOM=", "`compiler/tests/random` runs what it finds in the page, with fewer programs"),
    ("cargo run --release -p vlad-gradbench -- ", "`benches/gradbench/tests/documented.rs`"),
    ("gradbench run ", "needs GradBench; the tests of `vlad-gradbench` speak its protocol"),
    ("cargo install --locked --path compiler", "builds the compiler once more, which takes minutes; tried by hand"),
    ("python3 -m pip install jupyterlab", "installs programs of others"),
    ("vlad jupyter install", "`jupyter.rs`, in folders of its own"),
    ("jupyter lab", "waits for a browser; `jupyter.rs` speaks the protocol instead"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All pages of the tree.
fn pages() -> Vec<String> {
    let mut list = Command::new("git");
    list.args(["ls-files", "*.md"]).current_dir(root());
    let (code, listed, messages) = crate::run(list, "");
    assert_eq!(code, Some(0), "{messages}");
    listed.lines().map(str::to_string).collect()
}

/// The commands of a page in blocks fenced with `sh`, without comments; lines that end in `\` go on in the next.
fn commands(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    let mut begun = String::new();
    for line in text(&root().join(page)).lines() {
        match (inside, line.starts_with("```")) {
            (_, true) => inside = !inside && matches!(line, "```sh" | "```bash" | "```shell"),
            (true, false) => {
                let code = line.split(" #").next().unwrap_or_default().trim();
                begun.push_str(code.trim_end_matches('\\'));
                if !code.ends_with('\\') && !begun.is_empty() {
                    found.push(std::mem::take(&mut begun));
                }
            }
            (false, false) => {}
        }
    }
    found
}

/// Pages with commands and what these print, and the test that runs them.
const WITH_OUTPUT: &[(&str, &str)] = &[
    ("README.md", "libraries"),
    ("docs/checkpointing.md", "tools::documented"),
    ("docs/distributed.md", "libraries"),
    ("docs/errors.md", "tools::errors"),
    ("docs/from-cpp.md", "libraries"),
    ("docs/language.md", "tools::documented"),
    ("docs/libraries.md", "libraries"),
    ("docs/numerics.md", "tools::documented"),
    ("docs/programs.md", "tools::documented"),
    ("docs/projects.md", "tools::documented"),
    ("docs/stalingrad.md", "tools::documented"),
    ("docs/tools.md", "tools::documented"),
];

#[test]
fn every_page_with_commands_and_their_output_has_a_test() {
    let is_with_output = |page: &String| text(&root().join(page)).lines().any(|line| line.starts_with("```console"));
    let found: Vec<String> = pages().into_iter().filter(is_with_output).collect();
    assert_eq!(found, WITH_OUTPUT.iter().map(|row| row.0).collect::<Vec<_>>());
}

#[test]
fn every_command_for_a_shell_is_run() {
    let mut used = vec![false; ELSEWHERE.len()];
    let mut run = 0;
    for page in pages() {
        // What `vlad new` copies speaks of the folder that it makes.
        let is_of_new = page == "compiler/src/cli/new/README.md";
        let scratch = folder(&[]);
        if is_of_new {
            assert_eq!(shell(scratch.path(), &[], "vlad new here > /dev/null"), "");
        }
        let place = if is_of_new { scratch.path().join("here") } else { root() };
        for command in commands(&page) {
            if let Some(row) = ELSEWHERE.iter().position(|row| command.starts_with(row.0)) {
                used[row] = true;
                continue;
            }
            let command = command.replace("cargo run --release -p vlad -- ", "vlad ");
            assert!(command.starts_with("vlad "), "{page}: nothing runs `{command}`");
            let printed = shell(&place, &[], &format!("{command} < /dev/null"));
            assert!(!printed.contains("[exit code"), "{page}: {command}\n{printed}");
            let may_be_silent =
                ["vlad fmt", "vlad build", "vlad repl"].iter().any(|silent| command.starts_with(silent));
            assert!(may_be_silent || !printed.is_empty(), "{page}: {command} prints nothing");
            run += 1;
        }
    }
    assert!(run >= 10, "{run} commands");
    for (row, used) in ELSEWHERE.iter().zip(used) {
        assert!(used, "no page has a command `{}`: it needs no exception", row.0);
    }
}
