//! The first round of a loop is made apart where it is not like the others: SSA → SSA.
//!
//! ```text
//!     jump b1(0, v0)                                   jump b5
//!                                                  b5: branch (int_lt 0, v9), b6, b8(0, v0)
//!                                                  b6: v10 = element.vec0.0 v8, v9, 0
//!                                                      v11 = with_element.vec0 v0, v9, 0, v10
//!                                                      jump b1(1, v11)
//! b1(v1: int, v2: ptr):                            b1(v1: int, v2: ptr):
//!     branch (int_lt v1, v9), b2, b4                   branch (int_lt v1, v9), b2, b8(v1, v2)
//! b2: branch (int_is.0 v1), b3(v3), b7     →       b2: jump b7
//! ```
//!
//! What is special about the first element of a vector is often said by a test of the place, `(= i 0)`. Apart, it is
//! decided, and the loop that is left is one chain, which may be made in lanes, and whose places, one before the
//! counter for example, are in range.
//!
//! A sensitivity or a tangent is often zero where a loop begins, and a number in all rounds behind the first: a state
//! starts at constants. Tests for the symbolic zero are decided in the same way; in the loop that is left, nothing asks
//! for it any more.
//!
//! Of a loop that is known to have a few short rounds all are made apart: the loops over the coordinates of a point, for
//! example. Places are constants there, and no counter is left.
//!
//! Only inner loops that are left at their beginning are treated, and only if what is decided is in proportion to the
//! code that is copied.
//!
//! Runs late: a vector whose first element is written apart is no longer filled by a loop alone, as fusion wants it.
//!
//! Tests: `tests/opt/peel/`.

use crate::opt::Context;
use crate::opt::analysis::loops::{Code, Homes, counter, ends, homes, linear, preheader};
use crate::opt::edit::clone_region::clone_region;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Inst, IntCompare, Op, Target, Terminator, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Loops with more instructions stay as they are, unless what they use of the tests is worth more.
const LARGEST_LOOP: usize = 64;
/// So many instructions more may be copied for each use of a test that is decided.
const WORTH_OF_A_TEST: usize = 12;

/// Loops with more rounds stay loops.
const MOST_ROUNDS: i64 = 4;

/// Treats a function.
pub fn run(function: &mut Function, _: &Context) -> bool {
    let mut changed = false;
    let mut headers = headers(function);
    while let Some((place, found)) = next(function, &headers) {
        found.peel(function);
        headers.drain(..=place);
        changed = true;
    }
    changed
}

fn headers(function: &Function) -> Vec<BlockId> {
    let graph = Graph::new(function);
    graph.order.iter().copied().filter(|block| graph.is_loop_header(*block)).collect()
}

/// The first of these loops that has a special first round, and its place among them.
fn next(function: &Function, headers: &[BlockId]) -> Option<(usize, Peeled)> {
    if headers.is_empty() {
        return None;
    }
    let code = Code::new(function);
    headers.iter().enumerate().find_map(|(place, header)| Some((place, Peeled::find(&code, *header)?)))
}

/// A loop whose first round is special, or that has a few rounds only.
struct Peeled {
    header: BlockId,
    /// How many rounds it has, if that is known and all are made apart.
    rounds: Option<i64>,
    /// The blocks that are copied: those of the loop, and those where the program ends that only the loop leads to.
    region: Vec<BlockId>,
    /// Where the header leaves the loop.
    way_out: Target,
    /// The tests that hold in the first round only.
    tests: FxHashSet<Value>,
    /// The values of the loop that are needed behind it.
    needed: Vec<Value>,
}

impl Peeled {
    fn find(code: &Code<'_>, header: BlockId) -> Option<Peeled> {
        let function = code.function;
        let body = code.body(header);
        let is_inner = body.iter().all(|block| *block == header || !code.graph.is_loop_header(*block));
        if !is_inner || !code.is_left_at_header(header, &body) {
            return None;
        }
        let ways_out = function.blocks[header].terminator.targets().into_iter();
        let mut ways_out = ways_out.filter(|target| !body.contains(&target.block) && !ends(function, target.block));
        let (Some(way_out), None) = (ways_out.next(), ways_out.next()) else { return None };
        let is_of_loop = |block: &BlockId| {
            let before = &code.graph.predecessors[*block];
            body.contains(block) || ends(function, *block) && before.iter().all(|from| body.contains(from))
        };
        let region: Vec<BlockId> = code.graph.order.iter().copied().filter(is_of_loop).collect();
        let size: usize = region.iter().map(|block| function.blocks[*block].insts.len()).sum();
        let rounds = trip_count(code, header, &body)
            .filter(|rounds| (1..=MOST_ROUNDS).contains(rounds) && size * *rounds as usize <= LARGEST_LOOP);
        let needed = needed_outside(function, &region, way_out);
        let way_out = way_out.clone();
        if rounds.is_some() {
            return Some(Peeled { header, rounds, region, way_out, tests: FxHashSet::default(), needed });
        }
        let mut tests = special_tests(code, header, &region);
        tests.extend(tests_for_zero(code, header, &body, &region));
        let mut uses = 0;
        for block in &region {
            function.blocks[*block].for_each_value(|value| uses += usize::from(tests.contains(&value)));
        }
        if tests.is_empty() || size > LARGEST_LOOP + WORTH_OF_A_TEST * uses {
            return None;
        }
        Some(Peeled { header, rounds, region, way_out, tests, needed })
    }

    fn peel(self, function: &mut Function) {
        self.close(function);
        let Some(rounds) = self.rounds else {
            let (blocks, tests) = self.copy_round(function);
            blocks.iter().for_each(|block| decide(&mut function.blocks[*block].insts, &tests, true));
            for block in &self.region {
                decide(&mut function.blocks[*block].insts, &self.tests, false);
            }
            return;
        };
        let is_inside = |target: &&Target| self.region.contains(&target.block);
        for _ in 0..rounds {
            let (blocks, _) = self.copy_round(function);
            let first = blocks[0];
            let targets = function.blocks[first].terminator.targets().into_iter().cloned();
            let goes_on = targets.into_iter().find(|target| blocks.contains(&target.block));
            if let Some(goes_on) = goes_on {
                function.blocks[first].terminator = Terminator::Jump(goes_on);
            }
        }
        let targets = function.blocks[self.header].terminator.targets().into_iter();
        let way_out = targets.into_iter().find(|target| !is_inside(target)).cloned();
        if let Some(way_out) = way_out {
            function.blocks[self.header].terminator = Terminator::Jump(way_out);
        }
    }

    /// A copy of the loop that is its first round: its blocks, the header first, and the tests in it.
    fn copy_round(&self, function: &mut Function) -> (Vec<BlockId>, FxHashSet<Value>) {
        let graph = Graph::new(function);
        let before = preheader(function, &graph, self.header);
        let Terminator::Jump(entry) = function.blocks[before].terminator.clone() else {
            unreachable!("a preheader goes to the header only")
        };
        let mut values: FxHashMap<Value, Value> = FxHashMap::default();
        values.extend(function.blocks[self.header].params.iter().copied().zip(entry.args));
        let blocks = clone_region(function, &self.region, self.header, &mut values);
        let first = blocks[&self.header];
        function.blocks[before].terminator = Terminator::Jump(Target { block: first, args: Vec::new() });
        let others = self.region.iter().filter(|block| **block != self.header).map(|block| blocks[block]);
        ([first].into_iter().chain(others).collect(), self.tests.iter().map(|test| values[test]).collect())
    }

    /// Lets what is needed behind the loop be the parameters of a block that only the loop leads to.
    fn close(&self, function: &mut Function) {
        let types: Vec<Type> = self.needed.iter().map(|value| function.values[*value]).collect();
        let behind = function.new_block(&types);
        let params = function.blocks[behind].params.clone();
        let closed: FxHashMap<Value, Value> = self.needed.iter().copied().zip(params).collect();
        function.blocks[behind].terminator = Terminator::Jump(self.way_out.clone());
        for id in function.blocks.ids().filter(|id| !self.region.contains(id)) {
            function.blocks[id].for_each_use(|value| *value = closed.get(value).copied().unwrap_or(*value));
        }
        for target in function.blocks[self.header].terminator.targets_mut() {
            if *target == self.way_out {
                *target = Target { block: behind, args: self.needed.clone() };
            }
        }
    }
}

/// How many rounds a loop that is left at its header has, if that is a constant.
fn trip_count(code: &Code<'_>, header: BlockId, body: &FxHashSet<BlockId>) -> Option<i64> {
    let function = code.function;
    let Terminator::Branch(condition, yes, _) = &function.blocks[header].terminator else { return None };
    let inst = code.definitions.inst(function, *condition)?;
    if inst.op != Op::IntCompare(IntCompare::Lt) || !body.contains(&yes.block) {
        return None;
    }
    let side = |value: Value| match linear(function, &code.definitions, value) {
        (None, constant) => Some((constant, 0)),
        (Some(base), offset) => {
            let position = function.blocks[header].params.iter().position(|param| *param == base)?;
            match counter(function, &code.graph, &code.definitions, header, position)? {
                ((None, start), step) => Some((start.checked_add(offset)?, step)),
                _ => None,
            }
        }
    };
    // Below from the first round on, until the distance is gone.
    let ((low, rises), (high, falls)) = (side(inst.args[0])?, side(inst.args[1])?);
    let (distance, step) = (high.checked_sub(low)?, rises.checked_sub(falls)?);
    (distance <= 0).then_some(0).or_else(|| (step > 0).then(|| (distance - 1) / step + 1))
}

/// The tests of a counter that hold in the first round only.
fn special_tests(code: &Code<'_>, header: BlockId, region: &[BlockId]) -> FxHashSet<Value> {
    let function = code.function;
    let params = &function.blocks[header].params;
    let mut starts: FxHashMap<Value, i64> = FxHashMap::default();
    for (position, param) in params.iter().enumerate().filter(|(_, param)| function.values[**param] == Type::Int) {
        if let Some(((None, start), 1..)) = counter(function, &code.graph, &code.definitions, header, position) {
            starts.insert(*param, start);
        }
    }
    let holds_first = |inst: &&Inst| {
        let Op::IntIs(number) = inst.op else { return false };
        let (base, offset) = linear(function, &code.definitions, inst.args[0]);
        base.and_then(|base| starts.get(&base)).is_some_and(|start| start + offset == number)
    };
    let tests = region.iter().flat_map(|block| &function.blocks[*block].insts).filter(holds_first);
    tests.map(|inst| inst.results[0]).collect()
}

/// The tests of a parameter of the header for a symbolic zero with which it starts, and which it never is again.
fn tests_for_zero(code: &Code<'_>, header: BlockId, body: &FxHashSet<BlockId>, region: &[BlockId]) -> FxHashSet<Value> {
    let function = code.function;
    let params = &function.blocks[header].params;
    let mut numbers = Numbers { code, homes: None, seen: FxHashSet::default() };
    let mut holds_first = |inst: &&Inst| {
        let Op::RealIs(zero) = inst.op else { return false };
        let Some(position) = params.iter().position(|param| *param == inst.args[0]) else { return false };
        let [outside, inside] = code.passed(header, position, body);
        let is_zero = |value| code.definitions.op(function, value) == Some(Op::ConstReal(zero));
        outside.iter().all(|(_, value)| is_zero(*value)) && inside.iter().all(|(_, value)| numbers.has(*value))
    };
    let insts = region.iter().flat_map(|block| &function.blocks[*block].insts);
    insts.filter(|inst| holds_first(inst)).map(|inst| inst.results[0]).collect()
}

/// Which values are numbers: what operations make, wherever paths join (see [`Op::RealIs`]).
struct Numbers<'c, 'f> {
    code: &'c Code<'f>,
    homes: Option<Homes>,
    /// Parameters of blocks that are numbers, or of which that is being found out.
    seen: FxHashSet<Value>,
}

impl Numbers<'_, '_> {
    fn has(&mut self, value: Value) -> bool {
        let function = self.code.function;
        let Some(inst) = self.code.definitions.inst(function, value) else { return self.has_param(value) };
        match inst.op {
            Op::Real1(_) | Op::Real2(_) | Op::RealOf => true,
            Op::ConstReal(bits) => !f64::from_bits(bits).is_nan(),
            Op::Select => inst.args[1..].iter().all(|arg| self.has(*arg)),
            _ => false,
        }
    }

    fn has_param(&mut self, param: Value) -> bool {
        let function = self.code.function;
        let homes = self.homes.get_or_insert_with(|| homes(function));
        let Some(block) = homes.get(param) else { return false };
        let Some(position) = function.blocks[block].params.iter().position(|other| *other == param) else {
            return false;
        };
        let before = &self.code.graph.predecessors[block];
        if before.is_empty() || self.code.graph.is_loop_header(block) {
            return false;
        }
        if !self.seen.insert(param) {
            return true;
        }
        let targets = before.iter().flat_map(|from| function.blocks[*from].terminator.targets());
        let passed: Vec<Value> = targets.filter(|to| to.block == block).map(|to| to.args[position]).collect();
        let is_number = passed.into_iter().all(|value| self.has(value));
        if !is_number {
            self.seen.remove(&param);
        }
        is_number
    }
}

/// The values of some blocks that others use, or that are passed on the way out.
fn needed_outside(function: &Function, region: &[BlockId], way_out: &Target) -> Vec<Value> {
    let mut defined: FxHashSet<Value> = FxHashSet::default();
    for block in region.iter().map(|block| &function.blocks[*block]) {
        defined.extend(block.params.iter().chain(block.insts.iter().flat_map(|inst| &inst.results)));
    }
    let mut needed = Vec::new();
    let mut add = |value: Value| {
        if defined.contains(&value) && !needed.contains(&value) {
            needed.push(value);
        }
    };
    way_out.args.iter().copied().for_each(&mut add);
    for (_, block) in function.blocks.iter().filter(|(id, _)| !region.contains(id)) {
        block.for_each_value(&mut add);
    }
    needed
}

fn decide(insts: &mut [Inst], tests: &FxHashSet<Value>, outcome: bool) {
    for inst in insts.iter_mut().filter(|inst| inst.results.first().is_some_and(|result| tests.contains(result))) {
        (inst.op, inst.args) = (Op::ConstBool(outcome), Default::default());
    }
}
