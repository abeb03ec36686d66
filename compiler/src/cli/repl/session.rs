//! A session: inputs → values, and the definitions that later inputs see.
//!
//! The evaluator runs whole programs. So each input is evaluated as the end of a program that begins with the session's
//! definitions; what these print when they are evaluated again is not shown. Since the language is pure, they have the
//! same values again, and those that the input does not need are left out ([`needed`]). Each input is a file of that
//! program, so that messages show what was typed.
//!
//! What holds: the definitions of a session, taken together, are a program that the front end accepts and that does not
//! fail.

use super::needed;
use crate::base::diagnostic::limited;
use crate::base::entity::Entity;
use crate::base::{Diagnostic, FileId, SourceMap, Span};
use crate::cli::running::eval;
use crate::cli::terminal;
use crate::cli::tools::emit;
use crate::core::ir::{Binding, Body, Const, Definition, Item, Lambda, Origin, Program, Rhs};
use crate::expand::program::documentation;
use crate::expand::program::documentation::Entry;
use crate::expand::program::outline;
use crate::expand::program::outline::Outline;
use crate::expand::{self, Dialect};
use crate::pipeline::{Pipeline, Settings};
use crate::syntax::{self, Datum};
use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is printed between the output of definitions and that of an input.
const MARK: &str = "\u{1}the input begins\u{1}";

/// A piece of program: what messages call it, and its text.
type Part = (String, String);

/// Definitions, in the order in which they are evaluated.
pub struct Session {
    include: Vec<PathBuf>,
    dialect: Dialect,
    definitions: Vec<Part>,
    /// How many inputs there were.
    inputs: usize,
    /// Becomes true when what is evaluated is to be stopped.
    pub interrupted: Arc<AtomicBool>,
    /// Becomes true when an input has a mistake, and when one ends in an expression whose value is printed last.
    pub failed: bool,
    pub has_value: bool,
}

impl Session {
    /// A session without definitions.
    pub fn new(include: Vec<PathBuf>, dialect: Dialect) -> Session {
        Session {
            include,
            dialect,
            definitions: Vec::new(),
            inputs: 0,
            interrupted: Arc::default(),
            failed: false,
            has_value: false,
        }
    }

    /// The names that the session defines.
    pub fn names(&self) -> Vec<Rc<str>> {
        let datums = self.definitions.iter().flat_map(|(_, text)| datums(text).unwrap_or_default());
        datums.flat_map(|datum| outline::all(&datum)).map(|found| found.name).collect()
    }

    /// What is said about the last definition of a name.
    pub fn describe(&self, name: &str) -> Option<Entry> {
        self.definitions.iter().rev().find_map(|(_, text)| {
            let found = datums(text)?.iter().flat_map(outline::all).find(|found| &*found.name == name)?;
            Some(documentation::of(text, &found))
        })
    }

    fn new_name(&mut self) -> String {
        self.inputs += 1;
        format!("<input {}>", self.inputs)
    }

    /// Evaluates an input, prints values, keeps definitions.
    pub fn evaluate(&mut self, text: &str) {
        let name = self.new_name();
        self.enter(name, text);
    }

    /// Does the same with the text of a file.
    pub fn load(&mut self, path: &str, text: &str) {
        self.enter(path.to_string(), text);
    }

    fn enter(&mut self, name: String, text: &str) {
        let mut sources = SourceMap::new();
        let file = sources.add(name.as_str(), text, false);
        let (datums, errors) = syntax::parse(file, text);
        if !errors.is_empty() {
            self.failed = true;
            return terminal::report(&limited(errors), &sources);
        }
        if datums.is_empty() {
            return;
        }
        let defined: Vec<Rc<str>> = outline::definitions(&datums).into_iter().map(|found| found.name).collect();
        let (mut others, replaced) = without(&self.definitions, &defined);
        let input = (name, text.to_string());
        // What the session has can mean something else only by a name that meant something before, or comes from
        // elsewhere.
        let is_new = |name: &Rc<str>| !expand::names().any(|known| known == &**name);
        let from_elsewhere = datums.iter().any(|datum| stays(datum) && outline::definition(datum).is_none());
        let changes_nothing = replaced.is_none() && !from_elsewhere && defined.iter().all(is_new);
        self.failed = true;
        // A new definition may need all others; or values among these need it, as they needed the one that it replaces.
        let accepted = match self.accept(&others, others.len(), &input, changes_nothing) {
            Ok(()) => others.len(),
            Err(failure) => match replaced.filter(|place| *place < others.len() && !failure.has_run) {
                Some(place) => match self.accept(&others, place, &input, false) {
                    Ok(()) => place,
                    Err(failure) => return failure.report(),
                },
                None => return failure.report(),
            },
        };
        self.failed = false;
        self.has_value = datums.last().is_some_and(|last| !stays(last));
        let expressions = datums.iter().filter(|datum| !stays(datum)).map(|datum| datum.span);
        let kept = blank(text, expressions);
        if !kept.trim().is_empty() && datums.iter().any(stays) {
            others.insert(accepted, (input.0, kept));
        }
        self.definitions = others;
    }

    /// Evaluates an input at a place among definitions, and prints what it prints. If it changes nothing of what these
    /// mean, those that it does not need are not evaluated.
    fn accept(&self, others: &[Part], place: usize, input: &Part, changes_nothing: bool) -> Result<(), Box<Failure>> {
        let mut pipeline = self.pipeline();
        let mut parts = others.to_vec();
        parts.insert(place, input.clone());
        let mut program = match pipeline.expand_parts(&parts) {
            Ok(program) => program,
            Err(diagnostics) => {
                return Err(Box::new(Failure { diagnostics, sources: pipeline.sources, has_run: false }));
            }
        };
        let file = file(&parts, place, &pipeline.sources);
        mark(&mut program, &pipeline.sources, file, changes_nothing);
        let mut output = Output { hidden: Some(Vec::new()) };
        self.interrupted.store(false, Ordering::Relaxed);
        let (sources, flag) = (&pipeline.sources, &self.interrupted);
        let result = eval::run_quietly(&mut program, sources, flag, &mut io::empty(), &mut output);
        let result = result.map(|()| output.flush());
        match result {
            Ok(_) => Ok(()),
            Err(failure) => {
                // What was printed before the failure stays.
                let _ = output.flush();
                Err(Box::new(Failure { diagnostics: vec![*failure], sources: pipeline.sources, has_run: true }))
            }
        }
    }

    fn pipeline(&self) -> Pipeline {
        Pipeline::new(Settings { include: self.include.clone(), dialect: self.dialect, ..Settings::default() })
    }

    /// Shows an expression at a stage of the compiler.
    pub fn emit(&mut self, stage: emit::Stage, text: &str) {
        if stage == emit::Stage::Syntax {
            let mut sources = SourceMap::new();
            let (datums, errors) = syntax::parse(sources.add(self.new_name(), text, false), text);
            let shown = if errors.is_empty() { Ok(syntax::print(&datums)) } else { Err(errors) };
            return print(shown, &sources);
        }
        let name = self.new_name();
        let is_of_input = |lambda: &Lambda, sources: &SourceMap| sources.file(lambda.span.file).name == name;
        self.show(stage, (name.clone(), text.to_string()), &is_of_input);
    }

    /// Shows the reverse transform of a function.
    pub fn derivative(&mut self, function: &str) {
        let part = (self.new_name(), function.to_string());
        let mut pipeline = self.pipeline();
        let program = match pipeline.expand_parts(&[&self.definitions[..], &[part]].concat()) {
            Ok(program) => program,
            Err(errors) => return terminal::report(&errors, &pipeline.sources),
        };
        let functions = program.globals.values().filter_map(|global| match global.definition {
            Definition::Function(lambda) if *global.name == *function => Some(lambda),
            _ => None,
        });
        let wanted: Vec<_> = functions.map(|lambda| program.lambdas[lambda].span).collect();
        if wanted.is_empty() {
            let message = format!("`{function}` is not a function with a definition");
            let help = "`:emit reverse EXPR` shows the transforms of the functions in an expression";
            return terminal::report_plain(&Diagnostic::error_without_place("V0830", message).help(help));
        }
        let is_it = |lambda: &Lambda, _: &SourceMap| lambda.origin == Origin::Source && wanted.contains(&lambda.span);
        print(emit::show_part(&mut pipeline, program, emit::Stage::Reverse, &is_it), &pipeline.sources);
    }

    fn show(&self, stage: emit::Stage, part: Part, wanted: &dyn Fn(&Lambda, &SourceMap) -> bool) {
        let mut pipeline = self.pipeline();
        match pipeline.expand_parts(&[&self.definitions[..], &[part]].concat()) {
            Ok(program) => print(emit::show_part(&mut pipeline, program, stage, wanted), &pipeline.sources),
            Err(errors) => terminal::report(&errors, &pipeline.sources),
        }
    }
}

fn print(text: Result<String, Vec<Diagnostic>>, sources: &SourceMap) {
    match text {
        Ok(text) => {
            terminal::print(&text);
        }
        Err(diagnostics) => terminal::report(&diagnostics, sources),
    }
}

/// Why an input is not accepted.
struct Failure {
    diagnostics: Vec<Diagnostic>,
    sources: SourceMap,
    /// The input may have printed something.
    has_run: bool,
}

impl Failure {
    fn report(&self) {
        terminal::report(&self.diagnostics, &self.sources);
    }
}

/// Whether a datum belongs to the definitions of the session.
fn stays(datum: &Datum) -> bool {
    let declares = datum.list().and_then(<[Datum]>::first).is_some_and(|head| head.is_symbol("arguments"));
    declares || outline::definition(datum).is_some() || outline::names_file(datum)
}

/// The datums of a text without mistakes.
fn datums(text: &str) -> Option<Vec<Datum>> {
    let mut sources = SourceMap::new();
    let (datums, errors) = syntax::parse(sources.add("", "", false), text);
    errors.is_empty().then_some(datums)
}

/// The parts without the definitions of some names, and the place of the first that had one.
fn without(parts: &[Part], names: &[Rc<str>]) -> (Vec<Part>, Option<usize>) {
    let (mut rest, mut first) = (Vec::new(), None);
    for (name, text) in parts {
        let datums = datums(text).unwrap_or_default();
        // Records are defined anew as a whole.
        let found: Vec<Outline> = datums.iter().filter_map(outline::definition).collect();
        let replaced: Vec<Span> =
            found.iter().filter(|found| names.contains(&found.name)).map(|found| found.span).collect();
        if !replaced.is_empty() {
            first.get_or_insert(rest.len());
        }
        if replaced.len() < datums.len() {
            rest.push((name.clone(), blank(text, replaced.into_iter())));
        }
    }
    (rest, first)
}

/// The text with spaces in some places, so that all others keep their lines and columns.
fn blank(text: &str, places: impl Iterator<Item = Span>) -> String {
    let places: Vec<Span> = places.collect();
    let inside = |at: usize| places.iter().any(|span| (span.start as usize..span.end as usize).contains(&at));
    text.char_indices().map(|(at, c)| if c != '\n' && inside(at) { ' ' } else { c }).collect()
}

/// The file of a part among parts, in the program that these make: files that a part includes follow it.
fn file(parts: &[Part], place: usize, sources: &SourceMap) -> FileId {
    let name = &parts[place].0;
    let earlier = parts[..place].iter().filter(|part| part.0 == *name).count();
    let mut files = sources.files().enumerate().filter(|(_, file)| file.name == *name && !file.is_library);
    FileId::from_index(files.nth(earlier).map_or(0, |(index, _)| index))
}

/// Lets the program print the mark in front of what this file and later ones do. If that is wanted, it does in front of
/// that only what is needed.
fn mark(program: &mut Program, sources: &SourceMap, file: FileId, only_what_is_needed: bool) {
    let span = |item: &Item| match item {
        Item::Define(global, _) => program.globals[*global].span,
        Item::Print(_, span) => *span,
    };
    let place = program.items.iter().position(|item| span(item).file >= file).unwrap_or(program.items.len());
    if let Some(span) = program.items.get(place).map(span) {
        let var = program.new_var("mark", span);
        let rhs = Rhs::Const(Const::Str(Rc::from(MARK)));
        let body = Body { bindings: vec![Binding { var, rhs, span }], result: var };
        program.items.insert(place, Item::Print(body, span));
    }
    if only_what_is_needed {
        needed::drop_others(program, sources, place);
    }
}

/// Standard output, which begins behind the mark.
struct Output {
    /// What has been written so far, unless it held the mark.
    hidden: Option<Vec<u8>>,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(hidden) = &mut self.hidden else { return io::stdout().write(bytes) };
        let end = format!("{MARK}\"\n");
        // The mark may have begun with what was written before.
        let from = hidden.len().saturating_sub(end.len());
        hidden.extend(bytes);
        if let Some(place) = hidden[from..].windows(end.len()).position(|window| window == end.as_bytes()) {
            let rest = hidden.split_off(from + place + end.len());
            self.hidden = None;
            io::stdout().write_all(&rest)?;
        }
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}
