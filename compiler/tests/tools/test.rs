//! `vlad test`: what is reported of promises that are kept and of promises that are broken.

use crate::common::{TOOLS_LIMIT, run_command};
use crate::{folder, vlad};
use std::process::Command;

const GOOD: &str = ";<= 3 4\n(+ (read-real) (read-real)) ;=> 7\n(car '())\n;=> error: car\n";

#[test]
fn kept_promises_are_counted() {
    let folder = folder(&[
        ("good.vlad", GOOD),
        ("parts/one.vlad", "(define one 1)"),
        ("uses.vlad", "(include \"one\") one ;=> 1"),
    ]);
    let (code, out, err) = vlad(&folder, &["test", "good.vlad", "uses.vlad", "-I", "parts"], "");
    assert_eq!((code, err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(out);
    assert_eq!(vlad(&folder, &["test", "--no-eval", "good.vlad"], "").0, Some(0));
}

#[test]
fn programs_get_the_arguments_of_their_comments() {
    let program = "(arguments (x real (more-than 0)) (data vector))\n(* x (vector-sum data)) (read-real)\n";
    let right = format!("{program};<= -- --x 2\n;<= 7\n;<= -- 'with blanks.csv'\n;=> 6\n;=> 7\n");
    let refused = format!("{program};<= -- --x=-1 1,2\n;=> error: `--x`: expected a number, more than 0\n");
    let folder = folder(&[("right.vlad", &right), ("refused.vlad", &refused), ("with blanks.csv", "1\n2\n")]);
    let (code, out, err) = vlad(&folder, &["test", "right.vlad", "refused.vlad"], "");
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.ends_with("2 files ok, 3 promises\n"), "{out}");
}

/// Both streams of a run that fails.
fn complaints(program: &str) -> String {
    let folder = folder(&[("program.vlad", program)]);
    let (code, out, err) = vlad(&folder, &["test", "program.vlad"], "");
    assert_eq!(code, Some(1), "{out}{err}");
    out + &err
}

#[test]
fn wrong_lines_are_shown_where_they_are_promised() {
    insta::assert_snapshot!(complaints("(+ 1 2)\n;=> 4\n5 ;=> 5\n6 ;=> 6\n7\n8 ;=> 8\n;=> 9\n"));
}

#[test]
fn output_before_all_promises_is_shown() {
    insta::assert_snapshot!(complaints("1\n2 ;=> 2\n"));
}

#[test]
fn errors_that_are_not_promised_are_shown() {
    insta::assert_snapshot!(complaints("1 ;=> 1\n(car (real 2))\n"));
}

#[test]
fn promised_errors_must_happen() {
    insta::assert_snapshot!(complaints("1 ;=> 1\n;=> error: no\n"));
    insta::assert_snapshot!(complaints("(error \"yes\" 1)\n;=> error: no\n"));
}

#[test]
fn promised_warnings_must_happen() {
    insta::assert_snapshot!(complaints("1 ;=> 1\n;=> warning: needs the evaluator\n"));
}

#[test]
fn what_only_the_evaluator_prints_is_no_promise_of_both() {
    // The compiled program may say so before it prints anything; the evaluator prints first.
    let folder = folder(&[("foreseen.vlad", "1 ;=> 1\n(car 2) ;=> error: car\n")]);
    assert_eq!(vlad(&folder, &["test", "foreseen.vlad"], "").0, Some(0));
}

#[test]
fn programs_that_take_too_long_are_stopped() {
    let folder = folder(&[("long.vlad", "(let loop ((i 0)) (if (< i 0) i (loop (+ i 1))))\n;=> 1\n")]);
    let (code, out, err) = vlad(&folder, &["test", "--time-limit", "0", "long.vlad"], "");
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(out + &err);
}

#[test]
fn all_files_are_tested_whatever_happens_to_one() {
    let folder = folder(&[("bad.vlad", "1 ;=> 2"), ("wrong.vlad", "(+ 1"), ("good.vlad", GOOD)]);
    let (code, out, err) = vlad(&folder, &["test", "bad.vlad", "none.vlad", "wrong.vlad", "good.vlad"], "");
    assert_eq!(code, Some(2), "{err}");
    insta::assert_snapshot!(out);
    assert!(err.contains("cannot read `none.vlad`") && err.contains("never closed"), "{err}");
}

/// What the language of the original compiler has beside ours.
const ORIGINAL: &str = "\
(define (area x y) (* x y))
(define (pair-area p) (area p))
(pair-area 3 4) ===> 12
(area (cons 3 4)) ===> 12.000000000000001
(define (area x y) (+ x y))
(area 3 4) ===> 7
(pair-area 3 4) ===> 12
(area (read-real) (read-real)) ===> (with-inputs (1 2) 3)
(write (cons 1 2)) ===> (multiform (1 . 2) (1 . 2))
(multiform (define area 5) (define twice (* 2 area)) twice) ===> 10
(exact-string \"area\") ===> (or (error \"unbound\") 7)
(if-procedure (< 1 2) (lambda () #d10) (lambda () (car 0))) ===> 10
(bundle 1 (perturb 2)) ===> (forward 1 (perturbation 2))
((lambda ((reverse x)) x) (*j 3)) ===> 3
((lambda ((forward x)) x) (bundle 3 (perturb 1))) ===> 3
(zero (let* ((a 1) (f (lambda (x) (* a x)))) (lambda (x) (+ (f x) (f a))))) ===> (0 (0))
(sensitivity? (sensitize 1))
(= (area 1 1) 2)
";

#[test]
fn programs_for_the_original_say_what_their_expressions_give() {
    let folder = folder(&[("original.vlad", ORIGINAL)]);
    let (code, out, err) = vlad(&folder, &["test", "--dialect", "stalingrad", "original.vlad"], "");
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.starts_with("ok   original.vlad (15 promises)"), "{out}");
    assert_eq!(vlad(&folder, &["check", "original.vlad"], "").0, Some(1), "it is another language");
}

#[test]
fn programs_for_the_original_run() {
    let program = "(define (f x y) (* x y)) (f 3 4) ===> 12 (define (f x) x) (f 5) ===> 6\n((tower (read-real) f) 7)";
    // A tower of unknown height needs the evaluator, which the executable then carries.
    let tower = "(define (tower n f) (if (= n 0) f (tower (- n 1) (derivative-F f))))";
    let folder = folder(&[("original.vlad", &format!("{tower}\n{program}"))]);
    for command in ["eval", "run"] {
        let (code, out, err) = vlad(&folder, &[command, "--dialect", "stalingrad", "original.vlad"], "1\n");
        assert_eq!((code, out.as_str()), (Some(0), "12\n5\n1\n"), "{command}: {err}");
    }
    let (code, _, err) = vlad(&folder, &["build", "--dialect", "stalingrad", "original.vlad", "-o", "original"], "");
    assert_eq!(code, Some(0), "{err}");
    let outcome = run_command(Command::new(folder.path().join("original")), "0\n", TOOLS_LIMIT);
    assert_eq!(outcome.output, "12\n5\n7\n", "an executable knows its language");
}

#[test]
fn arrows_need_an_expression_and_a_value() {
    let folder = folder(&[
        ("behind.vlad", "(+ 1 2) ===>"),
        ("before.vlad", "1 ===> 1 ===> 3"),
        ("wrong.vlad", "(+ 1 2) ===> 4 (car 1)"),
    ]);
    for file in ["behind.vlad", "before.vlad"] {
        let (code, _, err) = vlad(&folder, &["check", "--dialect", "stalingrad", file], "");
        assert_eq!(code, Some(1));
        assert!(err.contains("`===>`") && err.contains("e ===> value"), "{err}");
    }
    let (code, out, err) = vlad(&folder, &["test", "--dialect", "stalingrad", "wrong.vlad"], "");
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(out + &err);
}
