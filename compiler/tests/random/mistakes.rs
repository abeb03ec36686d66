//! Random mistakes and special numbers: what programs fail with, and numbers that are none.

use super::generate::Generator;
use super::modes::Mode;
use super::sexp::{Sexp, atom, form};
use super::types::Type;

impl Generator {
    /// Something that does not fit where a value of the wanted type belongs, or a number that is hard to compute with.
    pub(super) fn mistake(&mut self, wanted: &Type) -> Sexp {
        if *wanted == Type::Real && self.rng.percent(60) {
            self.note("special numbers");
            let numbers = ["(/ 1 0)", "(/ -1 0)", "(/ 0 0)", "(- 0)", "-0", "(* r0 (/ 1 0))", "(sqrt (- r1))", "1e300"];
            let template = *self.rng.choose(&numbers);
            return form(template, []);
        }
        self.note("mistakes");
        let of = self.any_type(2);
        match self.rng.below(12) {
            0..=2 => self.expression(&of),
            3 => form("(error \"message\" ?)", [self.expression(&of)]),
            4 => form("(begin (read-real) ?)", [self.expression(wanted)]),
            5 => form("(begin (read-real) (read-real) (read-real) ?)", [self.expression(wanted)]),
            6 => {
                let template =
                    *self.rng.choose(&["(car ?)", "(cdr ?)", "(list-ref ? 2)", "(length ?)", "(car (cdr ?))"]);
                form(template, [self.expression(&of)])
            }
            7 => form("(let (((list a b) ?)) ?)", [self.expression(&of), self.simple(wanted)]),
            8 => form("(let (((cons a b) ?)) ?)", [self.expression(&of), self.simple(wanted)]),
            9 => {
                let template = *self.rng.choose(&[
                    "(*j-inverse ?)",
                    "(zero ?)",
                    "(*j ?)",
                    "((derivative sin) ?)",
                    "(sum-all ((jacobian (lambda (x) x)) ?))",
                ]);
                form(template, [self.expression(&of)])
            }
            10 => {
                let other = self.any_type(1);
                form("(plus ? ?)", [self.expression(&of), self.expression(&other)])
            }
            _ => form("(? ?)", [self.expression(&of), self.simple(&Type::Real)]),
        }
    }

    /// Output in the middle of a computation.
    pub(super) fn output(&mut self, wanted: &Type) -> Sexp {
        self.note("output");
        match self.rng.below(4) {
            0 => form("(begin (write-real ?) ?)", [self.expression(&Type::Real), self.expression(wanted)]),
            1 => form("(begin (write-string \"text\") ?)", [self.expression(wanted)]),
            2 if wanted.is_data() => form("(write ?)", [self.expression(wanted)]),
            _ => {
                let of = Type::random_data(&mut self.rng, 2);
                let written = self.expression(&of);
                form("(begin (write ?) (newline) ?)", [written, self.expression(wanted)])
            }
        }
    }
}

/// Numbers, words that are none, or too few of either.
pub(super) fn spoil(rng: &mut super::rng::Rng, input: &mut Vec<String>) {
    match rng.below(4) {
        0 => input.truncate(rng.below(4)),
        1 => {
            let at = rng.below(input.len());
            input[at] = rng.choose(&["word", "+inf.0", "-0", "+nan.0", "1e400", "1/3"]).to_string();
        }
        _ => {}
    }
}

/// What stands in front of the numbers that a derivative is checked with, and those that derivatives of derivatives
/// are.
pub const CHECK_MARK: &str = "(31337 ";
pub const SECOND_MARK: &str = "(31338 ";

/// A function of a number, its derivative at a point in both modes, and its values near that point; or the derivatives
/// of its derivative in all mixes of modes, and values of the derivative. The point is none that a condition in the
/// function compares with: there the branch that is taken at the point itself need not be the one around it.
pub(super) fn check(generator: &mut Generator) -> Vec<Sexp> {
    let second = generator.rng.percent(30);
    let (x, mode) = (generator.fresh("x"), generator.mode());
    // Three terms, lest most functions be constant.
    let terms = |inside: &mut Generator| {
        inside.budget /= 2;
        [(); 3].map(|()| inside.expression(&Type::Real))
    };
    let [one, two, three] = generator.only_within(&[(&x, &Type::Real)], |inside| {
        inside.differentiated(mode, |inside| match second {
            true => inside.differentiated(mode, terms),
            false => terms(inside),
        })
    });
    let parts = [atom(&x), one, atom(&x), two, three];
    let definition = form("(define (checked ?) (+ ? (* ? ?) (sin ?)))", parts);
    let near = |mark: &str, derivatives: &str, function: &str| {
        let steps = ["0.0009765625", "0.00048828125", "0.000244140625"];
        let values = steps.map(|step| format!("({function} (- at {step})) ({function} (+ at {step}))"));
        form(&format!("(list {mark} {derivatives} ({function} at) {})", values.join(" ")), [])
    };
    let derivatives = "((derivative-R checked) at) ((derivative-F checked) at)";
    let mut forms = vec![form("(define at (+ r1 0.1))", []), definition];
    if second {
        generator.note("second derivatives");
        forms.push(form("(define slope-R (derivative-R checked))", []));
        forms.push(form("(define slope-F (derivative-F checked))", []));
        let mixes = "((derivative-R slope-R) at) ((derivative-F slope-R) at)
            ((derivative-R slope-F) at) ((derivative-F slope-F) at)";
        let slope = if mode == Mode::Forward { "slope-F" } else { "slope-R" };
        forms.push(near(SECOND_MARK.trim_matches(['(', ' ']), mixes, slope));
    } else {
        forms.push(near(CHECK_MARK.trim_matches(['(', ' ']), derivatives, "checked"));
    }
    forms
}
