//! Programs that say themselves what they print: `tests/run/<feature>/<name>.vlad`.
//!
//! Their comments say it as [`vlad::promises`] describes; `;=> warning: text` promises that the program runs in the
//! evaluator, too. Each program is a test for each engine, named `feature/name (engine)`.
//!
//! What a program promises is worked out by hand (its comments say how); the programs are made so that the exact result
//! is a double wherever that is possible.

mod common;

use common::{COMPILED, EVALUATOR, Engine, NATIVE};
use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use vlad::promises::Promises;

/// Every engine must keep every promise.
const ENGINES: [Engine; 2] = [EVALUATOR, NATIVE];

/// No program here takes anything like this long.
const LIMIT: Duration = Duration::from_secs(60);

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

fn check(path: &Path, engine: Engine) -> Result<(), Failed> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let promises = Promises::read(&text);
    let engine = if engine == NATIVE && promises.warning.is_some() { COMPILED } else { engine };
    let outcome = engine.run(path, &promises.input, LIMIT);
    match &promises.broken(&outcome, engine != EVALUATOR)[..] {
        [] => Ok(()),
        broken => Err(format!("{broken:?}\n{}{}", outcome.output, outcome.messages).into()),
    }
}
