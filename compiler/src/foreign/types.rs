//! The shapes that the analysis has found for the results of exported functions → types.

use crate::base::Diagnostic;
use crate::core::interface::{GRADIENT, Parameter, Record, Type};
use crate::core::ir::{Export, LambdaId, Program};
use crate::flow::Analysis;
use crate::shape::lattice::{Class, Shape, Shapes};
use std::rc::Rc;

/// Tuples have no more parts inside each other.
const DEEPEST: usize = 100;

/// The type of the result of an export; of a gradient, that of the value.
///
/// # Errors
///
/// When it has none.
pub fn result(program: &Program, flow: &Analysis, export: &Export) -> Result<Type, Box<Diagnostic>> {
    let name = &export.function.name;
    if let Some(value) = value_of(program, export) {
        return match result(program, flow, value) {
            Ok(Type::Real) => returned(flow, export).map(|()| Type::Real),
            Ok(_) => Err(Box::new(not_a_number(export, value))),
            // That has been said of the value.
            Err(_) => Ok(Type::Real),
        };
    }
    returned(flow, export)?;
    let types = results(flow, export.lambda).into_iter().map(|shape| type_of(program, &flow.shapes, shape, 0));
    let types: Option<Vec<Type>> = types.collect();
    let found = types.filter(|types| types.windows(2).all(|pair| pair[0] == pair[1])).and_then(|mut types| types.pop());
    found.ok_or_else(|| {
        let message = format!("a library cannot return what `{name}` returns");
        let help = if returns_function(flow, export) {
            "call the function that it returns; a function that is to be exported is named, or a `lambda`"
        } else if export.function.derivative_at.is_some() {
            "export the derivative of a function of a vector, which makes of it what the program needs"
        } else {
            "return a vector for a list, `list->vector`, and several vectors or a matrix for a vector of others"
        };
        Box::new(
            Diagnostic::error("V0851", message, export.span, "exported here")
                .note(
                    "results are numbers, booleans, texts, vectors of numbers, matrices, and tuples and records of \
                     these (but texts are no fields), of one kind whatever the arguments are",
                )
                .help(help),
        )
    })
}

/// Whether what an export returns is a function.
fn returns_function(flow: &Analysis, export: &Export) -> bool {
    let is_function = |shape: &Shape| {
        flow.shapes
            .alternatives(*shape)
            .iter()
            .any(|alternative| matches!(alternative.head.class(), Class::Closure(..)))
    };
    results(flow, export.lambda).iter().any(is_function)
}

/// The export of the function whose gradient an export computes.
fn value_of<'a>(program: &'a Program, export: &Export) -> Option<&'a Export> {
    export.function.gradient.as_ref()?;
    let name = export.function.name.strip_suffix(GRADIENT)?;
    program.library.as_ref()?.exports.iter().find(|value| *value.function.name == *name)
}

/// Complains about a function that never returns.
fn returned(flow: &Analysis, export: &Export) -> Result<(), Box<Diagnostic>> {
    if results(flow, export.lambda).iter().any(|shape| *shape != Shapes::BOTTOM) {
        return Ok(());
    }
    let message = format!("`{}` never returns", export.function.name);
    Err(Box::new(
        Diagnostic::error("V0850", message, export.span, "exported here")
            .note("whatever it is called with, it fails, or does not end")
            .help("call it in the program with arguments of these types to see why"),
    ))
}

fn not_a_number(export: &Export, value: &Export) -> Diagnostic {
    let message = format!("`{}` has no gradient", value.function.name);
    Diagnostic::error("V0852", message, export.span, "exported with one")
        .note("a gradient is that of a function whose value is a number")
        .help("export the function without `gradient`, or one that returns a number")
}

/// The results of all variants of a function that the program calls.
fn results(flow: &Analysis, lambda: LambdaId) -> Vec<Shape> {
    flow.variants.values().filter(|variant| variant.key.lambda == lambda).map(|variant| variant.result).collect()
}

fn type_of(program: &Program, shapes: &Shapes, shape: Shape, depth: usize) -> Option<Type> {
    let part = |shape: Shape| type_of(program, shapes, shape, depth + 1);
    let alternatives = shapes.alternatives(shape);
    let classes: Vec<Class> = alternatives.iter().map(|a| a.head.class()).collect();
    match classes[..] {
        _ if depth > DEEPEST => None,
        [Class::Real] => Some(Type::Real),
        [Class::Bool] => Some(Type::Boolean),
        [Class::Text] => Some(Type::Text),
        [Class::Record(kind)] => {
            let (name, names) = (program.records[kind].name.clone(), &program.records[kind].fields);
            // The tuple of the fields, whose last one stands alone; a single one is a list.
            let mut parts = alternatives[0].children.to_vec();
            while parts.len() < names.len() {
                let [pair] = &shapes.alternatives(parts.pop()?)[..] else { return None };
                parts.extend(pair.children.iter());
            }
            let field = |(name, shape): (&Rc<str>, &Shape)| Some(Parameter { name: name.clone(), ty: part(*shape)? });
            let fields: Vec<Parameter> = names.iter().zip(&parts).map(field).collect::<Option<_>>()?;
            let has_texts = fields.iter().flat_map(|field| field.ty.leaves()).any(|(_, ty)| *ty == Type::Text);
            (!fields.is_empty() && !has_texts).then(|| Type::Record(Rc::new(Record { kind, name, fields })))
        }
        [Class::Pair(None)] => {
            let [first, rest] = alternatives[0].children[..] else { return None };
            let first = part(first)?;
            if matches!(&shapes.alternatives(rest)[..], [end] if end.head.class() == Class::Nil) {
                return Some(Type::Tuple(vec![first]));
            }
            Some(Type::Tuple(match part(rest)? {
                Type::Tuple(rest) => [vec![first], rest].concat(),
                rest => vec![first, rest],
            }))
        }
        [_, ..] if classes.iter().all(|class| matches!(class, Class::Vector | Class::OneHot)) => {
            let elements =
                alternatives.iter().flat_map(|a| a.children.iter()).filter(|child| **child != Shapes::BOTTOM);
            let types: Vec<Type> = elements.map(|child| part(*child)).collect::<Option<_>>()?;
            match types.first() {
                Some(first) if types.iter().any(|ty| ty != first) => None,
                None | Some(Type::Real) => Some(Type::Vector),
                Some(Type::Vector) => Some(Type::Matrix),
                Some(_) => None,
            }
        }
        _ => None,
    }
}
