//! Laws of derivatives, for random functions between random spaces: those of linear maps, of their composition and of
//! their transposition, from Figures 4 to 6 of the paper of Ellis, Peyton Jones and Fitzgibbon.
//!
//! A lawful program defines functions `f` and `h` of a space, `g` of what `f` returns and `e` from the space to itself,
//! and prints a line `(31339 ((a ...) (b ...)) ...)` with the numbers of both sides of some laws, which must be equal
//! up to rounding. Changes and sensitivities are arbitrary values of the shapes of `x`, `(f x)`, `(g (f x))` and `(h
//! x)`.

use super::generate::Generator;
use super::modes::Mode;
use super::sexp::{self, Sexp, atom, form};
use super::types::Type;

/// What stands in front of the sides of laws.
const MARK: &str = "(31339 ";

/// How many laws a program checks.
const LAWS_OF_A_PROGRAM: usize = 3;

/// How far sides may be apart, beside the largest number in them.
const TOLERANCE: f64 = 1e-7;

/// An arbitrary value of the shape of another.
const WAVE: &str = "(define (wave v k) (refill v (map-n (lambda (i) (sin (+ k (* 2 i)))) (length (flatten v)))))";

/// Both sides of each law. `s` and `r` are changes of `x`; `t` and `u` sensitivities of `y`, which is `(f x)`; `q` is
/// one of `(g y)`, `p` one of `(h x)`; `phi` is a function with a number as value.
const LAWS: [(&str, &str); 36] = [
    // Derivatives are linear, in changes and in sensitivities.
    ("(jvp-F f x (v+ s r))", "(v+ (jvp-F f x s) (jvp-F f x r))"),
    ("(jvp-F f x (k*v 3 s))", "(k*v 3 (jvp-F f x s))"),
    ("(vjp-R f x (v+ t u))", "(v+ (vjp-R f x t) (vjp-R f x u))"),
    ("(vjp-R f x (k*v 3 t))", "(k*v 3 (vjp-R f x t))"),
    // Reverse mode is the transpose of forward mode, whichever mode either is made of.
    ("(dot t (jvp-F f x s))", "(dot (vjp-R f x t) s)"),
    ("(jvp-F f x s)", "(jvp-R f x s)"),
    ("(vjp-F f x t)", "(vjp-R f x t)"),
    ("(vjp-R (lambda (t) (vjp-R f x t)) t s)", "(jvp-F f x s)"),
    ("(jvp-F (lambda (t) (vjp-R f x t)) t u)", "(vjp-R f x u)"),
    ("(vjp-R (lambda (s) (jvp-F f x s)) s t)", "(vjp-R f x t)"),
    // The derivative of a composition is the composition of derivatives, transposed in the other order.
    ("(jvp-F (lambda (x) (g (f x))) x s)", "(jvp-F g y (jvp-F f x s))"),
    ("(vjp-R (lambda (x) (g (f x))) x q)", "(vjp-R f x (vjp-R g y q))"),
    // Values above each other and arguments beside each other are each other's transposes.
    ("(jvp-F (lambda (x) (cons (f x) (h x))) x s)", "(cons (jvp-F f x s) (jvp-F h x s))"),
    ("(vjp-R (lambda (x) (cons (f x) (h x))) x (cons t p))", "(plus (vjp-R f x t) (vjp-R h x p))"),
    (
        "(jvp-F (lambda (a b) (+ (dot t (f a)) (dot p (h b)))) (cons x x) (cons s r))",
        "(+ (dot t (jvp-F f x s)) (dot p (jvp-F h x r)))",
    ),
    ("(vjp-R (lambda (a b) (+ (dot t (f a)) (dot p (h b)))) (cons x x) 1)", "(cons (vjp-R f x t) (vjp-R h x p))"),
    // The zero and the unit map, and what a function captures.
    ("(jvp-F (lambda (x) (zero (f x))) x s)", "(zero y)"),
    ("(vjp-R (lambda (x) (zero (f x))) x t)", "(zero x)"),
    ("(list (jvp-F (lambda (x) x) x s) (vjp-R (lambda (x) x) x s))", "(list s s)"),
    ("(jvp-F (lambda (x) ((lambda (i) (k*v i (f x))) 2)) x s)", "(k*v 2 (jvp-F f x s))"),
    ("(vjp-R (lambda (x) ((lambda (i) (k*v i (f x))) 2)) x t)", "(k*v 2 (vjp-R f x t))"),
    // Sums and multiples.
    ("(jvp-F (lambda (x) (k*v 2 (k*v 3 (f x)))) x s)", "(k*v 6 (jvp-F f x s))"),
    ("(jvp-F (lambda (x) (plus (f x) (k*v 3 (f x)))) x s)", "(k*v 4 (jvp-F f x s))"),
    ("(vjp-R (lambda (x) (plus (f x) (k*v 3 (f x)))) x t)", "(k*v 4 (vjp-R f x t))"),
    // Building is values above each other, folding arguments beside each other.
    ("(jvp-F (lambda (x) (build 3 (lambda (i) (k*v i (f x))))) x s)", "(build 3 (lambda (i) (k*v i (jvp-F f x s))))"),
    ("(vjp-R (lambda (x) (build 3 (lambda (i) (k*v i (f x))))) x (vector t u t))", "(vjp-R f x (plus u (k*v 2 t)))"),
    (
        "(jvp-F (lambda (v) (vector-fold (lambda (a x) (+ a (dot t (f x)))) 0 v)) (vector x x) (vector s r))",
        "(dot t (jvp-F f x (plus s r)))",
    ),
    (
        "((gradient-R (lambda (v) (vector-fold (lambda (a x) (+ a (dot t (f x)))) 0 v))) (vector x x))",
        "(let ((d (vjp-R f x t))) (vector d d))",
    ),
    // A sum that is zero in all places but one; an element of what was built.
    (
        "((gradient-R (lambda (x) (vector-sum (build 3 (lambda (i) (if (= i 1) (phi x) 0)))))) x)",
        "((gradient-R phi) x)",
    ),
    ("(vjp-R (lambda (x) (vector-ref (build 3 (lambda (i) (k*v i (f x)))) 2)) x t)", "(k*v 2 (vjp-R f x t))"),
    // The way back of a loop is the ways back of its rounds, from the last.
    ("(jvp-F (lambda (x) (iterate 3 e x)) x s)", "(let* ((a (e x)) (b (e a))) (jvp-F e b (jvp-F e a (jvp-F e x s))))"),
    (
        "(vjp-R (lambda (x) (iterate 3 e x)) x (wave (iterate 3 e x) 7))",
        "(let* ((a (e x)) (b (e a))) (vjp-R e x (vjp-R e a (vjp-R e b (wave (e b) 7)))))",
    ),
    // One way forward serves several ways back.
    (
        "(let (((cons value back) ((*j f) (*j x)))) (list (*j-inverse value) (cdr (back t)) (cdr (back u))))",
        "(list y (vjp-R f x t) (vjp-R f x u))",
    ),
    // Second derivatives are symmetric, and the same in all mixes of modes.
    ("(dot r (hvp phi x s))", "(dot s (hvp phi x r))"),
    ("(hvp-R phi x s)", "(hvp-F phi x s)"),
    ("(dot t (jvp-F (lambda (x) (jvp-F f x r)) x s))", "(dot r (jvp-R (lambda (x) (vjp-F f x t)) x s))"),
];

/// Random functions and some laws for them.
pub(super) fn program(generator: &mut Generator) -> Vec<Sexp> {
    let [of, between, last, other] = [(); 4].map(|()| Type::random_space(&mut generator.rng, 2));
    let share = generator.budget / 3;
    let mut forms = sexp::parse(WAVE);
    for (name, argument, value) in [("f", &of, &between), ("h", &of, &other), ("g", &between, &last), ("e", &of, &of)] {
        generator.budget = share;
        let x = generator.fresh("x");
        // Laws take two derivatives of these. What a random expression makes of `x` is often constant, and so gets a
        // factor that is not.
        let body = generator.only_within(&[(&x, argument)], |inside| {
            inside.differentiated(Mode::Reverse, |inside| {
                inside.differentiated(Mode::Forward, |inside| inside.expression(value))
            })
        });
        forms.push(form("(define (? ?) (k*v (cos (sum-all ?)) ?))", [atom(name), atom(&x), atom(&x), body]));
    }
    generator.budget = share;
    forms.push(form("(define at ?)", [generator.expression(&of)]));
    let mut laws = vec![atom("list"), atom(MARK.trim_matches(['(', ' ']))];
    for _ in 0..LAWS_OF_A_PROGRAM {
        let (left, right) = generator.rng.choose(&LAWS);
        laws.push(form(&format!("(list (flatten {left}) (flatten {right}))"), []));
    }
    // All in one form, so that shrinking the functions leaves the laws as they are.
    let values =
        "(let* ((x at) (y (f x)) (s (wave x 1)) (r (wave x 2)) (t (wave y 3)) (u (wave y 4)) (p (wave (h x) 5))
                         (q (wave (g y) 6)) (phi (lambda (x) (dot t (f x))))) ?)";
    forms.push(form(values, [Sexp::List(laws)]));
    forms
}

/// What the laws in a program's output say: the sides of one that does not hold, or a word about what was checked.
pub fn check(output: &str) -> Result<Option<&'static str>, String> {
    let Some(line) = output.lines().find(|line| line.starts_with(MARK)) else {
        return Ok(None);
    };
    let Some(Sexp::List(laws)) = sexp::parse(line).pop() else {
        return Ok(None);
    };
    let mut words = "laws-of-zero";
    for law in laws.iter().skip(1) {
        let (Sexp::List(sides), text) = (law, law.to_string()) else {
            return Err(format!("; no law: {law}"));
        };
        if text.contains(".0") && ["inf.0", "nan.0"].iter().any(|word| text.contains(word)) {
            return Ok(Some("laws-not-finite"));
        }
        let numbers: Vec<Vec<f64>> = sides.iter().map(numbers).collect();
        let [left, right] = &numbers[..] else {
            return Err(format!("; no law: {law}"));
        };
        let largest = left.iter().chain(right).fold(1.0, |largest: f64, number| largest.max(number.abs()));
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= TOLERANCE * largest;
        if left.len() != right.len() || !left.iter().zip(right).all(close) {
            return Err(format!("; the law {law} does not hold"));
        }
        if left.iter().any(|number| *number != 0.0) {
            words = "laws-checked";
        }
    }
    Ok(Some(words))
}

fn numbers(side: &Sexp) -> Vec<f64> {
    match side {
        Sexp::Atom(text) => text.parse().into_iter().collect(),
        Sexp::List(items) => items.iter().flat_map(numbers).collect(),
    }
}
