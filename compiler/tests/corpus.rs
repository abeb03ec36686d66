//! Programs that say themselves what they print: `tests/run/<feature>/<name>.vlad`.
//!
//! A comment `;=> line` promises one line of output. `;=> error: text`, after all others, promises that the program
//! fails with exit code 1 and a message that contains the text. `;=> warning: text` promises that the compiler warns so
//! and that the program runs in the evaluator. `;<= line` is a line of its standard input. Each program is a test for
//! each engine, named `feature/name (engine)`.
//!
//! What a program promises is worked out by hand (its comments say how); the programs are made so that the exact result
//! is a double wherever that is possible.

mod common;

use common::{COMPILED, EVALUATOR, Engine, NATIVE, Outcome, input_line};
use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Every engine must keep every promise.
const ENGINES: [Engine; 2] = [EVALUATOR, NATIVE];

/// No program here takes anything like this long.
const LIMIT: Duration = Duration::from_secs(60);

/// What a program expects and promises.
#[derive(Debug, Default, PartialEq)]
struct Promise {
    input: String,
    output: String,
    error: Option<String>,
    warning: Option<String>,
}

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for (name, path) in programs() {
        for engine in ENGINES {
            let path = path.clone();
            trials.push(Trial::test(format!("{name} ({})", engine.name), move || check(&path, engine)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// All programs with their names, in order.
fn programs() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/run");
    let mut found = Vec::new();
    for feature in entries(&root) {
        for path in entries(&feature) {
            if path.extension().is_some_and(|extension| extension == "vlad") {
                let name = path.strip_prefix(&root).unwrap_or(&path).with_extension("");
                found.push((name.to_string_lossy().into_owned(), path));
            }
        }
    }
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

fn promise(text: &str) -> Promise {
    let mut promise = Promise::default();
    for line in text.lines() {
        if let Some(input) = input_line(line) {
            promise.input.push_str(input);
            promise.input.push('\n');
        } else if let Some(error) = line.strip_prefix(";=> error: ") {
            promise.error = Some(error.into());
        } else if let Some(warning) = line.strip_prefix(";=> warning: ") {
            promise.warning = Some(warning.into());
        } else if let Some(output) = line.strip_prefix(";=> ") {
            promise.output.push_str(output);
            promise.output.push('\n');
        }
    }
    promise
}

fn check(path: &Path, engine: Engine) -> Result<(), Failed> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let promise = promise(&text);
    let engine = if engine == NATIVE && promise.warning.is_some() { COMPILED } else { engine };
    let outcome = engine.run(path, &promise.input, LIMIT);
    let warned = promise.warning.as_ref().is_none_or(|warning| outcome.messages.contains(warning.as_str()));
    if engine == COMPILED && !warned {
        return Err(format!("does not warn\n{}", outcome.messages).into());
    }
    compare(&promise, &outcome)
        .map_err(|complaint| format!("{complaint}\n{}{}", outcome.output, outcome.messages).into())
}

fn compare(promise: &Promise, outcome: &Outcome) -> Result<(), String> {
    let expected_code = if promise.error.is_some() { 1 } else { 0 };
    if outcome.code != Some(expected_code) {
        return Err(format!("ended with {:?}, not {expected_code}", outcome.code));
    }
    match &promise.error {
        // The compiler may find a mistake before the program has printed anything.
        Some(error) if !outcome.messages.contains(error.as_str()) => Err(format!("the message does not say `{error}`")),
        Some(_) if !promise.output.starts_with(&outcome.output) => Err(format!("promised\n{}", promise.output)),
        None if outcome.output != promise.output => Err(format!("promised\n{}", promise.output)),
        _ => Ok(()),
    }
}
