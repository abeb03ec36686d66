//! Copying blocks: within a function, and into one of their own.

use crate::opt::edit::rewrite::{is_constant, keep};
use crate::ssa::ir::{BlockId, Function, Inst, Target, Terminator, Value, Walk};
use rustc_hash::{FxHashMap, FxHashSet};

/// Copies an instruction to the end of a block; `values` is as for [`clone_region`].
pub fn clone_inst(function: &mut Function, block: BlockId, inst: &Inst, values: &mut FxHashMap<Value, Value>) {
    let mut inst = inst.clone();
    inst.args.iter_mut().for_each(|arg| *arg = values.get(arg).copied().unwrap_or(*arg));
    for result in &mut inst.results {
        let new = function.values.push(function.values[*result]);
        values.insert(*result, new);
        *result = new;
    }
    function.blocks[block].insts.push(inst);
}

/// Copies blocks, given in an order in which definitions come before their uses; gives the copy of each.
///
/// `values` says what stands in the copy for values of the blocks, or of others, and is completed by what the copy
/// defines. Parameters that it has already are none of the copy. Jumps to `entry` stay jumps to it: the copy of a loop
/// is one round.
pub fn clone_region(
    function: &mut Function,
    region: &[BlockId],
    entry: BlockId,
    values: &mut FxHashMap<Value, Value>,
) -> FxHashMap<BlockId, BlockId> {
    let blocks: FxHashMap<BlockId, BlockId> = region.iter().map(|block| (*block, function.new_block(&[]))).collect();
    for original in region {
        let mut copy = function.blocks[*original].clone();
        copy.params.retain(|param| !values.contains_key(param));
        let results = copy.insts.iter_mut().flat_map(|inst| &mut inst.results);
        for value in copy.params.iter_mut().chain(results) {
            let new = function.values.push(function.values[*value]);
            values.insert(*value, new);
            *value = new;
        }
        for target in copy.terminator.targets_mut().into_iter().filter(|target| target.block != entry) {
            target.block = blocks.get(&target.block).copied().unwrap_or(target.block);
        }
        function.blocks[blocks[original]] = copy;
    }
    // Parameters of inner loops come after what is passed to them on the way back.
    for copy in blocks.values() {
        function.blocks[*copy].for_each_use(|value| *value = values.get(value).copied().unwrap_or(*value));
    }
    blocks
}

/// A function that has some of the blocks of another, under the same names, with those of their instructions and
/// parameters whose values are needed. The conditions of branches between ways that stay are among these. Where control
/// would go to other blocks, or to one that `ends` it, it does not go: what leaves the blocks is not done again.
///
/// The entry has the needed constants, and neither parameters nor a terminator.
pub fn cut_out(
    original: &Function,
    blocks: &FxHashSet<BlockId>,
    needed: &FxHashSet<Value>,
    ends: impl Fn(BlockId) -> bool,
) -> Function {
    let mut function = original.clone();
    function.walk = Walk::None;
    let is_needed = |values: &[Value]| values.iter().any(|value| needed.contains(value));
    let mut constants: Vec<Inst> = Vec::new();
    for id in original.blocks.ids().filter(|id| !blocks.contains(id)) {
        let block = &mut function.blocks[id];
        constants.extend(block.insts.drain(..).filter(|inst| is_constant(inst.op) && is_needed(&inst.results)));
        block.params.clear();
        block.terminator = Terminator::Unreachable;
    }
    function.blocks[Function::ENTRY].insts = constants;
    let kept: FxHashMap<BlockId, Vec<bool>> = blocks
        .iter()
        .map(|id| (*id, original.blocks[*id].params.iter().map(|param| needed.contains(param)).collect()))
        .collect();
    let stays = |target: &Target| kept.contains_key(&target.block) && !ends(target.block);
    let nowhere = function.new_block(&[]);
    for (id, kept_here) in &kept {
        let block = &mut function.blocks[*id];
        block.insts.retain(|inst| is_needed(&inst.results));
        keep(&mut block.params, kept_here);
        for target in block.terminator.targets_mut() {
            if stays(target) {
                keep(&mut target.args, &kept[&target.block]);
            } else {
                *target = Target { block: nowhere, args: Vec::new() };
            }
        }
        let targets = block.terminator.targets().into_iter();
        let inside: Vec<Target> = targets.filter(|target| target.block != nowhere).cloned().collect();
        match &inside[..] {
            [] => block.terminator = Terminator::Unreachable,
            [only] => block.terminator = Terminator::Jump(only.clone()),
            _ => {}
        }
    }
    function
}
