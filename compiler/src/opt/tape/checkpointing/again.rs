//! The functions that run rounds again, and that take checkpoints apart.

use super::find::Chain;
use super::{Checkpoint, Field, jump};
use crate::opt::edit::clone_region::cut_out;
use crate::ssa::builder::Builder;
use crate::ssa::ir::{CHECKPOINT, FuncId, Function, Int2, IntCompare, Op, Program, SumId, Type, Value};

/// The rounds of a loop in a function of its own.
pub(super) struct Code {
    pub function: Function,
    /// The loop there.
    pub chain: Chain,
    /// The parameters of the loop that are its state.
    pub state: Vec<Value>,
}

/// A function of a checkpoint, a number of rounds and one of checkpoints that has nothing but the rounds of a loop, as
/// far as the tape depends on them, and no way out of it. Its entry has only the constants.
pub(super) fn code(original: &Function, chain: &Chain) -> Code {
    let mut function = cut_out(original, &chain.body, &chain.needed, |_| false);
    function.name = format!("{CHECKPOINT} {}", original.name).into();
    function.results = vec![Type::Ptr];
    let params = [Type::Ptr, Type::Int, Type::Int].map(|ty| function.values.push(ty));
    function.blocks[Function::ENTRY].params = params.to_vec();
    let params = &original.blocks[chain.header].params;
    let state: Vec<Value> = chain.state.iter().map(|position| params[*position]).collect();
    let place = |value: Value| {
        let params = &function.blocks[chain.header].params;
        params.iter().position(|param| *param == value).expect("it is kept")
    };
    let own = Chain {
        position: place(params[chain.position]),
        state: state.iter().map(|value| place(*value)).collect(),
        ..chain.clone()
    };
    Code { function, chain: own, state }
}

/// The function that says what a new checkpoint replaces: of the last checkpoint, the rounds since, how many there may
/// be, and how many have to stay, it makes the checkpoint before, the rounds since that one, the level, and how many
/// there are with the new one.
pub(super) fn replace(checkpoint: &Checkpoint) -> Function {
    let (ptr, int) = (Type::Ptr, Type::Int);
    let mut function =
        Function::new(format!("{CHECKPOINT} replace").into(), &[ptr, int, int, int], vec![ptr, int, int, int]);
    let mut b = Builder::new(&mut function);
    let [last, rounds, most, floor] = b.block_params(Function::ENTRY)[..] else { unreachable!("there are four") };
    let [add, drop] = [(); 2].map(|()| b.new_block(&[]));
    let depth = checkpoint.field(&mut b, last, Field::Depth);
    let one = b.int(1);
    let has_room = b.value(Op::IntCompare(IntCompare::Lt), &[depth, most], Type::Bool);
    b.branch(has_room, jump(add), jump(drop));
    b.switch_to(add);
    let zero = b.int(0);
    let depth = b.value(Op::Int2(Int2::Add), &[depth, one], int);
    b.ret(vec![last, rounds, zero, depth]);
    b.switch_to(drop);
    let level = checkpoint.field(&mut b, last, Field::Level);
    let level = b.value(Op::Int2(Int2::Add), &[level, one], int);
    let header = b.new_block(&[ptr, int]);
    let [at, since] = b.block_params(header)[..] else { unreachable!("there are two") };
    let [test, absorb, done] = [(); 3].map(|()| b.new_block(&[]));
    b.jump(header, vec![last, rounds]);
    b.switch_to(header);
    let depth = checkpoint.field(&mut b, at, Field::Depth);
    let may_go = b.value(Op::IntCompare(IntCompare::Lt), &[floor, depth], Type::Bool);
    b.branch(may_go, jump(test), jump(done));
    b.switch_to(test);
    let other = checkpoint.field(&mut b, at, Field::Level);
    let is_lower = b.value(Op::IntCompare(IntCompare::Lt), &[other, level], Type::Bool);
    b.branch(is_lower, jump(absorb), jump(done));
    b.switch_to(absorb);
    let more = checkpoint.field(&mut b, at, Field::Rounds);
    let since = b.value(Op::Int2(Int2::Add), &[since, more], int);
    let before = checkpoint.field(&mut b, at, Field::Before);
    b.jump(header, vec![before, since]);
    b.switch_to(done);
    let depth = b.value(Op::Int2(Int2::Add), &[depth, one], int);
    let since = b.block_params(header)[1];
    b.ret(vec![at, since, level, depth]);
    function
}

/// The function that makes the last part of a tape again.
pub(super) fn resume(program: &mut Program, sum: SumId, checkpoints: &[Checkpoint]) -> FuncId {
    let mut function = Function::new(format!("{CHECKPOINT} resume").into(), &[Type::Ptr], vec![Type::Ptr]);
    let mut b = Builder::new(&mut function);
    let tape = b.block_params(Function::ENTRY)[0];
    let header = b.new_block(&[Type::Ptr]);
    b.jump(header, vec![tape]);
    b.switch_to(header);
    let tape = b.block_params(header)[0];
    for checkpoint in checkpoints {
        let [found, next, again, kept] = [(); 4].map(|()| b.new_block(&[]));
        let is_found = b.value(Op::HasTag(sum, checkpoint.tag), &[tape], Type::Bool);
        b.branch(is_found, jump(found), jump(next));
        b.switch_to(found);
        let before = checkpoint.field(&mut b, tape, Field::Before);
        let rounds = checkpoint.field(&mut b, tape, Field::Rounds);
        let is_kept = b.value(Op::IntIs(0), &[rounds], Type::Bool);
        b.branch(is_kept, jump(kept), jump(again));
        b.switch_to(kept);
        b.jump(header, vec![before]);
        b.switch_to(again);
        let most = checkpoint.field(&mut b, tape, Field::Most);
        let made = b.value(Op::Call(checkpoint.again), &[before, rounds, most], Type::Ptr);
        b.jump(header, vec![made]);
        b.switch_to(next);
    }
    b.ret(vec![tape]);
    program.functions.push(function)
}
