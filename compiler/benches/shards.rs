//! Measures what processes that share the work gain: `map-over` and `sum-over`.
//!
//! benches/shards/*.vlad → a row for each program: the time by the clock with one process and with several, and the
//! ratio. All must print the same. The last row is what the question whether to share costs where that does not pay:
//! the time of a `map-over` of 1,000 cheap elements beside that of a `build`.
//!
//! Usage: `cargo bench -p vlad --bench shards [-- --runs N]`

mod common;

use common::{Result, succeed, vlad_command};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The programs, with the input that makes each take a while.
const PROGRAMS: &[(&str, &str)] = &[("sum", "400000"), ("gradient", "10000"), ("rounds", "500000")];

/// How often the cheap elements are computed in one run.
const ROUNDS: f64 = 20000.0;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--runs").skip(1);
    let runs: usize = arguments.next().map_or(Ok(5), |number| number.parse())?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/shards");
    let scratch = tempfile::tempdir()?;
    println!("the shortest of {runs} runs, by the clock, in milliseconds");
    println!("{:<12} {:>10} {:>10} {:>10} {:>7}", "program", "1 process", "2", "4", "1 : 2");
    for (program, input) in PROGRAMS {
        let executable = scratch.path().join(program);
        succeed(vlad_command(&folder.join(program).with_extension("vlad"), &executable))?;
        let sides = [1, 2, 4].map(|workers| shortest(&executable, input, workers, runs));
        let [one, two, four] = sides;
        let (one, two, four) = (one?, two?, four?);
        if one.1 != two.1 || one.1 != four.1 {
            return Err(format!("{program}: {} and {} and {}", one.1, two.1, four.1).into());
        }
        let [one, two, four] = [one.0, two.0, four.0].map(|time| time.as_secs_f64() * 1e3);
        println!("{program:<12} {one:>10.1} {two:>10.1} {four:>10.1} {:>7.2}", one / two);
    }
    let mut rounds = [0.0; 2];
    for (time, way) in rounds.iter_mut().zip(["build", "map-over"]) {
        let source = scratch.path().join(way).with_extension("vlad");
        let executable = scratch.path().join(way);
        let program = format!(
            "(define rounds (read-real))
             (define n (read-real))
             (let loop ((k 0) (s 0))
               (if (< k rounds) (loop (+ k 1) (+ s (vector-ref ({way} n (lambda (i) (sqrt (+ i k)))) 7))) s))"
        );
        std::fs::write(&source, program)?;
        succeed(vlad_command(&source, &executable))?;
        let (whole, _) = shortest(&executable, &format!("{ROUNDS} 1000"), 2, runs)?;
        *time = whole.as_secs_f64() * 1e6 / ROUNDS;
    }
    let [build, shared] = rounds;
    println!("1,000 cheap elements: build {build:.2} µs, map-over {shared:.2} µs");
    Ok(())
}

/// The shortest time of some runs, and what they print.
fn shortest(executable: &Path, input: &str, workers: usize, runs: usize) -> Result<(Duration, String)> {
    let mut best = (Duration::MAX, String::new());
    for _ in 0..runs {
        let mut command = Command::new(executable);
        command.env("VLAD_THREADS", workers.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let start = Instant::now();
        let mut child = command.spawn()?;
        child.stdin.take().ok_or("the input is piped")?.write_all(input.as_bytes())?;
        let output = common::finish(child)?.output;
        best = (best.0.min(start.elapsed()), output);
    }
    Ok(best)
}
