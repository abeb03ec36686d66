//! The check that brackets match and do not nest too deeply.

use crate::base::{FileId, Span};
use crate::syntax::MAX_NESTING;
use crate::syntax::error::Error;
use crate::syntax::lexer::Spanned;
use crate::syntax::token::{Bracket, Token};
use std::rc::Rc;

/// Reports brackets without a partner, brackets of unlike kinds, and the first place that is nested too deeply.
pub fn check(file: FileId, tokens: &[Spanned], text: &str, errors: &mut Vec<Error>) {
    let mut open: Vec<Open> = Vec::new();
    // The first bracket at the start of a line inside others: where a reader sees that one before is not closed.
    let mut suspect = None;
    // Quotes and datum comments in front of the next datum: they nest, too.
    let mut prefixes = 0;
    let mut reported_depth = false;
    // The end of the token before.
    let mut last = 0;
    for &(start, ref token, end) in tokens {
        let span = Span::new(file, start, end);
        match token {
            Token::Prefix(_) | Token::Skip => prefixes += 1,
            Token::Open(_) | Token::OpenVector => {
                if let Some(around) = open.last().filter(|_| suspect.is_none() && text[..start].ends_with('\n')) {
                    suspect = Some((around.span, open.len(), span, last));
                }
                let kind = if let Token::Open(kind) = token { *kind } else { Bracket::Round };
                let depth = open.last().map_or(0, |open| open.depth) + prefixes + 1;
                open.push(Open { kind, span, depth });
                prefixes = 0;
            }
            Token::Close(kind) => {
                close(&mut open, *kind, span, errors);
                prefixes = 0;
                suspect = suspect.filter(|(_, depth, ..)| open.len() >= *depth);
            }
            _ => prefixes = 0,
        }
        if !reported_depth && open.last().map_or(0, |open| open.depth) + prefixes > MAX_NESTING {
            errors.push(Error::TooDeep(span));
            reported_depth = true;
        }
        last = end;
    }
    let end = Span::new(file, text.len(), text.len());
    // When nesting is too deep, the brackets left open are hardly news.
    if let Some(innermost) = open.last().filter(|_| !reported_depth) {
        let (span, depth, next, last) = match suspect {
            Some((span, depth, next, last)) => (span, depth, Some(next), last),
            None => (innermost.span, open.len(), None, last),
        };
        let closing: String = open[..depth].iter().rev().map(|open| open.kind.closing()).collect();
        let closing = (Span::new(file, last, last), Rc::from(closing));
        errors.push(Error::Unclosed { open: span, end, others: depth - 1, next, closing });
    }
}

struct Open {
    kind: Bracket,
    span: Span,
    depth: usize,
}

fn close(open: &mut Vec<Open>, kind: Bracket, span: Span, errors: &mut Vec<Error>) {
    match open.pop() {
        None => errors.push(Error::UnexpectedClose(span)),
        Some(partner) if partner.kind != kind => {
            errors.push(Error::Mismatched { open: partner.span, close: span, expected: partner.kind })
        }
        Some(_) => {}
    }
}
