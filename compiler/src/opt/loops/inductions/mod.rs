//! Reals that count become integers, and checks that what they count decides go: SSA → SSA.
//!
//! ```text
//! b1(v1: f64):                              b1(v9: int):
//!     v2 = lt v1, v0                            v2 = int_lt v9, v8
//!     branch v2, b2, b4                         branch v2, b2, b4
//! b2: v3 = int_of v1                        b2: v5 = bool true
//!     v4 = real_of v3                  →        branch v5, b3, b5
//!     v5 = and (eq v1, v4), (int_below v3, v8)
//!     branch v5, b3, b5
//! b3: v6 = element.vec0.0 v7, v8, v3        b3: v6 = element.vec0.0 v7, v8, v9
//!     jump b1(add v1, 1.0)                      jump b1(int_add v9, 1)
//! ```
//!
//! The numbers of the language are reals, and each place of a vector is checked to be an integer in range. A parameter
//! of a loop is an integer if it is one at first and each round changes it by a small integer, and so is one of several
//! such numbers: exactly, since no loop makes so many rounds that it would leave the integers that reals represent.
//! Comparisons of such numbers compare integers, with reals, too, that a test before has found equal to one. Where a
//! loop that makes boxes or vectors, or reads elements, runs up to any other real, it runs up to the next integer.
//! Where it runs until it is past what is no number, or equal to what it never meets, it runs for ever. Tests for
//! equality become tests for being before ([`equality`]).
//!
//! A place is in range where it starts at or after zero and counts upwards, and a test has found it below the length,
//! or the other way round: starts below the length, counts downwards, and has been found not to be negative. Lengths
//! are the same where a test before has found them equal. Of integers that are counted alike one is left.
//!
//! A loop that counts downwards and computes how far it has come counts upwards ([`upwards`]). Places that are sums of
//! counters and other integers are added up as integers ([`places`]). What a test has found to be an integer is one
//! where a loop counts from it ([`starts`]).
//!
//! Tests: `tests/opt/inductions/`.

mod bounds;

mod equality;

mod places;

mod starts;

use crate::opt::Context;
use crate::opt::analysis::least::Least;
use crate::opt::analysis::loops::{self, homes};
use crate::opt::edit::rewrite::{Definitions, Replacements, append};
use crate::opt::loops::upwards;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Compare, Function, Inst, Int2, IntCompare, Op, Real1, Real2, Terminator, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Each round changes a counter by less.
const LARGEST_STEP: i64 = 1 << 5;
/// Numbers of which that is not known are below this one.
const LARGEST_CONSTANT: f64 = 2_147_483_648.0;

/// Treats a function.
pub fn run(function: &mut Function, _: &Context) -> bool {
    let is_of_interest =
        |inst: &Inst| matches!(inst.op, Op::IntOf | Op::RealOf | Op::IntCompare(_)) || touches_data(inst.op);
    if !function.blocks.values().flat_map(|block| &block.insts).any(is_of_interest) {
        return false;
    }
    let mut changed = starts::pass_integers(function);
    changed |= count_by_integers(function);
    changed |= upwards::count_what_is_used(function);
    changed |= equality::rewrite(function);
    changed |= places::add_integers(function);
    // What is alike is one before the tests are decided.
    while bounds::decide(function) {
        changed = true;
    }
    changed
}

/// What an integer is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Zero,
    /// A real parameter of a block that is an integer.
    Param(Value),
    /// An integer.
    Int(Value),
}

/// The sum of a base and a constant.
type Linear = (Base, i64);

/// The real parameters of blocks that are integers.
struct Counters<'f> {
    function: &'f Function,
    definitions: Definitions,
    params: FxHashSet<Value>,
}

impl Base {
    /// The parameter that it is.
    fn param(self) -> Option<Value> {
        match self {
            Base::Param(param) => Some(param),
            _ => None,
        }
    }

    /// The value that it is.
    fn number(self) -> Option<Value> {
        match self {
            Base::Zero => None,
            Base::Param(value) | Base::Int(value) => Some(value),
        }
    }
}

impl Counters<'_> {
    /// Whether all that a number is counted from is an integer.
    fn is_integer(&self, number: Linear) -> bool {
        number.0.param().is_none_or(|param| self.params.contains(&param))
    }

    /// The integer that a real is, exactly.
    fn linear(&self, value: Value) -> Option<Linear> {
        if self.params.contains(&value) {
            return Some((Base::Param(value), 0));
        }
        let inst = self.definitions.inst(self.function, value)?;
        match inst.op {
            Op::ConstReal(bits) => Some((Base::Zero, integer(f64::from_bits(bits))?)),
            Op::RealOf => Some((Base::Int(inst.args[0]), 0)),
            Op::Real2(op @ (Real2::Add | Real2::Sub)) => {
                let constant = |value: Value| match self.definitions.op(self.function, value) {
                    Some(Op::ConstReal(bits)) => integer(f64::from_bits(bits)).filter(|step| step.abs() < LARGEST_STEP),
                    _ => None,
                };
                let (value, step) = match (constant(inst.args[0]), constant(inst.args[1]), op) {
                    (_, Some(step), Real2::Add) => (inst.args[0], step),
                    (_, Some(step), _) => (inst.args[0], -step),
                    (Some(step), _, Real2::Add) => (inst.args[1], step),
                    _ => return None,
                };
                // One operation: longer chains are folded, or rare.
                let (base, zero) = match self.params.contains(&value) {
                    true => (Base::Param(value), 0),
                    false => match self.definitions.inst(self.function, value)? {
                        Inst { op: Op::RealOf, args, .. } => (Base::Int(args[0]), 0),
                        _ => return None,
                    },
                };
                Some((base, zero + step))
            }
            _ => None,
        }
    }

    /// What jumps pass for a counter to the header of its loop: constants, and itself with what is added to it.
    fn passed(&self, graph: &Graph, header: BlockId, param: Value) -> Option<Vec<Linear>> {
        let function = self.function;
        let position = function.blocks[header].params.iter().position(|of_header| *of_header == param)?;
        let from = graph.predecessors[header].iter();
        let targets = from.flat_map(|from| function.blocks[*from].terminator.targets());
        let passed = targets.filter(|target| target.block == header).map(|target| target.args[position]);
        let counted = passed.map(|value| match function.values[value] {
            Type::F64 => self.linear(value),
            _ => {
                let (base, offset) = loops::linear(function, &self.definitions, value);
                Some((base.map_or(Base::Zero, Base::Int), offset))
            }
        });
        let is_own = |(base, _): &Linear| base.number().is_none_or(|number| number == param);
        counted.map(|number| number.filter(is_own)).collect()
    }
}

/// The integer that a number is, unless it is a negative zero.
fn integer(number: f64) -> Option<i64> {
    let is_small = number.abs() < LARGEST_CONSTANT && number.fract() == 0.0;
    (is_small && !(number == 0.0 && number.is_sign_negative())).then_some(number as i64)
}

/// For each parameter of a block that is of interest, what jumps pass for it.
fn arguments(function: &Function, graph: &Graph, params: &FxHashSet<Value>) -> FxHashMap<Value, Vec<Value>> {
    let mut passed: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
    for block in &graph.order {
        for target in function.blocks[*block].terminator.targets() {
            for (param, arg) in function.blocks[target.block].params.iter().zip(&target.args) {
                if params.contains(param) {
                    passed.entry(*param).or_default().push(*arg);
                }
            }
        }
    }
    passed
}

fn count_by_integers(function: &mut Function) -> bool {
    let graph = Graph::new(function);
    let joins = graph.order.iter().filter(|block| graph.predecessors[**block].len() > 1);
    let params: FxHashSet<Value> = joins
        .flat_map(|block| &function.blocks[*block].params)
        .copied()
        .filter(|p| function.values[*p] == Type::F64)
        .collect();
    let passed = arguments(function, &graph, &params);
    let mut counters = Counters { function, definitions: Definitions::new(function), params };
    loop {
        let is_counter = |param: &&Value| {
            passed.get(param).is_some_and(|args| args.iter().all(|arg| counters.linear(*arg).is_some()))
        };
        let kept: FxHashSet<Value> = counters.params.iter().filter(is_counter).copied().collect();
        if kept.len() == counters.params.len() {
            break;
        }
        counters.params = kept;
    }
    let equal = bounds::equal_integers(function, &graph, &counters.definitions);
    let mut ends = ends(&counters, &graph);
    counters.params = useful(&counters, &graph, &passed, &equal, &ends);
    ends.limits.retain(|_, limit| counters.is_integer(limit.counter));
    let Plan { params, replaced } = plan(&counters, &graph, &equal, ends.limits);
    if params.is_empty() && replaced.is_empty() {
        return false;
    }
    rewrite(function, &params, replaced);
    true
}

/// What a counter is compared with that is no integer.
#[derive(Clone, Copy)]
struct Limit {
    /// It never is negative.
    counter: Linear,
    real: Value,
    /// Whether the counter may be equal to it, and still counts as below it.
    is_included: bool,
    /// Whether it is asked if the counter is past it, not if it is below.
    is_past: bool,
    /// Where the counter starts, if it is asked whether it is equal.
    start: Option<i64>,
}

/// How loops that touch data end.
#[derive(Default)]
struct Ends {
    /// The comparisons, by their results, with a real that was known before.
    limits: FxHashMap<Value, Limit>,
    /// The counters that end at a constant.
    counted: Vec<Value>,
}

/// The loops that touch data, and end when a counter reaches a number that was known before.
fn ends(counters: &Counters<'_>, graph: &Graph) -> Ends {
    let function = counters.function;
    let mut ends = Ends::default();
    let homes = homes(function);
    let least = Least::new(function, graph, &counters.definitions);
    for header in graph.order.iter().filter(|block| graph.is_loop_header(**block)) {
        let Terminator::Branch(condition, yes, no) = &function.blocks[*header].terminator else { continue };
        let condition = *condition;
        let Some(inst) = counters.definitions.inst(function, condition) else { continue };
        // x is below y, or equal to it where that is included.
        let (x, y, is_included) = match (inst.op, &inst.args[..]) {
            (Op::Compare(Compare::Lt), &[x, y]) | (Op::Compare(Compare::Gt), &[y, x]) => (x, y, false),
            (Op::Compare(Compare::Le), &[x, y]) | (Op::Compare(Compare::Ge), &[y, x]) => (x, y, true),
            (Op::Compare(Compare::Eq), &[x, y]) => (x, y, true),
            _ => continue,
        };
        let is_equality = inst.op == Op::Compare(Compare::Eq);
        let counted_from = |value: Value| counters.linear(value).filter(|(base, _)| base.number().is_some());
        let (value, real, is_past) = if counted_from(x).is_some() { (x, y, false) } else { (y, x, true) };
        let Some(counter @ (base, offset)) = counted_from(value) else { continue };
        // It meets each integer once, from where it starts.
        let start = match is_equality {
            true => match base.number().and_then(|param| counters.passed(graph, *header, param)).and_then(single_steps)
            {
                Some(start) => Some(start + offset),
                None => continue,
            },
            false => None,
        };
        let is_of_header = base.number().is_some_and(|param| function.blocks[*header].params.contains(&param));
        if !is_of_header || least.of(function, &counters.definitions, value) < 0.0 {
            continue;
        }
        let body = graph.loop_body(*header);
        // A loop that goes on where they are equal leaves what it meets behind.
        if is_equality && (body[yes.block] || !body[no.block]) {
            continue;
        }
        let mut inside = body.iter().filter(|(_, is_inside)| **is_inside).map(|(id, _)| &function.blocks[id]);
        if !inside.any(|block| block.insts.iter().any(|inst| touches_data(inst.op))) {
            continue;
        }
        match counters.linear(real) {
            Some((Base::Zero, _)) => ends.counted.extend(base.param()),
            None if homes.get(real).is_some_and(|home| !body[home]) => {
                // Past what it may not be equal to is where it is not below or equal.
                let is_included = is_included != is_past;
                ends.limits.insert(condition, Limit { counter, real, is_included, is_past, start });
            }
            _ => {}
        }
    }
    ends
}

/// Where a counter starts that goes on in steps of one.
fn single_steps(numbers: Vec<Linear>) -> Option<i64> {
    let mut start = None;
    for number in numbers {
        match number {
            (Base::Zero, first) if start.is_none_or(|start| start == first) => start = Some(first),
            (Base::Param(_) | Base::Int(_), 1) => {}
            _ => return None,
        }
    }
    start
}

/// Whether an operation makes a box or a vector, or makes or reads an element.
fn touches_data(op: Op) -> bool {
    matches!(op, Op::Box(..) | Op::NewVector(_) | Op::WithElement(_) | Op::Element(..))
}

/// The counters whose integers are asked for, or that are compared with integers, or that end loops, and those that
/// they are counted from.
fn useful(
    counters: &Counters<'_>,
    graph: &Graph,
    passed: &FxHashMap<Value, Vec<Value>>,
    equal: &bounds::Equal,
    ends: &Ends,
) -> FxHashSet<Value> {
    let limited = ends.limits.values().filter_map(|limit| limit.counter.0.param());
    let mut waiting: Vec<Value> = limited.chain(ends.counted.iter().copied()).collect();
    for block in &graph.order {
        for inst in &counters.function.blocks[*block].insts {
            match (inst.op, &inst.args[..]) {
                (Op::IntOf, _) => waiting.extend(&inst.args),
                (Op::Compare(_), &[x, y]) => {
                    for (x, y) in [(x, y), (y, x)] {
                        let is_integer = matches!(counters.linear(y), Some((Base::Int(_), _)));
                        if is_integer || equal.at(graph, *block, y).is_some() {
                            waiting.push(x);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    let mut useful = FxHashSet::default();
    while let Some(value) = waiting.pop() {
        if let Some((Base::Param(param), _)) = counters.linear(value)
            && useful.insert(param)
        {
            waiting.extend(&passed[&param]);
        }
    }
    useful
}

/// What is to be done to a function.
struct Plan {
    /// The integers that jumps pass for the parameters that become integers.
    params: FxHashMap<Value, FxHashMap<Value, Linear>>,
    /// Operations, by their results, on integers instead of reals.
    replaced: FxHashMap<Value, Replaced>,
}

enum Replaced {
    Integer(Linear),
    Comparison(Compare, Linear, Linear),
    Limit(Limit),
}

fn plan(counters: &Counters<'_>, graph: &Graph, equal: &bounds::Equal, limits: FxHashMap<Value, Limit>) -> Plan {
    let mut replaced: FxHashMap<Value, Replaced> =
        limits.into_iter().map(|(result, limit)| (result, Replaced::Limit(limit))).collect();
    let function = counters.function;
    for block in &graph.order {
        for inst in &function.blocks[*block].insts {
            let found = match inst.op {
                Op::IntOf => counters.linear(inst.args[0]).map(Replaced::Integer),
                Op::Compare(op) => {
                    let compared = |value: Value| {
                        let known = || equal.at(graph, *block, value).map(|integer| (Base::Int(integer), 0));
                        counters.linear(value).or_else(known)
                    };
                    match (compared(inst.args[0]), compared(inst.args[1])) {
                        (Some(x), Some(y)) if x.0 != Base::Zero || y.0 != Base::Zero => {
                            Some(Replaced::Comparison(op, x, y))
                        }
                        _ => None,
                    }
                }
                _ => None,
            };
            replaced.extend(found.map(|found| (inst.results[0], found)));
        }
    }
    let mut params: FxHashMap<Value, FxHashMap<Value, Linear>> = FxHashMap::default();
    for (param, args) in arguments(function, graph, &counters.params) {
        let linear = |arg: &Value| (*arg, counters.linear(*arg).expect("counters are passed integers"));
        params.insert(param, args.iter().map(linear).collect());
    }
    Plan { params, replaced }
}

/// Makes integers at the end of a list of instructions.
struct Maker<'f> {
    function: &'f mut Function,
    /// The integers that parameters have become.
    integers: &'f FxHashMap<Value, Value>,
    insts: Vec<Inst>,
}

impl Maker<'_> {
    fn make(&mut self, op: Op, args: Vec<Value>, ty: Type) -> Value {
        append(&mut self.function.values, &mut self.insts, op, args, ty, None)
    }

    fn integer(&mut self, (base, offset): Linear) -> Value {
        let base = match base {
            Base::Zero => return self.make(Op::ConstInt(offset), Vec::new(), Type::Int),
            Base::Param(param) => self.integers[&param],
            Base::Int(integer) => integer,
        };
        if offset == 0 {
            return base;
        }
        let offset = self.make(Op::ConstInt(offset), Vec::new(), Type::Int);
        self.make(Op::Int2(Int2::Add), vec![base, offset], Type::Int)
    }

    fn comparison(&mut self, op: Compare, x: Linear, y: Linear) -> Value {
        let (x, y) = (self.integer(x), self.integer(y));
        let (op, args, holds) = match op {
            Compare::Eq => (IntCompare::Eq, [x, y], true),
            Compare::Ne => (IntCompare::Eq, [x, y], false),
            Compare::Lt => (IntCompare::Lt, [x, y], true),
            Compare::Gt => (IntCompare::Lt, [y, x], true),
            Compare::Le => (IntCompare::Lt, [y, x], false),
            Compare::Ge => (IntCompare::Lt, [x, y], false),
        };
        let outcome = self.make(Op::IntCompare(op), args.to_vec(), Type::Bool);
        if holds { outcome } else { self.make(Op::Not, vec![outcome], Type::Bool) }
    }

    /// A number that is not negative is below a real if it is below the least integer that is not, and at most as large
    /// if it is below the next integer. Of what is not a number that is zero, and nothing is below; nor is anything
    /// past it.
    fn limit(&mut self, Limit { counter, real, is_included, is_past, start }: Limit) -> Value {
        if let Some(start) = start {
            return self.equality(counter, real, start);
        }
        let limit = if is_included {
            let floor = self.make(Op::Real1(Real1::Floor), vec![real], Type::F64);
            let one = self.make(Op::ConstReal(1.0_f64.to_bits()), Vec::new(), Type::F64);
            self.make(Op::Real2(Real2::Add), vec![floor, one], Type::F64)
        } else {
            self.make(Op::Real1(Real1::Ceiling), vec![real], Type::F64)
        };
        let mut limit = self.make(Op::IntOf, vec![limit], Type::Int);
        if is_past {
            let is_number = self.make(Op::Compare(Compare::Eq), vec![real, real], Type::Bool);
            let never = self.make(Op::ConstInt(i64::MAX), Vec::new(), Type::Int);
            limit = self.make(Op::Select, vec![is_number, limit, never], Type::Int);
        }
        let counter = self.integer(counter);
        let is_below = self.make(Op::IntCompare(IntCompare::Lt), vec![counter, limit], Type::Bool);
        if is_past { self.make(Op::Not, vec![is_below], Type::Bool) } else { is_below }
    }

    /// A number that goes on from `start` in steps of one meets a real that is an integer from there on, and no other.
    fn equality(&mut self, counter: Linear, real: Value, start: i64) -> Value {
        let integer = self.make(Op::IntOf, vec![real], Type::Int);
        let back = self.make(Op::RealOf, vec![integer], Type::F64);
        let is_integer = self.make(Op::Compare(Compare::Eq), vec![back, real], Type::Bool);
        let start = self.make(Op::ConstInt(start), Vec::new(), Type::Int);
        let is_before = self.make(Op::IntCompare(IntCompare::Lt), vec![integer, start], Type::Bool);
        let is_ahead = self.make(Op::Not, vec![is_before], Type::Bool);
        let is_met = self.make(Op::And, vec![is_integer, is_ahead], Type::Bool);
        let never = self.make(Op::ConstInt(i64::MAX), Vec::new(), Type::Int);
        let limit = self.make(Op::Select, vec![is_met, integer, never], Type::Int);
        let counter = self.integer(counter);
        let is_below = self.make(Op::IntCompare(IntCompare::Lt), vec![counter, limit], Type::Bool);
        self.make(Op::Not, vec![is_below], Type::Bool)
    }
}

fn rewrite(
    function: &mut Function,
    params: &FxHashMap<Value, FxHashMap<Value, Linear>>,
    mut replaced: FxHashMap<Value, Replaced>,
) {
    let integers: FxHashMap<Value, Value> = function
        .blocks
        .values()
        .flat_map(|block| &block.params)
        .filter(|param| params.contains_key(param))
        .copied()
        .collect::<Vec<_>>()
        .into_iter()
        .map(|param| (param, function.values.push(Type::Int)))
        .collect();
    let mut replacements = Replacements::new(function);
    for id in function.blocks.ids() {
        let old = std::mem::take(&mut function.blocks[id].insts);
        let mut maker = Maker { function, integers: &integers, insts: Vec::with_capacity(old.len()) };
        // The reals that its counters were.
        for param in maker.function.blocks[id].params.clone() {
            if let Some(integer) = integers.get(&param) {
                let real = maker.make(Op::RealOf, vec![*integer], Type::F64);
                replacements.replace(param, real);
            }
        }
        for inst in old {
            let by = match inst.results.first().and_then(|result| replaced.remove(result)) {
                Some(Replaced::Integer(integer)) => maker.integer(integer),
                Some(Replaced::Comparison(op, x, y)) => maker.comparison(op, x, y),
                Some(Replaced::Limit(limit)) => maker.limit(limit),
                None => {
                    maker.insts.push(inst);
                    continue;
                }
            };
            replacements.replace(inst.results[0], by);
        }
        pass_integers(&mut maker, id, params);
        let insts = maker.insts;
        function.blocks[id].insts = insts;
    }
    for id in function.blocks.ids() {
        for param in &mut function.blocks[id].params {
            if let Some(integer) = integers.get(param) {
                *param = *integer;
            }
        }
    }
    replacements.apply(function);
}

/// Lets the jumps of a block pass integers for counters.
fn pass_integers(maker: &mut Maker<'_>, id: BlockId, params: &FxHashMap<Value, FxHashMap<Value, Linear>>) {
    let mut terminator = maker.function.blocks[id].terminator.clone();
    for target in terminator.targets_mut() {
        let of_target = maker.function.blocks[target.block].params.clone();
        for (param, arg) in of_target.iter().zip(&mut target.args) {
            if let Some(passed) = params.get(param) {
                *arg = maker.integer(passed[arg]);
            }
        }
    }
    maker.function.blocks[id].terminator = terminator;
}
