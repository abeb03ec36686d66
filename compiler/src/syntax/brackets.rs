//! The check that brackets match and do not nest too deeply.

use crate::base::{FileId, Span};
use crate::syntax::MAX_NESTING;
use crate::syntax::error::Error;
use crate::syntax::lexer::Spanned;
use crate::syntax::token::{Bracket, Token};

/// Reports brackets without a partner, brackets of unlike kinds, and the first place that is nested too deeply.
pub fn check(file: FileId, tokens: &[Spanned], length: usize, errors: &mut Vec<Error>) {
    let mut open: Vec<Open> = Vec::new();
    // Quotes and datum comments in front of the next datum: they nest, too.
    let mut prefixes = 0;
    let mut reported_depth = false;
    for &(start, ref token, end) in tokens {
        let span = Span::new(file, start, end);
        match token {
            Token::Prefix(_) | Token::Skip => prefixes += 1,
            Token::Open(_) | Token::OpenVector => {
                let kind = if let Token::Open(kind) = token { *kind } else { Bracket::Round };
                let depth = open.last().map_or(0, |open| open.depth) + prefixes + 1;
                open.push(Open { kind, span, depth });
                prefixes = 0;
            }
            Token::Close(kind) => {
                close(&mut open, *kind, span, errors);
                prefixes = 0;
            }
            _ => prefixes = 0,
        }
        if !reported_depth && open.last().map_or(0, |open| open.depth) + prefixes > MAX_NESTING {
            errors.push(Error::TooDeep(span));
            reported_depth = true;
        }
    }
    let end = Span::new(file, length, length);
    // When nesting is too deep, the brackets left open are hardly news.
    if let Some(innermost) = open.last().filter(|_| !reported_depth) {
        errors.push(Error::Unclosed { open: innermost.span, end, others: open.len() - 1 });
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
