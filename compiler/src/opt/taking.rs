//! Pointers that are taken out of a vector because what they refer to is replaced next.
//!
//! ```text
//! v3 = element.vec1.0 v0, v1, v2                 the row of a matrix
//! v7 = with_element.vec0 v3, v4, v5, v6          ...is changed
//! v8 = with_element.vec1 v0, v1, v2, v7          ...and put back
//! ```
//!
//! While the matrix holds the row, the row has two owners and has to be copied. But nobody can look at this place of the
//! matrix between the read and the last line. So the read may leave it vacant and hand the row on with its owner
//! ([`Op::TakeElement`](crate::ssa::ir::Op::TakeElement)), if nobody else owns the matrix: otherwise others look at it, and
//! the last line makes a copy, which needs the row.
//!
//! That is so if the vector itself holds an owner here, nothing borrows from it, and on all ways from the read it is not
//! used before it is released or changed at this very place, for the last time, except for reads of other fields of this
//! place. Ways that are not gone after the read are left out: where an earlier decision led to the read, later decisions by
//! the same value go the same way.

use crate::base::EntityVec;
use crate::opt::loops::homes;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Inst, Op, Target, Terminator, Type, Value, VectorId};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is known about pointers.
pub struct Facts<'a> {
    /// Those that hold an owner.
    pub owned: &'a EntityVec<Value, bool>,
    /// Those that others borrow from.
    pub lent: &'a FxHashSet<Value>,
    /// Those that are needed at the start of each block.
    pub live_in: &'a EntityVec<BlockId, Vec<Value>>,
}

/// The elements that are taken out of their vectors.
pub fn taken(function: &Function, graph: &Graph, facts: &Facts) -> FxHashSet<Value> {
    let mut found = FxHashSet::default();
    for id in &graph.order {
        for (position, inst) in function.blocks[*id].insts.iter().enumerate() {
            let Op::Element(vector, field) = inst.op else { continue };
            let (source, result) = (inst.args[0], inst.results[0]);
            let is_owner = function.values[result] == Type::Ptr && facts.owned[result] && facts.owned[source];
            if is_owner && !facts.lent.contains(&source) {
                let decided = Decided::before(function, graph, *id);
                let walk = Walk { function, facts, vector, field, args: &inst.args, home: *id, decided };
                if walk.is_unseen(position + 1) {
                    found.insert(result);
                }
            }
        }
    }
    found
}

/// The decisions on the way to a block.
struct Decided {
    /// Which target was taken, by what decided.
    targets: FxHashMap<Value, usize>,
    /// Where what decided is defined: it may be another value once control gets there again.
    homes: FxHashSet<BlockId>,
}

impl Decided {
    fn before(function: &Function, graph: &Graph, block: BlockId) -> Decided {
        let mut targets = FxHashMap::default();
        let mut below = block;
        while let Some(above) = graph.dominator[below] {
            let terminator = &function.blocks[above].terminator;
            if let Some(value) = decides(terminator)
                && let Some((from, target)) = graph.only_edge(below)
                && from == above
            {
                targets.entry(value).or_insert(target);
            }
            below = above;
        }
        let mut homes_of = FxHashSet::default();
        if !targets.is_empty() {
            let homes = homes(function);
            homes_of.extend(targets.keys().filter_map(|value| homes.get(value)));
        }
        Decided { targets, homes: homes_of }
    }

    /// Where control can go from a block.
    fn onward<'f>(&self, terminator: &'f Terminator) -> Vec<&'f Target> {
        let targets = terminator.targets();
        match decides(terminator).and_then(|value| self.targets.get(&value)) {
            Some(taken) => targets.into_iter().skip(*taken).take(1).collect(),
            None => targets,
        }
    }
}

/// The value that decides where control goes.
fn decides(terminator: &Terminator) -> Option<Value> {
    match terminator {
        Terminator::Branch(value, ..) | Terminator::Switch(value, _) => Some(*value),
        _ => None,
    }
}

/// The search for a use that could see the vacant place.
struct Walk<'a> {
    function: &'a Function,
    facts: &'a Facts<'a>,
    vector: VectorId,
    field: u32,
    /// The vector, its length and the place.
    args: &'a [Value],
    home: BlockId,
    decided: Decided,
}

impl Walk<'_> {
    fn is_unseen(&self, start: usize) -> bool {
        let mut waiting = vec![(self.home, start)];
        let mut seen = FxHashSet::default();
        while let Some((block, start)) = waiting.pop() {
            let Some(goes_on) = self.is_unseen_in(block, start) else { return false };
            let onward = self.decided.onward(&self.function.blocks[block].terminator);
            for target in onward.into_iter().filter(|_| goes_on) {
                if !self.is_live(target.block) {
                    continue;
                }
                // Back at the read, the place may be another one, and what decided another value.
                if target.block == self.home || self.decided.homes.contains(&target.block) {
                    return false;
                }
                if seen.insert(target.block) {
                    waiting.push((target.block, 0));
                }
            }
        }
        true
    }

    fn is_live(&self, block: BlockId) -> bool {
        self.facts.live_in[block].contains(&self.args[0])
    }

    /// Whether the vector may be used after this part of a block; `None` when the place may be seen.
    fn is_unseen_in(&self, block: BlockId, start: usize) -> Option<bool> {
        let block = &self.function.blocks[block];
        let mut insts = block.insts[start..].iter();
        let mut is_over = false;
        for inst in insts.by_ref().filter(|inst| inst.args.contains(&self.args[0])) {
            if is_over {
                return None;
            }
            match self.use_of(inst) {
                Use::Other => return None,
                Use::Read => {}
                Use::Change => is_over = true,
            }
        }
        let mut is_passed = false;
        block.terminator.for_each_value(|value| is_passed |= value == self.args[0]);
        let lives_on = block.terminator.targets().into_iter().any(|target| self.is_live(target.block));
        if is_passed || is_over && lives_on { None } else { Some(!is_over) }
    }

    fn use_of(&self, inst: &Inst) -> Use {
        let here = inst.args.get(..3) == Some(self.args);
        match inst.op {
            Op::Element(vector, field) if here && (vector, field) != (self.vector, self.field) => Use::Read,
            Op::WithElement(vector) if here && vector == self.vector && !inst.args[3..].contains(&self.args[0]) => {
                Use::Change
            }
            _ => Use::Other,
        }
    }
}

enum Use {
    /// A read of another field of the place.
    Read,
    /// The change of the place.
    Change,
    Other,
}
