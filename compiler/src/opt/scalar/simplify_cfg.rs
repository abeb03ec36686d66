//! Simplification of control flow: SSA → SSA.
//!
//! ```text
//! b0:                              b0:
//!     v1 = bool true                   v1 = bool true
//!     branch v1, b1(v0), b2            v3 = add v0, v0
//! b1(v2: f64):                →        return v3
//!     jump b3(v2)
//! b3(v2: f64):
//!     v3 = add v2, v2
//!     return v3
//! ```
//!
//! Decides branches and switches on constants, empties unreachable blocks, lets jumps skip blocks that only jump on,
//! copies the end of a function into the blocks that jump there, and joins a block with its only predecessor. Works
//! through a function until nothing changes; every step removes an edge or a block, except the copying of ends, which
//! happens once for each jump.
//!
//! Not done: choosing the target for one predecessor of a block (see [`crate::opt::scalar::jump_threading`]).
//!
//! Tests: `tests/opt/simplify-cfg/`.

use crate::base::EntityVec;
use crate::opt::Context;
use crate::opt::edit::rewrite::{Definitions, Replacements, clear_unreachable, use_counts};
use crate::opt::scalar::block_params;
use crate::ssa::graph::reverse_postorder;
use crate::ssa::ir::{Block, BlockId, Function, Op, Target, Terminator, Value};
use rustc_hash::FxHashMap;

/// Treats a function.
pub fn run(function: &mut Function, _: &Context) -> bool {
    let mut changed = simplify(function);
    while block_params::simplify(function) {
        simplify(function);
        changed = true;
    }
    changed
}

/// Simplifies one function.
pub fn simplify(function: &mut Function) -> bool {
    let mut changed = false;
    loop {
        let mut again = decide(function);
        again |= skip(function);
        again |= clear(function);
        again |= merge(function);
        if !again {
            return changed;
        }
        changed = true;
    }
}

fn clear(function: &mut Function) -> bool {
    let mut reachable = function.blocks.same_ids(false);
    for block in reverse_postorder(function) {
        reachable[block] = true;
    }
    clear_unreachable(function, |block| reachable[block])
}

/// Turns choices whose outcome is known into jumps.
fn decide(function: &mut Function) -> bool {
    let definitions = Definitions::new(function);
    let mut changed = false;
    for id in function.blocks.ids() {
        let decided = match &function.blocks[id].terminator {
            Terminator::Branch(condition, yes, no) => decide_branch(function, &definitions, *condition, yes, no),
            Terminator::Switch(value, targets) => decide_switch(function, &definitions, *value, targets),
            _ => None,
        };
        if let Some(terminator) = decided {
            function.blocks[id].terminator = terminator;
            changed = true;
        }
    }
    changed
}

fn decide_branch(
    function: &Function,
    definitions: &Definitions,
    condition: Value,
    yes: &Target,
    no: &Target,
) -> Option<Terminator> {
    if yes == no {
        return Some(Terminator::Jump(yes.clone()));
    }
    let inst = definitions.inst(function, condition)?;
    match inst.op {
        Op::ConstBool(true) => Some(Terminator::Jump(yes.clone())),
        Op::ConstBool(false) => Some(Terminator::Jump(no.clone())),
        Op::Not => Some(Terminator::Branch(inst.args[0], no.clone(), yes.clone())),
        _ => None,
    }
}

fn decide_switch(
    function: &Function,
    definitions: &Definitions,
    value: Value,
    targets: &[Target],
) -> Option<Terminator> {
    if targets.iter().all(|target| *target == targets[0]) {
        return targets.first().map(|target| Terminator::Jump(target.clone()));
    }
    let target = |position: i64| usize::try_from(position).ok().and_then(|position| targets.get(position));
    let inst = definitions.inst(function, value)?;
    match (inst.op, &inst.args[..]) {
        (Op::ConstInt(position), _) => {
            let target = target(position);
            Some(target.map_or(Terminator::Unreachable, |target| Terminator::Jump(target.clone())))
        }
        (Op::Select, [condition, positions @ ..]) => {
            let targets = positions.iter().map(|position| match definitions.op(function, *position) {
                Some(Op::ConstInt(position)) => target(position).cloned(),
                _ => None,
            });
            let [yes, no] = targets.collect::<Option<Vec<Target>>>()?.try_into().ok()?;
            Some(Terminator::Branch(*condition, yes, no))
        }
        _ => None,
    }
}

/// Redirects jumps to blocks that do nothing but go on.
fn skip(function: &mut Function) -> bool {
    let uses = use_counts(function);
    let empty = function.blocks.ids().map(|id| is_skippable(function, id, &uses));
    let empty: EntityVec<BlockId, bool> = empty.collect();
    let mut changed = false;
    for id in function.blocks.ids() {
        // A chain of empty blocks may be a loop.
        for _ in 0..8 {
            if !skip_from(function, id, &empty) {
                break;
            }
            changed = true;
        }
    }
    changed
}

/// True when the block has no instructions and nobody else uses its parameters.
fn is_skippable(function: &Function, id: BlockId, uses: &EntityVec<Value, u32>) -> bool {
    let block = &function.blocks[id];
    if !block.insts.is_empty() || id == Function::ENTRY {
        return false;
    }
    let mut own: FxHashMap<Value, u32> = FxHashMap::default();
    block.terminator.for_each_value(|value| *own.entry(value).or_default() += 1);
    block.params.iter().all(|param| uses[*param] == own.get(param).copied().unwrap_or(0))
}

fn skip_from(function: &mut Function, id: BlockId, empty: &EntityVec<BlockId, bool>) -> bool {
    if let Terminator::Jump(target) = &function.blocks[id].terminator
        && empty[target.block]
        && target.block != id
    {
        let next = &function.blocks[target.block];
        if matches!(&next.terminator, Terminator::Jump(onward) if onward.block == target.block) {
            return false;
        }
        let is_end = next.terminator.targets().is_empty();
        if is_end || matches!(next.terminator, Terminator::Jump(_)) {
            let mut terminator = next.terminator.clone();
            substitute(&mut terminator, &next.params, &target.args);
            function.blocks[id].terminator = terminator;
            return true;
        }
        return false;
    }
    let mut terminator = function.blocks[id].terminator.clone();
    let mut changed = false;
    for target in terminator.targets_mut() {
        let next = &function.blocks[target.block];
        let Terminator::Jump(onward) = &next.terminator else { continue };
        if empty[target.block] && onward.block != target.block && onward.block != id {
            let mut onward = next.terminator.clone();
            substitute(&mut onward, &next.params, &target.args);
            if let Terminator::Jump(onward) = onward {
                *target = onward;
                changed = true;
            }
        }
    }
    if changed {
        function.blocks[id].terminator = terminator;
    }
    changed
}

/// Replaces parameters by arguments in a terminator.
pub fn substitute(terminator: &mut Terminator, params: &[Value], args: &[Value]) {
    terminator.for_each_use(|value| {
        if let Some(position) = params.iter().position(|param| param == value) {
            *value = args[position];
        }
    });
}

/// Joins blocks with their only predecessors.
fn merge(function: &mut Function) -> bool {
    let mut edges = function.blocks.same_ids(0u32);
    for block in function.blocks.values() {
        for target in block.terminator.targets() {
            edges[target.block] += 1;
        }
    }
    let mut replacements = Replacements::new(function);
    let mut changed = false;
    for id in function.blocks.ids() {
        while let Terminator::Jump(target) = &function.blocks[id].terminator {
            let next = target.block;
            if edges[next] != 1 || next == id {
                break;
            }
            let args: Vec<Value> = target.args.iter().map(|arg| replacements.resolve(*arg)).collect();
            let empty = Block { params: Vec::new(), insts: Vec::new(), terminator: Terminator::Unreachable };
            let Block { params, insts, terminator } = std::mem::replace(&mut function.blocks[next], empty);
            params.into_iter().zip(args).for_each(|(param, arg)| replacements.replace(param, arg));
            let block = &mut function.blocks[id];
            block.insts.extend(insts);
            block.terminator = terminator;
            edges[next] = 0;
            changed = true;
        }
    }
    replacements.apply(function);
    changed
}
