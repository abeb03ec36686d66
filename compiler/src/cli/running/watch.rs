//! What somebody who runs a program in the evaluator wants beside its results, as compiled programs have it: progress,
//! a limit of time, the state of searches kept in a file, a page about the run, and results that are finite.

use super::arguments::reason;
use crate::cli::FAULT;
use crate::core::arguments::{Setting, Unreadable};
use crate::core::declaration::Purpose;
use crate::core::finite::Results;
use crate::core::progress::{HEADING, Shown};
use crate::core::question::{System, Watch, Words};
use crate::core::reader::write_bytes;
use crate::core::report::{Bytes, PIECES, Report};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);
static STATE: Mutex<State> = Mutex::new(State::new());

struct State {
    watch: Watch<Row>,
    outside: Outside,
    results: Results,
    is_finite_demanded: bool,
}

/// Words in memory.
struct Row(Vec<u64>);

/// The process.
struct Outside {
    terminal: Option<Stderr>,
    log: Option<File>,
    /// Where the state of searches is kept.
    kept: Option<OsString>,
    /// The page about the run, and where it goes.
    report: Report<Vec<u8>>,
    page: Option<OsString>,
}

/// Standard error for formatted text. There is nowhere to say that it cannot be written.
struct Stderr;

impl fmt::Write for Stderr {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        io::stderr().write_all(text.as_bytes()).map_err(|_| fmt::Error)
    }
}

impl Words for Row {
    fn all(&self) -> &[u64] {
        &self.0
    }
    fn push(&mut self, word: u64) {
        self.0.push(word);
    }
    fn clear(&mut self) {
        self.0.clear();
    }
}

impl Bytes for Vec<u8> {
    fn all(&self) -> &[u8] {
        self
    }
    fn extend(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
    fn shorten(&mut self, length: usize) {
        self.truncate(length);
    }
}

impl State {
    const fn new() -> State {
        State {
            watch: Watch::new(Row(Vec::new()), Row(Vec::new()), Row(Vec::new()), Row(Vec::new()), Row(Vec::new())),
            outside: Outside {
                terminal: None,
                log: None,
                kept: None,
                report: Report::new([const { Vec::new() }; PIECES]),
                page: None,
            },
            results: Results::new(),
            is_finite_demanded: false,
        }
    }
}

impl Shown for Outside {
    fn terminal(&mut self) -> Option<&mut dyn fmt::Write> {
        self.terminal.as_mut().map(|stderr| stderr as &mut dyn fmt::Write)
    }
    fn log(&mut self, lines: &str) {
        if self.log.as_mut().is_some_and(|log| log.write_all(lines.as_bytes()).is_err()) {
            // The program has better things to do than to fail.
            self.log = None;
            eprintln!("warning: cannot write the log any more");
        }
    }
}

impl System for Outside {
    fn time(&mut self) -> u64 {
        u64::try_from(BEGINNING.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
    fn keep(&mut self, words: &[u64]) {
        let Some(name) = &self.kept else { return };
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let kept = write_whole(name, &bytes);
        if let Err(error) = kept {
            eprintln!("warning: cannot write the state of the search: {}", reason(&error));
        }
    }
    type Bytes = Vec<u8>;
    fn report(&mut self) -> &mut Report<Vec<u8>> {
        &mut self.report
    }
}

/// Writes a file that appears whole.
fn write_whole(name: &OsStr, bytes: &[u8]) -> io::Result<()> {
    let part = part_of(name);
    let mut file = File::create(&part)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&part, name)
}

/// What is there and is no regular file must not be replaced, and a file must be possible.
fn demand_writable(path: &[u8]) -> Result<OsString, Unreadable> {
    let name = OsStr::from_bytes(path);
    match fs::metadata(name) {
        Ok(data) if data.is_dir() => return Err(complain("write", path, "Is a directory")),
        Ok(data) if !data.is_file() => return Err(complain("write", path, "it is no regular file")),
        _ => {}
    }
    let part = part_of(name);
    // Better now than when there is something to write.
    let tried = File::create(&part).and_then(|_| fs::remove_file(&part));
    tried.map_err(|error| complain("write", part.as_bytes(), &reason(&error)))?;
    Ok(name.to_os_string())
}

fn part_of(name: &OsStr) -> OsString {
    [name, OsStr::new(".part")].into_iter().collect()
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to watch the program with that identity.
pub fn begin(identity: u64) {
    LazyLock::force(&BEGINNING);
    let mut state = state();
    *state = State::new();
    state.watch.program(identity);
    if io::stderr().is_terminal() {
        state.outside.terminal = Some(Stderr);
        state.watch.show();
    }
}

/// A number of the arguments.
pub fn argument(number: f64) {
    state().watch.argument(number);
}

/// Answers a question of the program.
pub fn answer(what: f64, x: f64) -> f64 {
    let State { watch, outside, .. } = &mut *state();
    watch.ask(what, x, outside)
}

/// Ends the line that shows progress, if there is one.
pub fn end_line() {
    let State { watch, outside, .. } = &mut *state();
    watch.progress.end(outside);
}

/// Keeps what has not been kept, since the program is interrupted.
pub fn interrupted() {
    let State { watch, outside, .. } = &mut *state();
    watch.interrupted(outside);
}

/// Does something with the page about the run, if there is one.
pub fn reported<T>(work: impl FnOnce(&mut Report<Vec<u8>>) -> T) -> Option<T> {
    let report = &mut state().outside.report;
    report.is_wanted().then(|| work(report))
}

/// Tells the page about the run of a file that the program has written.
pub fn file_written(name: &Path) {
    reported(|report| {
        report.begin_file(name.as_os_str().as_bytes());
        report.filed(&fs::read(name).unwrap_or_default());
        report.end_file(true);
    });
}

/// Writes the page about the run, if there is one. The run ends with this exit code.
pub fn write_report(code: i32) {
    let outside = &mut state().outside;
    let time = outside.time();
    let Some(name) = outside.page.take().filter(|_| outside.report.is_begun()) else { return };
    if let Err(error) = write_whole(&name, outside.report.page(code, time)) {
        eprintln!("warning: cannot write the report: {}", reason(&error));
    }
}

/// A number of a result, or its end.
pub fn result(number: Option<f64>) {
    let results = &mut state().results;
    match number {
        Some(number) => results.number(number),
        None => results.end(),
    }
}

/// The exit code where a result is not finite and must be, after saying so.
pub fn fault() -> Option<u8> {
    let state = state();
    let fault = state.results.fault().filter(|_| state.is_finite_demanded)?;
    let text = fault.to_string();
    eprint!("{text}");
    drop(state);
    reported(|report| report.message(text.as_bytes()));
    Some(FAULT)
}

/// Does what an option says.
pub fn set(purpose: Purpose, setting: Setting<'_>) -> Result<(), Unreadable> {
    let State { watch, outside, is_finite_demanded, .. } = &mut *state();
    match (purpose, setting) {
        (Purpose::Log, Setting::File(path)) => {
            let name = Path::new(OsStr::from_bytes(path));
            let opened = File::create(name).and_then(|mut log| log.write_all(HEADING.as_bytes()));
            let log = opened.and_then(|()| OpenOptions::new().append(true).open(name));
            outside.log = Some(log.map_err(|error| complain("write", path, &reason(&error)))?);
            watch.show();
        }
        (Purpose::TimeLimit, Setting::Seconds(seconds)) => watch.limit(seconds),
        (Purpose::Finite, Setting::Truth(demanded)) => *is_finite_demanded = demanded,
        (Purpose::Checkpoint, Setting::File(path)) => {
            outside.kept = Some(demand_writable(path)?);
            watch.checkpoint();
        }
        (Purpose::Report, Setting::File(path)) => {
            outside.page = Some(demand_writable(path)?);
            outside.report.want();
        }
        (Purpose::CheckpointEvery, Setting::Seconds(seconds)) => watch.every(seconds),
        (Purpose::Resume, Setting::File(path)) => {
            let bytes = fs::read(OsStr::from_bytes(path));
            let bytes = bytes.map_err(|error| complain("read", path, &reason(&error)))?;
            let words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
            words.for_each(|word| watch.resumed_words().push(word));
            watch.resume().map_err(|refusal| complain("go on from", path, refusal.text()))?;
        }
        _ => {}
    }
    Ok(())
}

/// Says why something cannot be done with a file.
pub fn complain(act: &str, path: &[u8], reason: &str) -> Unreadable {
    let mut name = crate::core::arguments::Text::new();
    let _ = write_bytes(&mut name, path);
    eprintln!("error: cannot {act} `{}`: {reason}", name.as_str());
    Unreadable
}
