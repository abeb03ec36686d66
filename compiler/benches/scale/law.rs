//! The law of growth by the clock: each derivative of the families of `tests/growth` as compiled, beside its function.
//!
//! Families → a table with a row for each mix of modes: times and memory of boxes for `n`, `2n`, `4n` and `8n` over
//! those of the function, and whether the last is at most a little more than the first. Times are the least user time
//! of some runs, less that of an empty program. With `--full`, sizes double until a run takes twenty seconds or 2 GB.
//! Where a mix is named in `tests/growth/open`, a ratio that grows is expected; where it no longer does, the row says
//! so.

use super::common::{Result, succeed, vlad_command};
use super::families::{DOUBLINGS, Family, MIXES, Mix, families};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The smallest sizes, for linear, quadratic and cubic work.
const SIZES: [u32; 3] = [16384, 128, 24];

/// What three doublings may make of a ratio to the primal: caches are left on the way. What is by one power of `n` too
/// dear makes it eight times as large.
const MOST: f64 = 2.5;

/// Shorter times say nothing, nor do fewer bytes.
const LEAST_TIME: f64 = 3e-3;
const LEAST_BYTES: f64 = 1e6;

/// How long a run may take, and with `--full`.
const LIMIT: Duration = Duration::from_secs(2);
const FULL_LIMIT: Duration = Duration::from_secs(20);

/// How often each program runs; the fastest counts.
const RUNS: usize = 3;

/// What one run took.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    bytes: f64,
}

/// What became of a mix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Pass,
    Fail,
    /// It does not obey the law, and is known not to.
    Open,
    /// It obeys the law although it is said not to.
    Closed,
}

impl Verdict {
    fn of(holds: bool, is_open: bool) -> Verdict {
        match (holds, is_open) {
            (true, false) => Verdict::Pass,
            (false, false) => Verdict::Fail,
            (false, true) => Verdict::Open,
            (true, true) => Verdict::Closed,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Verdict::Pass => "PASS",
            Verdict::Fail => "FAIL",
            Verdict::Open => "open",
            Verdict::Closed => "holds, but is in `open`",
        }
    }
}

/// Measures the families whose names are wanted, and returns what breaks the law.
pub fn report(full: bool, wants: &dyn Fn(&str) -> bool) -> Result<Vec<String>> {
    let scratch = tempfile::tempdir()?;
    let limit = if full { FULL_LIMIT } else { LIMIT };
    let empty = empty(scratch.path())?;
    let mut wrong = Vec::new();
    let mut counts = [0; 4];
    println!("\ntime and memory of derivatives over those of their functions, as n doubles");
    println!("{:<28} {:<6} {:>9} {:>9}  {:<34} {:<34}", "family", "mix", "up to n", "seconds", "time", "memory");
    for family in families()?.into_iter().filter(|family| wants(&family.name)) {
        let sizes: Vec<u32> = family.sizes(SIZES).take(if full { 24 } else { DOUBLINGS as usize + 1 }).collect();
        let mut primal = Vec::new();
        for mix in MIXES {
            let executable = build(&family, mix, scratch.path())?;
            let costs = measure(&executable, &sizes, limit, empty);
            if mix.order == 0 {
                primal = costs;
                continue;
            }
            let (verdict, row) = judge(&family, mix, &sizes, &primal, &costs);
            println!("{row}");
            counts[verdict as usize] += 1;
            if verdict == Verdict::Fail {
                wrong.push(row);
            }
        }
    }
    let [pass, fail, open, closed] = counts;
    println!("{pass} pass, {fail} fail, {open} are open, {closed} hold that are said to be open");
    Ok(wrong)
}

fn build(family: &Family, mix: Mix, scratch: &Path) -> Result<PathBuf> {
    let (source, executable) = (scratch.join("program.vlad"), scratch.join("program"));
    std::fs::write(&source, family.program(mix))?;
    succeed(vlad_command(&source, &executable))?;
    Ok(executable)
}

/// What starting a process takes.
fn empty(scratch: &Path) -> Result<f64> {
    let (source, executable) = (scratch.join("empty.vlad"), scratch.join("empty"));
    std::fs::write(&source, "(read-real)\n")?;
    succeed(vlad_command(&source, &executable))?;
    Ok((0..RUNS).filter_map(|_| run(&executable, 1, LIMIT)).map(|cost| cost.seconds).fold(f64::INFINITY, f64::min))
}

/// What a program takes for the sizes, up to the first that takes too long or too much memory.
fn measure(executable: &Path, sizes: &[u32], limit: Duration, empty: f64) -> Vec<Cost> {
    let mut costs = Vec::new();
    for size in sizes {
        let Some(mut best) = run(executable, *size, limit) else { break };
        // Long runs are exact enough.
        for _ in 1..RUNS {
            if best.seconds < 0.5 {
                best.seconds =
                    run(executable, *size, limit).map_or(best.seconds, |other| other.seconds.min(best.seconds));
            }
        }
        best.seconds = (best.seconds - empty).max(0.0);
        costs.push(best);
    }
    costs
}

/// One run; nothing if it fails or takes too long.
fn run(executable: &Path, size: u32, limit: Duration) -> Option<Cost> {
    let mut command = Command::new(executable);
    command.env("VLAD_MAX_MEMORY", "2G").env("VLAD_REPORT_USE", "1").env("VLAD_THREADS", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    child.stdin.take()?.write_all(format!("{size}\n").as_bytes()).ok()?;
    let begin = Instant::now();
    let status = loop {
        match child.try_wait().ok()? {
            Some(status) => break status,
            None if begin.elapsed() > limit => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            None => std::thread::sleep(Duration::from_millis(if begin.elapsed().as_millis() < 20 { 1 } else { 10 })),
        }
    };
    let report = std::io::read_to_string(child.stderr.take()?).ok()?;
    let words: Vec<&str> = report.lines().find_map(|line| line.strip_prefix("use: "))?.split(' ').collect();
    let number = |index: usize| words.get(index).and_then(|word| word.parse::<f64>().ok());
    status.success().then_some(Cost { seconds: number(0)? / 1e9, bytes: number(2)? })
}

/// Whether a mix obeys the law, and its row.
fn judge(family: &Family, mix: Mix, sizes: &[u32], primal: &[Cost], costs: &[Cost]) -> (Verdict, String) {
    let both: Vec<(u32, Cost, Cost)> =
        sizes.iter().zip(primal).zip(costs).map(|((size, primal), cost)| (*size, *primal, *cost)).collect();
    // The smallest sizes are left out where they take no time that can be measured.
    let times: Vec<f64> = both
        .iter()
        .filter(|(_, primal, cost)| cost.seconds > LEAST_TIME && primal.seconds > LEAST_TIME / 10.0)
        .map(|(size, primal, cost)| cost.seconds / primal.seconds / family.allowed(*size))
        .collect();
    let memory: Vec<f64> = both
        .iter()
        .filter(|(_, _, cost)| cost.bytes > LEAST_BYTES)
        .map(|(size, primal, cost)| match family.has_tape {
            true => cost.bytes / family.work.of(*size) / family.allowed(*size),
            false => cost.bytes / primal.bytes.max(LEAST_BYTES),
        })
        .collect();
    let grows = |ratios: &[f64]| {
        let last = ratios.iter().rev().take(DOUBLINGS as usize + 1).copied().collect::<Vec<f64>>();
        last.first().zip(last.last()).is_some_and(|(last, first)| *last > MOST * first)
    };
    // What ends before its function has got far is too slow, or cannot be judged and says so.
    let got_far = both.len() >= primal.len().min(DOUBLINGS as usize + 1);
    let verdict = Verdict::of(got_far && !grows(&times) && !grows(&memory), family.open.contains(mix.name));
    let list = |ratios: &[f64]| {
        let texts = ratios.iter().rev().take(DOUBLINGS as usize + 1).rev().map(|ratio| format!("{ratio:.1}"));
        texts.collect::<Vec<_>>().join(" ")
    };
    let last = both.last();
    let row = format!(
        "{:<28} {:<6} {:>9} {:>9.3}  {:<34} {:<34} {}",
        family.name,
        mix.name,
        last.map_or(0, |last| last.0),
        last.map_or(f64::NAN, |last| last.2.seconds),
        list(&times),
        list(&memory),
        verdict.word()
    );
    (verdict, row)
}
