//! The forward transform for several directions: core λ → core λ.
//!
//! ~~~text
//! λx0 captures x'1 ... x'l.         ⇶λx0 captures ⇶x'1 ... ⇶x'l.
//!   x1 = rhs1                         φ(x1 = rhs1)
//!   ...                        →      ...
//!   xn = rhsn                         φ(xn = rhsn)
//!   return xn                         return ⇶xn
//! ~~~
//!
//! What [`super::forward`] computes in one direction, this computes in [`DIRECTIONS`] at a time, so that the values,
//! the decisions and the partial derivatives are computed once for all of them (*vector mode*).
//!
//! | rhs | φ |
//! |---|---|
//! | `x = y`, `(f a)`, `part of y` | the same of ⇶y, ⇶f, ⇶a |
//! | constant, global `c` | `⇶x = %lift-directions c` |
//! | `x = (p y ...)`, arithmetic | `x = (p y ...)`, `x́i = (∂p/∂y) ýi + ...`, `⇶x = %series (cons x (list x́1 x́2 ...))`, see [`super::rules`] |
//! | `x = (p y ...)`, comparison | the same of the numbers |
//! | `x = (p y ...)`, `cons` `car` `cdr` `zero` `plus`, `null?` `pair?`... | the same of ⇶y |
//! | `x = (vector-ref v i)`, `%fill`... | the same of ⇶v and i |
//! | `x = (p y ...)`, `*j` `bundle` `primal` ..., `real?` `forward?` `reverse?` | the same of ⇶y, one transformation further down |
//! | `x = closure λ` | `⇶x = closure ⇶λ` |
//! | `x = if c a b` | `⇶x = if ⇶c ⇶a ⇶b` |
//!
//! A number that changes in several directions is made as a power series is, of the number and the list of its
//! tangents. So it is data to all other transformations, and what is said of power series there holds for it. Other
//! than a power series it always has all its tangents: those of constants are zeros that nothing is computed from.
//!
//! Source: Griewank and Walther, "Evaluating Derivatives" (2008), section 3.2, vector forward mode.

use super::Transforms;
use super::code::Code;
use super::rules::{self, Call};
use super::tower::Transformation;
use crate::core::ir::{Below, Binding, Body, LambdaId, Program, Rhs, Var};
use crate::core::prim::{DIRECTIONS, Family, Prim};
use rustc_hash::{FxHashMap, FxHashSet};

/// The body of the transform of a λ.
pub(super) fn body(transforms: &mut Transforms, program: &mut Program, lambda: LambdaId) -> Body {
    let source = super::source(program, lambda);
    Forwarder { transforms, program }.body(&source, Scope::default())
}

/// What is known of the source variables in scope.
#[derive(Clone, Default)]
struct Scope {
    /// The variable that holds the number of ⇶x, where one exists already.
    primal: FxHashMap<Var, Var>,
    /// The variables that hold the tangents of ⇶x, where they exist already.
    tangents: FxHashMap<Var, [Var; DIRECTIONS]>,
    /// Variables whose tangents are zero.
    inactive: FxHashSet<Var>,
}

struct Forwarder<'a> {
    transforms: &'a mut Transforms,
    program: &'a mut Program,
}

impl Forwarder<'_> {
    /// ⇶x.
    fn forwarded(&mut self, x: Var) -> Var {
        self.transforms.variable(self.program, Transformation::Directions, x)
    }

    fn body(&mut self, body: &Body, mut scope: Scope) -> Body {
        let mut bindings = Vec::new();
        for binding in &body.bindings {
            self.binding(binding, &mut scope, &mut bindings);
        }
        Body { bindings, result: self.forwarded(body.result) }
    }

    /// φ of one binding.
    fn binding(&mut self, binding: &Binding, scope: &mut Scope, out: &mut Vec<Binding>) {
        let x = binding.var;
        let rhs = match &binding.rhs {
            Rhs::Prim(prim, args) => return self.prim(binding, Below::NONE, *prim, args, scope, out),
            Rhs::Lifted(below, prim, args) => return self.prim(binding, *below, *prim, args, scope, out),
            Rhs::Const(_) | Rhs::Global(_) => {
                let name = self.program.vars[x].name.clone();
                let mut code = Code { program: self.program, bindings: std::mem::take(out), span: binding.span };
                let primal = code.bind(&name, binding.rhs.clone());
                *out = code.bindings;
                scope.primal.insert(x, primal);
                scope.inactive.insert(x);
                Rhs::Prim(Prim::LiftDirections, vec![primal])
            }
            Rhs::Var(y) => {
                if let Some(var) = scope.primal.get(y).copied() {
                    scope.primal.insert(x, var);
                }
                if let Some(vars) = scope.tangents.get(y).copied() {
                    scope.tangents.insert(x, vars);
                }
                if scope.inactive.contains(y) {
                    scope.inactive.insert(x);
                }
                Rhs::Var(self.forwarded(*y))
            }
            Rhs::Apply(f, a) => Rhs::Apply(self.forwarded(*f), self.forwarded(*a)),
            Rhs::Destructure(part, y) => Rhs::Destructure(*part, self.forwarded(*y)),
            Rhs::Closure(lambda, captured) => {
                let transformed = self.transforms.declare(self.program, Transformation::Directions, *lambda);
                Rhs::Closure(transformed, captured.iter().map(|y| self.forwarded(*y)).collect())
            }
            Rhs::If(condition, then, other) => {
                let condition = self.forwarded(*condition);
                let then = self.body(then, scope.clone());
                let other = self.body(other, scope.clone());
                Rhs::If(condition, Box::new(then), Box::new(other))
            }
        };
        out.push(Binding { var: self.forwarded(x), rhs, span: binding.span });
    }

    /// φ of `x = (prim args...)`, below some transformations.
    fn prim(
        &mut self,
        binding: &Binding,
        below: Below,
        prim: Prim,
        args: &[Var],
        scope: &mut Scope,
        out: &mut Vec<Binding>,
    ) {
        let forwarded_x = self.forwarded(binding.var);
        let forwarded: Vec<Var> = args.iter().map(|y| self.forwarded(*y)).collect();
        let mut code = Code { program: self.program, bindings: std::mem::take(out), span: binding.span };
        let mut dual = Dual { scope, code: &mut code, args, forwarded: &forwarded };
        let rhs = match prim.family() {
            Family::Arithmetic => dual.arithmetic(binding.var, prim),
            Family::Comparison => Rhs::Prim(prim, dual.primals()),
            Family::Effect => dual.effect(prim),
            Family::Vector if prim.counts() => {
                let length = dual.code.prim(prim, &forwarded);
                Rhs::Prim(Prim::LiftDirections, vec![length])
            }
            Family::Structure | Family::Vector | Family::Kernel => Rhs::Prim(prim, dual.operands(prim)),
            Family::Test | Family::Derivative => {
                let below = if rules::is_lifted(prim) { below.series() } else { below };
                Rhs::lifted(below, prim, dual.operands(prim))
            }
        };
        code.bind_to(forwarded_x, rhs);
        *out = code.bindings;
        if matches!(prim.family(), Family::Comparison | Family::Test) {
            // A truth value is its own transform.
            scope.primal.insert(binding.var, forwarded_x);
            scope.inactive.insert(binding.var);
        }
        if prim.counts() {
            scope.inactive.insert(binding.var);
        }
    }
}

/// A primitive whose operands are taken apart.
struct Dual<'a, 'c> {
    scope: &'a mut Scope,
    code: &'a mut Code<'c>,
    args: &'a [Var],
    forwarded: &'a [Var],
}

impl Dual<'_, '_> {
    /// The variables that hold the numbers of the operands.
    fn primals(&mut self) -> Vec<Var> {
        (0..self.args.len()).map(|position| self.primal(position)).collect()
    }

    /// The transformed operands, but the number of one that is a plain number.
    fn operands(&mut self, prim: Prim) -> Vec<Var> {
        let mut operands = self.forwarded.to_vec();
        if let Some(position) = prim.number_operand() {
            operands[position] = self.primal(position);
        }
        operands
    }

    fn primal(&mut self, position: usize) -> Var {
        let y = self.args[position];
        if let Some(var) = self.scope.primal.get(&y) {
            return *var;
        }
        let name = self.code.name(y);
        let var = self.code.bind(&name, Rhs::Prim(Prim::UnliftDirections, vec![self.forwarded[position]]));
        self.scope.primal.insert(y, var);
        var
    }

    /// The variables that hold the tangents of an operand; `None` when these are zero.
    fn tangents(&mut self, position: usize) -> Option<[Var; DIRECTIONS]> {
        let y = self.args[position];
        if self.scope.inactive.contains(&y) {
            return None;
        }
        if let Some(vars) = self.scope.tangents.get(&y) {
            return Some(*vars);
        }
        let parts = self.code.prim(Prim::SeriesParts, &[self.forwarded[position]]);
        let mut rest = self.code.prim(Prim::Cdr, &[parts]);
        let name = format!("{}\u{301}", self.code.name(y));
        let vars = std::array::from_fn(|direction| {
            if direction > 0 {
                rest = self.code.prim(Prim::Cdr, &[rest]);
            }
            self.code.bind(&name, Rhs::Prim(Prim::Car, vec![rest]))
        });
        self.scope.tangents.insert(y, vars);
        Some(vars)
    }

    fn arithmetic(&mut self, x: Var, prim: Prim) -> Rhs {
        let operands = self.primals();
        let name = self.code.name(x);
        let result = self.code.bind(&name, Rhs::Prim(prim, operands.clone()));
        self.scope.primal.insert(x, result);
        let tangents: Vec<Option<[Var; DIRECTIONS]>> = match rules::is_constant(prim) {
            true => vec![None; operands.len()],
            false => (0..operands.len()).map(|position| self.tangents(position)).collect(),
        };
        let call = Call { below: Below::NONE, prim, operands: &operands, result };
        let changes: Option<Vec<Var>> = (0..DIRECTIONS)
            .map(|direction| {
                let tangents: Vec<Option<Var>> = tangents.iter().map(|all| all.map(|all| all[direction])).collect();
                rules::pushforward(self.code, &call, &tangents)
            })
            .collect();
        match changes.and_then(|changes| <[Var; DIRECTIONS]>::try_from(changes).ok()) {
            Some(changes) => {
                self.scope.tangents.insert(x, changes);
                let list = self.code.list(&changes);
                let parts = self.code.prim(Prim::Cons, &[result, list]);
                Rhs::Prim(Prim::Series, vec![parts])
            }
            None => {
                self.scope.inactive.insert(x);
                Rhs::Prim(Prim::LiftDirections, vec![result])
            }
        }
    }

    fn effect(&mut self, prim: Prim) -> Rhs {
        match prim {
            Prim::ReadReal | Prim::ReadVector | Prim::ReadMatrix | Prim::Ask | Prim::CheckNumber => {
                let asked = self.primals();
                let number = self.code.prim(prim, &asked);
                Rhs::Prim(Prim::LiftDirections, vec![number])
            }
            Prim::TextByte => {
                let primals = self.primals();
                let number = self.code.prim(prim, &primals);
                Rhs::Prim(Prim::LiftDirections, vec![number])
            }
            // These return their operand.
            Prim::Write | Prim::WriteReal | Prim::WriteByte | Prim::WriteDouble | Prim::Opaque | Prim::Exchange => {
                let primal = self.primal(0);
                self.code.prim(prim, &[primal]);
                Rhs::Var(self.forwarded[0])
            }
            // Messages show primal values; a handler gets the value as it is.
            Prim::Error => Rhs::Prim(prim, vec![self.primal(0), self.primal(1), self.forwarded[2]]),
            _ => Rhs::Prim(prim, self.primals()),
        }
    }
}
