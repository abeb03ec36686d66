//! The program `vlad`: arguments in, exit codes out.
//!
//! | exit code | |
//! |---|---|
//! | 0 | everything worked |
//! | 1 | the program that was compiled or run is at fault |
//! | 2 | `vlad` was called in a wrong way: unknown options, a file that cannot be read |
//! | 3 | memory or stack was exhausted |
//!
//! One file for each subcommand; [`terminal`] prints messages; [`embedded`] is about executables that evaluate.

use crate::base::Diagnostic;
use crate::codegen::Machine;
use crate::codegen::c::compiler::Compiler;
use crate::codegen::target::Target;
use crate::expand;
use crate::flow::{self, limits::LIMITS};
use crate::pipeline::Settings;
use crate::projects::Access;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;

mod bench;

mod explain;

mod jupyter;

mod lsp;

mod message;

mod new;

mod profile;

mod repl;

mod running;

mod terminal;

mod tools;

mod update;

/// Everything worked.
const SUCCESS: u8 = 0;
/// The program is at fault.
const FAULT: u8 = 1;
/// `vlad` was called in a wrong way.
const USAGE: u8 = 2;

/// The compiler works on structures as deep as the program is nested, so it gets a large stack; only the part that is
/// used takes memory.
const STACK: usize = 4 << 30;
const SMALL_STACK: usize = 256 << 20;

pub use terminal::output_is_closed;

const EXAMPLES: &str = "\
Examples:
  vlad run examples/saddle.vlad                compile a program and run it
  vlad build examples/saddle.vlad -o saddle    leave the executable
  echo 2 3 | vlad run hypotenuse.vlad          programs read numbers from standard input
  vlad eval --count examples/gradients.vlad    run in the reference evaluator, count operations
  vlad emit --stage opt examples/xor.vlad      show the optimised code

Programs look at two variables of the environment: VLAD_MAX_MEMORY (such as 500M or 8G) limits their memory;
VLAD_REPORT_MEMORY makes compiled ones say at their end how much they used.

Exit codes: 0 success, 1 the program is at fault, 2 wrong usage, 3 memory or stack exhausted.";

/// Ahead-of-time compiler for VLAD, the functional language whose derivative operator is a function like any other.
#[derive(Parser)]
#[command(name = "vlad", version, after_help = EXAMPLES, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// When to use colours in messages.
    #[arg(long, value_enum, default_value = "auto", global = true)]
    color: Color,
    /// How to print messages to standard error.
    #[arg(long, value_enum, default_value = "human", global = true, value_name = "FORMAT")]
    message_format: MessageFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MessageFormat {
    /// For people.
    Human,
    /// One JSON object in each line, for editors and other programs.
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    /// If standard error is a terminal and the variable NO_COLOR is not set.
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
enum Command {
    /// Compile a program and run it.
    ///
    /// The program reads numbers from standard input with `read-real`; the values of its expressions go to standard
    /// output. The exit code is that of the program.
    Run(running::run::Arguments),
    /// Compile a program to an executable.
    ///
    /// The executable needs nothing but the C library. If the variable CC names a C compiler, that one links it.
    Build(running::build::Arguments),
    /// Run a program in the reference evaluator.
    ///
    /// The evaluator executes the definitions of the language literally: slow, but without any restriction. Compiled
    /// programs print the same.
    Eval(running::eval::Arguments),
    /// Compile a program, run it, and compare its derivatives with differences.
    ///
    /// Checks every derivative that the program takes with a function of the library, and every derivative that it
    /// gives with `with-derivative`, `with-vjp`, `with-jvp` and `custom-*j`: reverse mode, forward mode and differences
    /// must agree. Stops at the first wrong one and names the function, the innermost first. Warns of kinks, where any
    /// value between the one-sided derivatives is right. The program's own output is printed as ever.
    Gradcheck(tools::gradcheck::Arguments),
    /// Measure the derivatives that a program takes.
    ///
    /// Measures every call such as `((gradient f) x)` in an expression at the top level against `(f x)`: time, memory,
    /// compile time and size. Both are compiled to programs of their own, which know nothing of the numbers in `x`
    /// before they run. What the program reads it reads from standard input.
    Bench(bench::Arguments),
    /// Compile a program, run it, and say on which lines it spends its time.
    ///
    /// Shows how much of the processor time each line and function takes, for values and for derivatives. The program
    /// interrupts itself four times in a millisecond to note where it is. Its output goes where it always goes, the
    /// tables go to standard error. The exit code is that of the program.
    Profile(profile::Arguments),
    /// Explain what the compiler makes of a program.
    ///
    /// Shows for each function of the program the shapes that it is specialised for, and what the compiled program
    /// keeps in memory: each kind of box, where and how often it is made, and which operations need what is stored in
    /// it. `vlad explain V0201` explains a message by its code, `vlad explain --derivative f FILE` writes a derivative
    /// out.
    Explain(explain::Arguments),
    /// Look for mistakes in a program, without running it.
    Check(tools::check::Arguments),
    /// Evaluate what is typed.
    ///
    /// Reads definitions and expressions, evaluates them in the reference evaluator and prints their values. At a
    /// terminal, lines can be edited, and the Tab key completes names.
    Repl(repl::Arguments),
    /// Make a folder with a program to start from.
    ///
    /// It holds a small program with comments, its tests, a manifest, a README and a .gitignore. Nothing is
    /// overwritten.
    New(new::Arguments),
    /// Fetch what a project depends on anew.
    ///
    /// Looks up which commits the revisions in vlad.toml are now, of all dependencies by git or of those that are
    /// named, fetches them, and writes them to vlad.lock. The project is that of the folder at hand.
    Update(update::Arguments),
    /// Lay programs out as is usual.
    ///
    /// Indents lines, breaks those that are longer than 100 columns, and leaves single spaces and at most one blank
    /// line. Line breaks and comments stay. Formatting twice changes nothing.
    Fmt(tools::fmt::Arguments),
    /// Test whether programs print what their comments promise.
    ///
    /// A comment `;=> value` promises one line of output, `;=> error: text`, as the last one, that the program fails
    /// with a message that contains the text, `;=> warning: text` that the compiler warns so. A comment `;<= line` is a
    /// line of the program's input, `;<= -- words` are words of its command line. Programs run in the evaluator and
    /// compiled. The exit code is 1 if a promise is broken.
    Test(tools::test::Arguments),
    /// Write a reference of the standard library, or of programs, in Markdown.
    ///
    /// A comment directly in front of a definition describes it. If it begins with a call and a colon, as in `; (f x):
    /// the value`, the call is shown instead of what is defined. A comment with a blank line behind it stands for
    /// itself.
    Doc(tools::doc::Arguments),
    /// Show a program at a stage of the compiler.
    Emit(tools::emit::Arguments),
    /// Serve editors that speak the language server protocol.
    ///
    /// Messages while programs are written, definitions, descriptions and shapes of functions, completion, formatting.
    /// Editors start it; it talks to them on standard input and output.
    Lsp(lsp::Arguments),
    /// Evaluate the cells of Jupyter's notebooks.
    ///
    /// `vlad jupyter install` tells Jupyter of a kernel that evaluates cells as `vlad repl` evaluates inputs, and shows
    /// plots below them. Needs Python with the package ipykernel.
    Jupyter(jupyter::Arguments),
    /// Print what a shell needs to complete the arguments of vlad.
    Completions(tools::manual::Completions),
    /// Write manual pages.
    Man(tools::manual::Man),
}

/// What all subcommands share.
#[derive(Args)]
struct Input {
    /// The program.
    file: PathBuf,
    /// A folder in which `(include "name")` looks for name.vlad, after the folder of the including file. May be
    /// repeated.
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// The language of the sources.
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value = "vlad", hide_default_value = true)]
    dialect: Dialect,
    /// Make it an error if vlad.lock does not have what the project depends on.
    #[arg(long)]
    locked: bool,
}

/// A language that sources are written in.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Dialect {
    /// That of the documentation, unless told otherwise
    #[default]
    Vlad,
    /// That of the original compiler, whose programs run unchanged
    Stalingrad,
}

impl Dialect {
    fn of_sources(self) -> expand::Dialect {
        match self {
            Dialect::Vlad => expand::Dialect::Vlad,
            Dialect::Stalingrad => expand::Dialect::Stalingrad,
        }
    }
}

/// How to compile.
#[derive(Args)]
struct Native {
    /// Make it an error if the program needs the reference evaluator at run time.
    #[arg(long)]
    native: bool,
    /// Use all instructions of this machine; the executable may not run on others.
    #[arg(long)]
    native_cpu: bool,
    /// Tell debuggers and profilers which lines and functions the code is made of. The code stays the same.
    #[arg(short = 'g', long)]
    debug: bool,
    /// Make sums and products of loops in any order: faster, but their last digits are not those of the evaluator.
    #[arg(long)]
    fast_math: bool,
    /// Stop at the first operation that gives an infinite number, or none, from operands that are finite.
    #[arg(long)]
    trap_nan: bool,
    /// Let the tape of a loop take at most so much memory, such as 100M, and run rounds again for more [default: a
    /// quarter of the memory].
    #[arg(long, value_name = "SIZE", value_parser = memory_size)]
    tape_memory: Option<i64>,
    /// Print how long each part of the compiler took.
    #[arg(long)]
    time_passes: bool,
    /// Fail behind the front end, to see what happens then.
    #[arg(long, hide = true)]
    panic: bool,
    #[command(flatten)]
    limits: LimitArguments,
}

fn memory_size(text: &str) -> Result<i64, String> {
    let size = running::eval::size(text).and_then(|size| i64::try_from(size).ok());
    size.ok_or_else(|| "sizes are written as 500000, 64K, 512M or 2G".to_owned())
}

/// What makes machine code.
#[derive(Args)]
struct BackEnd {
    /// What makes machine code.
    #[arg(long, value_enum, value_name = "NAME", default_value = "cranelift")]
    back_end: BackEndName,
    /// The C compiler of `--back-end c` with its options, such as "clang -O3 -march=native" [default: $CC or cc, -O2].
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true)]
    cc: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BackEndName {
    /// The code generator within: compiles quickly, needs no other program
    Cranelift,
    /// A C compiler, which takes longer and may make faster code; the numbers are the same to the last bit
    C,
}

impl BackEnd {
    /// The C compiler that is asked for.
    ///
    /// # Errors
    ///
    /// When options do not go together.
    fn c_compiler(
        &self,
        native: &Native,
        target: Option<Target>,
        is_library: bool,
    ) -> Result<Option<Compiler>, Box<Diagnostic>> {
        let error = |message: &str, help: &str| {
            Err(Box::new(Diagnostic::error_without_place("V0813", message.to_string()).help(help)))
        };
        match self.back_end {
            BackEndName::Cranelift if self.cc.is_some() => {
                error("`--cc` names the C compiler of `--back-end c`", "add `--back-end c`, or leave `--cc` out")
            }
            BackEndName::Cranelift => Ok(None),
            BackEndName::C if is_library => error("libraries are not made by way of C", "leave out `--back-end c`"),
            BackEndName::C if native.native_cpu => error(
                "`--native-cpu` is no option of the C back end",
                "tell the C compiler instead: `--cc \"cc -O3 -march=native\"`",
            ),
            BackEndName::C if native.debug => {
                error("`--debug` is no option of the C back end", "leave out one of `--debug` and `--back-end c`")
            }
            BackEndName::C if target.is_some() => {
                error("`--target` is no option of the C back end", "name a C compiler for that machine: `--cc`")
            }
            BackEndName::C => Compiler::named(self.cc.as_deref()).map(Some),
        }
    }
}

/// What says for which machine to compile.
#[derive(Args)]
struct TargetArgument {
    /// Compile for this machine instead of the one at hand, such as x86_64-unknown-linux-musl.
    #[arg(long, value_name = "MACHINE", value_parser = Target::parse, conflicts_with = "native_cpu")]
    target: Option<Target>,
}

impl TargetArgument {
    fn machine(&self) -> Machine {
        let other = self.target.filter(|target| Some(*target) != Target::own());
        other.map_or(Machine::Host, Machine::Other)
    }
}

/// Limits of the compiler.
#[derive(Args)]
struct LimitArguments {
    // The help is written from the table of limits.
    #[arg(long = "limit", value_name = "NAME=NUMBER", value_parser = parse_limit)]
    #[arg(help = "Set a limit of the compiler; may be repeated", long_help = limits_help())]
    limits: Vec<(String, u32)>,
}

fn limits_help() -> String {
    let mut help = "Set a limit of the compiler; may be repeated:".to_string();
    let defaults = flow::Options::default();
    for limit in &LIMITS {
        help += &format!("\n- {} [default: {}]: {}", limit.name, (limit.get)(&defaults), limit.about);
    }
    help
}

fn parse_limit(text: &str) -> Result<(String, u32), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=NUMBER")?;
    let value = value.parse().map_err(|_| format!("`{value}` is not a number from 0 to {}", u32::MAX))?;
    flow::Options::default().set(name, value)?;
    Ok((name.to_string(), value))
}

impl LimitArguments {
    fn options(&self) -> flow::Options {
        let mut options = flow::Options::default();
        for (name, value) in &self.limits {
            options.set(name, *value).expect("the parser of the arguments knows the names");
        }
        options
    }
}

impl Input {
    fn settings(&self) -> Settings {
        let access = if self.locked { Access::Locked } else { Access::Fetch };
        Settings { include: self.include.clone(), dialect: self.dialect.of_sources(), access, ..Settings::default() }
    }
}

impl Native {
    fn settings(&self, input: &Input) -> Settings {
        let Native { native_cpu, debug, fast_math, trap_nan, tape_memory, .. } = *self;
        let settings = Settings { limits: self.limits.options(), ..input.settings() };
        Settings { native_cpu, debug, fast_math, trap_nan, tape_memory, ..settings }
    }
}

/// The whole program: what `main` calls.
pub fn main() -> ExitCode {
    terminal::install_panic_hook();
    let Ok(thread) = on_large_stack(STACK).or_else(|_| on_large_stack(SMALL_STACK)) else {
        eprintln!("error: the system refuses the memory for a stack of {} MiB", SMALL_STACK >> 20);
        return ExitCode::from(3);
    };
    // The panic hook has told the user what happened; for the caller it is a failure like others.
    let code = thread.join().unwrap_or(FAULT);
    ExitCode::from(code)
}

fn on_large_stack(size: usize) -> std::io::Result<std::thread::JoinHandle<u8>> {
    std::thread::Builder::new().name("vlad".to_string()).stack_size(size).spawn(dispatch)
}

fn dispatch() -> u8 {
    if let Some(program) = running::embedded::find() {
        return running::embedded::run(program);
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            if error.use_stderr() {
                // There is nowhere to say that standard error cannot be written.
                let _ = error.print();
                return USAGE;
            }
            return match terminal::demand_output().and_then(|()| error.print()) {
                Ok(()) => SUCCESS,
                Err(error) => terminal::output_failed(&error),
            };
        }
    };
    terminal::choose_color(arguments.color);
    terminal::choose_format(arguments.message_format);
    match arguments.command {
        Command::Run(arguments) => running::run::run(&arguments),
        Command::Build(arguments) => running::build::run(&arguments),
        Command::Eval(arguments) => running::eval::run(&arguments),
        Command::Gradcheck(arguments) => tools::gradcheck::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Profile(arguments) => profile::run(arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Check(arguments) => tools::check::run(&arguments),
        Command::Fmt(arguments) => tools::fmt::run(&arguments),
        Command::Test(arguments) => tools::test::run(&arguments),
        Command::Repl(arguments) => repl::run(&arguments),
        Command::New(arguments) => new::run(&arguments),
        Command::Update(arguments) => update::run(&arguments),
        Command::Doc(arguments) => tools::doc::run(&arguments),
        Command::Emit(arguments) => tools::emit::run(&arguments),
        Command::Lsp(arguments) => lsp::run(&arguments),
        Command::Jupyter(arguments) => jupyter::run(&arguments),
        Command::Completions(arguments) => tools::manual::completions(&arguments),
        Command::Man(arguments) => tools::manual::man(&arguments),
    }
}
