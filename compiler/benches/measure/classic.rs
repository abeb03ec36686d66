//! The classic programs: benches/classic/*.vlad, *.c → a table.
//!
//! A program is called `PROGRAM-MODES.vlad`, its modes a letter for each nested derivative, the outermost first: `f`
//! forward, `r` reverse. Beside it stand `PROGRAM-MODE.c`, the same computation with the outermost derivative written
//! by hand (dual numbers, or tape and backward loop), and `PROGRAM-least.c`, with what a person knows beyond that;
//! where there is no C, the program runs alone.

use crate::common::Result;
use crate::contender::Contender;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Prints the table; returns what is wrong with the answers.
pub fn table(programs: &[PathBuf], runs: usize, scratch: &Path) -> Result<Vec<String>> {
    println!("processor time in seconds, and its ratio to C and to C that does the least work");
    println!(
        "{:<12} {:>8} {:>5} {:>8} {:>6} {:>8} {:>6} {:>9} {:>8} {:>8}",
        "program", "vlad", "±%", "C", "ratio", "least C", "ratio", "compile s", "size kB", "peak kB"
    );
    let mut wrong = Vec::new();
    for program in programs {
        wrong.extend(measure(program, runs, scratch)?);
    }
    Ok(wrong)
}

/// Builds and runs a program and its references, prints its row, and returns what is wrong with the answers.
fn measure(program: &Path, runs: usize, scratch: &Path) -> Result<Vec<String>> {
    let stem = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (name, modes) = stem.split_once('-').ok_or("a program's name ends in its modes")?;
    let mode = modes.get(..1).ok_or("a mode is a letter")?;
    let folder = program.parent().ok_or("a program is in a folder")?;
    let c =
        |kind: &str| Contender::c(&folder.join(format!("{name}-{kind}.c")), scratch.join(format!("{stem}-{kind}-c")));
    let mut ours = Contender::vlad(program, folder, scratch.join(&stem))?;
    let mut references = [c(mode)?, c("least")?];
    for _ in 0..runs {
        ours.run("")?;
        references.iter_mut().flatten().try_for_each(|reference| reference.run(""))?;
    }
    print_row(&stem, &ours, &references)?;
    let promised = promised(&fs::read_to_string(program)?);
    let mut wrong = Vec::new();
    for contender in references.iter().flatten().chain([&ours]) {
        for run in contender.runs.iter().filter(|run| !agree(&run.output, &promised)).take(1) {
            wrong.push(format!("{}: {} instead of {promised}", contender.executable.display(), run.output.trim()));
        }
    }
    Ok(wrong)
}

fn print_row(name: &str, ours: &Contender, references: &[Option<Contender>; 2]) -> Result<()> {
    let times = ours.times(Duration::ZERO);
    let [c, least] = references.each_ref().map(|reference| match reference {
        Some(other) => {
            let other = other.times(Duration::ZERO).median;
            format!("{other:>8.3} {:>6.2}", times.median / other)
        }
        None => format!("{:>8} {:>6}", "-", "-"),
    });
    let (compile, size, peak) = (ours.build_time, ours.size()?, ours.peak());
    println!(
        "{name:<12} {:>8.3} {:>5.1} {c} {least} {compile:>9.3} {size:>8} {peak:>8}",
        times.median,
        times.percent()
    );
    Ok(())
}

/// The answer that a program's `;=> ` comment promises.
fn promised(text: &str) -> String {
    let comments = text.lines().filter_map(|line| line.split_once(";=> ")).map(|(_, comment)| comment.trim());
    comments.collect::<Vec<_>>().join("\n")
}

/// Whether two outputs are the same but for how they write their numbers, which may differ in the last digits.
fn agree(output: &str, promised: &str) -> bool {
    let (output, promised) = (tokens(output), tokens(promised));
    output.len() == promised.len() && output.iter().zip(&promised).all(|(a, b)| same(a, b))
}

fn tokens(text: &str) -> Vec<String> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    spaced.split_whitespace().map(str::to_string).collect()
}

fn same(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-14 * b.abs(),
        _ => a == b,
    }
}
