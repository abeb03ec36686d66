//! Random derivatives: every operator of the library, nested, of functions between all kinds of spaces.

use super::generate::Generator;
use super::modes::Mode;
use super::sexp::{Sexp, atom, form};
use super::types::Type;
use std::rc::Rc;

impl Generator {
    /// A number that is part of a derivative.
    pub(super) fn derived_real(&mut self) -> Sexp {
        if !self.may_differentiate() {
            return self.expression(&Type::Real);
        }
        match self.rng.below(15) {
            12.. => self.bundled_real(),
            0..=3 => self.slope(),
            4 => self.closure_gradient(),
            5 => self.pulled_back(),
            6 => self.tower(),
            7 => {
                let mode = self.mode();
                let (f, x) = (self.differentiable(mode, &Type::Real, &Type::Real), self.expression(&Type::Real));
                let name = *self.rng.choose(&["jvp", "vjp", "hvp", "directional-derivative"]);
                form("(? ? ? ?)", [self.operator(name, mode), f, x, self.expression(&Type::Real)])
            }
            8 => {
                let (space, mode) = (self.space(), self.mode());
                let f = self.differentiable(mode, &space, &Type::Real);
                let name = *self.rng.choose(&["hessian", "jacobian"]);
                form("(sum-all ((? ?) ?))", [self.operator(name, mode), f, self.expression(&space)])
            }
            9 => {
                // The derivative of a function that returns a function, or a list.
                let (x, mode) = (self.fresh("x"), self.mode());
                let result = Type::function(Type::Real, Type::Real);
                let body = self.within(&[(&x, &Type::Real)], |inside| {
                    inside.differentiated(mode, |inside| inside.expression(&result))
                });
                let [at, argument] = [self.expression(&Type::Real), self.expression(&Type::Real)];
                let parts = [self.operator("derivative", mode), atom(&x), body, atom(&x), argument, at];
                form("((? (lambda (?) (? (+ ? ?)))) ?)", parts)
            }
            10 => {
                // The sensitivity of what a function has captured.
                let f = self.differentiable(Mode::Reverse, &Type::Real, &Type::Real);
                form("(sum-all (car ((cdr ((*j ?) (*j ?))) 1)))", [f, self.expression(&Type::Real)])
            }
            _ => {
                let space = self.space();
                let value = self.expression(&space);
                let template = *self.rng.choose(&["(sum-all (zero ?))", "(sum-all (*j-inverse (*j ?)))"]);
                form(template, [value])
            }
        }
    }

    fn space(&mut self) -> Type {
        Type::random_space(&mut self.rng, 2)
    }

    /// A derivative that has the type of this space.
    pub(super) fn derived_space(&mut self, space: &Type) -> Sexp {
        match self.rng.below(7) {
            0..=1 => self.gradient(space),
            2..=3 => {
                let mode = self.mode();
                let f = self.differentiable(mode, &Type::Real, space);
                form("((? ?) ?)", [self.operator("derivative", mode), f, self.expression(&Type::Real)])
            }
            4 => {
                let mode = self.mode();
                let (f, x) = (self.differentiable(mode, &Type::Real, space), self.expression(&Type::Real));
                form("(? ? ? ?)", [self.operator("jvp", mode), f, x, self.expression(&Type::Real)])
            }
            5 => {
                let v = self.fresh("v");
                let value = self.expression(space);
                form("(let ((? ?)) (plus ? ?))", [atom(&v), value, atom(&v), atom(&v)])
            }
            _ => {
                let v = self.fresh("v");
                let value = self.expression(space);
                form("(let ((? ?)) (plus (zero ?) ?))", [atom(&v), value, atom(&v), atom(&v)])
            }
        }
    }

    /// A pair of a number and the gradient that belongs to it.
    pub(super) fn value_and_gradient(&mut self, space: &Type) -> Sexp {
        let mode = self.mode();
        let f = self.differentiable(mode, space, &Type::Real);
        form("((? ?) ?)", [self.operator("value-and-gradient", mode), f, self.expression(space)])
    }

    /// A list, from the library's functions on lists.
    pub(super) fn library_list(&mut self, item: &Type) -> Sexp {
        self.note("library lists");
        let list = Type::List(Rc::new(item.clone()));
        if !self.may_repeat() {
            return self.simple(&list);
        }
        let x = self.fresh("x");
        match self.rng.below(10) {
            9 => form("(vector->list ?)", [self.expression(&Type::Vector(Rc::new(item.clone())))]),
            0 => form("(reverse ?)", [self.expression(&list)]),
            1 => form("(append ? ?)", [self.expression(&list), self.expression(&list)]),
            2 => {
                let keep =
                    self.within(&[(&x, item)], |inside| inside.repeated(3, |inside| inside.expression(&Type::Bool)));
                let template = *self.rng.choose(&["(filter (lambda (?) ?) ?)", "(remove-if (lambda (?) ?) ?)"]);
                form(template, [atom(x), keep, self.expression(&list)])
            }
            3..=4 => {
                let from = self.any_type(1);
                let body = self.within(&[(&x, &from)], |inside| inside.repeated(3, |inside| inside.expression(item)));
                form("(map (lambda (?) ?) ?)", [atom(x), body, self.expression(&Type::List(Rc::new(from)))])
            }
            5 => {
                let (from, y) = (self.any_type(1), self.fresh("y"));
                let body = self.within(&[(&x, &from), (&y, &Type::Real)], |inside| {
                    inside.repeated(3, |inside| inside.expression(item))
                });
                let (one, two) =
                    (self.expression(&Type::List(Rc::new(from))), self.expression(&Type::List(Rc::new(Type::Real))));
                form("(map (lambda (? ?) ?) ? ?)", [atom(x), atom(y), body, one, two])
            }
            6..=7 => {
                let body =
                    self.within(&[(&x, &Type::Real)], |inside| inside.repeated(3, |inside| inside.expression(item)));
                form("(map-n (lambda (?) ?) ?)", [atom(x), body, self.count()])
            }
            _ => {
                // Of a length that only run time knows.
                let (name, i, l) = (self.fresh("build"), self.fresh("i"), self.fresh("l"));
                let (count, start) = (self.count(), self.expression(&list));
                let next = self.within(&[(&l, &list), (&i, &Type::Real)], |inside| {
                    inside.repeated(3, |inside| inside.expression(item))
                });
                let name = atom(name);
                let parts = [
                    name.clone(),
                    atom(&i),
                    count,
                    atom(&l),
                    start,
                    atom(&i),
                    atom(&l),
                    name,
                    atom(&i),
                    next,
                    atom(&l),
                ];
                form("(let ? ((? ?) (? ?)) (if (<= ? 0) ? (? (- ? 1) (cons ? ?))))", parts)
            }
        }
    }

    /// A number, from the library's functions on lists.
    pub(super) fn library_real(&mut self) -> Sexp {
        let numbers = Type::List(Rc::new(Type::Real));
        if self.rng.percent(15) {
            return form("(vector-sum ?)", [self.expression(&Type::Vector(Rc::new(Type::Real)))]);
        }
        let list = self.expression(&numbers);
        match self.rng.below(5) {
            0 => form("(length ?)", [list]),
            1 => {
                let template = *self.rng.choose(&["(reduce + 0 ?)", "(reduce max 0 ?)", "(fold-left * 1 ?)"]);
                form(template, [list])
            }
            2 => form("(let ((found (member ? ?))) (if found (car found) 7))", [self.number(), list]),
            3 => form("(list-ref (append ? (list 1 2 3 4 5)) ?)", [list, self.count()]),
            _ => {
                let number = self.expression(&Type::Real);
                form("(reduce (lambda (a b) (+ (* a ?) b)) ? ?)", [atom("r0"), number, list])
            }
        }
    }
}
