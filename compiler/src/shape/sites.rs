//! Which closures have been read from data.
//!
//! A closure that is an element of a vector, or of a list, may be one of many that share what they have captured: the
//! zeros of these captures stay folded, so that a sum of its sensitivities costs what is added to it. That is a mark of
//! the closure's shape ([`Head::Closure`]). Reading gives the mark, and closures in vectors and lists have none: there
//! it says nothing, and data that differ in it only would have to be converted into each other. What the body of such a
//! closure makes of what it has captured is in `analysis::shared`.

use crate::shape::algebra::Atom;
use crate::shape::lattice::{Alternative, Head, NewNode, Ref, Shape, Shapes, Site};

impl Shapes {
    /// The shape of what is read from data.
    pub fn read_from_data(&mut self, shape: Shape) -> Shape {
        self.at_site(shape, Site::Data)
    }

    /// What a part of a value with that head is made of.
    fn stored(&mut self, head: Head, part: Shape) -> Shape {
        if holds_data(head) { self.at_site(part, Site::Value) } else { part }
    }

    /// Alternatives with the elements of vectors as they are stored.
    pub fn with_stored_elements(&mut self, mut alternatives: Vec<Alternative>) -> Vec<Alternative> {
        for alternative in alternatives.iter_mut().filter(|of| of.head.holds_elements()) {
            let element = self.stored(alternative.head, alternative.children[0]);
            if element != alternative.children[0] {
                alternative.children = [element].into();
            }
        }
        alternatives
    }

    /// The shape with that mark on its closures, and those in pairs in it. Recursive data have none.
    fn at_site(&mut self, shape: Shape, site: Site) -> Shape {
        if self.is_recursive(shape) {
            return shape;
        }
        if let Some(known) = self.known.sited.get(&(shape, site)) {
            return *known;
        }
        let old = self.alternatives(shape);
        let mut new: Vec<Alternative> = old.to_vec();
        for alternative in &mut new {
            match alternative.head {
                Head::Closure(code, _) => alternative.head = Head::Closure(code, site),
                Head::Pair(None) | Head::Record(_) => {
                    alternative.children = alternative.children.iter().map(|part| self.at_site(*part, site)).collect();
                }
                _ => {}
            }
        }
        let sited = if *new == *old { shape } else { self.intern(new) };
        self.known.sited.insert((shape, site), sited);
        sited
    }

    /// What is joined with recursive data is stored there: with a mark it would be no part of them, and what wraps them
    /// round by round would never end.
    pub fn store_beside_recursive(&mut self, atoms: &mut [Atom]) {
        let is_recursive = |atom: &Atom| matches!(atom, Atom::Shape(shape) if self.is_recursive(*shape));
        if atoms.len() > 1 && atoms.iter().any(is_recursive) {
            for atom in atoms {
                if let Atom::Shape(shape) = atom {
                    *shape = self.at_site(*shape, Site::Value);
                }
            }
        }
    }

    /// The nodes of a component of a graph, with the finished parts of its data as they are stored.
    pub fn store_in_component(&mut self, graph: &mut [NewNode], component: &[usize], done: &[Option<Shape>]) {
        for node in component {
            for (head, children) in &mut graph[*node] {
                for child in children.iter_mut() {
                    let finished = match child {
                        Ref::Done(shape) => Some(*shape),
                        Ref::New(node) => done[*node],
                    };
                    let stored = finished.map(|shape| (shape, self.stored(*head, shape)));
                    if let Some((shape, stored)) = stored
                        && shape != stored
                    {
                        *child = Ref::Done(stored);
                    }
                }
            }
        }
    }
}

/// Whether closures in parts of a recursive value with that head, or in elements of a vector, are data.
fn holds_data(head: Head) -> bool {
    matches!(head, Head::Vector | Head::Beginning | Head::Pair(None) | Head::Record(_))
}
