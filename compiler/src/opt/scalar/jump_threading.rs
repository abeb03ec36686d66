//! Jump threading: SSA → SSA.
//!
//! ```text
//! b1:                                b1:
//!     v1 = int 0                         v1 = int 0
//!     jump b3(v1, v0)                    jump b4
//! b2:                                b2:
//!     v2 = int 1                 →       v2 = int 1
//!     jump b3(v2, v9)                    jump b5
//! b3(v3: int, v4: f64):              b4:
//!     switch v3, b4, b5                  ... v0 ...
//! b4:                                b5:
//!     ... v4 ...                         ... v9 ...
//! ```
//!
//! Where a block only decides where to go, and one of its predecessors knows the answer, the predecessor goes there
//! directly, through a copy of the block's few instructions. That is how a choice that a function made and reported by
//! a tag is forgotten once the function is inlined. An answer is known from constants and boxes that a jump passes,
//! and from the outcome of choices that led to the predecessor.
//!
//! Values of the block that are used behind it have several definitions then: see [`crate::opt::edit::repair`].
//!
//! Loop headers are left alone, so loops keep one entry. The code that a run may add is bounded by the size of the
//! function, and so are the values that jumps hand on.
//!
//! Tests: `tests/opt/jump-threading/`.

use crate::opt::Context;
use crate::opt::edit::repair::{Definitions as Repaired, repair};
use crate::opt::edit::rewrite::{Definitions, clear_unreachable, size};
use crate::ssa::arithmetic;
use crate::ssa::graph::{Graph, reverse_postorder};
use crate::ssa::ir::{Block, BlockId, Function, Inst, Op, Terminator, Value};
use rustc_hash::FxHashMap;

/// Blocks with more instructions are not copied.
const MOST_INSTS: usize = 12;
/// How many choices above a predecessor are looked at.
const MOST_STEPS: usize = 8;
/// How often a function is gone through in one run.
const MOST_WAVES: usize = 4;
/// How many values jumps may hand on for each instruction. What is known on one of n edges each lets all others hand on
/// what the blocks that are gone round define: n values on n edges.
const MOST_PASSED: usize = 4;
/// So many blocks are gone round before the values that jumps hand on are counted first.
const FIRST_AT_A_TIME: usize = 32;
/// As long as that has used no more than this part of what jumps may hand on besides, twice as many blocks follow each
/// time: then three times as many are gone round as have been, for which jumps hand on nine times as much at most.
const SAFE_PART: usize = 8;

/// Treats a function.
pub fn run(function: &mut Function, _: &Context) -> bool {
    thread_function(function)
}

fn thread_function(function: &mut Function) -> bool {
    let mut budget = size(function) + 64;
    let mut changed = false;
    // What is known stays true while other edges are led elsewhere, so a whole wave is decided on one graph.
    for _ in 0..MOST_WAVES {
        let candidates: Vec<BlockId> = function.blocks.ids().filter(|id| is_candidate(function, *id)).collect();
        if candidates.is_empty() || hands_on_too_much(function) {
            break;
        }
        let decided = decide(function, &candidates, &mut budget);
        if decided.is_empty() {
            break;
        }
        // Values that go past n of them are handed on by n² jumps at most before that is noticed. A repair looks at the
        // whole function, so that there have to be few.
        let (mut rest, mut at_a_time) = (&decided[..], FIRST_AT_A_TIME);
        let before = passed(function);
        while !rest.is_empty() && !hands_on_too_much(function) {
            let (few, others) = rest.split_at(at_a_time.min(rest.len()));
            let mut repaired = Vec::new();
            for (block, edges) in few {
                thread(function, *block, edges, &mut repaired);
            }
            repair(function, &repaired);
            rest = others;
            let used = passed(function).saturating_sub(before);
            at_a_time = match used <= most_passed(function).saturating_sub(before) / SAFE_PART {
                true => 2 * at_a_time,
                false => FIRST_AT_A_TIME.max(size(function).isqrt()),
            };
        }
        let mut reachable = function.blocks.same_ids(false);
        reverse_postorder(function).into_iter().for_each(|block| reachable[block] = true);
        clear_unreachable(function, |block| reachable[block]);
        changed = true;
    }
    changed
}

/// Whether jumps hand on more values than the function's size is worth.
fn hands_on_too_much(function: &Function) -> bool {
    passed(function) > most_passed(function)
}

/// How many values jumps hand on.
fn passed(function: &Function) -> usize {
    let targets = function.blocks.values().flat_map(|block| block.terminator.targets());
    targets.map(|target| target.args.len()).sum()
}

/// How many they may.
fn most_passed(function: &Function) -> usize {
    MOST_PASSED * (size(function) + 64)
}

/// The blocks that some edges can skip, with these edges, as long as the budget lasts.
fn decide(function: &Function, candidates: &[BlockId], budget: &mut usize) -> Vec<(BlockId, Vec<(Edge, usize)>)> {
    let graph = Graph::new(function);
    let definitions = Definitions::new(function);
    let mut decided = Vec::new();
    for block in candidates {
        if !graph.is_reachable(*block) || graph.is_loop_header(*block) {
            continue;
        }
        let edges = decided_edges(function, &graph, &definitions, *block);
        let cost = edges.len() * (function.blocks[*block].insts.len() + 1);
        if !edges.is_empty() && cost <= *budget {
            *budget -= cost;
            decided.push((*block, edges));
        }
    }
    decided
}

fn is_candidate(function: &Function, id: BlockId) -> bool {
    let block = &function.blocks[id];
    let decides = matches!(block.terminator, Terminator::Branch(..) | Terminator::Switch(..));
    let is_small = block.insts.len() <= MOST_INSTS;
    id != Function::ENTRY && decides && is_small && !block.insts.iter().any(|inst| matches!(inst.op, Op::Call(_)))
}

/// An edge: the block that it comes from and its position among the targets.
type Edge = (BlockId, usize);

/// The edges into `block` for which it is known where control goes from there: the position of that target.
fn decided_edges(function: &Function, graph: &Graph, definitions: &Definitions, block: BlockId) -> Vec<(Edge, usize)> {
    let mut from = graph.predecessors[block].clone();
    from.dedup();
    let mut decided = Vec::new();
    for from in from {
        for (position, target) in function.blocks[from].terminator.targets().iter().enumerate() {
            if target.block == block {
                let edge = (from, position);
                let at = Oracle { function, graph, definitions, edge, args: &target.args, block };
                decided.extend(at.outcome().map(|outcome| (edge, outcome)));
            }
        }
    }
    decided
}

/// What is known about a value on an edge.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    Bool(bool),
    Int(i64),
    Real(f64),
    Tag(u32),
}

/// Evaluates what a block computes, as far as that is known for one edge into it.
struct Oracle<'f> {
    function: &'f Function,
    graph: &'f Graph,
    definitions: &'f Definitions,
    edge: Edge,
    /// What the edge passes.
    args: &'f [Value],
    block: BlockId,
}

impl Oracle<'_> {
    fn outcome(&self) -> Option<usize> {
        match &self.function.blocks[self.block].terminator {
            Terminator::Branch(condition, ..) => match self.know(*condition)? {
                Known::Bool(condition) => Some(usize::from(!condition)),
                _ => None,
            },
            Terminator::Switch(value, targets) => match self.know(*value)? {
                Known::Int(position) => usize::try_from(position).ok().filter(|position| *position < targets.len()),
                _ => None,
            },
            _ => None,
        }
    }

    /// What is known about a value in the block.
    fn know(&self, value: Value) -> Option<Known> {
        let block = &self.function.blocks[self.block];
        if let Some(position) = block.params.iter().position(|param| *param == value) {
            return self.before(self.args[position]);
        }
        match block.insts.iter().find(|inst| inst.results.contains(&value)) {
            Some(inst) => self.compute(inst, &|value| self.know(value)),
            None => self.before(value),
        }
    }

    /// What is known about a value at the end of the block that the edge comes from.
    fn before(&self, value: Value) -> Option<Known> {
        let inst = self.definitions.inst(self.function, value);
        let known = inst.and_then(|inst| match inst.op {
            Op::Box(_, tag) | Op::Immediate(_, tag) => Some(Known::Tag(tag)),
            Op::ConstReal(bits) => Some(Known::Real(f64::from_bits(bits))),
            Op::ConstBool(x) => Some(Known::Bool(x)),
            Op::ConstInt(x) => Some(Known::Int(x)),
            _ => None,
        });
        known.or_else(|| self.known_by_choices(value))
    }

    fn compute(&self, inst: &Inst, know: &dyn Fn(Value) -> Option<Known>) -> Option<Known> {
        let args = &inst.args;
        let known = |position: usize| know(args[position]);
        match inst.op {
            Op::ConstReal(_) | Op::ConstBool(_) | Op::ConstInt(_) | Op::Box(..) | Op::Immediate(..) => {
                self.before(inst.results[0])
            }
            Op::Not => known(0).and_then(boolean).map(|x| Known::Bool(!x)),
            Op::And | Op::Or => {
                let deciding = inst.op == Op::Or;
                match (known(0).and_then(boolean), known(1).and_then(boolean)) {
                    (Some(x), _) | (_, Some(x)) if x == deciding => Some(Known::Bool(deciding)),
                    (Some(_), Some(_)) => Some(Known::Bool(!deciding)),
                    _ => None,
                }
            }
            Op::RealIs(bits) => match known(0)? {
                Known::Real(x) => Some(Known::Bool(x.to_bits() == bits)),
                _ => None,
            },
            Op::IntIs(x) => match known(0)? {
                Known::Int(y) => Some(Known::Bool(x == y)),
                _ => None,
            },
            Op::Int2(op) => match (known(0)?, known(1)?) {
                (Known::Int(x), Known::Int(y)) => Some(Known::Int(arithmetic::int2(op, x, y))),
                _ => None,
            },
            Op::IntCompare(op) => match (known(0)?, known(1)?) {
                (Known::Int(x), Known::Int(y)) => Some(Known::Bool(arithmetic::int_compare(op, x, y))),
                _ => None,
            },
            Op::IntOf => match known(0)? {
                Known::Real(x) => Some(Known::Int(arithmetic::int_of(x))),
                _ => None,
            },
            Op::RealOf => match known(0)? {
                Known::Int(x) => arithmetic::real_of(x).map(Known::Real),
                _ => None,
            },
            Op::HasTag(_, tag) => match known(0) {
                Some(Known::Tag(found)) => Some(Known::Bool(tag == found)),
                _ => None,
            },
            Op::Tag(_) => match known(0)? {
                Known::Tag(tag) => Some(Known::Int(i64::from(tag))),
                _ => None,
            },
            Op::Compare(op) => match (known(0)?, known(1)?) {
                (Known::Real(x), Known::Real(y)) => Some(Known::Bool(arithmetic::compare(op, x, y))),
                _ => None,
            },
            Op::Select => known(if known(0).and_then(boolean)? { 1 } else { 2 }),
            _ => None,
        }
    }

    /// What the choices that led to the edge tell about a value.
    fn known_by_choices(&self, value: Value) -> Option<Known> {
        let (mut from, mut position) = self.edge;
        for _ in 0..MOST_STEPS {
            let known = match &self.function.blocks[from].terminator {
                Terminator::Branch(condition, yes, no) if yes.block != no.block => {
                    self.told_by(*condition, Known::Bool(position == 0), value)
                }
                Terminator::Switch(tag, targets) => {
                    let to = targets[position].block;
                    let mut edges = targets.iter().filter(|target| target.block == to);
                    let is_only = self.graph.only_edge(to).is_some() || edges.nth(1).is_none();
                    let outcome = i64::try_from(position).ok().map(Known::Int).filter(|_| is_only);
                    outcome.and_then(|outcome| self.told_by(*tag, outcome, value))
                }
                _ => None,
            };
            if known.is_some() {
                return known;
            }
            (from, position) = self.graph.only_edge(from)?;
        }
        None
    }

    /// What the outcome of a choice on `condition` tells about `value`.
    fn told_by(&self, condition: Value, outcome: Known, value: Value) -> Option<Known> {
        if condition == value {
            return Some(outcome);
        }
        let inst = self.definitions.inst(self.function, condition)?;
        if inst.args.first() != Some(&value) {
            return None;
        }
        match (inst.op, outcome) {
            (Op::HasTag(_, tag), Known::Bool(true)) => Some(Known::Tag(tag)),
            (Op::Tag(_), Known::Int(tag)) => u32::try_from(tag).ok().map(Known::Tag),
            (Op::IntIs(x), Known::Bool(true)) => Some(Known::Int(x)),
            (Op::Not, Known::Bool(x)) => Some(Known::Bool(!x)),
            _ => None,
        }
    }
}

fn boolean(known: Known) -> Option<bool> {
    match known {
        Known::Bool(x) => Some(x),
        _ => None,
    }
}

/// Leads edges through copies of a block to the targets that it is known to choose. Adds the block's values to those
/// that have several definitions now.
fn thread(function: &mut Function, block: BlockId, decided: &[(Edge, usize)], repaired: &mut Vec<Repaired>) {
    let original = function.blocks[block].clone();
    let defined = original.params.iter().chain(original.insts.iter().flat_map(|inst| &inst.results)).copied();
    let first = repaired.len();
    repaired.extend(defined.map(|value| Repaired { value, at_end: vec![(block, value)] }));
    for &((from, position), outcome) in decided {
        let terminator = Terminator::Jump(original.terminator.target(outcome).clone());
        let mut copy = Block { params: original.params.clone(), insts: original.insts.clone(), terminator };
        let names = rename(function, &mut copy);
        let copy = function.blocks.push(copy);
        function.blocks[from].terminator.target_mut(position).block = copy;
        for definitions in &mut repaired[first..] {
            definitions.at_end.push((copy, names[&definitions.value]));
        }
    }
}

/// Gives the values that a copied block defines new names.
fn rename(function: &mut Function, copy: &mut Block) -> FxHashMap<Value, Value> {
    let mut names: FxHashMap<Value, Value> = FxHashMap::default();
    for value in copy.params.iter_mut().chain(copy.insts.iter_mut().flat_map(|inst| &mut inst.results)) {
        let fresh = function.values.push(function.values[*value]);
        names.insert(*value, fresh);
        *value = fresh;
    }
    copy.for_each_use(|value| *value = names.get(value).copied().unwrap_or(*value));
    names
}
