//! Names that nothing defines: what the user may have meant.

use crate::base::Span;
use crate::base::spelling::{distance, limit};
use crate::core::ir::{Const, Rhs};
use crate::expand::build::{Expander, Meaning};
use crate::expand::error::Error;
use crate::expand::names::basis::KEYWORDS;
use crate::expand::stdlib;
use crate::syntax::Datum;
use std::rc::Rc;

/// What to use instead of names that other languages have, in words, and what to write, where that is certain.
const HINTS: &[(&str, &str, &str)] = &[
    ("_", "`_` in a pattern ignores a value; give it a name to use it", ""),
    ("set!", "variables never change: pass the new value to a function or a named `let`", ""),
    ("apply", "pass the tuple itself: `(f tuple)` calls `f` with the operands in it", ""),
    ("display", "use `write` or `write-string`", ""),
    ("print", "use `write`", "write"),
    ("eq?", "use `=` for numbers, `null?` for the empty list, `equal?` for lists", ""),
    ("eqv?", "use `=` for numbers, `null?` for the empty list, `equal?` for lists", ""),
    ("number?", "use `real?`", "real?"),
    ("nil", "use `'()`", "'()"),
    ("null", "use `'()`", "'()"),
    ("true", "use `#t`", "#t"),
    ("false", "use `#f`", "#f"),
    ("fold", "use `fold-left` or `fold-right`", ""),
    ("letrec*", "use `letrec`, or `define` inside the body", "letrec"),
    ("=>", "write `(cond (c e ...) ...)`", ""),
    ("expt!", "use `expt`", "expt"),
    ("pow", "use `expt`", "expt"),
    ("ln", "use `log`", "log"),
    ("sqr", "use `(* x x)`", ""),
    ("square", "use `(* x x)`", ""),
    ("grad", "use `gradient`", "gradient"),
    ("foldl", "use `fold-left`", "fold-left"),
    ("foldr", "use `fold-right`", "fold-right"),
    ("True", "use `#t`", "#t"),
    ("False", "use `#f`", "#f"),
    ("None", "use `'()`", "'()"),
    (
        "vector-set!",
        "vectors never change: `vector-update` makes one with another element, `build` makes all of one",
        "",
    ),
    ("set-car!", "pairs never change: make a new one with `cons`", ""),
    ("set-cdr!", "pairs never change: make a new one with `cons`", ""),
    ("**", "use `expt`", "expt"),
    ("^", "use `expt`", "expt"),
    ("%", "use `modulo`", "modulo"),
    ("mod", "use `modulo`", "modulo"),
    ("==", "use `=` for numbers, `equal?` for other values", "="),
    ("!=", "use `(not (= a b))`", ""),
    ("<>", "use `(not (= a b))`", ""),
    ("&&", "use `and`", "and"),
    ("||", "use `or`", "or"),
    ("!", "use `not`", "not"),
    ("sum", "use `vector-sum` for vectors, `(fold-left + 0 list)` for lists", ""),
    ("prod", "use `vector-product` for vectors, `(fold-left * 1 list)` for lists", ""),
    ("product", "use `vector-product` for vectors, `(fold-left * 1 list)` for lists", ""),
    ("len", "use `length` for lists, `vector-length` for vectors", ""),
    ("size", "use `length` for lists, `vector-length` for vectors", ""),
    ("range", "use `iota` for lists, `(build n f)` or `linspace` for vectors", ""),
    ("arange", "use `iota` for lists, `(build n f)` or `linspace` for vectors", ""),
    ("printf", "use `write`, `write-fixed` and `write-string`", ""),
    ("println", "use `write` and `newline`", ""),
    ("format", "use `number->string` and `string-append`", ""),
    ("assert", "use `(if condition value (error \"message\" culprit))`", ""),
    ("raise", "use `(error \"message\" culprit)`", ""),
    ("throw", "use `(error \"message\" culprit)`", ""),
    ("matrix-multiply", "use `matmul`", "matmul"),
    ("vmap", "use `vector-map` for vectors, `map` for lists", ""),
    ("value_and_grad", "use `value-and-gradient`", "value-and-gradient"),
    ("value-and-grad", "use `value-and-gradient`", "value-and-gradient"),
    ("jacfwd", "use `jacobian-F`", "jacobian-F"),
    ("jacrev", "use `jacobian-R`", "jacobian-R"),
    ("jit", "leave it out: all programs are compiled", ""),
    ("exact->inexact", "leave it out: all numbers are floating-point numbers", ""),
];

/// The same for names of forms, whose parts are no expressions here.
const FORMS: &[(&str, &str)] = &[
    ("def", "use `(define (name parameter ...) e ...)`"),
    ("defun", "use `(define (name parameter ...) e ...)`"),
    ("defn", "use `(define (name parameter ...) e ...)`"),
    ("function", "use `(define (name parameter ...) e ...)` or `(lambda (parameter ...) e ...)`"),
    ("fn", "use `(lambda (parameter ...) e ...)`"),
    ("\u{3bb}", "use `(lambda (parameter ...) e ...)`"),
    ("for", "use a named `let`, or `map`, `for-each`, `build`, `fold-left` and `vector-fold`"),
    ("while", "use a named `let`: `(let loop ((i 0)) (if (< i n) (loop (+ i 1)) i))`"),
    ("do", "use a named `let`: `(let loop ((i 0)) (if (< i n) (loop (+ i 1)) i))`"),
    ("return", "leave it out: the value of a body is that of its last expression"),
    ("case", "use `cond`, or `match` with constants as patterns"),
    ("let-values", "use `let` with a pattern: `(let (((list a b) e)) ...)`"),
    ("define-values", "use `let` with a pattern: `(let (((list a b) e)) ...)`"),
    ("define-struct", "use `(define-record name field ...)`"),
    ("struct", "use `(define-record name field ...)`"),
    ("class", "use `(define-record name field ...)` and functions"),
    ("define-syntax", "the language has no macros; use functions"),
    ("require", "use `(import \"file\")` for a file; the library is there without being asked for"),
];

/// What to do about a name that the same `let` binds.
const BESIDE: &str = "no value of a `let` sees the names that it binds: use `let*`, or `define` for a function that calls \
                      itself";

impl Expander {
    /// Reports a name that nothing defines, unless a wrong definition or pattern was to define it.
    pub fn unbound(&mut self, name: &Rc<str>, span: Span) -> Rhs {
        if self.excuses_all || self.excused.contains(name) {
            return Rhs::Const(Const::Nil);
        }
        if let Some(part) = name.strip_suffix(',').filter(|part| !part.is_empty()) {
            return self.error(Error::Comma(span, Rc::from(part)));
        }
        let hint = HINTS.iter().find(|row| row.0 == &**name).map(|(_, help, instead)| (*help, *instead));
        let form = FORMS.iter().find(|row| row.0 == &**name).map(|(_, help)| (*help, ""));
        let beside = self.beside.contains(name).then_some((BESIDE, ""));
        let hint = beside.or(hint).or(form);
        // Nobody reads the thousandth message, and searching takes time.
        let nearest = if self.errors.len() < 1000 { self.nearest(name) } else { None };
        self.error(Error::Unbound { span, name: name.clone(), nearest, hint })
    }

    /// Whether nothing defines a name which is that of a form in other languages.
    pub fn is_foreign_form(&self, name: &str) -> bool {
        FORMS.iter().any(|row| row.0 == name) && self.meaning(name) == Meaning::Unbound
    }

    /// Excuses the names in a wrong definition or pattern: that nothing defines them is no further mistake.
    pub fn excuse(&mut self, datum: &Datum) {
        datum.names(&mut |name| {
            self.excused.insert(name.clone());
        });
    }

    /// The known name that is spelled most like `name`, if any is close. Among equally close ones, local variables
    /// come before the program's own definitions and those before the library and the keywords.
    fn nearest(&self, name: &str) -> Option<Rc<str>> {
        let limit = limit(name);
        let scope = self.scope.names().map(|name| (0, name.clone()));
        let user = self.globals.user.names().map(|name| (1, name.clone()));
        let library = stdlib::names().filter(|name| !name.starts_with('%')).map(|name| (2, Rc::from(name)));
        let list = std::iter::once("list").chain(KEYWORDS.iter().map(|row| row.0));
        let keywords = list.map(|name| (2, Rc::from(name)));
        scope
            .chain(user)
            .chain(library)
            .chain(keywords)
            .filter_map(|(order, candidate)| Some((distance(name, &candidate, limit)?, order, candidate)))
            .min()
            .map(|(_, _, candidate)| candidate)
    }
}
