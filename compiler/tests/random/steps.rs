//! Random loops whose rounds make vectors and numbers of those that the round before has left: steps of simulations.
//!
//! ```text
//! (define (phi x)
//!   (let loop ((k 0) (s0 (vector-ref x 0)) (y0 x))
//!     (if (< k steps)
//!         (let* ((t0 (build n (lambda (i) (if (< i 1) s0 (* c (vector-ref y0 (- i 1))))))) ...) (loop (+ k 1) ... t0))
//!         (+ s0 (vector-sum y0)))))
//! ```
//!
//! What they print is the value of such a function at a vector, and a derivative of first or second order in some mix of
//! modes. Such programs do not fail, and their numbers stay small: what goes to the next round is bounded.

use super::rng::Rng;
use super::sexp::{Sexp, parse};

/// What a derivative of `phi` is taken by.
const DERIVATIVES: [&str; 6] = [
    "((gradient-R phi) x)",
    "((gradient-F phi) x)",
    "((gradient-R (lambda (y) (dot y ((gradient-R phi) y)))) x)",
    "((gradient-F (lambda (y) (dot y ((gradient-R phi) y)))) x)",
    "((gradient-R (lambda (y) (dot y ((gradient-F phi) y)))) x)",
    "(jvp (gradient-R phi) x x)",
];

/// The forms of a program.
pub(super) fn program(rng: &mut Rng) -> Vec<Sexp> {
    let length = *rng.choose(&[1, 2, 3, 5, 9, 16, 33]);
    let rounds = *rng.choose(&[0, 1, 2, 4, 9]);
    let mut steps = Steps { rng, numbers: Vec::new(), vectors: Vec::new() };
    let text = format!(
        "(define n (real {length})) (define steps (real {rounds})) (define c (real 0.3))
         (define x (build n (lambda (i) (/ (+ i 1) (+ n 2)))))
         (define (phi x) {}) (phi x) {}",
        steps.function(),
        steps.rng.choose(&DERIVATIVES)
    );
    parse(&text)
}

/// What there is in a round.
struct Steps<'r> {
    rng: &'r mut Rng,
    numbers: Vec<String>,
    vectors: Vec<String>,
}

impl Steps<'_> {
    fn function(&mut self) -> String {
        let names = |prefix: &str, count: usize| (0..count).map(|i| format!("{prefix}{i}")).collect::<Vec<String>>();
        let scalars = names("s", self.rng.below(3));
        let states = names("y", self.rng.below(2) + usize::from(scalars.is_empty() || self.rng.percent(50)));
        self.numbers = scalars.iter().cloned().chain(["c".into()]).collect();
        self.vectors = states.iter().cloned().chain(["x".into()]).collect();
        let bindings: Vec<String> = (0..1 + self.rng.below(3)).map(|i| self.binding(&format!("t{i}"))).collect();
        let mut next: Vec<String> = scalars.iter().map(|_| format!("(sin {})", self.number(&[], 2))).collect();
        next.extend(states.iter().map(|_| self.next_vector()));
        let test = *self.rng.choose(&["(< k steps)", "(< k steps)", "(not (= k steps))"]);
        let start: String = scalars.iter().map(|name| format!("({name} (vector-ref x 0)) ")).collect();
        let start: String = start + &states.iter().map(|name| format!("({name} x) ")).collect::<String>();
        let sums: String = states.iter().map(|name| format!(" (vector-sum {name})")).collect();
        format!(
            "(let loop ((k 0) {start}) (if {test} (let* ({}) (loop (+ k 1) {})) (+ 0 {}{sums})))",
            bindings.join(" "),
            next.join(" "),
            scalars.join(" ")
        )
    }

    /// A vector or number that the round makes, and binds to a name.
    fn binding(&mut self, name: &str) -> String {
        let (v, w) = (self.vector(), self.vector());
        let (text, is_vector) = match self.rng.below(8) {
            0..4 => {
                let parts = [self.element(&v), self.element(&w), "i".into()];
                let mut body = self.number(&parts, 3);
                if self.rng.percent(50) {
                    let test = *self.rng.choose(&["(= i 0)", "(= i 2)", "(< i 1)", "(< i 2)"]);
                    body = format!("(if {test} {} {body})", self.number(&parts, 2));
                }
                (format!("(build n (lambda (i) {body}))"), true)
            }
            4 => {
                let body = self.number(&["a".into()], 2);
                (format!("(vector-sum (vector-map (lambda (a) {body}) {v}))"), false)
            }
            5 => {
                let body = self.number(&["a".into(), "b".into()], 2);
                (format!("(vector-map2 (lambda (a b) {body}) {v} {w})"), true)
            }
            6 => {
                let body = self.number(&["sum".into(), format!("(vector-ref {v} j)")], 2);
                (format!("(let inner ((j 0) (sum 0)) (if (< j n) (inner (+ j 1) {body}) sum))"), false)
            }
            _ => {
                let body = self.number(&["a".into()], 2);
                (format!("(vector-update {v} 0 (lambda (a) {body}))"), true)
            }
        };
        if is_vector {
            self.vectors.push(name.into())
        } else {
            self.numbers.push(name.into())
        }
        format!("({name} {text})")
    }

    fn next_vector(&mut self) -> String {
        let v = self.vectors.last().expect("there is `x`").clone();
        let w = self.vector();
        match self.rng.below(3) {
            0 => format!("(vector-map (lambda (a) (/ a (+ 1 (* a a)))) {v})"),
            1 => format!("(vector-map sin {v})"),
            _ => {
                let parts = [self.element(&v), self.element(&w)];
                format!("(build n (lambda (i) (sin (+ {} (* 0.5 {})))))", parts[0], parts[1])
            }
        }
    }

    fn vector(&mut self) -> String {
        self.rng.choose(&self.vectors).clone()
    }

    /// An element of a vector near place `i`.
    fn element(&mut self, vector: &str) -> String {
        const PLACES: [&str; 6] = ["i", "i", "(if (= i 0) 0 (- i 1))", "(max 0 (- i 1))", "(min (+ i 1) (- n 1))", "0"];
        format!("(vector-ref {vector} {})", self.rng.choose(&PLACES))
    }

    /// A number made of these and of those that the round has.
    fn number(&mut self, parts: &[String], depth: usize) -> String {
        if depth == 0 || self.rng.percent(25) {
            let all: Vec<&str> =
                parts.iter().chain(&self.numbers).map(String::as_str).chain(["0.5", "-0.75"]).collect();
            return (*self.rng.choose(&all)).to_string();
        }
        let [a, b, c, d] = [(); 4].map(|()| self.number(parts, depth - 1));
        match self.rng.below(12) {
            0..3 => format!("(+ {a} {b})"),
            3..6 => format!("(* {a} {b})"),
            6 => format!("(- {a} {b})"),
            7 => format!("(/ {a} (+ 2 (* {b} {b})))"),
            8 => format!("(sin {a})"),
            9 => format!("(if (< {a} {b}) {c} {d})"),
            10 => format!("(max {a} {b})"),
            _ => format!("(sqrt (+ 1 (* {a} {a})))"),
        }
    }
}
