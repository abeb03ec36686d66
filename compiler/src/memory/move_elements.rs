//! Pointers that are taken out of a vector because what they refer to is replaced next.
//!
//! ```text
//! v3 = element.vec1.0 v0, v1, v2                 the row of a matrix
//! v7 = with_element.vec0 v3, v4, v5, v6          ...is changed
//! v8 = with_element.vec1 v0, v1, v2, v7          ...and put back
//! ```
//!
//! While the matrix holds the row, the row has two owners and has to be copied. But nobody can look at this place of
//! the matrix between the read and the last line. So the read may leave it vacant and hand the row on with its owner
//! ([`Op::TakeElement`](crate::ssa::ir::Op::TakeElement)), if nobody else owns the matrix: otherwise others look at it,
//! and the last line makes a copy, which needs the row.
//!
//! That is so if the vector itself holds an owner here, nothing borrows from it, and on all ways from the read it is
//! not used before it is released or changed at this very place, for the last time, except for reads of other fields of
//! this place. Ways that are not gone after the read are left out: where an earlier decision led to the read, later
//! decisions by the same value go the same way.

use crate::base::EntityVec;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Inst, Op, Target, Terminator, Type, Value, VectorId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

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
    let mut decisions = None;
    for id in &graph.order {
        for (position, inst) in function.blocks[*id].insts.iter().enumerate() {
            let Op::Element(vector, field) = inst.op else { continue };
            let (source, result) = (inst.args[0], inst.results[0]);
            let is_owner = function.values[result] == Type::Ptr && facts.owned[result] && facts.owned[source];
            if is_owner && !facts.lent.contains(&source) {
                let decisions = decisions.get_or_insert_with(|| Decisions::new(function, graph));
                let walk = Walk { function, facts, vector, field, args: &inst.args, home: *id, decisions };
                if walk.is_unseen(position + 1) {
                    found.insert(result);
                }
            }
        }
    }
    found
}

/// What decides where control goes, in a function.
struct Decisions<'f> {
    function: &'f Function,
    graph: &'f Graph,
    /// The blocks that end in a decision by a value.
    by: FxHashMap<Value, Vec<BlockId>>,
    /// The values that decide, by the block that defines them.
    defined: FxHashMap<BlockId, Vec<Value>>,
}

impl<'f> Decisions<'f> {
    fn new(function: &'f Function, graph: &'f Graph) -> Decisions<'f> {
        let mut by: FxHashMap<Value, Vec<BlockId>> = FxHashMap::default();
        for id in &graph.order {
            if let Some(value) = decides(&function.blocks[*id].terminator) {
                by.entry(value).or_default().push(*id);
            }
        }
        let mut defined: FxHashMap<BlockId, Vec<Value>> = FxHashMap::default();
        for (id, block) in function.blocks.iter() {
            let values = block.params.iter().chain(block.insts.iter().flat_map(|inst| &inst.results));
            let deciding: Vec<Value> = values.copied().filter(|value| by.contains_key(value)).collect();
            if !deciding.is_empty() {
                defined.insert(id, deciding);
            }
        }
        Decisions { function, graph, by, defined }
    }

    /// Which target was taken on the way to a block by what a value decides.
    fn taken_before(&self, block: BlockId, value: Value) -> Option<usize> {
        self.by.get(&value)?.iter().rev().find_map(|above| {
            let mut targets = self.function.blocks[*above].terminator.targets().into_iter();
            targets.position(|target| {
                self.graph.only_edge(target.block).is_some() && self.graph.dominates(target.block, block)
            })
        })
    }

    /// Where control can go from a block once it has come to another one.
    fn onward(&self, from: BlockId, behind: BlockId) -> SmallVec<[&'f Target; 2]> {
        let terminator = &self.function.blocks[from].terminator;
        let targets = terminator.targets();
        match decides(terminator).and_then(|value| self.taken_before(behind, value)) {
            Some(taken) => targets.into_iter().skip(taken).take(1).collect(),
            None => targets,
        }
    }

    /// Whether a block defines what has decided on the way to another one: it may be another value once control gets
    /// there again.
    fn defines_taken(&self, block: BlockId, behind: BlockId) -> bool {
        let values = self.defined.get(&block);
        values.is_some_and(|values| values.iter().any(|value| self.taken_before(behind, *value).is_some()))
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
    decisions: &'a Decisions<'a>,
}

impl Walk<'_> {
    fn is_unseen(&self, start: usize) -> bool {
        let mut waiting = vec![(self.home, start)];
        let mut seen = FxHashSet::default();
        while let Some((block, start)) = waiting.pop() {
            let Some(goes_on) = self.is_unseen_in(block, start) else { return false };
            let onward = self.decisions.onward(block, self.home);
            for target in onward.into_iter().filter(|_| goes_on) {
                if !self.is_live(target.block) {
                    continue;
                }
                // Back at the read, the place may be another one, and what decided another value.
                if target.block == self.home || self.decisions.defines_taken(target.block, self.home) {
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
        self.facts.live_in[block].binary_search(&self.args[0]).is_ok()
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
