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
use crate::core::interface::Function;
use crate::core::ir::Program;
use crate::flow::Analysis;

/// What a library offers.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Its name, which names of its functions in C begin with.
    pub name: String,
    /// Its functions, each with what the program says about it.
    pub functions: Vec<(Function, String)>,
}

/// The functions of a program that is to be a library.
///
/// # Errors
///
/// When one of them returns what callers cannot get, or reads or writes.
pub fn interface(program: &Program, flow: &Analysis, sources: &SourceMap) -> Result<Vec<Function>, Vec<Diagnostic>> {
    let mut functions = Vec::new();
    let mut errors: Vec<Diagnostic> = effects::first(program, flow, sources).into_iter().collect();
    for export in program.library.iter().flat_map(|library| &library.exports) {
        match types::result(program, flow, export) {
            Ok(result) => {
                let function = Function { result: Some(result), ..export.function.clone() };
                errors.extend(same_names(&function, export.span));
                functions.push(function);
            }
            Err(error) => errors.push(*error),
        }
    }
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
