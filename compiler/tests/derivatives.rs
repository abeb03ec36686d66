//! Derivatives against finite differences: every primitive, and programs of every style.
//!
//! For each function and point, one program prints the function's value at points around it, the derivative that
//! reverse mode gives there and at the neighbours, and the second derivative (reverse over reverse). The derivative must
//! agree with a fourth-order difference of values, the second derivative with one of derivatives.

use std::fmt::Write;
use vlad::base::SourceMap;
use vlad::core::eval::{Options, run};
use vlad::expand;

/// The step of the differences. The rule below has an error of h^4 in theory and about 1e-16 / h from rounding.
const STEP: f64 = 1e-3;

/// Relative to the larger of 1 and the derivative.
const TOLERANCE: f64 = 1e-8;

/// What the functions below are written with.
const LIBRARY: &str = "
(define (sum l) (if (null? l) 0 (+ (car l) (sum (cdr l)))))
(define (power x n) (if (<= n 0) 1 (* x (power x (- n 1)))))
(define (loop-power x n) (let loop ((i n) (p 1)) (if (<= i 0) p (loop (- i 1) (* p x)))))
(define ((compose f g) x) (f (g x)))
(define (horner l x) (if (null? l) 0 (+ (car l) (* x (horner (cdr l) x)))))
(define (count-down n) (if (<= n 0) '() (cons n (count-down (- n 1)))))
(define (tree x n) (if (<= n 0) x (cons (tree (* x 1.5) (- n 1)) (tree (+ x 1) (- n 1)))))
(define (fold-tree f t) (if (pair? t) (f (fold-tree f (car t)) (fold-tree f (cdr t))) t))
(define (bisect f low high n)
  (if (<= n 0) low (let ((m (/ (+ low high) 2))) (if (> (f m) 0) (bisect f low m (- n 1)) (bisect f m high (- n 1))))))
(define (newton f x n) (if (<= n 0) x (newton f (- x (/ (f x) ((derivative f) x))) (- n 1))))
(define (descend f x rate n) (if (<= n 0) x (descend f (- x (* rate ((derivative f) x))) rate (- n 1))))
(define (euler f y t h n) (if (<= n 0) y (euler f (+ y (* h (f t y))) (+ t h) h (- n 1))))
";

/// Functions of one number and the points to examine them at.
const FUNCTIONS: &[(&str, &[f64])] = &[
    // The primitives.
    ("(lambda (x) (+ x 2))", &[-1.5, 0.0, 3.0]),
    ("(lambda (x) (- 2 x))", &[-1.5, 0.0, 3.0]),
    ("(lambda (x) (- x))", &[-1.5, 3.0]),
    ("(lambda (x) (* x 3))", &[-1.5, 0.0, 3.0]),
    ("(lambda (x) (* x x))", &[-1.5, 0.0, 3.0]),
    ("(lambda (x) (/ x 3))", &[-1.5, 0.0, 3.0]),
    ("(lambda (x) (/ 3 x))", &[-1.5, 0.7, 3.0]),
    ("(lambda (x) (/ x (+ 1 (* x x))))", &[-1.5, 0.0, 3.0]),
    ("sqrt", &[0.5, 2.0, 30.0]),
    ("exp", &[-2.0, 0.0, 1.5]),
    ("log", &[0.5, 1.0, 20.0]),
    ("sin", &[-2.0, 0.0, 1.0, 4.0]),
    ("cos", &[-2.0, 0.0, 1.0, 4.0]),
    ("tan", &[-1.0, 0.0, 1.2]),
    ("asin", &[-0.7, 0.0, 0.6]),
    ("acos", &[-0.7, 0.0, 0.6]),
    ("atan", &[-3.0, 0.0, 0.6]),
    ("sinh", &[-2.0, 0.0, 1.5]),
    ("cosh", &[-2.0, 0.0, 1.5]),
    ("tanh", &[-2.0, 0.0, 1.5]),
    ("log1p", &[-0.5, 0.0, 3.0]),
    ("expm1", &[-2.0, 0.0, 1.5]),
    ("abs", &[-2.5, 1.5]),
    ("floor", &[-2.5, 1.5]),
    ("ceiling", &[-2.5, 1.5]),
    ("round", &[-2.3, 1.7]),
    ("truncate", &[-2.5, 1.5]),
    ("real", &[-2.5, 1.5]),
    ("(lambda (x) (expt x 3))", &[0.5, 2.0]),
    ("(lambda (x) (expt x -1.5))", &[0.5, 2.0]),
    ("(lambda (x) (expt 2 x))", &[-1.0, 0.0, 2.5]),
    ("(lambda (x) (expt x x))", &[0.5, 1.0, 2.5]),
    ("(lambda (x) (atan x 2))", &[-1.0, 0.0, 2.5]),
    ("(lambda (x) (atan 2 x))", &[-1.0, 0.5, 2.5]),
    ("(lambda (x) (atan (sin x) (cos x)))", &[0.5, 2.5]),
    ("(lambda (x) (max x (* x x)))", &[-1.5, 0.5, 1.5]),
    ("(lambda (x) (min x (* x x)))", &[-1.5, 0.5, 1.5]),
    // Pairs, closures, conditionals.
    ("(lambda (x) (car (cons (sin x) x)))", &[0.5]),
    ("(lambda (x) (let (((cons a b) (cons (sin x) (exp x)))) (* a b)))", &[-0.5, 0.5]),
    ("(lambda (x) (((lambda (b) (lambda (c) (* b c))) x) (sin x)))", &[0.5, 1.5]),
    ("(lambda (x) (if (< x 1) (* x x) (exp x)))", &[0.5, 1.5]),
    ("(lambda (x) ((if (< x 1) sin (lambda (y) (* x y))) x))", &[0.5, 1.5]),
    ("(compose sin (compose exp (lambda (x) (* x x))))", &[-0.5, 0.8]),
    ("(lambda (x) (sum (map (lambda (f) (f x)) (list sin cos exp))))", &[-0.5, 0.8]),
    // Loops and recursion.
    ("(lambda (x) (power x 7))", &[-0.9, 1.1]),
    ("(lambda (x) (loop-power (sin x) 6))", &[-0.9, 1.1]),
    ("(lambda (x) (horner (list x 2 (* x x) 4) x))", &[-0.9, 1.1]),
    ("(lambda (x) (sum (map (lambda (n) (/ (sin (* n x)) n)) (count-down 8))))", &[0.3, 2.0]),
    ("(lambda (x) (fold-tree (lambda (a b) (* a (sin b))) (tree x 2)))", &[0.3, 0.9]),
    ("(lambda (x) (let loop ((y x)) (if (< y 100) (loop (+ y (* y y))) (/ y 100))))", &[1.5, 2.1]),
    (
        "(lambda (x) (letrec ((f (lambda (n) (if (<= n 0) x (* x (g (- n 1))))))
                           (g (lambda (n) (if (<= n 0) (sin x) (+ x (f (- n 1))))))) (f 5)))",
        &[0.7, 1.2],
    ),
    ("(lambda (x) (euler (lambda (t y) (- (* t x) (* y y))) 1 0 .1 10))", &[0.5, 2.0]),
    ("(lambda (x) (euler (lambda (t y) (* t y)) x 0 .1 10))", &[0.5, 2.0]),
    // Derivatives inside.
    ("(derivative (lambda (x) (* x (exp (sin x)))))", &[0.5, 2.0]),
    ("(lambda (x) (* x ((derivative (lambda (y) (* (sin x) (exp (* x y))))) 0.5)))", &[0.5, 1.5]),
    ("(lambda (x) (newton (lambda (y) (- (* y (* y y)) x)) 1 8))", &[0.8, 2.0]),
    ("(lambda (x) (descend (lambda (y) (+ (* (- y x) (- y x)) (sin (* x y)))) 0 .2 5))", &[0.5, 1.5]),
    (
        "(lambda (x) (sum ((gradient (lambda (l) (sum (map (lambda (y) (* y (sin (* x y)))) l)))) (list x 1 2))))",
        &[0.5],
    ),
    ("(lambda (x) (car ((gradient (lambda (f) (f (* x x)))) (let ((a (sin x))) (lambda (y) (* a (* a y)))))))", &[0.5]),
];

/// The derivative by the five-point rule.
fn difference(values: &[f64]) -> f64 {
    (8.0 * (values[2] - values[1]) - (values[3] - values[0])) / (12.0 * STEP)
}

/// The lines that examine one function at one point: four values, four derivatives, the derivative and the second one.
fn examination(function: &str, point: f64) -> String {
    let mut text = format!("(let* ((f {function}) (d (derivative f)) (x (real {point:?})))\n  (list");
    for of in ["f", "d"] {
        for steps in [-2.0, -1.0, 1.0, 2.0] {
            let _ = write!(text, " ({of} (+ x {:?}))", steps * STEP);
        }
    }
    text + " (d x) ((derivative d) x)))\n"
}

fn evaluate(text: &str) -> String {
    let mut sources = SourceMap::new();
    let mut program = expand::expand_text("derivatives.vlad", text, &expand::Options::default(), &mut sources)
        .unwrap_or_else(|errors| panic!("{}", errors[0].render(&sources, false)));
    let mut output = Vec::new();
    run(&mut program, &sources, &Options::default(), &mut [].as_slice(), &mut output)
        .unwrap_or_else(|failure| panic!("{}", failure.diagnostic.render(&sources, false)));
    String::from_utf8_lossy(&output).into_owned()
}

fn numbers(line: &str) -> Vec<f64> {
    let inside = line.trim_start_matches('(').trim_end_matches(')');
    inside.split(' ').map(|text| text.parse().unwrap_or(f64::NAN)).collect()
}

fn agrees(derivative: f64, difference: f64) -> bool {
    (derivative - difference).abs() <= TOLERANCE * derivative.abs().max(1.0)
}

#[test]
fn derivatives_agree_with_finite_differences() {
    let cases: Vec<(&str, f64)> =
        FUNCTIONS.iter().flat_map(|(function, points)| points.iter().map(move |point| (*function, *point))).collect();
    let mut text = String::from(LIBRARY);
    text.extend(cases.iter().map(|(function, point)| examination(function, *point)));
    let lines: Vec<Vec<f64>> = evaluate(&text).lines().map(numbers).collect();
    assert_eq!(lines.len(), cases.len());
    let mut complaints = String::new();
    for ((function, point), line) in cases.iter().zip(lines) {
        let [first, second] = [difference(&line[0..4]), difference(&line[4..8])];
        if !agrees(line[8], first) || !agrees(line[9], second) {
            let [d, dd] = [line[8], line[9]];
            let _ = writeln!(complaints, "{function} at {point}: {d} is not {first}, or {dd} is not {second}");
        }
    }
    assert!(complaints.is_empty(), "\n{complaints}");
}
