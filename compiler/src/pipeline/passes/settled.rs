//! Which functions a pass has nothing left to do in.
//!
//! What a pass makes of a function follows from the function and from what it [asks for](super::Fact) besides. Where it
//! found nothing, or has done all that it can do, it is not asked again until one of these has changed: most functions
//! of a large program are settled long before the last one is.
//!
//! Functions are told by hashes of their code, so that nobody has to say what has changed, and functions may get other
//! names meanwhile. Should two hashes be the same by chance, a function is not optimised as well as it could be. In
//! builds with debug assertions passes are asked again in some of the small functions that are skipped.
//!
//! What can be said of a function without the others ([`Summary`]) is kept until its hash changes, and the effects that
//! passes ask for are made of that.

use super::{Fact, Leave, Pass, Run};
use crate::base::{EntityVec, parallel};
use crate::opt::Context;
use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::summary::Summary;
use crate::ssa::ir::{FuncId, Function, Program};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// See the module.
#[derive(Debug, Default)]
pub struct Settled {
    /// What is known of the code of each function.
    codes: EntityVec<FuncId, Code>,
    /// Whether functions may have changed since.
    are_old: bool,
    /// The functions, and what is known besides, in which a pass has nothing left to do.
    settled: FxHashMap<&'static str, FxHashSet<u64>>,
    /// How many instructions passes have looked at, each time that one did.
    pub work: usize,
}

/// What is to be known of the code of a function.
#[derive(Clone, Debug, Default)]
struct Code {
    /// `None` for what has not been looked at.
    hash: Option<u64>,
    summary: Arc<Summary>,
}

/// What came of a pass on a function.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    changed: bool,
    settled: Option<u64>,
    work: usize,
}

/// The functions of programs with more instructions are treated at a time; for less it does not pay.
const LARGE: usize = 4_000;

/// Whether a pass would find nothing where it is skipped is looked at in functions of so many instructions, and of
/// these in one of so many, which their hashes say: in all it would take longer than the passes themselves.
const SMALL: usize = 400;
const SOME: u64 = 8;

impl Settled {
    /// Runs a pass on a program. True when it changed something.
    pub fn run(&mut self, pass: &Pass, program: &mut Program, leave: Leave) -> bool {
        if !matches!(pass.run, Run::Function(_)) {
            self.work += size(program);
        }
        let changed = match pass.run {
            Run::Program(run) => run(program),
            Run::Growing(run) => run(program, leave.most),
            Run::Informed(run) => {
                self.look_at(program);
                let effects = self.effects(pass, program);
                run(program, &effects)
            }
            Run::Function(run) => return self.run_on_functions(pass, run, program, leave),
        };
        // It may have changed what it does not think worth another round.
        self.are_old = true;
        changed
    }

    /// Looks at what has changed.
    fn look_at(&mut self, program: &Program) {
        let count = program.functions.len();
        if !std::mem::replace(&mut self.are_old, false) && self.codes.len() == count {
            return;
        }
        self.codes.truncate(count);
        self.codes.resize(count, Code::default());
        let look = |(function, code): (&Function, &mut Code)| code.look_at(function);
        for_each(size(program), program.functions.values().zip(self.codes.values_mut()), look);
    }

    /// The effects that a pass asks for.
    fn effects(&self, pass: &Pass, program: &Program) -> Effects {
        if pass.asks.contains(&Fact::Ends) {
            Effects::by(program, &self.codes)
        } else if pass.asks.contains(&Fact::Effects) {
            Effects::without_ends_by(&self.codes)
        } else {
            Effects::of_calls_unknown()
        }
    }

    fn run_on_functions(
        &mut self,
        pass: &Pass,
        run: fn(&mut Function, &Context) -> bool,
        program: &mut Program,
        leave: Leave,
    ) -> bool {
        self.look_at(program);
        let effects = self.effects(pass, program);
        let layouts = pass.asks.contains(&Fact::Layouts).then(|| hash(&(&program.sums, &program.vectors)));
        let size = size(program);
        let Program { functions, sums, vectors, .. } = program;
        let context = Context { effects: &effects, sums, vectors, fast_math: leave.fast_math };
        let settled = self.settled.entry(pass.name).or_default();
        let treat = |(function, code): (&mut Function, &mut Code)| {
            let before = code.with_context(&effects, layouts);
            let work = size_of(function);
            if settled.contains(&before) {
                let finds_more = || {
                    let mut again = function.clone();
                    run(&mut again, &context) && again != *function
                };
                debug_assert!(
                    work > SMALL || !before.is_multiple_of(SOME) || !finds_more(),
                    "the pass `{}` finds more to do in `{}`",
                    pass.name,
                    function.name
                );
                return Outcome::default();
            }
            // What a pass does not think worth another round it may still have changed.
            let changed = run(function, &context);
            code.look_at(function);
            let after = code.with_context(&effects, layouts);
            Outcome { changed, settled: (pass.settles || after == before).then_some(after), work }
        };
        let outcomes = for_each(size, functions.values_mut().zip(self.codes.values_mut()), treat);
        settled.extend(outcomes.iter().filter_map(|outcome| outcome.settled));
        self.work += outcomes.iter().map(|outcome| outcome.work).sum::<usize>();
        outcomes.iter().any(|outcome| outcome.changed)
    }
}

impl Code {
    /// Looks at the function, which may have changed since it was looked at last.
    fn look_at(&mut self, function: &Function) {
        let hash = Code::hash(function);
        if self.hash != Some(hash) {
            let hash = Some(hash);
            *self = Code { hash, summary: Arc::new(Summary::new(function)) };
        }
    }

    fn hash(function: &Function) -> u64 {
        let mut hasher = FxHasher::default();
        (function.walk, &function.results).hash(&mut hasher);
        for block in function.blocks.values() {
            for param in &block.params {
                (param, function.values[*param]).hash(&mut hasher);
            }
            for inst in &block.insts {
                (inst.op, &inst.args, &inst.results).hash(&mut hasher);
            }
            block.terminator.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The hash of the code and of what is known besides.
    fn with_context(&self, effects: &Effects, layouts: Option<u64>) -> u64 {
        let mut hasher = FxHasher::default();
        (self.hash, layouts).hash(&mut hasher);
        for callee in &self.summary.callees {
            effects.of(*callee).hash(&mut hasher);
        }
        hasher.finish()
    }
}

impl AsRef<Summary> for Code {
    fn as_ref(&self) -> &Summary {
        &self.summary
    }
}

impl AsRef<[FuncId]> for Code {
    fn as_ref(&self) -> &[FuncId] {
        &self.summary.callees
    }
}

/// Works on the functions of a program with so many instructions.
fn for_each<T: Send, R: Send>(
    size: usize,
    items: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync + Send,
) -> Vec<R> {
    if size > LARGE { parallel::map(items.collect(), work) } else { items.map(work).collect() }
}

/// The number of instructions of a program.
pub fn size(program: &Program) -> usize {
    program.functions.values().map(size_of).sum()
}

fn size_of(function: &Function) -> usize {
    function.blocks.values().map(|block| block.insts.len()).sum()
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}
