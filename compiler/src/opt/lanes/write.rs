//! Writes the loop in lanes in front of the other one.
//!
//! ```text
//! before:  bounds, constants in both lanes; is there a round for the lanes?
//! lanes:   the round, one block, which goes on to itself, or to...
//! after:   only if sums are made in lanes: they are put together
//! ```
//!
//! A value is written when it is needed: for one round, numbered from the first that the lanes make together, or in the
//! lanes of a pair of rounds.

use crate::opt::lanes::bounds::Test;
use crate::opt::lanes::plan::{Plan, lanewise};
use crate::opt::loops::Linear;
use crate::opt::rewrite::{append, is_constant};
use crate::ssa::ir::{BlockId, Function, Inst, Int2, IntCompare, LANES, Op, Real2, Target, Terminator, Type, Value};
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

    let mut round = Writer::new(function, plan, function.blocks[lanes].params.clone());
    let starts = round.lane_params(lanes, &mut fixed, &params);
    let next = round.round();
    let goes_on = round.tests(&tests, plan.pairs * LANES);
    let Writer { insts, hoisted, sums, .. } = round;
    fixed.extend(hoisted);

    let on = |block: BlockId, args: Vec<Value>| Target { block, args };
    let (mut again, mut left) = (next.clone(), next);
    let mut after = header;
    if !sums.is_empty() {
        after = function.new_block(&[]);
        let mut insts = Vec::new();
        for (position, kind, next) in &sums {
            left[*position] = put_together(function, &mut insts, *kind, next);
            again[*position] = next[0];
        }
        again.extend(sums.iter().flat_map(|(_, _, next)| next[1..].to_vec()));
        function.blocks[after].insts = insts;
        function.blocks[after].terminator = Terminator::Jump(on(header, left));
        left = Vec::new();
    }
    function.blocks[before].insts = fixed;
    function.blocks[before].terminator = Terminator::Branch(is_round, on(lanes, starts), on(header, params));
    function.blocks[lanes].insts = insts;
    function.blocks[lanes].terminator = Terminator::Branch(goes_on, on(lanes, again), on(after, left));
}

/// The sum, or product, of all lanes.
fn put_together(function: &mut Function, insts: &mut Vec<Inst>, kind: Real2, parts: &[Value]) -> Value {
    let mut parts = parts.to_vec();
    let op = Op::Lanes(lanewise(Op::Real2(kind)).expect("sums and products are made in lanes"));
    while parts.len() > 1 {
        parts = parts
            .chunks(2)
            .map(|pair| match pair {
                [x, y] => append(&mut function.values, insts, op, vec![*x, *y], Type::F64x2, None),
                _ => pair[0],
            })
            .collect();
    }
    let first = append(&mut function.values, insts, Op::Lane(false), parts.clone(), Type::F64, None);
    let second = append(&mut function.values, insts, Op::Lane(true), parts, Type::F64, None);
    append(&mut function.values, insts, Op::Real2(kind), vec![first, second], Type::F64, None)
}

/// Writes instructions of rounds that begin with these parameters.
struct Writer<'f> {
    function: &'f mut Function,
    plan: &'f Plan,
    params: Vec<Value>,
    insts: Vec<Inst>,
    /// What is the same in all rounds of the lanes.
    hoisted: Vec<Inst>,
    /// Values by their round.
    singles: FxHashMap<(Value, usize), Value>,
    /// Values in lanes, by the pair of rounds; with 0 for what does not change.
    lanes: FxHashMap<(Value, usize), Value>,
    constants: FxHashMap<Op, Value>,
    /// Integers to which a constant was added.
    moved: FxHashMap<(Value, i64), Value>,
    /// Sums in lanes: the position of the parameter, how they are put together, what the round makes of each.
    sums: Vec<(usize, Real2, Vec<Value>)>,
}

impl<'f> Writer<'f> {
    fn new(function: &'f mut Function, plan: &'f Plan, params: Vec<Value>) -> Writer<'f> {
        Writer {
            function,
            plan,
            params,
            insts: Vec::new(),
            hoisted: Vec::new(),
            singles: FxHashMap::default(),
            lanes: FxHashMap::default(),
            constants: FxHashMap::default(),
            moved: FxHashMap::default(),
            sums: Vec::new(),
        }
    }

    fn make(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        append(&mut self.function.values, &mut self.insts, op, args.to_vec(), ty, None)
    }

    fn hoist(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        append(&mut self.function.values, &mut self.hoisted, op, args.to_vec(), ty, None)
    }

    /// A constant, which is made where it is used.
    fn constant(&mut self, op: Op, ty: Type) -> Value {
        if let Some(value) = self.constants.get(&op) {
            return *value;
        }
        let value = self.make(op, &[], ty);
        self.constants.insert(op, value);
        value
    }

    fn int(&mut self, number: i64) -> Value {
        self.constant(Op::ConstInt(number), Type::Int)
    }

    fn plus(&mut self, value: Value, number: i64) -> Value {
        if number == 0 {
            return value;
        }
        if let Some(moved) = self.moved.get(&(value, number)) {
            return *moved;
        }
        let added = self.int(number);
        let moved = self.make(Op::Int2(Int2::Add), &[value, added], Type::Int);
        self.moved.insert((value, number), moved);
        moved
    }

    /// The round of a pair whose number is in that lane.
    fn round_of(&self, pair: usize, lane: usize) -> usize {
        pair * LANES + if self.plan.is_upwards { lane } else { LANES - 1 - lane }
    }

    /// The value that stands for one of the loop in a round.
    fn single(&mut self, value: Value, round: usize) -> Value {
        let found = &self.plan.found;
        if !found.is_inside(value) {
            return value;
        }
        let stride = found.stride(value);
        let round = if stride == Some(0) { 0 } else { round };
        if let Some(written) = self.singles.get(&(value, round)) {
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
            _ if self.plan.laned.contains(&value) => {
                let lanes = self.in_lanes(value, round / LANES);
                let lane = (0..LANES).find(|lane| self.round_of(round / LANES, *lane) == round);
                self.make(Op::Lane(lane == Some(1)), &[lanes], Type::F64)
            }
            _ => self.copy(value, round),
        };
        self.singles.insert((value, round), written);
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
        let found = &self.plan.found;
        let pair = if found.stride(value) == Some(0) { 0 } else { pair };
        if let Some(written) = self.lanes.get(&(value, pair)) {
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
            let lanes = [0, 1].map(|lane| self.single(value, self.round_of(pair, lane)));
            self.make(Op::Pair, &lanes, Type::F64x2)
        };
        self.lanes.insert((value, pair), written);
        written
    }

    /// The operation that makes a value in lanes.
    fn laned(&mut self, value: Value, pair: usize) -> Value {
        let inst = self.plan.found.inst(value).expect("sums in lanes are parameters of the lanes");
        let first = self.round_of(pair, 0);
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
            let neutral: f64 = if *kind == Real2::Mul { 1.0 } else { -0.0 };
            let mut make = |op, args, ty| append(&mut self.function.values, fixed, op, args, ty, None);
            let neutral = make(Op::ConstReal(neutral.to_bits()), Vec::new(), Type::F64);
            let none = make(Op::Splat, vec![neutral], Type::F64x2);
            given[position] = make(Op::Pair, vec![start[position], neutral], Type::F64x2);
            further.extend((1..self.plan.pairs).map(|_| none));
            for pair in 0..self.plan.pairs {
                let lanes = self.function.values.push(Type::F64x2);
                self.lanes.insert((*param, pair), lanes);
                match pair {
                    0 => self.function.blocks[block].params[position] = lanes,
                    _ => self.function.blocks[block].params.push(lanes),
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

    /// Writes a round; what it passes on for each parameter.
    fn round(&mut self) -> Vec<Value> {
        let plan = self.plan;
        let rounds = plan.pairs * LANES;
        let mut next = self.params.clone();
        for (position, (param, passed)) in plan.found.params.iter().zip(&plan.found.next).enumerate() {
            if let Some(kind) = plan.sums.get(param) {
                let parts = (0..plan.pairs).map(|pair| self.in_lanes(*passed, pair)).collect();
                self.sums.push((position, *kind, parts));
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
        for (position, change, is_paired) in changes {
            let Op::WithElement(vector) = change.op else { continue };
            let op = if is_paired { Op::WithElements(vector) } else { change.op };
            for step in 0..if is_paired { plan.pairs } else { rounds } {
                let round = if is_paired { self.round_of(step, 0) } else { step };
                let (length, place) = (self.single(change.args[1], 0), self.single(change.args[2], round));
                let mut args = vec![next[position], length, place];
                args.extend(&fields[&(position, step)]);
                next[position] = self.make(op, &args, Type::Ptr);
            }
        }
        next
    }
}
