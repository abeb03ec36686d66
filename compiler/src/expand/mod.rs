//! Datums → core.
//!
//! ```text
//! (define (f x y) (* x (sin y)))     f = closure λ args
//!                                          x = pattern-car args
//!                                          y = pattern-cdr args
//!                                          t = (sin y)
//!                                          t.1 = (* x t)
//!                                          return t.1
//! ```
//!
//! One pass over the datums does everything that separates the languages: it resolves names ([`scope`], [`basis`]),
//! expands forms ([`forms`], [`quote`]), takes patterns apart ([`pattern`]), passes tuples as arguments and
//! recognises saturated calls of primitives ([`call`]), orders and groups recursive definitions ([`recursion`]),
//! names every intermediate value in order of evaluation and lists each λ's captures ([`build`]). At the end,
//! functions that are known where they are used take the place of captured ones ([`known_functions`]), and calls of
//! functions that only make closures or data are expanded ([`constructors`]), and loops that go on with the loop around
//! them return to it ([`loop_nests`]). What the program needs of the standard library ([`stdlib`]) is expanded first, in a
//! world of its own: a program's definitions never change what the library's functions mean.
//!
//! Mistakes are collected and expansion goes on behind them, so that one run reports them all; a program with a
//! mistake yields messages only. The result satisfies the invariants of [`crate::core::ir`].
//!
//! Tests: `tests/ui/expand/`, and snapshots of core beside this file.

mod build;

mod error;

mod forms;

mod loop_nests;

pub mod names;

pub mod program;

mod stdlib;

pub use error::Error;
pub use program::load::text_of;
pub use stdlib::FILES as STDLIB;

use crate::base::diagnostic::limited;
use crate::base::{Diagnostic, SourceMap};
use crate::core::ir::Program;
use crate::core::operands::contract::Contract;
use crate::core::question::{BASIS, digest};
use crate::projects::Access;
use build::Expander;
use program::load::Loader;
use program::measure::{Measure, Taken};
use std::path::{Path, PathBuf};

/// What the command line says about sources.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where `include` looks when the file is not beside the including one.
    pub include_dirs: Vec<PathBuf>,
    /// Compare the derivatives that the program takes and gives with differences.
    pub check_derivatives: bool,
    /// Keep the calls of functions that only make closures or data (see [`names::constructors`]), and all loops as they
    /// are.
    pub as_written: bool,
    /// Make a library: what the program exports, and no expressions.
    pub library: bool,
    /// Make a program that measures a call, instead of the program itself.
    pub measure: Option<Measure>,
    /// The language of the sources.
    pub dialect: Dialect,
    /// What may be done about dependencies that are not there.
    pub access: Access,
}

/// A language that sources are written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// The language of the documentation.
    #[default]
    Vlad,
    /// That of the original compiler: see [`program::stalingrad`].
    Stalingrad,
}

/// Expands the program in a file.
pub fn expand_file(path: &Path, options: &Options, sources: &mut SourceMap) -> Result<Program, Vec<Diagnostic>> {
    expand(options, sources, |loader| loader.load_program(path))
}

/// Expands a program given as text. `name` is what messages call it; includes are looked up beside that path.
pub fn expand_text(
    name: &str,
    text: &str,
    options: &Options,
    sources: &mut SourceMap,
) -> Result<Program, Vec<Diagnostic>> {
    expand(options, sources, |loader| loader.load_text(name, text))
}

/// Expands a program that consists of several texts, as if they were one. Each has the name that messages call it.
///
/// # Errors
///
/// All mistakes in the texts.
pub fn expand_parts(
    parts: &[(String, String)],
    options: &Options,
    sources: &mut SourceMap,
) -> Result<Program, Vec<Diagnostic>> {
    expand(options, sources, |loader| parts.iter().for_each(|(name, text)| loader.load_text(name, text)))
}

/// Expands a program and a text behind it, of that name.
///
/// # Errors
///
/// All mistakes in both.
pub fn expand_with(
    path: &Path,
    (name, text): (&str, &str),
    options: &Options,
    sources: &mut SourceMap,
) -> Result<Program, Vec<Diagnostic>> {
    expand(options, sources, |loader| {
        loader.load_program(path);
        loader.load_text(name, text);
    })
}

/// The names of forms.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    names::basis::KEYWORDS.iter().map(|row| row.0)
}

/// What the functions of the library take whose arguments are looked at.
pub fn contracts() -> impl Iterator<Item = Contract> {
    names::contracts::names().map(names::contracts::contract)
}

/// All names that a program can use without defining them: those of forms and those of the library.
pub fn names() -> impl Iterator<Item = &'static str> {
    let library = stdlib::names().filter(|name| !name.starts_with('%'));
    keywords().chain(["list", "vector"]).chain(library)
}

/// The derivatives that a program takes at top level: what can be measured of it.
///
/// # Errors
///
/// When a file cannot be read.
pub fn derivatives_taken(
    path: &Path,
    options: &Options,
    sources: &mut SourceMap,
) -> Result<Vec<Taken>, Vec<Diagnostic>> {
    let mut loader = Loader::new(options, sources);
    loader.load_program(path);
    let (datums, _, _, errors) = loader.finish();
    if errors.is_empty() { Ok(program::measure::taken(&datums)) } else { Err(limited(errors)) }
}

fn expand(
    options: &Options,
    sources: &mut SourceMap,
    load: impl FnOnce(&mut Loader),
) -> Result<Program, Vec<Diagnostic>> {
    let files = stdlib::add(sources);
    let mut loader = Loader::new(options, sources);
    load(&mut loader);
    let (datums, modules, mut unread, mut errors) = loader.finish();
    let (mut datums, declaration, mistakes) = program::arguments::declared(datums);
    if !mistakes.is_empty() {
        // A name that is declared wrongly is no unknown name.
        unread.is_partial = true;
        errors.extend(mistakes);
    }
    let mut names = if declaration.is_some() { program::arguments::LIBRARY.to_vec() } else { Vec::new() };
    if options.dialect == Dialect::Stalingrad {
        names.extend(program::stalingrad::LIBRARY);
    }
    if program::export::is_in(&datums) {
        names.extend(program::export::LIBRARY);
    }
    if let Some(measure) = options.measure {
        datums = program::measure::program(datums, measure);
        names.extend(program::measure::LIBRARY);
    }
    let mut expander = Expander::new(options.dialect, unread);
    let also = modules.library_names(&datums);
    expander.library(&files, (&datums, &also), &names, options.check_derivatives)?;
    expander.program(&datums, modules, options.library);
    let mut program = expander.finish(errors).map_err(limited)?;
    if options.dialect == Dialect::Vlad && !options.as_written {
        names::constructors::expand(&mut program);
        loop_nests::restore(&mut program);
    }
    let identity = sources.files().fold(BASIS, |hash, file| digest(hash, file.text.as_bytes()));
    Ok(Program { arguments: declaration, identity, ..program })
}

#[cfg(test)]
mod tests;
