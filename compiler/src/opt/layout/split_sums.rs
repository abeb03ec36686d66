//! A sum and a kind of vector for each flow of data, and one again in the end: SSA → SSA.
//!
//! ```text
//! sum sum0 = "nil" | "pair"(f64, ptr)       sum sum0 = "nil" | "pair"(f64, ptr)
//!                                           sum sum1 = "nil" | "pair"(f64, ptr)
//! v1 = box.sum0.1 v0, v2               →    v1 = box.sum0.1 v0, v2
//! v4 = box.sum0.1 v0, v5                    v4 = box.sum1.1 v0, v5
//! ```
//!
//! All lists of reals are values of one shape, and so of one sum. What other passes learn about a sum (that nobody
//! needs a field, that a field is a constant or follows from another, that one function makes its boxes and one other
//! reads them) would have to hold for all lists of the program. So data that never meet get sums of their own (see
//! [`crate::opt::analysis::points_to`]).
//!
//! Code that does the same to data of different sums is not the same function; so sums that are still alike in the end
//! become one again where [`crate::opt::interprocedural::merge_functions`] looks for such functions ([`merge`]).
//!
//! Tests: `tests/opt/split-sums/`; of [`merge`], `tests/opt/merge-functions/sums-*`.

use crate::base::EntityVec;
use crate::opt::analysis::points_to::{Class, Classes, Place};
use crate::ssa::ir::{FuncId, Function, Inst, Op, Program, Sum, SumId, VectorId, VectorLayout};
use rustc_hash::{FxHashMap, FxHashSet};

/// Gives the values of each class sums and kinds of vectors of their own.
pub fn run(program: &mut Program) -> bool {
    let classes = Classes::new(program);
    let of_vectors = split_vectors(program, &classes);
    split_sums(program, &classes) || of_vectors
}

fn split_sums(program: &mut Program, classes: &Classes) -> bool {
    let mut own: FxHashMap<(Class, SumId), SumId> = FxHashMap::default();
    let mut seen: FxHashSet<SumId> = FxHashSet::default();
    let mut changed = false;
    for (class, sums) in classes.all() {
        let mut sums: Vec<SumId> = sums.iter().copied().collect();
        sums.sort_unstable();
        for sum in sums {
            let fresh = if seen.insert(sum) { sum } else { program.sums.push(program.sums[sum].clone()) };
            changed |= fresh != sum;
            own.insert((class, sum), fresh);
        }
    }
    if changed {
        rename(program, |function, inst, sum| {
            let value = match inst.op {
                Op::Immediate(..) | Op::Box(..) => inst.results[0],
                _ => inst.args[0],
            };
            let class = classes.class(Place::Value(function, value));
            class.and_then(|class| own.get(&(class, sum)).copied()).unwrap_or(sum)
        });
    }
    changed
}

/// Gives the vectors of each class kinds of their own.
fn split_vectors(program: &mut Program, classes: &Classes) -> bool {
    let mut own: FxHashMap<(Class, VectorId), VectorId> = FxHashMap::default();
    let mut seen: FxHashSet<VectorId> = FxHashSet::default();
    let Program { functions, vectors, .. } = program;
    rename_vectors(functions, |function, inst, vector| {
        let value = if inst.op.makes_vectors() { inst.results[0] } else { inst.args[0] };
        let Some(class) = classes.class(Place::Value(function, value)) else { return vector };
        *own.entry((class, vector))
            .or_insert_with(|| if seen.insert(vector) { vector } else { vectors.push(vectors[vector].clone()) })
    })
}

/// Makes one sum, and one kind of vector, of those that are alike.
pub fn merge(program: &mut Program) -> bool {
    let of_vectors = merge_vectors(program);
    merge_sums(program) || of_vectors
}

fn merge_vectors(program: &mut Program) -> bool {
    let Program { functions, vectors, .. } = program;
    let mut first: FxHashMap<&VectorLayout, VectorId> = FxHashMap::default();
    let same: EntityVec<VectorId, VectorId> =
        vectors.iter().map(|(id, layout)| *first.entry(layout).or_insert(id)).collect();
    rename_vectors(functions, |_, _, vector| same[vector])
}

fn merge_sums(program: &mut Program) -> bool {
    let mut first: FxHashMap<&Sum, SumId> = FxHashMap::default();
    let mut same: FxHashMap<SumId, SumId> = FxHashMap::default();
    for (id, sum) in program.sums.iter() {
        let representative = *first.entry(sum).or_insert(id);
        if representative != id {
            same.insert(id, representative);
        }
    }
    let mut changed = false;
    rename(program, |_, _, sum| {
        let by = same.get(&sum).copied().unwrap_or(sum);
        changed |= by != sum;
        by
    });
    changed
}

/// Replaces the sum of every operation on boxed values.
fn rename(program: &mut Program, mut by: impl FnMut(FuncId, &Inst, SumId) -> SumId) {
    for id in program.functions.ids() {
        let function = &mut program.functions[id];
        for inst in function.blocks.values_mut().flat_map(|block| &mut block.insts) {
            inst.op = match inst.op {
                Op::Immediate(sum, tag) => Op::Immediate(by(id, inst, sum), tag),
                Op::Box(sum, tag) => Op::Box(by(id, inst, sum), tag),
                Op::Tag(sum) => Op::Tag(by(id, inst, sum)),
                Op::HasTag(sum, tag) => Op::HasTag(by(id, inst, sum), tag),
                Op::Field(sum, tag, field) => Op::Field(by(id, inst, sum), tag, field),
                op => op,
            };
        }
    }
}

/// Replaces the kind of vector of every operation on vectors. True when one changes.
fn rename_vectors(
    functions: &mut EntityVec<FuncId, Function>,
    mut by: impl FnMut(FuncId, &Inst, VectorId) -> VectorId,
) -> bool {
    let mut changed = false;
    for id in functions.ids() {
        for inst in functions[id].blocks.values_mut().flat_map(|block| &mut block.insts) {
            let renamed = match inst.op {
                Op::NewVector(vector) => Op::NewVector(by(id, inst, vector)),
                Op::ArgumentElements(vector) => Op::ArgumentElements(by(id, inst, vector)),
                Op::ResultElements(vector) => Op::ResultElements(by(id, inst, vector)),
                Op::Kernel(kernel, vector) => Op::Kernel(kernel, by(id, inst, vector)),
                Op::Element(vector, field) => Op::Element(by(id, inst, vector), field),
                Op::WithElement(vector) => Op::WithElement(by(id, inst, vector)),
                Op::Elements(vector, field) => Op::Elements(by(id, inst, vector), field),
                Op::WithElements(vector) => Op::WithElements(by(id, inst, vector)),
                _ => continue,
            };
            changed |= renamed != inst.op;
            inst.op = renamed;
        }
    }
    changed
}
