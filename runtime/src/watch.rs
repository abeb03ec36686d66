//! What somebody who runs the program wants beside its results: progress, a limit of time, the state of searches kept
//! in a file. See [`crate::question`] for what programs ask.

use crate::arguments::{Setting, Unreadable};
use crate::cell::Single;
use crate::check::CHECKS;
use crate::declaration::Purpose;
use crate::progress::{HEADING, Shown};
use crate::question::{BASIS, System, Watch, Words, mixed};
use crate::ranks::Topic;
use crate::words::Pages;
use crate::{checks, command_line, output, ranks, shards, system, terminal};
use core::ffi::c_int;
use core::fmt::Write;

static WATCH: Single<Watch<Pages>> =
    Single::new(Watch::new(Pages::new(), Pages::new(), Pages::new(), Pages::new(), Pages::new()));
/// When the program began.
static BEGINNING: Single<u64> = Single::new(0);
/// The log, if there is one.
static LOG: Single<c_int> = Single::new(-1);
/// The file for the state of searches: its name with a zero byte behind it, and what it is called until it is whole.
static FILES: Single<[[u8; LONGEST + 8]; 2]> = Single::new([[0; LONGEST + 8]; 2]);

/// The longest name of a file.
const LONGEST: usize = 4096;
const PART: &[u8] = b".part";

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
    watch().ask(CLOCK, 0.0, &mut Process(output::Stderr))
}

/// Shows and keeps nothing any more: this is a copy of the process.
pub fn silence() {
    watch().silence();
}

/// Ends the line that shows progress, if there is one.
pub fn end_line() {
    checks::end_line();
    watch().progress.end(&mut Process(output::Stderr));
}

/// Keeps what has not been kept, since the program is interrupted.
pub fn interrupted() {
    watch().interrupted(&mut Process(output::Stderr));
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
        return ranks::agreed(|| terminal::undivided(|| watch().ask(what, x, &mut Process(output::Stderr))));
    }
    terminal::undivided(|| watch().ask(what, x, &mut Process(output::Stderr)))
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
            demand_regular(path)?;
            // SAFETY: nothing else refers to the names while this function runs.
            let files = unsafe { &mut *FILES.get() };
            for (place, ending) in files.iter_mut().zip([&b""[..], PART]) {
                let length = path.len().min(LONGEST);
                place[..length].copy_from_slice(&path[..length]);
                place[length..length + ending.len()].copy_from_slice(ending);
            }
            // Better now than when the first state is there.
            let part = path.len() + PART.len();
            let file = command_line::open(files[1].get(..part).unwrap_or(path), system::O_NEW, "write")?;
            // SAFETY: the file is open, its name ends in a zero byte.
            unsafe {
                system::close(file);
                system::unlink(files[1].as_ptr().cast());
            }
            watch().checkpoint();
        }
        (Purpose::CheckpointEvery, Setting::Seconds(seconds)) => watch().every(seconds),
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

/// What is there and is no regular file must not be replaced.
fn demand_regular(path: &[u8]) -> Result<(), Unreadable> {
    match command_line::try_open(path, system::O_PRESENT) {
        Err(system::ENOENT) => Ok(()),
        Err(error) => {
            command_line::complain("write", path, system::describe_error(error));
            Err(Unreadable)
        }
        Ok(file) => {
            let is_regular = system::is_regular(file);
            // SAFETY: the file is open and not used any more.
            unsafe { system::close(file) };
            if is_regular {
                return Ok(());
            }
            command_line::complain("write", path, b"it is no regular file");
            Err(Unreadable)
        }
    }
}

/// Writes to a file; `false` if the system refuses.
fn write(file: c_int, bytes: &[u8]) -> bool {
    output::write_all(file, bytes).is_ok()
}

/// The process, with standard error for its messages.
struct Process(output::Stderr);

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
    fn time(&mut self) -> u64 {
        system::time().saturating_sub(BEGINNING.load())
    }
    fn keep(&mut self, words: &[u64]) {
        if ranks::is_follower() {
            return;
        }
        // SAFETY: nothing changes the names any more; they end in zero bytes, as the words are in a row of bytes.
        let kept = unsafe {
            let files = &*FILES.get();
            let bytes = core::slice::from_raw_parts(words.as_ptr().cast::<u8>(), words.len() * 8);
            let file = system::open(files[1].as_ptr().cast(), system::O_NEW | system::O_CLOEXEC, 0o666);
            let written = file >= 0 && write(file, bytes) && system::fsync(file) == 0;
            if file >= 0 {
                system::close(file);
            }
            written && system::rename(files[1].as_ptr().cast(), files[0].as_ptr().cast()) == 0
        };
        if !kept {
            output::raw_error(b"warning: cannot write the state of the search: ");
            output::raw_error(system::describe_error(system::last_error()));
            output::raw_error(b"\n");
        }
    }
}
