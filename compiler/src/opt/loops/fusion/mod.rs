//! Vectors whose elements can be computed where they are read are not made: SSA → SSA.
//!
//! ```text
//! b1(v1: int, v2: ptr):                                b1(v1: int, v2: ptr):
//!     branch (int_lt v1, v0), b2, b3                       branch (int_lt v1, v0), b2, b3
//! b2: v3 = element.vec0.0 v9, v0, v1                   b2: v3 = element.vec0.0 v9, v0, v1
//!     v4 = exp v3                                          v4 = exp v3
//!     v5 = with_element.vec0 v2, v0, v1, v4                v5 = with_element.vec0 v2, v0, v1, v4
//!     jump b1(int_add v1, 1, v5)                 →         jump b1(int_add v1, 1, v5)
//! b3: jump b4(0, 0.0)                                  b3: jump b4(0, 0.0)
//! b4(v6: int, v7: f64):                                b4(v6: int, v7: f64):
//!     branch (int_lt v6, v0), b5, b6                       branch (int_lt v6, v0), b5, b6
//! b5: v8 = element.vec0.0 v2, v0, v6                   b5: v10 = element.vec0.0 v9, v0, v6
//!     jump b4(int_add v6, 1, add v7, v8)                   v8 = exp v10
//!                                                          jump b4(int_add v6, 1, add v7, v8)
//! ```
//!
//! A *filling* is a loop that writes one element of a vector in each round, each at its own place; it is complete if it
//! has written all of them in the end. Where an element of a complete filling is read, what the round of that place has
//! computed for it can be computed again, from the place and what was there before the loop. This is done
//!
//! - for all reads, if nothing else is done with the vector and there is one read that happens once for each element at
//!   most, or recomputing is about as cheap as reading: then nobody needs the vector any more, and other passes drop
//!   its writes, and the loop if it does nothing else;
//! - for any read if the elements are constants, such as the zeros that sums of sensitivities begin with.
//!
//! A complete filling that writes the elements of another vector of that length makes a copy, and the vector is as
//! good: so the sensitivity of a sum of vectors is that of each.
//!
//! Where more than a few operations make an element, inner loops among them, whole rounds may run where their elements
//! are read ([`rounds`]).
//!
//! Inside of a filling, what the vector holds at the place that is about to be written is what it held before the loop.
//! A complete filling that does not look at the vector needs no particular vector to begin with, and gets a new one if
//! it was the last to use what it began with.
//!
//! So chains of building, mapping and folding make no vector in between, and neither do their derivatives, whose loops
//! run through the places in the other direction. What is computed from vectors is recomputed only if these are read
//! and not changed elsewhere: a vector that is changed has to have one owner.
//!
//! Tests: `tests/opt/fusion/`.

mod find;
mod rounds;

use crate::opt::Context;
use crate::opt::edit::rewrite::{Replacements, append};
use crate::ssa::ir::{Block, BlockId, Function, Inst, Int2, Op, Target, Terminator, Type, Value, VectorId};
use rounds::Rounds;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// So many changes are made to one function in a run: each looks at all of it.
const MOST_CHANGES: usize = 32;

/// Treats a function.
pub fn run(function: &mut Function, context: &Context) -> bool {
    let fills = |inst: &Inst| matches!(inst.op, Op::WithElement(_));
    let mut changed = false;
    if function.blocks.values().flat_map(|block| &block.insts).any(fills) {
        for _ in 0..MOST_CHANGES {
            let Some(change) = find::change(function, context.effects) else { break };
            change.apply(function);
            changed = true;
        }
    }
    changed
}

/// How an element is computed.
#[derive(Clone, Debug)]
struct Recipe {
    /// The place in the filling, and its counter, which is so much less than the place.
    place: Value,
    counter: Value,
    offset: i64,
    /// What the round computes, in order.
    insts: Vec<Inst>,
    /// The element.
    result: Value,
}

/// A read that is replaced.
#[derive(Debug)]
struct Read {
    block: BlockId,
    index: usize,
    recipe: Recipe,
}

/// What is done to a function.
#[derive(Debug)]
enum Change {
    /// A loop runs round by round where its elements are read.
    RunRounds(Rounds),
    /// Reads compute what they would find.
    Recompute(Vec<Read>),
    /// Outside of the loop that makes it, a copy of a vector is that vector.
    Forget { copy: Value, original: Value, body: Rc<FxHashSet<BlockId>> },
    /// What goes from one block to another is a new vector.
    Begin { from: BlockId, to: BlockId, position: usize, layout: VectorId, length: Value },
}

impl Change {
    fn apply(self, function: &mut Function) {
        match self {
            Change::RunRounds(rounds) => rounds.apply(function),
            Change::Recompute(reads) => recompute(function, reads),
            Change::Forget { copy, original, body } => forget(function, copy, original, &body),
            Change::Begin { from, to, position, layout, length } => {
                begin(function, (from, to), position, Op::NewVector(layout), length);
            }
        }
    }
}

fn forget(function: &mut Function, copy: Value, original: Value, body: &FxHashSet<BlockId>) {
    let replace = |value: &mut Value| {
        if *value == copy {
            *value = original;
        }
    };
    for id in function.blocks.ids() {
        let block = &mut function.blocks[id];
        if body.contains(&id) {
            let leaving = block.terminator.targets_mut().into_iter().filter(|target| !body.contains(&target.block));
            leaving.flat_map(|target| &mut target.args).for_each(replace);
        } else {
            block.for_each_use(replace);
        }
    }
}

fn recompute(function: &mut Function, mut reads: Vec<Read>) {
    reads.sort_by_key(|read| (read.block, std::cmp::Reverse(read.index)));
    let mut replacements = Replacements::new(function);
    for read in reads {
        let mut insts = std::mem::take(&mut function.blocks[read.block].insts);
        let after = insts.split_off(read.index);
        let (old, after) = after.split_first().expect("the read is there");
        let by = read.recipe.follow(function, &mut insts, old.args[2]);
        replacements.replace(old.results[0], by);
        insts.extend_from_slice(after);
        function.blocks[read.block].insts = insts;
    }
    replacements.apply(function);
}

impl Recipe {
    /// Adds the instructions that compute the element of a place.
    fn follow(&self, function: &mut Function, insts: &mut Vec<Inst>, place: Value) -> Value {
        let mut values: FxHashMap<Value, Value> = FxHashMap::default();
        let uses = |value: Value| value == self.result || self.insts.iter().any(|inst| inst.args.contains(&value));
        if uses(self.counter) && self.counter != self.place {
            let offset = append(&mut function.values, insts, Op::ConstInt(self.offset), Vec::new(), Type::Int, None);
            let op = Op::Int2(Int2::Sub);
            let counter = append(&mut function.values, insts, op, vec![place, offset], Type::Int, None);
            values.insert(self.counter, counter);
        }
        values.insert(self.place, place);
        let renamed = |values: &FxHashMap<Value, Value>, value: Value| values.get(&value).copied().unwrap_or(value);
        for inst in &self.insts {
            let args = inst.args.iter().map(|arg| renamed(&values, *arg)).collect();
            let ty = function.values[inst.results[0]];
            let result = append(&mut function.values, insts, inst.op, args, ty, inst.span);
            values.insert(inst.results[0], result);
        }
        renamed(&values, self.result)
    }
}

/// Puts a block between two others that passes on a new vector.
fn begin(function: &mut Function, (from, to): (BlockId, BlockId), position: usize, op: Op, length: Value) {
    let targets = function.blocks[from].terminator.targets();
    let mut args = targets.iter().find(|target| target.block == to).expect("there is a way").args.clone();
    drop(targets);
    let mut insts = Vec::new();
    args[position] = append(&mut function.values, &mut insts, op, vec![length], Type::Ptr, None);
    let terminator = Terminator::Jump(Target { block: to, args });
    let between = function.blocks.push(Block { params: Vec::new(), insts, terminator });
    for target in function.blocks[from].terminator.targets_mut() {
        if target.block == to {
            *target = Target { block: between, args: Vec::new() };
        }
    }
}
