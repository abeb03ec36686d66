//! Alternatives that hold nothing but a box of another sum become that box: SSA → SSA.
//!
//! ```text
//! sum sum0 = "leaf"(f64) | "tape"(ptr)     sum sum0 = "leaf"(f64) | "tape"(int, ptr)
//! sum sum1 = "loop"(int, ptr)
//!
//! v2 = box.sum1.0 v0, v1              →    v2 = box.sum0.1 v0, v1
//! v3 = box.sum0.1 v2                       ...
//! ...                                      v6 = field.sum0.1.0 v4
//! v5 = field.sum0.1.0 v4
//! v6 = field.sum1.0.0 v5
//! ```
//!
//! A tape that is one of several alternatives, such as that of a recursion which ends in several ways, comes from
//! another function as a box of its own, so that it is not part of the box that says which alternative it is
//! ([`crate::opt::layout::unbox_fields`] sees boxes that are stored where they are made). But its box has room for a
//! tag, too, which nobody needs where it is the only alternative of its sum.
//!
//! Required is that wherever there are values of either sum there are no others, and that the inner sum has one
//! alternative, which has fields. One of several alternatives that hold boxes of the same sum takes them in.
//!
//! Tests: `tests/opt/flatten-sums/`.

use crate::opt::analysis::points_to::{Class, Classes};
use crate::opt::edit::rewrite;
use crate::ssa::ir::{Function, Op, Program, SumId, Type, Values};
use rustc_hash::{FxHashMap, FxHashSet};

/// An alternative: its sum and its tag.
type Alternative = (SumId, u32);

/// Treats the whole program.
pub fn run(program: &mut Program) -> bool {
    let mut changed = false;
    loop {
        let plan = plan(program);
        if plan.is_empty() {
            return changed;
        }
        for function in program.functions.values_mut() {
            rewrite(function, &plan);
        }
        for (inner, (outer, tag)) in &plan {
            let fields = std::mem::take(&mut program.sums[*inner].alternatives[0].fields);
            program.sums[*outer].alternatives[*tag as usize].fields = fields;
        }
        changed = true;
    }
}

/// By sums, the alternatives that take in their boxes. No sum is both in this plan.
fn plan(program: &Program) -> FxHashMap<SumId, Alternative> {
    let mut holding: Vec<(Alternative, SumId)> = held(program).into_iter().collect();
    holding.sort_unstable();
    let (mut plan, mut outer_sums) = (FxHashMap::default(), FxHashSet::default());
    for ((outer, tag), inner) in holding {
        if !plan.contains_key(&inner) && !plan.contains_key(&outer) && !outer_sums.contains(&inner) {
            plan.insert(inner, (outer, tag));
            outer_sums.insert(outer);
        }
    }
    plan
}

/// The alternatives whose only field is a box of a sum with one alternative, with that sum.
fn held(program: &Program) -> FxHashMap<Alternative, SumId> {
    let classes = Classes::new(program);
    let vectors = classes.vectors();
    let only = |class: Class, sums: &FxHashSet<SumId>| match sums.iter().next() {
        Some(sum) if sums.len() == 1 && !vectors.contains(&class) => Some(*sum),
        _ => None,
    };
    let sums: FxHashMap<Class, Option<SumId>> = classes.all().map(|(class, sums)| (class, only(class, sums))).collect();
    let met: FxHashSet<SumId> =
        classes.all().filter(|(class, _)| sums[class].is_none()).flat_map(|(_, sums)| sums.iter().copied()).collect();
    let holds_box = |(sum, tag): Alternative| {
        let alternatives = &program.sums[sum].alternatives;
        alternatives.len() > 1 && alternatives[tag as usize].fields == [Type::Ptr]
    };
    let is_box = |sum: SumId| match &program.sums[sum].alternatives[..] {
        [only] => !only.fields.is_empty(),
        _ => false,
    };
    let mut found: FxHashMap<Alternative, Option<SumId>> = FxHashMap::default();
    for (_, (sum, tag, _), inner) in classes.fields().filter(|(_, (sum, tag, _), _)| holds_box((*sum, *tag))) {
        let inner = sums[&inner].filter(|inner| *inner != sum && is_box(*inner) && !met.contains(inner));
        let inner = inner.filter(|_| !met.contains(&sum));
        let known = *found.entry((sum, tag)).or_insert(inner);
        if known != inner {
            found.insert((sum, tag), None);
        }
    }
    found.into_iter().filter_map(|(alternative, inner)| Some((alternative, inner?))).collect()
}

fn rewrite(function: &mut Function, plan: &FxHashMap<SumId, Alternative>) {
    let is_outer: FxHashSet<Alternative> = plan.values().copied().collect();
    rewrite::see_through(function, |sum, tag| is_outer.contains(&(sum, tag)));
    for block in function.blocks.values_mut() {
        for inst in &mut block.insts {
            match &mut inst.op {
                Op::Box(sum, tag) | Op::Field(sum, tag, _) => {
                    if let Some(taken) = plan.get(sum) {
                        (*sum, *tag) = *taken;
                    }
                }
                Op::HasTag(sum, tag) if plan.contains_key(sum) => {
                    (inst.op, inst.args) = (Op::ConstBool(*tag == 0), Values::new());
                }
                Op::Tag(sum) if plan.contains_key(sum) => (inst.op, inst.args) = (Op::ConstInt(0), Values::new()),
                _ => {}
            }
        }
    }
}
