//! `vlad test`: what is reported of promises that are kept and of promises that are broken.

use crate::{folder, vlad};

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
