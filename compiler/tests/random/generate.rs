//! Random programs, well-formed by construction.
//!
//! Seed → program text and its input. A program has a few numbers and counters read from the input, a few recursive
//! functions, and expressions to print. Every expression is generated for a type in a scope of typed names, so that it
//! goes wrong only where it is meant to (a rare `car` of a list that may be empty). Loops and recursions count down
//! from small numbers, known or read, and a budget bounds the size of a program and an estimate of its running time,
//! so every program ends soon.
//!
//! A program has a [`Profile`]. Calm programs compute with moderate numbers, divide by nothing near zero and make
//! hardly any mistake. Wild programs are calm ones with a few mistakes of all kinds in them, with numbers that are
//! none, with output in the middle and with input that ends too early. A checked program compares a derivative with
//! differences, a lawful one checks laws of derivatives. A library program is made by [`library`], loops by [`steps`].

use super::laws;
use super::library;
use super::mistakes;
use super::modes::{Mode, nesting};
use super::rng::Rng;
use super::sexp::{Sexp, atom, form};
use super::steps;
use super::sums::Sort;
use super::types::Type;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A program and what it reads.
pub struct Program {
    /// Its forms.
    pub forms: Vec<Sexp>,
    /// Its input.
    pub input: String,
    /// What it is compiled with.
    pub settings: String,
    /// What it contains, for counting.
    pub features: BTreeSet<&'static str>,
}

/// Functions that generated code may call: all that is needed of a library.
const PRELUDE: &str = "
    (define-record duo left right)
    (define (sum-all v) (cond ((real? v) v) ((pair? v) (+ (sum-all (car v)) (sum-all (cdr v))))
                             ((duo? v) (+ (sum-all (duo-left v)) (sum-all (duo-right v))))
                             ((vector? v) (vector-fold (lambda (s x) (+ s (sum-all x))) 0 v)) (else 0)))
    (define (map1 f l) (if (null? l) '() (cons (f (car l)) (map1 f (cdr l)))))
    (define (fold f a l) (if (null? l) a (fold f (f a (car l)) (cdr l))))
    (define ((compose f g) x) (f (g x)))
    (define (slope f x) (cdr ((cdr ((*j f) (*j x))) 1)))
    (define (pull f x s) (cdr ((cdr ((*j f) (*j x))) s)))
    (define (push f x) (*j-inverse (car ((*j f) (*j x)))))
    (define (shove f x t) (tangent ((j* f) (bundle x t))))";

/// What a program is like.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    Calm,
    Wild,
    Checked,
    Lawful,
    Library,
    Steps,
}

/// The program of a seed, with the profile that is asked for or any other. Each of its expressions is made of at most
/// so many parts, roughly.
pub fn generate(seed: u64, profile: Option<Profile>, size: usize) -> Program {
    let mut rng = Rng::new(seed);
    let profile = profile.unwrap_or_else(|| match rng.below(10) {
        0..=4 => Profile::Calm,
        5..=7 => Profile::Wild,
        8 => Profile::Checked,
        _ => Profile::Lawful,
    });
    let input = (0..4).map(|i| if i < 2 { rng.below(5) as f64 } else { small_number(&mut rng) });
    let mut input: Vec<String> = input.map(|number| number.to_string()).collect();
    if profile == Profile::Wild {
        mistakes::spoil(&mut rng, &mut input);
    }
    let size = 20 + rng.below(size);
    let mut generator = Generator {
        rng,
        scope: Vec::new(),
        functions: Vec::new(),
        features: BTreeSet::new(),
        names: 0,
        budget: 0,
        work: 1,
        modes: Vec::new(),
        sorts_in_scope: Vec::new(),
        checked: matches!(profile, Profile::Checked | Profile::Lawful),
        mistakes: if profile == Profile::Wild { 3 } else { 0 },
    };
    if profile == Profile::Library {
        generator.note("library");
        generator.budget = size;
        let forms = library::program(&mut generator, &mut input);
        return generator.finish(seed, forms, &input);
    }
    if profile == Profile::Steps {
        generator.note("steps");
        let forms = steps::program(&mut generator.rng);
        return generator.finish(seed, forms, &input);
    }
    let mut forms = super::sexp::parse(PRELUDE);
    for name in ["n0", "n1", "r0", "r1"] {
        forms.push(form("(define ? (read-real))", [atom(name)]));
    }
    generator.scope.extend([("r0".to_string(), Type::Real), ("r1".to_string(), Type::Real)]);
    if generator.rng.percent(35) {
        generator.sorts_in_scope = generator.sorts();
    }
    for _ in 0..generator.rng.below(4) {
        generator.budget = size / 3;
        forms.extend(generator.functions());
    }
    for _ in 0..generator.rng.below(6).saturating_sub(3) {
        generator.budget = size / 3;
        let (name, of) = (generator.fresh("global"), generator.any_type(2));
        forms.push(form("(define ? ?)", [atom(&name), generator.expression(&of)]));
        generator.scope.push((name, of));
    }
    generator.budget = size;
    match profile {
        Profile::Checked => {
            generator.note("checked");
            forms.extend(mistakes::check(&mut generator));
        }
        Profile::Lawful => {
            generator.note("lawful");
            forms.extend(laws::program(&mut generator));
        }
        Profile::Calm | Profile::Wild | Profile::Library | Profile::Steps => {
            for _ in 0..1 + generator.rng.below(3) {
                generator.budget = size;
                let printed = Type::random_data(&mut generator.rng, 2);
                forms.push(generator.expression(&printed));
            }
        }
    }
    generator.finish(seed, forms, &input)
}

/// A multiple of a quarter between -2 and 3.
fn small_number(rng: &mut Rng) -> f64 {
    rng.below(21) as f64 / 4.0 - 2.0
}

/// A global function that counts its first argument down.
#[derive(Clone)]
struct Counted {
    name: String,
    argument: Type,
    result: Type,
    /// How much one call may cost.
    work: usize,
}

pub(super) struct Generator {
    pub(super) rng: Rng,
    /// Variables in scope, innermost last.
    scope: Vec<(String, Type)>,
    functions: Vec<Counted>,
    /// How many names were made up.
    names: usize,
    /// How many more expressions may be generated before only simple ones are.
    pub(super) budget: usize,
    /// How often the code being generated may run.
    pub(super) work: usize,
    /// The derivatives that are taken around the code being generated, outermost first.
    modes: Vec<Mode>,
    /// The sorts of records that the program declares.
    pub(super) sorts_in_scope: Vec<Sort>,
    /// Whether derivatives are compared with differences or each other, so that none may be wrong on purpose.
    checked: bool,
    /// How many more mistakes may be made.
    mistakes: usize,
    features: BTreeSet<&'static str>,
}

/// Code that may run more often than this gets no further loops.
pub(super) const MOST_WORK: usize = 400;

/// Derivatives of derivatives of derivatives.
const HIGHEST_ORDER: usize = 3;

impl Generator {
    fn finish(mut self, seed: u64, forms: Vec<Sexp>, input: &[String]) -> Program {
        let input = input.iter().map(|word| format!("{word}\n")).collect();
        // Not of the same sequence, so that other settings leave the programs as they are.
        let settings = super::settings::random(&mut Rng::new(!seed));
        if !settings.is_empty() {
            self.note("settings");
        }
        Program { forms, input, settings, features: self.features }
    }

    /// Any type, records included.
    pub(super) fn any_type(&mut self, depth: usize) -> Type {
        if self.rng.percent(15)
            && let Some(record) = self.random_record()
        {
            return record;
        }
        Type::random(&mut self.rng, depth)
    }

    pub(super) fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// Notes that the program contains something.
    pub(super) fn note(&mut self, feature: &'static str) {
        self.features.insert(feature);
    }

    /// Generates with more variables in scope.
    pub(super) fn within<T>(&mut self, variables: &[(&str, &Type)], body: impl FnOnce(&mut Generator) -> T) -> T {
        let outside = self.scope.len();
        self.scope.extend(variables.iter().map(|(name, of)| (name.to_string(), (*of).clone())));
        let result = body(self);
        self.scope.truncate(outside);
        result
    }

    /// Generates with these variables in scope and no others, so that they are used.
    pub(super) fn only_within<T>(&mut self, variables: &[(&str, &Type)], body: impl FnOnce(&mut Generator) -> T) -> T {
        let outside = std::mem::take(&mut self.scope);
        let result = self.within(variables, body);
        self.scope = outside;
        result
    }

    /// Generates code that runs that many times as often as the code around it.
    pub(super) fn repeated<T>(&mut self, times: usize, body: impl FnOnce(&mut Generator) -> T) -> T {
        let work = self.work;
        self.work *= times;
        let result = body(self);
        self.work = work;
        result
    }

    /// Generates code that a derivative is taken of.
    pub(super) fn differentiated<T>(&mut self, mode: Mode, body: impl FnOnce(&mut Generator) -> T) -> T {
        if let Some(outer) = self.modes.last() {
            self.note(nesting(*outer, mode));
        }
        self.modes.push(mode);
        self.note(["", "order 1", "order 2", "order 3", "order 4"][self.modes.len().min(4)]);
        let result = self.repeated(4, body);
        self.modes.pop();
        result
    }

    /// Whether the program's derivatives are compared with differences or each other.
    pub(super) fn is_checked(&self) -> bool {
        self.checked
    }

    pub(super) fn may_differentiate(&self) -> bool {
        self.modes.len() < HIGHEST_ORDER && self.work * 4 <= MOST_WORK
    }

    /// Whether there may be another loop around the code being generated.
    pub(super) fn may_repeat(&self) -> bool {
        self.work * 4 <= MOST_WORK
    }

    /// Names in scope of a type.
    pub(super) fn variables(&self, wanted: impl Fn(&Type) -> bool) -> Vec<(String, Type)> {
        self.scope.iter().filter(|(_, of)| wanted(of)).cloned().collect()
    }

    pub(super) fn variable(&mut self, wanted: impl Fn(&Type) -> bool) -> Option<(String, Type)> {
        let names = self.variables(wanted);
        // The newest more often than the others, so that values computed are also used.
        if self.rng.percent(40) { names.last().cloned() } else { names.get(self.rng.below(names.len())).cloned() }
    }

    /// A counter: how often a loop runs, 0 to 4 times.
    pub(super) fn count(&mut self) -> Sexp {
        match self.rng.below(4) {
            0 => atom("n0"),
            1 => atom("n1"),
            _ => atom(self.rng.below(4).to_string()),
        }
    }

    /// A recursive function whose first argument counts down, or two that call each other.
    fn functions(&mut self) -> Vec<Sexp> {
        let number = if self.rng.percent(30) { 2 } else { 1 };
        let signature = |generator: &mut Generator| Counted {
            name: generator.fresh("g"),
            argument: generator.any_type(2),
            result: generator.any_type(2),
            work: 8,
        };
        let group: Vec<Counted> = (0..number).map(|_| signature(self)).collect();
        let definitions = group.iter().map(|function| self.function(function, &group)).collect();
        self.functions.extend(group);
        definitions
    }

    fn function(&mut self, function: &Counted, group: &[Counted]) -> Sexp {
        let (n, x) = (self.fresh("n"), self.fresh("x"));
        let Counted { name, argument, result, work } = function;
        let base = self.within(&[(&x, argument)], |inside| inside.repeated(2, |inside| inside.expression(result)));
        let step = self.within(&[(&x, argument), (&n, &Type::Real)], |inside| {
            inside.repeated(*work, |inside| inside.step(result, group, &n))
        });
        form("(define (? ? ?) (if (<= ? 0) ? ?))", [atom(name), atom(&n), atom(x), atom(n), base, step])
    }

    /// The body of a recursive function where it recurs: in tail position, or using the results of one or two calls of
    /// functions of its group.
    fn step(&mut self, wanted: &Type, group: &[Counted], n: &str) -> Sexp {
        let call = |generator: &mut Generator, callee: &Counted| {
            let argument = generator.expression(&callee.argument);
            form("(? (- ? 1) ?)", [atom(&callee.name), atom(n), argument])
        };
        let callees = [self.rng.choose(group), self.rng.choose(group)];
        match self.rng.below(4) {
            0 if callees[0].result == *wanted => call(self, callees[0]),
            1 => {
                let (y, z) = (self.fresh("y"), self.fresh("y"));
                let [first, second] = callees.map(|callee| call(self, callee));
                let variables: [(&str, &Type); 2] = [(&y, &callees[0].result), (&z, &callees[1].result)];
                let body = self.within(&variables, |inside| inside.expression(wanted));
                form("(let* ((? ?) (? ?)) ?)", [atom(y), first, atom(z), second, body])
            }
            _ => {
                let y = self.fresh("y");
                let first = call(self, callees[0]);
                let body = self.within(&[(&y, &callees[0].result)], |inside| inside.expression(wanted));
                form("(let ((? ?)) ?)", [atom(y), first, body])
            }
        }
    }

    /// An expression of a type.
    pub(super) fn expression(&mut self, wanted: &Type) -> Sexp {
        if self.budget == 0 {
            return self.simple(wanted);
        }
        // Some of the budget is kept for what comes after this expression.
        let kept = self.budget * self.rng.below(70) / 100;
        self.budget -= kept + 1;
        let result = if self.mistakes > 0 && self.rng.percent(5) {
            self.mistakes -= 1;
            if self.rng.percent(70) { self.mistake(wanted) } else { self.output(wanted) }
        } else {
            self.compound(wanted)
        };
        self.budget += kept;
        result
    }

    fn compound(&mut self, wanted: &Type) -> Sexp {
        let general = match wanted {
            Type::Real => 45,
            Type::Bool => 30,
            _ => 65,
        };
        if self.rng.percent(general) { self.general(wanted) } else { self.special(wanted) }
    }

    /// A variable or a literal.
    pub(super) fn simple(&mut self, wanted: &Type) -> Sexp {
        if self.rng.percent(75)
            && let Some((name, _)) = self.variable(|of| of == wanted)
        {
            return atom(name);
        }
        match wanted {
            Type::Real => self.number(),
            Type::Bool => atom(if self.rng.percent(50) { "#t" } else { "#f" }),
            Type::Pair(car, cdr) => form("(cons ? ?)", [self.simple(car), self.simple(cdr)]),
            Type::Duo(left, right) => form("(duo ? ?)", [self.simple(left), self.simple(right)]),
            Type::List(item) if self.rng.percent(60) => form("(list ?)", [self.simple(item)]),
            Type::List(_) => atom("'()"),
            Type::Vector(item) if self.rng.percent(80) => form("(vector ?)", [self.simple(item)]),
            Type::Vector(_) => atom("#()"),
            Type::RealOr(pair) => {
                let of = if self.rng.percent(50) { &Type::Real } else { pair.as_ref() };
                self.simple(of)
            }
            Type::Record(sort) => self.simple_record(*sort),
            Type::Tree if self.rng.percent(50) => self.simple(&Type::Real),
            Type::Tree => form("(cons ? ?)", [self.simple(&Type::Real), self.simple(&Type::Real)]),
            Type::Nest if self.rng.percent(50) => self.simple(&Type::Real),
            Type::Nest => form("(vector ?)", [self.simple(&Type::Real)]),
            Type::Function(argument, result) => {
                let x = self.fresh("x");
                let body = self.within(&[(&x, argument)], |inside| inside.simple(result));
                form("(lambda (?) ?)", [atom(x), body])
            }
        }
    }

    pub(super) fn number(&mut self) -> Sexp {
        atom(small_number(&mut self.rng).to_string())
    }

    /// A form that gives a value of any type.
    fn general(&mut self, wanted: &Type) -> Sexp {
        match self.rng.below(36) {
            33..=34 => self.element(wanted),
            35 => self.fold_vector(wanted),
            0..=2 => self.simple(wanted),
            3..=4 => self.bind(wanted),
            5 => self.bind_pair(wanted),
            6..=8 => {
                let condition = self.expression(&Type::Bool);
                form("(if ? ? ?)", [condition, self.expression(wanted), self.expression(wanted)])
            }
            9..=10 => self.part_of_pair(wanted),
            11..=12 => self.apply_variable(wanted),
            13 => self.apply_new(wanted),
            14..=15 => self.count_down(wanted),
            16..=17 => self.call_counted(wanted),
            18 => self.item_of_list(wanted),
            19 => self.take_apart(wanted),
            20 => self.recursive_closure(wanted),
            21 => self.through_transform(wanted),
            _ => self.control(wanted),
        }
    }

    fn bind(&mut self, wanted: &Type) -> Sexp {
        let of = self.any_type(2);
        let (x, value) = (self.fresh("x"), self.expression(&of));
        let body = self.within(&[(&x, &of)], |inside| inside.expression(wanted));
        form("(let ((? ?)) ?)", [atom(x), value, body])
    }

    fn bind_pair(&mut self, wanted: &Type) -> Sexp {
        let (car, cdr) = (self.any_type(1), self.any_type(1));
        let is_record = self.rng.percent(30);
        let value = match is_record {
            true => self.expression(&Type::Duo(Rc::new(car.clone()), Rc::new(cdr.clone()))),
            false => self.expression(&Type::pair(car.clone(), cdr.clone())),
        };
        let (a, b) = (self.fresh("a"), self.fresh("b"));
        let body = self.within(&[(&a, &car), (&b, &cdr)], |inside| inside.expression(wanted));
        let template = if is_record { "(let (((duo ? ?) ?)) ?)" } else { "(let (((cons ? ?) ?)) ?)" };
        form(template, [atom(a), atom(b), value, body])
    }

    fn part_of_pair(&mut self, wanted: &Type) -> Sexp {
        let part = |of: &Type| match of {
            Type::Pair(first, second) | Type::Duo(first, second) => **first == *wanted || **second == *wanted,
            _ => false,
        };
        match self.variable(part) {
            Some((name, Type::Duo(left, _))) if *left == *wanted => form("(duo-left ?)", [atom(name)]),
            Some((name, Type::Duo(..))) => form("(duo-right ?)", [atom(name)]),
            Some((name, Type::Pair(car, _))) if *car == *wanted => form("(car ?)", [atom(name)]),
            Some((name, _)) => form("(cdr ?)", [atom(name)]),
            None => self.expression(wanted),
        }
    }

    fn apply_variable(&mut self, wanted: &Type) -> Sexp {
        match self.variable(|of| matches!(of, Type::Function(_, result) if **result == *wanted)) {
            Some((name, Type::Function(argument, _))) => form("(? ?)", [atom(name), self.expression(&argument)]),
            _ => self.expression(wanted),
        }
    }

    fn apply_new(&mut self, wanted: &Type) -> Sexp {
        let argument = self.any_type(1);
        let function = self.expression(&Type::function(argument.clone(), wanted.clone()));
        form("(? ?)", [function, self.expression(&argument)])
    }

    /// `(let loop ((i n) (a start)) (if (<= i 0) a (loop (- i 1) next)))`
    fn count_down(&mut self, wanted: &Type) -> Sexp {
        if self.work * 3 > MOST_WORK {
            return self.simple(wanted);
        }
        let (name, i, a) = (self.fresh("loop"), self.fresh("i"), self.fresh("a"));
        let (count, start) = (self.count(), self.expression(wanted));
        let next = self.within(&[(&i, &Type::Real), (&a, wanted)], |inside| {
            inside.repeated(3, |inside| inside.expression(wanted))
        });
        let name = atom(name);
        let parts = [name.clone(), atom(&i), count, atom(&a), start, atom(&i), atom(a), name, atom(i), next];
        form("(let ? ((? ?) (? ?)) (if (<= ? 0) ? (? (- ? 1) ?)))", parts)
    }

    fn call_counted(&mut self, wanted: &Type) -> Sexp {
        let work = self.work;
        let fits = |function: &&Counted| function.result == *wanted && function.work * work <= MOST_WORK;
        let fitting: Vec<Counted> = self.functions.iter().filter(fits).cloned().collect();
        if fitting.is_empty() {
            return self.expression(wanted);
        }
        let function = self.rng.choose(&fitting).clone();
        let count = self.count();
        form("(? ? ?)", [atom(function.name), count, self.expression(&function.argument)])
    }

    fn item_of_list(&mut self, wanted: &Type) -> Sexp {
        let list = Type::List(Rc::new(wanted.clone()));
        let list = self.expression(&list);
        let l = self.fresh("l");
        if self.rng.percent(5) {
            return form("(car ?)", [list]);
        }
        let part = if self.rng.percent(70) {
            form("(car ?)", [atom(&l)])
        } else {
            form("(let ((rest (cdr ?))) (if (pair? rest) (car rest) (car ?)))", [atom(&l), atom(&l)])
        };
        let otherwise = self.expression(wanted);
        form("(let ((? ?)) (if (pair? ?) ? ?))", [atom(&l), list, atom(&l), part, otherwise])
    }

    /// Tests what a number or pair is and uses it accordingly.
    fn take_apart(&mut self, wanted: &Type) -> Sexp {
        let pair = Type::pair(Type::random_data(&mut self.rng, 1), Type::random_data(&mut self.rng, 1));
        let value = self.expression(&Type::RealOr(Rc::new(pair.clone())));
        let v = self.fresh("v");
        let number = self.within(&[(&v, &Type::Real)], |inside| inside.expression(wanted));
        let other = self.within(&[(&v, &pair)], |inside| inside.expression(wanted));
        form("(let ((? ?)) (if (real? ?) ? ?))", [atom(&v), value, atom(&v), number, other])
    }

    /// A closure made by recursion: `n` functions around one another.
    fn recursive_closure(&mut self, wanted: &Type) -> Sexp {
        if self.work * 3 > MOST_WORK {
            return self.simple(wanted);
        }
        let (name, i, f, x) = (self.fresh("wrap"), self.fresh("i"), self.fresh("f"), self.fresh("x"));
        let function = Type::function(wanted.clone(), wanted.clone());
        let (count, start) = (self.count(), self.expression(&function));
        let body = self.within(&[(&i, &Type::Real), (&f, &function), (&x, wanted)], |inside| {
            inside.repeated(3, |inside| {
                let inner = inside.expression(wanted);
                form("(? ?)", [atom(&f), inner])
            })
        });
        let argument = self.expression(wanted);
        let name = atom(name);
        let wrapped = form("(lambda (?) ?)", [atom(x), body]);
        let parts =
            [name.clone(), atom(&i), count, atom(&f), start, atom(&i), atom(f), name, atom(i), wrapped, argument];
        form("((let ? ((? ?) (? ?)) (if (<= ? 0) ? (? (- ? 1) ?))) ?)", parts)
    }
}
