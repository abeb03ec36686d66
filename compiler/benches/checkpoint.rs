//! Measures what derivatives of long loops take in time and memory: by a tape of all steps, by a tape that may take
//! little memory, and without one.
//!
//! benches/checkpoint/*.vlad → one table, a row for each program and number of steps: processor time, and the memory
//! that boxes took at most, first with the tape (as reverse mode does it), then with `--tape-memory 100K`, then as the
//! library's operators do it (`checkpointed-iterate`, `fixed-point`). The derivatives must agree, those by tapes to the
//! last bit.
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
        "{:<12} {:>8} {:>9} {:>9} {:>6} {:>9} {:>6} {:>10} {:>10} {:>10}",
        "program", "steps", "tape ms", "100K", "ratio", "without", "ratio", "tape kB", "100K", "without"
    );
    for program in PROGRAMS {
        let executable = scratch.path().join(program);
        let source = folder.join(program).with_extension("vlad");
        succeed(vlad_command(&source, &executable))?;
        let small = scratch.path().join(format!("{program}-100K"));
        let mut command = vlad_command(&source, &small);
        command.args(["--tape-memory", "100K"]);
        succeed(command)?;
        for exponent in 4..=7 {
            let steps = 10u32.pow(exponent);
            let tape = measure(&executable, &format!("{steps} 0"), runs)?;
            let again = measure(&small, &format!("{steps} 0"), runs)?;
            let without = measure(&executable, &format!("{steps} 1"), runs)?;
            println!(
                "{program:<12} {steps:>8} {:>9.2} {:>9.2} {:>6.2} {:>9.2} {:>6.2} {:>10.1} {:>10.1} {:>10.1}",
                tape.milliseconds,
                again.milliseconds,
                again.milliseconds / tape.milliseconds,
                without.milliseconds,
                without.milliseconds / tape.milliseconds,
                tape.kilobytes,
                again.kilobytes,
                without.kilobytes,
            );
            if again.derivative.to_bits() != tape.derivative.to_bits() {
                return Err(format!("{program}: {} and {}", tape.derivative, again.derivative).into());
            }
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
