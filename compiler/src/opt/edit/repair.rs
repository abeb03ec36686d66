//! Repair of SSA form after code was duplicated: one value has several definitions, each in a block of its own, and
//! its uses have to find the one that reaches them.
//!
//! Where paths from different definitions meet (the iterated dominance frontier of these: Cytron et al., *Efficiently
//! Computing Static Single Assignment Form*, 1991) a block gets a parameter, if the value is needed there. Everywhere
//! else it is what it is at the end of the block that dominates. So what passes many joins costs no more than the walk
//! past them.

use crate::base::EntityVec;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Type, Value};
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
    let frontiers = graph.dominance_frontiers();
    let (places, users) = users(function, &graph, all);
    let users_of = |definitions: &Definitions| &users[places[definitions.value] as usize];
    let same_blocks = |a: &Definitions, b: &Definitions| {
        a.at_end.iter().map(|(block, _)| block).eq(b.at_end.iter().map(|(block, _)| block))
    };
    // A block may use many of them, and is long then.
    let mut renamed: FxHashMap<BlockId, FxHashMap<Value, Value>> = FxHashMap::default();
    // All values of a block that was copied are defined in the same blocks.
    for alike in all.chunk_by(same_blocks) {
        let defining: FxHashSet<BlockId> = alike[0].at_end.iter().map(|(block, _)| *block).collect();
        // Most values are used where they are defined only.
        let is_needed = |of: &&Definitions| users_of(of).iter().any(|user| !defining.contains(user));
        let mut needed = alike.iter().filter(is_needed).peekable();
        let meets = needed.peek().map_or_else(FxHashSet::default, |first| meets(&graph, &frontiers, first));
        for definitions in needed {
            let at_end: FxHashMap<BlockId, Value> = definitions.at_end.iter().copied().collect();
            let (ty, at_start) = (function.values[definitions.value], FxHashMap::default());
            let mut repair = Repair { function, graph: &graph, ty, at_end, meets: &meets, at_start };
            for (block, value) in repair.run(users_of(definitions)) {
                renamed.entry(block).or_default().insert(definitions.value, value);
            }
        }
    }
    for (block, names) in renamed {
        function.blocks[block].for_each_use(|used| *used = names.get(used).copied().unwrap_or(*used));
    }
}

/// The blocks in which paths from different definitions of a value meet.
fn meets(graph: &Graph, frontiers: &EntityVec<BlockId, Vec<BlockId>>, definitions: &Definitions) -> FxHashSet<BlockId> {
    let mut meets = FxHashSet::default();
    let reachable = definitions.at_end.iter().map(|(block, _)| *block).filter(|block| graph.is_reachable(*block));
    let mut waiting: Vec<BlockId> = reachable.collect();
    while let Some(block) = waiting.pop() {
        waiting.extend(frontiers[block].iter().copied().filter(|meet| meets.insert(*meet)));
    }
    meets
}

/// Where the values stand in the list of the blocks that use each of them. Of the whole function, which is walked for
/// that, most values are none of them.
fn users(function: &Function, graph: &Graph, all: &[Definitions]) -> (EntityVec<Value, u32>, Vec<Vec<BlockId>>) {
    let mut places = function.values.same_ids(u32::MAX);
    (0..).zip(all).for_each(|(place, definitions)| places[definitions.value] = place);
    let mut users: Vec<Vec<BlockId>> = vec![Vec::new(); all.len()];
    for id in &graph.order {
        function.blocks[*id].for_each_value(|value| {
            if let Some(blocks) = users.get_mut(places[value] as usize)
                && blocks.last() != Some(id)
            {
                blocks.push(*id);
            }
        });
    }
    (places, users)
}

/// One value.
struct Repair<'a> {
    function: &'a mut Function,
    graph: &'a Graph,
    ty: Type,
    at_end: FxHashMap<BlockId, Value>,
    meets: &'a FxHashSet<BlockId>,
    /// What it is at the start of blocks that need it there.
    at_start: FxHashMap<BlockId, Value>,
}

impl Repair<'_> {
    /// What the value is in each of these blocks but those that define it.
    fn run(&mut self, users: &[BlockId]) -> Vec<(BlockId, Value)> {
        let (mut joins, mut found) = (Vec::new(), Vec::new());
        for block in users.iter().copied() {
            if !self.at_end.contains_key(&block) {
                found.push((block, self.at_start(block, &mut joins)));
            }
        }
        while let Some((block, param)) = joins.pop() {
            self.function.blocks[block].params.push(param);
            let mut from = self.graph.predecessors[block].clone();
            from.dedup();
            for from in from {
                let arg = self.at_end(from, &mut joins);
                let targets = self.function.blocks[from].terminator.targets_mut();
                targets.into_iter().filter(|target| target.block == block).for_each(|target| target.args.push(arg));
            }
        }
        found
    }

    /// What the value is at the start of a block. Parameters that this takes are noted in `joins`.
    fn at_start(&mut self, block: BlockId, joins: &mut Vec<(BlockId, Value)>) -> Value {
        let mut passed = Vec::new();
        let mut at = block;
        let value = loop {
            if let Some(known) = self.at_start.get(&at) {
                break *known;
            }
            passed.push(at);
            if self.meets.contains(&at) {
                let param = self.function.values.push(self.ty);
                joins.push((at, param));
                break param;
            }
            at = self.graph.dominator[at].expect("every path defines the value");
            if let Some(defined) = self.at_end.get(&at) {
                break *defined;
            }
        };
        self.at_start.extend(passed.into_iter().map(|block| (block, value)));
        value
    }

    fn at_end(&mut self, block: BlockId, joins: &mut Vec<(BlockId, Value)>) -> Value {
        match self.at_end.get(&block) {
            Some(defined) => *defined,
            None => self.at_start(block, joins),
        }
    }
}
