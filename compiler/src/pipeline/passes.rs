//! The ordered list of passes, and the runner.

use crate::memory::{counting, early_boxes, late_changes, rows, tail_modulo_cons};
use crate::opt::interprocedural::{
    constants_across_calls, dead_across_calls, inline, merge_functions, sharing, tags_across_calls, tail_calls,
};
use crate::opt::layout::{flatten_sums, recompute_fields, split_sums, unbox_fields};
use crate::opt::loops::{
    fusion, hoist_guards, inductions, licm, neutral_sums, peel, rotate, shared_zeros, unroll_and_jam, vectorize,
};
use crate::opt::scalar::{dce, fold, gvn, if_convert, jump_threading, schedule, simplify_cfg, sink, watch};
use crate::opt::tape::{chain_accumulators, invariant_fields, list_lengths, recompute_calls, tape_loops, tape_vectors};
use crate::ssa::ir::Program;
use crate::ssa::verify::{Stage, verify};
use std::time::{Duration, Instant};

/// A pass over the whole program.
#[derive(Clone, Copy)]
pub struct Pass {
    /// What it is called in options, timings and test directories.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    run: Run,
    /// What it leaves.
    pub stage: Stage,
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
    Pass { name, about, run: Run::Plain(run), stage: Stage::Pure }
}

const fn growing(name: &'static str, about: &'static str, run: fn(&mut Program, usize) -> bool) -> Pass {
    Pass { name, about, run: Run::Growing(run), stage: Stage::Pure }
}

const fn reordering(name: &'static str, about: &'static str, run: fn(&mut Program, bool) -> bool) -> Pass {
    Pass { name, about, run: Run::Reordering(run), stage: Stage::Pure }
}

/// All passes.
pub const PASSES: &[Pass] = &[
    pass(
        "simplify-cfg",
        "decide branches on constants, join and skip blocks, drop parameters that are always the same",
        simplify_cfg::run,
    ),
    pass("jump-threading", "skip decisions whose outcome the way there tells", jump_threading::run),
    pass("fold", "fold constants and simplify operations, exactly", fold::run),
    pass("gvn", "compute equal values once, know the outcome of earlier tests", gvn::run),
    pass("dce", "drop what nobody needs, branches and loops included, within functions", dce::run),
    pass("tail-calls", "make tail calls, and loops of those of the function itself", tail_calls::run),
    growing("inline", "put the code of functions where they are called", inline::run),
    pass("constants-across-calls", "use what is the same at every call", constants_across_calls::run),
    pass("tags-across-calls", "decide tests by the alternatives that flow there", tags_across_calls::run),
    pass("dead-across-calls", "drop parameters, results, fields and globals that nobody needs", dead_across_calls::run),
    pass("split-sums", "give data that never meet sums of their own", split_sums::run),
    pass("flatten-sums", "let boxes that only hold a box of another sum be that box", flatten_sums::run),
    pass("unbox-fields", "drop alternatives that nobody makes; store boxes within what holds them", unbox_fields::run),
    pass("recompute-fields", "compute fields that follow from others where they are read", recompute_fields::run),
    growing("recompute-calls", "make again what cheap calls have made for tapes", recompute_calls::run),
    pass("tape-loops", "build and read tapes by loops instead of recursion", tape_loops::run),
    pass("invariant-fields", "read what is the same in all boxes of a tape from where it was", invariant_fields::run),
    pass("chain-accumulators", "pass on chains instead of making them of what is returned", chain_accumulators::run),
    pass("list-lengths", "make numbers of chains that hold nothing but their length", list_lengths::run),
    pass("tape-vectors", "make vectors of tapes of loops that count their rounds", tape_vectors::run),
    pass("fusion", "compute elements of vectors where they are read", fusion::run),
    pass("merge-functions", "keep one of functions, and of unions, that are the same", merge_functions::run),
    pass("licm", "compute before a loop what does not change in it", licm::run),
    pass("hoist-guards", "check before a loop what does not change in it", hoist_guards::run),
    pass("inductions", "count by integers, drop checks of places that are in range", inductions::run),
    pass("peel", "make the first round of a loop apart where a test tells it from the others", peel::run),
    pass("shared-zeros", "let one of many reals tell whether they are the symbolic zero", shared_zeros::run),
    pass("if-convert", "select values instead of branching where both are cheap", if_convert::run),
    pass("neutral-sums", "start sums of loops at -0.0 instead of the symbolic zero", neutral_sums::run),
    pass("late-changes", "change vectors after they have been read", late_changes::run),
    pass("sink", "compute what only errors need where they are reported", sink::run),
    pass("unroll-and-jam", "make sums of several rounds of the loop around them at a time", unroll_and_jam::run),
    reordering("vectorize", "make two rounds of loops at a time", vectorize::run),
    pass("sharing", "make once what is made of boxes that have several owners", sharing::run),
    pass("tail-modulo-cons", "make loops of recursion whose result is boxed", tail_modulo_cons::run),
    pass("early-boxes", "make large boxes before what they hold", early_boxes::run),
    pass("rotate", "test at the ends of loops whether there is another round", rotate::run),
    pass("schedule", "bring operations close to their uses", schedule::run),
    pass("watch", "say where numbers cease to be finite", watch::run),
    pass("rows", "take memory for all rows of a matrix at once", rows::run),
    Pass { stage: Stage::Counted, ..pass("memory", "count the owners of boxes", counting::run) },
];

/// The pass with this name.
pub fn pass_named(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|pass| pass.name == name)
}

/// A row of the pipeline: a pass, and why it runs at this place.
type Row = (&'static str, &'static str);

/// Runs once, before everything else.
const PREPARE: &[Row] = &[
    ("simplify-cfg", "producers emit blocks freely; the passes that follow like few and long ones"),
    ("gvn", "sizes should tell what functions cost when inlining looks at them"),
    ("simplify-cfg", "decides the branches whose outcome gvn found"),
    ("dce", "gvn leaves what it replaced"),
    ("merge-functions", "copies that the specialiser made for nothing should be gone before sizes and calls count"),
];

/// Runs again and again until nothing changes, at most [`GROWING_ROUNDS`] times: code that is inlined is simplified,
/// and what is simplified may be worth inlining.
const GROW: &[Row] = &[
    ("tail-calls", "a function whose recursion is a loop can be inlined, and blocks end in calls of their own now"),
    ("inline", "callees were simplified in the round before, so that their sizes tell what they cost"),
    ("split-sums", "data that met only in functions that have been inlined no longer do"),
];

/// Runs after each round of [`GROW`], and then until nothing changes, at most [`SIMPLIFYING_ROUNDS`] times.
const SIMPLIFY: &[Row] = &[
    ("gvn", "what is computed twice, or known, hides what can be simplified"),
    ("jump-threading", "results of inlined functions are joined, tagged and taken apart again; gvn found the tests"),
    ("simplify-cfg", "decides the branches whose outcome gvn found"),
    ("dce", "gvn leaves what it replaced, and what is computed for nothing shows where known tests are decided"),
    ("constants-across-calls", "few constants are left that only look like computations"),
    ("tags-across-calls", "tests that only the caller, or the maker of a box, can decide are left"),
    ("unbox-fields", "whoever made other alternatives may be gone, and what was boxed for its size may be small"),
    ("recompute-fields", "fields hold what is needed, with the operations that it follows from in sight"),
    ("dead-across-calls", "what is dead within functions is not a reason to keep anything across them"),
];

/// Runs after these rounds, and they are repeated as long as it finds something, at most [`AGAIN_ROUNDS`] times.
const AGAIN: &[Row] = &[(
    "recompute-calls",
    "tapes within tapes are still made by calls, and functions and their arguments are as few as they get",
)];

/// Runs after these rounds, and they are repeated as long as it finds something, at most [`TAPE_ROUNDS`] times.
const TAPES: &[Row] = &[
    ("inductions", "loops are formed, and lengths of vectors are in sight"),
    ("dce", "checks of places that are in range no longer are ways out of loops"),
    (
        "tape-loops",
        "builders and readers have to be simple and alone with their sum, so as much as possible is inlined",
    ),
    ("licm", "what does not change in a loop that builds a tape should not look as if it did"),
    ("invariant-fields", "the loops that build and read a tape are in one function now, if they ever are"),
    ("chain-accumulators", "fields that nobody needs are gone, and chains have one end"),
    ("list-lengths", "fields that nobody needs are gone, and tapes have one end"),
];

/// Runs after these rounds, and they are repeated as long as it finds something, at most [`VECTOR_ROUNDS`] times: for
/// each depth of loops.
const VECTORS: &[Row] = &[
    ("inductions", "the loops that read tapes count, too"),
    ("licm", "bounds of loops that do not change should not look as if they did"),
    ("tape-vectors", "all that passes find out about the fields of boxes has been found out"),
];

/// Runs after these rounds, and they are repeated as long as it finds something, at most [`FUSING_ROUNDS`] times.
const FUSE: &[Row] = &[
    ("invariant-fields", "tapes that are vectors hold lengths of others, which are the same for all"),
    ("inductions", "the loops that read vectors that were tapes count downwards"),
    ("fusion", "what goes from loop to loop is in vectors, and their places are in range"),
    ("dce", "loops that filled vectors that are not read any more may have done nothing else"),
];

/// Later rounds find little, and compile time and code size have to stay in proportion.
const GROWING_ROUNDS: usize = 4;
const SIMPLIFYING_ROUNDS: usize = 4;
const AGAIN_ROUNDS: usize = 3;
const TAPE_ROUNDS: usize = 3;
const VECTOR_ROUNDS: usize = 4;
const FUSING_ROUNDS: usize = 4;

/// Runs once, after everything else.
const FINISH: &[Row] = &[
    ("shared-zeros", "what is added up has its final places, and no pass that knows symbolic zeros follows"),
    ("peel", "vectors that loops fill are fused, and no pass that looks for whole fillings follows"),
    ("inductions", "places that are before the counter are in range behind the first round"),
    ("hoist-guards", "checks that do not change have been found to be equal, and loops have their final form"),
    ("licm", "loops have their final form"),
    ("gvn", "what left different loops may be the same"),
    ("if-convert", "no pass that learns from branches follows"),
    ("simplify-cfg", "blocks that became one side of a selection are gone"),
    ("neutral-sums", "additions consist of selections now"),
    ("dce", "gvn leaves what it replaced, and what loops have computed may be zeros that are known by now"),
    ("late-changes", "reads that are left stay where they are, and changes of equal functions should move alike"),
    ("flatten-sums", "tapes are told by their sums, and no pass that looks for them follows"),
    ("merge-functions", "functions that differed in what was dropped are the same now"),
    ("sink", "nothing looks for equal operations any more, and loops should do in lanes what they need only"),
    ("unroll-and-jam", "loops have their final form, and what they do for errors only is not in the way"),
    ("dce", "rounds that are made at a time share their tests"),
    ("vectorize", "only what places reference counts has to know lanes, and loops have the blocks that they end with"),
    ("sharing", "functions change no more, and whatever walks lists becomes a loop that asks for each"),
    ("tail-modulo-cons", "boxes are filled after they are made, which every pass but the next would get wrong"),
    ("early-boxes", "functions that fill boxes of others are told from those that fill their own"),
    ("rotate", "no pass that looks for loops by the test at their beginning follows"),
    ("simplify-cfg", "tests at the ends of loops are blocks of their own"),
    ("schedule", "code has its final form, and the owners of boxes should be counted where their fields are read"),
    ("watch", "what is still computed is needed, in its final order, which is found for whole blocks"),
    ("rows", "which loops make vectors, and where, changes no more"),
    ("memory", "SSA must be pure before it and never changes after it"),
];

/// No round begins after passes have looked at so many instructions: the time for large programs is in proportion to
/// their size, since each pass runs a few times at least and never many more.
const MOST_WORK: usize = 3_000_000;

/// A program of so many instructions may grow by copies of functions that are not small to [`growth`] of them. Small
/// programs may grow many times, so that what they compute with is in one place; large ones by a half.
const GROWTH: usize = 6_000;

fn growth(size: usize) -> usize {
    size + size / 2 + GROWTH
}

/// What the whole pipeline leaves.
pub const RESULT: Stage = Stage::Counted;

/// What the driver wants from the optimiser.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Names of passes that do not run.
    pub disabled: Vec<String>,
    /// Names of passes whose output is wanted.
    pub dump_after: Vec<String>,
    /// Whether sums and products of loops may be made in another order, which changes their last digits.
    pub fast_math: bool,
    /// Whether to check the program after each pass. Builds with debug assertions always do after one that says that it
    /// has changed something.
    pub verify: bool,
}

/// What the optimiser reports besides the program.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The time that each pass took, in order of first run.
    pub times: Vec<(&'static str, Duration)>,
    /// The program after the passes of [`Settings::dump_after`]: a numbered name such as `07-gvn`, and the text.
    pub dumps: Vec<(String, String)>,
}

/// Optimises a program.
///
/// # Panics
///
/// When a pass breaks the law of SSA: the message names the pass.
pub fn optimize(program: &mut Program, settings: &Settings) -> Report {
    let mut runner = Runner { settings, report: Report::default(), runs: 0, work: 0, most: 0 };
    runner.run_all(program, PREPARE);
    runner.most = growth(size(program));
    runner.rounds(program, GROWING_ROUNDS);
    runner.repeat(program, AGAIN, AGAIN_ROUNDS);
    runner.repeat(program, TAPES, TAPE_ROUNDS);
    runner.repeat(program, VECTORS, VECTOR_ROUNDS);
    runner.repeat(program, FUSE, FUSING_ROUNDS);
    runner.run_all(program, FINISH);
    runner.report
}

struct Runner<'s> {
    settings: &'s Settings,
    report: Report,
    runs: usize,
    /// How many instructions the passes have looked at, each time that one did.
    work: usize,
    /// How large the program may become by copies of functions.
    most: usize,
}

impl Runner<'_> {
    /// Runs these rows and simplifies, until they find nothing.
    fn repeat(&mut self, program: &mut Program, rows: &[Row], times: usize) {
        for _ in 0..times {
            if !self.run_all(program, rows) || self.work > MOST_WORK {
                break;
            }
            self.rounds(program, 1);
        }
    }

    fn rounds(&mut self, program: &mut Program, growing: usize) {
        for _ in 0..growing {
            let grown = self.run_all(program, GROW);
            if (!self.run_all(program, SIMPLIFY) && !grown) || self.work > MOST_WORK {
                return;
            }
        }
        for _ in 0..SIMPLIFYING_ROUNDS {
            if !self.run_all(program, SIMPLIFY) || self.work > MOST_WORK {
                return;
            }
        }
    }

    fn run_all(&mut self, program: &mut Program, rows: &[Row]) -> bool {
        let mut changed = false;
        for (name, _) in rows {
            let pass = pass_named(name).expect("the pipeline names passes");
            if !self.settings.disabled.iter().any(|disabled| disabled == name) {
                changed |= self.run(program, pass);
            }
        }
        changed
    }

    fn run(&mut self, program: &mut Program, pass: &Pass) -> bool {
        let start = Instant::now();
        self.work += size(program);
        let leave = Leave { most: self.most, fast_math: self.settings.fast_math };
        let changed = pass.run(program, leave);
        self.note_time(pass.name, start.elapsed());
        self.runs += 1;
        if self.settings.dump_after.iter().any(|name| name == pass.name) {
            self.report.dumps.push((format!("{:02}-{}", self.runs, pass.name), program.to_string()));
        }
        // What a pass has not changed has been checked, and most runs change nothing.
        let is_last = pass.stage == RESULT;
        if self.settings.verify || (cfg!(debug_assertions) && (changed || is_last)) {
            check(program, pass);
        }
        changed
    }

    fn note_time(&mut self, name: &'static str, time: Duration) {
        match self.report.times.iter_mut().find(|row| row.0 == name) {
            Some(row) => row.1 += time,
            None => self.report.times.push((name, time)),
        }
    }
}

/// The number of instructions.
fn size(program: &Program) -> usize {
    let blocks = program.functions.values().flat_map(|function| function.blocks.values());
    blocks.map(|block| block.insts.len()).sum()
}

/// Stops the compiler when the pass left a program that breaks the law.
fn check(program: &Program, pass: &Pass) {
    if let Err(errors) = verify(program, pass.stage) {
        let place = errors[0].place.map(|(function, _)| program.function_text(function)).unwrap_or_default();
        panic!("the pass `{}` broke the program: {}\n{place}", pass.name, errors[0]);
    }
}
