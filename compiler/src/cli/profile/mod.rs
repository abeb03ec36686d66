//! `vlad profile`: compile, run, and say where the program spends its time.
//!
//! ```text
//! program → executable with debug information, run → samples → time by line and function; a flame graph
//! ```
//!
//! | module | task |
//! |---|---|
//! | [`executable`] | address → line, phase, functions |
//! | [`samples`] | samples → time by line, by function and by stack |
//! | [`flame`] | time by stack → image |
//!
//! The program interrupts itself (the run time's `profile`), so no other tool is needed, and no permission. What it
//! prints goes where it always goes; the tables go to standard error.
//!
//! Deliberately not done: memory. Most boxes are made without the run time, so counting them would change the code.

mod executable;

mod flame;

mod samples;

use super::running::build::{self, Compiled};
use super::running::run::{cannot_run, wait_for};
use super::{Input, Native, terminal};
use crate::base::SourceMap;
use crate::cli::FAULT;
use crate::codegen;
use crate::codegen::layout::{PROFILE_BASE, PROFILE_BYTES, PROFILE_FILE};
use crate::codegen::link::uninterrupted;
use crate::pipeline::{Pipeline, Settings};
use executable::Executable;
use samples::{Profile, Time};
use std::ffi::OsString;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `vlad profile` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Write a flame graph, too: which functions take the time that others call.
    #[arg(short, long, value_name = "FILE.svg")]
    output: Option<PathBuf>,
    /// How many lines of the program to list, and how many functions.
    #[arg(long, value_name = "NUMBER", default_value_t = 15)]
    rows: usize,
    #[command(flatten)]
    native: Native,
    /// Arguments for the program.
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

/// Runs the subcommand. The exit code is that of the program.
pub fn run(mut arguments: Arguments) -> u8 {
    // What runs in the evaluator has no addresses.
    arguments.native.native = true;
    let settings = arguments.native.settings(&arguments.input);
    let mut pipeline = Pipeline::new(Settings { debug: true, profile: true, ..settings });
    let code = match build::compile(&mut pipeline, &arguments.input, &arguments.native) {
        Ok(Compiled::Code(code)) => code,
        Ok(Compiled::Evaluate) => return FAULT,
        Err(code) => return code,
    };
    let folder = match tempfile::Builder::new().prefix("vlad-profile-").tempdir() {
        Ok(folder) => folder,
        Err(error) => return cannot_run(&error),
    };
    // An interruption ends the program; what it has done until then is shown, and the folder removed.
    uninterrupted(move || {
        let folder = folder;
        run_in(folder.path(), &mut pipeline, &code, &arguments)
    })
}

fn run_in(folder: &Path, pipeline: &mut Pipeline, code: &codegen::Code, arguments: &Arguments) -> u8 {
    let program = folder.join(arguments.input.file.file_stem().unwrap_or("program".as_ref()));
    if let Err(error) = pipeline.finish(code, &program) {
        terminal::report_plain(&error.to_diagnostic());
        return FAULT;
    }
    if arguments.native.time_passes {
        build::print_timings(pipeline);
    }
    let notes = folder.join("profile.samples");
    if let Err(error) = File::create(&notes).and_then(|file| file.set_len(PROFILE_BYTES as u64)) {
        return cannot_run(&error);
    }
    let mut command = Command::new(&program);
    let code = wait_for(command.env(PROFILE_FILE.trim_end_matches('\0'), &notes).args(&arguments.arguments));
    let words = File::open(&notes).and_then(samples::read);
    let (bytes, words) = match fs::read(&program).and_then(|bytes| Ok((bytes, words?))) {
        Ok(read) => read,
        Err(error) => return cannot_run(&error),
    };
    let executable = match Executable::read(&bytes) {
        Ok(executable) => executable,
        Err(error) => return cannot_run(&io::Error::other(error)),
    };
    let profile = Profile::new(&executable, &words);
    let text = if words[PROFILE_BASE] == 0 {
        "profile: the program found no memory to note where it is\n".to_string()
    } else {
        tables(&profile, &pipeline.sources, arguments.rows)
    };
    // There is nowhere to say that standard error cannot be written.
    let _ = io::stderr().write_all(text.as_bytes());
    match &arguments.output {
        Some(output) => build::write_text(output, &flame::svg(&profile)).map_or_else(|code| code, |()| code),
        None => code,
    }
}

/// The most characters of a line that are shown.
const WIDEST: usize = 60;

/// What is said about a profile.
fn tables(profile: &Profile, sources: &SourceMap, rows: usize) -> String {
    let total = profile.total();
    if total == 0 {
        return "profile: the program has taken too little time for a sample\n".to_string();
    }
    let percent = |time: u64| format!("{:.1} %", 100.0 * time as f64 / total as f64);
    let Time { value, derivative } = profile.time;
    let mut text = format!(
        "profile: {:.3} s of processor time in {} samples; values {}, derivatives {}, elsewhere {}\n",
        total as f64 / 1e9,
        profile.samples,
        percent(value),
        percent(derivative),
        percent(profile.elsewhere),
    );
    if profile.lost > 0 {
        let _ = writeln!(text, "{} later samples had no room", profile.lost);
    }
    let lines = profile.lines.iter().map(|(line, time)| {
        let source = sources.files().find(|file| file.name == *line.file);
        let source = source.and_then(|file| file.text.lines().nth((line.number as usize).checked_sub(1)?));
        let source: String = source.unwrap_or_default().trim().chars().take(WIDEST).collect();
        ([format!("{}:{}", line.file, line.number), source], *time)
    });
    let functions = profile.functions.iter().map(|(name, time)| ([name.to_string(), String::new()], *time));
    let mut table = |what: &str, found: Vec<([String; 2], Time)>| {
        let width = found.iter().take(rows).map(|([name, _], _)| name.chars().count()).max().unwrap_or(0);
        let _ = writeln!(text, "\n{:>8}  {:>8}  {:>10}  {what}", "share", "value", "derivative");
        for ([name, source], time) in found.iter().take(rows) {
            let row = format!(
                "{:>8}  {:>8}  {:>10}  {name:width$}  {source}",
                percent(time.sum()),
                percent(time.value),
                percent(time.derivative),
            );
            let _ = writeln!(text, "{}", row.trim_end());
        }
        if let Some(others) = found.get(rows..).filter(|others| !others.is_empty()) {
            let time = others.iter().map(|(_, time)| time.sum()).sum();
            let _ = writeln!(text, "{:>8}  {:22}in {} others", percent(time), "", others.len());
        }
    };
    table("line", lines.collect());
    table("function", functions.collect());
    text
}
