//! Reference counting: pure SSA → SSA with `retain` and `release`.
//!
//! ```text
//! fn fn1 "push"(v0: ptr, v1: f64) -> ptr, ptr {       fn fn1 "push"(v0: ptr, v1: f64) -> ptr, ptr {
//! b0:                                                 b0:
//!     v2 = box.sum0.1 v1, v0                      →       retain v0
//!     return v2, v0                                       v2 = box.sum0.1 v1, v0
//! }                                                       return v2, v0
//! ```
//!
//! The convention, which all compiled code follows:
//!
//! - A box is born with one owner and dies with its last one.
//! - `box`, `set` and `fill` take over the owners that their operands hold. A global keeps what it holds to the end.
//! - `with_element` takes over the owners of the vector and of the fields; if that was the only owner of the vector, it
//!   changes the vector in place. What it replaces loses an owner.
//! - A parameter of type `ptr` is owned or borrowed, see [`crate::memory::ownership`]. A call takes over the owners of
//!   arguments for owned parameters; a borrowed argument stays with the caller, who keeps it alive during the call.
//!   Tail calls are given borrowed arguments only where the caller has borrowed them itself.
//! - Results, and arguments of jumps to parameters that are not safe, come with an owner.
//! - Of an element that is read to be replaced next, the owner is handed on ([`crate::memory::move_elements`]).
//! - `field`, `element`, `get`, `select` and `opaque` give no owner. What they give is retained at once when it has to
//!   be owned.
//! - `retain` and `release` of an alternative without fields do nothing.
//!
//! Placement is precise (Reinking, Xie, de Moura and Leijen, *Perceus*, 2021): an owner is consumed by the last use if
//! that use consumes, otherwise released right after it, on the edge where the value dies, or where it is defined when
//! nothing uses it. It is retained right before a use that consumes while another use follows. Fields that are only
//! looked at, in the block that reads them and with no call and no change of a vector in between, borrow from their
//! box, which is then released after their last use; and so do fields that are looked at where their box is alive
//! anyway ([`super::borrowing`]). Blocks that can only end in an error release nothing.
//!
//! Destroys purity: no other pass may run after this one. Tests: `tests/opt/memory/`.

use crate::base::EntityVec;
use crate::memory::move_elements::{Facts, taken};
use crate::memory::ownership::{Modes, consumes, gives_owner, safe_values};
use crate::memory::{borrowing, early_copies};
use crate::opt::analysis::liveness::doomed_blocks;
use crate::opt::analysis::liveness::{AtEnd, live_in};
use crate::ssa::graph::{Graph, reverse_postorder};
use crate::ssa::ir::{Block, BlockId, FuncId, Function, Inst, Op, Program, Target, Terminator, Type, Value, Values};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// Places `retain` and `release` in every function.
pub fn run(program: &mut Program) -> bool {
    let modes = Modes::infer(program);
    for id in program.functions.ids() {
        let function = &mut program.functions[id];
        let plan = Plan::new(function, id, &modes);
        let changes = plan.changes(function, &modes);
        apply(function, changes);
        early_copies::run(function);
    }
    true
}

/// What is known about one function before placement.
struct Plan {
    graph: Graph,
    id: FuncId,
    /// The pointers that hold an owner.
    owned: EntityVec<Value, bool>,
    /// Alternatives without fields, which nobody owns.
    immediate: EntityVec<Value, bool>,
    /// Fields that borrow from the box they are read from: the box.
    borrowed_from: FxHashMap<Value, Value>,
    /// Elements that come with the owner that their vector had.
    taken: FxHashSet<Value>,
    doomed: EntityVec<BlockId, bool>,
    /// The owned values that something needs after the start of each block, its parameters excepted.
    live_in: EntityVec<BlockId, Vec<Value>>,
}

/// The new code of one block.
#[derive(Default)]
struct Change {
    insts: Vec<Inst>,
    /// What to do on the edge to each target.
    edges: Vec<Vec<Inst>>,
}

impl Plan {
    fn new(function: &Function, id: FuncId, modes: &Modes) -> Plan {
        let safe = safe_values(function, id, modes);
        let pointers = function.values.iter().map(|(value, ty)| *ty == Type::Ptr && !safe[value]);
        let mut owned: EntityVec<Value, bool> = pointers.collect();
        let graph = Graph::new(function);
        let mut borrowed_from = borrowed_fields(function, &graph.order, &owned, modes);
        borrowed_from.extend(borrowing::while_alive(function, &graph, &owned, modes));
        borrowed_from.keys().for_each(|value| owned[*value] = false);
        let doomed = doomed_blocks(function, &reverse_postorder(function));
        let mut immediate = function.values.same_ids(false);
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            if matches!(inst.op, Op::Immediate(..) | Op::Vacant(_)) {
                immediate[inst.results[0]] = true;
            }
        }
        let (taken_out, live) = (FxHashSet::default(), function.blocks.same_ids(Vec::new()));
        let mut plan = Plan { graph, id, owned, immediate, borrowed_from, taken: taken_out, doomed, live_in: live };
        plan.live_in = live_in(function, &plan.graph, |value| plan.owner(value));
        let lent = plan.borrowed_from.values().copied().collect();
        let facts = Facts { owned: &plan.owned, lent: &lent, live_in: &plan.live_in };
        plan.taken = taken(function, &plan.graph, &facts);
        plan
    }

    /// The owned value that has to be alive when `value` is used, if there is one.
    fn owner(&self, value: Value) -> Option<Value> {
        let mut value = value;
        while let Some(from) = self.borrowed_from.get(&value) {
            value = *from;
        }
        self.owned[value].then_some(value)
    }

    fn changes(&self, function: &Function, modes: &Modes) -> Vec<(BlockId, Change)> {
        let block = |id: &BlockId| (*id, Placer { plan: self, function, modes, block: *id, code: Vec::new() }.place());
        self.graph.order.iter().map(block).collect()
    }
}

/// The fields that need no owner of their own: they are only looked at, in the block that reads them, before the next
/// call or change of a vector, which may need the box that they would keep alive. In the order of the blocks
/// definitions come before uses.
fn borrowed_fields(
    function: &Function,
    order: &[BlockId],
    owned: &EntityVec<Value, bool>,
    modes: &Modes,
) -> FxHashMap<Value, Value> {
    let mut candidates: FxHashMap<Value, (BlockId, usize, Value)> = FxHashMap::default();
    for id in order.iter().copied() {
        let block = &function.blocks[id];
        let mut stretch = 0;
        for inst in &block.insts {
            match inst.op {
                Op::Call(_) => stretch += 1,
                op if op.changes_vector() => stretch += 1,
                Op::Field(..) | Op::Element(..) if owned[inst.results[0]] => {
                    candidates.insert(inst.results[0], (id, stretch, inst.args[0]));
                }
                _ => {}
            }
        }
    }
    for (id, block) in function.blocks.iter() {
        let mut stretch = 0;
        for inst in &block.insts {
            for (position, arg) in inst.args.iter().enumerate() {
                let same_stretch = candidates.get(arg).is_some_and(|found| (found.0, found.1) == (id, stretch));
                if !same_stretch
                    || consumes(inst, position, modes)
                    || matches!(inst.op, Op::Call(_) | Op::Select | Op::Opaque)
                {
                    candidates.remove(arg);
                }
            }
            stretch += usize::from(inst.op.changes_vector() || matches!(inst.op, Op::Call(_)));
        }
        block.terminator.for_each_value(|value| {
            candidates.remove(&value);
        });
    }
    candidates.into_iter().map(|(value, (_, _, from))| (value, from)).collect()
}

/// Rewrites one block from its end to its start.
struct Placer<'p> {
    plan: &'p Plan,
    function: &'p Function,
    modes: &'p Modes,
    block: BlockId,
    /// The new code, backwards.
    code: Vec<Inst>,
}

/// The owned values that are needed after a place of a block.
struct Live<'p> {
    /// What is needed behind the block.
    behind: AtEnd<'p>,
    /// What else is needed.
    here: FxHashSet<Value>,
    /// What the block defines.
    defined: FxHashSet<Value>,
}

impl<'p> Live<'p> {
    fn at_end(behind: AtEnd<'p>) -> Live<'p> {
        Live { behind, here: FxHashSet::default(), defined: FxHashSet::default() }
    }

    fn contains(&self, value: Value) -> bool {
        self.here.contains(&value) || !self.defined.contains(&value) && self.behind.contains(value)
    }

    /// Says whether the value was not needed before.
    fn insert(&mut self, value: Value) -> bool {
        !self.contains(value) && self.here.insert(value)
    }

    /// Says whether the value was needed.
    fn remove(&mut self, value: Value) -> bool {
        let was_needed = self.contains(value);
        self.here.remove(&value);
        self.defined.insert(value);
        was_needed
    }

    /// What not all of the targets need, in order.
    fn in_some(targets: &[&[Value]]) -> Vec<Value> {
        match targets {
            [] | [_] => Vec::new(),
            [one, other] => {
                let mut some = Vec::new();
                not_in(one, other, &mut some);
                not_in(other, one, &mut some);
                some.sort_unstable();
                some
            }
            _ => {
                let mut all = targets.concat();
                all.sort_unstable();
                let same = all.chunk_by(|a, b| a == b);
                same.filter(|values| values.len() < targets.len()).map(|values| values[0]).collect()
            }
        }
    }
}

/// Adds what is in the first row and not in the second; both are in order.
fn not_in(values: &[Value], other: &[Value], found: &mut Vec<Value>) {
    let mut rest = other.iter().peekable();
    for value in values {
        while rest.next_if(|other| *other < value).is_some() {}
        if rest.peek() != Some(&value) {
            found.push(*value);
        }
    }
}

fn counting(op: Op, value: Value) -> Inst {
    Inst { op, args: smallvec![value], results: Values::new(), span: None }
}

/// How often each value is consumed, in order of first occurrence.
fn tally(values: impl Iterator<Item = Value>) -> Vec<(Value, usize)> {
    let mut counts: Vec<(Value, usize)> = Vec::new();
    for value in values {
        match counts.iter_mut().find(|row| row.0 == value) {
            Some(row) => row.1 += 1,
            None => counts.push((value, 1)),
        }
    }
    counts
}

impl<'p> Placer<'p> {
    fn place(mut self) -> Change {
        let block = &self.function.blocks[self.block];
        let mut live = Live::at_end(AtEnd::of(block, &self.plan.live_in));
        let edges = self.terminator(&block.terminator, &mut live);
        for inst in block.insts.iter().rev() {
            self.inst(inst, &mut live);
        }
        for param in block.params.iter().rev() {
            if self.plan.owned[*param] && !live.contains(*param) && self.owns_param(*param) {
                self.release(*param);
            }
        }
        self.code.reverse();
        Change { insts: self.code, edges }
    }

    /// Parameters of the function may be borrowed; those of other blocks come with an owner.
    fn owns_param(&self, param: Value) -> bool {
        let position = self.function.params().iter().position(|value| *value == param);
        position.is_none_or(|position| self.modes.is_owned(self.plan.id, position))
    }

    fn release(&mut self, value: Value) {
        if !self.plan.doomed[self.block] {
            self.code.push(counting(Op::Release, value));
        }
    }

    fn is_pointer(&self, value: Value) -> bool {
        self.function.values[value] == Type::Ptr
    }

    /// Retains `count` times; alternatives without fields have no owners.
    fn retain(&mut self, value: Value, count: usize) {
        if !self.plan.immediate[value] {
            self.code.extend((0..count).map(|_| counting(Op::Retain, value)));
        }
    }

    fn inst(&mut self, inst: &Inst, live: &mut Live<'_>) {
        let args = || inst.args.iter().copied().enumerate().filter(|(_, value)| self.is_pointer(*value));
        let consumed = tally(args().filter(|(position, _)| consumes(inst, *position, self.modes)).map(|arg| arg.1));
        let viewed = args().filter(|(position, _)| !consumes(inst, *position, self.modes));
        let viewed: Vec<Value> =
            tally(viewed.filter_map(|arg| self.plan.owner(arg.1))).iter().map(|row| row.0).collect();
        // An argument that a call only borrows has to outlive the call.
        for value in &viewed {
            if live.insert(*value) {
                self.release(*value);
            }
        }
        for result in &inst.results {
            if self.plan.owned[*result] {
                let is_live = live.remove(*result);
                let has_owner = gives_owner(inst.op) || self.plan.taken.contains(result);
                match (has_owner, is_live) {
                    (true, false) => self.release(*result),
                    (false, true) => self.retain(*result, 1),
                    _ => {}
                }
            }
        }
        let mut inst = inst.clone();
        if let Op::Element(vector, field) = inst.op
            && self.plan.taken.contains(&inst.results[0])
        {
            inst.op = Op::TakeElement(vector, field);
        }
        self.code.push(inst);
        for (value, count) in consumed {
            let held = self.plan.owned[value] && live.insert(value);
            self.retain(value, count - usize::from(held));
        }
    }

    fn terminator(&mut self, terminator: &Terminator, live: &mut Live<'_>) -> Vec<Vec<Inst>> {
        let consumed = match terminator {
            Terminator::Return(values) => tally(values.iter().copied().filter(|value| self.is_pointer(*value))),
            Terminator::TailCall(callee, args) => {
                let owned = |(position, value): &(usize, Value)| {
                    self.is_pointer(*value) && self.modes.is_owned(*callee, *position)
                };
                tally(args.iter().copied().enumerate().filter(owned).map(|arg| arg.1))
            }
            _ => return self.edges(terminator, live),
        };
        for (value, count) in consumed {
            let held = self.plan.owned[value] && live.insert(value);
            self.retain(value, count - usize::from(held));
        }
        Vec::new()
    }

    fn edges(&mut self, terminator: &Terminator, live: &mut Live<'_>) -> Vec<Vec<Inst>> {
        let targets = terminator.targets();
        let consumed: Vec<Vec<(Value, usize)>> = targets.iter().map(|target| self.passed(target)).collect();
        // What only some of the targets need, beside what is passed to them.
        let mut here = Live::in_some(&self.needed(&targets));
        for (value, _) in consumed.iter().flatten() {
            if self.plan.owned[*value] && live.insert(*value) {
                here.push(*value);
            }
        }
        here.sort_unstable();
        let edge = |(target, passed): (&&Target, Vec<(Value, usize)>)| self.edge(target.block, passed, &here);
        targets.iter().zip(consumed).map(edge).collect()
    }

    /// What is needed at the start of each target.
    fn needed(&self, targets: &[&Target]) -> Vec<&'p [Value]> {
        let plan = self.plan;
        targets.iter().map(|target| &plan.live_in[target.block][..]).collect()
    }

    /// The values that a jump hands to parameters that own them.
    fn passed(&self, target: &Target) -> Vec<(Value, usize)> {
        let params = &self.function.blocks[target.block].params;
        let owned = target.args.iter().zip(params).filter(|(_, param)| self.plan.owned[**param]);
        tally(owned.map(|(arg, _)| *arg))
    }

    /// What happens on an edge, in order, given the values that are alive before it.
    fn edge(&self, to: BlockId, passed: Vec<(Value, usize)>, here: &[Value]) -> Vec<Inst> {
        let stays = |value: Value| self.plan.live_in[to].binary_search(&value).is_ok();
        let mut code = Vec::new();
        for (value, count) in passed.iter().filter(|row| !self.plan.immediate[row.0]) {
            let held = self.plan.owned[*value] && !stays(*value);
            code.extend((usize::from(held)..*count).map(|_| counting(Op::Retain, *value)));
        }
        let is_passed = |value: Value| passed.iter().any(|row| row.0 == value);
        for value in here {
            if !stays(*value) && !is_passed(*value) && !self.plan.doomed[to] {
                code.push(counting(Op::Release, *value));
            }
        }
        code
    }
}

/// Puts the new code in its places.
fn apply(function: &mut Function, changes: Vec<(BlockId, Change)>) {
    let mut edges_into = function.blocks.same_ids(0u32);
    for target in function.blocks.values().flat_map(|block| block.terminator.targets()) {
        edges_into[target.block] += 1;
    }
    let mut at_start: Vec<(BlockId, Vec<Inst>)> = Vec::new();
    for (id, change) in changes {
        function.blocks[id].insts = change.insts;
        let mut terminator = std::mem::replace(&mut function.blocks[id].terminator, Terminator::Unreachable);
        let is_jump = matches!(terminator, Terminator::Jump(_));
        for (target, code) in terminator.targets_mut().into_iter().zip(change.edges) {
            if code.is_empty() {
                continue;
            } else if is_jump {
                function.blocks[id].insts.extend(code);
            } else if edges_into[target.block] == 1 {
                at_start.push((target.block, code));
            } else {
                let onward = std::mem::replace(target, Target { block: function.blocks.next_id(), args: Vec::new() });
                function.blocks.push(Block { params: Vec::new(), insts: code, terminator: Terminator::Jump(onward) });
            }
        }
        function.blocks[id].terminator = terminator;
    }
    for (block, code) in at_start {
        function.blocks[block].insts.splice(0..0, code);
    }
}
