//! Loops whose rounds processes share, written.

use super::find::{Act, Leaf, Plan, Relation};
use crate::opt::analysis::loops::{homes, preheader};
use crate::opt::edit::clone_region::{clone_inst, clone_region};
use crate::opt::edit::repair::{Definitions, repair};
use crate::opt::edit::rewrite::{append, keep};
use crate::ssa::builder::Builder;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{
    BlockId, Compare, Function, Int2, IntCompare, Op, Real1, Real2, Source, Target, Terminator, Type, Value, Values,
    VectorId,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the run time is asked, and what it answers: see its module `shards`.
const CLOCK: f64 = 9.0;
const COUNT: f64 = 100.0;
const BEGUN: f64 = 101.0;
const NEXT: f64 = 102.0;
const SPAN: f64 = 103.0;
const WORK: f64 = -2.0;

/// Whole numbers up to this one are exact as reals.
const EXACT: f64 = (1_u64 << 52) as f64;

/// Divides a loop. The elements of vectors `leaves` hold what a round hands over.
pub fn write(function: &mut Function, plan: &Plan, leaves: VectorId) {
    let before = preheader(function, &Graph::new(function), plan.header);
    let types: Vec<Type> = function.blocks[plan.header].params.iter().map(|param| function.values[*param]).collect();
    let mut writer =
        Writer { b: Builder::new(function), plan, leaves, types, bound: None, last: None, repaired: Vec::new() };
    writer.b.span = plan.test.span.or_else(|| place(writer.b.function, plan));
    writer.write(before);
    let repaired = std::mem::take(&mut writer.repaired);
    define_everywhere(function, &repaired);
}

/// Where the loop stands, by what it computes.
fn place(function: &Function, plan: &Plan) -> Option<Source> {
    let insts = plan.body.iter().flat_map(|block| &function.blocks[*block].insts);
    let mut plain = insts.filter(|inst| inst.watched().is_none() && inst.watched_later().is_none());
    plain.find_map(|inst| inst.span)
}

/// Lets values be something on ways from a block on that do not define them.
fn define_everywhere(function: &mut Function, values: &[(BlockId, Value)]) {
    let homes = homes(function);
    let define = |(block, value): &(BlockId, Value)| {
        let filler = match function.values[*value] {
            Type::F64 => Op::ConstReal(0),
            Type::Bool => Op::ConstBool(false),
            _ => Op::ConstInt(0),
        };
        let ty = function.values[*value];
        let filler = append(&mut function.values, &mut function.blocks[*block].insts, filler, Vec::new(), ty, None);
        Definitions { value: *value, at_end: vec![(*block, filler), (homes[*value], *value)] }
    };
    let all: Vec<Definitions> = values.iter().map(define).collect();
    if !all.is_empty() {
        repair(function, &all);
    }
}

struct Writer<'f, 'p> {
    b: Builder<'f>,
    plan: &'p Plan,
    leaves: VectorId,
    /// The types of the parameters of the header.
    types: Vec<Type>,
    /// The bound; the integer where the counter is when no round is left, or one before that.
    bound: Option<Value>,
    last: Option<Value>,
    /// Values that are not defined on every way from that block on.
    repaired: Vec<(BlockId, Value)>,
}

impl Writer<'_, '_> {
    fn write(&mut self, before: BlockId) {
        let plan = self.plan;
        let counter_type = self.types[plan.tested];
        let enter = self.b.new_block(&self.types);
        let run = self.b.new_block(&with(&self.types, &[counter_type, Type::F64, Type::Int]));
        let ask = self.b.new_block(&self.types);

        // Before the loop.
        self.b.function.blocks[before].terminator.targets_mut()[0].block = enter;
        self.b.switch_to(enter);
        let params = self.b.block_params(enter);
        self.find_end();
        let left = self.rounds_left(params[plan.tested]);
        let strip = self.b.int(plan.strip);
        let mut is_long = self.int_lt(strip, left);
        for is_exact in self.exactness(&params) {
            is_long = self.b.value(Op::And, &[is_long, is_exact], Type::Bool);
        }
        let until = self.until(params[plan.tested], strip);
        let until = self.select(is_long, until, self.bound());
        let (not_begun, zero) = (self.b.real(0.0), self.b.int(0));
        self.b.jump(run, with(&params, &[until, not_begun, zero]));

        // Rounds as before, up to a place.
        self.b.switch_to(run);
        let count = self.types.len();
        let params = self.b.block_params(run);
        let [until, begun, rounds] = [params[count], params[count + 1], params[count + 2]];
        self.b.jump(plan.header, params[..count].to_vec());
        self.limit(until);
        let (after, again, first) = (self.b.new_block(&[]), self.b.new_block(&[]), self.b.new_block(&[]));
        self.lead_to(after, again);
        self.b.switch_to(again);
        let params = self.b.block_params(plan.header);
        let zero = self.b.real(0.0);
        let is_first = self.b.compare(Compare::Eq, begun, zero);
        self.b.branch(is_first, Target::new(first, &[]), Target::new(ask, &params));

        // From here on, time is taken.
        self.b.switch_to(first);
        let now = self.ask(CLOCK, None);
        let left = self.rounds_left(params[plan.tested]);
        let strip = self.b.int(plan.strip);
        let until = self.until(params[plan.tested], strip);
        self.b.jump(run, with(&params, &[until, now, left]));

        // How to go on.
        self.b.switch_to(ask);
        let params = self.b.block_params(ask);
        let left = self.rounds_left(params[plan.tested]);
        let zero = self.b.int(0);
        let is_left = self.int_lt(zero, left);
        let asking = self.b.new_block(&[]);
        let finish = with(&params, &[self.bound(), begun, rounds]);
        self.b.branch(is_left, Target::new(asking, &[]), Target::new(run, &finish));
        self.b.switch_to(asking);
        let done = self.b.value(Op::Int2(Int2::Sub), &[rounds, left], Type::Int);
        let [rounds_real, done_real] = [rounds, done].map(|x| self.b.value(Op::RealOf, &[x], Type::F64));
        self.ask(COUNT, Some(rounds_real));
        self.ask(BEGUN, Some(begun));
        let answer = self.ask(NEXT, Some(done_real));
        let zero = self.b.real(0.0);
        let is_shared = self.b.compare(Compare::Lt, answer, zero);
        let (shared, alone) = (self.b.new_block(&[]), self.b.new_block(&[]));
        self.b.branch(is_shared, Target::new(shared, &[]), Target::new(alone, &[]));
        self.b.switch_to(alone);
        let portion = self.b.value(Op::IntOf, &[answer], Type::Int);
        let is_all = self.b.value(Op::IntIs(0), &[portion], Type::Bool);
        let until = self.until(params[plan.tested], portion);
        let until = self.select(is_all, self.bound(), until);
        self.b.jump(run, with(&params, &[until, begun, rounds]));
        self.b.switch_to(shared);
        let span = self.ask(SPAN, None);
        let span = self.b.value(Op::IntOf, &[span], Type::Int);
        let work = self.b.real(WORK);
        let is_worker = self.b.compare(Compare::Le, answer, work);
        let place = self.b.real2(Real2::Sub, work, answer);
        let place = self.b.value(Op::IntOf, &[place], Type::Int);
        let away = self.b.value(Op::Int2(Int2::Sub), &[place, done], Type::Int);
        self.write_rounds(ask, [is_worker, away, span]);
    }

    /// Rounds that are shared: so many, from the one that is so far away from the counter. A worker makes a vector of
    /// what they hand over, which the program gets in place of an empty one.
    fn write_rounds(&mut self, ask: BlockId, [is_worker, away, span]: [Value; 3]) {
        let plan = self.plan;
        let params = self.b.block_params(ask);
        let [begin, take, work, add] = [(); 4].map(|()| self.b.new_block(&[]));
        let exchange = self.b.new_block(&[Type::Ptr]);
        let working = self.b.new_block(&[Type::Int, Type::Ptr]);
        let adding = self.b.new_block(&with(&self.types, &[Type::Int]));
        self.b.branch(is_worker, Target::new(begin, &[]), Target::new(take, &[]));

        // The parallel stage.
        self.b.switch_to(begin);
        let zero = self.b.int(0);
        let all = self.b.value(Op::NewVector(self.leaves), &[span], Type::Ptr);
        self.b.jump(working, vec![zero, all]);
        self.b.switch_to(working);
        let [at, all] = self.b.block_params(working)[..] else { unreachable!("it has two parameters") };
        let is_left = self.int_lt(at, span);
        self.b.branch(is_left, Target::new(work, &[]), Target::new(exchange, &[all]));
        self.b.switch_to(work);
        let away = self.b.value(Op::Int2(Int2::Add), &[away, at], Type::Int);
        let mut values: FxHashMap<Value, Value> = FxHashMap::default();
        let originals = self.b.block_params(plan.header);
        for ((original, param), step) in originals.iter().zip(&params).zip(&plan.steps) {
            let there = step.map_or(*param, |step| self.ahead(*param, step, away));
            values.insert(*original, there);
        }
        let copies = clone_region(self.b.function, &plan.body, plan.header, &mut values);
        self.b.jump(copies[&plan.header], Vec::new());
        let leaves = self.finish_copies(&copies, &values);
        let element: Vec<Value> = [all, span, at].into_iter().chain(leaves).collect();
        let all = self.b.value(Op::WithElement(self.leaves), &element, Type::Ptr);
        let next = self.after(at);
        self.b.jump(working, vec![next, all]);

        // What is handed over.
        self.b.switch_to(take);
        let zero = self.b.int(0);
        let none = self.b.value(Op::NewVector(self.leaves), &[zero], Type::Ptr);
        self.b.jump(exchange, vec![none]);
        self.b.switch_to(exchange);
        let all = self.b.block_params(exchange);
        let all = self.b.value(Op::Exchange, &all, Type::Ptr);
        let zero = self.b.int(0);
        self.b.branch(is_worker, Target::new(ask, &params), Target::new(adding, &with(&params, &[zero])));

        // The sequential stage.
        self.b.switch_to(adding);
        let mut state = self.b.block_params(adding);
        let at = state.pop().expect("it has one more parameter than the header");
        let is_left = self.int_lt(at, span);
        self.b.branch(is_left, Target::new(add, &[]), Target::new(ask, &state));
        self.b.switch_to(add);
        let leaves = (0..)
            .zip(&plan.leaves)
            .map(|(field, (_, ty))| self.b.value(Op::Element(self.leaves, field), &[all, span, at], *ty));
        let leaves: Vec<Value> = leaves.collect();
        let state = self.sequential_stage(&state, &leaves);
        let next = self.after(at);
        self.b.jump(adding, with(&state, &[next]));
    }

    /// The integer after another one.
    fn after(&mut self, x: Value) -> Value {
        let one = self.b.int(1);
        self.b.value(Op::Int2(Int2::Add), &[x, one], Type::Int)
    }

    /// Drops the sequential stage in the copy of the loop, which is one round. Goes on behind it, and gives the leaves.
    fn finish_copies(&mut self, copies: &FxHashMap<BlockId, BlockId>, values: &FxHashMap<Value, Value>) -> Vec<Value> {
        let plan = self.plan;
        let end = self.b.new_block(&[]);
        let ways: FxHashMap<BlockId, Value> =
            plan.leaves.iter().filter_map(|(leaf, _)| self.add_way(leaf, copies, end)).collect();
        for (from, at) in &plan.edges[&plan.header] {
            self.b.function.blocks[copies[from]].terminator.target_mut(*at).block = end;
            let passed = &mut self.b.function.blocks[copies[from]].terminator.target_mut(*at).args;
            let kept = usize::from(ways.contains_key(&plan.header));
            passed.drain(..passed.len() - kept);
        }
        let dropped: FxHashSet<Value> = plan.sequential.iter().filter_map(|value| values.get(value)).copied().collect();
        let is_inside = |block: BlockId| block == end || copies.values().any(|copy| *copy == block);
        for original in &plan.body {
            let copy = copies[original];
            self.drop_sequential(*original, copies, &dropped);
            if *original == plan.header {
                let insts = self.b.function.blocks[copy].insts.iter_mut();
                for inst in insts.filter(|inst| inst.results[..] == [values[&plan.test.results[0]]]) {
                    (inst.op, inst.args) = (Op::ConstBool(plan.continues_if), Values::new());
                }
                let Terminator::Branch(_, yes, no) = &self.b.function.blocks[copy].terminator else { continue };
                let way = if plan.continues_if { yes } else { no }.clone();
                self.b.function.blocks[copy].terminator = Terminator::Jump(way);
                continue;
            }
            // Where a round fails, it is not this process that says so.
            for at in 0..self.b.function.blocks[copy].terminator.target_count() {
                let block = self.b.function.blocks[copy].terminator.target(at).block;
                if !is_inside(block) {
                    let failure = self.b.new_block(&[]);
                    self.b.function.blocks[failure].terminator = self.b.function.blocks[block].terminator.clone();
                    *self.b.function.blocks[copy].terminator.target_mut(at) = Target::new(failure, &[]);
                }
            }
        }
        self.b.switch_to(end);
        let value = |leaf: &Leaf| match leaf {
            Leaf::Value(value) => values[value],
            Leaf::Way(block) => ways[block],
        };
        self.repaired = plan.sometimes.iter().map(|leaf| (copies[&plan.header], value(leaf))).collect();
        plan.leaves.iter().map(|(leaf, _)| value(leaf)).collect()
    }

    /// Lets the copy of a block know by which edge control has come there, if that is a leaf.
    fn add_way(&mut self, leaf: &Leaf, copies: &FxHashMap<BlockId, BlockId>, end: BlockId) -> Option<(BlockId, Value)> {
        let Leaf::Way(block) = leaf else { return None };
        let there = if *block == self.plan.header { end } else { copies[block] };
        let way = self.b.function.values.push(Type::Int);
        self.b.function.blocks[there].params.push(way);
        for (number, (from, at)) in (0..).zip(&self.plan.edges[block]) {
            self.b.switch_to(copies[from]);
            let number = self.b.int(number);
            self.b.function.blocks[copies[from]].terminator.target_mut(*at).args.push(number);
        }
        Some((*block, way))
    }

    /// Drops what is sequential in the copy of a block: instructions, and parameters with what is passed for them.
    fn drop_sequential(&mut self, original: BlockId, copies: &FxHashMap<BlockId, BlockId>, dropped: &FxHashSet<Value>) {
        let (plan, copy) = (self.plan, copies[&original]);
        self.b.function.blocks[copy].insts.retain(|inst| !inst.results.iter().any(|result| dropped.contains(result)));
        let params = &self.b.function.blocks[copy].params;
        let kept: Vec<bool> = params.iter().map(|param| !dropped.contains(param)).collect();
        if original == plan.header || kept.iter().all(|kept| *kept) {
            return;
        }
        keep(&mut self.b.function.blocks[copy].params, &kept);
        for (from, at) in &plan.edges[&original] {
            keep(&mut self.b.function.blocks[copies[from]].terminator.target_mut(*at).args, &kept);
        }
    }

    /// What the parameters of the header are after a round for which that has been handed over.
    fn sequential_stage(&mut self, params: &[Value], leaves: &[Value]) -> Vec<Value> {
        let plan = self.plan;
        let originals = self.b.block_params(plan.header);
        let mut values: FxHashMap<Value, Value> = originals.into_iter().zip(params.iter().copied()).collect();
        values.insert(plan.test.results[0], self.b.boolean(plan.continues_if));
        let mut ways: FxHashMap<BlockId, Value> = FxHashMap::default();
        for ((leaf, _), value) in plan.leaves.iter().zip(leaves) {
            match leaf {
                Leaf::Value(leaf) => drop(values.insert(*leaf, *value)),
                Leaf::Way(block) => drop(ways.insert(*block, *value)),
            }
        }
        // Parameters of the header get new values when all have been computed.
        let mut after: FxHashMap<Value, Value> = FxHashMap::default();
        for act in &plan.acts {
            match act {
                Act::Inst(inst) => clone_inst(self.b.function, self.b.block, inst, &mut values),
                Act::Join(param, block, passed) => {
                    let passed: Vec<Value> =
                        passed.iter().map(|value| values.get(value).copied().unwrap_or(*value)).collect();
                    let value = self.choose(ways.get(block).copied(), &passed);
                    let known = if *block == plan.header { &mut after } else { &mut values };
                    known.insert(*param, value);
                }
            }
        }
        let originals = self.b.block_params(plan.header);
        let one = self.b.int(1);
        let after = originals.iter().zip(params).zip(&plan.steps).map(|((original, param), step)| match step {
            Some(step) => self.ahead(*param, *step, one),
            None => after[original],
        });
        after.collect()
    }

    /// The value with that number.
    fn choose(&mut self, number: Option<Value>, values: &[Value]) -> Value {
        let [others @ .., last] = values else { unreachable!("an edge leads there") };
        let mut chosen = *last;
        for (at, value) in (0..).zip(others) {
            let number = number.expect("it is handed over where there are several");
            let is_it = self.b.value(Op::IntIs(at), &[number], Type::Bool);
            chosen = self.select(is_it, *value, chosen);
        }
        chosen
    }

    /// A counter so many rounds later.
    fn ahead(&mut self, counter: Value, step: i64, rounds: Value) -> Value {
        let size = self.b.int(step);
        let way = self.b.value(Op::Int2(Int2::Mul), &[rounds, size], Type::Int);
        let start = self.integer(counter);
        let there = self.b.value(Op::Int2(Int2::Add), &[start, way], Type::Int);
        self.like(counter, there)
    }

    /// The integer that a counter is.
    fn integer(&mut self, counter: Value) -> Value {
        match self.b.function.values[counter] {
            Type::F64 => self.b.value(Op::IntOf, &[counter], Type::Int),
            _ => counter,
        }
    }

    /// An integer as a counter.
    fn like(&mut self, counter: Value, integer: Value) -> Value {
        match self.b.function.values[counter] {
            Type::F64 => self.b.value(Op::RealOf, &[integer], Type::F64),
            _ => integer,
        }
    }

    /// What each round adds to the counter that is compared.
    fn step(&self) -> i64 {
        self.plan.steps[self.plan.tested].expect("it counts")
    }

    fn bound(&self) -> Value {
        self.bound.expect("it is found first")
    }

    /// Finds the bound, and the integer that decides how many rounds there are.
    fn find_end(&mut self) {
        let bound = self.plan.bound.value(&mut self.b);
        self.bound = Some(bound);
        let whole = match (self.b.function.values[bound], self.plan.relation) {
            (Type::F64, Relation::Less | Relation::AtLeast) => self.b.real1(Real1::Ceiling, bound),
            (Type::F64, _) => self.b.real1(Real1::Floor, bound),
            _ => bound,
        };
        self.last = Some(self.integer(whole));
    }

    /// Whether counters and the bound, if they are reals, are integers as far as they have to be.
    fn exactness(&mut self, params: &[Value]) -> Vec<Value> {
        let counters = params.iter().zip(&self.plan.steps).filter_map(|(param, step)| step.map(|_| *param));
        let is_real = |counter: &Value| self.b.function.values[*counter] == Type::F64;
        let mut reals: Vec<(Value, bool)> = counters.filter(is_real).map(|counter| (counter, true)).collect();
        if self.b.function.values[self.bound()] == Type::F64 {
            reals.push((self.bound(), self.plan.relation == Relation::Unequal));
        }
        let mut found = Vec::new();
        for (x, is_whole) in reals {
            let size = self.b.real1(Real1::Abs, x);
            let exact = self.b.real(EXACT);
            found.push(self.b.compare(Compare::Lt, size, exact));
            if is_whole {
                let whole = self.b.real1(Real1::Floor, x);
                found.push(self.b.compare(Compare::Eq, x, whole));
            }
        }
        found
    }

    /// How many rounds are left when the counter is there.
    fn rounds_left(&mut self, counter: Value) -> Value {
        let here = self.integer(counter);
        let last = self.last.expect("it is found first");
        let way = if self.step() > 0 { [last, here] } else { [here, last] };
        let left = self.b.value(Op::Int2(Int2::Sub), &way, Type::Int);
        match self.plan.relation {
            Relation::AtMost | Relation::AtLeast => {
                let one = self.b.int(1);
                self.b.value(Op::Int2(Int2::Add), &[left, one], Type::Int)
            }
            _ => left,
        }
    }

    /// The bound for so many rounds from there on, or for as many as there are.
    fn until(&mut self, counter: Value, rounds: Value) -> Value {
        let left = self.rounds_left(counter);
        let is_less = self.int_lt(rounds, left);
        let ahead = match self.plan.relation {
            Relation::AtMost | Relation::AtLeast => {
                let minus_one = self.b.int(-1);
                self.b.value(Op::Int2(Int2::Add), &[rounds, minus_one], Type::Int)
            }
            _ => rounds,
        };
        let there = self.ahead(counter, self.step(), ahead);
        self.select(is_less, there, self.bound())
    }

    /// Lets the loop end at another bound.
    fn limit(&mut self, until: Value) {
        let (test, operand) = (&self.plan.test.results, self.plan.bound_operand);
        for block in &self.plan.body {
            let insts = self.b.function.blocks[*block].insts.iter_mut();
            insts.filter(|inst| inst.results == *test).for_each(|inst| inst.args[operand] = until);
        }
    }

    /// Where the loop ends, it is looked whether there is another round.
    fn lead_to(&mut self, after: BlockId, again: BlockId) {
        let plan = self.plan;
        let at = usize::from(plan.continues_if);
        let out =
            std::mem::replace(self.b.function.blocks[plan.header].terminator.target_mut(at), Target::new(after, &[]));
        self.b.switch_to(after);
        let mut args = plan.test.args.clone();
        args[plan.bound_operand] = self.bound();
        let test = self.b.value(plan.test.op, &args, Type::Bool);
        let (yes, no) = if plan.continues_if { (Target::new(again, &[]), out) } else { (out, Target::new(again, &[])) };
        self.b.branch(test, yes, no);
    }

    fn int_lt(&mut self, x: Value, y: Value) -> Value {
        self.b.value(Op::IntCompare(IntCompare::Lt), &[x, y], Type::Bool)
    }

    fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        let ty = self.b.function.values[yes];
        self.b.value(Op::Select, &[condition, yes, no], ty)
    }

    fn ask(&mut self, what: f64, about: Option<Value>) -> Value {
        let what = self.b.real(what);
        let about = about.unwrap_or(what);
        self.b.value(Op::Ask, &[what, about], Type::F64)
    }
}

fn with<T: Copy>(state: &[T], more: &[T]) -> Vec<T> {
    state.iter().chain(more).copied().collect()
}
