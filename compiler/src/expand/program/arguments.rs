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
use crate::core::table::BETWEEN;
use crate::expand::error::Error;
use crate::expand::names::unbound::type_meant;
use crate::syntax::{Datum, DatumKind, Prefix};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The names of the library's functions in programs with arguments.
pub const LIBRARY: [(&str, &str); 5] = [
    (" argument-number", "%argument-number"),
    (" argument-truth", "%argument-truth"),
    (" argument-vector", "%argument-vector"),
    (" argument-matrix", "%argument-matrix"),
    (" argument-choice", "%argument-choice"),
];

const FORM: &str = "(arguments \"about\" (name type default \"about\") ...)";

/// Numbers beyond are not all whole.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// The types of arguments: the name, the letter of the declaration, the function that reads it, what a default looks
/// like.
const TYPES: [Row; 6] = [
    ("real", "r", 0, "a number"),
    ("integer", "i", 0, "a whole number"),
    ("boolean", "b", 1, "`#t` or `#f`"),
    ("vector", "v", 2, "a vector such as `#(1 2)`, or the name of a file as a text"),
    ("matrix", "m", 3, "a matrix such as `#(#(1 2) #(3 4))`, or the name of a file as a text"),
    ("choice", "c", 4, "one of the texts that can be chosen"),
];

type Row = (&'static str, &'static str, usize, &'static str);

/// The row of a type, and the detail that it says: `real`, `(matrix (columns "a" "b") (missing drop))`,
/// `(choice "a" "b")`.
fn typed(kind: &Datum) -> Option<(&'static Row, String)> {
    let (name, parts) = match kind.list() {
        Some([name, parts @ ..]) => (name, parts),
        Some([]) => return None,
        None => (kind, &[][..]),
    };
    let row = TYPES.iter().find(|row| name.is_symbol(row.0))?;
    let text = |datum: &Datum| match &datum.kind {
        DatumKind::Str(text) if !text.is_empty() && **text == *clean(text) => Some(text.to_string()),
        _ => None,
    };
    match row.1 {
        "c" => {
            let choices: Vec<String> = parts.iter().map(text).collect::<Option<_>>()?;
            (!choices.is_empty()).then(|| (row, choices.join(&BETWEEN.to_string())))
        }
        "v" | "m" => {
            let (mut columns, mut missing) = (Vec::new(), "e");
            for part in parts {
                match part.list()? {
                    [head, names @ ..] if head.is_symbol("columns") && !names.is_empty() => {
                        columns = names.iter().map(text).collect::<Option<_>>()?;
                    }
                    [head, what] if head.is_symbol("missing") => {
                        let known = [("error", "e"), ("drop", "d"), ("nan", "n")];
                        missing = known.iter().find(|(name, _)| what.is_symbol(name))?.1;
                    }
                    _ => return None,
                }
            }
            Some((row, format!("{missing}{}", columns.join(&BETWEEN.to_string()))))
        }
        _ => parts.is_empty().then(|| (row, String::new())),
    }
}

/// The limits of numbers: the name, and how the number compares.
const LIMITS: [(&str, &str); 4] = [("at-least", ">="), ("at-most", "<="), ("more-than", ">"), ("less-than", "<")];

fn is_limit(datum: &Datum) -> bool {
    let head = datum.list().and_then(<[Datum]>::first);
    head.is_some_and(|head| LIMITS.iter().any(|(name, _)| head.is_symbol(name)))
}

/// A limit as the run time reads it.
fn limit_of(datum: &Datum) -> Option<String> {
    let [head, Datum { kind: DatumKind::Real(x), .. }] = datum.list()? else { return None };
    let (_, relation) = LIMITS.iter().find(|(name, _)| head.is_symbol(name))?;
    Some(format!("{relation}{}", written(*x)))
}

fn is_choice(text: &str, detail: &str) -> bool {
    detail.split(BETWEEN).any(|choice| choice == text)
}

/// Whether a number keeps within limits.
fn fits(number: f64, limits: &str) -> bool {
    limits.split_whitespace().all(|limit| {
        let text = limit.trim_start_matches(['<', '>', '=']);
        let bound = number::parse(text).unwrap_or(f64::NAN);
        match &limit[..limit.len() - text.len()] {
            ">=" => number >= bound,
            "<=" => number <= bound,
            ">" => number > bound,
            _ => number < bound,
        }
    })
}

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
        if !called.starts_with(char::is_alphabetic)
            || !called.chars().all(is_plain)
            || matches!(&**called, "help" | "version")
        {
            return self.errors.push(Error::ArgumentName(name.span));
        }
        let Some((row, mut detail)) = typed(kind) else {
            return self.errors.push(Error::ArgumentType(kind.span, type_meant(kind, false)));
        };
        let (limits, rest): (Vec<&Datum>, Vec<&Datum>) = rest.iter().partition(|datum| is_limit(datum));
        for limit in limits {
            match limit_of(limit).filter(|_| matches!(row.1, "r" | "i")) {
                Some(limit) => detail = format!("{detail} {limit}").trim_start().to_string(),
                None => return self.errors.push(Error::ArgumentLimit(limit.span)),
            }
        }
        let is_default = |text: &str| row.1 == "c" && is_choice(text, &detail);
        let (default, about) = match rest[..] {
            [] => (None, None),
            [Datum { kind: DatumKind::Str(about), .. }] if !is_default(about) => (None, Some(about)),
            [default] => (Some(default), None),
            [default, Datum { kind: DatumKind::Str(about), .. }] => (Some(default), Some(about)),
            _ => return self.errors.push(wrong),
        };
        let is_allowed = |text: &String| match row.1 {
            "c" => is_choice(text, &detail),
            "r" | "i" => number::parse(text).is_some_and(|number| fits(number, &detail)),
            _ => true,
        };
        let default = match default.map(|default| (default.span, value(default, row.1).filter(is_allowed))) {
            None => String::new(),
            Some((_, Some(text))) => format!("={text}"),
            Some((span, None)) => return self.errors.push(Error::ArgumentDefault(span, row.0, row.3)),
        };
        if let Some(first) = self.names.insert(called.clone(), name.span) {
            return self.errors.push(Error::DuplicateName { first, second: name.span, name: called.clone() });
        }
        let about = about.map_or(String::new(), |about| clean(about));
        self.text += &format!("{RECORD}{called}{FIELD}{}{FIELD}{default}{FIELD}{about}{FIELD}{detail}", row.1);
        let symbol = |name: &str| Datum { kind: DatumKind::Symbol(name.into()), span: datum.span };
        let list = |items| Datum { kind: DatumKind::List(items), span: datum.span };
        let mut read = vec![symbol(LIBRARY[row.2].0)];
        if row.1 == "c" {
            let choice = |text: &str| Datum { kind: DatumKind::Str(text.into()), span: datum.span };
            let choices = detail.split(BETWEEN).map(choice).collect();
            read.push(Datum { kind: DatumKind::Prefixed(Prefix::Quote, Box::new(list(choices))), span: datum.span });
        }
        let read = list(read);
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
        (DatumKind::Str(text), "c") => Some(text.to_string()),
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
