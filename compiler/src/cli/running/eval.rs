//! `vlad eval`: run in the reference evaluator. Also what programs that embed it do.

use crate::base::{Diagnostic, SourceMap};
use crate::cli::running::{arguments, build, watch};
use crate::cli::{Input, SUCCESS, terminal};
use crate::core::ir::Program;
use crate::eval;
use crate::pipeline::{Pipeline, Settings};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufWriter, IsTerminal, Read, Stdout, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What is added to a signal for the exit code after it.
const INTERRUPTION: i32 = 128;

/// What `vlad eval` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    reports: Reports,
    /// Arguments for the program.
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

/// What the evaluator says about a run.
#[derive(clap::Args, Clone, Default)]
pub struct Reports {
    /// Print to standard error how many arithmetic operations of each kind were computed.
    #[arg(long)]
    pub count: bool,
    /// Stop at the first operation that gives an infinite number, or none, from operands that are finite.
    #[arg(long)]
    pub trap_nan: bool,
    /// Warn of each place where a function is differentiated at a point where it has no derivative, and say what is
    /// taken for it.
    #[arg(long)]
    pub warn_kinks: bool,
    /// How many derivatives of each function are all checked.
    #[arg(skip)]
    pub checked_calls: u64,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> u8 {
    evaluate(&arguments.input, arguments.input.settings(), &arguments.reports, &arguments.arguments)
}

/// Reads and evaluates a program with arguments.
pub fn evaluate(input: &Input, settings: Settings, reports: &Reports, arguments: &[OsString]) -> u8 {
    let mut pipeline = Pipeline::new(settings);
    match build::read(&mut pipeline, input) {
        Ok(mut program) => {
            let name = input.file.file_stem().unwrap_or("program".as_ref());
            evaluate_program(&mut program, &pipeline.sources, reports, (name, arguments))
        }
        Err(code) => code,
    }
}

/// The variable that limits the memory of programs.
const MEMORY: &str = "VLAD_MAX_MEMORY";

/// The exit code when memory was exhausted.
const EXHAUSTED: i32 = 3;

/// Evaluates a program, given its own name and its arguments; the result is the exit code.
pub fn evaluate_program(
    program: &mut Program,
    sources: &SourceMap,
    reports: &Reports,
    (name, arguments): (&OsStr, &[OsString]),
) -> u8 {
    watch::begin(program.identity);
    let numbers = match arguments::numbers(program.arguments.as_deref().unwrap_or(""), name, arguments) {
        Ok(numbers) => numbers,
        Err(code) => return code,
    };
    let options = match options() {
        Ok(options) => options,
        Err(code) => return code,
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    let (signal, waiting) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    for (kind, number) in [(SIGINT, 2), (SIGTERM, 15)] {
        // A second interruption ends the process at once, and so does one while it waits for input, when there is
        // nothing to write. Without a handler, interruptions end it as they do others.
        let _ = signal_hook::flag::register_conditional_shutdown(kind, INTERRUPTION + kind, interrupted.clone());
        let _ = signal_hook::flag::register_conditional_shutdown(kind, INTERRUPTION + kind, waiting.clone());
        let _ = signal_hook::flag::register_usize(kind, signal.clone(), number);
        let _ = signal_hook::flag::register(kind, interrupted.clone());
    }
    let shared = Output { buffer: RefCell::new(BufWriter::new(io::stdout())), failure: RefCell::new(None) };
    let lines = io::stdout().is_terminal();
    let mut output = Writer { shared: &shared, lines };
    let mut input = Reader { shared: &shared, input: io::stdin().lock(), waiting };
    let on_kink: Option<eval::KinkReport> =
        reports.warn_kinks.then_some(|kink, sources| terminal::report([kink], sources));
    let options = eval::Options {
        trap_nan: reports.trap_nan,
        on_kink,
        checked_calls: reports.checked_calls,
        arguments: numbers,
        answer: Some(watch::answer),
        on_file: Some(watch::file_written),
        on_result: Some(watch::result),
        interrupted: Some(interrupted.clone()),
        ..options
    };
    let result = eval::run(program, sources, &options, &mut input, &mut output);
    watch::end_line();
    if interrupted.load(Ordering::Relaxed) && result.is_err() {
        watch::interrupted();
        let signal = i32::try_from(signal.load(Ordering::Relaxed)).unwrap_or(SIGINT);
        watch::write_report(INTERRUPTION + signal);
        shared.leave_whole_lines(INTERRUPTION + signal);
    }
    let flushed = output.flush();
    let code = exit_code(result, flushed, &shared, sources, reports);
    watch::write_report(i32::from(code));
    code
}

/// Says what there is to say at the end of a program; its exit code.
fn exit_code(
    result: Result<eval::Counts, eval::Failure>,
    flushed: io::Result<()>,
    shared: &Output,
    sources: &SourceMap,
    reports: &Reports,
) -> u8 {
    if let Some(error) = shared.failure.borrow().as_ref() {
        return terminal::output_failed(error);
    }
    if let Err(error) = flushed {
        return terminal::output_failed(&error);
    }
    match result {
        Ok(counts) => {
            if reports.count {
                eprint!("{counts}");
            }
            watch::fault().unwrap_or(SUCCESS)
        }
        Err(failure) => {
            let is_limited = failure.exit_code == EXHAUSTED && std::env::var_os(MEMORY).is_some();
            let mut diagnostic = failure.diagnostic;
            if is_limited {
                // As compiled programs say it.
                *diagnostic = diagnostic.note(format!("the limit was set by {MEMORY}"));
            }
            terminal::report([&*diagnostic], sources);
            watch::reported(|report| report.message(diagnostic.render(sources, false).as_bytes()));
            u8::try_from(failure.exit_code).unwrap_or(crate::cli::FAULT)
        }
    }
}

/// The files that programs have written since somebody asked.
static FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn note_file(file: &Path) {
    FILES.lock().unwrap_or_else(PoisonError::into_inner).push(file.to_path_buf());
}

/// The files that programs have written by [`run_quietly`] since this was called last.
pub fn take_files() -> Vec<PathBuf> {
    std::mem::take(&mut FILES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Evaluates a program with any input and output, until it ends or is interrupted.
pub fn run_quietly(
    program: &mut Program,
    sources: &SourceMap,
    interrupted: &Arc<AtomicBool>,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<(), Box<Diagnostic>> {
    // Nobody says anything on a command line, so arguments have their defaults; a message says which one has none.
    let declaration = program.arguments.as_deref().unwrap_or("");
    let arguments = arguments::numbers(declaration, "program".as_ref(), &[]).unwrap_or_default();
    // What is no size is reported where programs are run.
    let limits = limits().unwrap_or_default();
    let interrupted = Some(interrupted.clone());
    let options =
        eval::Options { interrupted, arguments, limits, on_file: Some(note_file), ..eval::Options::default() };
    let result = eval::run(program, sources, &options, input, output);
    result.map(|_| ()).map_err(|failure| failure.diagnostic)
}

/// The evaluator keeps to the same limit as compiled programs do. An error is an exit code.
fn options() -> Result<eval::Options, u8> {
    match limits() {
        Ok(limits) => Ok(eval::Options { limits, ..eval::Options::default() }),
        Err(text) => {
            // As compiled programs say it.
            eprintln!("error: {MEMORY} is no size of memory: `{text}`");
            eprintln!("help: sizes are written as 500000, 64K, 512M or 2G");
            Err(crate::cli::USAGE)
        }
    }
}

/// The limits that the environment sets; an error is a text that sets none.
fn limits() -> Result<eval::Limits, String> {
    match std::env::var_os(MEMORY) {
        None => Ok(eval::Limits::default()),
        Some(text) => {
            let memory = text.to_str().and_then(size);
            memory.map(|memory| eval::Limits { memory }).ok_or_else(|| text.to_string_lossy().into_owned())
        }
    }
}

/// A number of bytes: `500000`, `64K`, `512M`, `2G`.
pub fn size(text: &str) -> Option<usize> {
    let text = text.trim();
    let units = [('K', 10), ('M', 20), ('G', 30)];
    let unit = units.iter().find(|(unit, _)| text.ends_with([*unit, unit.to_ascii_lowercase()]));
    let (digits, shift) = unit.map_or((text, 0), |(_, shift)| (&text[..text.len() - 1], *shift));
    digits.parse::<usize>().ok()?.checked_mul(1 << shift)
}

/// Standard output with a buffer, which is written out before the program waits for input.
struct Output {
    buffer: RefCell<BufWriter<Stdout>>,
    /// Why it could not be written.
    failure: RefCell<Option<io::Error>>,
}

struct Writer<'o> {
    shared: &'o Output,
    lines: bool,
}

struct Reader<'o, I> {
    shared: &'o Output,
    input: I,
    /// Set while there is nothing to do but wait.
    waiting: Arc<AtomicBool>,
}

impl Output {
    /// Ends the process after an interruption, with whole lines only.
    fn leave_whole_lines(&self, code: i32) -> ! {
        let mut buffer = self.buffer.borrow_mut();
        let whole = buffer.buffer().iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines = buffer.buffer()[..whole].to_vec();
        // Nobody is told any more that standard output cannot be written.
        let _ = buffer.get_mut().write_all(&lines).and_then(|()| buffer.get_mut().flush());
        std::process::exit(code)
    }
    fn note<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let kind = error.kind();
            self.failure.borrow_mut().get_or_insert(error);
            kind.into()
        })
    }
}

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let demanded = terminal::demand_output();
        let result = demanded.and_then(|()| self.shared.buffer.borrow_mut().write(bytes));
        let written = self.shared.note(result)?;
        watch::reported(|report| report.printed(&bytes[..written]));
        if self.lines && bytes.contains(&b'\n') {
            self.flush()?;
        }
        Ok(written)
    }
    fn flush(&mut self) -> io::Result<()> {
        let result = self.shared.buffer.borrow_mut().flush();
        self.shared.note(result)
    }
}

impl<I: BufRead> Read for Reader<'_, I> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.input.read(buffer)
    }
}

impl<I: BufRead> BufRead for Reader<'_, I> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let result = self.shared.buffer.borrow_mut().flush();
        self.shared.note(result)?;
        self.waiting.store(true, Ordering::Relaxed);
        let filled = self.input.fill_buf();
        self.waiting.store(false, Ordering::Relaxed);
        filled
    }
    fn consume(&mut self, amount: usize) {
        self.input.consume(amount);
    }
}
