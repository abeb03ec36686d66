//! What the machine watches for on demand: numbers that go wrong in derivatives, kinks, and checks to leave out.
//!
//! Numbers and kinks matter in transformed code only: a function that is never differentiated may divide by zero.

use super::Machine;
use crate::ad::tower::Transformation;
use crate::ad::{base_and_tower, transformed_from};
use crate::base::Span;
use crate::core::errors::{Place, RuntimeError, Sweep, at_kink};
use crate::core::eval::code::Operand;
use crate::core::eval::value::{Function, Real, Value};
use crate::core::ir::{Body, Definition, Global, LambdaId, Origin, Rhs};
use crate::core::kinks;
use crate::core::number;
use crate::core::prim::{Family, Prim};
use rustc_hash::FxHashSet;

impl Machine<'_> {
    /// Fails when an operation of a derivative has made something worse than a finite number.
    pub(super) fn trap(&self, prim: Prim, operands: &[f64], result: &Value) -> Result<(), RuntimeError> {
        let (true, Value::Real(Real { number: result, .. })) = (self.trap_nan, result) else { return Ok(()) };
        let born =
            if result.is_nan() { operands.iter().all(|x| !x.is_nan()) } else { operands.iter().all(|x| x.is_finite()) };
        if result.is_finite() || !born {
            return Ok(());
        }
        let Some(sweep) = self.sweep() else { return Ok(()) };
        let operands = operands.iter().map(printed).collect();
        Err(RuntimeError::NotFinite { prim, operands, result: printed(result), sweep })
    }

    /// Which part of a derivative is running; `None` when it is none.
    fn sweep(&self) -> Option<Sweep> {
        let program = &*self.world.program;
        if self.in_backpropagator() {
            return Some(Sweep::Reverse);
        }
        match self.running_lambda().and_then(|lambda| transformed_from(program, lambda)) {
            Some((Transformation::Reverse, _)) => Some(Sweep::Forward),
            Some((Transformation::Forward, _)) => Some(Sweep::Tangent),
            Some((Transformation::Series, _)) => None,
            None => {
                // A given backpropagator is code like any other, but for the library's that calls it.
                let given: FxHashSet<LambdaId> =
                    program.given.values().flat_map(|given| closures(&program.lambdas[given.reverse].body)).collect();
                let mut waiting = self.frames.iter().filter_map(|frame| self.codes[frame.code as usize].lambda);
                waiting.any(|lambda| given.contains(&lambda)).then_some(Sweep::Given)
            }
        }
    }

    fn running_lambda(&self) -> Option<LambdaId> {
        self.codes[self.running.code as usize].lambda
    }

    /// True when the running code is a backpropagator, or a transform of one.
    pub(super) fn in_backpropagator(&self) -> bool {
        let program = &*self.world.program;
        let origin = self.running_lambda().map(|lambda| program.lambdas[base_and_tower(program, lambda).0].origin);
        matches!(origin, Some(Origin::Backpropagator(..)))
    }

    /// Reports a primitive of a transformed function that is applied where it has no derivative.
    pub(super) fn watch_primitive(&mut self, prim: Prim, operands: &[f64]) {
        let (Some(_), Some(taken)) = (self.on_kink, kinks::at(prim, operands)) else { return };
        let Some(lambda) = self.running_lambda() else { return };
        let code = self.codes[self.running.code as usize].clone();
        let span = code.spans[self.running.next as usize - 1];
        let program = &*self.world.program;
        let (base, _) = base_and_tower(program, lambda);
        // Partial derivatives are computed by primitives, too, but not by those of the source.
        let of_the_source = !matches!(program.lambdas[base].origin, Origin::Backpropagator(..))
            && contains(&program.lambdas[base].body, prim, span);
        if base != lambda && of_the_source {
            let place = self.place(&code);
            self.report_kink(prim.name(), operands, taken, &place);
        }
    }

    /// Reports a call of the transform of `max` or `min` with equal numbers.
    pub(super) fn watch_call(&mut self, function: Function, argument: &Value) {
        let Function { base, tower } = function;
        let (Some(_), Value::Pair(pair)) = (self.on_kink, argument) else { return };
        if tower.height() == 0 || !self.world.program.kinked.contains(&base) {
            return;
        }
        if let (Some(x), Some(y)) = (primal(pair.car()), primal(pair.cdr()))
            && x == y
        {
            let place = self.place(&self.codes[self.running.code as usize].clone());
            self.report_kink(&self.source_name(function), &[x, y], kinks::EQUAL_OPERANDS, &place);
        }
    }

    /// True for a call that would check the derivative of a function for which nobody wants that: the user does not, a
    /// check that calls the function again and again, or the library, for a function of its own.
    pub(super) fn is_unwanted_check(&self, function: Operand, argument: Operand) -> bool {
        let at = |operand: Operand| &self.stack[self.position(operand.slot)];
        let (Some(checks), Value::Closure(check)) = (self.world.program.checks, at(function)) else { return false };
        let Function { base, tower } = check.function();
        if tower.height() > 0 || base != checks.taken && base != checks.given {
            return false;
        }
        let Value::Pair(arguments) = at(argument) else { return false };
        let Value::Closure(checked) = arguments.car() else { return false };
        let checked = checked.function();
        self.probe.is_some() && base == checks.taken
            || self.unchecked.contains(&self.source_name(checked))
            || self.is_hidden(checked.base)
    }

    /// True for a function of the library that programs cannot name.
    fn is_hidden(&self, lambda: LambdaId) -> bool {
        let hidden =
            |global: &Global| global.name.starts_with('%') && global.definition == Definition::Function(lambda);
        self.sources.is_library(self.world.program.lambdas[lambda].span)
            && self.world.program.globals.values().any(hidden)
    }

    /// Notes that a function is called which may be one that checks a derivative.
    pub(super) fn enter_check(&mut self, Function { base, tower }: Function) {
        let Some(checks) = self.world.program.checks.filter(|_| tower.height() == 0) else { return };
        let waiting = self.frames.len();
        if base == checks.taken || base == checks.given {
            self.check.get_or_insert(waiting);
        } else if base == checks.probe {
            self.probe.get_or_insert(waiting);
        }
        self.world.in_check = self.check.is_some();
    }

    /// Notes that a call has returned.
    pub(super) fn leave_check(&mut self) {
        let waiting = self.frames.len();
        self.check = self.check.filter(|began| *began <= waiting);
        self.probe = self.probe.filter(|began| *began <= waiting);
        self.world.in_check = self.check.is_some();
    }

    fn report_kink(&mut self, name: &str, operands: &[f64], taken: &str, place: &Place) {
        let Some(report) = self.on_kink else { return };
        if self.reported.insert((place.span, name.to_string())) {
            // What the program has printed before stands before the message.
            let _ = self.world.output.flush();
            let operands: Vec<String> = operands.iter().map(printed).collect();
            report(&at_kink(name, &operands, taken, place), self.sources);
        }
    }
}

/// The operands of an arithmetic operation, or of a sum of numbers.
pub(super) fn numbers(prim: Prim, operands: &[Value; 2]) -> Option<Vec<f64>> {
    if prim.family() != Family::Arithmetic && prim != Prim::Plus {
        return None;
    }
    let number = |value: &Value| match value {
        Value::Real(real) => Some(real.number),
        _ => None,
    };
    operands[..prim.arity()].iter().map(number).collect()
}

/// The number below all transformations.
fn primal(mut value: &Value) -> Option<f64> {
    loop {
        match value {
            Value::Real(real) => return Some(real.number),
            Value::Bundle(bundle) => value = bundle.car(),
            _ => return None,
        }
    }
}

fn printed(x: &f64) -> String {
    number::format(*x).as_str().to_string()
}

/// True when a body has that primitive in that place.
fn contains(body: &Body, prim: Prim, span: Span) -> bool {
    body.bindings.iter().any(|binding| match &binding.rhs {
        Rhs::Prim(other, _) => *other == prim && binding.span == span,
        Rhs::If(_, then, other) => contains(then, prim, span) || contains(other, prim, span),
        _ => false,
    })
}

/// The λs of the closures that a body makes.
fn closures(body: &Body) -> Vec<LambdaId> {
    let made = body.bindings.iter().map(|binding| match &binding.rhs {
        Rhs::Closure(lambda) => vec![*lambda],
        Rhs::If(_, then, other) => [closures(then), closures(other)].concat(),
        _ => Vec::new(),
    });
    made.flatten().collect()
}
