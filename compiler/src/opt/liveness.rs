//! Which values are needed at the start of each block.
//!
//! A value is *live* where a path leads from its definition through this point to a use of it. What a jump passes is
//! used by the jump, so parameters of a block are never live at its start.

use crate::base::EntityVec;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Value};

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
                waiting.extend(&graph.predecessors[block]);
            }
        }
    }
    live
}
