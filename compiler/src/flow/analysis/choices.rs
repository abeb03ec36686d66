//! What the outcome of a condition says when the condition is itself the value of a conditional.
//!
//! ```text
//! (if (not (null? p)) a b)         if q = (if (null? p) #f #t) is true, then (null? p) is false
//! (if (and (pair? p) (f p)) a b)   if q = (if (pair? p) (f p) #f) is true, then both (pair? p) and (f p) are
//! ```
//!
//! `not`, `and`, `or` and `cond` expand to conditionals. Where one of the two values of a conditional cannot be what came
//! out, the other one was, and the condition had the value that leads there. In transformed code a conditional gives
//! pairs, of a value and its backpropagator; then this holds for the first parts.

use super::Facts;
use crate::core::ir::{Binding, Body, Part, Rhs, Var};
use crate::core::prim::Prim;
use crate::shape::lattice::{Head, Shapes};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// A conditional.
#[derive(Clone, Debug)]
pub struct Choice {
    condition: Var,
    /// What it is the value of, for either outcome of the condition.
    values: [Var; 2],
    /// Whether it gives pairs, of which these are the first parts, or conditionals that give pairs.
    gives_pairs: bool,
    /// The variables that are bound in its branches, which nobody knows outside.
    within: Rc<FxHashSet<Var>>,
}

impl Facts {
    /// Notes that a binding is a conditional, or what another variable is. What is bound within a conditional that is
    /// the end of a branch, the one around it knows.
    pub(super) fn note_choice(&mut self, binding: &Binding, ends_branch: bool) {
        let choice = match &binding.rhs {
            Rhs::If(condition, then, other) => {
                let found = [then, other].map(|branch| self.value_of(branch));
                let gives_pairs = match found {
                    [Some((_, one)), Some((_, other))] if one != other => return,
                    [Some((_, one)), _] | [None, Some((_, one))] => one,
                    [None, None] => return,
                };
                let values = [0, 1].map(|at| found[at].map_or([then, other][at].result, |(value, _)| value));
                let bindings = [then, other].into_iter().flat_map(|branch| branch.all_bindings());
                let within = if ends_branch { FxHashSet::default() } else { bindings.map(|inner| inner.var).collect() };
                Choice { condition: *condition, values, gives_pairs, within: Rc::new(within) }
            }
            Rhs::Var(x) => match self.choices.get(x) {
                Some(choice) => choice.clone(),
                None => return,
            },
            Rhs::Prim(Prim::J, args) => match self.choices.get(&args[0]) {
                Some(choice) if !choice.gives_pairs => choice.clone(),
                _ => return,
            },
            Rhs::Destructure(Part::Car, x) => match self.choices.get(x) {
                Some(choice) if choice.gives_pairs => Choice { gives_pairs: false, ..choice.clone() },
                _ => return,
            },
            _ => return,
        };
        self.choices.insert(binding.var, choice);
    }

    /// What a branch gives: a value, or the first part of a pair or a conditional that gives pairs. `None` if it never
    /// ends.
    fn value_of(&self, branch: &Body) -> Option<(Var, bool)> {
        let result = branch.result;
        if let Some(choice) = self.choices.get(&result) {
            return Some((result, choice.gives_pairs));
        }
        self.shapes.get(&result)?;
        let bound = branch.bindings.iter().rfind(|binding| binding.var == result);
        match bound.map(|binding| &binding.rhs) {
            Some(Rhs::Prim(Prim::Cons, parts)) => Some((parts[0], true)),
            _ => Some((result, false)),
        }
    }

    /// Whether a variable is bound within the conditional that a condition is the value of.
    pub(super) fn is_within(&self, condition: Var, var: Var) -> bool {
        self.choices.get(&condition).is_some_and(|choice| choice.within.contains(&var))
    }

    /// All conditions that have come out one way if this one has, itself first.
    pub(super) fn implied(&self, shapes: &Shapes, condition: Var, outcome: bool) -> Vec<(Var, bool)> {
        let (mut implied, mut next) = (vec![(condition, outcome)], 0);
        while let Some((var, outcome)) = implied.get(next).copied() {
            next += 1;
            // A conditional that gives pairs is met as one of the values of another one, which stands for its first part.
            let Some(choice) = self.choices.get(&var) else { continue };
            if next == 1 && choice.gives_pairs {
                break;
            }
            match choice.values.map(|value| self.may_be(shapes, value, outcome)) {
                [true, false] => implied.extend([(choice.condition, true), (choice.values[0], outcome)]),
                [false, true] => implied.extend([(choice.condition, false), (choice.values[1], outcome)]),
                _ => {}
            }
        }
        implied
    }

    /// Whether a value, or the first part of the pair that a conditional gives, may be true, or false.
    fn may_be(&self, shapes: &Shapes, value: Var, outcome: bool) -> bool {
        if let Some(choice) = self.choices.get(&value).filter(|choice| choice.gives_pairs) {
            return choice.values.iter().any(|value| self.may_be(shapes, *value, outcome));
        }
        let Some(shape) = self.shapes.get(&value) else { return false };
        shapes.alternatives(*shape).iter().any(|alternative| match alternative.head {
            Head::Bool(None) => true,
            Head::Bool(Some(value)) => value == outcome,
            _ => outcome,
        })
    }
}
