//! Which loops can be divided, and how.

use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::loops::{Code, counter};
use crate::opt::edit::rewrite::is_constant;
use crate::ssa::ir::{BlockId, Compare, Inst, Int2, IntCompare, Op, Real1, Real2, Target, Terminator, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// A parallel stage that costs less than so much, in additions, is not worth the questions.
const LEAST: u64 = 100;
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

/// What each round adds to a parameter of the header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    Int(i64),
    /// A whole number, so that many steps at a time give the same number.
    Real(f64),
}

/// A value from before the loop.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    Value(Value),
    Constant(Op, Type),
}

/// A loop whose rounds are shared.
#[derive(Debug)]
pub struct Plan {
    pub header: BlockId,
    /// Its blocks, each before those that it leads to.
    pub body: Vec<BlockId>,
    /// The only block that leads back to the header.
    pub latch: BlockId,
    /// What of each parameter of the header is known.
    pub steps: Vec<Option<Step>>,
    /// The parameter that is compared, and the comparison.
    pub tested: usize,
    pub upwards: bool,
    pub relation: Relation,
    pub bound: Bound,
    /// The comparison in the header, the position of the bound among its operands, and the way into the loop.
    pub test: Value,
    pub bound_operand: usize,
    pub continues_if: bool,
    /// Values that depend on what rounds before have made: the sequential stage.
    pub sequential: FxHashSet<Value>,
    /// Its instructions, and what is computed again for it, in order.
    pub steps_behind: Vec<Inst>,
    /// What the parallel stage hands over.
    pub leaves: Vec<(Value, Type)>,
    /// So many rounds are made before anything is asked.
    pub strip: i64,
}

impl Plan {
    /// Whether a block is in the loop.
    pub fn contains(&self, block: BlockId) -> bool {
        self.body.contains(&block)
    }

    /// Whether boxes or vectors are among what is handed over.
    pub fn hands_over_pointers(&self) -> bool {
        self.leaves.iter().any(|(_, ty)| *ty == Type::Ptr)
    }

    /// How to divide the loop with that header, if that may pay.
    pub fn find(code: &Code<'_>, effects: &Effects, header: BlockId) -> Option<Plan> {
        let function = code.function;
        let inside = code.body(header);
        let body: Vec<BlockId> = code.graph.order.iter().copied().filter(|block| inside.contains(block)).collect();
        let size: usize = body.iter().map(|block| function.blocks[*block].insts.len() + 1).sum();
        if size > LARGEST || !code.is_left_at_header(header, &inside) {
            return None;
        }
        let mut latches = code.graph.predecessors[header].iter().copied().filter(|from| inside.contains(from));
        let (Some(latch), None) = (latches.next(), latches.next()) else { return None };
        let Terminator::Jump(back) = &function.blocks[latch].terminator else { return None };
        let insts = || body.iter().flat_map(|block| &function.blocks[*block].insts);
        let is_allowed = |inst: &Inst| match inst.op {
            Op::Call(callee) => effects.is_repeatable(callee),
            op => !op.has_effect(),
        };
        if !insts().all(is_allowed) {
            return None;
        }
        let (test, yes, continues_if) = entrance(code, header, &inside)?;
        let steps = steps(code, header, back);
        let loop_ = Loop { code, header, inside: &inside, steps: &steps };
        let (tested, bound_operand, relation) = loop_.comparison(test, continues_if)?;
        let upwards = matches!(steps[tested], Some(Step::Int(1) | Step::Real(1.0)));
        let bound = loop_.outside(code.definitions.inst(function, test)?.args[bound_operand])?;
        let sequential = loop_.dependent(&body)?;
        // The sequential stage is one row of instructions in every round.
        let depths = loop_.depths(&body);
        let depends = |inst: &&Inst| inst.results.iter().any(|result| sequential.contains(result));
        for block in &body {
            let is_on_every_way = code.graph.dominates(*block, latch) && depths[block] == 0;
            let mut dependent = function.blocks[*block].insts.iter().filter(depends);
            if dependent.any(|inst| !is_on_every_way || matches!(inst.op, Op::Call(_))) {
                return None;
            }
        }
        if sequential.contains(&test) || yes.args.iter().any(|arg| sequential.contains(arg)) {
            return None;
        }
        // Within a round, the outcome of the test is known.
        let known = FxHashSet::from_iter([test]);
        let mut rest = Rest { loop_, sequential: &sequential, insts: Vec::new(), leaves: Vec::new(), known };
        insts().filter(depends).for_each(|inst| rest.add(inst));
        let carried = back.args.iter().zip(&steps).filter(|(_, step)| step.is_none());
        carried.for_each(|(value, _)| rest.need(*value));
        let (steps_behind, leaves) = (rest.insts, rest.leaves);

        let cost: u64 = body.iter().map(|block| stage_cost(code, *block, depths[block], |inst| !depends(inst))).sum();
        let rest_cost: u64 = steps_behind.iter().map(|inst| weight(inst.op)).sum();
        let leaf = |(_, ty): &(Value, Type)| if *ty == Type::Ptr { POINTER } else { LEAF };
        if cost < LEAST || cost < 2 * rest_cost + leaves.iter().map(leaf).sum::<u64>() {
            return None;
        }
        let strip = (STRIP / cost).clamp(1, 256) as i64;
        Some(Plan {
            header,
            latch,
            tested,
            upwards,
            relation,
            bound,
            test,
            bound_operand,
            continues_if,
            steps_behind,
            leaves,
            strip,
            body,
            steps,
            sequential,
        })
    }
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

/// What each round adds to the parameters of a header.
fn steps(code: &Code<'_>, header: BlockId, back: &Target) -> Vec<Option<Step>> {
    let function = code.function;
    let params = function.blocks[header].params.iter().enumerate();
    let step = |(position, param): (usize, &Value)| match function.values[*param] {
        Type::Int => {
            let (_, step) = counter(function, &code.graph, &code.definitions, header, position)?;
            Some(Step::Int(step))
        }
        Type::F64 => {
            let inst = code.definitions.inst(function, back.args[position])?;
            let constant = |value: Value| match code.definitions.op(function, value)? {
                Op::ConstReal(bits) => Some(f64::from_bits(bits)),
                _ => None,
            };
            let step = match (inst.op, &inst.args[..]) {
                (Op::Real2(Real2::Add), [x, y]) if x == param => constant(*y)?,
                (Op::Real2(Real2::Add), [x, y]) if y == param => constant(*x)?,
                (Op::Real2(Real2::Sub), [x, y]) if x == param => -constant(*y)?,
                _ => return None,
            };
            (step.trunc() == step && step.abs() <= 1024.0).then_some(Step::Real(step))
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
    steps: &'a [Option<Step>],
}

impl Loop<'_> {
    /// The value, if it is one from before the loop.
    fn outside(&self, value: Value) -> Option<Bound> {
        if !self.inside.contains(&self.code.homes[&value]) {
            return Some(Bound::Value(value));
        }
        let op = self.code.op(value).filter(|op| is_constant(*op))?;
        Some(Bound::Constant(op, self.code.function.values[value]))
    }

    /// Which parameter is compared with a bound, where the bound stands, and how they are in every round.
    fn comparison(&self, test: Value, continues_if: bool) -> Option<(usize, usize, Relation)> {
        use Relation::{AtLeast, AtMost, Greater, Less, Unequal};
        let inst = self.code.definitions.inst(self.code.function, test)?;
        if !self.inside.contains(&self.code.homes[&test]) || inst.args.len() != 2 {
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
        let step = match self.steps[tested]? {
            Step::Int(step) => step as f64,
            Step::Real(step) => step,
        };
        let is_reached = match relation {
            Less | AtMost => step == 1.0,
            Greater | AtLeast => step == -1.0,
            Unequal => step.abs() == 1.0,
        };
        is_reached.then_some((tested, bound_operand, relation))
    }

    /// All values of the loop that depend on what rounds before have made. Control does not.
    fn dependent(&self, body: &[BlockId]) -> Option<FxHashSet<Value>> {
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
                        let depend = params.filter(|(_, arg)| found.contains(arg)).map(|(param, _)| *param);
                        if depend.count() > 0 {
                            return None;
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
    insts: Vec<Inst>,
    leaves: Vec<(Value, Type)>,
    known: FxHashSet<Value>,
}

impl Rest<'_> {
    /// Adds an instruction of the stage.
    fn add(&mut self, inst: &Inst) {
        inst.args.iter().for_each(|arg| self.need(*arg));
        self.insts.push(inst.clone());
    }

    /// Adds what is needed for a value: next to nothing is computed again, everything else handed over.
    fn need(&mut self, value: Value) {
        let code = self.loop_.code;
        let is_there = self.sequential.contains(&value)
            || !self.loop_.inside.contains(&code.homes[&value])
            || code.function.blocks[self.loop_.header].params.contains(&value);
        if is_there || !self.known.insert(value) {
            return;
        }
        match code.definitions.inst(code.function, value) {
            Some(inst) if self.is_cheap(value) => self.add(inst),
            _ => self.leaves.push((value, code.function.values[value])),
        }
    }

    /// Whether a value is a constant, or follows from counters and values from before the loop in a few steps.
    fn is_cheap(&self, value: Value) -> bool {
        let code = self.loop_.code;
        if !self.loop_.inside.contains(&code.homes[&value])
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
