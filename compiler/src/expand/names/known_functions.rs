//! Functions that are known where they are used are not captured, but made there again from what they capture.
//!
//! ```text
//! f = closure λf                      f = closure λf
//! g = closure λg                      g = closure λg
//!   λg x captures f. (f x)              λg x captures k.  f' = closure λf
//!   λf x captures k. (+ k x)                              (f' x)
//! ```
//!
//! In: a program whose λs capture all of their free variables. Out: the same, except that no λ captures a variable that
//! is bound to a closure, or to another name of one. Instead it captures what that function captures. This is lambda
//! lifting's closure of captures (Johnsson, "Lambda lifting: transforming programs to recursive equations", 1985),
//! while functions remain closures; a group of recursive functions has come about in the same way
//! ([`crate::expand::forms::recursion`]).
//!
//! Why: a closure that is captured is a nest, and so is its sensitivity. Where two functions lead to the same third
//! one, there are two copies of the nest; with n functions, each of which uses the two before it, 2ⁿ. And a vector deep
//! in a nest cannot be handed on to be added to in place while another copy of it lies beside. Flat captures name every
//! value once.
//!
//! What a λ captures depends on what functions bound before it capture, so the search ends.

use crate::base::entity::Entity;
use crate::core::ir::{Binding, Body, Item, LambdaId, Program, Rhs, Var};
use crate::expand::build::{Expander, closure};
use rustc_hash::{FxHashMap, FxHashSet};

/// Makes known functions where they are used.
pub fn rebuild(expander: &mut Expander) {
    let known = known(&expander.core);
    let captures = flat_captures(expander, &known);
    for (lambda, captures) in captures {
        let old = std::mem::replace(&mut expander.core.lambdas[lambda].captures, captures);
        let outside = old.into_iter().filter_map(|var| Some((var, *known.get(&var)?))).collect();
        let mut uses = Uses { outside, again: FxHashMap::default(), expander };
        let mut body = uses.expander.core.lambdas[lambda].body.clone();
        uses.body(&mut body);
        let mut again: Vec<(Var, LambdaId)> = uses.again.iter().map(|(of, alias)| (*alias, uses.outside[of])).collect();
        again.sort();
        let span = expander.core.lambdas[lambda].span;
        let prologue = again.into_iter().map(|(var, function)| Binding { var, rhs: closure(function), span });
        body.bindings.splice(0..0, prologue);
        expander.core.lambdas[lambda].body = body;
    }
}

/// The variables that are bound to closures, with the λs of these.
fn known(program: &Program) -> FxHashMap<Var, LambdaId> {
    let (mut known, mut names) = (FxHashMap::default(), Vec::new());
    let bodies = program.items.iter().map(Item::body).chain(program.lambdas.values().map(|lambda| &lambda.body));
    for binding in bodies.flat_map(Body::all_bindings) {
        match &binding.rhs {
            Rhs::Closure(lambda, _) => drop(known.insert(binding.var, *lambda)),
            Rhs::Var(of) => names.push((binding.var, *of)),
            _ => {}
        }
    }
    // A name of a name is younger than that.
    names.sort();
    for (name, of) in names {
        if let Some(lambda) = known.get(&of).copied() {
            known.insert(name, lambda);
        }
    }
    known
}

/// The λs that capture known functions, in order, with what they capture instead of these.
fn flat_captures(expander: &Expander, known: &FxHashMap<Var, LambdaId>) -> Vec<(LambdaId, Vec<Var>)> {
    let lambdas = &expander.core.lambdas;
    let functions = |lambda: LambdaId| lambdas[lambda].captures.iter().filter_map(|var| known.get(var).copied());
    let mut flat: FxHashMap<LambdaId, Vec<Var>> = FxHashMap::default();
    // Those of functions come before those of what captures them.
    let mut work: Vec<LambdaId> = (0..lambdas.len()).map(LambdaId::from_index).collect();
    while let Some(&lambda) = work.last() {
        let is_missing = |lambda: &LambdaId| functions(*lambda).next().is_some() && !flat.contains_key(lambda);
        let before: Vec<LambdaId> =
            if is_missing(&lambda) { functions(lambda).filter(is_missing).collect() } else { Vec::new() };
        if !before.is_empty() {
            work.extend(before);
            continue;
        }
        work.pop();
        if is_missing(&lambda) {
            let direct = lambdas[lambda].captures.iter().filter(|var| !known.contains_key(var));
            let through = functions(lambda).flat_map(|of| flat.get(&of).unwrap_or(&lambdas[of].captures));
            let all: FxHashSet<Var> = direct.chain(through).copied().collect();
            let mut all: Vec<Var> = all.into_iter().collect();
            expander.sort(&mut all);
            flat.insert(lambda, all);
        }
    }
    let mut flat: Vec<(LambdaId, Vec<Var>)> = flat.into_iter().collect();
    flat.sort();
    flat
}

/// The uses of known functions in the body of a λ that has captured them.
struct Uses<'a> {
    /// The functions from outside.
    outside: FxHashMap<Var, LambdaId>,
    /// What they are called where they are made again.
    again: FxHashMap<Var, Var>,
    expander: &'a mut Expander,
}

impl Uses<'_> {
    fn body(&mut self, body: &mut Body) {
        for binding in &mut body.bindings {
            if let Rhs::Var(var) = &binding.rhs
                && let Some(function) = self.outside.get(var)
            {
                binding.rhs = closure(*function);
            }
            binding.rhs.operands_mut().into_iter().for_each(|operand| self.name(operand));
            if let Rhs::If(_, yes, no) = &mut binding.rhs {
                self.body(yes);
                self.body(no);
            }
        }
        self.name(&mut body.result);
    }

    fn name(&mut self, var: &mut Var) {
        if self.outside.contains_key(var) {
            let expander = &mut *self.expander;
            *var = *self.again.entry(*var).or_insert_with(|| expander.new_alias(*var));
        }
    }
}
