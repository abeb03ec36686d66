//! Random settings of the compiler: whatever they are, a program does the same.
//!
//! Written as words, `unroll=3 without=gvn`: limits of the analysis, and passes of the optimiser that do not run.

use super::rng::Rng;
use vlad::flow;
use vlad::pipeline::passes as opt;

/// Limits that change what is compiled, and not whether, with values that are small.
const LIMITS: [(&str, [u32; 3]); 4] = [
    ("unroll", [0, 2, 5]),
    ("nesting", [16, 20, 40]),
    ("number-variants", [0, 1, 4]),
    ("function-variants", [16, 24, 100]),
];

/// Settings for a program: mostly the usual ones, which are no words.
pub fn random(rng: &mut Rng) -> String {
    let mut words = Vec::new();
    if rng.percent(25) {
        for (name, values) in LIMITS {
            if rng.percent(40) {
                words.push(format!("{name}={}", rng.choose(&values)));
            }
        }
    }
    if rng.percent(15) {
        // Who owns which box must be known in the end.
        let passes: Vec<&str> = opt::PASSES.iter().map(|pass| pass.name).filter(|name| *name != "memory").collect();
        words.push(format!("without={}", rng.choose(&passes)));
    }
    words.join(" ")
}

/// What the words mean.
///
/// # Errors
///
/// When they mean nothing.
pub fn read(words: &str) -> Result<(flow::Options, opt::Settings), String> {
    let mut limits = flow::Options::default();
    let mut passes = opt::Settings { verify: true, ..opt::Settings::default() };
    for word in words.split_whitespace() {
        match word.split_once('=') {
            Some(("without", pass)) => passes.disabled.push(pass.to_string()),
            Some((name, value)) => limits.set(name, value.parse().map_err(|_| format!("no number: {word}"))?)?,
            None => return Err(format!("no setting: {word}")),
        }
    }
    Ok((limits, passes))
}
