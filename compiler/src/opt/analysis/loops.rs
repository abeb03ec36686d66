//! What passes over loops ask of a function.

use crate::base::EntityVec;
use crate::opt::edit::rewrite::{Definitions, is_constant, keep};
use crate::ssa::builder::Builder;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Inst, Int2, IntCompare, Op, Target, Terminator, Type, Value};
use rustc_hash::FxHashSet;
use std::ops::Index;

/// A function with what is known about it.
pub struct Code<'f> {
    pub function: &'f Function,
    pub graph: Graph,
    pub definitions: Definitions,
    /// The blocks of instructions and of parameters.
    pub homes: Homes,
}

/// A value that does not change in a loop.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// It is from before the loop.
    Value(Value),
    /// It is that constant.
    Constant(Op, Type),
}

impl Bound {
    /// The value, outside of the loop.
    pub fn value(self, b: &mut Builder<'_>) -> Value {
        self.made_by(|op, _, ty| b.value(op, &[], ty))
    }

    /// The value, where `make` makes instructions.
    pub fn made_by(self, make: impl FnOnce(Op, Vec<Value>, Type) -> Value) -> Value {
        match self {
            Bound::Value(value) => value,
            Bound::Constant(op, ty) => make(op, Vec::new(), ty),
        }
    }
}

impl<'f> Code<'f> {
    /// Looks at a function.
    pub fn new(function: &'f Function) -> Code<'f> {
        let (graph, definitions) = (Graph::new(function), Definitions::new(function));
        Code { function, graph, definitions, homes: homes(function) }
    }

    /// The operation that defines a value.
    pub fn op(&self, value: Value) -> Option<Op> {
        self.definitions.op(self.function, value)
    }

    /// The blocks of the loop with that header.
    pub fn body(&self, header: BlockId) -> FxHashSet<BlockId> {
        let body = self.graph.loop_body(header);
        body.iter().filter(|(_, is_inside)| **is_inside).map(|(id, _)| id).collect()
    }

    /// The loop that a value is carried by, and the position of the parameter.
    pub fn header_of(&self, value: Value) -> Option<(BlockId, usize)> {
        let header = self.homes.get(value)?;
        let position = self.function.blocks[header].params.iter().position(|param| *param == value)?;
        (self.graph.is_reachable(header) && self.graph.is_loop_header(header)).then_some((header, position))
    }

    /// The same blocks, each before those that it leads to.
    pub fn in_order(&self, body: &FxHashSet<BlockId>) -> Vec<BlockId> {
        self.graph.order.iter().copied().filter(|block| body.contains(block)).collect()
    }

    /// The number of instructions and terminators in blocks.
    pub fn size(&self, blocks: &[BlockId]) -> usize {
        blocks.iter().map(|block| self.function.blocks[*block].insts.len() + 1).sum()
    }

    /// What each round adds to the parameters of a header that are integers, where that is always the same.
    pub fn steps(&self, header: BlockId) -> Vec<Option<i64>> {
        let params = self.function.blocks[header].params.iter().enumerate();
        let step = |(position, param): (usize, &Value)| match self.function.values[*param] {
            Type::Int => counter(self.function, &self.graph, &self.definitions, header, position).map(|(_, step)| step),
            _ => None,
        };
        params.map(step).collect()
    }

    /// A value, if it does not change in a loop.
    pub fn bound(&self, value: Value, body: &FxHashSet<BlockId>) -> Option<Bound> {
        if !body.contains(&self.homes[value]) {
            return Some(Bound::Value(value));
        }
        let op = self.op(value).filter(|op| is_constant(*op))?;
        Some(Bound::Constant(op, self.function.values[value]))
    }

    /// Whether the loop is left at its header only, unless the program ends.
    pub fn is_left_at_header(&self, header: BlockId, body: &FxHashSet<BlockId>) -> bool {
        body.iter().all(|id| self.goes_on(*id, body) || *id == header && self.has_targets(header))
    }

    /// Whether a block leads to blocks of a loop only, and to errors.
    pub fn goes_on(&self, block: BlockId, body: &FxHashSet<BlockId>) -> bool {
        let targets = self.function.blocks[block].terminator.targets();
        let mut others = targets.into_iter().filter(|to| !body.contains(&to.block));
        self.has_targets(block) && others.all(|to| ends(self.function, to.block))
    }

    fn has_targets(&self, block: BlockId) -> bool {
        !matches!(self.function.blocks[block].terminator, Terminator::Return(_) | Terminator::TailCall(..))
    }

    /// The blocks of a loop from which a round comes to another one, which is not among them; the header is.
    pub fn blocks_before(&self, header: BlockId, block: BlockId) -> FxHashSet<BlockId> {
        let mut found = FxHashSet::from_iter([header]);
        let mut waiting = vec![block];
        while let Some(next) = waiting.pop() {
            let before = self.graph.predecessors[next].iter().copied();
            waiting.extend(before.filter(|from| *from != block && found.insert(*from)));
        }
        found
    }

    /// What jumps pass for a parameter: from outside the loop, and from inside it.
    pub fn passed(&self, header: BlockId, position: usize, body: &FxHashSet<BlockId>) -> [Vec<(BlockId, Value)>; 2] {
        let mut passed = [Vec::new(), Vec::new()];
        let from: FxHashSet<BlockId> = self.graph.predecessors[header].iter().copied().collect();
        for from in self.graph.order.iter().filter(|block| from.contains(*block)) {
            for target in self.function.blocks[*from].terminator.targets() {
                if target.block == header {
                    passed[usize::from(body.contains(from))].push((*from, target.args[position]));
                }
            }
        }
        passed
    }
}

/// The blocks of the definitions of all values.
#[derive(Clone, Debug)]
pub struct Homes(EntityVec<Value, Option<BlockId>>);

/// The blocks of the definitions of all values.
pub fn homes(function: &Function) -> Homes {
    let mut homes = function.values.same_ids(None);
    for (id, block) in function.blocks.iter() {
        let results = block.insts.iter().flat_map(|inst| &inst.results);
        block.params.iter().chain(results).for_each(|value| homes[*value] = Some(id));
    }
    Homes(homes)
}

impl Homes {
    /// The block of the definition of a value, if it has one and is not younger than this table.
    pub fn get(&self, value: Value) -> Option<BlockId> {
        self.0.get(value).copied().flatten()
    }
}

impl Index<Value> for Homes {
    type Output = BlockId;

    fn index(&self, value: Value) -> &BlockId {
        self.0[value].as_ref().expect("the value is defined")
    }
}

/// A block outside the loop that only goes to its header, which is made if there is none. What all ways into the loop
/// pass alike, it passes as well; the rest become its parameters.
pub fn preheader(function: &mut Function, graph: &Graph, header: BlockId) -> BlockId {
    let mut outside: Vec<BlockId> =
        graph.predecessors[header].iter().copied().filter(|from| !graph.dominates(header, *from)).collect();
    outside.sort_unstable();
    outside.dedup();
    if let [only] = outside[..]
        && matches!(function.blocks[only].terminator, Terminator::Jump(_))
    {
        return only;
    }
    let before = function.new_block(&[]);
    let terminators = outside.iter().map(|from| &function.blocks[*from].terminator);
    let targets = terminators.flat_map(Terminator::targets).filter(|target| target.block == header);
    let passed: Vec<Vec<Value>> = targets.map(|target| target.args.clone()).collect();
    let mut args = Vec::new();
    let mut differs = Vec::new();
    for (position, param) in function.blocks[header].params.clone().into_iter().enumerate() {
        let value = same(passed.iter().map(|args| args[position]));
        differs.push(value.is_none());
        args.push(value.unwrap_or_else(|| {
            let param = function.values.push(function.values[param]);
            function.blocks[before].params.push(param);
            param
        }));
    }
    function.blocks[before].terminator = Terminator::Jump(Target { block: header, args });
    for from in outside {
        for target in function.blocks[from].terminator.targets_mut() {
            if target.block == header {
                target.block = before;
                keep(&mut target.args, &differs);
            }
        }
    }
    before
}

/// Runs `each` on all tests whose outcome is known because control has come to the block from the one before; to a
/// loop, from the one before the loop, since what it has tested does not change there.
pub fn each_outcome<'f>(
    function: &'f Function,
    graph: &Graph,
    definitions: &'f Definitions,
    block: BlockId,
    each: impl FnMut(&'f Inst, bool),
) {
    let mut before = graph.predecessors[block].iter().filter(|from| !graph.dominates(block, **from));
    let (Some(&from), None) = (before.next(), before.next()) else { return };
    let Terminator::Branch(condition, yes, _) = &function.blocks[from].terminator else { return };
    each_part(function, definitions, (*condition, yes.block == block), each);
}

/// Runs `each` on all tests whose outcome follows from that of a condition.
pub fn each_part<'f>(
    function: &'f Function,
    definitions: &'f Definitions,
    condition: (Value, bool),
    mut each: impl FnMut(&'f Inst, bool),
) {
    let mut waiting = vec![condition];
    while let Some((condition, holds)) = waiting.pop() {
        let Some(inst) = definitions.inst(function, condition) else { continue };
        match (inst.op, holds) {
            (Op::And, true) | (Op::Or, false) => waiting.extend(inst.args.iter().map(|arg| (*arg, holds))),
            (Op::Not, _) => waiting.push((inst.args[0], !holds)),
            _ => each(inst, holds),
        }
    }
}

/// The one that all are.
pub fn same<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// Whether the program ends in a block.
pub fn ends(function: &Function, block: BlockId) -> bool {
    matches!(function.blocks[block].terminator, Terminator::Fail(..) | Terminator::Unreachable)
}

/// Where a parameter of a loop starts, and by how much each round changes it, if it counts.
pub fn counter(
    function: &Function,
    graph: &Graph,
    definitions: &Definitions,
    header: BlockId,
    position: usize,
) -> Option<(Linear, i64)> {
    let param = function.blocks[header].params[position];
    let (mut start, mut step) = (None, None);
    let mut from = graph.predecessors[header].clone();
    from.dedup();
    for from in from {
        let targets = function.blocks[from].terminator.targets().into_iter();
        for target in targets.filter(|target| target.block == header) {
            let passed = linear(function, definitions, target.args[position]);
            if graph.dominates(header, from) {
                let (Some(base), change) = passed else { return None };
                if base != param || *step.get_or_insert(change) != change {
                    return None;
                }
            } else if *start.get_or_insert(passed) != passed {
                return None;
            }
        }
    }
    Some((start?, step?))
}

/// An integer: the sum of one that is not known, if any, and a constant.
pub type Linear = (Option<Value>, i64);

/// What an integer is, by the operation that defines it.
pub fn linear(function: &Function, definitions: &Definitions, value: Value) -> Linear {
    let Some(inst) = definitions.inst(function, value) else { return (Some(value), 0) };
    let constant = |value: Value| match definitions.op(function, value) {
        Some(Op::ConstInt(x)) if x.unsigned_abs() < 1 << 31 => Some(x),
        _ => None,
    };
    match inst.op {
        Op::ConstInt(x) if x.unsigned_abs() < 1 << 31 => (None, x),
        Op::Int2(op @ (Int2::Add | Int2::Sub)) => match (constant(inst.args[0]), constant(inst.args[1])) {
            (Some(x), Some(y)) => (None, if op == Int2::Add { x + y } else { x - y }),
            (_, Some(x)) => (Some(inst.args[0]), if op == Int2::Add { x } else { -x }),
            (Some(x), _) if op == Int2::Add => (Some(inst.args[1]), x),
            _ => (Some(value), 0),
        },
        _ => (Some(value), 0),
    }
}

/// Whether there is a vector of that length already before a loop; those in blocks `within` count, too.
pub fn is_length(code: &Code<'_>, before: BlockId, length: Value, within: impl Fn(BlockId) -> bool) -> bool {
    code.function.blocks.iter().any(|(id, block)| {
        let comes_first = within(id) || code.graph.is_reachable(id) && code.graph.dominates(id, before);
        comes_first && block.insts.iter().any(|inst| inst.vector_length() == Some(length))
    })
}

/// Whether a test on every way to the loop has found an integer to be a number from zero to another one.
pub fn is_tested(code: &Code<'_>, before: BlockId, number: Value) -> bool {
    let mut block = Some(before);
    let mut is_tested = false;
    while let Some(here) = block.filter(|_| !is_tested) {
        each_outcome(code.function, &code.graph, &code.definitions, here, |inst, holds| {
            let is_below = inst.op == Op::IntCompare(IntCompare::Below) && inst.args[0] == number;
            is_tested |= is_below && holds;
        });
        block = code.graph.dominator[here];
    }
    is_tested
}
