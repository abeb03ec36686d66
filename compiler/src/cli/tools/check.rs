//! `vlad check`: look for mistakes without running.

use crate::base::Severity;
use crate::cli::running::build;
use crate::cli::{FAULT, Input, SUCCESS, terminal};
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
    let program = match build::read(&mut pipeline, &arguments.input) {
        Ok(program) => program,
        Err(code) => return code,
    };
    let place = program.place();
    let mistakes = build::guarded(&arguments.native, || pipeline.never_succeeding(&program));
    let mistakes = mistakes.unwrap_or_else(|panic| vec![build::mistake(&panic, place)]);
    terminal::report(&mistakes, &pipeline.sources);
    if mistakes.iter().any(|mistake| mistake.severity == Severity::Error) {
        return FAULT;
    }
    let compiled = build::compile_program(&mut pipeline, program, &arguments.native);
    if arguments.native.time_passes {
        build::print_timings(&pipeline);
    }
    match compiled {
        Ok(_) => SUCCESS,
        Err(code) => code,
    }
}
