//! `vlad run`: compile and run.

use super::build::{self, Compiled};
use crate::base::Diagnostic;
use crate::cli::running::eval;
use crate::cli::{BackEnd, FAULT, Input, Native, USAGE, terminal};
use crate::codegen;
use crate::codegen::link::uninterrupted;
use crate::pipeline::{Pipeline, Settings};
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::Command;

/// What `vlad run` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    back_end: BackEnd,
    #[command(flatten)]
    native: Native,
    /// Arguments for the program.
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> u8 {
    let c_compiler = match arguments.back_end.c_compiler(&arguments.native, None, false) {
        Ok(c_compiler) => c_compiler,
        Err(diagnostic) => {
            terminal::report_plain(&diagnostic);
            return USAGE;
        }
    };
    let settings = arguments.native.settings(&arguments.input);
    let mut pipeline = Pipeline::new(Settings { c_compiler, ..settings });
    let compiled = build::compile(&mut pipeline, &arguments.input, &arguments.native);
    match compiled {
        Err(code) => code,
        Ok(Compiled::Evaluate) => eval::evaluate(
            &arguments.input,
            arguments.input.settings(),
            &eval::Reports { trap_nan: arguments.native.trap_nan, ..eval::Reports::default() },
            &arguments.arguments,
        ),
        Ok(Compiled::Code(code)) => {
            let Arguments { input, native, arguments, .. } = arguments;
            link_and_run(&mut pipeline, &code, (input, native), arguments)
        }
    }
}

/// Links what was compiled, and runs it with arguments; the exit code.
pub fn link_and_run(
    pipeline: &mut Pipeline,
    code: &codegen::Code,
    (input, native): (&Input, &Native),
    arguments: &[OsString],
) -> u8 {
    let folder = match tempfile::Builder::new().prefix("vlad-run-").tempdir() {
        Ok(folder) => folder,
        Err(error) => return cannot_run(&error),
    };
    let name = input.file.file_stem().unwrap_or("program".as_ref());
    let program = folder.path().join(name);
    if let Err(error) = pipeline.finish(code, &program) {
        terminal::report_plain(&error.to_diagnostic());
        return FAULT;
    }
    if native.time_passes {
        build::print_timings(pipeline);
    }
    execute(folder, &program, native.debug, arguments)
}

/// Turns this process into the program, so that signals, exit code and streams are the program's own. Its file is
/// deleted before it starts: nothing is left behind, however it ends.
fn execute(folder: tempfile::TempDir, program: &Path, is_debugged: bool, arguments: &[OsString]) -> u8 {
    let file = match File::open(program) {
        Ok(file) => file,
        Err(error) => return cannot_run(&error),
    };
    let handle = format!("/proc/self/fd/{}", file.as_raw_fd());
    // Debuggers and profilers read the file while the program runs.
    if is_debugged || !Path::new(&handle).exists() {
        return uninterrupted(move || {
            let _until_then = folder;
            wait_for(Command::new(program).args(arguments))
        });
    }
    drop(folder);
    let error = Command::new(handle).arg0(program).args(arguments).exec();
    cannot_run(&error)
}

/// Runs a program as another process; its exit code.
pub fn wait_for(command: &mut Command) -> u8 {
    match command.status() {
        Err(error) => cannot_run(&error),
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => u8::try_from(code).unwrap_or(FAULT),
            (None, signal) => {
                let signal = signal.unwrap_or(0);
                let message = format!("signal {signal} has ended the program");
                terminal::report_plain(&Diagnostic::error_without_place("V0809", message));
                u8::try_from(128 + signal).unwrap_or(FAULT)
            }
        },
    }
}

/// Says that a program cannot be run; the exit code.
pub fn cannot_run(error: &std::io::Error) -> u8 {
    let message = format!("cannot run the compiled program: {error}");
    terminal::report_plain(&Diagnostic::error_without_place("V0809", message));
    FAULT
}
