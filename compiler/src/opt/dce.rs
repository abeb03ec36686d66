//! Dead code elimination within functions: SSA → SSA.
//!
//! ```text
//! v1 = mul v0, v0     →     return v0
//! return v0
//! ```
//!
//! Drops instructions without effect whose results nobody needs, calls of functions that can only return among them,
//! and block parameters that are needed only to compute themselves. A call that may run forever may be dropped.
//!
//! Not done: parameters and results of functions, fields of boxes (see [`crate::opt::dead_across_calls`]).
//!
//! Tests: `tests/opt/dce/`.

use crate::base::EntityVec;
use crate::opt::effects::Effects;
use crate::opt::rewrite::keep_params;
use crate::ssa::ir::{BlockId, Function, Program, Value};

/// Cleans every function.
pub fn run(program: &mut Program) -> bool {
    let effects = Effects::new(program);
    let mut changed = false;
    for function in program.functions.values_mut() {
        changed |= eliminate(function, &effects);
    }
    changed
}

/// Cleans one function.
pub fn eliminate(function: &mut Function, effects: &Effects) -> bool {
    let live = live_values(function, effects);
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

/// The values that something needs which has an effect.
fn live_values(function: &Function, effects: &Effects) -> EntityVec<Value, bool> {
    let mut sources = function.values.same_ids(None);
    let mut predecessors = function.blocks.same_ids(Vec::new());
    let mut waiting = Vec::new();
    for (id, block) in function.blocks.iter() {
        for (position, param) in block.params.iter().enumerate() {
            sources[*param] = Some(Source::Param(id, position));
        }
        for (position, inst) in block.insts.iter().enumerate() {
            inst.results.iter().for_each(|value| sources[*value] = Some(Source::Inst(id, position)));
            if !effects.is_removable(inst.op) {
                waiting.extend(&inst.args);
            }
        }
        let targets = block.terminator.targets();
        let mut uses = Vec::new();
        block.terminator.for_each_value(|value| uses.push(value));
        // Arguments of jumps come last and are needed only where the parameter is.
        uses.truncate(uses.len() - targets.iter().map(|target| target.args.len()).sum::<usize>());
        waiting.extend(uses);
        for (edge, target) in targets.iter().enumerate() {
            predecessors[target.block].push((id, edge));
        }
    }
    let mut live = function.values.same_ids(false);
    while let Some(value) = waiting.pop() {
        if std::mem::replace(&mut live[value], true) {
            continue;
        }
        match sources[value] {
            Some(Source::Inst(block, position)) => waiting.extend(&function.blocks[block].insts[position].args),
            Some(Source::Param(block, position)) => {
                for (from, edge) in &predecessors[block] {
                    waiting.push(function.blocks[*from].terminator.target(*edge).args[position]);
                }
            }
            None => {}
        }
    }
    live
}
