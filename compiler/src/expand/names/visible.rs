//! Datums and a place in them → the name there, and the local names that are visible there.
//!
//! Tools ask this of programs that are being written, so nothing is reported: what is no proper form is looked into
//! like a call. The scopes are those that the expander gives: of parameters, of `let` in its forms, and of definitions
//! in a body.

use crate::base::Span;
use crate::syntax::{Datum, DatumKind, Prefix};
use std::rc::Rc;

/// What is visible at a place.
#[derive(Clone, Debug, Default)]
pub struct Visible {
    /// The name that stands there.
    pub name: Option<(Rc<str>, Span)>,
    /// The local names, from the outermost to the innermost, with the places where they are bound.
    pub locals: Vec<(Rc<str>, Span)>,
}

impl Visible {
    /// Where a name is bound, if it is a local one.
    pub fn local(&self, name: &str) -> Option<Span> {
        self.locals.iter().rev().find(|row| *row.0 == *name).map(|row| row.1)
    }
}

/// What is visible at a byte of the file.
pub fn at(datums: &[Datum], byte: usize) -> Visible {
    let mut visible = Visible::default();
    for datum in datums {
        visible.look(datum, byte, true);
    }
    visible
}

fn holds(datum: &Datum, byte: usize) -> bool {
    (datum.span.start as usize..=datum.span.end as usize).contains(&byte)
}

impl Visible {
    fn look(&mut self, datum: &Datum, byte: usize, top: bool) {
        if !holds(datum, byte) {
            return;
        }
        match &datum.kind {
            DatumKind::Symbol(name) => self.name = Some((name.clone(), datum.span)),
            DatumKind::List(items) => self.list(items, byte, top),
            DatumKind::Vector(items) => self.all(items, byte),
            DatumKind::Dotted(items, tail) => {
                self.all(items, byte);
                self.look(tail, byte, false);
            }
            // A quotation holds data.
            DatumKind::Prefixed(Prefix::Quote, _) => {}
            DatumKind::Prefixed(_, inner) => self.look(inner, byte, false),
            _ => {}
        }
    }

    fn all(&mut self, items: &[Datum], byte: usize) {
        items.iter().for_each(|item| self.look(item, byte, false));
    }

    fn list(&mut self, items: &[Datum], byte: usize, top: bool) {
        let head = items.first().and_then(Datum::symbol).map(|name| &**name);
        match (head, items) {
            (Some("define"), [_, header, body @ ..]) => {
                if !top {
                    self.target(header);
                }
                self.parameters_of(header);
                self.look(header, byte, false);
                self.body(body, byte);
            }
            (Some("lambda"), [_, parameters, body @ ..]) => {
                self.pattern_parts(parameters, false);
                self.look(parameters, byte, false);
                self.body(body, byte);
            }
            (Some("let"), [_, name, bindings, body @ ..]) if name.symbol().is_some() => {
                self.bindings("let", bindings, byte);
                self.target(name);
                self.look(name, byte, false);
                self.body(body, byte);
            }
            (Some(form @ ("let" | "let*" | "letrec")), [_, bindings, body @ ..]) => {
                self.bindings(form, bindings, byte);
                self.body(body, byte);
            }
            _ => self.all(items, byte),
        }
        // The head of a form is a name, too, to show what it is.
        if let Some(head) = items.first().filter(|head| holds(head, byte)) {
            self.look(head, byte, false);
        }
    }

    /// The bindings of a `let`: what is visible in the value that holds the place, or in the body.
    fn bindings(&mut self, form: &str, bindings: &Datum, byte: usize) {
        let pairs: Vec<&[Datum]> = bindings.list().unwrap_or_default().iter().filter_map(Datum::list).collect();
        let mut inner = Vec::new();
        if form == "letrec" {
            pairs.iter().filter_map(|pair| pair.first()).for_each(|target| self.pattern(target));
        }
        for pair in pairs {
            let [target, values @ ..] = pair else { continue };
            if holds(target, byte) {
                self.pattern(target);
                self.look(target, byte, false);
                return;
            }
            if let Some(value) = values.iter().find(|value| holds(value, byte)) {
                self.look(value, byte, false);
                return;
            }
            match form {
                "let*" => self.pattern(target),
                "let" => inner.push(target),
                _ => {}
            }
        }
        if !holds(bindings, byte) {
            inner.into_iter().for_each(|target| self.pattern(target));
        }
    }

    /// A body, whose definitions see each other.
    fn body(&mut self, forms: &[Datum], byte: usize) {
        if !forms.iter().any(|form| holds(form, byte)) {
            return;
        }
        for form in forms {
            if let Some([head, header, ..]) = form.list()
                && head.is_symbol("define")
            {
                self.target(header);
            }
        }
        self.all(forms, byte);
    }

    /// The name that a header defines: `f`, `(f x)`, `((f x) y)`.
    fn target(&mut self, header: &Datum) {
        match &header.kind {
            DatumKind::Symbol(name) => self.locals.push((name.clone(), header.span)),
            DatumKind::List(items) | DatumKind::Dotted(items, _) => {
                if let Some(first) = items.first() {
                    self.target(first);
                }
            }
            _ => {}
        }
    }

    /// The parameters in a header, those of the first call first.
    fn parameters_of(&mut self, header: &Datum) {
        if let DatumKind::List(items) | DatumKind::Dotted(items, _) = &header.kind {
            if let Some(first) = items.first() {
                self.parameters_of(first);
            }
            self.pattern_parts(header, true);
        }
    }

    /// The names that a pattern binds.
    fn pattern(&mut self, pattern: &Datum) {
        match &pattern.kind {
            DatumKind::Symbol(name) if &**name != "_" => self.locals.push((name.clone(), pattern.span)),
            DatumKind::List(_) | DatumKind::Dotted(..) => self.pattern_parts(pattern, true),
            _ => {}
        }
    }

    /// The names that the parts of a pattern bind; the first may be what the pattern is made with.
    fn pattern_parts(&mut self, pattern: &Datum, with_head: bool) {
        if let DatumKind::List(items) | DatumKind::Dotted(items, _) = &pattern.kind {
            items.iter().skip(usize::from(with_head)).for_each(|item| self.pattern(item));
        }
        if let DatumKind::Dotted(_, tail) = &pattern.kind {
            self.pattern(tail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::SourceMap;
    use crate::syntax;

    /// The local names visible at the mark `|`, and the name there.
    fn visible(text: &str) -> (String, Option<String>) {
        let byte = text.find('|').expect("there is a mark");
        let text = text.replacen('|', "", 1);
        let (datums, errors) = syntax::parse(SourceMap::new().add("", "", false), &text);
        assert_eq!(errors, []);
        let visible = at(&datums, byte);
        let names: Vec<&str> = visible.locals.iter().map(|row| &*row.0).collect();
        (names.join(" "), visible.name.map(|name| name.0.to_string()))
    }

    #[test]
    fn parameters_and_patterns_are_visible_in_bodies() {
        assert_eq!(visible("(define ((f a) (cons b _)) (+ a| 1))"), ("a b".to_string(), Some("a".to_string())));
        assert_eq!(visible("(lambda (x (list y z)) |x)").0, "x y z");
        assert_eq!(visible("(define (f x) x) (g |1)").0, "");
        assert_eq!(visible("(define (f x|) x)"), ("x".to_string(), Some("x".to_string())));
    }

    #[test]
    fn bindings_are_visible_where_their_form_says_so() {
        assert_eq!(visible("(let ((a 1) (b a|)) b)").0, "");
        assert_eq!(visible("(let ((a 1) (b a)) b|)").0, "a b");
        assert_eq!(visible("(let* ((a 1) (b a|)) b)").0, "a");
        assert_eq!(visible("(letrec ((f (lambda (x) (g| x))) (g 1)) f)").0, "f g x");
        assert_eq!(visible("(let loop ((i 0)) (loop| i))").0, "i loop");
        assert_eq!(visible("(let loop ((i |j)) (loop i))").1, Some("j".to_string()));
    }

    #[test]
    fn definitions_in_a_body_see_each_other() {
        assert_eq!(visible("(define (f x) (define (g y) (h| y)) (define h 1) g)").0, "x g h g y");
        assert_eq!(visible("(f '(a b|))").1, None);
        assert_eq!(visible("(le|t ((x 1)) x)").1, Some("let".to_string()));
    }
}
