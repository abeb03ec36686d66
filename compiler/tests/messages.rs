//! What users are told about programs that fail when they run, and about programs that cannot be compiled as they are.
//!
//! - `tests/messages/run/<name>.vlad` fails; `<name>.stderr` holds the message of the reference evaluator. The compiled
//!   program prints the same before it fails, fails with the same exit code and says the same, place, labels and calls
//!   that led there included; only the note with the value is the evaluator's alone. An error that the compiler sees
//!   coming is reported before anything is printed.
//! - `tests/messages/compile/<name>.vlad` needs the reference evaluator at run time; `<name>.stderr` holds the warning
//!   of `vlad build`. With `--native` it is an error.
//! - `tests/messages/check/<name>.vlad` has functions that can never succeed, and that nobody calls; `<name>.stderr`
//!   holds what `vlad check` says. One without messages has functions that may succeed.
//! - `tests/messages/library/<name>.vlad` cannot be a library; `<name>.stderr` says why.
//!
//! A comment `;<= line` is a line of standard input. `BLESS=1 cargo test --test messages` writes the expectations anew;
//! read the difference before committing it.

mod common;

use common::{Outcome, input, run_command};
use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// No program here takes anything like this long.
const LIMIT: Duration = Duration::from_secs(60);

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/messages");
    // Messages show paths as they are given, so they are given relative to this folder.
    std::env::set_current_dir(&root).expect("the folder of the tests exists");
    let mut trials = Vec::new();
    for (folder, test) in [
        ("run", fails as fn(&Path) -> Result<(), Failed>),
        ("compile", warns),
        ("check", checked),
        ("library", no_library),
    ] {
        for path in programs(folder) {
            trials.push(Trial::test(path.with_extension("").display().to_string(), move || test(&path)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn programs(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let paths = entries.map(|entry| entry.expect("a folder can be listed").path());
    let mut programs: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "vlad")).collect();
    programs.sort();
    programs
}

fn vlad(arguments: &[&str], path: &Path) -> Result<Outcome, Failed> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut command = common::vlad(arguments);
    command.arg(path);
    Ok(run_command(command, &input(&text), LIMIT))
}

fn fails(path: &Path) -> Result<(), Failed> {
    let evaluated = vlad(&["eval"], path)?;
    compare(&path.with_extension("stderr"), &evaluated.messages)?;
    let compiled = vlad(&["run"], path)?;
    let (said, says) = (gist(&evaluated), gist(&compiled));
    let printed = compiled.output == evaluated.output || compiled.output.is_empty();
    if said == says && printed {
        return Ok(());
    }
    Err(format!("evaluated:\n{}{said}\ncompiled:\n{}{says}", evaluated.output, compiled.output).into())
}

/// The exit code and the message without the value. Warnings of the compiler before it are left out.
fn gist(outcome: &Outcome) -> String {
    let lines = outcome.messages.lines().skip_while(|line| !line.starts_with("error"));
    let lines: Vec<&str> = lines.filter(|line| !line.contains("= note: the value is ")).collect();
    let code = outcome.code.map_or("killed".to_string(), |code| code.to_string());
    format!("{code}: {}", lines.join("\n"))
}

fn warns(path: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let executable = folder.path().join("program").display().to_string();
    let built = vlad(&["build", "-o", &executable], path)?;
    if built.code != Some(0) {
        return Err(format!("the program is refused:\n{}", built.messages).into());
    }
    compare(&path.with_extension("stderr"), &built.messages)?;
    let refused = vlad(&["build", "--native", "-o", &executable], path)?;
    if refused.code == Some(1) { Ok(()) } else { Err("--native accepts the program".into()) }
}

fn checked(path: &Path) -> Result<(), Failed> {
    let checked = vlad(&["check"], path)?;
    let code = if checked.messages.is_empty() { 0 } else { 1 };
    if checked.code != Some(code) || !checked.output.is_empty() {
        return Err(format!("exit code {:?}:\n{}", checked.code, checked.messages).into());
    }
    // Nobody calls what is wrong.
    let run = vlad(&["run"], path)?;
    if run.code != Some(0) {
        return Err(format!("it fails when it runs:\n{}", run.messages).into());
    }
    compare(&path.with_extension("stderr"), &checked.messages)
}

fn no_library(path: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let output = folder.path().join("name").display().to_string();
    let built = vlad(&["build", "--lib", "static", "-o", &output], path)?;
    let left = fs::read_dir(folder.path()).map_err(|error| error.to_string())?.count();
    if built.code != Some(1) || left > 0 {
        return Err(format!("exit code {:?}, {left} files:\n{}", built.code, built.messages).into());
    }
    compare(&path.with_extension("stderr"), &built.messages)
}

fn compare(expected_path: &Path, found: &str) -> Result<(), Failed> {
    if std::env::var_os("BLESS").is_some() {
        return fs::write(expected_path, found).map_err(|error| error.to_string().into());
    }
    let expected = fs::read_to_string(expected_path).unwrap_or_default();
    if expected == found { Ok(()) } else { Err(format!("expected:\n{expected}\nfound:\n{found}").into()) }
}
