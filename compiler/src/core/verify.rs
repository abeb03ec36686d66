//! The law of core, checked.
//!
//! A program is well formed when
//!
//! - every id stands in its table;
//! - every variable is bound once: as a parameter or by a binding, in one λ or item;
//! - every use of a variable is in its scope: it is the parameter, a capture, or bound before in the same body or in
//!   one around it within the same λ;
//! - the captures of a λ are distinct, all in scope wherever a closure of it is made, and include every variable from
//!   outside that its body uses;
//! - top-level functions capture nothing, and each value is defined by exactly one item;
//! - every primitive has as many operands as its arity says.
//!
//! Expansion and every transformation of core must keep this; tests check it after each.

use crate::core::ir::{Body, Definition, GlobalId, Item, Lambda, LambdaId, Program, Rhs, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// Everything in the program that breaks the law, in words; empty for a well-formed program.
pub fn verify(program: &Program) -> Vec<String> {
    let mut verifier = Verifier {
        program,
        violations: Vec::new(),
        bound: FxHashMap::default(),
        scope: FxHashSet::default(),
        place: String::new(),
    };
    verifier.globals();
    for (index, item) in program.items.iter().enumerate() {
        verifier.place = format!("item {index}");
        verifier.scope.clear();
        verifier.body(item.body());
    }
    for (id, lambda) in program.lambdas.iter() {
        verifier.lambda(id, lambda);
    }
    verifier.violations
}

struct Verifier<'a> {
    program: &'a Program,
    violations: Vec<String>,
    /// Where each variable is bound.
    bound: FxHashMap<Var, String>,
    /// The variables in scope.
    scope: FxHashSet<Var>,
    /// The λ or item being checked.
    place: String,
}

impl Verifier<'_> {
    fn complain(&mut self, violation: String) {
        self.violations.push(format!("{}: {violation}", self.place));
    }

    /// The name of a variable with its id.
    fn show(&self, var: Var) -> String {
        match self.program.vars.get(var) {
            Some(info) => format!("{var} ({})", info.name),
            None => format!("{var} (not in the table)"),
        }
    }

    fn globals(&mut self) {
        let mut values: FxHashMap<GlobalId, usize> = FxHashMap::default();
        for item in &self.program.items {
            if let Item::Define(global, _) = item {
                *values.entry(*global).or_default() += 1;
            }
        }
        for (id, global) in self.program.globals.iter() {
            self.place = format!("global {}", global.name);
            let defined = values.remove(&id).unwrap_or(0);
            match global.definition {
                Definition::Value if defined != 1 => self.complain(format!("defined by {defined} items")),
                Definition::Value => {}
                Definition::Function(_) if defined != 0 => self.complain("a function defined by an item".to_string()),
                Definition::Function(lambda) => match self.program.lambdas.get(lambda) {
                    None => self.complain(format!("{lambda} is not in the table")),
                    Some(lambda) if !lambda.captures.is_empty() => self.complain("captures variables".to_string()),
                    Some(_) => {}
                },
            }
        }
        for id in values.into_keys() {
            self.complain(format!("an item defines {id}, which is not in the table"));
        }
    }

    fn lambda(&mut self, id: LambdaId, lambda: &Lambda) {
        self.place = format!("{id} ({})", lambda.name);
        self.scope.clear();
        for capture in &lambda.captures {
            if self.program.vars.get(*capture).is_none() {
                self.complain(format!("captures {capture}, which is not in the table"));
            }
            if !self.scope.insert(*capture) {
                self.complain(format!("captures {} twice", self.show(*capture)));
            }
        }
        self.bind(lambda.param);
        self.body(&lambda.body);
    }

    fn bind(&mut self, var: Var) {
        if self.program.vars.get(var).is_none() {
            self.complain(format!("binds {var}, which is not in the table"));
        }
        if let Some(other) = self.bound.insert(var, self.place.clone()) {
            self.complain(format!("binds {}, which {other} binds, too", self.show(var)));
        }
        if !self.scope.insert(var) {
            self.complain(format!("binds {}, which is in scope already", self.show(var)));
        }
    }

    /// Checks a body; what it binds goes out of scope at its end.
    fn body(&mut self, body: &Body) {
        for binding in &body.bindings {
            self.rhs(&binding.rhs);
            self.bind(binding.var);
        }
        self.demand(body.result);
        for binding in &body.bindings {
            self.scope.remove(&binding.var);
        }
    }

    fn demand(&mut self, var: Var) {
        if !self.scope.contains(&var) {
            self.complain(format!("uses {}, which is not in scope", self.show(var)));
        }
    }

    fn rhs(&mut self, rhs: &Rhs) {
        match rhs {
            Rhs::Global(global) if self.program.globals.get(*global).is_none() => {
                self.complain(format!("uses {global}, which is not in the table"));
            }
            Rhs::Prim(prim, operands) | Rhs::Lifted(_, prim, operands) if operands.len() != prim.arity() => {
                self.complain(format!("({prim}) has {} operands instead of {}", operands.len(), prim.arity()));
            }
            Rhs::Closure(lambda, captured) => match self.program.lambdas.get(*lambda).map(|code| code.captures.len()) {
                None => self.complain(format!("makes a closure of {lambda}, which is not in the table")),
                Some(wanted) if wanted != captured.len() => {
                    let count = captured.len();
                    self.complain(format!("makes a closure of {lambda} over {count} values instead of {wanted}"));
                }
                Some(_) => {}
            },
            _ => {}
        }
        rhs.operands().into_iter().for_each(|operand| self.demand(operand));
        if let Rhs::If(_, yes, no) = rhs {
            self.body(yes);
            self.body(no);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::entity::Entity;
    use crate::base::{FileId, Span};
    use crate::core::ir::{Binding, Const, Origin};
    use crate::core::prim::Prim;
    use std::rc::Rc;

    /// A program with one λ whose body the test makes.
    fn complaints(make: impl FnOnce(&mut Program, Var) -> (Vec<Var>, Body)) -> Vec<String> {
        let span = Span::new(FileId(0), 0, 0);
        let mut program = Program::default();
        let param = program.new_var("x", span);
        let (captures, body) = make(&mut program, param);
        let name = Rc::from("f");
        program.lambdas.push(Lambda { name, span, origin: Origin::Source, param, captures, body });
        verify(&program)
    }

    fn binding(var: Var, rhs: Rhs) -> Binding {
        Binding { var, rhs, span: Span::new(FileId(0), 0, 0) }
    }

    #[test]
    fn each_violation_is_found() {
        let span = Span::new(FileId(0), 0, 0);
        let fine = complaints(|_, x| (vec![], Body { bindings: vec![], result: x }));
        assert_eq!(fine, [] as [&str; 0]);

        let unbound = complaints(|program, _| {
            let y = program.new_var("y", span);
            (vec![], Body { bindings: vec![], result: y })
        });
        assert_eq!(unbound, ["L0 (f): uses %1 (y), which is not in scope"]);

        let twice = complaints(|_, x| (vec![], Body { bindings: vec![binding(x, Rhs::Const(Const::Nil))], result: x }));
        assert_eq!(twice[0], "L0 (f): binds %0 (x), which L0 (f) binds, too");

        let arity = complaints(|program, x| {
            let y = program.new_var("y", span);
            (vec![], Body { bindings: vec![binding(y, Rhs::Prim(Prim::Add, vec![x]))], result: y })
        });
        assert_eq!(arity, ["L0 (f): (+) has 1 operands instead of 2"]);

        let no_closure = complaints(|program, _| {
            let y = program.new_var("y", span);
            let lambda = LambdaId::from_index(9);
            (vec![], Body { bindings: vec![binding(y, Rhs::Closure(lambda, vec![]))], result: y })
        });
        assert_eq!(no_closure, ["L0 (f): makes a closure of L9, which is not in the table"]);

        let missing_capture = complaints(|program, x| {
            let (k, y, p) = (program.new_var("k", span), program.new_var("y", span), program.new_var("p", span));
            let body = Body { bindings: vec![], result: k };
            let (name, captures) = (Rc::from("g"), vec![k]);
            let g = program.lambdas.push(Lambda { name, span, origin: Origin::Source, param: p, captures, body });
            let _ = x;
            (vec![], Body { bindings: vec![binding(y, Rhs::Closure(g, vec![]))], result: y })
        });
        assert_eq!(missing_capture, ["L1 (f): makes a closure of L0 over 0 values instead of 1"]);
    }
}
