//! Operations on two lanes compute what those on single numbers do, to the last bit.

use crate::build::{Builder, run, run_on_this_cpu, stdout};
use vlad::ssa::arithmetic;
use vlad::ssa::ir::{Compare, Lanewise, Op, Real1, Real2, Type};

const NUMBERS: [f64; 8] = [0.5, -2.5, 0.0, -0.0, 1e300, f64::INFINITY, f64::NAN, 3.0];

/// Applies `op` to each pair of numbers and each number beside it, and compares what is written.
fn check(op: Lanewise, operands: usize, expected: impl Fn(&[f64]) -> f64) {
    let mut b = Builder::default();
    let newline = b.text("\n");
    let mut lines = String::new();
    b.main(|code| {
        for x in NUMBERS {
            for y in NUMBERS {
                let [first, second] = [x, y].map(|x| code.real(x));
                let forwards = code.value(Op::Pair, &[first, second], Type::F64x2);
                let backwards = code.value(Op::Pair, &[second, first], Type::F64x2);
                let args = &[forwards, backwards][..operands];
                let result = match op {
                    Lanewise::Compare(_) | Lanewise::RealIs(_) => {
                        let truth = code.value(Op::Lanes(op), args, Type::Boolx2);
                        let no = code.value(Op::Lanes(Lanewise::Not), &[truth], Type::Boolx2);
                        let never = code.value(Op::Lanes(Lanewise::And), &[truth, no], Type::Boolx2);
                        let truth = code.value(Op::Lanes(Lanewise::Or), &[truth, never], Type::Boolx2);
                        let [one, zero] = [1.0, 0.0].map(|x| code.real(x));
                        let [one, zero] = [one, zero].map(|x| code.value(Op::Splat, &[x], Type::F64x2));
                        code.value(Op::Lanes(Lanewise::Select), &[truth, one, zero], Type::F64x2)
                    }
                    _ => code.value(Op::Lanes(op), args, Type::F64x2),
                };
                for (second, given) in [(false, [x, y]), (true, [y, x])] {
                    let lane = code.value(Op::Lane(second), &[result], Type::F64);
                    code.print(lane, newline);
                    lines.push_str(vlad::core::number::format(expected(&given[..operands])).as_str());
                    lines.push('\n');
                }
            }
        }
        code.ret(&[]);
    });
    assert_eq!(stdout(&run(&b.program)), lines, "{op}");
    assert_eq!(stdout(&run_on_this_cpu(&b.program)), lines, "{op}");
}

#[test]
fn arithmetic_in_lanes_is_that_of_numbers() {
    for op in [Real1::Neg, Real1::Sqrt, Real1::Abs, Real1::Floor, Real1::Exp] {
        check(Lanewise::Real1(op), 1, |x| arithmetic::real1(op, x[0]));
    }
    for op in [Real2::Add, Real2::Sub, Real2::Mul, Real2::Div, Real2::Atan2] {
        check(Lanewise::Real2(op), 2, |x| arithmetic::real2(op, x[0], x[1]));
    }
}

#[test]
fn tests_in_lanes_are_those_of_numbers() {
    let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
    for op in [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge] {
        check(Lanewise::Compare(op), 2, |x| truth(arithmetic::compare(op, x[0], x[1])));
    }
    for number in [0.0, -0.0, f64::NAN] {
        check(Lanewise::RealIs(number.to_bits()), 1, |x| truth(x[0].to_bits() == number.to_bits()));
    }
}
