//! The tree keeps its own rules: those that a program can check, checked.
//!
//! Files of the workspace → complaints. Each rule below says why it exists; CONTRIBUTING.md has the others. With
//! `--report` nothing is checked, and the figures of [`figures`] are printed.

mod figures;

use libtest_mimic::{Arguments, Trial};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A hand-written file longer than this holds more than one person keeps in mind.
const MOST_LINES: usize = 700;

/// Which stages the files under a folder of `compiler/src` may mention, other than themselves. The first row that
/// matches holds. A stage knows its input and its output and nothing else, so that it can be read and changed alone.
const LAYERS: &[(&str, &[&str])] = &[
    ("base/", &[]),
    ("syntax/", &["base"]),
    ("projects/", &["base"]),
    ("expand/", &["base", "syntax", "core", "projects"]),
    ("core/", &["base"]),
    ("ad/", &["base", "core"]),
    // The reference evaluator transforms λs when it applies `*j` to a closure.
    ("eval/", &["base", "core", "ad"]),
    ("shape/", &["base", "core", "ad"]),
    ("flow/", &["base", "core", "ad", "shape"]),
    ("success/", &["base", "core"]),
    ("specialize/", &["base", "core", "ad", "shape", "flow", "ssa"]),
    // Its evaluator computes with the arithmetic that `core` defines.
    ("ssa/", &["base", "core"]),
    ("opt/", &["base", "core", "ssa"]),
    ("memory/", &["base", "core", "ssa", "opt"]),
    ("codegen/", &["base", "core", "ssa"]),
    ("foreign/", &["base", "core", "shape", "flow"]),
    ("notation/", &["base", "syntax", "core", "ad", "expand"]),
    ("promises.rs", &["syntax"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the compiler stands in the workspace").to_path_buf()
}

/// The files under a folder of the workspace whose names end so, with their texts, by path relative to the workspace.
fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.map(|entry| entry.expect("a folder can be listed").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                let text = fs::read_to_string(&path).expect("sources are text");
                let relative = path.strip_prefix(&root).expect("found under the root");
                found.push((relative.to_string_lossy().into_owned(), text));
            }
        }
    }
    found.sort();
    found
}

fn rust_files() -> Vec<(String, String)> {
    ["compiler", "runtime", "benches"].iter().flat_map(|folder| files(folder, ".rs")).collect()
}

fn demand_none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

fn files_stay_short() {
    let long = rust_files().into_iter().filter(|(_, text)| text.lines().count() > MOST_LINES);
    demand_none(
        long.map(|(path, text)| format!("{path} has {} lines, more than {MOST_LINES}", text.lines().count())).collect(),
    );
}

/// A reader who opens a file learns first what goes in, what comes out and what always holds.
fn files_open_with_a_module_comment() {
    let silent = rust_files().into_iter().filter(|(_, text)| !text.starts_with("//! "));
    demand_none(silent.map(|(path, _)| format!("{path} does not start with a module comment")).collect());
}

/// What is not finished is not committed, and no test is switched off. (The words are put together here so that this
/// file does not hold them.)
fn nothing_is_left_for_later() {
    let words = [["TO", "DO"], ["FIX", "ME"], ["XX", "X"], ["#[ig", "nore"], ["todo", "!("], ["unimplemented", "!("]];
    let words: Vec<String> = words.iter().map(|word| word.concat()).collect();
    let mut complaints = Vec::new();
    let programs = ["stdlib", "examples", "benches", "compiler"].iter().flat_map(|folder| files(folder, ".vlad"));
    for (path, text) in rust_files().into_iter().chain(programs) {
        for (number, line) in text.lines().enumerate() {
            if let Some(word) = words.iter().find(|word| line.contains(word.as_str())) {
                complaints.push(format!("{path}:{} says {word}", number + 1));
            }
        }
    }
    demand_none(complaints);
}

/// A layer that knows its neighbours' neighbours cannot be replaced.
fn stages_know_only_their_neighbours() {
    let mut complaints = Vec::new();
    let stages: BTreeSet<String> =
        figures::folders("compiler/src").keys().filter_map(|path| Some(path.split('/').nth(2)?.to_string())).collect();
    for (path, text) in files("compiler/src", ".rs") {
        let inside = path.trim_start_matches("compiler/src/");
        let Some((layer, allowed)) = LAYERS.iter().find(|(layer, _)| inside.starts_with(layer)) else { continue };
        let own = layer.split('/').next().unwrap_or_default();
        for stage in figures::mentioned(&text) {
            if stages.contains(&stage) && stage != own && !allowed.contains(&stage.as_str()) {
                complaints.push(format!("{path} mentions `crate::{stage}`; it may know {allowed:?} only"));
            }
        }
    }
    demand_none(complaints);
}

/// The error codes (`V` and four digits, as a string literal) in a text.
fn codes(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (start, _) in text.match_indices('V') {
        let Some(code) = text.get(start..start + 5) else { continue };
        let before = text[..start].chars().next_back();
        if code[1..].bytes().all(|b| b.is_ascii_digit()) && before.is_none_or(|c| !c.is_alphanumeric()) {
            found.insert(code.to_string());
        }
    }
    found
}

/// A message nobody has seen is a message nobody has read: every code appears in a reviewed output.
fn every_error_code_has_a_test() {
    let reviewed: BTreeSet<String> = ["compiler/tests", "tests"]
        .iter()
        .flat_map(|folder| [".stderr", ".snap", ".out"].iter().flat_map(|ending| files(folder, ending)))
        .flat_map(|(_, text)| codes(&text))
        .collect();
    let mut complaints = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (path, text) in files("compiler/src", ".rs") {
        // Unit tests make up codes.
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let literals = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        for code in codes(&literals) {
            if !reviewed.contains(&code) && seen.insert(code.clone()) {
                complaints.push(format!("{path}: no test shows the message of {code}"));
            }
        }
    }
    demand_none(complaints);
}

/// What the library offers and no page mentions nobody finds. (Endings for modes are explained once, for all names.)
fn every_function_of_the_library_is_documented() {
    // The reference is made from the library itself.
    let written = files("docs", ".md").into_iter().filter(|(path, _)| path != "docs/library.md");
    let pages: String = written.map(|(_, text)| text).collect();
    let ends_a_name = |c: char| c.is_whitespace() || matches!(c, '`' | '(' | ')');
    let words: BTreeSet<&str> = pages.split(ends_a_name).collect();
    let mut complaints = Vec::new();
    for (path, text) in files("stdlib", ".vlad") {
        for line in text.lines().filter_map(|line| line.strip_prefix("(define ")) {
            let name = line.trim_start_matches('(').split(ends_a_name).next().unwrap_or_default();
            let plain = name.strip_suffix("-R").or(name.strip_suffix("-F")).unwrap_or(name);
            if !name.starts_with('%') && !words.contains(plain) {
                complaints.push(format!("{path}: no page of docs mentions `{name}`"));
            }
        }
    }
    demand_none(complaints);
}

/// A first page that mentions what does not exist sends its readers away.
fn every_subcommand_of_the_readme_exists() {
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    // "```vlad" begins a program.
    for (start, _) in readme.match_indices("`vlad ").filter(|(start, _)| !readme[..*start].ends_with('`')) {
        let rest = &readme[start + "`vlad ".len()..];
        let name: String = rest.chars().take_while(|c| c.is_ascii_lowercase()).collect();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_vlad")).args([&name, "--help"]).output();
        let output = output.expect("the program starts");
        assert!(output.status.success(), "the README mentions `vlad {name}`, which there is not");
    }
}

/// A folder with more files than this has no order that one sees.
const MOST_FILES: usize = 14;

/// Where one looks for a file, one looks at its neighbours.
fn folders_stay_small() {
    let large = figures::folders("compiler/src").into_iter().filter(|(_, count)| *count > MOST_FILES);
    demand_none(large.map(|(path, count)| format!("{path} has {count} files, more than {MOST_FILES}")).collect());
}

/// Folders that need each other can neither be read nor changed alone.
fn folders_do_not_import_in_circles() {
    demand_none(figures::circles("compiler/src").into_iter().map(|circle| circle.join(" → ")).collect());
}

fn main() {
    if std::env::args().any(|argument| argument == "--report") {
        return figures::report();
    }
    let rules: &[(&str, fn())] = &[
        ("files_stay_short", files_stay_short),
        ("files_open_with_a_module_comment", files_open_with_a_module_comment),
        ("nothing_is_left_for_later", nothing_is_left_for_later),
        ("stages_know_only_their_neighbours", stages_know_only_their_neighbours),
        ("every_error_code_has_a_test", every_error_code_has_a_test),
        ("every_function_of_the_library_is_documented", every_function_of_the_library_is_documented),
        ("every_subcommand_of_the_readme_exists", every_subcommand_of_the_readme_exists),
        ("folders_stay_small", folders_stay_small),
        ("folders_do_not_import_in_circles", folders_do_not_import_in_circles),
    ];
    let trials = rules.iter().map(|(name, rule)| {
        let rule = *rule;
        Trial::test(*name, move || {
            rule();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}
