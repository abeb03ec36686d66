//! Measures whether it matters how a computation is written: each of ten in ten ways.
//!
//! benches/forms/*.vlad → a row for each way: the time of the value and of its reverse gradient, and how many times the
//! fastest way's that is. A file begins with what all ways have in common; `n = ` in its first comment says which
//! number its programs read. A way begins with a line `; ## its name` and defines `objective` and the `parameters` that
//! it takes. All must agree on the value and on the length of the gradient.
//!
//! Executables take turns; times are the shortest of some runs, less that of a run which computes nothing.
//!
//! Usage: `cargo bench -p vlad --bench forms [-- [--runs N] [NAME...]]`

mod common;

use common::{Result, succeed, vlad_command};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is measured, and the program that measures it.
const SIDES: [(&str, &str); 2] = [
    (
        "value",
        "(define rounds (read-real))
         (let loop ((k 0) (value 0)) (if (< k rounds) (loop (+ k 1) (objective (black-box parameters))) value))
         (objective parameters)",
    ),
    (
        "gradient",
        "(define rounds (read-real))
         (define g (gradient-R objective))
         (let loop ((k 0)) (if (< k rounds) (begin (black-box (g (black-box parameters))) (loop (+ k 1))) 0))
         (magnitude (g parameters))",
    ),
];

/// A run that is measured takes so long, at least.
const LONG_ENOUGH: Duration = Duration::from_millis(100);

/// Results may differ by so much, relatively: sums are summed in different orders.
const TOLERANCE: f64 = 1e-9;

/// A way of writing a computation.
struct Way {
    name: String,
    sides: Vec<Side>,
}

/// An executable, how many rounds it computes when it is measured, and the shortest times with and without them.
struct Side {
    executable: PathBuf,
    rounds: u64,
    shortest: [Duration; 2],
}

impl Side {
    /// Microseconds a round.
    fn time(&self) -> f64 {
        self.shortest[1].saturating_sub(self.shortest[0]).as_secs_f64() * 1e6 / self.rounds as f64
    }
}

fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let mut runs = 5;
    if let Some(position) = arguments.iter().position(|argument| argument == "--runs") {
        runs = arguments.get(position + 1).ok_or("--runs takes a number")?.parse()?;
        arguments.drain(position..position + 2);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/forms");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    let scratch = tempfile::tempdir()?;
    println!("microseconds, and how many times those of the fastest way");
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "vlad")) {
        let name = file.file_stem().and_then(|stem| stem.to_str()).ok_or("a program has a name")?;
        if arguments.is_empty() || arguments.iter().any(|wanted| wanted == name) {
            computation(name, &std::fs::read_to_string(file)?, scratch.path(), runs)?;
        }
    }
    Ok(())
}

/// Measures the ways of a computation and prints their rows.
fn computation(name: &str, text: &str, scratch: &Path, runs: usize) -> Result<()> {
    let mut sections = text.split("\n; ## ");
    let common = sections.next().ok_or("a file is not empty")?;
    let size = common.split("n = ").nth(1).and_then(|rest| rest.split('.').next()).ok_or("`n = ` is missing")?;
    let mut ways = Vec::new();
    let mut results: Vec<[f64; 2]> = Vec::new();
    for (number, section) in sections.enumerate() {
        let (way, body) = section.split_once('\n').ok_or("a way has a name and a body")?;
        let mut sides = Vec::new();
        let mut found = [f64::NAN; 2];
        for (position, (side, measure)) in SIDES.iter().enumerate() {
            let source = scratch.join(format!("{name}-{number}-{side}.vlad"));
            let executable = source.with_extension("");
            std::fs::write(&source, format!("{common}\n{body}\n{measure}\n"))?;
            succeed(vlad_command(&source, &executable))?;
            let (result, rounds) = rounds(&executable, size)?;
            found[position] = result;
            sides.push(Side { executable, rounds, shortest: [Duration::MAX; 2] });
        }
        results.push(found);
        ways.push(Way { name: way.to_string(), sides });
    }
    let first = results.first().ok_or("there are ways")?;
    for (way, result) in ways.iter().zip(&results) {
        if result.iter().zip(first).any(|(a, b)| ((a - b) / b).abs() > TOLERANCE) {
            return Err(format!("{name}, {}: {result:?} instead of {first:?}", way.name).into());
        }
    }
    for _ in 0..runs {
        for side in ways.iter_mut().flat_map(|way| &mut way.sides) {
            for (shortest, rounds) in side.shortest.iter_mut().zip([0, side.rounds]) {
                let time = common::run(&side.executable, &format!("{size} {rounds}\n"))?.time;
                *shortest = (*shortest).min(time);
            }
        }
    }
    let fastest = |side: usize| ways.iter().map(|way| way.sides[side].time()).fold(f64::INFINITY, f64::min);
    let fastest = [fastest(0), fastest(1)];
    println!("\n{:<40} {:>9} {:>6} {:>9} {:>6}", format!("{name}, n = {size}"), "value", "", "gradient", "");
    for Way { name, sides } in &ways {
        print!("{name:<40}");
        for (side, fastest) in sides.iter().zip(fastest) {
            print!(" {:>9.2} {:>6.2}", side.time(), side.time() / fastest);
        }
        println!();
    }
    Ok(())
}

/// What a program computes, and how many rounds take long enough.
fn rounds(executable: &Path, size: &str) -> Result<(f64, u64)> {
    let mut rounds = 1;
    loop {
        let run = common::run(executable, &format!("{size} {rounds}\n"))?;
        if run.time >= LONG_ENOUGH {
            let result = run.output.split_whitespace().last().ok_or("a program prints its result")?;
            return Ok((result.parse()?, rounds));
        }
        rounds *= if run.time < LONG_ENOUGH / 8 { 8 } else { 2 };
    }
}
