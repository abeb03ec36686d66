//! Programs say the truth about themselves: every example, every snippet of the documentation, the measured programs
//! and those of `tests/programs` print what their comments promise.
//!
//! Program text → comparison of its output with its `;=> ` comments, as [`vlad::promises`] describes them; `;=>
//! warning: text` promises that the program cannot be compiled without the evaluator, and why. Each program runs
//! through the reference evaluator (`vlad eval`), through `vlad run --native`, and as an executable that `vlad build --native`
//! leaves. The measured programs are too long for the evaluator, and those of the gallery run as executables only.
//!
//! In Markdown, a program is a block fenced with `vlad`; blocks without `;=> ` only have to compile.

mod common;

use common::pages::{Block, blocks};
use common::{Outcome, run_command};
use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use vlad::promises::{Promise, Promises};

/// No program here takes anything like this long.
const LIMIT: Duration = Duration::from_secs(120);

/// A program and where it stands.
#[derive(Clone)]
struct Example {
    name: String,
    text: String,
    /// Folder that includes are looked up in.
    folder: PathBuf,
}

/// A program to be run.
struct Run<'a> {
    file: &'a Path,
    /// Folder that includes are looked up in.
    folder: &'a Path,
    /// For the compiler.
    flags: &'a [&'a str],
    input: &'a str,
}

/// A way to run a program.
type Way = fn(run: &Run) -> Outcome;

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the compiler stands in the workspace");
    let mut trials = Vec::new();
    for folder in ["examples", "compiler/tests/programs"] {
        for example in programs(&root.join(folder)) {
            trials.extend(all_ways(&example));
        }
    }
    let pages = fs::read_dir(root.join("docs")).expect("there is documentation");
    let pages =
        pages.map(|page| format!("docs/{}", page.expect("a folder can be listed").file_name().to_string_lossy()));
    let mut documents: Vec<String> =
        pages.filter(|page| page.ends_with(".md")).chain(["README.md".to_string()]).collect();
    documents.sort();
    for document in &documents {
        for example in snippets(root, document) {
            trials.extend(all_ways(&example));
        }
    }
    // One of the gallery reads a file that its command line must name, and promises nothing.
    for example in programs(&root.join("examples/gallery")).iter().filter(|of| of.text.contains(";=>")) {
        trials.push(trial("build", example, build_and_execute));
    }
    for example in programs(&root.join("benches/classic")) {
        trials.push(trial("build", &example, build_and_execute));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn all_ways(example: &Example) -> Vec<Trial> {
    let mut trials = vec![
        trial("eval", example, evaluate),
        trial("run", example, compile_and_run),
        trial("build", example, build_and_execute),
    ];
    if let Some(reason) = Promises::read(&example.text).warning {
        let example = example.clone();
        trials.push(Trial::test(format!("{} (refused)", example.name), move || refused(&example, &reason)));
    }
    trials
}

fn trial(way: &'static str, example: &Example, execute: Way) -> Trial {
    let example = example.clone();
    Trial::test(format!("{} ({way})", example.name), move || check(&example, way, execute))
}

/// The programs in a folder.
fn programs(folder: &Path) -> Vec<Example> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "vlad"))
        .collect();
    paths.sort();
    paths.iter().map(|path| program(path)).collect()
}

fn program(path: &Path) -> Example {
    Example {
        name: path.file_stem().expect("a program has a name").to_string_lossy().into_owned(),
        text: fs::read_to_string(path).expect("a program is text"),
        folder: path.parent().expect("a program stands in a folder").to_path_buf(),
    }
}

/// The programs in a Markdown file, named by file and line.
fn snippets(root: &Path, document: &str) -> Vec<Example> {
    let text = fs::read_to_string(root.join(document)).unwrap_or_else(|error| panic!("{document}: {error}"));
    let programs = blocks(&text).into_iter().filter(|block| block.fence == "vlad");
    programs
        .map(|Block { line, text, .. }| Example {
            name: format!("{document}:{line}"),
            text,
            folder: root.to_path_buf(),
        })
        .collect()
}

fn check(example: &Example, way: &str, execute: Way) -> Result<(), Failed> {
    let (_scratch, file) = write_program(example)?;
    let promises = Promises::read(&example.text);
    let flags: &[&str] = if promises.warning.is_some() { &[] } else { &["--native"] };
    let outcome = execute(&Run { file: &file, folder: &example.folder, flags, input: &promises.input });
    // What `build` warns of, the executable does not say.
    let promises = if way == "build" { Promises { warning: None, ..promises } } else { promises };
    compare(&promises, &outcome, way != "eval")
}

/// With `--native`, a program that needs the evaluator is an error, for the promised reason.
fn refused(example: &Example, reason: &Promise) -> Result<(), Failed> {
    let (_scratch, file) = write_program(example)?;
    let promises = Promises { error: Some(reason.clone()), ..Promises::default() };
    let run = Run { file: &file, folder: &example.folder, flags: &["--native"], input: "" };
    compare(&promises, &build_and_execute(&run), true)
}

/// Writes the program to a folder of its own, which exists as long as the first result.
fn write_program(example: &Example) -> Result<(tempfile::TempDir, PathBuf), Failed> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = scratch.path().join("program.vlad");
    fs::write(&file, &example.text).map_err(|error| error.to_string())?;
    Ok((scratch, file))
}

fn compare(promises: &Promises, outcome: &Outcome, compiled: bool) -> Result<(), Failed> {
    match &promises.broken(outcome, compiled)[..] {
        [] => Ok(()),
        broken => Err(format!("{broken:?}\n{}{}", outcome.output, outcome.messages).into()),
    }
}

fn vlad(subcommand: &str, run: &Run) -> Command {
    let mut command = common::vlad(&[subcommand]);
    command.arg("-I").arg(run.folder).arg(run.file);
    command
}

fn evaluate(run: &Run) -> Outcome {
    run_command(vlad("eval", run), run.input, LIMIT)
}

fn compile_and_run(run: &Run) -> Outcome {
    let mut command = vlad("run", run);
    command.args(run.flags);
    run_command(command, run.input, LIMIT)
}

fn build_and_execute(run: &Run) -> Outcome {
    let executable = run.file.with_extension("");
    let mut build = vlad("build", run);
    build.args(run.flags).arg("-o").arg(&executable);
    let built = run_command(build, "", LIMIT);
    if built.code != Some(0) {
        return built;
    }
    run_command(Command::new(&executable), run.input, LIMIT)
}
