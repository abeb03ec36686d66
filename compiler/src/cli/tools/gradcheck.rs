//! `vlad gradcheck`: run in the reference evaluator, where the library compares derivatives with differences
//! (`stdlib/check.vlad`).

use crate::cli::Input;
use crate::cli::running::eval;
use crate::pipeline::Settings;
use std::ffi::OsString;

/// What `vlad gradcheck` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Do not check the derivatives of functions of this name: those that differ on purpose, and those that use them.
    /// May be repeated.
    #[arg(long, value_name = "FUNCTION")]
    skip: Vec<String>,
    /// Arguments for the program.
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> u8 {
    let Arguments { input, skip, arguments } = arguments;
    let reports = eval::Reports { warn_kinks: true, unchecked: skip.clone(), ..eval::Reports::default() };
    eval::evaluate(input, Settings { check_derivatives: true, ..input.settings() }, &reports, arguments)
}
