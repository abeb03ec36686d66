//! A sum for each flow of data, and one sum again in the end: SSA → SSA.
//!
//! ```text
//! sum sum0 = "nil" | "pair"(f64, ptr)       sum sum0 = "nil" | "pair"(f64, ptr)
//!                                           sum sum1 = "nil" | "pair"(f64, ptr)
//! v1 = box.sum0.1 v0, v2               →    v1 = box.sum0.1 v0, v2
//! v4 = box.sum0.1 v0, v5                    v4 = box.sum1.1 v0, v5
//! ```
//!
//! All lists of reals are values of one shape, and so of one sum. What other passes learn about a sum (that nobody needs
//! a field, that a field is a constant or follows from another, that one function makes its boxes and one other reads
//! them) would have to hold for all lists of the program. So data that never meet get sums of their own (see
//! [`crate::opt::data_flow`]).
//!
//! Code that does the same to data of different sums is not the same function; so sums that are still alike in the end
//! become one again before [`crate::opt::merge_functions`] looks ([`merge`]).
//!
//! Tests: `tests/opt/split-sums/`, `tests/opt/merge-sums/`.

use crate::opt::data_flow::{Class, Classes, Place};
use crate::ssa::ir::{FuncId, Inst, Op, Program, Sum, SumId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Gives the values of each class sums of their own.
pub fn split(program: &mut Program) -> bool {
    let classes = Classes::new(program);
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

/// Makes one sum of those that are alike.
pub fn merge(program: &mut Program) -> bool {
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
