//! What the front end says about programs.
//!
//! `tests/ui/<stage>/<name>.vlad` is a wrong program; `<name>.stderr` holds the messages that it gets. (`no-such-file`
//! has messages but no program.) The folder `include/` holds files that programs beside it include.
//!
//! `tests/core/<name>.vlad` is a right program; `<name>.core` shows what it is expanded to, which must be well formed.
//!
//! `BLESS=1 cargo test --test ui` writes the expectations anew; read the difference before committing it.

use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use vlad::base::{Diagnostic, SourceMap};
use vlad::core::ir::Program;
use vlad::core::{print, verify};
use vlad::expand::{Options, expand_file};

fn main() {
    let arguments = Arguments::from_args();
    // Messages show paths as they are given, so they are given relative to the folder of the tests.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    std::env::set_current_dir(&root).expect("the folder of the tests exists");
    let mut trials = Vec::new();
    for stage in entries("ui") {
        trials.extend(programs(&stage).into_iter().map(|path| trial(path, wrong)));
    }
    trials.extend(programs("core").into_iter().map(|path| trial(path, right)));
    libtest_mimic::run(&arguments, trials).exit();
}

fn trial(path: PathBuf, test: fn(&Path) -> Result<(), Failed>) -> Trial {
    Trial::test(path.with_extension("").display().to_string(), move || test(&path))
}

/// What is in a folder, in order.
fn entries(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let names = entries.map(|entry| entry.expect("a folder can be listed").file_name());
    let mut paths: Vec<String> = names.map(|name| format!("{folder}/{}", name.to_string_lossy())).collect();
    paths.sort();
    paths
}

/// The programs that the files in a folder are about, in order.
fn programs(folder: &str) -> Vec<PathBuf> {
    let files = entries(folder).into_iter().map(PathBuf::from).filter(|path| path.is_file());
    let mut programs: Vec<PathBuf> = files.map(|path| path.with_extension("vlad")).collect();
    programs.dedup();
    programs
}

fn expand(path: &Path, sources: &mut SourceMap) -> Result<Program, Vec<Diagnostic>> {
    let stage = path.parent().unwrap_or(Path::new(""));
    expand_file(path, &Options { include_dirs: vec![stage.join("include/more")], ..Options::default() }, sources)
}

fn render(errors: &[Diagnostic], sources: &SourceMap) -> String {
    errors.iter().map(|error| error.render(sources, false)).collect::<Vec<_>>().join("\n")
}

fn wrong(path: &Path) -> Result<(), Failed> {
    let mut sources = SourceMap::new();
    match expand(path, &mut sources) {
        Ok(_) => Err("the program is accepted".into()),
        Err(errors) => compare(&path.with_extension("stderr"), &render(&errors, &sources)),
    }
}

fn right(path: &Path) -> Result<(), Failed> {
    let mut sources = SourceMap::new();
    let program = expand(path, &mut sources).map_err(|errors| render(&errors, &sources))?;
    let violations = verify::verify(&program);
    if !violations.is_empty() {
        return Err(violations.join("\n").into());
    }
    compare(&path.with_extension("core"), &print::program(&program, &sources))
}

fn compare(expected_path: &Path, found: &str) -> Result<(), Failed> {
    if std::env::var_os("BLESS").is_some() {
        return fs::write(expected_path, found).map_err(Failed::from);
    }
    let expected = fs::read_to_string(expected_path).unwrap_or_default();
    if found == expected {
        return Ok(());
    }
    Err(format!("expected:\n{expected}\nfound:\n{found}\nBLESS=1 accepts what was found").into())
}
