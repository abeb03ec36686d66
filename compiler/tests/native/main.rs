//! Compiled code: SSA programs built by hand, run as executables.

mod boxes;
mod build;
mod calls;
mod lanes;
mod limits;
mod messages;
mod random;
mod vectors;

#[path = "../support/random_ssa.rs"]
mod random_ssa;

use build::{Builder, live_boxes, run, run_on_this_cpu, run_with, stdout, target};
use vlad::codegen::Options;
use vlad::ssa::arithmetic;
use vlad::ssa::ir::{Compare, Form, Item, Op, Real1, Real2, Stream, Terminator, Type};

#[test]
fn arithmetic_is_that_of_the_evaluator() {
    let mut b = Builder::default();
    let newline = b.text("\n");
    let inputs = [0.5, -2.5, 2.5, 1.5, 0.0, -0.0, 1e300, f64::INFINITY, f64::NAN, -1.0];
    let unary = [
        Real1::Neg,
        Real1::Sqrt,
        Real1::Exp,
        Real1::Log,
        Real1::Sin,
        Real1::Cos,
        Real1::Tan,
        Real1::Asin,
        Real1::Acos,
        Real1::Atan,
        Real1::Sinh,
        Real1::Cosh,
        Real1::Tanh,
        Real1::Log1p,
        Real1::Expm1,
        Real1::Erf,
        Real1::Erfc,
        Real1::Gamma,
        Real1::LogGamma,
        Real1::Abs,
        Real1::Floor,
        Real1::Ceiling,
        Real1::Round,
        Real1::Truncate,
    ];
    let binary = [Real2::Add, Real2::Sub, Real2::Mul, Real2::Div, Real2::Atan2, Real2::Pow];
    let compare = [
        (Compare::Eq, (|x, y| x == y) as fn(f64, f64) -> bool),
        (Compare::Ne, |x, y| x != y),
        (Compare::Lt, |x, y| x < y),
        (Compare::Le, |x, y| x <= y),
        (Compare::Gt, |x, y| x > y),
        (Compare::Ge, |x, y| x >= y),
    ];
    let mut expected = String::new();
    let mut show = |x: f64| {
        expected.push_str(vlad::core::number::format(x).as_str());
        expected.push('\n');
    };
    b.main(|code| {
        let constants: Vec<_> = inputs.iter().map(|x| code.real(*x)).collect();
        for (x, input) in constants.iter().zip(inputs) {
            for op in unary {
                let result = code.real1(op, *x);
                code.print(result, newline);
                show(arithmetic::real1(op, input));
            }
            for (y, other) in constants.iter().zip(inputs) {
                for op in binary {
                    let result = code.real2(op, *x, *y);
                    code.print(result, newline);
                    show(arithmetic::real2(op, input, other));
                }
                for (op, function) in compare {
                    let result = code.compare(op, *x, *y);
                    code.print_bool(result, newline);
                    show(f64::from(u8::from(function(input, other))));
                }
            }
        }
        code.ret(&[]);
    });
    let output = run(&b.program);
    assert_eq!(stdout(&output), expected);
    assert!(output.status.success());
    assert_eq!(stdout(&run_on_this_cpu(&b.program)), expected);
}

#[test]
fn a_loop_by_tail_calls_takes_no_stack() {
    let mut b = Builder::default();
    let newline = b.text("\n");
    let step = b.declare("step", &[Type::F64, Type::F64], &[Type::F64]);
    b.define(step, |code, params| {
        let (n, sum) = (params[0], params[1]);
        let zero = code.real(0.0);
        let one = code.real(1.0);
        let done = code.compare(Compare::Eq, n, zero);
        let (last, _) = code.new_block(&[]);
        let (more, _) = code.new_block(&[]);
        code.branch(done, (last, &[]), (more, &[]));
        code.go(last);
        code.ret(&[sum]);
        code.go(more);
        let n = code.real2(Real2::Sub, n, one);
        let sum = code.real2(Real2::Add, sum, one);
        code.end(Terminator::TailCall(step, vec![n, sum]));
    });
    b.main(|code| {
        let (n, zero) = (code.real(1e8), code.real(0.0));
        let sum = code.value(Op::Call(step), &[n, zero], Type::F64);
        code.print(sum, newline);
        code.ret(&[]);
    });
    let output = run(&b.program);
    assert_eq!(stdout(&output), "100000000\n");
}

#[test]
fn input_and_failure() {
    let mut b = Builder::default();
    let newline = b.text("\n");
    let nothing = b.text("nothing left\n\0wrong: \u{FFFC}!\n");
    let (wrong, right) = (b.text("wrong\n"), b.text("right\n"));
    b.main(|code| {
        let x = code.value(Op::Read(Item::Real, nothing), &[], Type::F64);
        let y = code.value(Op::Read(Item::Real, nothing), &[], Type::F64);
        let sum = code.real2(Real2::Add, x, y);
        code.print(sum, newline);
        let larger = code.compare(Compare::Gt, x, y);
        let (yes, no) = (code.int(i64::from(right.0)), code.int(i64::from(wrong.0)));
        let text = code.value(Op::Select, &[larger, yes, no], Type::Int);
        code.effect(Op::WriteTextOf(Stream::Out, Form::Plain), &[text]);
        code.effect(Op::WriteTextOf(Stream::Err, Form::Plain), &[text]);
        let z = code.value(Op::Read(Item::Real, nothing), &[], Type::F64);
        code.print(z, newline);
        code.end(Terminator::Fail(wrong, None));
    });
    let output = run_with(&b.program, " 1.5\n\t1/2", &[]);
    assert_eq!(stdout(&output), "2\nright\n");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("right\nnothing left\n"));
    assert_eq!(output.status.code(), Some(1));
    let output = run_with(&b.program, "1 x", &[]);
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .starts_with("wrong: line 1, column 3 of the input: `x` is not a number!\nmemory")
    );
    assert_eq!(output.status.code(), Some(1));
    let output = run_with(&b.program, "1 2 3 4", &[]);
    assert_eq!(stdout(&output), "3\nwrong\n3\n");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("wrong\nwrong\n"));
    assert_eq!(output.status.code(), Some(1));
}

/// Builds a list of `n` numbers in a loop, walks it adding them up, and frees it.
#[test]
fn a_long_list_is_built_walked_and_freed() {
    let mut b = Builder::default();
    let newline = b.text("\n");
    let list = b.sum(&[("nil", &[]), ("cons", &[Type::F64, Type::Ptr])]);
    b.main(|code| {
        let n = code.real(1e7);
        let zero = code.real(0.0);
        let one = code.real(1.0);
        let nil = code.value(Op::Immediate(list, 0), &[], Type::Ptr);
        let (build, params) = code.new_block(&[Type::F64, Type::Ptr]);
        let (more, _) = code.new_block(&[]);
        let (walk, walked) = code.new_block(&[Type::F64, Type::Ptr]);
        let (next, _) = code.new_block(&[]);
        let (done, _) = code.new_block(&[]);
        code.jump(build, &[n, nil]);
        code.go(build);
        let finished = code.compare(Compare::Eq, params[0], zero);
        code.branch(finished, (walk, &[zero, params[1]]), (more, &[]));
        code.go(more);
        let cell = code.value(Op::Box(list, 1), &[params[0], params[1]], Type::Ptr);
        let left = code.real2(Real2::Sub, params[0], one);
        code.jump(build, &[left, cell]);
        code.go(walk);
        let empty = code.value(Op::HasTag(list, 0), &[walked[1]], Type::Bool);
        code.branch(empty, (done, &[]), (next, &[]));
        code.go(next);
        let head = code.value(Op::Field(list, 1, 0), &[walked[1]], Type::F64);
        let tail = code.value(Op::Field(list, 1, 1), &[walked[1]], Type::Ptr);
        code.effect(Op::Retain, &[tail]);
        code.effect(Op::Release, &[walked[1]]);
        let sum = code.real2(Real2::Add, walked[0], head);
        code.jump(walk, &[sum, tail]);
        code.go(done);
        code.effect(Op::Release, &[walked[1]]);
        code.print(walked[0], newline);
        code.ret(&[]);
    });
    let output = run(&b.program);
    assert_eq!(stdout(&output), "50000005000000\n");
    assert_eq!(live_boxes(&output), 0);
}

#[test]
fn globals_keep_their_values_and_own_them() {
    let mut b = Builder::default();
    let newline = b.text("\n");
    let list = b.sum(&[("nil", &[]), ("cons", &[Type::F64, Type::Ptr])]);
    let (number, flag, pointer) = (b.slot(Type::F64), b.slot(Type::Bool), b.slot(Type::Ptr));
    let show = b.function("show", &[], &[], |code, _| {
        let x = code.value(Op::GlobalGet(number), &[], Type::F64);
        code.print(x, newline);
        let flag = code.value(Op::GlobalGet(flag), &[], Type::Bool);
        code.print_bool(flag, newline);
        let cell = code.value(Op::GlobalGet(pointer), &[], Type::Ptr);
        let head = code.value(Op::Field(list, 1, 0), &[cell], Type::F64);
        code.print(head, newline);
        code.ret(&[]);
    });
    b.main(|code| {
        let x = code.real(7.0);
        code.effect(Op::GlobalSet(number), &[x]);
        let yes = code.boolean(true);
        code.effect(Op::GlobalSet(flag), &[yes]);
        let nil = code.value(Op::Immediate(list, 0), &[], Type::Ptr);
        let cell = code.value(Op::Box(list, 1), &[x, nil], Type::Ptr);
        code.effect(Op::GlobalSet(pointer), &[cell]);
        code.effect(Op::Call(show), &[]);
        code.ret(&[]);
    });
    let output = run(&b.program);
    assert_eq!(stdout(&output), "7\n1\n7\n");
    assert_eq!(live_boxes(&output), 0);
}

/// A switch with many targets is a table, one with few is a chain of tests.
#[test]
fn switches_go_to_the_target_of_the_number() {
    let mut b = Builder::default();
    let newline = b.text("\n");
    for count in [1, 3, 9] {
        b.function(&format!("switch{count}"), &[Type::Int], &[Type::F64], |code, params| {
            let (last, results) = code.new_block(&[Type::F64]);
            let targets = (0..count).map(|index| {
                let value = code.real(f64::from(index) * 10.0);
                target(last, &[value])
            });
            let targets = targets.collect();
            code.end(Terminator::Switch(params[0], targets));
            code.go(last);
            code.ret(&[results[0]]);
        });
    }
    let functions: Vec<_> = b.program.functions.ids().collect();
    b.main(|code| {
        for (function, count) in functions.into_iter().zip([1, 3, 9]) {
            for index in 0..count {
                let number = code.int(index);
                let result = code.value(Op::Call(function), &[number], Type::F64);
                code.print(result, newline);
            }
        }
        code.ret(&[]);
    });
    let output = run(&b.program);
    let expected: Vec<i32> = (0..1).chain(0..3).chain(0..9).map(|n| n * 10).collect();
    let found: Vec<i32> = stdout(&output).lines().map(|line| line.parse().expect("a number")).collect();
    assert_eq!(found, expected);
}
/// Taking a list apart while it dies touches no run time: the box goes to its free list inline.
#[test]
fn walking_a_dying_list_needs_no_call() {
    let mut b = Builder::default();
    let list = b.sum(&[("nil", &[]), ("cons", &[Type::F64, Type::Ptr])]);
    let walk = b.declare("walk", &[Type::F64, Type::Ptr], &[Type::F64]);
    b.define(walk, |code, walked| {
        let (next, _) = code.new_block(&[]);
        let (done, _) = code.new_block(&[]);
        let empty = code.value(Op::HasTag(list, 0), &[walked[1]], Type::Bool);
        code.branch(empty, (done, &[]), (next, &[]));
        code.go(next);
        let head = code.value(Op::Field(list, 1, 0), &[walked[1]], Type::F64);
        let tail = code.value(Op::Field(list, 1, 1), &[walked[1]], Type::Ptr);
        code.effect(Op::Retain, &[tail]);
        code.effect(Op::Release, &[walked[1]]);
        let sum = code.real2(Real2::Add, walked[0], head);
        code.end(Terminator::TailCall(walk, vec![sum, tail]));
        code.go(done);
        code.ret(&[walked[0]]);
    });
    let listing = vlad::codegen::assembly(&b.program, &Options::default()).expect("the program compiles");
    let walk = listing.split("\n\n").find(|text| text.starts_with("walk.0:")).expect("every function is listed");
    // Once for each page it joins the queue.
    assert!(walk.matches(" call ").count() == 1 && walk.contains("vlad_queue_page.slow"), "{walk}");
    assert!(!listing.contains("vlad_free.slow") && !listing.contains("userextname"), "{listing}");
}

/// What changes a list that nobody else needs changes it in place: no box goes to a free list.
#[test]
fn a_new_box_takes_the_place_of_a_dead_one() {
    let mut b = Builder::default();
    let list = b.sum(&[("nil", &[]), ("cons", &[Type::F64, Type::Ptr])]);
    let double = b.declare("double", &[Type::Ptr], &[Type::Ptr]);
    b.define(double, |code, params| {
        let (next, _) = code.new_block(&[]);
        let (done, _) = code.new_block(&[]);
        let empty = code.value(Op::HasTag(list, 0), params, Type::Bool);
        code.branch(empty, (done, &[]), (next, &[]));
        code.go(next);
        let head = code.value(Op::Field(list, 1, 0), params, Type::F64);
        let tail = code.value(Op::Field(list, 1, 1), params, Type::Ptr);
        code.effect(Op::Retain, &[tail]);
        code.effect(Op::Release, params);
        let twice = code.real2(Real2::Add, head, head);
        let rest = code.value(Op::Call(double), &[tail], Type::Ptr);
        let cell = code.value(Op::Box(list, 1), &[twice, rest], Type::Ptr);
        code.ret(&[cell]);
        code.go(done);
        code.ret(&params[..1]);
    });
    let listing = vlad::codegen::assembly(&b.program, &Options::default()).expect("the program compiles");
    assert!(!listing.contains("vlad_queue_page") && !listing.contains("vlad_free.slow"), "{listing}");
}
