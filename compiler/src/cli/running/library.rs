//! `vlad build --lib`: compile to a library, with what its callers need.

use super::build::{Arguments, guarded, mistake, print_timings, read, without_code};
use crate::base::{Diagnostic, Severity, SourceMap};
use crate::cli::{FAULT, SUCCESS, USAGE, terminal};
use crate::codegen::Error;
use crate::codegen::link::{LibraryKind, replace};
use crate::core::interface::identifier;
use crate::core::ir::Export;
use crate::expand::program::documentation;
use crate::foreign::wheel::Wheel;
use crate::foreign::{Interface, header, package, python, rust};
use crate::pipeline::{Pipeline, Refusal, Settings};
use clap::ValueEnum;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A kind of library.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// An archive to link with.
    Static,
    /// A shared object.
    Shared,
    /// A Python package, for pip.
    Wheel,
    /// A Rust package, for cargo.
    Crate,
}

impl Kind {
    /// How its code is linked.
    fn link(self) -> LibraryKind {
        match self {
            Kind::Static | Kind::Crate => LibraryKind::Static,
            Kind::Shared | Kind::Wheel => LibraryKind::Shared,
        }
    }
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
    let mut pipeline = Pipeline::new(Settings { library: true, ..arguments.settings() });
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
    let version = &arguments.package_version;
    let functions = pipeline.interface.iter().cloned();
    let about = exports.iter().map(|export| about(export, &pipeline.sources));
    let interface = Interface { name: name.to_string(), functions: functions.zip(about).collect() };
    let is_static = kind.link() == LibraryKind::Static;
    let module = rust::module(&interface, is_static);
    let for_python = [
        (PathBuf::from(format!("{name}.py")), python::module(&interface)),
        (PathBuf::from(format!("{name}.pyi")), python::stubs(&interface)),
    ];
    let object = pipeline.library_object(&code, name).map_err(|error| {
        let diagnostic = Diagnostic { severity: Severity::Error, ..without_code(&error, program.place()) };
        terminal::report([&diagnostic], &pipeline.sources);
        FAULT
    })?;
    let mut link =
        |output: &Path, texts: &[(PathBuf, String)]| pipeline.link_library(&object, name, kind.link(), output, texts);
    let linked = match kind {
        Kind::Static | Kind::Shared => {
            let mut texts = vec![
                (PathBuf::from(format!("{name}.h")), header::text(&interface)),
                (PathBuf::from(format!("{name}.rs")), module),
                (PathBuf::from(format!("{name}.pc")), package::pkg_config(name, version)),
                (PathBuf::from(format!("{name}Config.cmake")), package::cmake(name, is_static)),
            ];
            texts.extend(for_python.into_iter().filter(|_| !is_static));
            texts.iter_mut().for_each(|(path, _)| *path = folder.join(&path));
            link(&folder.join(format!("lib{name}.{}", if is_static { "a" } else { "so" })), &texts)
        }
        Kind::Crate => write_crate(&folder.join(name), name, package::crate_files(name, version, module), link),
        Kind::Wheel => write_wheel(folder, name, version, &for_python, &interface, link),
    };
    if arguments.native.time_passes {
        print_timings(&pipeline);
    }
    linked.map_err(|error| {
        terminal::report_plain(&error.to_diagnostic());
        FAULT
    })
}

/// Writes a crate into a folder, which is made if it is not there. If that fails, the folder is as it was.
fn write_crate(
    folder: &Path,
    name: &str,
    files: Vec<(PathBuf, String)>,
    link: impl FnOnce(&Path, &[(PathBuf, String)]) -> Result<(), Error>,
) -> Result<(), Error> {
    let unwritable = |cause| Error::Write { path: folder.to_path_buf(), cause };
    let is_new = !folder.exists();
    let files: Vec<(PathBuf, String)> = files.into_iter().map(|(path, text)| (folder.join(path), text)).collect();
    let made = if is_new { fs::create_dir(folder) } else { Ok(()) };
    let made = made.and_then(|()| ["src", "lib"].iter().try_for_each(|part| fs::create_dir_all(folder.join(part))));
    let written = made.map_err(unwritable).and_then(|()| link(&folder.join(format!("lib/lib{name}.a")), &files));
    if written.is_err() && is_new {
        // What is said is why it could not be written.
        let _ = fs::remove_dir_all(folder);
    }
    written
}

/// Writes a wheel.
fn write_wheel(
    folder: &Path,
    name: &str,
    version: &str,
    texts: &[(PathBuf, String)],
    interface: &Interface,
    link: impl FnOnce(&Path, &[(PathBuf, String)]) -> Result<(), Error>,
) -> Result<(), Error> {
    let temporary = tempfile::tempdir().map_err(|cause| Error::Write { path: std::env::temp_dir(), cause })?;
    let file = format!("lib{name}.so");
    let shared = temporary.path().join(&file);
    link(&shared, &[])?;
    let library = fs::read(&shared).map_err(|cause| Error::Write { path: shared.clone(), cause })?;
    let mut files: Vec<(String, Vec<u8>)> =
        texts.iter().map(|(path, text)| (path.display().to_string(), text.clone().into_bytes())).collect();
    files.push((file, library));
    let about: String =
        interface.functions.iter().map(|(function, about)| format!("- `{}`: {about}\n", function.name)).collect();
    let wheel = Wheel { name, version, files: &files, about: &about };
    let output = folder.join(wheel.file_name());
    replace(&output, |unfinished| {
        let unwritable = |cause| Error::Write { path: output.clone(), cause };
        let bytes = wheel.bytes().map_err(|error| unwritable(io::Error::other(error)))?;
        fs::write(unfinished, bytes).map_err(unwritable)
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
