//! Derivatives against finite differences, and against each other.
//!
//! A checked program prints a line `(31337 d d' f0 a1 b1 a2 b2 a3 b3)`: the derivative at a point in both modes, the
//! value there, and the values at three shrinking distances to both sides of it. Derivatives in different modes must be
//! equal. Where the function is smooth enough for the differences to converge, they must be what the differences
//! converge to. Where it has a kink or a jump they do not, and nothing is compared with them. A line `(31338 ...)` has
//! the derivatives of the derivative in all four mixes of modes, and values of the derivative. A line `(31340 ...)` has
//! derivatives of any order, and values of the derivative of the order below.

use super::library::{self, ORDER_MARK};
use super::mistakes::{CHECK_MARK, SECOND_MARK};

const STEPS: [f64; 3] = [1.0 / 1024.0, 1.0 / 2048.0, 1.0 / 4096.0];

/// What the checks in a program's output say: something wrong, or a word about what was checked.
pub fn check(output: &str) -> Result<Option<&'static str>, String> {
    for (mark, count) in [(CHECK_MARK, 2), (SECOND_MARK, 4), (ORDER_MARK, library::SAME)] {
        let Some(line) = output.lines().find_map(|line| line.strip_prefix(mark)) else {
            continue;
        };
        let words: Vec<&str> = line.trim_end_matches(')').split(' ').collect();
        let numbers: Vec<f64> = words.iter().filter_map(|word| word.parse().ok()).collect();
        // Values that are not numbers are written with parentheses, infinite ones as `+inf.0`.
        if numbers.len() != words.len() || numbers.len() != count + 1 + 2 * STEPS.len() {
            return Ok(Some("not-finite"));
        }
        let (derivatives, values) = numbers.split_at(count);
        return check_numbers(derivatives, values[0], &values[1..]).map(Some);
    }
    Ok(None)
}

fn check_numbers(derivatives: &[f64], middle: f64, values: &[f64]) -> Result<&'static str, String> {
    let pairs: Vec<(f64, f64)> = values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let scale = values.iter().fold(1.0, |scale: f64, value| scale.max(value.abs()));
    let largest = derivatives.iter().fold(scale, |largest, derivative| largest.max(derivative.abs()));
    let first = derivatives[0];
    if derivatives.iter().any(|other| (other - first).abs() > 1e-7 * largest) {
        return Err(format!("; derivatives in different modes {derivatives:?}"));
    }
    // What rounding can make of a difference at the smallest distance.
    let noise = 1e-15 * scale * 64.0 / STEPS[2];
    let central = |i: usize| (pairs[i].1 - pairs[i].0) / (2.0 * STEPS[i]);
    // How much the slopes to both sides differ: in a smooth place half as much at half the distance.
    let bend = |i: usize| ((pairs[i].1 - middle) - (middle - pairs[i].0)).abs() / STEPS[i];
    let smooth = bend(1) <= 0.6 * bend(0) + noise && bend(2) <= 0.6 * bend(1) + noise;
    let (change, last) = ((central(0) - central(1)).abs(), (central(1) - central(2)).abs());
    let converges = last <= 0.4 * change + noise && last <= 0.01 * (1.0 + central(2).abs());
    if !smooth || !converges {
        return Ok("rough");
    }
    if derivatives.iter().all(|derivative| (derivative - central(2)).abs() <= 4.0 * last + 16.0 * noise) {
        return Ok(match (central(2) == 0.0, derivatives.len()) {
            (true, _) => "derivative-zero",
            (false, 2) => "derivative-checked",
            (false, 4) => "second-derivative-checked",
            _ => "orders-checked",
        });
    }
    Err(format!("; derivatives {derivatives:?}, differences {} {} {}", central(0), central(1), central(2)))
}
