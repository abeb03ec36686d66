//! Forward and reverse mode in every combination, and what forward mode costs.

mod common;

use common::{EVALUATOR, NATIVE, folder, run_command, vlad};
use std::fs;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// The sixth derivative of x⁸ at 2, 20160 · 2², in all 64 mixes of the two modes. Whole numbers: nothing is rounded.
#[test]
fn sixth_derivatives_agree_in_every_mix_of_modes() {
    let folder = folder(&[]);
    let definition = "(define (power8 x) (let* ((x2 (* x x)) (x4 (* x2 x2))) (* x4 x4)))\n";
    for mix in 0..64 {
        let derivative = (0..6).fold("power8".to_string(), |f, order| {
            let mode = if mix >> order & 1 == 1 { "R" } else { "F" };
            format!("(derivative-{mode} {f})")
        });
        let file = folder.path().join(format!("mix{mix}.vlad"));
        // Read, lest the compiler computes it.
        let text = format!("{definition}({derivative} (read-real))\n");
        fs::write(&file, text).expect("the program can be written");
        for engine in [EVALUATOR, NATIVE] {
            let outcome = engine.run(&file, "2\n", LIMIT);
            assert_eq!(outcome.output, "80640\n", "{derivative}, {}: {}", engine.name, outcome.messages);
        }
    }
}

/// The arithmetic operations that the evaluator does for an expression.
fn operations(definition: &str, expression: &str) -> u64 {
    let folder = folder(&[("counted.vlad", &format!("{definition}\n{expression}\n"))]);
    let mut command = vlad(&["eval", "--count"]);
    command.arg(folder.path().join("counted.vlad"));
    let report = run_command(command, "", LIMIT).messages;
    let total = report.lines().find_map(|line| line.strip_prefix("total"));
    total.and_then(|total| total.trim().parse().ok()).unwrap_or_else(|| panic!("{report}"))
}

/// A forward derivative, the function's value included, needs at most three times the operations of the function, and a
/// bare product four times: one for the value, two products and a sum for the tangent.
#[test]
fn forward_derivatives_cost_a_small_factor() {
    let programs = [
        ("(define (f x) (* x x x x x))", 4),
        ("(define (f x) (let loop ((i 0) (s 0)) (if (= i 100) s (loop (+ i 1) (+ (* s x) i)))))", 3),
        ("(define (f x) (+ (sin x) (* 2 (cos x)) (exp (/ x 3))))", 3),
        ("(define (f x) (let loop ((i 0) (y 1)) (if (= i 20) y (loop (+ i 1) (/ (+ y (/ x y)) 2)))))", 3),
        ("(define (f x) (let loop ((i 0) (y 1)) (if (= i 100) y (loop (+ i 1) (* x y)))))", 3),
        ("(define (f x) (let loop ((i 0) (y 0.3)) (if (= i 100) y (loop (+ i 1) (* x y (- 1 y))))))", 3),
        ("(define (f x) (reduce + 0 (map (lambda (y) (* x y y)) (iota 50))))", 3),
    ];
    for (definition, factor) in programs {
        let primal = operations(definition, "(f 2)");
        let derivative = operations(definition, "((derivative-F f) 2)");
        assert!(derivative <= factor * primal, "{definition}: {primal} and {derivative} operations");
    }
}

/// The second derivative in the direction of a vector costs a small factor of the function, whatever the length of the
/// vector.
#[test]
fn forward_over_reverse_costs_a_small_factor() {
    for length in [10, 100, 1000] {
        let definition = format!(
            "(define (f l) (reduce + 0 (map (lambda (x) (* x x x)) l)))\n(define l (map (lambda (i) (+ i 1)) (iota {length})))"
        );
        let primal = operations(&definition, "(f l)");
        let product = operations(&definition, "(jvp-F (gradient-R f) l l)");
        assert!(product <= 12 * primal, "{length}: {primal} and {product} operations");
    }
}
