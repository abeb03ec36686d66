//! Loops that are one chain of blocks, and what in them counts.

use crate::opt::edit::rewrite::{Definitions, is_constant};
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Inst, Int2, Op, Terminator, Type, Value};
use rustc_hash::FxHashMap;

/// A counter changes by less in a round.
const LARGEST_STEP: i64 = 1 << 20;

/// A loop that is one chain of blocks without effects.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) header: BlockId,
    /// The blocks outside that go to the header.
    pub(super) entries: Vec<BlockId>,
    /// The parameters of the header, and what the jump back passes for them.
    pub(super) params: Vec<Value>,
    pub(super) next: Vec<Value>,
    /// The instructions of a round, in order.
    pub(super) insts: Vec<Inst>,
    /// What decides whether the loop goes on, and the outcome that lets it.
    pub(super) conditions: Vec<(Value, bool)>,
    /// For each value that is made in the loop, its position among the instructions, or, for parameters, nothing.
    positions: FxHashMap<Value, Option<usize>>,
    /// By how much integers that count change in each round.
    strides: FxHashMap<Value, i64>,
}

impl Loop {
    /// The loop with this header, if it is one chain of blocks; given which blocks before it do its rounds in lanes.
    pub(super) fn find(
        function: &Function,
        graph: &Graph,
        definitions: &Definitions,
        header: BlockId,
        is_done: impl Fn(BlockId) -> bool,
    ) -> Option<Loop> {
        let body = graph.loop_body(header);
        let entries: Vec<BlockId> = graph.predecessors[header].iter().copied().filter(|from| !body[*from]).collect();
        // What lanes have left is not worth them.
        if entries.iter().any(|block| is_done(*block)) {
            return None;
        }
        let (mut insts, mut conditions, mut count) = (Vec::new(), Vec::new(), 1);
        let mut block = header;
        let next = loop {
            insts.extend(function.blocks[block].insts.iter().cloned());
            let onward = match &function.blocks[block].terminator {
                Terminator::Jump(back) if back.block == header => break back.args.clone(),
                Terminator::Jump(onward) => onward,
                Terminator::Branch(condition, yes, no) if body[yes.block] != body[no.block] => {
                    conditions.push((*condition, body[yes.block]));
                    if body[yes.block] { yes } else { no }
                }
                _ => return None,
            };
            block = onward.block;
            let is_chain = block != header && graph.predecessors[block].len() == 1 && onward.args.is_empty();
            if !is_chain {
                return None;
            }
            count += 1;
        };
        if count != body.values().filter(|inside| **inside).count() || !insts.iter().all(|inst| is_allowed(inst.op)) {
            return None;
        }
        let params = function.blocks[header].params.clone();
        let of_insts = insts.iter().enumerate().flat_map(|(at, inst)| inst.results.iter().map(move |v| (*v, Some(at))));
        let positions = params.iter().map(|param| (*param, None)).chain(of_insts).collect();
        let strides = FxHashMap::default();
        let mut found = Loop { header, entries, params, next, insts, conditions, positions, strides };
        found.find_strides(function, definitions);
        Some(found)
    }

    /// True for what is made in the loop.
    pub(super) fn is_inside(&self, value: Value) -> bool {
        self.positions.contains_key(&value)
    }

    /// The instruction of the loop that makes a value.
    pub(super) fn inst(&self, value: Value) -> Option<&Inst> {
        Some(&self.insts[(*self.positions.get(&value)?)?])
    }

    /// The position of a parameter.
    pub(super) fn param(&self, value: Value) -> Option<usize> {
        self.params.iter().position(|param| *param == value)
    }

    /// By how much a value changes in each round; 0 for what the loop does not change, `None` for what does not count.
    pub(super) fn stride(&self, value: Value) -> Option<i64> {
        if self.is_inside(value) { self.strides.get(&value).copied() } else { Some(0) }
    }

    /// Whether a counter is a constant before the first round, and not negative.
    pub(super) fn starts_at_constant(&self, function: &Function, definitions: &Definitions, counter: Value) -> bool {
        let Some(position) = self.param(counter) else { return false };
        let entries = self.entries.iter().flat_map(|entry| function.blocks[*entry].terminator.targets());
        let starts = entries.filter(|target| target.block == self.header).map(|target| target.args[position]);
        let is_constant = |start: Value| matches!(definitions.op(function, start), Some(Op::ConstInt(0..)));
        starts.into_iter().all(is_constant)
    }

    fn find_strides(&mut self, function: &Function, definitions: &Definitions) {
        for (param, next) in self.params.iter().zip(&self.next) {
            let step = match function.values[*param] {
                _ if next == param => Some(0),
                Type::Int => self.change(function, definitions, *next, *param),
                _ => None,
            };
            self.strides.extend(step.map(|step| (*param, step)));
        }
        for inst in &self.insts {
            let [result] = inst.results[..] else { continue };
            let strides: Option<Vec<i64>> = inst.args.iter().map(|arg| self.stride(*arg)).collect();
            let stride = match (inst.op, strides.as_deref()) {
                (op, _) if is_constant(op) => Some(0),
                (Op::Int2(Int2::Add), Some([x, y])) => Some(x + y),
                (Op::Int2(Int2::Sub), Some([x, y])) => Some(x - y),
                (Op::WithElement(_), _) => None,
                (_, Some(strides)) if strides.iter().all(|stride| *stride == 0) => Some(0),
                _ => None,
            };
            self.strides.extend(stride.filter(|stride| stride.abs() <= LARGEST_STEP).map(|stride| (result, stride)));
        }
    }

    /// The constant by which a value is larger than a parameter.
    fn change(&self, function: &Function, definitions: &Definitions, value: Value, param: Value) -> Option<i64> {
        let constant = |value: Value| match definitions.op(function, value) {
            Some(Op::ConstInt(x)) if x.abs() <= LARGEST_STEP => Some(x),
            _ => None,
        };
        let inst = self.inst(value)?;
        match (inst.op, &inst.args[..]) {
            (Op::Int2(Int2::Add), [x, y]) if *x == param => constant(*y),
            (Op::Int2(Int2::Add), [x, y]) if *y == param => constant(*x),
            (Op::Int2(Int2::Sub), [x, y]) if *x == param => Some(-constant(*y)?),
            _ => None,
        }
    }
}

/// True for operations without effects that cost about the same for every round.
fn is_allowed(op: Op) -> bool {
    let is_free = op.is_logic() || is_constant(op) || matches!(op, Op::Select | Op::Real1(_) | Op::Real2(_));
    is_free || matches!(op, Op::Element(..) | Op::WithElement(_) | Op::Field(..) | Op::HasTag(..))
}
