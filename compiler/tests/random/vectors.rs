//! Vectors: made in all ways, read, folded; vectors in vectors, as deep as is known at run time only.

use super::generate::Generator;
use super::sexp::{Sexp, atom, form};
use super::types::Type;
use std::rc::Rc;

impl Generator {
    /// A vector with elements of a type.
    pub(super) fn vector(&mut self, item: &Type) -> Sexp {
        self.note("vectors");
        let vector = Type::Vector(Rc::new(item.clone()));
        let x = self.fresh("x");
        match self.rng.below(if self.may_repeat() { 11 } else { 3 }) {
            0 => form("(vector ?)", [self.expression(item)]),
            1 => form("(vector ? ?)", [self.expression(item), self.expression(item)]),
            2 => form("(vector ? ? ?)", [self.simple(item), self.expression(item), self.simple(item)]),
            3..=4 => {
                let body = self.each(&x, &Type::Real, item);
                form("(build ? (lambda (?) ?))", [self.count(), atom(x), body])
            }
            5..=6 => {
                let from = self.any_type(1);
                let body = self.each(&x, &from, item);
                form("(vector-map (lambda (?) ?) ?)", [atom(x), body, self.expression(&Type::Vector(Rc::new(from)))])
            }
            7 => form("(list->vector ?)", [self.expression(&Type::List(Rc::new(item.clone())))]),
            8 => form("(vector-append ? ?)", [self.expression(&vector), self.expression(&vector)]),
            _ => {
                // Of two vectors of the same length, one made from the other.
                let (from, other) = (self.any_type(1), self.any_type(1));
                let (v, y) = (self.fresh("v"), self.fresh("y"));
                let second = self.each(&x, &from, &other);
                let body = self.within(&[(&x, &from), (&y, &other)], |inside| {
                    inside.repeated(3, |inside| inside.expression(item))
                });
                let first = self.expression(&Type::Vector(Rc::new(from)));
                let template = "(let ((? ?)) (vector-map2 (lambda (? ?) ?) ? (vector-map (lambda (?) ?) ?)))";
                let [v, x] = [v, x].map(atom);
                form(template, [v.clone(), first, x.clone(), atom(y), body, v.clone(), x, second, v])
            }
        }
    }

    /// What is computed for each element `x`.
    fn each(&mut self, x: &str, of: &Type, wanted: &Type) -> Sexp {
        self.within(&[(x, of)], |inside| inside.repeated(3, |inside| inside.expression(wanted)))
    }

    /// An element of a vector, which may be too short.
    pub(super) fn element(&mut self, wanted: &Type) -> Sexp {
        let vector = self.expression(&Type::Vector(Rc::new(wanted.clone())));
        let v = self.fresh("v");
        if self.rng.percent(5) {
            return form("(vector-ref ? ?)", [vector, self.count()]);
        }
        let (index, otherwise) = (self.count(), self.expression(wanted));
        let parts = [atom(&v), vector, index.clone(), atom(&v), atom(&v), index, otherwise];
        form("(let ((? ?)) (if (< ? (vector-length ?)) (vector-ref ? ?) ?))", parts)
    }

    /// All elements of a vector combined with a value, or a value changed several times.
    pub(super) fn fold_vector(&mut self, wanted: &Type) -> Sexp {
        if !self.may_repeat() {
            return self.simple(wanted);
        }
        if self.rng.percent(30) {
            let a = self.fresh("a");
            let body = self.each(&a, wanted, wanted);
            return form("(iterate ? (lambda (?) ?) ?)", [self.count(), atom(a), body, self.expression(wanted)]);
        }
        let item = self.any_type(1);
        let vector = self.expression(&Type::Vector(Rc::new(item.clone())));
        let (a, x) = (self.fresh("a"), self.fresh("x"));
        let body =
            self.within(&[(&a, wanted), (&x, &item)], |inside| inside.repeated(3, |inside| inside.expression(wanted)));
        form("(vector-fold (lambda (? ?) ?) ? ?)", [atom(a), atom(x), body, self.expression(wanted), vector])
    }

    /// A nest: a number, or a vector of nests.
    pub(super) fn nest(&mut self) -> Sexp {
        self.note("nests of vectors");
        match self.rng.below(if self.may_repeat() { 6 } else { 3 }) {
            0 => self.expression(&Type::Real),
            1 => self.vector(&Type::Nest),
            2 => self.vector(&Type::Real),
            3..=4 => {
                // As deep as is known at run time only.
                let (name, i, t) = (atom(self.fresh("grow")), self.fresh("i"), self.fresh("t"));
                let (count, start) = (self.count(), self.expression(&Type::Nest));
                let grown = self.within(&[(&i, &Type::Real), (&t, &Type::Nest)], |inside| {
                    inside.repeated(3, |inside| inside.vector(&Type::Nest))
                });
                let i = atom(i);
                let parts = [name.clone(), i.clone(), count, atom(&t), start, i.clone(), atom(&t), name, i, grown];
                form("(let ? ((? ?) (? ?)) (if (<= ? 0) ? (? (- ? 1) ?)))", parts)
            }
            _ => {
                let (name, i, j) = (atom(self.fresh("plant")), atom(self.fresh("i")), atom(self.fresh("j")));
                let count = self.count();
                let leaf = self.repeated(8, |inside| inside.expression(&Type::Real));
                let parts = [name.clone(), i.clone(), count, i.clone(), leaf, j, name, i];
                form("(let ? ((? (min 3 ?))) (if (<= ? 0) ? (build 2 (lambda (?) (? (- ? 1))))))", parts)
            }
        }
    }

    /// What all numbers of a nest give together.
    pub(super) fn walk_of_nest(&mut self, wanted: &Type) -> Sexp {
        self.note("walks over nests of vectors");
        let nest = self.expression(&Type::Nest);
        let (walk, t, a, b) = (atom(self.fresh("walk")), self.fresh("t"), self.fresh("a"), self.fresh("b"));
        let inner =
            self.within(&[(&a, wanted), (&b, wanted)], |inside| inside.repeated(4, |inside| inside.expression(wanted)));
        let leaf = self.within(&[(&t, &Type::Real)], |inside| inside.repeated(4, |inside| inside.expression(wanted)));
        let start = self.simple(wanted);
        let (t, u) = (atom(t), atom(self.fresh("u")));
        let parts =
            [walk.clone(), t.clone(), nest, t.clone(), atom(a), u.clone(), atom(b), walk, u, inner, start, t, leaf];
        form("(let ? ((? ?)) (if (vector? ?) (vector-fold (lambda (? ?) (let ((? (? ?))) ?)) ? ?) ?))", parts)
    }
}
