//! Loop distribution: elementary functions of many rounds are computed together: SSA → SSA.
//!
//! ```text
//!     jump b1(0, 0.0)                          jump b4(0, 0.0)
//! b1(v1: int, v2: f64):                    b4(v1: int, v2: f64):
//!     branch (int_lt v1, v0), b2, b3           (n, the least of the rounds left and of STRIP; if few, go on in b1)
//! b2: (an inner loop, which gives v3)          (a loop of n rounds: the inner loop; fills a vector v8 with its v3)
//!     v4 = exp v3                    →         v9 = of_each.exp v8, n
//!     v5 = add v2, v4                          (a loop of n rounds: v4 = (element of v9); v5 = add v2, v4)
//!     jump b1(int_add v1, 1, v5)               jump b4(int_add v1, n, v5)
//! b3: ...                                  b1(v1: int, v2: f64): (as before)
//! ```
//!
//! The run time has some functions for many numbers at a time ([`Real1::has_lanes`]), which takes a third of the time
//! of as many calls, or less. So the rounds of a loop are cut into strips, and each strip is made in stages: what the
//! operands of such functions need of each round, its *prefix*, then the functions, then the rest. Numbers that the
//! rest needs, too, are kept in vectors, or computed again where that is cheap. This is loop distribution (fission)
//! with scalar expansion, strip by strip: Kennedy and Allen, *Optimizing Compilers for Modern Architectures*, sections
//! 5.3 and 6.2. The rest is a loop that may be treated in the same way, for functions of what these functions give.
//!
//! No operation changes, nor any order of sums. A prefix has no effect. Where it fails, its strip is left to the loop
//! as it was, in which whatever comes first happens first; so are a few last rounds. A loop over the rounds of a strip
//! is one strip.
//!
//! Requires: loops in their final form, left at their headers only, where an integer that counts is compared with a
//! bound; what prefixes need does not depend on the rounds before. Leaves dead code: the counters of rounds.
//!
//! Tests: `tests/opt/distribute/`.

use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::loops::{Bound, Code, counter, preheader};
use crate::opt::edit::clone_region::{clone_inst, clone_region};
use crate::opt::edit::rewrite::{is_constant, keep};
use crate::ssa::builder::Builder;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{
    Block, BlockId, FuncId, Function, Inst, Int2, IntCompare, Op, Program, Real1, Real2, Target, Terminator, Type,
    Value, VectorId, VectorLayout,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// So many rounds are made at a time; the vectors of a strip stay in the nearest cache.
const STRIP: i64 = 128;
/// With fewer rounds it does not pay.
const LEAST: i64 = 16;
/// The most instructions of a loop, which is copied.
const LARGEST: usize = 600;
/// What costs more, in additions, is kept for the rest of the round; everything else is computed again.
const CHEAP: u32 = 6;
/// The most vectors of a strip.
const MOST: usize = 6;

/// What the vectors of strips are called.
const NAME: &str = "strip";

/// Treats a program.
pub fn run(program: &mut Program, effects: &Effects) -> bool {
    let of_strips = |layout: &VectorLayout| &*layout.name == NAME;
    let known = program.vectors.iter().find(|(_, layout)| of_strips(layout)).map(|(id, _)| id);
    let mut vector = known;
    let functions: Vec<FuncId> = program.functions.iter().map(|(id, _)| id).collect();
    for id in functions {
        let has_some = |block: &Block| block.insts.iter().any(|inst| is_function(inst.op));
        if !program.functions[id].blocks.values().any(has_some) {
            continue;
        }
        let graph = Graph::new(&program.functions[id]);
        let headers = graph.order.iter().copied().filter(|block| graph.is_loop_header(*block));
        let mut waiting: Vec<Loop> = headers.map(|header| Loop { header, rounds: Rounds::Any }).collect();
        while let Some(plan) = next(&program.functions[id], effects, &mut waiting) {
            let layout = || VectorLayout { name: NAME.into(), fields: [Type::F64].into() };
            let vector = *vector.get_or_insert_with(|| program.vectors.push(layout()));
            let header = write(&mut program.functions[id], plan, vector);
            waiting.push(Loop { header, rounds: Rounds::OfStrip });
        }
    }
    vector != known
}

/// The next of these loops that can be divided, and how. The last ones, which are inner ones, come first.
fn next(function: &Function, effects: &Effects, waiting: &mut Vec<Loop>) -> Option<Plan> {
    let code = Code::new(function);
    while let Some(found) = waiting.pop() {
        let plan = Plan::find(&code, effects, found);
        if plan.is_some() {
            return plan;
        }
    }
    None
}

/// Whether an operation is a function that is computed for many numbers at a time.
fn is_function(op: Op) -> bool {
    matches!(op, Op::Real1(op) if op.has_lanes())
}

/// How many rounds a loop has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounds {
    Any,
    /// Those of a strip.
    OfStrip,
}

/// A loop by its header.
#[derive(Clone, Copy, Debug)]
struct Loop {
    header: BlockId,
    rounds: Rounds,
}

/// How the rounds of a loop are divided.
#[derive(Debug)]
struct Plan {
    header: BlockId,
    rounds: Rounds,
    /// The blocks of the prefix, each before those that it leads to; the last one is cut.
    prefix: Vec<BlockId>,
    /// What comes after the cut, of which the rest of that block is the first, and blocks where the program fails.
    rest: Vec<BlockId>,
    /// What the last block of the prefix computes for the functions.
    early: FxHashSet<Value>,
    /// The functions.
    functions: Vec<Inst>,
    /// What each round adds to the parameters of the header that count.
    steps: Vec<Option<i64>>,
    /// The parameter that is compared, and its bound.
    tested: usize,
    bound: Bound,
    /// What is computed again for the rest, in order; what is kept for it.
    again: Vec<Inst>,
    kept: Vec<Value>,
    /// Values that depend on rounds before.
    sequential: FxHashSet<Value>,
}

impl Plan {
    fn find(code: &Code<'_>, effects: &Effects, Loop { header, rounds }: Loop) -> Option<Plan> {
        let function = code.function;
        let inside = code.body(header);
        let body = code.in_order(&inside);
        if code.size(&body) > LARGEST || !code.is_left_at_header(header, &inside) {
            return None;
        }
        let steps = code.steps(header);
        let (tested, bound) = test(code, header, &inside, &steps)?;
        if is_short(code, header, tested, bound) {
            return None;
        }
        let sequential = sequential(code, header, &body, &steps);
        let (cut, functions) = cut(code, header, &body, &sequential)?;
        let before = code.blocks_before(header, cut);
        let prefix: Vec<BlockId> = body.iter().copied().filter(|block| before.contains(block)).chain([cut]).collect();
        let mut rest: Vec<BlockId> = body.iter().copied().filter(|block| !before.contains(block)).collect();
        for at in 0..rest.len() {
            for target in function.blocks[rest[at]].terminator.targets() {
                if !inside.contains(&target.block) && !rest.contains(&target.block) {
                    rest.push(target.block);
                }
            }
        }
        let early = early(function, cut, &functions);
        let mut search = Search {
            code,
            header,
            prefix: &prefix,
            early: &early,
            sequential: &sequential,
            again: Vec::new(),
            kept: Vec::new(),
            known: FxHashSet::default(),
        };
        if !search.can_come_first(effects) || !search.find_needs(&rest, &functions) {
            return None;
        }
        let Search { again, kept, .. } = search;
        if functions.len() + kept.len() > MOST {
            return None;
        }
        Some(Plan { header, rounds, prefix, rest, early, functions, steps, tested, bound, again, kept, sequential })
    }

    /// The block that is cut.
    fn cut(&self) -> BlockId {
        self.rest[0]
    }
}

/// Which parameter of a header is compared with a bound, towards which it counts by ones, and the bound.
fn test(
    code: &Code<'_>,
    header: BlockId,
    inside: &FxHashSet<BlockId>,
    steps: &[Option<i64>],
) -> Option<(usize, Bound)> {
    let function = code.function;
    let Terminator::Branch(test, yes, no) = &function.blocks[header].terminator else { return None };
    if yes.block == header || !inside.contains(&yes.block) || inside.contains(&no.block) {
        return None;
    }
    let inst = code.definitions.inst(function, *test).filter(|inst| inst.op == Op::IntCompare(IntCompare::Lt))?;
    let place = |at: usize| function.blocks[header].params.iter().position(|param| *param == inst.args[at]);
    let (tested, bound, step) = match (place(0), place(1)) {
        (Some(tested), None) => (tested, inst.args[1], 1),
        (None, Some(tested)) => (tested, inst.args[0], -1),
        _ => return None,
    };
    if steps[tested] != Some(step) {
        return None;
    }
    Some((tested, code.bound(bound, inside)?))
}

/// Whether a loop is known to have few rounds, given the parameter that is compared and its bound.
fn is_short(code: &Code<'_>, header: BlockId, tested: usize, bound: Bound) -> bool {
    let start = counter(code.function, &code.graph, &code.definitions, header, tested);
    let end = match bound {
        Bound::Value(value) => code.op(value),
        Bound::Constant(op, _) => Some(op),
    };
    match (start, end) {
        (Some(((None, start), step)), Some(Op::ConstInt(end))) => (end - start) * step < LEAST,
        _ => false,
    }
}

/// The values of a loop that depend on what rounds before have made, but for what decides which way is taken.
fn sequential(code: &Code<'_>, header: BlockId, body: &[BlockId], steps: &[Option<i64>]) -> FxHashSet<Value> {
    let function = code.function;
    let params = function.blocks[header].params.iter().zip(steps);
    let mut found: FxHashSet<Value> = params.filter(|(_, step)| step.is_none()).map(|(param, _)| *param).collect();
    loop {
        let before = found.len();
        for block in body.iter().map(|id| &function.blocks[*id]) {
            for inst in &block.insts {
                if inst.args.iter().any(|arg| found.contains(arg)) {
                    found.extend(&inst.results);
                }
            }
            for target in block.terminator.targets().into_iter().filter(|target| body.contains(&target.block)) {
                if target.block != header {
                    let params = function.blocks[target.block].params.iter().zip(&target.args);
                    found.extend(
                        params.filter(|(_, arg)| found.contains(arg)).map(|(param, _)| *param).collect::<Vec<_>>(),
                    );
                }
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The first block in which functions of many numbers are computed in every round, and those of them that need no
/// others.
fn cut(
    code: &Code<'_>,
    header: BlockId,
    body: &[BlockId],
    sequential: &FxHashSet<Value>,
) -> Option<(BlockId, Vec<Inst>)> {
    let function = code.function;
    let is_meant = |inst: &Inst| {
        is_function(inst.op) && !sequential.contains(&inst.results[0]) && body.contains(&code.homes[inst.args[0]])
    };
    let inner = body.iter().filter(|block| **block != header && code.graph.is_loop_header(**block));
    let in_inner_loops: FxHashSet<BlockId> = inner.flat_map(|inner| code.body(*inner)).collect();
    let is_in_every_round = |block: BlockId| {
        let mut latches = code.graph.predecessors[header].iter().filter(|from| body.contains(from));
        block != header && !in_inner_loops.contains(&block) && latches.all(|latch| code.graph.dominates(block, *latch))
    };
    let has_some = |block: BlockId| function.blocks[block].insts.iter().any(is_meant);
    let cut = body.iter().copied().find(|block| has_some(*block) && is_in_every_round(*block))?;
    let mut later: FxHashSet<Value> = FxHashSet::default();
    let mut functions = Vec::new();
    for inst in &function.blocks[cut].insts {
        let waits = inst.args.iter().any(|arg| later.contains(arg));
        if is_meant(inst) && !waits {
            functions.push(inst.clone());
        }
        if waits || is_meant(inst) {
            later.extend(&inst.results);
        }
    }
    Some((cut, functions))
}

/// Whether an instruction gives one of these values.
fn gives(inst: &Inst, values: &FxHashSet<Value>) -> bool {
    inst.results.iter().any(|result| values.contains(result))
}

/// What a block computes for the operands of functions in it.
fn early(function: &Function, block: BlockId, functions: &[Inst]) -> FxHashSet<Value> {
    let mut needed: FxHashSet<Value> = functions.iter().flat_map(|inst| &inst.args).copied().collect();
    let mut early = FxHashSet::default();
    for inst in function.blocks[block].insts.iter().rev() {
        if gives(inst, &needed) {
            needed.extend(&inst.args);
            early.extend(&inst.results);
        }
    }
    early
}

/// Whether prefixes may come first, and what the rest needs of them.
struct Search<'a> {
    code: &'a Code<'a>,
    header: BlockId,
    prefix: &'a [BlockId],
    early: &'a FxHashSet<Value>,
    sequential: &'a FxHashSet<Value>,
    again: Vec<Inst>,
    kept: Vec<Value>,
    known: FxHashSet<Value>,
}

impl Search<'_> {
    fn cut(&self) -> BlockId {
        self.prefix[self.prefix.len() - 1]
    }

    /// Whether the prefix of a round has no effect, ends, and takes its way without the rounds before.
    fn can_come_first(&self, effects: &Effects) -> bool {
        let function = self.code.function;
        let is_silent = |inst: &Inst| match inst.op {
            Op::Call(callee) => effects.can_be_dropped(callee),
            op => !op.has_effect() && inst.watched().is_none() && inst.watched_later().is_none(),
        };
        self.prefix.iter().all(|id| {
            let block = &function.blocks[*id];
            let is_early = |inst: &&Inst| *id != self.cut() || gives(inst, self.early);
            let is_decided = match &block.terminator {
                _ if *id == self.cut() => true,
                Terminator::Jump(_) => true,
                Terminator::Branch(value, ..) | Terminator::Switch(value, _) => !self.sequential.contains(value),
                _ => false,
            };
            let ends = *id == self.header || !self.code.graph.is_loop_header(*id) || {
                let inside = self.code.body(*id);
                test(self.code, *id, &inside, &self.code.steps(*id)).is_some()
            };
            let is_for_itself = *id == self.header || !block.params.iter().any(|param| self.sequential.contains(param));
            block.insts.iter().filter(is_early).all(is_silent) && is_decided && ends && is_for_itself
        })
    }

    /// Finds what the rest needs of the prefix; false if it cannot have that.
    fn find_needs(&mut self, rest: &[BlockId], functions: &[Inst]) -> bool {
        let function = self.code.function;
        let is_function = |inst: &Inst| functions.iter().any(|other| other.results == inst.results);
        let mut used = Vec::new();
        for id in rest {
            let block = &function.blocks[*id];
            let is_late = |inst: &&Inst| {
                let is_early = || *id == self.cut() && gives(inst, self.early);
                !(is_function(inst) || is_early())
            };
            used.extend(block.insts.iter().filter(is_late).flat_map(|inst| inst.args.iter().copied()));
            block.terminator.clone().for_each_use(|value| used.push(*value));
        }
        used.into_iter().all(|value| self.need(value))
    }

    /// Whether a value is one that a prefix computes.
    fn is_of_prefix(&self, value: Value) -> bool {
        let home = self.code.homes[value];
        let is_param = || self.code.function.blocks[self.header].params.contains(&value);
        match home == self.cut() {
            true => self.early.contains(&value) || self.code.function.blocks[home].params.contains(&value),
            false => self.prefix.contains(&home) && !is_param(),
        }
    }

    fn need(&mut self, value: Value) -> bool {
        if !self.is_of_prefix(value) || !self.known.insert(value) {
            return true;
        }
        let code = self.code;
        let is_sequential = self.sequential.contains(&value);
        match code.definitions.inst(code.function, value) {
            Some(inst) if is_sequential || self.cost(value, 0) <= CHEAP => {
                let can = inst.args.iter().all(|arg| self.need(*arg));
                self.again.push(inst.clone());
                can && inst.results.len() == 1
            }
            _ if is_sequential || code.function.values[value] != Type::F64 => false,
            _ => {
                self.kept.push(value);
                true
            }
        }
    }

    /// About how many additions it takes to compute a value again.
    fn cost(&self, value: Value, depth: u32) -> u32 {
        if !self.is_of_prefix(value) {
            return 0;
        }
        let inst = self.code.definitions.inst(self.code.function, value);
        let Some(inst) = inst.filter(|_| depth < CHEAP) else { return CHEAP + 1 };
        let own = match inst.op {
            op if is_constant(op) => 0,
            op if op.is_logic() => 1,
            Op::Real1(Real1::Neg | Real1::Abs) | Op::Real2(Real2::Add | Real2::Sub | Real2::Mul) => 1,
            Op::Select | Op::Element(..) | Op::Field(..) | Op::Tag(_) | Op::HasTag(..) => 1,
            _ => CHEAP + 1,
        };
        inst.args.iter().fold(own, |sum, arg| if sum > CHEAP { sum } else { sum + self.cost(*arg, depth + 1) })
    }
}

/// Divides a loop; gives the header of the loop that makes the rest of the rounds of a strip.
fn write(function: &mut Function, mut plan: Plan, vector: VectorId) -> BlockId {
    let before = preheader(function, &Graph::new(function), plan.header);
    let types: Vec<Type> = function.blocks[plan.header].params.iter().map(|param| function.values[*param]).collect();
    let second = split(function, plan.cut(), &plan.early);
    plan.rest[0] = second;
    let mut b = Builder::new(function);
    b.span = plan.functions[0].span;
    let strips = b.new_block(&types);
    let counters: Vec<Type> =
        types.iter().zip(&plan.steps).filter(|(_, step)| step.is_some()).map(|(ty, _)| *ty).collect();
    let count = plan.functions.len() + plan.kept.len();
    let fill = b.new_block(&[&counters[..], &[Type::Int], &vec![Type::Ptr; count]].concat());
    let drain = b.new_block(&[&types[..], &[Type::Int]].concat());
    let [work, prefix, next, apply, round] = [(); 5].map(|()| b.new_block(&[]));

    // How many rounds a strip has.
    b.function.blocks[before].terminator.targets_mut()[0].block = strips;
    b.switch_to(strips);
    let state = b.block_params(strips);
    let bound = plan.bound.value(&mut b);
    let way =
        if plan.steps[plan.tested] == Some(1) { [bound, state[plan.tested]] } else { [state[plan.tested], bound] };
    let left = b.value(Op::Int2(Int2::Sub), &way, Type::Int);
    let rounds = match plan.rounds {
        Rounds::OfStrip => {
            b.jump(work, Vec::new());
            b.switch_to(work);
            left
        }
        Rounds::Any => {
            let few = b.int(LEAST - 1);
            let is_enough = b.value(Op::IntCompare(IntCompare::Lt), &[few, left], Type::Bool);
            b.branch(is_enough, Target::new(work, &[]), Target::new(plan.header, &state));
            b.switch_to(work);
            let most = b.int(STRIP);
            let is_last = b.value(Op::IntCompare(IntCompare::Lt), &[left, most], Type::Bool);
            b.value(Op::Select, &[is_last, left, most], Type::Int)
        }
    };
    let zero = b.int(0);
    let mut args: Vec<Value> =
        state.iter().zip(&plan.steps).filter(|(_, step)| step.is_some()).map(|(param, _)| *param).collect();
    args.push(zero);
    args.extend((0..count).map(|_| b.value(Op::NewVector(vector), &[rounds], Type::Ptr)));
    b.jump(fill, args);

    // The prefix of each round.
    b.switch_to(fill);
    let params = b.block_params(fill);
    let (counts, vectors) = params.split_at(counters.len() + 1);
    let (at, counts) = counts.split_last().expect("the last one counts from zero");
    let is_left = b.value(Op::IntCompare(IntCompare::Lt), &[*at, rounds], Type::Bool);
    b.branch(is_left, Target::new(prefix, &[]), Target::new(apply, &[]));
    let originals = b.block_params(plan.header);
    let mut values: FxHashMap<Value, Value> = originals.iter().copied().zip(state.iter().copied()).collect();
    let counting = originals.iter().zip(&plan.steps).filter(|(_, step)| step.is_some()).map(|(param, _)| *param);
    values.extend(counting.zip(counts.iter().copied()));
    let copies = clone_region(b.function, &plan.prefix, plan.header, &mut values);
    finish_prefix(b.function, &plan, &copies, next, &Target::new(plan.header, &state));
    b.switch_to(prefix);
    b.jump(copies[&plan.header], Vec::new());
    b.switch_to(next);
    let one = b.int(1);
    let steps = plan.steps.iter().flatten().zip(counts).map(|(step, count)| {
        let step = b.int(*step);
        b.value(Op::Int2(Int2::Add), &[*count, step], Type::Int)
    });
    let mut args: Vec<Value> = steps.collect();
    args.push(b.value(Op::Int2(Int2::Add), &[*at, one], Type::Int));
    let numbers = plan.functions.iter().map(|inst| inst.args[0]).chain(plan.kept.iter().copied());
    for (number, vector_of) in numbers.zip(vectors) {
        let element = [*vector_of, rounds, *at, values.get(&number).copied().unwrap_or(number)];
        args.push(b.value(Op::WithElement(vector), &element, Type::Ptr));
    }
    b.jump(fill, args);

    // The functions.
    b.switch_to(apply);
    let zero = b.int(0);
    let mut numbers = vectors.to_vec();
    for (inst, numbers) in plan.functions.iter().zip(&mut numbers) {
        let Op::Real1(op) = inst.op else { unreachable!("it is a function of a real") };
        b.span = inst.span;
        *numbers = b.value(Op::OfEach(op, vector), &[*numbers, rounds], Type::Ptr);
    }
    b.jump(drain, [&state[..], &[zero]].concat());

    // The rest of each round.
    b.span = plan.functions[0].span;
    b.switch_to(drain);
    let mut state = b.block_params(drain);
    let at = state.pop().expect("the last one counts from zero");
    let is_left = b.value(Op::IntCompare(IntCompare::Lt), &[at, rounds], Type::Bool);
    let out = match plan.rounds {
        Rounds::Any => Target::new(strips, &state),
        Rounds::OfStrip => exit(b.function, plan.header, &state),
    };
    b.branch(is_left, Target::new(round, &[]), out);
    b.switch_to(round);
    let one = b.int(1);
    let after = b.value(Op::Int2(Int2::Add), &[at, one], Type::Int);
    let mut values: FxHashMap<Value, Value> = originals.iter().copied().zip(state).collect();
    let (results, kept) = numbers.split_at(plan.functions.len());
    for (value, numbers) in plan.kept.iter().zip(kept) {
        values.insert(*value, b.value(Op::Element(vector, 0), &[*numbers, rounds, at], Type::F64));
    }
    plan.again.iter().for_each(|inst| clone_inst(b.function, round, inst, &mut values));
    let copies = clone_region(b.function, &plan.rest, plan.header, &mut values);
    b.jump(copies[&second], Vec::new());
    for (inst, numbers) in plan.functions.iter().zip(results) {
        let result = values[&inst.results[0]];
        let copied = b.function.blocks[copies[&second]].insts.iter_mut().filter(|inst| inst.results[..] == [result]);
        copied.for_each(|inst| {
            (inst.op, inst.args) = (Op::Element(vector, 0), [*numbers, rounds, at].into_iter().collect())
        });
    }
    for copy in copies.values() {
        let targets = b.function.blocks[*copy].terminator.targets_mut().into_iter();
        for target in targets.filter(|target| target.block == plan.header) {
            target.block = drain;
            target.args.push(after);
        }
    }
    drain
}

/// Where a loop goes on when it has made its rounds, and its parameters are these.
fn exit(function: &Function, header: BlockId, state: &[Value]) -> Target {
    let Terminator::Branch(_, _, out) = &function.blocks[header].terminator else {
        unreachable!("the header tests whether there is another round")
    };
    let mut out = out.clone();
    for arg in &mut out.args {
        let place = function.blocks[header].params.iter().position(|param| param == arg);
        *arg = place.map_or(*arg, |place| state[place]);
    }
    out
}

/// Splits a block behind what comes early, which is put first; gives the second half.
fn split(function: &mut Function, block: BlockId, early: &FxHashSet<Value>) -> BlockId {
    let second = function.new_block(&[]);
    let insts = std::mem::take(&mut function.blocks[block].insts);
    let is_early = |inst: &Inst| gives(inst, early);
    let (first, rest): (Vec<Inst>, Vec<Inst>) = insts.into_iter().partition(is_early);
    function.blocks[block].insts = first;
    function.blocks[second].insts = rest;
    function.blocks[second].terminator =
        std::mem::replace(&mut function.blocks[block].terminator, Terminator::Jump(Target::new(second, &[])));
    second
}

/// Lets the copy of a prefix be one round that computes nothing of what rounds before have made, lead on to `next`, and
/// leave the loop for `otherwise`.
fn finish_prefix(
    function: &mut Function,
    plan: &Plan,
    copies: &FxHashMap<BlockId, BlockId>,
    next: BlockId,
    otherwise: &Target,
) {
    let second = plan.cut();
    for original in &plan.prefix {
        let insts = &function.blocks[*original].insts;
        let is_kept: Vec<bool> = insts.iter().map(|inst| !gives(inst, &plan.sequential)).collect();
        let copy = &mut function.blocks[copies[original]];
        keep(&mut copy.insts, &is_kept);
        if *original == plan.header
            && let Terminator::Branch(_, yes, _) = &copy.terminator
        {
            copy.terminator = Terminator::Jump(yes.clone());
        }
        for target in copy.terminator.targets_mut() {
            if target.block == second {
                target.block = next;
            } else if !copies.values().any(|copy| *copy == target.block) {
                *target = otherwise.clone();
            }
        }
    }
}
