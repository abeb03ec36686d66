//! Runs the optimiser, or chosen passes, on a program in textual SSA.
//!
//! ```text
//! vlad emit --stage ssa program.vlad -o program.ssa
//! cargo run --example ssa-opt -- program.ssa                  # the whole pipeline
//! cargo run --example ssa-opt -- program.ssa gvn dce          # these passes
//! ```
//!
//! The program goes to standard output, times and sizes to standard error.

use std::process::ExitCode;
use std::time::Instant;
use vlad::pipeline::passes::{Leave, Settings, optimize, pass_named};
use vlad::ssa::ir::Program;
use vlad::ssa::parse;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((file, passes)) = arguments.split_first() else {
        eprintln!("usage: ssa-opt FILE [PASS...]");
        return ExitCode::from(2);
    };
    match run(file, passes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(file: &str, passes: &[String]) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let mut program = parse::program(&text).map_err(|error| format!("{file}: {error}"))?;
    report("before", &program);
    if passes.is_empty() {
        let report = optimize(&mut program, &Settings::default());
        for (name, time) in report.times {
            eprintln!("{name:<24}{time:>12.3?}");
        }
    }
    for name in passes {
        let pass = pass_named(name).ok_or_else(|| format!("there is no pass `{name}`"))?;
        let start = Instant::now();
        pass.run(&mut program, Leave::default());
        eprintln!("{name:<24}{:>12.3?}", start.elapsed());
    }
    report("after", &program);
    print!("{program}");
    Ok(())
}

fn report(when: &str, program: &Program) {
    let size: usize = program.functions.values().map(vlad::opt::edit::rewrite::size).sum();
    eprintln!("{when}: {} functions, {size} instructions", program.functions.len());
}
