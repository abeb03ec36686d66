//! Which sums that contain themselves need no box of their own.
//!
//! ```text
//! tape = {end, step(choice)}         each `choice` is part of one `tape`, and of nothing else that `tape` contains:
//! choice = {one(real, tape),         so a box for each `tape` makes all values finite, and a `choice` lies in it
//!           other(tape, tape)}
//! ```
//!
//! The parts of a recursive shape refer to each other. A sum that one place refers to, and that is not in the end
//! part of itself that way, is laid out within what refers to it. Whether it is does not depend on where one looks from:
//! a shape and its transforms, which have the same structure, get the same layout.

use crate::flow::shape::{Shape, Shapes};
use rustc_hash::{FxHashMap, FxHashSet};

/// For every sum that contains `start` and is contained in it, whether it lies within what refers to it.
pub fn inner_sums(shapes: &Shapes, start: Shape) -> FxHashMap<Shape, bool> {
    let component = component(shapes, start);
    // For each part how often it is referred to, and from where.
    let mut references: FxHashMap<Shape, (usize, Shape)> = FxHashMap::default();
    for shape in &component {
        for child in children(shapes, *shape).filter(|child| component.contains(child)) {
            let entry = references.entry(child).or_insert((0, *shape));
            *entry = (entry.0 + 1, *shape);
        }
    }
    let parent = |shape: Shape| references.get(&shape).filter(|entry| entry.0 == 1).map(|entry| entry.1);
    let is_sum = |shape: Shape| shapes.alternatives(shape).len() > 1;
    let is_inner = |shape: Shape| {
        // Up to the sum around it...
        let mut above = parent(shape);
        while let Some(product) = above.filter(|above| !is_sum(*above)) {
            above = parent(product);
        }
        let found = above.is_some();
        // ...and as far as there is one reference.
        let mut steps = 0;
        while let Some(next) = above.filter(|above| *above != shape && steps <= component.len()) {
            above = parent(next);
            steps += 1;
        }
        found && above.is_none()
    };
    component.iter().filter(|shape| is_sum(**shape)).map(|shape| (*shape, is_inner(*shape))).collect()
}

/// The shapes that contain `start` and are contained in it.
fn component(shapes: &Shapes, start: Shape) -> FxHashSet<Shape> {
    let mut parents: FxHashMap<Shape, Vec<Shape>> = FxHashMap::default();
    let mut below = FxHashSet::default();
    let mut waiting = vec![start];
    while let Some(shape) = waiting.pop() {
        if below.insert(shape) {
            for child in children(shapes, shape).filter(|child| shapes.is_recursive(*child)) {
                parents.entry(child).or_default().push(shape);
                waiting.push(child);
            }
        }
    }
    let mut found = FxHashSet::default();
    waiting.push(start);
    while let Some(shape) = waiting.pop() {
        if found.insert(shape) {
            waiting.extend(parents.get(&shape).into_iter().flatten());
        }
    }
    found
}

/// Every reference to a part, several times where there are several.
fn children(shapes: &Shapes, shape: Shape) -> impl Iterator<Item = Shape> + use<> {
    let alternatives = shapes.alternatives(shape);
    (0..alternatives.len()).flat_map(move |index| alternatives[index].children.to_vec())
}
