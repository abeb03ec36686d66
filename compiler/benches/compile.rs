//! Measures how compile time grows with the length of programs, stage by stage.
//!
//! Generated programs of 1,000 to 10,000 lines, of several kinds → a table, a row for each kind and length: milliseconds of
//! each stage as `vlad build --time-passes` tells them, their sum, and how much longer that is than at half the length.
//! Twice the length should take at most twice the time.
//!
//! Usage: `cargo bench -p vlad --bench compile [-- [--lines N] [--keep FOLDER] [KIND...]]`; `--lines` measures one length
//! only, `--keep` leaves the programs in a folder.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A kind of program: its name, and the text of one of so many lines.
type Kind = (&'static str, fn(usize) -> String);

const KINDS: &[Kind] = &[
    ("functions", functions),
    ("gradients", gradients),
    ("calls", calls),
    ("lists", lists),
    ("body", body),
    ("nesting", nesting),
];

const LENGTHS: [usize; 5] = [1000, 2000, 4000, 8000, 10000];

const STAGES: [&str; 6] = ["expand", "flow", "specialize", "optimize", "codegen", "link"];

/// Functions with a loop in each, called from the top level.
fn functions(lines: usize) -> String {
    repeated(lines, 6, |text, i| {
        let _ = write!(
            text,
            "(define (f{i} x y)\n  (let loop ((k 0) (x x))\n    (if (< k y)\n        \
             (loop (+ k 1) (+ (* x 0.5) (sin (+ x {i}))))\n        x)))\n(f{i} a a)\n"
        );
    })
}

/// The same, with the gradient of each.
fn gradients(lines: usize) -> String {
    let text = functions(lines);
    let call =
        |line: &str| line.strip_suffix(" a a)")?.strip_prefix('(').map(|name| format!("((gradient {name}) a a)\n"));
    text.lines().map(|line| call(line).unwrap_or_else(|| format!("{line}\n"))).collect()
}

/// Functions that call the one before from two places, and the gradient of the last.
fn calls(lines: usize) -> String {
    let mut text = repeated(lines, 5, |text, i| {
        let before = if i == 0 { "sin".to_string() } else { format!("f{}", i - 1) };
        let _ = write!(
            text,
            "(define (f{i} x)\n  (let ((y (* x x)))\n    (if (< x {i})\n        (+ y ({before} (* x 0.5)))\n        \
             (- ({before} (+ x 1)) y))))\n"
        );
    });
    let _ = writeln!(text, "((gradient f{}) a)", lines / 5 - 1);
    text
}

/// Functions on lists, with closures.
fn lists(lines: usize) -> String {
    repeated(lines, 5, |text, i| {
        let _ = write!(
            text,
            "(define (f{i} scale l)\n  (let* ((scaled (map (lambda (x) (* x (+ scale {i}))) l))\n         \
             (sum (fold-left + 0 scaled)))\n    (/ sum (length l))))\n(f{i} a data)\n"
        );
    })
}

/// One function of that length, and its gradient.
fn body(lines: usize) -> String {
    let mut text = repeated(0, 1, |_, _| {});
    text += "(define (f v0)\n  (let* (\n";
    for i in 1..lines {
        let _ = writeln!(text, "    (v{i} (+ (* v{} 0.5) (sin v{})))", i - 1, i / 2);
    }
    let _ = write!(text, "    )\n    v{}))\n((gradient f) a)\n", lines - 1);
    text
}

/// Functions of fifty lines, in each of which conditionals, bindings and functions nest, and the gradient of each.
fn nesting(lines: usize) -> String {
    const DEPTH: usize = 16;
    repeated(lines, 3 * DEPTH + 2, |text, i| {
        let _ = writeln!(text, "(define (f{i} x0)");
        for depth in 0..DEPTH {
            let inner = depth + 1;
            let _ = write!(
                text,
                "(let ((g (lambda (y) (* y (+ x{depth} {i})))))\n(if (< x{depth} {depth})\n    (g (sin x{depth}))\n    \
                 (let ((x{inner} (g (+ x{depth} 1))))"
            );
        }
        let _ = write!(text, "x{DEPTH}{})\n((gradient f{i}) a)\n", ")))".repeat(DEPTH));
    })
}

/// A program of parts with so many lines each.
fn repeated(lines: usize, part: usize, write: impl Fn(&mut String, usize)) -> String {
    let mut text = "(define a (read-real))\n(define data (map-n (lambda (i) (read-real)) a))\n".to_string();
    (0..lines / part).for_each(|i| write(&mut text, i));
    text
}

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
    for (name, generate) in KINDS.iter().filter(|kind| names.is_empty() || names.iter().any(|name| name == kind.0)) {
        let mut totals: Vec<(usize, f64)> = Vec::new();
        for lines in &lengths {
            let file = folder.join(format!("{name}-{lines}.vlad"));
            std::fs::write(&file, generate(*lines))?;
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
