//! Vectors are changed after they have been read: SSA → SSA.
//!
//! ```text
//! v5 = with_element.vec0 v0, v1, v2, v4          v6 = element.vec0.0 v0, v1, v2
//! v6 = element.vec0.0 v0, v1, v2            →    v5 = with_element.vec0 v0, v1, v2, v4
//! v7 = with_element.vec0 v5, v1, v3, v6          v7 = with_element.vec0 v5, v1, v3, v6
//! ```
//!
//! A vector that is read after a change has to be copied by the change; so an exchange of two elements would copy the
//! vector, written as above. A change moves down behind the reads of the old vector, as long as nothing needs the new
//! one; out of its block, too, where only one of the blocks that follow needs the new one, and follows no other.
//!
//! Runs last of what may meet new reads; whether something is copied is decided by [`crate::opt::memory`].
//!
//! Tests: `tests/opt/late-changes/`.

use crate::base::EntityVec;
use crate::opt::liveness::live_in;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{Block, BlockId, Function, Inst, Op, Program, Type, Value};
use rustc_hash::FxHashMap;

/// Treats every function.
pub fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for function in program.functions.values_mut() {
        if function.blocks.values().flat_map(|block| &block.insts).any(is_change) {
            changed |= delay(function);
        }
    }
    changed
}

fn is_change(inst: &Inst) -> bool {
    matches!(inst.op, Op::WithElement(_))
}

fn delay(function: &mut Function) -> bool {
    let graph = Graph::new(function);
    let live = live_in(function, &graph, |value| (function.values[value] == Type::Ptr).then_some(value));
    let changes = function.blocks.values().flat_map(|block| &block.insts).filter(|inst| is_change(inst));
    let older: FxHashMap<Value, Value> = changes.map(|inst| (inst.results[0], inst.args[0])).collect();
    let mut changed = false;
    for block in &graph.order {
        // The last one first, so that a change may follow one that depends on it.
        for position in (0..function.blocks[*block].insts.len()).rev() {
            if is_change(&function.blocks[*block].insts[position]) {
                changed |= delay_one(function, *block, position, &graph, &live, &older);
            }
        }
    }
    changed
}

/// So many changes follow each other for the sake of a read of what was before all of them.
const MOST_CHANGES: usize = 8;

/// Moves the change at a position of a block behind the last read that it may follow of the old vector, or of what that
/// was changed from.
fn delay_one(
    function: &mut Function,
    block: BlockId,
    position: usize,
    graph: &Graph,
    live: &EntityVec<BlockId, Vec<Value>>,
    older: &FxHashMap<Value, Value>,
) -> bool {
    let Block { insts, terminator, .. } = &function.blocks[block];
    let new = insts[position].results[0];
    let before = std::iter::successors(older.get(&new), |vector| older.get(vector));
    let before: Vec<Value> = before.take(MOST_CHANGES).copied().collect();
    let is_needed = |inst: &Inst| inst.args.contains(&new);
    let end = insts[position..].iter().position(is_needed).map_or(insts.len(), |after| position + after);
    let reads = |inst: &Inst| matches!(inst.op, Op::Element(..)) && before.contains(&inst.args[0]);
    let mut needs_new = end < insts.len();
    terminator.for_each_value(|value| needs_new |= value == new);
    if !needs_new {
        // Where changes have moved to, they need what they did not need there before.
        let needs_new =
            |block: BlockId| live[block].contains(&new) || function.blocks[block].insts.iter().any(is_needed);
        let mut onward = terminator.targets().into_iter().map(|target| target.block).filter(|block| needs_new(*block));
        if let (Some(onward), None) = (onward.next(), onward.next())
            && graph.predecessors[onward].len() == 1
            && before.iter().any(|vector| terminator.targets().iter().any(|target| live[target.block].contains(vector)))
        {
            let change = function.blocks[block].insts.remove(position);
            function.blocks[onward].insts.insert(0, change);
            return true;
        }
    }
    match insts[position + 1..end].iter().rposition(reads) {
        Some(read) => {
            function.blocks[block].insts[position..=position + 1 + read].rotate_left(1);
            true
        }
        None => false,
    }
}
