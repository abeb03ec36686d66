//! Sums of loops start at -0.0 instead of the symbolic zero: SSA → SSA.
//!
//! ```text
//! jump b1(v0)                                      v10 = real_is v0; v11 = select v10, -0.0, v0
//!                                                  jump b1(v11, v10)
//! b1(v1: f64):                                     b1(v1: f64, v12: bool):
//!     branch v2, b2, b3                                branch v2, b2, b3
//! b2: v4 = real_is v3                              b2: v4 = real_is v3
//!     v5 = real_is v1                                  v13 = select v4, -0.0, v3
//!     v6 = add v1, v3                          →       v14 = add v1, v13
//!     v7 = select v4, v1, v6                           v15 = or v12, (not v4)
//!     v8 = select v5, v3, v7
//!     jump b1(v8)                                      jump b1(v14, v15)
//! b3: return v1                                    b3: v16 = select v12, nan.0x7ff87a65726f0001, v1
//!                                                      return v16
//! ```
//!
//! A sum of sensitivities is the symbolic zero until the first number is added, and an addend may be the symbolic zero,
//! too. So each addition makes two tests and chooses among three values, one after the other, and all of that stands in
//! the chain from round to round. To add -0.0 changes no number, not even in the sign of zero. So a sum that starts
//! there needs a truth value beside it that tells whether nothing was added, which is asked for behind the loop only;
//! what is added can be chosen apart from the sum.
//!
//! The sum may be used by its additions only; an addend that no test guards has to be what an operation computes, which
//! is a number (see [`Op::RealIs`]).
//!
//! Tests: `tests/opt/neutral-sums/`.

use crate::opt::Context;
use crate::opt::analysis::loops::{Code, preheader};
use crate::opt::edit::rewrite::append;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Inst, Op, Real1, Real2, Target, Terminator, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// A sum that a loop carries.
#[derive(Debug)]
struct Sum {
    /// The position of the parameter.
    position: usize,
    param: Value,
    /// The bits of the symbolic zero.
    zero: u64,
    /// The additions, the first one first.
    additions: Vec<Addition>,
    /// The value that goes back, and the block that makes it.
    next: Value,
    block: BlockId,
}

/// An addition to a sum.
#[derive(Clone, Copy, Debug)]
struct Addition {
    /// What is added unless there is nothing to add.
    number: Value,
    /// Whether there is nothing to add, where that is not known.
    is_nothing: Option<Value>,
}

/// Treats a function.
pub fn run(function: &mut Function, _: &Context) -> bool {
    let mut changed = false;
    if function.blocks.values().flat_map(|block| &block.insts).any(|inst| matches!(inst.op, Op::RealIs(_))) {
        let mut done = FxHashSet::default();
        loop {
            let found = find(function, &mut done);
            for (header, sums) in &found {
                rewrite(function, *header, sums);
            }
            if found.is_empty() {
                break;
            }
            changed = true;
        }
    }
    changed
}

/// Loops with sums that have nothing to do with each other; each is found once.
fn find(function: &Function, done: &mut FxHashSet<BlockId>) -> Vec<(BlockId, Vec<Sum>)> {
    let code = Code::new(function);
    let headers: Vec<BlockId> = code.graph.order.iter().copied().filter(|id| code.graph.is_loop_header(*id)).collect();
    let mut found: Vec<(BlockId, Vec<Sum>)> = Vec::new();
    let mut params = FxHashSet::default();
    for header in headers {
        if done.contains(&header) {
            continue;
        }
        let body = code.body(header);
        let positions = 0..function.blocks[header].params.len();
        let sums: Vec<Sum> = positions.filter_map(|position| sum(&code, header, position, &body)).collect();
        let numbers = || sums.iter().flat_map(|sum| sum.additions.iter().map(|addition| addition.number));
        // What another loop has summed up is chosen anew behind that loop.
        if numbers().any(|number| params.contains(&number)) {
            continue;
        }
        done.insert(header);
        params.extend(sums.iter().map(|sum| sum.param));
        if !sums.is_empty() {
            found.push((header, sums));
        }
    }
    found
}

/// The sum that is carried at a position, if it is one.
fn sum(code: &Code, header: BlockId, position: usize, body: &FxHashSet<BlockId>) -> Option<Sum> {
    let param = code.function.blocks[header].params[position];
    if code.function.values[param] != Type::F64 {
        return None;
    }
    let [_, inside] = code.passed(header, position, body);
    let [(latch, next)] = inside[..] else { return None };
    let parts = FxHashSet::default();
    let mut search = Search { code, param, zero: None, additions: Vec::new(), parts, steps: STEPS };
    search.additions(next)?;
    let zero = search.zero?;
    let Search { additions, parts, .. } = search;
    let block = code.homes.get(next)?;

    // Nothing else needs the sum, in the loop, or a part of an addition, anywhere; but for the last, which goes back.
    for (id, block) in code.function.blocks.iter().filter(|(id, _)| code.graph.is_reachable(*id)) {
        let is_inside = body.contains(&id);
        let is_own = |value: Value| value == param && is_inside || parts.contains(&value);
        for inst in block.insts.iter().filter(|inst| !inst.results.iter().any(|result| parts.contains(result))) {
            if inst.args.iter().any(|arg| is_own(*arg)) {
                return None;
            }
        }
        for target in block.terminator.targets() {
            for (at, arg) in target.args.iter().enumerate() {
                let goes_back = id == latch && target.block == header && at == position && *arg == next;
                let leaves = *arg == param && !body.contains(&target.block);
                if is_own(*arg) && !goes_back && !leaves {
                    return None;
                }
            }
        }
        let others = match &block.terminator {
            Terminator::Branch(condition, ..) | Terminator::Switch(condition, _) => std::slice::from_ref(condition),
            Terminator::Return(values) | Terminator::TailCall(_, values) => values,
            _ => &[],
        };
        if others.iter().any(|value| is_own(*value)) {
            return None;
        }
    }
    Some(Sum { position, param, zero, additions, next, block })
}

struct Search<'c, 'f> {
    code: &'c Code<'f>,
    param: Value,
    zero: Option<u64>,
    additions: Vec<Addition>,
    /// What the additions consist of.
    parts: FxHashSet<Value>,
    /// How many more values are looked at.
    steps: usize,
}

/// Values that are looked at for one sum: enough for the additions of a round.
const STEPS: usize = 64;

impl Search<'_, '_> {
    fn inst(&self, value: Value) -> Option<&Inst> {
        self.code.definitions.inst(self.code.function, value)
    }

    fn select(&self, value: Value) -> Option<[Value; 3]> {
        self.inst(value).filter(|inst| inst.op == Op::Select).map(|inst| [inst.args[0], inst.args[1], inst.args[2]])
    }

    /// The value that a test asks whether it is the symbolic zero.
    fn tested(&mut self, test: Value) -> Option<Value> {
        let inst = self.inst(test)?;
        let Op::RealIs(bits) = inst.op else { return None };
        let value = inst.args[0];
        (*self.zero.get_or_insert(bits) == bits).then_some(value)
    }

    /// Whether a value is the sum of two others, or a difference, when the second one is a number that is negated.
    fn is_sum(&self, value: Value, [sum, number]: [Value; 2]) -> bool {
        let Some(inst) = self.inst(value) else { return false };
        match (inst.op, &inst.args[..]) {
            (Op::Real2(Real2::Add), [x, y]) => (*x == sum && *y == number || *x == number && *y == sum) && x != y,
            (Op::Real2(Real2::Sub), [x, y]) => {
                let negated = self.inst(number).filter(|inst| inst.op == Op::Real1(Real1::Neg));
                *x == sum && negated.is_some_and(|inst| inst.args[0] == *y)
            }
            _ => false,
        }
    }

    /// The additions that make a value of the parameter. Where both operands of one may be the symbolic zero, either
    /// may be the sum.
    fn additions(&mut self, value: Value) -> Option<()> {
        if value == self.param {
            return (!self.parts.is_empty()).then_some(());
        }
        self.steps = self.steps.checked_sub(1)?;
        for find in [Self::sum_tested_first, Self::addend_tested_first] {
            let (zero, count, parts) = (self.zero, self.additions.len(), self.parts.clone());
            if let Some((before, addition)) = find(self, value)
                && self.additions(before).is_some()
            {
                self.additions.push(addition);
                return Some(());
            }
            (self.zero, self.parts) = (zero, parts);
            self.additions.truncate(count);
        }
        None
    }

    /// `select (real_is sum), addend, (add sum, addend)`, where the addition may be guarded by a test of the addend.
    fn sum_tested_first(&mut self, value: Value) -> Option<(Value, Addition)> {
        let [test, addend, other] = self.select(value)?;
        let sum = self.tested(test)?;
        if self.is_sum(other, [sum, addend]) {
            let addition = self.addition(addend, None)?;
            self.parts.extend([value, test, other]);
            return Some((sum, addition));
        }
        let [is_nothing, same, other_sum] = self.select(other)?;
        let addition = self.addition(addend, Some(is_nothing))?;
        if same != sum || ![addend, addition.number].iter().any(|number| self.is_sum(other_sum, [sum, *number])) {
            return None;
        }
        self.parts.extend([value, test, other, other_sum]);
        Some((sum, addition))
    }

    /// `select is_nothing, sum, (select (real_is sum), addend, (add sum, addend))`.
    fn addend_tested_first(&mut self, value: Value) -> Option<(Value, Addition)> {
        let [is_nothing, sum, other] = self.select(value)?;
        let [test, addend, other_sum] = self.select(other)?;
        if self.tested(test)? != sum {
            return None;
        }
        let addition = self.addition(addend, Some(is_nothing))?;
        if ![addend, addition.number].iter().any(|number| self.is_sum(other_sum, [sum, *number])) {
            return None;
        }
        self.parts.extend([value, test, other, other_sum]);
        Some((sum, addition))
    }

    /// What is added, given what tells that it is the symbolic zero.
    fn addition(&mut self, addend: Value, is_nothing: Option<Value>) -> Option<Addition> {
        let Some(test) = is_nothing else {
            return self.is_number(addend).then_some(Addition { number: addend, is_nothing });
        };
        if self.tested(test) == Some(addend) {
            return Some(Addition { number: addend, is_nothing });
        }
        // What was tested is the symbolic zero, or what is computed of it.
        let [condition, zero, number] = self.select(addend)?;
        let is_alike = condition == test && self.tested(test) == Some(zero) && self.is_number(number);
        is_alike.then_some(Addition { number, is_nothing })
    }

    /// Whether a value is a number wherever it is needed.
    fn is_number(&self, value: Value) -> bool {
        self.inst(value).is_some_and(|inst| matches!(inst.op, Op::Real1(_) | Op::Real2(_) | Op::RealOf))
    }
}

/// Lets sums of a loop start at -0.0.
fn rewrite(function: &mut Function, header: BlockId, sums: &[Sum]) {
    let graph = Graph::new(function);
    let body = graph.loop_body(header);
    let outside = |id: BlockId| !body.get(id).is_some_and(|inside| *inside);
    // The way back may go through a block that a loop within this one has got.
    let latch = graph.predecessors[header].iter().copied().find(|from| !outside(*from));
    let before = preheader(function, &graph, header);
    for sum in sums {
        let is_zero = function.values.push(Type::Bool);
        function.blocks[header].params.push(is_zero);
        start(function, before, header, sum);
        let (next, is_still_zero) = add(function, sum, is_zero);
        let backwards = latch.map(|latch| function.blocks[latch].terminator.targets_mut()).into_iter().flatten();
        for target in backwards {
            if target.block == header {
                target.args[sum.position] = next;
                target.args.push(is_still_zero);
            }
        }
        // Sums that leave together share the blocks that the first one has got on its way out.
        let graph = Graph::new(function);
        leave(function, &graph, outside, sum, is_zero);
    }
}

/// Passes what the sum starts with.
fn start(function: &mut Function, before: BlockId, header: BlockId, sum: &Sum) {
    let mut insts = std::mem::take(&mut function.blocks[before].insts);
    let mut make = |op, args, ty| append(&mut function.values, &mut insts, op, args, ty, None);
    if let Terminator::Jump(Target { block, args }) = &mut function.blocks[before].terminator
        && *block == header
    {
        let given = args[sum.position];
        let is_zero = make(Op::RealIs(sum.zero), vec![given], Type::Bool);
        let neutral = make(Op::ConstReal((-0.0f64).to_bits()), Vec::new(), Type::F64);
        args[sum.position] = make(Op::Select, vec![is_zero, neutral, given], Type::F64);
        args.push(is_zero);
    }
    function.blocks[before].insts = insts;
}

/// The sum at the end of a round, and whether nothing has been added until then.
fn add(function: &mut Function, sum: &Sum, is_zero: Value) -> (Value, Value) {
    let mut insts = Vec::new();
    let mut make = |op, args, ty| append(&mut function.values, &mut insts, op, args, ty, None);
    let (mut total, mut is_zero) = (sum.param, is_zero);
    for Addition { number, is_nothing } in &sum.additions {
        let Some(is_nothing) = *is_nothing else {
            total = make(Op::Real2(Real2::Add), vec![total, *number], Type::F64);
            is_zero = make(Op::ConstBool(false), Vec::new(), Type::Bool);
            continue;
        };
        let neutral = make(Op::ConstReal((-0.0f64).to_bits()), Vec::new(), Type::F64);
        let added = make(Op::Select, vec![is_nothing, neutral, *number], Type::F64);
        total = make(Op::Real2(Real2::Add), vec![total, added], Type::F64);
        is_zero = make(Op::And, vec![is_zero, is_nothing], Type::Bool);
    }
    let block = &mut function.blocks[sum.block].insts;
    let place = block.iter().position(|inst| inst.results.contains(&sum.next)).unwrap_or(block.len());
    block.splice(place..place, insts);
    (total, is_zero)
}

/// Gives what needs the sum behind the loop the symbolic zero if nothing was added.
fn leave(function: &mut Function, graph: &Graph, outside: impl Fn(BlockId) -> bool, sum: &Sum, is_zero: Value) {
    let mut results: FxHashMap<BlockId, Value> = FxHashMap::default();
    for id in graph.order.clone() {
        if !outside(id) {
            split_exits(function, &outside, sum, is_zero, id);
            continue;
        }
        let mut is_used = false;
        function.blocks[id].for_each_value(|value| is_used |= value == sum.param);
        if !is_used {
            continue;
        }
        // Where the way out of the loop begins.
        let mut exit = id;
        while let Some(above) = graph.dominator[exit].filter(|above| outside(*above)) {
            exit = above;
        }
        let result = *results.entry(exit).or_insert_with(|| function.values.push(Type::F64));
        function.blocks[id].for_each_use(|value| {
            if *value == sum.param {
                *value = result;
            }
        });
    }
    let mut exits: Vec<(BlockId, Value)> = results.into_iter().collect();
    exits.sort_unstable();
    for (exit, result) in exits {
        let insts = chosen(function, sum, is_zero, result);
        function.blocks[exit].insts.splice(0..0, insts);
    }
}

/// The sum, or the symbolic zero.
fn chosen(function: &mut Function, sum: &Sum, is_zero: Value, result: Value) -> Vec<Inst> {
    let mut insts = Vec::new();
    let zero = append(&mut function.values, &mut insts, Op::ConstReal(sum.zero), Vec::new(), Type::F64, None);
    insts.push(Inst {
        op: Op::Select,
        args: smallvec![is_zero, zero, sum.param],
        results: smallvec![result],
        span: None,
    });
    insts
}

/// Puts a block on each way out of the loop that passes the sum.
fn split_exits(function: &mut Function, outside: &impl Fn(BlockId) -> bool, sum: &Sum, is_zero: Value, from: BlockId) {
    let targets = function.blocks[from].terminator.targets().len();
    for index in 0..targets {
        let target = function.blocks[from].terminator.targets()[index].clone();
        if !outside(target.block) || !target.args.contains(&sum.param) {
            continue;
        }
        let result = function.values.push(Type::F64);
        let insts = chosen(function, sum, is_zero, result);
        let args = target.args.iter().map(|arg| if *arg == sum.param { result } else { *arg }).collect();
        let between = function.new_block(&[]);
        function.blocks[between].insts = insts;
        function.blocks[between].terminator = Terminator::Jump(Target { block: target.block, args });
        let mut targets = function.blocks[from].terminator.targets_mut();
        *targets[index] = Target { block: between, args: Vec::new() };
    }
}
