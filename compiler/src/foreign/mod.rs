//! What a library shows of itself: its functions and their types, and how C, Python and Rust call them.
//!
//! | module | |
//! |---|---|
//! | [`types`] | the shapes of results → types |
//! | [`effects`] | what a library must not do: read and write |
//! | [`header`] | the C header |
//! | [`python`] | the Python module and its stubs |
//! | [`rust`] | the Rust module |
//! | [`wheel`] | the Python module as a package |
//! | [`package`] | what build systems are told |
//!
//! Texts are made of the interface alone ([`Interface`]), so that they can be read and tested without a library.

pub mod effects;
pub mod header;
pub mod package;
pub mod python;
pub mod rust;
pub mod types;
pub mod wheel;

use crate::base::{Diagnostic, SourceMap, Span};
use crate::core::interface::{Function, Record, Signature, Type, field_name, type_name};
use crate::core::ir::Program;
use crate::flow::Analysis;
use std::rc::Rc;

/// What a library offers.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Its name, which names of its functions in C begin with.
    pub name: String,
    /// Its functions, each with what the program says about it.
    pub functions: Vec<(Function, String)>,
}

impl Interface {
    /// The records among arguments and results: those in others before these.
    pub fn records(&self) -> Vec<Rc<Record>> {
        let mut records = Vec::new();
        for record in self.functions.iter().flat_map(|(function, _)| records_of(function)) {
            if !records.contains(&record) {
                records.push(record);
            }
        }
        records
    }

    /// The functions among arguments, each kind once.
    pub fn signatures(&self) -> Vec<&Signature> {
        let parameters = self.functions.iter().flat_map(|(function, _)| &function.parameters);
        let mut signatures = Vec::new();
        for signature in parameters.filter_map(|parameter| parameter.ty.signature()) {
            if !signatures.contains(&signature) {
                signatures.push(signature);
            }
        }
        signatures
    }
}

fn records_of(function: &Function) -> Vec<Rc<Record>> {
    let types = function.parameters.iter().map(|parameter| &parameter.ty).chain(&function.result);
    types.flat_map(Type::records).collect()
}

/// The functions of a program that is to be a library.
///
/// # Errors
///
/// When one of them returns what callers cannot get, or reads or writes.
pub fn interface(program: &Program, flow: &Analysis, sources: &SourceMap) -> Result<Vec<Function>, Vec<Diagnostic>> {
    let (mut functions, mut spans) = (Vec::new(), Vec::new());
    let mut errors: Vec<Diagnostic> = effects::first(program, flow, sources).into_iter().collect();
    for export in program.library.iter().flat_map(|library| &library.exports) {
        match types::result(program, flow, export) {
            Ok(result) => {
                let function = Function { result: Some(result), ..export.function.clone() };
                errors.extend(same_names(&function, export.span));
                functions.push(function);
                spans.push(export.span);
            }
            Err(error) => errors.push(*error),
        }
    }
    let mut named = functions.iter().zip(&spans);
    errors.extend(named.find_map(|(function, span)| record_names(function, &functions, *span)));
    if errors.is_empty() { Ok(functions) } else { Err(errors) }
}

/// Complains about parameters that have the same name in C, where lengths and parts have names, too.
fn same_names(function: &Function, span: Span) -> Option<Diagnostic> {
    let names: Vec<String> = header::parameters(function).into_iter().map(|parameter| parameter.name).collect();
    let twice = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name))?.1;
    Some(
        Diagnostic::error(
            "V0856",
            format!("two parameters of `{}` would be called `{twice}` in C", function.name),
            span,
            "exported here",
        )
        .note("the length of `v` is `v_length` there, its gradient `v_gradient`, a part of a tuple `p_0`")
        .help("rename one of the parameters"),
    )
}

/// Complains about a record of a function that has no name in other languages, or the name of something else there.
fn record_names(function: &Function, all: &[Function], span: Span) -> Option<Diagnostic> {
    let own = records_of(function);
    for record in &own {
        let no_name = |what: String, help: &str| {
            Diagnostic::error("V0860", format!("{what} cannot have this name in a library"), span, "exported here")
                .note(
                    "names consist of letters, digits, hyphens and underscores, and are no words of C, Python and Rust",
                )
                .help(help)
        };
        if let Some(field) = record.fields.iter().find(|field| field_name(&field.name).is_none()) {
            let what = format!("the field `{}` of the record `{}`", field.name, record.name);
            return Some(no_name(what, "give the field another name, or return a list of the fields"));
        }
        let Some(name) = type_name(&record.name) else {
            let what = format!("the record `{}`", record.name);
            return Some(no_name(what, "give the record another name, or return a list of its fields"));
        };
        let name_in_c = record.name_in_c();
        let records: Vec<Rc<Record>> = all.iter().flat_map(records_of).collect();
        if records.iter().any(|other| other.kind == record.kind && other != record) {
            let message = format!("`{}` has fields of two types", record.name);
            let help = match function.derivative_at {
                Some(_) => "export the derivative of a function of a vector, which makes the record of it",
                None => "return a list of the fields, or a record of another name",
            };
            return Some(
                Diagnostic::error("V0859", message, span, "passed or returned here, with other types elsewhere")
                    .note("a record is a structure in C, so the types of its fields are the same in a whole library")
                    .note("nobody knows of a number that is computed that it is whole: fields of results are `real`")
                    .help(help),
            );
        }
        let has_name = |function: &&Function| {
            let own = [function.identifier(), function.symbol()];
            own.contains(&name) || own.contains(&name_in_c)
        };
        let has_type_name =
            |other: &&Rc<Record>| other.kind != record.kind && type_name(&other.name).as_ref() == Some(&name);
        let function = all.iter().find(has_name).map(|function| &function.name);
        if let Some(other) = function.or(records.iter().find(has_type_name).map(|other| &other.name)) {
            let message = format!("`{other}` and the record `{}` would have one name in other languages", record.name);
            return Some(
                Diagnostic::error("V0856", message, span, "exported here")
                    .note(format!(
                        "the record is `{name}` in Python and Rust, and `{name_in_c}` behind the name of the library in C"
                    ))
                    .help("rename one of them"),
            );
        }
    }
    None
}
