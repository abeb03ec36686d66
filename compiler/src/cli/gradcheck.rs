//! `vlad gradcheck`: run in the reference evaluator, where the library compares derivatives with differences
//! (`stdlib/check.vlad`).

use super::{Input, eval};
use crate::pipeline::Settings;

/// What `vlad gradcheck` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> u8 {
    let Arguments { input } = arguments;
    let reports = eval::Reports { warn_kinks: true, ..eval::Reports::default() };
    eval::evaluate(input, Settings { check_derivatives: true, ..input.settings() }, reports)
}
