//! The passes of the optimiser: a table of all, with what each may meet and what it leaves ([`PASSES`]); the order in
//! which they run, and why ([`SCHEDULE`]); and the runner ([`optimize`]).
//!
//! | file | |
//! |---|---|
//! | [`order`] | the order of passes |
//! | [`runner`] | running them, checking what they promise |

pub mod order;
pub mod runner;

use crate::memory::{counting, early_boxes, late_changes, rows, tail_modulo_cons};
use crate::opt::interprocedural::{
    constants_across_calls, dead_across_calls, inline, merge_functions, sharing, tags_across_calls, tail_calls,
};
use crate::opt::layout::{flatten_sums, recompute_fields, split_sums, unbox_fields};
use crate::opt::loops::{
    fusion, hoist_guards, inductions, licm, neutral_sums, peel, rotate, shared_zeros, unroll_and_jam, vectorize,
};
use crate::opt::scalar::{dce, gvn, if_convert, jump_threading, schedule, simplify_cfg, sink, watch};
use crate::opt::tape::{chain_accumulators, invariant_fields, list_lengths, recompute_calls, tape_loops, tape_vectors};
use crate::ssa::forms::Form;
use crate::ssa::ir::Program;
use crate::ssa::verify::Stage;

pub use order::SCHEDULE;
pub use runner::{RESULT, Report, Settings, optimize};

/// A pass over the whole program.
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
    /// Whether it finds nothing when it runs again at once.
    pub settles: bool,
}

/// What a pass does; true when it changed something.
#[derive(Clone, Copy)]
enum Run {
    Plain(fn(&mut Program) -> bool),
    /// It copies code as long as the program has no more than so many instructions.
    Growing(fn(&mut Program, usize) -> bool),
    /// It is told whether sums and products may be made in another order, as [`Settings::fast_math`] allows.
    Reordering(fn(&mut Program, bool) -> bool),
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

    /// Runs it on a program. True when it changed something.
    pub fn run(&self, program: &mut Program, leave: Leave) -> bool {
        match self.run {
            Run::Plain(run) => run(program),
            Run::Growing(run) => run(program, leave.most),
            Run::Reordering(run) => run(program, leave.fast_math),
        }
    }
}

const fn pass(name: &'static str, about: &'static str, run: fn(&mut Program) -> bool) -> Pass {
    Pass { name, about, run: Run::Plain(run), meets: &[], makes: None, settles: false }
}

const fn growing(name: &'static str, about: &'static str, run: fn(&mut Program, usize) -> bool) -> Pass {
    Pass { name, about, run: Run::Growing(run), meets: &[], makes: None, settles: false }
}

const fn reordering(name: &'static str, about: &'static str, run: fn(&mut Program, bool) -> bool) -> Pass {
    Pass { name, about, run: Run::Reordering(run), meets: &[], makes: None, settles: false }
}

/// What passes may meet that run when code has its final form.
const LATE: &[Form] = &[Form::Lanes, Form::Remembered, Form::Holes, Form::Rows];

/// All passes.
pub const PASSES: &[Pass] = &[
    pass(
        "simplify-cfg",
        "decide branches on constants, join and skip blocks, drop parameters that are always the same",
        simplify_cfg::run,
    )
    .meeting(LATE)
    .settling(),
    pass("jump-threading", "skip decisions whose outcome the way there tells", jump_threading::run).settling(),
    pass("gvn", "compute equal values once, know the outcome of earlier tests, fold constants", gvn::run),
    pass("dce", "drop what nobody needs, branches and loops included, within functions", dce::run),
    pass("tail-calls", "make tail calls, and loops of those of the function itself", tail_calls::run).settling(),
    growing("inline", "put the code of functions where they are called", inline::run),
    pass("constants-across-calls", "use what is the same at every call", constants_across_calls::run),
    pass("tags-across-calls", "decide tests by the alternatives that flow there", tags_across_calls::run),
    pass("dead-across-calls", "drop parameters, results, fields and globals that nobody needs", dead_across_calls::run)
        .settling(),
    pass("split-sums", "give data that never meet sums of their own", split_sums::run).settling(),
    pass("flatten-sums", "let boxes that only hold a box of another sum be that box", flatten_sums::run).settling(),
    pass("unbox-fields", "drop alternatives that nobody makes; store boxes within what holds them", unbox_fields::run)
        .settling(),
    pass("recompute-fields", "compute fields that follow from others where they are read", recompute_fields::run)
        .settling(),
    growing("recompute-calls", "make again what cheap calls have made for tapes", recompute_calls::run).settling(),
    pass("tape-loops", "build and read tapes by loops instead of recursion", tape_loops::run).settling(),
    pass("invariant-fields", "read what is the same in all boxes of a tape from where it was", invariant_fields::run),
    pass("chain-accumulators", "pass on chains instead of making them of what is returned", chain_accumulators::run)
        .settling(),
    pass("list-lengths", "make numbers of chains that hold nothing but their length", list_lengths::run).settling(),
    pass("tape-vectors", "make vectors of tapes of loops that count their rounds", tape_vectors::run).settling(),
    pass("fusion", "compute elements of vectors where they are read", fusion::run).settling(),
    pass("merge-functions", "keep one of functions, and of unions, that are the same", merge_functions::run).settling(),
    pass("licm", "compute before a loop what does not change in it", licm::run),
    pass("hoist-guards", "check before a loop what does not change in it", hoist_guards::run),
    pass("inductions", "count by integers, drop checks of places that are in range", inductions::run).settling(),
    pass("peel", "make the first round of a loop apart where a test tells it from the others", peel::run).settling(),
    pass("shared-zeros", "let one of many reals tell whether they are the symbolic zero", shared_zeros::run).settling(),
    pass("if-convert", "select values instead of branching where both are cheap", if_convert::run).settling(),
    pass("neutral-sums", "start sums of loops at -0.0 instead of the symbolic zero", neutral_sums::run).settling(),
    pass("late-changes", "change vectors after they have been read", late_changes::run).settling(),
    pass("sink", "compute what only errors need where they are reported", sink::run).settling(),
    pass("unroll-and-jam", "make sums of several rounds of the loop around them at a time", unroll_and_jam::run),
    reordering("vectorize", "make two rounds of loops at a time", vectorize::run)
        .meeting(&[Form::Lanes])
        .making(Form::Lanes),
    pass("sharing", "make once what is made of boxes that have several owners", sharing::run)
        .meeting(&[Form::Lanes])
        .making(Form::Remembered),
    pass("tail-modulo-cons", "make loops of recursion whose result is boxed", tail_modulo_cons::run)
        .meeting(LATE)
        .making(Form::Holes)
        .settling(),
    pass("early-boxes", "make large boxes before what they hold", early_boxes::run)
        .meeting(LATE)
        .making(Form::Holes)
        .settling(),
    pass("rotate", "test at the ends of loops whether there is another round", rotate::run).meeting(LATE),
    pass("schedule", "bring operations close to their uses", schedule::run).meeting(LATE),
    pass("watch", "say where numbers cease to be finite", watch::run).meeting(LATE),
    pass("rows", "take memory for all rows of a matrix at once", rows::run).meeting(LATE).making(Form::Rows),
    pass("memory", "count the owners of boxes", counting::run).meeting(LATE).making(Form::Counts),
];

/// The pass with this name.
pub fn pass_named(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|pass| pass.name == name)
}
