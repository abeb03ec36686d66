//! The forward transform: core λ → core λ.
//!
//! ~~~text
//! λx0 captures x'1 ... x'l.         λ⇀x0 captures ⇀x'1 ... ⇀x'l.
//!   x1 = rhs1                         φ(x1 = rhs1)
//!   ...                        →      ...
//!   xn = rhsn                         φ(xn = rhsn)
//!   return xn                         return ⇀xn
//! ~~~
//!
//! | rhs | φ |
//! |---|---|
//! | `x = y`, `(f a)`, `part of y` | the same of ⇀y, ⇀f, ⇀a |
//! | constant, global `c` | `⇀x = j* c` |
//! | `x = (p y ...)`, arithmetic | `x = (p y ...)`, `x́ = (∂p/∂y) ý + ...`, `⇀x = bundle x x́`, see [`super::rules`] |
//! | `x = (p y ...)`, comparison | the same of the primals |
//! | `x = (p y ...)`, `cons` `car` `cdr` `zero` `plus`, `null?` `pair?`... | the same of ⇀y |
//! | `x = (vector-ref v i)`, `%fill`... | the same of ⇀v and i |
//! | `x = (p y ...)`, `*j` `bundle` `primal` ..., `real?` `forward?` `reverse?` | the same of ⇀y, one transformation further down |
//! | `x = closure λ` | `⇀x = closure ⇀λ` |
//! | `x = if c a b` | `⇀x = if ⇀c ⇀a ⇀b` |
//!
//! where y and ý are `primal ⇀y` and `tangent ⇀y`.
//!
//! Nothing here takes a data structure apart: a transformed function does a bounded number of operations for each one
//! of the function, on numbers only. That is what [`Rhs::Lifted`] is for: `(bundle (*j (primal ⇀y)) (*j (tangent ⇀y)))`
//! would mean the same as `*j` one transformation further down, but walk all of y.
//!
//! Variables bound to constants, globals and the results of tests are inactive: their tangents are zeros that nothing
//! is computed from.
//!
//! Source: Siskind and Pearlmutter, "Nesting forward-mode AD in a functional framework" (2008), with pairs,
//! conditionals and letrec native; a transformation of code instead of overloading keeps perturbations apart.

use super::Transforms;
use super::code::Code;
use super::rules::{self, Call};
use super::tower::Transformation;
use crate::core::ir::{Below, Binding, Body, LambdaId, Program, Rhs, Var};
use crate::core::prim::{Family, Prim};
use rustc_hash::{FxHashMap, FxHashSet};

/// The body of the transform of a λ.
pub(super) fn body(transforms: &mut Transforms, program: &mut Program, lambda: LambdaId) -> Body {
    let source = super::source(program, lambda);
    Forwarder { transforms, program }.body(&source, Scope::default())
}

/// What is known of the source variables in scope.
#[derive(Clone, Default)]
struct Scope {
    /// The variable that holds `primal ⇀x`, where one exists already.
    primal: FxHashMap<Var, Var>,
    /// The variable that holds `tangent ⇀x`, where one exists already.
    tangent: FxHashMap<Var, Var>,
    /// Variables whose tangents are zero.
    inactive: FxHashSet<Var>,
}

struct Forwarder<'a> {
    transforms: &'a mut Transforms,
    program: &'a mut Program,
}

impl Forwarder<'_> {
    /// ⇀x.
    fn forwarded(&mut self, x: Var) -> Var {
        self.transforms.variable(self.program, Transformation::Forward, x)
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
                Rhs::Prim(Prim::JStar, vec![primal])
            }
            Rhs::Var(y) => {
                for known in [&mut scope.primal, &mut scope.tangent] {
                    if let Some(var) = known.get(y).copied() {
                        known.insert(x, var);
                    }
                }
                if scope.inactive.contains(y) {
                    scope.inactive.insert(x);
                }
                Rhs::Var(self.forwarded(*y))
            }
            Rhs::Apply(f, a) => Rhs::Apply(self.forwarded(*f), self.forwarded(*a)),
            Rhs::Destructure(part, y) => Rhs::Destructure(*part, self.forwarded(*y)),
            Rhs::Closure(lambda, captured) => {
                let transformed = self.transforms.declare(self.program, Transformation::Forward, *lambda);
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
                Rhs::Prim(Prim::JStar, vec![length])
            }
            Family::Structure | Family::Vector | Family::Kernel => Rhs::Prim(prim, dual.operands(prim)),
            Family::Test | Family::Derivative => {
                let below = if rules::is_lifted(prim) { below.forward() } else { below };
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
    /// The variables that hold the primals of the operands.
    fn primals(&mut self) -> Vec<Var> {
        (0..self.args.len()).map(|position| self.primal(position)).collect()
    }

    /// The transformed operands, but the primal of one that is a plain number.
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
        let var = self.code.bind(&name, Rhs::Prim(Prim::Primal, vec![self.forwarded[position]]));
        self.scope.primal.insert(y, var);
        var
    }

    /// The variable that holds the tangent of an operand; `None` when that is zero.
    fn tangent(&mut self, position: usize) -> Option<Var> {
        let y = self.args[position];
        if self.scope.inactive.contains(&y) {
            return None;
        }
        if let Some(var) = self.scope.tangent.get(&y) {
            return Some(*var);
        }
        let name = tangent_name(&self.code.name(y));
        let var = self.code.bind(&name, Rhs::Prim(Prim::Tangent, vec![self.forwarded[position]]));
        self.scope.tangent.insert(y, var);
        Some(var)
    }

    fn arithmetic(&mut self, x: Var, prim: Prim) -> Rhs {
        let operands = self.primals();
        let name = self.code.name(x);
        let result = self.code.bind(&name, Rhs::Prim(prim, operands.clone()));
        self.scope.primal.insert(x, result);
        let tangents: Vec<Option<Var>> = match rules::is_constant(prim) {
            true => vec![None; operands.len()],
            false => (0..operands.len()).map(|position| self.tangent(position)).collect(),
        };
        let call = Call { below: Below::NONE, prim, operands: &operands, result };
        match rules::pushforward(self.code, &call, &tangents) {
            Some(tangent) => {
                self.scope.tangent.insert(x, tangent);
                Rhs::Prim(Prim::Bundle, vec![result, tangent])
            }
            None => {
                self.scope.inactive.insert(x);
                Rhs::Prim(Prim::JStar, vec![result])
            }
        }
    }

    fn effect(&mut self, prim: Prim) -> Rhs {
        match prim {
            Prim::ReadReal | Prim::ReadVector | Prim::ReadMatrix | Prim::Ask | Prim::CheckNumber => {
                let asked = self.primals();
                let number = self.code.prim(prim, &asked);
                Rhs::Prim(Prim::JStar, vec![number])
            }
            Prim::TextByte => {
                let primals = self.primals();
                let number = self.code.prim(prim, &primals);
                Rhs::Prim(Prim::JStar, vec![number])
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

/// The name of a tangent.
fn tangent_name(name: &str) -> String {
    format!("{name}\u{301}")
}
