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
//! An operation is to be reported when its result is infinite and its operands are finite, or when its result is no number and all
//! operands are. That is seldom so, and then it is almost always so for everything that is computed of the result. So
//! one check stands for many operations: the sum of all results that do not become part of another one is finite, or the operations
//! are made again, one by one, each with its own check. Sums, differences, products and roots of what is not finite are not finite
//! either, so that what goes into them only is checked with them. Making the operations again takes time on the way to an error, and
//! registers nowhere else.
//!
//! Output and calls are not made before what comes first is checked. Operations that the optimiser has dropped are not watched: nobody
//! needs what they give. Tests: `tests/opt/watch/`.

use crate::opt::rewrite::append;
use crate::ssa::ir::{
    Block, BlockId, Compare, FuncId, Function, Inst, Op, Program, Real1, Real2, Stream, Target, Terminator, TextId, Type,
    Value, Values,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// One check stands for so many operations at most: their operands live until then.
const MANY: usize = 32;

/// Treats every function, if operations are watched.
pub fn run(program: &mut Program) -> bool {
    if program.watched.is_empty() {
        return false;
    }
    let functions: Vec<FuncId> = program.functions.ids().collect();
    program.reporters = [1, 2].map(|operands| reporter(program, operands)).to_vec();
    for id in functions {
        let mut watcher =
            Watcher { watched: &program.watched, reporters: &program.reporters, function: &mut program.functions[id] };
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
}

impl Watcher<'_> {
    /// Puts the first check into a block; the block behind it.
    fn block(&mut self, id: BlockId) -> Option<BlockId> {
        let stretch = stretch(&self.function.blocks[id].insts)?;
        let rest = self.function.blocks[id].insts.split_off(stretch.last + 1);
        let roots = roots(&self.function.blocks[id].insts, &stretch.operations);
        let terminator = std::mem::replace(&mut self.function.blocks[id].terminator, Terminator::Unreachable);
        let behind = self.function.blocks.push(Block { params: Vec::new(), insts: rest, terminator });
        let again = self.again(id, &stretch.operations, behind);
        let mut insts = std::mem::take(&mut self.function.blocks[id].insts);
        for inst in stretch.operations.iter().map(|at| *at) {
            insts[inst].span = None;
        }
        let values = &mut self.function.values;
        let mut value = |op: Op, args: Vec<Value>, ty: Type| append(values, &mut insts, op, args, ty, None);
        let sum = roots.into_iter().reduce(|sum, root| value(Op::Real2(Real2::Add), vec![sum, root], Type::F64));
        let sum = sum.expect("the last operation of a stretch is part of no other one");
        let zero = value(Op::Real2(Real2::Sub), vec![sum, sum], Type::F64);
        let is_finite = value(Op::Compare(Compare::Eq), vec![zero, zero], Type::Bool);
        let block = &mut self.function.blocks[id];
        (block.insts, block.terminator) = (insts, Terminator::Branch(is_finite, to(behind), to(again)));
        Some(behind)
    }

    /// A block that makes operations of another block again and reports the first that is to be reported.
    fn again(&mut self, id: BlockId, operations: &[usize], behind: BlockId) -> BlockId {
        let mut made: FxHashMap<Value, Value> = FxHashMap::default();
        let mut insts = Vec::new();
        for at in operations {
            let inst = &self.function.blocks[id].insts[*at];
            let texts = inst.watched().and_then(|number| self.watched.get(number as usize));
            let args: Vec<Value> = inst.args.iter().map(|arg| *made.get(arg).unwrap_or(arg)).collect();
            let result = append(&mut self.function.values, &mut insts, inst.op, args.clone(), Type::F64, None);
            made.insert(inst.results[0], result);
            let Some(texts) = texts else { continue };
            let numbers = texts.map(|text| {
                let op = Op::ConstInt(i64::from(text.0));
                append(&mut self.function.values, &mut insts, op, Vec::new(), Type::Int, None)
            });
            let callee = self.reporters[args.len() - 1];
            let args = numbers.into_iter().chain(args).chain([result]).collect();
            insts.push(Inst { op: Op::Call(callee), args, results: Values::new(), span: None });
        }
        self.function.blocks.push(Block { params: Vec::new(), insts, terminator: Terminator::Jump(to(behind)) })
    }
}

/// Operations that one check stands for.
struct Stretch {
    /// Those that are watched, by their places.
    operations: Vec<usize>,
    /// The last of them.
    last: usize,
}

/// The first operations of a block that one check can stand for.
fn stretch(insts: &[Inst]) -> Option<Stretch> {
    let mut operations = Vec::new();
    for (at, inst) in insts.iter().enumerate() {
        if inst.watched().is_some() {
            operations.push(at);
        } else if !operations.is_empty() && (inst.op.has_effect() || matches!(inst.op, Op::Call(_))) {
            break;
        }
        if operations.len() == MANY {
            break;
        }
    }
    let last = *operations.last()?;
    Some(Stretch { operations, last })
}

/// The results of operations that become part of no other one.
fn roots(insts: &[Inst], operations: &[usize]) -> Vec<Value> {
    let mut parts: FxHashSet<Value> = FxHashSet::default();
    for at in operations {
        let Inst { op, args, .. } = &insts[*at];
        if matches!(
            op,
            Op::Real2(Real2::Add | Real2::Sub | Real2::Mul) | Op::Real1(Real1::Neg | Real1::Abs | Real1::Sqrt)
        ) {
            parts.extend(args);
        }
    }
    operations.iter().map(|at| insts[*at].results[0]).filter(|result| !parts.contains(result)).collect()
}

/// Adds the function that reports an operation on so many operands, if that is to be reported. It takes three texts, the operands, and
/// the result.
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
    write(Op::WriteTextOf(Stream::Err), &texts[..1]);
    write(Op::WriteReal(Stream::Err), &[result]);
    write(Op::WriteTextOf(Stream::Err), &texts[1..2]);
    for (position, operand) in operands.iter().enumerate() {
        if position > 0 {
            write(Op::WriteText(Stream::Err, comma), &[]);
        }
        write(Op::WriteReal(Stream::Err), &[*operand]);
    }
    write(Op::WriteTextOf(Stream::Err), &texts[2..]);
    (function.blocks[say].insts, function.blocks[say].terminator) = (said, Terminator::Fail(nothing));
    function.blocks[leave].terminator = Terminator::Return(Vec::new());
    let entry = &mut function.blocks[Function::ENTRY];
    (entry.insts, entry.terminator) = (insts, Terminator::Branch(is_born, to(say), to(leave)));
    program.functions.push(function)
}

fn to(block: BlockId) -> Target {
    Target { block, args: Vec::new() }
}
