//! Errors that a program certainly meets: what its functions do in any case → the message, when the program is compiled.

use crate::base::{Definitions, Diagnostic};
use crate::core::callers;
use crate::specialize::Specializer;
use crate::ssa::ir::{FuncId, Phase, Source};
use rustc_hash::FxHashSet;

/// What a function certainly does, in order, as far as errors are concerned.
#[derive(Clone, Debug)]
pub(in crate::specialize) enum Event {
    /// There.
    Fail(Box<Diagnostic>, Option<Source>),
    /// From there.
    Call(FuncId, Option<Source>),
}

impl Specializer<'_> {
    /// The first error that the program cannot avoid.
    pub(in crate::specialize) fn certain_failure(&self, main: FuncId) -> Option<Box<Diagnostic>> {
        // Each with the call that its function is called by: its number among these.
        let mut calls: Vec<(Source, Option<usize>)> = Vec::new();
        let mut pending: Vec<(&Event, Option<usize>)> =
            self.certain.get(&main)?.iter().rev().map(|event| (event, None)).collect();
        let mut seen = FxHashSet::default();
        while let Some((event, caller)) = pending.pop() {
            match event {
                Event::Fail(diagnostic, place) => {
                    let around = |call: &(Source, Option<usize>)| call.1.map(|around| calls[around]);
                    let calls = std::iter::successors(caller.map(|caller| calls[caller]), around);
                    let mut diagnostic = diagnostic.clone();
                    diagnostic.callers = self.callers(*place, calls.map(|(call, _)| call));
                    return Some(diagnostic);
                }
                Event::Call(function, call) if seen.insert(*function) => {
                    let call = call.map(|call| {
                        calls.push((call, caller));
                        calls.len() - 1
                    });
                    let events = self.certain.get(function).into_iter().flat_map(|events| events.iter().rev());
                    pending.extend(events.map(|event| (event, call.or(caller))));
                }
                Event::Call(..) => {}
            }
        }
        None
    }

    /// What a message says about the calls that led to a place, the innermost one first.
    fn callers(&self, place: Option<Source>, calls: impl Iterator<Item = Source>) -> Vec<String> {
        let definitions = Definitions::new(self.out.definitions.iter().cloned());
        let call = |source: Source| {
            let is_derivative = source.phase == Phase::Derivative;
            callers::call(&definitions, self.sources, source.span, is_derivative)
        };
        let mut chain = callers::Chain::new(place.map(call));
        calls.for_each(|source| chain.add(call(source), false));
        callers::lines(&chain)
    }
}
