//! What can never succeed: functions that nobody has called yet → the errors that they certainly end in.
//!
//! ```text
//! (define (mean v)                       `length` takes lists, and behind (vector-length v) v is a vector:
//!   (if (= (vector-length v) 0) 0        whatever `mean` is called with, this fails when it is reached
//!       (/ (sum v) (length v))))
//! ```
//!
//! This is the idea of success typings (Lindahl and Sagonas, 2006): what is said is never wrong, and what is not
//! certain is not said. Values are abstracted to their kinds, of which there may be several, and to what they are made
//! of; a parameter may be anything, and an operation that has not failed says what its operands were. What is reported
//! fails whenever it is reached, for all arguments of the function. What the program means to fail is not a mistake:
//! its own `error`, and a `match` without a clause for what nobody passes.
//!
//! | file | |
//! |---|---|
//! | [`value`] | what is known of values |
//! | [`primitives`] | primitives on that |
//! | [`interpreter`] | bodies, conditionals and calls |
//!
//! The flow analysis knows more of what the program does, and nothing of what it does not.

mod interpreter;

mod primitives;

mod value;

use crate::base::{Definitions, Diagnostic, SourceMap, Span};
use crate::core::callers;
use crate::core::ir::{Body, Definition, Item, Lambda, LambdaId, Origin, Part, Program, Rhs, Var};
use crate::core::operands::contract::Contract;
use crate::core::place::{Library, Place, Tuples};
use crate::core::prim::Prim;
use interpreter::{Interpreter, Mistake};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use std::sync::Arc;

/// What fails in the functions of a program, whatever they are called with, in the order of their places.
pub fn mistakes(program: &Program, sources: &SourceMap) -> Vec<Diagnostic> {
    let is_library = |span: Span| sources.is_library(span);
    let mut interpreter = Interpreter::new(program, &is_library);
    for item in &program.items {
        let value = interpreter.item(item.body());
        if let Item::Define(global, _) = item {
            interpreter.globals[*global] = value;
        }
    }
    let definitions = Definitions::new(named(program, sources));
    let is_own = |id: &LambdaId| {
        let lambda = &program.lambdas[*id];
        lambda.origin == Origin::Source && !sources.is_library(lambda.span)
    };
    let tuples = Tuples::new(program);
    let handled = handled(program, sources);
    let functions = program.globals.values().filter_map(|global| match global.definition {
        Definition::Function(lambda) => Some(lambda),
        Definition::Value => None,
    });
    let mut found: Vec<(Span, Diagnostic)> = Vec::new();
    let mut seen: FxHashSet<LambdaId> = FxHashSet::default();
    for function in functions.filter(is_own) {
        let mut waiting = vec![(function, Vec::new())];
        while let Some((id, captured)) = waiting.pop() {
            // What is to be handled may be meant to fail.
            if !seen.insert(id) || handled.contains(&id) {
                continue;
            }
            interpreter.function(id, &captured);
            waiting.extend(interpreter.made.drain(..).rev().filter(|(id, _)| is_own(id)));
            for mistake in interpreter.mistakes.drain(..) {
                // A local function may have been called with its mistake by the one around it.
                if !mistake.calls.is_empty() || found.iter().all(|(span, _)| *span != mistake.span) {
                    found.push((mistake.span, message(program, sources, (&definitions, &tuples), id, &mistake)));
                }
            }
        }
    }
    let mut found: Vec<Diagnostic> = found.into_iter().map(|(_, diagnostic)| diagnostic).collect();
    found.sort_by_key(|found| found.primary.as_ref().map(|label| (label.span.file, label.span.start)));
    found.dedup();
    found
}

/// The functions of the program that have names.
fn named<'p>(program: &'p Program, sources: &'p SourceMap) -> impl Iterator<Item = (Span, Arc<str>)> + 'p {
    let own = |lambda: &&Lambda| lambda.is_named_in_source() && !sources.is_library(lambda.span);
    program.lambdas.values().filter(own).map(|lambda| (lambda.span, (*lambda.name).into()))
}

/// The functions that may be called where the program handles their errors: those without parameters that are handed
/// on, if it handles any.
fn handled(program: &Program, sources: &SourceMap) -> FxHashSet<LambdaId> {
    let functions = program.lambdas.values().filter(|lambda| !sources.is_library(lambda.span));
    let own: Vec<&Body> = functions.map(|lambda| &lambda.body).chain(program.items.iter().map(Item::body)).collect();
    let mut handed = FxHashSet::default();
    if !reaches_handler(program, own.clone()) {
        return handed;
    }
    for bindings in own.into_iter().map(Body::all_bindings) {
        let called = bindings.iter().filter_map(|binding| match binding.rhs {
            Rhs::Apply(function, _) => Some(function),
            _ => None,
        });
        let called: FxHashSet<Var> = called.collect();
        let made = bindings.iter().filter(|binding| !called.contains(&binding.var));
        handed.extend(made.filter_map(|binding| function(program, &binding.rhs)).filter(|id| is_thunk(program, *id)));
    }
    handed
}

/// The function that a right-hand side is.
fn function(program: &Program, rhs: &Rhs) -> Option<LambdaId> {
    match rhs {
        Rhs::Closure(lambda, _) => Some(*lambda),
        Rhs::Global(global) => match program.globals[*global].definition {
            Definition::Function(lambda) => Some(lambda),
            Definition::Value => None,
        },
        _ => None,
    }
}

fn is_thunk(program: &Program, id: LambdaId) -> bool {
    let Lambda { param, body, .. } = &program.lambdas[id];
    body.bindings.iter().any(|binding| matches!(binding.rhs, Rhs::Destructure(Part::Nil, of) if of == *param))
}

/// Whether errors may be handled in what bodies do.
fn reaches_handler<'p>(program: &'p Program, mut waiting: Vec<&'p Body>) -> bool {
    let mut seen: FxHashSet<LambdaId> = FxHashSet::default();
    while let Some(body) = waiting.pop() {
        for binding in body.all_bindings() {
            if matches!(binding.rhs, Rhs::Prim(Prim::Catch, _)) {
                return true;
            }
            let Some(lambda) = function(program, &binding.rhs) else { continue };
            if seen.insert(lambda) {
                waiting.push(&program.lambdas[lambda].body);
            }
        }
    }
    false
}

/// The message about what is wrong with a function.
fn message(
    program: &Program,
    sources: &SourceMap,
    (definitions, tuples): (&Definitions, &Tuples),
    function: LambdaId,
    mistake: &Mistake,
) -> Diagnostic {
    let is_library = |span: Span| sources.is_library(span);
    let mut calls = mistake.calls.iter();
    let place = if is_library(mistake.span) {
        match calls.by_ref().find(|call| !is_library(call.span)) {
            Some(call) => {
                let contract = program.contracts.get(&call.callee);
                let misfit = |contract: &Rc<Contract>| {
                    contract.misfit(&program.records, &call.argument, tuples.count(call.span)).map(Rc::new)
                };
                let library = Library::new(program, call.callee, call.span, contract.and_then(misfit));
                Place { library: Some(library), ..Place::from(call.span) }
            }
            None => Place::from(mistake.span),
        }
    } else {
        let call = mistake.calls.first();
        let tuple = call.and_then(|call| tuples.passed(program, call.callee, call.span));
        let call = call.map(|call| call.span).filter(|call| !is_library(*call));
        Place { span: mistake.span, library: None, call, tuple }
    };
    let mut diagnostic = mistake.error.to_diagnostic(&place);
    let call = |span: Span| callers::call(definitions, sources, span, false);
    let mut chain = callers::Chain::new(Some(call(place.span)));
    calls.filter(|call| !is_library(call.span)).for_each(|found| chain.add(call(found.span), false));
    diagnostic.callers = callers::lines(&chain);
    let name = &program.lambdas[function].name;
    let what = if &**name == "lambda" { "this function".to_string() } else { format!("`{name}`") };
    diagnostic.note(format!("{what} fails when it gets here, whatever it is called with"))
}
