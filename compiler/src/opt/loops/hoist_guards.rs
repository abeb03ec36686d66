//! Checks whose outcome is the same in all rounds of a loop are made before it: SSA → SSA.
//!
//! ```text
//! b0: jump b1(v0)                          b0: v7 = int_lt v0, v1
//! b1(v2: int):                                 v8 = not v7
//!     v3 = int_lt v2, v1                       v9 = or v8, v4
//!     branch v3, b2, b5                →       branch v9, b6, b4
//! b2: branch v4, b3, b4                    b6: jump b1(v0)
//! b3: ...                                  b1(v2: int):
//!     jump b1(v6)                              v3 = int_lt v2, v1
//! b4: fail text0                               branch v3, b2, b5
//!                                          b2: jump b3
//! ```
//!
//! In reverse phases each round checks whether the lengths of the same two vectors agree. A loop without such a check
//! has one way out, and so can make two rounds at a time, and be computed elsewhere.
//!
//! The check must come first: between the beginning of a round and the check nothing can be seen, or fail. If the loop
//! does not begin its first round, there is no check either; so the test of the header is made once more. Checks that
//! change in the same way as that test become part of it ([`range_checks`]).
//!
//! Tests: `tests/opt/hoist-guards/`.

use crate::opt::Context;
use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::loops::{Homes, ends, homes, preheader};
use crate::opt::edit::rewrite::{append, can_move, is_constant};
use crate::opt::loops::range_checks;
use crate::opt::scalar::simplify_cfg;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Inst, Op, Target, Terminator, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Treats a function.
pub fn run(function: &mut Function, context: &Context) -> bool {
    let mut changed = false;
    while hoist(function, context.effects) | range_checks::run(function, context.effects) {
        changed = true;
    }
    changed
}

fn hoist(function: &mut Function, effects: &Effects) -> bool {
    let graph = Graph::new(function);
    let headers: Vec<BlockId> = graph.order.iter().copied().filter(|block| graph.is_loop_header(*block)).collect();
    let before: Vec<BlockId> = headers.iter().map(|header| preheader(function, &graph, *header)).collect();
    let mut changed = false;
    let mut facts = (Graph::new(function), homes(function));
    // The blocks before loops that have got checks since then: nothing that is asked of loops around others is true any
    // more.
    let mut moved: Vec<BlockId> = Vec::new();
    // From the inside out: a check that has left a loop may leave the next one.
    for (header, mut before) in headers.into_iter().zip(before).rev() {
        let mut body = facts.0.loop_body(header);
        if moved.iter().any(|block| body[*block]) {
            facts = (Graph::new(function), homes(function));
            body = facts.0.loop_body(header);
            moved.clear();
        }
        let members: FxHashSet<BlockId> = body.iter().filter(|(_, is_inside)| **is_inside).map(|(id, _)| id).collect();
        let first = before;
        while let Some(check) = find(function, effects, &facts, header, (before, &members)) {
            before = check.apply(function, header, before);
        }
        if before != first {
            moved.push(first);
            changed = true;
        }
    }
    // Blocks before loops where nothing has moved go again.
    simplify_cfg::simplify(function);
    changed
}

/// A check to be made before its loop.
struct Check {
    block: BlockId,
    condition: Value,
    /// Where the loop goes on, and where it fails.
    onward: Target,
    failure: Target,
    /// Whether the condition has to be true.
    wants: bool,
    /// What computes the header's test for the first round, in terms of values before the loop.
    test: Vec<Inst>,
    /// The header's test, and what it has to be for a round to begin.
    begins: Value,
    begins_if: bool,
}

/// The first check of a round: nothing can be seen, or fail, between the beginning of the round and it.
pub(super) struct First<'f> {
    /// The header's test, and what it has to be for a round to begin.
    pub(super) begins: Value,
    pub(super) begins_if: bool,
    /// The blocks behind the header up to the check, which ends the last of them. Each follows the one before only.
    pub(super) blocks: Vec<BlockId>,
    pub(super) condition: Value,
    /// Where the loop goes on, and where it fails.
    pub(super) onward: &'f Target,
    pub(super) failure: &'f Target,
    /// Whether the condition has to be true.
    pub(super) wants: bool,
}

/// The first check of a round of the loop with that header and those blocks.
pub(super) fn first_check<'f>(
    function: &'f Function,
    effects: &Effects,
    graph: &Graph,
    header: BlockId,
    body: &FxHashSet<BlockId>,
) -> Option<First<'f>> {
    let is_silent = |id: BlockId| function.blocks[id].insts.iter().all(|inst| effects.is_removable(inst.op));
    let Terminator::Branch(begins, yes, no) = &function.blocks[header].terminator else { return None };
    let begins_if = body.contains(&yes.block);
    if begins_if == body.contains(&no.block) || !is_silent(header) {
        return None;
    }
    let mut block = if begins_if { yes.block } else { no.block };
    let mut blocks = Vec::new();
    loop {
        if block == header || graph.predecessors[block].len() != 1 || !is_silent(block) {
            return None;
        }
        blocks.push(block);
        match &function.blocks[block].terminator {
            Terminator::Jump(target) if body.contains(&target.block) => block = target.block,
            Terminator::Branch(condition, yes, no) => {
                let wants = body.contains(&yes.block);
                let (onward, failure) = if wants { (yes, no) } else { (no, yes) };
                let fails = ends(function, failure.block) && body.contains(&onward.block);
                let (begins, condition) = (*begins, *condition);
                return fails.then_some(First { begins, begins_if, blocks, condition, onward, failure, wants });
            }
            _ => return None,
        }
    }
}

/// The first check of a round, if it is the same in all rounds, given the block before the loop, and those of the loop.
fn find(
    function: &Function,
    effects: &Effects,
    (graph, homes): &(Graph, Homes),
    header: BlockId,
    (before, body): (BlockId, &FxHashSet<BlockId>),
) -> Option<Check> {
    let is_fixed = |value: &Value| homes.get(*value).is_some_and(|home| !body.contains(&home));
    let First { begins, begins_if, blocks, condition, onward, failure, wants } =
        first_check(function, effects, graph, header, body)?;
    let fault = &function.blocks[failure.block];
    let is_known = |value: &Value| is_fixed(value) || homes.get(*value) == Some(failure.block);
    let stays = fault.insts.iter().flat_map(|inst| &inst.args).all(is_known);
    if !is_fixed(&condition) || !failure.args.iter().all(is_fixed) || !stays {
        return None;
    }
    let test = first_test(function, header, before, begins, &is_fixed)?;
    let (block, onward, failure) = (*blocks.last()?, onward.clone(), failure.clone());
    Some(Check { block, condition, onward, failure, wants, test, begins, begins_if })
}

/// The instructions of the header that its test needs, in order. `None` if they cannot be made elsewhere.
fn first_test(
    function: &Function,
    header: BlockId,
    before: BlockId,
    test: Value,
    is_fixed: &dyn Fn(&Value) -> bool,
) -> Option<Vec<Inst>> {
    let Terminator::Jump(_) = &function.blocks[before].terminator else { return None };
    let data = &function.blocks[header];
    let mut needed: FxHashSet<Value> = [test].into_iter().collect();
    let mut insts = Vec::new();
    for inst in data.insts.iter().rev().filter(|inst| inst.results.len() == 1) {
        if needed.contains(&inst.results[0]) {
            if !can_move(inst.op) && !is_constant(inst.op) {
                return None;
            }
            needed.extend(inst.args.iter().copied());
            insts.push(inst.clone());
        }
    }
    insts.reverse();
    let made = |value: &Value| insts.iter().any(|inst| inst.results[0] == *value);
    needed.iter().all(|value| made(value) || data.params.contains(value) || is_fixed(value)).then_some(insts)
}

impl Check {
    /// Moves the check; returns the block before the loop.
    fn apply(self, function: &mut Function, header: BlockId, before: BlockId) -> BlockId {
        function.blocks[self.block].terminator = Terminator::Jump(self.onward);
        let entry = function.blocks[before].terminator.clone();
        let mut insts = std::mem::take(&mut function.blocks[before].insts);
        let passed = entry.targets().first().map(|target| target.args.clone()).unwrap_or_default();
        let mut names: FxHashMap<Value, Value> = function.blocks[header].params.iter().copied().zip(passed).collect();
        let values = &mut function.values;
        for inst in self.test {
            let args = inst.args.iter().map(|arg| *names.get(arg).unwrap_or(arg)).collect();
            let ty = values[inst.results[0]];
            let result = append(values, &mut insts, inst.op, args, ty, None);
            names.insert(inst.results[0], result);
        }
        let mut make = |op: Op, args: Vec<Value>| append(values, &mut insts, op, args, Type::Bool, None);
        let begins = *names.get(&self.begins).unwrap_or(&self.begins);
        let does_not = if self.begins_if { make(Op::Not, vec![begins]) } else { begins };
        let holds = if self.wants { self.condition } else { make(Op::Not, vec![self.condition]) };
        let passes = make(Op::Or, vec![does_not, holds]);
        function.blocks[before].insts = insts;
        let after = function.new_block(&[]);
        function.blocks[after].terminator = entry;
        let after_target = Target { block: after, args: Vec::new() };
        function.blocks[before].terminator = Terminator::Branch(passes, after_target, self.failure);
        after
    }
}
