//! The shapes that the analysis has found for the results of exported functions → types.

use crate::base::Diagnostic;
use crate::core::interface::Type;
use crate::core::ir::{Export, LambdaId, Program};
use crate::flow::Analysis;
use crate::flow::shape::{Class, Shape, Shapes};

/// Tuples have no more parts inside each other.
const DEEPEST: usize = 100;

/// The type of the result of an export; of a gradient, that of the value.
///
/// # Errors
///
/// When it has none.
pub fn result(program: &Program, flow: &Analysis, export: &Export) -> Result<Type, Box<Diagnostic>> {
    let name = &export.function.name;
    let shapes: Vec<Shape> = results(flow, export.lambda);
    if shapes.iter().all(|shape| *shape == Shapes::BOTTOM) {
        let message = format!("`{name}` never returns");
        return Err(Box::new(
            Diagnostic::error("V0850", message, export.span, "exported here")
                .note("whatever it is called with, it fails, or does not end")
                .help("call it in the program with arguments of these types to see why"),
        ));
    }
    let types: Option<Vec<Type>> = shapes.iter().map(|shape| type_of(&flow.shapes, *shape, 0)).collect();
    let found =
        types.filter(|types| types.windows(2).all(|pair| pair[0] == pair[1])).and_then(|types| types.first().cloned());
    if export.function.gradient.is_some() {
        return match found {
            Some(Type::Tuple(parts)) if parts.first() == Some(&Type::Real) => Ok(Type::Real),
            _ => Err(Box::new(not_a_number(program, export))),
        };
    }
    found.ok_or_else(|| {
        let message = format!("a library cannot return what `{name}` returns");
        Box::new(
            Diagnostic::error("V0851", message, export.span, "exported here")
                .note("results are numbers, vectors of numbers, matrices, and tuples of these, of one kind whatever the arguments are")
                .help("return 0 or 1 for a truth value, and a vector for a list: `list->vector`"),
        )
    })
}

fn not_a_number(program: &Program, export: &Export) -> Diagnostic {
    let value = &program.lambdas[export.lambda].name;
    let function = value.strip_suffix("-gradient").unwrap_or(value);
    Diagnostic::error("V0852", format!("`{function}` has no gradient"), export.span, "exported with one")
        .note("a gradient is that of a function whose value is a number")
        .help("export the function without `gradient`, or one that returns a number")
}

/// The results of all variants of a function that the program calls.
fn results(flow: &Analysis, lambda: LambdaId) -> Vec<Shape> {
    flow.variants.values().filter(|variant| variant.key.lambda == lambda).map(|variant| variant.result).collect()
}

fn type_of(shapes: &Shapes, shape: Shape, depth: usize) -> Option<Type> {
    let alternatives = shapes.alternatives(shape);
    let classes: Vec<Class> = alternatives.iter().map(|a| a.head.class()).collect();
    match classes[..] {
        _ if depth > DEEPEST => None,
        [Class::Real] => Some(Type::Real),
        [Class::Pair(None)] => {
            let [first, rest] = alternatives[0].children[..] else { return None };
            let first = type_of(shapes, first, depth + 1)?;
            if matches!(&shapes.alternatives(rest)[..], [end] if end.head.class() == Class::Nil) {
                return Some(Type::Tuple(vec![first]));
            }
            Some(Type::Tuple(match type_of(shapes, rest, depth + 1)? {
                Type::Tuple(rest) => [vec![first], rest].concat(),
                rest => vec![first, rest],
            }))
        }
        [_, ..] if classes.iter().all(|class| matches!(class, Class::Vector | Class::OneHot)) => {
            let elements =
                alternatives.iter().flat_map(|a| a.children.iter()).filter(|child| **child != Shapes::BOTTOM);
            let types: Vec<Type> = elements.map(|child| type_of(shapes, *child, depth + 1)).collect::<Option<_>>()?;
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
