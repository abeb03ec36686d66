//! The language of the original compiler, Stalingrad, where it differs from ours (`--dialect stalingrad`).
//!
//! - A call with several operands passes a tuple, and a parameter list is the pattern of it; nothing is wrong with
//!   either when the other has another number of parts.
//! - A name may be defined again behind an expression. Definitions without an expression between them form a block and
//!   see each other; a block sees those before it, and of two definitions of a name the last one.
//! - `===>` and the datum behind it say what the expression in front of them gives. A program goes on as if they were
//!   not there; `vlad test` checks them ([`crate::promises::stalingrad`]).
//! - `write` ends the line, as `write-real` does.
//! - `(multiform form ...)` stands for its forms.
//! - `(forward p)` and `(reverse p)` are patterns, `if-procedure`, `perturbation?` and `sensitivity?` are functions.
//! - Functions capture what their bodies mention, functions included, so that environments are those of the papers.
//!
//! The rest of the language is ours.

use crate::expand::error::Error;
use crate::syntax::Datum;

/// Names that programs in this language have beside those of the library, and the library's functions for them.
pub const LIBRARY: [(&str, &str); 4] = [
    ("write", "%write-ended"),
    ("if-procedure", "%if-procedure"),
    ("perturbation?", "%perturbation?"),
    ("sensitivity?", "%sensitivity?"),
];

/// The word in front of what an expression is expected to give.
pub const EXPECTED: &str = "===>";
/// The word that makes one form of several.
pub const MULTIFORM: &str = "multiform";

/// The datums of a program without what they are expected to give; and the first mistake in that, where no expression
/// stands in front of the word, or nothing behind it.
pub fn program(datums: Vec<Datum>) -> (Vec<Datum>, Option<Error>) {
    let mut program: Vec<Datum> = Vec::new();
    let mut error = None;
    let mut datums = datums.into_iter();
    let mut has_value = true;
    while let Some(datum) = datums.next() {
        if datum.is_symbol(EXPECTED) {
            if has_value || datums.next().is_none() {
                error.get_or_insert(Error::Malformed(datum.span, EXPECTED, "e ===> value"));
            }
            has_value = true;
            continue;
        }
        has_value = false;
        if let Some(forms) = datum.behind(MULTIFORM) {
            program.extend(forms.iter().cloned());
        } else {
            program.push(datum);
        }
    }
    (program, error)
}
