//! Chains that a recursion makes of what it returns are made of what it is told: the first step of [`super`].
//!
//! ```text
//! fn fn1(v0: ptr) -> ptr, ptr {            fn fn1(v0: ptr, v1: ptr) -> ptr, ptr {
//!     branch v2, b1, b2                        branch v2, b1, b2
//! b1: v3 = immediate.sum0.0                b1:
//!     return v3, v4                            return v1, v4
//! b2: v6, v7 = call fn1(v5)           →    b2: v8 = box.sum0.1 v1
//!     v8 = box.sum0.1 v6                       v6, v7 = call fn1(v5, v8)
//!     v9 = box.sum1.0 v7                       v9 = box.sum1.0 v7
//!     return v8, v9                            return v6, v9
//! }                                        }
//! ```
//!
//! A chain that holds nothing but its length is the same whichever end it grows at. So a function that returns the end
//! of a chain, or a box around what a call of itself returned, can be told the chain so far and return that. Then the
//! chain becomes a number, and if nothing else is left to do after the call, the recursion a loop.
//!
//! A result of a function is an accumulator when everything that the function returns there is the end of a chain that
//! can be a number, the box of the result of a call of itself that nothing else uses, or that result itself; calls from
//! elsewhere begin with the end.
//!
//! Tests: `tests/opt/list-lengths/accumulators-*`.

use super::Found;
use crate::opt::edit::rewrite::{Definitions, Replacements, append, use_counts};
use crate::opt::scalar::unused::clean;
use crate::ssa::ir::{BlockId, FuncId, Function, Inst, Op, Program, Terminator, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Treats every function. True when one has been told a chain.
pub(super) fn introduce(program: &mut Program, found: &Found) -> bool {
    let mut changed = false;
    for id in program.functions.ids() {
        for position in 0..program.functions[id].results.len() {
            if let Some(plan) = Plan::new(&program.functions[id], id, position, found) {
                plan.apply(program, id);
                changed = true;
            }
        }
    }
    changed
}

/// How a result of a function becomes an accumulator.
struct Plan {
    position: usize,
    /// What makes the end of a chain, and what makes it longer.
    end: Op,
    node: Op,
    /// Values that are returned as the end.
    ends: Vec<Value>,
    /// The boxes, each with the result of a call that it is made of.
    boxes: FxHashMap<Value, Value>,
    /// The results of calls of the function itself that are returned, in boxes or as they are.
    results: FxHashSet<Value>,
}

impl Plan {
    fn new(function: &Function, id: FuncId, position: usize, found: &Found) -> Option<Plan> {
        if function.results[position] != Type::Ptr {
            return None;
        }
        let uses = use_counts(function);
        let definitions = Definitions::new(function);
        let is_own = |value: Value| {
            let call = definitions.inst(function, value).filter(|inst| inst.op == Op::Call(id));
            uses[value] == 1 && call.is_some_and(|call| call.results[position] == value)
        };
        let (mut end, mut node) = (None, None);
        let (mut ends, mut boxes, mut results) = (Vec::new(), FxHashMap::default(), FxHashSet::default());
        for block in function.blocks.values() {
            match &block.terminator {
                Terminator::Return(values) => {
                    let value = values[position];
                    match definitions.inst(function, value) {
                        Some(inst) if found.is_end(inst.op) => {
                            end = Some(inst.op);
                            ends.push(value);
                        }
                        Some(inst) if found.is_node(inst.op) && uses[value] == 1 && is_own(inst.args[0]) => {
                            node = Some(inst.op);
                            boxes.insert(value, inst.args[0]);
                            results.insert(inst.args[0]);
                        }
                        Some(inst) if matches!(inst.op, Op::Call(_)) && is_own(value) => {
                            results.insert(value);
                        }
                        _ => return None,
                    }
                }
                Terminator::TailCall(callee, _) if *callee != id => return None,
                _ => {}
            }
        }
        Some(Plan { position, end: end?, node: node?, ends, boxes, results })
    }

    fn apply(&self, program: &mut Program, id: FuncId) {
        let accumulator = program.functions[id].values.push(Type::Ptr);
        program.functions[id].blocks[Function::ENTRY].params.push(accumulator);
        for caller in program.functions.ids() {
            let own = (caller == id).then_some(accumulator);
            for block in program.functions[caller].blocks.ids() {
                self.calls(&mut program.functions[caller], block, id, own);
            }
        }
        let function = &mut program.functions[id];
        let mut replacements = Replacements::new(function);
        self.boxes.iter().for_each(|(made, result)| replacements.replace(*made, *result));
        for block in function.blocks.values_mut() {
            block.insts.retain(|inst| inst.results.iter().all(|value| !self.boxes.contains_key(value)));
            if let Terminator::Return(values) = &mut block.terminator
                && self.ends.contains(&values[self.position])
            {
                values[self.position] = accumulator;
            }
        }
        replacements.apply(function);
        // Nobody returns the ends any more; they would pass for chains that never grow.
        clean(function);
    }

    /// Hands the chain so far to the calls in a block; `own` is that of the function itself.
    fn calls(&self, function: &mut Function, block: BlockId, id: FuncId, own: Option<Value>) {
        let insts = std::mem::take(&mut function.blocks[block].insts);
        let mut result = Vec::with_capacity(insts.len());
        let mut make = |insts: &mut Vec<Inst>, op: Op, args: Vec<Value>, span| {
            append(&mut function.values, insts, op, args, Type::Ptr, span)
        };
        for mut inst in insts {
            if inst.op == Op::Call(id) {
                let returned = inst.results[self.position];
                let is_boxed = self.boxes.values().any(|inner| *inner == returned);
                inst.args.push(match own {
                    Some(accumulator) if is_boxed => make(&mut result, self.node, vec![accumulator], inst.span),
                    Some(accumulator) if self.results.contains(&returned) => accumulator,
                    _ => make(&mut result, self.end, Vec::new(), inst.span),
                });
            }
            result.push(inst);
        }
        if let Terminator::TailCall(callee, args) = &mut function.blocks[block].terminator
            && *callee == id
        {
            args.push(own.unwrap_or_else(|| make(&mut result, self.end, Vec::new(), None)));
        }
        function.blocks[block].insts = result;
    }
}
