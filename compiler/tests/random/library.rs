//! Random programs made of library calls on numbers, vectors, lists, matrices, pairs and closures, and their
//! derivatives up to order four.
//!
//! Kinds of values have sizes, so that indices are in range and shapes conform; sizes are written in the program or
//! read from the input. A program defines a function `phi` of a value of some kind with a number as value. Its last
//! form prints `(31341 y)`, the value at a place, and then `(31340 d ... y0 a1 b1 a2 b2 a3 b3)`: derivatives of some
//! order in one direction, made of different operators of the library, and the derivative of the order below at the
//! place and at three shrinking distances to both sides of it. Such a program does not fail once the value is printed.
//!
//! What calls there are, says [`super::calls`].

use super::generate::{Generator, MOST_WORK};
use super::sexp::{Sexp, atom, form};
use std::rc::Rc;

/// What stands in front of the value, and of the derivatives.
pub const VALUE_MARK: &str = "(31341 ";
pub const ORDER_MARK: &str = "(31340 ";

/// The code of indices that are out of range.
const OUT_OF_RANGE: &str = "V0317";

/// How many derivatives of the same order are compared.
pub const SAME: usize = 3;

/// A size as it is written, and what it is.
#[derive(Clone, Debug)]
pub(super) struct Size {
    pub(super) text: String,
    pub(super) value: usize,
}

/// A kind of values.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Number,
    Vector(Size, Rc<Kind>),
    List(Size, Rc<Kind>),
    Pair(Rc<Kind>, Rc<Kind>),
}

/// Kinds are the same where values have the same shape, however their sizes are written.
impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::Number, Kind::Number) => true,
            (Kind::Vector(m, a), Kind::Vector(n, b)) | (Kind::List(m, a), Kind::List(n, b)) => {
                m.value == n.value && a == b
            }
            (Kind::Pair(a, b), Kind::Pair(c, d)) => a == c && b == d,
            _ => false,
        }
    }
}

impl Kind {
    pub(super) fn vector(size: &Size, of: &Kind) -> Kind {
        Kind::Vector(size.clone(), Rc::new(of.clone()))
    }

    pub(super) fn list(size: &Size, of: &Kind) -> Kind {
        Kind::List(size.clone(), Rc::new(of.clone()))
    }

    pub(super) fn pair(car: &Kind, cdr: &Kind) -> Kind {
        Kind::Pair(Rc::new(car.clone()), Rc::new(cdr.clone()))
    }

    /// How many numbers a value has.
    pub(super) fn numbers(&self) -> usize {
        match self {
            Kind::Number => 1,
            Kind::Vector(size, of) | Kind::List(size, of) => size.value * of.numbers(),
            Kind::Pair(car, cdr) => car.numbers() + cdr.numbers(),
        }
    }

    /// Whether a value is a vector or a list of numbers.
    fn is_row(&self) -> bool {
        matches!(self, Kind::Vector(_, of) | Kind::List(_, of) if **of == Kind::Number)
    }
}

/// What a name in scope stands for.
#[derive(Clone)]
pub(super) enum Meaning {
    Value(Kind),
    /// A whole number from 0 that is smaller than this.
    Index(usize),
    Function(Kind, Kind),
}

/// Makes code of a kind.
pub(super) struct Maker<'g> {
    pub(super) generator: &'g mut Generator,
    scope: Vec<(String, Meaning)>,
    /// Sizes that are read.
    sizes: [usize; 2],
    /// How many derivatives are taken around the code that is made.
    order: usize,
}

/// Operators of the library that take a function `h` of a value `x` to its derivative in the direction `way`, and
/// whether they call it once for each number of `x`.
const OPERATORS: [(&str, bool); 7] = [
    ("(jvp-F h x way)", false),
    ("(dot way ((gradient-R h) x))", false),
    ("(dot ((gradient h) x) way)", false),
    ("(jvp-R h x way)", false),
    ("(dot way (vjp-R h x 1))", false),
    ("(dot way ((gradient-F h) x))", true),
    ("(dot way (vjp-F h x 1))", true),
];

/// The same for two derivatives at once, and whether `x` must be a vector or list of numbers.
const SECOND: [(&str, bool); 4] = [
    ("(dot way (hvp-R h x way))", false),
    ("(dot way (hvp h x way))", false),
    ("(dot way (matvec ((hessian-R h) x) way))", true),
    ("(dot way (matvec ((hessian h) x) way))", true),
];

/// The highest order of derivatives, one inside another.
const HIGHEST_ORDER: usize = 4;

/// What is called once for each number is called for so many at most.
const FEW: usize = 3;

/// The forms of a program. Its sizes stand in its input.
pub(super) fn program(generator: &mut Generator, input: &mut [String]) -> Vec<Sexp> {
    let sizes = [0, 1].map(|_| 1 + generator.rng.below(3));
    for (word, size) in input.iter_mut().zip(sizes) {
        *word = size.to_string();
    }
    let mut maker = Maker { generator, scope: Vec::new(), sizes, order: 0 };
    let mut forms: Vec<Sexp> =
        ["d0", "d1", "r0", "r1"].map(|name| form("(define ? (read-real))", [atom(name)])).to_vec();
    maker.scope.extend(["r0", "r1"].map(|name| (name.to_string(), Meaning::Value(Kind::Number))));
    let order = *maker.generator.rng.choose(&[1, 2, 2, 3, 3, 4]);
    maker.generator.note(["order 1", "order 2", "order 3", "order 4"][order - 1]);
    let share = maker.generator.budget / 3;
    for _ in 0..maker.generator.rng.below(3) {
        maker.generator.budget = share;
        forms.push(maker.helper());
    }
    let of = maker.kind(2);
    forms.push(form("(define at ?)", [maker.constant(&of, true)]));
    forms.push(form("(define way ?)", [maker.constant(&of, false)]));
    maker.generator.budget = 2 * share;
    let body = maker.derived(order, |maker| maker.with(&[("x", Meaning::Value(of.clone()))], |maker| maker.body(&of)));
    forms.push(form("(define (phi x) ?)", [body]));
    forms.push(maker.comparison(&of, order));
    forms
}

impl Maker<'_> {
    /// Makes code with more names in scope.
    pub(super) fn with<T>(&mut self, names: &[(&str, Meaning)], make: impl FnOnce(&mut Self) -> T) -> T {
        let outside = self.scope.len();
        self.scope.extend(names.iter().map(|(name, meaning)| (name.to_string(), meaning.clone())));
        let made = make(self);
        self.scope.truncate(outside);
        made
    }

    /// Makes code that runs so many times as often as the code around it.
    pub(super) fn repeated<T>(&mut self, times: usize, make: impl FnOnce(&mut Self) -> T) -> T {
        let work = self.generator.work;
        self.generator.work *= times;
        let made = make(self);
        self.generator.work = work;
        made
    }

    /// Makes code that so many derivatives are taken of.
    pub(super) fn derived<T>(&mut self, times: usize, make: impl FnOnce(&mut Self) -> T) -> T {
        self.order += times;
        let made = self.repeated(1 << times, make);
        self.order -= times;
        made
    }

    pub(super) fn may_derive(&self) -> bool {
        self.order < HIGHEST_ORDER && self.generator.work * 2 <= MOST_WORK
    }

    pub(super) fn may_repeat(&self) -> bool {
        self.generator.work * 3 <= MOST_WORK
    }

    /// Names in scope that stand for what is wanted.
    pub(super) fn names(&self, wanted: impl Fn(&Meaning) -> bool) -> Vec<(String, Meaning)> {
        self.scope.iter().filter(|(_, meaning)| wanted(meaning)).cloned().collect()
    }

    pub(super) fn name(&mut self, wanted: impl Fn(&Meaning) -> bool) -> Option<(String, Meaning)> {
        let names = self.names(wanted);
        // The newest more often than the others, so that what is made is used.
        if self.generator.rng.percent(40) {
            names.last().cloned()
        } else {
            names.get(self.generator.rng.below(names.len())).cloned()
        }
    }

    pub(super) fn size(&mut self) -> Size {
        match self.generator.rng.below(4) {
            0 => Size { text: "d0".to_string(), value: self.sizes[0] },
            1 => Size { text: "d1".to_string(), value: self.sizes[1] },
            _ => {
                let value = 1 + self.generator.rng.below(3);
                Size { text: value.to_string(), value }
            }
        }
    }

    /// Any kind, of few numbers.
    pub(super) fn kind(&mut self, depth: usize) -> Kind {
        if depth == 0 {
            return Kind::Number;
        }
        let inner = if self.generator.rng.percent(55) { Kind::Number } else { self.kind(depth - 1) };
        match self.generator.rng.below(10) {
            0..=1 => Kind::Number,
            2..=5 => Kind::vector(&self.size(), &inner),
            6..=7 => Kind::list(&self.size(), &inner),
            _ => Kind::pair(&inner, &self.kind(depth - 1)),
        }
    }

    /// A value made of numbers, none of them zero, or of what is read.
    pub(super) fn constant(&mut self, of: &Kind, reads: bool) -> Sexp {
        match of {
            Kind::Number if !reads => atom(*self.generator.rng.choose(&["1", "-0.5", "0.75", "1.25", "-1.5"])),
            Kind::Number => match self.generator.rng.below(4) {
                0..=1 => form("(+ r0 ?)", [self.generator.number()]),
                _ => form("(+ (* 0.5 r1) ?)", [self.generator.number()]),
            },
            Kind::Vector(size, of) if self.generator.rng.percent(40) => {
                form("(build ? (lambda (i) ?))", [atom(&size.text), self.constant(of, reads)])
            }
            Kind::Vector(size, of) => self.several("vector", size, |maker| maker.constant(of, reads)),
            Kind::List(size, of) => self.several("list", size, |maker| maker.constant(of, reads)),
            Kind::Pair(car, cdr) => form("(cons ? ?)", [self.constant(car, reads), self.constant(cdr, reads)]),
        }
    }

    /// A call with as many operands as the size says.
    pub(super) fn several(&mut self, name: &str, size: &Size, mut make: impl FnMut(&mut Self) -> Sexp) -> Sexp {
        let operands = (0..size.value).map(|_| make(self));
        Sexp::List(std::iter::once(atom(name)).chain(operands).collect())
    }

    /// A function at top level, for later code to call.
    fn helper(&mut self) -> Sexp {
        let (of, value) = (self.kind(2), self.kind(2));
        let (name, x) = (self.generator.fresh("h"), self.generator.fresh("x"));
        let body = self.derived(2, |maker| {
            maker.repeated(2, |maker| maker.with(&[(&x, Meaning::Value(of.clone()))], |maker| maker.value(&value)))
        });
        self.scope.push((name.clone(), Meaning::Function(of, value)));
        form("(define (? ?) ?)", [atom(name), atom(x), body])
    }

    /// The body of `phi`: a few terms, lest most functions be constant, and what makes of all of `x` a number.
    fn body(&mut self, of: &Kind) -> Sexp {
        self.generator.budget /= 2;
        let [one, two] = [self.value(&Kind::Number), self.value(&Kind::Number)];
        let whole = self.value(of);
        match self.generator.rng.below(3) {
            0 => form("(+ ? (* ? (cos (dot x x))))", [one, two]),
            1 => form("(+ ? (* ? (sin (dot x ?))))", [one, two, whole]),
            _ => form("(+ (* ? ?) (sin (dot ? ?)))", [one, two, whole.clone(), whole]),
        }
    }

    /// Some derivatives of one order, made of different operators, and what differences need.
    fn comparison(&mut self, of: &Kind, order: usize) -> Sexp {
        let (mut bindings, mut derivatives) = (Vec::new(), Vec::new());
        // The first is all in forward mode.
        let mut forward = "phi".to_string();
        let mut below = forward.clone();
        let is_small = of.numbers() <= FEW && order <= 2 || of.numbers() == 1;
        for same in 0..SAME {
            let mut function = "phi".to_string();
            let mut left = order;
            while left > 0 {
                let second: Vec<&str> =
                    SECOND.iter().filter(|(_, row)| !row || (of.is_row() && is_small)).map(|(text, _)| *text).collect();
                let first: Vec<&str> =
                    OPERATORS.iter().filter(|(_, each)| !each || is_small).map(|(text, _)| *text).collect();
                let (template, orders) = match same {
                    0 => (OPERATORS[0].0, 1),
                    _ if left >= 2 && self.generator.rng.percent(25) => (*self.generator.rng.choose(&second), 2),
                    _ => (*self.generator.rng.choose(&first), 1),
                };
                left -= orders;
                let name = self.generator.fresh("k");
                let text = template.replace("h x", &format!("{function} x")).replace(" h)", &format!(" {function})"));
                bindings.push(form(&format!("({name} (lambda (x) {text}))"), []));
                function = name;
                if same == 0 {
                    below = std::mem::replace(&mut forward, function.clone());
                }
            }
            derivatives.push(form(&format!("({function} at)"), []));
        }
        // In a loop, lest the derivative be compiled seven times.
        let near = format!(
            "(vector->list (vector-map (lambda (s) ({below} (v+ at (k*v s way))))
                (vector 0 -0.0009765625 0.0009765625 -0.00048828125 0.00048828125 -0.000244140625 0.000244140625)))"
        );
        let mark = |mark: &str| atom(mark.trim_matches(['(', ' ']));
        let line = [atom("cons*"), mark(ORDER_MARK)].into_iter().chain(derivatives).chain([form(&near, [])]).collect();
        let template = "(begin (write (list ? (phi at))) (newline) (let* ? ?))";
        form(template, [mark(VALUE_MARK), Sexp::List(bindings), Sexp::List(line)])
    }
}

/// Whether a program that should not fails: one that has got so far as to print the value, which is a number. Indices
/// are out of range on purpose.
pub fn should_not_fail(code: Option<i32>, output: &str, place: &str) -> bool {
    let is_number = |line: &str| line.trim_end_matches(')').parse::<f64>().is_ok();
    let has_value = output.lines().find_map(|line| line.strip_prefix(VALUE_MARK)).is_some_and(is_number);
    code != Some(0) && has_value && !place.starts_with(OUT_OF_RANGE)
}
