//! Names that nothing defines: what the user may have meant.

use crate::base::Span;
use crate::base::spelling::{distance, limit};
use crate::core::ir::{Const, Rhs};
use crate::expand::build::{Expander, Meaning};
use crate::expand::error::{Error, Hint};
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
    ("print", "use `write`, or `write-string` for a text", "write"),
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
    ("zeros", "use `(make-vector n 0)`", ""),
    ("ones", "use `(make-vector n 1)`", ""),
    ("array", "use `(vector e ...)`, or `#(1 2 3)` for constants", ""),
    ("even?", "use `(= (modulo x 2) 0)`", ""),
    ("odd?", "use `(= (modulo x 2) 1)`", ""),
    ("append!", "lists never change: `append` makes a new one", "append"),
    ("read-csv", "use `(arguments (data matrix))`, or `(read-matrix)` for what is on the standard input", ""),
    ("math", "leave it out: `sin`, `exp` and the other functions are there without being asked for", ""),
    ("numpy", "leave it out: functions of vectors are there without being asked for", ""),
    ("dict", ASSOCIATIONS, ""),
    ("hash", ASSOCIATIONS, ""),
    ("hash-map", ASSOCIATIONS, ""),
    ("make-hash-table", ASSOCIATIONS, ""),
    ("cadr", "use `second`", "second"),
    ("caddr", "use `third`", "third"),
    ("cadddr", "use `fourth`", "fourth"),
    ("cddr", "use `(cdr (cdr l))`", ""),
    ("caar", "use `(car (car l))`", ""),
    ("call/cc", "there are no continuations: `try` and `error` leave a computation", ""),
    ("call-with-current-continuation", "there are no continuations: `try` and `error` leave a computation", ""),
    ("//", "comments begin with `;`", ""),
    ("/*", "comments begin with `;`, or stand between `#|` and `|#`", ""),
    ("{", BRACES, ""),
    ("}", BRACES, ""),
    ("->", "write a function as `(lambda (parameter ...) e ...)`", ""),
    ("exact->inexact", "leave it out: all numbers are floating-point numbers", ""),
];

const ASSOCIATIONS: &str = "use a list of pairs, `(list (cons key value) ...)`, in which `assoc` finds a key";
const BRACES: &str = "there are no braces: `(` and `)` enclose calls and forms, and their last expression is the value";

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
    ("catch", "use `(try (lambda () e) (lambda (message value) e))`"),
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

/// What is written here for types of other languages: as types of arguments, and in exports.
const TYPES: &[(&[&str], &str, &str)] = &[
    (&["float", "double", "number", "num", "f32", "f64"], "`real`", "`real`"),
    (&["int", "long", "i32", "i64"], "`integer`", "`integer`"),
    (&["bool"], "`boolean`", "`boolean`"),
    (&["string", "str", "text", "String"], "`(choice \"a\" \"b\")` with the texts that it may be", "`text`"),
    (&["list", "array", "vector"], "`vector`", "`(vector real)`"),
    (&["matrix"], "`matrix`", "`(matrix real)`"),
];

/// What to write instead of a type of other languages as a type of an argument, or of a parameter of an export.
pub fn type_meant(datum: &Datum, in_export: bool) -> Option<&'static str> {
    let name = datum.symbol()?;
    let row = TYPES.iter().find(|row| row.0.contains(&&**name))?;
    Some(if in_export { row.2 } else { row.1 })
}

/// What to do about a name that the same `let` binds.
const BESIDE: &str = "no value of a `let` sees the names that it binds: use `let*`, or `define` for a function that calls \
                      itself";

/// What to know about a name that other languages have.
fn hint(name: &str) -> Option<Hint> {
    let hint = HINTS.iter().find(|row| row.0 == name).map(|(_, help, instead)| ((*help).into(), (*instead).into()));
    hint.or_else(|| FORMS.iter().find(|row| row.0 == name).map(|(_, help)| ((*help).into(), "".into())))
}

/// A number that other languages write so.
fn number_meant(name: &str) -> Option<String> {
    let is_number =
        |text: &str| text.parse::<f64>().is_ok() && text.ends_with(|c: char| c.is_ascii_digit() || c == '.');
    if !name.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let digits = [("0x", "#x", 16), ("0b", "#b", 2), ("0o", "#o", 8)].into_iter().find_map(|(theirs, ours, base)| {
        let digits = name.strip_prefix(theirs)?;
        u64::from_str_radix(digits, base).ok().map(|_| format!("{ours}{digits}"))
    });
    let plain = name.replace('_', "");
    let plain = plain.trim_end_matches(['f', 'F', 'd', 'D', 'l', 'L', 'u', 'U']);
    digits.or_else(|| is_number(plain).then(|| plain.trim_end_matches('.').to_string()))
}

impl Expander {
    /// Reports a name that nothing defines, unless a wrong definition or pattern was to define it.
    pub fn unbound(&mut self, name: &Rc<str>, span: Span) -> Rhs {
        if self.excuses_all || self.excused.contains(name) {
            return Rhs::Const(Const::Nil);
        }
        if let Some(part) = name.strip_suffix(',').filter(|part| !part.is_empty()) {
            return self.error(Error::Comma(span, Rc::from(part)));
        }
        let beside = self.beside.contains(name).then_some((BESIDE.into(), "".into()));
        let hint = beside.or_else(|| hint(name)).or_else(|| self.written_otherwise(name));
        // Nobody reads the thousandth message, and searching takes time.
        let nearest = if self.errors.len() < 1000 { self.nearest(name) } else { None };
        self.error(Error::Unbound { span, name: name.clone(), nearest, hint })
    }

    /// What to know about a name that is an expression, or a name of a module, in other languages.
    fn written_otherwise(&self, name: &str) -> Option<Hint> {
        if let Some(form) = self.in_front(name) {
            return Some((format!("operators stand in front: `{form}`").into(), form.into()));
        }
        if let Some(number) = number_meant(name) {
            return Some((format!("write `{number}`").into(), number.into()));
        }
        let (_, part) = name.rsplit_once('.').filter(|(module, _)| !module.is_empty())?;
        if matches!(self.meaning(part), Meaning::Library(_)) || stdlib::names().any(|name| name == part) {
            return Some((format!("leave out what stands before the dot: `{part}`").into(), part.to_string().into()));
        }
        hint(part)
    }

    /// An expression with operators between its operands, which the program defines or which are numbers, as it is
    /// written here.
    fn in_front(&self, text: &str) -> Option<String> {
        // A power is written with a sign of another operator in some languages.
        let powers = if text.contains("**") { "**" } else { "^" };
        let signs = ["<", ">", "=", "+", "-", powers, "*", "/"];
        signs.into_iter().find_map(|sign| {
            let operator = if sign == powers { "expt" } else { sign };
            let operand = |part: &str| match self.meaning(part) {
                Meaning::Local(_) | Meaning::User(_) => Some(part.to_string()),
                _ if part.starts_with(|c: char| c.is_ascii_digit()) && part.parse::<f64>().is_ok() => Some(part.into()),
                _ => self.in_front(part),
            };
            let operands = text.contains(sign).then(|| text.split(sign).map(operand));
            let operands: Vec<String> = operands?.collect::<Option<_>>()?;
            Some(format!("({operator} {})", operands.join(" ")))
        })
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
