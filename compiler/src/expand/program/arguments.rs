//! The arguments that a program declares: `(arguments "about" (name type default "about") ...)` → definitions of the
//! names, and the declaration as the run time reads it.
//!
//! ```text
//! (arguments (rate real 0.1 "step size")       (define rate (argument-number))
//!            (data matrix "samples"))     →    (define data (argument-matrix))
//! ```
//!
//! The definitions come first in the program, in this order: that is the order in which the run time gives the numbers
//! that the command line says, see [`crate::core::arguments`]. The functions are the library's, under names that no
//! program can write. A program that defines a function `arguments` itself has no such form.

use crate::base::{Diagnostic, Span};
use crate::core::arguments::{FIELD, RECORD};
use crate::core::number;
use crate::expand::error::Error;
use crate::syntax::{Datum, DatumKind, Prefix};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The names of the library's functions in programs with arguments.
pub const LIBRARY: [(&str, &str); 4] = [
    (" argument-number", "%argument-number"),
    (" argument-truth", "%argument-truth"),
    (" argument-vector", "%argument-vector"),
    (" argument-matrix", "%argument-matrix"),
];

const FORM: &str = "(arguments \"about\" (name type default \"about\") ...)";

/// Numbers beyond are not all whole.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// The types of arguments: the name, the letter of the declaration, the function that reads it, what a default looks
/// like.
const TYPES: [(&str, &str, usize, &str); 5] = [
    ("real", "r", 0, "a number"),
    ("integer", "i", 0, "a whole number"),
    ("boolean", "b", 1, "`#t` or `#f`"),
    ("vector", "v", 2, "a vector such as `#(1 2)`, or the name of a file as a text"),
    ("matrix", "m", 3, "a matrix such as `#(#(1 2) #(3 4))`, or the name of a file as a text"),
];

/// The datums of a program with definitions in place of its declaration, and the declaration; mistakes in it.
pub fn declared(datums: Vec<Datum>) -> (Vec<Datum>, Option<Rc<str>>, Vec<Diagnostic>) {
    let is_own = datums.iter().any(|datum| defines(datum, "arguments"));
    let is_form =
        |datum: &Datum| datum.list().and_then(<[Datum]>::first).is_some_and(|head| head.is_symbol("arguments"));
    if is_own || !datums.iter().any(is_form) {
        return (datums, None, Vec::new());
    }
    let (forms, rest): (Vec<Datum>, Vec<Datum>) = datums.into_iter().partition(is_form);
    let mut reader =
        Declaration { text: String::new(), definitions: Vec::new(), names: FxHashMap::default(), errors: Vec::new() };
    reader.form(&forms[0]);
    for second in &forms[1..] {
        reader.errors.push(Error::ArgumentsTwice { first: forms[0].span, second: second.span });
    }
    let errors = reader.errors.iter().map(Error::to_diagnostic).collect();
    let mut datums = reader.definitions;
    datums.extend(rest);
    (datums, Some(Rc::from(reader.text)), errors)
}

/// Whether a top-level datum defines a name.
fn defines(datum: &Datum, name: &str) -> bool {
    let Some([head, target, ..]) = datum.list() else { return false };
    let mut target = target;
    while let Some([inner, ..]) = target.list() {
        target = inner;
    }
    head.is_symbol("define") && target.is_symbol(name)
}

struct Declaration {
    text: String,
    definitions: Vec<Datum>,
    names: FxHashMap<Rc<str>, Span>,
    errors: Vec<Error>,
}

impl Declaration {
    fn form(&mut self, form: &Datum) {
        let mut parts = form.list().unwrap_or(&[]).iter().skip(1).peekable();
        if let Some(Datum { kind: DatumKind::Str(about), .. }) = parts.peek() {
            self.text = clean(about);
            parts.next();
        }
        if parts.peek().is_none() {
            self.errors.push(Error::Malformed(form.span, "arguments", FORM));
        }
        for part in parts {
            self.argument(part);
        }
    }

    fn argument(&mut self, datum: &Datum) {
        let wrong = Error::MalformedArgument(datum.span);
        let Some([name, kind, rest @ ..]) = datum.list() else { return self.errors.push(wrong) };
        let Some(called) = name.symbol() else { return self.errors.push(Error::ArgumentName(name.span)) };
        let is_plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || c == '?';
        if !called.starts_with(char::is_alphabetic) || !called.chars().all(is_plain) || &**called == "help" {
            return self.errors.push(Error::ArgumentName(name.span));
        }
        let Some(row) = TYPES.iter().find(|row| kind.is_symbol(row.0)) else {
            return self.errors.push(Error::ArgumentType(kind.span));
        };
        let (default, about) = match rest {
            [] => (None, None),
            [Datum { kind: DatumKind::Str(about), .. }] => (None, Some(about)),
            [default] => (Some(default), None),
            [default, Datum { kind: DatumKind::Str(about), .. }] => (Some(default), Some(about)),
            _ => return self.errors.push(wrong),
        };
        let default = match default.map(|default| (default.span, value(default, row.1))) {
            None => String::new(),
            Some((_, Some(text))) => format!("={text}"),
            Some((span, None)) => return self.errors.push(Error::ArgumentDefault(span, row.0, row.3)),
        };
        if let Some(first) = self.names.insert(called.clone(), name.span) {
            return self.errors.push(Error::DuplicateName { first, second: name.span, name: called.clone() });
        }
        let about = about.map_or(String::new(), |about| clean(about));
        self.text += &format!("{RECORD}{called}{FIELD}{}{FIELD}{default}{FIELD}{about}", row.1);
        let symbol = |name: &str| Datum { kind: DatumKind::Symbol(name.into()), span: datum.span };
        let list = |items| Datum { kind: DatumKind::List(items), span: datum.span };
        let read = list(vec![symbol(LIBRARY[row.2].0)]);
        self.definitions.push(list(vec![symbol("define"), name.clone(), read]));
    }
}

/// A text without the characters that separate parts of a declaration, on one line.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A default as one would write it on the command line.
fn value(default: &Datum, kind: &str) -> Option<String> {
    let default = match &default.kind {
        DatumKind::Prefixed(Prefix::Quote, quoted) => quoted,
        _ => default,
    };
    match (&default.kind, kind) {
        (DatumKind::Real(x), "r") => Some(written(*x)),
        (DatumKind::Real(x), "i") if x.fract() == 0.0 && x.abs() <= LARGEST_WHOLE => Some(written(*x)),
        (DatumKind::Bool(value), "b") => Some(value.to_string()),
        (DatumKind::Str(path), "v" | "m") if !path.is_empty() && **path == *clean(path) => Some(path.to_string()),
        (DatumKind::Vector(items), "v") => row(items),
        (DatumKind::Vector(items), "m") if !items.is_empty() => {
            let rows: Option<Vec<String>> = items.iter().map(|item| value(item, "v")).collect();
            let rows =
                rows.filter(|rows| rows.iter().all(|row| row.matches(',').count() == rows[0].matches(',').count()));
            Some(rows?.join(";"))
        }
        _ => None,
    }
}

fn row(items: &[Datum]) -> Option<String> {
    let numbers: Option<Vec<String>> = items
        .iter()
        .map(|item| match item.kind {
            DatumKind::Real(x) if x.is_finite() => Some(written(x)),
            _ => None,
        })
        .collect();
    numbers.filter(|numbers| !numbers.is_empty()).map(|numbers| numbers.join(","))
}

fn written(x: f64) -> String {
    number::format(x).as_str().to_string()
}
