//! Measures what derivatives of long loops take in time and memory: by a tape of all steps, and without one.
//!
//! benches/checkpoint/*.vlad → one table, a row for each program and number of steps: processor time, and the memory
//! that boxes took at most, first with the tape (as reverse mode does it), then as the library's operators do it
//! (`checkpointed-iterate`, `fixed-point`). Both derivatives must agree.
//!
//! Usage: `cargo bench -p vlad --bench checkpoint [-- --runs N]`

mod common;

use common::{Result, boxes, median, run, succeed, vlad_command};
use std::path::Path;
use std::time::Duration;

const PROGRAMS: &[&str] = &["loop", "fixed-point"];

/// The derivatives may differ by so much, relatively: an implicit one is that of the exact fixed point.
const TOLERANCE: f64 = 1e-8;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--runs").skip(1);
    let runs: usize = arguments.next().map_or(Ok(5), |number| number.parse())?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/checkpoint");
    let scratch = tempfile::tempdir()?;
    println!("medians of {runs} runs; processor time in milliseconds, peak memory of boxes in kilobytes");
    println!(
        "{:<12} {:>8} {:>9} {:>9} {:>6} {:>10} {:>10} {:>8}",
        "program", "steps", "tape ms", "without", "ratio", "tape kB", "without", "ratio"
    );
    for program in PROGRAMS {
        let executable = scratch.path().join(program);
        succeed(vlad_command(&folder.join(program).with_extension("vlad"), &executable))?;
        for exponent in 4..=6 {
            let steps = 10u32.pow(exponent);
            let [tape, without] = [0, 1].map(|mode| measure(&executable, &format!("{steps} {mode}"), runs));
            let (tape, without) = (tape?, without?);
            println!(
                "{program:<12} {steps:>8} {:>9.2} {:>9.2} {:>6.2} {:>10.1} {:>10.1} {:>8.0}",
                tape.milliseconds,
                without.milliseconds,
                without.milliseconds / tape.milliseconds,
                tape.kilobytes,
                without.kilobytes,
                tape.kilobytes / without.kilobytes,
            );
            if (tape.derivative - without.derivative).abs() > TOLERANCE * tape.derivative.abs() {
                return Err(format!("{program}: {} and {}", tape.derivative, without.derivative).into());
            }
        }
    }
    Ok(())
}

struct Side {
    derivative: f64,
    milliseconds: f64,
    kilobytes: f64,
}

fn measure(executable: &Path, input: &str, runs: usize) -> Result<Side> {
    let runs = (0..runs).map(|_| run(executable, input)).collect::<Result<Vec<_>>>()?;
    let time: Duration = median(runs.iter().map(|run| run.time)).unwrap_or_default();
    let derivative = runs.first().ok_or("there must be a run")?.output.trim().parse()?;
    Ok(Side { derivative, milliseconds: time.as_secs_f64() * 1e3, kilobytes: boxes(executable, input)? / 1024.0 })
}
