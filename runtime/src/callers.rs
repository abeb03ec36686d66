//! Who called: what the message of an error says about the calls that led there.
//!
//! Calls, the innermost one first → at most ten lines. A call at which several follow each other, as in a recursion, is
//! one line; of many lines the inner and the outer ones are there.
//!
//! ```text
//! called from `residual`, fit.vlad:9:14
//! called from the derivative of `loss`, fit.vlad:14:3 (20 times)
//! ... and 10000 more calls
//! called from fit.vlad:20:1
//! ```
//!
//! The compiler's evaluator uses the same code.

use core::fmt;

/// So many lines there are of inner calls.
const INNER: usize = 6;
/// So many of outer ones.
const OUTER: usize = 3;

/// A place in the source that calls, or that fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Call<'t> {
    /// The function around it; empty outside of functions.
    pub function: &'t str,
    /// Whether a derivative is computed there.
    pub is_derivative: bool,
    /// The name of the file.
    pub file: &'t str,
    /// The line, from 1 on.
    pub line: u32,
    /// The column, likewise.
    pub column: u32,
}

/// The calls that led to a place.
#[derive(Clone, Debug)]
pub struct Chain<T> {
    last: Option<T>,
    /// The inner calls, and the last of the outer ones, which take each other's places; each with how often it follows
    /// itself.
    kept: [Option<(T, u64)>; INNER + OUTER],
    /// How many there are, those that others have taken the place of counted.
    lines: usize,
    /// How many calls these were.
    left_out: u64,
}

/// A line of a message.
#[derive(Clone, Copy, Debug)]
pub enum Line<T> {
    /// A call, and how often it follows itself.
    Call(T, u64),
    /// So many calls are left out.
    More(u64),
}

impl<T: Copy + PartialEq> Chain<T> {
    /// None so far. The place is that of the error, if one has to be told from those of calls.
    pub fn new(place: Option<T>) -> Chain<T> {
        Chain { last: place, kept: [None; INNER + OUTER], lines: 0, left_out: 0 }
    }

    /// Where the line with that number is.
    fn position(line: usize) -> usize {
        if line < INNER { line } else { INNER + (line - INNER) % OUTER }
    }

    /// Adds the call of the function in which what was added before it is. `again` says that it is the same as that,
    /// once more, and not another one at the same place, as those in a function of the library are.
    pub fn add(&mut self, call: T, again: bool) {
        if Some(call) == self.last {
            let kept = self.kept[Chain::<T>::position(self.lines.saturating_sub(1))].as_mut();
            kept.into_iter().for_each(|kept| kept.1 += u64::from(again));
            return;
        }
        let before = self.kept[Chain::<T>::position(self.lines)].replace((call, 1));
        self.left_out += before.map_or(0, |(_, times)| times);
        (self.last, self.lines) = (Some(call), self.lines + 1);
    }

    /// Hands over the lines.
    pub fn write(&self, mut line: impl FnMut(Line<T>)) {
        let outer = self.lines.saturating_sub(OUTER).max(INNER);
        for number in (0..self.lines).filter(|number| *number < INNER || *number >= outer) {
            if number == outer && self.left_out > 0 {
                line(Line::More(self.left_out));
            }
            if let Some((call, times)) = self.kept[Chain::<T>::position(number)] {
                line(Line::Call(call, times));
            }
        }
    }
}

impl fmt::Display for Line<Call<'_>> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (call, times) = match self {
            Line::More(count) => return write!(f, "... and {count} more calls"),
            Line::Call(call, times) => (call, *times),
        };
        let Call { function, is_derivative, file, line, column } = call;
        f.write_str("called from ")?;
        if *is_derivative {
            f.write_str(if function.is_empty() { "a derivative, " } else { "the derivative of " })?;
        }
        if !function.is_empty() {
            f.write_str("`")?;
            f.write_str(function)?;
            f.write_str("`, ")?;
        }
        f.write_str(file)?;
        write!(f, ":{line}:{column}")?;
        if times > 1 { write!(f, " ({times} times)") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32) -> Call<'static> {
        Call { function: "f", file: "a", line, column: 1, ..Call::default() }
    }

    fn lines(chain: &Chain<Call>) -> Vec<String> {
        let mut lines = Vec::new();
        chain.write(|line| lines.push(line.to_string()));
        lines
    }

    #[test]
    fn repeated_calls_are_one_line() {
        let mut chain = Chain::new(Some(at(1)));
        // A call of the library at the place of the error, and two of its functions at the next place.
        [(1, false), (2, false), (2, false), (3, false), (3, true), (3, true), (2, false)]
            .into_iter()
            .for_each(|(line, again)| chain.add(at(line), again));
        let expected = ["`f`, a:2:1", "`f`, a:3:1 (3 times)", "`f`, a:2:1"];
        assert_eq!(lines(&chain), expected.map(|line| format!("called from {line}")));
    }

    #[test]
    fn of_many_lines_some_are_left_out() {
        for count in 0..40 {
            let mut chain = Chain::new(None);
            (1..=count).for_each(|line| chain.add(at(line), false));
            let written = lines(&chain);
            assert!(written.len() <= 10);
            let named = |line: &u32| written.contains(&format!("called from `f`, a:{line}:1"));
            let missing = (1..=count).filter(|line| !named(line)).count();
            let said = written.iter().find_map(|line| line.strip_prefix("... and ")?.split(' ').next());
            assert_eq!(said.unwrap_or("0"), missing.to_string(), "{count}");
            assert!(count == 0 || named(&1) && named(&count));
        }
    }
}
