//! A built program, its runs so far, and what they say together.

use crate::common::{Result, Run, Spread, median, run, succeed, vlad_command};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A program is built so many times, to know how long that takes.
const BUILDS: usize = 3;

/// A built program and its runs so far.
pub struct Contender {
    pub executable: PathBuf,
    /// The median of some builds, in seconds.
    pub build_time: f64,
    pub runs: Vec<Run>,
}

impl Contender {
    /// Builds a VLAD program; `include` is where it finds the files that it includes, beside its own folder.
    pub fn vlad(program: &Path, include: &Path, executable: PathBuf) -> Result<Contender> {
        Contender::build(executable, |executable| {
            let mut command = vlad_command(program, executable);
            command.arg("-I").arg(include);
            command
        })
    }

    /// Builds a C program, if there is one.
    pub fn c(source: &Path, executable: PathBuf) -> Result<Option<Contender>> {
        let exists = source.exists().then(|| {
            Contender::build(executable, |executable| {
                let mut command = Command::new("cc");
                command.arg("-O2").arg(source).arg("-o").arg(executable).arg("-lm");
                command
            })
        });
        exists.transpose()
    }

    fn build(executable: PathBuf, command: impl Fn(&Path) -> Command) -> Result<Contender> {
        let mut times = Vec::new();
        for _ in 0..BUILDS {
            let start = Instant::now();
            succeed(command(&executable))?;
            times.push(start.elapsed());
        }
        let build_time = median(times).unwrap_or_default().as_secs_f64();
        Ok(Contender { executable, build_time, runs: Vec::new() })
    }

    /// One more run.
    pub fn run(&mut self, input: &str) -> Result<()> {
        self.runs.push(run(&self.executable, input)?);
        Ok(())
    }

    /// Times of the runs in seconds, each less what a run takes anyway.
    pub fn times(&self, anyway: Duration) -> Spread {
        Spread::of(self.runs.iter().map(|run| run.time.saturating_sub(anyway).as_secs_f64()))
    }

    /// The size of the executable in kilobytes.
    pub fn size(&self) -> Result<u64> {
        Ok(std::fs::metadata(&self.executable)?.len() / 1024)
    }

    /// Peak resident memory of the runs in kilobytes.
    pub fn peak(&self) -> u64 {
        median(self.runs.iter().map(|run| run.peak)).unwrap_or_default()
    }
}
