//! Quotation and quasi-quotation.
//!
//! The language has no symbols, so quoted data are numbers, booleans, strings, `()` and pairs and vectors of these.

use crate::base::Span;
use crate::core::ir::{Const, Rhs, Var};
use crate::core::prim::Prim;
use crate::expand::build::Expander;
use crate::expand::error::Error;
use crate::syntax::{Datum, DatumKind, Prefix};
use std::rc::Rc;

impl Expander {
    /// The value that a quoted datum stands for.
    pub fn quotation(&mut self, datum: &Datum) -> Rhs {
        self.datum(datum, false)
    }

    /// The value of a quasi-quoted datum, whose unquoted parts are evaluated from the left.
    pub fn quasiquotation(&mut self, datum: &Datum) -> Rhs {
        self.datum(datum, true)
    }

    fn datum(&mut self, datum: &Datum, quasi: bool) -> Rhs {
        if let Some(inner) = marked(datum, Prefix::Unquote).filter(|_| quasi) {
            return self.rhs(inner);
        }
        if quasi && marked(datum, Prefix::Quasiquote).is_some() {
            return self.error(Error::NestedQuasiquote(datum.span));
        }
        match &datum.kind {
            DatumKind::Real(x) => Rhs::Const(Const::Real(*x)),
            DatumKind::Bool(b) => Rhs::Const(Const::Bool(*b)),
            DatumKind::Str(text) => Rhs::Const(Const::Str(text.clone())),
            DatumKind::List(items) => self.quoted_list(items, None, quasi, datum.span),
            DatumKind::Dotted(items, tail) => self.quoted_list(items, Some(tail), quasi, datum.span),
            DatumKind::Symbol(name) => self.error(Error::QuotedSymbol(datum.span, name.clone())),
            DatumKind::Prefixed(mark, _) => self.error(Error::QuotedSymbol(datum.span, Rc::from(mark.name()))),
            DatumKind::Vector(items) => {
                let values = self.data(items, quasi);
                self.vector(&values, datum.span)
            }
        }
    }

    fn quoted_list(&mut self, items: &[Datum], tail: Option<&Datum>, quasi: bool, span: Span) -> Rhs {
        let values = self.data(items, quasi);
        let tail = match tail {
            Some(tail) => self.datum(tail, quasi),
            None => Rhs::Const(Const::Nil),
        };
        self.chain(&values, tail, span)
    }

    fn data(&mut self, items: &[Datum], quasi: bool) -> Vec<Var> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            let rhs = self.datum(item, quasi);
            values.push(self.hold(rhs, item.span));
        }
        values
    }

    /// The vector of these values.
    pub fn vector(&mut self, values: &[Var], span: Span) -> Rhs {
        let length = self.hold(Rhs::Const(Const::Real(values.len() as f64)), span);
        let mut rhs = Rhs::Prim(Prim::NewVector, vec![length]);
        for value in values {
            let vector = self.hold(rhs, span);
            rhs = Rhs::Prim(Prim::Fill, vec![vector, *value]);
        }
        let vector = self.hold(rhs, span);
        Rhs::Prim(Prim::Finish, vec![vector])
    }

    /// The value `(v1 . (v2 . ... tail))`.
    pub fn chain(&mut self, values: &[Var], tail: Rhs, span: Span) -> Rhs {
        let mut rhs = tail;
        for value in values.iter().rev() {
            let rest = self.hold(rhs, span);
            rhs = Rhs::Prim(Prim::Cons, vec![*value, rest]);
        }
        rhs
    }
}

/// What a quotation mark applies to, when the datum is one of that kind, in short or written out.
fn marked(datum: &Datum, mark: Prefix) -> Option<&Datum> {
    match &datum.kind {
        DatumKind::Prefixed(prefix, inner) if *prefix == mark => Some(inner),
        DatumKind::List(items) => match &**items {
            [head, inner] if head.is_symbol(mark.name()) => Some(inner),
            _ => None,
        },
        _ => None,
    }
}
