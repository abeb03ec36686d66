//! What the machine watches for on demand: numbers that go wrong in derivatives, kinks, and checks to leave out.
//!
//! Numbers and kinks matter in transformed code only: a function that is never differentiated may divide by zero.

use super::Machine;
use crate::ad::tower::Transformation;
use crate::ad::{base_and_tower, plain, transformed_from};
use crate::base::{Diagnostic, Span};
use crate::core::check;
use crate::core::errors::{Place, RuntimeError, Sweep, at_kink};
use crate::core::ir::{Body, LambdaId, Origin, Rhs};
use crate::core::kinks;
use crate::core::number;
use crate::core::prim::{Family, Prim};
use crate::eval::code::Operand;
use crate::eval::value::{Function, Real, Value};
use rustc_hash::{FxHashMap, FxHashSet};

impl Machine<'_> {
    /// Fails when an operation has made something worse than a finite number of operands that were better.
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

    /// Fails when a kernel has made a number that is not finite of lists of sizes and vectors that are.
    pub(super) fn trap_kernel(&self, prim: Prim, operands: &[Value], result: &Value) -> Result<(), RuntimeError> {
        let (Some(number), Some(sweep)) = (one_not_finite(result), self.sweep()) else { return Ok(()) };
        if operands.iter().any(|operand| one_not_finite(operand).is_some()) {
            return Ok(());
        }
        Err(RuntimeError::not_finite_arrays(prim, printed(&number), sweep))
    }

    /// Which part of a derivative is running; `None` for power series.
    fn sweep(&self) -> Option<Sweep> {
        let program = &*self.world.program;
        if self.in_backpropagator() {
            return Some(Sweep::Reverse);
        }
        match self.running_lambda().and_then(|lambda| transformed_from(program, lambda)) {
            Some((Transformation::Reverse, _)) => Some(Sweep::Forward),
            Some((Transformation::Forward | Transformation::Directions, _)) => Some(Sweep::Tangent),
            Some((Transformation::Series, _)) => None,
            None => Some(if self.in_given() { Sweep::Given } else { Sweep::Value }),
        }
    }

    /// Whether the running code is part of a derivative that the program gives. It is code like any other, but for the
    /// library's that calls it.
    fn in_given(&self) -> bool {
        let program = &*self.world.program;
        let library: FxHashSet<LambdaId> = program
            .given
            .values()
            .flat_map(|given| {
                let inside = program.lambdas[given.reverse].body.closures();
                inside.into_iter().chain([given.reverse, given.forward, given.series, given.directions])
            })
            .collect();
        // What the function computes for its value is not part of its derivative.
        let since = self.given.last().copied().unwrap_or(0);
        let mut waiting = self.frames[since..].iter().filter_map(|frame| self.codes[frame.code as usize].lambda);
        waiting.any(|lambda| library.contains(&lambda))
    }

    /// Notes that a function is called which may be one whose derivative is given.
    pub(super) fn enter_given(&mut self, Function { base, tower }: Function) {
        let waiting = self.frames.len();
        if self.trap_nan
            && tower.height() == 0
            && self.given.last() != Some(&waiting)
            && self.world.program.given.contains_key(&base)
        {
            self.given.push(waiting);
        }
    }

    /// Notes that a call has returned.
    pub(super) fn leave_given(&mut self) {
        let waiting = self.frames.len();
        while self.given.last().is_some_and(|began| *began > waiting) {
            self.given.pop();
        }
    }

    fn running_lambda(&self) -> Option<LambdaId> {
        self.codes[self.running.code as usize].lambda
    }

    /// True when the running code is a backpropagator, or a transform of one.
    pub(super) fn in_backpropagator(&self) -> bool {
        let program = &*self.world.program;
        let origin = self.running_lambda().map(|lambda| program.lambdas[base_and_tower(program, lambda).0].origin);
        matches!(origin, Some(Origin::Backpropagator(..) | Origin::Adding(_)))
    }

    /// Watches a primitive of a transformed function that is applied where it has no derivative. Whether that matters
    /// shows when a tangent or a sensitivity is multiplied with what is taken for the derivative.
    pub(super) fn watch_primitive(&mut self, prim: Prim, operands: &[f64]) {
        if self.on_kink.is_none() {
            return;
        }
        let span = self.span();
        if let (Prim::Scale, [_, s]) | (Prim::Unscale, [s, _]) = (prim, operands) {
            return self.report_used(span, *s);
        }
        let taken = kinks::at(prim, operands);
        let tie = prim.family() == Family::Comparison && operands[0] == operands[1];
        if taken.is_none() && !tie {
            return;
        }
        let Some(lambda) = self.running_lambda() else { return };
        let program = &*self.world.program;
        let (base, _) = base_and_tower(program, lambda);
        // Partial derivatives are computed by primitives, too, but not by those of the source.
        let of_the_source = !matches!(program.lambdas[base].origin, Origin::Backpropagator(..) | Origin::Adding(_))
            && contains(&program.lambdas[base].body, prim, span);
        if base == lambda || !of_the_source {
            return;
        }
        let on_series = matches!(transformed_from(program, lambda), Some((Transformation::Series, _)));
        let place = self.place(&self.codes[self.running.code as usize].clone());
        let order = self.kinks.next();
        let Some(taken) = taken else {
            if place.library.is_none() {
                self.suspect(order, place.span, format!("{} decides here", described(prim.name(), operands)));
            }
            return;
        };
        let kink = Kink { order, name: prim.name().to_string(), operands: operands.to_vec(), taken, place };
        // Nothing is multiplied with a derivative that is always 0.
        if on_series || matches!(prim, Prim::Floor | Prim::Ceiling | Prim::Round | Prim::Truncate) {
            self.report_kink(kink);
        } else {
            self.kinks.met.insert(span, kink);
        }
    }

    /// Watches calls of the transforms of `max` and `min` with equal numbers, and of their backpropagators.
    pub(super) fn watch_call(&mut self, function: Function, argument: &Value) {
        if self.on_kink.is_none() {
            return;
        }
        let Function { base, tower } = function;
        let program = &*self.world.program;
        // The adding form takes the sensitivity in a pair.
        let (backpropagator, sensitivity) = match (plain(program, base), argument) {
            (Some(plain), Value::Pair(pair)) => (plain, pair.car()),
            _ => (base, argument),
        };
        if let Origin::Backpropagator(of, _) = program.lambdas[backpropagator].origin {
            if program.kinked.contains(&base_and_tower(program, of).0) {
                self.report_used(self.span(), primal(sensitivity).unwrap_or(f64::NAN));
            }
            return;
        }
        if tower.height() == 0 || !program.kinked.contains(&base) {
            return;
        }
        let Value::Pair(pair) = argument else { return };
        let (Some(x), Some(y)) = (primal(pair.car()), primal(pair.cdr())) else { return };
        if x != y {
            return;
        }
        let name = self.source_name(function);
        let place = self.place(&self.codes[self.running.code as usize].clone());
        let order = self.kinks.next();
        let kink = Kink { order, name, operands: vec![x, y], taken: kinks::EQUAL_OPERANDS, place };
        match (pair.car(), pair.cdr()) {
            // Forward mode: where both change alike, either will do.
            (Value::Bundle(a), Value::Bundle(b)) if a.tags() == 0 && b.tags() == 0 => {
                if primal(a.cdr()) != primal(b.cdr()) {
                    self.report_kink(kink);
                }
            }
            (Value::Series(_), _) => self.report_kink(kink),
            _ => {
                self.kinks.met.insert(self.span(), kink);
            }
        }
    }

    /// Where the running instruction stands.
    fn span(&self) -> Span {
        self.codes[self.running.code as usize].spans[self.running.next as usize - 1]
    }

    /// Reports the kink met in a place, now that a tangent or a sensitivity passes through it.
    fn report_used(&mut self, span: Span, s: f64) {
        if s != 0.0
            && let Some(kink) = self.kinks.met.remove(&span)
        {
            self.report_kink(kink);
        }
    }

    /// Remembers the first place that could be why a derivative is wrong.
    fn suspect(&mut self, order: u64, span: Span, what: String) {
        let is_first = self.kinks.suspect.as_ref().is_none_or(|(known, ..)| order < *known);
        if is_first && !self.sources.is_library(span) {
            self.kinks.suspect = Some((order, span, what));
        }
    }

    /// The message of an error; that of a check also shows the first place that could be the reason.
    pub(super) fn with_suspect(&self, error: &RuntimeError, diagnostic: Diagnostic) -> Diagnostic {
        match &self.kinks.suspect {
            Some((_, span, what)) if self.check.is_some() && matches!(error, RuntimeError::Raised { .. }) => {
                diagnostic.secondary(*span, what)
            }
            _ => diagnostic,
        }
    }

    /// True for a call that would check the derivative of a function for which nobody wants that: the user does not, a
    /// check that calls the function again and again, or who knows that it has been checked often.
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
            || self.world.program.trusted.contains(&checked.base)
            || base == checks.given && self.world.program.own.contains(&checked.base)
            || self.is_left_out(checked.base)
    }

    /// Whether a check is one of the many of a function that are left out; counts them.
    fn is_left_out(&self, checked: LambdaId) -> bool {
        let mut counts = self.checks.borrow_mut();
        let count = counts.entry(checked).or_insert(0);
        *count += 1;
        check::is_left_out(*count, self.checked_calls)
    }

    /// Notes that a function is called which may be one that checks a derivative.
    pub(super) fn enter_check(&mut self, Function { base, tower }: Function) {
        let Some(checks) = self.world.program.checks.filter(|_| tower.height() == 0) else { return };
        let waiting = self.frames.len();
        if base == checks.taken || base == checks.given {
            if self.check.is_none() {
                self.kinks.suspect = None;
            }
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

    fn report_kink(&mut self, Kink { order, name, operands, taken, place }: Kink) {
        let Some(report) = self.on_kink else { return };
        self.suspect(order, place.span, format!("{} has no derivative", described(&name, &operands)));
        if self.kinks.reported.insert((place.span, name.clone())) {
            // What the program has printed before stands before the message.
            let _ = self.world.output.flush();
            let operands: Vec<String> = operands.iter().map(printed).collect();
            report(&at_kink(&name, &operands, taken, &place), self.sources);
        }
    }
}

/// What is watched for at kinks.
#[derive(Default)]
pub(super) struct Kinks {
    /// Those that have been reported: where, and of what.
    reported: FxHashSet<(Span, String)>,
    /// Those met last in each place, as long as nothing has been multiplied with what is taken for the derivative.
    met: FxHashMap<Span, Kink>,
    /// The first place that could be why the derivative is wrong that is being checked, and what there is to say.
    suspect: Option<(u64, Span, String)>,
    /// How many places there have been.
    count: u64,
}

impl Kinks {
    /// The number of one more place.
    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }
}

/// A function applied where it has no derivative.
struct Kink {
    /// Its number among the places that have been met.
    order: u64,
    name: String,
    operands: Vec<f64>,
    /// What is taken for the derivative.
    taken: &'static str,
    place: Place,
}

/// `f` of its operands.
fn described(name: &str, operands: &[f64]) -> String {
    format!("`{name}` of {}", operands.iter().map(printed).collect::<Vec<_>>().join(", "))
}

/// The operands of an arithmetic operation or comparison, or of a sum of numbers.
pub(super) fn numbers(prim: Prim, operands: &[Value]) -> Option<Vec<f64>> {
    if !matches!(prim.family(), Family::Arithmetic | Family::Comparison) && prim != Prim::Plus {
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
            Value::Bundle(part) | Value::Series(part) => value = part.car(),
            _ => return None,
        }
    }
}

fn printed(x: &f64) -> String {
    number::format(*x).as_str().to_string()
}

/// True when a body has that primitive in that place.
fn contains(body: &Body, prim: Prim, span: Span) -> bool {
    body.all_bindings()
        .into_iter()
        .any(|binding| binding.span == span && matches!(&binding.rhs, Rhs::Prim(other, _) if *other == prim))
}

/// The last number in lists and vectors of numbers that is not finite.
fn one_not_finite(value: &Value) -> Option<f64> {
    match value {
        Value::Real(Real { number, .. }) => (!number.is_finite()).then_some(*number),
        Value::Pair(pair) => one_not_finite(pair.cdr()).or_else(|| one_not_finite(pair.car())),
        Value::Vector(vector) => vector.elements().iter().rev().find_map(one_not_finite),
        _ => None,
    }
}
