//! Boxes: layouts, tags, reference counts.

use crate::build::{Builder, Code, live_boxes, run, stdout};
use vlad::ssa::ir::{Compare, Op, Real1, Real2, SumId, TextId, Type, Value};

fn print_int(code: &mut Code, value: Value, count: i64, newline: TextId) {
    for number in 0..count {
        let same = code.value(Op::IntIs(number), &[value], Type::Bool);
        code.print_bool(same, newline);
    }
}

/// Every mixture of immediates and boxes finds its tags in another way.
#[test]
fn tags_are_told_apart() {
    let one: &[Type] = &[Type::F64];
    let none: &[Type] = &[];
    let mixtures: [&[&[Type]]; 7] = [
        &[none],
        &[one],
        &[none, none, none],
        &[one, one, one],
        &[none, one],
        &[one, none, none],
        &[none, one, none, one, one],
    ];
    let mut b = Builder::default();
    let newline = b.text("\n");
    let mut expected = String::new();
    let mut functions = Vec::new();
    for fields in mixtures {
        let alternatives: Vec<(&str, &[Type])> = fields.iter().map(|fields| ("a", *fields)).collect();
        let sum = b.sum(&alternatives);
        let count = fields.len();
        let show = b.function("show", &[Type::Ptr], &[], |code, params| {
            let tag = code.value(Op::Tag(sum), &[params[0]], Type::Int);
            print_int(code, tag, count as i64, newline);
            for tag in 0..count {
                let has = code.value(Op::HasTag(sum, tag as u32), &[params[0]], Type::Bool);
                code.print_bool(has, newline);
            }
            code.effect(Op::Release, &[params[0]]);
            code.ret(&[]);
        });
        for (tag, fields) in fields.iter().enumerate() {
            functions.push((show, sum, tag as u32, fields.is_empty()));
            for _ in 0..2 {
                (0..count).for_each(|other| expected.push_str(if other == tag { "1\n" } else { "0\n" }));
            }
        }
    }
    b.main(|code| {
        for (show, sum, tag, immediate) in functions {
            let value = if immediate {
                code.value(Op::Immediate(sum, tag), &[], Type::Ptr)
            } else {
                let field = code.real(1.0);
                let field = code.real1(Real1::Sqrt, field);
                code.value(Op::Box(sum, tag), &[field], Type::Ptr)
            };
            code.effect(Op::Call(show), &[value]);
        }
        code.ret(&[]);
    });
    let output = run(&b.program);
    assert_eq!(stdout(&output), expected);
    assert_eq!(live_boxes(&output), 0);
}

/// A box that is made when the program runs.
fn leaf(code: &mut Code, sum: SumId, x: f64) -> Value {
    let x = code.real(-x);
    let x = code.real1(Real1::Neg, x);
    code.value(Op::Box(sum, 0), &[x], Type::Ptr)
}

/// A box that is made when the program is compiled.
fn constant_leaf(code: &mut Code, sum: SumId, x: f64) -> Value {
    let x = code.real(x);
    code.value(Op::Box(sum, 0), &[x], Type::Ptr)
}

#[test]
fn wide_boxes_own_their_fields() {
    wide_boxes(leaf);
}

#[test]
fn constant_boxes_may_be_wide() {
    wide_boxes(constant_leaf);
}

/// A list of constants is built in a loop, a part of it is shared, another is what a function takes apart and frees.
#[test]
fn constant_boxes_are_shared_and_taken_apart_like_others() {
    let mut b = Builder::default();
    let newline = b.text("\n");
    let list = b.sum(&[("nil", &[]), ("pair", &[Type::F64, Type::Ptr])]);
    let total = b.declare("total", &[Type::Ptr, Type::F64], &[Type::F64]);
    b.define(total, |code, params| {
        let is_pair = code.value(Op::HasTag(list, 1), &[params[0]], Type::Bool);
        let (pair, _) = code.new_block(&[]);
        let (nil, _) = code.new_block(&[]);
        code.branch(is_pair, (pair, &[]), (nil, &[]));
        code.go(nil);
        code.ret(&[params[1]]);
        code.go(pair);
        let head = code.value(Op::Field(list, 1, 0), &[params[0]], Type::F64);
        let tail = code.value(Op::Field(list, 1, 1), &[params[0]], Type::Ptr);
        code.effect(Op::Retain, &[tail]);
        code.effect(Op::Release, &[params[0]]);
        let sum = code.real2(Real2::Add, params[1], head);
        let rest = code.value(Op::Call(total), &[tail, sum], Type::F64);
        code.ret(&[rest]);
    });
    b.main(|code| {
        let start = code.real(1000.0);
        let (round, params) = code.new_block(&[Type::F64]);
        code.jump(round, &[start]);
        code.go(round);
        let nil = code.value(Op::Immediate(list, 0), &[], Type::Ptr);
        let (one, two, zero) = (code.real(1.0), code.real(2.0), code.real(0.0));
        let inner = code.value(Op::Box(list, 1), &[one, nil], Type::Ptr);
        let shared = code.value(Op::Box(list, 1), &[two, inner], Type::Ptr);
        code.effect(Op::Retain, &[shared]);
        let outer = code.value(Op::Box(list, 1), &[two, shared], Type::Ptr);
        let with_number = code.value(Op::Box(list, 1), &[params[0], outer], Type::Ptr);
        let all = code.value(Op::Call(total), &[with_number, zero], Type::F64);
        let part = code.value(Op::Call(total), &[shared, all], Type::F64);
        let next = code.real2(Real2::Sub, params[0], one);
        let (done, _) = code.new_block(&[]);
        let end = code.compare(Compare::Eq, next, zero);
        code.branch(end, (done, &[]), (round, &[next]));
        code.go(done);
        code.print(part, newline);
        code.ret(&[]);
    });
    let output = run(&b.program);
    assert_eq!(stdout(&output), "9\n");
    assert_eq!(live_boxes(&output), 0);
}

/// A box with 700 fields of all types, 300 of them pointers, among them immediates and a pointer that is shared.
fn wide_boxes(leaf: fn(&mut Code, SumId, f64) -> Value) {
    let mut b = Builder::default();
    let newline = b.text("\n");
    let small = b.sum(&[("leaf", &[Type::F64]), ("none", &[])]);
    let types: Vec<Type> = (0..700)
        .map(|index| match index % 7 {
            0 | 2 | 4 => Type::Ptr,
            1 => Type::Bool,
            3 => Type::Int,
            _ => Type::F64,
        })
        .collect();
    let wide = b.sum(&[("wide", &types)]);
    b.main(|code| {
        let shared = leaf(code, small, -1.0);
        let fields: Vec<Value> = types
            .iter()
            .enumerate()
            .map(|(index, ty)| match ty {
                Type::Ptr if index % 7 == 0 => {
                    code.effect(Op::Retain, &[shared]);
                    shared
                }
                Type::Ptr if index % 7 == 2 => code.value(Op::Immediate(small, 1), &[], Type::Ptr),
                Type::Ptr => leaf(code, small, index as f64),
                Type::F64x2 | Type::Boolx2 => panic!("no field holds lanes"),
                Type::Bool => code.boolean(index % 2 == 0),
                Type::Int => code.int(index as i64),
                Type::F64 => code.real(index as f64),
            })
            .collect();
        let wide_box = code.value(Op::Box(wide, 0), &fields, Type::Ptr);
        for index in [5, 698, 6] {
            let field = code.value(Op::Field(wide, 0, index), &[wide_box], types[index as usize]);
            let number = match types[index as usize] {
                Type::Ptr => code.value(Op::Field(small, 0, 0), &[field], Type::F64),
                Type::F64x2 | Type::Boolx2 => panic!("no field holds lanes"),
                _ => field,
            };
            code.print(number, newline);
        }
        let flag = code.value(Op::Field(wide, 0, 8), &[wide_box], Type::Bool);
        code.print_bool(flag, newline);
        let number = code.value(Op::Field(wide, 0, 3), &[wide_box], Type::Int);
        let same = code.value(Op::IntIs(3), &[number], Type::Bool);
        code.print_bool(same, newline);
        code.effect(Op::Release, &[wide_box]);
        let still = code.value(Op::Field(small, 0, 0), &[shared], Type::F64);
        code.print(still, newline);
        code.effect(Op::Release, &[shared]);
        code.ret(&[]);
    });
    let output = run(&b.program);
    assert_eq!(stdout(&output), "5\n698\n6\n1\n1\n-1\n");
    assert_eq!(live_boxes(&output), 0);
}

/// A pair is taken apart while somebody else still owns it, and again when nobody does.
#[test]
fn shared_boxes_keep_their_fields() {
    let mut b = Builder::default();
    let newline = b.text("\n");
    let sum = b.sum(&[("leaf", &[Type::F64]), ("pair", &[Type::Ptr, Type::F64, Type::Ptr])]);
    let take = b.function("take", &[Type::Ptr], &[Type::F64], |code, params| {
        let left = code.value(Op::Field(sum, 1, 0), params, Type::Ptr);
        code.effect(Op::Retain, &[left]);
        code.effect(Op::Release, params);
        let number = code.value(Op::Field(sum, 0, 0), &[left], Type::F64);
        code.effect(Op::Release, &[left]);
        code.ret(&[number]);
    });
    b.main(|code| {
        let (left, right) = (leaf(code, sum, 3.0), leaf(code, sum, 4.0));
        let x = code.real(5.0);
        let pair = code.value(Op::Box(sum, 1), &[left, x, right], Type::Ptr);
        code.effect(Op::Retain, &[pair]);
        for _ in 0..2 {
            let number = code.value(Op::Call(take), &[pair], Type::F64);
            code.print(number, newline);
        }
        code.ret(&[]);
    });
    let output = run(&b.program);
    assert_eq!(stdout(&output), "3\n3\n");
    assert_eq!(live_boxes(&output), 0);
}

/// Both parts of a pair change their owner; the order of the counting operations does not matter.
#[test]
fn several_fields_are_moved_at_once() {
    let mut b = Builder::default();
    let newline = b.text("\n");
    let sum = b.sum(&[("leaf", &[Type::F64]), ("pair", &[Type::Ptr, Type::Ptr, Type::Ptr])]);
    b.main(|code| {
        let parts = [leaf(code, sum, 1.0), leaf(code, sum, 2.0), leaf(code, sum, 3.0)];
        let pair = code.value(Op::Box(sum, 1), &parts, Type::Ptr);
        let other = leaf(code, sum, 9.0);
        let left = code.value(Op::Field(sum, 1, 0), &[pair], Type::Ptr);
        code.effect(Op::Retain, &[left]);
        let right = code.value(Op::Field(sum, 1, 2), &[pair], Type::Ptr);
        code.effect(Op::Retain, &[right]);
        code.effect(Op::Retain, &[right]);
        code.effect(Op::Release, &[other]);
        code.effect(Op::Release, &[pair]);
        for part in [left, right] {
            let number = code.value(Op::Field(sum, 0, 0), &[part], Type::F64);
            code.print(number, newline);
        }
        for part in [left, right, right] {
            code.effect(Op::Release, &[part]);
        }
        code.ret(&[]);
    });
    let output = run(&b.program);
    assert_eq!(stdout(&output), "1\n3\n");
    assert_eq!(live_boxes(&output), 0);
}

/// A retained field that dies before its owner must not be taken for moved.
#[test]
fn a_field_that_is_released_first_stays_counted() {
    let mut b = Builder::default();
    let newline = b.text("\n");
    let sum = b.sum(&[("leaf", &[Type::F64]), ("pair", &[Type::Ptr])]);
    b.main(|code| {
        let part = leaf(code, sum, 1.0);
        let pair = code.value(Op::Box(sum, 1), &[part], Type::Ptr);
        let field = code.value(Op::Field(sum, 1, 0), &[pair], Type::Ptr);
        code.effect(Op::Retain, &[field]);
        let number = code.value(Op::Field(sum, 0, 0), &[field], Type::F64);
        code.effect(Op::Release, &[field]);
        code.effect(Op::Release, &[pair]);
        code.print(number, newline);
        code.ret(&[]);
    });
    let output = run(&b.program);
    assert_eq!(stdout(&output), "1\n");
    assert_eq!(live_boxes(&output), 0);
}
