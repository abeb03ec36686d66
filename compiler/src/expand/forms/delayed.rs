//! Local values that need each other, but not at once: those that functions among them use later.
//!
//! ```text
//! (letrec ((s (custom-*j (lambda (x) (sin x)) ... c ...))        s' = closure λ_. custom-*j ... (c' ()) ...
//!          (c (custom-*j (lambda (x) (cos x)) ... s ...)))   →   c' = closure λ_. custom-*j ... (s' ()) ...
//!   ...)                                                         s = (s' ());  c = (c' ())
//! ```
//!
//! Closures of core are acyclic, so no closure in `s` can hold `c` if one in `c` holds `s`. Functions can use each
//! other, since each makes the others again ([`super::recursion`]). So a value that is used inside a function before it
//! exists becomes such a function as well, and the function that uses it computes it there. In a pure language that is
//! the same value. What reads or writes must happen once, so a definition that visibly does stays a mistake.
//!
//! Which values that are is known when the definitions have been expanded; then they are expanded once more.
//!
//! A use at once of a value that does not exist yet is a mistake. A function is used at once if it is called, or handed
//! to a function of the library that calls what its argument holds. What other functions do with their arguments is not
//! known here; if they need the value for the value itself, the computation does not end.

use crate::base::Span;
use crate::core::ir::{Body, Const, Definition, GlobalId, LambdaId, Rhs, Var};
use crate::core::prim::Prim;
use crate::expand::build::Expander;
use crate::syntax::Datum;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// How a piece of code uses variables from outside.
#[derive(Default)]
pub struct Uses {
    /// Those that it needs when it is computed.
    pub at_once: FxHashSet<Var>,
    /// Those that functions which it makes may need.
    pub later: FxHashSet<Var>,
    /// Whether it reads or writes, as far as can be seen.
    pub has_effect: bool,
}

impl Expander {
    /// The function that computes a value: a λ that ignores its argument.
    pub fn delay(&mut self, name: &Rc<str>, value: &Datum) -> LambdaId {
        self.lambda(name, value.span, value.span, |expander| {
            let param = expander.new_var("_", value.span);
            (param, expander.named(value, name))
        })
    }

    /// Computes a value by its function.
    pub fn force(&mut self, function: Var, span: Span) -> Rhs {
        let nil = self.hold(Rhs::Const(Const::Nil), span);
        Rhs::Apply(function, nil)
    }

    /// How a body uses what `is_function` are functions that will be made before it, and other variables.
    pub fn uses_of(&self, body: &Body, is_function: impl Fn(Var) -> bool) -> Uses {
        let mut search = Search { expander: self, is_function, held: FxHashMap::default(), uses: Uses::default() };
        search.body(body);
        let result = search.held_by(body.result);
        search.uses.later.extend(result);
        search.uses
    }

    /// Whether a call of a top-level function calls nothing that its argument holds.
    fn leaves_argument_alone(&self, global: GlobalId) -> bool {
        let Definition::Function(lambda) = self.core.globals[global].definition else { return false };
        let mut seen = FxHashSet::default();
        let mut waiting = vec![lambda];
        while let Some(lambda) = waiting.pop() {
            if seen.insert(lambda)
                && !self.calls_known(&self.core.lambdas[lambda].body, &mut FxHashMap::default(), &mut waiting)
            {
                return false;
            }
        }
        true
    }

    /// Whether a body calls only functions that are known there, which are listed.
    fn calls_known(&self, body: &Body, known: &mut FxHashMap<Var, LambdaId>, found: &mut Vec<LambdaId>) -> bool {
        body.bindings.iter().all(|binding| match &binding.rhs {
            Rhs::Global(global) => {
                if let Definition::Function(lambda) = self.core.globals[*global].definition {
                    known.insert(binding.var, lambda);
                }
                true
            }
            Rhs::Closure(lambda, _) => {
                known.insert(binding.var, *lambda);
                true
            }
            Rhs::Apply(function, _) => match known.get(function) {
                Some(lambda) => {
                    found.push(*lambda);
                    true
                }
                None => false,
            },
            Rhs::If(_, yes, no) => self.calls_known(yes, known, found) && self.calls_known(no, known, found),
            _ => true,
        })
    }
}

/// Walks through a body.
struct Search<'e, F> {
    expander: &'e Expander,
    is_function: F,
    /// The functions that data hold, and what closures capture, by the variable that is bound to them.
    held: FxHashMap<Var, FxHashSet<Var>>,
    uses: Uses,
}

impl<F: Fn(Var) -> bool> Search<'_, F> {
    fn body(&mut self, body: &Body) {
        let mut globals: FxHashMap<Var, GlobalId> = FxHashMap::default();
        for binding in &body.bindings {
            let held = match &binding.rhs {
                Rhs::Const(_) => FxHashSet::default(),
                Rhs::Global(global) => {
                    globals.insert(binding.var, *global);
                    FxHashSet::default()
                }
                Rhs::Var(var) => self.held_by(*var),
                Rhs::Closure(lambda, _) => self.expander.core.lambdas[*lambda].captures.iter().copied().collect(),
                Rhs::Apply(function, argument) => {
                    self.at_once(*function);
                    let global = globals.get(function).copied();
                    let is_library = global.is_some_and(|global| {
                        let name = &self.expander.core.globals[global].name;
                        self.expander.globals.library.get(name) == Some(&global)
                    });
                    if is_library && !global.is_some_and(|global| self.expander.leaves_argument_alone(global)) {
                        self.at_once(*argument);
                        FxHashSet::default()
                    } else {
                        self.held_by(*argument)
                    }
                }
                Rhs::Prim(Prim::Cons | Prim::NewVector | Prim::Fill | Prim::Finish, operands) => {
                    operands.iter().flat_map(|operand| self.held_by(*operand)).collect()
                }
                Rhs::Prim(prim, operands) => {
                    self.uses.has_effect |= prim.has_effect();
                    operands.iter().for_each(|operand| self.at_once(*operand));
                    FxHashSet::default()
                }
                Rhs::Lifted(_, _, operands) => {
                    operands.iter().for_each(|operand| self.at_once(*operand));
                    FxHashSet::default()
                }
                Rhs::Destructure(_, var) => self.held_by(*var),
                Rhs::If(condition, yes, no) => {
                    self.at_once(*condition);
                    self.body(yes);
                    self.body(no);
                    let yes = self.held_by(yes.result);
                    yes.into_iter().chain(self.held_by(no.result)).collect()
                }
            };
            // What nobody calls is needed later, if at all.
            self.uses.later.extend(&held);
            self.held.insert(binding.var, held);
        }
    }

    /// What a variable holds that may be called: functions, and what closures use. A value that does not exist is
    /// needed at once.
    fn held_by(&mut self, var: Var) -> FxHashSet<Var> {
        if let Some(held) = self.held.get(&var) {
            return held.clone();
        }
        if (self.is_function)(var) {
            return [var].into_iter().collect();
        }
        self.uses.at_once.insert(var);
        FxHashSet::default()
    }

    fn at_once(&mut self, var: Var) {
        match self.held.get(&var) {
            Some(held) => self.uses.at_once.extend(held),
            None => drop(self.uses.at_once.insert(var)),
        }
    }
}
