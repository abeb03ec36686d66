//! How far a search has come: a line on a terminal that is written again and again, and lines in a file.
//!
//! A program tells some numbers; at most some times in a second they are shown. Numbers are the same whether they are
//! shown or not.
//!
//! ~~~text
//! iteration 300 of 1000  objective 0.021  gradient norm 3.1e-5  7 s left       the terminal
//!
//! seconds,what,value                                                           the file
//! 3.002,iteration,300
//! 3.002,objective,0.021
//! 3.002,gradient norm,3.1e-5
//! ~~~
//!
//! This file uses nothing but `core` and no allocation: the compiler includes it as a module of its own.

use super::declaration::Text;
use super::number;
use ::core::fmt::{self, Write};

/// Nanoseconds between two times that the numbers are shown.
const PAUSE: u64 = 100_000_000;

/// Searches of the library are shown on a terminal when they have taken so many nanoseconds.
const PATIENCE: u64 = 1_000_000_000;

const SECOND: f64 = 1e9;

/// The line that a log begins with.
pub const HEADING: &str = "seconds,what,value\n";

/// A number that a program tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// How many iterations there will be at most; told first, if that is known.
    Total,
    /// The number of the iteration.
    Iteration,
    /// The value of the objective.
    Objective,
    /// The norm of its gradient; with it all is told.
    Gradient,
    /// The same, of a search of the library, which may end at any time.
    Search,
}

/// Where progress is shown.
pub trait Shown {
    /// The line on the terminal, if there is one.
    fn terminal(&mut self) -> Option<&mut dyn Write>;
    /// Lines for the log, if there is one.
    fn log(&mut self, lines: &str);
}

/// What was told so far, and shown.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// In the order of [`Told`].
    numbers: [f64; 4],
    is_search: bool,
    /// When the first iteration was told, and its number.
    first: Option<(u64, f64)>,
    /// When the program has to be done.
    limit: Option<u64>,
    /// When the numbers were shown.
    last: Option<u64>,
    is_shown: bool,
    is_stale: bool,
    told: u64,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress::new()
    }
}

impl Progress {
    /// Nothing has been told.
    pub const fn new() -> Progress {
        Progress {
            numbers: [f64::INFINITY, 0.0, 0.0, 0.0],
            is_search: false,
            first: None,
            limit: None,
            last: None,
            is_shown: false,
            is_stale: false,
            told: 0,
        }
    }

    /// Searches stop at this time, in nanoseconds since the program began.
    pub fn limit(&mut self, limit: u64) {
        self.limit = Some(limit);
    }

    /// Takes a number; shows them all after the last, if it is time. `now` is in nanoseconds since the program began.
    pub fn tell(&mut self, told: Told, number: f64, now: u64, shown: &mut impl Shown) {
        let place = match told {
            Told::Search => Told::Gradient as usize,
            _ => told as usize,
        };
        if told == Told::Total && self.numbers[place].to_bits() != number.to_bits() {
            self.first = None;
        }
        self.numbers[place] = number;
        if !matches!(told, Told::Gradient | Told::Search) {
            return;
        }
        self.is_search = told == Told::Search;
        (self.is_stale, self.told) = (true, now);
        let iteration = self.numbers[Told::Iteration as usize];
        // Another search has begun.
        let (begun, from) = match self.first {
            Some((begun, from)) if from <= iteration => (begun, from),
            _ => (now, iteration),
        };
        self.first = Some((begun, from));
        if self.last.is_none_or(|last| now.saturating_sub(last) >= PAUSE) {
            self.last = Some(now);
            self.show(shown);
        }
    }

    /// Ends the line, with what was told last, if there is one.
    pub fn end(&mut self, shown: &mut impl Shown) {
        if self.is_stale {
            self.show(shown);
        }
        if self.is_shown
            && let Some(terminal) = shown.terminal()
        {
            let _ = terminal.write_str("\n");
        }
        self.is_shown = false;
    }

    fn show(&mut self, shown: &mut impl Shown) {
        self.is_stale = false;
        let mut lines = Text::new();
        // There is nowhere to say that these cannot be written.
        let _ = self.lines(&mut lines);
        shown.log(lines.as_str());
        let begun = self.first.map_or(self.told, |(begun, _)| begun);
        let is_long = !self.is_search || self.told.saturating_sub(begun) >= PATIENCE;
        if let Some(terminal) = shown.terminal().filter(|_| is_long) {
            self.is_shown = true;
            let _ = self.line(terminal);
        }
    }

    fn named(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let all = ["iteration", "objective", "gradient norm"].into_iter().zip(self.numbers.into_iter().skip(1));
        // Searches without derivatives have none to tell.
        all.filter(|(name, number)| !(*name == "gradient norm" && number.is_nan()))
    }

    fn lines(&self, out: &mut dyn Write) -> fmt::Result {
        let (seconds, thousandths) = (self.told / 1_000_000_000, self.told / 1_000_000 % 1000);
        for (name, value) in self.named() {
            writeln!(out, "{seconds}.{thousandths:03},{name},{}", number::format(value).as_str())?;
        }
        Ok(())
    }

    fn line(&self, out: &mut dyn Write) -> fmt::Result {
        out.write_str("\r\u{1b}[K")?;
        for (position, (name, value)) in self.named().enumerate() {
            let gap = if position == 0 { "" } else { "  " };
            write!(out, "{gap}{name} {}", number::format(value).as_str())?;
            if position == 0 && self.numbers[0] < f64::INFINITY {
                write!(out, " of {}", number::format(self.numbers[0]).as_str())?;
            }
        }
        self.write_left(out)
    }

    /// How long it will take, judged by how long the iterations so far have taken.
    fn write_left(&self, out: &mut dyn Write) -> fmt::Result {
        let [total, iteration, ..] = self.numbers;
        let limit = self.limit.map_or(f64::INFINITY, |limit| limit.saturating_sub(self.told) as f64 / SECOND);
        let (begun, from) = self.first.unwrap_or((self.told, iteration));
        let each = self.told.saturating_sub(begun) as f64 / SECOND / (iteration - from);
        let by_number = if iteration > from { each * (total - iteration) } else { f64::INFINITY };
        let limit = if self.is_search { limit } else { f64::INFINITY };
        let left = if by_number < limit { by_number } else { limit };
        if left.is_nan() || left >= 1e9 {
            return Ok(());
        }
        let most = if self.is_search { "at most " } else { "" };
        let seconds = if left > 0.0 { left as u64 } else { 0 };
        match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
            (0, 0, seconds) => write!(out, "  {most}{seconds} s left"),
            (0, minutes, seconds) => write!(out, "  {most}{minutes} min {seconds} s left"),
            (hours, minutes, _) => write!(out, "  {most}{hours} h {minutes} min left"),
        }
    }
}
