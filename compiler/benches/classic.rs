//! Measures the classic programs beside C written by hand, and checks their answers.
//!
//! benches/classic/*.vlad, *.c → one table. A program is called `PROGRAM-MODES.vlad`, its modes a letter for each
//! nested derivative, the outermost first: `f` forward, `r` reverse. Beside it stand `PROGRAM-MODE.c`, the same computation
//! with the outermost derivative written by hand (dual numbers, or tape and backward loop), and `PROGRAM-least.c`, with
//! what a person knows beyond that; where there is no C, the program runs alone. Each is built once (`vlad build
//! --native`, `cc -O2`) and run several times in turn, so that a change of the machine's speed meets all of them alike.
//! Times of runs are processor time, which other work on the machine disturbs least, and medians; compile time is what
//! passes on the clock.
//!
//! Usage: `cargo bench -p vlad --bench classic [-- [--runs N] [NAME...]]`

mod common;

use common::{Result, Run, median, run, succeed, vlad_command};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What the command line asks for.
struct Options {
    runs: usize,
    names: Vec<String>,
}

/// A built program and its runs so far.
struct Contender {
    executable: PathBuf,
    build_time: Duration,
    runs: Vec<Run>,
}

fn main() -> Result<()> {
    let options = options()?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/classic");
    let scratch = tempfile::tempdir()?;
    println!("medians of {} runs; processor time in seconds and its ratio to C", options.runs);
    println!(
        "{:<12} {:>8} {:>8} {:>6} {:>9} {:>6} {:>9} {:>9} {:>9}",
        "program", "vlad", "C", "ratio", "least C", "ratio", "compile", "size kB", "peak kB"
    );
    let mut wrong = Vec::new();
    for program in programs(&folder, &options.names)? {
        wrong.extend(measure(&program, &options, scratch.path())?);
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn options() -> Result<Options> {
    let mut options = Options { runs: 7, names: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // Cargo passes this to every bench target.
            "--bench" => {}
            "--runs" => {
                let number = arguments.next().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
                options.runs = number.ok_or("--runs wants a number")?;
            }
            name => options.names.push(name.to_string()),
        }
    }
    Ok(options)
}

/// The programs of the folder, or those of them that were named.
fn programs(folder: &Path, names: &[String]) -> Result<Vec<PathBuf>> {
    let mut programs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let wanted = names.is_empty() || names.iter().any(|name| *name == stem);
        if wanted && path.extension().is_some_and(|extension| extension == "vlad") {
            programs.push(path);
        }
    }
    programs.sort();
    Ok(programs)
}

/// Builds and runs a program and its references, prints its row, and returns what is wrong with the answers.
fn measure(program: &Path, options: &Options, scratch: &Path) -> Result<Vec<String>> {
    let stem = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (name, modes) = stem.split_once('-').ok_or("a program's name ends in its modes")?;
    let mode = modes.get(..1).ok_or("a mode is a letter")?;
    let ours = Some(build_vlad(program, &scratch.join(&stem))?);
    let c = build_c(&program.with_file_name(format!("{name}-{mode}.c")), &scratch.join(format!("{stem}-c")))?;
    let least = build_c(&program.with_file_name(format!("{name}-least.c")), &scratch.join(format!("{stem}-least")))?;
    let mut contenders = [ours, c, least];
    for _ in 0..options.runs {
        for contender in contenders.iter_mut().flatten() {
            let run = run(&contender.executable, "")?;
            contender.runs.push(run);
        }
    }
    print_row(&stem, &contenders)?;
    let promised = promised(&fs::read_to_string(program)?);
    let mut wrong = Vec::new();
    for contender in contenders.iter().flatten() {
        for run in contender.runs.iter().filter(|run| !agree(&run.output, &promised)).take(1) {
            wrong.push(format!("{}: {} instead of {promised}", contender.executable.display(), run.output.trim()));
        }
    }
    Ok(wrong)
}

fn build_vlad(program: &Path, executable: &Path) -> Result<Contender> {
    build(vlad_command(program, executable), executable)
}

/// The C program, if there is one.
fn build_c(source: &Path, executable: &Path) -> Result<Option<Contender>> {
    if !source.exists() {
        return Ok(None);
    }
    let mut command = Command::new("cc");
    command.arg("-O2").arg(source).arg("-o").arg(executable).arg("-lm");
    build(command, executable).map(Some)
}

fn build(command: Command, executable: &Path) -> Result<Contender> {
    let start = Instant::now();
    succeed(command)?;
    Ok(Contender { executable: executable.to_path_buf(), build_time: start.elapsed(), runs: Vec::new() })
}

fn print_row(name: &str, contenders: &[Option<Contender>; 3]) -> Result<()> {
    let [Some(ours), c, least] = contenders else { return Err("a program of our own".into()) };
    let time = median_time(ours);
    let beside = |contender: &Option<Contender>, width: usize| match contender.as_ref().map(median_time) {
        Some(other) => format!("{other:>width$.3} {:>6.2}", time / other),
        None => format!("{:>width$} {:>6}", "-", "-"),
    };
    let size = fs::metadata(&ours.executable)?.len() / 1024;
    let peak = median(ours.runs.iter().map(|run| run.peak)).unwrap_or_default();
    println!(
        "{name:<12} {time:>8.3} {} {} {:>9.3} {size:>9} {peak:>9}",
        beside(c, 8),
        beside(least, 9),
        ours.build_time.as_secs_f64(),
    );
    Ok(())
}

fn median_time(contender: &Contender) -> f64 {
    median(contender.runs.iter().map(|run| run.time)).map_or(f64::NAN, |time| time.as_secs_f64())
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
