//! Checks that numbers stay finite, where that is asked for: SSA → SSA.
//!
//! ```text
//! v2 = mul v0, v1 watched.0            v2 = mul v0, v1
//! v3 = div v2, v1 watched.1            v3 = div v2, v1
//! return v3                            v4 = add v2, v3
//!                                      v5 = sub v4, v4
//!                                      v6 = eq v5, v5
//!                                 →    branch v6, b1, b2
//!                                  b1: return v3
//!                                  b2: v7 = mul v0, v1
//!                                      call report(texts of 0, v0, v1, v7)
//!                                      v8 = div v7, v1
//!                                      call report(texts of 1, v7, v1, v8)
//!                                      jump b1
//! ```
//!
//! An operation is to be reported when its result is infinite and its operands are finite, or when its result is no
//! number and all operands are. That is seldom so, and then it is almost always so for everything that is computed of
//! the result. So one check stands for many operations: the sum of all results that do not become part of another one
//! is finite, or the operations are made again, one by one, each with its own check. Sums, differences, products and
//! roots of what is not finite are not finite either, so that what goes into them only is checked with them. Making the
//! operations again takes time on the way to an error, and registers nowhere else.
//!
//! What has been moved out of a loop is not reported there, as the loop may make no round, but where the loop uses it.
//!
//! A number that may be the symbolic zero is computed in any case, and chosen if it is a number: what is checked is
//! what has been chosen.
//!
//! Output and calls are not made before what comes first is checked. Operations that the optimiser has dropped are not
//! watched: nobody needs what they give. Tests: `tests/opt/watch/`.

use crate::base::EntityVec;
use crate::core::question::SAY_SHARD;
use crate::opt::analysis::finite::{are_finite, keeps_infinity};
use crate::opt::edit::rewrite::{append, use_counts};
use crate::ssa::ir::{
    Block, BlockId, Compare, Form, FuncId, Function, Inst, Op, Program, Real2, Stream, Target, Terminator, TextId,
    Type, Value, Values,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// One check stands for so many operations at most: their operands live until then.
const MANY: usize = 128;

/// Treats every function, if operations are watched.
pub fn run(program: &mut Program) -> bool {
    if program.watched.is_empty() {
        return false;
    }
    let functions: Vec<FuncId> = program.functions.ids().collect();
    program.reporters = [1, 2].map(|operands| reporter(program, operands)).to_vec();
    for id in functions {
        let function = &mut program.functions[id];
        let uses = use_counts(function);
        let mut insts = function.blocks.values().flat_map(|block| &block.insts);
        let zero = insts.find_map(|inst| if let Op::RealIs(bits) = inst.op { Some(bits) } else { None });
        let insts = function.blocks.values().flat_map(|block| &block.insts);
        let earlier = insts.filter(|inst| inst.watched_later().is_some());
        let earlier = earlier.map(|inst| (inst.results[0], inst.clone())).collect();
        let (watched, reporters) = (&program.watched[..], &program.reporters[..]);
        let mut watcher = Watcher { watched, reporters, function, earlier, uses, zero };
        let mut waiting: Vec<BlockId> = watcher.function.blocks.ids().collect();
        while let Some(block) = waiting.pop() {
            waiting.extend(watcher.block(block));
        }
    }
    true
}

struct Watcher<'p> {
    watched: &'p [[TextId; 3]],
    reporters: &'p [FuncId],
    function: &'p mut Function,
    /// Operations that are computed earlier than they are watched, by their results.
    earlier: FxHashMap<Value, Inst>,
    /// How often each value is used.
    uses: EntityVec<Value, u32>,
    /// The bits of the symbolic zero, if the function asks for it.
    zero: Option<u64>,
}

/// Operations that one check stands for.
struct Stretch {
    /// Those that are watched, by their places.
    operations: Vec<usize>,
    /// For each of them, where its result may be used: the result itself, or choices between it and symbolic zeros.
    chosen: Vec<Chosen>,
    /// The place behind all of this.
    end: usize,
}

/// What becomes of a result.
struct Chosen {
    /// One value at least.
    values: Vec<Value>,
    /// Whether they are choices.
    is_choice: bool,
}

impl Watcher<'_> {
    /// Puts the first check into a block; the block behind it.
    fn block(&mut self, id: BlockId) -> Option<BlockId> {
        let stretch = self.stretch(&self.function.blocks[id].insts)?;
        let roots = self.roots(&self.function.blocks[id].insts, &stretch);
        let again = self.again(id, &stretch);
        let block = &mut self.function.blocks[id];
        let rest = block.insts.split_off(stretch.end);
        let terminator = std::mem::replace(&mut block.terminator, Terminator::Unreachable);
        let mut insts = std::mem::take(&mut block.insts);
        stretch.operations.iter().for_each(|at| insts[*at].span = None);
        let behind = self.function.blocks.push(Block { params: Vec::new(), insts: rest, terminator });
        self.function.blocks[again].terminator = Terminator::Jump(to(behind));
        let numbers: Vec<Value> = roots
            .into_iter()
            .map(|(root, is_choice)| if is_choice { self.unless_zero(&mut insts, root) } else { root })
            .collect();
        self.function.blocks[id].terminator = match are_finite(self.function, &mut insts, &numbers) {
            Some(is_finite) => Terminator::Branch(is_finite, to(behind), to(again)),
            None => Terminator::Jump(to(behind)),
        };
        self.function.blocks[id].insts = insts;
        Some(behind)
    }

    fn append(&mut self, insts: &mut Vec<Inst>, op: Op, args: Vec<Value>, ty: Type) -> Value {
        append(&mut self.function.values, insts, op, args, ty, None)
    }

    /// A number, or 0 for the symbolic zero.
    fn unless_zero(&mut self, insts: &mut Vec<Inst>, value: Value) -> Value {
        let Some(bits) = self.zero else { return value };
        let is_zero = self.append(insts, Op::RealIs(bits), vec![value], Type::Bool);
        let zero = self.append(insts, Op::ConstReal(0), Vec::new(), Type::F64);
        self.append(insts, Op::Select, vec![is_zero, zero, value], Type::F64)
    }

    /// A block that makes the operations again and reports the first that is to be reported.
    fn again(&mut self, id: BlockId, stretch: &Stretch) -> BlockId {
        let mut made: FxHashMap<Value, Value> = FxHashMap::default();
        let mut insts = Vec::new();
        let mut reported = FxHashSet::default();
        for (at, chosen) in stretch.operations.iter().zip(&stretch.chosen) {
            let inst = self.function.blocks[id].insts[*at].clone();
            self.report_earlier(&inst, &mut reported, &mut insts);
            let args: Vec<Value> = inst.args.iter().map(|arg| *made.get(arg).unwrap_or(arg)).collect();
            let results = if chosen.is_choice {
                chosen.values.iter().map(|value| self.unless_zero(&mut insts, *value)).collect()
            } else {
                let result = self.append(&mut insts, inst.op, args.clone(), Type::F64);
                made.insert(inst.results[0], result);
                vec![result]
            };
            for result in results {
                self.report(inst.watched(), &args, result, &mut insts);
            }
        }
        self.function.blocks.push(Block { params: Vec::new(), insts, terminator: Terminator::Unreachable })
    }

    /// Reports an operation, if that is to be reported.
    fn report(&mut self, number: Option<u32>, args: &[Value], result: Value, insts: &mut Vec<Inst>) {
        let Some(texts) = number.and_then(|number| self.watched.get(number as usize)).copied() else { return };
        let numbers = texts.map(|text| self.append(insts, Op::ConstInt(i64::from(text.0)), Vec::new(), Type::Int));
        let callee = self.reporters[args.len() - 1];
        let args = numbers.into_iter().chain(args.iter().copied()).chain([result]).collect();
        insts.push(Inst { op: Op::Call(callee), args, results: Values::new(), span: None });
    }

    /// Reports the operations that an operation uses which are computed earlier than they are watched, those that they
    /// use first.
    fn report_earlier(&mut self, inst: &Inst, reported: &mut FxHashSet<Value>, insts: &mut Vec<Inst>) {
        let mut order = Vec::new();
        let mut waiting = inst.args.to_vec();
        while let Some(value) = waiting.pop() {
            if let Some(earlier) = self.earlier.get(&value)
                && reported.insert(value)
            {
                waiting.extend(&earlier.args);
                order.push(earlier.clone());
            }
        }
        for earlier in order.into_iter().rev() {
            self.report(earlier.watched_later(), &earlier.args, earlier.results[0], insts);
        }
    }

    /// The first operations of a block that one check can stand for.
    fn stretch(&self, insts: &[Inst]) -> Option<Stretch> {
        let mut operations = Vec::new();
        let mut barrier = insts.len();
        for (at, inst) in insts.iter().enumerate() {
            let is_watched = inst.watched().is_some();
            let is_barrier = !operations.is_empty() && (inst.op.has_effect() || matches!(inst.op, Op::Call(_)));
            if is_barrier || is_watched && operations.len() == MANY {
                barrier = at;
                break;
            }
            if is_watched {
                operations.push(at);
            }
        }
        let mut end = operations.last()? + 1;
        let chosen = operations.iter().map(|at| self.chosen(&insts[..barrier], *at, &mut end)).collect();
        Some(Stretch { operations, chosen, end })
    }

    /// What becomes of the result of the operation at a place.
    fn chosen(&self, insts: &[Inst], at: usize, end: &mut usize) -> Chosen {
        let result = insts[at].results[0];
        let mut values = Vec::new();
        let mut waiting = vec![result];
        while let Some(value) = waiting.pop() {
            let choices = |(_, inst): &(usize, &Inst)| inst.op == Op::Select && inst.args[1..].contains(&value);
            let choices: Vec<(usize, &Inst)> = insts.iter().enumerate().skip(at).filter(choices).collect();
            let uses = choices.iter().flat_map(|(_, inst)| &inst.args[1..]).filter(|arg| **arg == value).count();
            if self.zero.is_some() && uses > 0 && uses == self.uses.get(value).copied().unwrap_or(0) as usize {
                for (place, choice) in choices {
                    *end = place.max(*end - 1) + 1;
                    waiting.extend(&choice.results);
                }
            } else if !values.contains(&value) {
                values.push(value);
            }
        }
        let is_choice = values != [result];
        Chosen { values, is_choice }
    }

    /// What has to be finite, and whether it may be the symbolic zero: the results that do not only become part of
    /// others.
    fn roots(&self, insts: &[Inst], stretch: &Stretch) -> Vec<(Value, bool)> {
        let mut parts: FxHashSet<Value> = FxHashSet::default();
        for (at, chosen) in stretch.operations.iter().zip(&stretch.chosen) {
            let Inst { op, args, .. } = &insts[*at];
            if keeps_infinity(*op) {
                let is_part = |arg: &&Value| !chosen.is_choice || self.uses.get(**arg) == Some(&1);
                parts.extend(args.iter().filter(is_part));
            }
        }
        let earlier = stretch.operations.iter().flat_map(|at| &insts[*at].args);
        let earlier = earlier.filter(|arg| self.earlier.contains_key(arg)).map(|arg| (*arg, false));
        let values =
            stretch.chosen.iter().flat_map(|chosen| chosen.values.iter().map(|value| (*value, chosen.is_choice)));
        let values = values.chain(earlier);
        let mut roots: Vec<(Value, bool)> = values.filter(|(value, _)| !parts.contains(value)).collect();
        roots.sort_unstable();
        roots.dedup();
        roots
    }
}

/// Adds the function that reports an operation on so many operands, if that is to be reported. It takes three texts,
/// the operands, and the result.
fn reporter(program: &mut Program, operands: usize) -> FuncId {
    let [comma, nothing] = [", ", ""].map(|text| program.texts.push(text.into()));
    let params: Vec<Type> = [Type::Int; 3].into_iter().chain(vec![Type::F64; operands + 1]).collect();
    let mut function = Function::new("report".into(), &params, Vec::new());
    let params = function.params().to_vec();
    let (texts, numbers) = params.split_at(3);
    let (result, operands) = (numbers[operands], &numbers[..operands]);
    let mut insts = Vec::new();
    let mut value = |op: Op, args: Vec<Value>, ty: Type| append(&mut function.values, &mut insts, op, args, ty, None);
    let same = |value: &mut dyn FnMut(Op, Vec<Value>, Type) -> Value, x: Value, difference: bool| {
        let x = if difference { value(Op::Real2(Real2::Sub), vec![x, x], Type::F64) } else { x };
        value(Op::Compare(Compare::Eq), vec![x, x], Type::Bool)
    };
    // Not a number differs from itself, and so does the difference of an infinite number and itself.
    let is_finite = same(&mut value, result, true);
    let is_number = same(&mut value, result, false);
    let [finite, numbers] = [true, false].map(|difference| {
        let tests: Vec<Value> = operands.iter().map(|x| same(&mut value, *x, difference)).collect();
        tests.into_iter().reduce(|a, b| value(Op::And, vec![a, b], Type::Bool)).expect("there is an operand")
    });
    let better = value(Op::Select, vec![is_number, finite, numbers], Type::Bool);
    let is_worse = value(Op::Not, vec![is_finite], Type::Bool);
    let is_born = value(Op::And, vec![better, is_worse], Type::Bool);
    let [say, leave] = [(); 2].map(|()| function.new_block(&[]));
    let mut said = Vec::new();
    let mut write = |op: Op, args: &[Value]| {
        said.push(Inst { op, args: args.into(), results: Values::new(), span: None });
    };
    write(Op::WriteTextOf(Stream::Err, Form::Plain), &texts[..1]);
    write(Op::WriteReal(Stream::Err), &[result]);
    write(Op::WriteTextOf(Stream::Err, Form::Plain), &texts[1..2]);
    for (position, operand) in operands.iter().enumerate() {
        if position > 0 {
            write(Op::WriteText(Stream::Err, comma), &[]);
        }
        write(Op::WriteReal(Stream::Err), &[*operand]);
    }
    write(Op::WriteTextOf(Stream::Err, Form::Plain), &texts[2..]);
    let [question, zero] = [SAY_SHARD, 0.0]
        .map(|x| append(&mut function.values, &mut said, Op::ConstReal(x.to_bits()), Vec::new(), Type::F64, None));
    append(&mut function.values, &mut said, Op::Ask, vec![question, zero], Type::F64, None);
    (function.blocks[say].insts, function.blocks[say].terminator) = (said, Terminator::Fail(nothing, None));
    function.blocks[leave].terminator = Terminator::Return(Vec::new());
    let entry = &mut function.blocks[Function::ENTRY];
    (entry.insts, entry.terminator) = (insts, Terminator::Branch(is_born, to(say), to(leave)));
    program.functions.push(function)
}

fn to(block: BlockId) -> Target {
    Target { block, args: Vec::new() }
}
