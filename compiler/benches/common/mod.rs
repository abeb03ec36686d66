//! What the bench drivers share: building VLAD programs, running executables, and medians.
//!
//! Times of runs are processor time, which other work on the machine disturbs least.

use std::error::Error;
use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What the drivers' functions return.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// One run of a program.
pub struct Run {
    /// What it wrote to standard output.
    pub output: String,
    /// What it wrote to standard error, if that was piped.
    #[allow(dead_code, reason = "not every driver wants it")]
    pub messages: String,
    /// Processor time.
    #[allow(dead_code, reason = "not every driver wants it")]
    pub time: Duration,
    /// The part of it that the program itself ran: without what the system took, to hand out memory for example.
    #[allow(dead_code, reason = "not every driver wants it")]
    pub user: Duration,
    /// Peak resident memory in kilobytes; never less than that of this driver, which the system counts from the fork
    /// on.
    #[allow(dead_code, reason = "not every driver wants it")]
    pub peak: u64,
}

/// The command that builds a VLAD program.
pub fn vlad_command(program: &Path, executable: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vlad"));
    command.args(["build", "--native"]).arg(program).arg("-o").arg(executable);
    command
}

/// Runs a command that must succeed.
pub fn succeed(mut command: Command) -> Result<()> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}").into()) }
}

/// Runs an executable on an input, in one process: the time of others would not be counted.
#[allow(dead_code, reason = "not every driver wants it")]
pub fn run(executable: &Path, input: &str) -> Result<Run> {
    let mut command = Command::new(executable);
    let mut child = command.env("VLAD_THREADS", "1").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().ok_or("the input is piped")?.write_all(input.as_bytes())?;
    finish(child).map_err(|error| format!("{}: {error}", executable.display()).into())
}

/// Waits for a process that must succeed, and takes what it writes to pipes.
pub fn finish(mut child: Child) -> Result<Run> {
    let (mut output, mut messages) = (String::new(), String::new());
    if let Some(mut pipe) = child.stdout.take() {
        pipe.read_to_string(&mut output)?;
    }
    if let Some(mut pipe) = child.stderr.take() {
        pipe.read_to_string(&mut messages)?;
    }
    let (status, usage) = wait(child)?;
    if status != 0 {
        return Err(format!("ended with status {status}\n{messages}").into());
    }
    let peak = u64::try_from(usage.ru_maxrss)?;
    let user = duration(usage.ru_utime)?;
    Ok(Run { output, messages, time: user + duration(usage.ru_stime)?, user, peak })
}

/// Waits for a process and asks the system what it has used.
fn wait(child: Child) -> Result<(i32, libc::rusage)> {
    let id = libc::pid_t::try_from(child.id())?;
    let mut status = 0;
    let mut usage = MaybeUninit::uninit();
    // SAFETY: both pointers are valid for writing; the process is a child that nobody else waits for.
    let waited = unsafe { libc::wait4(id, &raw mut status, 0, usage.as_mut_ptr()) };
    if waited != id {
        return Err(std::io::Error::last_os_error().into());
    }
    // SAFETY: `wait4` has succeeded, so it has filled in the usage.
    Ok((status, unsafe { usage.assume_init() }))
}

fn duration(time: libc::timeval) -> Result<Duration> {
    Ok(Duration::new(u64::try_from(time.tv_sec)?, u32::try_from(time.tv_usec)? * 1000))
}

/// The bytes that boxes took at most, as a VLAD program reports them.
#[allow(dead_code, reason = "not every driver wants it")]
pub fn boxes(executable: &Path, input: &str) -> Result<f64> {
    let mut command = Command::new(executable);
    command
        .env("VLAD_THREADS", "1")
        .env("VLAD_REPORT_MEMORY", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    child.stdin.take().ok_or("the input is piped")?.write_all(input.as_bytes())?;
    let report = String::from_utf8(child.wait_with_output()?.stderr)?;
    let bytes = report.split("live, ").nth(1).and_then(|rest| rest.split(' ').next());
    Ok(bytes.ok_or("the program reports its memory")?.parse()?)
}

/// The middle of some measurements, and how far they are apart.
#[allow(dead_code, reason = "not every driver wants it")]
pub struct Spread {
    pub median: f64,
    /// The distance of the quartiles.
    pub between_quartiles: f64,
}

#[allow(dead_code, reason = "not every driver wants it")]
impl Spread {
    pub fn of(values: impl IntoIterator<Item = f64>) -> Spread {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let at = |quarter: usize| values.get((values.len() * quarter / 4).min(values.len() - 1)).copied();
        let at = |quarter| at(quarter).unwrap_or(f64::NAN);
        Spread { median: at(2), between_quartiles: at(3) - at(1) }
    }

    /// The same measurements in another unit.
    pub fn scaled(&self, factor: f64) -> Spread {
        Spread { median: self.median * factor, between_quartiles: self.between_quartiles * factor }
    }

    /// The distance of the quartiles in percent of the median.
    pub fn percent(&self) -> f64 {
        self.between_quartiles / self.median * 100.0
    }
}

/// The middle one.
#[allow(dead_code, reason = "not every driver wants it")]
pub fn median<T: Ord + Copy>(values: impl IntoIterator<Item = T>) -> Option<T> {
    let mut values: Vec<T> = values.into_iter().collect();
    values.sort();
    values.get(values.len() / 2).copied()
}
