//! The reverse phase: the sums of sensitivities that a backpropagator is made of.
//!
//! A variable's sum begins with the first contribution to it, so `zero` is called only for variables that get none at
//! all. In the *adding form* of a backpropagator it begins with what the caller hands over, the vectors of its own sum:
//!
//! ~~~text
//! (x̃ x̄)                            contributions for what it distributes to
//! ((adding x̃) (x̄ . h))             the same with h added
//!
//! s = sums so far;  h = handed s;  k = kept s
//! s' = k ⊕ ((adding x̃) (x̄ . h))    instead of s' = s ⊕ (x̃ x̄)
//! ~~~
//!
//! So one vector is passed through all calls that read it, and each adds to it in place: n reads cost O(n). Only
//! vectors are handed on ([`Prim::Handed`]), as to add anything else costs as much here as there; what is not handed on
//! is [nothing](crate::core::ir::Const::Nothing) there, and so is what has no sum yet. Such sums are *incomplete*: they
//! have holes, which are filled by the first contribution or by a zero.
//!
//! The element of a vector of vectors is taken out of the vector's sum before it is handed on, and put back when its
//! own contribution is due, or before somebody looks at the vector's sum ([`Prim::TakeElement`], [`Prim::PutElement`]):
//!
//! ~~~text
//! x = (vector-ref v i)             s = sum of v;  x̄ = take-element s i;  ...;  s' = put-element s i (in-element v i
//! x̄) ~~~
//!
//! So is the part of a pair, and what another variable holds under another name: the sum of a pair is split where one
//! of its parts begins a sum of its own, and made of its parts again where the whole pair is handed on.
//!
//! ~~~text
//! x = (car y)                      s = sum of y;  x̄ = split-car s;  ȳ' = split-cdr s;  ...;  s' = (cons x̄ ȳ')
//! ~~~
//!
//! So is what another variable holds transformed, as in derivatives that a program or the library gives:
//!
//! ~~~text
//! x = (*j-inverse y)               s = sum of y;  x̄ = *j-inverse s;  ...;  s' = (*j x̄)
//! ~~~
//!
//! And so is what a record is made of:
//!
//! ~~~text
//! x = record parts of y            s = sum of y;  x̄ = %record-parts s;  ...;  s' = (%record kind x̄)
//! ~~~
//!
//! The derivative of this code reads where it adds: whatever is added to a sum has the sensitivity of what the sum
//! becomes in the end. So `k` has all of that of `s'`, and hands it to `s`; `h` gets nothing, and neither do the sums
//! that a backpropagator is handed ([`Prim::Lent`]). No sum is kept for that, and n reads have one sensitivity, which
//! nobody changes.
//!
//! Each sum is handed on once. A closure stands for its captures, a pair of arguments for these, a parameter for the
//! variables that hold its parts.
//!
//! Source: accumulators in the style of Pearlmutter and Siskind, "Lambda the ultimate backpropagator" (2008), section
//! 7, where sums are not yet handed on; that they have to be is Shaikhha et al. and Krawiec et al.'s observation about
//! reads.

use super::super::code::Code;
use super::super::rules::{self, Call};
use super::{Scope, Step, StepKind, Targets, bar};
use crate::core::ir::{Below, Const, LambdaId, Part, RecordId, Rhs, Var};
use crate::core::prim::Prim;
use rustc_hash::{FxHashMap, FxHashSet};

/// The body of a backpropagator under construction.
pub(super) struct ReversePhase<'a> {
    pub code: Code<'a>,
    scope: &'a Scope,
    /// Sums are handed on to backpropagators.
    hands_on: bool,
    /// x̄ for the source variables that got a contribution, [`Self::parts`] left out.
    sensitivities: FxHashMap<Var, Var>,
    /// The contributions to the parts of source variables that hold pairs.
    parts: FxHashMap<Var, PairParts>,
    /// Sums and contributions that may have holes.
    incomplete: FxHashSet<Var>,
    /// The variables that hold what is in others.
    holders: FxHashMap<Var, Holder>,
    /// By a variable and a place in it, the variable whose sum has been taken out of that of the first.
    taken: FxHashMap<(Var, Place), Var>,
    /// What has been handed on to the call at hand.
    lent: FxHashSet<Var>,
}

/// Where in another variable that is which a variable holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// The variables have the same value.
    Whole,
    Car,
    Cdr,
    /// An element of a vector.
    Element,
    /// What the other variable holds the transform of.
    Inverse,
    /// The pair that the record in the other variable is made of.
    Parts,
}

impl Place {
    const ALL: [Place; 6] = [Place::Whole, Place::Car, Place::Cdr, Place::Element, Place::Inverse, Place::Parts];

    fn of(part: Part) -> Option<Place> {
        match part {
            Part::Car => Some(Place::Car),
            Part::Cdr => Some(Place::Cdr),
            Part::Record(_) => Some(Place::Parts),
            Part::Nil | Part::Vector(_) | Part::Never => None,
        }
    }
}

/// What a variable holds.
#[derive(Clone)]
struct Holder {
    of: Var,
    place: Place,
    /// The primal values of what it is in (of the parts of a record, any record of the kind) and, of an element, the
    /// index, for the reverse phase. None where that is a sum.
    operands: Vec<Var>,
    /// The variable of the forward phase that holds the same.
    reversed: Var,
}

/// What has been contributed to the sensitivity of a pair through its parts.
#[derive(Clone, Copy)]
struct PairParts {
    /// The pair. That of sums is not kept: their sensitivities may have holes.
    primal: Option<Var>,
    /// The sensitivities of its `car` and its `cdr`.
    sums: [Option<Var>; 2],
}

impl<'a> ReversePhase<'a> {
    /// Nothing has been added yet.
    pub fn new(code: Code<'a>, scope: &'a Scope, steps: &[Step<'_>], hands_on: bool) -> ReversePhase<'a> {
        ReversePhase {
            holders: holders(steps, scope),
            taken: FxHashMap::default(),
            lent: FxHashSet::default(),
            code,
            scope,
            hands_on,
            sensitivities: FxHashMap::default(),
            parts: FxHashMap::default(),
            incomplete: FxHashSet::default(),
        }
    }

    /// Takes the argument of an adding form apart: returns the sensitivity, and lets sums begin with those handed over.
    pub fn take_over(&mut self, argument: Var, name: &str, targets: &Targets<'_>) -> Var {
        let sensitivity = self.code.bind(name, Rhs::Prim(Prim::Car, vec![argument]));
        let handed = self.code.prim(Prim::Cdr, &[argument]);
        let (list, variables) = match targets {
            Targets::Function { captures, param } => {
                let argument = self.code.prim(Prim::SumCdr, &[handed]);
                self.begin(*param, argument);
                (self.code.prim(Prim::SumCar, &[handed]), *captures)
            }
            Targets::Branch { variables } => (handed, *variables),
        };
        let mut rest = list;
        for (position, x) in variables.iter().enumerate() {
            let sum = self.code.prim(Prim::SumCar, &[rest]);
            self.begin(*x, sum);
            if position + 1 < variables.len() {
                rest = self.code.prim(Prim::SumCdr, &[rest]);
            }
        }
        sensitivity
    }

    /// Lets x̄ begin with a sum that may have holes.
    fn begin(&mut self, x: Var, sum: Var) {
        if !self.scope.inactive.contains(&x) {
            self.incomplete.insert(sum);
            self.sensitivities.insert(x, sum);
        }
    }

    /// `x̄ ⊕= contribution`. That of a closure goes to its captures at once: a loop hands on the sums for what it has
    /// captured, so what its body contributes is added to these, and not these to that.
    pub fn add(&mut self, x: Var, contribution: Var) {
        if self.scope.inactive.contains(&x) {
            return;
        }
        if let Some((lambda, captured)) = self.scope.closures.get(&x).cloned() {
            if !captured.is_empty() {
                let environment = self.environment(lambda, contribution);
                self.distribute(environment, &captured);
            }
            return;
        }
        self.put_back(x);
        // What is added to an element may be one number of it: that is best added to the whole vector.
        self.take(x, false);
        self.add_to(x, contribution);
    }

    fn add_to(&mut self, x: Var, contribution: Var) {
        let total = self.sum(x, self.sensitivities.get(&x).copied(), contribution);
        self.sensitivities.insert(x, total);
    }

    /// A sensitivity that can be the list of the environment of that λ only.
    fn environment(&mut self, lambda: LambdaId, sensitivity: Var) -> Var {
        let environment = self.code.bind("e", Rhs::Var(sensitivity));
        self.code.program.vars[environment].environment_of = Some(lambda);
        environment
    }

    /// Takes the sum of what a variable holds out of that of the variable that it is in, if there is one and nothing
    /// else of it is handed on in the same call. Elements and what is transformed are taken only to be handed on.
    fn take(&mut self, x: Var, hands_on: bool) {
        let Some(Holder { of: y, place, operands, .. }) = self.holders.get(&x).cloned() else { return };
        let other = self.taken.get(&(y, place)).copied();
        let is_lent = self.lent.contains(&y) || other.is_some_and(|other| self.lent.contains(&other));
        let is_apart = matches!(place, Place::Element | Place::Inverse) && !hands_on;
        if other == Some(x) || is_lent || !self.hands_on || is_apart {
            return;
        }
        self.take(y, hands_on);
        let sum = match place {
            Place::Whole | Place::Inverse | Place::Parts => {
                let sum = self.sensitivity(y);
                self.sensitivities.remove(&y);
                match place {
                    Place::Inverse => sum.map(|sum| self.transformed(Prim::JInverse, &[sum])),
                    Place::Parts => sum.map(|sum| self.transformed(Prim::RecordParts, &[sum])),
                    _ => sum,
                }
            }
            Place::Car | Place::Cdr => self.take_part(y, place, operands.first().copied()),
            Place::Element => self.take_element(y, operands[1]),
        };
        let Some(mut sum) = sum else { return };
        self.taken.insert((y, place), x);
        if let Some(more) = self.sensitivities.get(&x).copied() {
            sum = self.sum(x, Some(sum), more);
        }
        self.sensitivities.insert(x, sum);
    }

    /// Splits the sum of a pair, and takes one part of it.
    fn take_part(&mut self, y: Var, place: Place, primal: Option<Var>) -> Option<Var> {
        self.put_back_from(y, Place::Whole);
        self.put_back_from(y, place);
        if let Some(sum) = self.sensitivities.remove(&y) {
            let mut sums = self.parts.get(&y).map_or([None; 2], |parts| parts.sums);
            for (position, prim) in [Prim::SplitCar, Prim::SplitCdr].into_iter().enumerate() {
                let part = self.code.prim(prim, &[sum]);
                if self.is_incomplete(sum) {
                    self.incomplete.insert(part);
                }
                sums[position] = Some(sums[position].map_or(part, |more| self.sum(y, Some(part), more)));
            }
            self.parts.insert(y, PairParts { primal, sums });
        }
        self.parts.get_mut(&y)?.sums[usize::from(place == Place::Cdr)].take()
    }

    /// A sum that was one of transformed values or of records, or is one of these again: the last operand.
    fn transformed(&mut self, prim: Prim, operands: &[Var]) -> Var {
        let transformed = self.code.prim(prim, operands);
        if operands.last().is_some_and(|sum| self.is_incomplete(*sum)) {
            self.incomplete.insert(transformed);
        }
        transformed
    }

    /// The sensitivity of a record of the kind of another, by that of its parts.
    fn record(&mut self, of: Var, parts: Var) -> Var {
        let of = self.operand(of);
        self.transformed(Prim::Record, &[of, parts])
    }

    fn take_element(&mut self, vector: Var, index: Var) -> Option<Var> {
        self.put_back(vector);
        let sum = self.sensitivities.get(&vector).copied()?;
        let index = self.operand(index);
        let element = self.code.prim(Prim::TakeElement, &[sum, index]);
        self.incomplete.insert(element);
        Some(element)
    }

    /// Puts what has been taken out of the sum of a variable back.
    fn put_back(&mut self, y: Var) {
        for place in Place::ALL {
            self.put_back_from(y, place);
        }
    }

    fn put_back_from(&mut self, y: Var, place: Place) {
        let Some(x) = self.taken.remove(&(y, place)) else { return };
        let Holder { operands, reversed, .. } = self.holders[&x].clone();
        if place == Place::Element {
            let total = self.total(x, reversed);
            self.sensitivities.remove(&x);
            return self.put(y, [operands[0], operands[1]], total);
        }
        let Some(sum) = self.sensitivity(x) else { return };
        self.sensitivities.remove(&x);
        match place {
            Place::Whole => self.add_to(y, sum),
            Place::Inverse => {
                let sum = self.transformed(Prim::J, &[sum]);
                self.add_to(y, sum);
            }
            Place::Parts => {
                let sum = self.record(operands[0], sum);
                self.add_to(y, sum);
            }
            _ => self.add_part(place, y, operands.first().copied(), sum),
        }
    }

    fn put(&mut self, vector: Var, operands: [Var; 2], total: Var) {
        let index = self.operand(operands[1]);
        let element = self.code.prim(Prim::InElement, &[operands[0], index, total]);
        let sum = self.sensitivities[&vector];
        let name = bar(&self.code.name(vector));
        let sum = self.code.bind(&name, Rhs::Prim(Prim::PutElement, vec![sum, index, element]));
        self.sensitivities.insert(vector, sum);
    }

    fn is_incomplete(&self, sum: Var) -> bool {
        self.incomplete.contains(&sum)
    }

    /// A contribution to x̄ or a part of it, added to what there is.
    fn sum(&mut self, x: Var, sum: Option<Var>, contribution: Var) -> Var {
        let Some(sum) = sum else { return contribution };
        let name = bar(&self.code.name(x));
        let total = self.code.bind(&name, Rhs::Prim(Prim::Plus, vec![sum, contribution]));
        if self.is_incomplete(sum) && self.is_incomplete(contribution) {
            self.incomplete.insert(total);
        }
        total
    }

    /// x̄, when everything has been added; `None` when nothing was. It may be incomplete.
    fn sensitivity(&mut self, x: Var) -> Option<Var> {
        self.put_back(x);
        if let Some(PairParts { primal, sums }) = self.parts.remove(&x) {
            let [with_holes, complete] =
                [true, false].map(|holes| sums.map(|sum| sum.filter(|sum| self.is_incomplete(*sum) == holes)));
            if with_holes != [None, None] {
                let both = self.pair_with_holes(with_holes);
                self.code.program.vars[both].environment_of = self.code.program.vars[x].environment_of;
                self.add_to(x, both);
            }
            match complete {
                // Where both parts are known, no zero is needed for either.
                [Some(car), Some(cdr)] => {
                    let both = self.pair(x, car, cdr);
                    self.add_to(x, both);
                }
                [None, None] => {}
                _ if primal.is_none() => {
                    let both = self.pair_with_holes(complete);
                    self.add_to(x, both);
                }
                _ => {
                    let primal = primal.expect("it is no sum");
                    for (prim, sum) in [Prim::InCar, Prim::InCdr].into_iter().zip(complete) {
                        if let Some(sum) = sum {
                            let contribution = self.code.prim(prim, &[primal, sum]);
                            self.add_to(x, contribution);
                        }
                    }
                }
            }
        }
        self.sensitivities.get(&x).copied()
    }

    /// The sensitivity of a pair with these parts. That of an environment's list is the list of the same environment.
    fn pair(&mut self, x: Var, car: Var, cdr: Var) -> Var {
        let both = self.code.prim(Prim::Cons, &[car, cdr]);
        self.code.program.vars[both].environment_of = self.code.program.vars[x].environment_of;
        both
    }

    /// The pair of two sums, with nothing in place of one that there is not.
    fn pair_with_holes(&mut self, sums: [Option<Var>; 2]) -> Var {
        let [car, cdr] = sums.map(|sum| sum.unwrap_or_else(|| self.code.nothing()));
        let pair = self.code.prim(Prim::Cons, &[car, cdr]);
        if sums.iter().any(|sum| sum.is_none_or(|sum| self.is_incomplete(sum))) {
            self.incomplete.insert(pair);
        }
        pair
    }

    /// x̄, when everything has been added: zero if nothing was, and where nothing was.
    pub fn total(&mut self, x: Var, reversed: Var) -> Var {
        match self.sensitivity(x) {
            Some(sum) if !self.is_incomplete(sum) => sum,
            sum => {
                let zero = self.zero(x, reversed);
                self.sum(x, sum, zero)
            }
        }
    }

    /// The zero of x.
    fn zero(&mut self, x: Var, reversed: Var) -> Var {
        let primal = match self.scope.primal.get(&x) {
            Some(var) => *var,
            None => self.code.prim(Prim::JInverse, &[reversed]),
        };
        self.code.prim(Prim::Zero, &[primal])
    }

    /// The vectors in x̄ so far, which the sum then no longer holds; `None` where there is no sum.
    fn hand(&mut self, x: Var) -> Option<Var> {
        if !self.hands_on || self.scope.inactive.contains(&x) {
            return None;
        }
        if let Some((_, captured)) = self.scope.closures.get(&x).cloned() {
            return self.hand_all(&captured);
        }
        if let Some(parts) = self.scope.arguments.get(&x).copied() {
            let handed = parts.map(|part| self.hand(part));
            return (handed != [None, None]).then(|| self.pair_with_holes(handed));
        }
        self.put_back(x);
        self.take(x, true);
        if let Some(PairParts { sums, .. }) = self.parts.remove(&x)
            && sums != [None, None]
        {
            let both = self.pair_with_holes(sums);
            self.add_to(x, both);
        }
        self.lent.insert(x);
        let sum = self.sensitivities.get(&x).copied()?;
        // A sum that recursive calls add to comes to many places, unless it is that of a closure in data.
        let prim = if self.scope.carried.contains(&x) { Prim::Handed } else { Prim::HandedFew };
        let handed = self.code.prim(prim, &[sum]);
        let kept = self.code.prim(Prim::Kept, &[sum]);
        self.incomplete.insert(kept);
        self.sensitivities.insert(x, kept);
        Some(handed)
    }

    /// The list of what [`Self::hand`] gives for each variable; `None` where no sum has begun.
    fn hand_all(&mut self, variables: &[Var]) -> Option<Var> {
        let handed: Vec<Option<Var>> = variables.iter().map(|x| self.hand(*x)).collect();
        if handed.iter().all(Option::is_none) {
            return None;
        }
        let handed: Vec<Var> = handed.into_iter().map(|sum| sum.unwrap_or_else(|| self.code.nothing())).collect();
        Some(self.code.list(&handed))
    }

    /// What a backpropagator returns for a sensitivity, with what is handed on added.
    fn backpropagate(&mut self, backpropagator: Var, sensitivity: Var, handed: Option<Var>) -> Var {
        let Some(handed) = handed else { return self.code.bind("p", Rhs::Apply(backpropagator, sensitivity)) };
        let adding = self.code.prim(Prim::Adding, &[backpropagator]);
        let lent = self.code.prim(Prim::Lent, &[handed]);
        let argument = self.code.prim(Prim::Cons, &[sensitivity, lent]);
        self.code.bind("p", Rhs::Apply(adding, argument))
    }

    /// ρ of one binding.
    pub fn step(&mut self, step: &Step<'_>) {
        self.code.span = step.span;
        let Some(sensitivity) = self.sensitivity(step.var) else { return };
        let passes_holes = match step.rhs {
            Rhs::Var(_) | Rhs::Destructure(..) => true,
            Rhs::Prim(prim, _) => {
                matches!(prim, Prim::Car | Prim::Cdr | Prim::Plus | Prim::JInverse | Prim::RecordParts)
                    || rules::is_of_sums(*prim) && !matches!(prim, Prim::Adding | Prim::Plain)
            }
            _ => false,
        };
        let sensitivity = match self.is_incomplete(sensitivity) && !passes_holes {
            true => self.total(step.var, step.reversed),
            false => sensitivity,
        };
        self.lent.clear();
        match (step.rhs, &step.kind) {
            (Rhs::Var(y), _) => match self.taken.remove(&(*y, Place::Whole)) == Some(step.var) {
                true => self.add_to(*y, sensitivity),
                false => self.add(*y, sensitivity),
            },
            (Rhs::Apply(..), StepKind::Call { backpropagator, targets }) => {
                let [f, a] = [targets[0], targets[1]].map(|target| self.hand(target));
                let handed = (f.is_some() || a.is_some()).then(|| self.pair_with_holes([f, a]));
                let pair = self.backpropagate(*backpropagator, sensitivity, handed);
                for (target, part) in targets.iter().zip([Part::Car, Part::Cdr]) {
                    if !self.scope.inactive.contains(target) {
                        let contribution = self.code.bind("s", Rhs::Destructure(part, pair));
                        self.add(*target, contribution);
                    }
                }
            }
            (Rhs::If(..), StepKind::Call { backpropagator, targets }) => {
                let handed = self.hand_all(targets);
                let list = self.backpropagate(*backpropagator, sensitivity, handed);
                self.distribute(list, targets);
            }
            (rhs, StepKind::Prim { operands, .. }) if let Some((Place::Parts, y)) = part_of(rhs) => {
                let contribution = self.record(operands[0], sensitivity);
                match self.taken.remove(&(y, Place::Parts)) == Some(step.var) {
                    true => self.add_to(y, contribution),
                    false => self.add(y, contribution),
                }
            }
            (Rhs::Prim(Prim::Record, args), _) if !self.scope.inactive.contains(&args[1]) => {
                let contribution = match self.kind_of(args[0]) {
                    Some(kind) => self.code.bind("s", Rhs::Destructure(Part::Record(kind), sensitivity)),
                    None => self.code.prim(Prim::RecordParts, &[sensitivity]),
                };
                self.add(args[1], contribution);
            }
            (rhs, StepKind::Prim { operands, .. }) if let Some((place, y)) = part_of(rhs) => {
                if self.taken.get(&(y, place)) == Some(&step.var) {
                    self.taken.remove(&(y, place));
                }
                self.add_part(place, y, operands.first().copied(), sensitivity);
            }
            (Rhs::Prim(Prim::JInverse, args), _) => {
                let contribution = self.transformed(Prim::J, &[sensitivity]);
                match self.taken.remove(&(args[0], Place::Inverse)) == Some(step.var) {
                    true => self.add_to(args[0], contribution),
                    false => self.add(args[0], contribution),
                }
            }
            (Rhs::Prim(Prim::Cons, args), _) => {
                let sensitivity = match self.code.program.vars[step.var].environment_of {
                    Some(lambda) => self.environment(lambda, sensitivity),
                    None => sensitivity,
                };
                for (arg, part) in args.iter().zip([Part::Car, Part::Cdr]) {
                    if !self.scope.inactive.contains(arg) {
                        let contribution = self.code.bind("s", Rhs::Destructure(part, sensitivity));
                        self.add(*arg, contribution);
                    }
                }
            }
            (Rhs::Prim(Prim::VectorRef, args), _) if self.scope.inactive.contains(&args[0]) => {}
            (Rhs::Prim(Prim::VectorRef, args), StepKind::Prim { operands, .. })
                if self.taken.get(&(args[0], Place::Element)) == Some(&step.var) =>
            {
                self.taken.remove(&(args[0], Place::Element));
                self.put(args[0], [operands[0], operands[1]], sensitivity);
            }
            (Rhs::Prim(Prim::VectorRef, args), StepKind::Prim { operands, .. }) => {
                let index = self.operand(operands[1]);
                let contribution = self.code.prim(Prim::InElement, &[operands[0], index, sensitivity]);
                self.add(args[0], contribution);
            }
            // Nobody wants the sensitivity of sums that are handed over.
            (Rhs::Prim(Prim::SumCar | Prim::SumCdr, args), _) => {
                let nothing = self.code.nothing();
                self.sensitivities.insert(args[0], nothing);
            }
            // The sensitivity of the beginning of a vector is that of the vector.
            (Rhs::Prim(Prim::Finish, args), _) => self.add(args[0], sensitivity),
            (Rhs::Prim(Prim::Fill, args), StepKind::Prim { operands, .. }) => {
                self.add(args[0], sensitivity);
                if !self.scope.inactive.contains(&args[1]) {
                    let contribution = self.code.prim(Prim::VectorRef, &[sensitivity, operands[0]]);
                    self.add(args[1], contribution);
                }
            }
            (Rhs::Prim(Prim::WithElement, args), StepKind::Prim { operands, .. }) => {
                let index = self.operand(operands[0]);
                if !self.scope.inactive.contains(&args[2]) {
                    let contribution = self.code.prim(Prim::VectorRef, &[sensitivity, index]);
                    self.add(args[2], contribution);
                }
                if !self.scope.inactive.contains(&args[0]) {
                    let contribution = self.code.prim(Prim::WithElement, &[sensitivity, index, operands[1]]);
                    self.add(args[0], contribution);
                }
            }
            (Rhs::Lifted(_, prim, args) | Rhs::Prim(prim, args), StepKind::Prim { operands, result }) => {
                let active: Vec<bool> = args.iter().map(|y| !self.scope.inactive.contains(y)).collect();
                let below = if let Rhs::Lifted(below, ..) = step.rhs { *below } else { Below::NONE };
                let operands: Vec<Var> = operands.iter().map(|operand| self.operand(*operand)).collect();
                let call = Call { below, prim: *prim, operands: &operands, result: *result };
                let contributions = rules::pullback(&mut self.code, &call, sensitivity, &active);
                for (index, contribution) in contributions {
                    self.add(args[index], contribution);
                }
            }
            _ => {}
        }
    }

    /// The variable that holds an operand. A constant is a constant here, too, and not captured: then the next order
    /// knows that it is one.
    fn operand(&mut self, operand: Var) -> Var {
        match self.scope.constants.get(&operand) {
            Some(constant) => self.code.bind("k", Rhs::Const(constant.clone())),
            None => operand,
        }
    }

    /// The kind of the records that `(%record r p)` makes, where `r` is a constant.
    fn kind_of(&self, r: Var) -> Option<RecordId> {
        match self.scope.constants.get(self.scope.primal.get(&r)?) {
            Some(Const::Record(kind)) => Some(*kind),
            _ => None,
        }
    }

    /// ρ of `x = (car y)` and `x = (cdr y)`.
    fn add_part(&mut self, place: Place, y: Var, primal: Option<Var>, sensitivity: Var) {
        if self.scope.inactive.contains(&y) {
            return;
        }
        self.put_back_from(y, place);
        let position = usize::from(place == Place::Cdr);
        let sums = self.parts.get(&y).map_or([None; 2], |parts| parts.sums);
        let total = self.sum(y, sums[position], sensitivity);
        self.parts.entry(y).or_insert(PairParts { primal, sums }).sums[position] = Some(total);
    }

    /// Adds the elements of a list of sensitivities to the variables in order.
    fn distribute(&mut self, list: Var, targets: &[Var]) {
        let mut rest = list;
        for (position, target) in targets.iter().enumerate() {
            if !self.scope.inactive.contains(target) {
                let contribution = self.code.bind("s", Rhs::Destructure(Part::Car, rest));
                self.add(*target, contribution);
            }
            if position + 1 < targets.len() {
                rest = self.code.bind("rest", Rhs::Destructure(Part::Cdr, rest));
            }
        }
    }
}

/// The variables of a body that hold what is in others.
fn holders(steps: &[Step<'_>], scope: &Scope) -> FxHashMap<Var, Holder> {
    let mut holders = FxHashMap::default();
    for step in steps {
        let (place, of) = match step.rhs {
            Rhs::Var(y) => (Place::Whole, *y),
            Rhs::Prim(Prim::VectorRef, args) => (Place::Element, args[0]),
            Rhs::Prim(Prim::JInverse, args) => (Place::Inverse, args[0]),
            rhs => match part_of(rhs) {
                Some(part) => part,
                None => continue,
            },
        };
        let operands = match &step.kind {
            StepKind::Prim { operands, .. } => operands.clone(),
            _ if place == Place::Whole => Vec::new(),
            _ => continue,
        };
        // The sums of closures and of several arguments are those of other variables.
        let has_parts_elsewhere = scope.closures.contains(&of) || scope.arguments.contains_key(&of);
        if !scope.inactive.contains(&of) && !scope.inactive.contains(&step.var) && !has_parts_elsewhere {
            holders.insert(step.var, Holder { of, place, operands, reversed: step.reversed });
        }
    }
    holders
}

/// Which part of a pair or record it is that a right-hand side gives, and of which one.
fn part_of(rhs: &Rhs) -> Option<(Place, Var)> {
    match rhs {
        Rhs::Destructure(part, y) => Some((Place::of(*part)?, *y)),
        Rhs::Prim(Prim::Car | Prim::SplitCar, args) => Some((Place::Car, args[0])),
        Rhs::Prim(Prim::Cdr | Prim::SplitCdr, args) => Some((Place::Cdr, args[0])),
        Rhs::Prim(Prim::RecordParts, args) => Some((Place::Parts, args[0])),
        _ => None,
    }
}
