//! Random expressions of one particular type: arithmetic, comparisons, lists, functions, derivatives.

use super::generate::Generator;
use super::modes::Mode;
use super::sexp::{Sexp, atom, form};
use super::types::Type;
use std::rc::Rc;

impl Generator {
    /// A form that gives values of this type only.
    pub(super) fn special(&mut self, wanted: &Type) -> Sexp {
        if wanted.is_space() && !matches!(wanted, Type::Real) && self.may_differentiate() && self.rng.percent(20) {
            return self.derived_space(wanted);
        }
        match wanted {
            Type::Real => self.real(),
            Type::Bool => self.boolean(),
            Type::Tree => self.tree(),
            Type::Nest => self.nest(),
            Type::Record(sort) => self.record(*sort),
            Type::Pair(car, cdr)
                if **car == Type::Real && cdr.is_space() && self.may_differentiate() && self.rng.percent(10) =>
            {
                self.value_and_gradient(cdr)
            }
            Type::Pair(car, cdr) => form("(cons ? ?)", [self.expression(car), self.expression(cdr)]),
            Type::Duo(left, _) if self.rng.percent(20) => {
                form("(duo-with-left ? ?)", [self.expression(wanted), self.expression(left)])
            }
            Type::Duo(_, right) if self.rng.percent(20) => {
                form("(duo-with-right ? ?)", [self.expression(wanted), self.expression(right)])
            }
            Type::Duo(left, right) => form("(duo ? ?)", [self.expression(left), self.expression(right)]),
            Type::List(item) => self.list(item),
            Type::Vector(item) => self.vector(item),
            Type::RealOr(pair) => {
                let of = if self.rng.percent(50) { Type::Real } else { pair.as_ref().clone() };
                self.expression(&of)
            }
            Type::Function(argument, result) => self.function_value(argument, result),
        }
    }

    fn two_reals(&mut self) -> [Sexp; 2] {
        [self.expression(&Type::Real), self.expression(&Type::Real)]
    }

    fn real(&mut self) -> Sexp {
        match self.rng.below(28) {
            0..=3 => form("(+ ? ?)", self.two_reals()),
            4..=5 => form("(- ? ?)", self.two_reals()),
            6..=9 => form("(* ? ?)", self.two_reals()),
            10 => self.quotient(),
            11..=13 => self.elementary(),
            14 => form("(real ?)", [self.expression(&Type::Real)]),
            15 => form("(fold + 0 ?)", [self.expression(&Type::List(Rc::new(Type::Real)))]),
            16 => {
                let of = Type::random_data(&mut self.rng, 2);
                form("(sum-all ?)", [self.expression(&of)])
            }
            17 if self.rng.percent(20) => form("(write-real ?)", [self.expression(&Type::Real)]),
            17..=22 => self.derived_real(),
            23..=24 => self.library_real(),
            _ => self.number(),
        }
    }

    /// A quotient whose divisor is at least 1.
    fn quotient(&mut self) -> Sexp {
        let d = self.fresh("d");
        let [numerator, divisor] = self.two_reals();
        form("(let ((? ?)) (/ ? (+ 1 (* ? ?))))", [atom(&d), divisor, numerator, atom(&d), atom(&d)])
    }

    fn elementary(&mut self) -> Sexp {
        const FORMS: [&str; 14] = [
            "(sin ?)",
            "(cos ?)",
            "(exp (sin ?))",
            "(tanh ?)",
            "(atan ?)",
            "(abs ?)",
            "(floor ?)",
            "(round ?)",
            "(sqrt (+ 1 (abs ?)))",
            "(log (+ 1 (abs ?)))",
            "(expt (+ 1 (abs ?)) .5)",
            "(log1p (abs ?))",
            "(expm1 (sin ?))",
            "(atan ? 2)",
        ];
        if self.rng.percent(15) {
            let forms = ["(max ? ?)", "(min ? ?)", "(expt (+ 2 (sin ?)) (cos ?))"];
            let template = *self.rng.choose(&forms);
            return form(template, self.two_reals());
        }
        let template = *self.rng.choose(&FORMS);
        form(template, [self.expression(&Type::Real)])
    }

    fn boolean(&mut self) -> Sexp {
        match self.rng.below(8) {
            0..=3 => {
                let comparison = *self.rng.choose(&["(< ? ?)", "(> ? ?)", "(<= ? ?)", "(>= ? ?)", "(= ? ?)"]);
                form(comparison, self.two_reals())
            }
            4 => form("(not ?)", [self.expression(&Type::Bool)]),
            5 => form("(and ? ?)", [self.expression(&Type::Bool), self.expression(&Type::Bool)]),
            6 => form("(or ? ?)", [self.expression(&Type::Bool), self.expression(&Type::Bool)]),
            _ => {
                let of = Type::random_data(&mut self.rng, 2);
                form("(pair? ?)", [self.expression(&of)])
            }
        }
    }

    fn list(&mut self, item: &Type) -> Sexp {
        let list = Type::List(Rc::new(item.clone()));
        match self.rng.below(11) {
            8.. => self.library_list(item),
            0 => atom("'()"),
            1 => form("(list ?)", [self.expression(item)]),
            2 => form("(list ? ?)", [self.expression(item), self.expression(item)]),
            3 => form("(list ? ? ?)", [self.simple(item), self.expression(item), self.simple(item)]),
            4..=5 => form("(cons ? ?)", [self.expression(item), self.expression(&list)]),
            6 => form("(append ? ?)", [self.expression(&list), self.simple(&list)]),
            _ => {
                let from = Type::random_data(&mut self.rng, 1);
                let function = Type::function(from.clone(), item.clone());
                form("(map1 ? ?)", [self.expression(&function), self.expression(&Type::List(Rc::new(from)))])
            }
        }
    }

    fn function_value(&mut self, argument: &Type, result: &Type) -> Sexp {
        if self.rng.percent(10) {
            let middle = Type::random_data(&mut self.rng, 1);
            let outer = self.expression(&Type::function(middle.clone(), result.clone()));
            let inner = self.expression(&Type::function(argument.clone(), middle));
            return form("(compose ? ?)", [outer, inner]);
        }
        if *argument == Type::Real && *result == Type::Real && self.may_differentiate() && self.rng.percent(10) {
            let mode = self.mode();
            let f = self.differentiable(mode, &Type::Real, &Type::Real);
            return form("(? ?)", [self.operator("derivative", mode), f]);
        }
        if self.may_differentiate() && self.rng.percent(10) {
            return self.given(argument, result);
        }
        if let Type::Pair(car, cdr) = argument
            && self.rng.percent(60)
        {
            let (a, b) = (self.fresh("a"), self.fresh("b"));
            let body = self.within(&[(&a, car), (&b, cdr)], |inside| inside.expression(result));
            return form("(lambda (? ?) ?)", [atom(a), atom(b), body]);
        }
        if let Type::Duo(left, right) = argument
            && self.rng.percent(60)
        {
            let (a, b) = (self.fresh("a"), self.fresh("b"));
            let body = self.within(&[(&a, left), (&b, right)], |inside| inside.expression(result));
            return form("(lambda ((duo ? ?)) ?)", [atom(a), atom(b), body]);
        }
        let x = self.fresh("x");
        let body = self.within(&[(&x, argument)], |inside| inside.expression(result));
        form("(lambda (?) ?)", [atom(x), body])
    }

    pub(super) fn slope(&mut self) -> Sexp {
        if !self.may_differentiate() {
            return self.expression(&Type::Real);
        }
        let mode = self.mode();
        let f = self.differentiable(mode, &Type::Real, &Type::Real);
        let x = self.expression(&Type::Real);
        match self.rng.below(3) {
            0 if mode == Mode::Reverse => form("(slope ? ?)", [f, x]),
            0 => form("(shove ? ? 1)", [f, x]),
            1 => form("((? ?) ?)", [self.operator("derivative", mode), f, x]),
            _ => form("((? ?) ?)", [self.operator("gradient", mode), f, x]),
        }
    }

    pub(super) fn gradient(&mut self, space: &Type) -> Sexp {
        let mode = self.mode();
        let f = self.differentiable(mode, space, &Type::Real);
        form("((? ?) ?)", [self.operator("gradient", mode), f, self.expression(space)])
    }

    /// The gradient with respect to a function: a list of whatever it has captured.
    pub(super) fn closure_gradient(&mut self) -> Sexp {
        if !self.may_differentiate() {
            return self.expression(&Type::Real);
        }
        let (argument, result) = (Type::random_data(&mut self.rng, 1), Type::random_data(&mut self.rng, 1));
        let function = Type::function(argument, result);
        self.note("gradient of a function");
        let (f, mode) = (self.fresh("f"), self.mode());
        let body = self
            .within(&[(&f, &function)], |inside| inside.differentiated(mode, |inside| inside.expression(&Type::Real)));
        let parts = [self.operator("gradient", mode), atom(f), body, self.expression(&function)];
        form("(sum-all ((? (lambda (?) ?)) ?))", parts)
    }

    /// A backpropagator applied to a sensitivity that is not 1.
    pub(super) fn pulled_back(&mut self) -> Sexp {
        if !self.may_differentiate() {
            return self.expression(&Type::Real);
        }
        let space = Type::pair(Type::random_space(&mut self.rng, 1), Type::random_space(&mut self.rng, 1));
        let fixed = fixed_shape(&space);
        let mode = self.mode();
        let function = self.differentiable(mode, &Type::Real, &fixed);
        let (x, sensitivity) = (self.expression(&Type::Real), self.expression(&fixed));
        match mode {
            Mode::Forward => form("(vjp-F ? ? ?)", [function, x, sensitivity]),
            Mode::Reverse => form("(pull ? ? ?)", [function, x, sensitivity]),
        }
    }

    /// `*j` applied to itself.
    pub(super) fn tower(&mut self) -> Sexp {
        let [x, s] = self.two_reals();
        match self.rng.below(3) {
            0 => form("(cdr ((cdr ((*j *j) (*j ?))) (*j ?)))", [x, s]),
            1 => form("(*j-inverse (*j-inverse (*j (*j ?))))", [x]),
            _ => form("(*j-inverse (*j-inverse (car ((*j *j) (*j ?)))))", [x]),
        }
    }
}

/// The type with every list or vector replaced by its item: values of it always conform to each other.
fn fixed_shape(space: &Type) -> Type {
    match space {
        Type::Pair(car, cdr) => Type::pair(fixed_shape(car), fixed_shape(cdr)),
        Type::Duo(left, right) => Type::Duo(Rc::new(fixed_shape(left)), Rc::new(fixed_shape(right))),
        Type::List(item) | Type::Vector(item) | Type::RealOr(item) => fixed_shape(item),
        _ => Type::Real,
    }
}
