//! Which releases can be done without the run time, because the code around them tells what dies.
//!
//! Taking a list apart looks like this after the pass that places reference counts:
//!
//! ```text
//! v2 = field.list.cons.0 v1
//! v3 = field.list.cons.1 v1
//! retain v3
//! release v1
//! ```
//!
//! The fields tell the alternative of `v1`, so its size and its pointers are known. If nobody else owns `v1`, the
//! retained field simply changes its owner: the box goes to its free list, and no count is touched. Otherwise the
//! count of `v1` drops and that of `v3` rises, as written.
//!
//! A `retain` may be delayed until the `release` of the box that its operand was read from, because that box keeps its
//! operand alive so long; it may not be delayed past anything that could take an owner away from the operand.

use crate::base::entity::Entity;
use crate::ssa::ir::{Block, BlockId, Function, Inst, Op, SumId, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Where a value was read from.
#[derive(Clone, Copy, Debug)]
struct Read {
    owner: Value,
    field: u32,
}

/// What is known about all values of a function.
#[derive(Debug)]
pub struct Facts {
    /// For values that are fields: which.
    reads: FxHashMap<Value, Read>,
    /// Values that are new boxes.
    boxes: FxHashMap<Value, (SumId, u32)>,
    /// How many paths lead to each block; and the only block before it, if there is one.
    before: Vec<Option<usize>>,
}

/// A `release` of a box whose alternative is known.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownRelease {
    /// The sum of the box.
    pub sum: SumId,
    /// The tag of its alternative.
    pub tag: u32,
    /// The pointer fields whose owner it passes on, with the values read from them.
    pub moved: Vec<(u32, Value)>,
}

impl KnownRelease {
    /// The fields, of these types, that die with the box: pointers whose owner it does not pass on.
    pub fn dying(&self, types: &[Type]) -> Vec<usize> {
        let is_moved = |field: usize| self.moved.iter().any(|(moved, _)| *moved as usize == field);
        (0..types.len()).filter(|field| types[*field] == Type::Ptr && !is_moved(*field)).collect()
    }
}

/// What to do differently in one block.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Positions of `retain`s that a later release takes care of.
    pub skipped: FxHashSet<usize>,
    /// Positions of releases of boxes with a known alternative.
    pub releases: FxHashMap<usize, KnownRelease>,
}

impl Facts {
    /// The facts about a function.
    pub fn new(function: &Function) -> Facts {
        let mut facts = Facts { reads: FxHashMap::default(), boxes: FxHashMap::default(), before: vec![None; 0] };
        let mut entries: Vec<Vec<usize>> = vec![Vec::new(); function.blocks.len()];
        for (id, block) in function.blocks.iter() {
            for target in block.terminator.targets() {
                entries[target.block.index()].push(id.index());
            }
            for inst in &block.insts {
                facts.instruction(inst);
            }
        }
        let only = |entries: Vec<usize>| if entries.len() == 1 { entries.first().copied() } else { None };
        facts.before = entries.into_iter().map(only).collect();
        facts
    }

    fn instruction(&mut self, inst: &Inst) {
        match inst.op {
            Op::Field(_, _, field) => {
                self.reads.insert(inst.results[0], Read { owner: inst.args[0], field });
            }
            Op::Box(sum, tag) => {
                self.boxes.insert(inst.results[0], (sum, tag));
            }
            _ => {}
        }
    }

    /// The plan for a block.
    pub fn plan(&self, function: &Function, id: BlockId) -> Plan {
        let mut plan = Plan::default();
        let block = &function.blocks[id];
        for (position, inst) in block.insts.iter().enumerate() {
            if inst.op != Op::Release {
                continue;
            }
            let owner = inst.args[0];
            if let Some((sum, tag)) = self.alternative(function, id.index(), position, owner) {
                let moved = self.moved(block, position, owner, &mut plan.skipped);
                plan.releases.insert(position, KnownRelease { sum, tag, moved });
            }
        }
        plan
    }

    /// The alternative of a value at a position, from a field that was read before on every path there.
    fn alternative(&self, function: &Function, block: usize, position: usize, value: Value) -> Option<(SumId, u32)> {
        if let Some(known) = self.boxes.get(&value) {
            return Some(*known);
        }
        let mut next = Some(block);
        let mut end = position;
        // A chain of blocks without other entries; as long as the function at most, as long as nothing loops.
        for _ in 0..function.blocks.len() {
            let block = &function.blocks[BlockId::from_index(next?)];
            for inst in block.insts[..end.min(block.insts.len())].iter().rev() {
                if let (Op::Field(sum, tag, _), true) = (inst.op, inst.args.first() == Some(&value)) {
                    return Some((sum, tag));
                }
            }
            end = usize::MAX;
            next = self.before[next?];
        }
        None
    }

    /// The retained fields of `owner` before its release at `position`; the `retain`s are added to `skipped`.
    fn moved(&self, block: &Block, position: usize, owner: Value, skipped: &mut FxHashSet<usize>) -> Vec<(u32, Value)> {
        let mut moved: Vec<(u32, Value)> = Vec::new();
        let mut released = Vec::new();
        for (at, inst) in block.insts[..position].iter().enumerate().rev() {
            match inst.op {
                Op::Retain => {
                    let value = inst.args[0];
                    let Some(read) = self.reads.get(&value).filter(|read| read.owner == owner) else { continue };
                    let taken = moved.iter().any(|(field, _)| *field == read.field);
                    if !taken && !released.contains(&value) && skipped.insert(at) {
                        moved.push((read.field, value));
                    }
                }
                Op::Release if self.boxes.contains_key(&inst.args[0]) => break,
                Op::Release => released.push(inst.args[0]),
                Op::Call(_) | Op::GlobalSet(_) | Op::TakeElement(..) | Op::Forget => break,
                op if op.changes_vector() => break,
                _ => {}
            }
        }
        moved
    }
}
