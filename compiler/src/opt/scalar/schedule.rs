//! Instruction scheduling within blocks: SSA → SSA.
//!
//! ```text
//! v1 = field.sum0.1.0 v0          v1 = field.sum0.1.0 v0
//! v2 = field.sum0.1.1 v0          v3 = mul v1, v1
//! v3 = mul v1, v1            →    v2 = field.sum0.1.1 v0
//! v4 = add v3, v2                 v4 = add v3, v2
//! ```
//!
//! The code of a derivative first reads a node of the tape, and computes with what it has read in the order of the
//! transform. In long blocks that keeps more values alive than a processor has registers. So instructions are put where
//! few values are alive at a time: a block is written from its end to its start, and of the instructions whose results
//! nothing before needs, the next is the one that brings the fewest values to life (Goodman and Hsu, *Code Scheduling
//! and Register Allocation in Large Basic Blocks*, 1988, without their pipeline: processors reorder what is near).
//! Where that does not decide, the order stays.
//!
//! A box of many reals is made before them, and takes each when it is ready ([`super::early_boxes`]). So nothing may
//! follow that takes boxes for immutable.
//!
//! In every block, what a round of a loop hands on to the next is computed as early as possible ([`carried_early`]).
//!
//! What has effects keeps its order, and so do new boxes. Fields and elements are read before the next call, so that it
//! can take the box or the vector over. Blocks that are not that long keep their order, except that fields and elements
//! are read, and counters changed, where they are needed.
//!
//! Tests: `tests/opt/schedule/`.

use crate::base::EntityVec;
use crate::opt::Context;
use crate::opt::edit::rewrite::is_constant;
use crate::opt::scalar::early_boxes::open_large;
use crate::ssa::ir::{Block, BlockId, Function, Inst, Op, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// With more reals than this alive at a time, the order changes; up to it, most of them are in registers, and what
/// other computations wait for is computed first as it stands.
const MANY: usize = 40;

/// Treats a function.
pub fn run(function: &mut Function, _: &Context) -> bool {
    let mut changed = open_large(function);
    let used_in = used_in(function);
    for id in function.blocks.ids() {
        let block = &function.blocks[id];
        let is_alive = |value: Value| !matches!(used_in[value], Use::In(block) if block == id);
        let mut order = fields_late(block);
        if most_alive(function, block, &order, is_alive) > MANY {
            order = Schedule::new(block, is_alive).order();
        }
        carried_early(function, block, &mut order);
        if !order.is_sorted() {
            function.blocks[id].insts = order.iter().map(|index| block.insts[*index].clone()).collect();
            changed = true;
        }
    }
    changed
}

/// The order of the instructions, but with fields right before their first use, or the next barrier, and counters
/// changed right before their first use.
fn fields_late(block: &Block) -> Vec<usize> {
    let mut order = Vec::with_capacity(block.insts.len());
    // By their results.
    let mut waiting: FxHashMap<Value, usize> = FxHashMap::default();
    let sorted = |mut fields: Vec<usize>| {
        fields.sort_unstable();
        fields
    };
    for (index, inst) in block.insts.iter().enumerate() {
        let mut read: Vec<usize> = Vec::new();
        // Fields of fields: those that are read later are wanted first.
        let mut wanted = inst.args.clone();
        if is_barrier(inst.op) {
            wanted.extend(waiting.iter().filter(|(_, at)| is_read(block.insts[**at].op)).map(|(value, _)| *value));
        }
        while let Some(value) = wanted.pop() {
            if let Some(field) = waiting.remove(&value) {
                wanted.extend_from_slice(&block.insts[field].args);
                read.push(field);
            }
        }
        order.extend(sorted(read));
        let waits = is_read(inst.op) || is_next(block, inst);
        if let (true, [result]) = (waits, &inst.results[..]) {
            waiting.insert(*result, index);
        } else {
            order.push(index);
        }
    }
    order.extend(sorted(waiting.into_values().collect()));
    order
}

/// True for what counts on from a parameter of the block: what the parameter was should not be needed any more, so that
/// both can be in one register.
fn is_next(block: &Block, inst: &Inst) -> bool {
    matches!(inst.op, Op::Int2(_)) && inst.args.iter().any(|arg| block.params.contains(arg))
}

/// Moves what a round hands on to the next to where it can be computed first, without a register more: behind the last
/// use of what the round before has handed on. The rounds of a loop wait for such values, as for the powers of a number
/// here:
///
/// ```text
/// b1(v1: f64, v2: f64):                 b1(v1: f64, v2: f64):
///     v4 = mul v2, v3                       v4 = mul v2, v3
///     v5 = sub v1, v4                       v6 = mul v2, v7
///     v6 = mul v2, v7                       v5 = sub v1, v4
///     branch v8, b1(v5, v6), b2             branch v8, b1(v5, v6), b2
/// ```
fn carried_early(function: &Function, block: &Block, order: &mut [usize]) {
    let mut makers: FxHashMap<Value, usize> = FxHashMap::default();
    for (index, inst) in block.insts.iter().enumerate().filter(|(_, inst)| is_arithmetic(inst.op)) {
        makers.extend(inst.results.iter().map(|result| (*result, index)));
    }
    let mut carried: Vec<(usize, Value)> = Vec::new();
    for target in block.terminator.targets() {
        for (arg, param) in target.args.iter().zip(&function.blocks[target.block].params) {
            // A parameter of a block is only known where that is a round of the loop that the block begins.
            if let Some(index) = makers.get(arg)
                && block.insts[*index].args.contains(param)
            {
                carried.push((*index, *param));
            }
        }
    }
    let mut placed: Vec<usize> = Vec::new();
    carried.retain(|(index, _)| order.contains(index));
    carried.sort_unstable();
    carried.dedup_by_key(|(index, _)| *index);
    // What depends on fewer instructions of the round comes first.
    let depths = depths(block, order);
    carried.sort_by_key(|(index, _)| depths[*index]);
    for (index, param) in carried {
        let now = order.iter().position(|other| *other == index).expect("the order has all instructions");
        let is_before = |other: &usize| {
            let other_inst = &block.insts[*other];
            let makes_operand = other_inst.results.iter().any(|result| block.insts[index].args.contains(result));
            makes_operand || other_inst.args.contains(&param) || placed.contains(other)
        };
        let first = order[..now].iter().rposition(is_before).map_or(0, |last| last + 1);
        order[first..=now].rotate_right(1);
        placed.push(index);
    }
}

fn is_arithmetic(op: Op) -> bool {
    matches!(op, Op::Real1(_) | Op::Real2(_) | Op::Lanes(_))
}

/// For each instruction how many of the block it follows from, one after another.
fn depths(block: &Block, order: &[usize]) -> Vec<usize> {
    let mut depths = vec![0; block.insts.len()];
    let mut of: FxHashMap<Value, usize> = FxHashMap::default();
    for index in order {
        let inst = &block.insts[*index];
        depths[*index] = inst.args.iter().filter_map(|arg| of.get(arg)).max().map_or(0, |depth| depth + 1);
        of.extend(inst.results.iter().map(|result| (*result, depths[*index])));
    }
    depths
}

/// How many reals are alive at a time, at most.
fn most_alive(function: &Function, block: &Block, order: &[usize], is_alive: impl Fn(Value) -> bool) -> usize {
    let made_anew: FxHashSet<Value> =
        block.insts.iter().filter(|inst| is_made_anew(inst.op)).flat_map(|inst| inst.results.iter().copied()).collect();
    let counts = |value: Value| function.values[value] == Type::F64 && !made_anew.contains(&value);
    let mut alive: FxHashSet<Value> = FxHashSet::default();
    let results = block.insts.iter().flat_map(|inst| &inst.results);
    alive.extend(results.copied().filter(|value| counts(*value) && is_alive(*value)));
    block.terminator.for_each_value(|value| {
        if counts(value) {
            alive.insert(value);
        }
    });
    let mut most = alive.len();
    for index in order.iter().rev() {
        let inst = &block.insts[*index];
        for value in &inst.results {
            alive.remove(value);
        }
        alive.extend(inst.args.iter().copied().filter(|value| counts(*value)));
        most = most.max(alive.len());
    }
    most
}

/// Where a value is used.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    Nowhere,
    In(BlockId),
    InSeveral,
}

fn used_in(function: &Function) -> EntityVec<Value, Use> {
    let mut used_in = function.values.same_ids(Use::Nowhere);
    for (id, block) in function.blocks.iter() {
        block.for_each_value(|value| {
            used_in[value] = match used_in[value] {
                Use::Nowhere => Use::In(id),
                Use::In(other) if other == id => Use::In(id),
                _ => Use::InSeveral,
            };
        });
    }
    used_in
}

/// True for instructions that keep their order among each other.
fn is_anchor(op: Op) -> bool {
    is_barrier(op)
        || matches!(op, Op::Box(..) | Op::NewVector(_) | Op::Kernel(..) | Op::Elements(..) | Op::GlobalGet(_))
}

/// True for instructions that read memory that nothing changes up to the next barrier.
fn is_read(op: Op) -> bool {
    matches!(op, Op::Field(..) | Op::Element(..))
}

/// True for instructions that may look at any box, or end its life.
fn is_barrier(op: Op) -> bool {
    op.has_effect() && !matches!(op, Op::Fill(_)) || op.changes_vector() || matches!(op, Op::Call(_))
}

/// True for instructions whose results need no register: they are computed anew, or part of what uses them.
fn is_made_anew(op: Op) -> bool {
    is_constant(op) || matches!(op, Op::Vacant(_) | Op::Hole(..))
}

/// What is known while one block is written from its end to its start.
struct Schedule {
    /// For each instruction those that have to come before it.
    before: Vec<Vec<usize>>,
    /// For each instruction how many that have to come after it are not placed yet.
    after: Vec<usize>,
    /// For each instruction how many values it needs that are not alive yet, and one more if it ends no life, as others
    /// do. What is made anew for each use does not count.
    growth: Vec<usize>,
    operands: Vec<Vec<Value>>,
    /// The instructions that need each value that is not alive yet.
    users: FxHashMap<Value, Vec<usize>>,
    /// The instructions that may be placed next, the best one last.
    ready: BTreeSet<(Reverse<usize>, usize)>,
}

impl Schedule {
    /// Prepares a block, given which values are alive at its end whatever uses them.
    fn new(block: &Block, is_alive: impl Fn(Value) -> bool) -> Schedule {
        let count = block.insts.len();
        let (mut before, mut after) = (vec![Vec::new(); count], vec![0; count]);
        let mut growth = vec![0; count];
        let mut users: FxHashMap<Value, Vec<usize>> = FxHashMap::default();
        let mut makers: FxHashMap<Value, usize> = FxHashMap::default();
        let (mut anchor, mut barrier, mut fields) = (None, None, Vec::new());
        let mut needed: FxHashSet<Value> = FxHashSet::default();
        block.terminator.for_each_value(|value| {
            needed.insert(value);
        });
        for (index, inst) in block.insts.iter().enumerate() {
            let first: &mut Vec<usize> = &mut before[index];
            first.extend(inst.args.iter().filter_map(|arg| makers.get(arg)));
            if is_anchor(inst.op) {
                first.extend(anchor.replace(index));
            }
            if is_barrier(inst.op) {
                first.append(&mut fields);
                barrier = Some(index);
            } else if is_read(inst.op) || matches!(inst.op, Op::Fill(_)) {
                first.extend(barrier);
                fields.push(index);
            }
            first.sort_unstable();
            first.dedup();
            first.iter().for_each(|other| after[*other] += 1);
            makers.extend(inst.results.iter().map(|value| (*value, index)));
            for arg in &inst.args {
                let counts = !is_alive(*arg) && !needed.contains(arg);
                let is_made_anew = makers.get(arg).is_some_and(|maker| is_made_anew(block.insts[*maker].op));
                let users = users.entry(*arg).or_default();
                if counts && !is_made_anew && users.last() != Some(&index) {
                    users.push(index);
                    growth[index] += 1;
                }
            }
            growth[index] += usize::from(matches!(inst.op, Op::Fill(_)));
        }
        let operands = block.insts.iter().map(|inst| inst.args.to_vec()).collect();
        Schedule { before, after, growth, operands, users, ready: BTreeSet::new() }
    }

    fn bring_to_life(&mut self, value: Value) {
        for user in self.users.remove(&value).into_iter().flatten() {
            let is_ready = self.ready.remove(&(Reverse(self.growth[user]), user));
            self.growth[user] -= 1;
            if is_ready {
                self.ready.insert((Reverse(self.growth[user]), user));
            }
        }
    }

    /// The numbers of the instructions in their new order.
    fn order(mut self) -> Vec<usize> {
        let last = (0..self.after.len()).filter(|index| self.after[*index] == 0);
        self.ready = last.map(|index| (Reverse(self.growth[index]), index)).collect();
        let mut order = Vec::with_capacity(self.after.len());
        while let Some((_, index)) = self.ready.pop_last() {
            order.push(index);
            for value in std::mem::take(&mut self.operands[index]) {
                self.bring_to_life(value);
            }
            for before in std::mem::take(&mut self.before[index]) {
                self.after[before] -= 1;
                if self.after[before] == 0 {
                    self.ready.insert((Reverse(self.growth[before]), before));
                }
            }
        }
        order.reverse();
        order
    }
}
