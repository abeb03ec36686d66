//! Every program of the corpus and the examples in SSA: the code as the specialiser leaves it and the optimised code
//! with reference counts do the same in the SSA evaluator, and the latter frees what it allocates and takes no more
//! arithmetic. So does the code that an analysis with next to no patience gives, whose functions share operations.

mod common;

use std::path::{Path, PathBuf};
use vlad::flow;
use vlad::pipeline::passes::{RESULT, Settings as Optimisation, optimize};
use vlad::pipeline::{Pipeline, Settings};
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

fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut waiting = vec![root.join("tests/run"), root.join("examples")];
    let mut found = Vec::new();
    while let Some(folder) = waiting.pop() {
        for path in std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "vlad") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// What a function finds, on a stack as large as the compiler has: the analysis goes as deep as calls are nested.
fn on_large_stack<T: Send + 'static>(find: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(find).expect("a thread starts");
    thread.join().expect("the thread ends")
}

/// The program's code, if it has any: wrong programs and those for the reference evaluator have none.
fn code(path: &Path, options: &flow::Options, sharing: Sharing) -> Option<Program> {
    let mut pipeline = Pipeline::new(Settings::default());
    let mut program = pipeline.expand(path).ok()?;
    let mut flow = flow::analyze(&mut program, &pipeline.sources, options, flow::Precision::Full).ok()?;
    pipeline.specialize(&program, &mut flow, sharing).ok()
}

/// The number of values in a program.
fn size(program: &Program) -> usize {
    program.functions.values().map(|function| function.values.len()).sum()
}

fn input(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    common::input(&text)
}

/// Exit code, output, errors and counts; `None` when it takes too long.
fn run(
    program: &Program,
    input: &str,
    stage: Stage,
    fuel: u64,
) -> Result<Option<(u8, String, String, Counts)>, String> {
    verify(program, stage).map_err(|errors| errors[0].to_string())?;
    match eval::run_on(program, input, Options { stage, fuel: Some(fuel), tape_memory: eval::LITTLE_MEMORY }) {
        Ok((outcome, output, errors)) => Ok(Some((outcome.exit_code, output, errors, outcome.counts))),
        Err(eval::Error::OutOfFuel) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

fn check(path: &Path) -> Result<(), String> {
    let Some(mut program) = code(path, &flow::Options::default(), Sharing::Apart) else { return Ok(()) };
    if size(&program) > LARGEST {
        return Ok(());
    }
    let input = input(path);
    let before = run(&program, &input, Stage::Pure, FUEL)?;
    optimize(&mut program, &Optimisation::default());
    let after = run(&program, &input, RESULT, FUEL)?;
    let (Some(before), Some(after)) = (before, after) else { return Ok(()) };
    if (before.0, &before.1, &before.2) != (after.0, &after.1, &after.2) {
        return Err(format!("before {before:?}\nafter {after:?}"));
    }
    // Chains of boxes may have become numbers that are counted up and down.
    let work = |counts: &Counts| counts.arithmetic() + counts.boxes;
    let (before, after) = (work(&before.3), work(&after.3));
    // A selection computes both of its sides, so a few operations more are no mistake.
    if after > before + before / 4 + 10 {
        return Err(format!("{before} arithmetic operations and boxes became {after}"));
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

fn check_impatient(path: &Path) -> Result<(), String> {
    let Some(program) = code(path, &flow::Options::default(), Sharing::Apart) else { return Ok(()) };
    if size(&program) > LARGEST_LIMITED {
        return Ok(());
    }
    let input = input(path);
    let Some(usual) = run(&program, &input, Stage::Pure, LIMITED_FUEL)? else { return Ok(()) };
    for options in impatience() {
        // Without patience the height of a tower can be unknown that is a constant.
        let Some(program) = code(path, &options, Sharing::Shared) else { continue };
        if let Some(outcome) = run(&program, &input, Stage::Pure, LIMITED_FUEL)?
            && (outcome.0, &outcome.1, &outcome.2) != (usual.0, &usual.1, &usual.2)
        {
            return Err(format!("{options:?}\nusually {usual:?}\nnow {outcome:?}"));
        }
    }
    Ok(())
}

/// A program that gives a sensitivity with a function in it. Where only a run can tell that what it meets is a zero,
/// that may be reported, so what happens depends on how precise the analysis is.
const DOES_NOT_CONFORM: &str = "elements-of-zeros-of-zeros.vlad";

#[test]
fn limits_of_the_analysis_change_no_result() {
    let programs: Vec<PathBuf> = programs().into_iter().filter(|path| !path.ends_with(DOES_NOT_CONFORM)).collect();
    let check = |path: &PathBuf| check_impatient(path).err().map(|message| format!("{}: {message}", path.display()));
    let failures: Vec<String> = on_large_stack(move || programs.iter().filter_map(check).collect());
    assert!(failures.is_empty(), "{} programs\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn optimised_programs_do_the_same_and_leak_nothing() {
    let check = |path: &PathBuf| check(path).err().map(|message| format!("{}: {message}", path.display()));
    let failures: Vec<String> = on_large_stack(move || programs().iter().filter_map(check).collect());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
