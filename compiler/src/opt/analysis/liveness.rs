//! Which values are needed at the start of each block, and which blocks only lead to errors.
//!
//! A value is *live* where a path leads from its definition through this point to a use of it. What a jump passes is
//! used by the jump, so parameters of a block are never live at its start.

use crate::base::EntityVec;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{Block, BlockId, Function, Terminator, Value};
use rustc_hash::FxHashSet;

/// The values that are live at the start of each block, in order. `stand_in` says which value has to be alive where
/// another is used, if any.
pub fn live_in(
    function: &Function,
    graph: &Graph,
    stand_in: impl Fn(Value) -> Option<Value>,
) -> EntityVec<BlockId, Vec<Value>> {
    let mut live = function.blocks.same_ids(Vec::new());
    let mut defined = function.values.same_ids(Function::ENTRY);
    let mut used_in: EntityVec<Value, Vec<BlockId>> = function.values.same_ids(Vec::new());
    for id in &graph.order {
        let block = &function.blocks[*id];
        for value in block.params.iter().chain(block.insts.iter().flat_map(|inst| &inst.results)) {
            defined[*value] = *id;
        }
        block.for_each_value(|value| {
            if let Some(value) = stand_in(value)
                && used_in[value].last() != Some(id)
            {
                used_in[value].push(*id);
            }
        });
    }
    for (value, uses) in used_in.iter() {
        let mut waiting = uses.clone();
        while let Some(block) = waiting.pop() {
            if block != defined[value] && live[block].last() != Some(&value) {
                live[block].push(value);
                waiting.extend_from_slice(&graph.predecessors[block]);
            }
        }
    }
    live
}

/// The values that are live at the end of a block, what its terminator uses excepted. Where functions are long, they
/// are many, and a block asks for few of them: so they stay in the tables of the blocks that follow.
pub struct AtEnd<'l> {
    rows: Vec<&'l [Value]>,
    /// All of them, where too many blocks follow to look through the tables of each.
    all: FxHashSet<Value>,
}

impl<'l> AtEnd<'l> {
    /// Of a block, given what is live at the start of each.
    pub fn of(block: &Block, live_in: &'l EntityVec<BlockId, Vec<Value>>) -> AtEnd<'l> {
        let targets = block.terminator.targets();
        let rows: Vec<&[Value]> = targets.iter().map(|target| &live_in[target.block][..]).collect();
        match rows.len() {
            0..=2 => AtEnd { rows, all: FxHashSet::default() },
            _ => AtEnd { all: rows.concat().into_iter().collect(), rows: Vec::new() },
        }
    }

    /// Whether that value is live.
    pub fn contains(&self, value: Value) -> bool {
        self.all.contains(&value) || self.rows.iter().any(|values| values.binary_search(&value).is_ok())
    }
}

/// The blocks from which control can only get to an error or to code that is never reached: nothing needs to be
/// released there.
pub fn doomed_blocks(function: &Function, order: &[BlockId]) -> EntityVec<BlockId, bool> {
    let mut doomed = function.blocks.same_ids(false);
    for block in order.iter().rev() {
        let terminator = &function.blocks[*block].terminator;
        doomed[*block] = match terminator {
            Terminator::Fail(..) | Terminator::Unreachable => true,
            Terminator::Return(_) | Terminator::TailCall(..) => false,
            _ => terminator.targets().iter().all(|target| doomed[target.block]),
        };
    }
    doomed
}
