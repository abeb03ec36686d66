//! Programs say the truth about themselves: those of `tests/run`, `examples`, `benches/classic` and `compiler/tests/programs`,
//! and every snippet of the documentation, print what their comments promise.
//!
//! The comments say it as [`vlad::promises`] describes; `;=> warning: text` promises that the program cannot be compiled
//! without the evaluator, and why. In Markdown, a program is a block fenced with `vlad`; blocks without `;=> ` only have
//! to compile.
//!
//! What a program of `tests/run` promises is worked out by hand (its comments say how); the programs are made so that the
//! exact result is a double wherever that is possible.
//!
//! A program is a test, which compiles it once: the evaluator, the executable and its code at two stages on the way
//! (see [`code`]) must keep the promises. Those of `benches/classic`, and what takes the evaluator long, are executables
//! only.

#[path = "../common/mod.rs"]
mod common;

mod code;

use common::pages::{Block, blocks};
use common::{Outcome, is_long, run_command, vlad};
use libtest_mimic::{Arguments, Failed, Trial};
use mimalloc::MiMalloc;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use vlad::base::Diagnostic;
use vlad::pipeline::{Pipeline, Refusal, Settings};
use vlad::promises::Promises;

/// The compiler's own: most of the time is the compiler's, which makes and drops small vectors by the million.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// No program here takes anything like this long.
const LIMIT: Duration = Duration::from_secs(120);

/// The compiler goes as deep as programs are nested.
const STACK: usize = 1 << 30;

/// A program and where it stands.
struct Subject {
    name: String,
    text: String,
    /// The file, if it is one.
    file: Option<PathBuf>,
    /// Folder that includes are looked up in.
    folder: PathBuf,
    /// Whether it runs as an executable only.
    is_long: bool,
}

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the compiler stands in the workspace");
    let mut subjects = Vec::new();
    for (folder, in_executables_only) in
        [("tests/run", false), ("compiler/tests/programs", false), ("benches/classic", true), ("examples", false)]
    {
        subjects.extend(programs(root, Path::new(folder), in_executables_only));
    }
    let pages = entries(&root.join("docs")).into_iter().chain([root.join("README.md")]);
    for page in pages.filter(|page| page.extension() == Some(OsStr::new("md"))) {
        subjects.extend(snippets(root, &page));
    }
    // The long ones first, so that no core waits for another at the end.
    subjects.sort_by_key(|subject| (!subject.is_long, std::cmp::Reverse(subject.text.len())));
    let trial = |subject: Subject| Trial::test(subject.name.clone(), move || on_large_stack(move || check(&subject)));
    libtest_mimic::run(&arguments, subjects.into_iter().map(trial).collect()).exit();
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be listed").path()).collect();
    paths.sort();
    paths
}

/// The programs in a folder of the tree, and in the folders in it. One of the gallery reads a file that its command line
/// must name, and promises nothing.
fn programs(root: &Path, folder: &Path, in_executables_only: bool) -> Vec<Subject> {
    let mut found = Vec::new();
    for path in entries(&root.join(folder)) {
        let name = path.strip_prefix(root).expect("it is in the tree").to_path_buf();
        if path.is_dir() {
            let is_gallery = name.ends_with("gallery");
            let programs = programs(root, &name, in_executables_only).into_iter();
            found.extend(programs.filter(|program| !is_gallery || program.text.contains(";=>")));
        } else if path.extension() == Some(OsStr::new("vlad")) {
            found.push(Subject {
                name: name.with_extension("").display().to_string(),
                text: fs::read_to_string(&path).expect("a program is text"),
                folder: root.join(folder),
                is_long: in_executables_only || is_long(&path),
                file: Some(path),
            });
        }
    }
    found
}

/// The programs in a Markdown file, named by file and line.
fn snippets(root: &Path, page: &Path) -> Vec<Subject> {
    let text = fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
    let name = page.strip_prefix(root).expect("it is in the tree").display();
    let programs = blocks(&text).into_iter().filter(|block| block.fence == "vlad");
    let subject = |Block { line, text, .. }| Subject {
        name: format!("{name}:{line}"),
        text,
        file: None,
        folder: root.to_path_buf(),
        is_long: false,
    };
    programs.map(subject).collect()
}

fn on_large_stack(check: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Result<(), Failed> {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(check)?;
    thread.join().unwrap_or_else(|_| Err("the compiler panics".into()))
}

fn check(subject: &Subject) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let file = match &subject.file {
        Some(file) => file.clone(),
        None => {
            let file = scratch.path().join("program.vlad");
            fs::write(&file, &subject.text)?;
            file
        }
    };
    let executable = scratch.path().join("executable");
    let promises = Promises::read(&subject.text);
    let command = |arguments: &[&str]| {
        let mut command = vlad(arguments);
        command.arg("-I").arg(&subject.folder).arg(&file);
        command
    };
    if !subject.is_long {
        compare(&promises, &run_command(command(&["eval"]), &promises.input, LIMIT), "evaluator")?;
    }
    if let Some(reason) = &promises.warning {
        compare(&promises, &run_command(command(&["run"]), &promises.input, LIMIT), "run")?;
        // With `--native`, a program that needs the evaluator is an error, for the promised reason.
        let refused = Promises { error: Some(reason.clone()), ..Promises::default() };
        compare(&refused, &run_command(command(&["build", "--native"]), "", LIMIT), "build --native")?;
        // What `build` warns of, the executable does not say.
        let mut build = command(&["build"]);
        build.arg("-o").arg(&executable);
        run_command(build, "", LIMIT);
        let promises = Promises { warning: None, ..promises };
        return compare(&promises, &run_command(Command::new(&executable), &promises.input, LIMIT), "executable");
    }
    let mut pipeline = Pipeline::new(Settings { include: vec![subject.folder.clone()], ..Settings::default() });
    let outcome = match compile(&mut pipeline, subject, &file, &promises.input, &executable)? {
        Ok(()) => run_command(Command::new(&executable), &promises.input, LIMIT),
        Err(diagnostics) => {
            let messages = diagnostics.iter().map(|diagnostic| diagnostic.render(&pipeline.sources, false)).collect();
            Outcome { code: Some(1), output: String::new(), messages }
        }
    };
    compare(&promises, &outcome, "executable")
}

/// Writes the executable of a program, or says what is wrong with it, and looks at its code on the way.
fn compile(
    pipeline: &mut Pipeline,
    subject: &Subject,
    file: &Path,
    input: &str,
    executable: &Path,
) -> Result<Result<(), Vec<Diagnostic>>, Failed> {
    let program = match pipeline.expand(file) {
        Ok(program) => program,
        Err(mistakes) => return Ok(Err(mistakes)),
    };
    let mut code = match pipeline.first_order(&program) {
        Ok(code) => code,
        Err(Refusal::Mistake(mistakes)) => return Ok(Err(mistakes)),
        Err(Refusal::Unsupported(reason)) => return Err(reason.render(&pipeline.sources, false).into()),
    };
    if subject.is_long {
        pipeline.optimize(&mut code, &Default::default());
    } else {
        code::check(pipeline, &program, &mut code, input, &subject.name)?;
    }
    let linked = pipeline.object(&code).and_then(|object| pipeline.link(&object, executable));
    linked.map_err(|error| error.to_diagnostic().render(&pipeline.sources, false))?;
    Ok(Ok(()))
}

/// Warnings are promises about `vlad run`.
fn compare(promises: &Promises, outcome: &Outcome, way: &str) -> Result<(), Failed> {
    match &promises.broken(outcome, way != "evaluator")[..] {
        [] => Ok(()),
        broken => Err(format!("{way}: {broken:?}\n{}{}", outcome.output, outcome.messages).into()),
    }
}
