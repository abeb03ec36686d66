//! Loops whose tapes can be made again.

use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::loops::{Code, counter};
use crate::opt::edit::rewrite::is_constant;
use crate::ssa::ir::{Block, BlockId, FuncId, IntCompare, Op, Program, SumId, Terminator, Type, Value};
use rustc_hash::FxHashSet;

/// A tape of so many words is never long.
const FEW_WORDS: i64 = 1 << 16;

/// A loop that adds to a tape.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub header: BlockId,
    pub body: FxHashSet<BlockId>,
    /// Which parameter of the loop is the tape.
    pub position: usize,
    pub sum: SumId,
    /// The parameters of the loop that the tape depends on, besides itself.
    pub state: Vec<usize>,
    /// What is there before the loop, and the tape depends on; constants are not among them.
    pub given: Vec<Value>,
    /// What the tape depends on, it and the constants included.
    pub needed: FxHashSet<Value>,
    /// How many operations these are.
    pub size: usize,
}

/// An innermost loop that adds to a tape, of those that have not been seen yet.
pub(super) fn innermost(
    program: &Program,
    effects: &Effects,
    function: FuncId,
    seen: &mut FxHashSet<BlockId>,
    room: usize,
) -> Option<Chain> {
    let is_of_tape = |block: &Block| {
        block.insts.iter().any(|inst| matches!(inst.op, Op::Box(sum, tag) if of_tape(program, sum, tag)))
    };
    if !program.functions[function].blocks.values().any(is_of_tape) {
        return None;
    }
    let code = Code::new(&program.functions[function]);
    let headers: Vec<BlockId> = code.graph.order.iter().copied().filter(|id| code.graph.is_loop_header(*id)).collect();
    for header in headers.into_iter().rev() {
        if seen.insert(header)
            && let Some(chain) = (Search { program, effects, code: &code, header, body: code.body(header) }).chain()
            && chain.size <= room
        {
            return Some(chain);
        }
    }
    None
}

fn of_tape(program: &Program, sum: SumId, tag: u32) -> bool {
    program.sums[sum].alternatives[tag as usize].is_of_tape()
}

struct Search<'p> {
    program: &'p Program,
    effects: &'p Effects,
    code: &'p Code<'p>,
    header: BlockId,
    body: FxHashSet<BlockId>,
}

impl Search<'_> {
    fn chain(&self) -> Option<Chain> {
        let function = self.code.function;
        let params = &function.blocks[self.header].params;
        let mut found = None;
        for (position, param) in params.iter().enumerate().filter(|(_, param)| function.values[**param] == Type::Ptr) {
            if let Some((sum, tapes)) = self.tapes(*param) {
                // What reads one of two tapes would need the other's checkpoints.
                if found.replace((position, sum, tapes)).is_some() {
                    return None;
                }
            }
        }
        let (position, sum, tapes) = found?;
        if self.is_short(&tapes) {
            return None;
        }
        self.dependences(position, sum, tapes)
    }

    /// What is made of a tape in a round, by adding to it, if nothing else is done with it and something is added.
    fn tapes(&self, tape: Value) -> Option<(SumId, FxHashSet<Value>)> {
        let function = self.code.function;
        let mut tapes = FxHashSet::from_iter([tape]);
        let mut sum = None;
        let mut joins: Vec<(BlockId, usize)> = Vec::new();
        let mut waiting = vec![tape];
        while let Some(value) = waiting.pop() {
            for block in &self.body {
                let block = &function.blocks[*block];
                for inst in block.insts.iter().filter(|inst| inst.args.contains(&value)) {
                    let Op::Box(of, tag) = inst.op else { return None };
                    let is_once = inst.args.iter().filter(|arg| **arg == value).count() == 1;
                    if !is_once || *sum.get_or_insert(of) != of || !of_tape(self.program, of, tag) {
                        return None;
                    }
                    if tapes.insert(inst.results[0]) {
                        waiting.push(inst.results[0]);
                    }
                }
                for target in block.terminator.targets().into_iter().filter(|to| self.body.contains(&to.block)) {
                    for (position, _) in target.args.iter().enumerate().filter(|(_, arg)| **arg == value) {
                        let param = function.blocks[target.block].params[position];
                        if target.block == self.header && param != tape {
                            return None;
                        }
                        if tapes.insert(param) {
                            joins.push((target.block, position));
                            waiting.push(param);
                        }
                    }
                }
            }
        }
        // Other tapes may not come in.
        let header = params_position(function.blocks[self.header].params.as_slice(), tape)?;
        joins.push((self.header, header));
        let is_closed = self.body.iter().all(|block| {
            let mut targets = function.blocks[*block].terminator.targets().into_iter();
            targets.all(|to| {
                let mut here = joins.iter().filter(|(join, _)| *join == to.block);
                here.all(|(_, position)| tapes.contains(&to.args[*position]))
            })
        });
        Some((sum?, tapes)).filter(|_| is_closed)
    }

    /// Whether the loop has few rounds, each of which adds a few numbers.
    fn is_short(&self, tapes: &FxHashSet<Value>) -> bool {
        let Code { function, graph, definitions, .. } = self.code;
        let mut words = 0;
        for inst in self.body.iter().flat_map(|block| &function.blocks[*block].insts) {
            if inst.results.iter().any(|result| tapes.contains(result)) {
                let is_flat = |arg: &Value| tapes.contains(arg) || function.values[*arg] != Type::Ptr;
                if !inst.args.iter().all(is_flat) {
                    return false;
                }
                words += inst.args.len() as i64 + 1;
            }
        }
        let Terminator::Branch(condition, ..) = &function.blocks[self.header].terminator else { return false };
        let Some(test) = definitions.inst(function, *condition) else { return false };
        let bound = match test.op {
            Op::IntCompare(IntCompare::Lt | IntCompare::Below) => match self.code.op(test.args[1]) {
                Some(Op::ConstInt(bound)) => bound,
                _ => return false,
            },
            Op::IntIs(bound) => bound,
            _ => return false,
        };
        let position = params_position(&function.blocks[self.header].params, test.args[0]);
        let counts = position.and_then(|position| counter(function, graph, definitions, self.header, position));
        matches!(counts, Some(((None, first), 1)) if (0..=bound).contains(&first) && (bound - first) * words <= FEW_WORDS)
    }

    /// What the tape depends on, if it can be made again.
    fn dependences(&self, position: usize, sum: SumId, tapes: FxHashSet<Value>) -> Option<Chain> {
        let Code { function, graph, .. } = self.code;
        let mut needed = tapes.clone();
        let (mut state, mut given) = (FxHashSet::default(), FxHashSet::default());
        let mut waiting: Vec<Value> = Vec::new();
        let mut size = 0;
        for block in self.body.iter().map(|block| &function.blocks[*block]) {
            for inst in block.insts.iter().filter(|inst| inst.results.iter().any(|result| tapes.contains(result))) {
                waiting.extend(inst.args.iter().filter(|arg| !tapes.contains(arg)));
                size += 1;
            }
            let inside = block.terminator.targets().iter().filter(|to| self.body.contains(&to.block)).count();
            if let Terminator::Branch(condition, ..) | Terminator::Switch(condition, _) = &block.terminator
                && inside > 1
            {
                waiting.push(*condition);
            }
            size += 1;
        }
        while let Some(value) = waiting.pop() {
            if !needed.insert(value) {
                continue;
            }
            let home = self.code.homes.get(value)?;
            if !self.body.contains(&home) {
                if !self.code.op(value).is_some_and(is_constant) {
                    given.insert(value);
                }
                continue;
            }
            if let Some(inst) = self.code.definitions.inst(function, value) {
                let is_repeatable = match inst.op {
                    Op::Call(callee) => self.effects.of(callee).is_none() || self.effects.is_repeatable(callee),
                    Op::HeapBytes | Op::TapeMemory => true,
                    op => !op.has_effect(),
                };
                if !is_repeatable {
                    return None;
                }
                waiting.extend(&inst.args);
                size += 1;
                continue;
            }
            let at = params_position(&function.blocks[home].params, value)?;
            if home == self.header {
                state.insert(at);
            }
            let from = graph.predecessors[home].iter().filter(|from| self.body.contains(*from));
            let targets = from.flat_map(|from| function.blocks[*from].terminator.targets());
            waiting.extend(targets.filter(|to| to.block == home).map(|to| to.args[at]));
        }
        let mut state: Vec<usize> = state.into_iter().collect();
        state.sort_unstable();
        let mut given: Vec<Value> = given.into_iter().collect();
        given.sort_unstable();
        let (header, body) = (self.header, self.body.clone());
        Some(Chain { header, body, position, sum, state, given, needed, size })
    }
}

fn params_position(params: &[Value], value: Value) -> Option<usize> {
    params.iter().position(|param| *param == value)
}
