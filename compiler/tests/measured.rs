//! What `vlad bench` measures is computed, whatever the compiler knows: the programs that it makes, in the SSA
//! evaluator. And what optimised derivatives consist of, where a form of the program must not matter.

use std::io::Write;
use vlad::expand::program::measure::{Measure, Side};
use vlad::pipeline::passes::RESULT;
use vlad::pipeline::{Pipeline, Settings};
use vlad::ssa::eval::{self, Counts, Options};
use vlad::ssa::ir::{Op, Real1};

/// The operations of the optimised program that makes a call of a program so many times.
fn counts(text: &str, call: usize, side: Side, rounds: u32) -> Counts {
    let mut file = tempfile::Builder::new().suffix(".vlad").tempfile().expect("temporary files can be made");
    file.write_all(text.as_bytes()).expect("temporary files can be written");
    let mut pipeline = Pipeline::new(Settings { measure: Some(Measure { call, side }), ..Settings::default() });
    let program = pipeline.expand(file.path()).expect("the program is right");
    let code = pipeline.native(&program).expect("the program can be compiled");
    let options = Options { stage: RESULT, fuel: Some(1_000_000), tape_memory: eval::ALL_MEMORY };
    let (outcome, _, errors) = eval::run_on(&code, &rounds.to_string(), options).expect("the program ends");
    assert_eq!((outcome.exit_code, errors.as_str()), (0, ""));
    outcome.counts
}

fn count(counts: &Counts, kind: &str) -> u64 {
    counts.by_kind().iter().filter(|row| row.0 == kind).map(|row| row.1).sum()
}

const PROGRAM: &str = "
(define (f x) (sin (* 2 x)))
(define (total l) (fold-left + 0 (map sin l)))
(define (forward l) (tangent ((j* total) (bundle l l))))
1
((gradient f) 3)
((gradient total) '(1 2 3))
(jvp total (map-n (lambda (i) 1) (real 100)) (map-n (lambda (i) 1) (real 100)))
((gradient-F (lambda (a b) (* a (exp b)))) 1 (write-real 0))
(let ((gradient (lambda (f) f))) ((gradient sin) 5))
";

#[test]
fn nothing_is_computed_at_compile_time_or_shared() {
    for rounds in [1, 7] {
        let counts = |call, side| counts(PROGRAM, call, side, rounds);
        let rounds = u64::from(rounds);
        assert_eq!(count(&counts(0, Side::Value), "sin"), rounds);
        assert_eq!(count(&counts(0, Side::Derivative), "cos"), rounds);
        assert_eq!(count(&counts(1, Side::Value), "sin"), 3 * rounds);
        assert_eq!(count(&counts(1, Side::Derivative), "cos"), 3 * rounds);
        assert_eq!(count(&counts(2, Side::Value), "sin"), 100 * rounds);
        assert_eq!(count(&counts(2, Side::Derivative), "cos"), 100 * rounds);
        assert_eq!(count(&counts(3, Side::Value), "exp"), rounds);
        assert_eq!(count(&counts(3, Side::Derivative), "exp"), rounds);
    }
}

#[test]
fn forms_and_own_functions_are_not_measured() {
    let mut file = tempfile::Builder::new().suffix(".vlad").tempfile().expect("temporary files can be made");
    let text =
        "(define ((derivative f) x) (f x)) ((derivative sin) 1) ((gradient\nsin) 2) (let ((x 1)) ((gradient sin) x))";
    file.write_all(text.as_bytes()).expect("temporary files can be written");
    let mut pipeline = Pipeline::new(Settings::default());
    let taken = pipeline.derivatives_taken(file.path()).expect("the file can be read");
    let texts: Vec<&str> = taken.iter().map(|taken| pipeline.sources.text(taken.span)).collect();
    assert_eq!(texts, ["((gradient\nsin) 2)"]);
}

/// A vector that is read as a whole has a plain vector for its sum, whether a loop makes it anew in each round, a call
/// gives it or gets it twice. A table of places, which looks for them by fractions, would be many times slower.
#[test]
fn sums_of_what_is_read_as_a_whole_are_vectors() {
    let forms = [
        "(let loop ((i 0) (a (vector-ref vs 0))) (if (< i 5) (loop (+ i 1) (vector-map sin a)) (vector-sum a)))",
        "(vector-sum (let loop ((i 0) (a (vector-ref vs 0))) (if (< i 5) (loop (+ i 1) (vector-map sin a)) a)))",
        "(vector-sum (iterate 5 (lambda (a) (vector-map sin a)) (vector-ref vs 0)))",
        "(vector-sum (vector-fold (lambda (a v) (vector-map2 + a v)) (vector-ref vs 0) vs))",
        "(vector-sum (vector-map (lambda (w) (dot w w)) vs))",
        "(vector-sum (vector-map (lambda (w) (vector-sum (vector-map2 * w w))) vs))",
        "(let* ((x (vector-ref vs 0)) (f (lambda (y) (vector-map2 * x y)))) (vector-sum ((lambda (f y) (f (f y))) f x)))",
    ];
    for form in forms {
        let text = format!(
            "(define n (read-real))
             (define vs (build 4 (lambda (k) (build n (lambda (i) (sin (+ k i)))))))
             ((gradient-R (lambda (vs) {form})) vs)"
        );
        let mut file = tempfile::Builder::new().suffix(".vlad").tempfile().expect("temporary files can be made");
        file.write_all(text.as_bytes()).expect("temporary files can be written");
        let mut pipeline = Pipeline::new(Settings::default());
        let program = pipeline.expand(file.path()).expect("the program is right");
        let code = pipeline.native(&program).expect("the program can be compiled");
        let mut insts = code.functions.values().flat_map(|f| f.blocks.values()).flat_map(|block| &block.insts);
        assert!(!insts.any(|inst| inst.op == Op::Real1(Real1::Floor)), "{form}");
    }
}
