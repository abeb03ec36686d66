//! Comments of a program → what they say about its definitions.
//!
//! ```vlad
//! ; The title of the file, and what is to be said about all of it.
//!
//! ; (area w h): the area of a rectangle.
//! (define (area w h) (* w h))
//! ```
//!
//! The lines of comments directly in front of a definition describe it, and the definitions without comments that
//! follow directly, too. If they begin with a call of it and a colon, that call is how the definition is shown;
//! otherwise it is shown as it is defined. A comment with a blank line behind it, in front of a definition or at the
//! start of the file, stands for itself. Names that start with `%` are nobody else's business.

use crate::expand::program::outline;
use crate::expand::program::outline::Outline;
use crate::syntax::Datum;

/// A part of the documentation of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// What is said without a definition.
    Prose(String),
    /// Definitions that are described together.
    Entry(Entry),
}

/// Definitions and what is said about them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// The names defined.
    pub names: Vec<String>,
    /// How each is called.
    pub calls: Vec<String>,
    /// The description; may be empty.
    pub text: String,
}

/// The documentation of a file with that text, which reads as `datums`.
pub fn read(text: &str, datums: &[Datum]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut end = 0;
    // Whether the definition before has an entry that the next one may join.
    let mut open = false;
    for (index, datum) in datums.iter().enumerate() {
        let between = between(text, end, datum.span.start as usize);
        end = datum.span.end as usize;
        let (alone, comment, apart) = blocks(between);
        // Records define several names.
        let mut others = outline::all(datum).into_iter();
        let definition = others.next().filter(|found| !found.name.starts_with('%'));
        let title = if index == 0 { 1 } else { 0 };
        let kept = if definition.is_some() { alone.len() } else { title.min(alone.len()) };
        parts.extend(alone.into_iter().take(kept).map(Part::Prose));
        let Some(definition) = definition else {
            open = false;
            continue;
        };
        match parts.last_mut() {
            Some(Part::Entry(entry)) if open && comment.is_empty() && !apart => {
                add(entry, definition);
                others.for_each(|other| add(entry, other));
            }
            _ => {
                open = !comment.is_empty();
                let mut entry = entry(definition, comment);
                others.for_each(|other| add(&mut entry, other));
                parts.push(Part::Entry(entry));
            }
        }
    }
    parts
}

/// What is said directly in front of a definition, in its own words.
pub fn of(text: &str, definition: &Outline) -> Entry {
    let start = definition.span.start as usize;
    // Comments reach no further than the blank line above them.
    let from = text[..start].rfind("\n\n").map_or(0, |place| place + 1);
    let (_, comment, _) = blocks(between(text, from, start));
    entry(definition.clone(), comment)
}

/// How a function is called whose definition `(define (name ...` begins there, and what is said about it.
pub fn described(text: &str, start: usize, name: &str) -> (String, String) {
    let comment = comment_before(text, start);
    if let Some((call, rest)) = call(&comment, name) {
        return (call.to_string(), rest.to_string());
    }
    let header = text[start..].trim_start_matches("(define ");
    let mut open = 0_usize;
    let end = header.find(|c: char| {
        open = open + usize::from(c == '(') - usize::from(c == ')');
        open == 0
    });
    (header[..end.map_or(0, |end| end + 1)].to_string(), comment)
}

/// The comment directly in front of the datum that begins there.
pub fn comment_before(text: &str, start: usize) -> String {
    let from = text[..start].rfind("\n\n").map_or(0, |place| place + 1);
    blocks(between(text, from, start)).1
}

fn add(entry: &mut Entry, definition: Outline) {
    entry.names.push(definition.name.to_string());
    entry.calls.push(definition.header);
}

fn entry(definition: Outline, comment: String) -> Entry {
    let name = definition.name.to_string();
    match call(&comment, &name) {
        Some((call, rest)) => Entry { names: vec![name], calls: vec![call.to_string()], text: rest.to_string() },
        None => Entry { names: vec![name], calls: vec![definition.header], text: comment },
    }
}

/// The call of `name` that a comment begins with, and what stands behind its colon.
fn call<'c>(comment: &'c str, name: &str) -> Option<(&'c str, &'c str)> {
    let operands = comment.strip_prefix('(')?.strip_prefix(name)?;
    if !operands.starts_with([' ', ')']) {
        return None;
    }
    let end = comment.find(')')? + 1;
    Some((&comment[..end], comment[end..].strip_prefix(':')?.trim_start()))
}

/// The lines between two places, without the rest of a line that begins before.
fn between(text: &str, start: usize, end: usize) -> &str {
    let part = &text[start..end];
    if start == 0 || text[..start].ends_with('\n') {
        return part;
    }
    part.find('\n').map_or("", |newline| &part[newline + 1..])
}

/// The comments that stand alone, the one that ends in the last line, and whether a blank line separates that from what
/// was before.
fn blocks(between: &str) -> (Vec<String>, String, bool) {
    let mut blocks = vec![String::new()];
    let mut apart = false;
    for line in between.lines() {
        let words = line.trim();
        // Promises are about expressions, not about definitions.
        let promise = words.starts_with(";=>") || words.starts_with(";<=");
        match words.strip_prefix(';').filter(|_| !promise) {
            Some(comment) => {
                let block = blocks.last_mut().expect("there is always one");
                let comment = comment.trim_start_matches(';');
                block.push_str(comment.strip_prefix(' ').unwrap_or(comment).trim_end());
                block.push('\n');
            }
            None => {
                apart |= words.is_empty();
                blocks.push(String::new());
            }
        }
    }
    let last = blocks.pop().unwrap_or_default();
    let alone =
        blocks.into_iter().map(|block| block.trim_end().to_string()).filter(|block| !block.is_empty()).collect();
    (alone, last.trim_end().to_string(), apart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::SourceMap;
    use crate::syntax;

    fn documentation(text: &str) -> Vec<Part> {
        let (datums, errors) = syntax::parse(SourceMap::new().add("", "", false), text);
        assert_eq!(errors, []);
        read(text, &datums)
    }

    fn entry(names: &[&str], calls: &[&str], text: &str) -> Part {
        let owned = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect();
        Part::Entry(Entry { names: owned(names), calls: owned(calls), text: text.to_string() })
    }

    #[test]
    fn comments_describe_what_follows_them() {
        let text = "; Title.\n;\n; More.\n\n; What f is\n; for.\n(define (f x) x) ; not this\n(define ((g x) y) x)\n\n(define h 1)\n";
        let f = entry(&["f", "g"], &["(f x)", "((g x) y)"], "What f is\nfor.");
        assert_eq!(documentation(text), [Part::Prose("Title.\n\nMore.".to_string()), f, entry(&["h"], &["h"], "")]);
    }

    #[test]
    fn records_define_several_names() {
        let names = ["p", "p?", "p-x", "p-with-x"];
        let calls = ["(p x)", "(p? x)", "(p-x p)", "(p-with-x p x)"];
        assert_eq!(documentation("; A p.\n(define-record p x)\n"), [entry(&names, &calls, "A p.")]);
    }

    #[test]
    fn calls_in_comments_are_shown_as_they_are() {
        let text = "; (f x ...): the sum.\n(define (f t) t)\n; (f x) calls f.\n(define (g t) t)\n";
        let g = entry(&["g"], &["(g t)"], "(f x) calls f.");
        assert_eq!(documentation(text), [entry(&["f"], &["(f x ...)"], "the sum."), g]);
    }

    #[test]
    fn comments_about_expressions_and_hidden_names_are_left_out() {
        let text = "; Section.\n\n; Value.\n(+ 1 2)\n;=> 3\n; Hidden.\n(define (%f x) x)\n\n; Part.\n\n(define g 1)\n";
        let parts = [Part::Prose("Section.".to_string()), Part::Prose("Part.".to_string()), entry(&["g"], &["g"], "")];
        assert_eq!(documentation(text), parts);
    }
}
