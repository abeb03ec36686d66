//! Loops that count from a number which a test has found to be an integer count from that integer.
//!
//! ```text
//!     v2 = eq v0, (real_of v1)     ; holds, as does int_below v1, v3
//!     jump b1(v0)                               →      jump b1(real_of v1)
//! ```
//!
//! So a loop from the length that a program has read down to zero counts by integers. The number may be a negative
//! zero, which the integer is not: whatever looks at the counter must not tell them apart. Comparisons do not, nor do
//! sums with another number. Below a length, reals count as integers do.

use super::bounds::equal_integers;
use crate::opt::analysis::loops::{Code, is_tested};
use crate::opt::edit::rewrite::{Definitions, append};
use crate::ssa::ir::{BlockId, Function, Inst, Op, Real2, Type, Value};
use rustc_hash::FxHashSet;

/// A number that a block passes to a loop, and the integer that it is.
struct Start {
    block: BlockId,
    header: BlockId,
    position: usize,
    integer: Value,
}

/// Passes integers to loops. True when there were some.
pub(super) fn pass_integers(function: &mut Function) -> bool {
    let starts = starts(function);
    for Start { block, header, position, integer } in &starts {
        let mut insts = std::mem::take(&mut function.blocks[*block].insts);
        let real = append(&mut function.values, &mut insts, Op::RealOf, vec![*integer], Type::F64, None);
        function.blocks[*block].insts = insts;
        let mut targets = function.blocks[*block].terminator.targets_mut();
        targets.iter_mut().filter(|target| target.block == *header).for_each(|target| target.args[*position] = real);
    }
    !starts.is_empty()
}

fn starts(function: &Function) -> Vec<Start> {
    let code = Code::new(function);
    let Code { graph, definitions, .. } = &code;
    let headers: Vec<BlockId> = graph.order.iter().copied().filter(|block| graph.is_loop_header(*block)).collect();
    let is_counted = |header: BlockId, position: usize| {
        let param = function.blocks[header].params[position];
        let mut from = graph.predecessors[header].iter().filter(|from| graph.dominates(header, **from));
        function.values[param] == Type::F64
            && from.any(|from| {
                let mut passed = function.blocks[*from].terminator.targets().into_iter();
                passed.any(|target| {
                    target.block == header
                        && (definitions.inst(function, target.args[position]))
                            .is_some_and(|inst| is_sum_with_another(function, definitions, inst, param))
                })
            })
    };
    let counted: Vec<(BlockId, usize)> = headers
        .iter()
        .flat_map(|header| (0..function.blocks[*header].params.len()).map(|position| (*header, position)))
        .filter(|(header, position)| is_counted(*header, *position))
        .collect();
    if counted.is_empty() {
        return Vec::new();
    }
    let telling = signs_tell(function, definitions);
    let equal = equal_integers(function, graph, definitions);
    let mut starts = Vec::new();
    for (header, position) in counted {
        if telling.contains(&function.blocks[header].params[position]) {
            continue;
        }
        for block in graph.predecessors[header].iter().copied().filter(|from| !graph.dominates(header, *from)) {
            let targets = function.blocks[block].terminator.targets();
            let mut passed = targets.into_iter().filter(|target| target.block == header);
            let Some(start) = passed.next().map(|target| target.args[position]) else { continue };
            if passed.all(|target| target.args[position] == start)
                && let Some(integer) =
                    equal.all_at(graph, block, start).find(|integer| is_tested(&code, block, *integer))
            {
                starts.push(Start { block, header, position, integer });
            }
        }
    }
    starts
}

/// Whether an instruction adds a number other than zero to a value.
fn is_sum_with_another(function: &Function, definitions: &Definitions, inst: &Inst, value: Value) -> bool {
    let is_other = |other: Value| match definitions.op(function, other) {
        Some(Op::ConstReal(bits)) => f64::from_bits(bits) != 0.0,
        _ => false,
    };
    match (inst.op, &inst.args[..]) {
        (Op::Real2(Real2::Add), &[x, y]) => x == value && is_other(y) || y == value && is_other(x),
        (Op::Real2(Real2::Sub), &[x, y]) => x == value && is_other(y),
        _ => false,
    }
}

/// The values whose sign may be told where they are zero.
fn signs_tell(function: &Function, definitions: &Definitions) -> FxHashSet<Value> {
    let mut telling = FxHashSet::default();
    for block in function.blocks.values() {
        for inst in &block.insts {
            let is_blind = |value: Value| match inst.op {
                Op::Compare(_) | Op::IntOf => true,
                _ => is_sum_with_another(function, definitions, inst, value),
            };
            telling.extend(inst.args.iter().copied().filter(|value| !is_blind(*value)));
        }
        block.terminator.for_each_value(|value| telling.extend([value]));
    }
    telling
}
