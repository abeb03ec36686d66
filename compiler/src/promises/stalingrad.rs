//! Programs for the original compiler → one program for each of their expressions, and what it is expected to give.
//!
//! ```text
//! (define (f x) (* 2 x))
//! (f 3)                          ===> 6
//! (f (read-real))                ===> (with-inputs (4) 8)
//! (write-real (f 1))             ===> (multiform 2 2)
//! (f #t)                         ===> (or (error "number") 7)
//! (multiform (define y 1) (f y)) ===> 2
//! (exact-string "(f 1)")         ===> (error "not defined")
//! (= (f 1) 2)
//! ```
//!
//! An expression stands for a program of its own, which consists of it and the definitions before it; those inside a
//! `multiform` belong to it alone, and the text of an `exact-string` is all of a program. A value is a datum, or several
//! when the program writes some first; the marks `(perturbation x)` and `(sensitivity x)` stand for `x`, since we do not
//! mark these. An expression without a value has to end, and not in `#f`.
//!
//! The text of a program has its forms where they stand in the file, so that messages name the right places.

use crate::base::FileId;
use crate::expand::program::outline;
use crate::expand::program::stalingrad::{EXPECTED, MULTIFORM};
use crate::promises::{Outcome, Promise};
use crate::syntax::{self, Datum, DatumKind};
use std::ops::Range;

/// How far a number may be from the expected one, relatively or absolutely: values in the files were printed on other
/// machines, with other elementary functions.
const TOLERANCE: f64 = 1e-12;

/// What parts two blocks of definitions, between which there was an expression. It prints a line.
const SEPARATOR: &str = "0";

/// An expression of a program, as a program of its own.
#[derive(Clone, Debug)]
pub struct Check {
    /// The text of the program.
    pub program: String,
    /// Its standard input.
    pub input: String,
    /// What it is expected to give, as written; for an expression without that, the expression.
    pub promise: Promise,
    expected: Expected,
    /// The number of lines that are printed in front of its own.
    separators: usize,
}

/// What a program is expected to give.
#[derive(Clone, Debug)]
enum Expected {
    /// These datums on standard output.
    Values(Vec<Datum>),
    /// An error. What the original said of it is no matter of ours.
    Error,
    /// One of these.
    Any(Vec<Expected>),
    /// That it ends, and not in `#f`.
    End,
}

/// The checks of a file; none when it does not say what its expressions give, or cannot be read.
pub fn checks(text: &str) -> Vec<Check> {
    let (datums, errors) = syntax::parse(FileId(0), text);
    if !errors.is_empty() || !datums.iter().any(|datum| datum.is_symbol(EXPECTED)) {
        return Vec::new();
    }
    let mut checks = Vec::new();
    let mut definitions = Definitions { text: blank(text), separators: 0, is_open: false };
    let mut datums = datums.iter().peekable();
    while let Some(datum) = datums.next() {
        if is_definition(datum) {
            definitions.add(datum, text);
            continue;
        }
        let value = datums.next_if(|next| next.is_symbol(EXPECTED)).and_then(|_| datums.next());
        checks.push(definitions.check(datum, value, text));
        definitions.separate(datum);
    }
    checks
}

fn is_definition(datum: &Datum) -> bool {
    outline::definition(datum).is_some() || outline::names_file(datum)
}

/// The definitions so far, each where it stands in the file, and blanks elsewhere.
struct Definitions {
    text: String,
    separators: usize,
    /// Whether the last form was a definition.
    is_open: bool,
}

impl Definitions {
    fn add(&mut self, datum: &Datum, text: &str) {
        keep(&mut self.text, place(datum), text);
        self.is_open = true;
    }

    /// Ends a block of definitions with what stands for the expression behind them.
    fn separate(&mut self, expression: &Datum) {
        if std::mem::replace(&mut self.is_open, false) {
            let start = place(expression).start;
            self.text.replace_range(start..start + SEPARATOR.len(), SEPARATOR);
            self.separators += 1;
        }
    }

    fn check(&self, expression: &Datum, value: Option<&Datum>, text: &str) -> Check {
        let (mut program, mut separators) = (self.text.clone(), self.separators);
        if let Some([Datum { kind: DatumKind::Str(source), .. }]) = expression.behind("exact-string") {
            (program, separators) = (source.to_string(), 0);
        } else if let Some(forms) = expression.behind(MULTIFORM) {
            forms.iter().for_each(|form| keep(&mut program, place(form), text));
        } else {
            keep(&mut program, place(expression), text);
        }
        let mut input = String::new();
        let expected = value.map_or(Expected::End, |value| Expected::read(value, &mut input));
        let place = place(value.unwrap_or(expression));
        let promise = Promise { text: syntax::flat(value.unwrap_or(expression)), place };
        Check { program, input, promise, expected, separators }
    }
}

/// As many bytes as the text has, and its ends of lines.
fn blank(text: &str) -> String {
    text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
}

fn keep(program: &mut String, place: Range<usize>, text: &str) {
    program.replace_range(place.clone(), &text[place]);
}

fn place(datum: &Datum) -> Range<usize> {
    datum.span.start as usize..datum.span.end as usize
}

impl Expected {
    fn read(datum: &Datum, input: &mut String) -> Expected {
        if let Some([numbers, value]) = datum.behind("with-inputs") {
            for number in numbers.list().unwrap_or_default() {
                input.push_str(&syntax::flat(number));
                input.push('\n');
            }
            return Expected::read(value, input);
        }
        match (datum.behind("or"), datum.behind("error"), datum.behind(MULTIFORM)) {
            (Some(choices), ..) => Expected::Any(choices.iter().map(|choice| Expected::read(choice, input)).collect()),
            (_, Some(_), _) => Expected::Error,
            (.., Some(values)) => Expected::Values(values.to_vec()),
            _ => Expected::Values(vec![datum.clone()]),
        }
    }

    fn is_met(&self, code: Option<i32>, output: &str) -> bool {
        match self {
            Expected::Any(choices) => choices.iter().any(|choice| choice.is_met(code, output)),
            Expected::Error => code == Some(1),
            Expected::End => code == Some(0) && output.lines().last() != Some("#f"),
            Expected::Values(values) => {
                let (found, errors) = syntax::parse(FileId(0), output);
                // An expression that writes its value may be told once what it prints twice.
                let own = match found.len() / 2 {
                    half if half == values.len() && are_equal(values, &found[half..]) => &found[..half],
                    _ => &found,
                };
                code == Some(0) && errors.is_empty() && are_equal(values, own)
            }
        }
    }
}

impl Check {
    /// Whether a run gave what is expected; otherwise what it printed instead.
    ///
    /// # Errors
    ///
    /// The output.
    pub fn compare(&self, outcome: &Outcome) -> Result<(), String> {
        let own: Vec<&str> = outcome.output.lines().skip(self.separators).collect();
        let own = own.join("\n");
        if self.expected.is_met(outcome.code, &own) { Ok(()) } else { Err(own) }
    }
}

fn are_equal(expected: &[Datum], found: &[Datum]) -> bool {
    expected.len() == found.len() && expected.iter().zip(found).all(|(expected, found)| is_equal(expected, found))
}

fn is_equal(expected: &Datum, found: &Datum) -> bool {
    if let Some([unmarked]) = expected.behind("perturbation").or(expected.behind("sensitivity")) {
        return is_equal(unmarked, found);
    }
    match (&expected.kind, &found.kind) {
        (DatumKind::Real(a), DatumKind::Real(b)) => {
            a == b || (a - b).abs() <= TOLERANCE * a.abs().max(1.0) || a.is_nan() && b.is_nan()
        }
        (DatumKind::Bool(a), DatumKind::Bool(b)) => a == b,
        (DatumKind::Symbol(a), DatumKind::Symbol(b)) => a == b,
        (DatumKind::List(a), DatumKind::List(b)) => are_equal(a, b),
        (DatumKind::Vector(a), DatumKind::Vector(b)) => are_equal(a, b),
        (DatumKind::Dotted(a, x), DatumKind::Dotted(b, y)) => are_equal(a, b) && is_equal(x, y),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(code: i32, output: &str) -> Outcome {
        Outcome { code: Some(code), output: output.to_string(), messages: String::new() }
    }

    #[test]
    fn an_expression_is_a_program_with_the_definitions_before_it() {
        let checks = checks("(define x 1)\nx ===> 1\n(define x 2) x\n===> 2 (define y 3)");
        let texts: Vec<String> =
            checks.iter().map(|check| check.program.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(texts, ["(define x 1) x", "(define x 1) 0 (define x 2) x"]);
        assert!(checks[1].program.starts_with("(define x 1)\n0"), "forms stay where they stand");
        assert_eq!(checks[0].compare(&outcome(0, "1\n")), Ok(()));
        assert_eq!(checks[1].compare(&outcome(0, "0\n2\n")), Ok(()));
        assert_eq!(checks[1].compare(&outcome(0, "0\n3\n")), Err("3".to_string()));
        assert_eq!(checks[1].compare(&outcome(1, "0\n2\n")), Err("2".to_string()));
    }

    #[test]
    fn what_is_expected_is_compared_as_data() {
        let met = |expected: &str, code: i32, output: &str| {
            checks(&format!("0 ===> {expected}"))[0].compare(&outcome(code, output)).is_ok()
        };
        assert!(met(".5", 0, "0.5000000000000001\n") && !met(".5", 0, "0.50000001\n"));
        assert!(met("(1 . (2 #t))", 0, "(1 2 #t)\n") && !met("(1 2)", 0, "(1 2 3)\n"));
        assert!(met("(forward 1 (perturbation 2))", 0, "(forward 1 2)\n"));
        assert!(met("7", 0, "7\n7\n") && !met("7", 0, "7\n8\n") && !met("7", 0, "7\n7\n7\n"));
        assert!(met("(multiform 7 7)", 0, "7\n7\n") && !met("(multiform 7 7)", 0, "7\n"));
        assert!(met("(or (error \"no\") 3)", 1, "") && met("(or (error \"no\") 3)", 0, "3\n"));
        assert!(!met("(or (error \"no\") 3)", 0, "4\n") && !met("(error \"no\")", 3, ""));
        let checks =
            checks("(multiform (define a 1) a) ===> (with-inputs (1 -2.5) 1) (exact-string \"#;1 2\") ===> 2 #f");
        assert_eq!((checks[0].program.trim(), checks[0].input.as_str()), ("(define a 1) a", "1\n-2.5\n"));
        assert_eq!(checks[1].program, "#;1 2");
        assert!(checks[2].compare(&outcome(0, "#f\n")).is_err(), "an expression alone has to be true");
    }
}
