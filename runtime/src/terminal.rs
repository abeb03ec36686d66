//! What a program shows on a terminal while it runs, and what happens when somebody interrupts it.
//!
//! Progress goes to standard error, if that is a terminal. An interruption (SIGINT, or SIGTERM) ends the line there,
//! writes the whole lines that standard output still has in its buffer, and ends the program with the exit code 130 (or
//! 143): nothing is left half written. The state of a search is kept, if that is wanted.

use crate::cell::Single;
use crate::{output, ranks, start, system, watch};
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicI32, Ordering};

static IS_TERMINAL: Single<bool> = Single::new(false);
/// Output is being written: an interruption waits for that.
static BUSY: AtomicBool = AtomicBool::new(false);
/// The signal that has interrupted the program, or 0.
static INTERRUPTED: AtomicI32 = AtomicI32::new(0);

/// The signals that interrupt.
pub const INTERRUPTIONS: [c_int; 2] = [system::SIGINT, system::SIGTERM];

/// What is added to a signal for the exit code.
const INTERRUPTION: c_int = 128;

/// Decides whether progress is shown.
pub fn initialise() {
    // SAFETY: always sound.
    IS_TERMINAL.store(unsafe { system::isatty(system::STDERR) } == 1);
}

/// Shows progress, or not, whatever standard error is.
pub fn show(shown: bool) {
    IS_TERMINAL.store(shown);
}

/// Whether progress is shown.
pub fn is_shown() -> bool {
    IS_TERMINAL.load()
}

/// Ends the line that shows progress, if there is one.
pub fn end_line() {
    watch::end_line();
}

/// Does something that an interruption must not divide.
pub fn undivided<T>(work: impl FnOnce() -> T) -> T {
    let was_busy = BUSY.swap(true, Ordering::SeqCst);
    let result = work();
    BUSY.store(was_busy, Ordering::SeqCst);
    let signal = INTERRUPTED.load(Ordering::SeqCst);
    if !was_busy && signal != 0 {
        leave(signal);
    }
    result
}

/// From here on, interruptions of the thread that calls this end the program in good order, unless they are ignored.
pub fn catch_interruptions() {
    let mut old = system::SigAction { handler: system::SIG_DFL, mask: [0; 16], flags: 0, restorer: 0 };
    let handler = interrupted as extern "C" fn(c_int) as usize;
    let new = system::SigAction { handler, mask: [0; 16], flags: system::SA_ONSTACK, restorer: 0 };
    for signal in INTERRUPTIONS {
        // SAFETY: the structures are complete; the handler does only what a handler may do.
        unsafe {
            system::sigaction(signal, core::ptr::null(), &raw mut old);
            if old.handler != system::SIG_IGN {
                system::sigaction(signal, &raw const new, core::ptr::null_mut());
            }
        }
        system::let_through(signal);
    }
}

/// From here on, nobody interrupts the program.
pub fn ignore_interruptions() {
    let ignore = system::SigAction { handler: system::SIG_IGN, mask: [0; 16], flags: 0, restorer: 0 };
    for signal in INTERRUPTIONS {
        // SAFETY: the structure is complete.
        unsafe { system::sigaction(signal, &raw const ignore, core::ptr::null_mut()) };
    }
}

/// Does something that may take handlers of signals away, and puts them back.
pub fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    const SIGNALS: [c_int; 6] =
        [system::SIGINT, system::SIGTERM, system::SIGPIPE, system::SIGSEGV, system::SIGBUS, system::SIGILL];
    let mut before = SIGNALS.map(|_| system::SigAction { handler: 0, mask: [0; 16], flags: 0, restorer: 0 });
    for (signal, action) in SIGNALS.into_iter().zip(&mut before) {
        // SAFETY: the structure is complete.
        unsafe { system::sigaction(signal, core::ptr::null(), action) };
    }
    let result = undivided(work);
    for (signal, action) in SIGNALS.into_iter().zip(&before) {
        // SAFETY: as it was.
        unsafe { system::sigaction(signal, action, core::ptr::null_mut()) };
    }
    result
}

extern "C" fn interrupted(signal: c_int) {
    let is_busy = BUSY.load(Ordering::SeqCst);
    if is_busy && INTERRUPTED.swap(signal, Ordering::SeqCst) == 0 {
        return;
    }
    if is_busy {
        // Who asks a second time does not want to wait, and what is being written is not to be written anew.
        start::leave(INTERRUPTION + signal);
    }
    leave(signal)
}

fn leave(signal: c_int) -> ! {
    // What is left to do is undivided, and must not begin to leave anew.
    BUSY.store(true, Ordering::SeqCst);
    ranks::interrupt();
    end_line();
    output::write_whole_lines();
    watch::interrupted();
    start::leave(INTERRUPTION + signal)
}
