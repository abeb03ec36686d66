//! The program `vlad-gradbench`.
//!
//! ```text
//! vlad-gradbench                            answers GradBench's messages on standard input
//! vlad-gradbench EVAL INPUT.json FUNCTION   prints the output as JSON, and a line for each timing
//! vlad-gradbench measure [EVAL...]          measures primal, derivatives and C beside each other
//! vlad-gradbench compare [EVAL...]          measures VLAD beside other tools; README.md has the options
//! ```

use serde_json::Value;
use std::process::ExitCode;
use vlad_gradbench::protocol::Tool;
use vlad_gradbench::{Result, compare, harness};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match &arguments[..] {
        [] => Tool::new().and_then(|mut tool| tool.run(std::io::stdin().lock(), std::io::stdout().lock())),
        ["measure", evals @ ..] => harness::measure(evals),
        ["compare", arguments @ ..] => compare::compare(arguments),
        [eval, input, function] => evaluate(eval, input, function),
        _ => Err("usage: vlad-gradbench [EVAL INPUT.json FUNCTION | measure [EVAL...] | compare [EVAL...]]".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn evaluate(eval: &str, path: &str, function: &str) -> Result<()> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let input: Value = serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
    let response = Tool::new()?.evaluate(eval, function, &input)?;
    println!("{}", response["output"]);
    for timing in response["timings"].as_array().into_iter().flatten() {
        println!("{timing}");
    }
    Ok(())
}
