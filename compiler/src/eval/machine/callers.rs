//! Who called: the activations that wait when the program fails → what the message says about them.

use super::{Call, Machine};
use crate::base::{Definitions, Span};
use crate::core::callers::{self, Chain};
use crate::eval::code::Code;
use std::sync::Arc;

impl Machine<'_> {
    /// The calls that led to the instruction just executed, which is one of that code.
    pub(super) fn callers(&self, code: &Code) -> Vec<String> {
        let lambdas = self.world.program.lambdas.values();
        let own = lambdas.filter(|lambda| lambda.is_named_in_source() && !self.sources.is_library(lambda.span));
        let definitions = Definitions::new(own.map(|lambda| (lambda.span, Arc::from(&*lambda.name))));
        let words = |(span, is_of_derivative)| callers::call(&definitions, self.sources, span, is_of_derivative);
        let at = self.running.next as usize - 1;
        let place = self.place(code);
        let call = place.library.is_some().then_some((place.span, code.of_derivative[at]));
        let mut chain = Chain::new(call.map(words));
        // Where the program called what is in the library, it may have called many functions in turn.
        let mut blamed = (self.frames.len(), None);
        let (mut by_library, mut before) = (None, None);
        for (position, frame) in self.frames.iter().enumerate().rev() {
            let call = (frame.code, frame.next - 1);
            let (span, is_of_derivative) = self.source(call);
            if self.sources.is_library(span) {
                if position < blamed.0 {
                    blamed = self.call_into_library(position);
                }
                let place = blamed.1.map(|place| (place, is_of_derivative));
                // What the library does stands where the program calls it, unless that was the last that it did.
                if by_library.map(|(place, _)| place) != blamed.1 {
                    std::mem::replace(&mut by_library, place)
                        .into_iter()
                        .for_each(|place| chain.add(words(place), false));
                }
            } else {
                let gone = by_library.take().filter(|(place, _)| *place != span);
                gone.into_iter().for_each(|place| chain.add(words(place), false));
                chain.add(words((span, is_of_derivative)), before == Some(call));
            }
            before = Some(call);
        }
        let last = self.last_of_item.map(|Call { code, instruction, .. }| self.source((code, instruction)));
        let gone = by_library.filter(|(place, _)| last.is_none_or(|(last, _)| *place != last));
        gone.into_iter().chain(last).for_each(|place| chain.add(words(place), false));
        callers::lines(&chain)
    }

    fn source(&self, (code, instruction): (u32, u32)) -> (Span, bool) {
        let code = &self.codes[code as usize];
        (code.spans[instruction as usize], code.of_derivative[instruction as usize])
    }

    /// The innermost call by the program that led to the activation at a position or one around it, and where that is.
    fn call_into_library(&self, position: usize) -> (usize, Option<Span>) {
        let calls = self.frames[..=position].iter().enumerate().rev();
        let mut calls = calls.filter_map(|(around, frame)| Some((around, self.span_of(frame.call?))));
        match calls.find(|(_, span)| !self.sources.is_library(*span)) {
            Some((around, span)) => (around, Some(span)),
            None => (0, None),
        }
    }
}
