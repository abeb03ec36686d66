//! The ways to run a program that tests compare.
//!
//! Program text, standard input → what a person at a terminal sees. Every engine runs the whole `vlad` program, so that
//! messages and exit codes are tested with the rest.

#![allow(dead_code)]

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
pub use vlad::promises::Outcome;
use vlad::promises::Promises;

/// A way to run programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Its name in the names of tests.
    pub name: &'static str,
    /// The arguments of `vlad` before the file.
    arguments: &'static [&'static str],
}

/// The reference evaluator: the oracle.
pub const EVALUATOR: Engine = Engine { name: "eval", arguments: &["eval"] };

/// Compiled code; a program that cannot be compiled completely is an error.
pub const NATIVE: Engine = Engine { name: "native", arguments: &["run", "--native"] };

/// Compiled code, with the evaluator embedded where the analysis gives up.
pub const COMPILED: Engine = Engine { name: "run", arguments: &["run"] };

impl Engine {
    /// The arguments of `vlad` before the file.
    pub fn arguments(&self) -> &'static [&'static str] {
        self.arguments
    }

    /// Runs the program in a file; after `limit` it is killed.
    pub fn run(&self, file: &Path, input: &str, limit: Duration) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vlad"));
        command.args(self.arguments).arg(file).env("NO_COLOR", "1");
        run_command(command, input, limit)
    }
}

/// Runs a command with a text as its input.
pub fn run_command(mut command: Command, input: &str, limit: Duration) -> Outcome {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input has closed it: no mistake.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.stdout.take().map(collect);
    let messages = child.stderr.take().map(collect);
    let code = wait(&mut child, limit);
    let text = |collector: Option<std::thread::JoinHandle<String>>| {
        collector.and_then(|collector| collector.join().ok()).unwrap_or_default()
    };
    Outcome { code, output: text(output), messages: text(messages) }
}

/// Reads a stream to its end beside the test, so that a program that prints much does not block.
fn collect(mut stream: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait(child: &mut Child, limit: Duration) -> Option<i32> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.code(),
            Ok(None) if start.elapsed() < limit => std::thread::sleep(pause),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// What the comments of a program give it as standard input.
pub fn input(text: &str) -> String {
    Promises::read(text).input
}
