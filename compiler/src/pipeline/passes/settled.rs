//! Which functions a pass has nothing left to do in.
//!
//! What a pass makes of a function follows from the function and from what it [asks for](super::Fact) besides. Where it
//! found nothing, or has done all that it can do, it is not asked again until one of these has changed: most functions
//! of a large program are settled long before the last one is.
//!
//! Functions are told by hashes of their code, so that nobody has to say what has changed, and functions may get other
//! names meanwhile. Should two hashes be the same by chance, a function is not optimised as well as it could be. In
//! builds with debug assertions passes are asked again in small functions that are skipped.

use super::{Fact, Leave, Pass, Run};
use crate::base::{EntityVec, parallel};
use crate::opt::Context;
use crate::opt::analysis::call_graph::callees;
use crate::opt::analysis::effects::Effects;
use crate::ssa::ir::{FuncId, Function, Program};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// See the module.
#[derive(Debug, Default)]
pub struct Settled {
    /// For each function its code, if it has not changed since it was looked at.
    codes: EntityVec<FuncId, Option<Code>>,
    /// The functions, and what is known besides, in which a pass has nothing left to do.
    settled: FxHashMap<&'static str, FxHashSet<u64>>,
    /// How many instructions passes have looked at, each time that one did.
    pub work: usize,
}

/// What is to be known of the code of a function.
#[derive(Clone, Debug)]
struct Code {
    hash: u64,
    callees: Vec<FuncId>,
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

/// Whether a pass would find nothing where it is skipped is looked at in functions of so many instructions.
const SMALL: usize = 400;

impl Settled {
    /// Runs a pass on a program. True when it changed something.
    pub fn run(&mut self, pass: &Pass, program: &mut Program, leave: Leave) -> bool {
        if !matches!(pass.run, Run::Function(_)) {
            self.work += size(program);
        }
        let changed = match pass.run {
            Run::Program(run) => run(program),
            Run::Growing(run) => run(program, leave.most),
            Run::Function(run) => return self.run_on_functions(pass, run, program, leave),
        };
        // It may have changed what it does not think worth another round.
        self.codes = EntityVec::new();
        changed
    }

    fn run_on_functions(
        &mut self,
        pass: &Pass,
        run: fn(&mut Function, &Context) -> bool,
        program: &mut Program,
        leave: Leave,
    ) -> bool {
        let effects = pass.effects(program);
        let layouts = pass.asks.contains(&Fact::Layouts).then(|| hash(&(&program.sums, &program.vectors)));
        let Program { functions, sums, vectors, .. } = program;
        let context = Context { effects: &effects, sums, vectors, fast_math: leave.fast_math };
        let settled = self.settled.entry(pass.name).or_default();
        self.codes.resize(functions.len(), None);
        let treat = |(function, code): (&mut Function, &mut Option<Code>)| {
            let known = |code: &Code| code.with_context(&effects, layouts);
            let before = known(code.get_or_insert_with(|| Code::new(function)));
            let work = size_of(function);
            if settled.contains(&before) {
                let finds_more = || {
                    let mut again = function.clone();
                    run(&mut again, &context) && again != *function
                };
                debug_assert!(
                    work > SMALL || !finds_more(),
                    "the pass `{}` finds more to do in `{}`",
                    pass.name,
                    function.name
                );
                return Outcome::default();
            }
            // What a pass does not think worth another round it may still have changed.
            let changed = run(function, &context);
            let after = known(code.insert(Code::new(function)));
            Outcome { changed, settled: (pass.settles || after == before).then_some(after), work }
        };
        let is_large = functions.values().map(size_of).sum::<usize>() > LARGE;
        let items = functions.values_mut().zip(self.codes.values_mut());
        let outcomes = if is_large { parallel::map(items.collect(), treat) } else { items.map(treat).collect() };
        settled.extend(outcomes.iter().filter_map(|outcome| outcome.settled));
        self.work += outcomes.iter().map(|outcome| outcome.work).sum::<usize>();
        outcomes.iter().any(|outcome| outcome.changed)
    }
}

impl Code {
    fn new(function: &Function) -> Code {
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
        Code { hash: hasher.finish(), callees: callees(function) }
    }

    /// The hash of the code and of what is known besides.
    fn with_context(&self, effects: &Effects, layouts: Option<u64>) -> u64 {
        let mut hasher = FxHasher::default();
        (self.hash, layouts).hash(&mut hasher);
        for callee in &self.callees {
            effects.of(*callee).hash(&mut hasher);
        }
        hasher.finish()
    }
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
