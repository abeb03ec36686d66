//! `vlad bench`: what the derivatives that a program takes cost, measured against the functions they are taken of.
//!
//! A program, and what it reads from standard input → a table with plots, or JSON, and on request an SVG image or an
//! HTML page. For each call that [`crate::expand::program::measure`] finds, one program computes the function again and
//! again, and one its derivative; both are compiled like any other program, and run as processes of their own
//! ([`contender`]).

mod contender;

mod image;

mod json;

mod table;

use crate::base::{Diagnostic, SourceMap};
use crate::cli::running::build;
use crate::cli::{FAULT, Input, LimitArguments, SUCCESS, USAGE, terminal};
use crate::expand::program::measure::{Measure, Side, Taken};
use crate::pipeline::{Pipeline, Settings};
use clap::ValueEnum;
use contender::{Contender, Spread};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What `vlad bench` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    /// How often to measure each call; the table shows medians.
    #[arg(long, default_value = "11", value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// The least time for each measurement, in seconds: the call is repeated as often as that takes.
    #[arg(long, default_value = "0.1", value_name = "SECONDS", value_parser = seconds)]
    min_time: Duration,
    /// How to print the figures.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Also draw them, as an SVG image.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Also write them, with a drawing, as an HTML page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Use all instructions of this machine.
    #[arg(long)]
    native_cpu: bool,
    /// Make sums and products of loops in any order: faster, but their last digits are not those of the evaluator.
    #[arg(long)]
    fast_math: bool,
    #[command(flatten)]
    limits: LimitArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for people.
    Text,
    /// One JSON object, with the time of every measurement.
    Json,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if time <= Duration::from_secs(3600) => Ok(time),
        _ => Err("must be between 0 and 3600".to_string()),
    }
}

/// A function at a place, and what was measured there.
struct Group {
    /// The first call, as written.
    call: String,
    /// Where it stands.
    place: String,
    rows: Vec<Row>,
}

/// What was measured of the function, or of one of its derivatives.
struct Row {
    /// `value`, or the operator.
    name: String,
    /// Seconds for each call.
    time: Spread,
    /// The most memory that boxes took, in bytes.
    boxes: u64,
    /// The most memory that the process had, in bytes.
    memory: u64,
    /// How long the compiler took, in seconds.
    compile_time: f64,
    /// The executable, in bytes.
    size: u64,
}

/// Runs the subcommand; the exit code.
pub fn run(arguments: &Arguments) -> u8 {
    match bench(arguments) {
        Ok(()) => SUCCESS,
        Err(code) => code,
    }
}

fn bench(arguments: &Arguments) -> Result<(), u8> {
    let mut pipeline = Pipeline::new(arguments.settings());
    build::read(&mut pipeline, &arguments.input)?;
    let mut sources = SourceMap::new();
    std::mem::swap(&mut sources, &mut pipeline.sources);
    let taken = pipeline.derivatives_taken(&arguments.input.file).map_err(|diagnostics| {
        terminal::report(&diagnostics, &pipeline.sources);
        FAULT
    })?;
    if taken.is_empty() {
        terminal::report_plain(&nothing_to_measure(&arguments.input.file));
        return Err(FAULT);
    }
    let input = standard_input(&sources)?;
    let folder = tempfile::Builder::new().prefix("vlad-bench-").tempdir().map_err(|error| failed(&error))?;
    if arguments.format == Format::Text {
        print(&table::head(&arguments.input.file, arguments.runs))?;
    }
    let mut groups = Vec::new();
    for calls in grouped(&taken) {
        let contenders = contenders(arguments, &taken, &calls, folder.path())?;
        let rows = contender::measure(contenders, &input, arguments.runs, arguments.min_time)?;
        let first = &taken[calls[0]];
        let call = pipeline.sources.text(first.span).split_whitespace().collect::<Vec<_>>().join(" ");
        let file = &pipeline.sources.file(first.span.file).name;
        let place = format!("{file}:{}", pipeline.sources.line_column(first.span).0);
        let group = Group { call, place, rows };
        if arguments.format == Format::Text {
            print(&table::group(&group))?;
        }
        groups.push(group);
    }
    if arguments.format == Format::Json {
        print(&json::report(&arguments.input.file, arguments.min_time, &groups))?;
    }
    for (path, draw) in [(&arguments.svg, image::svg as fn(&[Group]) -> String), (&arguments.html, image::html)] {
        if let Some(path) = path {
            build::write_text(path, &draw(&groups))?;
        }
    }
    Ok(())
}

impl Arguments {
    fn settings(&self) -> Settings {
        let Arguments { native_cpu, fast_math, .. } = *self;
        Settings { native_cpu, fast_math, limits: self.limits.options(), ..self.input.settings() }
    }
}

fn print(text: &str) -> Result<(), u8> {
    match terminal::print(text) {
        SUCCESS => Ok(()),
        code => Err(code),
    }
}

fn nothing_to_measure(file: &Path) -> Diagnostic {
    let message = format!("`{}` takes no derivative that could be measured", file.display());
    Diagnostic::error_without_place("V0810", message)
        .note("measured are calls of `gradient`, `derivative`, `hessian`... in expressions at the top level, outside of functions and forms")
        .help("add a line such as ((gradient f) (list 1 2)), where f is the function to measure and (list 1 2) the place")
}

/// The calls by the function and the place that they have in common, in order.
fn grouped(taken: &[Taken]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (call, one) in taken.iter().enumerate() {
        let group = groups.iter_mut().find(|group| taken[group[0]].value == one.value);
        match group {
            // The same derivative again.
            Some(group) if group.iter().any(|other| taken[*other].operator == one.operator) => {}
            Some(group) => group.push(call),
            None => groups.push(vec![call]),
        }
    }
    groups
}

/// What the program reads. It is not waited for when the program does not read at all.
fn standard_input(sources: &SourceMap) -> Result<Vec<u8>, u8> {
    let mut input = Vec::new();
    if sources.files().any(|file| !file.is_library && file.text.contains("read-real")) {
        std::io::stdin().read_to_end(&mut input).map_err(|error| {
            let message = format!("cannot read standard input: {error}");
            terminal::report_plain(&Diagnostic::error_without_place("V0812", message));
            USAGE
        })?;
    }
    Ok(input)
}

/// The programs that measure a function and its derivatives.
fn contenders(arguments: &Arguments, taken: &[Taken], calls: &[usize], folder: &Path) -> Result<Vec<Contender>, u8> {
    let value = ("value".to_string(), Measure { call: calls[0], side: Side::Value });
    let derivative =
        |call: &usize| (taken[*call].operator.to_string(), Measure { call: *call, side: Side::Derivative });
    let all = std::iter::once(value).chain(calls.iter().map(derivative)).enumerate();
    all.map(|(at, (name, measure))| {
        let settings = Settings { measure: Some(measure), ..arguments.settings() };
        let executable = folder.join(format!("{}-{at}", calls[0]));
        Contender::build(name, &arguments.input, settings, executable)
    })
    .collect()
}

/// The exit code after a failure that the system reports.
fn failed(error: &std::io::Error) -> u8 {
    let message = format!("cannot run the compiled program: {error}");
    terminal::report_plain(&Diagnostic::error_without_place("V0809", message));
    FAULT
}
