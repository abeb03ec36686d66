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
//! Runs last of what may meet new reads; whether something is copied is decided by [`crate::memory::counting`].
//!
//! Tests: `tests/opt/late-changes/`.

use crate::base::EntityVec;
use crate::opt::Context;
use crate::opt::analysis::liveness::live_in;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{Block, BlockId, Function, Inst, Op, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Treats a function.
pub fn run(function: &mut Function, _: &Context) -> bool {
    function.blocks.values().flat_map(|block| &block.insts).any(is_change) && delay(function)
}

fn is_change(inst: &Inst) -> bool {
    matches!(inst.op, Op::WithElement(_))
}

fn delay(function: &mut Function) -> bool {
    let graph = Graph::new(function);
    let live = live_in(function, &graph, |value| (function.values[value] == Type::Ptr).then_some(value));
    let changes = function.blocks.values().flat_map(|block| &block.insts).filter(|inst| is_change(inst));
    let older: FxHashMap<Value, Value> = changes.map(|inst| (inst.results[0], inst.args[0])).collect();
    let mut delay = Delay { uses: Uses::of(function), function, graph: &graph, live, older };
    let mut changed = false;
    for block in &graph.order {
        // The last one first, so that a change may follow one that depends on it.
        for position in (0..delay.function.blocks[*block].insts.len()).rev() {
            if is_change(&delay.function.blocks[*block].insts[position]) {
                changed |= delay.one(*block, position);
            }
        }
    }
    changed
}

/// So many changes follow each other for the sake of a read of what was before all of them.
const MOST_CHANGES: usize = 8;

/// How many instructions of a block use a pointer, and whether one reads an element of it: most changes are told by
/// that to stay, however long the block is.
#[derive(Default)]
struct Uses {
    all: FxHashMap<(BlockId, Value), usize>,
    reads: FxHashSet<(BlockId, Value)>,
}

impl Uses {
    fn of(function: &Function) -> Uses {
        let mut uses = Uses::default();
        for (id, block) in function.blocks.iter() {
            for inst in &block.insts {
                uses.enter(id, inst, |value| function.values[value] == Type::Ptr);
                if let Op::Element(..) = inst.op {
                    uses.reads.insert((id, inst.args[0]));
                }
            }
        }
        uses
    }

    fn enter(&mut self, block: BlockId, inst: &Inst, is_pointer: impl Fn(Value) -> bool) {
        for arg in inst.args.iter().filter(|arg| is_pointer(**arg)) {
            *self.all.entry((block, *arg)).or_default() += 1;
        }
    }

    fn leave(&mut self, block: BlockId, inst: &Inst) {
        for arg in &inst.args {
            self.all.entry((block, *arg)).and_modify(|count| *count -= 1);
        }
    }

    fn has(&self, block: BlockId, value: Value) -> bool {
        self.all.get(&(block, value)).is_some_and(|count| *count > 0)
    }
}

/// The changes of a function on their way.
struct Delay<'f> {
    function: &'f mut Function,
    graph: &'f Graph,
    live: EntityVec<BlockId, Vec<Value>>,
    /// For the result of each change what it changes.
    older: FxHashMap<Value, Value>,
    uses: Uses,
}

impl Delay<'_> {
    /// Moves the change at a position of a block behind the last read that it may follow of the old vector, or of what
    /// that was changed from.
    fn one(&mut self, block: BlockId, position: usize) -> bool {
        let Block { insts, terminator, .. } = &self.function.blocks[block];
        let new = insts[position].results[0];
        let before = std::iter::successors(self.older.get(&new), |vector| self.older.get(vector));
        let before: Vec<Value> = before.take(MOST_CHANGES).copied().collect();
        let is_used = self.uses.has(block, new);
        let mut needs_new = is_used;
        terminator.for_each_value(|value| needs_new |= value == new);
        if !needs_new {
            // Where changes have moved to, they need what they did not need there before.
            let needs_new = |block: BlockId| self.live[block].binary_search(&new).is_ok() || self.uses.has(block, new);
            let only = {
                let targets = terminator.targets();
                let mut onward = targets.iter().map(|target| target.block).filter(|block| needs_new(*block));
                onward.next().filter(|_| onward.next().is_none())
            };
            if let Some(onward) = only
                && self.graph.predecessors[onward].len() == 1
                && before.iter().any(|vector| {
                    terminator.targets().iter().any(|target| self.live[target.block].binary_search(vector).is_ok())
                })
            {
                let change = self.function.blocks[block].insts.remove(position);
                self.uses.leave(block, &change);
                let Function { values, blocks, .. } = &mut *self.function;
                self.uses.enter(onward, &change, |value| values[value] == Type::Ptr);
                blocks[onward].insts.insert(0, change);
                return true;
            }
        }
        if !before.iter().any(|vector| self.uses.reads.contains(&(block, *vector))) {
            return false;
        }
        let is_needed = |inst: &Inst| inst.args.contains(&new);
        let end = match is_used {
            true => insts[position..].iter().position(is_needed).map_or(insts.len(), |after| position + after),
            false => insts.len(),
        };
        let reads = |inst: &Inst| matches!(inst.op, Op::Element(..)) && before.contains(&inst.args[0]);
        match insts[position + 1..end].iter().rposition(reads) {
            Some(read) => {
                self.function.blocks[block].insts[position..=position + 1 + read].rotate_left(1);
                true
            }
            None => false,
        }
    }
}
