//! What inner loops use of what was made before them: a function → values that get a name of their own in each such
//! loop.
//!
//! ```text
//! b1(v1: int): v2 = element.vec0.0 v8, v9, v1      block1(v1: i64, v20: i64, v21: i64):
//!              ...                              →      v2 = load.f64 (of v20 and v1)
//!              jump b1(v3)                             jump block1(v3, v20, v21)
//! ```
//!
//! Cranelift allocates a value to registers as a whole, or to memory and to a register for each use. A value that is
//! made far before a loop, with calls on the way, would be loaded in every round of it. The name that is known in the
//! loop only lives as long as the loop, and gets a register.
//!
//! Of a vector of which only elements are read or replaced, the loop needs to know where they begin. This is read
//! once, before the loop. (See [`crate::codegen::layout`].)
//!
//! Constants are made where they are used, and need no names; nor do boxes, which may be constants.

use crate::base::EntityVec;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Inst, Op, Terminator, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop with more than this would not have registers for all.
const MOST: usize = 12;

/// The inner loops of a function, by their first blocks.
#[derive(Debug)]
pub struct LoopValues {
    /// The loop that each block is part of.
    loop_of: EntityVec<BlockId, Option<BlockId>>,
    /// What each loop uses of what was made before it.
    used: FxHashMap<BlockId, Vec<Used>>,
}

/// What a loop uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Used {
    /// A value.
    Value(Value),
    /// Where the elements of a vector begin; and whether the first block of the loop reads one, so that there is a
    /// vector whenever the loop begins.
    Start(Value, bool),
}

impl Used {
    /// The value that this is, or that it is about.
    pub fn value(self) -> Value {
        match self {
            Used::Value(value) | Used::Start(value, _) => value,
        }
    }
}

/// The facts about a function that decide what is used.
pub struct Facts<'f> {
    /// The value that stands for each value.
    pub first_names: &'f EntityVec<Value, Value>,
    /// Whether an instruction needs of the vector that is its first operand only where its elements begin, if that
    /// has to be read.
    pub needs_start: &'f dyn Fn(&Inst) -> bool,
}

impl LoopValues {
    /// Finds them.
    pub fn new(function: &Function, facts: &Facts<'_>) -> LoopValues {
        let graph = Graph::new(function);
        let mut found = LoopValues { loop_of: function.blocks.same_ids(None), used: FxHashMap::default() };
        let unnamed = without_register(function);
        let headers = graph.order.iter().copied().filter(|block| graph.is_loop_header(*block));
        for header in headers.filter(|header| *header != Function::ENTRY) {
            let body = graph.loop_body(header);
            let blocks: Vec<BlockId> = graph.order.iter().copied().filter(|block| body[*block]).collect();
            if blocks.iter().any(|block| *block != header && graph.is_loop_header(*block)) {
                continue;
            }
            let used = used_from_before(function, &blocks, facts, &unnamed);
            if used.len() <= MOST {
                blocks.into_iter().for_each(|block| found.loop_of[block] = Some(header));
                found.used.insert(header, used);
            }
        }
        found
    }

    /// The inner loop that a block is part of.
    pub fn loop_of(&self, block: BlockId) -> Option<BlockId> {
        self.loop_of[block]
    }

    /// What gets a name of its own in the loop that begins with a block.
    pub fn used(&self, header: BlockId) -> &[Used] {
        self.used.get(&header).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The values that need no register: constants, and boxes, which may be constants.
fn without_register(function: &Function) -> EntityVec<Value, bool> {
    let has_no_register = |op: Op| {
        matches!(
            op,
            Op::ConstReal(_) | Op::ConstBool(_) | Op::ConstInt(_) | Op::Immediate(..) | Op::Vacant(_) | Op::Box(..)
        )
    };
    let mut found = function.values.same_ids(false);
    let insts = function.blocks.values().flat_map(|block| &block.insts).filter(|inst| has_no_register(inst.op));
    insts.flat_map(|inst| &inst.results).for_each(|value| found[*value] = true);
    found
}

/// What the instructions and conditions of some blocks use and others make, if it gets a name.
fn used_from_before(
    function: &Function,
    blocks: &[BlockId],
    facts: &Facts<'_>,
    unnamed: &EntityVec<Value, bool>,
) -> Vec<Used> {
    let mut known: FxHashSet<Value> = FxHashSet::default();
    for block in blocks.iter().map(|block| &function.blocks[*block]) {
        known.extend(block.params.iter().chain(block.insts.iter().flat_map(|inst| &inst.results)));
    }
    let (mut used, mut seen, mut is_first) = (Vec::new(), FxHashSet::default(), true);
    for block in blocks.iter().map(|block| &function.blocks[*block]) {
        let condition = match &block.terminator {
            Terminator::Branch(value, ..) | Terminator::Switch(value, _) => Some(value),
            _ => None,
        };
        is_first &= !block.insts.iter().any(|inst| matches!(inst.op, Op::Call(_)));
        let operands = block.insts.iter().flat_map(|inst| {
            let starts = usize::from((facts.needs_start)(inst));
            inst.args.iter().enumerate().map(move |(place, value)| (*value, place < starts))
        });
        for (value, is_start) in operands.chain(condition.map(|value| (*value, false))) {
            let value = facts.first_names[value];
            if !unnamed[value] && !known.contains(&value) && seen.insert((value, is_start)) {
                used.push(if is_start { Used::Start(value, is_first) } else { Used::Value(value) });
            }
        }
        is_first = false;
    }
    used
}
