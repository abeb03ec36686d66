//! Measures how time and memory of programs and of their gradients grow with their data, and checks their answers.
//!
//! benches/scale/*.vlad → one table, a row for each program and size: time for each element, once for the program
//! (primal) and once for its gradient, their ratio, and the same for peak memory. The programs read from their input
//! the size, how often to compute, and whether to compute the gradient. What a row says is the time of many
//! computations less that of the same program with one, divided by how many more there were: so neither starting the
//! process nor making the data counts. Runs of both kinds take turns; times are medians of user time, so that what the
//! system takes to hand out memory for the first time does not count either.
//!
//! Then it checks the law of growth (see [`law`]): a table with a row for each family of programs of `tests/growth` and
//! each mix of modes.
//!
//! Usage: `cargo bench -p vlad --bench scale [-- [--full] [--runs N] [NAME...]]`; `--full` adds ten million elements,
//! chains of a hundred million boxes, and for the law all sizes that take less than twenty seconds and 2 GB. A name is
//! that of a program, of a family, or `law` for all families.

mod common;

#[path = "../tests/growth/families.rs"]
mod families;

#[path = "scale/law.rs"]
mod law;

use common::{Result, median, run, succeed, vlad_command};
use std::path::Path;
use std::time::Duration;

/// A program, and what it computes.
struct Program {
    name: &'static str,
    /// The value, from the size.
    value: fn(u32) -> f64,
    /// The sum of all parts of the gradient, from the size.
    gradient: fn(u32) -> f64,
}

const PROGRAMS: &[Program] = &[
    Program { name: "list-sum", value: |n| (f64::from(n) + 1.0) / 2.0, gradient: f64::from },
    Program {
        name: "map-fold",
        value: |n| parts(n).map(|x| x * (x - 1.0)).sum(),
        gradient: |n| parts(n).map(|x| 2.0 * x - 1.0).sum(),
    },
    Program { name: "tree", value: |n| tree(n, 0).0, gradient: |n| tree(n, 0).1 },
    Program { name: "loop", value: |n| steps(n).0, gradient: |n| steps(n).1 },
];

/// Elements that all rounds of one run treat together.
const WORK: u32 = 10_000_000;

/// The least number of rounds that a row stands for.
const LEAST_ROUNDS: u32 = 3;

/// Numbers may differ by so much, relatively: sums are summed in different orders.
const TOLERANCE: f64 = 1e-8;

fn parts(n: u32) -> impl Iterator<Item = f64> {
    (1..=n).map(move |i| f64::from(i) / f64::from(n))
}

/// The value of the tree of `n` leaves, and the sum of its derivatives with respect to the leaves.
fn tree(n: u32, operator: u8) -> (f64, f64) {
    if n == 1 {
        return (1.0 + 1e-3 * f64::from(operator), 1.0);
    }
    let next = if operator == 2 { 1 } else { 2 };
    let (left, dleft) = tree(n / 2, next);
    let (right, dright) = tree(n - n / 2, 3 - next);
    match operator {
        0 => (left + right, dleft + dright),
        1 => (left * right, dleft * right + left * dright),
        _ => ((left + right) / 2.0, (dleft + dright) / 2.0),
    }
}

/// Where the loop ends, and the derivative of that.
fn steps(n: u32) -> (f64, f64) {
    let step = |(x, dx): (f64, f64)| (x + 1e-7 * (x * (1.0 - x)), dx + 1e-7 * (1.0 - 2.0 * x) * dx);
    (0..n).fold((0.25, 1.0), |state, _| step(state))
}

/// What the command line asks for.
struct Options {
    runs: usize,
    full: bool,
    names: Vec<String>,
}

impl Options {
    fn read() -> Result<Options> {
        let mut options = Options { runs: 5, full: false, names: Vec::new() };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                // Cargo passes this to every bench target.
                "--bench" => {}
                "--full" => options.full = true,
                "--runs" => {
                    let number = arguments.next().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
                    options.runs = number.ok_or("--runs wants a number")?;
                }
                name => options.names.push(name.to_string()),
            }
        }
        Ok(options)
    }

    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| wanted == name)
    }

    fn sizes(&self) -> impl Iterator<Item = u32> {
        (3..=if self.full { 7 } else { 6 }).map(|exponent| 10u32.pow(exponent))
    }
}

fn main() -> Result<()> {
    let options = Options::read()?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/scale");
    let scratch = tempfile::tempdir()?;
    let mut wrong = Vec::new();
    println!("medians of {} runs; user time per element in nanoseconds, peak memory in megabytes", options.runs);
    println!(
        "{:<10} {:>9} {:>9} {:>9} {:>6} {:>10} {:>10} {:>6}",
        "program", "size", "primal", "gradient", "ratio", "primal MB", "gradient", "ratio"
    );
    for program in PROGRAMS.iter().filter(|program| options.wants(program.name)) {
        let executable = scratch.path().join(program.name);
        succeed(vlad_command(&folder.join(program.name).with_extension("vlad"), &executable))?;
        for size in options.sizes() {
            wrong.extend(measure(program, &executable, size, options.runs)?);
        }
    }
    if options.full {
        chains(&folder, scratch.path(), &options, &mut wrong)?;
    }
    wrong.extend(law::report(options.full, &|name| options.wants(name) || options.wants("law"))?);
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// The runs of one program on data of one size that compute the value, or the gradient: once, and many times more.
#[derive(Default)]
struct Side {
    once: Vec<Duration>,
    many: Vec<Duration>,
    peaks: Vec<u64>,
}

impl Side {
    fn run(&mut self, executable: &Path, input: [u32; 3], expected: f64) -> Result<Option<String>> {
        let [size, rounds, mode] = input;
        self.once.push(run(executable, &format!("{size} 1 {mode}"))?.user);
        let many = run(executable, &format!("{size} {} {mode}", rounds + 1))?;
        self.many.push(many.user);
        self.peaks.push(many.peak);
        let found: f64 = many.output.trim().parse()?;
        let right = (found - expected).abs() <= TOLERANCE * expected.abs().max(1e-3);
        Ok((!right).then(|| format!("{}, {input:?}: {found} instead of {expected}", executable.display())))
    }

    /// Nanoseconds per element.
    fn time(&self, elements: f64) -> f64 {
        let middle = |times: &[Duration]| median(times.iter().copied()).map_or(f64::NAN, |time| time.as_secs_f64());
        (middle(&self.many) - middle(&self.once)) * 1e9 / elements
    }

    fn megabytes(&self) -> f64 {
        median(self.peaks.iter().copied()).unwrap_or_default() as f64 / 1024.0
    }
}

/// Measures a program on data of one size, prints the row, and returns what is wrong with the answers.
fn measure(program: &Program, executable: &Path, size: u32, runs: usize) -> Result<Vec<String>> {
    let rounds = (WORK / size).max(LEAST_ROUNDS);
    let (mut primal, mut gradient) = (Side::default(), Side::default());
    let expected = ((program.value)(size), (program.gradient)(size));
    let mut wrong = Vec::new();
    for _ in 0..runs {
        wrong.extend(primal.run(executable, [size, rounds, 0], expected.0)?);
        wrong.extend(gradient.run(executable, [size, rounds, 1], expected.1)?);
    }
    wrong.truncate(1);
    let elements = f64::from(size) * f64::from(rounds);
    let times = (primal.time(elements), gradient.time(elements));
    let peaks = (primal.megabytes(), gradient.megabytes());
    println!(
        "{:<10} {size:>9} {:>9.2} {:>9.2} {:>6.2} {:>10.1} {:>10.1} {:>6.2}",
        program.name,
        times.0,
        times.1,
        times.1 / times.0,
        peaks.0,
        peaks.1,
        peaks.1 / peaks.0,
    );
    Ok(wrong)
}

/// Programs that only have to get to their end, with a hundred million steps or boxes.
const CHAINS: &[(&str, &str)] = &[("free-chain", "100000000"), ("mutual", "100000000")];

fn chains(folder: &Path, scratch: &Path, options: &Options, wrong: &mut Vec<String>) -> Result<()> {
    for (name, size) in CHAINS.iter().filter(|row| options.wants(row.0)) {
        let executable = scratch.join(name);
        succeed(vlad_command(&folder.join(name).with_extension("vlad"), &executable))?;
        let run = run(&executable, size)?;
        println!("{name:<10} {size:>9} {:>9.3} s {:>36} MB", run.time.as_secs_f64(), run.peak / 1024);
        if run.output.trim() != *size {
            wrong.push(format!("{name}: {} instead of {size}", run.output.trim()));
        }
    }
    Ok(())
}
