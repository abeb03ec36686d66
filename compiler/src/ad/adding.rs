//! The adding forms of functions that are no derived backpropagators: of those that a program or the library gives.
//!
//! `((adding b) (s . h))` is h ⊕ (b s). The backpropagators of [`reverse`](super::reverse) are made in two forms; of
//! any other function the form is made from its body: h is added to the value, and where the value is what another
//! function returns, or a pair that holds that, the vectors are handed on to the other function.
//!
//! ~~~text
//! λs. ... x = (f a); return x              λ(s . h). ... x = ((adding f) (a . h)); return x
//! λs. ... x = (cons y z); return x         λ(s . h). h1 = sum-car h, h2 = sum-cdr h; ... x = (cons h1 ⊕ y  h2 ⊕ z);
//! return x λs. ... return x                         λ(s . h). ... return h ⊕ x
//! ~~~
//!
//! A function with a given derivative is not looked into: its form would have a derived one.

use super::code::{Code, prune};
use super::tower::{Tower, Transformation};
use crate::core::ir::{Body, Lambda, LambdaId, Origin, Program, Rhs, Var};
use crate::core::prim::Prim;
use rustc_hash::FxHashMap;

/// The form of a backpropagator that takes a pair of a sensitivity and sums, and returns the sums with what the
/// backpropagator returns for the sensitivity added to them. It captures what the backpropagator captures.
pub fn adding(program: &mut Program, lambda: LambdaId) -> LambdaId {
    if let Some(adding) = program.adding.get(&lambda) {
        return *adding;
    }
    let Lambda { name, span, param: sensitivity, captures, body: source, .. } = program.lambdas[lambda].clone();
    let is_open = is_straight(&source) && !program.given.contains_key(&lambda);
    let param = program.new_var("s", span);
    let mut code = Code { program, bindings: Vec::new(), span };
    let plain = code.prim(Prim::Car, &[param]);
    let sums = code.prim(Prim::Cdr, &[param]);
    let result = if is_open {
        Rest { code: &mut code, source: &source, names: [(sensitivity, plain)].into_iter().collect() }.add(sums)
    } else {
        let backpropagator = code.bind("b", Rhs::Closure(lambda, captures.clone()));
        let contributions = code.bind("p", Rhs::Apply(backpropagator, plain));
        code.prim(Prim::Plus, &[sums, contributions])
    };
    let mut body = Body { bindings: code.bindings, result };
    prune(&mut body);
    let adding = program.lambdas.push(Lambda { name, span, origin: Origin::Adding(lambda), param, captures, body });
    program.adding.insert(lambda, adding);
    adding
}

/// The λ that a λ is the adding form of, if it is one.
pub fn plain(program: &Program, lambda: LambdaId) -> Option<LambdaId> {
    match program.lambdas[lambda].origin {
        Origin::Adding(of) => Some(of),
        _ => None,
    }
}

/// The plain form that can be called in place of an adding form that is handed no sums. (The reverse transform of an
/// adding form returns the sensitivity of a pair, which that of the plain form does not.)
pub fn plain_without_sums(program: &Program, lambda: LambdaId, tower: &Tower) -> Option<LambdaId> {
    plain(program, lambda).filter(|_| !tower.transformations().contains(&Transformation::Reverse))
}

/// Whether a body neither chooses nor makes functions.
fn is_straight(body: &Body) -> bool {
    !body.bindings.iter().any(|binding| matches!(binding.rhs, Rhs::If(..) | Rhs::Closure(..)))
}

/// A body that is written once more, under other names and with sums added to its value.
struct Rest<'a, 'p> {
    code: &'a mut Code<'p>,
    source: &'a Body,
    names: FxHashMap<Var, Var>,
}

impl Rest<'_, '_> {
    /// The variable of the sum.
    fn add(mut self, sums: Var) -> Var {
        let due = self.due(sums);
        for binding in &self.source.bindings {
            self.code.span = binding.span;
            let rhs = match (due.get(&binding.var), &binding.rhs) {
                (Some(_), Rhs::Prim(Prim::Cons, parts)) => {
                    let parts = parts.iter().enumerate().map(|(position, part)| {
                        let handed = due[&binding.var].parts[position];
                        if due.contains_key(part) { self.name(*part) } else { self.plus(handed, *part) }
                    });
                    Rhs::Prim(Prim::Cons, parts.collect())
                }
                (Some(due), Rhs::Apply(f, argument)) => {
                    let f = self.name(*f);
                    let adding = self.code.prim(Prim::Adding, &[f]);
                    let lent = self.code.prim(Prim::Lent, &[due.sums]);
                    let argument = self.name(*argument);
                    Rhs::Apply(adding, self.code.prim(Prim::Cons, &[argument, lent]))
                }
                (_, rhs) => self.renamed(rhs),
            };
            let info = self.code.program.vars[binding.var].clone();
            let var = self.code.bind(&info.name, rhs);
            self.code.program.vars[var].environment_of = info.environment_of;
            self.names.insert(binding.var, var);
        }
        if due.contains_key(&self.source.result) {
            self.name(self.source.result)
        } else {
            self.plus(sums, self.source.result)
        }
    }

    /// What is added to the variables that hold the value, or parts of it, and nothing else.
    fn due(&mut self, sums: Var) -> FxHashMap<Var, Due> {
        let mut uses: FxHashMap<Var, usize> = [(self.source.result, 1)].into_iter().collect();
        for binding in &self.source.bindings {
            binding.rhs.operands().into_iter().for_each(|x| *uses.entry(x).or_default() += 1);
        }
        let (mut due, mut work) = (FxHashMap::default(), vec![(self.source.result, sums)]);
        while let Some((x, sums)) = work.pop() {
            let Some(binding) = self.source.bindings.iter().find(|binding| binding.var == x) else { continue };
            let parts = match &binding.rhs {
                _ if uses[&x] > 1 => continue,
                Rhs::Prim(Prim::Cons, parts) => {
                    let sums = [Prim::SumCar, Prim::SumCdr].map(|prim| self.code.prim(prim, &[sums]));
                    work.extend([(parts[0], sums[0]), (parts[1], sums[1])]);
                    sums
                }
                Rhs::Apply(..) => [sums; 2],
                _ => continue,
            };
            due.insert(x, Due { sums, parts });
        }
        due
    }

    fn plus(&mut self, sums: Var, x: Var) -> Var {
        let x = self.name(x);
        self.code.prim(Prim::Plus, &[sums, x])
    }

    fn name(&self, x: Var) -> Var {
        self.names.get(&x).copied().unwrap_or(x)
    }

    fn renamed(&self, rhs: &Rhs) -> Rhs {
        let mut rhs = rhs.clone();
        rhs.operands_mut().into_iter().for_each(|operand| *operand = self.name(*operand));
        rhs
    }
}

/// What is added to a variable.
struct Due {
    sums: Var,
    /// What is added to the parts of a pair.
    parts: [Var; 2],
}
