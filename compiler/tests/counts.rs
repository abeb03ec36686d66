//! What derivatives cost: arithmetic operations of gradients against those of the functions themselves.
//!
//! The forward phase of a transform computes what the function computes, operation for operation; both phases together
//! take at most a small multiple of that, whatever the style of the program. Counted by the reference evaluator.

use vlad::base::SourceMap;
use vlad::core::eval::{Counts, Options, run};
use vlad::expand;

/// The largest ratio of the operations of value and gradient together to those of the value.
const MOST: f64 = 5.0;

/// Name, definition of `f`, argument.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("polynomial", "(define (f x) (+ 1 (* x (+ 2 (* x (+ 3 (* x (+ 4 x))))))))", "1.5"),
    ("products", "(define (f (list a b c d)) (* (* a b) (* c d)))", "'(1 2 3 4)"),
    ("quotients", "(define (f x y) (/ (+ x y) (/ (- x y) (* x y))))", "(cons 1.5 2.5)"),
    ("elementary functions", "(define (f x) (sin (exp (cos (log (sqrt (tanh x)))))))", "1.5"),
    ("powers", "(define (f x y) (+ (* x (expt x y)) (* y (expt y 2))))", "(cons 1.5 2.5)"),
    ("reuse", "(define (f x) (let* ((a (* x x)) (b (* a a)) (c (* b b)) (d (+ a (+ b c)))) (* d (+ d a))))", "1.5"),
    ("recursion", "(define (f x) (let power ((n 50)) (if (= n 0) 1 (* x (power (- n 1))))))", "1.01"),
    ("loop", "(define (f x) (let loop ((n 50) (p 1)) (if (= n 0) p (loop (- n 1) (+ (* p x) x)))))", "1.01"),
    ("fibonacci", "(define (f x) (let fib ((n 10)) (if (< n 2) x (* (fib (- n 1)) (sin (fib (- n 2)))))))", "1.01"),
    (
        "list",
        "(define (sum l) (if (null? l) 0 (+ (car l) (sum (cdr l))))) (define (f l) (sum (map sin l)))",
        "(iota 40)",
    ),
    (
        "closures",
        "(define (wrap f n) (if (= n 0) f (wrap (lambda (x) (* (sin x) (f x))) (- n 1)))) (define f (wrap exp 30))",
        "1.5",
    ),
    (
        "higher order",
        "(define ((compose f g) x) (f (g x))) (define (square x) (* x x))
         (define (f x) (fold-left + 0 (map (compose square (lambda (y) (* y (+ x y)))) '(1 2 3 4 5))))",
        "1.5",
    ),
    (
        "continuations",
        "(define (times n x k) (if (= n 0) (k 1) (times (- n 1) x (lambda (p) (k (* p (cos x)))))))
         (define (f x) (times 30 x (lambda (p) (+ p 1))))",
        "1.5",
    ),
    ("conditionals", "(define (f x) (if (< x 1) (* x x) (if (< x 2) (sin (* x x)) (exp x))))", "1.5"),
    (
        "matrix product",
        "(define (dot u v) (if (null? u) 0 (+ (* (car u) (car v)) (dot (cdr u) (cdr v)))))
         (define (times m v) (map (lambda (row) (dot row v)) m))
         (define (f m) (fold-left + 0 (times m (times m '(1 2 3)))))",
        "'((1 2 3) (4 5 6) (7 8 9))",
    ),
    (
        "gradient descent",
        "(define (square x) (* x x))
         (define (f a) (let loop ((x 0) (n 5))
           (if (= n 0) x (loop (- x (* 0.1 ((derivative (lambda (x) (square (- (square x) a)))) x))) (- n 1)))))",
        "1.5",
    ),
];

fn counts(text: &str) -> Counts {
    let mut sources = SourceMap::new();
    let mut program = expand::expand_text("counts.vlad", text, &expand::Options::default(), &mut sources)
        .unwrap_or_else(|errors| panic!("{}", errors[0].render(&sources, false)));
    let mut output = Vec::new();
    run(&mut program, &sources, &Options::default(), &mut [].as_slice(), &mut output)
        .unwrap_or_else(|failure| panic!("{}", failure.diagnostic.render(&sources, false)))
}

/// The operations of `expression`, those that setting up the program takes not included.
fn cost(definitions: &str, expression: &str) -> Counts {
    let text = format!("{definitions}\n");
    let (with, without) = (counts(&format!("{text}{expression}\n")), counts(&text));
    with.minus(&without)
}

#[test]
fn forward_phases_compute_what_the_function_computes() {
    for (name, definitions, argument) in PROGRAMS {
        let definitions = format!("{definitions}\n(define argument {argument})");
        let primal = cost(&definitions, "(f argument)");
        let forward = cost(&definitions, "(*j-inverse (car ((*j f) (*j argument))))");
        assert_eq!(primal, forward, "{name}");
    }
}

#[test]
fn gradients_cost_a_small_multiple_of_the_function() {
    for (name, definitions, argument) in PROGRAMS {
        let definitions = format!("{definitions}\n(define argument {argument})");
        let primal = cost(&definitions, "(f argument)");
        let gradient = cost(&definitions, "(cdr ((cdr ((*j f) (*j argument))) 1))");
        let ratio = gradient.total() as f64 / primal.total() as f64;
        assert!(
            ratio <= MOST,
            "{name}: {} operations become {}, {ratio} times as many\n{gradient}",
            primal.total(),
            gradient.total()
        );
    }
}

#[test]
fn second_derivatives_cost_a_small_multiple_of_the_gradient() {
    for (name, definitions, argument) in PROGRAMS.iter().filter(|program| !program.2.contains('(')) {
        let definitions = format!("{definitions}\n(define argument {argument})\n(define g (derivative f))");
        let first = cost(&definitions, "(g argument)");
        let second = cost(&definitions, "((derivative g) argument)");
        let ratio = second.total() as f64 / first.total() as f64;
        assert!(ratio <= MOST, "{name}: {} operations become {}, {ratio} times as many", first.total(), second.total());
    }
}

#[test]
fn zeros_are_not_counted() {
    // The sensitivity of the variable that is not used is a zero, to which nothing was ever added.
    let unused = cost("(define (f x y) (* 2 x))", "((gradient f) 3 4)");
    let alone = cost("(define (f x) (* 2 x))", "((gradient f) 3)");
    assert_eq!(unused, alone);
}
