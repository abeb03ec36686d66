//! Loops that count upwards instead of downwards, a part of [`crate::opt::loops::inductions`] and of
//! [`crate::opt::tape::tape_vectors`].
//!
//! ```text
//! b1(v1: int):                                     b1(v5: int):
//!     branch (int_lt 0, v1), b2, b3                    v1 = int_sub v0, v5
//! b2: v3 = int_sub v0, v1                   →          branch (int_lt v5, v0), b2, b3
//!     v4 = element.vec0.0 v2, v0, v3               b2: v4 = element.vec0.0 v2, v0, v5
//!     jump b1(int_add v1, -1)                          jump b1(int_add v5, 1)
//! ```
//!
//! Loops that read a tape go from its end to its start. In a derivative of higher order they make a tape, too. Whoever
//! reads that goes the other way again: it counts downwards, and computes how far it has come. As a loop that counts
//! upwards it can be fused with others.
//!
//! Tests: `tests/opt/inductions/`, `tests/opt/tape-vectors/`.

use crate::opt::analysis::loops::{Code, is_length, is_tested, linear, same};
use crate::opt::edit::rewrite::{Replacements, append};
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Inst, Int2, IntCompare, Op, Terminator, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// A loop that counts downwards.
struct Downward {
    header: BlockId,
    /// The block before the loop.
    before: BlockId,
    /// The blocks that go on with another round.
    inside: FxHashSet<BlockId>,
    /// Which parameter of the loop counts.
    position: usize,
    /// The loop ends when the counter, which starts there, reaches the bound.
    first: Value,
    bound: Value,
    /// Whether it starts at the number of its rounds.
    is_count: bool,
    /// The test at the head of the loop.
    condition: Value,
}

/// Lets the loop with that header count upwards if it counts downwards.
pub fn count_upwards(function: &mut Function, header: BlockId) {
    if let Some(count) = downward(&Code::new(function), header) {
        turn(function, count);
    }
}

/// Lets loops that count downwards and compute how far they have come count upwards.
pub fn count_what_is_used(function: &mut Function) -> bool {
    let mut changed = false;
    if !function.blocks.values().flat_map(|block| &block.insts).any(|inst| inst.op == Op::Int2(Int2::Sub)) {
        return false;
    }
    let graph = Graph::new(function);
    let mut headers: Vec<BlockId> = graph.order.iter().copied().filter(|id| graph.is_loop_header(*id)).collect();
    headers.sort_unstable();
    let mut seen = 0;
    loop {
        let code = Code::new(function);
        let found = headers.iter().enumerate().skip(seen).find_map(|(place, header)| {
            let count = downward(&code, *header)?;
            let come = come(&code, *header, count.first, function.blocks[*header].params[count.position]);
            (!come.is_empty()).then_some((place, count, come))
        });
        let Some((place, count, come)) = found else { break };
        seen = place + 1;
        let made = turn(function, count);
        let mut replacements = Replacements::new(function);
        for id in function.blocks.ids() {
            let mut insts = Vec::new();
            for inst in std::mem::take(&mut function.blocks[id].insts) {
                let more = inst.results.first().and_then(|result| come.get(result).copied());
                match more {
                    Some(0) => replacements.replace(inst.results[0], made),
                    Some(more) => {
                        let op = Op::ConstInt(more);
                        let more = append(&mut function.values, &mut insts, op, Vec::new(), Type::Int, None);
                        insts.push(Inst { op: Op::Int2(Int2::Add), args: smallvec![made, more], ..inst });
                    }
                    None => insts.push(inst),
                }
            }
            function.blocks[id].insts = insts;
        }
        replacements.apply(function);
        changed = true;
    }
    changed
}

/// The values of a loop that are how far its counter has come from the first one, and a number, which is given.
fn come(code: &Code<'_>, header: BlockId, first: Value, counter: Value) -> FxHashMap<Value, i64> {
    let body = code.body(header);
    let linear = |value: Value| linear(code.function, &code.definitions, value);
    let mut come: FxHashMap<Value, i64> = FxHashMap::default();
    for id in code.graph.order.iter().filter(|id| body.contains(id)) {
        for inst in code.function.blocks[*id].insts.iter().filter(|inst| matches!(inst.op, Op::Int2(_))) {
            let found = match (inst.op, &inst.args[..]) {
                (Op::Int2(Int2::Sub), [from, left]) if *from == first => match linear(*left) {
                    (Some(base), more) if base == counter => Some(-more),
                    _ => None,
                },
                _ => match linear(inst.results[0]) {
                    (Some(base), more) => come.get(&base).map(|before| before + more),
                    _ => None,
                },
            };
            come.extend(found.map(|number| (inst.results[0], number)));
        }
    }
    come
}

/// Lets a loop count upwards, from 0; returns the new counter.
fn turn(function: &mut Function, count: Downward) -> Value {
    let Downward { header, before, inside, position, first, bound, is_count, condition } = count;
    let mut insts = std::mem::take(&mut function.blocks[before].insts);
    let mut make = |op: Op, args: Vec<Value>, ty| append(&mut function.values, &mut insts, op, args, ty, None);
    let none = make(Op::ConstInt(0), Vec::new(), Type::Int);
    let rounds = if is_count {
        first
    } else {
        let runs = make(Op::IntCompare(IntCompare::Lt), vec![bound, first], Type::Bool);
        let rounds = make(Op::Int2(Int2::Sub), vec![first, bound], Type::Int);
        make(Op::Select, vec![runs, rounds, none], Type::Int)
    };
    function.blocks[before].insts = insts;
    let made = function.values.push(Type::Int);
    let counter = std::mem::replace(&mut function.blocks[header].params[position], made);
    let args = smallvec![first, made];
    let inst = Inst { op: Op::Int2(Int2::Sub), args, results: smallvec![counter], span: None };
    function.blocks[header].insts.insert(0, inst);
    for inst in function.blocks[header].insts.iter_mut().filter(|inst| inst.results[..] == [condition]) {
        inst.args = smallvec![made, rounds];
    }
    for id in inside.into_iter().chain([before]) {
        let passed = match id == before {
            true => none,
            false => {
                let mut insts = std::mem::take(&mut function.blocks[id].insts);
                let one = append(&mut function.values, &mut insts, Op::ConstInt(1), Vec::new(), Type::Int, None);
                let more = Op::Int2(Int2::Add);
                let next = append(&mut function.values, &mut insts, more, vec![made, one], Type::Int, None);
                function.blocks[id].insts = insts;
                next
            }
        };
        for target in function.blocks[id].terminator.targets_mut().into_iter().filter(|to| to.block == header) {
            target.args[position] = passed;
        }
    }
    made
}

fn downward(code: &Code<'_>, header: BlockId) -> Option<Downward> {
    let function = code.function;
    let body = code.body(header);
    let Terminator::Branch(condition, onward, out) = &function.blocks[header].terminator else { return None };
    let test = code.definitions.inst(function, *condition)?;
    let (Op::IntCompare(IntCompare::Lt), [bound, counter]) = (test.op, &test.args[..]) else { return None };
    let (bound, counter) = (*bound, *counter);
    let position = function.blocks[header].params.iter().position(|param| *param == counter)?;
    let [entries, steps] = code.passed(header, position, &body);
    let before = same(entries.iter().map(|(from, _)| *from))?;
    let first = same(entries.iter().map(|(_, value)| *value))?;
    let is_fixed = |value: Value| code.homes.get(value).is_some_and(|home| !body.contains(&home));
    let is_step = |value: Value| linear(function, &code.definitions, value) == (Some(counter), -1);
    let counts_down = steps.iter().all(|(_, value)| is_step(*value)) && is_fixed(first) && is_fixed(bound);
    let is_loop =
        body.contains(&onward.block) && !body.contains(&out.block) && code.homes.get(*condition) == Some(header);
    if !counts_down || !is_loop {
        return None;
    }
    let is_length = is_length(code, before, first, |_| false) || is_tested(code, before, first);
    let is_count = code.op(bound) == Some(Op::ConstInt(0)) && is_length;
    let inside = steps.iter().map(|(from, _)| *from).collect();
    Some(Downward { header, before, inside, position, first, bound, is_count, condition: *condition })
}
