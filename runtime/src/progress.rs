//! How far a search has come: a line on a terminal that is written again and again.
//!
//! A program tells three numbers (`progress` of the library); at most some times in a second they are shown. Numbers
//! are the same whether they are shown or not.
//!
//! This file uses nothing but `core` and no allocation: the compiler includes it as a module of its own.

use super::number;
use ::core::fmt::{self, Write};

/// Nanoseconds between two times that the line is written.
const PAUSE: u64 = 100_000_000;

/// What was told so far, and shown.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    numbers: [f64; 3],
    /// How many of the three are told.
    told: usize,
    /// When the line was written.
    last: u64,
    is_shown: bool,
    is_stale: bool,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress::new()
    }
}

impl Progress {
    /// Nothing has been told.
    pub const fn new() -> Progress {
        Progress { numbers: [0.0; 3], told: 0, last: 0, is_shown: false, is_stale: false }
    }

    /// Takes a number; shows all three after the third, if it is time. `now` is in nanoseconds.
    pub fn tell(&mut self, number: f64, now: impl FnOnce() -> u64, out: &mut dyn Write) {
        if let Some(place) = self.numbers.get_mut(self.told) {
            *place = number;
        }
        self.told = (self.told + 1) % self.numbers.len();
        if self.told > 0 {
            return;
        }
        self.is_stale = true;
        let now = now();
        if !self.is_shown || now.saturating_sub(self.last) >= PAUSE {
            self.last = now;
            self.show(out);
        }
    }

    /// Ends the line, with what was told last, if there is one.
    pub fn end(&mut self, out: &mut dyn Write) {
        if !self.is_shown {
            return;
        }
        if self.is_stale {
            self.show(out);
        }
        self.is_shown = false;
        let _ = out.write_str("\n");
    }

    fn show(&mut self, out: &mut dyn Write) {
        (self.is_shown, self.is_stale) = (true, false);
        // There is nowhere to say that standard error cannot be written.
        let _ = self.line(out);
    }

    fn line(&self, out: &mut dyn Write) -> fmt::Result {
        let [iteration, objective, gradient] = self.numbers;
        out.write_str("\r\u{1b}[K")?;
        for (name, number) in [("iteration", iteration), ("  objective", objective), ("  gradient norm", gradient)] {
            out.write_str(name)?;
            out.write_str(" ")?;
            out.write_str(number::format(number).as_str())?;
        }
        Ok(())
    }
}
