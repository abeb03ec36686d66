//! Calls with many parameters and results, and tail calls between functions of different shapes.

use crate::build::{Builder, run, stdout};
use vlad::ssa::ir::{Compare, Op, Real2, Terminator, Type, Value};

/// Alternating types, so that both kinds of registers run out.
fn mixed(count: usize) -> Vec<Type> {
    (0..count).map(|index| if index % 3 == 2 { Type::Int } else { Type::F64 }).collect()
}

#[test]
fn forty_parameters_and_forty_results() {
    let mut b = Builder::default();
    let newline = b.text("\n");
    let types = mixed(40);
    let reversed: Vec<Type> = types.iter().rev().copied().collect();
    let swap = b.function("swap", &types, &reversed, |code, params| {
        let results: Vec<Value> = params.iter().rev().copied().collect();
        code.ret(&results);
    });
    let through = b.function("through", &types, &reversed, |code, params| {
        code.end(Terminator::TailCall(swap, params.to_vec()));
    });
    b.main(|code| {
        let args: Vec<Value> = (0..types.len())
            .map(|index| if types[index] == Type::Int { code.int(index as i64) } else { code.real(index as f64) })
            .collect();
        let results = code.inst(Op::Call(through), &args, &reversed);
        for (index, (result, ty)) in results.into_iter().zip(&reversed).enumerate() {
            let expected = (types.len() - 1 - index) as i64;
            match ty {
                Type::Int => {
                    let same = code.value(Op::IntIs(expected), &[result], Type::Bool);
                    code.print_bool(same, newline);
                }
                _ => code.print(result, newline),
            }
        }
        code.ret(&[]);
    });
    let expected: String =
        (0..40).rev().map(|index| if index % 3 == 2 { "1\n".to_string() } else { format!("{index}\n") }).collect();
    assert_eq!(stdout(&run(&b.program)), expected);
}

/// `even` and `odd` call each other last, with different numbers of parameters (some of them on the stack) and results
/// that travel through memory.
#[test]
fn mutual_tail_calls_of_different_shapes() {
    let mut b = Builder::default();
    let newline = b.text("\n");
    let results = vec![Type::F64; 11];
    let even = b.declare("even", &[Type::F64], &results);
    let odd = b.declare("odd", &[Type::F64; 20], &results);
    b.define(even, |code, params| {
        let (zero, one) = (code.real(0.0), code.real(1.0));
        let done = code.compare(Compare::Le, params[0], zero);
        let (last, _) = code.new_block(&[]);
        let (more, _) = code.new_block(&[]);
        code.branch(done, (last, &[]), (more, &[]));
        code.go(last);
        code.ret(&[params[0]; 11]);
        code.go(more);
        let n = code.real2(Real2::Sub, params[0], one);
        code.end(Terminator::TailCall(odd, vec![n; 20]));
    });
    b.define(odd, |code, params| {
        let one = code.real(1.0);
        let n = code.real2(Real2::Sub, params[19], one);
        code.end(Terminator::TailCall(even, vec![n]));
    });
    b.main(|code| {
        let n = code.real(1e6 + 1.0);
        let found = code.inst(Op::Call(even), &[n], &results);
        code.print(found[0], newline);
        code.print(found[10], newline);
        code.ret(&[]);
    });
    assert_eq!(stdout(&run(&b.program)), "-1\n-1\n");
}

#[test]
fn truth_values_travel_everywhere() {
    let mut b = Builder::default();
    let newline = b.text("\n");
    let types = [Type::Bool; 12];
    let all = b.function("all", &types, &types, |code, params| {
        let results: Vec<Value> = params.iter().map(|param| code.value(Op::Not, &[*param], Type::Bool)).collect();
        code.ret(&results);
    });
    b.main(|code| {
        let args: Vec<Value> = (0..12).map(|index| code.boolean(index % 2 == 0)).collect();
        let results = code.inst(Op::Call(all), &args, &types);
        for pair in results.chunks(2) {
            for op in [Op::And, Op::Or] {
                let value = code.value(op, pair, Type::Bool);
                code.print_bool(value, newline);
            }
        }
        code.ret(&[]);
    });
    assert_eq!(stdout(&run(&b.program)), "0\n1\n".repeat(6));
}

#[test]
fn a_function_of_ten_thousand_values_is_refused() {
    let mut b = Builder::default();
    let types = vec![Type::F64; 10_000];
    b.function("wide", &types, &[], |code, _| code.ret(&[]));
    let result = vlad::codegen::object(&b.program, &vlad::codegen::Options::default());
    assert!(matches!(result, Err(vlad::codegen::Error::TooLarge { .. })));
}
