//! Which parts of data of any depth are boxes.
//!
//! ```text
//! tape = {end, step(choice)}         each `choice` is part of one `tape`, and of nothing else that `tape` contains:
//! choice = {one(real, tape),         so a box for each `tape` makes all values finite, and a `choice` lies in it
//!           other(tape, tape)}
//!
//! node = back(real, real, rest)      what a loop returns for its reverse phase: `node` is the unit that is passed
//! rest = {again(node), done(real)}   around, so it is the box, and a `rest` lies in it
//! ```
//!
//! The parts of a recursive shape refer to each other. A sum that one place refers to, and that is not in the end
//! part of itself that way, is laid out within what refers to it. Of a closure and a sum that only the closure refers
//! to, the closure is the box. Whether a part is one does not depend on where one looks from: a shape and its
//! transforms, which have the same structure, get the same layout.

use crate::shape::lattice::{Head, Shape, Shapes};
use rustc_hash::{FxHashMap, FxHashSet};

/// For every shape that contains `start` and is contained in it, whether it is a box.
pub fn boxed_parts(shapes: &Shapes, start: Shape) -> FxHashMap<Shape, bool> {
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
    let is_closure = |shape: Shape| shapes.single(shape).is_some_and(|only| matches!(only.head, Head::Closure(..)));
    let nodes: FxHashSet<Shape> = component
        .iter()
        .filter(|shape| is_sum(**shape))
        .filter_map(|sum| parent(*sum).filter(|above| is_closure(*above)))
        .collect();
    let lies_within = |shape: Shape| {
        // Up to the sum or the node around it...
        let is_box = |shape: Shape| is_sum(shape) || nodes.contains(&shape);
        let mut above = parent(shape);
        while let Some(product) = above.filter(|above| !is_box(*above)) {
            above = parent(product);
        }
        let found = above.is_some();
        // ...and as far as there is one reference, unless it is a box anyway.
        let mut steps = 0;
        while let Some(next) =
            above.filter(|above| *above != shape && !nodes.contains(above) && steps <= component.len())
        {
            above = parent(next);
            steps += 1;
        }
        found && above.is_none_or(|above| nodes.contains(&above))
    };
    let is_box = |shape: Shape| nodes.contains(&shape) || is_sum(shape) && !lies_within(shape);
    component.iter().map(|shape| (*shape, is_box(*shape))).collect()
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

/// Every reference to a part, several times where there are several. The elements of a vector are no part of it: they
/// are in a box of their own.
fn children(shapes: &Shapes, shape: Shape) -> impl Iterator<Item = Shape> + use<> {
    let alternatives = shapes.alternatives(shape);
    (0..alternatives.len()).flat_map(move |index| match alternatives[index].head.holds_elements() {
        true => Vec::new(),
        false => alternatives[index].children.to_vec(),
    })
}
