//! Large boxes are made before what they hold: the first step of [`super::schedule`].
//!
//! ```text
//! v1 = mul v0, v0                   v5 = vacant.f64
//! ...                               v4 = box.sum0.1 v5, ...
//! v4 = box.sum0.1 v1, ...     →     v1 = mul v0, v0
//!                                   v6 = hole.sum0.1.0 v4
//!                                   fill.f64 v6, v1
//!                                   ...
//! ```
//!
//! The sensitivities of many parameters are summed up in boxes of as many reals. If the box is made when all of them
//! have been computed, they are in registers and on the stack until then; a box that is there before takes each when it
//! is ready. The price is that the box cannot take the place of one that its reals were read from.
//!
//! Tests: `tests/opt/schedule/early-boxes-*`.

use crate::opt::edit::rewrite::{Definitions, is_constant};
use crate::ssa::ir::{Function, Inst, Op, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Fewer reals than this are alive at the same time without harm.
const MANY: usize = 12;

/// Makes the large boxes of a function early. True when there was one.
pub(super) fn open_large(function: &mut Function) -> bool {
    let definitions = Definitions::new(function);
    let insts = || function.blocks.values().flat_map(|block| &block.insts);
    let looks = |inst: &&Inst| matches!(inst.op, Op::Field(..));
    let looked_at: FxHashSet<Value> = insts().filter(looks).flat_map(|inst| inst.args.iter().copied()).collect();
    // A field that is vacant already is filled by somebody else.
    let stays = |op: Op| is_constant(op) || matches!(op, Op::Vacant(_));
    let is_filled =
        |value: Value| function.values[value] == Type::F64 && !definitions.op(function, value).is_some_and(stays);
    // All are found before the first is opened: definitions are looked up in the function as it was.
    let mut large: FxHashMap<Value, FxHashSet<Value>> = FxHashMap::default();
    for inst in insts() {
        let reals: FxHashSet<Value> = inst.args.iter().copied().filter(|arg| is_filled(*arg)).collect();
        if matches!(inst.op, Op::Box(..)) && reals.len() >= MANY && !looked_at.contains(&inst.results[0]) {
            large.insert(inst.results[0], reals);
        }
    }
    for block in function.blocks.ids() {
        let mut insts = std::mem::take(&mut function.blocks[block].insts);
        if insts.iter().any(|inst| inst.results.iter().any(|value| large.contains_key(value))) {
            insts = insts.into_iter().flat_map(|inst| open(function, inst, &large)).collect();
        }
        function.blocks[block].insts = insts;
    }
    !large.is_empty()
}

/// A large box with its reals vacant, and what fills them. `large` has the reals of each.
fn open(function: &mut Function, mut inst: Inst, large: &FxHashMap<Value, FxHashSet<Value>>) -> Vec<Inst> {
    let made = inst.results.first().copied();
    let (Op::Box(sum, tag), Some((made, reals))) = (inst.op, made.and_then(|made| large.get_key_value(&made))) else {
        return vec![inst];
    };
    let new = |op: Op, args: Vec<Value>, results: Vec<Value>| Inst {
        op,
        args: args.into(),
        results: results.into(),
        span: None,
    };
    let vacant = function.values.push(Type::F64);
    let mut fills = Vec::new();
    for (field, arg) in (0..).zip(&mut inst.args) {
        if reals.contains(arg) {
            let hole = function.values.push(Type::Int);
            fills.push(new(Op::Hole(sum, tag, field), vec![*made], vec![hole]));
            fills.push(new(Op::Fill(Type::F64), vec![hole, *arg], Vec::new()));
            *arg = vacant;
        }
    }
    let mut insts = vec![new(Op::Vacant(Type::F64), Vec::new(), vec![vacant]), inst];
    insts.append(&mut fills);
    insts
}
