//! First-order code of programs in the SSA evaluator.
//!
//! The code as the specialiser leaves it and the optimised code with reference counts do the same, and the latter frees
//! what it allocates and takes no more arithmetic. So does the code that an analysis with next to no patience gives, whose
//! functions share operations.

use vlad::core;
use vlad::flow;
use vlad::pipeline::Pipeline;
use vlad::pipeline::passes::{RESULT, Settings as Optimisation};
use vlad::specialize::Sharing;
use vlad::ssa::eval::{self, Counts, Options};
use vlad::ssa::ir::Program;
use vlad::ssa::verify::{Stage, verify};

const FUEL: u64 = 20_000_000;

/// For programs with limits: each runs several times, so that a few long ones do not take most of the time.
const LIMITED_FUEL: u64 = 2_000_000;

/// The most values of a program, as it is usually specialised, that runs in the SSA evaluator. Larger ones would take most
/// of the time, and their parts are those of smaller ones.
const LARGEST: usize = 60_000;

/// The most values of one that is analysed with limits. The time of an analysis without patience is not bounded by that
/// of the usual one: some programs of a few ten thousand values would take minutes.
const LARGEST_LIMITED: usize = 10_000;

/// A program that gives a sensitivity with a function in it. Where only a run can tell that what it meets is a zero,
/// that may be reported, so what happens depends on how precise the analysis is.
const DOES_NOT_CONFORM: &str = "elements-of-zeros-of-zeros";

/// What a run did.
struct Run {
    code: u8,
    output: String,
    errors: String,
    counts: Counts,
}

impl Run {
    fn demand_same(&self, other: &Run, what: &str) -> Result<(), String> {
        let all = |run: &Run| (run.code, run.output.clone(), run.errors.clone());
        if all(self) == all(other) {
            return Ok(());
        }
        Err(format!("{what}\nbefore {:?}\nafter {:?}", all(self), all(other)))
    }

    /// Chains of boxes may have become numbers that are counted up and down.
    fn work(&self) -> u64 {
        self.counts.arithmetic() + self.counts.boxes
    }
}

/// Optimises the code of a program, and compares what that does with other code of it.
pub fn check(
    pipeline: &mut Pipeline,
    program: &core::ir::Program,
    code: &mut Program,
    input: &str,
    name: &str,
) -> Result<(), String> {
    let size = size(code);
    let before = if size <= LARGEST { run(code, input, Stage::Pure, FUEL)? } else { None };
    pipeline.optimize(code, &Optimisation::default());
    let Some(before) = before else { return Ok(()) };
    if let Some(mut after) = run(code, input, RESULT, FUEL)? {
        before.demand_same(&after, "optimised code")?;
        // A selection computes both of its sides, and a loop that was recursion may count, so a few operations more are no
        // mistake.
        let is_more = |after: &Run| after.work() > before.work() + before.work() / 3 + 10;
        if is_more(&after) {
            // Nor are those of rounds that are run again for want of memory.
            after = run_with(code, input, RESULT, FUEL, eval::ALL_MEMORY)?.unwrap_or(after);
        }
        if is_more(&after) {
            return Err(format!("{} arithmetic operations and boxes became {}", before.work(), after.work()));
        }
    }
    let is_small = size <= LARGEST_LIMITED && before.counts.steps <= LIMITED_FUEL;
    if is_small && !name.ends_with(DOES_NOT_CONFORM) {
        for options in impatience() {
            check_impatient(pipeline, program, &options, input, &before)?;
        }
    }
    Ok(())
}

/// Limits that most programs exceed, so that what is done past them is done everywhere.
fn impatience() -> [flow::Options; 3] {
    let usual = flow::Options::default();
    [
        flow::Options { unroll: 1, max_nesting: 16, ..usual.clone() },
        flow::Options { number_variants: 1, lambda_variants: 2, max_work: 1000, ..usual.clone() },
        flow::Options { max_work: 0, ..usual },
    ]
}

fn check_impatient(
    pipeline: &mut Pipeline,
    program: &core::ir::Program,
    options: &flow::Options,
    input: &str,
    usual: &Run,
) -> Result<(), String> {
    let mut program = program.clone();
    // Without patience the height of a tower can be unknown that is a constant.
    let Ok(mut flow) = flow::analyze(&mut program, &pipeline.sources, options, flow::Precision::Full) else {
        return Ok(());
    };
    let Ok(code) = pipeline.specialize(&program, &mut flow, Sharing::Shared) else { return Ok(()) };
    match run(&code, input, Stage::Pure, LIMITED_FUEL)? {
        Some(found) => usual.demand_same(&found, &format!("{options:?}")),
        None => Ok(()),
    }
}

/// The number of values in a program.
fn size(program: &Program) -> usize {
    program.functions.values().map(|function| function.values.len()).sum()
}

/// `None` when it takes too long.
fn run(program: &Program, input: &str, stage: Stage, fuel: u64) -> Result<Option<Run>, String> {
    run_with(program, input, stage, fuel, eval::LITTLE_MEMORY)
}

fn run_with(program: &Program, input: &str, stage: Stage, fuel: u64, tape_memory: i64) -> Result<Option<Run>, String> {
    verify(program, stage).map_err(|errors| errors[0].to_string())?;
    match eval::run_on(program, input, Options { stage, fuel: Some(fuel), tape_memory }) {
        Ok((outcome, output, errors)) => {
            Ok(Some(Run { code: outcome.exit_code, output, errors, counts: outcome.counts }))
        }
        Err(eval::Error::OutOfFuel) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}
