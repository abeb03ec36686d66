//! Repair of SSA form after code was duplicated: one value has several definitions, each in a block of its own, and
//! its uses have to find the one that reaches them.
//!
//! Blocks between the definitions and the uses that several edges lead to get a parameter; the parameters that turn
//! out to receive one value only are dropped by [`crate::opt::block_params`].

use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// One value: its former name, and what it is at the end of the blocks that define it.
#[derive(Clone, Debug)]
pub struct Definitions {
    /// The name that the uses still have.
    pub value: Value,
    /// The blocks that define it, with the name there.
    pub at_end: Vec<(BlockId, Value)>,
}

/// Lets all uses find their definitions. Uses in a block that defines the value are right already.
pub fn repair(function: &mut Function, all: &[Definitions]) {
    let graph = Graph::new(function);
    let users = users(function, &graph, all);
    for definitions in all {
        let users = users.get(&definitions.value).map(Vec::as_slice).unwrap_or_default();
        repair_one(function, &graph, definitions, users);
    }
}

/// The blocks that use each of the values.
fn users(function: &Function, graph: &Graph, all: &[Definitions]) -> FxHashMap<Value, Vec<BlockId>> {
    let mut users: FxHashMap<Value, Vec<BlockId>> = all.iter().map(|d| (d.value, Vec::new())).collect();
    for id in &graph.order {
        function.blocks[*id].for_each_value(|value| {
            if let Some(blocks) = users.get_mut(&value)
                && blocks.last() != Some(id)
            {
                blocks.push(*id);
            }
        });
    }
    users
}

fn repair_one(function: &mut Function, graph: &Graph, definitions: &Definitions, users: &[BlockId]) {
    let at_end: FxHashMap<BlockId, Value> = definitions.at_end.iter().copied().collect();
    // The blocks that need the value at their start.
    let mut needed: FxHashSet<BlockId> = FxHashSet::default();
    let mut waiting: Vec<BlockId> = users.iter().copied().filter(|block| !at_end.contains_key(block)).collect();
    let mut found = Vec::new();
    while let Some(block) = waiting.pop() {
        if !needed.insert(block) {
            continue;
        }
        found.push(block);
        waiting.extend(graph.predecessors[block].iter().copied().filter(|from| !at_end.contains_key(from)));
    }
    found.sort_unstable_by_key(|block| graph.position[*block]);
    let ty = function.values[definitions.value];
    let mut at_start: FxHashMap<BlockId, Value> = FxHashMap::default();
    let mut joins = Vec::new();
    for block in &found {
        let value = match graph.predecessors[*block][..] {
            [from] => *at_end.get(&from).or_else(|| at_start.get(&from)).expect("visited before, in this order"),
            _ => {
                let param = function.values.push(ty);
                joins.push((*block, param));
                param
            }
        };
        at_start.insert(*block, value);
    }
    for block in &found {
        let value = at_start[block];
        function.blocks[*block].for_each_use(|used| {
            if *used == definitions.value {
                *used = value;
            }
        });
    }
    for (block, param) in joins {
        function.blocks[block].params.push(param);
        let mut from = graph.predecessors[block].clone();
        from.dedup();
        for from in from {
            let arg = *at_end.get(&from).or_else(|| at_start.get(&from)).expect("every path defines the value");
            let targets = function.blocks[from].terminator.targets_mut();
            targets.into_iter().filter(|target| target.block == block).for_each(|target| target.args.push(arg));
        }
    }
}
