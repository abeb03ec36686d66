//! Random programs: every engine gives the same answer, or every engine fails.
//!
//! The reference evaluator is the oracle. Numbers must agree bit for bit, except that a zero may have either sign. A
//! program that disagrees is shrunk before it is shown. Environment variables choose what is run: `VLAD_RANDOM` is
//! the number of programs and `VLAD_RANDOM_SEED` the seed of the first. `VLAD_RANDOM_SHRINK` is how many seconds to spend
//! on shrinking each program; with `VLAD_RANDOM_KEEP` set to a folder, shrunk programs are also written there.

#[path = "../common/mod.rs"]
mod common;

mod generate;

mod reduce;

mod rng;

mod sexp;

mod special;

mod types;

use common::{COMPILED, EVALUATOR, Engine, Outcome};
use generate::generate;
use sexp::{Sexp, print};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The engines that must agree with the evaluator.
const COMPARED: [Engine; 1] = [COMPILED];

/// Generated programs end within milliseconds, but for a few that say nothing.
const EVALUATION_LIMIT: Duration = Duration::from_secs(2);

/// Compiling may take longer.
const LIMIT: Duration = Duration::from_secs(20);

/// How many smaller programs to try for each one that disagrees, and for how many seconds.
const TRIALS: usize = 5000;
const SHRINKING: u64 = 60;

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn engines_agree_on_random_programs() {
    let (first, count) = (setting("VLAD_RANDOM_SEED", 1), setting("VLAD_RANDOM", 200));
    let next = AtomicU64::new(first);
    let complaints = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        return;
                    }
                    if seed.is_multiple_of(100) {
                        eprintln!("seed {seed}");
                    }
                    complaints.lock().expect("no thread panics").extend(examine(seed));
                }
            });
        }
    });
    let complaints = complaints.into_inner().expect("no thread panics");
    assert!(complaints.is_empty(), "{} of {count} programs disagree\n{}", complaints.len(), complaints.join("\n"));
}

/// Runs the program of a seed; if engines disagree, shrinks it and says how.
fn examine(seed: u64) -> Option<String> {
    let scratch = tempfile::tempdir().expect("the system has a folder for temporary files");
    let file = scratch.path().join("program.vlad");
    let program = generate(seed);
    for engine in COMPARED {
        let Some(kind) = disagreement(&program.forms, &program.input, engine, &file) else {
            continue;
        };
        let (start, limit) = (Instant::now(), Duration::from_secs(setting("VLAD_RANDOM_SHRINK", SHRINKING)));
        let mut same_kind = |forms: &[Sexp]| {
            start.elapsed() < limit
                && disagreement(forms, &program.input, engine, &file).is_some_and(|other| other.0 == kind.0)
        };
        let small = reduce::reduce(&program.forms, TRIALS, &mut same_kind);
        let text = print(&small);
        let (_, how) = disagreement(&small, &program.input, engine, &file).unwrap_or(kind);
        let input = program.input.replace('\n', " ");
        let complaint = format!("; seed {seed}, {} against eval, input {input}\n{text}{how}\n", engine.name);
        if let Ok(folder) = std::env::var("VLAD_RANDOM_KEEP") {
            let _ = std::fs::write(Path::new(&folder).join(format!("{seed}.vlad")), &complaint);
        }
        return Some(complaint);
    }
    None
}

/// The code of the warning that the compiler has made a mistake, which the evaluator made good.
const COMPILER_MISTAKE: &str = "V0800";

/// How two engines can differ; shrinking keeps to one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Output,
    ExitCode,
    /// The compiler noticed a mistake of its own.
    Mistake,
    /// A crash, or a run without end.
    Killed,
}

/// How an engine differs from the evaluator on a program, if it does.
fn disagreement(forms: &[Sexp], input: &str, engine: Engine, file: &Path) -> Option<(Kind, String)> {
    std::fs::write(file, print(forms)).expect("temporary files can be written");
    let expected = EVALUATOR.run(file, input, EVALUATION_LIMIT);
    // Programs that the evaluator cannot finish say nothing (shrinking can make a loop endless).
    expected.code?;
    let mut found = engine.run(file, input, LIMIT);
    if found.code.is_none() {
        // The machine may have been busy with something else.
        found = engine.run(file, input, 3 * LIMIT);
    }
    let kind = match (expected.code, found.code) {
        (_, None | Some(101 | 128..)) => Kind::Killed,
        _ if found.messages.contains(COMPILER_MISTAKE) => Kind::Mistake,
        (Some(0), Some(0)) if normal(&expected.output) == normal(&found.output) => return None,
        (Some(0), Some(0)) => Kind::Output,
        (e, f) if e == f => return None,
        _ => Kind::ExitCode,
    };
    Some((kind, format!("; eval   {}\n; {} {}", describe(&expected), engine.name, describe(&found))))
}

/// The output with every `-0` replaced by `0`.
fn normal(output: &str) -> String {
    let sign_counts = |after: Option<char>| after.is_some_and(|c| c.is_ascii_digit() || c == '.' || c == 'e');
    let mut text = String::new();
    let mut rest = output;
    while let Some(position) = rest.find("-0") {
        let (before, found) = rest.split_at(position);
        text.push_str(before);
        let negative_zero = !sign_counts(found[2..].chars().next()) && !text.ends_with('e');
        text.push_str(if negative_zero { "0" } else { "-0" });
        rest = &found[2..];
    }
    text + rest
}

fn describe(outcome: &Outcome) -> String {
    let code = outcome.code.map_or("killed".into(), |code| format!("exit {code}"));
    let comment = |text: &str| text.trim_end().replace('\n', "\n;   ");
    format!("{code}: {}\n;   {}", comment(&outcome.output), comment(&outcome.messages))
}

#[test]
fn the_sign_of_a_zero_does_not_count() {
    assert_eq!(normal("(-0 . -0)\n-0.5 1e-05 -0"), "(0 . 0)\n-0.5 1e-05 0");
}

#[test]
fn programs_are_the_same_for_the_same_seed() {
    assert_eq!(print(&generate(7).forms), print(&generate(7).forms));
}

#[test]
fn reduction_finds_the_cause() {
    let program = sexp::parse("(define a (+ 1 2)) (list (f 3) (car (cdr (list a 4 (bad 5 6)))))");
    let mut shows = |forms: &[Sexp]| print(forms).contains("bad");
    assert_eq!(print(&reduce::reduce(&program, 1000, &mut shows)), "bad\n");
}
