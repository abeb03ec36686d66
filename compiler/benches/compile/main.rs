//! Measures how compile time grows with the length of programs, stage by stage.
//!
//! Generated programs of 1,000 to 10,000 lines, of the kinds in `kinds.rs` → a table, a row for each kind and length:
//! milliseconds of each stage as `vlad build --time-passes` tells them, the processor time of the whole, the linker's
//! included, and how much longer that is than at half the length. Twice the length should take at most twice the time.
//!
//! Of some runs each number is the least: what disturbs a measurement makes it longer.
//!
//! Usage: `cargo bench -p vlad --bench compile [-- [--lines N] [--runs N] [--keep FOLDER] [KIND...]]`; `--lines`
//! measures one length only, `--runs` is 2 otherwise, `--keep` leaves the programs in a folder.

#[allow(dead_code, reason = "other drivers want the rest")]
#[path = "../common/mod.rs"]
mod common;
mod kinds;

use common::{Result, finish, vlad_command};
use kinds::{KINDS, Kind};
use std::path::{Path, PathBuf};
use std::process::Stdio;

const LENGTHS: [usize; 5] = [1000, 2000, 4000, 8000, 10000];

const STAGES: [&str; 6] = ["expand", "flow", "specialize", "optimize", "codegen", "link"];

fn main() -> Result<()> {
    let (mut names, mut lengths, mut kept, mut runs) = (Vec::new(), LENGTHS.to_vec(), None, 2);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // Cargo passes this to every bench target.
            "--bench" => {}
            "--lines" => lengths = vec![arguments.next().ok_or("--lines wants a number")?.parse()?],
            "--runs" => runs = arguments.next().ok_or("--runs wants a number")?.parse()?,
            "--keep" => kept = Some(PathBuf::from(arguments.next().ok_or("--keep wants a folder")?)),
            name => names.push(name.to_string()),
        }
    }
    let scratch = tempfile::tempdir()?;
    let folder = kept.as_deref().unwrap_or(scratch.path());
    print!("milliseconds\n{:<10} {:>6}", "kind", "lines");
    STAGES.iter().for_each(|stage| print!(" {stage:>10}"));
    println!(" {:>10} {:>6}", "total", "ratio");
    for Kind { name, about, program } in
        KINDS.iter().filter(|kind| names.is_empty() || names.iter().any(|name| name == kind.name))
    {
        println!("{name}: {about}");
        let mut totals: Vec<(usize, f64)> = Vec::new();
        for lines in &lengths {
            let file = folder.join(format!("{name}-{lines}.vlad"));
            std::fs::write(&file, program(*lines))?;
            print!("{name:<10} {lines:>6}");
            let all: Result<Vec<Times>> = (0..runs).map(|_| build(&file, &scratch.path().join("program"))).collect();
            let all = match all {
                Ok(all) => all,
                Err(refusal) => {
                    println!(" {}", refusal.to_string().replace('\n', " "));
                    continue;
                }
            };
            let least = |stage: &str| all.iter().map(|times| time(times, stage)).fold(f64::INFINITY, f64::min);
            STAGES.iter().for_each(|stage| print!(" {:>10.1}", least(stage)));
            let total = least("total");
            let half = totals.iter().find(|row| row.0 * 2 == *lines).map(|row| total / row.1);
            println!(" {total:>10.1} {:>6}", half.map_or(String::new(), |ratio| format!("{ratio:.2}")));
            totals.push((*lines, total));
        }
    }
    Ok(())
}

/// Names of stages, and their milliseconds.
type Times = Vec<(String, f64)>;

/// Builds a program: the times of its stages, and of the whole.
fn build(file: &Path, executable: &Path) -> Result<Times> {
    let mut command = vlad_command(file, executable);
    command.arg("--time-passes").stderr(Stdio::piped());
    let run = finish(command.spawn()?)?;
    let words = run.messages.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let stages = words.filter_map(|words| Some((words.first()?.to_string(), words.get(1)?.parse().ok()?)));
    let total = [("total".to_string(), run.time.as_secs_f64() * 1e3)];
    Ok(stages.filter(|row| STAGES.contains(&row.0.as_str())).chain(total).collect())
}

fn time(times: &[(String, f64)], stage: &str) -> f64 {
    times.iter().filter(|row| row.0 == stage).map(|row| row.1).sum()
}
