//! The limits of the compiler: the command line sets each, what one stops is told which, and no program gives other
//! numbers because of one.

mod common;

use common::{Outcome, folder, run_command, vlad};
use std::fmt::Write;
use std::time::Duration;
use vlad::flow::limits::LIMITS;

const PROGRAM: &str = "
(define (build n) (if (= n 0) '() (cons n (build (- n 1)))))
(define (sum l) (if (null? l) 0 (+ (car l) (sum (cdr l)))))
(define (f x) (let loop ((i 0) (y x)) (if (= i 9) (* y y y) (loop (+ i 1) (+ y i)))))
(sum (map (derivative f) (build 6)))
((derivative (derivative f)) 2)
(taylor (with-jvp (lambda (x) (* x x)) (lambda (x y t) (* 2 t x))) 0.5 2)
(sum '(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40))
";

const TOWER: &str = "
(define (nth-derivative n f) (if (= n 0) f (nth-derivative (- n 1) (derivative f))))
((nth-derivative (read-real) exp) 0)
";

fn run(arguments: &[&str], program: &str) -> Outcome {
    run_on(arguments, program, "")
}

fn run_on(arguments: &[&str], program: &str, input: &str) -> Outcome {
    let folder = folder(&[("program.vlad", program)]);
    let mut command = vlad(arguments);
    command.arg(folder.path().join("program.vlad"));
    run_command(command, input, Duration::from_secs(60))
}

#[test]
fn limits_change_no_result() {
    let expected = run(&["eval"], PROGRAM).output;
    let smallest = [
        ("unroll", 0),
        ("nesting", 16),
        ("number-variants", 0),
        ("function-variants", 1),
        ("variants", 1),
        ("work", 0),
        ("order", 0),
        ("code", 1),
        ("dynamic-order", 0),
        ("instructions", 1),
    ];
    assert_eq!(smallest.map(|(name, _)| name), LIMITS.each_ref().map(|limit| limit.name), "a limit is not tested");
    for (name, value) in smallest {
        let outcome = run(&["run", "--limit", &format!("{name}={value}")], PROGRAM);
        assert_eq!(
            (outcome.code, outcome.output.as_str()),
            (Some(0), expected.as_str()),
            "{name}: {}",
            outcome.messages
        );
    }
}

/// Where variants of functions are joined, a sum of a backpropagator may be a zero or one-hot, and meets a hole.
#[test]
fn holes_in_sums_of_joined_variants_are_filled() {
    const PROGRAM: &str = "
(define (ignore v) 1)
(define (constant x)
  (ignore ((jacobian-F (lambda (y) x))
           (vector-map (lambda (y) (let ((row (lambda () (vector x)))) (row))) (vector #f)))))
(define slope (derivative-R constant))
((derivative-R slope) 0)";
    for variants in [8, 12, 18] {
        let outcome = run(&["run", "--limit", &format!("function-variants={variants}")], PROGRAM);
        assert_eq!((outcome.code, outcome.output.as_str()), (Some(0), "0\n"), "{variants}: {}", outcome.messages);
    }
}

#[test]
fn messages_name_the_limit_that_stopped_a_program() {
    let stopped =
        [("order", 1, PROGRAM), ("code", 1, PROGRAM), ("dynamic-order", 3, TOWER), ("instructions", 9, PROGRAM)];
    for (name, value, program) in stopped {
        let outcome = run(&["build", "--native", "-o", "unused", "--limit", &format!("{name}={value}")], program);
        assert_eq!(outcome.code, Some(1));
        let note = format!("the limit `{name}` is {value}; `--limit {name}=NUMBER` sets another");
        assert!(outcome.messages.contains(&note), "{}", outcome.messages);
    }
}

#[test]
fn wrong_limits_are_refused() {
    for limit in ["depth=1", "order", "order=", "order=-1", "order=99999999999", "nesting=1"] {
        assert_eq!(run(&["check", "--limit", limit], PROGRAM).code, Some(2), "{limit}");
    }
}

/// A long program may take longer in proportion, and no longer than the user says.
#[test]
fn limits_on_work_grow_with_the_program() {
    let usual = vlad::flow::Options::default();
    let short = usual.for_length(1_000);
    assert_eq!((short.max_work, short.max_instructions), (usual.max_work, usual.max_instructions));
    let mut long = usual.clone();
    long.set("instructions", 5000).expect("there is this limit");
    let long = long.for_length(80_000);
    assert_eq!((long.max_variants, long.lambda_variants), (10 * usual.max_variants, 10 * usual.lambda_variants));
    assert_eq!((long.unroll, long.max_instructions), (usual.unroll, 5000));
}

#[test]
fn every_limit_is_documented() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/language.md");
    let page = std::fs::read_to_string(page).expect("the documentation exists");
    let defaults = vlad::flow::Options::default();
    let mut missing = String::new();
    for limit in &LIMITS {
        let row = |line: &str| {
            line.starts_with(&format!("| `{}` |", limit.name))
                && line.contains(&format!("| {} |", (limit.get)(&defaults)))
        };
        if !page.lines().any(row) {
            writeln!(missing, "{}", limit.name).expect("a string can be written to");
        }
    }
    assert!(missing.is_empty(), "docs/language.md lacks\n{missing}");
}

/// The clauses of a `cond` are one choice in its derivative, not a chain of choices that contain each other.
#[test]
fn code_of_derivatives_is_in_proportion_to_the_clauses() {
    let size = |clauses: usize| {
        let clauses: String = (0..clauses).map(|k| format!("((= k {k}) (* x {k}))")).collect();
        let program = format!(
            "(define (f k x) (cond {clauses} (else (sin x))))\n(define k (read-real))\n((derivative-R (lambda (x) (f k x))) 2)"
        );
        run(&["emit", "--stage", "opt"], &program).output.len()
    };
    let (small, large) = (size(40), size(80));
    assert!(small > 0 && large < small * 5 / 2, "{small} bytes of code for 40 clauses, {large} for 80");
}

/// Sixty functions, each of which calls the two before it: as many functions in their derivative, not 2⁶⁰.
#[test]
fn functions_that_many_ways_lead_to_are_compiled_once() {
    let functions: String = (2..60)
        .map(|i| format!("(define (f{i} x) (if (> x {i}) (f{} (* b x)) (f{} (+ x a)))) ", i - 1, i - 2))
        .collect();
    let program = format!(
        "(define (f a b c) (define (f0 x) (* a x)) (define (f1 x) (* c x)) {functions} (f59 1))
         (define a (read-real))
         (f a 3 4)
         ((gradient-R f) a 3 4)"
    );
    let outcome = run_on(&["run", "--native"], &program, "2\n");
    // The numbers of exact arithmetic on whole numbers.
    let expected = "2836722264415164\n(1372607547297660 26476074467874864 . 709180566103791)\n";
    assert_eq!((outcome.code, outcome.output.as_str()), (Some(0), expected), "{}", outcome.messages);
}

/// Second derivatives of a walk over a list whose length is one of six: more than 80,000 instructions if each place had
/// functions of its own for the zeros and sums of such lists.
const CHOICES: &str = "
(define n (read-real))
(define (f x) ((hessian-R (lambda (y) (list-ref (list 1 2 3 4 5) n))) 1))
((derivative-R (derivative-R f)) 1)
";

#[test]
fn large_programs_share_operations() {
    let arguments = ["run", "--native", "--limit", "instructions=60000"];
    let outcome = run_on(&arguments, CHOICES, "1\n");
    assert_eq!((outcome.code, outcome.output.as_str()), (Some(0), "0\n"), "{}", outcome.messages);
}

/// A third derivative at nested lists of a depth that only the input tells: 96,000 instructions if a value of several
/// kinds were put together with a tangent of several kinds in place, for each place.
const BUNDLES: &str = "
(define n (read-real))
(define (count v) (if (real? v) v (+ 1 (count (cdr v)))))
(define (f x) (k*v (count x) (list 1 2.5)))
(define (grow n) (if (<= n 0) 1 (cons 1.25 (cons 1 (grow (- n 1))))))
(define x (let loop ((i (real 1)) (x (grow n))) (if (<= i 0) x (loop (- i 1) (cons x x)))))
(jvp-R (lambda (x) (vjp-F f x (f x))) x x)
";

#[test]
fn bundles_of_several_kinds_are_shared() {
    let outcome = run_on(&["eval"], BUNDLES, "1\n");
    assert_eq!(outcome.code, Some(0), "{}", outcome.messages);
    let native = run_on(&["run", "--native", "--limit", "instructions=60000"], BUNDLES, "1\n");
    assert_eq!((native.code, native.output), (Some(0), outcome.output), "{}", native.messages);
}
