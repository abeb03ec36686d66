//! Dominance frontiers: the blocks where what a block dominates ends, those that it does not strictly dominate, though
//! one of their predecessors.
//!
//! Where ways lead out of nested choices, all frontiers together grow with the square of the function, and whoever asks
//! wants few of them. So they are not listed, but found when they are asked for. An edge from `y` to `z` puts `z` into
//! the frontiers of `y` and of the blocks above it in the dominator tree, up to the dominator of `z`; of several edges
//! to `z`, one leaves out what the edge before has passed. So each edge has a way up the tree, and what is asked for
//! are the edges from below a block that pass it: in the order of a walk through the tree these are a range of the
//! edges, of which those are taken whose ways end above the block, by the minima of ranges (a segment tree).

use crate::base::EntityVec;
use crate::ssa::graph::{Graph, Tree};
use crate::ssa::ir::BlockId;

/// See the module.
pub struct Frontiers<'g> {
    graph: &'g Graph,
    /// How many blocks there are from each block up to the entry.
    levels: EntityVec<BlockId, usize>,
    /// The edges that are in some frontier, in the order of the blocks that they come from: where that block stands in
    /// the walk, and the target.
    edges: Vec<(u32, BlockId)>,
    /// The level at which the way of each edge has ended, after the minima of ranges of these.
    least: Vec<usize>,
}

impl<'g> Frontiers<'g> {
    /// Those of a graph.
    pub fn new(graph: &'g Graph) -> Frontiers<'g> {
        let place = |block: BlockId| graph.position[block].expect("the block can be reached") as usize;
        let mut tree = Tree::with_capacity(graph.order.len());
        let mut levels = graph.position.same_ids(0);
        for block in &graph.order {
            let dominator = graph.dominator[*block];
            tree.add(dominator.map_or(0, place));
            levels[*block] = dominator.map_or(0, |dominator| levels[dominator]) + 1;
        }
        let mut edges = Vec::new();
        for block in &graph.order {
            let mut from: Vec<BlockId> = graph.predecessors[*block].to_vec();
            from.sort_unstable_by_key(|from| graph.interval(*from).0);
            let top = graph.dominator[*block].map_or(0, |dominator| levels[dominator]);
            let mut before: Option<BlockId> = None;
            for at in from {
                let common = before.map(|before| graph.order[tree.common(place(before), place(at))]);
                let end = common.map_or(top, |common| top.max(levels[common]));
                if end < levels[at] {
                    edges.push((graph.interval(at).0, *block, end));
                }
                before = Some(at);
            }
        }
        edges.sort_unstable();
        let size = edges.len().next_power_of_two();
        let mut least = vec![usize::MAX; 2 * size];
        edges.iter().enumerate().for_each(|(index, (_, _, end))| least[size + index] = *end);
        (1..size).rev().for_each(|node| least[node] = least[2 * node].min(least[2 * node + 1]));
        let edges = edges.into_iter().map(|(from, to, _)| (from, to)).collect();
        Frontiers { graph, levels, edges, least }
    }

    /// The frontier of a block that can be reached, each block once.
    pub fn of(&self, block: BlockId) -> Vec<BlockId> {
        let (first, last) = self.graph.interval(block);
        let begin = self.edges.partition_point(|(from, _)| *from < first);
        let end = self.edges.partition_point(|(from, _)| *from <= last);
        let size = self.least.len() / 2;
        let mut found = Vec::new();
        let mut waiting = vec![(1, 0..size)];
        while let Some((node, range)) = waiting.pop() {
            if range.end <= begin || end <= range.start || self.least[node] >= self.levels[block] {
                continue;
            }
            if node >= size {
                found.push(self.edges[range.start].1);
                continue;
            }
            let middle = range.start.midpoint(range.end);
            waiting.push((2 * node, range.start..middle));
            waiting.push((2 * node + 1, middle..range.end));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::Frontiers;
    use crate::ssa::graph::Graph;
    use crate::ssa::ir::{BlockId, Function, Target, Terminator, Value};

    /// Graphs of any form.
    #[test]
    fn frontiers_are_what_their_definition_says() {
        let mut state: usize = 1;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..500 {
            let count = 2 + random(20);
            let mut function = Function::new("f".into(), &[], Vec::new());
            (1..count).for_each(|_| {
                function.new_block(&[]);
            });
            for id in function.blocks.ids() {
                let mut target =
                    || Target { block: BlockId(u32::try_from(1 + random(count - 1)).expect("few")), args: Vec::new() };
                let targets = [target(), target(), target()];
                let kept = random(4);
                function.blocks[id].terminator = match kept {
                    0 => Terminator::Unreachable,
                    1 => Terminator::Jump(targets[0].clone()),
                    _ => Terminator::Switch(Value(0), targets[..kept].to_vec()),
                };
            }
            let graph = Graph::new(&function);
            let frontiers = Frontiers::new(&graph);
            for above in &graph.order {
                let is_met = |block: &&BlockId| {
                    let strictly = *block != above && graph.dominates(*above, **block);
                    !strictly && graph.predecessors[**block].iter().any(|from| graph.dominates(*above, *from))
                };
                let mut expected: Vec<BlockId> = graph.order.iter().filter(is_met).copied().collect();
                let mut found = frontiers.of(*above);
                expected.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, expected, "the frontier of {above}");
            }
        }
    }
}
