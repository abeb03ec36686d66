//! Sums of whose alternatives only one is made have that one: the first step of [`crate::opt::layout::unbox_fields`].
//!
//! ```text
//! sum sum0 = "start" | "tape"(int, ptr)        sum sum0 = "tape"(int, ptr)
//!
//! v2 = box.sum0.1 v0, v1                  →    v2 = box.sum0.0 v0, v1
//! ...                                          ...
//! branch (has_tag.sum0.0 v3), b1, b2           branch false, b1, b2
//! b1: v4 = field.sum0.0.0 v3                   b1: unreachable
//! b2: v5 = field.sum0.1.0 v3                   b2: v5 = field.sum0.0.0 v3
//! ```
//!
//! Code of an alternative disappears when what makes it is found never to happen, or when a tape becomes a vector. What
//! is left holds data and decides nothing, and such boxes can become part of others (see
//! [`crate::opt::layout::unbox_fields`]).
//!
//! Invariant: every value of a sum comes from an instruction of the program that makes it.
//!
//! Tests: `tests/opt/unbox-fields/sole-*`.

use crate::base::EntityVec;
use crate::opt::scalar::simplify_cfg;
use crate::ssa::ir::{Block, Inst, Op, Program, SumId, Terminator, Values};
use rustc_hash::FxHashSet;

/// Drops the other alternatives. True if there were some.
pub fn drop_others(program: &mut Program) -> bool {
    let sole = sole_alternatives(program);
    if sole.values().all(Option::is_none) {
        return false;
    }
    for function in program.functions.values_mut() {
        let mut is_cut = false;
        for block in function.blocks.values_mut() {
            is_cut |= rewrite(block, &sole);
        }
        if is_cut {
            simplify_cfg::simplify(function);
        }
    }
    for (sum, tag) in sole.iter() {
        if let Some(tag) = tag {
            let alternatives = &mut program.sums[sum].alternatives;
            *alternatives = vec![alternatives.swap_remove(*tag as usize)];
        }
    }
    true
}

/// For each sum that has others, too, the only alternative that is made.
fn sole_alternatives(program: &Program) -> EntityVec<SumId, Option<u32>> {
    let mut made = program.sums.same_ids(FxHashSet::default());
    let blocks = program.functions.values().flat_map(|function| function.blocks.values());
    for inst in blocks.flat_map(|block| &block.insts) {
        if let Op::Box(sum, tag) | Op::Immediate(sum, tag) = inst.op {
            made[sum].insert(tag);
        }
    }
    let mut sole = program.sums.same_ids(None);
    for (sum, tags) in made.iter() {
        if tags.len() == 1 && program.sums[sum].alternatives.len() > 1 {
            sole[sum] = tags.iter().next().copied();
        }
    }
    sole
}

/// Rewrites a block; true if it reads what is never made, and so ends there.
fn rewrite(block: &mut Block, sole: &EntityVec<SumId, Option<u32>>) -> bool {
    let reads_what_is_not_there =
        |inst: &Inst| matches!(inst.op, Op::Field(sum, tag, _) if sole[sum].is_some_and(|sole| sole != tag));
    let end = block.insts.iter().position(reads_what_is_not_there);
    if let Some(end) = end {
        block.insts.truncate(end);
        block.terminator = Terminator::Unreachable;
    }
    for inst in &mut block.insts {
        let (Op::Box(sum, tag) | Op::Immediate(sum, tag) | Op::HasTag(sum, tag) | Op::Field(sum, tag, _)) = inst.op
        else {
            if let Op::Tag(sum) = inst.op
                && let Some(tag) = sole[sum]
            {
                (inst.op, inst.args) = (Op::ConstInt(i64::from(tag)), Values::new());
            }
            continue;
        };
        let Some(sole) = sole[sum] else { continue };
        match &mut inst.op {
            Op::HasTag(..) => (inst.op, inst.args) = (Op::ConstBool(tag == sole), Values::new()),
            Op::Box(_, tag) | Op::Immediate(_, tag) | Op::Field(_, tag, _) => *tag = 0,
            _ => {}
        }
    }
    end.is_some()
}
