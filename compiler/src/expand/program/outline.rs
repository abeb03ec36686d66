//! Datums → what a program defines at its top level, as far as one sees it without expanding anything.
//!
//! Tools work on programs that may be wrong, and on a part of a program: what they show of a definition is what is
//! written.

use crate::base::Span;
use crate::syntax::{self, Datum, DatumKind};
use std::rc::Rc;

/// A definition at top level.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The name defined.
    pub name: Rc<str>,
    /// Where the name stands.
    pub name_span: Span,
    /// The whole form.
    pub span: Span,
    /// What stands behind `define`: `(name parameter ...)`, or the name alone.
    pub header: String,
}

/// The definitions among datums, in order.
pub fn definitions(datums: &[Datum]) -> Vec<Outline> {
    datums.iter().filter_map(definition).collect()
}

/// The definition that a datum is, if it is one.
pub fn definition(datum: &Datum) -> Option<Outline> {
    let [head, header, ..] = datum.list()? else { return None };
    if !head.is_symbol("define") {
        return None;
    }
    let mut target = header;
    loop {
        match &target.kind {
            DatumKind::Symbol(name) => {
                let (name, name_span) = (name.clone(), target.span);
                return Some(Outline { name, name_span, span: datum.span, header: syntax::flat(header) });
            }
            DatumKind::List(items) | DatumKind::Dotted(items, _) => target = items.first()?,
            _ => return None,
        }
    }
}

/// The name that an `include` gives.
pub fn included(datum: &Datum) -> Option<&Rc<str>> {
    match datum.list()? {
        [head, Datum { kind: DatumKind::Str(name), .. }] if head.is_symbol("include") => Some(name),
        _ => None,
    }
}
