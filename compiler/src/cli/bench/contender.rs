//! Programs that are measured: compiled, repeated as often as it takes, and run in turns.
//!
//! A program reads how often to make its call. What one call takes is the processor time of many calls less that of
//! one, divided by how many more there were: so neither starting the process, nor what the program does before, nor the
//! first call, which finds everything cold, counts. Where one call takes long enough, it counts as it is.

use super::{Row, build, failed};
use crate::base::{Diagnostic, Severity};
use crate::cli::{FAULT, Input, terminal};
use crate::pipeline::{Pipeline, Refusal, Settings};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program that makes a call as often as its input says.
pub struct Contender {
    name: String,
    executable: PathBuf,
    compile_time: f64,
    size: u64,
}

/// What a process has used.
#[derive(Clone, Copy)]
struct Use {
    seconds: f64,
    boxes: u64,
    memory: u64,
}

/// Measurements, from the least to the largest.
pub struct Spread(Vec<f64>);

impl Spread {
    /// Sorts measurements.
    pub fn new(mut values: Vec<f64>) -> Spread {
        values.sort_by(f64::total_cmp);
        Spread(values)
    }

    /// All of them.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// The measurement that so many quarters of all do not exceed.
    pub fn quarter(&self, quarters: usize) -> f64 {
        let at = (self.0.len() * quarters / 4).min(self.0.len().saturating_sub(1));
        self.0.get(at).copied().unwrap_or(f64::NAN)
    }

    /// The one in the middle.
    pub fn median(&self) -> f64 {
        self.quarter(2)
    }
}

impl Contender {
    /// Compiles a program; mistakes are reported.
    pub fn build(name: String, input: &Input, settings: Settings, executable: PathBuf) -> Result<Contender, u8> {
        let start = Instant::now();
        let mut pipeline = Pipeline::new(settings);
        let program = build::read(&mut pipeline, input)?;
        let place = program.place();
        let translated = terminal::catch(|| build::translate(&mut pipeline, program));
        let refusal = match translated {
            Ok(Ok(code)) => {
                pipeline.finish(&code, &executable).map_err(|error| {
                    terminal::report_plain(&error.to_diagnostic());
                    FAULT
                })?;
                let compile_time = start.elapsed().as_secs_f64();
                let size = std::fs::metadata(&executable).map_err(|error| failed(&error))?.len();
                return Ok(Contender { name, executable, compile_time, size });
            }
            Ok(Err(refusal)) => refusal,
            Err(panic) => Refusal::Unsupported(Box::new(build::mistake(&panic, place))),
        };
        match refusal {
            Refusal::Mistake(diagnostics) => terminal::report(&diagnostics, &pipeline.sources),
            Refusal::Unsupported(diagnostic) => {
                let diagnostic = Diagnostic { severity: Severity::Error, ..*diagnostic };
                let diagnostic = diagnostic.note("only native code is measured");
                terminal::report([&diagnostic], &pipeline.sources);
            }
        }
        Err(FAULT)
    }

    fn run(&self, input: &[u8], rounds: u64) -> Result<Use, u8> {
        let mut command = Command::new(&self.executable);
        // The time of other processes would not be counted.
        command.env("VLAD_REPORT_USE", "1").env("VLAD_THREADS", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(&error))?;
        let mut messages = String::new();
        if let (Some(mut stdin), Some(mut stderr)) = (child.stdin.take(), child.stderr.take()) {
            // A program that ends early says why.
            let _ = writeln!(stdin, "{rounds}").and_then(|()| stdin.write_all(input));
            drop(stdin);
            stderr.read_to_string(&mut messages).map_err(|error| failed(&error))?;
        }
        let status = child.wait().map_err(|error| failed(&error))?;
        if let (true, Some(used)) = (status.success(), messages.lines().last().and_then(used)) {
            return Ok(used);
        }
        let kept: Vec<&str> = messages.lines().filter(|line| !line.starts_with("use: ")).collect();
        eprintln!("{}", kept.join("\n").trim_end());
        let message = format!("the program that measures `{}` has failed ({status})", self.name);
        let help = "what the program reads belongs on standard input: vlad bench FILE < NUMBERS";
        terminal::report_plain(&Diagnostic::error_without_place("V0811", message).help(help));
        Err(FAULT)
    }

    /// How many calls take as long as they should, and no more than one if that is long enough.
    fn rounds(&self, input: &[u8], least: f64) -> Result<u64, u8> {
        const MOST: u64 = 1 << 50;
        let once = self.run(input, 1)?.seconds;
        let (mut rounds, mut taken) = (1, once);
        while taken < least && rounds < MOST {
            let calls = taken - once;
            let factor = if calls > least / 20.0 { (1.1 * least / calls).clamp(1.1, 10.0) } else { 10.0 };
            rounds = ((rounds as f64 * factor) as u64).max(rounds + 1);
            taken = self.run(input, rounds)?.seconds;
        }
        Ok(rounds)
    }
}

/// What a compiled program reports with `VLAD_REPORT_USE`.
fn used(line: &str) -> Option<Use> {
    let mut numbers = line.strip_prefix("use: ")?.split(", ").map(|part| part.split(' ').next()?.parse::<u64>().ok());
    let mut number = || numbers.next()?;
    Some(Use { seconds: number()? as f64 * 1e-9, boxes: number()?, memory: number()? })
}

/// Runs all programs in turn, so that a change of the machine's speed meets all of them alike.
pub fn measure(contenders: Vec<Contender>, input: &[u8], runs: u32, least: Duration) -> Result<Vec<Row>, u8> {
    let mut rounds = Vec::new();
    for contender in &contenders {
        rounds.push(contender.rounds(input, least.as_secs_f64())?);
    }
    let mut uses = vec![Vec::new(); contenders.len()];
    for _ in 0..runs {
        for (at, contender) in contenders.iter().enumerate() {
            let once = if rounds[at] == 1 { 0.0 } else { contender.run(input, 1)?.seconds };
            uses[at].push((once, contender.run(input, rounds[at])?));
        }
    }
    let row = |((contender, uses), rounds): ((Contender, Vec<(f64, Use)>), u64)| {
        let once = Spread::new(uses.iter().map(|row| row.0).collect()).median();
        let calls = if rounds == 1 { 1 } else { rounds - 1 } as f64;
        let time = Spread::new(uses.iter().map(|row| (row.1.seconds - once).max(0.0) / calls).collect());
        let most = |part: fn(&Use) -> u64| uses.iter().map(|row| part(&row.1)).max().unwrap_or(0);
        let (boxes, memory) = (most(|used| used.boxes), most(|used| used.memory));
        let Contender { name, compile_time, size, .. } = contender;
        Row { name, time, boxes, memory, compile_time, size }
    };
    Ok(contenders.into_iter().zip(uses).zip(rounds).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_quarters() {
        let spread = Spread::new(vec![5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!([0, 1, 2, 3, 4].map(|n| spread.quarter(n)), [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!(Spread::new(Vec::new()).median().is_nan());
    }

    #[test]
    fn a_report_of_use() {
        let used = used("use: 1500000000 ns, 4096 bytes of boxes, 1200000 bytes in all").expect("it is one");
        assert_eq!((used.seconds, used.boxes, used.memory), (1.5, 4096, 1_200_000));
        assert!(super::used("use: much").is_none());
    }
}
