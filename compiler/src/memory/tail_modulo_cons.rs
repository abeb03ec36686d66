//! Tail calls modulo constructors: SSA → SSA.
//!
//! ```text
//! fn fn1 "map"(v0: ptr) -> ptr {          fn fn1 "map"(v0: ptr) -> ptr {      fn fn2 "map"(v0: ptr, v1: int) {
//!     branch v1, b1, b2                       v1 = vacant.ptr                     branch v2, b1, b2
//! b1: v2 = immediate.sum0.0                   v2 = box.sum1.0 v1              b1: v3 = immediate.sum0.0
//!     return v2                               v3 = hole.sum1.0.0 v2               fill.ptr v1, v3
//! b2: v5 = mul v3, v3                         call fn2(v0, v3)                    return
//!     v6 = call fn1(v4)             →         v4 = field.sum1.0.0 v2          b2: v6 = mul v4, v4
//!     v7 = box.sum0.1 v5, v6                  return v4                           v7 = vacant.ptr
//!     return v7                           }                                       v8 = box.sum0.1 v6, v7
//! }                                                                               v9 = hole.sum0.1.1 v8
//!                                                                                 fill.ptr v1, v8
//!                                                                                 tail_call fn2(v5, v9)
//! ```
//!
//! A function that returns a box made of the result of a call of itself makes the box first and tells the call where to
//! put its result (Minamide, *A functional representation of data structures with a hole*, 1998). So what maps over a
//! list, appends, builds a tape or a gradient is a loop, and takes no stack however long the data are.
//!
//! Every result of the function is either returned as the call gives it, or *filled in*: then the call's own result
//! goes into exactly one field of a box made after the call (or is returned as it is), and what is returned does not
//! depend on it otherwise. The code moves into a copy that takes a hole for each result that is filled in, and becomes
//! a loop; the function itself calls it with holes in boxes that live for the call only.
//!
//! Requires that nothing but the placing of reference counts follows: boxes with holes are not immutable.
//!
//! Not done: functions that leave to others by tail calls, which would need stack then.
//!
//! Tests: `tests/opt/tail-modulo-cons/`.

use crate::opt::analysis::effects::Effects;
use crate::opt::edit::rewrite::{append, use_counts};
use crate::opt::edit::self_calls::form_loop;
use crate::ssa::ir::{
    Alternative, Block, BlockId, FuncId, Function, Inst, Op, Program, Sum, SumId, Terminator, Type, Value, Values,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// Treats every function.
pub fn run(program: &mut Program) -> bool {
    let effects = Effects::new(program);
    let mut places: FxHashMap<Type, SumId> = FxHashMap::default();
    for id in program.functions.ids() {
        if let Some(plan) = Plan::new(&program.functions[id], id, &effects) {
            let filler = program.functions.next_id();
            let mut code = plan.filler(&program.functions[id], filler);
            form_loop(&mut code, filler);
            program.functions.push(code);
            for position in plan.positions() {
                let ty = program.functions[id].results[position];
                places.entry(ty).or_insert_with(|| program.sums.push(one_place(ty)));
            }
            let wrapper = plan.wrapper(&program.functions[id], filler, &places);
            program.functions[id] = wrapper;
        }
    }
    !places.is_empty()
}

/// A box for one result.
fn one_place(ty: Type) -> Sum {
    Sum { alternatives: vec![Alternative { name: "result".into(), fields: vec![ty] }] }
}

/// What happens to a function.
struct Plan {
    id: FuncId,
    /// For each result, whether it is filled in.
    filled: Vec<bool>,
    /// The blocks that end in a call modulo constructors, in order, with the position of the call.
    calls: Vec<(BlockId, usize)>,
}

impl Plan {
    fn new(function: &Function, id: FuncId, effects: &Effects) -> Option<Plan> {
        let leaves = |block: &Block| matches!(block.terminator, Terminator::TailCall(callee, _) if callee != id);
        if !function.results.contains(&Type::Ptr) || function.blocks.values().any(leaves) {
            return None;
        }
        let uses = use_counts(function);
        let mut plan = Plan { id, filled: vec![false; function.results.len()], calls: Vec::new() };
        for (block, data) in function.blocks.iter() {
            let Some(call) = data.insts.iter().rposition(|inst| inst.op == Op::Call(id)) else { continue };
            let used_once = data.insts[call].results.iter().all(|value| uses[*value] == 1);
            if let Some(filled) = boxed(data, call, effects).filter(|_| used_once) {
                plan.calls.push((block, call));
                plan.filled.iter_mut().zip(filled).for_each(|(all, here)| *all |= here);
            }
        }
        plan.filled.contains(&true).then_some(plan)
    }

    /// The results that are filled in.
    fn positions(&self) -> impl Iterator<Item = usize> {
        (0..self.filled.len()).filter(|position| self.filled[*position])
    }

    /// The function itself: makes places for the results, lets them be filled, and takes them out.
    fn wrapper(&self, function: &Function, filler: FuncId, places: &FxHashMap<Type, SumId>) -> Function {
        let mut wrapper = Function::new(function.name.clone(), &function.param_types(), function.results.clone());
        wrapper.walk = function.walk;
        let mut insts = Vec::new();
        let mut args = wrapper.params().to_vec();
        let mut boxes = Vec::new();
        for position in self.positions() {
            let ty = function.results[position];
            let place = places[&ty];
            let mut value =
                |op: Op, args: &[Value], ty: Type| append(&mut wrapper.values, &mut insts, op, args.to_vec(), ty, None);
            let vacant = value(Op::Vacant(ty), &[], ty);
            boxes.push(value(Op::Box(place, 0), &[vacant], Type::Ptr));
            args.extend(boxes.last().map(|made| value(Op::Hole(place, 0, 0), &[*made], Type::Int)));
        }
        let results: Vec<Value> = function.results.iter().map(|ty| wrapper.values.push(*ty)).collect();
        let given = results.iter().zip(&self.filled).filter(|(_, filled)| !**filled).map(|(value, _)| *value);
        insts.push(Inst { op: Op::Call(filler), args: args.into(), results: given.collect(), span: None });
        for (position, made) in self.positions().zip(boxes) {
            let (result, place) = (results[position], places[&function.results[position]]);
            insts.push(Inst {
                op: Op::Field(place, 0, 0),
                args: smallvec![made],
                results: smallvec![result],
                span: None,
            });
        }
        let entry = &mut wrapper.blocks[Function::ENTRY];
        (entry.insts, entry.terminator) = (insts, Terminator::Return(results));
        wrapper
    }

    /// The code, which fills holes instead of returning results.
    fn filler(&self, function: &Function, filler: FuncId) -> Function {
        let mut code = function.clone();
        let mut holes: FxHashMap<usize, Value> = FxHashMap::default();
        for position in self.positions() {
            let hole = code.values.push(Type::Int);
            code.blocks[Function::ENTRY].params.push(hole);
            holes.insert(position, hole);
        }
        let mut filled = self.filled.iter();
        code.results.retain(|_| filled.next() == Some(&false));
        for (block, index) in &self.calls {
            self.call_modulo_cons(&mut code, (*block, *index), &holes, filler, &function.results);
        }
        for data in code.blocks.values_mut() {
            match &mut data.terminator {
                Terminator::Return(values) => {
                    let values = std::mem::take(values);
                    data.insts.extend(self.positions().map(|at| fill(holes[&at], values[at], function.results[at])));
                    let kept = values.iter().zip(&self.filled).filter(|(_, filled)| !**filled);
                    data.terminator = Terminator::Return(kept.map(|(value, _)| *value).collect());
                }
                Terminator::TailCall(callee, args) if *callee == self.id => {
                    *callee = filler;
                    args.extend(self.positions().map(|position| holes[&position]));
                }
                _ => {}
            }
        }
        code
    }

    /// Turns a call whose results are boxed and returned into boxes with holes and a tail call.
    fn call_modulo_cons(
        &self,
        code: &mut Function,
        (block, index): (BlockId, usize),
        holes: &FxHashMap<usize, Value>,
        filler: FuncId,
        types: &[Type],
    ) {
        let call = code.blocks[block].insts.remove(index);
        let after = code.blocks[block].insts.split_off(index);
        let mut insts = std::mem::take(&mut code.blocks[block].insts);
        let mut value = |insts: &mut Vec<Inst>, op: Op, args: Vec<Value>, ty: Type| {
            append(&mut code.values, insts, op, args, ty, None)
        };
        // Results that are not boxed here go where the caller wants them.
        let mut inner = holes.clone();
        for mut inst in after {
            let mut vacant = Vec::new();
            for (field, arg) in (0..).zip(&mut inst.args) {
                if let Some(position) = call.results.iter().position(|result| result == arg) {
                    *arg = value(&mut insts, Op::Vacant(types[position]), Vec::new(), types[position]);
                    vacant.push((position, field));
                }
            }
            let (op, made) = (inst.op, inst.results.clone());
            insts.push(inst);
            for (position, field) in vacant {
                if let Op::Box(sum, tag) = op {
                    inner.insert(position, value(&mut insts, Op::Hole(sum, tag, field), made.to_vec(), Type::Int));
                }
            }
        }
        let data = &mut code.blocks[block];
        if let Terminator::Return(values) = &data.terminator {
            let boxed = self.positions().filter(|at| values[*at] != call.results[*at]);
            insts.extend(boxed.map(|at| fill(holes[&at], values[at], types[at])));
        }
        let args = call.args.iter().copied().chain(self.positions().map(|position| inner[&position])).collect();
        (data.insts, data.terminator) = (insts, Terminator::TailCall(filler, args));
    }
}

fn fill(hole: Value, value: Value, ty: Type) -> Inst {
    Inst { op: Op::Fill(ty), args: smallvec![hole, value], results: Values::new(), span: None }
}

/// For each result of a call of the function itself, whether it goes into a box; `None` when the block does anything
/// else with results, or with the boxes that hold them, than boxing or returning them, or anything after the call that
/// cannot come before it.
fn boxed(block: &Block, index: usize, effects: &Effects) -> Option<Vec<bool>> {
    let Terminator::Return(values) = &block.terminator else { return None };
    let results = &block.insts[index].results;
    let mut in_boxes: FxHashSet<Value> = FxHashSet::default();
    // The results and all boxes that they are in, which nobody may look into before the results are there.
    let mut awaited: FxHashSet<Value> = results.iter().copied().collect();
    for inst in &block.insts[index + 1..] {
        let awaits = inst.args.iter().any(|arg| awaited.contains(arg));
        if !effects.is_movable(inst.op) || (awaits && !matches!(inst.op, Op::Box(..))) {
            return None;
        }
        in_boxes.extend(inst.args.iter().copied().filter(|arg| results.contains(arg)));
        if awaits {
            awaited.extend(&inst.results);
        }
    }
    let is_boxed = |(position, result): (usize, &Value)| {
        let returned = values[position] == *result;
        let is_filled = in_boxes.contains(result) && !results.contains(&values[position]);
        (returned || is_filled).then_some(!returned)
    };
    results.iter().enumerate().map(is_boxed).collect()
}
