//! Who called, in the words of the run time: places in the source → [`Call`]s, and these → lines of a message.

#[path = "../../../runtime/src/callers.rs"]
mod chain;

pub use chain::{Call, Chain, Line};

use crate::base::{Definitions, SourceMap, Span};

/// The call that stands there.
pub fn call<'s>(definitions: &'s Definitions, sources: &'s SourceMap, span: Span, is_derivative: bool) -> Call<'s> {
    let (line, column) = sources.line_column(span);
    let [line, column] = [line, column].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    Call { function: definitions.name(span), is_derivative, file: &sources.file(span.file).name, line, column }
}

/// The lines about calls.
pub fn lines(chain: &Chain<Call>) -> Vec<String> {
    let mut lines = Vec::new();
    chain.write(|line| lines.push(line.to_string()));
    lines
}
