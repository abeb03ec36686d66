//! Runs passes in the order of the [schedule](super::order).
//!
//! In builds with debug assertions, and where that is asked for, each pass is checked: that it meets no operations
//! which it does not know, leaves a program that [`verify`] accepts, and brings in no operations but those that it
//! says.

use super::order::{INLINE, Phase, Row, SCHEDULE, SIMPLIFY, SIMPLIFYING_ROUNDS};
use super::settled::{Settled, size};
use super::{Leave, Pass, pass_named};
use crate::ssa::forms::{self, Form};
use crate::ssa::ir::Program;
use crate::ssa::verify::{Stage, verify};
use rustc_hash::FxHashSet;
use std::time::{Duration, Instant};

/// No round begins after passes have looked at so many instructions: the time for large programs is in proportion to
/// their size, since each pass runs a few times at least and never many more.
const MOST_WORK: usize = 3_000_000;

/// A program of so many instructions may grow by copies of functions that are not small to [`growth`] of them. Small
/// programs may grow many times, so that what they compute with is in one place; large ones by a half.
const GROWTH: usize = 6_000;

fn growth(size: usize) -> usize {
    size + size / 2 + GROWTH
}

/// What the whole pipeline leaves.
pub const RESULT: Stage = Stage::Counted;

/// What the driver wants from the optimiser.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Names of passes that do not run.
    pub disabled: Vec<String>,
    /// Names of passes whose output is wanted.
    pub dump_after: Vec<String>,
    /// Whether sums and products of loops may be made in another order, which changes their last digits.
    pub fast_math: bool,
    /// Whether to check the program after each pass. Builds with debug assertions always do after one that says that it
    /// has changed something.
    pub verify: bool,
}

/// What the optimiser reports besides the program.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The time that each pass took, in order of first run.
    pub times: Vec<(&'static str, Duration)>,
    /// The program after the passes of [`Settings::dump_after`]: a numbered name such as `07-gvn`, and the text.
    pub dumps: Vec<(String, String)>,
}

/// Optimises a program.
///
/// # Panics
///
/// When a pass breaks the law of SSA: the message names the pass.
pub fn optimize(program: &mut Program, settings: &Settings) -> Report {
    let settled = Settled::default();
    let mut runner = Runner { settings, settled, report: Report::default(), runs: 0, most: 0 };
    for phase in SCHEDULE {
        match phase {
            Phase::Once(rows) => {
                runner.run_all(program, rows);
            }
            Phase::Large(rows, least) => {
                if size(program) >= *least {
                    runner.run_all(program, rows);
                }
            }
            Phase::Inline(times) => {
                runner.most = growth(size(program));
                runner.rounds(program, *times);
            }
            Phase::Repeat(rows, times) => runner.repeat(program, rows, *times),
        }
    }
    runner.report
}

struct Runner<'s> {
    settings: &'s Settings,
    settled: Settled,
    report: Report,
    runs: usize,
    /// How large the program may become by copies of functions.
    most: usize,
}

impl Runner<'_> {
    /// Runs these rows and simplifies, until they find nothing.
    fn repeat(&mut self, program: &mut Program, rows: &[Row], times: usize) {
        for _ in 0..times {
            if !self.run_all(program, rows) || self.settled.work > MOST_WORK {
                break;
            }
            self.rounds(program, 1);
        }
    }

    fn rounds(&mut self, program: &mut Program, growing: usize) {
        for _ in 0..growing {
            let grown = self.run_all(program, INLINE);
            if (!self.run_all(program, SIMPLIFY) && !grown) || self.settled.work > MOST_WORK {
                return;
            }
        }
        for _ in 0..SIMPLIFYING_ROUNDS {
            if !self.run_all(program, SIMPLIFY) || self.settled.work > MOST_WORK {
                return;
            }
        }
    }

    fn run_all(&mut self, program: &mut Program, rows: &[Row]) -> bool {
        let mut changed = false;
        for (name, _) in rows {
            let pass = pass_named(name).expect("the pipeline names passes");
            if !self.settings.disabled.iter().any(|disabled| disabled == name) {
                changed |= self.run(program, pass);
            }
        }
        changed
    }

    fn run(&mut self, program: &mut Program, pass: &Pass) -> bool {
        let leave = Leave { most: self.most, fast_math: self.settings.fast_math };
        let checks = self.settings.verify || cfg!(debug_assertions);
        let before = if checks { forms::found(program) } else { FxHashSet::default() };
        assert!(before.iter().all(|form| pass.meets.contains(form)), "the pass `{}` cannot meet {before:?}", pass.name);
        let start = Instant::now();
        let changed = self.settled.run(pass, program, leave);
        self.note_time(pass.name, start.elapsed());
        self.runs += 1;
        if self.settings.dump_after.iter().any(|name| name == pass.name) {
            self.report.dumps.push((format!("{:02}-{}", self.runs, pass.name), program.to_string()));
        }
        // What a pass has not changed has been checked, and most runs change nothing.
        let is_last = pass.stage() == RESULT;
        if self.settings.verify || checks && (changed || is_last) {
            check(program, pass, &before);
        }
        changed
    }

    fn note_time(&mut self, name: &'static str, time: Duration) {
        match self.report.times.iter_mut().find(|row| row.0 == name) {
            Some(row) => row.1 += time,
            None => self.report.times.push((name, time)),
        }
    }
}

/// Stops the compiler when the pass left a program that breaks the law, or operations that it does not say it brings
/// in.
fn check(program: &Program, pass: &Pass, before: &FxHashSet<Form>) {
    if let Err(errors) = verify(program, pass.stage()) {
        let place = errors[0].place.map(|(function, _)| program.function_text(function)).unwrap_or_default();
        panic!("the pass `{}` broke the program: {}\n{place}", pass.name, errors[0]);
    }
    let expected = |form: &Form| before.contains(form) || pass.makes == Some(*form);
    let found = forms::found(program);
    assert!(found.iter().all(expected), "the pass `{}` does not say that it makes {found:?}", pass.name);
}
