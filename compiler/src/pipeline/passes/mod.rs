//! The passes of the optimiser: a table of all, with what each may meet and what it leaves ([`PASSES`]); the order in
//! which they run, and why ([`SCHEDULE`]); and the runner ([`optimize`]).
//!
//! A pass treats the program, or one function. The runner gives the latter what they may know of the rest of the
//! program, and skips functions in which they have nothing left to do.
//!
//! | file | |
//! |---|---|
//! | [`order`] | the order of passes |
//! | [`runner`] | running them, checking what they promise |
//! | [`settled`] | which functions have changed since a pass found nothing in them |

pub mod order;
pub mod runner;
pub mod settled;

use crate::memory::{counting, late_changes, rows, tail_modulo_cons};
use crate::opt::Context;
use crate::opt::analysis::effects::Effects;
use crate::opt::interprocedural::{
    constants_across_calls, dead_across_calls, equal_across_calls, inline, merge_functions, sharing, tags_across_calls,
    tail_calls,
};
use crate::opt::layout::{recompute_fields, split_sums, unbox_fields};
use crate::opt::loops::{
    distribute, fusion, hoist_guards, inductions, licm, neutral_sums, parallelize, peel, rotate, shared_zeros,
    unroll_and_jam, vectorize,
};
use crate::opt::scalar::{dce, gvn, if_convert, jump_threading, schedule, simplify_cfg, sink, watch};
use crate::opt::tape::{checkpointing, invariant_fields, list_lengths, recompute_calls, tape_loops, tape_vectors};
use crate::ssa::forms::Form;
use crate::ssa::ir::{Function, Program};
use crate::ssa::verify::Stage;

pub use order::SCHEDULE;
pub use runner::{RESULT, Report, Settings, optimize};

/// A pass.
#[derive(Clone, Copy)]
pub struct Pass {
    /// What it is called in options, timings and test directories.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    run: Run,
    /// The forms of operations that it may meet, besides those that every pass knows. Any other is a mistake of the
    /// schedule.
    pub meets: &'static [Form],
    /// The form of operations that it brings in.
    pub makes: Option<Form>,
    /// What it asks for besides the function that it treats.
    pub asks: &'static [Fact],
    /// Whether it finds nothing when it runs again at once.
    pub settles: bool,
}

/// What a pass does; true when it changed something.
#[derive(Clone, Copy)]
enum Run {
    Function(fn(&mut Function, &Context) -> bool),
    Program(fn(&mut Program) -> bool),
    /// It asks what functions do.
    Informed(fn(&mut Program, &Effects) -> bool),
    /// It copies code as long as the program has no more than so many instructions.
    Growing(fn(&mut Program, usize) -> bool),
}

/// What a pass that treats one function asks for besides. What changes it is a reason to treat the function again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// What the functions do that it calls, but for whether they end.
    Effects,
    /// The same, and whether they end.
    Ends,
    /// What boxes and vectors hold.
    Layouts,
}

/// What a pass may know besides the program.
#[derive(Clone, Copy, Debug)]
pub struct Leave {
    /// So many instructions the program may grow to.
    pub most: usize,
    /// Whether sums and products may be made in another order.
    pub fast_math: bool,
}

impl Default for Leave {
    fn default() -> Leave {
        Leave { most: usize::MAX, fast_math: false }
    }
}

impl Pass {
    /// What it leaves.
    #[must_use]
    pub fn stage(&self) -> Stage {
        if self.makes == Some(Form::Counts) { Stage::Counted } else { Stage::Pure }
    }

    /// The pass, which may meet these forms.
    const fn meeting(self, meets: &'static [Form]) -> Pass {
        Pass { meets, ..self }
    }

    /// The pass, which makes this form.
    const fn making(self, form: Form) -> Pass {
        Pass { makes: Some(form), ..self }
    }

    /// The pass, which has done all that it can do when it has run.
    const fn settling(self) -> Pass {
        Pass { settles: true, ..self }
    }

    /// The pass, which asks for these facts.
    const fn asking(self, asks: &'static [Fact]) -> Pass {
        Pass { asks, ..self }
    }

    /// Runs it on a program. True when it changed something.
    pub fn run(&self, program: &mut Program, leave: Leave) -> bool {
        settled::Settled::default().run(self, program, leave)
    }
}

const fn function(name: &'static str, about: &'static str, run: fn(&mut Function, &Context) -> bool) -> Pass {
    Pass { name, about, run: Run::Function(run), meets: &[], makes: None, asks: &[], settles: false }
}

const fn program(name: &'static str, about: &'static str, run: fn(&mut Program) -> bool) -> Pass {
    Pass { run: Run::Program(run), ..function(name, about, |_, _| false) }
}

const fn informed(name: &'static str, about: &'static str, run: fn(&mut Program, &Effects) -> bool) -> Pass {
    Pass { run: Run::Informed(run), ..function(name, about, |_, _| false) }
}

const fn growing(name: &'static str, about: &'static str, run: fn(&mut Program, usize) -> bool) -> Pass {
    Pass { run: Run::Growing(run), ..function(name, about, |_, _| false) }
}

/// What passes may meet that run when code has its final form.
const LATE: &[Form] = &[Form::Lanes, Form::Remembered, Form::Holes, Form::Rows];

/// The pass whose result asks the run time for other processes.
pub const PROCESSES: &str = "parallelize";

/// All passes.
pub const PASSES: &[Pass] = &[
    function(
        "simplify-cfg",
        "decide branches on constants, join and skip blocks, drop parameters that are always the same",
        simplify_cfg::run,
    )
    .meeting(LATE)
    .settling(),
    function("jump-threading", "skip decisions whose outcome the way there tells", jump_threading::run).settling(),
    function("gvn", "compute equal values once, know the outcome of earlier tests, fold constants", gvn::run)
        .asking(&[Fact::Effects, Fact::Layouts]),
    function("dce", "drop what nobody needs, branches and loops included, within functions", dce::run)
        .asking(&[Fact::Ends])
        .meeting(LATE),
    function("drop-checks", "drop what is needed only to check lengths of what nobody needs", dce::drop_checks)
        .asking(&[Fact::Ends]),
    program("tail-calls", "make tail calls, and loops of those of the function itself", tail_calls::run).settling(),
    growing("inline", "put the code of functions where they are called", inline::run),
    program("constants-across-calls", "use what is the same at every call", constants_across_calls::run),
    program("equal-across-calls", "let one of equal parameters or results stand for all", equal_across_calls::run)
        .settling(),
    program("tags-across-calls", "decide tests by the alternatives that flow there", tags_across_calls::run),
    informed(
        "dead-across-calls",
        "drop parameters, results, fields and globals that nobody needs",
        dead_across_calls::run,
    )
    .asking(&[Fact::Ends])
    .settling(),
    program("split-sums", "give data that never meet sums of their own", split_sums::run).settling(),
    program(
        "unbox-fields",
        "drop alternatives that nobody makes; store boxes within what holds them",
        unbox_fields::run,
    )
    .settling(),
    program("recompute-fields", "compute fields that follow from others where they are read", recompute_fields::run)
        .settling(),
    growing("recompute-calls", "make again what cheap calls have made for tapes", recompute_calls::run).settling(),
    program("tape-loops", "build and read tapes by loops instead of recursion", tape_loops::run).settling(),
    program(
        "invariant-fields",
        "read what is the same in all boxes of a tape from where it was",
        invariant_fields::run,
    ),
    program("list-lengths", "make numbers of chains that hold nothing but their length", list_lengths::run).settling(),
    program("tape-vectors", "make vectors of tapes of loops that count their rounds", tape_vectors::run).settling(),
    growing("checkpointing", "make the tapes of long loops again piece by piece", checkpointing::run),
    function("fusion", "compute elements of vectors where they are read", fusion::run).settling().asking(&[Fact::Ends]),
    program("merge-functions", "keep one of functions, and of unions, that are the same", merge_functions::run)
        .settling(),
    function("licm", "compute before a loop what does not change in it", licm::run),
    function("hoist-guards", "check before a loop what does not change in it", hoist_guards::run).asking(&[Fact::Ends]),
    function("inductions", "count by integers, drop checks of places that are in range", inductions::run).settling(),
    function(
        "peel",
        "make the first round of a loop apart where a test tells it from the others, and all of a few",
        peel::run,
    )
    .settling(),
    program("shared-zeros", "let one of many reals tell whether they are the symbolic zero", shared_zeros::run)
        .settling(),
    function("if-convert", "select values instead of branching where both are cheap", if_convert::run).settling(),
    function("neutral-sums", "start sums of loops at -0.0 instead of the symbolic zero", neutral_sums::run).settling(),
    function("late-changes", "change vectors after they have been read", late_changes::run).settling(),
    function("sink", "compute what only errors need where they are reported", sink::run).settling(),
    informed(PROCESSES, "let several processes compute rounds of long loops", parallelize::run)
        .asking(&[Fact::Effects]),
    informed("distribute", "compute elementary functions of many rounds together", distribute::run)
        .asking(&[Fact::Ends])
        .making(Form::Lanes),
    function("unroll-and-jam", "make sums of several rounds of the loop around them at a time", unroll_and_jam::run)
        .asking(&[Fact::Ends])
        .meeting(&[Form::Lanes]),
    function("vectorize", "make two rounds of loops at a time", vectorize::run)
        .asking(&[Fact::Layouts])
        .meeting(&[Form::Lanes])
        .making(Form::Lanes),
    program("sharing", "make once what is made of boxes that have several owners", sharing::run)
        .meeting(&[Form::Lanes])
        .making(Form::Remembered),
    program("tail-modulo-cons", "make loops of recursion whose result is boxed", tail_modulo_cons::run)
        .meeting(LATE)
        .making(Form::Holes)
        .settling(),
    function("rotate", "test at the ends of loops whether there is another round", rotate::run).meeting(LATE),
    function("schedule", "bring operations close to their uses, make large boxes before what they hold", schedule::run)
        .meeting(LATE)
        .making(Form::Holes),
    program("watch", "say where numbers cease to be finite", watch::run).meeting(LATE),
    program("rows", "take memory for all rows of a matrix at once", rows::run).meeting(LATE).making(Form::Rows),
    program("memory", "count the owners of boxes", counting::run).meeting(LATE).making(Form::Counts),
];

/// The pass with this name.
pub fn pass_named(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|pass| pass.name == name)
}
