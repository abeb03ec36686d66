//! What is the same in all boxes of a tape is not read from it: SSA → SSA.
//!
//! ```text
//! b1(v3: f64, v4: ptr):                    b1(v3: f64, v4: ptr):
//!     v5 = box.sum0.1 v0, v3, v4               v5 = box.sum0.1 v0, v3, v4     (and soon without v0)
//!     ...                                →     ...
//! b2(v6: ptr):                             b2(v6: ptr):
//!     v7 = field.sum0.1.0 v6                   v8 = mul v0, v3
//!     v8 = mul v7, v3
//! ```
//!
//! The forward loop of a derivative stores what its backward loop mentions, also what does not change in the loop. Where
//! both loops are in one function, it still knows that. A field is the value that is stored there when
//!
//! - the boxes are made and read in one function and are in no place that outlives it or that another function sees (see
//!   [`crate::opt::data_flow`]),
//! - all boxes of the alternative are given the same value, and
//! - no box outlives the value: the block that defines it dominates all blocks that have a parameter for such boxes, so
//!   that a box from before the value was defined anew cannot get there. (A box that no parameter carries is used only
//!   where its definition dominates, and the value's dominates that.)
//!
//! Tests: `tests/opt/invariant-fields/`.

use crate::opt::data_flow::{Class, Classes, Field, Place};
use crate::opt::rewrite::Replacements;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, FuncId, Function, Op, Program, SumId, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// Treats the whole program.
pub fn run(program: &mut Program) -> bool {
    let classes = Classes::new(program);
    let homes = homes(&classes);
    let mut changed = false;
    for id in program.functions.ids() {
        let local: FxHashSet<SumId> =
            homes.iter().filter(|(_, home)| **home == Some(id)).map(|(sum, _)| *sum).collect();
        if !local.is_empty() {
            changed |= rewrite(&mut program.functions[id], id, &classes, &local);
        }
    }
    changed
}

/// Notes what is found for a key: `None` as soon as that is not always the same.
fn agree<K: Eq + Hash, V: PartialEq>(table: &mut FxHashMap<K, Option<V>>, key: K, found: Option<V>) {
    match table.entry(key) {
        Entry::Vacant(entry) => drop(entry.insert(found)),
        Entry::Occupied(mut entry) if *entry.get() != found => drop(entry.insert(None)),
        Entry::Occupied(_) => {}
    }
}

/// For each sum the function that all its values stay in, if there is one.
fn homes(classes: &Classes) -> FxHashMap<SumId, Option<FuncId>> {
    let mut of_class: FxHashMap<Class, Option<FuncId>> = FxHashMap::default();
    for (place, class) in classes.places() {
        let here = match place {
            Place::Value(function, _) => Some(function),
            Place::Result(..) | Place::Slot(_) => None,
        };
        agree(&mut of_class, class, here);
    }
    // What is stored in vectors or in boxes of another class is where they are.
    of_class.extend(classes.in_elements().map(|inner| (inner, None)));
    of_class.extend(classes.fields().filter(|(class, _, inner)| inner != class).map(|(_, _, inner)| (inner, None)));
    let mut homes: FxHashMap<SumId, Option<FuncId>> = FxHashMap::default();
    for (class, sums) in classes.all() {
        let here = of_class.get(&class).copied().flatten();
        for sum in sums {
            agree(&mut homes, *sum, here);
        }
    }
    homes
}

/// Replaces the reads of invariant fields of sums whose values stay in the function.
fn rewrite(function: &mut Function, id: FuncId, classes: &Classes, local: &FxHashSet<SumId>) -> bool {
    // What is stored in each field, if it is always the same.
    let mut stored: FxHashMap<Field, Option<Value>> = FxHashMap::default();
    let mut defined_in: FxHashMap<Value, BlockId> = FxHashMap::default();
    let mut class_of: FxHashMap<SumId, FxHashSet<Class>> = FxHashMap::default();
    let mut carried: FxHashMap<Class, Vec<BlockId>> = FxHashMap::default();
    for (block, data) in function.blocks.iter() {
        for param in &data.params {
            defined_in.insert(*param, block);
            if let Some(class) = classes.class(Place::Value(id, *param)) {
                carried.entry(class).or_default().push(block);
            }
        }
        for inst in &data.insts {
            defined_in.extend(inst.results.iter().map(|value| (*value, block)));
            if let Op::Box(sum, tag) = inst.op
                && local.contains(&sum)
            {
                class_of.entry(sum).or_default().extend(classes.class(Place::Value(id, inst.results[0])));
                for (field, arg) in (0..).zip(&inst.args) {
                    agree(&mut stored, (sum, tag, field), Some(*arg));
                }
            }
        }
    }
    let graph = Graph::new(function);
    let strictly_below = |block: BlockId, above: BlockId| block != above && graph.dominates(above, block);
    stored.retain(|(sum, ..), value| {
        let Some(home) = value.and_then(|value| defined_in.get(&value).copied()) else { return false };
        let blocks = class_of[sum].iter().filter_map(|class| carried.get(class)).flatten();
        blocks.copied().all(|block| strictly_below(block, home))
    });
    let mut replacements = Replacements::new(function);
    for (block, data) in function.blocks.iter() {
        for inst in &data.insts {
            let Op::Field(sum, tag, field) = inst.op else { continue };
            if let Some(Some(value)) = stored.get(&(sum, tag, field))
                && strictly_below(block, defined_in[value])
            {
                let by = replacements.resolve(*value);
                if by != inst.results[0] {
                    replacements.replace(inst.results[0], by);
                }
            }
        }
    }
    replacements.apply(function)
}
