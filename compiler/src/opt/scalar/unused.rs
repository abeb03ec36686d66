//! Values that nobody needs: what passes drop that leave such values behind.
//!
//! The conditions of all branches count as needed here; [`crate::opt::scalar::dce`] knows better, and takes longer.

use crate::base::EntityVec;
use crate::opt::analysis::effects::Effects;
use crate::opt::edit::rewrite::keep_params;
use crate::ssa::ir::{BlockId, Function, Value};

/// Cleans a function of a program that is not complete yet, so that nothing is known of what it calls.
pub fn clean(function: &mut Function) {
    eliminate(function, &Effects::of_calls_unknown());
}

/// Cleans one function.
pub fn eliminate(function: &mut Function, effects: &Effects) -> bool {
    let live = live_values(function, effects);
    drop_dead(function, effects, &live)
}

/// Drops what has no effect and computes values that are not live. Parameters of the function stay.
pub fn drop_dead(function: &mut Function, effects: &Effects, live: &EntityVec<Value, bool>) -> bool {
    let mut changed = false;
    let mut kept = function.blocks.same_ids(None);
    for id in function.blocks.ids() {
        let block = &mut function.blocks[id];
        let before = block.insts.len();
        block.insts.retain(|inst| !effects.is_removable(inst.op) || inst.results.iter().any(|value| live[*value]));
        changed |= block.insts.len() < before;
        if id != Function::ENTRY && block.params.iter().any(|param| !live[*param]) {
            kept[id] = Some(block.params.iter().map(|param| live[*param]).collect());
            changed = true;
        }
    }
    keep_params(function, &kept);
    changed
}

/// Where a value comes from.
#[derive(Clone, Copy)]
enum Source {
    /// The parameter of a block at this position.
    Param(BlockId, usize),
    /// The instruction of a block at this position.
    Inst(BlockId, usize),
}

/// Where values come from, and blocks are entered from.
pub struct Sources {
    values: EntityVec<Value, Option<Source>>,
    /// The edges into each block: where they come from, and their position among the targets there.
    pub edges: EntityVec<BlockId, Vec<(BlockId, usize)>>,
}

impl Sources {
    /// Looks at a whole function.
    pub fn new(function: &Function) -> Sources {
        let mut sources =
            Sources { values: function.values.same_ids(None), edges: function.blocks.same_ids(Vec::new()) };
        for (id, block) in function.blocks.iter() {
            for (position, param) in block.params.iter().enumerate() {
                sources.values[*param] = Some(Source::Param(id, position));
            }
            for (position, inst) in block.insts.iter().enumerate() {
                inst.results.iter().for_each(|value| sources.values[*value] = Some(Source::Inst(id, position)));
            }
            for (edge, target) in block.terminator.targets().iter().enumerate() {
                sources.edges[target.block].push((id, edge));
            }
        }
        sources
    }

    /// Lists what a value is computed from, or handed on from where its block is entered.
    pub fn collect(&self, function: &Function, value: Value, found: &mut Vec<Value>) {
        match self.values[value] {
            Some(Source::Inst(block, position)) => found.extend(&function.blocks[block].insts[position].args),
            Some(Source::Param(block, position)) => {
                let given =
                    |(from, edge): &(BlockId, usize)| function.blocks[*from].terminator.target(*edge).args[position];
                found.extend(self.edges[block].iter().map(given));
            }
            None => {}
        }
    }

    /// The block that a value is a parameter of.
    pub fn entered(&self, value: Value) -> Option<BlockId> {
        match self.values[value]? {
            Source::Param(block, _) => Some(block),
            Source::Inst(..) => None,
        }
    }
}

/// The values that something needs which has an effect.
fn live_values(function: &Function, effects: &Effects) -> EntityVec<Value, bool> {
    let sources = Sources::new(function);
    let mut waiting = Vec::new();
    for block in function.blocks.values() {
        for inst in block.insts.iter().filter(|inst| !effects.is_removable(inst.op)) {
            waiting.extend(&inst.args);
        }
        let mut uses = Vec::new();
        block.terminator.for_each_value(|value| uses.push(value));
        // Arguments of jumps come last and are needed only where the parameter is.
        uses.truncate(uses.len() - block.terminator.targets().iter().map(|target| target.args.len()).sum::<usize>());
        waiting.extend(uses);
    }
    let mut live = function.values.same_ids(false);
    while let Some(value) = waiting.pop() {
        if !std::mem::replace(&mut live[value], true) {
            sources.collect(function, value, &mut waiting);
        }
    }
    live
}
