//! `vlad check`: look for mistakes without running.

use crate::cli::running::build;
use crate::cli::{Input, SUCCESS};
use crate::pipeline::Pipeline;

/// What `vlad check` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    native: crate::cli::Native,
}

/// Runs the subcommand: everything that compiling does, except that nothing is written.
pub fn run(arguments: &Arguments) -> u8 {
    let mut pipeline = Pipeline::new(arguments.native.settings(&arguments.input));
    let compiled = build::compile(&mut pipeline, &arguments.input, &arguments.native);
    if arguments.native.time_passes {
        build::print_timings(&pipeline);
    }
    match compiled {
        Ok(_) => SUCCESS,
        Err(code) => code,
    }
}
