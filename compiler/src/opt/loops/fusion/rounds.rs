//! Loops that are run round by round where their elements are read.
//!
//! ```text
//! b1(v1: int, v2: ptr):                            b1(v1: int, v2: ptr):
//!     branch (int_lt v1, v0), b2, b5                   branch (int_lt v1, v0), b2, b5     (and soon nothing of this)
//! b2: v3 = new_vector.vec1 v9                      ...
//!     jump b3(0, v3)
//! b3: ...  an inner loop that fills v4
//! b4: v5 = with_element.vec0 v2, v0, v1, v4
//!     jump b1(int_add v1, 1, v5)              →
//! b5: jump b6(v0)                                  b5: jump b6(v0)
//! b6(v6: int):                                     b6(v6: int):
//!     branch (int_lt 0, v6), b7, b8                    branch (int_lt 0, v6), b7, b8
//! b7: v7 = int_add v6, -1                          b7: v7 = int_add v6, -1
//!     v8 = element.vec0.0 v2, v0, v7                   v13 = new_vector.vec1 v9
//!     ...                                              jump b9(0, v13)
//!                                                  b9: ... the inner loop that fills v14
//!                                                  b10(v14): ...
//! ```
//!
//! The reverse phase of a sum over points reads what the forward phase has kept of each point. If all that the forward
//! loop does is keep that, which is so where nobody asks for the sum itself, its rounds can as well run when their turn
//! has come in the reverse phase: then there is a tape of one point at a time, and it stays in the cache. No round runs
//! twice, since the loop is left without purpose, and dead code elimination drops it.
//!
//! That needs a loop
//!
//! - whose rounds depend on nothing but their counters and what was there before, and change nothing,
//! - whose inner loops are known to end, so that they can be dropped, and which has at most a few cheap checks to go on
//!   for itself,
//! - whose vectors nobody does anything with but read elements, each at most once, in a later loop: all those of one
//!   round together. Then the round runs in the block of that loop that all reads have on their way.
//!
//! What rounds read stays alive for longer, so none of it may be a vector that is changed: a vector that is changed
//! has to have one owner.

use super::find::{CHEAP, Filling, Finder, Use, cost};
use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::loops::{self, Linear, same};
use crate::opt::analysis::termination;
use crate::opt::edit::clone_region::clone_region;
use crate::opt::edit::rewrite::{Replacements, append};
use crate::ssa::ir::{Block, BlockId, Function, Int2, Op, Target, Terminator, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// So many operations may remain of a round for a check.
const MOST_OF_A_CHECK: usize = 12;

/// A round that is run where the elements that it makes are read.
#[derive(Debug)]
pub(super) struct Rounds {
    header: BlockId,
    /// The blocks of a round, the header first, and where that goes on.
    region: Vec<BlockId>,
    first: Target,
    /// The writes of the elements.
    writes: FxHashSet<Value>,
    /// Where the round runs, and which one it is: its counter, by an operand that is known there and a difference.
    at: (BlockId, usize),
    counter: Value,
    round: Linear,
    others: Vec<Counter>,
    /// What is read, and the value that was written.
    reads: Vec<(Value, Value)>,
}

/// A counter of a round besides that of the elements.
#[derive(Debug)]
struct Counter {
    param: Value,
    /// Whether it counts the other way.
    goes_back: bool,
    /// Where it starts, and where the counter of the elements does.
    start: Linear,
    elements_start: Linear,
}

impl Finder<'_> {
    /// The rounds of a filling, if they are better run where their elements are read.
    pub(super) fn rounds(&self, filling: &Filling, effects: &Effects) -> Option<Rounds> {
        let function = self.code.function;
        let (header, body) = (filling.header, &filling.body);
        if !filling.is_complete || body.len() <= 2 {
            return None;
        }
        // The first filling of its loop speaks for the others.
        let group: Vec<&Filling> = self.fillings.iter().filter(|other| other.header == header).collect();
        if group[0].position != filling.position || group.iter().any(|other| !other.is_complete) {
            return None;
        }
        let region: Vec<BlockId> = self.code.graph.order.iter().copied().filter(|block| body.contains(block)).collect();
        let writes = group.iter().map(|filling| self.write(filling)).collect::<Option<FxHashSet<Value>>>()?;
        let reads = self.reads_of(&group)?;
        let others = self.other_counters(filling, &group)?;
        let is_round = self.leaves_only_elements(&group, &reads)
            && region.iter().all(|block| self.can_run_again(*block, filling, &group, &writes, effects));
        if reads.is_empty() || !is_round {
            return None;
        }
        let (at, round) = self.place_of(filling, &group, &reads)?;
        // If its own end is not known, the loop goes on counting, which is cheap.
        let inner = |block: BlockId| block != header && body.contains(&block);
        if !termination::endless_loops(function, &self.code.graph, inner)?.is_empty() {
            return None;
        }
        let targets = function.blocks[header].terminator.targets();
        let first = targets.into_iter().find(|target| body.contains(&target.block))?.clone();
        let reads = reads.iter().map(|read| (self.inst(read.block, read.index).results[0], read.written)).collect();
        Some(Rounds { header, region, first, writes, at, counter: filling.counter, round, others, reads })
    }

    /// What the loop passes on as the vector with the next element.
    fn write(&self, filling: &Filling) -> Option<Value> {
        let [_, inside] = self.code.passed(filling.header, filling.position, &filling.body);
        same(inside.iter().map(|(_, value)| *value))
    }

    /// The reads of the elements that the fillings of a loop write, if nothing else is done with the vectors.
    fn reads_of(&self, group: &[&Filling]) -> Option<Vec<ElementRead>> {
        let mut reads = Vec::new();
        for (place, filling) in group.iter().enumerate() {
            for used in self.uses(filling.vector) {
                let Use::Inst(block, index) = *used else { return None };
                if filling.body.contains(&block) {
                    self.is_write(filling, used).then_some(())?;
                    continue;
                }
                let site = self.site(filling, block, index)?;
                reads.push(ElementRead {
                    block,
                    index,
                    filling: place,
                    place: site.place,
                    written: filling.fields[site.field],
                });
            }
        }
        Some(reads)
    }

    /// The counters of a loop but for that of a filling, if it carries nothing else that rounds need.
    fn other_counters(&self, filling: &Filling, group: &[&Filling]) -> Option<Vec<Counter>> {
        let function = self.code.function;
        let (start, step) = self.counter(filling.header, filling.counter)?;
        let mut others = Vec::new();
        for param in &function.blocks[filling.header].params {
            if *param == filling.counter || group.iter().any(|filling| filling.vector == *param) {
                continue;
            }
            let (own_start, own_step) = self.counter(filling.header, *param)?;
            if own_step.abs() != 1 {
                return None;
            }
            others.push(Counter {
                param: *param,
                goes_back: own_step != step,
                start: own_start,
                elements_start: start,
            });
        }
        Some(others)
    }

    /// Whether nothing that the loop computes is used behind it but by these reads.
    fn leaves_only_elements(&self, group: &[&Filling], reads: &[ElementRead]) -> bool {
        let function = self.code.function;
        let body = &group[0].body;
        let is_read: FxHashSet<(BlockId, usize)> = reads.iter().map(|read| (read.block, read.index)).collect();
        let is_inside = |value: Value| !self.is_outside(value, body);
        self.code.graph.order.iter().all(|id| {
            let block = &function.blocks[*id];
            let mut leaves = false;
            if loops::ends(function, *id) {
                // Checks are asked about elsewhere, but for what they say.
                let mut said = Vec::new();
                block.for_each_value(|value| said.push(value));
                leaves |= !self.is_cheap_check(said, body);
            } else if !body.contains(id) {
                let insts = block.insts.iter().enumerate().filter(|(index, _)| !is_read.contains(&(*id, *index)));
                leaves |= insts.flat_map(|(_, inst)| &inst.args).any(|arg| is_inside(*arg));
                block.terminator.for_each_value(|value| leaves |= is_inside(value));
            } else if *id == group[0].header {
                let targets = block.terminator.targets().into_iter().filter(|target| !body.contains(&target.block));
                leaves |= targets.flat_map(|target| &target.args).any(|arg| is_inside(*arg));
            }
            !leaves
        })
    }

    /// Whether a block of the loop does nothing that cannot be done later instead.
    fn can_run_again(
        &self,
        id: BlockId,
        filling: &Filling,
        group: &[&Filling],
        writes: &FxHashSet<Value>,
        effects: &Effects,
    ) -> bool {
        let Block { insts, terminator, .. } = &self.code.function.blocks[id];
        let body = &filling.body;
        let is_vector = |value: Value| group.iter().any(|filling| filling.vector == value);
        let is_kept = |value: Value| {
            let is_given = self.code.function.values[value] != Type::Ptr || !self.is_outside(value, body);
            is_given || self.is_unchanged(filling, value, &mut FxHashSet::default())
        };
        let is_pure = insts.iter().all(|inst| {
            let is_write = inst.results.first().is_some_and(|result| writes.contains(result));
            let can_move = inst.op != Op::Exchange && inst.watched().is_none() && inst.watched_later().is_none();
            let values = if is_write { &inst.args[1..] } else { &inst.args[..] };
            can_move
                && effects.is_removable(inst.op)
                && values.iter().all(|arg| !writes.contains(arg) && !is_vector(*arg) && is_kept(*arg))
        });
        let targets = terminator.targets();
        let leads_on = |target: &&Target| body.contains(&target.block);
        let stays = id == filling.header || targets.iter().all(leads_on) || self.is_check(terminator, body);
        let passes = |target: &&Target| {
            let is_back = target.block == filling.header;
            target.args.iter().all(|arg| is_back || !writes.contains(arg) && !is_vector(*arg) && is_kept(*arg))
        };
        is_pure && stays && !targets.is_empty() && targets.iter().all(passes)
    }

    /// Whether a block of the loop ends in a check that the loop can go on making when its rounds do nothing else: what
    /// it asks is computed by few operations on numbers and places.
    fn is_check(&self, terminator: &Terminator, body: &FxHashSet<BlockId>) -> bool {
        let Terminator::Branch(_, yes, no) = terminator else { return false };
        let goes_on = [yes, no].into_iter().filter(|target| body.contains(&target.block)).count() == 1;
        let mut waiting = Vec::new();
        terminator.for_each_value(|value| waiting.push(value));
        goes_on && self.is_cheap_check(waiting, body)
    }

    /// Whether what a check asks is cheap.
    fn is_cheap_check(&self, mut waiting: Vec<Value>, body: &FxHashSet<BlockId>) -> bool {
        let mut seen = FxHashSet::default();
        while let Some(value) = waiting.pop() {
            if self.is_outside(value, body) || !seen.insert(value) {
                continue;
            }
            match self.code.definitions.inst(self.code.function, value) {
                Some(inst) if cost(inst.op).is_some_and(|cost| cost <= CHEAP) => waiting.extend(&inst.args),
                Some(_) => return false,
                None => {
                    let is_counter = self.code.homes.get(value).is_some_and(|home| self.counter(home, value).is_some());
                    if !is_counter {
                        return false;
                    }
                }
            }
        }
        seen.len() <= MOST_OF_A_CHECK
    }

    /// Whether nobody changes a vector, or what is no vector, but a filling before this one, to which it belongs.
    fn is_unchanged(&self, filling: &Filling, value: Value, seen: &mut FxHashSet<Value>) -> bool {
        if !seen.insert(value) {
            return true;
        }
        let own = self.by_vector.get(&value).map(|index| &self.fillings[*index]);
        let own = own.filter(|own| !own.body.contains(&filling.header));
        self.uses(value).iter().all(|used| match *used {
            Use::Inst(block, index) => match self.inst(block, index).op {
                Op::Element(..) | Op::Kernel(..) | Op::Field(..) | Op::Tag(_) | Op::HasTag(..) => true,
                _ => own.is_some_and(|own| own.body.contains(&block) && self.is_write(own, used)),
            },
            Use::Passed(_, to, position) => {
                self.is_unchanged(filling, self.code.function.blocks[to].params[position], seen)
            }
            Use::Other => false,
        })
    }

    /// Where a round runs, and its counter there.
    fn place_of(
        &self,
        filling: &Filling,
        group: &[&Filling],
        reads: &[ElementRead],
    ) -> Option<((BlockId, usize), Linear)> {
        let graph = &self.code.graph;
        let rounds = reads.iter().map(|read| {
            let of = group[read.filling];
            let (base, plus) = self.linear(read.place);
            (of.counter == filling.counter).then_some((base?, plus - of.offset))
        });
        let (base, plus) = same(rounds)??;
        let reader = self.code.homes.get(base)?;
        let (start, step) = self.counter(reader, base)?;
        // That loop follows the filling, and goes round as often.
        let is_behind = self.around.get(&reader) == self.around.get(&filling.header);
        if !is_behind || reads.iter().any(|read| !self.loops(read.block).contains(&reader)) {
            return None;
        }
        let block = reads.iter().map(|read| read.block).reduce(|a, b| graph.common_dominator(a, b))?;
        let index = reads.iter().filter(|read| read.block == block).map(|read| read.index).min();
        if let Some(index) = index.filter(|_| self.innermost.get(&block) == Some(&reader)) {
            return Some(((block, index), (Some(base), plus)));
        }
        // Not every round of that loop reads, so that it has to be one of the filling's for certain.
        let body: FxHashSet<BlockId> = self.code.body(reader);
        let is_within = self.code.is_left_at_header(reader, &body)
            && self.covers((reader, base), (start, step), plus + filling.offset, filling.length, &body);
        let mut block = block;
        while self.innermost.get(&block) != Some(&reader) {
            block = graph.dominator[block]?;
        }
        let end = self.code.function.blocks[block].insts.len();
        (is_within && block != reader).then_some(((block, end), (Some(base), plus)))
    }
}

/// A read of an element, and what was written there.
struct ElementRead {
    block: BlockId,
    index: usize,
    /// Which filling's.
    filling: usize,
    place: Value,
    written: Value,
}

impl Rounds {
    /// Runs the round where its elements are read.
    pub(super) fn apply(self, function: &mut Function) {
        let (block, index) = self.at;
        let mut written: Vec<Value> = self.reads.iter().map(|(_, written)| *written).collect();
        written.sort_unstable();
        written.dedup();
        let types: Vec<Type> = written.iter().map(|value| function.values[*value]).collect();
        let behind = function.new_block(&types);
        let made: FxHashMap<Value, Value> =
            written.iter().copied().zip(function.blocks[behind].params.iter().copied()).collect();
        function.blocks[behind].insts = function.blocks[block].insts.split_off(index);
        let end = std::mem::replace(&mut function.blocks[block].terminator, Terminator::Unreachable);
        function.blocks[behind].terminator = end;

        let mut values = self.counters(function, block);
        let copies = clone_region(function, &self.region, self.header, &mut values);
        let renamed = |value: &Value| values.get(value).copied().unwrap_or(*value);
        let args: Vec<Value> = self.first.args.iter().map(renamed).collect();
        let first = Target { block: copies[&self.first.block], args };
        let header = &mut function.blocks[copies[&self.header]];
        header.terminator = Terminator::Jump(first);
        // What is left of them are the vectors, to which the copy writes nothing.
        header.params.clear();
        function.blocks[block].terminator = Terminator::Jump(Target { block: copies[&self.header], args: Vec::new() });
        let writes: FxHashSet<Value> = self.writes.iter().map(renamed).collect();
        let copied: FxHashSet<BlockId> = copies.values().copied().collect();
        for copy in copies.values() {
            let copy = &mut function.blocks[*copy];
            copy.insts.retain(|inst| inst.results.first().is_none_or(|result| !writes.contains(result)));
            if let Terminator::Branch(_, yes, no) = &copy.terminator
                && let Some(only) = match (self.is_of_round(yes, &copied), self.is_of_round(no, &copied)) {
                    (true, false) => Some(yes.clone()),
                    (false, true) => Some(no.clone()),
                    _ => None,
                }
            {
                // The loop has come to its end before, so no check fails.
                copy.terminator = Terminator::Jump(only);
            }
            for target in copy.terminator.targets_mut().into_iter().filter(|target| target.block == self.header) {
                *target = Target { block: behind, args: written.iter().map(renamed).collect() };
            }
        }

        let mut replacements = Replacements::new(function);
        for (read, written) in &self.reads {
            replacements.replace(*read, made[written]);
        }
        let reads: FxHashSet<Value> = self.reads.iter().map(|(read, _)| *read).collect();
        for block in function.blocks.values_mut() {
            block.insts.retain(|inst| inst.results.first().is_none_or(|result| !reads.contains(result)));
        }
        replacements.apply(function);
    }

    /// Whether a copy of the round goes on there.
    fn is_of_round(&self, target: &Target, copied: &FxHashSet<BlockId>) -> bool {
        target.block == self.header || copied.contains(&target.block)
    }

    /// What the counters of the round are, computed at the end of a block. Its vectors are nothing in the copy.
    fn counters(&self, function: &mut Function, block: BlockId) -> FxHashMap<Value, Value> {
        let mut insts = std::mem::take(&mut function.blocks[block].insts);
        let mut values = FxHashMap::default();
        let mut make = |op: Op, args: Vec<Value>| append(&mut function.values, &mut insts, op, args, Type::Int, None);
        let mut sum = |(base, plus): Linear| {
            let constant = make(Op::ConstInt(plus), Vec::new());
            base.map_or(constant, |base| make(Op::Int2(Int2::Add), vec![base, constant]))
        };
        let counter = sum(self.round);
        let starts: Vec<(Value, Value)> =
            self.others.iter().map(|other| (sum(other.elements_start), sum(other.start))).collect();
        values.insert(self.counter, counter);
        for (Counter { param, goes_back, .. }, (start, own_start)) in self.others.iter().zip(starts) {
            let done = make(Op::Int2(Int2::Sub), vec![counter, start]);
            let op = Op::Int2(if *goes_back { Int2::Sub } else { Int2::Add });
            values.insert(*param, make(op, vec![own_start, done]));
        }
        function.blocks[block].insts = insts;
        values
    }
}
