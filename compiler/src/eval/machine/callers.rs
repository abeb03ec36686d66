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
        let mut chain = Chain::new(Some(words((self.place(code).span, code.of_derivative[at]))));
        // Where the program called what is in the library, it may have called many functions in turn.
        let mut blamed = (self.frames.len(), None);
        let mut before = None;
        for (position, frame) in self.frames.iter().enumerate().rev() {
            let call = (frame.code, frame.next - 1);
            let (span, is_of_derivative) = self.source(call);
            let place = if self.sources.is_library(span) {
                if position < blamed.0 {
                    blamed = self.call_into_library(position);
                }
                blamed.1
            } else {
                Some(span)
            };
            if let Some(place) = place {
                chain.add(words((place, is_of_derivative)), place == span && before == Some(call));
            }
            before = Some(call);
        }
        if let Some(Call { code, instruction, .. }) = self.last_of_item {
            chain.add(words(self.source((code, instruction))), false);
        }
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
