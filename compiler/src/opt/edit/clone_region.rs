//! Copying blocks within a function.

use crate::ssa::ir::{BlockId, Function, Inst, Value};
use rustc_hash::FxHashMap;

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
