//! Long tapes are not kept, but made again piece by piece: SSA → SSA.
//!
//! ```text
//!     jump b1(v0, v1)                                  v9 = heap_bytes
//!                                                      jump b1(v0, v1, v1, 1, 1)
//! b1(v2: f64, v3: ptr):                            b1(v2: f64, v3: ptr, v10: ptr, v11: int, v12: int):
//!     branch v4, b2, b3                        →       branch v4, b2, b3
//! b2: v5 = box.sum0.0 v2, v3                       b2: v5 = box.sum0.0 v2, v3
//!     v6 = sin v2                                      v6 = sin v2
//!     jump b1(v6, v5)                                  v13 = int_sub v11, 1
//!                                                      branch (int_is.0 v13), b9, b1(v6, v5, v10, v13, v12)
//! b3: ...                                          b3: ...
//!     v7 = has_tag.sum0.1 v8                           branch (has_tag.sum0.2 v8), b7, b8(v8)
//!                                                  b7: v14 = call fn1(v8)
//!                                                      jump b8(v14)
//!                                                  b8(v15: ptr):
//!                                                      v7 = has_tag.sum0.1 v15
//! ```
//!
//! The tape of a loop grows with its rounds. Once it takes more memory than it may, the loop goes on with *checkpoints*:
//! from time to time it replaces the tape of its last rounds by a box with the state that these began with. Whoever
//! reads the tape and comes to a checkpoint lets these rounds run again, which makes their part of the tape. The bits
//! are the same, because the operations are.
//!
//! How many rounds lie between two checkpoints follows from how many fit into an eighth of the memory. Before that the
//! loop pays for a counter, which is compared with powers of two to see how much memory has been taken since its
//! beginning; that of a short loop is never asked for. If the checkpoints take too much memory themselves, some are
//! dropped: a round is then run again more than once, twice for most numbers of rounds. Which ones follows the dynamic
//! checkpointing of Wang, Moin and Iaccarino, *Minimal repetition dynamic checkpointing algorithm for unsteady adjoint
//! calculation* (2009): each checkpoint has a level, 0 for a new one; when there is no room, the new one gets the level
//! after that of the last, and replaces all of lower levels behind the last of its own level or a higher one.
//!
//! A loop is treated if it does nothing with its tape but add to it, and if the rounds that the tape depends on can be
//! run again. Its state is what they depend on. Loops that are known to have few rounds, each with a few numbers, are
//! left alone.
//!
//! Requires that the tapes which can be vectors are ([`tape_vectors`](super::tape_vectors)): the lengths of these are
//! lengths of data, or numbers of rounds that are known when a loop begins. Nothing that comes later tells tapes by
//! their alternatives.
//!
//! Tests: `tests/opt/checkpointing/`, and every program on which optimised code and the evaluator are compared: there
//! hardly any memory is allowed.

mod again;
mod find;

use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::loops::{homes, preheader};
use crate::opt::edit::rewrite::{Replacements, size};
use crate::ssa::builder::Builder;
use crate::ssa::graph::{Graph, reverse_postorder};
use crate::ssa::ir::{
    Alternative, BlockId, CHECKPOINT, FuncId, Function, Int2, IntCompare, Op, Program, SumId, Target, Terminator, Type,
    Value,
};
use find::Chain;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// So many rounds lie between two checkpoints as their tape takes this part of the memory that there is for it.
const PIECES: i64 = 8;

/// So many checkpoints are kept at least.
const FEWEST: i64 = 8;

/// How many checkpoints there may be as long as there is room.
const UNLIMITED: i64 = i64::MAX;

/// Treats the whole program, which may grow to so many instructions.
pub fn run(program: &mut Program, most: usize) -> bool {
    let effects = Effects::without_ends(program);
    let mut room = most.saturating_sub(program.functions.values().map(size).sum::<usize>());
    let mut checkpoints: BTreeMap<SumId, Vec<Checkpoint>> = BTreeMap::new();
    let functions: Vec<FuncId> = program.functions.ids().collect();
    for function in functions {
        let mut seen = FxHashSet::default();
        while let Some(chain) = find::innermost(program, &effects, function, &mut seen, room) {
            room = room.saturating_sub(chain.size);
            let checkpoint = Checkpoint::new(program, function, &chain);
            checkpoints.entry(chain.sum).or_default().push(checkpoint);
        }
    }
    for (sum, checkpoints) in &checkpoints {
        let resume = again::resume(program, *sum, checkpoints);
        let looking = Looking { sum: *sum, checkpoints, resume };
        program.functions.values_mut().for_each(|function| looking.run(function));
    }
    !checkpoints.is_empty()
}

/// Lets the tapes of loops take so many bytes, whatever the machine has.
pub fn limit(program: &mut Program, bytes: i64) {
    let blocks = program.functions.values_mut().flat_map(|function| function.blocks.values_mut());
    for inst in blocks.flat_map(|block| &mut block.insts).filter(|inst| inst.op == Op::TapeMemory) {
        inst.op = Op::ConstInt(bytes);
    }
}

/// A kind of checkpoints: those of one loop.
#[derive(Debug)]
struct Checkpoint {
    sum: SumId,
    tag: u32,
    /// The function that runs rounds again, from a checkpoint and as many as it is told, with so many checkpoints.
    again: FuncId,
    /// The function that says what a new checkpoint replaces.
    replace: FuncId,
}

/// The fields of a checkpoint; the state of the loop follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Field {
    /// The checkpoint before; in the first one, the tape of the rounds before.
    Before,
    /// How many rounds lie between that checkpoint and this one.
    Rounds,
    /// Its level.
    Level,
    /// How many checkpoints there are with this one.
    Depth,
    /// After how many rounds a loop that goes on from here makes the next one.
    Interval,
    /// How many checkpoints it may make until it has to drop some.
    Most,
    /// The first field of the state.
    State,
}

/// What a new checkpoint holds besides the state.
struct Entry {
    before: Value,
    rounds: Value,
    level: Value,
    depth: Value,
    interval: Value,
    most: Value,
}

impl Checkpoint {
    /// Lets a loop make checkpoints.
    fn new(program: &mut Program, function: FuncId, chain: &Chain) -> Checkpoint {
        let types =
            |values: &[Value]| values.iter().map(|v| program.functions[function].values[*v]).collect::<Vec<_>>();
        let mut fields = vec![Type::Ptr, Type::Int, Type::Int, Type::Int, Type::Int, Type::Int];
        debug_assert_eq!(fields.len(), Field::State as usize);
        let params = &program.functions[function].blocks[chain.header].params;
        let state: Vec<Value> = chain.state.iter().map(|position| params[*position]).collect();
        fields.extend(types(&state));
        fields.extend(types(&chain.given));
        let alternatives = &mut program.sums[chain.sum].alternatives;
        let tag = alternatives.len() as u32;
        alternatives.push(Alternative { name: CHECKPOINT.into(), fields });
        let code = again::code(&program.functions[function], chain);
        let [replace, again] = [(); 2].map(|()| program.functions.push(Function::new("".into(), &[], Vec::new())));
        let checkpoint = Checkpoint { sum: chain.sum, tag, again, replace };
        program.functions[replace] = again::replace(&checkpoint);
        program.functions[again] = checkpoint.run_again(code);
        checkpoint.treat(&mut program.functions[function], chain);
        checkpoint
    }

    /// The loop makes checkpoints.
    fn treat(&self, function: &mut Function, chain: &Chain) {
        let graph = Graph::new(function);
        let before = preheader(function, &graph, chain.header);
        let mut b = Builder::new(function);
        b.switch_to(before);
        let taken = b.value(Op::HeapBytes, &[], Type::Int);
        let one = b.int(1);
        let Terminator::Jump(entry) = &b.function.blocks[before].terminator else { unreachable!("it is a preheader") };
        let tape = entry.args[chain.position];
        let started = b.boolean(false);
        let counter = Counter::new(b.function, chain, before, &[tape, started, one, one]);
        let [checkpoint, started, _, interval] = counter.carried[..] else { unreachable!("there are four") };
        let mut b = Builder::new(function);
        // Either there is a checkpoint, or the tape has all rounds so far.
        let [go_on, ask, first, next] = [(); 4].map(|()| b.new_block(&[]));
        b.switch_to(counter.due);
        let now = b.value(Op::HeapBytes, &[], Type::Int);
        let grown = b.value(Op::Int2(Int2::Sub), &[now, taken], Type::Int);
        let memory = b.value(Op::TapeMemory, &[], Type::Int);
        b.branch(started, jump(next), jump(ask));
        b.switch_to(ask);
        let pieces = b.int(PIECES);
        let share = b.value(Op::Int2(Int2::Mul), &[grown, pieces], Type::Int);
        let is_full = b.value(Op::IntCompare(IntCompare::Lt), &[memory, share], Type::Bool);
        b.branch(is_full, jump(first), jump(go_on));
        b.switch_to(go_on);
        let twice = b.value(Op::Int2(Int2::Add), &[interval, interval], Type::Int);
        let no = b.boolean(false);
        counter.go_on(&mut b, None, &[checkpoint, no, interval, twice]);
        b.switch_to(first);
        let [zero, one, most] = [0, 1, UNLIMITED].map(|x| b.int(x));
        let before = counter.tape;
        let entry = Entry { before, rounds: zero, level: zero, depth: one, interval, most };
        let made = self.make(&mut b, &entry, &counter.state, &chain.given);
        let yes = b.boolean(true);
        counter.go_on(&mut b, Some(made), &[made, yes, interval, interval]);
        b.switch_to(next);
        // No more of them once they take so much themselves.
        let depth = self.field(&mut b, checkpoint, Field::Depth);
        let most = self.field(&mut b, checkpoint, Field::Most);
        let unlimited = b.int(UNLIMITED);
        let is_unlimited = b.value(Op::IntCompare(IntCompare::Eq), &[most, unlimited], Type::Bool);
        let is_full = b.value(Op::IntCompare(IntCompare::Lt), &[memory, grown], Type::Bool);
        let ends = b.value(Op::And, &[is_unlimited, is_full], Type::Bool);
        let fewest = b.int(FEWEST);
        let are_few = b.value(Op::IntCompare(IntCompare::Lt), &[depth, fewest], Type::Bool);
        let limit = b.value(Op::Select, &[are_few, fewest, depth], Type::Int);
        let most = b.value(Op::Select, &[ends, limit, most], Type::Int);
        let one = b.int(1);
        let made = self.replacing(&mut b, [checkpoint, interval, most, one], interval, &counter.state, &chain.given);
        let yes = b.boolean(true);
        counter.go_on(&mut b, Some(made), &[made, yes, interval, interval]);
    }

    /// The function that runs rounds again. `code` is the loop without ways out, the entry without code.
    fn run_again(&self, code: again::Code) -> Function {
        let again::Code { mut function, chain: own, state } = code;
        let mut b = Builder::new(&mut function);
        let [from, rounds, most] = b.block_params(Function::ENTRY)[..] else { unreachable!("there are three") };
        let kept: Vec<Type> = state.iter().chain(&own.given).map(|value| b.function.values[*value]).collect();
        let mut fields = Vec::new();
        for (position, ty) in kept.into_iter().enumerate() {
            let field = Op::Field(self.sum, self.tag, Field::State as u32 + position as u32);
            fields.push(b.value(field, &[from], ty));
        }
        let given = fields.split_off(state.len());
        let interval = self.field(&mut b, from, Field::Interval);
        let floor = self.field(&mut b, from, Field::Depth);
        let three = b.int(3);
        let above = b.value(Op::Int2(Int2::Add), &[floor, three], Type::Int);
        let is_low = b.value(Op::IntCompare(IntCompare::Lt), &[most, above], Type::Bool);
        let most = b.value(Op::Select, &[is_low, above, most], Type::Int);
        let first = at_most(&mut b, interval, rounds);
        let mut args = fields;
        args.insert(own.position, from);
        b.jump(own.header, args);
        let mut replacements = Replacements::new(b.function);
        own.given.iter().zip(&given).for_each(|(value, field)| replacements.replace(*value, *field));
        replacements.apply(b.function);
        let counter = Counter::new(b.function, &own, Function::ENTRY, &[from, first, first, rounds]);
        let [checkpoint, _, piece, rest] = counter.carried[..] else { unreachable!("there are four") };
        let mut b = Builder::new(&mut function);
        let [done, next] = [(); 2].map(|()| b.new_block(&[]));
        b.switch_to(counter.due);
        let rest = b.value(Op::Int2(Int2::Sub), &[rest, piece], Type::Int);
        let is_done = b.value(Op::IntIs(0), &[rest], Type::Bool);
        b.branch(is_done, jump(done), jump(next));
        b.switch_to(done);
        b.ret(vec![counter.tape]);
        b.switch_to(next);
        let made = self.replacing(&mut b, [checkpoint, piece, most, floor], interval, &counter.state, &given);
        let piece = at_most(&mut b, interval, rest);
        counter.go_on(&mut b, Some(made), &[made, piece, piece, rest]);
        function
    }

    /// A new checkpoint that replaces what there is no room for, said by the last checkpoint, the rounds since, the
    /// most that may be, and how many have to stay.
    fn replacing(
        &self,
        b: &mut Builder<'_>,
        about: [Value; 4],
        interval: Value,
        state: &[Value],
        given: &[Value],
    ) -> Value {
        let types = [Type::Ptr, Type::Int, Type::Int, Type::Int];
        let [before, rounds, level, depth] = b.inst(Op::Call(self.replace), &about, &types)[..] else {
            unreachable!("there are four")
        };
        let entry = Entry { before, rounds, level, depth, interval, most: about[2] };
        self.make(b, &entry, state, given)
    }

    /// A new checkpoint.
    fn make(&self, b: &mut Builder<'_>, entry: &Entry, state: &[Value], given: &[Value]) -> Value {
        let Entry { before, rounds, level, depth, interval, most } = *entry;
        let fields = [&[before, rounds, level, depth, interval, most], state, given].concat();
        b.value(Op::Box(self.sum, self.tag), &fields, Type::Ptr)
    }

    /// A field of a checkpoint that is not part of the state.
    fn field(&self, b: &mut Builder<'_>, checkpoint: Value, field: Field) -> Value {
        let ty = if field == Field::Before { Type::Ptr } else { Type::Int };
        b.value(Op::Field(self.sum, self.tag, field as u32), &[checkpoint], ty)
    }
}

/// The smaller one.
fn at_most(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let is_less = b.value(Op::IntCompare(IntCompare::Lt), &[x, y], Type::Bool);
    b.value(Op::Select, &[is_less, x, y], Type::Int)
}

fn jump(block: BlockId) -> Target {
    Target { block, args: Vec::new() }
}

/// A loop that counts its rounds down, and goes another way when none are left.
struct Counter {
    header: BlockId,
    position: usize,
    /// What the loop carries besides, the counter among it.
    carried: Vec<Value>,
    /// Where control goes when no rounds are left.
    due: BlockId,
    /// The parameters of the loop for the next round, the tape and the state among them.
    params: Vec<Value>,
    tape: Value,
    state: Vec<Value>,
}

impl Counter {
    /// Lets a loop carry more, which begins with these values when control comes from the block before the loop. The
    /// first integer among them is the counter.
    fn new(function: &mut Function, chain: &Chain, before: BlockId, first: &[Value]) -> Counter {
        let header = chain.header;
        let types: Vec<Type> = first.iter().map(|value| function.values[*value]).collect();
        let counts = types.iter().position(|ty| *ty == Type::Int).expect("there is a counter");
        let carried: Vec<Value> = types.iter().map(|ty| function.values.push(*ty)).collect();
        let all: Vec<Type> = function.blocks[header].params.iter().map(|param| function.values[*param]).collect();
        let latch = function.new_block(&all);
        let due = function.new_block(&[]);
        for id in function.blocks.ids() {
            for target in function.blocks[id].terminator.targets_mut() {
                if target.block == header && id == before {
                    target.args.extend(first);
                } else if target.block == header {
                    target.block = latch;
                }
            }
        }
        function.blocks[header].params.extend(&carried);
        let params = function.blocks[latch].params.clone();
        let mut b = Builder::new(function);
        b.switch_to(latch);
        let one = b.int(1);
        let left = b.value(Op::Int2(Int2::Sub), &[carried[counts], one], Type::Int);
        let is_due = b.value(Op::IntIs(0), &[left], Type::Bool);
        let mut next = carried.clone();
        next[counts] = left;
        let args = [&params[..], &next].concat();
        b.branch(is_due, jump(due), Target { block: header, args });
        let state = chain.state.iter().map(|position| params[*position]).collect();
        let tape = params[chain.position];
        Counter { header, position: chain.position, carried, due, params, tape, state }
    }

    /// Goes on with the next round, and with another tape if there is one.
    fn go_on(&self, b: &mut Builder<'_>, tape: Option<Value>, carried: &[Value]) {
        let mut args = self.params.clone();
        if let Some(tape) = tape {
            args[self.position] = tape;
        }
        args.extend(carried);
        b.jump(self.header, args);
    }
}

/// Whoever looks at a tape looks at what is behind the checkpoints.
struct Looking<'c> {
    sum: SumId,
    checkpoints: &'c [Checkpoint],
    resume: FuncId,
}

impl Looking<'_> {
    fn run(&self, function: &mut Function) {
        // Tapes that do not begin with a checkpoint.
        let mut clear: FxHashSet<Value> = FxHashSet::default();
        while let Some((block, position, value)) = self.first_look(function, &clear) {
            let graph = Graph::new(function);
            let homes = homes(function);
            let home = homes[value];
            let carried = function.blocks[home].params.iter().position(|param| *param == value);
            if let Some(carried) = carried.filter(|_| block == home && graph.is_loop_header(home)) {
                // The loop keeps its form: what is passed to it is looked at first. Only where each round looks at it
                // is that a tape for certain: alternatives that have been flattened share their parameters.
                let mut before: Vec<BlockId> = graph.predecessors[home].to_vec();
                before.sort_unstable();
                before.dedup();
                for from in before {
                    self.look_on_edges(function, from, (home, carried), &clear);
                }
                clear.insert(value);
            } else {
                clear.insert(self.look_at(function, block, position, value));
            }
        }
    }

    /// Looks at what a block passes for a parameter of a loop.
    fn look_on_edges(
        &self,
        function: &mut Function,
        from: BlockId,
        (header, carried): (BlockId, usize),
        clear: &FxHashSet<Value>,
    ) {
        for edge in 0..function.blocks[from].terminator.target_count() {
            let target = function.blocks[from].terminator.target(edge).clone();
            if target.block != header || clear.contains(&target.args[carried]) {
                continue;
            }
            let mut b = Builder::new(function);
            let look = b.new_block(&[]);
            b.switch_to(look);
            let behind = self.look(&mut b, target.args[carried]);
            let mut args = target.args;
            args[carried] = b.block_params(behind)[0];
            b.switch_to(behind);
            b.jump(header, args);
            *function.blocks[from].terminator.target_mut(edge) = jump(look);
        }
    }

    /// Looks at a tape before a certain instruction. What that and all that comes after it see is the result.
    fn look_at(&self, function: &mut Function, block: BlockId, position: usize, value: Value) -> Value {
        let span = function.blocks[block].insts[position].span;
        let insts = function.blocks[block].insts.split_off(position);
        let end = std::mem::replace(&mut function.blocks[block].terminator, Terminator::Unreachable);
        let mut b = Builder::new(function);
        b.span = span;
        b.switch_to(block);
        let behind = self.look(&mut b, value);
        let found = b.block_params(behind)[0];
        function.blocks[behind].insts = insts;
        function.blocks[behind].terminator = end;
        let graph = Graph::new(function);
        for below in function.blocks.ids() {
            if graph.is_reachable(below) && graph.dominates(behind, below) {
                let replace = |used: &mut Value| *used = if *used == value { found } else { *used };
                function.blocks[below].for_each_use(replace);
            }
        }
        found
    }

    /// Ends a block by looking at a tape. The block that is returned is told what is behind the checkpoints.
    fn look(&self, b: &mut Builder<'_>, tape: Value) -> BlockId {
        let [run_again, behind] = [b.new_block(&[]), b.new_block(&[Type::Ptr])];
        let has_tag = |b: &mut Builder<'_>, checkpoint: &Checkpoint| {
            b.value(Op::HasTag(self.sum, checkpoint.tag), &[tape], Type::Bool)
        };
        let mut is_checkpoint = has_tag(b, &self.checkpoints[0]);
        for checkpoint in &self.checkpoints[1..] {
            let other = has_tag(b, checkpoint);
            is_checkpoint = b.value(Op::Or, &[is_checkpoint, other], Type::Bool);
        }
        b.branch(is_checkpoint, jump(run_again), Target { block: behind, args: vec![tape] });
        b.switch_to(run_again);
        let resumed = b.value(Op::Call(self.resume), &[tape], Type::Ptr);
        b.jump(behind, vec![resumed]);
        behind
    }

    /// The first operation that looks at a tape which may begin with a checkpoint.
    fn first_look(&self, function: &Function, clear: &FxHashSet<Value>) -> Option<(BlockId, usize, Value)> {
        let is_own = |tag: u32| self.checkpoints.iter().any(|checkpoint| checkpoint.tag == tag);
        let looks = |op: Op| match op {
            Op::Tag(sum) => sum == self.sum,
            Op::HasTag(sum, tag) | Op::Field(sum, tag, _) => sum == self.sum && !is_own(tag),
            _ => false,
        };
        // In reverse postorder, a block comes after those that dominate it.
        reverse_postorder(function).into_iter().find_map(|block| {
            let mut insts = function.blocks[block].insts.iter().enumerate();
            let (position, inst) = insts.find(|(_, inst)| looks(inst.op) && !clear.contains(&inst.args[0]))?;
            Some((block, position, inst.args[0]))
        })
    }
}
