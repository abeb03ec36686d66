//! Calls of functions that do nothing but take their arguments apart, and make a closure, a pair or a record or give a
//! part of them, do that where they are called.
//!
//! ```text
//! (define (part v i)                  t = (cons v i)
//!   (lambda (j) ...))                 p = (part t)         →    p = closure λj over v, i
//! ```
//!
//! In: a program whose closures name what they capture. Out: the same with such calls expanded, where these name the
//! function. What else the function computes before it makes its value is copied. The λ is not: it gets other captures.
//!
//! Why: what a closure or a pair holds is then known where it is made. The sensitivity of a vector in it is added to
//! the sum for that vector; that of a closure which came back from a call would have a vector of its own. A curried
//! function that reads a few elements, called n times, would cost n vectors. And what is taken from a record by its
//! accessor is known to be a part of it.
//!
//! A pattern of the function may take apart what the caller does not make. What is copied remembers what it is a copy
//! of, so that a value that does not fit gets the message that a call would give.
//!
//! Calls in what is copied stay in this round, so a function that calls itself is expanded as often as there are
//! rounds.

use crate::base::Span;
use crate::core::ir::{
    Binding, Body, Const, Copied, Definition, Lambda, LambdaId, Origin, Part, Program, Rhs, Var, VarInfo,
};
use crate::core::prim::{Family, Prim};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A function with more bindings is not copied.
const MOST: usize = 32;

/// Constructors that call constructors are expanded this deep.
const ROUNDS: usize = 3;

/// Expands the calls of constructors in the whole program.
pub fn expand(program: &mut Program) {
    for _ in 0..ROUNDS {
        let constructors: FxHashMap<LambdaId, Lambda> = program
            .lambdas
            .iter()
            .filter(|(id, _)| is_constructor(program, *id))
            .map(|(id, l)| (id, l.clone()))
            .collect();
        let mut expands = false;
        for lambda in program.lambdas.ids().collect::<Vec<_>>() {
            expands |= Calls::expand(program, &constructors, |program| &mut program.lambdas[lambda].body);
        }
        for item in 0..program.items.len() {
            expands |= Calls::expand(program, &constructors, |program| program.items[item].body_mut());
        }
        if !expands {
            break;
        }
    }
}

/// Whether a λ makes a closure, a pair or a record, or gives a part of what it is given, after a few steps that do not
/// depend on decisions.
fn is_constructor(program: &Program, lambda: LambdaId) -> bool {
    let Lambda { origin, body, .. } = &program.lambdas[lambda];
    let makes = |binding: &Binding| match &binding.rhs {
        Rhs::Closure(..) | Rhs::Prim(Prim::Cons | Prim::Record, _) | Rhs::Destructure(Part::Car | Part::Cdr, _) => {
            binding.var == body.result
        }
        Rhs::Prim(Prim::Car | Prim::Cdr, _) => takes_record(body) && binding.var == body.result,
        _ => false,
    };
    let is_step = |binding: &Binding| match &binding.rhs {
        Rhs::If(..) | Rhs::Lifted(..) => false,
        Rhs::Destructure(part, _) => *part != Part::Never,
        Rhs::Prim(prim, _) => prim.family() != Family::Effect,
        _ => true,
    };
    // What others call is to be found in the program.
    let is_exported =
        || program.library.iter().flat_map(|library| &library.exports).any(|export| export.lambda == lambda);
    *origin == Origin::Source
        && !program.given.contains_key(&lambda)
        && body.bindings.len() <= MOST
        && body.bindings.iter().any(makes)
        && body.bindings.iter().all(is_step)
        && !is_exported()
}

/// Whether a body takes a record apart, as accessors do, which find the fields in pairs.
fn takes_record(body: &Body) -> bool {
    body.bindings.iter().any(|binding| matches!(binding.rhs, Rhs::Destructure(Part::Record(_), _)))
}

/// The calls in a λ.
struct Calls<'p> {
    program: &'p mut Program,
    constructors: &'p FxHashMap<LambdaId, Lambda>,
    /// The λs of variables that hold known functions, and what these capture.
    functions: FxHashMap<Var, (LambdaId, Vec<Var>)>,
    /// The parts of variables that hold pairs, and the variables that hold `()`.
    pairs: FxHashMap<Var, [Var; 2]>,
    empty: FxHashSet<Var>,
    /// The functions and the arguments of calls that have been expanded.
    idle: Vec<Var>,
}

impl Calls<'_> {
    /// Expands the calls in a body of the program. Says whether there are any.
    fn expand(
        program: &mut Program,
        constructors: &FxHashMap<LambdaId, Lambda>,
        body: impl Fn(&mut Program) -> &mut Body,
    ) -> bool {
        let place = body(program);
        let mut expanded = Body { bindings: std::mem::take(&mut place.bindings), result: place.result };
        let (functions, pairs, empty, idle) = Default::default();
        let mut calls = Calls { program, constructors, functions, pairs, empty, idle };
        calls.body(&mut expanded);
        let expands = !calls.idle.is_empty();
        if expands {
            let mut idle: FxHashSet<Var> = FxHashSet::default();
            while let Some(x) = calls.idle.pop() {
                if idle.insert(x) {
                    calls.idle.extend(calls.pairs.get(&x).into_iter().flatten());
                }
            }
            let is_known = |x: &Var| calls.functions.contains_key(x) || calls.pairs.contains_key(x);
            let is_constant = |rhs: &Rhs| matches!(rhs, Rhs::Const(_));
            expanded.drop_unused(&|Binding { var, rhs, .. }| idle.contains(var) && (is_known(var) || is_constant(rhs)));
        }
        *body(program) = expanded;
        expands
    }

    fn body(&mut self, body: &mut Body) {
        let mut bindings = Vec::with_capacity(body.bindings.len());
        for mut binding in std::mem::take(&mut body.bindings) {
            if let Rhs::If(_, yes, no) = &mut binding.rhs {
                self.body(yes);
                self.body(no);
            }
            let steps = self.expanded(&binding).unwrap_or_else(|| vec![binding]);
            steps.iter().for_each(|step| self.learn(step));
            bindings.extend(steps);
        }
        body.bindings = bindings;
    }

    fn learn(&mut self, Binding { var, rhs, .. }: &Binding) {
        match rhs {
            Rhs::Global(global) => {
                if let Definition::Function(lambda) = self.program.globals[*global].definition {
                    self.functions.insert(*var, (lambda, Vec::new()));
                }
            }
            Rhs::Closure(lambda, captured) => drop(self.functions.insert(*var, (*lambda, captured.clone()))),
            Rhs::Prim(Prim::Cons, parts) => drop(self.pairs.insert(*var, [parts[0], parts[1]])),
            Rhs::Const(Const::Nil) => drop(self.empty.insert(*var)),
            _ => {}
        }
    }

    /// A variable for one of a function that is called there.
    fn copy(&mut self, lambda: LambdaId, var: Var, call: Span) -> Var {
        let copied = Some(Rc::new(Copied { lambda, var, call }));
        self.program.vars.push(VarInfo { copied, ..self.program.vars[var].clone() })
    }

    /// A part of what is made in the same body.
    fn known_part(&self, part: Part, of: Var) -> Option<Var> {
        match part {
            Part::Car => Some(self.pairs.get(&of)?[0]),
            Part::Cdr => Some(self.pairs.get(&of)?[1]),
            Part::Nil => self.empty.get(&of).copied(),
            Part::Record(_) | Part::Vector(_) | Part::Never => None,
        }
    }

    /// What a call of a constructor does, the value under the name that the call has.
    fn expanded(&mut self, call: &Binding) -> Option<Vec<Binding>> {
        let Rhs::Apply(function, argument) = call.rhs else { return None };
        let (lambda, captured) = self.functions.get(&function)?.clone();
        let constructor = self.constructors.get(&lambda)?;
        let mut names: FxHashMap<Var, Var> = constructor.captures.iter().copied().zip(captured).collect();
        names.insert(constructor.param, argument);
        // What fails in another file, such as the library, is said of the call, and so is what an accessor is given.
        let is_of_call = constructor.span.file != call.span.file || takes_record(&constructor.body);
        if is_of_call && self.program.contracts.contains_key(&lambda) {
            self.program.copied_calls.entry(call.span).or_insert(lambda);
        }
        let mut copied = Vec::with_capacity(constructor.body.bindings.len());
        let mut copies: FxHashSet<Var> = FxHashSet::default();
        for Binding { var, rhs, span } in &constructor.body.bindings {
            let span = if is_of_call { call.span } else { *span };
            if let Rhs::Destructure(part, of) = rhs {
                if let Some(part) = self.known_part(*part, names[of]) {
                    names.insert(*var, part);
                    continue;
                }
                if copies.insert(*of) {
                    let copy = self.copy(lambda, *of, call.span);
                    copied.push(Binding { var: copy, rhs: Rhs::Var(names[of]), span });
                    names.insert(*of, copy);
                }
            }
            let mut rhs = rhs.clone();
            rhs.operands_mut().into_iter().for_each(|operand| *operand = names[operand]);
            let name = match *var == constructor.body.result {
                true => call.var,
                false => {
                    copies.insert(*var);
                    self.copy(lambda, *var, call.span)
                }
            };
            names.insert(*var, name);
            copied.push(Binding { var: name, rhs, span });
        }
        let result = names[&constructor.body.result];
        if result != call.var {
            copied.push(Binding { var: call.var, rhs: Rhs::Var(result), span: call.span });
        }
        self.idle.extend([function, argument]);
        Some(copied)
    }
}
