//! Names that nothing defines: what the user may have meant.

use crate::base::Span;
use crate::base::spelling::{distance, limit};
use crate::core::ir::{Const, Rhs};
use crate::expand::build::Expander;
use crate::expand::error::Error;
use crate::expand::names::basis::KEYWORDS;
use crate::expand::stdlib;
use crate::syntax::Datum;
use std::rc::Rc;

/// What to use instead of names that other Lisps have, in words, and what to write, where that is certain.
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
    ("pi", "use `(* 4 (atan 1))`", "(* 4 (atan 1))"),
    ("fold", "use `fold-left` or `fold-right`", ""),
    ("define-syntax", "the language has no macros; use functions", ""),
    ("letrec*", "use `letrec`, or `define` inside the body", "letrec"),
    ("do", "use a named `let`", ""),
    ("case", "use `cond`", ""),
    ("=>", "write `(cond (c e ...) ...)`", ""),
    ("expt!", "use `expt`", "expt"),
    ("pow", "use `expt`", "expt"),
    ("ln", "use `log`", "log"),
    ("sqr", "use `(* x x)`", ""),
    ("square", "use `(* x x)`", ""),
    ("grad", "use `gradient`", "gradient"),
    ("foldl", "use `fold-left`", "fold-left"),
    ("foldr", "use `fold-right`", "fold-right"),
];

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
        // Nobody reads the thousandth message, and searching takes time.
        let nearest = if self.errors.len() < 1000 { self.nearest(name) } else { None };
        self.error(Error::Unbound { span, name: name.clone(), nearest, hint })
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
