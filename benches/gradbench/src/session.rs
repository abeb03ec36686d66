//! A running program: input in, output and durations out.
//!
//! ```text
//! to the program      the input         rounds        rounds         0
//! from the program            numbers .       rounds        rounds
//! ```
//!
//! The program has read its input and computed its function once before the first round. So a round holds calls only,
//! and one exchange over a pipe, some microseconds.

use crate::Result;
use crate::encode::Language;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// A program that waits for rounds.
pub struct Session {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    language: Language,
}

impl Session {
    /// Starts a program; the numbers are its output.
    pub fn start(command: &mut Command, language: Language, input: &[u8]) -> Result<(Session, Vec<f64>)> {
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|error| format!("{command:?}: {error}"))?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the program has no streams".into());
        };
        let mut session = Session { child, to, from: BufReader::new(from), language };
        // A program that ends early is told by what it writes.
        let _ = session.to.write_all(input);
        let mut numbers = Vec::new();
        loop {
            let line = session.line()?;
            if line.trim() == "." {
                return Ok((session, numbers));
            }
            let number = vlad::core::number::parse(line.trim());
            numbers.push(number.ok_or_else(|| format!("the program writes `{}`", line.trim()))?);
        }
    }

    /// Starts an executable.
    pub fn of(executable: &Path, language: Language, input: &[u8]) -> Result<(Session, Vec<f64>)> {
        Session::start(&mut Command::new(executable), language, input)
    }

    /// How long so many calls take.
    pub fn time(&mut self, rounds: u64) -> Result<Duration> {
        let bytes = self.language.number(rounds as f64);
        let start = Instant::now();
        // A program that ends early is told by what it writes.
        let _ = self.to.write_all(&bytes);
        self.line()?;
        Ok(start.elapsed())
    }

    /// The most memory that the program has taken so far, in bytes, where the system tells.
    pub fn peak_memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes * 1024)
    }

    /// Lets the program end.
    pub fn end(mut self) -> Result<()> {
        let _ = self.to.write_all(&self.language.number(0.0));
        let status = self.child.wait().map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(self.complaint()) }
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.from.read_line(&mut line) {
            Ok(0) | Err(_) => Err(self.complaint()),
            Ok(_) => Ok(line),
        }
    }

    /// What the program says before it ends.
    fn complaint(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            let _ = errors.read_to_string(&mut text);
        }
        format!("the program has failed: {text}")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It has ended already, or nobody wants to know more from it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
