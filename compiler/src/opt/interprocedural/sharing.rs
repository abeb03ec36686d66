//! Results for data that are shared, made once: SSA → SSA.
//!
//! ```text
//! fn fn1 "plus"(v0: ptr, v1: ptr) -> ptr walks {      fn fn1 "plus"(v0: ptr, v1: ptr) -> ptr {
//!     ...                                                 v2 = is_shared.fn2 v0, v1
//!     v9 = call fn1(v5, v7)                               branch v2, b1, b2
//!     v10 = call fn1(v6, v8)                          b1: v3 = call fn2(v0, v1)
//!     v11 = box.sum0.1 v9, v10                  →         return v3
//!     return v11                                      b2: the code as it was
//! }                                                   }
//! call fn1(v0, v1)                                    call fn4(v0, v1)
//!
//! fn fn2 "plus"(v0: ptr, v1: ptr) -> ptr borrows {    fn fn3 "plus"(v0: ptr, v1: ptr, v2: bool) -> ptr borrows {
//!     v2, v3 = recall.fn2 v0, v1                          branch v2, b2, b1
//!     branch v2, b1, b2                               b1: v3 = is_shared.fn2 v0, v1
//! b1: return v3                                           branch v3, b3, b2
//! b2: v4 = bool true                                  b2: the code, which calls fn3 with false
//!     v5 = call fn3(v0, v1, v4)                       b3: v4 = call fn2(v0, v1)
//!     remember.fn2 v0, v1, v5                             return v4
//!     return v5                                       }
//! }
//! ```
//!
//! The data of a program are graphs: `(cons t t)` has one `t`. A sum of two such graphs adds what is shared once and is
//! such a graph itself (Pearlmutter and Siskind, *Reverse-mode AD in a functional framework*, 2008, section 4), and so
//! does each operation of derivatives that walks data. Functions that do so are marked ([`Walk::Shared`]); they have no
//! effects and always make the same of the same boxes. What they make of boxes with more than one owner is remembered
//! until the outermost call is over. Boxes with one owner cost a look at their counts.
//!
//! An owner of a box that is kept, be it only for the time of the call, would make all that is below it look shared. So
//! what is below boxes that are shared is walked by copies that borrow it: there counts tell how many boxes hold
//! another one. Elsewhere the code is as it was, and takes apart what nobody else owns.
//!
//! Only functions that one outermost call may call twice with the same arguments are treated: not those that walk along
//! a list of numbers.
//!
//! Operations that remember are no effects to those who call such functions. Requires that no pass follows that makes
//! copies of code. Tests: `tests/opt/sharing/`.

use crate::base::EntityVec;
use crate::base::entity::Entity;
use crate::opt::edit::rewrite::append;
use crate::opt::edit::self_calls::form_loop;
use crate::ssa::call_graph::{callees, callers};
use crate::ssa::graph::Graph;
use crate::ssa::ir::{
    Block, BlockId, FuncId, Function, Inst, Op, Program, Target, Terminator, Type, Value, Values, Walk,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Treats the functions that are marked.
pub fn run(program: &mut Program) -> bool {
    let repeated = repeated(program);
    if repeated.is_empty() {
        return false;
    }
    // Those who may remember something leave it to the outermost call to forget it.
    let remembers = reaching(program, &repeated);
    let outermost = outermost(program, &remembers);
    let mut copies: FxHashMap<FuncId, Copies> = FxHashMap::default();
    for id in &repeated {
        let function = &program.functions[*id];
        let (name, params, results) = (function.name.clone(), function.param_types(), function.results.clone());
        let remembering = program.functions.push(Function::new(name.clone(), &params, results.clone()));
        let borrowing = program.functions.push(Function::new(name, &[&params[..], &[Type::Bool]].concat(), results));
        copies.insert(*id, Copies { remembering, borrowing });
    }
    for id in &repeated {
        let Copies { remembering, borrowing } = copies[id];
        program.functions[borrowing] = borrowing_copy(*id, &program.functions[*id], &copies);
        remember(program, remembering, borrowing);
        let function = &mut program.functions[*id];
        let entry = first_asks(function, remembering);
        function.blocks[Function::ENTRY].terminator = entry;
        form_loop(function, *id);
    }
    for (id, outer) in outermost {
        call_and_forget(&mut program.functions[outer], id);
    }
    true
}

/// What is made of a function.
struct Copies {
    /// Gives what is remembered, or calls the other one and remembers what it gives.
    remembering: FuncId,
    /// The function itself, for what its caller keeps alive. A further argument says that nothing is remembered.
    borrowing: FuncId,
}

fn is_walker(program: &Program, id: FuncId) -> bool {
    program.functions[id].walk == Walk::Shared
}

/// The functions that an outermost call of a walker may call twice with the same arguments, in order: what both of two
/// calls in one run of a walker lead to.
fn repeated(program: &Program) -> Vec<FuncId> {
    let walkers: Vec<FuncId> = program.functions.ids().filter(|id| is_walker(program, *id)).collect();
    let pairs: FxHashSet<[FuncId; 2]> = walkers.iter().flat_map(|id| calls_of_one_run(program, *id)).collect();
    let mut reached: FxHashMap<FuncId, Reached> = FxHashMap::default();
    for id in pairs.iter().flatten() {
        reached.entry(*id).or_insert_with(|| Reached::from(program, *id));
    }
    let words = program.functions.len().div_ceil(64);
    let mut found = Reached { bits: vec![0; words] };
    for [first, second] in &pairs {
        for (word, bits) in found.bits.iter_mut().enumerate() {
            *bits |= reached[first].bits[word] & reached[second].bits[word];
        }
    }
    let holds_boxes = |id: &FuncId| program.functions[*id].param_types().contains(&Type::Ptr);
    walkers.into_iter().filter(|id| found.contains(*id)).filter(holds_boxes).collect()
}

/// The walkers that a walker reaches through walkers, itself included: a bit for each function.
struct Reached {
    bits: Vec<u64>,
}

impl Reached {
    fn from(program: &Program, from: FuncId) -> Reached {
        let mut reached = Reached { bits: vec![0; program.functions.len().div_ceil(64)] };
        let mut waiting = vec![from];
        while let Some(id) = waiting.pop() {
            if is_walker(program, id) && !reached.contains(id) {
                reached.bits[id.index() / 64] |= 1 << (id.index() % 64);
                waiting.extend(callees(&program.functions[id]));
            }
        }
        reached
    }

    fn contains(&self, id: FuncId) -> bool {
        self.bits[id.index() / 64] >> (id.index() % 64) & 1 == 1
    }
}

/// The walkers that lead to some of these functions.
fn reaching(program: &Program, functions: &[FuncId]) -> FxHashSet<FuncId> {
    let callers = callers(program);
    let mut found: FxHashSet<FuncId> = FxHashSet::default();
    let mut waiting = functions.to_vec();
    while let Some(id) = waiting.pop() {
        if is_walker(program, id) && found.insert(id) {
            waiting.extend(&callers[id]);
        }
    }
    found
}

/// Pairs of walkers both of which one run of a function may call; twice the same for a call in a loop.
pub fn calls_of_one_run(program: &Program, id: FuncId) -> FxHashSet<[FuncId; 2]> {
    let function = &program.functions[id];
    let graph = Graph::new(function);
    let calls: Vec<(BlockId, Vec<FuncId>)> =
        graph.order.iter().map(|id| (*id, called(program, function, *id))).collect();
    let mut found = FxHashSet::default();
    for (block, here) in calls.iter().filter(|(_, here)| !here.is_empty()) {
        for (position, first) in here.iter().enumerate() {
            found.extend(here[position + 1..].iter().map(|second| [*first, *second]));
        }
        let after = blocks_after(function, *block);
        for (_, there) in calls.iter().filter(|(other, there)| after[*other] && !there.is_empty()) {
            found.extend(here.iter().flat_map(|first| there.iter().map(|second| [*first, *second])));
        }
    }
    found
}

/// The walkers that a block calls.
fn called(program: &Program, function: &Function, block: BlockId) -> Vec<FuncId> {
    let Block { insts, terminator, .. } = &function.blocks[block];
    let last = if let Terminator::TailCall(callee, _) = terminator { Some(*callee) } else { None };
    let calls = insts.iter().filter_map(|inst| if let Op::Call(callee) = inst.op { Some(callee) } else { None });
    calls.chain(last).filter(|callee| is_walker(program, *callee)).collect()
}

/// The blocks that control may get to after the end of a block.
fn blocks_after(function: &Function, block: BlockId) -> EntityVec<BlockId, bool> {
    let next = |block: BlockId| function.blocks[block].terminator.targets().into_iter().map(|target| target.block);
    let mut seen = function.blocks.same_ids(false);
    let mut waiting: Vec<BlockId> = next(block).collect();
    while let Some(block) = waiting.pop() {
        if !std::mem::replace(&mut seen[block], true) {
            waiting.extend(next(block));
        }
    }
    seen
}

/// Lets those who are no walkers call functions, yet without code, instead of the walkers that remember: these and
/// those.
fn outermost(program: &mut Program, remembers: &FxHashSet<FuncId>) -> Vec<(FuncId, FuncId)> {
    let mut outer: Vec<(FuncId, FuncId)> = Vec::new();
    let mut made: FxHashMap<FuncId, FuncId> = FxHashMap::default();
    for caller in program.functions.ids().collect::<Vec<_>>() {
        if is_walker(program, caller) {
            continue;
        }
        let mut wanted = callees(&program.functions[caller]);
        wanted.retain(|callee| remembers.contains(callee));
        for callee in wanted {
            made.entry(callee).or_insert_with(|| {
                let walker = &program.functions[callee];
                let new = Function::new(walker.name.clone(), &walker.param_types(), walker.results.clone());
                outer.push((callee, program.functions.next_id()));
                program.functions.push(new)
            });
        }
        for block in program.functions[caller].blocks.values_mut() {
            redirect(block, |callee| made.get(&callee).copied());
        }
    }
    outer
}

/// Lets a block call other functions.
fn redirect(block: &mut Block, other: impl Fn(FuncId) -> Option<FuncId>) {
    for inst in &mut block.insts {
        if let Op::Call(callee) = &mut inst.op {
            *callee = other(*callee).unwrap_or(*callee);
        }
    }
    if let Terminator::TailCall(callee, _) = &mut block.terminator {
        *callee = other(*callee).unwrap_or(*callee);
    }
}

/// An instruction, and its results, which have these types.
fn instruction(function: &mut Function, op: Op, args: &[Value], types: &[Type]) -> (Inst, Vec<Value>) {
    let results: Vec<Value> = types.iter().map(|ty| function.values.push(*ty)).collect();
    (Inst { op, args: args.into(), results: results.clone().into(), span: None }, results)
}

/// Fills in a function that calls a walker and forgets what it has remembered.
fn call_and_forget(function: &mut Function, walker: FuncId) {
    let (params, types) = (function.params().to_vec(), function.results.clone());
    let (call, results) = instruction(function, Op::Call(walker), &params, &types);
    let forget = Inst { op: Op::Forget, args: Values::new(), results: Values::new(), span: None };
    let entry = &mut function.blocks[Function::ENTRY];
    (entry.insts, entry.terminator) = (vec![call, forget], Terminator::Return(results));
}

/// Fills in a function that gives what is remembered, or remembers it.
fn remember(program: &mut Program, remembering: FuncId, borrowing: FuncId) {
    let function = &mut program.functions[remembering];
    function.walk = Walk::Borrowing;
    let (params, types) = (function.params().to_vec(), function.results.clone());
    let all = [&[Type::Bool], &types[..]].concat();
    let (recall, recalled) = instruction(function, Op::Recall(remembering), &params, &all);
    let [known, new] = [(); 2].map(|()| function.new_block(&[]));
    let entry = &mut function.blocks[Function::ENTRY];
    (entry.insts, entry.terminator) = (vec![recall], Terminator::Branch(recalled[0], to(known), to(new)));
    function.blocks[known].terminator = Terminator::Return(recalled[1..].to_vec());

    let mut insts = Vec::new();
    let yes = append(&mut function.values, &mut insts, Op::ConstBool(true), Vec::new(), Type::Bool, None);
    let (call, results) = instruction(function, Op::Call(borrowing), &[&params[..], &[yes]].concat(), &types);
    let made = [&params[..], &results].concat();
    let (remember, _) = instruction(function, Op::Remember(remembering), &made, &[]);
    insts.extend([call, remember]);
    let new = &mut function.blocks[new];
    (new.insts, new.terminator) = (insts, Terminator::Return(results));
}

/// The copy of a walker for what its caller keeps alive.
fn borrowing_copy(id: FuncId, function: &Function, copies: &FxHashMap<FuncId, Copies>) -> Function {
    let Copies { remembering, borrowing } = copies[&id];
    let mut copy = function.clone();
    copy.walk = Walk::Borrowing;
    for block in copy.blocks.values_mut() {
        if let Terminator::TailCall(callee, args) = &mut block.terminator
            && *callee == id
        {
            let ask = append(&mut copy.values, &mut block.insts, Op::ConstBool(false), Vec::new(), Type::Bool, None);
            args.push(ask);
            *callee = borrowing;
        // A tail call of another function would have nobody left to release what that one borrows.
        } else if let Terminator::TailCall(callee, args) = &block.terminator {
            let results: Vec<Value> = copy.results.iter().map(|ty| copy.values.push(*ty)).collect();
            let (args, inner) = (args.as_slice().into(), results.as_slice().into());
            block.insts.push(Inst { op: Op::Call(*callee), args, results: inner, span: None });
            block.terminator = Terminator::Return(results);
        }
        let mut insts = Vec::with_capacity(block.insts.len());
        for mut inst in std::mem::take(&mut block.insts) {
            if let Op::Call(callee) = inst.op
                && let Some(copies) = copies.get(&callee)
            {
                let ask = append(&mut copy.values, &mut insts, Op::ConstBool(false), Vec::new(), Type::Bool, None);
                inst.op = Op::Call(copies.borrowing);
                inst.args.push(ask);
            }
            insts.push(inst);
        }
        block.insts = insts;
    }
    let asks = first_asks(&mut copy, remembering);
    let ask = copy.new_block(&[]);
    copy.blocks[ask].insts = std::mem::take(&mut copy.blocks[Function::ENTRY].insts);
    let Terminator::Branch(_, _, code) = &asks else { unreachable!("the function asks first") };
    let code = code.clone();
    copy.blocks[ask].terminator = asks;
    let is_new = copy.values.push(Type::Bool);
    let entry = &mut copy.blocks[Function::ENTRY];
    entry.params.push(is_new);
    entry.terminator = Terminator::Branch(is_new, code, to(ask));
    form_loop(&mut copy, borrowing);
    copy
}

/// Moves the code of a function behind the question whether its arguments are shared, which stands in the entry.
/// Returns the branch that answers it: to a call of the function that remembers, or to the code.
fn first_asks(function: &mut Function, remembering: FuncId) -> Terminator {
    let (params, types) = (function.params().to_vec(), function.results.clone());
    let moved = Block { params: Vec::new(), insts: Vec::new(), terminator: Terminator::Unreachable };
    let code = function.blocks.push(moved);
    let entry = &mut function.blocks[Function::ENTRY];
    let (insts, terminator) =
        (std::mem::take(&mut entry.insts), std::mem::replace(&mut entry.terminator, Terminator::Unreachable));
    (function.blocks[code].insts, function.blocks[code].terminator) = (insts, terminator);
    let (ask, answer) = instruction(function, Op::IsShared(remembering), &params, &[Type::Bool]);
    function.blocks[Function::ENTRY].insts.push(ask);
    let shared = function.new_block(&[]);
    let (call, results) = instruction(function, Op::Call(remembering), &params, &types);
    function.blocks[shared].insts.push(call);
    function.blocks[shared].terminator = Terminator::Return(results);
    Terminator::Branch(answer[0], to(shared), to(code))
}

fn to(block: BlockId) -> Target {
    Target { block, args: Vec::new() }
}
