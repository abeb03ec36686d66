//! Fields that need no owner because their box outlives them.
//!
//! ```text
//! b1(v1: int):                                   a loop over the rows of a matrix, which it needs for its next round: each
//!     v2 = element.vec1.0 v0, v3, v1             row borrows from the matrix, however many blocks look at it
//!     jump b2(...)
//! ```
//!
//! A field borrows from its box if wherever it is looked at, its box is needed afterwards. Nothing lives longer for it,
//! then. Vectors that are changed where an element has been read are left to other rules, since what borrows from a
//! vector keeps its elements from being taken out ([`crate::memory::move_elements`]).

use crate::base::EntityVec;
use crate::memory::ownership::{Modes, consumes};
use crate::opt::analysis::liveness::{AtEnd, live_in};
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Inst, Op, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The fields that borrow, of those that would be owned, with their boxes.
pub fn while_alive(
    function: &Function,
    graph: &Graph,
    owned: &EntityVec<Value, bool>,
    modes: &Modes,
) -> FxHashMap<Value, Value> {
    let insts = || function.blocks.values().flat_map(|block| &block.insts);
    let changed = changed_after_reads(function, graph);
    let is_field = |inst: &&Inst| {
        matches!(inst.op, Op::Field(..) | Op::Element(..)) && owned[inst.results[0]] && !changed.contains(&inst.args[0])
    };
    let mut found: FxHashMap<Value, Value> =
        insts().filter(is_field).map(|inst| (inst.results[0], inst.args[0])).collect();
    if found.is_empty() {
        return found;
    }
    let live = live_in(function, graph, |value| (function.values[value] == Type::Ptr).then_some(value));
    for id in &graph.order {
        let block = &function.blocks[*id];
        // What is needed after the point at hand, from the end of the block to its start.
        let at_end = AtEnd::of(block, &live);
        let mut needed: FxHashSet<Value> = FxHashSet::default();
        block.terminator.for_each_value(|value| {
            found.remove(&value);
            needed.insert(value);
        });
        for inst in block.insts.iter().rev() {
            for (position, arg) in inst.args.iter().enumerate() {
                let Some(from) = found.get(arg) else { continue };
                let is_hidden = matches!(inst.op, Op::Select | Op::Opaque);
                if is_hidden || consumes(inst, position, modes) || !(needed.contains(from) || at_end.contains(*from)) {
                    found.remove(arg);
                }
            }
            needed.extend(&inst.args);
        }
    }
    found
}

/// The vectors that are changed where the way there has read one of their pointers.
fn changed_after_reads(function: &Function, graph: &Graph) -> FxHashSet<Value> {
    let all = || graph.order.iter().flat_map(|id| function.blocks[*id].insts.iter().map(move |inst| (*id, inst)));
    let mut reads: FxHashMap<Value, Vec<BlockId>> = FxHashMap::default();
    for (id, inst) in all() {
        if matches!(inst.op, Op::Element(..)) && function.values[inst.results[0]] == Type::Ptr {
            reads.entry(inst.args[0]).or_default().push(id);
        }
    }
    let is_read_before = |(id, inst): &(BlockId, &Inst)| {
        let reads = reads.get(&inst.args[0]);
        reads.is_some_and(|reads| reads.iter().any(|read| graph.dominates(*read, *id)))
    };
    let changes = all().filter(|(_, inst)| inst.op.changes_vector()).filter(is_read_before);
    changes.map(|(_, inst)| inst.args[0]).collect()
}
