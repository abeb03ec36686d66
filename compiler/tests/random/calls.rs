//! The calls that programs of [`super::library`] are made of: for each kind of value some expressions that have it.

use super::library::{Kind, Maker, Meaning, Size};
use super::sexp::{Sexp, atom, form};

/// Functions of a number that are smooth everywhere.
const SMOOTH: [&str; 9] = [
    "(sin ?)",
    "(cos ?)",
    "(tanh ?)",
    "(atan ?)",
    "(exp (sin ?))",
    "(sqrt (+ 1 (let ((u ?)) (* u u))))",
    "(log (+ 1.5 (sin ?)))",
    "(/ 1 (+ 2 (let ((u ?)) (* u u))))",
    "(* 0.5 ?)",
];

impl Maker<'_> {
    /// A value of a kind.
    pub(super) fn value(&mut self, of: &Kind) -> Sexp {
        if self.generator.budget == 0 {
            return self.simple(of);
        }
        let kept = self.generator.budget * self.generator.rng.below(70) / 100;
        self.generator.budget -= kept + 1;
        let made = if self.generator.rng.percent(20) {
            self.anything(of)
        } else {
            match of {
                Kind::Number => self.number(),
                Kind::Vector(size, item) => self.vector(of, size, item),
                Kind::List(size, item) => self.list(of, size, item),
                Kind::Pair(car, cdr) => form("(cons ? ?)", [self.value(car), self.value(cdr)]),
            }
        };
        self.generator.budget += kept;
        made
    }

    /// A name or a literal.
    fn simple(&mut self, of: &Kind) -> Sexp {
        if self.generator.rng.percent(80)
            && let Some((name, _)) = self.name(|meaning| matches!(meaning, Meaning::Value(kind) if kind == of))
        {
            return atom(name);
        }
        match of {
            Kind::Number => self.generator.number(),
            Kind::Vector(size, item) => form("(build ? (lambda (i) ?))", [atom(&size.text), self.simple(item)]),
            Kind::List(size, item) => self.several("list", size, |maker| maker.simple(item)),
            Kind::Pair(car, cdr) => form("(cons ? ?)", [self.simple(car), self.simple(cdr)]),
        }
    }

    /// A function of one argument, its body made with the argument in scope.
    fn function(&mut self, argument: Meaning, of: &Kind) -> Sexp {
        let x = self.generator.fresh("x");
        let body = self.with(&[(&x, argument)], |maker| maker.value(of));
        form("(lambda (?) ?)", [atom(x), body])
    }

    fn function2(&mut self, one: Meaning, two: Meaning, of: &Kind) -> Sexp {
        let (x, y) = (self.generator.fresh("x"), self.generator.fresh("y"));
        let body = self.with(&[(&x, one), (&y, two)], |maker| maker.value(of));
        form("(lambda (? ?) ?)", [atom(x), atom(y), body])
    }

    /// A number of times that something is done.
    fn times(&mut self) -> Sexp {
        let size = self.size();
        atom(size.text)
    }

    /// An index that is smaller than a size; rarely one that is not.
    fn index(&mut self, size: &Size) -> Sexp {
        if self.generator.rng.below(400) == 0 {
            self.generator.note("indices out of range");
            return atom(&size.text);
        }
        match self.name(|meaning| matches!(meaning, Meaning::Index(most) if *most <= size.value)) {
            Some((name, _)) if self.generator.rng.percent(70) => atom(name),
            _ if self.generator.rng.percent(20) => form("(- ? 1)", [atom(&size.text)]),
            _ => atom(self.generator.rng.below(size.value).to_string()),
        }
    }

    /// What can have any kind.
    fn anything(&mut self, of: &Kind) -> Sexp {
        match self.generator.rng.below(12) {
            0..=1 => {
                let (x, other) = (self.generator.fresh("x"), self.kind(2));
                let value = self.value(&other);
                let body = self.with(&[(&x, Meaning::Value(other))], |maker| maker.value(of));
                form("(let ((? ?)) ?)", [atom(x), value, body])
            }
            2 => {
                // A closure that is called more than once.
                self.generator.note("closures");
                let (g, argument) = (self.generator.fresh("g"), self.kind(1));
                let function = self.repeated(2, |maker| maker.function(Meaning::Value(argument.clone()), of));
                let body = self.with(&[(&g, Meaning::Function(argument, of.clone()))], |maker| maker.value(of));
                form("(let ((? ?)) ?)", [atom(g), function, body])
            }
            3..=4 => match self.name(|meaning| matches!(meaning, Meaning::Function(_, value) if value == of)) {
                Some((name, Meaning::Function(argument, _))) => form("(? ?)", [atom(name), self.value(&argument)]),
                _ => self.value(of),
            },
            5 => {
                let [one, two] = [self.value(&Kind::Number), self.value(&Kind::Number)];
                form("(if (< ? ?) ? ?)", [one, two, self.value(of), self.value(of)])
            }
            6 if self.may_repeat() => {
                let times = self.times();
                let step = self.repeated(3, |maker| maker.function(Meaning::Value(of.clone()), of));
                let name = *self.generator.rng.choose(&["iterate", "iterate", "checkpointed-iterate"]);
                form("(? ? ? ?)", [atom(name), times, step, self.value(of)])
            }
            7 if self.may_repeat() => {
                let (size, item) = (self.size(), self.kind(1));
                let step = self
                    .repeated(3, |maker| maker.function2(Meaning::Value(of.clone()), Meaning::Value(item.clone()), of));
                let (start, data) = (self.value(of), self.value(&Kind::vector(&size, &item)));
                form("(vector-fold ? ? ?)", [step, start, data])
            }
            8 if self.may_repeat() => {
                let (size, item) = (self.size(), self.kind(1));
                let (one, two) = (Meaning::Value(of.clone()), Meaning::Value(item.clone()));
                let is_left = self.generator.rng.percent(50);
                let step = self.repeated(3, |maker| match is_left {
                    true => maker.function2(one, two, of),
                    false => maker.function2(two, one, of),
                });
                let (start, data) = (self.value(of), self.value(&Kind::list(&size, &item)));
                form("(? ? ? ?)", [atom(if is_left { "fold-left" } else { "fold-right" }), step, start, data])
            }
            9 => self.part(of),
            10 if self.may_derive() => self.derivative(of),
            11 if self.may_repeat() => {
                let closure = self.repeated(2, |maker| maker.function(Meaning::Value(of.clone()), of));
                form("((checkpoint ?) ?)", [closure, self.value(of)])
            }
            _ => self.simple(of),
        }
    }

    /// An element of a vector or list, or a part of a pair.
    fn part(&mut self, of: &Kind) -> Sexp {
        let size = self.size();
        match self.generator.rng.below(6) {
            0..=2 => {
                let vector = self.value(&Kind::vector(&size, of));
                form("(vector-ref ? ?)", [vector, self.index(&size)])
            }
            3 => {
                let list = self.value(&Kind::list(&size, of));
                form("(list-ref ? ?)", [list, self.index(&size)])
            }
            4 => form("(first ?)", [self.value(&Kind::list(&size, of))]),
            _ => {
                let other = self.kind(1);
                match self.generator.rng.percent(50) {
                    true => form("(car ?)", [self.value(&Kind::pair(of, &other))]),
                    false => form("(cdr ?)", [self.value(&Kind::pair(&other, of))]),
                }
            }
        }
    }

    fn number(&mut self) -> Sexp {
        let number = Kind::Number;
        let size = self.size();
        let row =
            if self.generator.rng.percent(75) { Kind::vector(&size, &number) } else { Kind::list(&size, &number) };
        match self.generator.rng.below(18) {
            0..=3 => {
                let template = *self.generator.rng.choose(&["(+ ? ?)", "(* ? ?)", "(- ? ?)", "(* ? ?)"]);
                form(template, [self.value(&number), self.value(&number)])
            }
            4..=6 => {
                let template = *self.generator.rng.choose(&SMOOTH);
                form(template, [self.value(&number)])
            }
            7 => {
                let template = *self.generator.rng.choose(&["(max ? ?)", "(min ? ?)", "(+ (abs ?) ?)"]);
                form(template, [self.value(&number), self.value(&number)])
            }
            8 => form("(vector-sum ?)", [self.value(&Kind::vector(&size, &number))]),
            9..=10 => form("(dot ? ?)", [self.value(&row), self.value(&row)]),
            11 => {
                let other = self.kind(2);
                form("(dot ? ?)", [self.value(&other), self.value(&other)])
            }
            12 => {
                let (rows, columns) = (self.size(), size);
                let matrix = self.value(&Kind::vector(&rows, &Kind::vector(&columns, &number)));
                form("(matrix-ref ? ? ?)", [matrix, self.index(&rows), self.index(&columns)])
            }
            13 => form("(sqrt (+ 1 (let ((u (magnitude ?))) (* u u))))", [self.value(&row)]),
            14 => form("(reduce + 0 ?)", [self.value(&Kind::list(&size, &number))]),
            15 if self.may_repeat() => self.sum_by_reads(&size),
            16 => form("(vector-ref ? ?)", [self.value(&Kind::vector(&size, &number)), self.index(&size)]),
            _ => self.part(&number),
        }
    }

    /// A loop that adds up what it makes of an index, of elements that it reads by it, say.
    fn sum_by_reads(&mut self, size: &Size) -> Sexp {
        self.generator.note("loops by indices");
        let [name, i, s, v] = ["loop", "i", "s", "v"].map(|prefix| self.generator.fresh(prefix));
        let item = self.kind(1);
        let vector = Kind::vector(size, &item);
        let data = self.value(&vector);
        let names = [
            (v.as_str(), Meaning::Value(vector)),
            (i.as_str(), Meaning::Index(size.value)),
            (s.as_str(), Meaning::Value(Kind::Number)),
        ];
        let next = self.repeated(3, |maker| maker.with(&names, |maker| maker.value(&Kind::Number)));
        let [name, i, s] = [name, i, s].map(atom);
        let parts = [
            atom(v),
            data,
            name.clone(),
            i.clone(),
            s.clone(),
            i.clone(),
            atom(&size.text),
            s.clone(),
            name,
            i,
            s,
            next,
        ];
        form("(let ((? ?)) (let ? ((? 0) (? 0)) (if (= ? ?) ? (? (+ ? 1) (+ ? ?)))))", parts)
    }

    fn vector(&mut self, of: &Kind, size: &Size, item: &Kind) -> Sexp {
        let n = || atom(&size.text);
        match self.generator.rng.below(14) {
            0..=1 => self.several("vector", size, |maker| maker.value(item)),
            2..=4 if self.may_repeat() => {
                let function = self.repeated(3, |maker| maker.function(Meaning::Index(size.value), item));
                form("(build ? ?)", [n(), function])
            }
            5..=6 if self.may_repeat() => {
                let from = self.kind(1);
                let function = self.repeated(3, |maker| maker.function(Meaning::Value(from.clone()), item));
                form("(vector-map ? ?)", [function, self.value(&Kind::vector(size, &from))])
            }
            7 if self.may_repeat() => {
                let (one, two) = (self.kind(1), self.kind(1));
                let (a, b) = (Meaning::Value(one.clone()), Meaning::Value(two.clone()));
                let function = self.repeated(3, |maker| maker.function2(a, b, item));
                let (v, w) = (self.value(&Kind::vector(size, &one)), self.value(&Kind::vector(size, &two)));
                form("(vector-map2 ? ? ?)", [function, v, w])
            }
            8 => self.linear(of),
            9 if *item == Kind::Number => {
                // The product with a matrix, given by vectors or built from a list.
                let columns = self.size();
                let row = Kind::vector(&columns, item);
                form("(matvec ? ?)", [self.value(&Kind::vector(size, &row)), self.value(&row)])
            }
            10 => match item {
                Kind::Vector(columns, inner) if **inner == Kind::Number && self.generator.rng.percent(60) => {
                    let between = self.size();
                    let left = self.value(&Kind::vector(size, &Kind::vector(&between, inner)));
                    let right = self.value(&Kind::vector(&between, &Kind::vector(columns, inner)));
                    form("(matmul ? ?)", [left, right])
                }
                Kind::Vector(columns, inner) => {
                    form("(transpose ?)", [self.value(&Kind::vector(columns, &Kind::vector(size, inner)))])
                }
                _ => self.linear(of),
            },
            11 => form("(list->vector ?)", [self.value(&Kind::list(size, item))]),
            12 if size.value > 1 => {
                let first = 1 + self.generator.rng.below(size.value - 1);
                let [left, right] = [first, size.value - first]
                    .map(|value| self.value(&Kind::vector(&Size { text: value.to_string(), value }, item)));
                form("(vector-append ? ?)", [left, right])
            }
            _ => self.part(of),
        }
    }

    /// Sums and multiples.
    fn linear(&mut self, of: &Kind) -> Sexp {
        match self.generator.rng.below(5) {
            0 => form("(v+ ? ?)", [self.value(of), self.value(of)]),
            1 => form("(v- ? ?)", [self.value(of), self.value(of)]),
            2..=3 => form("(k*v ? ?)", [self.value(&Kind::Number), self.value(of)]),
            _ => {
                let v = self.generator.fresh("v");
                let value = self.value(of);
                form("(let ((? ?)) (plus ? (refill ? (flatten ?))))", [atom(&v), value, atom(&v), atom(&v), atom(&v)])
            }
        }
    }

    fn list(&mut self, of: &Kind, size: &Size, item: &Kind) -> Sexp {
        match self.generator.rng.below(9) {
            0..=1 => self.several("list", size, |maker| maker.value(item)),
            2..=3 if self.may_repeat() => {
                let from = self.kind(1);
                let function = self.repeated(3, |maker| maker.function(Meaning::Value(from.clone()), item));
                form("(map ? ?)", [function, self.value(&Kind::list(size, &from))])
            }
            4 if self.may_repeat() => {
                let function = self.repeated(3, |maker| maker.function(Meaning::Index(size.value), item));
                form("(map-n ? ?)", [function, atom(&size.text)])
            }
            5 if self.may_repeat() => {
                let (one, two) = (self.kind(1), self.kind(1));
                let (a, b) = (Meaning::Value(one.clone()), Meaning::Value(two.clone()));
                let function = self.repeated(3, |maker| maker.function2(a, b, item));
                form(
                    "(map ? ? ?)",
                    [function, self.value(&Kind::list(size, &one)), self.value(&Kind::list(size, &two))],
                )
            }
            6 => form("(reverse ?)", [self.value(of)]),
            7 => form("(vector->list ?)", [self.value(&Kind::vector(size, item))]),
            _ => self.linear(of),
        }
    }

    /// A derivative that has a kind, of a function made for it.
    fn derivative(&mut self, of: &Kind) -> Sexp {
        self.generator.note("derivatives inside");
        let number = Kind::Number;
        let mut mode = |name: &str| {
            let ending = *self.generator.rng.choose(&["", "-R", "-F"]);
            atom(format!("{name}{ending}"))
        };
        let (gradient, derivative, jvp, vjp, hvp) =
            (mode("gradient"), mode("derivative"), mode("jvp"), mode("vjp"), mode("hvp"));
        let from = self.kind(1);
        match self.generator.rng.below(5) {
            0 => {
                let function = self.derived(1, |maker| maker.function(Meaning::Value(of.clone()), &number));
                form("((? ?) ?)", [gradient, function, self.value(of)])
            }
            1 => {
                let function = self.derived(1, |maker| maker.function(Meaning::Value(number.clone()), of));
                form("((? ?) ?)", [derivative, function, self.value(&number)])
            }
            2 => {
                let function = self.derived(1, |maker| maker.function(Meaning::Value(from.clone()), of));
                form("(? ? ? ?)", [jvp, function, self.value(&from), self.value(&from)])
            }
            3 => {
                let function = self.derived(1, |maker| maker.function(Meaning::Value(of.clone()), &from));
                form("(? ? ? ?)", [vjp, function, self.value(of), self.value(&from)])
            }
            _ if self.may_derive() => {
                let function = self.derived(2, |maker| maker.function(Meaning::Value(of.clone()), &number));
                form("(? ? ? ?)", [hvp, function, self.value(of), self.value(of)])
            }
            _ => self.simple(of),
        }
    }
}
