//! `vlad eval`: run in the reference evaluator. Also what programs that embed it do.

use super::{Input, SUCCESS, arguments, build, terminal};
use crate::base::{Diagnostic, SourceMap};
use crate::core::eval;
use crate::core::ir::Program;
use crate::pipeline::{Pipeline, Settings};
use signal_hook::consts::SIGINT;
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufWriter, IsTerminal, Read, Stdout, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code after an interruption.
const INTERRUPTION: i32 = 130;

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
    /// Warn of each place where a function is differentiated at a point where it has no derivative, and say what is taken
    /// for it.
    #[arg(long)]
    pub warn_kinks: bool,
    /// Functions whose derivatives are not to be checked.
    #[arg(skip)]
    pub unchecked: Vec<String>,
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

/// Evaluates a program, given its own name and its arguments; the result is the exit code.
pub fn evaluate_program(
    program: &mut Program,
    sources: &SourceMap,
    reports: &Reports,
    (name, arguments): (&OsStr, &[OsString]),
) -> u8 {
    let numbers = match arguments::numbers(program.arguments.as_deref().unwrap_or(""), name, arguments) {
        Ok(numbers) => numbers,
        Err(code) => return code,
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    // A second interruption ends the process at once. Without a handler, interruptions end it as they do others.
    let _ = signal_hook::flag::register_conditional_shutdown(SIGINT, INTERRUPTION, interrupted.clone());
    let _ = signal_hook::flag::register(SIGINT, interrupted.clone());
    let shared = Output { buffer: RefCell::new(BufWriter::new(io::stdout())), failure: RefCell::new(None) };
    let lines = io::stdout().is_terminal();
    let mut output = Writer { shared: &shared, lines };
    let mut input = Reader { shared: &shared, input: io::stdin().lock() };
    let on_kink: Option<eval::KinkReport> =
        reports.warn_kinks.then_some(|kink, sources| terminal::report([kink], sources));
    let unchecked = reports.unchecked.clone();
    let progress = io::stderr().is_terminal().then_some(arguments::tell as fn(f64));
    let options = eval::Options {
        trap_nan: reports.trap_nan,
        on_kink,
        unchecked,
        arguments: numbers,
        progress,
        interrupted: Some(interrupted.clone()),
        ..options()
    };
    let result = eval::run(program, sources, &options, &mut input, &mut output);
    arguments::end_line();
    if interrupted.load(Ordering::Relaxed) && result.is_err() {
        shared.leave_whole_lines();
    }
    let flushed = output.flush();
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
            SUCCESS
        }
        Err(failure) => {
            terminal::report([&*failure.diagnostic], sources);
            u8::try_from(failure.exit_code).unwrap_or(super::FAULT)
        }
    }
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
    let options = eval::Options { interrupted: Some(interrupted.clone()), arguments, ..options() };
    let result = eval::run(program, sources, &options, input, output);
    result.map(|_| ()).map_err(|failure| failure.diagnostic)
}

/// The evaluator keeps to the same limit as compiled programs do.
fn options() -> eval::Options {
    let mut options = eval::Options::default();
    let limit = std::env::var("VLAD_MAX_MEMORY").ok().and_then(|text| size(&text));
    options.limits.memory = limit.unwrap_or(options.limits.memory);
    options
}

/// A number of bytes: `500000`, `64K`, `512M`, `2G`.
fn size(text: &str) -> Option<usize> {
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
}

impl Output {
    /// Ends the process after an interruption, with whole lines only.
    fn leave_whole_lines(&self) -> ! {
        let mut buffer = self.buffer.borrow_mut();
        let whole = buffer.buffer().iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines = buffer.buffer()[..whole].to_vec();
        // Nobody is told any more that standard output cannot be written.
        let _ = buffer.get_mut().write_all(&lines).and_then(|()| buffer.get_mut().flush());
        std::process::exit(INTERRUPTION)
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
        let result = self.shared.buffer.borrow_mut().write(bytes);
        let written = self.shared.note(result)?;
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
        self.input.fill_buf()
    }
    fn consume(&mut self, amount: usize) {
        self.input.consume(amount);
    }
}
