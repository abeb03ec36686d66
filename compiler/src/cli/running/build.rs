//! `vlad build`: compile to an executable. Also the part of it that `vlad run` shares.

use crate::base::{Diagnostic, Span};
use crate::cli::running::{embedded, library};
use crate::cli::{BackEnd, FAULT, Input, Native, SUCCESS, TargetArgument, USAGE, terminal};
use crate::codegen::{self, Machine};
use crate::core::ir::Program;
use crate::foreign::package;
use crate::pipeline::{Pipeline, Refusal, Settings};
use std::path::{Path, PathBuf};

/// What `vlad build` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    pub input: Input,
    /// The executable to write [default: the file's name without .vlad, in the current folder].
    #[arg(short, long, value_name = "PROGRAM")]
    pub output: Option<PathBuf>,
    /// Make a library of what the program exports, for C, Rust and, if it is shared, Python.
    ///
    /// With `-o FOLDER/NAME`, writes FOLDER/libNAME.a or FOLDER/libNAME.so, FOLDER/NAME.h, FOLDER/NAME.rs, for Python
    /// FOLDER/NAME.py and FOLDER/NAME.pyi, and for pkg-config and CMake FOLDER/NAME.pc and FOLDER/NAMEConfig.cmake. A
    /// wheel is one file FOLDER/NAME-VERSION-....whl, a crate a folder FOLDER/NAME.
    #[arg(long, value_enum, value_name = "KIND")]
    pub lib: Option<library::Kind>,
    /// The version of a library, as wheels, crates, pkg-config and CMake are told: up to three numbers.
    #[arg(long, value_name = "VERSION", default_value = "0.1.0", value_parser = package::version, requires = "lib")]
    pub package_version: String,
    #[command(flatten)]
    pub target: TargetArgument,
    #[command(flatten)]
    pub back_end: BackEnd,
    #[command(flatten)]
    pub native: Native,
}

impl Arguments {
    /// What they mean for the compiler.
    pub fn settings(&self) -> Settings {
        Settings { machine: self.target.machine(), ..self.native.settings(&self.input) }
    }
}

/// The label of a place that stands for all of a program.
const WHOLE_PROGRAM: &str = "the program that begins here";

/// What a back end has made, or the news that the program needs the evaluator.
pub enum Compiled {
    Code(codegen::Code),
    Evaluate,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> u8 {
    let Arguments { back_end, native, target, lib, .. } = arguments;
    let c_compiler = match back_end.c_compiler(native, target.target, lib.is_some()) {
        Ok(c_compiler) => c_compiler,
        Err(diagnostic) => {
            terminal::report_plain(&diagnostic);
            return USAGE;
        }
    };
    if let Some(kind) = arguments.lib {
        return library::run(arguments, kind);
    }
    let output = match output(arguments) {
        Ok(output) => output,
        Err(diagnostic) => {
            terminal::report_plain(&diagnostic);
            return USAGE;
        }
    };
    let mut pipeline = Pipeline::new(Settings { c_compiler, ..arguments.settings() });
    let compiled = match compile(&mut pipeline, &arguments.input, &arguments.native) {
        Ok(compiled) => compiled,
        Err(code) => return code,
    };
    let written = match compiled {
        Compiled::Code(code) => pipeline.finish(&code, &output),
        Compiled::Evaluate => embedded::write(&arguments.input, &pipeline.sources, arguments.native.trap_nan, &output),
    };
    if arguments.native.time_passes {
        print_timings(&pipeline);
    }
    match written {
        Ok(()) => SUCCESS,
        Err(error) => {
            terminal::report_plain(&error.to_diagnostic());
            FAULT
        }
    }
}

/// The name of the executable.
fn output(arguments: &Arguments) -> Result<PathBuf, Box<Diagnostic>> {
    let file = &arguments.input.file;
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => PathBuf::from(file.file_stem().unwrap_or(file.as_os_str())),
    };
    let same = match (output.canonicalize(), file.canonicalize()) {
        (Ok(output), Ok(file)) => output == file,
        _ => false,
    };
    if same {
        let message = format!("the executable would replace the program `{}`", file.display());
        let help = "name the executable: `-o PROGRAM`";
        return Err(Box::new(Diagnostic::error_without_place("V0808", message).help(help)));
    }
    Ok(output)
}

/// Reads the program. Mistakes are reported; the error is the exit code.
pub fn read(pipeline: &mut Pipeline, input: &Input) -> Result<Program, u8> {
    demand_file(&input.file)?;
    pipeline.expand(&input.file).map_err(|diagnostics| {
        terminal::report(&diagnostics, &pipeline.sources);
        FAULT
    })
}

/// A program that cannot be read is wrong usage, not a wrong program.
pub fn demand_file(file: &Path) -> Result<(), u8> {
    let result = std::fs::File::open(file).and_then(|file| file.metadata()).and_then(not_a_folder);
    result.map_err(|error| {
        let message = format!("cannot read `{}`: {error}", file.display());
        terminal::report_plain(&Diagnostic::error_without_place("V0807", message));
        USAGE
    })
}

fn not_a_folder(metadata: std::fs::Metadata) -> std::io::Result<()> {
    if metadata.is_dir() { Err(std::io::ErrorKind::IsADirectory.into()) } else { Ok(()) }
}

/// Compiles the program to what is linked, if possible. Mistakes and warnings are reported; the error is the exit code.
pub fn compile(pipeline: &mut Pipeline, input: &Input, native: &Native) -> Result<Compiled, u8> {
    let program = read(pipeline, input)?;
    compile_program(pipeline, program, native)
}

/// Does the same with a program that has been read.
pub fn compile_program(pipeline: &mut Pipeline, program: Program, native: &Native) -> Result<Compiled, u8> {
    let place = program.place();
    let translated = guarded(native, || translate(pipeline, program));
    let refusal = match translated {
        Ok(Ok(code)) => return Ok(Compiled::Code(code)),
        Ok(Err(refusal)) => refusal,
        Err(panic) => Refusal::Unsupported(Box::new(mistake(&panic, place))),
    };
    match refusal {
        Refusal::Mistake(diagnostics) => {
            terminal::report(&diagnostics, &pipeline.sources);
            Err(FAULT)
        }
        Refusal::Unsupported(diagnostic) if native.native || pipeline.settings.machine != Machine::Host => {
            let mut diagnostic = *diagnostic;
            diagnostic.severity = crate::base::Severity::Error;
            terminal::report([&diagnostic], &pipeline.sources);
            Err(FAULT)
        }
        Refusal::Unsupported(diagnostic) => {
            let diagnostic = diagnostic.note("the program runs in the reference evaluator instead");
            terminal::report([&diagnostic], &pipeline.sources);
            Ok(Compiled::Evaluate)
        }
    }
}

/// What the back end makes of a program.
pub fn translate(pipeline: &mut Pipeline, program: Program) -> Result<codegen::Code, Refusal> {
    let code = pipeline.native(&program)?;
    // A program that is too large for the code generator can still be evaluated.
    pipeline.code(&code).map_err(|error| Refusal::Unsupported(Box::new(without_code(&error, program.place()))))
}

/// Runs a part of the compiler behind the front end; a panic in it becomes an error with its message.
pub fn guarded<T>(native: &Native, part: impl FnOnce() -> T) -> Result<T, String> {
    terminal::catch(|| {
        assert!(!native.panic, "`--panic` asks for one");
        part()
    })
}

/// The warning that there is no code for the program which begins there.
pub fn without_code(error: &codegen::Error, place: Option<Span>) -> Diagnostic {
    let diagnostic = error.to_diagnostic().as_warning();
    match error {
        codegen::Error::TooLarge { .. } | codegen::Error::Bug { .. } => diagnostic.at(place, WHOLE_PROGRAM),
        _ => diagnostic,
    }
}

/// The warning after a panic behind the front end, about the program which begins there.
pub fn mistake(panic: &str, place: Option<Span>) -> Diagnostic {
    Diagnostic::error_without_place("V0800", "mistake in the compiler")
        .at(place, WHOLE_PROGRAM)
        .note(panic.to_string())
        .help(format!("please report this together with the program (vlad {})", env!("CARGO_PKG_VERSION")))
        .as_warning()
}

/// Writes a text to a file, which is only there when it is complete.
pub fn write_text(path: &Path, text: &str) -> Result<(), u8> {
    let written = codegen::link::replace(path, |unfinished| {
        std::fs::write(unfinished, text).map_err(|cause| codegen::Error::Write { path: path.to_path_buf(), cause })
    });
    written.map_err(|error| {
        terminal::report_plain(&error.to_diagnostic());
        FAULT
    })
}

/// Prints how long each stage took.
pub fn print_timings(pipeline: &Pipeline) {
    let total: std::time::Duration = pipeline.timings.iter().map(|(_, time)| *time).sum();
    for (name, time) in pipeline.timings.iter().copied().chain([("total", total)]) {
        eprintln!("{name:<16} {:>9.3} ms", time.as_secs_f64() * 1e3);
        let passes = if name == "optimize" { &pipeline.pass_timings[..] } else { &[] };
        for (name, time) in passes {
            eprintln!("  {name:<14} {:>9.3} ms", time.as_secs_f64() * 1e3);
        }
    }
}
