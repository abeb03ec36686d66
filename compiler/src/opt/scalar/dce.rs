//! Dead code elimination within functions: SSA → SSA.
//!
//! ```text
//! v1 = mul v0, v0     →     return v0
//! return v0
//! ```
//!
//! Drops instructions without effect whose results nobody needs, calls of functions that can only return among them,
//! and block parameters that are needed only to compute themselves. A call that is not known to end stays
//! ([`crate::opt::analysis::termination`]).
//!
//! An element is stored for nobody, too, if all that happens to its vector before it is replaced are other changes, and
//! reads in other places:
//!
//! ```text
//! v5 = with_element.vec0 v0, v1, v2, v3
//! v6 = with_element.vec0 v5, v1, v2, v4     →     v6 = with_element.vec0 v0, v1, v2, v4
//! ```
//!
//! That is more than a store: where elements are vectors, and `v4` is made of `v3`, this would have two owners as long
//! as `v5` holds it, and would have to be copied.
//!
//! Not done: parameters and results of functions, fields of boxes (see
//! [`crate::opt::interprocedural::dead_across_calls`]).
//!
//! Tests: `tests/opt/dce/`.

use crate::base::EntityVec;
use crate::opt::analysis::effects::Effects;
use crate::opt::edit::rewrite::{keep_params, use_counts};
use crate::ssa::ir::{BlockId, Function, Inst, Op, Program, Value, VectorId};
use rustc_hash::FxHashMap;

/// Cleans every function.
pub fn run(program: &mut Program) -> bool {
    let effects = Effects::new(program);
    let mut changed = false;
    for function in program.functions.values_mut() {
        changed |= skip_replaced_elements(function);
        changed |= eliminate(function, &effects);
    }
    changed
}

/// So many changes of a vector are looked at for one of the same place.
const MOST_CHANGES: usize = 8;

/// Drops changes of elements that are replaced before anybody looks at them.
fn skip_replaced_elements(function: &mut Function) -> bool {
    let found = function.blocks.values().flat_map(|block| &block.insts).filter_map(change);
    let mut changes: FxHashMap<Value, Change> = found.collect();
    if changes.len() < 2 {
        return false;
    }
    let mut looks = Looks::new(function, &changes);
    // What a vector is made of, or read from, instead of another.
    let (mut begin, mut instead) = (FxHashMap::default(), FxHashMap::default());
    for block in function.blocks.values() {
        for (last, _) in block.insts.iter().filter_map(change) {
            let Change { vector, at, mut before } = changes[&last];
            let mut after = last;
            for _ in 0..MOST_CHANGES {
                let Some(earlier) = changes.get(&before).copied() else { break };
                if earlier.vector != vector || !looks.only_elsewhere(before, at[1]) {
                    break;
                }
                if earlier.at == at {
                    begin.insert(after, earlier.before);
                    instead.insert(before, earlier.before);
                    looks.hand_on(before, earlier.before);
                    changes.entry(after).and_modify(|change| change.before = earlier.before);
                } else {
                    after = before;
                }
                before = earlier.before;
            }
        }
    }
    for inst in function.blocks.values_mut().flat_map(|block| &mut block.insts) {
        match inst.op {
            Op::Element(..) => {
                while let Some(before) = instead.get(&inst.args[0]) {
                    inst.args[0] = *before;
                }
            }
            _ => {
                if let Some(before) = inst.results.first().and_then(|result| begin.get(result)) {
                    inst.args[0] = *before;
                }
            }
        }
    }
    !begin.is_empty()
}

/// Who looks at vectors that are made by changes.
struct Looks {
    uses: EntityVec<Value, u32>,
    /// The places in which each is read, where these are known.
    places: FxHashMap<Value, Vec<i64>>,
    constants: FxHashMap<Value, i64>,
}

impl Looks {
    fn new(function: &Function, changes: &FxHashMap<Value, Change>) -> Looks {
        let insts = || function.blocks.values().flat_map(|block| &block.insts);
        let constant = |inst: &Inst| match inst.op {
            Op::ConstInt(number) => Some((inst.results[0], number)),
            _ => None,
        };
        let constants: FxHashMap<Value, i64> = insts().filter_map(constant).collect();
        let mut places: FxHashMap<Value, Vec<i64>> = FxHashMap::default();
        for inst in insts().filter(|inst| matches!(inst.op, Op::Element(..)) && changes.contains_key(&inst.args[0])) {
            if let Some(place) = constants.get(&inst.args[2]) {
                places.entry(inst.args[0]).or_default().push(*place);
            }
        }
        Looks { uses: use_counts(function), places, constants }
    }

    /// Whether all but one use of a vector read it in places that are known not to be this one.
    fn only_elsewhere(&self, vector: Value, place: Value) -> bool {
        let elsewhere = match (self.constants.get(&place), self.places.get(&vector)) {
            (Some(place), Some(places)) => places.iter().filter(|other| *other != place).count(),
            _ => 0,
        };
        self.uses[vector] as usize == 1 + elsewhere
    }

    /// Lets another vector be read instead of this one; who else used this one uses the other one, too.
    fn hand_on(&mut self, from: Value, to: Value) {
        let places = self.places.remove(&from).unwrap_or_default();
        self.uses[to] = self.uses[to].saturating_add(u32::try_from(places.len()).unwrap_or(u32::MAX));
        self.places.entry(to).or_default().extend(places);
    }
}

/// How a vector is made of another by the change of an element: its kind, its length and the place.
#[derive(Clone, Copy)]
struct Change {
    vector: VectorId,
    before: Value,
    at: [Value; 2],
}

/// The vector that an instruction makes by the change of an element.
fn change(inst: &Inst) -> Option<(Value, Change)> {
    let Op::WithElement(vector) = inst.op else { return None };
    Some((inst.results[0], Change { vector, before: inst.args[0], at: [inst.args[1], inst.args[2]] }))
}

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
