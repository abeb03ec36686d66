//! Which values of a session an input needs: the others need not be computed again.
//!
//! Program, the place of its input's first item → the program without the items in front whose values nothing behind
//! reaches. Leaving one out changes nothing that can be seen if all of them were computed before without a mistake: the
//! language is pure. What a transform calls is what its function calls, or belongs to the library; the values of that
//! all stay.

use crate::base::SourceMap;
use crate::core::ir::{Body, Definition, GlobalId, Item, Program, Rhs};
use rustc_hash::{FxHashMap, FxHashSet};

/// Drops items in front of a place that the rest does not need.
pub fn drop_others(program: &mut Program, sources: &SourceMap, place: usize) {
    let needed = needed(program, place);
    let globals = &program.globals;
    let stays = |global: GlobalId| needed.contains(&global) || sources.is_library(globals[global].span);
    let mut position = 0;
    program.items.retain(|item| {
        position += 1;
        position > place || matches!(item, Item::Define(global, _) if stays(*global))
    });
}

/// The globals that items reach from a place on.
fn needed(program: &Program, place: usize) -> FxHashSet<GlobalId> {
    let values: FxHashMap<GlobalId, &Body> = program
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Define(global, body) => Some((*global, body)),
            Item::Print(..) => None,
        })
        .collect();
    let (mut found, mut closures) = (FxHashSet::default(), FxHashSet::default());
    let behind = program.items[place..].iter();
    let mut bodies: Vec<&Body> = behind.map(Item::body).collect();
    while let Some(body) = bodies.pop() {
        for binding in body.all_bindings() {
            match &binding.rhs {
                Rhs::Global(global) if found.insert(*global) => match program.globals[*global].definition {
                    Definition::Function(lambda) => bodies.push(&program.lambdas[lambda].body),
                    Definition::Value => bodies.extend(values.get(global)),
                },
                Rhs::Closure(lambda, _) if closures.insert(*lambda) => bodies.push(&program.lambdas[*lambda].body),
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{Pipeline, Settings};

    /// The values that an input needs of a session's definitions.
    fn values(definitions: &str, input: &str) -> Vec<String> {
        let mut pipeline = Pipeline::new(Settings::default());
        let parts = [("session".to_string(), definitions.to_string()), ("input".to_string(), input.to_string())];
        let mut program = pipeline.expand_parts(&parts).expect("the program is right");
        let is_of_input = |item: &Item| match item {
            Item::Define(global, _) => pipeline.sources.file(program.globals[*global].span.file).name == "input",
            Item::Print(_, span) => pipeline.sources.file(span.file).name == "input",
        };
        let place = program.items.iter().position(is_of_input).unwrap_or(program.items.len());
        let behind = program.items.len() - place;
        drop_others(&mut program, &pipeline.sources, place);
        let front = &program.items[..program.items.len() - behind];
        front
            .iter()
            .map(|item| match item {
                Item::Define(global, _) => program.globals[*global].name.to_string(),
                Item::Print(..) => "expression".to_string(),
            })
            .collect()
    }

    #[test]
    fn values_are_reached_through_functions_closures_and_other_values() {
        let definitions =
            "(define a 1) (define b (+ a 1)) (define (f x) (* x b)) (define c (let ((k 2)) (lambda (x) (f (* k x))))) (define d 4)
            (define (g n) (if (= n 0) 0 (h (- n 1)))) (define (h n) (+ d (g n))) a";
        assert_eq!(values(definitions, "1"), Vec::<String>::new());
        assert_eq!(values(definitions, "a d"), ["a", "d"]);
        assert_eq!(values(definitions, "(f 1)"), ["a", "b"]);
        assert_eq!(values(definitions, "(c 1)"), ["a", "b", "c"]);
        assert_eq!(values(definitions, "(if #t 1 ((gradient c) 2))"), ["a", "b", "c"]);
        assert_eq!(values(definitions, "(let ((y 1)) (lambda (z) (* y (g z))))"), ["d"]);
        assert_eq!(values(definitions, "(define (x y) a)"), Vec::<String>::new(), "it is not called yet");
    }
}
