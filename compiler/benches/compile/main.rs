//! Measures how compile time grows with the length of programs, stage by stage.
//!
//! Generated programs of 1,000 to 10,000 lines, of the kinds in `kinds.rs` → a table, a row for each kind and length:
//! milliseconds of each stage as `vlad build --time-passes` tells them, their sum, and how much longer that is than at half
//! the length. Twice the length should take at most twice the time. On a machine that does other things, take the median of
//! some runs: all of this is wall time.
//!
//! Usage: `cargo bench -p vlad --bench compile [-- [--lines N] [--keep FOLDER] [KIND...]]`; `--lines` measures one length
//! only, `--keep` leaves the programs in a folder.

mod kinds;

use kinds::{KINDS, Kind};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const LENGTHS: [usize; 5] = [1000, 2000, 4000, 8000, 10000];

const STAGES: [&str; 6] = ["expand", "flow", "specialize", "optimize", "codegen", "link"];

fn main() -> Result<()> {
    let (mut names, mut lengths, mut kept) = (Vec::new(), LENGTHS.to_vec(), None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // Cargo passes this to every bench target.
            "--bench" => {}
            "--lines" => lengths = vec![arguments.next().ok_or("--lines wants a number")?.parse()?],
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
            let times = match build(&file, &scratch.path().join("program"))? {
                Ok(times) => times,
                Err(refusal) => {
                    println!(" {}", refusal.lines().next().unwrap_or_default());
                    continue;
                }
            };
            STAGES.iter().for_each(|stage| print!(" {:>10.1}", time(&times, stage)));
            let total = time(&times, "total");
            let half = totals.iter().find(|row| row.0 * 2 == *lines).map(|row| total / row.1);
            println!(" {total:>10.1} {:>6}", half.map_or(String::new(), |ratio| format!("{ratio:.2}")));
            totals.push((*lines, total));
        }
    }
    Ok(())
}

/// Names of stages, and their milliseconds.
type Times = Vec<(String, f64)>;

/// Builds a program: the times of its stages, or why it is not compiled.
fn build(file: &Path, executable: &Path) -> Result<std::result::Result<Times, String>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vlad"));
    command.args(["build", "--native", "--time-passes"]).arg(file).arg("-o").arg(executable);
    let start = Instant::now();
    let output = command.output()?;
    let total = start.elapsed().as_secs_f64() * 1e3;
    let text = String::from_utf8(output.stderr)?;
    if !output.status.success() {
        return Ok(Err(text));
    }
    let words = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let stages = words.filter_map(|words| Some((words.first()?.to_string(), words.get(1)?.parse().ok()?)));
    Ok(Ok(stages.filter(|row| STAGES.contains(&row.0.as_str())).chain([("total".to_string(), total)]).collect()))
}

fn time(times: &[(String, f64)], stage: &str) -> f64 {
    times.iter().filter(|row| row.0 == stage).map(|row| row.1).sum()
}
