//! Making parts of a shape one by unification: what tying knots falls back on.
//!
//! The exact construction in [`super::algebra`] gives every combination of parts that meet a node of its own, of which
//! there can be exponentially many. Here parts that meet become one part everywhere (with union-find, in almost linear
//! time), so a shape never gets larger. The result covers the exact one.
//!
//! Parts without children are the exception: each occurrence is a part of its own, lest all empty lists in a shape
//! become whatever one of them meets.

use super::shape::{Class, Head, NewNode, Ref, Shape, Shapes};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The alternatives of a set of united parts.
type Alternatives = BTreeMap<Class, (Head, Vec<usize>)>;

/// The parts of a shape, in sets.
#[derive(Default)]
struct Parts {
    /// Towards the representative of the set.
    parent: Vec<usize>,
    /// Of representatives.
    alternatives: Vec<Alternatives>,
    known: FxHashMap<Shape, usize>,
}

impl Shapes {
    /// The shape `root` with the members of each group made one part; they lie inside `root`.
    pub(super) fn unify(&mut self, root: Shape, groups: &[Vec<Shape>]) -> Shape {
        let mut parts = Parts::default();
        let top = parts.part(self, root);
        for group in groups {
            let members: Vec<usize> = group.iter().map(|member| parts.part(self, *member)).collect();
            for pair in members.windows(2) {
                parts.unite(pair[0], pair[1]);
            }
        }
        let mut numbers = FxHashMap::default();
        let mut graph: Vec<NewNode> = Vec::new();
        let top = parts.node(top, &mut numbers, &mut graph);
        self.finish(&graph)[top]
    }
}

impl Parts {
    fn part(&mut self, shapes: &Shapes, shape: Shape) -> usize {
        if let Some(part) = self.known.get(&shape) {
            return *part;
        }
        let part = self.parent.len();
        self.parent.push(part);
        self.alternatives.push(Alternatives::new());
        let alternatives = shapes.alternatives(shape);
        if alternatives.iter().any(|alternative| !alternative.children.is_empty()) {
            self.known.insert(shape, part);
        }
        for alternative in alternatives.iter() {
            let children = alternative.children.iter().map(|child| self.part(shapes, *child)).collect();
            self.alternatives[part].insert(alternative.head.class(), (alternative.head, children));
        }
        part
    }

    fn representative(&mut self, part: usize) -> usize {
        let mut root = part;
        while self.parent[root] != root {
            root = self.parent[root];
        }
        let mut next = part;
        while next != root {
            next = std::mem::replace(&mut self.parent[next], root);
        }
        root
    }

    fn unite(&mut self, a: usize, b: usize) {
        let mut pending = vec![(a, b)];
        while let Some((a, b)) = pending.pop() {
            let (a, b) = (self.representative(a), self.representative(b));
            if a == b {
                continue;
            }
            self.parent[b] = a;
            for (class, (head, children)) in std::mem::take(&mut self.alternatives[b]) {
                match self.alternatives[a].get_mut(&class) {
                    None => {
                        self.alternatives[a].insert(class, (head, children));
                    }
                    Some((known, existing)) => {
                        *known = known.join(head);
                        pending.extend(existing.iter().copied().zip(children));
                    }
                }
            }
        }
    }

    /// The node of the result for a part.
    fn node(&mut self, part: usize, numbers: &mut FxHashMap<usize, usize>, graph: &mut Vec<NewNode>) -> usize {
        let part = self.representative(part);
        if let Some(number) = numbers.get(&part) {
            return *number;
        }
        let number = graph.len();
        numbers.insert(part, number);
        graph.push(NewNode::new());
        for (head, children) in self.alternatives[part].clone().into_values() {
            let children = children.into_iter().map(|child| Ref::New(self.node(child, numbers, graph))).collect();
            graph[number].push((head, children));
        }
        number
    }
}
