//! The transform to power series: core λ → core λ.
//!
//! ~~~text
//! λx0 captures x'1 ... x'l.         λx̂0 captures x̂'1 ... x̂'l.
//!   x1 = rhs1                         φ(x1 = rhs1)
//!   ...                        →      ...
//!   xn = rhsn                         φ(xn = rhsn)
//!   return xn                         return x̂n
//! ~~~
//!
//! Where the function computes with numbers, its transform computes with truncated power series in one variable, so it
//! finds all coefficients of a Taylor polynomial in one pass, in time quadratic in their number.
//!
//! | rhs | φ |
//! |---|---|
//! | `x = y`, `(f a)`, `part of y` | the same of ŷ, f̂, â |
//! | constant, global `c` | `x̂ = %lift c` |
//! | `x = (p y ...)`, arithmetic, `plus` | `x̂ = (p̂ ŷ ...)`, where p̂ is a function of the library |
//! | `x = (p y ...)`, comparison | the same of the constant terms |
//! | `x = (p y ...)`, `cons` `car` `cdr` `zero`, `null?` `pair?`... | the same of ŷ |
//! | `x = (vector-ref v i)`, `%fill`... | the same of v̂ and the constant term of î |
//! | `x = (p y ...)`, `*j` `primal` ..., `real?` `forward?` `reverse?` | the same of ŷ, one transformation further down |
//! | `x = (bundle y t)` | the same, after ŷ and t̂ have been given the same number of coefficients |
//! | `x = closure λ` | `x̂ = closure λ̂` |
//! | `x = if c a b` | `x̂ = if ĉ â b̂` |
//!
//! A power series is data, a pair of another name: the constant term, and the list of the further coefficients. It is
//! `()` for what is known to be constant; all other series have as many as the one that the function was called with.
//! Other transformations take series for data: they transform the coefficients.
//!
//! Source: Griewank and Walther, "Evaluating Derivatives" (2008), chapter 13; Karczmarczuk, "Functional differentiation
//! of computer programs" (2001), whose lazy towers this computes to a given order.

use super::Transforms;
use super::code::Code;
use super::rules::is_lifted;
use super::tower::Transformation;
use crate::core::ir::{Below, Binding, Body, GlobalId, LambdaId, Program, Rhs, Var};
use crate::core::prim::{Family, Prim};

/// The body of the transform of a λ.
pub(super) fn body(transforms: &mut Transforms, program: &mut Program, lambda: LambdaId) -> Body {
    let source = super::source(program, lambda);
    Expander { transforms, program }.body(&source)
}

/// Expands what a function computes into power series.
struct Expander<'a> {
    transforms: &'a mut Transforms,
    program: &'a mut Program,
}

impl Expander<'_> {
    /// x̂.
    fn expanded(&mut self, x: Var) -> Var {
        self.transforms.variable(self.program, Transformation::Series, x)
    }

    fn body(&mut self, body: &Body) -> Body {
        let mut bindings = Vec::new();
        for binding in &body.bindings {
            self.binding(binding, &mut bindings);
        }
        Body { bindings, result: self.expanded(body.result) }
    }

    /// φ of one binding.
    fn binding(&mut self, binding: &Binding, out: &mut Vec<Binding>) {
        let rhs = match &binding.rhs {
            Rhs::Prim(prim, args) => self.prim(binding, Below::NONE, *prim, args, out),
            Rhs::Lifted(below, prim, args) => self.prim(binding, *below, *prim, args, out),
            Rhs::Const(_) | Rhs::Global(_) => {
                let name = self.program.vars[binding.var].name.clone();
                let constant = self.code(binding, out, |code| code.bind(&name, binding.rhs.clone()));
                Rhs::Prim(Prim::Lift, vec![constant])
            }
            Rhs::Var(y) => Rhs::Var(self.expanded(*y)),
            Rhs::Apply(f, a) => Rhs::Apply(self.expanded(*f), self.expanded(*a)),
            Rhs::Destructure(part, y) => Rhs::Destructure(*part, self.expanded(*y)),
            Rhs::Closure(lambda, captured) => {
                let transformed = self.transforms.declare(self.program, Transformation::Series, *lambda);
                Rhs::Closure(transformed, captured.iter().map(|y| self.expanded(*y)).collect())
            }
            Rhs::If(condition, then, other) => {
                let condition = self.expanded(*condition);
                Rhs::If(condition, Box::new(self.body(then)), Box::new(self.body(other)))
            }
        };
        out.push(Binding { var: self.expanded(binding.var), rhs, span: binding.span });
    }

    /// What computes φ of `x = (prim args...)`, below some transformations.
    fn prim(&mut self, binding: &Binding, below: Below, prim: Prim, args: &[Var], out: &mut Vec<Binding>) -> Rhs {
        let expanded: Vec<Var> = args.iter().map(|y| self.expanded(*y)).collect();
        let function = self.program.series.get(&prim).copied();
        self.code(binding, out, |code| match (prim.family(), function) {
            (Family::Derivative, Some(fit)) if prim == Prim::Bundle => {
                let value = call(code, fit, &expanded);
                let value = code.bind("x", value);
                let tangent = call(code, fit, &[expanded[1], value]);
                let tangent = code.bind("t", tangent);
                Rhs::lifted(below.series(), prim, vec![value, tangent])
            }
            (Family::Arithmetic, Some(function)) => {
                // The operation itself says what is wrong with an operand that is no number, and is what watches see.
                let operands = constant_terms(code, &expanded);
                code.prim(prim, &operands);
                call(code, function, &expanded)
            }
            (_, Some(function)) => call(code, function, &expanded),
            (Family::Comparison, None) => Rhs::Prim(prim, constant_terms(code, &expanded)),
            (Family::Effect, None) => effect(code, prim, &expanded),
            (Family::Vector, None) if prim.counts() => {
                let length = code.prim(prim, &expanded);
                Rhs::Prim(Prim::Lift, vec![length])
            }
            (Family::Test | Family::Derivative, None) => {
                let below = if is_lifted(prim) { below.series() } else { below };
                Rhs::lifted(below, prim, with_plain_number(code, prim, expanded))
            }
            (Family::Structure | Family::Vector | Family::Kernel | Family::Arithmetic, None) => {
                Rhs::Prim(prim, with_plain_number(code, prim, expanded))
            }
        })
    }

    fn code<T>(&mut self, binding: &Binding, out: &mut Vec<Binding>, write: impl FnOnce(&mut Code<'_>) -> T) -> T {
        let mut code = Code { program: self.program, bindings: std::mem::take(out), span: binding.span };
        let result = write(&mut code);
        *out = code.bindings;
        result
    }
}

/// A call of a function of the library.
fn call(code: &mut Code<'_>, function: GlobalId, operands: &[Var]) -> Rhs {
    let function = code.bind("f", Rhs::Global(function));
    let argument = match operands {
        [left, right] => code.prim(Prim::Cons, &[*left, *right]),
        _ => operands[0],
    };
    Rhs::Apply(function, argument)
}

/// The operands, but the constant term of one that is a plain number.
fn with_plain_number(code: &mut Code<'_>, prim: Prim, mut operands: Vec<Var>) -> Vec<Var> {
    if let Some(position) = prim.number_operand() {
        operands[position] = code.prim(Prim::Unlift, &[operands[position]]);
    }
    operands
}

fn constant_terms(code: &mut Code<'_>, series: &[Var]) -> Vec<Var> {
    series.iter().map(|y| code.prim(Prim::Unlift, &[*y])).collect()
}

fn effect(code: &mut Code<'_>, prim: Prim, operands: &[Var]) -> Rhs {
    match prim {
        Prim::ReadReal | Prim::ReadVector | Prim::ReadMatrix | Prim::Ask | Prim::CheckNumber => {
            let asked = constant_terms(code, operands);
            let number = code.prim(prim, &asked);
            Rhs::Prim(Prim::Lift, vec![number])
        }
        Prim::TextByte => {
            let terms = constant_terms(code, operands);
            let number = code.prim(prim, &terms);
            Rhs::Prim(Prim::Lift, vec![number])
        }
        // These return their operand.
        Prim::Write | Prim::WriteReal | Prim::WriteByte | Prim::WriteDouble | Prim::Opaque | Prim::Exchange => {
            let written = constant_terms(code, operands);
            code.prim(prim, &written);
            Rhs::Var(operands[0])
        }
        // Messages show primal values; a handler gets the value as it is.
        Prim::Error => {
            let mut shown = constant_terms(code, &operands[..2]);
            shown.push(operands[2]);
            Rhs::Prim(prim, shown)
        }
        _ => Rhs::Prim(prim, constant_terms(code, operands)),
    }
}
