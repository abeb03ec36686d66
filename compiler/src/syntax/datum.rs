//! Datums: the trees that source text stands for.

use crate::base::Span;
use std::rc::Rc;

/// A tree with its place in the source.
#[derive(Clone, Debug)]
pub struct Datum {
    /// What it is.
    pub kind: DatumKind,
    /// Where it is, brackets included.
    pub span: Span,
}

/// The kinds of datums.
#[derive(Clone, Debug)]
pub enum DatumKind {
    /// A number.
    Real(f64),
    /// `#t`, `#f`
    Bool(bool),
    /// A text.
    Str(Rc<str>),
    /// A name.
    Symbol(Rc<str>),
    /// `(x ...)`, also `()`
    List(Vec<Datum>),
    /// `(x ... . y)`: at least one `x`; `y` is no list (the reader appends those).
    Dotted(Vec<Datum>, Box<Datum>),
    /// `#(x ...)`
    Vector(Vec<Datum>),
    /// A quotation mark and what it applies to.
    Prefixed(Prefix, Box<Datum>),
}

/// The quotation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// `'`
    Quote,
    /// `` ` ``
    Quasiquote,
    /// `,`
    Unquote,
}

impl Prefix {
    /// The mark as written.
    pub fn mark(self) -> &'static str {
        match self {
            Prefix::Quote => "'",
            Prefix::Quasiquote => "`",
            Prefix::Unquote => ",",
        }
    }
    /// The name of the form that the mark abbreviates.
    pub fn name(self) -> &'static str {
        match self {
            Prefix::Quote => "quote",
            Prefix::Quasiquote => "quasiquote",
            Prefix::Unquote => "unquote",
        }
    }
}

impl Datum {
    /// The name, when the datum is one.
    pub fn symbol(&self) -> Option<&Rc<str>> {
        match &self.kind {
            DatumKind::Symbol(name) => Some(name),
            _ => None,
        }
    }
    /// The elements, when the datum is a proper list.
    pub fn list(&self) -> Option<&[Datum]> {
        match &self.kind {
            DatumKind::List(items) => Some(items),
            _ => None,
        }
    }
    /// What stands behind the word, when the datum is a form that it introduces.
    pub fn behind(&self, word: &str) -> Option<&[Datum]> {
        let (head, operands) = self.list()?.split_first()?;
        head.is_symbol(word).then_some(operands)
    }
    /// Calls `visit` for every name in the datum, quoted ones included.
    pub fn names<'d>(&'d self, visit: &mut impl FnMut(&'d Rc<str>)) {
        match &self.kind {
            DatumKind::Symbol(name) => visit(name),
            DatumKind::List(items) | DatumKind::Vector(items) => items.iter().for_each(|item| item.names(visit)),
            DatumKind::Dotted(items, tail) => {
                items.iter().for_each(|item| item.names(visit));
                tail.names(visit);
            }
            DatumKind::Prefixed(_, inner) => inner.names(visit),
            _ => {}
        }
    }
    /// True for the name `name`.
    pub fn is_symbol(&self, name: &str) -> bool {
        self.symbol().is_some_and(|symbol| **symbol == *name)
    }
}

/// The datum `(items ... . tail)`; a tail that is a list is appended.
pub fn dotted(mut items: Vec<Datum>, tail: Datum) -> DatumKind {
    match tail.kind {
        DatumKind::List(rest) => {
            items.extend(rest);
            DatumKind::List(items)
        }
        DatumKind::Dotted(rest, end) => {
            items.extend(rest);
            DatumKind::Dotted(items, end)
        }
        _ => DatumKind::Dotted(items, Box::new(tail)),
    }
}

/// `items` and behind them `item`.
pub fn appended(mut items: Vec<Datum>, item: Datum) -> Vec<Datum> {
    items.push(item);
    items
}
