//! Which loops can be divided, and how.

use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::loops::{Bound, Code, same};
use crate::opt::edit::rewrite::{can_move, is_constant};
use crate::ssa::ir::{
    Block, BlockId, Compare, Inst, Int2, IntCompare, Op, Real1, Real2, Target, Terminator, Type, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A parallel stage that costs less than so much, in additions, is not worth the questions.
const LEAST: u64 = 60;
/// What handing over a number costs; a pointer, and what it leads to.
const LEAF: u64 = 8;
const POINTER: u64 = 200;
/// An inner loop is taken to have so many rounds.
const ROUNDS: u64 = 8;
/// The first rounds, which are made without a question, cost about so much.
const STRIP: u64 = 20_000;
/// The most instructions of a loop, which is copied.
const LARGEST: usize = 1000;

/// How a counter that is compared with a bound tells that another round begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Unequal,
}

/// A jump: the block that it ends, and its position among the targets there.
pub type Edge = (BlockId, usize);

/// What the parallel stage hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    Value(Value),
    /// By which of the edges to that block control has come there.
    Way(BlockId),
}

/// What the sequential stage does.
#[derive(Clone, Debug)]
pub enum Act {
    Inst(Inst),
    /// A parameter of a block is one of these, by the leaf that says which, if there are several.
    Join(Value, BlockId, Vec<Value>),
}

/// A loop whose rounds are shared.
#[derive(Debug)]
pub struct Plan {
    pub header: BlockId,
    /// Its blocks, each before those that it leads to.
    pub body: Vec<BlockId>,
    /// The ways back to the header, and to other blocks where the sequential stage has to know by which one control
    /// has come.
    pub edges: FxHashMap<BlockId, Vec<Edge>>,
    /// What each round adds to the parameters of the header that count, whole numbers: many steps at a time give the
    /// same number.
    pub steps: Vec<Option<i64>>,
    /// The parameter that is compared, and the comparison.
    pub tested: usize,
    pub relation: Relation,
    pub bound: Bound,
    /// The comparison in the header, the position of the bound among its operands, and the way into the loop.
    pub test: Inst,
    pub bound_operand: usize,
    pub continues_if: bool,
    /// Values that depend on what rounds before have made: the sequential stage.
    pub sequential: FxHashSet<Value>,
    /// What it does, and what is computed again for it, in order.
    pub acts: Vec<Act>,
    pub leaves: Vec<(Leaf, Type)>,
    /// Leaves that are not computed in every round.
    pub sometimes: Vec<Leaf>,
    /// So many rounds are made before anything is asked.
    pub strip: i64,
}

impl Plan {
    /// Whether a block is in the loop.
    pub fn contains(&self, block: BlockId) -> bool {
        self.body.contains(&block)
    }

    /// How to divide the loop with that header, if that may pay.
    pub fn find(code: &Code<'_>, effects: &Effects, header: BlockId) -> Option<Plan> {
        let function = code.function;
        let inside = code.body(header);
        let body = code.in_order(&inside);
        if code.size(&body) > LARGEST || !code.is_left_at_header(header, &inside) {
            return None;
        }
        let insts = || body.iter().flat_map(|block| &function.blocks[*block].insts);
        let is_allowed = |inst: &Inst| match inst.op {
            Op::Call(callee) => effects.is_repeatable(callee),
            op => !op.has_effect(),
        };
        if !insts().all(is_allowed) {
            return None;
        }
        // A worker that meets an error leaves the round to the program, in the run time: it has to get there.
        let exits = body
            .iter()
            .filter(|block| **block != header)
            .flat_map(|block| function.blocks[*block].terminator.targets());
        let fails = |block: BlockId| {
            let Block { insts, terminator, .. } = &function.blocks[block];
            matches!(terminator, Terminator::Fail(..)) || insts.is_empty()
        };
        if !exits.map(|target| target.block).all(|block| inside.contains(&block) || fails(block)) {
            return None;
        }
        let (test, yes, continues_if) = entrance(code, header, &inside)?;
        let back = edges(code, header, &inside);
        let steps = steps(code, header, &back);
        let loop_ = Loop { code, header, inside: &inside, steps: &steps };
        let (tested, bound_operand, relation) = loop_.comparison(test, continues_if)?;
        let comparison = code.definitions.inst(function, test)?;
        let bound = code.bound(comparison.args[bound_operand], &inside)?;
        let depths = loop_.depths(&body);
        let sequential = loop_.dependent(&body, &depths)?;
        if sequential.contains(&test) || yes.args.iter().any(|arg| sequential.contains(arg)) {
            return None;
        }
        // The sequential stage is one row of instructions: what only some rounds need is computed in all.
        let depends = |inst: &&Inst| inst.results.iter().any(|result| sequential.contains(result));
        let is_in_every_round = |block: BlockId| back.iter().all(|(from, _)| code.graph.dominates(block, *from));
        for block in &body {
            let mut dependent = function.blocks[*block].insts.iter().filter(depends);
            let is_in_row = |inst: &Inst| match inst.op {
                Op::Call(_) => false,
                _ if depths[block] > 0 => false,
                _ if is_in_every_round(*block) => true,
                op => (can_move(op) || op == Op::Select) && inst.watched().is_none() && inst.watched_later().is_none(),
            };
            if !dependent.all(is_in_row) {
                return None;
            }
        }
        // Within a round, the outcome of the test is known.
        let known = FxHashSet::from_iter([test]);
        let mut rest = Rest { loop_, sequential: &sequential, acts: Vec::new(), leaves: Vec::new(), known };
        let mut ways = FxHashMap::default();
        for block in &body {
            if *block != header && function.blocks[*block].params.iter().any(|param| sequential.contains(param)) {
                let edges = edges(code, *block, &inside);
                for (position, param) in function.blocks[*block].params.iter().enumerate() {
                    if sequential.contains(param) {
                        rest.join(*param, *block, passed(code, &edges, position));
                    }
                }
                ways.insert(*block, edges);
            }
            function.blocks[*block].insts.iter().filter(depends).for_each(|inst| rest.add(inst));
        }
        for (position, param) in function.blocks[header].params.iter().enumerate() {
            if steps[position].is_none() {
                rest.join(*param, header, passed(code, &back, position));
            }
        }
        ways.insert(header, back.clone());
        let (acts, leaves) = (rest.acts, rest.leaves);
        let mut sometimes = Vec::new();
        for (leaf, ty) in &leaves {
            let home = match leaf {
                Leaf::Value(value) => code.homes[*value],
                Leaf::Way(block) => *block,
            };
            if !is_in_every_round(home) {
                if *ty == Type::Ptr {
                    return None;
                }
                sometimes.push(*leaf);
            }
        }

        let cost: u64 = body.iter().map(|block| stage_cost(code, *block, depths[block], |inst| !depends(inst))).sum();
        let rest_cost: u64 = acts.iter().map(Act::cost).sum();
        let leaf = |(_, ty): &(Leaf, Type)| if *ty == Type::Ptr { POINTER } else { LEAF };
        if leaves.is_empty() || cost < LEAST || cost < 2 * rest_cost + leaves.iter().map(leaf).sum::<u64>() {
            return None;
        }
        let strip = (STRIP / cost).clamp(1, 256) as i64;
        Some(Plan {
            header,
            edges: ways,
            tested,
            relation,
            bound,
            test: comparison.clone(),
            bound_operand,
            continues_if,
            acts,
            leaves,
            sometimes,
            strip,
            body,
            steps,
            sequential,
        })
    }
}

impl Act {
    fn cost(&self) -> u64 {
        match self {
            Act::Inst(inst) => weight(inst.op),
            Act::Join(_, _, values) => values.len() as u64 - 1,
        }
    }
}

/// The edges to a block from inside the loop.
fn edges(code: &Code<'_>, to: BlockId, inside: &FxHashSet<BlockId>) -> Vec<Edge> {
    let mut from: Vec<BlockId> =
        code.graph.predecessors[to].iter().copied().filter(|from| inside.contains(from)).collect();
    from.sort_unstable();
    from.dedup();
    let all = |from: BlockId| {
        let targets = code.function.blocks[from].terminator.targets();
        let meant = targets.into_iter().enumerate().filter(|(_, target)| target.block == to);
        meant.map(|(at, _)| (from, at)).collect::<Vec<Edge>>()
    };
    from.into_iter().flat_map(all).collect()
}

/// What edges pass for a parameter.
fn passed(code: &Code<'_>, edges: &[Edge], position: usize) -> Vec<Value> {
    let all = edges.iter().map(|(from, at)| code.function.blocks[*from].terminator.target(*at).args[position]);
    let mut all: Vec<Value> = all.collect();
    if all.iter().all(|value| *value == all[0]) {
        all.truncate(1);
    }
    all
}

/// The test of a header, the way into the loop, and what the test has to be for that.
fn entrance<'c>(code: &'c Code<'_>, header: BlockId, inside: &FxHashSet<BlockId>) -> Option<(Value, &'c Target, bool)> {
    let Terminator::Branch(test, yes, no) = &code.function.blocks[header].terminator else { return None };
    match [yes, no].map(|target| target.block != header && inside.contains(&target.block)) {
        [true, false] => Some((*test, yes, true)),
        [false, true] => Some((*test, no, false)),
        _ => None,
    }
}

/// What each round adds to the parameters of a header, if that is a whole number.
fn steps(code: &Code<'_>, header: BlockId, back: &[Edge]) -> Vec<Option<i64>> {
    let function = code.function;
    let integers = code.steps(header);
    let params = function.blocks[header].params.iter().enumerate();
    let step = |(position, param): (usize, &Value)| match function.values[*param] {
        Type::Int => integers[position],
        Type::F64 => {
            let constant = |value: Value| match code.definitions.op(function, value)? {
                Op::ConstReal(bits) => Some(f64::from_bits(bits)),
                _ => None,
            };
            let step = |value: Value| {
                let inst = code.definitions.inst(function, value)?;
                match (inst.op, &inst.args[..]) {
                    (Op::Real2(Real2::Add), [x, y]) if x == param => constant(*y),
                    (Op::Real2(Real2::Add), [x, y]) if y == param => constant(*x),
                    (Op::Real2(Real2::Sub), [x, y]) if x == param => constant(*y).map(|step| -step),
                    _ => None,
                }
            };
            let all = back.iter().map(|(from, at)| function.blocks[*from].terminator.target(*at).args[position]);
            let step = same(all.map(step))??;
            (step.trunc() == step && step.abs() <= 1024.0).then_some(step as i64)
        }
        _ => None,
    };
    params.map(step).collect()
}

/// A loop that is looked at.
#[derive(Clone, Copy)]
struct Loop<'a> {
    code: &'a Code<'a>,
    header: BlockId,
    inside: &'a FxHashSet<BlockId>,
    steps: &'a [Option<i64>],
}

impl Loop<'_> {
    /// Which parameter is compared with a bound, where the bound stands, and how they are in every round.
    fn comparison(&self, test: Value, continues_if: bool) -> Option<(usize, usize, Relation)> {
        use Relation::{AtLeast, AtMost, Greater, Less, Unequal};
        let inst = self.code.definitions.inst(self.code.function, test)?;
        if !self.inside.contains(&self.code.homes[test]) || inst.args.len() != 2 {
            return None;
        }
        let params = &self.code.function.blocks[self.header].params;
        let place = |at: usize| params.iter().position(|param| *param == inst.args[at]);
        let (tested, bound_operand) = match (place(0), place(1)) {
            (Some(tested), None) => (tested, 1),
            (None, Some(tested)) => (tested, 0),
            _ => return None,
        };
        let relation = match inst.op {
            Op::Compare(Compare::Lt) | Op::IntCompare(IntCompare::Lt) => Less,
            Op::Compare(Compare::Le) => AtMost,
            Op::Compare(Compare::Gt) => Greater,
            Op::Compare(Compare::Ge) => AtLeast,
            Op::Compare(Compare::Ne) if continues_if => Unequal,
            Op::Compare(Compare::Eq) | Op::IntCompare(IntCompare::Eq) if !continues_if => Unequal,
            _ => return None,
        };
        // As if the counter came first, and the loop went on where that is true.
        let relation = match (relation, bound_operand) {
            (Less, 0) => Greater,
            (AtMost, 0) => AtLeast,
            (Greater, 0) => Less,
            (AtLeast, 0) => AtMost,
            (relation, _) => relation,
        };
        let relation = match (relation, continues_if) {
            (Less, false) => AtLeast,
            (AtMost, false) => Greater,
            (Greater, false) => AtMost,
            (AtLeast, false) => Less,
            (relation, _) => relation,
        };
        let step = self.steps[tested]?;
        let is_reached = match relation {
            Less | AtMost => step == 1,
            Greater | AtLeast => step == -1,
            Unequal => step.abs() == 1,
        };
        is_reached.then_some((tested, bound_operand, relation))
    }

    /// All values of the loop that depend on what rounds before have made. Control does not, nor do inner loops.
    fn dependent(&self, body: &[BlockId], depths: &FxHashMap<BlockId, u32>) -> Option<FxHashSet<Value>> {
        let function = self.code.function;
        let params = function.blocks[self.header].params.iter().zip(self.steps);
        let mut found: FxHashSet<Value> = params.filter(|(_, step)| step.is_none()).map(|(param, _)| *param).collect();
        loop {
            let before = found.len();
            for id in body {
                let block = &function.blocks[*id];
                for inst in &block.insts {
                    if inst.args.iter().any(|arg| found.contains(arg)) {
                        found.extend(&inst.results);
                    }
                }
                for target in block.terminator.targets() {
                    if self.inside.contains(&target.block) && target.block != self.header {
                        let params = function.blocks[target.block].params.iter().zip(&target.args);
                        for (param, arg) in params {
                            if found.contains(arg) {
                                if depths[&target.block] > 0 {
                                    return None;
                                }
                                found.insert(*param);
                            }
                        }
                    }
                }
                if let Terminator::Branch(value, ..) | Terminator::Switch(value, _) = &block.terminator
                    && found.contains(value)
                {
                    return None;
                }
            }
            if found.len() == before {
                return Some(found);
            }
        }
    }

    /// In how many inner loops each block is.
    fn depths(&self, body: &[BlockId]) -> FxHashMap<BlockId, u32> {
        let mut depths: FxHashMap<BlockId, u32> = body.iter().map(|block| (*block, 0)).collect();
        for header in body.iter().filter(|block| **block != self.header && self.code.graph.is_loop_header(**block)) {
            self.code.body(*header).iter().for_each(|block| *depths.entry(*block).or_default() += 1);
        }
        depths
    }
}

/// Finds out what the sequential stage computes, and of what.
struct Rest<'a> {
    loop_: Loop<'a>,
    sequential: &'a FxHashSet<Value>,
    acts: Vec<Act>,
    leaves: Vec<(Leaf, Type)>,
    known: FxHashSet<Value>,
}

impl Rest<'_> {
    /// Adds an instruction of the stage.
    fn add(&mut self, inst: &Inst) {
        inst.args.iter().for_each(|arg| self.need(*arg));
        self.acts.push(Act::Inst(inst.clone()));
    }

    /// Adds a parameter of a block of the stage.
    fn join(&mut self, param: Value, block: BlockId, values: Vec<Value>) {
        values.iter().for_each(|value| self.need(*value));
        let way = (Leaf::Way(block), Type::Int);
        if values.len() > 1 && !self.leaves.contains(&way) {
            self.leaves.push(way);
        }
        self.acts.push(Act::Join(param, block, values));
    }

    /// Adds what is needed for a value: next to nothing is computed again, everything else handed over.
    fn need(&mut self, value: Value) {
        let code = self.loop_.code;
        let is_there = self.sequential.contains(&value)
            || !self.loop_.inside.contains(&code.homes[value])
            || code.function.blocks[self.loop_.header].params.contains(&value);
        if is_there || !self.known.insert(value) {
            return;
        }
        match code.definitions.inst(code.function, value) {
            Some(inst) if self.is_cheap(value) => self.add(inst),
            _ => self.leaves.push((Leaf::Value(value), code.function.values[value])),
        }
    }

    /// Whether a value is a constant, or follows from counters and values from before the loop in a few steps.
    fn is_cheap(&self, value: Value) -> bool {
        let code = self.loop_.code;
        if !self.loop_.inside.contains(&code.homes[value])
            || code.function.blocks[self.loop_.header].params.contains(&value)
        {
            return !self.sequential.contains(&value);
        }
        let Some(inst) = code.definitions.inst(code.function, value) else { return false };
        (is_constant(inst.op) || inst.op.is_logic()) && inst.args.iter().all(|arg| self.is_cheap(*arg))
    }
}

/// What the instructions of a block cost in one round of the outer loop.
fn stage_cost(code: &Code<'_>, block: BlockId, depth: u32, is_meant: impl Fn(&&Inst) -> bool) -> u64 {
    let insts = code.function.blocks[block].insts.iter().filter(is_meant);
    insts.map(|inst| weight(inst.op)).sum::<u64>() * ROUNDS.pow(depth.min(4))
}

/// About how many additions an operation costs.
fn weight(op: Op) -> u64 {
    match op {
        op if is_constant(op) => 0,
        Op::Int2(Int2::Add | Int2::Sub) => 0,
        Op::Real1(Real1::Neg | Real1::Abs) => 1,
        Op::Real2(Real2::Add | Real2::Sub | Real2::Mul) => 1,
        Op::Real2(Real2::Div) | Op::Real1(Real1::Sqrt) => 6,
        Op::Real1(_) | Op::Real2(_) => 20,
        Op::Call(_) => 40,
        Op::Kernel(..) => 200,
        op if op.allocates() => 10,
        _ => 1,
    }
}
