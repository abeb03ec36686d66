//! Functions that only hand on what they get, and calls of them, which need no code.
//!
//! A record that is a list is read by walking to a place in it, and a table by comparing known keys. What decides the
//! walk is known, so each of its steps is a variant that takes the leaves of the rest of the list, and returns one of
//! them. Of n fields there are n² such steps, and as functions they would have n³ parameters, to be found needless one
//! by one. So a call of a variant that seems to be of this kind is emitted after the variant itself; if that turns out
//! to be a *projection*, whose results are parameters and constants, the results of the call are arguments and
//! constants, and there is no function.

use super::Specializer;
use super::emit::Emitter;
use super::errors::failure::Call;
use crate::core::ir::{Binding, Body, Definition, Rhs, Var};
use crate::core::prim::{Family, Prim};
use crate::flow::analysis::{Facts, VariantId, truth};
use crate::shape::lattice::{Head, Shape, Shapes};
use crate::ssa::ir::{Function, Op, Terminator, Type, Value};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// So many calls are followed into each other to find out whether they need code.
const MOST_CALLS: usize = 1000;

/// Where a result of a projection comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The parameter at this position.
    Param(usize),
    /// A constant of that type.
    Constant(Op, Type),
}

/// The results of a function that does nothing but hand on.
#[derive(Clone, Debug)]
pub(super) struct Projection(Vec<Source>);

impl Projection {
    /// What a function hands on, if it does nothing else.
    fn of(function: &Function) -> Option<Projection> {
        let entry = &function.blocks[Function::ENTRY];
        let Terminator::Return(results) = &entry.terminator else { return None };
        let is_constant =
            |op: Op| matches!(op, Op::ConstReal(_) | Op::ConstBool(_) | Op::ConstInt(_) | Op::Immediate(..));
        if !entry.insts.iter().all(|inst| is_constant(inst.op)) {
            return None;
        }
        let mut sources: FxHashMap<Value, Source> =
            entry.params.iter().enumerate().map(|(position, param)| (*param, Source::Param(position))).collect();
        for inst in &entry.insts {
            sources.insert(inst.results[0], Source::Constant(inst.op, function.values[inst.results[0]]));
        }
        results.iter().map(|result| sources.get(result).copied()).collect::<Option<Vec<Source>>>().map(Projection)
    }

    /// The results of a call with these arguments.
    pub(super) fn apply(&self, e: &mut Emitter, args: &[Value]) -> Vec<Value> {
        let result = |source: &Source| match source {
            Source::Param(position) => args[*position],
            Source::Constant(op, ty) => e.value(*op, &[], *ty),
        };
        self.0.iter().map(result).collect()
    }
}

impl Specializer<'_> {
    /// What a call of the variant hands on, if it does nothing else. Who is to blame for errors makes no difference to
    /// what has none.
    pub(super) fn projection(&mut self, variant: VariantId, blame: Option<Call>) -> Option<Rc<Projection>> {
        if let Some(known) = self.projections.get(&variant) {
            return known.clone();
        }
        if self.functions.contains_key(&(variant, blame)) || !self.is_weightless(variant, 0) {
            return None;
        }
        let (lambda, own_blame) = (self.lambda, std::mem::replace(&mut self.blame, blame));
        let events = std::mem::take(&mut self.events);
        let mut e = Emitter::of(self.declared(variant));
        self.variant(&mut e, variant);
        let mut function = e.function;
        (self.clean)(&mut function);
        let events = std::mem::replace(&mut self.events, events);
        (self.lambda, self.blame) = (lambda, own_blame);
        let projection = Projection::of(&function).map(Rc::new);
        if projection.is_none() {
            let id = self.function(variant, blame);
            self.tasks.pop();
            self.emitted(id, function);
            self.certain.insert(id, events);
        }
        self.projections.insert(variant, projection.clone());
        projection
    }

    /// Whether a variant seems to need no code: what it does is known, or is to hand on what it gets.
    fn is_weightless(&mut self, variant: VariantId, calls: usize) -> bool {
        if let Some(known) = self.weightless.get(&variant) {
            return *known;
        }
        let found = &self.flow.variants[variant];
        if found.recursive || found.result == Shapes::BOTTOM || calls > MOST_CALLS {
            return false;
        }
        let (key, facts) = (found.key.clone(), found.facts.clone());
        let core = self.core;
        let lambda = &core.lambdas[key.lambda];
        let inputs = lambda.captures.iter().chain([&lambda.param]).copied().zip(key.args.iter().copied()).collect();
        let result = self.needs_no_code(&lambda.body, &facts, &inputs, calls);
        self.weightless.insert(variant, result);
        result
    }

    fn needs_no_code(&mut self, body: &Body, facts: &Facts, inputs: &FxHashMap<Var, Shape>, calls: usize) -> bool {
        let shape_of = |x: &Var| facts.shapes.get(x).or_else(|| inputs.get(x)).copied().unwrap_or(Shapes::BOTTOM);
        let bindings = body.bindings.iter();
        bindings.map(|binding| (binding, shape_of(&binding.var))).all(|(Binding { var, rhs, .. }, shape)| {
            shape != Shapes::BOTTOM
                && match rhs {
                    Rhs::Var(_) | Rhs::Const(_) | Rhs::Closure(..) => true,
                    Rhs::Global(global) => matches!(self.core.globals[*global].definition, Definition::Function(_)),
                    Rhs::Destructure(_, x) => self.is_in_leaves(shape_of(x)),
                    Rhs::Prim(prim, args) => {
                        let mut args = args.iter().map(shape_of);
                        match prim.family() {
                            Family::Arithmetic | Family::Comparison | Family::Test => self.leaves(shape).is_empty(),
                            Family::Derivative if *prim == Prim::Plus => args.any(|arg| self.leaves(arg).is_empty()),
                            Family::Structure | Family::Derivative => args.all(|arg| self.is_in_leaves(arg)),
                            Family::Vector | Family::Kernel | Family::Effect => false,
                        }
                    }
                    Rhs::Lifted(..) => self.leaves(shape).is_empty(),
                    Rhs::Apply(f, _) => {
                        let function = self.flow.shapes.single(shape_of(f));
                        function.is_some_and(|function| {
                            let Head::Closure(code, _) = function.head else { return false };
                            let callee = facts.calls.get(&(*var, code.lambda));
                            callee.is_some_and(|callee| self.is_weightless(*callee, calls + 1))
                        })
                    }
                    Rhs::If(condition, then, other) => {
                        let outcome = truth(&self.flow.shapes, shape_of(condition));
                        outcome.is_some_and(|outcome| {
                            self.needs_no_code(if outcome { then } else { other }, facts, inputs, calls)
                        })
                    }
                }
        })
    }

    /// Whether a value is taken apart by taking its leaves apart.
    fn is_in_leaves(&mut self, shape: Shape) -> bool {
        self.flow.shapes.single(shape).is_some() && !self.is_boxed(shape)
    }
}
