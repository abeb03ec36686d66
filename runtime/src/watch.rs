//! What somebody who runs the program wants beside its results: progress, a limit of time, the state of searches kept
//! in a file, a page about the run. See [`crate::question`] for what programs ask.

use crate::arguments::{Setting, Unreadable};
use crate::cell::Single;
use crate::check::CHECKS;
use crate::declaration::Purpose;
use crate::progress::{HEADING, Shown};
use crate::question::{BASIS, System, Watch, Words, mixed};
use crate::ranks::Topic;
use crate::report::{PIECES, Report};
use crate::whole::Whole;
use crate::words::{Pages, Row};
use crate::{checks, command_line, output, ranks, shards, system, terminal};
use core::ffi::c_int;
use core::fmt::Write;

static WATCH: Single<Watch<Pages>> =
    Single::new(Watch::new(Pages::new(), Pages::new(), Pages::new(), Pages::new(), Pages::new()));
/// When the program began.
static BEGINNING: Single<u64> = Single::new(0);
/// The log, if there is one.
static LOG: Single<c_int> = Single::new(-1);
/// The file for the state of searches.
static STATE: Single<Whole> = Single::new(Whole::new());
/// The page about the run, and its file.
static REPORT: Single<Report<Row>> = Single::new(Report::new([const { Row::new() }; PIECES]));
static PAGE: Single<Whole> = Single::new(Whole::new());
/// Whether there is one.
static IS_REPORTED: Single<bool> = Single::new(false);

/// Begins to measure time, and decides whether progress is shown.
pub fn initialise() {
    BEGINNING.store(system::time());
    if terminal::is_shown() {
        watch().show();
    }
}

/// The state, which nothing else refers to while a function of this module runs.
fn watch() -> &'static mut Watch<Pages> {
    // SAFETY: see above; a signal handler that interrupts such a function does not return, or touches nothing.
    unsafe { &mut *WATCH.get() }
}

/// The page, which nothing else refers to while a function of this module runs.
fn report() -> &'static mut Report<Row> {
    // SAFETY: see above; interruptions wait where it is changed.
    unsafe { &mut *REPORT.get() }
}

/// Does something with the page about the run, if there is one.
pub fn reported<T>(work: impl FnOnce(&mut Report<Row>) -> T) -> Option<T> {
    IS_REPORTED.load().then(|| terminal::undivided(|| work(report())))
}

/// Writes the page about the run, if there is one. The run ends with this exit code.
pub fn write_report(code: c_int) {
    terminal::undivided(|| {
        // Only once, whatever comes of it.
        let is_reported = IS_REPORTED.load();
        IS_REPORTED.store(false);
        if !is_reported || !report().is_begun() {
            return;
        }
        let time = system::time().saturating_sub(BEGINNING.load());
        // SAFETY: nothing changes the name any more.
        let file = unsafe { &*PAGE.get() };
        if file.is_named() && !file.write(report().page(code, time)) {
            output::raw_error(b"warning: cannot write the report: ");
            output::raw_error(system::describe_error(system::last_error()));
            output::raw_error(b"\n");
        }
    });
}

/// Says what program this is.
pub fn program(identity: u64) {
    watch().program(identity);
}

/// What says which program this is.
pub fn identity() -> u64 {
    watch().identity()
}

/// A number of the arguments.
pub fn argument(number: f64) {
    watch().argument(number);
}

/// The time in seconds since the program began.
pub fn seconds() -> f64 {
    Process(output::Shown).time() as f64 / 1e9
}

/// Shows and keeps nothing any more: this is a copy of the process.
pub fn silence() {
    watch().silence();
    IS_REPORTED.store(false);
    report().silence();
}

/// Ends the line that shows progress, if there is one.
pub fn end_line() {
    checks::end_line();
    watch().progress.end(&mut Process(output::Shown));
}

/// Keeps what has not been kept, since the program is interrupted.
pub fn interrupted() {
    watch().interrupted(&mut Process(output::Shown));
}

/// The time in seconds since the program began.
const CLOCK: f64 = crate::question::CLOCK;
/// Whether a search has to stop because of the time.
const IS_LATE: f64 = crate::question::IS_LATE;

/// Answers a question of the program.
#[unsafe(no_mangle)]
pub extern "C" fn vlad_ask(what: f64, x: f64) -> f64 {
    if what >= CHECKS {
        return checks::ask(what, x);
    }
    // Nobody listens while a derivative is checked.
    if checks::is_running() && what != CLOCK && what < shards::COUNT {
        return 0.0;
    }
    if what >= shards::COUNT {
        return shards::ask(what, x);
    }
    if what == CLOCK {
        return ranks::agreed(seconds);
    }
    if what == IS_LATE && watch().is_limited() {
        return ranks::agreed(|| terminal::undivided(|| watch().ask(what, x, &mut Process(output::Shown))));
    }
    terminal::undivided(|| watch().ask(what, x, &mut Process(output::Shown)))
}

/// Does what an option says.
///
/// # Errors
///
/// When a file cannot be opened, or is of no use.
pub fn set(purpose: Purpose, setting: Setting<'_>) -> Result<(), Unreadable> {
    match (purpose, setting) {
        (Purpose::Log, Setting::File(path)) => {
            watch().show();
            // Files are written by one of the ranks.
            if !ranks::is_follower() {
                let log = command_line::open(path, system::O_NEW | system::O_APPEND, "write")?;
                LOG.store(log);
                write(log, HEADING.as_bytes());
            }
        }
        (Purpose::TimeLimit, Setting::Seconds(seconds)) => watch().limit(seconds),
        (Purpose::Finite, Setting::Truth(demanded)) => output::demand_finite(demanded),
        (Purpose::Checkpoint, Setting::File(_)) if ranks::is_follower() => watch().checkpoint(),
        (Purpose::Checkpoint, Setting::File(path)) => {
            // SAFETY: nothing else refers to the name while this function runs.
            unsafe { &mut *STATE.get() }.name(path)?;
            watch().checkpoint();
        }
        (Purpose::CheckpointEvery, Setting::Seconds(seconds)) => watch().every(seconds),
        (Purpose::Report, Setting::File(path)) => {
            if !ranks::is_follower() {
                // SAFETY: nothing else refers to the name while this function runs.
                unsafe { &mut *PAGE.get() }.name(path)?;
            }
            report().want();
            IS_REPORTED.store(true);
        }
        (Purpose::Resume, Setting::File(path)) => {
            let file = command_line::open(path, 0, "read")?;
            let count = watch().resumed_words().read(file);
            // SAFETY: the file is open and not used any more.
            unsafe { system::close(file) };
            if count.is_none() {
                return Err(command_line::cannot("read", path));
            }
            if let Some(group) = ranks::group() {
                // Rank 0 may write to the same file when all have read it.
                let words = watch().resumed_words().all().iter();
                (group.agree)(Topic::File, words.fold(BASIS, |hash, word| mixed(hash, *word)), [0; 2]);
            }
            let refused = watch().resume().err();
            if let Some(refusal) = refused {
                command_line::complain("go on from", path, refusal.text().as_bytes());
                return Err(Unreadable);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Writes to a file; `false` if the system refuses.
fn write(file: c_int, bytes: &[u8]) -> bool {
    output::write_all(file, bytes).is_ok()
}

/// The process, with standard error for what it shows.
struct Process(output::Shown);

impl Shown for Process {
    fn terminal(&mut self) -> Option<&mut dyn Write> {
        if terminal::is_shown() && !ranks::is_follower() { Some(&mut self.0) } else { None }
    }
    fn log(&mut self, lines: &str) {
        if LOG.load() >= 0 && !write(LOG.load(), lines.as_bytes()) {
            // The program has better things to do than to fail.
            LOG.store(-1);
            output::raw_error(b"warning: cannot write the log any more\n");
        }
    }
}

impl System for Process {
    type Bytes = Row;
    fn report(&mut self) -> &mut Report<Row> {
        report()
    }
    fn time(&mut self) -> u64 {
        system::time().saturating_sub(BEGINNING.load())
    }
    fn keep(&mut self, words: &[u64]) {
        if ranks::is_follower() {
            return;
        }
        // SAFETY: nothing changes the name any more; words are as sound as bytes.
        let kept = unsafe {
            let bytes = core::slice::from_raw_parts(words.as_ptr().cast::<u8>(), words.len() * 8);
            (&*STATE.get()).write(bytes)
        };
        if !kept {
            output::raw_error(b"warning: cannot write the state of the search: ");
            output::raw_error(system::describe_error(system::last_error()));
            output::raw_error(b"\n");
        }
    }
}
