//! What a program shows on a terminal while it runs, and what happens when somebody interrupts it.
//!
//! Progress goes to standard error, if that is a terminal. An interruption (SIGINT) ends the line there, writes the whole lines
//! that standard output still has in its buffer, and ends the program with the exit code 130: nothing is left half written.

use crate::cell::Single;
use crate::progress::Progress;
use crate::{output, start, system};
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

static PROGRESS: Single<Progress> = Single::new(Progress::new());
static IS_TERMINAL: Single<bool> = Single::new(false);
/// Output is being written: an interruption waits for that.
static BUSY: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The exit code after an interruption.
const INTERRUPTION: c_int = 130;

/// Decides whether progress is shown.
pub fn initialise() {
    // SAFETY: always sound.
    IS_TERMINAL.store(unsafe { system::isatty(system::STDERR) } == 1);
}

/// Takes one of the three numbers that tell how far a search has come.
#[unsafe(no_mangle)]
pub extern "C" fn vlad_progress(number: f64) {
    if IS_TERMINAL.load() {
        // SAFETY: nothing else refers to the state while this function runs.
        undivided(|| unsafe { &mut *PROGRESS.get() }.tell(number, system::time, &mut output::Stderr));
    }
}

/// Ends the line that shows progress, if there is one.
pub fn end_line() {
    // SAFETY: nothing else refers to the state while this function runs; the handler of interruptions does not return.
    unsafe { &mut *PROGRESS.get() }.end(&mut output::Stderr);
}

/// Does something that an interruption must not divide.
pub fn undivided<T>(work: impl FnOnce() -> T) -> T {
    let was_busy = BUSY.swap(true, Ordering::SeqCst);
    let result = work();
    BUSY.store(was_busy, Ordering::SeqCst);
    if !was_busy && INTERRUPTED.load(Ordering::SeqCst) {
        leave();
    }
    result
}

/// From here on, interruptions of the thread that calls this end the program in good order, unless they are ignored.
pub fn catch_interruptions() {
    let mut old = system::SigAction { handler: system::SIG_DFL, mask: [0; 16], flags: 0, restorer: 0 };
    let handler = interrupted as extern "C" fn(c_int) as usize;
    let new = system::SigAction { handler, mask: [0; 16], flags: system::SA_ONSTACK, restorer: 0 };
    // SAFETY: the structures are complete; the handler does only what a handler may do.
    unsafe {
        system::sigaction(system::SIGINT, core::ptr::null(), &raw mut old);
        if old.handler != system::SIG_IGN {
            system::sigaction(system::SIGINT, &raw const new, core::ptr::null_mut());
        }
    }
    system::let_through(system::SIGINT);
}

extern "C" fn interrupted(_: c_int) {
    // Who asks a second time does not want to wait.
    if BUSY.load(Ordering::SeqCst) && !INTERRUPTED.swap(true, Ordering::SeqCst) {
        return;
    }
    leave()
}

fn leave() -> ! {
    end_line();
    output::write_whole_lines();
    start::leave(INTERRUPTION)
}
