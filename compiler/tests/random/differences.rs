//! Derivatives against finite differences.
//!
//! A checked program prints a line `(31337 d f0 a1 b1 a2 b2 a3 b3)`: the derivative at a point, the value there, and the
//! values at three shrinking distances to both sides of it. Where the function is smooth enough for the differences to
//! converge, the derivative must be what they converge to. Where it has a kink or a jump they do not, and nothing is
//! checked.

use super::mistakes::CHECK_MARK;

const STEPS: [f64; 3] = [1.0 / 1024.0, 1.0 / 2048.0, 1.0 / 4096.0];

/// What the checks in a program's output say: something wrong, or a word about what was checked.
pub fn check(output: &str) -> Result<Option<&'static str>, String> {
    let Some(line) = output.lines().find(|line| line.starts_with(CHECK_MARK)) else {
        return Ok(None);
    };
    let numbers: Vec<f64> = line.trim_matches(['(', ')']).split(' ').filter_map(|word| word.parse().ok()).collect();
    let [_, derivative, middle, values @ ..] = numbers.as_slice() else {
        return Ok(None);
    };
    let pairs: Vec<(f64, f64)> = values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    if pairs.len() != STEPS.len() || numbers.iter().any(|number| !number.is_finite()) {
        return Ok(None);
    }
    let scale = values.iter().fold(1.0, |scale: f64, value| scale.max(value.abs()));
    // What rounding can make of a difference at the smallest distance.
    let noise = 1e-15 * scale * 64.0 / STEPS[2];
    let central = |i: usize| (pairs[i].1 - pairs[i].0) / (2.0 * STEPS[i]);
    // How much the slopes to both sides differ: in a smooth place half as much at half the distance.
    let bend = |i: usize| ((pairs[i].1 - middle) - (middle - pairs[i].0)).abs() / STEPS[i];
    let smooth = bend(1) <= 0.6 * bend(0) + noise && bend(2) <= 0.6 * bend(1) + noise;
    let (first, second) = ((central(0) - central(1)).abs(), (central(1) - central(2)).abs());
    let converges = second <= 0.4 * first + noise && second <= 0.01 * (1.0 + central(2).abs());
    if !smooth || !converges {
        return Ok(Some("rough"));
    }
    if (derivative - central(2)).abs() <= 4.0 * second + 16.0 * noise {
        Ok(Some(if central(2) == 0.0 { "derivative-zero" } else { "derivative-checked" }))
    } else {
        Err(format!("; derivative {derivative}, differences {} {} {}", central(0), central(1), central(2)))
    }
}
