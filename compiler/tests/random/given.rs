//! Random derivatives that the program gives: right ones, made from the derivative of the function itself, and where
//! nobody compares with differences any others.

use super::generate::Generator;
use super::modes::Mode;
use super::sexp::{Sexp, atom, form};
use super::types::Type;

impl Generator {
    /// A function with a given derivative.
    pub(super) fn given(&mut self, argument: &Type, result: &Type) -> Sexp {
        self.note("given derivatives");
        let function = Type::function(argument.clone(), result.clone());
        if self.rng.percent(40) {
            let template = *self.rng.choose(&[
                "(checkpoint ?)",
                "(let ((f ?)) (custom-*j f (*j f)))",
                "(let ((f ?)) (custom-*j f (lambda (rx) ((*j f) rx))))",
            ]);
            return form(template, [self.differentiated(Mode::Reverse, |inside| inside.expression(&function))]);
        }
        // What a derivative is given of so captures no numbers.
        let globals: [(&str, &Type); 2] = [("r0", &Type::Real), ("r1", &Type::Real)];
        let f = self.only_within(&globals, |inside| {
            inside.differentiated(Mode::Reverse, |inside| inside.expression(&function))
        });
        if *argument == Type::Real && *result == Type::Real && self.rng.percent(50) {
            if !self.is_checked() && self.rng.percent(40) {
                let other = self.only_within(&globals, |inside| inside.expression(&function));
                return form("(with-derivative ? ?)", [f, other]);
            }
            let template = *self.rng.choose(&[
                "(let ((f ?)) (with-derivative f (derivative-R f)))",
                "(let ((f ?)) (with-derivative f (derivative-F f)))",
                "(let ((f ?)) (with-derivative f (lambda (x) (slope f x))))",
            ]);
            return form(template, [f]);
        }
        let template = *self.rng.choose(&[
            "(let ((f ?)) (with-vjp f (lambda (x y s) (vjp-R f x s))))",
            "(let ((f ?)) (with-vjp f (lambda (x y s) (vjp-F f x s))))",
            "(let ((f ?)) (with-jvp f (lambda (x y t) (jvp-R f x t))))",
            "(let ((f ?)) (with-jvp f (lambda (x y t) (jvp-F f x t))))",
        ]);
        form(template, [f])
    }

    /// Loops of the library whose derivatives are given.
    pub(super) fn given_loop(&mut self, wanted: &Type) -> Sexp {
        if !self.is_checked() && self.rng.percent(20) {
            self.note("constants in derivatives");
            return form("(stop-gradient ?)", [self.expression(wanted)]);
        }
        if !self.may_differentiate() {
            return self.simple(wanted);
        }
        let x = self.fresh("x");
        if *wanted == Type::Real && self.rng.percent(30) {
            self.note("fixed points");
            // A contraction: a few dozen steps, whatever the two numbers are.
            let [a, b] = self.repeated(20, |inside| {
                inside.within(&[], |inside| [inside.simple(&Type::Real), inside.simple(&Type::Real)])
            });
            let template = "(fixed-point (lambda (x y) (not (> (abs (- x y)) (* 1e-15 (+ 1 (abs x))))))
                                         (lambda (?) (+ ? (/ (sin (+ ? ?)) 4))) ?)";
            let start = self.expression(&Type::Real);
            return form(template, [atom(&x), a, b, atom(&x), start]);
        }
        self.note("checkpointed loops");
        let (count, start) = (self.count(), self.expression(wanted));
        let body = self.within(&[(&x, wanted)], |inside| {
            inside.repeated(2, |inside| inside.differentiated(Mode::Reverse, |inside| inside.expression(wanted)))
        });
        form("(checkpointed-iterate ? (lambda (?) ?) ?)", [count, atom(x), body, start])
    }
}
