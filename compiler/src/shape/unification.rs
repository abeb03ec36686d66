//! Making parts of a shape one by unification: what tying knots and unfolding fall back on.
//!
//! The exact construction in [`super::algebra`] gives every combination of parts that meet a node of its own, of which
//! there can be exponentially many. Here parts that meet become one part everywhere (with union-find, in almost linear
//! time), so a shape never gets larger. The result covers the exact one.
//!
//! Parts without children are the exception: each occurrence is a part of its own, lest all empty lists in a shape
//! become whatever one of them meets.

use super::algebra::{self, Atom, Stop, Transform, Unfolding};
use crate::shape::lattice::{Class, Head, NewNode, Ref, Shape, Shapes};
use rustc_hash::{FxHashMap, FxHashSet};
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
    known: FxHashMap<Atom, usize>,
    /// Parts to be made one when all are known.
    pending: Vec<(usize, usize)>,
}

impl Shapes {
    /// The shape `root` with the members of each group made one part; they lie inside `root`. It stays as it is where
    /// the work is not allowed.
    pub fn unify(&mut self, root: Shape, groups: &[Vec<Shape>]) -> Shape {
        let groups = groups.iter().map(|group| group.iter().copied().map(Atom::Shape).collect()).collect();
        self.unite(vec![Atom::Shape(root)], groups, None).unwrap_or(root)
    }

    /// The shape that the set of atoms unfolds to, where atoms that meet are made one part.
    pub fn unite(
        &mut self,
        root: Vec<Atom>,
        groups: Vec<Vec<Atom>>,
        transform: Option<&mut (dyn Transform + '_)>,
    ) -> Result<Shape, Stop> {
        let mut unfolding = Unfolding::new(self, transform, usize::MAX);
        let mut parts = Parts::default();
        let top = parts.set(&mut unfolding, root)?;
        for group in groups {
            parts.set(&mut unfolding, group)?;
        }
        parts.unite_pending();
        parts.remove_impossible();
        let mut numbers = FxHashMap::default();
        let mut graph: Vec<NewNode> = Vec::new();
        let top = parts.node(top, &mut numbers, &mut graph);
        Ok(self.finish(graph)[top])
    }
}

impl Parts {
    fn fresh(&mut self) -> usize {
        let part = self.parent.len();
        self.parent.push(part);
        self.alternatives.push(Alternatives::new());
        part
    }

    /// The part that all of the atoms belong to.
    fn set(&mut self, unfolding: &mut Unfolding<'_, '_>, atoms: Vec<Atom>) -> Result<usize, Stop> {
        let mut members = Vec::with_capacity(atoms.len());
        for atom in atoms {
            members.push(self.part(unfolding, atom)?);
        }
        self.pending.extend(members.windows(2).map(|pair| (pair[0], pair[1])));
        Ok(members.first().copied().unwrap_or_else(|| self.fresh()))
    }

    fn part(&mut self, unfolding: &mut Unfolding<'_, '_>, atom: Atom) -> Result<usize, Stop> {
        if let Some(part) = self.known.get(&atom) {
            return Ok(*part);
        }
        if unfolding.shapes.is_exhausted() {
            return Err(Stop::Work);
        }
        let part = self.fresh();
        let mut found = algebra::Parts::new();
        unfolding.expand(atom, &mut found)?;
        if found.values().any(|(_, children)| !children.is_empty()) {
            self.known.insert(atom, part);
        }
        for (class, (head, sets)) in found {
            let mut children = Vec::with_capacity(sets.len());
            for set in sets {
                children.push(self.set(unfolding, set)?);
            }
            self.alternatives[part].insert(class, (head, children));
        }
        Ok(part)
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

    fn unite_pending(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
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

    /// Removes products with a part that has no value: they have none.
    fn remove_impossible(&mut self) {
        loop {
            let empty: FxHashSet<usize> = (0..self.parent.len())
                .filter(|part| self.parent[*part] == *part && self.alternatives[*part].is_empty())
                .collect();
            let mut stable = true;
            for part in 0..self.parent.len() {
                let mut alternatives = std::mem::take(&mut self.alternatives[part]);
                let before = alternatives.len();
                alternatives.retain(|class, (_, children)| {
                    matches!(class, Class::Vector | Class::Beginning)
                        || !children.iter().any(|child| empty.contains(&self.representative(*child)))
                });
                stable &= alternatives.len() == before;
                self.alternatives[part] = alternatives;
            }
            if stable {
                return;
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
