//! Random derivatives in forward and reverse mode, one inside the other, and the values that forward mode is made of.

use super::generate::Generator;
use super::sexp::{Sexp, atom, form};
use super::types::Type;

/// How a derivative is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Forward,
    Reverse,
}

/// Derivatives inside derivatives, for counting: the outer mode first.
pub(super) fn nesting(outer: Mode, inner: Mode) -> &'static str {
    match (outer, inner) {
        (Mode::Forward, Mode::Forward) => "FF",
        (Mode::Forward, Mode::Reverse) => "FR",
        (Mode::Reverse, Mode::Forward) => "RF",
        (Mode::Reverse, Mode::Reverse) => "RR",
    }
}

impl Generator {
    pub(super) fn mode(&mut self) -> Mode {
        if self.rng.percent(45) { Mode::Forward } else { Mode::Reverse }
    }

    /// The name of an operator of the library in a mode.
    pub(super) fn operator(&mut self, name: &str, mode: Mode) -> Sexp {
        let ending = match mode {
            Mode::Forward => "-F",
            Mode::Reverse if self.rng.percent(50) => "",
            Mode::Reverse => "-R",
        };
        atom(format!("{name}{ending}"))
    }

    /// A function whose derivative is taken, as an expression.
    pub(super) fn differentiable(&mut self, mode: Mode, argument: &Type, result: &Type) -> Sexp {
        let function = Type::function(argument.clone(), result.clone());
        self.differentiated(mode, |inside| inside.expression(&function))
    }

    /// A number out of bundles.
    pub(super) fn bundled_real(&mut self) -> Sexp {
        if !self.may_differentiate() {
            return self.expression(&Type::Real);
        }
        self.note("bundles");
        let real = Type::Real;
        match self.rng.below(9) {
            0..=1 => {
                let f = self.differentiable(Mode::Forward, &real, &real);
                let template = *self.rng.choose(&["(shove ? ? ?)", "(primal ((j* ?) (bundle ? ?)))"]);
                form(template, [f, self.expression(&real), self.expression(&real)])
            }
            2 => {
                let space = Type::random_space(&mut self.rng, 2);
                let f = self.differentiable(Mode::Forward, &space, &real);
                let v = atom(self.fresh("v"));
                let template = "(let ((? ?)) (shove ? ? ?))";
                form(template, [v.clone(), self.expression(&space), f, v.clone(), v])
            }
            3 => {
                // A tangent of what the function has captured.
                let f = self.differentiable(Mode::Forward, &real, &real);
                let (name, x) = (atom(self.fresh("f")), self.expression(&real));
                let t = self.expression(&real);
                let template = *self.rng.choose(&[
                    "(let ((? ?)) (tangent ((bundle ? (zero ?)) (bundle ? ?))))",
                    "(let ((? ?)) (tangent ((bundle ? ((gradient-R (lambda (f) (f 1))) ?)) (bundle ? ?))))",
                ]);
                form(template, [name.clone(), f, name.clone(), name, x, t])
            }
            4 => {
                let [x, t] = [self.expression(&real), self.expression(&real)];
                let template = *self.rng.choose(&[
                    "(primal (bundle ? ?))",
                    "(tangent (bundle ? ?))",
                    "(let (((bundle x t) (bundle ? ?))) (+ x t))",
                    "(tangent (plus (bundle ? ?) (j* 1)))",
                    "(*j-inverse (tangent (bundle (*j ?) (*j ?))))",
                    "(tangent (*j-inverse (*j (bundle ? ?))))",
                ]);
                form(template, [x, t])
            }
            5 => {
                // One transform of the other, by hand.
                let template = *self.rng.choose(&[
                    "(tangent (*j-inverse (car ((*j (j* ?)) (*j (bundle ? ?))))))",
                    "(tangent (cdr ((cdr ((*j (j* ?)) (*j (bundle ? ?)))) (bundle 1 2))))",
                    "(primal (cdr ((cdr ((*j (j* ?)) (*j (bundle ? ?)))) (bundle 1 2))))",
                    "(*j-inverse (tangent (car ((j* (*j ?)) (bundle (*j ?) (*j ?))))))",
                    "(tangent (cdr ((cdr ((j* (*j ?)) (bundle (*j ?) (*j ?)))) (bundle 2 3))))",
                    "(tangent (tangent ((j* (j* ?)) (bundle (bundle ? ?) (bundle 1 0)))))",
                ]);
                let f = self.differentiated(Mode::Reverse, |inside| inside.differentiable(Mode::Forward, &real, &real));
                form(template, [f, self.expression(&real), self.expression(&real)])
            }
            6 => {
                let f = self.differentiable(Mode::Forward, &real, &real);
                form("(sum-all (tangent (j* ?)))", [f])
            }
            7 => {
                let of = self.any_type(2);
                form("(sum-all (tangent (j* ?)))", [self.expression(&of)])
            }
            _ => {
                // A function of bundles.
                let (f, [x, t]) = (
                    self.differentiable(Mode::Forward, &Type::pair(real.clone(), real.clone()), &real),
                    [self.expression(&real), self.expression(&real)],
                );
                let (p, q) = (atom(self.fresh("p")), atom(self.fresh("q")));
                form(
                    "((lambda (? ?) (tangent ((j* ?) ? ?))) (bundle ? 1) (j* ?))",
                    [p.clone(), q.clone(), f, p, q, x, t],
                )
            }
        }
    }

    /// Transformed and back: the same value, for data and for functions.
    pub(super) fn there_and_back(&mut self, wanted: &Type) -> Sexp {
        self.note("there and back");
        let template = *self.rng.choose(&[
            "(*j-inverse (*j ?))",
            "(primal (j* ?))",
            "(*j-inverse (primal (j* (*j ?))))",
            "(primal (*j-inverse (*j (j* ?))))",
            "(primal (primal (j* (j* ?))))",
            "(let ((v ?)) (primal (bundle v (zero v))))",
        ]);
        form(template, [self.expression(wanted)])
    }

    /// The value of a function by way of a transform.
    pub(super) fn through_transform(&mut self, wanted: &Type) -> Sexp {
        if !wanted.is_data() || !self.may_differentiate() {
            return self.expression(wanted);
        }
        let argument = Type::random_data(&mut self.rng, 1);
        let mode = self.mode();
        let function = self.differentiable(mode, &argument, wanted);
        let template = match mode {
            Mode::Forward => "(primal ((j* ?) (j* ?)))",
            Mode::Reverse => "(push ? ?)",
        };
        form(template, [function, self.expression(&argument)])
    }
}
