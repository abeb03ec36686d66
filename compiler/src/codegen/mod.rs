//! Code generation: SSA (with explicit `retain` and `release`) → object code → executable.
//!
//! | module | task |
//! |---|---|
//! | [`target`] | the machine to generate code for |
//! | [`boxes`] | the layout of every alternative of every sum in memory |
//! | [`abi`] | signatures: which results travel in registers, which in memory |
//! | [`unit`](mod@unit) | the object file: symbols, texts, cells of globals, imported functions |
//! | [`function`] | one SSA function → one Cranelift function: blocks and terminators |
//! | [`instruction`] | operations on reals, truth values, texts and globals |
//! | [`memory`] | operations on boxes: allocation, fields, tags, reference counts |
//! | [`free`] | what happens to a box that nobody owns any more |
//! | [`vector`] | operations on vectors |
//! | [`lanes`] | operations on two lanes |
//! | [`in_place`] | which names are one address, of a vector that is changed in place |
//! | [`loop_values`] | which values get registers of their own in inner loops |
//! | [`constants`] | boxes that are known at compile time, as data |
//! | [`debug`] | what debuggers and profilers are told |
//! | [`complaints`] | what the program says when there is no memory for what it makes |
//! | [`operands`] | which fields are read where they are needed, which operands change places |
//! | [`ownership`] | which releases need no help from the run time |
//! | [`reuse`] | which new boxes take the place of dead ones |
//! | [`pressure`] | which functions need the quick register allocator |
//! | [`far`] | which values such a function keeps in memory |
//! | [`library`](mod@library) | the functions that callers of a library call, and what it says about itself |
//! | [`link`] | object and embedded run time → executable |
//! | [`runtimes`] | the run times that the compiler contains |
//! | [`elf`] | the linker |
//! | [`callers`] | the places of calls, for messages |
//! | [`c`] | the second back end, which makes C; it shares [`decisions`], [`boxes`] and [`constants`] |
//!
//! Requires a verified program whose reference counts are in place. Functions use Cranelift's `Tail` calling
//! convention, so that a tail call never needs stack; the run time and the mathematics library are called with the
//! convention of the system. Frame pointers are kept (tail calls need them, profilers like them).
//!
//! Deliberately not done here: inlining, scalar replacement and load forwarding. Cranelift does little of either, so
//! [`crate::opt`] must have done them. Not emitted: unwind tables, because nothing unwinds and Cranelift's would not
//! be position independent; what debuggers need is elsewhere ([`debug`]).

pub mod abi;
pub mod boxes;
pub mod c;
pub mod callers;
pub mod complaints;
pub mod constants;
pub mod debug;
pub mod decisions;
pub mod elf;
pub mod free;
pub mod function;
pub mod library;
pub mod link;
pub mod operations;
pub mod registers;
pub mod runtimes;
pub mod target;
pub mod unit;
use crate::base::{Diagnostic, SourceMap};
use crate::core::interface::Function;
use crate::ssa::ir::Program;
use std::path::PathBuf;

/// The layout of boxes, one definition for the compiler and the run time.
#[path = "../../../runtime/src/processor.rs"]
pub mod processor;

#[path = "../../../runtime/src/layout.rs"]
pub mod layout;

/// A machine that code can be generated for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Machine {
    /// The one that the compiler runs on.
    #[default]
    Host,
    /// Any of a kind.
    Other(target::Target),
}

/// What the user can choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'s> {
    /// The machine that the code is for.
    pub machine: Machine,
    /// Use every instruction of the machine that compiles, instead of those that all machines of its kind have.
    pub native_cpu: bool,
    /// Make code for a library, which finds its state in a register.
    pub library: bool,
    /// Tell debuggers and profilers what the code is made of.
    pub debug: bool,
    /// Let the program write down where it spends its time.
    pub profile: bool,
    /// What the program was read from, for what it says where memory is exhausted; without it that names no place.
    pub sources: Option<&'s SourceMap>,
}

/// What makes code a library.
#[derive(Clone, Debug)]
pub struct Library {
    /// What the names of its functions begin with.
    pub name: String,
    /// Its functions.
    pub functions: Vec<Function>,
}

/// Why there is no executable.
#[derive(Debug)]
pub enum Error {
    /// The machine is not one that code can be generated for.
    Target(String),
    /// The compiler was built without a run time for the machine.
    NoRunTime {
        /// The family of its processor.
        architecture: String,
    },
    /// A size that the layout of boxes cannot express.
    TooLarge {
        /// What is too large.
        what: String,
    },
    /// Cranelift refused a function: a mistake of this compiler.
    Bug {
        /// The function, or another part of the program.
        name: String,
        /// What Cranelift says.
        message: String,
    },
    /// There is no linker.
    NoLinker {
        /// The command that was tried.
        command: String,
        /// Why it did not run.
        cause: std::io::Error,
    },
    /// The linker failed.
    Linker {
        /// The command that was run.
        command: String,
        /// What it said.
        output: String,
    },
    /// The C compiler could not be run.
    NoCompiler {
        /// Its name and options.
        command: String,
        /// Why it could not be run.
        cause: std::io::Error,
    },
    /// The C compiler failed.
    Compiler {
        /// The command that was run.
        command: String,
        /// What it said.
        output: String,
    },
    /// A file could not be written.
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        cause: std::io::Error,
    },
}

impl Error {
    /// The message for the user.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let error = |code, message: String| Diagnostic::error_without_place(code, message);
        match self {
            Error::Target(message) => error("V0801", format!("cannot generate code for this machine: {message}"))
                .help("`vlad eval` runs programs on every machine"),
            Error::NoRunTime { architecture } => {
                let message = format!("this compiler contains no run time for {architecture}");
                error("V0801", message)
                    .help(format!("build the compiler with VLAD_TARGETS={architecture}-unknown-linux-gnu"))
            }
            Error::TooLarge { what } => error("V0802", format!("the program is too large: {what}"))
                .help("read what is written out here, or let one function capture what tells many apart"),
            Error::Bug { name, message } => error("V0800", format!("mistake in the compiler: code of `{name}`"))
                .note(message.clone())
                .help("please report this together with the program"),
            Error::NoLinker { command, cause } => error("V0803", format!("cannot run the linker `{command}`"))
                .note(cause.to_string())
                .note("executables and shared libraries need none, unless the environment variable CC names one")
                .help("install a C compiler (`apt install gcc`, for instance), or name one in CC"),
            Error::NoCompiler { command, cause } => error("V0803", format!("cannot run the C compiler `{command}`"))
                .note(cause.to_string())
                .help("install one (`apt install gcc`, for instance), name it in `--cc`, or leave out `--back-end c`"),
            Error::Linker { command, output } | Error::Compiler { command, output } => {
                let what = if matches!(self, Error::Linker { .. }) { "linker" } else { "C compiler" };
                let message = error("V0804", format!("the {what} failed")).note(command.clone());
                if output.trim().is_empty() { message } else { message.note(output.trim_end().to_string()) }
            }
            Error::Write { path, cause } => {
                error("V0805", format!("cannot write `{}`", path.display())).note(cause.to_string())
            }
        }
    }
}

/// The object code of a program.
#[derive(Debug)]
pub struct Object {
    /// The file.
    pub bytes: Vec<u8>,
    /// Whether it calls elementary functions, which then have to be linked.
    pub has_math: bool,
    /// Whether it calls kernels.
    pub has_kernels: bool,
    /// Whether debuggers and profilers are told what it is made of.
    pub is_described: bool,
    /// What it is for.
    pub machine: Machine,
}

/// What a back end makes of a program: what is left is to link it, or to compile and link it.
#[derive(Debug)]
pub enum Code {
    /// Object code, by Cranelift.
    Object(Object),
    /// C, and who compiles it.
    C(c::Source, c::compiler::Compiler),
}

/// The object code of a program.
pub fn object(program: &Program, options: &Options) -> Result<Object, Error> {
    target::demand_linkable(options)?;
    unit::compile(program, options, None)?.into_object(options.machine)
}

/// The object code of a library.
pub fn library(program: &Program, library: &Library, options: &Options) -> Result<Object, Error> {
    let options = Options { library: true, ..*options };
    target::demand_linkable(&options)?;
    unit::compile(program, &options, Some(library))?.into_object(options.machine)
}

/// The program in Cranelift's intermediate form.
pub fn clif(program: &Program, options: &Options) -> Result<String, Error> {
    unit::clif(program, options)
}

/// The program in assembly language, as Cranelift prints it.
pub fn assembly(program: &Program, options: &Options) -> Result<String, Error> {
    unit::assembly(program, options)
}
