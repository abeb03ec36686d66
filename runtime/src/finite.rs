//! Whether the results that a program prints are finite numbers.
//!
//! This file uses nothing but `core` and no allocation: the compiler includes it as a module of its own.

use super::number;
use ::core::fmt;

/// The numbers of the results that were printed so far.
#[derive(Clone, Copy, Debug)]
pub struct Results {
    /// How many results were printed as a whole.
    results: u64,
    /// How many numbers the one has that is being printed.
    numbers: u64,
    /// The first one that is not finite.
    fault: Option<Fault>,
}

/// A number in a result that is not finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    result: u64,
    element: u64,
    /// How many numbers the result has, once that is known.
    of: Option<u64>,
    number: f64,
}

impl Results {
    /// Nothing has been printed.
    pub const fn new() -> Results {
        Results { results: 0, numbers: 0, fault: None }
    }
    /// The next number of the result is printed.
    pub fn number(&mut self, number: f64) {
        self.numbers += 1;
        if self.fault.is_none() && !number.is_finite() {
            self.fault = Some(Fault { result: self.results + 1, element: self.numbers, of: None, number });
        }
    }
    /// The result is printed.
    pub fn end(&mut self) {
        let numbers = self.numbers;
        if let Some(fault) = &mut self.fault {
            fault.of = fault.of.or(Some(numbers));
        }
        (self.results, self.numbers) = (self.results + 1, 0);
    }
    /// The first number that is not finite.
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }
}

impl Default for Results {
    fn default() -> Results {
        Results::new()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.number.is_nan() { "not a number" } else { "not finite" };
        write!(f, "error: result {} is {what}", self.result)?;
        if self.of != Some(1) {
            write!(f, " at element {}", self.element)?;
        }
        write!(
            f,
            ": {}\n  = help: with `--no-finite` such results are no error\n",
            number::format(self.number).as_str()
        )
    }
}
