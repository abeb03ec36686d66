//! What a backpropagator captures for its zero only.
//!
//! ~~~text
//! ... (in-car y s) ... (zero y) ...     z = (zero y), captured;  ... (in-car z s) ... (zero z) ...
//! ~~~
//!
//! A variable that gets no sensitivity gets a zero, and a part of a pair leaves a zero in the other: these have the
//! shape of the variable's value, and nothing else of it. The zero of a number has one value, so code that captures
//! zeros captures no numbers, where lists of environments within environments would be kept at each order for the sake
//! of their shape. Of a vector that it has read an element of, a backpropagator needs no more than the zero either,
//! which is often a length. A record whose parts have a sensitivity says of which kind that is.

use super::super::code::Code;
use super::Scope;
use crate::core::ir::{Body, Rhs, Var};
use crate::core::prim::Prim;
use rustc_hash::{FxHashMap, FxHashSet};

/// Binds the zeros of what the forms of a backpropagator need the zeros of only, and lets the forms use these. Returns
/// the variables that they are bound to.
pub(super) fn zeros(code: &mut Code<'_>, forms: &mut [Body; 2], scope: &Scope) -> Vec<Var> {
    let mut uses = Uses::default();
    forms.iter().for_each(|form| uses.add(form));
    for (inverse, of) in &uses.inverses {
        if uses.values.contains(inverse) {
            uses.values.insert(*of);
        }
    }
    // Branches that capture the zeros of the same variables capture them in the same order.
    uses.shapes.sort_unstable();
    let mut zeros = Vec::new();
    let (mut zero_of, mut replacements) = (FxHashMap::default(), FxHashMap::default());
    for x in uses.shapes {
        if replacements.contains_key(&x) {
            continue;
        }
        let inverse_of = uses.inverses.get(&x).copied();
        let captured = inverse_of.unwrap_or(x);
        if !scope.generated.contains(&captured) || uses.values.contains(&captured) || uses.values.contains(&x) {
            continue;
        }
        let zero = *zero_of.entry((captured, inverse_of.is_some())).or_insert_with(|| {
            let name = code.name(captured);
            let value = inverse_of.map_or(captured, |of| code.bind(&name, Rhs::Prim(Prim::JInverse, vec![of])));
            let zero = code.bind(&name, Rhs::Prim(Prim::Zero, vec![value]));
            zeros.push(zero);
            zero
        });
        replacements.insert(x, zero);
    }
    forms.iter_mut().for_each(|form| replace(form, &replacements));
    zeros
}

/// How the variables of a backpropagator are used.
#[derive(Default)]
struct Uses {
    /// Those whose value is needed.
    values: FxHashSet<Var>,
    /// Those of which the shape is needed.
    shapes: Vec<Var>,
    /// What variables are bound to `*j-inverse` of.
    inverses: FxHashMap<Var, Var>,
}

impl Uses {
    fn add(&mut self, body: &Body) {
        for binding in &body.bindings {
            match &binding.rhs {
                Rhs::Prim(prim, args) if takes_shape(*prim) => {
                    self.shapes.push(args[0]);
                    self.values.extend(&args[1..]);
                }
                Rhs::Prim(Prim::JInverse, args) => {
                    self.inverses.insert(binding.var, args[0]);
                }
                Rhs::If(condition, then, other) => {
                    self.values.insert(*condition);
                    self.add(then);
                    self.add(other);
                }
                rhs => self.values.extend(rhs.operands()),
            }
        }
        self.values.insert(body.result);
    }
}

/// Whether the first operand of a primitive gives the shape of a zero only, or the kind of a record.
fn takes_shape(prim: Prim) -> bool {
    matches!(prim, Prim::Zero | Prim::InCar | Prim::InCdr | Prim::InElement | Prim::Record)
}

fn replace(body: &mut Body, replacements: &FxHashMap<Var, Var>) {
    body.bindings.retain(|binding| {
        !matches!(binding.rhs, Rhs::Prim(Prim::JInverse, _)) || !replacements.contains_key(&binding.var)
    });
    for binding in &mut body.bindings {
        match &mut binding.rhs {
            Rhs::Prim(prim, args) if takes_shape(*prim) => {
                args[0] = replacements.get(&args[0]).copied().unwrap_or(args[0]);
            }
            Rhs::If(_, then, other) => {
                replace(then, replacements);
                replace(other, replacements);
            }
            _ => {}
        }
    }
}
