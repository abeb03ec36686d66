//! Which fields are read where they are needed instead of once.
//!
//! A processor adds from memory as it adds from a register, so a real that lies in a box and is used a few times needs no
//! register, as long as the box keeps it. What was a box keeps its fields even when it has been released: the run time
//! writes to the first word of free boxes only, until one of them becomes a new box. So a field may be read anywhere
//! between its place in the code and the next new box or vector, or call.

use crate::base::entity::Entity;
use crate::ssa::ir::{Block, BlockId, Function, Op, Type, Value};
use rustc_hash::FxHashMap;

/// What is used more often should be in a register.
const FEW: usize = 12;

/// For each value whether a block uses it that does not define it.
pub fn leaves_block(function: &Function) -> Vec<bool> {
    let mut home: FxHashMap<Value, BlockId> = FxHashMap::default();
    for (id, block) in function.blocks.iter() {
        home.extend(block.insts.iter().flat_map(|inst| &inst.results).map(|value| (*value, id)));
    }
    let mut leaves = vec![false; function.values.len()];
    for (id, block) in function.blocks.iter() {
        block.for_each_value(|value| leaves[value.index()] |= home.get(&value) != Some(&id));
    }
    leaves
}

/// The positions of the fields in a block that can be read for each use, given which values other blocks use.
pub fn fields_in_place(function: &Function, block: &Block, leaves: &[bool]) -> Vec<bool> {
    // For each value the position of its last use, and how many there are.
    let mut uses: FxHashMap<Value, (usize, usize)> = FxHashMap::default();
    block.terminator.for_each_value(|value| uses.entry(value).or_insert((block.insts.len(), 0)).1 += 1);
    let mut in_place = vec![false; block.insts.len()];
    let mut next_change = usize::MAX;
    for (position, inst) in block.insts.iter().enumerate().rev() {
        if let (Op::Field(..), [value]) = (inst.op, &inst.results[..])
            && function.values[*value] == Type::F64
        {
            let fits = |(last, count): &(usize, usize)| *last <= next_change && *count <= FEW;
            in_place[position] = uses.get(value).is_some_and(fits) && !leaves[value.index()];
        }
        if inst.op.changes_vector() || matches!(inst.op, Op::Box(..) | Op::NewVector(_) | Op::Call(_)) {
            next_change = position;
        }
        for arg in &inst.args {
            uses.entry(*arg).or_insert((position, 0)).1 += 1;
        }
    }
    in_place
}
