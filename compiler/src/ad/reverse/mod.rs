//! The reverse transform: core λ → core λ.
//!
//! ~~~text
//! λx0 captures x'1 ... x'l.         λ↼x0 captures ↼x'1 ... ↼x'l.
//!   x1 = rhs1                         φ(x1 = rhs1)
//!   ...                        →      ...
//!   xn = rhsn                         φ(xn = rhsn)
//!   return xn                         b = closure λx̄n. ρ(xn = rhsn) ... ρ(x1 = rhs1)
//!                                                      return (cons (list x̄'1 ... x̄'l) x̄0)
//!                                     return (cons ↼xn b)
//! ~~~
//!
//! | rhs | φ | ρ |
//! |---|---|---|
//! | `x = y` | `↼x = ↼y` | `ȳ ⊕= x̄` |
//! | constant, global `c` | `↼x = *j c` | |
//! | `x = (f a)` | `(↼x . x̃) = (↼f ↼a)` | `(f̄ . ā) ⊕= (x̃ x̄)` |
//! | `x = (p y ...)`, a primitive | `x = (p y ...)`, `↼x = *j x` | `ȳ ⊕= (∂p/∂y) x̄`, see [`super::rules`] |
//! | `x = (car y)` | `↼x = (car ↼y)` | `ȳ ⊕= (in-car y x̄)`; where `(cdr y)` is read too, `ȳ ⊕= (cons x̄ z̄)` for both |
//! | `x = record parts of y` | `↼x = record parts of ↼y` | `ȳ ⊕= (%record kind x̄)` |
//! | `x = (%record k y)` | `↼x = (%record ↼k ↼y)` | `ȳ ⊕= record parts of x̄` |
//! | `x = (vector-ref v i)` | `↼x = (vector-ref ↼v i)` | `v̄ ⊕= (in-element v i x̄)` |
//! | `x = (%fill v y)` | `i = (%filled ↼v)`, `↼x = (%fill ↼v ↼y)` | `v̄ ⊕= x̄`, `ȳ ⊕= (vector-ref x̄ i)` |
//! | `x = (%finish v)` | `↼x = (%finish ↼v)` | `v̄ ⊕= x̄` |
//! | `x = closure λ` | `↼x = closure ↼λ` | the sensitivities in x̄ are added to λ's captures |
//! | `x = if c a b` | `(↼x . x̃) = if ↼c a' b'` | the free variables of the branches get what `(x̃ x̄)` lists |
//!
//! where `a'` is the forward phase of the branch, returning its value and a backpropagator from the sensitivity of the
//! value to the list of the sensitivities of the free variables of both branches, in binding order.
//!
//! Seven things keep the result small. The first contribution to a sensitivity defines it, so `zero` is called only for
//! variables that get no contribution at all. Primal operands of primitives (`*j-inverse ↼y`) are named once and used
//! by both phases, so a backpropagator captures what its partial derivatives need and nothing else. Variables bound to
//! constants, globals and the results of tests are inactive: no sensitivity is computed for them. Backpropagators do
//! not capture constants, so in derivatives of higher order these stay inactive. Of what they need the zero of only,
//! they capture the zero, see [`zeros`]. A branch that only chooses between further
//! branches hands on what they return, so a `cond` has one choice, not a chain of them. A sensitivity of a closure goes
//! to what it has captured at once: in a loop, to what it carries.
//!
//! A backpropagator has a second form that is handed the vectors in the sums so far of what it distributes to, and adds
//! to them, see [`sums`]: n reads of a vector add to one vector, whatever calls lie between them.
//!
//! Source: Pearlmutter and Siskind, "Reverse-mode AD in a functional framework: Lambda the ultimate backpropagator"
//! (2008), sections 4 and 5, with pairs, conditionals and letrec native.

mod sums;

mod zeros;

use super::code::{Code, prune};
use super::tower::Transformation;
use super::{Transforms, rules};
use crate::base::Span;
use crate::core::ir::{Below, Binding, Body, Const, Definition, Lambda, LambdaId, Origin, Part, Program, Rhs, Var};
use crate::core::prim::{Family, Prim};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::rc::Rc;
use sums::ReversePhase;
use zeros::zeros;

/// What the forward phase of one binding leaves for the reverse phase.
struct Step<'s> {
    var: Var,
    /// ↼x of the variable.
    reversed: Var,
    rhs: &'s Rhs,
    span: Span,
    kind: StepKind,
}

enum StepKind {
    /// The right-hand side itself says what to do.
    Plain,
    /// A primitive, with the primal values of its operands and its result.
    Prim { operands: Vec<Var>, result: Var },
    /// An application or conditional: x̃, and the variables that get the parts of its result.
    Call { backpropagator: Var, targets: Vec<Var> },
}

/// Variables in scope of the code being transformed.
#[derive(Default)]
struct Scope {
    /// x for every ↼x in scope, with its place in binding order (of the source).
    sources: Known<usize>,
    /// Every variable of the generated code in scope, with its place in binding order: ↼x, primal values,
    /// backpropagators.
    generated: Known<usize>,
    /// The variable that holds `*j-inverse ↼x`, where one exists already.
    primal: Known<Var>,
    /// What the variables that hold constants hold.
    constants: Known<Const>,
    /// Source variables that never need a sensitivity.
    inactive: Known<()>,
    /// The code of source variables that are bound to closures here, and what they capture, which gets their
    /// sensitivities.
    closures: Known<(LambdaId, Rc<[Var]>)>,
    /// The parts of source variables that are bound to the pairs of several arguments in this body.
    arguments: FxHashMap<Var, [Var; 2]>,
    /// The variables that recursive calls of the λ have again: as captures of it, or within an argument.
    carried: FxHashSet<Var>,
    /// The variables that the λ uses once.
    used_once: FxHashSet<Var>,
}

impl Scope {
    /// Does something in a scope of its own inside this one.
    fn nested<T>(&mut self, inside: impl FnOnce(&mut Scope) -> T) -> T {
        let sources = self.sources.len();
        let known = (self.generated.len(), self.primal.len(), self.constants.len(), self.inactive.len());
        let closures = self.closures.len();
        let arguments = std::mem::take(&mut self.arguments);
        let result = inside(self);
        self.sources.truncate(sources);
        self.generated.truncate(known.0);
        self.primal.truncate(known.1);
        self.constants.truncate(known.2);
        self.inactive.truncate(known.3);
        self.closures.truncate(closures);
        self.arguments = arguments;
        result
    }

    fn generate(&mut self, variables: impl Iterator<Item = Var>) {
        variables.for_each(|var| self.generated.append(var));
    }
}

/// What is known of variables; each is told once. The newest facts can be forgotten again, so that a branch does not
/// begin with a copy of all that is known before it.
struct Known<T> {
    facts: FxHashMap<Var, T>,
    order: Vec<Var>,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Known { facts: FxHashMap::default(), order: Vec::new() }
    }
}

impl<T> Known<T> {
    fn len(&self) -> usize {
        self.order.len()
    }
    fn get(&self, var: &Var) -> Option<&T> {
        self.facts.get(var)
    }
    fn contains(&self, var: &Var) -> bool {
        self.facts.contains_key(var)
    }
    fn insert(&mut self, var: Var, fact: T) {
        if self.facts.insert(var, fact).is_none() {
            self.order.push(var);
        }
    }
    fn truncate(&mut self, len: usize) {
        for var in self.order.drain(len..) {
            self.facts.remove(&var);
        }
    }
}

impl Known<usize> {
    /// Adds a variable behind the others.
    fn append(&mut self, var: Var) {
        self.insert(var, self.len());
    }
}

/// The zero of the element of a vector that is replaced: what is left of its sensitivity. The vector itself is not
/// kept, so that it can be changed in place.
fn zero_of_element(code: &mut Code<'_>, operands: &[Var]) -> Var {
    let element = code.prim(Prim::VectorRef, &operands[..2]);
    let element = code.prim(Prim::JInverse, &[element]);
    code.prim(Prim::Zero, &[element])
}

/// The body of the transform of a λ.
pub(super) fn body(transforms: &mut Transforms, program: &mut Program, lambda: LambdaId) -> Body {
    let source = Lambda { body: super::source(program, lambda), ..program.lambdas[lambda].clone() };
    let (carried, used_once) = (carried(program, lambda), used_once(program, lambda));
    let free = FxHashMap::default();
    let mut cx = Reverser { transforms, program, lambda, backpropagators: 0, free };
    let mut scope = Scope { carried, used_once, ..Scope::default() };
    source.captures.iter().chain([&source.param]).for_each(|x| cx.declare(*x, &mut scope));
    let (bindings, result, steps) = cx.forward(&source.body, &mut scope);
    let targets = Targets::Function { captures: &source.captures, param: source.param };
    cx.with_backpropagator((bindings, result), &source.body, &steps, targets, &scope, source.span)
}

/// Whose sensitivities a backpropagator returns.
enum Targets<'a> {
    /// Of a λ: `(cons (list captures...) param)`.
    Function { captures: &'a [Var], param: Var },
    /// Of a branch: `(list variables...)`.
    Branch { variables: &'a [Var] },
}

struct Reverser<'a> {
    transforms: &'a mut Transforms,
    program: &'a mut Program,
    lambda: LambdaId,
    /// How many backpropagators have been made for this λ.
    backpropagators: u32,
    /// The free variables of the branches of the conditional that is bound to a variable: in a chain of conditionals,
    /// each would go through all that follow.
    free: FxHashMap<Var, Rc<FxHashSet<Var>>>,
}

impl Reverser<'_> {
    /// ↼x.
    fn reversed(&mut self, x: Var) -> Var {
        self.transforms.variable(self.program, Transformation::Reverse, x)
    }

    /// Brings x and ↼x into scope.
    fn declare(&mut self, x: Var, scope: &mut Scope) {
        scope.sources.append(x);
        let reversed = self.reversed(x);
        scope.generate([reversed].into_iter());
    }

    /// The forward phase of a body: its bindings, the variable of its value, and what the reverse phase needs.
    fn forward<'s>(&mut self, body: &'s Body, scope: &mut Scope) -> (Vec<Binding>, Var, Vec<Step<'s>>) {
        let (mut bindings, mut steps) = (Vec::new(), Vec::new());
        self.forward_bindings(&body.bindings, scope, &mut bindings, &mut steps);
        (bindings, self.reversed(body.result), steps)
    }

    fn forward_bindings<'s>(
        &mut self,
        source: &'s [Binding],
        scope: &mut Scope,
        bindings: &mut Vec<Binding>,
        steps: &mut Vec<Step<'s>>,
    ) {
        let pairs = arguments(source, &scope.used_once);
        scope.arguments.extend(pairs);
        for binding in source {
            let start = bindings.len();
            let kind = self.forward_binding(binding, scope, bindings);
            scope.sources.append(binding.var);
            scope.generate(bindings[start..].iter().map(|b: &Binding| b.var));
            let reversed = self.reversed(binding.var);
            steps.push(Step { var: binding.var, reversed, rhs: &binding.rhs, span: binding.span, kind });
        }
    }

    /// φ of one binding.
    fn forward_binding(&mut self, binding: &Binding, scope: &mut Scope, out: &mut Vec<Binding>) -> StepKind {
        let x = binding.var;
        let reversed_x = self.reversed(x);
        match &binding.rhs {
            Rhs::Prim(prim, args) => return self.forward_prim(binding, Below::NONE, *prim, args, scope, out),
            Rhs::Lifted(below, prim, args) => return self.forward_prim(binding, *below, *prim, args, scope, out),
            Rhs::If(condition, then, other) => return self.forward_if(binding, *condition, then, other, scope, out),
            Rhs::Closure(lambda, captured) => {
                let transformed = self.transforms.declare(self.program, Transformation::Reverse, *lambda);
                let reversed = captured.iter().map(|y| self.reversed(*y)).collect();
                let rhs = Rhs::Closure(transformed, reversed);
                out.push(Binding { var: reversed_x, rhs, span: binding.span });
                scope.closures.insert(x, (*lambda, captured.as_slice().into()));
                return StepKind::Plain;
            }
            _ => {}
        }
        let reversed: SmallVec<[Var; 3]> = binding.rhs.operands().into_iter().map(|y| self.reversed(y)).collect();
        let mut code = Code { program: self.program, bindings: std::mem::take(out), span: binding.span };
        let name = code.name(x);
        let mut kind = StepKind::Plain;
        match &binding.rhs {
            Rhs::Var(y) => {
                code.bind_to(reversed_x, Rhs::Var(reversed[0]));
                if let Some(primal) = scope.primal.get(y).copied() {
                    scope.primal.insert(x, primal);
                }
                if scope.inactive.contains(y) {
                    scope.inactive.insert(x, ());
                }
            }
            Rhs::Const(_) | Rhs::Global(_) => {
                let primal = code.bind(&name, binding.rhs.clone());
                code.bind_to(reversed_x, Rhs::Prim(Prim::J, vec![primal]));
                scope.primal.insert(x, primal);
                if let Rhs::Const(constant) = &binding.rhs {
                    scope.constants.insert(primal, constant.clone());
                }
                scope.inactive.insert(x, ());
            }
            Rhs::Apply(f, a) => {
                let pair = code.bind("p", Rhs::Apply(reversed[0], reversed[1]));
                code.bind_to(reversed_x, Rhs::Destructure(Part::Car, pair));
                let backpropagator = code.bind(&format!("{name}\u{303}"), Rhs::Destructure(Part::Cdr, pair));
                kind = StepKind::Call { backpropagator, targets: vec![*f, *a] };
            }
            Rhs::Destructure(part, y) => {
                code.bind_to(reversed_x, Rhs::Destructure(*part, reversed[0]));
                match part {
                    Part::Nil | Part::Vector(_) | Part::Never => scope.inactive.insert(x, ()),
                    Part::Record(record) => {
                        // What says of which kind the sensitivity is.
                        let constant = Const::Record(*record);
                        let operand = code.bind("kind", Rhs::Const(constant.clone()));
                        scope.constants.insert(operand, constant);
                        kind = StepKind::Prim { operands: vec![operand], result: operand };
                    }
                    Part::Car | Part::Cdr => {
                        let operand = primal(&mut code, scope, *y, reversed[0]);
                        kind = StepKind::Prim { operands: vec![operand], result: operand };
                    }
                }
            }
            Rhs::Prim(..) | Rhs::Lifted(..) | Rhs::If(..) | Rhs::Closure(..) => {}
        }
        *out = code.bindings;
        kind
    }

    fn forward_prim(
        &mut self,
        binding: &Binding,
        below: Below,
        prim: Prim,
        args: &[Var],
        scope: &mut Scope,
        out: &mut Vec<Binding>,
    ) -> StepKind {
        let x = binding.var;
        let reversed_x = self.reversed(x);
        let reversed: Vec<Var> = args.iter().map(|y| self.reversed(*y)).collect();
        let mut code = Code { program: self.program, bindings: std::mem::take(out), span: binding.span };
        let kind = if prim.counts() {
            let name = code.name(x);
            let result = code.bind(&name, Rhs::Prim(prim, reversed));
            code.bind_to(reversed_x, Rhs::Prim(Prim::J, vec![result]));
            scope.primal.insert(x, result);
            scope.inactive.insert(x, ());
            StepKind::Plain
        } else if matches!(prim.family(), Family::Structure | Family::Vector | Family::Kernel)
            || rules::is_of_sums(prim)
        {
            // `*j` distributes over pairs and vectors: the structure is built and taken apart as it is.
            let number = prim.number_operand();
            let number =
                number.map(|position| (position, primal(&mut code, scope, args[position], reversed[position])));
            let mut operands = reversed.clone();
            number.into_iter().for_each(|(position, index)| operands[position] = index);
            let replaced = (prim == Prim::WithElement).then(|| zero_of_element(&mut code, &operands));
            code.bind_to(reversed_x, Rhs::Prim(prim, operands));
            match prim {
                Prim::WithElement => {
                    let operands = number.into_iter().map(|(_, index)| index).chain(replaced).collect();
                    StepKind::Prim { operands, result: reversed_x }
                }
                Prim::Cons | Prim::Record | Prim::NewVector => StepKind::Plain,
                _ if prim.family() == Family::Kernel => StepKind::Plain,
                Prim::Fill => {
                    let place = code.bind("i", Rhs::Prim(Prim::Filled, vec![reversed[0]]));
                    StepKind::Prim { operands: vec![place], result: reversed_x }
                }
                Prim::Finish => StepKind::Prim { operands: Vec::new(), result: reversed_x },
                _ if rules::is_of_sums(prim) => StepKind::Prim { operands: Vec::new(), result: reversed_x },
                _ => {
                    let whole = primal(&mut code, scope, args[0], reversed[0]);
                    let operands = [whole].into_iter().chain(number.map(|(_, index)| index)).collect();
                    StepKind::Prim { operands, result: whole }
                }
            }
        } else {
            let mut operands: Vec<Var> =
                args.iter().zip(&reversed).map(|(y, reversed)| primal(&mut code, scope, *y, *reversed)).collect();
            if prim == Prim::Error {
                // Messages show primal values; a handler gets the value as it is.
                operands[2] = reversed[2];
            }
            let name = code.name(x);
            let result = code.bind(&name, Rhs::lifted(below, prim, operands.clone()));
            code.bind_to(reversed_x, Rhs::Prim(Prim::J, vec![result]));
            scope.primal.insert(x, result);
            if matches!(prim.family(), Family::Comparison | Family::Test) {
                scope.inactive.insert(x, ());
            }
            StepKind::Prim { operands, result }
        };
        *out = code.bindings;
        kind
    }

    fn forward_if(
        &mut self,
        binding: &Binding,
        condition: Var,
        then: &Body,
        other: &Body,
        scope: &mut Scope,
        out: &mut Vec<Binding>,
    ) -> StepKind {
        let variables = self.active_variables(binding.var, [then, other], scope);
        let then = self.branch(then, &variables, scope, binding.span);
        let other = self.branch(other, &variables, scope, binding.span);
        let reversed_x = self.reversed(binding.var);
        let condition = self.reversed(condition);
        let mut code = Code { program: self.program, bindings: std::mem::take(out), span: binding.span };
        let choice = Rhs::If(condition, Box::new(then), Box::new(other));
        let kind = if variables.is_empty() {
            code.bind_to(reversed_x, choice);
            StepKind::Plain
        } else {
            let pair = code.bind("p", choice);
            code.bind_to(reversed_x, Rhs::Destructure(Part::Car, pair));
            let name = format!("{}\u{303}", code.name(binding.var));
            let backpropagator = code.bind(&name, Rhs::Destructure(Part::Cdr, pair));
            StepKind::Call { backpropagator, targets: variables }
        };
        *out = code.bindings;
        kind
    }

    /// The variables in scope that want a sensitivity from the branches of the conditional that is bound to that
    /// variable.
    fn active_variables(&mut self, choice: Var, branches: [&Body; 2], scope: &Scope) -> Vec<Var> {
        let mut free = FxHashSet::clone(&self.free_in_branches(choice, branches));
        let captured = |x: &Var| scope.closures.get(x).map(|(_, captured)| Rc::clone(captured));
        let mut closures: Vec<Rc<[Var]>> = free.iter().filter_map(captured).collect();
        while let Some(captured_here) = closures.pop() {
            for x in captured_here.iter() {
                if free.insert(*x) {
                    closures.extend(captured(x));
                }
            }
        }
        let wanted = free.into_iter().filter(|x| !scope.inactive.contains(x) && !scope.closures.contains(x));
        let mut wanted: Vec<(usize, Var)> = wanted.filter_map(|x| Some((*scope.sources.get(&x)?, x))).collect();
        wanted.sort_unstable();
        wanted.into_iter().map(|(_, x)| x).collect()
    }

    /// The free local variables of the branches of a conditional.
    fn free_in_branches(&mut self, choice: Var, branches: [&Body; 2]) -> Rc<FxHashSet<Var>> {
        if let Some(known) = self.free.get(&choice) {
            return Rc::clone(known);
        }
        let mut all = FxHashSet::default();
        for body in branches {
            let mentioned = self.mentioned(body);
            let bound: FxHashSet<Var> = body.bindings.iter().map(|binding| binding.var).collect();
            all.extend(mentioned.into_iter().filter(|x| !bound.contains(x)));
        }
        let all = Rc::new(all);
        self.free.insert(choice, Rc::clone(&all));
        all
    }

    /// The forward phase of a branch, which returns its value and, when there are variables that want a sensitivity,
    /// its backpropagator.
    fn branch(&mut self, body: &Body, variables: &[Var], scope: &mut Scope, span: Span) -> Body {
        // The sensitivity of a pair made before the branch is one of those that it returns.
        scope.nested(|scope| self.branch_in(body, variables, scope, span))
    }

    fn branch_in(&mut self, body: &Body, variables: &[Var], scope: &mut Scope, span: Span) -> Body {
        if variables.is_empty() {
            let (bindings, result, _) = self.forward(body, scope);
            return Body { bindings, result };
        }
        let outer = scope.sources.len();
        let (mut bindings, mut steps) = (Vec::new(), Vec::new());
        let mut rest = &body.bindings[..];
        if let Some((last, before)) = rest.split_last()
            && let Rhs::If(condition, then, other) = &last.rhs
            && last.var == body.result
        {
            self.forward_bindings(before, scope, &mut bindings, &mut steps);
            // All that the further branches want of what is bound around this one is wanted of this one.
            let is_active = |x: &Var| !scope.inactive.contains(x);
            let is_chain = !scope.sources.order[outer..].iter().any(is_active)
                || self.active_variables(last.var, [then, other], scope).iter().all(|x| variables.contains(x));
            if is_chain {
                // The branch only chooses between further ones, as the clauses of a `cond` do: these return what it has
                // to return, and a choice between n backpropagators is no chain of n choices.
                let then = self.branch(then, variables, scope, last.span);
                let other = self.branch(other, variables, scope, last.span);
                let condition = self.reversed(*condition);
                let mut code = Code { program: self.program, bindings, span: last.span };
                let result = code.bind("p", Rhs::If(condition, Box::new(then), Box::new(other)));
                return Body { bindings: code.bindings, result };
            }
            rest = std::slice::from_ref(last);
        }
        self.forward_bindings(rest, scope, &mut bindings, &mut steps);
        let result = self.reversed(body.result);
        self.with_backpropagator((bindings, result), body, &steps, Targets::Branch { variables }, scope, span)
    }

    /// The variables that a body mentions; of those that it binds, not the ones inside branches.
    fn mentioned(&mut self, body: &Body) -> FxHashSet<Var> {
        let mut mentioned: FxHashSet<Var> = [body.result].into_iter().collect();
        for binding in &body.bindings {
            mentioned.extend(binding.rhs.operands());
            if let Rhs::If(_, then, other) = &binding.rhs {
                mentioned.extend(&*self.free_in_branches(binding.var, [then, other]));
            }
        }
        mentioned
    }

    /// A forward phase that left `steps`, followed by the pair of its result and its backpropagator.
    fn with_backpropagator(
        &mut self,
        (bindings, result): (Vec<Binding>, Var),
        body: &Body,
        steps: &[Step<'_>],
        targets: Targets<'_>,
        scope: &Scope,
        span: Span,
    ) -> Body {
        let lambda_name = self.program.lambdas[self.lambda].name.clone();
        let origin = Origin::Backpropagator(self.lambda, self.backpropagators);
        self.backpropagators += 1;
        let (param, plain) = self.reverse_phase(body, steps, &targets, scope, span, false);
        let (sums, adding) = self.reverse_phase(body, steps, &targets, scope, span, true);
        let mut forms = [plain, adding];
        let mut code = Code { program: self.program, bindings, span };
        let mut zeros = if self.transforms.textbook { Vec::new() } else { zeros(&mut code, &mut forms, scope) };
        let bindings = code.bindings;
        let [plain, adding] = forms;
        let mut used = FxHashSet::default();
        [&plain, &adding].iter().for_each(|form| used.extend(self.mentioned(form)));
        let captures: BTreeMap<usize, Var> =
            used.into_iter().filter_map(|x| Some((*scope.generated.get(&x)?, x))).collect();
        let mut captures: Vec<Var> = captures.into_values().collect();
        captures.append(&mut zeros);
        let name: Rc<str> = Rc::from(bar(&lambda_name).as_str());
        let backpropagator =
            Lambda { name: name.clone(), span, origin, param, captures: captures.clone(), body: plain };
        let backpropagator = self.program.lambdas.push(backpropagator);
        let origin = Origin::Adding(backpropagator);
        let adding = self.program.lambdas.push(Lambda {
            name,
            span,
            origin,
            param: sums,
            captures: captures.clone(),
            body: adding,
        });
        self.program.adding.insert(backpropagator, adding);
        let mut code = Code { program: self.program, bindings, span };
        let closure = code.bind("b", Rhs::Closure(backpropagator, captures));
        let result = code.prim(Prim::Cons, &[result, closure]);
        Body { bindings: code.bindings, result }
    }

    /// The parameter and body of a backpropagator, or of its adding form.
    fn reverse_phase(
        &mut self,
        body: &Body,
        steps: &[Step<'_>],
        targets: &Targets<'_>,
        scope: &Scope,
        span: Span,
        adding: bool,
    ) -> (Var, Body) {
        let name = bar(&self.program.vars[body.result].name);
        let variables: Vec<Var> = match targets {
            Targets::Function { captures, param } => captures.iter().chain([param]).copied().collect(),
            Targets::Branch { variables } => variables.to_vec(),
        };
        let reversed: Vec<Var> = variables.iter().map(|x| self.reversed(*x)).collect();
        // The lists of environments are those of the function, whichever form of it they are made by.
        let source = super::plain(self.program, self.lambda).unwrap_or(self.lambda);
        let code = Code { program: self.program, bindings: Vec::new(), span };
        let mut phase = ReversePhase::new(code, scope, steps, !self.transforms.textbook);
        let param = phase.code.program.new_var(if adding { "s" } else { &name }, span);
        let sensitivity = if adding { phase.take_over(param, &name, targets) } else { param };
        // What does not fit the shape of the value is said where that comes from.
        phase.code.span = steps.iter().find(|step| step.var == body.result).map_or(span, |step| step.span);
        phase.add(body.result, sensitivity);
        for step in steps.iter().rev() {
            phase.step(step);
        }
        phase.code.span = span;
        let totals: Vec<Var> =
            variables.iter().zip(&reversed).map(|(x, reversed)| phase.total(*x, *reversed)).collect();
        let result = match targets {
            Targets::Function { .. } => {
                let (argument, captures) = totals.split_last().expect("a function has a parameter");
                let environment = phase.code.list(captures);
                phase.code.program.vars[environment].environment_of = Some(source);
                phase.code.prim(Prim::Cons, &[environment, *argument])
            }
            Targets::Branch { .. } => phase.code.list(&totals),
        };
        let mut body = Body { bindings: phase.code.bindings, result };
        prune(&mut body);
        (param, body)
    }
}

/// The name of a sensitivity.
pub(super) fn bar(name: &str) -> String {
    format!("{name}\u{304}")
}

/// The variables of a λ that a recursive call has again: those that the λs of its group capture, and those that are
/// arguments of such a call.
fn carried(program: &Program, lambda: LambdaId) -> FxHashSet<Var> {
    let Lambda { captures, body, .. } = &program.lambdas[lambda];
    let is_again = |rhs: &Rhs| match rhs {
        Rhs::Closure(other, captured) => *other == lambda || captured == captures && !captures.is_empty(),
        Rhs::Global(global) => {
            matches!(program.globals[*global].definition, Definition::Function(function) if function == lambda)
        }
        _ => false,
    };
    let bindings = body.all_bindings();
    let again: FxHashSet<Var> = bindings.iter().filter(|b| is_again(&b.rhs)).map(|b| b.var).collect();
    let mut carried = FxHashSet::default();
    if again.is_empty() {
        return carried;
    }
    for binding in &bindings {
        if let Rhs::Closure(_, captured) = &binding.rhs
            && again.contains(&binding.var)
        {
            let pairs = captures.iter().zip(captured);
            carried.extend(pairs.filter(|(inside, outside)| inside == outside).map(|(inside, _)| *inside));
        }
    }
    // Arguments are bound before the calls that get them.
    for binding in bindings.iter().rev() {
        match &binding.rhs {
            Rhs::Apply(f, argument) if again.contains(f) => _ = carried.insert(*argument),
            Rhs::Prim(Prim::Cons, parts) if carried.contains(&binding.var) => carried.extend(parts),
            Rhs::Var(x) if carried.contains(&binding.var) => _ = carried.insert(*x),
            _ => {}
        }
    }
    carried
}

/// The pairs in a body that are made for an application, and used for nothing else, with their parts; so are pairs
/// that are parts of these.
fn arguments(bindings: &[Binding], used_once: &FxHashSet<Var>) -> Vec<(Var, [Var; 2])> {
    let (mut wanted, mut pairs) = (FxHashSet::default(), Vec::new());
    for binding in bindings.iter().rev() {
        match &binding.rhs {
            Rhs::Apply(_, argument) => _ = wanted.insert(*argument),
            Rhs::Prim(Prim::Cons, parts) if wanted.contains(&binding.var) && used_once.contains(&binding.var) => {
                wanted.extend(parts);
                pairs.push((binding.var, [parts[0], parts[1]]));
            }
            _ => {}
        }
    }
    pairs
}

/// The variables that a λ uses once, in its body or in what its closures capture.
fn used_once(program: &Program, lambda: LambdaId) -> FxHashSet<Var> {
    let body = &program.lambdas[lambda].body;
    let mut uses: FxHashMap<Var, usize> = [(body.result, 1)].into_iter().collect();
    for binding in body.all_bindings() {
        let mut count = |x: Var| *uses.entry(x).or_default() += 1;
        binding.rhs.operands().into_iter().for_each(&mut count);
        if let Rhs::If(_, then, other) = &binding.rhs {
            [then.result, other.result].into_iter().for_each(&mut count);
        }
    }
    uses.into_iter().filter(|(_, uses)| *uses == 1).map(|(x, _)| x).collect()
}

/// The variable that holds `*j-inverse ↼y`; binds it if there is none in scope.
fn primal(code: &mut Code<'_>, scope: &mut Scope, y: Var, reversed: Var) -> Var {
    if let Some(var) = scope.primal.get(&y) {
        return *var;
    }
    let name = code.name(y);
    let var = code.bind(&name, Rhs::Prim(Prim::JInverse, vec![reversed]));
    scope.primal.insert(y, var);
    var
}
