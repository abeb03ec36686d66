//! What programs ask while they check derivatives (`vlad gradcheck`): whether a check is wanted, and whether one runs.
//!
//! Whoever calls a function for a check must not see what it writes, and what it checks in turn is left out. The
//! program goes up a level for that, and back again; what handles an error goes back to where it was.
//!
//! This file uses nothing but `core` and no allocation: the compiler includes it as a module of its own.

/// The number of the first question.
pub const CHECKS: f64 = 200.0;

/// What is asked, by number. The library has the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Goes up to the level `x`, if it is above the one at hand, which is the answer.
    Enter = 200,
    /// Goes back to the level `x`.
    Restore,
    /// The level: 0 outside of checks, 1 in one, 2 where a function is called again and again.
    Level,
    /// How often a check of the function `x` was asked for.
    Count,
    /// Whether that is told for the first time of the function `x`: 1 if so.
    First,
    /// A comparison is made.
    Progress,
}

impl Check {
    /// The question with a number.
    pub fn of(number: f64) -> Option<Check> {
        use Check::{Count, Enter, First, Level, Progress, Restore};
        [Enter, Restore, Level, Count, First, Progress].into_iter().find(|check| *check as u32 as f64 == number)
    }
}

/// Whether the check with that number among those of a function is left out: the first `all` are not, and of the others
/// those whose number is a power of two.
pub fn is_left_out(number: u64, all: u64) -> bool {
    number > all && !number.is_power_of_two()
}
