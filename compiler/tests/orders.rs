//! Derivatives of high order of small functions are compiled, in both modes and in mixes of them, and are exact.

mod common;

use common::{NATIVE, folder, run_command, vlad};
use std::fs;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

/// x⁹ in many ways, for a `n` of 8 that only the input knows. Whole numbers: nothing is rounded.
const POWERS: [(&str, &str); 5] = [
    ("loop", "(define (f x) (let loop ((i 0) (y x)) (if (< i n) (loop (+ i 1) (* x y)) y)))"),
    ("recursion", "(define (power x i) (if (= i 0) x (* x (power x (- i 1))))) (define (f x) (power x n))"),
    ("accumulator", "(define (power x i y) (if (= i 0) y (power x (- i 1) (* y x)))) (define (f x) (power x n x))"),
    ("fold", "(define (f x) (vector-fold (lambda (y z) (* y z)) x (build n (lambda (i) x))))"),
    (
        "map",
        "(define (f x) (/ (vector-sum (vector-map (lambda (y) (* y x x x x x x x x)) (build n (lambda (i) x)))) n))",
    ),
];

/// The derivative of that order of x⁹ at 2.
fn exact(order: u32) -> f64 {
    let factors: f64 = (0..order).map(|i| f64::from(9 - i)).product();
    factors * 2f64.powi(9 - i32::try_from(order).expect("a small number"))
}

/// Compiles `f` as it is in `family`, with a derivative for each letter of `modes`, the innermost first, and compares.
fn check(family: &str, modes: &str) {
    let (_, definition) = POWERS.iter().find(|(name, _)| *name == family).expect("a family");
    let derivative = modes.chars().fold("f".to_string(), |f, mode| format!("(derivative-{mode} {f})"));
    let text = format!("(define n (read-real))\n{definition}\n({derivative} (read-real))\n");
    let folder = folder(&[]);
    let file = folder.path().join("power.vlad");
    fs::write(&file, text).expect("the program can be written");
    // A program that needs the evaluator is an error here.
    let outcome = NATIVE.run(&file, "8 2\n", LIMIT);
    let expected = exact(u32::try_from(modes.len()).expect("a small number"));
    assert_eq!(outcome.output, format!("{expected}\n"), "{family}, {modes}: {}", outcome.messages);
}

#[test]
fn forward_mode_to_order_8() {
    for (family, _) in POWERS {
        (3..=8).for_each(|order| check(family, &"F".repeat(order)));
    }
}

#[test]
fn modes_that_alternate_to_order_8() {
    for (family, _) in POWERS {
        for order in 3..=8 {
            check(family, &"RF".repeat(4)[..order]);
            check(family, &"FR".repeat(4)[..order]);
        }
    }
}

#[test]
fn reverse_mode_of_loops_to_order_7() {
    for family in ["loop", "recursion", "accumulator"] {
        (3..=7).for_each(|order| check(family, &"R".repeat(order)));
    }
}

#[test]
fn reverse_mode_of_vectors_to_order_6() {
    for family in ["fold", "map"] {
        (3..=6).for_each(|order| check(family, &"R".repeat(order)));
    }
}

/// `exp` is its own derivative, of any order that the limit `order` allows within the limit on code. The tenth
/// derivative of the sine of a square is 10!/5! at 0.
#[test]
fn reverse_mode_of_small_functions_to_order_10() {
    for (function, expected) in [("exp", "1"), ("(lambda (x) (sin (* x x)))", "30240")] {
        let derivative = "(derivative-R ".repeat(10) + function + &")".repeat(10);
        let folder = folder(&[("small.vlad", &format!("({derivative} (read-real))\n"))]);
        let outcome = NATIVE.run(&folder.path().join("small.vlad"), "0\n", LIMIT);
        assert_eq!(outcome.output, format!("{expected}\n"), "{function}: {}", outcome.messages);
    }
}

/// The sensitivities of environments stay apart, so that what a further order adds is what there is to do, not ways of
/// telling which list of sensitivities has come.
#[test]
fn code_grows_by_a_small_factor_with_the_order() {
    for family in ["loop", "fold", "map"] {
        let [five, six] = [5, 6].map(|order| size(family, order));
        assert!(2 * six < 7 * five, "{family}: {five} lines for order 5, {six} for order 6");
    }
}

/// How many lines of first-order code the derivative of that order by reverse mode has.
fn size(family: &str, order: usize) -> usize {
    let (_, definition) = POWERS.iter().find(|(name, _)| *name == family).expect("a family");
    let derivative = "(derivative-R ".repeat(order) + "f" + &")".repeat(order);
    let text = format!("(define n (read-real))\n{definition}\n({derivative} (read-real))\n");
    let folder = folder(&[("power.vlad", &text)]);
    let file = folder.path().join("power.vlad").display().to_string();
    let outcome = run_command(vlad(&["emit", "--stage", "ssa", &file]), "", LIMIT);
    assert_eq!(outcome.messages, "", "{family}");
    outcome.output.lines().count()
}
