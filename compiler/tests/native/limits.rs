//! Deep recursion, long chains, and what happens when stack or memory is exhausted.

use crate::build::{Builder, live_boxes, run, run_with, stdout};
use vlad::ssa::ir::{Compare, FuncId, Op, Program, Real2, SumId, Terminator, TextId, Type};

/// `(f n) = (if (= n 0) 0 (+ 1 (f (- n 1))))`, not a tail call.
fn recursion(depth: f64) -> Program {
    let mut b = Builder::default();
    let newline = b.text("\n");
    let f = b.declare("f", &[Type::F64], &[Type::F64]);
    b.define(f, |code, params| {
        let (zero, one) = (code.real(0.0), code.real(1.0));
        let done = code.compare(Compare::Eq, params[0], zero);
        let (last, _) = code.new_block(&[]);
        let (more, _) = code.new_block(&[]);
        code.branch(done, (last, &[]), (more, &[]));
        code.go(last);
        code.ret(&[zero]);
        code.go(more);
        let n = code.real2(Real2::Sub, params[0], one);
        let inner = code.value(Op::Call(f), &[n], Type::F64);
        let sum = code.real2(Real2::Add, inner, one);
        code.ret(&[sum]);
    });
    b.main(|code| {
        let one = code.real(1.0);
        code.print(one, newline);
        let n = code.real(depth);
        let result = code.value(Op::Call(f), &[n], Type::F64);
        code.print(result, newline);
        code.ret(&[]);
    });
    b.program
}

/// `(loop n rest)`: conses `n` numbers, as a function that calls itself last.
fn list_builder(b: &mut Builder) -> (SumId, FuncId, TextId) {
    let newline = b.text("\n");
    let list = b.sum(&[("nil", &[]), ("cons", &[Type::F64, Type::Ptr])]);
    let f = b.declare("build", &[Type::F64, Type::Ptr], &[Type::Ptr]);
    b.define(f, |code, params| {
        let (zero, one) = (code.real(0.0), code.real(1.0));
        let done = code.compare(Compare::Eq, params[0], zero);
        let (last, _) = code.new_block(&[]);
        let (more, _) = code.new_block(&[]);
        code.branch(done, (last, &[]), (more, &[]));
        code.go(last);
        code.ret(&[params[1]]);
        code.go(more);
        let cell = code.value(Op::Box(list, 1), &[params[0], params[1]], Type::Ptr);
        let n = code.real2(Real2::Sub, params[0], one);
        code.end(Terminator::TailCall(f, vec![n, cell]));
    });
    (list, f, newline)
}

fn chain(length: f64) -> Program {
    let mut b = Builder::default();
    let (list, build, newline) = list_builder(&mut b);
    b.main(|code| {
        let n = code.real(length);
        let nil = code.value(Op::Immediate(list, 0), &[], Type::Ptr);
        let chain = code.value(Op::Call(build), &[n, nil], Type::Ptr);
        let head = code.value(Op::Field(list, 1, 0), &[chain], Type::F64);
        code.print(head, newline);
        code.effect(Op::Release, &[chain]);
        code.ret(&[]);
    });
    b.program
}

#[test]
fn recursion_may_be_ten_million_calls_deep() {
    let output = run(&recursion(1e7));
    assert_eq!(stdout(&output), "1\n10000000\n");
    assert!(output.status.success());
}

#[test]
fn endless_recursion_is_reported() {
    let output = run_with(&recursion(-1.0), "", &[("VLAD_MAX_MEMORY", "300M")]);
    assert_eq!(stdout(&output), "1\n");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("out of memory: recursion too deep"), "{message}");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_chain_of_ten_million_boxes_is_freed_at_once() {
    let output = run(&chain(1e7));
    assert_eq!(stdout(&output), "1\n");
    assert_eq!(live_boxes(&output), 0);
}

#[test]
fn endless_data_are_reported() {
    let output = run_with(&chain(-1.0), "", &[("VLAD_MAX_MEMORY", "100m")]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("out of memory: too much data"), "{message}");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_limit_that_suffices_does_no_harm() {
    let output = run_with(&chain(1e6), "", &[("VLAD_MAX_MEMORY", "30M")]);
    assert_eq!(stdout(&output), "1\n");
    assert_eq!(live_boxes(&output), 0);
}

#[test]
fn code_that_is_never_reached_says_so_when_it_is() {
    let mut b = Builder::default();
    b.main(|code| code.end(Terminator::Unreachable));
    let object = vlad::codegen::object(&b.program, &vlad::codegen::Options::default()).expect("the program compiles");
    let folder = tempfile::tempdir().expect("temporary folders can be made");
    let path = folder.path().join("program");
    vlad::codegen::link::executable(&object, &path).expect("the program links");
    let output = std::process::Command::new(&path).output().expect("it runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("please report"));
    assert_eq!(output.status.code(), Some(1));
}
