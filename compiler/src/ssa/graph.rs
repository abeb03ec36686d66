//! The control flow graph of a function: order of blocks, predecessors, dominators.
//!
//! Dominators are computed by iteration over reverse postorder (Cooper, Harvey and Kennedy, *A Simple, Fast Dominance
//! Algorithm*, 2001), where common ancestors are found by jumps: a thousand clauses that meet in one block would each
//! be walked past by all others. All tables cover reachable blocks only.

use crate::base::EntityVec;
use crate::ssa::ir::{BlockId, Function};
use smallvec::SmallVec;

/// Blocks next to one: most have one or two, and every pass makes these tables for every function.
pub type Blocks = SmallVec<[BlockId; 4]>;

/// The same as positions in an order.
pub type Positions = SmallVec<[usize; 2]>;

/// Facts about the control flow of one function; a change of terminators makes them stale.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The reachable blocks, each before its successors except along back edges; the entry is the first.
    pub order: Vec<BlockId>,
    /// The position of each block in `order`; `None` when it cannot be reached.
    pub position: EntityVec<BlockId, Option<u32>>,
    /// The reachable predecessors of each block, once for each edge.
    pub predecessors: EntityVec<BlockId, Blocks>,
    /// The position of the last of these edges among the targets of the block that it comes from.
    last_edge: EntityVec<BlockId, usize>,
    /// The immediate dominator of each reachable block except the entry.
    pub dominator: EntityVec<BlockId, Option<BlockId>>,
    /// Position of each block in a depth-first walk of the dominator tree, and the last position below it.
    interval: EntityVec<BlockId, (u32, u32)>,
}

impl Graph {
    /// Analyses `function`.
    pub fn new(function: &Function) -> Graph {
        let order = reverse_postorder(function);
        let mut position = function.blocks.same_ids(None);
        for (index, block) in order.iter().enumerate() {
            position[*block] = u32::try_from(index).ok();
        }
        let mut predecessors = function.blocks.same_ids(Blocks::new());
        let mut last_edge = function.blocks.same_ids(0);
        for block in &order {
            for (position, target) in function.blocks[*block].terminator.targets().into_iter().enumerate() {
                predecessors[target.block].push(*block);
                last_edge[target.block] = position;
            }
        }
        let dominator = function.blocks.same_ids(None);
        let interval = function.blocks.same_ids((0, 0));
        let mut graph = Graph { order, position, predecessors, last_edge, dominator, interval };
        graph.find_dominators();
        graph.number_dominator_tree();
        graph
    }

    /// The edge into `block` if there is one only: where it comes from, and its position among the targets there.
    pub fn only_edge(&self, block: BlockId) -> Option<(BlockId, usize)> {
        match self.predecessors[block][..] {
            [from] => Some((from, self.last_edge[block])),
            _ => None,
        }
    }

    /// The only edge into `block` from blocks that it does not dominate, the way into a loop if it is a header: where
    /// it comes from, and its position among the targets there.
    pub fn way_in(&self, function: &Function, block: BlockId) -> Option<(BlockId, usize)> {
        let mut outside = self.predecessors[block].iter().filter(|from| !self.dominates(block, **from));
        let (Some(from), None) = (outside.next(), outside.next()) else { return None };
        let targets = function.blocks[*from].terminator.targets();
        Some((*from, targets.iter().position(|target| target.block == block)?))
    }

    /// True when control can get to `block`.
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.position[block].is_some()
    }

    /// True when every path from the entry to `below` goes through `above`. Both are reachable.
    pub fn dominates(&self, above: BlockId, below: BlockId) -> bool {
        let (first, last) = self.interval[above];
        (first..=last).contains(&self.interval[below].0)
    }

    /// The children of each block in the dominator tree, in reverse postorder.
    pub fn dominator_children(&self) -> EntityVec<BlockId, Blocks> {
        let mut children = self.dominator.same_ids(Blocks::new());
        for block in &self.order {
            if let Some(parent) = self.dominator[*block] {
                children[parent].push(*block);
            }
        }
        children
    }

    /// For each block the blocks where what it dominates ends: those that it does not strictly dominate, though one of
    /// their predecessors.
    pub fn dominance_frontiers(&self) -> EntityVec<BlockId, Vec<BlockId>> {
        let mut frontiers = self.dominator.same_ids(Vec::new());
        for block in &self.order {
            for from in &self.predecessors[*block] {
                let mut above = Some(*from);
                while let Some(at) = above.filter(|at| Some(*at) != self.dominator[*block]) {
                    if frontiers[at].last() == Some(block) {
                        break;
                    }
                    frontiers[at].push(*block);
                    above = self.dominator[at];
                }
            }
        }
        frontiers
    }

    /// True when `block` is the target of an edge from a block that it dominates.
    pub fn is_loop_header(&self, block: BlockId) -> bool {
        self.predecessors[block].iter().any(|from| self.dominates(block, *from))
    }

    /// The blocks of the natural loop with that header.
    pub fn loop_body(&self, header: BlockId) -> EntityVec<BlockId, bool> {
        let mut body = self.position.same_ids(false);
        body[header] = true;
        let latches = self.predecessors[header].iter().filter(|from| self.dominates(header, **from));
        let mut waiting: Vec<BlockId> = latches.copied().collect();
        while let Some(block) = waiting.pop() {
            if !std::mem::replace(&mut body[block], true) {
                waiting.extend_from_slice(&self.predecessors[block]);
            }
        }
        body
    }

    fn index(&self, block: BlockId) -> u32 {
        self.position[block].expect("only reachable blocks have edges here")
    }

    fn find_dominators(&mut self) {
        let positions =
            |block: &BlockId| self.predecessors[*block].iter().map(|from| self.index(*from) as usize).collect();
        let predecessors: Vec<Positions> = self.order.iter().map(positions).collect();
        for (position, dominator) in immediate_dominators(&predecessors).into_iter().enumerate().skip(1) {
            self.dominator[self.order[position]] = Some(self.order[dominator]);
        }
    }

    pub fn common_dominator(&self, mut a: BlockId, mut b: BlockId) -> BlockId {
        while a != b {
            let deeper = if self.index(a) > self.index(b) { &mut a } else { &mut b };
            *deeper = self.dominator[*deeper].expect("blocks before this one have dominators");
        }
        a
    }

    fn number_dominator_tree(&mut self) {
        let children = self.dominator_children();
        let mut next = 0;
        let mut stack = vec![(Function::ENTRY, false)];
        while let Some((block, done)) = stack.pop() {
            if done {
                self.interval[block].1 = next - 1;
                continue;
            }
            self.interval[block].0 = next;
            next += 1;
            stack.push((block, true));
            stack.extend(children[block].iter().rev().map(|child| (*child, false)));
        }
    }
}

/// The immediate dominator of each node of a graph, given by its predecessors. Nodes are numbered in reverse postorder:
/// the first is the entry, and its own dominator.
pub fn immediate_dominators(predecessors: &[Positions]) -> Vec<usize> {
    // The first time, what comes later in the order is unknown; where loops have one entry each, that decides nothing.
    let mut tree = Tree::with_capacity(predecessors.len());
    let mut are_known = true;
    for from in predecessors {
        let size = tree.parents.len();
        are_known &= from.iter().all(|from| *from < size);
        let known = from.iter().copied().filter(|from| *from < size);
        let parent = known.reduce(|a, b| tree.common(a, b)).unwrap_or_default();
        tree.add(parent);
    }
    if are_known {
        return tree.parents;
    }
    loop {
        let mut next = Tree::with_capacity(predecessors.len());
        for (node, from) in predecessors.iter().enumerate() {
            let parent = from.iter().copied().filter(|_| node > 0).reduce(|a, b| tree.common(a, b));
            next.add(parent.unwrap_or_default());
        }
        if next.parents == tree.parents {
            return tree.parents;
        }
        tree = next;
    }
}

/// A tree that grows at its leaves. Each node knows its parent and an ancestor farther away, so that what lies n steps
/// up is found in some log n (Myers, *An Applicative Random-Access Stack*, 1983).
struct Tree {
    parents: Vec<usize>,
    jumps: Vec<usize>,
    depths: Vec<usize>,
}

impl Tree {
    fn with_capacity(nodes: usize) -> Tree {
        let [parents, jumps, depths] = [(); 3].map(|()| Vec::with_capacity(nodes));
        Tree { parents, jumps, depths }
    }

    /// Adds a node; the first one is its own parent.
    fn add(&mut self, parent: usize) {
        let node = self.parents.len();
        self.parents.push(parent);
        if node == 0 {
            self.jumps.push(0);
            self.depths.push(0);
            return;
        }
        let near = self.jumps[parent];
        let far = self.jumps[near];
        let are_equal = self.depths[parent] - self.depths[near] == self.depths[near] - self.depths[far];
        self.jumps.push(if are_equal { far } else { parent });
        self.depths.push(self.depths[parent] + 1);
    }

    /// The lowest node that is both or above both.
    fn common(&self, a: usize, b: usize) -> usize {
        let (mut low, mut high) = if self.depths[a] > self.depths[b] { (a, b) } else { (b, a) };
        while self.depths[low] > self.depths[high] {
            let jump = self.jumps[low];
            low = if self.depths[jump] >= self.depths[high] { jump } else { self.parents[low] };
        }
        while low != high {
            let above = if self.jumps[low] == self.jumps[high] { &self.parents } else { &self.jumps };
            (low, high) = (above[low], above[high]);
        }
        low
    }
}

/// The reachable blocks in reverse postorder.
pub fn reverse_postorder(function: &Function) -> Vec<BlockId> {
    let mut seen = function.blocks.same_ids(false);
    let mut order = Vec::new();
    let mut stack = vec![(Function::ENTRY, 0)];
    seen[Function::ENTRY] = true;
    while let Some((block, edge)) = stack.pop() {
        let terminator = &function.blocks[block].terminator;
        // The last target first, so that the blocks of the first one come first in the result.
        let Some(position) = terminator.target_count().checked_sub(edge + 1) else {
            order.push(block);
            continue;
        };
        let target = terminator.target(position).block;
        stack.push((block, edge + 1));
        if !seen[target] {
            seen[target] = true;
            stack.push((target, 0));
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::{Positions, immediate_dominators};
    use crate::base::random;
    use smallvec::smallvec;

    /// Whether removing `above` keeps control from getting to `node`.
    fn dominates(predecessors: &[Positions], above: usize, node: usize) -> bool {
        let (mut seen, mut waiting) = (vec![false; predecessors.len()], vec![node]);
        while let Some(at) = waiting.pop() {
            if at != above && !std::mem::replace(&mut seen[at], true) {
                waiting.extend_from_slice(&predecessors[at]);
            }
        }
        !seen[0]
    }

    /// Graphs of any form, with loops of several entries, too.
    #[test]
    fn dominators_are_what_all_ways_lead_through() {
        let mut random = random::numbers();
        for _ in 0..300 {
            let count = 2 + random(24);
            let mut predecessors: Vec<Positions> = vec![Positions::new()];
            for node in 1..count {
                predecessors.push(smallvec![random(node)]);
            }
            for _ in 0..random(count) {
                let to = 1 + random(count - 1);
                predecessors[to].push(random(count));
            }
            let found = immediate_dominators(&predecessors);
            for (node, dominator) in found.iter().enumerate().skip(1) {
                // The nearest of those above: all others are above it, too.
                let above: Vec<usize> =
                    (0..count).filter(|other| *other != node && dominates(&predecessors, *other, node)).collect();
                assert!(above.contains(dominator), "{predecessors:?}: {node} below {dominator}");
                let is_nearest = |other: &usize| other == dominator || dominates(&predecessors, *other, *dominator);
                assert!(above.iter().all(is_nearest), "{predecessors:?}: {node} below {dominator}");
            }
        }
    }
}
