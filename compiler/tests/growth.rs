//! Derivatives of programs that read vectors take time in proportion to the number of reads, whatever calls lie between
//! them: the programs of `tests/growth` read a length and print a number of a gradient; optimised, they are run by the SSA
//! evaluator, which counts instructions, and elements that are made or copied as so many.

use std::fs;
use std::path::{Path, PathBuf};
use vlad::flow;
use vlad::opt::pipeline::{RESULT, Settings as Optimisation, optimize};
use vlad::pipeline::{Pipeline, Settings};
use vlad::specialize::Sharing;
use vlad::ssa::eval::{self, Options};
use vlad::ssa::ir::Program;

/// The lengths that are compared.
const LENGTHS: [u64; 2] = [400, 800];

/// Twice the length may take so many times the work. What grows with the square takes four times as much in the end, and
/// at these lengths more than three times.
const MOST: f64 = 2.2;

/// For what grows as it should, more than enough.
const FUEL: u64 = 20_000_000;

fn code(path: &Path) -> Program {
    let mut pipeline = Pipeline::new(Settings::default());
    let mut program = pipeline.expand(path).unwrap_or_else(|_| panic!("{} has mistakes", path.display()));
    let options = flow::Options::default();
    let flow = flow::analyze(&mut program, &pipeline.sources, &options, flow::Precision::Full)
        .unwrap_or_else(|_| panic!("{} can be analysed", path.display()));
    let mut program = pipeline
        .specialize(&program, flow, Sharing::Apart)
        .unwrap_or_else(|_| panic!("{} can be compiled", path.display()));
    optimize(&mut program, &Optimisation::default());
    program
}

/// The number that the program prints for a length, and the work that it takes.
fn run(program: &Program, length: u64) -> Result<(String, u64), String> {
    let options = Options { stage: RESULT, fuel: Some(FUEL) };
    match eval::run_on(program, &format!("{length}\n"), options) {
        Ok((outcome, output, _)) if outcome.exit_code == 0 => Ok((output, outcome.counts.steps)),
        Ok((_, _, errors)) => Err(errors),
        Err(error) => Err(error.to_string()),
    }
}

fn check(path: &Path) -> Result<(), String> {
    let program = code(path);
    let results: Vec<(String, u64)> =
        LENGTHS.into_iter().map(|length| run(&program, length)).collect::<Result<_, _>>()?;
    let ratio = results[1].1 as f64 / results[0].1 as f64;
    let work = results[1].1 / LENGTHS[1];
    println!("{}: {work} steps for each element, {ratio:.2} times as many for twice the length", path.display());
    if results.iter().any(|(number, _)| number.trim().parse::<f64>().is_ok_and(|number| number == 0.0)) {
        return Err("the gradient is zero, which says nothing".to_string());
    }
    if ratio > MOST { Err(format!("twice the length takes {ratio:.2} times the work")) } else { Ok(()) }
}

#[test]
fn gradients_grow_with_the_number_of_reads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/growth");
    let mut programs: Vec<PathBuf> = fs::read_dir(folder).expect("the folder").flatten().map(|e| e.path()).collect();
    programs.sort();
    assert!(programs.len() >= 11, "{} programs", programs.len());
    let complaints: Vec<String> = programs
        .iter()
        .filter_map(|path| check(path).err().map(|complaint| format!("{}: {complaint}", path.display())))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
