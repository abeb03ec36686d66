//! Selection instead of branches: SSA → SSA.
//!
//! ```text
//!     branch v2, b1, b2(v1)          v4 = neg v0
//! b1:                                v5 = select.f64 v2, v4, v1
//!     v4 = neg v0               →    jump b2(v5)
//!     jump b2(v4)
//! b2(v3: f64):                   b2(v3: f64):
//! ```
//!
//! A choice between a few cheap computations, whose two sides meet at once, becomes a selection: it costs less than a
//! branch that is predicted wrongly once in a while, and leaves longer blocks. Both sides are computed then, so they
//! may hold only a few cheap operations without effects; what both compute alike counts once.
//!
//! Runs late: earlier passes learn more from branches than from selections. Pointers are not selected, since an owner
//! would have to be counted for both.
//!
//! Tests: `tests/opt/if-convert/`.

use crate::base::EntityVec;
use crate::opt::Context;
use crate::opt::scalar::simplify_cfg;
use crate::ssa::ir::{BlockId, Function, Inst, Op, Real1, Real2, Target, Terminator, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::smallvec;

/// How many operations both sides together may hold.
const MOST_INSTS: usize = 3;
/// How many values may be selected.
const MOST_VALUES: usize = 2;

/// Treats a function.
pub fn run(function: &mut Function, _: &Context) -> bool {
    let mut changed = false;
    while convert(function) {
        changed = true;
        simplify_cfg::simplify(function);
    }
    changed
}

/// Converts choices, each block at most once.
fn convert(function: &mut Function) -> bool {
    let mut edges = function.blocks.same_ids(0u32);
    for target in function.blocks.values().flat_map(|block| block.terminator.targets()) {
        edges[target.block] += 1;
    }
    let mut changed = false;
    for id in function.blocks.ids() {
        changed |= convert_block(function, id, &edges);
    }
    changed
}

/// One side of a choice: what is computed, and where control goes then.
struct Side {
    insts: Vec<Inst>,
    onward: Target,
    /// The block that holds the side, when there is one.
    block: Option<BlockId>,
}

fn convert_block(function: &mut Function, id: BlockId, edges: &EntityVec<BlockId, u32>) -> bool {
    let Terminator::Branch(condition, yes, no) = &function.blocks[id].terminator else { return false };
    let condition = *condition;
    let sides = [(yes, no), (no, yes)].map(|(target, other)| side(function, target, other, edges));
    let [Some(yes), Some(mut no)] = sides else { return false };
    no.share(&yes);
    let differ = yes.onward.args.iter().zip(&no.onward.args).filter(|(x, y)| x != y);
    let differing: Vec<Value> = differ.map(|(x, _)| *x).collect();
    let has_pointer = differing.iter().any(|value| function.values[*value] == Type::Ptr);
    let meet = yes.onward.block == no.onward.block && yes.onward.block != id;
    let is_small = yes.insts.len() + no.insts.len() <= MOST_INSTS && differing.len() <= MOST_VALUES;
    if !meet || !is_small || has_pointer || (yes.block.is_none() && no.block.is_none() && differing.is_empty()) {
        return false;
    }
    for block in [yes.block, no.block].into_iter().flatten() {
        function.blocks[block].insts.clear();
        function.blocks[block].terminator = Terminator::Unreachable;
    }
    let mut args = Vec::with_capacity(yes.onward.args.len());
    let mut insts = yes.insts;
    insts.extend(no.insts);
    for (x, y) in yes.onward.args.iter().zip(&no.onward.args) {
        if x == y {
            args.push(*x);
            continue;
        }
        let value = function.values.push(function.values[*x]);
        insts.push(Inst { op: Op::Select, args: smallvec![condition, *x, *y], results: smallvec![value], span: None });
        args.push(value);
    }
    let block = &mut function.blocks[id];
    block.insts.extend(insts);
    block.terminator = Terminator::Jump(Target { block: yes.onward.block, args });
    true
}

impl Side {
    /// Takes what the other side computes alike from there.
    fn share(&mut self, other: &Side) {
        let mut shared: FxHashMap<Value, Value> = FxHashMap::default();
        let replace = |shared: &FxHashMap<Value, Value>, value: &mut Value| {
            *value = shared.get(value).copied().unwrap_or(*value);
        };
        for mut inst in std::mem::take(&mut self.insts) {
            inst.args.iter_mut().for_each(|arg| replace(&shared, arg));
            match other.insts.iter().find(|alike| alike.op == inst.op && alike.args == inst.args) {
                Some(alike) => shared.extend(inst.results.iter().copied().zip(alike.results.iter().copied())),
                None => self.insts.push(inst),
            }
        }
        self.onward.args.iter_mut().for_each(|arg| replace(&shared, arg));
    }
}

/// The side behind `target`: a block of cheap operations that only this choice leads to, or nothing at all.
fn side(function: &Function, target: &Target, other: &Target, edges: &EntityVec<BlockId, u32>) -> Option<Side> {
    let block = &function.blocks[target.block];
    let own = edges[target.block] == 1 && block.params.is_empty() && target.block != other.block;
    match &block.terminator {
        // What is watched is computed only if it is needed.
        Terminator::Jump(onward)
            if own && block.insts.iter().all(|inst| is_cheap(inst.op) && inst.watched().is_none()) =>
        {
            Some(Side { insts: block.insts.clone(), onward: onward.clone(), block: Some(target.block) })
        }
        _ => Some(Side { insts: Vec::new(), onward: target.clone(), block: None }),
    }
}

fn is_cheap(op: Op) -> bool {
    op.is_logic()
        || matches!(
            op,
            Op::ConstReal(_)
                | Op::ConstBool(_)
                | Op::ConstInt(_)
                | Op::Real1(Real1::Neg | Real1::Abs)
                | Op::Real2(Real2::Add | Real2::Sub | Real2::Mul)
                | Op::Select
        )
}
