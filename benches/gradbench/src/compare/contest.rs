//! One run of a tool on an input: a process of its own, which says what it has computed and how long each call took.
//!
//! ```text
//! C++ tools, scripts     PROGRAM INPUT.json FUNCTION   ─▶  output, then a line for each timing
//! tools of messages      define, evaluate              ─▶  one response with both
//! vlad                   the executable of a function  ─▶  what `session` and `runs` make of it
//! ```
//!
//! Processor time and memory of every process are limited by the shell that becomes it. Memory is watched from outside.

use super::peers::Start;
use super::suite;
use crate::Result;
use crate::encode::Language;
use crate::evals::{Eval, Function};
use crate::runs::{Runs, median};
use crate::session::Session;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// What a process may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of one call.
    pub seconds: f64,
    /// Addresses of the process, in bytes.
    pub memory: u64,
    /// Which of several times counts.
    pub of_times: Of,
}

/// Which of several times counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// The middle one.
    Median,
    /// The least, which is less disturbed where other programs compete for the processor.
    Least,
}

impl Of {
    /// The one that counts.
    pub fn times(self, times: &[f64]) -> f64 {
        match self {
            Of::Median => median(times),
            Of::Least => times.iter().copied().fold(f64::NAN, f64::min),
        }
    }
}

/// The first call of a process is not counted: it makes memory, and JAX compiles in it. Our programs have made it
/// before they are asked for timings.
pub const RUNS: Runs = Runs { runs: 2, time: Duration::from_millis(200) };

/// How many calls a process is asked for when ours takes so many milliseconds: more if they are short, so that the
/// first one, which is long where it compiles, is not all that fits in the time.
pub fn calls(milliseconds: f64) -> u64 {
    ((RUNS.time.as_secs_f64() * 1e3 / milliseconds) as u64).clamp(RUNS.runs, 20)
}

/// What a process has done.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What it has computed.
    pub output: Value,
    /// What a call took, in milliseconds.
    pub milliseconds: f64,
    /// The most memory that the process had, in megabytes.
    pub megabytes: f64,
}

/// What a tool says.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// What it has computed.
    pub output: Value,
    /// What each call took, in nanoseconds.
    pub timings: Vec<f64>,
}

impl Said {
    /// What a tool prints: its output and then timings, a line each.
    pub fn parse(text: &str) -> Result<Said> {
        let mut lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).map_err(|error| format!("its output is no JSON: {error}")));
        let output = lines.next().ok_or("it prints nothing")??;
        let timings = lines.collect::<Result<Vec<Value>>>()?;
        Said::new(output, &timings)
    }

    /// What a tool responds.
    pub fn of_response(response: &Value) -> Result<Said> {
        let Some(output) = response.get("output") else {
            let error = response.get("error").and_then(Value::as_str).unwrap_or("it responds no output");
            return Err(error.lines().last().unwrap_or_default().into());
        };
        let timings = response.get("timings").and_then(Value::as_array);
        Said::new(output.clone(), timings.map(Vec::as_slice).unwrap_or_default())
    }

    /// Only evaluations are of interest: some tools prepare before that.
    fn new(output: Value, timings: &[Value]) -> Result<Said> {
        let evaluations = timings.iter().filter(|timing| timing.get("name").is_some_and(|name| name == "evaluate"));
        let nanoseconds = |timing: &Value| timing.get("nanoseconds").and_then(Value::as_f64);
        let timings: Vec<f64> = evaluations.filter_map(nanoseconds).collect();
        if timings.is_empty() { Err("it prints no timings".into()) } else { Ok(Said { output, timings }) }
    }

    /// What a call takes, in milliseconds; the first one does not count.
    fn milliseconds(&self, of_times: Of) -> f64 {
        of_times.times(if self.timings.len() > 1 { &self.timings[1..] } else { &self.timings }) / 1e6
    }
}

/// Lets one of the peers compute a function.
pub fn peer(start: &Start, function: &str, input: &Path, limits: Limits, folder: &Path) -> Result<Answer> {
    let mut command = limited(&start.program, limits);
    command.args(&start.arguments).envs(start.environment.iter().map(|(name, value)| (name, value)));
    command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let messages = match &start.module {
        None => {
            command.arg(input).arg(function);
            String::new()
        }
        Some(module) => {
            let define = json!({ "id": 0, "kind": "define", "module": module });
            let input = suite::read(input)?;
            let evaluate =
                json!({ "id": 1, "kind": "evaluate", "module": module, "function": function, "input": input });
            format!("{define}\n{evaluate}\n")
        }
    };
    let child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
    let (text, megabytes) = watched(child, messages)?;
    let said = match &start.module {
        None => Said::parse(&text)?,
        Some(_) => {
            let line = text.lines().last().ok_or("it does not respond")?;
            Said::of_response(&serde_json::from_str(line).map_err(|error| format!("no response: {error}"))?)?
        }
    };
    in_time(Answer { milliseconds: said.milliseconds(limits.of_times), output: said.output, megabytes }, limits)
}

/// Computes a function with our executable.
pub fn ours(eval: &Eval, function: &Function, path: &Path, input: &Value, limits: Limits) -> Result<Answer> {
    let bytes = Language::Vlad.input(eval.fields, input)?;
    let (mut session, numbers) = Session::start(&mut limited(path, limits), Language::Vlad, &bytes)?;
    let milliseconds = limits.of_times.times(&RUNS.measure(&mut session)?) / 1e6;
    let megabytes = session.peak_memory().map_or(f64::NAN, |bytes| bytes as f64 / 1e6);
    session.end()?;
    in_time(Answer { output: function.output(input, &numbers)?, milliseconds, megabytes }, limits)
}

fn in_time(answer: Answer, limits: Limits) -> Result<Answer> {
    if answer.milliseconds <= 1e3 * limits.seconds { Ok(answer) } else { Err(late(limits)) }
}

fn late(limits: Limits) -> String {
    format!("> {} s", limits.seconds)
}

/// A program with limits. A process calls its function three times at most when a call takes long; as much again is for
/// what it prepares, and half a minute for starting and reading.
fn limited(program: &Path, limits: Limits) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -t \"$1\" && ulimit -v \"$2\" && shift 2 && exec \"$@\"", "sh"]);
    command.arg(((6.0 * limits.seconds) as u64 + 30).to_string()).arg((limits.memory / 1024).to_string()).arg(program);
    command
}

/// What a process prints, and the most memory that it had at a time, in megabytes.
fn watched(mut child: Child, messages: String) -> Result<(String, f64)> {
    let (Some(mut to), Some(mut from), Some(mut errors)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err("the process has no streams".into());
    };
    thread::scope(|scope| {
        // A process that ends early is told by how it ends.
        scope.spawn(move || drop(to.write_all(messages.as_bytes())));
        let printed = scope.spawn(move || read_all(&mut from));
        let complaints = scope.spawn(move || read_all(&mut errors));
        let (mut most, mut status) = (f64::NAN, None);
        while status.is_none() {
            most = peak(child.id()).unwrap_or(most);
            thread::sleep(Duration::from_millis(2));
            status = child.try_wait().map_err(|error| error.to_string())?;
        }
        let join = |text: thread::ScopedJoinHandle<String>| text.join().unwrap_or_default();
        let (printed, complaints) = (join(printed), join(complaints));
        let status = status.unwrap_or_default();
        if status.success() { Ok((printed, most)) } else { Err(ending(status, &complaints)) }
    })
}

fn read_all(from: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    // What has been read before an error is of use.
    let _ = from.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn peak(process: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? * 1024.0 / 1e6)
}

/// Why a process has ended, in a few words.
pub fn ending(status: ExitStatus, complaints: &str) -> String {
    /// What the system sends to a process that has had its processor time.
    const LATE: [i32; 2] = [9, 24];
    if complaints.contains("bad_alloc") || complaints.contains("RESOURCE_EXHAUSTED") {
        return "out of memory".into();
    }
    match status.signal() {
        Some(signal) if LATE.contains(&signal) => "out of time".into(),
        _ => complaints.lines().last().map_or_else(|| status.to_string(), str::to_owned),
    }
}
