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
//! this place, and for reads and changes of places that are known to be others. Ways that are not gone after the read
//! are left out: where an earlier decision led to the read, later decisions by the same value go the same way.

use crate::base::EntityVec;
use crate::opt::analysis::least::Least;
use crate::opt::edit::rewrite::Definitions;
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
    let (mut decisions, mut places) = (None, None);
    for id in &graph.order {
        for (position, inst) in function.blocks[*id].insts.iter().enumerate() {
            let Op::Element(vector, field) = inst.op else { continue };
            let (source, result) = (inst.args[0], inst.results[0]);
            let is_owner = function.values[result] == Type::Ptr && facts.owned[result] && facts.owned[source];
            if is_owner && !facts.lent.contains(&source) {
                let decisions = decisions.get_or_insert_with(|| Decisions::new(function, graph));
                let places = places.get_or_insert_with(|| Places::new(function, graph));
                places.home = *id;
                let mut walk = Walk { function, facts, vector, field, args: &inst.args, home: *id, decisions, places };
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

/// Which places of vectors are known not to be the same.
struct Places<'f> {
    function: &'f Function,
    graph: &'f Graph,
    definitions: Definitions,
    /// The block of the read.
    home: BlockId,
    /// What is known there, once somebody has asked.
    least: Option<(BlockId, Least)>,
}

impl<'f> Places<'f> {
    fn new(function: &'f Function, graph: &'f Graph) -> Places<'f> {
        Places { function, graph, definitions: Definitions::new(function), home: Function::ENTRY, least: None }
    }

    fn are_apart(&mut self, places: [Value; 2]) -> bool {
        let Places { function, graph, definitions, home, least } = self;
        let mut new = || (Function::ENTRY, Least::new(function, graph, definitions));
        let (block, known) = least.get_or_insert_with(&mut new);
        if block != home {
            known.stand_in(function, graph, definitions, *home);
            *block = *home;
        }
        known.are_apart(function, definitions, places)
    }
}

/// The search for a use that could see the vacant place.
struct Walk<'a, 'f> {
    function: &'a Function,
    facts: &'a Facts<'a>,
    vector: VectorId,
    field: u32,
    /// The vector, its length and the place.
    args: &'a [Value],
    home: BlockId,
    decisions: &'a Decisions<'a>,
    places: &'a mut Places<'f>,
}

impl Walk<'_, '_> {
    fn is_unseen(&mut self, start: usize) -> bool {
        let mut waiting = vec![(self.home, start, self.args[0])];
        let mut seen: FxHashMap<BlockId, Value> = FxHashMap::default();
        while let Some((block, start, vector)) = waiting.pop() {
            let Some(left) = self.is_unseen_in(block, start, vector) else { return false };
            let onward = self.decisions.onward(block, self.home);
            for (target, vector) in onward.into_iter().filter_map(|target| Some((target, left?))) {
                if !self.is_live(target.block, vector) {
                    continue;
                }
                // Back at the read, the place may be another one, and what decided another value.
                if target.block == self.home || self.decisions.defines_taken(target.block, self.home) {
                    return false;
                }
                match seen.insert(target.block, vector) {
                    None => waiting.push((target.block, 0, vector)),
                    Some(before) if before != vector => return false,
                    Some(_) => {}
                }
            }
        }
        true
    }

    fn is_live(&self, block: BlockId, vector: Value) -> bool {
        self.facts.live_in[block].binary_search(&vector).is_ok()
    }

    /// The vector that holds the vacant place behind this part of a block, unless the place is changed there; `None`
    /// when it may be seen.
    fn is_unseen_in(&mut self, block: BlockId, start: usize, vector: Value) -> Option<Option<Value>> {
        let block = &self.function.blocks[block];
        let mut vector = vector;
        // The vectors that held it before.
        let mut older: SmallVec<[Value; 2]> = SmallVec::new();
        let mut is_over = false;
        for inst in &block.insts[start..] {
            if inst.args.iter().any(|arg| older.contains(arg)) {
                return None;
            }
            if !inst.args.contains(&vector) {
                continue;
            }
            if is_over {
                return None;
            }
            match self.use_of(inst, vector) {
                Use::Other => return None,
                Use::Read => {}
                Use::Change => is_over = true,
                Use::ChangeElsewhere => {
                    older.push(vector);
                    vector = inst.results[0];
                }
            }
        }
        let mut is_passed = false;
        block.terminator.for_each_value(|value| is_passed |= value == vector || older.contains(&value));
        let lives_on = |vector: Value| block.terminator.targets().into_iter().any(|to| self.is_live(to.block, vector));
        if is_passed || is_over && lives_on(vector) || older.iter().any(|older| lives_on(*older)) {
            return None;
        }
        Some((!is_over).then_some(vector))
    }

    fn use_of(&mut self, inst: &Inst, vector: Value) -> Use {
        let (Op::Element(kind, _) | Op::WithElement(kind)) = inst.op else { return Use::Other };
        if inst.args[0] != vector || inst.args[1] != self.args[1] || kind != self.vector {
            return Use::Other;
        }
        let is_here = inst.args[2] == self.args[2];
        match inst.op {
            Op::Element(_, field) if is_here && field != self.field => Use::Read,
            Op::WithElement(_) if is_here && !inst.args[3..].contains(&vector) => Use::Change,
            _ if is_here || !self.places.are_apart([inst.args[2], self.args[2]]) => Use::Other,
            Op::Element(..) => Use::Read,
            _ if inst.args[3..].contains(&vector) => Use::Other,
            _ => Use::ChangeElsewhere,
        }
    }
}

enum Use {
    /// A read of another field of the place, or of another place.
    Read,
    /// The change of the place.
    Change,
    /// The change of another place.
    ChangeElsewhere,
    Other,
}
