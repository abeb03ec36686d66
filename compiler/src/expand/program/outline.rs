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
        Outline { name, name_span, span: form.span, header }
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
                return Some(Outline { name, name_span, span: datum.span, header: syntax::flat(header) });
            }
            DatumKind::List(items) | DatumKind::Dotted(items, _) => target = items.first()?,
            _ => return None,
        }
    }
}

/// A file that another one includes or imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name as written.
    pub name: Rc<str>,
    /// What stands in front of its names there.
    pub prefix: Rc<str>,
    /// Whether it is imported: what it imports itself is not seen then.
    pub is_imported: bool,
}

/// The file that an `include` or an `import` names.
pub fn named(datum: &Datum) -> Option<Named> {
    let [head, Datum { kind: DatumKind::Str(name), .. }, clauses @ ..] = datum.list()? else { return None };
    let prefix = clauses.iter().find_map(|clause| match clause.list()? {
        [head, prefix] if head.is_symbol("prefix") => prefix.symbol().cloned(),
        _ => None,
    });
    let is_imported = head.is_symbol("import");
    let is_named = is_imported || head.is_symbol("include");
    is_named.then(|| Named { name: name.clone(), prefix: prefix.unwrap_or_default(), is_imported })
}

/// The names that a `provide` lists.
pub fn provided(datum: &Datum) -> Option<impl Iterator<Item = &Rc<str>>> {
    Some(datum.behind("provide")?.iter().filter_map(Datum::symbol))
}
