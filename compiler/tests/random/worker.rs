//! Worker processes: each examines one program after the other, and may crash or hang without harm to the test.
//!
//! A request is a line with the lengths of program and input and the words of the settings, followed by program and
//! input. The answer is a line `at STAGE` for each stage that begins, then a verdict. A worker is this same executable,
//! started with the name of its folder in an environment variable.

use super::examine::examine;
use super::verdict::{Kind, Verdict};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The environment variable that makes a worker of this executable.
pub const VARIABLE: &str = "VLAD_RANDOM_WORKER";

/// How many seconds of the processor's time compiling may take: more than the limits of the compiler allow, with its
/// checks between passes and on a machine that does other things, too.
const LIMIT: u64 = 60;

/// How many seconds the evaluator may take. Most programs end within milliseconds; one that does not says nothing.
const EVALUATION_LIMIT: f64 = 0.5;

/// How many seconds of real time any stage may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// As large as that of the compiler.
const STACK: usize = 4 << 30;

/// Memory that a worker leaks is given back by starting another one after so many programs.
const MOST_PROGRAMS: usize = 2000;

static PANIC: Mutex<String> = Mutex::new(String::new());

/// What the last panic said.
pub fn last_panic() -> String {
    PANIC.lock().map(|text| text.clone()).unwrap_or_default()
}

/// What a worker process does until its input ends.
pub fn work(folder: PathBuf) {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut text) = PANIC.lock() {
            *text = info.to_string();
        }
    }));
    std::thread::spawn(end_with_parent);
    let serve = move || serve(&folder);
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(serve).expect("the system grants a stack");
    let _ = thread.join();
}

/// A worker in the middle of a long compilation would not notice that nobody waits for its answer any more.
fn end_with_parent() {
    let parent = parent_id();
    while parent_id() == parent {
        std::thread::sleep(Duration::from_secs(1));
    }
    std::process::exit(0);
}

fn serve(folder: &Path) {
    let mut requests = io::stdin().lock();
    while let Some((settings, program, input)) = receive(&mut requests) {
        let mut announce = |stage: &str| {
            println!("at {stage}");
        };
        let verdict = examine(&program, &input, &settings, folder, &mut announce);
        if verdict.write(&mut io::stdout()).is_err() {
            return;
        }
    }
}

fn receive(from: &mut dyn BufRead) -> Option<(String, String, String)> {
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let mut length = || words.next()?.parse::<usize>().ok();
    let (program, input) = (length()?, length()?);
    let settings: Vec<&str> = words.collect();
    let mut text = |length: usize| {
        let mut bytes = vec![0; length];
        from.read_exact(&mut bytes).ok()?;
        String::from_utf8(bytes).ok()
    };
    Some((settings.join(" "), text(program)?, text(input)?))
}

/// A worker as the test sees it. It is started when it is needed.
pub struct Worker {
    folder: PathBuf,
    process: Option<Process>,
}

struct Process {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<Answer>,
    programs: usize,
}

enum Answer {
    At(String),
    Verdict(Verdict),
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Worker {
    /// A worker that writes executables into this folder.
    pub fn new(folder: &Path) -> Worker {
        Worker { folder: folder.to_path_buf(), process: None }
    }

    /// Compares both ways to run a program.
    pub fn examine(&mut self, program: &str, input: &str, settings: &str) -> Verdict {
        if self.process.as_ref().is_some_and(|process| process.programs >= MOST_PROGRAMS) {
            self.process = None;
        }
        let folder = &self.folder;
        let process = self.process.get_or_insert_with(|| Process::start(folder));
        process.programs += 1;
        let verdict = process.examine(program, input, settings);
        verdict.unwrap_or_else(|verdict| {
            self.process = None;
            verdict
        })
    }
}

impl Process {
    fn start(folder: &Path) -> Process {
        // The executable may be replaced by a build while it runs; this name stays that of the running one.
        let mut command = Command::new("/proc/self/exe");
        command.env(VARIABLE, folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("a worker can be started");
        let requests = child.stdin.take().expect("it is piped");
        let mut stream = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            while stream.read_line(&mut line).is_ok_and(|length| length > 0) {
                let answer = match line.strip_prefix("at ") {
                    Some(stage) => Some(Answer::At(stage.trim().to_string())),
                    None => Verdict::read(&line, &mut stream).map(Answer::Verdict),
                };
                if answer.is_none_or(|answer| sender.send(answer).is_err()) {
                    return;
                }
                line.clear();
            }
        });
        Process { child, requests, answers, programs: 0 }
    }

    /// The processor's time that it has used. A busy machine must not look like a hang.
    fn seconds(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        // The fields behind the name, which stands in parentheses; the times are in hundredths of a second.
        let fields = stat.rsplit(')').next().unwrap_or("").split_whitespace();
        fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
    }

    /// The error is a verdict after which the process is of no more use.
    fn examine(&mut self, program: &str, input: &str, settings: &str) -> Result<Verdict, Verdict> {
        let request = format!("{} {} {settings}\n{program}{input}", program.len(), input.len());
        let mut stage = String::from("start");
        // When nobody reads it, the answer is missing as well.
        let _ = self.requests.write_all(request.as_bytes()).and_then(|()| self.requests.flush());
        let compilation = super::setting("VLAD_RANDOM_LIMIT", LIMIT) as f64;
        let (mut begin, mut used) = (Instant::now(), self.seconds());
        loop {
            match self.answers.recv_timeout(Duration::from_millis(500)) {
                Ok(Answer::At(next)) => (stage, begin, used) = (next, Instant::now(), self.seconds()),
                Ok(Answer::Verdict(verdict)) => return Ok(verdict),
                Err(RecvTimeoutError::Timeout) => {
                    let limit = if stage == "evaluate" { EVALUATION_LIMIT } else { compilation };
                    if self.seconds() - used < limit && begin.elapsed() < PATIENCE {
                        continue;
                    }
                    let kind = if stage == "evaluate" { Kind::Endless } else { Kind::Hang };
                    return Err(Verdict::new(kind, format!("; no end: {stage}")));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Verdict::new(Kind::Crash, format!("; crash: {stage}")));
                }
            }
        }
    }
}
