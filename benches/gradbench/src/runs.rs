//! How often to call a function, and what a call takes.
//!
//! Calls that are short beside the exchange with the program are measured in batches; a timing is the mean of a batch.

use crate::Result;
use crate::session::Session;
use serde_json::Value;
use std::time::Duration;

/// Batches take about as long as this, at least.
const BATCH: Duration = Duration::from_millis(2);

/// How often at least, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// Timings.
    pub runs: u64,
    /// The time of all calls together.
    pub time: Duration,
}

impl Runs {
    /// What an input asks for: once where it does not.
    pub fn of(input: &Value) -> Runs {
        let runs = input.get("min_runs").and_then(Value::as_f64).map_or(1, |runs| runs.max(1.0) as u64);
        let seconds = input.get("min_seconds").and_then(Value::as_f64).unwrap_or(0.0);
        Runs { runs, time: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO) }
    }

    /// Calls the function of a session so often: what a call takes, in nanoseconds.
    pub fn measure(self, session: &mut Session) -> Result<Vec<f64>> {
        let (mut rounds, mut total, mut timings) = (1, Duration::ZERO, Vec::new());
        while (timings.len() as u64) < self.runs || total < self.time {
            let time = session.time(rounds)?;
            if time < BATCH {
                // Not a timing, but a hint.
                rounds *= (BATCH.as_nanos() / time.as_nanos().max(1) + 1).clamp(2, 1000) as u64;
                continue;
            }
            total += time;
            timings.push(time.as_nanos() as f64 / rounds as f64);
        }
        Ok(timings)
    }
}

/// The middle one of some numbers.
pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
