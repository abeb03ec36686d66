//! Parameters that every caller hands over.
//!
//! ```text
//! fn fn1 "total"(v0: ptr) -> f64 {       what main calls with a list that nobody needs afterwards owns the list: it
//!     ...                                frees each box when it has read it, and a box that it makes meanwhile takes
//!     v3 = field.sum0.1.1 v0             its place, instead of main walking through the list once more
//!     v4 = call fn1(v3)
//! ```
//!
//! Input and output: modes of parameters, see [`crate::memory::ownership`]; more of them are owned in the output. What
//! reads a tape then takes it apart, and what is made of it needs no memory of its own.
//!
//! A parameter is *handed over* at a call when the caller owns the argument, needs it, and boxes that it was read from,
//! no more, and passes it once. All parameters that are handed over at every call become owned. They are the largest
//! set for which that holds: callers can hand over what they own only because it was handed over to them, as recursion
//! does. So the search begins with all parameters and drops those that do not belong, until nothing changes.

use crate::base::EntityVec;
use crate::memory::ownership::{Modes, safe_values};
use crate::opt::analysis::liveness::{AtEnd, live_in};
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, FuncId, Function, Inst, Op, Program, Terminator, Type, Value, Walk};
use rustc_hash::{FxHashMap, FxHashSet};

/// The modes when all parameters that can be handed over are owned, besides those that are in `least`.
pub fn with_all_handed_over(program: &Program, callers: &EntityVec<FuncId, Vec<FuncId>>, least: &Modes) -> Modes {
    let mut modes = least.clone();
    for (id, function) in program.functions.iter() {
        for (position, param) in function.params().iter().enumerate() {
            if function.values[*param] == Type::Ptr && !callers[id].is_empty() && function.walk != Walk::Borrowing {
                modes.set(id, position, true);
            }
        }
    }
    let lives: EntityVec<FuncId, Lives> = program.functions.values().map(Lives::new).collect();
    let mut waiting: Vec<FuncId> = program.functions.ids().collect();
    let mut queued = program.functions.same_ids(true);
    while let Some(id) = waiting.pop() {
        queued[id] = false;
        let kept = Kept { program, id, least, modes: &modes, lives: &lives[id] }.find();
        for (function, position) in kept {
            modes.set(function, position, false);
            // What the function itself passes on is less now, and what leaves to it by a tail call keeps more.
            for again in callers[function].iter().copied().chain([function]) {
                if !std::mem::replace(&mut queued[again], true) {
                    waiting.push(again);
                }
            }
        }
    }
    modes
}

/// How long the pointers of a function are needed.
struct Lives {
    live_in: EntityVec<BlockId, Vec<Value>>,
    reachable: Vec<BlockId>,
    /// For each field that is read, its box; for each element, its vector.
    boxes: FxHashMap<Value, Value>,
    immediates: FxHashSet<Value>,
}

impl Lives {
    fn new(function: &Function) -> Lives {
        let graph = Graph::new(function);
        let live_in = live_in(function, &graph, |value| (function.values[value] == Type::Ptr).then_some(value));
        let (mut boxes, mut immediates) = (FxHashMap::default(), FxHashSet::default());
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            match inst.op {
                Op::Field(..) | Op::Element(..) => drop(boxes.insert(inst.results[0], inst.args[0])),
                Op::Immediate(..) => drop(immediates.insert(inst.results[0])),
                _ => {}
            }
        }
        Lives { live_in, reachable: graph.order, boxes, immediates }
    }
}

/// The search for parameters that calls in one function do not hand over.
struct Kept<'a> {
    program: &'a Program,
    id: FuncId,
    least: &'a Modes,
    modes: &'a Modes,
    lives: &'a Lives,
}

/// What is needed behind a place of a block.
struct Needed<'a> {
    here: FxHashSet<Value>,
    at_end: AtEnd<'a>,
}

impl Kept<'_> {
    fn find(&self) -> Vec<(FuncId, usize)> {
        let function = &self.program.functions[self.id];
        let safe = safe_values(function, self.id, self.modes);
        let mut kept = Vec::new();
        for id in &self.lives.reachable {
            let block = &function.blocks[*id];
            let mut live = Needed { here: FxHashSet::default(), at_end: AtEnd::of(block, &self.lives.live_in) };
            if let Terminator::TailCall(callee, args) = &block.terminator {
                self.call(*callee, args, &live, &safe, &mut kept);
                self.tail_call(*callee, args, &safe, &mut kept);
            }
            block.terminator.for_each_value(|value| {
                live.here.insert(value);
            });
            for inst in block.insts.iter().rev() {
                let Inst { op, args, .. } = inst;
                if let Op::Call(callee) = op {
                    self.call(*callee, args, &live, &safe, &mut kept);
                }
                live.here.extend(args);
            }
        }
        kept
    }

    /// Adds the parameters that were believed to be handed over and are not.
    fn call(
        &self,
        callee: FuncId,
        args: &[Value],
        live: &Needed,
        safe: &EntityVec<Value, bool>,
        kept: &mut Vec<(FuncId, usize)>,
    ) {
        for (position, arg) in args.iter().enumerate() {
            let is_believed = self.modes.is_owned(callee, position) && !self.least.is_owned(callee, position);
            if is_believed && !self.lives.immediates.contains(arg) {
                let is_last = self.is_last(*arg, live) && args.iter().filter(|other| *other == arg).count() == 1;
                if safe[*arg] || !is_last {
                    kept.push((callee, position));
                }
            }
        }
    }

    /// Whether neither the value nor a box that it was read from is needed any more.
    fn is_last(&self, mut value: Value, live: &Needed) -> bool {
        loop {
            if live.here.contains(&value) || live.at_end.contains(value) {
                return false;
            }
            let Some(from) = self.lives.boxes.get(&value) else { return true };
            value = *from;
        }
    }

    /// After a tail call nobody is left to release an argument that the callee only borrows: then this function
    /// borrows, too.
    fn tail_call(
        &self,
        callee: FuncId,
        args: &[Value],
        safe: &EntityVec<Value, bool>,
        kept: &mut Vec<(FuncId, usize)>,
    ) {
        let function = &self.program.functions[self.id];
        let is_stuck = |(position, arg): (usize, &Value)| {
            function.values[*arg] == Type::Ptr && !safe[*arg] && !self.modes.is_owned(callee, position)
        };
        if args.iter().enumerate().any(is_stuck) {
            let believed = (0..function.params().len())
                .filter(|position| self.modes.is_owned(self.id, *position) && !self.least.is_owned(self.id, *position));
            kept.extend(believed.map(|position| (self.id, position)));
        }
    }
}
