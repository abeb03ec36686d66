//! Writes the loop in lanes in front of the other one.
//!
//! ```text
//! before:  bounds, constants in both lanes; is there a round for the lanes?
//! lanes:   the round, one block, which goes on to itself, or to...
//! after:   only if sums are made in lanes: they are put together
//! ```
//!
//! Tests for the symbolic zero that were made before the loop are asked once: there are rounds in lanes if none of
//! them holds.
//!
//! Where elements of vectors are tested for the symbolic zero, most are numbers, and one test tells that for all of
//! them and both lanes: the symbolic zero is no number (see [`Op::RealIs`]). Then the round has two blocks to choose
//! from: one for numbers, without any of the tests and selections, and one for everything.
//!
//! Where operations are watched, a round is in two blocks: what comes before its changes of vectors and asks whether
//! all is finite, and these changes. If all that is watched becomes part of sums and no vector changes, the sums are
//! looked at behind the lanes, once. With symbolic zeros there is no round, since they are no numbers, and what is
//! chosen is what counts.
//!
//! A value is written when it is needed: for one round, numbered from the first that the lanes make together, or in the
//! lanes of a pair of rounds.

use crate::opt::analysis::finite;
use crate::opt::analysis::loops::Linear;
use crate::opt::edit::rewrite::{append, is_constant};
use crate::opt::loops::vectorize::bounds::Test;
use crate::opt::loops::vectorize::plan::{End, Gathering, Plan, lanewise};
use crate::ssa::ir::{
    BlockId, Compare, Function, Inst, Int2, IntCompare, LANES, Lanewise, Op, Real2, Target, Terminator, Type, Value,
};
use rustc_hash::FxHashMap;

/// Adds the loop of a plan to the function.
pub(super) fn write(function: &mut Function, plan: &Plan) {
    let header = plan.found.header;
    let types: Vec<Type> = plan.found.params.iter().map(|param| function.values[*param]).collect();
    let [before, lanes] = [(); 2].map(|()| function.new_block(&types));
    for entry in &plan.found.entries {
        let to_header =
            function.blocks[*entry].terminator.targets_mut().into_iter().filter(|target| target.block == header);
        to_header.for_each(|target| target.block = before);
    }

    let params = function.blocks[before].params.clone();
    let mut start = Writer::new(function, plan, params.clone());
    let tests = start.bounds();
    let is_round = start.entry_test(&tests);
    let mut fixed = start.insts;

    let mut head = Writer::new(function, plan, function.blocks[lanes].params.clone());
    let starts = head.lane_params(lanes, &mut fixed, &params);
    let is_any = head.any_not_a_number();
    let Writer { insts, hoisted, known, .. } = head;
    fixed.extend(hoisted);
    function.blocks[lanes].insts = insts;

    let mut after = header;
    if !plan.sums.is_empty() {
        let types: Vec<Type> = function.blocks[lanes].params.iter().map(|param| function.values[*param]).collect();
        after = function.new_block(&types);
        let (insts, passed) = put_together(function, plan, after);
        function.blocks[after].insts = insts;
        function.blocks[after].terminator = Terminator::Jump(Target { block: header, args: passed });
    }
    let after = looked_at(function, plan, (lanes, after), &params).unwrap_or(after);
    let mut ways = Vec::new();
    let on = |block: BlockId, args: Vec<Value>| Target { block, args };
    for is_plain in [true, false] {
        if is_plain && is_any.is_none() {
            continue;
        }
        if !is_plain && is_any.is_some() && !plan.watched.roots.is_empty() {
            ways.push((after, function.blocks[lanes].params.clone()));
            continue;
        }
        let way = if is_any.is_some() { function.new_block(&[]) } else { lanes };
        let mut round = Writer::new(function, plan, function.blocks[lanes].params.clone());
        (round.known, round.is_plain) = (known.clone(), is_plain);
        let next = round.round();
        let goes_on = round.tests(&tests, plan.pairs * LANES);
        let Writer { mut insts, hoisted, is_finite, .. } = round;
        fixed.extend(hoisted);
        let mut end = way;
        if let Some((is_finite, before)) = is_finite {
            end = function.new_block(&[]);
            let changes = insts.split_off(before);
            function.blocks[way].insts.extend(std::mem::replace(&mut insts, changes));
            let out = on(after, function.blocks[lanes].params.clone());
            function.blocks[way].terminator = Terminator::Branch(is_finite, on(end, Vec::new()), out);
        }
        function.blocks[end].insts.extend(insts);
        function.blocks[end].terminator = Terminator::Branch(goes_on, on(lanes, next.clone()), on(after, next));
        ways.push((way, Vec::new()));
    }
    if let (Some(is_any), [plain, exact]) = (is_any, &ways[..]) {
        let [exact, plain] = [exact, plain].map(|(block, args)| on(*block, args.clone()));
        function.blocks[lanes].terminator = Terminator::Branch(is_any, exact, plain);
    }
    function.blocks[before].insts = fixed;
    function.blocks[before].terminator = Terminator::Branch(is_round, on(lanes, starts), on(header, params));
}

/// A block behind the lanes, with their parameters, that asks whether all that they have computed is finite, if that is
/// enough: the loop begins anew if not.
fn looked_at(
    function: &mut Function,
    plan: &Plan,
    (lanes, after): (BlockId, BlockId),
    start: &[Value],
) -> Option<BlockId> {
    let found = &plan.found;
    let ends = plan.watched_at_end()?;
    let types: Vec<Type> = function.blocks[lanes].params.iter().map(|param| function.values[*param]).collect();
    let block = function.new_block(&types);
    let args = function.blocks[block].params.clone();
    let numbers: Vec<Value> = ends
        .into_iter()
        .map(|end| match end {
            End::Carried(at) => args[at],
            End::Given(value) => value,
        })
        .collect();
    let mut insts = Vec::new();
    let is_finite = finite::are_finite(function, &mut insts, &numbers)?;
    let again = Target { block: found.header, args: start.to_vec() };
    function.blocks[block].insts = insts;
    function.blocks[block].terminator = Terminator::Branch(is_finite, Target { block: after, args }, again);
    Some(block)
}

/// What is gathered before the first round of lanes, in the lanes of each pair of rounds; the loop is given `start`.
fn first_lanes(
    function: &mut Function,
    plan: &Plan,
    insts: &mut Vec<Inst>,
    kind: Gathering,
    start: &[Value],
    position: usize,
) -> Vec<Value> {
    let mut make = |op, args, ty| append(&mut function.values, insts, op, args, ty, None);
    if let Gathering::Parts(positions) = kind {
        let part = |pair, lane| start[positions[plan.round_of(pair, lane)]];
        return (0..plan.pairs)
            .map(|pair| make(Op::Pair, (0..LANES).map(|lane| part(pair, lane)).collect(), Type::F64x2))
            .collect();
    }
    let mut real = |x: f64| make(Op::ConstReal(x.to_bits()), Vec::new(), Type::F64);
    let [yes, no] = TRUTHS.map(&mut real);
    let (neutral, is_truth) = match kind {
        Gathering::Real(Real2::Mul) => (real(1.0), false),
        Gathering::Real(_) | Gathering::Parts(_) => (real(-0.0), false),
        Gathering::Or => (no, true),
        Gathering::And => (yes, true),
    };
    let mut first = start[position];
    if is_truth {
        first = make(Op::Select, vec![first, yes, no], Type::F64);
    }
    let none = make(Op::Splat, vec![neutral], Type::F64x2);
    let first = make(Op::Pair, vec![first, neutral], Type::F64x2);
    let mut in_lanes = [first, none];
    if is_truth {
        let all = make(Op::Splat, vec![yes], Type::F64x2);
        let compare = Op::Lanes(Lanewise::Compare(Compare::Eq));
        in_lanes = in_lanes.map(|reals| make(compare, vec![reals, all], Type::Boolx2));
    }
    let [first, none] = in_lanes;
    (0..plan.pairs).map(|pair| if pair == 0 { first } else { none }).collect()
}

/// Puts what is gathered in lanes together; the parameters of the block are those of the lanes. What it passes on to
/// the loop.
fn put_together(function: &mut Function, plan: &Plan, after: BlockId) -> (Vec<Inst>, Vec<Value>) {
    let params = function.blocks[after].params.clone();
    let (own, mut further) = params.split_at(plan.found.params.len());
    let (mut insts, mut passed) = (Vec::new(), own.to_vec());
    for (position, param) in plan.found.params.iter().enumerate() {
        let Some(kind) = plan.sums.get(param) else { continue };
        let (of_this, others) = further.split_at(plan.pairs - 1);
        further = others;
        let parts: Vec<Value> = own[position..=position].iter().chain(of_this).copied().collect();
        match kind {
            Gathering::Parts(positions) => {
                for (pair, lanes) in parts.iter().enumerate() {
                    for lane in 0..LANES {
                        let lane_of = Op::Lane(lane == 1);
                        let part = append(&mut function.values, &mut insts, lane_of, vec![*lanes], Type::F64, None);
                        passed[positions[plan.round_of(pair, lane)]] = part;
                    }
                }
            }
            _ => passed[position] = gather(function, &mut insts, *kind, &parts),
        }
    }
    (insts, passed)
}

/// What is gathered of all lanes.
fn gather(function: &mut Function, insts: &mut Vec<Inst>, kind: Gathering, parts: &[Value]) -> Value {
    let mut parts = parts.to_vec();
    let op = Op::Lanes(lanewise(kind.op()).expect("what is gathered is made in lanes"));
    let ty = function.values[parts[0]];
    while parts.len() > 1 {
        parts = parts
            .chunks(2)
            .map(|pair| match pair {
                [x, y] => append(&mut function.values, insts, op, vec![*x, *y], ty, None),
                _ => pair[0],
            })
            .collect();
    }
    let mut make = |op, args, ty| append(&mut function.values, insts, op, args, ty, None);
    match kind {
        Gathering::Real(_) | Gathering::Parts(_) => {
            let lanes = [false, true].map(|lane| make(Op::Lane(lane), parts.clone(), Type::F64));
            make(kind.op(), lanes.to_vec(), Type::F64)
        }
        Gathering::Or => make(Op::AnyLane, parts, Type::Bool),
        Gathering::And => {
            let isnt = make(Op::Lanes(Lanewise::Not), parts, Type::Boolx2);
            let is_any = make(Op::AnyLane, vec![isnt], Type::Bool);
            make(Op::Not, vec![is_any], Type::Bool)
        }
    }
}

/// Numbers that stand for true and false on the way into lanes and out of them.
const TRUTHS: [f64; 2] = [1.0, 0.0];

/// Writes instructions of rounds that begin with these parameters.
struct Writer<'f> {
    function: &'f mut Function,
    plan: &'f Plan,
    params: Vec<Value>,
    insts: Vec<Inst>,
    /// What is the same in all rounds of the lanes.
    hoisted: Vec<Inst>,
    known: Known,
    /// Whether what is tested for the symbolic zero is a number.
    is_plain: bool,
    /// Whether all that is watched is finite, and how many instructions there are before the vectors are changed.
    is_finite: Option<(Value, usize)>,
}

/// What has been written.
#[derive(Clone, Debug, Default)]
struct Known {
    /// Values by their round.
    singles: FxHashMap<(Value, usize), Value>,
    /// Values in lanes, by the pair of rounds; with 0 for what does not change.
    lanes: FxHashMap<(Value, usize), Value>,
    constants: FxHashMap<Op, Value>,
    /// Integers to which a constant was added.
    moved: FxHashMap<(Value, i64), Value>,
}

impl<'f> Writer<'f> {
    fn new(function: &'f mut Function, plan: &'f Plan, params: Vec<Value>) -> Writer<'f> {
        let (insts, hoisted) = (Vec::new(), Vec::new());
        Writer { function, plan, params, insts, hoisted, known: Known::default(), is_plain: false, is_finite: None }
    }

    fn make(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        append(&mut self.function.values, &mut self.insts, op, args.to_vec(), ty, None)
    }

    fn hoist(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        append(&mut self.function.values, &mut self.hoisted, op, args.to_vec(), ty, None)
    }

    /// A constant, which is made where it is used.
    fn constant(&mut self, op: Op, ty: Type) -> Value {
        if let Some(value) = self.known.constants.get(&op) {
            return *value;
        }
        let value = self.make(op, &[], ty);
        self.known.constants.insert(op, value);
        value
    }

    fn int(&mut self, number: i64) -> Value {
        self.constant(Op::ConstInt(number), Type::Int)
    }

    fn plus(&mut self, value: Value, number: i64) -> Value {
        if number == 0 {
            return value;
        }
        if let Some(moved) = self.known.moved.get(&(value, number)) {
            return *moved;
        }
        let added = self.int(number);
        let moved = self.make(Op::Int2(Int2::Add), &[value, added], Type::Int);
        self.known.moved.insert((value, number), moved);
        moved
    }

    /// The value that is the same as this one, in lanes at all, or where what is tested is a number.
    fn plain(&self, mut value: Value) -> Value {
        while let Some(inst) = self.plan.found.inst(value).filter(|inst| inst.op == Op::Select)
            && let Some(truth) = self.plan.truth(inst.args[0], self.is_plain)
        {
            value = inst.args[if truth { 1 } else { 2 }];
        }
        value
    }

    /// Whether one of the values that are tested for the symbolic zero is not a number in some lane.
    fn any_not_a_number(&mut self) -> Option<Value> {
        let mut is_any = None;
        for pair in 0..self.plan.pairs {
            for value in &self.plan.tested {
                let lanes = self.in_lanes(*value, pair);
                let is_not = Op::Lanes(Lanewise::Compare(Compare::Ne));
                let is_not = self.make(is_not, &[lanes, lanes], Type::Boolx2);
                is_any = Some(match is_any {
                    Some(other) => self.make(Op::Lanes(Lanewise::Or), &[other, is_not], Type::Boolx2),
                    None => is_not,
                });
            }
        }
        is_any.map(|is_any| self.make(Op::AnyLane, &[is_any], Type::Bool))
    }

    /// The value that stands for one of the loop in a round.
    fn single(&mut self, value: Value, round: usize) -> Value {
        let value = self.plain(value);
        let found = &self.plan.found;
        if !found.is_inside(value) {
            return value;
        }
        let stride = found.stride(value);
        let round = if stride == Some(0) { 0 } else { round };
        if let Some(written) = self.known.singles.get(&(value, round)) {
            return *written;
        }
        let written = match (stride, found.param(value)) {
            (Some(stride), _) if round > 0 => {
                let first = self.single(value, 0);
                self.plus(first, stride * round as i64)
            }
            // What is read of a vector that is changed is not changed yet.
            (_, Some(position)) if round == 0 || self.plan.changes.contains_key(&value) => self.params[position],
            (_, Some(position)) => self.single(found.next[position], round - 1),
            _ if self.plan.laned.contains(&value) && self.function.values[value] != Type::Bool => {
                let lanes = self.in_lanes(value, round / LANES);
                let lane = (0..LANES).find(|lane| self.plan.round_of(round / LANES, *lane) == round);
                self.make(Op::Lane(lane == Some(1)), &[lanes], Type::F64)
            }
            _ => self.copy(value, round),
        };
        self.known.singles.insert((value, round), written);
        written
    }

    /// A copy of the instruction that makes a value.
    fn copy(&mut self, value: Value, round: usize) -> Value {
        let inst = self.plan.found.inst(value).expect("what is no parameter is made by an instruction");
        let ty = self.function.values[value];
        if is_constant(inst.op) {
            return self.constant(inst.op, ty);
        }
        let args: Vec<Value> = inst.args.iter().map(|arg| self.single(*arg, round)).collect();
        self.make(inst.op, &args, ty)
    }

    /// The lanes of a value in a pair of rounds.
    fn in_lanes(&mut self, value: Value, pair: usize) -> Value {
        let value = self.plain(value);
        let found = &self.plan.found;
        let pair = if found.stride(value) == Some(0) { 0 } else { pair };
        if let Some(written) = self.known.lanes.get(&(value, pair)) {
            return *written;
        }
        let written = if self.plan.laned.contains(&value) {
            self.laned(value, pair)
        } else if !found.is_inside(value) {
            self.hoist(Op::Splat, &[value], Type::F64x2)
        } else if let Some(inst) = found.inst(value).filter(|inst| is_constant(inst.op)) {
            let constant = self.hoist(inst.op, &[], Type::F64);
            self.hoist(Op::Splat, &[constant], Type::F64x2)
        } else if found.stride(value) == Some(0) {
            let single = self.single(value, 0);
            self.make(Op::Splat, &[single], Type::F64x2)
        } else {
            let lanes = [0, 1].map(|lane| self.single(value, self.plan.round_of(pair, lane)));
            self.make(Op::Pair, &lanes, Type::F64x2)
        };
        self.known.lanes.insert((value, pair), written);
        written
    }

    /// The operation that makes a value in lanes.
    fn laned(&mut self, value: Value, pair: usize) -> Value {
        let inst = self.plan.found.inst(value).expect("sums in lanes are parameters of the lanes");
        if self.is_plain
            && let Some(truth) = self.plan.truth_of_numbers(value)
        {
            return self.truth(truth);
        }
        let first = self.plan.round_of(pair, 0);
        match inst.op {
            Op::Element(vector, field) => {
                let args: Vec<Value> = inst.args.iter().map(|arg| self.single(*arg, first)).collect();
                self.make(Op::Elements(vector, field), &args, Type::F64x2)
            }
            Op::RealOf => {
                let counter = self.single(inst.args[0], first);
                let real = self.make(Op::RealOf, &[counter], Type::F64);
                let both = self.make(Op::Splat, &[real], Type::F64x2);
                let [zero, one] = [0.0, 1.0f64].map(|x| self.hoist(Op::ConstReal(x.to_bits()), &[], Type::F64));
                let distance = self.hoist(Op::Pair, &[zero, one], Type::F64x2);
                let add = lanewise(Op::Real2(Real2::Add)).expect("lanes can be added");
                self.make(Op::Lanes(add), &[both, distance], Type::F64x2)
            }
            op => {
                let op = lanewise(op).expect("what is in lanes can be done there");
                let args: Vec<Value> = inst.args.iter().map(|arg| self.in_lanes(*arg, pair)).collect();
                let is_truth = self.function.values[value] == Type::Bool;
                self.make(Op::Lanes(op), &args, if is_truth { Type::Boolx2 } else { Type::F64x2 })
            }
        }
    }

    /// A truth value in both lanes.
    fn truth(&mut self, truth: bool) -> Value {
        let zero = self.hoist(Op::ConstReal(0.0f64.to_bits()), &[], Type::F64);
        let zeros = self.hoist(Op::Splat, &[zero], Type::F64x2);
        let compare = if truth { Compare::Eq } else { Compare::Ne };
        self.hoist(Op::Lanes(Lanewise::Compare(compare)), &[zeros, zeros], Type::Boolx2)
    }

    /// The tests of the loop in lanes, with the bounds as values.
    fn bounds(&mut self) -> Vec<(Test, Value)> {
        let tests = self.plan.bounds.tests.clone();
        let mut bounds: Vec<(Test, Value)> = Vec::new();
        for test in tests {
            let bound = self.bound(test.bound);
            // Of two upper bounds the lower one counts.
            let alike = |(other, _): &&mut (Test, Value)| {
                (other.counter, other.is_below, other.holds) == (test.counter, true, true)
                    && test.is_below
                    && test.holds
            };
            match bounds.iter_mut().find(alike) {
                Some((other, least)) if other.bound != test.bound => {
                    let is_less = self.make(Op::IntCompare(IntCompare::Lt), &[bound, *least], Type::Bool);
                    *least = self.make(Op::Select, &[is_less, bound, *least], Type::Int);
                }
                Some(_) => {}
                None => bounds.push((test, bound)),
            }
        }
        bounds
    }

    fn bound(&mut self, (base, offset): Linear) -> Value {
        match base {
            Some(base) => self.plus(base, offset),
            None => self.int(offset),
        }
    }

    /// Whether there is a first round of lanes.
    fn entry_test(&mut self, tests: &[(Test, Value)]) -> Value {
        let plan = self.plan;
        let mut all: Vec<Value> = vec![self.tests(tests, 0)];
        for (value, holds) in &plan.bounds.given {
            all.push(if *holds { *value } else { self.make(Op::Not, &[*value], Type::Bool) });
        }
        for test in &plan.failed {
            all.push(self.make(Op::Not, &[*test], Type::Bool));
        }
        for test in &plan.bounds.first {
            let bound = self.bound(test.bound);
            all.push(self.test(test, bound, 0));
        }
        // Bounds that are moved may not go around.
        let lengths: Vec<Value> = plan
            .found
            .insts
            .iter()
            .filter_map(|inst| match inst.op {
                Op::Element(..) | Op::WithElement(_) => Some(inst.args[1]),
                _ => None,
            })
            .collect();
        for test in &plan.bounds.tests {
            let (Some(base), offset) = test.bound else { continue };
            if offset != 0 && !lengths.contains(&base) {
                let moved = self.plus(base, offset);
                let operands = if offset < 0 { [moved, base] } else { [base, moved] };
                all.push(self.make(Op::IntCompare(IntCompare::Lt), &operands, Type::Bool));
            }
        }
        self.all(&all)
    }

    fn all(&mut self, truths: &[Value]) -> Value {
        let (first, others) = truths.split_first().expect("a loop has a test");
        others.iter().fold(*first, |all, value| self.make(Op::And, &[all, *value], Type::Bool))
    }

    /// Whether the tests hold in a round.
    fn tests(&mut self, tests: &[(Test, Value)], round: usize) -> Value {
        let all: Vec<Value> = tests.iter().map(|(test, bound)| self.test(test, *bound, round)).collect();
        self.all(&all)
    }

    fn test(&mut self, test: &Test, bound: Value, round: usize) -> Value {
        let counter = self.single(test.counter, round);
        let operands = if test.is_below { [counter, bound] } else { [bound, counter] };
        let outcome = self.make(Op::IntCompare(IntCompare::Lt), &operands, Type::Bool);
        if test.holds { outcome } else { self.make(Op::Not, &[outcome], Type::Bool) }
    }

    /// Makes the parameters of sums lanes, and adds those of further pairs; what the block is given at first.
    fn lane_params(&mut self, block: BlockId, fixed: &mut Vec<Inst>, start: &[Value]) -> Vec<Value> {
        let mut given = start.to_vec();
        let mut further = Vec::new();
        for (position, param) in self.plan.found.params.iter().enumerate() {
            let Some(kind) = self.plan.sums.get(param) else { continue };
            let first = first_lanes(self.function, self.plan, fixed, *kind, start, position);
            for (pair, lanes) in first.into_iter().enumerate() {
                let param_of_pair = self.function.values.push(self.function.values[lanes]);
                self.known.lanes.insert((*param, pair), param_of_pair);
                if pair == 0 {
                    given[position] = lanes;
                    self.function.blocks[block].params[position] = param_of_pair;
                } else {
                    further.push(lanes);
                    self.function.blocks[block].params.push(param_of_pair);
                }
            }
        }
        given.extend(further);
        given
    }

    /// Whether two elements are changed at a time: all fields can be lanes.
    fn is_paired(&self, change: &Inst) -> bool {
        change.args[3..].iter().all(|field| self.function.values[*field] == Type::F64)
    }

    /// Whether all that is watched is finite in a round; `None` if nothing is watched.
    fn are_finite(&mut self) -> Option<Value> {
        let plan = self.plan;
        let (mut lanes, mut singles) = (Vec::new(), Vec::new());
        if plan.watched_at_end().is_some() {
            return None;
        }
        for root in &plan.watched.roots {
            if plan.found.stride(*root) == Some(0) {
                singles.push(self.single(*root, 0));
            } else if plan.laned.contains(root) {
                lanes.extend((0..plan.pairs).map(|pair| self.in_lanes(*root, pair)));
            } else if plan.carried(*root).is_some() {
                // It is part of the same one in the next round.
                singles.push(self.single(*root, plan.pairs * LANES - 1));
            } else {
                singles.extend((0..plan.pairs * LANES).map(|round| self.single(*root, round)));
            }
        }
        let on_lanes = |op| Op::Lanes(lanewise(op).expect("lanes can be added and compared"));
        let sum = lanes.into_iter().reduce(|x, y| self.make(on_lanes(Op::Real2(Real2::Add)), &[x, y], Type::F64x2));
        let in_lanes = sum.map(|sum| {
            let zero = self.make(on_lanes(Op::Real2(Real2::Sub)), &[sum, sum], Type::F64x2);
            let differs = self.make(on_lanes(Op::Compare(Compare::Ne)), &[zero, zero], Type::Boolx2);
            let is_any = self.make(Op::AnyLane, &[differs], Type::Bool);
            self.make(Op::Not, &[is_any], Type::Bool)
        });
        let in_singles = finite::are_finite(self.function, &mut self.insts, &singles);
        let all: Vec<Value> = in_lanes.into_iter().chain(in_singles).collect();
        (!all.is_empty()).then(|| self.all(&all))
    }

    /// Writes a round; what it passes on for each parameter.
    fn round(&mut self) -> Vec<Value> {
        let plan = self.plan;
        let rounds = plan.pairs * LANES;
        let mut next = self.params[..plan.found.params.len()].to_vec();
        let mut further = Vec::new();
        for (position, (param, passed)) in plan.found.params.iter().zip(&plan.found.next).enumerate() {
            if let Some(kind) = plan.sums.get(param) {
                let end = plan.found.next[kind.end(position)];
                next[position] = self.in_lanes(end, 0);
                further.extend((1..plan.pairs).map(|pair| self.in_lanes(end, pair)));
            } else if plan.is_summed(position) {
                // The lanes hold it.
            } else if plan.found.stride(*param).is_some() {
                next[position] = self.single(*param, rounds);
            } else if !plan.changes.contains_key(param) {
                next[position] = self.single(*passed, rounds - 1);
            }
        }
        // All that is read of a vector is read before it is changed.
        let changes = plan.found.params.iter().enumerate();
        let changes = changes.filter_map(|(position, param)| Some((position, plan.changes.get(param)?)));
        let changes: Vec<(usize, &Inst, bool)> =
            changes.map(|(at, change)| (at, change, self.is_paired(change))).collect();
        let mut fields: FxHashMap<(usize, usize), Vec<Value>> = FxHashMap::default();
        for (position, change, is_paired) in &changes {
            for step in 0..if *is_paired { plan.pairs } else { rounds } {
                let made = change.args[3..].iter();
                let made =
                    made.map(|field| if *is_paired { self.in_lanes(*field, step) } else { self.single(*field, step) });
                fields.insert((*position, step), made.collect());
            }
        }
        self.is_finite = self.are_finite().map(|is_finite| (is_finite, self.insts.len()));
        for (position, change, is_paired) in changes {
            let Op::WithElement(vector) = change.op else { continue };
            let op = if is_paired { Op::WithElements(vector) } else { change.op };
            for step in 0..if is_paired { plan.pairs } else { rounds } {
                let round = if is_paired { self.plan.round_of(step, 0) } else { step };
                let (length, place) = (self.single(change.args[1], 0), self.single(change.args[2], round));
                let mut args = vec![next[position], length, place];
                args.extend(&fields[&(position, step)]);
                next[position] = self.make(op, &args, Type::Ptr);
            }
        }
        next.extend(further);
        next
    }
}
