//! Vectors that a body fills: bindings of `%new-vector` and `%fill` → one shape for all of them.

use super::Facts;
use crate::core::ir::{Binding, Rhs, Var};
use crate::core::prim::Prim;
use crate::shape::lattice::{Shape, Shapes};
use crate::shape::vector::fill;

/// A vector that a body fills, one element after the other. Its beginnings have one shape, that of the last: otherwise
/// each would be joined with the next, and code would turn each into a vector of one kind of elements more.
pub struct Filling {
    beginnings: Vec<Var>,
    elements: Vec<Shape>,
    /// What the beginnings have until that is known: the shape of a vector without elements.
    shape: Shape,
}

impl Filling {
    /// What a binding begins, if it does.
    pub fn of(binding: &Binding, shape: Shape) -> Option<Filling> {
        let begins = matches!(binding.rhs, Rhs::Prim(Prim::NewVector, _));
        begins.then(|| Filling { beginnings: vec![binding.var], elements: Vec::new(), shape })
    }

    /// Whether a binding fills the vector further; then its shape is told when all are known.
    pub fn goes_on(&mut self, binding: &Binding, facts: &mut Facts) -> bool {
        let last = self.beginnings[self.beginnings.len() - 1];
        match &binding.rhs {
            Rhs::Prim(Prim::Fill, args) if args[0] == last && facts.shapes[&args[1]] != self.shape => {
                self.elements.push(facts.shapes[&args[1]]);
                self.beginnings.push(binding.var);
                facts.shapes.insert(binding.var, self.shape);
                true
            }
            _ => false,
        }
    }

    /// Whether a binding may use a beginning for more than the number of its elements.
    pub fn is_used(&self, binding: &Binding, facts: &Facts) -> bool {
        match &binding.rhs {
            Rhs::Prim(Prim::Filled, _) | Rhs::Const(_) | Rhs::Global(_) => false,
            Rhs::Prim(_, args) | Rhs::Lifted(_, _, args) => args.iter().any(|arg| facts.shapes[arg] == self.shape),
            _ => true,
        }
    }

    /// Tells the shapes of the beginnings.
    pub fn end(self, shapes: &mut Shapes, facts: &mut Facts) {
        let elements = shapes.join_all(&self.elements);
        let filled = fill(shapes, self.shape, elements);
        facts.shapes.extend(self.beginnings.into_iter().map(|beginning| (beginning, filled)));
    }
}
