//! The reference evaluator: executes core programs, the definitions of the language taken literally.
//!
//! It is the oracle for every later stage, so it is simple rather than fast: values carry their tags, `*j` of a closure
//! transforms its code there and then, nothing is specialised. A body is translated to a list of instructions
//! ([`code`]), and a machine with a stack of its own ([`machine`]) runs them: depth of recursion, length of data and
//! height of towers of `*j` are bounded by memory only.
//!
//! What the operators mean is in the comments of [`deferred`], [`operators`] and [`primitives`]. In short:
//!
//! - Only numbers are ever tagged: `*j` distributes over pairs, makes a closure of the transformed λ over transformed
//!   captures, and leaves `()`, booleans and strings alone. `reverse?` therefore holds for tagged numbers only.
//! - `zero` of a number is a symbolic zero. `plus` with it returns the other operand bit for bit, `scale` and `unscale`
//!   of it return it, everything else sees the number 0.
//! - `write-real` prints a number and ends the line, `write` prints any value and does not; both return it.
//!   `write-string` and `newline` return `()`.

pub mod code;

pub mod deferred;

pub mod files;

pub mod liveness;

pub mod machine;

pub mod operators;

pub mod primitives;

pub mod print;

pub mod value;

use crate::base::{Diagnostic, SourceMap};
use crate::core::ir::Program;
use crate::core::prim::{Family, Prim, TABLE};
use std::fmt;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How to run a program.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What the program may use.
    pub limits: Limits,
    /// Stop at the first operation of a derivative that makes numbers infinite, or no numbers.
    pub trap_nan: bool,
    /// What to do when a function is differentiated where it has no derivative, the first time in each place.
    pub on_kink: Option<KinkReport>,
    /// Whether a zero has to conform to what it is added to, as far as `plus` can tell.
    pub strict_sums: bool,
    /// When this becomes true, the program is stopped.
    pub interrupted: Option<Arc<AtomicBool>>,
    /// How many derivatives of each function are all checked, where derivatives are.
    pub checked_calls: u64,
    /// What is told of each file that the program has written.
    pub on_file: Option<fn(&Path)>,
    /// Numbers that the program reads in front of its input: what its arguments say.
    pub arguments: Vec<f64>,
    /// What answers the questions of the program, see [`crate::core::question`].
    pub answer: Option<fn(f64, f64) -> f64>,
    /// Takes the numbers of each result, in order, and `None` at its end.
    pub on_result: Option<fn(Option<f64>)>,
}

/// What to do with a message about a kink.
pub type KinkReport = fn(&Diagnostic, &SourceMap);

/// What a program may use before it is stopped.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes for data and activations together, roughly.
    pub memory: usize,
}

impl Default for Limits {
    /// Three quarters of the memory that is available, or 4 GiB where the system does not say.
    fn default() -> Limits {
        Limits { memory: available_memory().map_or(4 << 30, |bytes| bytes / 4 * 3) }
    }
}

/// What Linux reports as available to new programs.
fn available_memory() -> Option<usize> {
    let report = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = report.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// How often each arithmetic primitive was computed. Sums that `plus` forms count as `+`, products with partial
/// derivatives as `*` or `/`; operations on symbolic zeros, which compute nothing, are not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    by_primitive: Vec<u64>,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts { by_primitive: vec![0; TABLE.len()] }
    }
}

impl Counts {
    /// Counts operations of an arithmetic primitive.
    pub fn add(&mut self, prim: Prim, times: u64) {
        let kind = match prim {
            Prim::Scale => Prim::Mul,
            Prim::Unscale => Prim::Div,
            Prim::Plus => Prim::Add,
            Prim::Neg => Prim::Sub,
            Prim::Real => return,
            _ => prim,
        };
        self.by_primitive[kind as usize] += times;
    }
    /// Every kind that was used with its number, in the order of the table of primitives.
    pub fn kinds(&self) -> impl Iterator<Item = (Prim, u64)> + '_ {
        let arithmetic = TABLE.iter().filter(|row| row.3 == Family::Arithmetic).map(|row| row.0);
        arithmetic.map(|prim| (prim, self.by_primitive[prim as usize])).filter(|(_, count)| *count > 0)
    }
    /// All operations together.
    pub fn total(&self) -> u64 {
        self.kinds().map(|(_, count)| count).sum()
    }
}

impl fmt::Display for Counts {
    /// One line for each kind, then the total.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (prim, count) in self.kinds() {
            writeln!(f, "{:<10} {count:>12}", prim.name())?;
        }
        writeln!(f, "{:<10} {:>12}", "total", self.total())
    }
}

/// Why a program stopped before its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The message.
    pub diagnostic: Box<Diagnostic>,
    /// 1 for a mistake in the program or its input, 3 when memory was exhausted.
    pub exit_code: i32,
}

/// Runs a program. The transforms that it needs are appended to it.
pub fn run(
    program: &mut Program,
    sources: &SourceMap,
    options: &Options,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<Counts, Failure> {
    machine::Machine::new(program, sources, options, input, output).run()
}
