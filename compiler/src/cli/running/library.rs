//! `vlad build --lib`: compile to a library, with what its callers need.

use super::build::{Arguments, guarded, mistake, print_timings, read, without_code};
use crate::base::{Diagnostic, Severity, SourceMap};
use crate::cli::{FAULT, SUCCESS, USAGE, terminal};
use crate::codegen::link::LibraryKind;
use crate::core::interface::identifier;
use crate::core::ir::Export;
use crate::expand::program::documentation;
use crate::foreign::{Interface, header, python, rust};
use crate::pipeline::{Pipeline, Refusal, Settings};
use clap::ValueEnum;
use std::path::{Path, PathBuf};

/// A kind of library.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// An archive to link with.
    Static,
    /// A shared object.
    Shared,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments, kind: Kind) -> u8 {
    let output = arguments.output.clone();
    let output = output.unwrap_or_else(|| PathBuf::from(arguments.input.file.file_stem().unwrap_or_default()));
    let Some(name) = output.file_name().and_then(|name| name.to_str()).filter(|name| is_name(name)) else {
        let message = format!("`{}` is no name for a library", output.display());
        let help = "names of functions begin with it: `-o NAME`, of letters, digits and underscores";
        terminal::report_plain(&Diagnostic::error_without_place("V0854", message).help(help));
        return USAGE;
    };
    let folder = output.parent().unwrap_or(Path::new("")).to_path_buf();
    match build(arguments, kind, &folder, name) {
        Ok(()) => SUCCESS,
        Err(code) => code,
    }
}

fn is_name(name: &str) -> bool {
    identifier(name).as_deref() == Some(name)
}

fn build(arguments: &Arguments, kind: Kind, folder: &Path, name: &str) -> Result<(), u8> {
    let mut pipeline = Pipeline::new(Settings { library: true, ..arguments.native.settings(&arguments.input) });
    let program = read(&mut pipeline, &arguments.input)?;
    let exports = program.library.iter().flat_map(|library| library.exports.clone()).collect::<Vec<_>>();
    if exports.is_empty() {
        let message = format!("`{}` exports nothing", arguments.input.file.display());
        let help = "say what a library offers: `(export f ((x real)))` at the top level exports the function `f`";
        terminal::report_plain(&Diagnostic::error_without_place("V0855", message).help(help));
        return Err(FAULT);
    }
    let compiled = guarded(&arguments.native, || pipeline.native(&program))
        .unwrap_or_else(|panic| Err(Refusal::Unsupported(Box::new(mistake(&panic, program.place())))));
    let code = compiled.map_err(|refusal| {
        let diagnostics = match refusal {
            Refusal::Mistake(diagnostics) => diagnostics,
            Refusal::Unsupported(diagnostic) => vec![without_evaluator(*diagnostic)],
        };
        terminal::report(&diagnostics, &pipeline.sources);
        FAULT
    })?;
    let (link, file) = match kind {
        Kind::Static => (LibraryKind::Static, format!("lib{name}.a")),
        Kind::Shared => (LibraryKind::Shared, format!("lib{name}.so")),
    };
    let functions = pipeline.interface.iter().cloned();
    let about = exports.iter().map(|export| about(export, &pipeline.sources));
    let interface = Interface { name: name.to_string(), functions: functions.zip(about).collect() };
    let mut texts = vec![("h", header::text(&interface)), ("rs", rust::module(&interface, kind == Kind::Static))];
    if kind == Kind::Shared {
        texts.extend([("py", python::module(&interface)), ("pyi", python::stubs(&interface))]);
    }
    let texts = texts.into_iter().map(|(ending, text)| (folder.join(format!("{name}.{ending}")), text));
    let texts: Vec<(PathBuf, String)> = texts.collect();
    let object = pipeline.library_object(&code, name).map_err(|error| {
        let diagnostic = Diagnostic { severity: Severity::Error, ..without_code(&error, program.place()) };
        terminal::report([&diagnostic], &pipeline.sources);
        FAULT
    })?;
    let linked = pipeline.link_library(&object, name, link, &folder.join(file), &texts);
    if arguments.native.time_passes {
        print_timings(&pipeline);
    }
    linked.map_err(|error| {
        terminal::report_plain(&error.to_diagnostic());
        FAULT
    })
}

/// The message that a program needs the evaluator, which a library has not.
fn without_evaluator(mut diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.severity = Severity::Error;
    diagnostic.notes.push("executables contain the reference evaluator for this, libraries do not".to_string());
    diagnostic
}

/// What the program says about an export: the comment in front of it.
fn about(export: &Export, sources: &SourceMap) -> String {
    documentation::comment_before(&sources.file(export.span.file).text, export.span.start as usize)
}
