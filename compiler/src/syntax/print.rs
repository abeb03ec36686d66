//! Datums → text that reads back to the same datums.

use crate::syntax::bodies;
use crate::syntax::datum::{Datum, DatumKind};
use std::fmt::Write;

/// Lines are broken so that they stay within this many characters where possible.
const WIDTH: usize = 100;

/// Prints each datum on lines of its own.
pub fn print(datums: &[Datum]) -> String {
    let mut text = String::new();
    for datum in datums {
        broken(datum, 0, &mut text);
        text.push('\n');
    }
    text
}

/// Prints a datum on one line.
pub fn flat(datum: &Datum) -> String {
    let mut text = String::new();
    fit(datum, usize::MAX, &mut text);
    text
}

/// Appends the datum on one line; stops and returns false when the text grows beyond `limit` bytes.
fn fit(datum: &Datum, limit: usize, text: &mut String) -> bool {
    if text.len() > limit {
        return false;
    }
    match &datum.kind {
        DatumKind::Real(x) => text.push_str(&real(*x)),
        DatumKind::Bool(b) => text.push_str(if *b { "#t" } else { "#f" }),
        DatumKind::Str(s) => string(s, text),
        DatumKind::Symbol(name) => text.push_str(name),
        DatumKind::Prefixed(prefix, inner) => {
            text.push_str(prefix.mark());
            return fit(inner, limit, text);
        }
        DatumKind::List(items) | DatumKind::Vector(items) => return sequence(datum, items, None, limit, text),
        DatumKind::Dotted(items, tail) => return sequence(datum, items, Some(tail), limit, text),
    }
    text.len() <= limit
}

fn sequence(datum: &Datum, items: &[Datum], tail: Option<&Datum>, limit: usize, text: &mut String) -> bool {
    text.push_str(opening(datum));
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        if !fit(item, limit, text) {
            return false;
        }
    }
    if let Some(tail) = tail {
        text.push_str(" . ");
        if !fit(tail, limit, text) {
            return false;
        }
    }
    text.push(')');
    text.len() <= limit
}

fn opening(datum: &Datum) -> &'static str {
    if matches!(datum.kind, DatumKind::Vector(_)) { "#(" } else { "(" }
}

/// Appends the datum, starting in column `indent`, on as many lines as it takes.
fn broken(datum: &Datum, indent: usize, text: &mut String) {
    let before = text.len();
    let limit = before + WIDTH.saturating_sub(indent);
    if fit(datum, limit, text) {
        return;
    }
    text.truncate(before);
    match &datum.kind {
        DatumKind::Prefixed(prefix, inner) => {
            text.push_str(prefix.mark());
            broken(inner, indent + 1, text);
        }
        DatumKind::List(items) | DatumKind::Vector(items) => broken_sequence(datum, items, None, indent, text),
        DatumKind::Dotted(items, tail) => broken_sequence(datum, items, Some(tail), indent, text),
        _ => {
            fit(datum, usize::MAX, text);
        }
    }
}

fn broken_sequence(datum: &Datum, items: &[Datum], tail: Option<&Datum>, indent: usize, text: &mut String) {
    text.push_str(opening(datum));
    let head = items.first().and_then(Datum::symbol);
    let on_first_line = match head {
        Some(head) => bodies::front(head).unwrap_or(0) + 1,
        None => 0,
    };
    // Deep programs must not be indented out of sight.
    let inner = (indent + if head.is_some() { 2 } else { opening(datum).len() }).min(WIDTH * 3 / 4);
    for (index, item) in items.iter().enumerate() {
        if index > 0 && index < on_first_line {
            text.push(' ');
        } else if index > 0 {
            new_line(inner, text);
        }
        broken(item, inner, text);
    }
    if let Some(tail) = tail {
        new_line(inner, text);
        text.push_str(". ");
        broken(tail, inner + 2, text);
    }
    text.push(')');
}

fn new_line(indent: usize, text: &mut String) {
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', indent));
}

fn string(value: &str, text: &mut String) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            c if c.is_control() => write!(text, "\\x{:x};", u32::from(c)).expect("a String takes any text"),
            c => text.push(c),
        }
    }
    text.push('"');
}

/// The shortest decimal that reads back to the same double.
fn real(x: f64) -> String {
    if x.is_nan() {
        return "+nan.0".to_string();
    }
    if x.is_infinite() {
        return if x > 0.0 { "+inf.0" } else { "-inf.0" }.to_string();
    }
    let magnitude = x.abs();
    if magnitude != 0.0 && !(1e-4..1e21).contains(&magnitude) { format!("{x:e}") } else { format!("{x}") }
}
