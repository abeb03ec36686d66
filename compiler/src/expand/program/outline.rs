//! Datums → what a program defines at its top level, as far as one sees it without expanding anything.
//!
//! Tools work on programs that may be wrong, and on a part of a program: what they show of a definition is what is
//! written.

use crate::base::Span;
use crate::expand::names::records::{self, Defined};
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
    /// Where that stands.
    pub header_span: Span,
    /// Whether it is one of the functions that a definition of records makes.
    pub is_of_records: bool,
}

/// The definitions among datums, in order.
pub fn definitions(datums: &[Datum]) -> Vec<Outline> {
    datums.iter().flat_map(all).collect()
}

/// The definitions that a datum is: several if it defines records.
pub fn all(datum: &Datum) -> Vec<Outline> {
    let Some(form) = records::form(datum) else { return definition(datum).into_iter().collect() };
    let outline = |defined: Defined| {
        let Defined { name, span: name_span, call: header, .. } = defined;
        Outline { name, name_span, span: form.span, header, header_span: name_span, is_of_records: true }
    };
    form.defined().into_iter().map(outline).collect()
}

/// The definition that a datum is, if it is one; the first, if it is several.
pub fn definition(datum: &Datum) -> Option<Outline> {
    if records::form(datum).is_some() {
        return all(datum).into_iter().next();
    }
    let [head, header, ..] = datum.list()? else { return None };
    if !head.is_symbol("define") {
        return None;
    }
    let mut target = header;
    loop {
        match &target.kind {
            DatumKind::Symbol(name) => {
                let (name, name_span) = (name.clone(), target.span);
                let (span, header_span) = (datum.span, header.span);
                let header = syntax::flat(header);
                return Some(Outline { name, name_span, span, header, header_span, is_of_records: false });
            }
            DatumKind::List(items) | DatumKind::Dotted(items, _) => target = items.first()?,
            _ => return None,
        }
    }
}

/// Whether a datum includes or imports a file.
pub fn names_file(datum: &Datum) -> bool {
    let named = |word| matches!(datum.behind(word), Some([Datum { kind: DatumKind::Str(_), .. }, ..]));
    named("include") || named("import")
}
