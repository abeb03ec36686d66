//! Checks of the number that ends a loop end it, too, and are made behind it: inductive range check elimination.
//!
//! ```text
//! b0: jump b1(v0)                           b0: v7 = int_lt v2, v1
//! b1(v3: int):                                  v8 = select.int v7, v2, v1
//!     v4 = int_lt v3, v1                        jump b1(v0)
//!     branch v4, b2, b5                     b1(v3: int):
//! b2: v5 = int_below v3, v2         →           v9 = int_lt v3, v8
//!     branch v5, b3, b4                         branch v9, b3, b6
//! b3: ...                                   b3: ...
//!     jump b1(int_add v3, 1)                    jump b1(int_add v3, 1)
//! b4: fail text0                            b6: v10 = int_lt v3, v1
//!                                               branch v10, b4, b5
//!                                           b4: fail text0
//! ```
//!
//! A loop over one vector that reads another asks in each round whether the other is long enough. The first round in
//! which it is not ends the program; so the loop goes no further than both bounds allow, and only then it is asked
//! which of them that was. As [`super::hoist_guards`] does for checks whose outcome never changes, this leaves one way
//! out of the loop, and whoever makes several rounds at a time has nothing to check.
//!
//! The check must come first: between the beginning of a round and the check nothing can be seen, or fail. The number
//! is the one that the header tests, or that and a constant, and not below zero: it counts upwards from where it is
//! not. In a loop that counts by ones from zero, the first place that is not in range is the length: then nothing
//! behind the loop asks how far it came, and a loop that only checks goes.
//!
//! Tests: `tests/opt/hoist-guards/`.

use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::least::Least;
use crate::opt::analysis::loops::{Bound, Code, counter, linear, preheader};
use crate::opt::edit::clone_region::{clone_inst, clone_region};
use crate::opt::edit::rewrite::append;
use crate::opt::loops::hoist_guards::first_check;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Inst, Int2, IntCompare, Op, Target, Terminator, Type, Value};
use rustc_hash::FxHashMap;

/// Treats all loops of a function, from the inside out.
pub fn run(function: &mut Function, effects: &Effects) -> bool {
    let graph = Graph::new(function);
    let mut headers: Vec<BlockId> = graph.order.iter().copied().filter(|block| graph.is_loop_header(*block)).collect();
    let mut changed = false;
    while !headers.is_empty() {
        let code = Code::new(function);
        let least = Least::new(function, &code.graph, &code.definitions);
        let Some((header, check)) = next(&code, &least, effects, &mut headers) else { break };
        let graph = code.graph;
        check.apply(function, &graph, header);
        changed = true;
    }
    changed
}

/// The next check, of the last of these loops that has one; those behind it are left out from now on.
fn next(code: &Code<'_>, least: &Least, effects: &Effects, headers: &mut Vec<BlockId>) -> Option<(BlockId, Check)> {
    while let Some(header) = headers.last().copied() {
        if let Some(check) = find(code, least, effects, header) {
            return Some((header, check));
        }
        headers.pop();
    }
    None
}

/// A check that ends a loop.
struct Check {
    block: BlockId,
    onward: Target,
    failure: Target,
    /// What is computed from the beginning of a round to the check.
    before: Vec<Inst>,
    /// What the header tests, and what that has to be less than.
    tested: Value,
    bound: Bound,
    /// What the same has to be less than to pass the check: the number, less the constant.
    length: Bound,
    offset: i64,
    /// The parameter that is as large as the length when the check fails.
    becomes_length: Option<Value>,
}

/// The first check of a round, if it can end the loop.
fn find(code: &Code<'_>, least: &Least, effects: &Effects, header: BlockId) -> Option<Check> {
    let function = code.function;
    let body = code.body(header);
    let first = first_check(function, effects, &code.graph, header, &body)?;
    let inst = |value: Value| code.definitions.inst(function, value);
    let (begins, check) = (inst(first.begins)?, inst(first.condition)?);
    let is_plain = first.blocks.iter().all(|block| function.blocks[*block].params.is_empty());
    if begins.op != Op::IntCompare(IntCompare::Lt) || !is_plain || !first.begins_if || !first.wants {
        return None;
    }
    let ([tested, end], [place, length]) = (&begins.args[..], &check.args[..]) else { return None };
    let (bound, length) = (code.bound(*end, &body)?, code.bound(*length, &body)?);
    let (Some(counted), from_tested) = linear(function, &code.definitions, *tested) else { return None };
    let (base, from_place) = linear(function, &code.definitions, *place);
    let is_in_range = match check.op {
        Op::IntCompare(IntCompare::Lt) => true,
        Op::IntCompare(IntCompare::Below) => least.of(function, &code.definitions, *place) >= 0.0,
        _ => false,
    };
    if base != Some(counted) || !is_in_range {
        return None;
    }
    let by_ones = from_place == 0 && from_tested == 0 && counts_from_zero(code, header, counted);
    let is_below = check.op == Op::IntCompare(IntCompare::Below);
    let blocks = || std::iter::once(&header).chain(&first.blocks);
    Some(Check {
        block: *first.blocks.last()?,
        onward: first.onward.clone(),
        failure: first.failure.clone(),
        before: blocks().flat_map(|block| &function.blocks[*block].insts).cloned().collect(),
        tested: *tested,
        bound,
        length,
        offset: from_tested - from_place,
        becomes_length: (by_ones && is_below).then_some(counted),
    })
}

/// Whether a parameter of a loop is zero at first, and one more in each round.
fn counts_from_zero(code: &Code<'_>, header: BlockId, param: Value) -> bool {
    let position = code.function.blocks[header].params.iter().position(|other| *other == param);
    let counter = |position| counter(code.function, &code.graph, &code.definitions, header, position);
    position.and_then(counter) == Some(((None, 0), 1))
}

impl Check {
    /// Lets the check end the loop.
    fn apply(self, function: &mut Function, graph: &Graph, header: BlockId) {
        let before = preheader(function, graph, header);
        let mut insts = std::mem::take(&mut function.blocks[before].insts);
        let values = &mut function.values;
        let mut make = |op: Op, args: Vec<Value>, ty: Type| append(values, &mut insts, op, args, ty, None);
        let (bound, length) = (self.bound.made_by(&mut make), self.length.made_by(&mut make));
        let most = match self.offset {
            0 => length,
            offset => {
                let offset = make(Op::ConstInt(offset), vec![], Type::Int);
                make(Op::Int2(Int2::Add), vec![length, offset], Type::Int)
            }
        };
        let is_less = make(Op::IntCompare(IntCompare::Lt), vec![most, bound], Type::Bool);
        let least = make(Op::Select, vec![is_less, most, bound], Type::Int);
        function.blocks[before].insts = insts;

        function.blocks[self.block].terminator = Terminator::Jump(self.onward.clone());
        let fault = self.fault(function, length);
        let behind = function.new_block(&[]);
        let begins = test(function, header, self.tested, least);
        let Terminator::Branch(condition, _, last) = &mut function.blocks[header].terminator else {
            unreachable!("the header tests whether a round begins")
        };
        *condition = begins;
        let last = std::mem::replace(last, Target { block: behind, args: Vec::new() });
        let fails = match self.becomes_length {
            Some(_) => is_less,
            None => test(function, behind, self.tested, bound),
        };
        let fault = Target { block: fault, args: Vec::new() };
        function.blocks[behind].terminator = Terminator::Branch(fails, fault, last);
    }

    /// A block behind the loop for what the failing check does.
    fn fault(&self, function: &mut Function, length: Value) -> BlockId {
        let block = function.new_block(&[]);
        let mut names: FxHashMap<Value, Value> = FxHashMap::default();
        names.extend(self.becomes_length.map(|counted| (counted, length)));
        for inst in &self.before {
            clone_inst(function, block, inst, &mut names);
        }
        let fails = self.failure.block;
        for (param, arg) in function.blocks[fails].params.iter().zip(&self.failure.args) {
            let arg = *names.get(arg).unwrap_or(arg);
            names.insert(*param, arg);
        }
        let copy = clone_region(function, &[fails], fails, &mut names)[&fails];
        function.blocks[block].terminator = Terminator::Jump(Target { block: copy, args: Vec::new() });
        block
    }
}

/// A test in a block whether an integer is less than another.
fn test(function: &mut Function, block: BlockId, less: Value, than: Value) -> Value {
    let (values, insts) = (&mut function.values, &mut function.blocks[block].insts);
    append(values, insts, Op::IntCompare(IntCompare::Lt), vec![less, than], Type::Bool, None)
}
