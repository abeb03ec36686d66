//! Answers what programs ask while they check derivatives; see [`crate::check`].

use crate::cell::Single;
use crate::check::Check;
use crate::question::Words;
use crate::words::Pages;
use crate::{output, system, terminal};
use core::fmt::Write;

static LEVEL: Single<f64> = Single::new(0.0);
/// How often checks of functions were asked for, by the number of the function.
static COUNTS: Single<Pages> = Single::new(Pages::new());
/// What has been told of functions.
static TOLD: Single<Pages> = Single::new(Pages::new());
/// How many checks and comparisons have been made, and when that was shown.
static CHECKS: Single<u64> = Single::new(0);
static COMPARISONS: Single<u64> = Single::new(0);
static LAST: Single<u64> = Single::new(0);
static IS_SHOWN: Single<bool> = Single::new(false);

/// Nanoseconds between two times that the numbers are shown.
const PAUSE: u64 = 200_000_000;

/// Whether a derivative is being checked: then nothing is written.
pub fn is_running() -> bool {
    LEVEL.load() > 0.0
}

/// Answers a question.
pub fn ask(what: f64, x: f64) -> f64 {
    let level = LEVEL.load();
    match Check::of(what) {
        Some(Check::Enter) => {
            if level == 0.0 {
                CHECKS.store(CHECKS.load() + 1);
            }
            LEVEL.store(level.max(x));
            level
        }
        Some(Check::Restore) => {
            LEVEL.store(x);
            0.0
        }
        Some(Check::Level) => level,
        Some(Check::Count) => counted(&COUNTS, x as usize) as f64,
        Some(Check::First) => f64::from(u8::from(counted(&TOLD, x as usize) == 1)),
        Some(Check::Progress) => {
            COMPARISONS.store(COMPARISONS.load() + 1);
            show();
            0.0
        }
        None => 0.0,
    }
}

/// Counts a function in a row of counts; the count.
fn counted(counts: &'static Single<Pages>, place: usize) -> u64 {
    // SAFETY: nothing else refers to the counts while this function runs.
    let counts = unsafe { &mut *counts.get() };
    while counts.all().len() <= place {
        counts.push(0);
    }
    let count = counts.all()[place] + 1;
    counts.set(place, count);
    count
}

/// Shows on a terminal how far the checks have come.
fn show() {
    let now = system::time();
    if !terminal::is_shown() || now.saturating_sub(LAST.load()) < PAUSE {
        return;
    }
    LAST.store(now);
    IS_SHOWN.store(true);
    // There is nowhere to say that this cannot be written.
    let _ = write!(
        output::Shown,
        "\r\x1b[Kderivatives checked: {}, comparisons with differences: {}",
        CHECKS.load(),
        COMPARISONS.load()
    );
}

/// Takes away what is shown.
pub fn end_line() {
    if IS_SHOWN.load() {
        IS_SHOWN.store(false);
        output::raw_error(b"\r\x1b[K");
    }
}
