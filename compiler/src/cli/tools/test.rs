//! `vlad test`: programs → whether they keep the promises of their comments, in the evaluator and compiled.
//!
//! Each program runs twice, in processes of their own: `vlad eval` and `vlad run`. A promise that both break in the
//! same way is reported once. [`crate::promises`] knows what promises are; here they become messages.

use crate::base::{Diagnostic, FileId, SourceMap, Span};
use crate::cli::tools::fmt;
use crate::cli::{Dialect, FAULT, SUCCESS, terminal};
use crate::promises::{Broken, Outcome, Promises, stalingrad};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// What `vlad test` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    /// The programs.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A folder in which `(include "name")` looks for name.vlad, after the folder of the including file. May be
    /// repeated.
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// The language of the programs. Those for the original compiler say with `===>` what an expression gives.
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value = "vlad", hide_default_value = true)]
    dialect: Dialect,
    /// Make it an error if vlad.lock does not have what the project depends on.
    #[arg(long)]
    locked: bool,
    /// Run compiled code only, which is faster.
    #[arg(long)]
    no_eval: bool,
    /// Stop a program that takes longer.
    #[arg(long, value_name = "SECONDS", default_value = "60")]
    time_limit: u64,
}

/// A way to run a program.
struct Engine {
    subcommand: &'static str,
    compiled: bool,
    /// How messages call it.
    name: &'static str,
}

const EVALUATOR: Engine = Engine { subcommand: "eval", compiled: false, name: "in the evaluator" };
const COMPILED: Engine = Engine { subcommand: "run", compiled: true, name: "in compiled code" };

/// What became of a file.
struct Verdict {
    promises: usize,
    broken: Vec<Diagnostic>,
    sources: SourceMap,
}

/// Runs the subcommand. Programs run beside each other; what is reported stands in the order of the arguments.
pub fn run(arguments: &Arguments) -> u8 {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let workers = thread::available_parallelism().map_or(1, usize::from).min(arguments.files.len());
    thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = arguments.files.get(index) else { return };
                    // Nobody listens any more when the output could not be written.
                    let _ = sender.send((index, test(file, arguments)));
                }
            });
        }
        drop(sender);
        report(arguments, &receiver)
    })
}

/// Reports verdicts in order, and sums up.
fn report(arguments: &Arguments, verdicts: &mpsc::Receiver<(usize, Result<Verdict, u8>)>) -> u8 {
    let mut waiting: Vec<Option<Result<Verdict, u8>>> = arguments.files.iter().map(|_| None).collect();
    let (mut next, mut worst) = (0, SUCCESS);
    let (mut good, mut bad, mut promises) = (0, 0, 0);
    for (index, verdict) in verdicts {
        waiting[index] = Some(verdict);
        while let Some(verdict) = waiting.get_mut(next).and_then(Option::take) {
            let name = arguments.files[next].display();
            next += 1;
            match verdict {
                Err(code) => {
                    worst = worst.max(code);
                    bad += 1;
                }
                Ok(verdict) => {
                    let failed = !verdict.broken.is_empty();
                    let what = if failed { "FAIL" } else { "ok  " };
                    let code = terminal::print(&format!("{what} {name} ({})\n", count(verdict.promises, "promise")));
                    terminal::report(&verdict.broken, &verdict.sources);
                    worst = worst.max(code).max(if failed { FAULT } else { SUCCESS });
                    promises += verdict.promises;
                    *(if failed { &mut bad } else { &mut good }) += 1;
                }
            }
        }
    }
    let files = if bad == 0 { count(good, "file") } else { format!("{} of {}", bad, count(good + bad, "file")) };
    let outcome = if bad == 0 { "ok" } else { "FAILED" };
    worst.max(terminal::print(&format!("{files} {outcome}, {}\n", count(promises, "promise"))))
}

fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Tests a program. An error is an exit code: the file cannot be read, as has been reported.
fn test(path: &Path, arguments: &Arguments) -> Result<Verdict, u8> {
    let text = fmt::text(path)?;
    let checks = if arguments.dialect == Dialect::Stalingrad { stalingrad::checks(&text) } else { Vec::new() };
    let promises = Promises::read(&text);
    let mut sources = SourceMap::new();
    let file = sources.add(path.display().to_string(), text, false);
    if checks.is_empty() {
        let broken = in_all_engines(arguments, |engine| {
            attempt(
                execute(engine, path, &promises.input, &promises.arguments, arguments),
                path,
                arguments,
                |outcome| {
                    let found = promises.broken(outcome, engine.compiled);
                    found.iter().map(|broken| diagnostic(file, broken, outcome)).collect()
                },
            )
        });
        return Ok(Verdict { promises: promises.count(), broken, sources });
    }
    let broken = checks.iter().flat_map(|check| {
        in_all_engines(arguments, |engine| {
            attempt(execute_check(engine, path, check, arguments), path, arguments, |outcome| {
                check.compare(outcome).err().map(|found| unexpected(file, check, &found, outcome)).into_iter().collect()
            })
        })
    });
    Ok(Verdict { promises: checks.len(), broken: broken.collect(), sources })
}

/// What goes wrong in any engine. What goes wrong in several in the same way is said once.
fn in_all_engines(arguments: &Arguments, run: impl Fn(&Engine) -> Vec<Diagnostic>) -> Vec<Diagnostic> {
    let engines = if arguments.no_eval { &[COMPILED][..] } else { &[EVALUATOR, COMPILED] };
    let mut broken: Vec<(Diagnostic, Vec<&str>)> = Vec::new();
    for engine in engines {
        for diagnostic in run(engine) {
            match broken.iter_mut().find(|(known, _)| same(known, &diagnostic)) {
                Some((_, engines)) => engines.push(engine.name),
                None => broken.push((diagnostic, vec![engine.name])),
            }
        }
    }
    broken.into_iter().map(|(diagnostic, engines)| diagnostic.note(engines.join(" and "))).collect()
}

/// What is wrong with a run, if it could be started and ended in time.
fn attempt(
    result: io::Result<Option<Outcome>>,
    path: &Path,
    arguments: &Arguments,
    examine: impl Fn(&Outcome) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    match result {
        Ok(Some(outcome)) => examine(&outcome),
        Ok(None) => vec![too_long(path, arguments.time_limit)],
        Err(error) => vec![cannot_run(path, &error)],
    }
}

/// Runs a check of a program as a program of its own. Its file has the same name, and includes are looked up beside the
/// program.
fn execute_check(
    engine: &Engine,
    path: &Path,
    check: &stalingrad::Check,
    arguments: &Arguments,
) -> io::Result<Option<Outcome>> {
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join(path.file_name().unwrap_or(path.as_os_str()));
    std::fs::write(&copy, &check.program)?;
    let beside = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let include = std::iter::once(beside.to_path_buf()).chain(arguments.include.iter().cloned()).collect();
    let arguments = Arguments { files: Vec::new(), include, ..*arguments };
    let outcome = execute(engine, &copy, &check.input, &[], &arguments)?;
    // Forms stand in the copy where they stand in the program.
    let named = |messages: String| messages.replace(&*copy.to_string_lossy(), &path.to_string_lossy());
    Ok(outcome.map(|outcome| Outcome { messages: named(outcome.messages), ..outcome }))
}

/// The message about a check whose program gave something else.
fn unexpected(file: FileId, check: &stalingrad::Check, found: &str, outcome: &Outcome) -> Diagnostic {
    let span = Span::new(file, check.promise.place.start, check.promise.place.end);
    if outcome.code == Some(0) {
        let message = format!("expected {}, got {}", quoted(&check.promise.text), quoted(found));
        return Diagnostic::error("V0820", message, span, "promised here");
    }
    said(Diagnostic::error("V0823", format!("the program {}", ended(outcome.code)), span, "promised here"), outcome)
}

/// Whether messages of two runs are about the same. (What the runs themselves say may differ a little.)
fn same(a: &Diagnostic, b: &Diagnostic) -> bool {
    (a.code, &a.message, &a.primary) == (b.code, &b.message, &b.primary)
}

/// Runs a program; `None` when it takes too long.
fn execute(
    engine: &Engine,
    path: &Path,
    input: &str,
    words: &[String],
    arguments: &Arguments,
) -> io::Result<Option<Outcome>> {
    let mut stdin = tempfile::tempfile()?;
    stdin.write_all(input.as_bytes())?;
    stdin.rewind()?;
    // Files take whatever a program prints; pipes would have to be emptied meanwhile.
    let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(engine.subcommand).args(["--color", "never"]);
    if arguments.dialect == Dialect::Stalingrad {
        command.args(["--dialect", "stalingrad"]);
    }
    if arguments.locked {
        command.arg("--locked");
    }
    for folder in &arguments.include {
        command.arg("-I").arg(folder);
    }
    // A name that looks like an option is one no more behind its folder.
    let path = if path.to_string_lossy().starts_with('-') { Path::new(".").join(path) } else { path.to_path_buf() };
    command.arg(path);
    if !words.is_empty() {
        command.arg("--").args(words);
    }
    command.stdin(stdin).stdout(Stdio::from(stdout.try_clone()?)).stderr(stderr.try_clone()?);
    let status = wait(command, Duration::from_secs(arguments.time_limit))?;
    let Some(status) = status else { return Ok(None) };
    Ok(Some(Outcome { code: status.code(), output: contents(stdout)?, messages: contents(stderr)? }))
}

/// Waits for a command to end; kills it and gives `None` when it takes longer than `limit`.
fn wait(mut command: Command, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn contents(mut file: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn quoted(text: &str) -> String {
    if text.is_empty() { "an empty line".to_string() } else { format!("`{text}`") }
}

/// The message with what the run itself said.
fn said(diagnostic: Diagnostic, outcome: &Outcome) -> Diagnostic {
    match outcome.messages.trim_end() {
        "" => diagnostic,
        messages => diagnostic.note(format!("it says:\n{messages}")),
    }
}

fn ended(code: Option<i32>) -> String {
    match code {
        Some(0) => "did not fail".to_string(),
        Some(code) => format!("failed with exit code {code}"),
        None => "was ended by a signal".to_string(),
    }
}

/// The message about a broken promise.
fn diagnostic(file: FileId, broken: &Broken, outcome: &Outcome) -> Diagnostic {
    let span = |place: &std::ops::Range<usize>| Span::new(file, place.start, place.end);
    let said = |diagnostic: Diagnostic| said(diagnostic, outcome);
    match broken {
        Broken::Line { promise, found } => {
            let message = format!("expected {}, got {}", quoted(&promise.text), quoted(found));
            Diagnostic::error("V0820", message, span(&promise.place), "promised here")
        }
        Broken::Missing { promise } => {
            let message = format!("expected {}, which is not printed", quoted(&promise.text));
            Diagnostic::error("V0821", message, span(&promise.place), "promised here")
        }
        Broken::Unexpected { before, found } => {
            let message = format!("got {}, which is not promised", quoted(found));
            let help = format!("promise it behind its expression: `;=> {found}`");
            match before {
                Some(before) => Diagnostic::error("V0822", message, span(&before.place), "the promise before it"),
                None => Diagnostic::error("V0822", message, Span::new(file, 0, 0), "before all promises"),
            }
            .help(help)
        }
        Broken::Failed { code } => {
            let message = format!("the program {}", ended(*code));
            said(Diagnostic::error_without_place("V0823", message))
                .help("if it has to fail, promise it: `;=> error: text of the message`")
        }
        Broken::NotFailed { promise, code } => {
            let message = format!("expected an error with exit code 1, but the program {}", ended(*code));
            said(Diagnostic::error("V0824", message, span(&promise.place), "promised here"))
        }
        Broken::OtherError { promise } => {
            let message = format!("expected an error that says {}", quoted(&promise.text));
            said(Diagnostic::error("V0824", message, span(&promise.place), "promised here"))
        }
        Broken::NotWarned { promise } => {
            let message = format!("expected a warning that says {}", quoted(&promise.text));
            said(Diagnostic::error("V0825", message, span(&promise.place), "promised here"))
        }
    }
}

fn too_long(path: &Path, seconds: u64) -> Diagnostic {
    let message = format!("`{}` was stopped after {}", path.display(), count(seconds as usize, "second"));
    Diagnostic::error_without_place("V0826", message).help("`--time-limit SECONDS` lets programs take longer")
}

fn cannot_run(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::error_without_place("V0809", format!("cannot run `{}`: {error}", path.display()))
}
