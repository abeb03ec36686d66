//! Random forms that give a value of any type: recursion of every kind, closures in data, walks over lists and trees.

use super::generate::Generator;
use super::sexp::{Sexp, atom, form};
use super::types::Type;
use std::rc::Rc;

impl Generator {
    /// A form that gives a value of any type, made with recursion or with functions in data.
    pub(super) fn control(&mut self, wanted: &Type) -> Sexp {
        if !self.may_repeat() {
            return self.simple(wanted);
        }
        match self.rng.below(20) {
            19 => self.walk_of_nest(wanted),
            14..=16 => self.use_of_record(wanted),
            17..=18 => self.given_loop(wanted),
            0 => self.mutual_recursion(wanted),
            1 => self.continuation_passing(wanted),
            2 => self.cases(wanted),
            3..=4 => self.pending_recursion(wanted),
            5 => self.fold_of_list(wanted),
            6 => self.optional(wanted),
            7..=8 => self.walk_of_tree(wanted),
            9 => self.one_of_functions(wanted),
            10 => self.walk_of_list(wanted),
            11 => self.local_function(wanted),
            12 => self.there_and_back(wanted),
            _ => self.two_accumulators(wanted),
        }
    }

    /// Two functions that call each other in tail position.
    fn mutual_recursion(&mut self, wanted: &Type) -> Sexp {
        self.note("letrec");
        let (first, second) = (self.any_type(1), self.any_type(1));
        let (f, g, i, a) = (self.fresh("even"), self.fresh("odd"), self.fresh("i"), self.fresh("a"));
        let (count, start) = (self.count(), self.expression(&first));
        let mut lambda = |own: &Type, other: &Type, callee: &str| {
            self.within(&[(&i, &Type::Real), (&a, own)], |inside| {
                inside.repeated(2, |inside| {
                    let (end, next) = (inside.expression(wanted), inside.expression(other));
                    let parts = [atom(&i), atom(&a), atom(&i), end, atom(callee), atom(&i), next];
                    form("(lambda (? ?) (if (<= ? 0) ? (? (- ? 1) ?)))", parts)
                })
            })
        };
        let (one, two) = (lambda(&first, &second, &g), lambda(&second, &first, &f));
        form("(letrec ((? ?) (? ?)) (? ? ?))", [atom(&f), one, atom(&g), two, atom(&f), count, start])
    }

    /// A loop that hands on what is to be done with its result.
    fn continuation_passing(&mut self, wanted: &Type) -> Sexp {
        self.note("continuations");
        let (name, i, k, v) = (self.fresh("cps"), self.fresh("i"), self.fresh("k"), self.fresh("v"));
        let inner = self.any_type(1);
        let count = self.count();
        let last = self.within(&[(&v, &inner)], |inside| inside.expression(wanted));
        let start = self.within(&[(&i, &Type::Real)], |inside| inside.expression(&inner));
        let next = self.within(&[(&i, &Type::Real), (&v, &inner)], |inside| {
            inside.repeated(3, |inside| inside.expression(&inner))
        });
        let parts = [
            atom(&name),
            atom(&i),
            count,
            atom(&k),
            atom(&v),
            last,
            atom(&i),
            atom(&k),
            start,
            atom(&name),
            atom(&i),
            atom(&v),
            atom(&k),
            next,
        ];
        form("(let ? ((? ?) (? (lambda (?) ?))) (if (<= ? 0) (? ?) (? (- ? 1) (lambda (?) (? ?)))))", parts)
    }

    fn cases(&mut self, wanted: &Type) -> Sexp {
        let [a, b] = [self.expression(&Type::Bool), self.expression(&Type::Bool)];
        let [x, y, z] = [self.expression(wanted), self.expression(wanted), self.expression(wanted)];
        form("(cond (? ?) (? ?) (else ?))", [a, x, b, y, z])
    }

    /// Recursion that has something to do when it returns.
    fn pending_recursion(&mut self, wanted: &Type) -> Sexp {
        self.note("pending recursion");
        let (name, i, y) = (self.fresh("rec"), self.fresh("i"), self.fresh("y"));
        let of = if self.rng.percent(50) { wanted.clone() } else { self.any_type(2) };
        let (count, base) = (self.count(), self.expression(&of));
        let body =
            self.within(&[(&i, &Type::Real), (&y, &of)], |inside| inside.repeated(3, |inside| inside.expression(&of)));
        let parts = [atom(&name), atom(&i), count, atom(&i), base, atom(&y), atom(&name), atom(&i), body];
        let recursion = form("(let ? ((? ?)) (if (<= ? 0) ? (let ((? (? (- ? 1)))) ?)))", parts);
        if of == *wanted {
            return recursion;
        }
        let body = self.within(&[(&y, &of)], |inside| inside.expression(wanted));
        form("(let ((? ?)) ?)", [atom(&y), recursion, body])
    }

    fn fold_of_list(&mut self, wanted: &Type) -> Sexp {
        self.note("library folds");
        let item = self.any_type(1);
        let (a, x) = (self.fresh("a"), self.fresh("x"));
        let list = self.expression(&Type::List(Rc::new(item.clone())));
        let start = self.expression(wanted);
        let body =
            self.within(&[(&x, &item), (&a, wanted)], |inside| inside.repeated(3, |inside| inside.expression(wanted)));
        match self.rng.below(2) {
            0 => form("(fold-left (lambda (? ?) ?) ? ?)", [atom(a), atom(x), body, start, list]),
            _ => form("(fold-right (lambda (? ?) ?) ? ?)", [atom(x), atom(a), body, start, list]),
        }
    }

    /// `()` or a value that is never `()`, decided at run time.
    fn optional(&mut self, wanted: &Type) -> Sexp {
        self.note("optional values");
        let of = match self.rng.below(3) {
            0 => Type::Real,
            1 => Type::function(Type::Real, wanted.clone()),
            _ => Type::pair(self.any_type(1), self.any_type(1)),
        };
        let (o, some) = (self.fresh("o"), self.expression(&of));
        let (condition, none) = (self.expression(&Type::Bool), self.expression(wanted));
        let body = self.within(&[(&o, &of)], |inside| inside.expression(wanted));
        form("(let ((? (if ? '() ?))) (if (null? ?) ? ?))", [atom(&o), condition, some, atom(&o), none, body])
    }

    fn walk_of_tree(&mut self, wanted: &Type) -> Sexp {
        self.note("trees");
        let tree = self.expression(&Type::Tree);
        let (walk, t, a, b) = (self.fresh("walk"), self.fresh("t"), self.fresh("a"), self.fresh("b"));
        let inner =
            self.within(&[(&a, wanted), (&b, wanted)], |inside| inside.repeated(4, |inside| inside.expression(wanted)));
        let leaf = self.within(&[(&t, &Type::Real)], |inside| inside.repeated(4, |inside| inside.expression(wanted)));
        let parts = [
            atom(&walk),
            atom(&t),
            tree,
            atom(&t),
            atom(&a),
            atom(&walk),
            atom(&t),
            atom(&b),
            atom(&walk),
            atom(&t),
            inner,
            leaf,
        ];
        form("(let ? ((? ?)) (if (pair? ?) (let* ((? (? (car ?))) (? (? (cdr ?)))) ?) ?))", parts)
    }

    /// Functions of different code in a list of which one is chosen at run time.
    fn one_of_functions(&mut self, wanted: &Type) -> Sexp {
        self.note("functions in a list");
        let argument = self.any_type(1);
        let function = Type::function(argument.clone(), wanted.clone());
        let [f, g, h] = [self.expression(&function), self.expression(&function), self.simple(&function)];
        let (x, i) = (self.expression(&argument), self.count());
        form("((list-ref (list ? ? ?) (min 2 ?)) ?)", [f, g, h, i, x])
    }

    fn walk_of_list(&mut self, wanted: &Type) -> Sexp {
        self.note("walks over lists");
        let item = self.any_type(1);
        let list = self.expression(&Type::List(Rc::new(item.clone())));
        let (walk, l, x, y) = (self.fresh("walk"), self.fresh("l"), self.fresh("x"), self.fresh("y"));
        let base = self.expression(wanted);
        let body =
            self.within(&[(&x, &item), (&y, wanted)], |inside| inside.repeated(3, |inside| inside.expression(wanted)));
        let parts =
            [atom(&walk), atom(&l), list, atom(&l), base, atom(&x), atom(&l), atom(&y), atom(&walk), atom(&l), body];
        form("(let ? ((? ?)) (if (null? ?) ? (let ((? (car ?)) (? (? (cdr ?)))) ?)))", parts)
    }

    /// A curried local definition, used twice.
    fn local_function(&mut self, wanted: &Type) -> Sexp {
        let (first, second) = (self.any_type(1), self.any_type(1));
        let (f, a, b) = (self.fresh("f"), self.fresh("a"), self.fresh("b"));
        let body = self
            .within(&[(&a, &first), (&b, &second)], |inside| inside.repeated(2, |inside| inside.expression(wanted)));
        let partial = Type::function(second.clone(), wanted.clone());
        let (p, x) = (self.fresh("p"), self.expression(&first));
        let use_of_it = self.within(&[(&p, &partial)], |inside| inside.expression(wanted));
        let parts = [atom(&f), atom(a), atom(b), body, atom(p), atom(&f), x, use_of_it];
        form("(let () (define ((? ?) ?) ?) (let ((? (? ?))) ?))", parts)
    }

    fn two_accumulators(&mut self, wanted: &Type) -> Sexp {
        self.note("two accumulators");
        let other = self.any_type(1);
        let (name, i, a, b) = (self.fresh("loop"), self.fresh("i"), self.fresh("a"), self.fresh("b"));
        let (count, first, second) = (self.count(), self.expression(wanted), self.expression(&other));
        let variables: [(&str, &Type); 3] = [(&i, &Type::Real), (&b, &other), (&a, wanted)];
        let next = self.within(&variables, |inside| {
            inside.repeated(3, |inside| [inside.expression(wanted), inside.expression(&other)])
        });
        let [next_a, next_b] = next;
        let parts = [
            atom(&name),
            atom(&i),
            count,
            atom(&a),
            first,
            atom(&b),
            second,
            atom(&i),
            atom(&a),
            atom(&name),
            atom(&i),
            next_a,
            next_b,
        ];
        form("(let ? ((? ?) (? ?) (? ?)) (if (<= ? 0) ? (? (- ? 1) ? ?)))", parts)
    }

    /// A tree: a number, or a pair of trees.
    pub(super) fn tree(&mut self) -> Sexp {
        match self.rng.below(4) {
            0 => self.expression(&Type::Real),
            1 => form("(cons ? ?)", [self.expression(&Type::Tree), self.expression(&Type::Tree)]),
            2 if self.may_repeat() => {
                // A comb whose size is known at run time only.
                let (name, i, t) = (self.fresh("grow"), self.fresh("i"), self.fresh("t"));
                let (count, start) = (self.count(), self.expression(&Type::Real));
                let leaf = self.within(&[(&i, &Type::Real), (&t, &Type::Tree)], |inside| {
                    inside.repeated(3, |inside| inside.expression(&Type::Real))
                });
                let template = *self.rng.choose(&["(cons ? ?)", "(cons ? (cons 1 ?))"]);
                let grown = form(template, [leaf, atom(&t)]);
                let name = atom(name);
                let parts = [name.clone(), atom(&i), count, atom(&t), start, atom(&i), atom(&t), name, atom(&i), grown];
                form("(let ? ((? ?) (? ?)) (if (<= ? 0) ? (? (- ? 1) ?)))", parts)
            }
            _ if self.may_repeat() => {
                // A balanced tree.
                let (name, i) = (self.fresh("plant"), self.fresh("i"));
                let count = self.count();
                let leaf = self.repeated(8, |inside| inside.expression(&Type::Real));
                let name = atom(name);
                let parts = [name.clone(), atom(&i), count, atom(&i), leaf, name.clone(), atom(&i), name, atom(&i)];
                form("(let ? ((? (min 3 ?))) (if (<= ? 0) ? (cons (? (- ? 1)) (? (- ? 2)))))", parts)
            }
            _ => self.simple(&Type::Tree),
        }
    }
}
