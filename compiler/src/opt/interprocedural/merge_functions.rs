//! Merging of equal functions: SSA → SSA.
//!
//! ```text
//! fn fn1(v0: f64) -> f64 {            fn fn1(v0: f64) -> f64 {
//!     v1 = call fn3(v0)                   v1 = call fn3(v0)
//!     return v1                           return v1
//! }                               →   }
//! fn fn2(v0: f64) -> f64 {            ...
//!     v1 = call fn4(v0)                   v2 = call fn1(v1)   ; was fn2
//!     return v1
//! }
//! ```
//!
//! Functions that do the same, operation by operation, are one: specialisation makes many that differ in types which
//! have no representation, or in the place that an error would blame. All functions of one form are assumed to be
//! equal, and classes are split as long as members call functions of different classes; so functions that are equal
//! because those are which they call, recursion included, are found.
//!
//! Parameters that a function does not look at go first, since they make no difference: so the first round of a loop,
//! which knows more than the others, may turn out to do the same.
//!
//! Not done: functions that differ in names of values or order of blocks beyond what
//! [`crate::opt::interprocedural::compact`] makes equal, or in a constant.
//!
//! Tests: `tests/opt/merge-functions/`.

use crate::base::EntityVec;
use crate::base::entity::Entity;
use crate::base::partition::refine;
use crate::opt::edit::rewrite::{keep, keep_values, use_counts};
use crate::opt::interprocedural::compact::{compact, drop_functions};
use crate::opt::layout::split_sums;
use crate::ssa::call_graph::callees;
use crate::ssa::ir::{FuncId, Function, InlinedId, Inst, Op, Program, Source, Terminator, Type, Value};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Treats the whole program.
pub fn run(program: &mut Program) -> bool {
    let of_sums = split_sums::merge(program);
    let of_params = drop_unused_params(program);
    for function in program.functions.values_mut() {
        compact(function);
    }
    let called = |function: &Function| callees(function).into_iter().map(|callee| callee.index()).collect();
    let called: Vec<Vec<usize>> = program.functions.values().map(called).collect();
    // Calls of functions of one class are equal.
    let classes = refine(&forms(program), &called);
    let mut leaders: FxHashMap<usize, FuncId> = FxHashMap::default();
    let mut leader_of = program.functions.same_ids(FuncId(0));
    let mut changed = false;
    for id in program.functions.ids() {
        leader_of[id] = *leaders.entry(classes[id.index()]).or_insert(id);
        changed |= leader_of[id] != id;
    }
    if changed {
        forget_places(program, &leader_of);
        redirect(program, &leader_of);
    }
    changed | of_sums | of_params | drop_functions(program)
}

/// Drops the parameters that functions do not look at, and what calls pass for them.
fn drop_unused_params(program: &mut Program) -> bool {
    let mut uses: EntityVec<FuncId, EntityVec<Value, u32>> = program.functions.values().map(use_counts).collect();
    let mut kept: EntityVec<FuncId, Vec<bool>> =
        program.functions.values().map(|function| vec![true; function.params().len()]).collect();
    let mut sites: EntityVec<FuncId, Vec<(FuncId, Vec<Value>)>> = program.functions.same_ids(Vec::new());
    let mut unused: Vec<(FuncId, usize)> = Vec::new();
    for (id, function) in program.functions.iter() {
        for block in function.blocks.values() {
            for inst in &block.insts {
                if let Op::Call(callee) = inst.op {
                    sites[callee].push((id, inst.args.to_vec()));
                }
            }
            if let Terminator::TailCall(callee, args) = &block.terminator {
                sites[*callee].push((id, args.clone()));
            }
        }
        let positions = function.params().iter().enumerate().filter(|(_, param)| uses[id][**param] == 0);
        unused.extend(positions.map(|(position, _)| (id, position)));
    }
    if unused.is_empty() {
        return false;
    }
    while let Some((id, position)) = unused.pop() {
        kept[id][position] = false;
        for (caller, args) in &sites[id] {
            let left = &mut uses[*caller][args[position]];
            *left -= 1;
            let params = program.functions[*caller].params();
            if *left == 0
                && let Some(position) = params.iter().position(|param| *param == args[position])
            {
                unused.push((*caller, position));
            }
        }
    }
    for id in program.functions.ids() {
        let function = &mut program.functions[id];
        keep(&mut function.blocks[Function::ENTRY].params, &kept[id]);
        for block in function.blocks.values_mut() {
            for inst in &mut block.insts {
                if let Op::Call(callee) = inst.op {
                    keep_values(&mut inst.args, &kept[callee]);
                }
            }
            if let Terminator::TailCall(callee, args) = &mut block.terminator {
                keep(args, &kept[*callee]);
            }
        }
    }
    true
}

/// Classes of functions that are equal when called functions count as equal.
fn forms(program: &Program) -> Vec<usize> {
    let mut by_hash: FxHashMap<u64, Vec<(FuncId, usize)>> = FxHashMap::default();
    let mut classes = Vec::with_capacity(program.functions.len());
    let mut count = 0;
    for (id, function) in program.functions.iter() {
        let candidates = by_hash.entry(hash(function)).or_default();
        let known = candidates.iter().find(|(other, _)| same_form(&program.functions[*other], function));
        classes.push(match known {
            Some((_, class)) => *class,
            None => {
                candidates.push((id, count));
                count += 1;
                count - 1
            }
        });
    }
    classes
}

/// The operation without the function that it calls.
fn without_callee(op: Op) -> Op {
    match op {
        Op::Call(_) => Op::Call(FuncId(0)),
        op => op,
    }
}

fn hash(function: &Function) -> u64 {
    let mut hasher = FxHasher::default();
    function.results.hash(&mut hasher);
    function.values.values().collect::<Vec<&Type>>().hash(&mut hasher);
    for block in function.blocks.values() {
        block.params.hash(&mut hasher);
        for inst in &block.insts {
            without_callee(inst.op).hash(&mut hasher);
            inst.args.hash(&mut hasher);
        }
        match &block.terminator {
            Terminator::TailCall(_, args) => args.hash(&mut hasher),
            // Clauses of one form differ in what they say when they fail, in thousands of functions if need be.
            Terminator::Fail(text, _) => text.hash(&mut hasher),
            other => other.hash(&mut hasher),
        }
    }
    hasher.finish()
}

/// True when two functions differ in nothing but their names, the functions they call, and places in the source of what
/// is not watched.
fn same_form(a: &Function, b: &Function) -> bool {
    let same_blocks = || {
        a.blocks.values().zip(b.blocks.values()).all(|(x, y)| {
            let same_inst = |(x, y): (&Inst, &Inst)| {
                without_callee(x.op) == without_callee(y.op)
                    && x.args == y.args
                    && x.results == y.results
                    && (x.watched(), x.watched_later()) == (y.watched(), y.watched_later())
            };
            let same_end = match (&x.terminator, &y.terminator) {
                (Terminator::TailCall(_, x), Terminator::TailCall(_, y)) => x == y,
                (Terminator::Fail(x, _), Terminator::Fail(y, _)) => x == y,
                (x, y) => x == y,
            };
            let same_length = x.insts.len() == y.insts.len();
            same_length && x.params == y.params && same_end && x.insts.iter().zip(&y.insts).all(same_inst)
        })
    };
    a.walk == b.walk
        && a.results == b.results
        && a.values == b.values
        && a.blocks.len() == b.blocks.len()
        && same_blocks()
}

/// What leaders do is from no place, where the functions that they stand for do it at another.
fn forget_places(program: &mut Program, leader_of: &EntityVec<FuncId, FuncId>) {
    let Program { functions, inlined, .. } = program;
    let mut places = Places { inlined, known: FxHashMap::default() };
    for (id, leader) in leader_of.iter().filter(|(id, leader)| id != *leader) {
        if functions[id].span != functions[*leader].span {
            functions[*leader].span = None;
        }
        for block in functions[id].blocks.ids() {
            for position in 0..functions[id].blocks[block].insts.len() {
                let source = functions[id].blocks[block].insts[position].span;
                let own = &mut functions[*leader].blocks[block].insts[position].span;
                *own = own.zip(source).and_then(|(own, other)| places.common(own, other));
            }
            let end = functions[id].blocks[block].terminator.clone();
            let own = &mut functions[*leader].blocks[block].terminator;
            if let (Terminator::Fail(_, own), Terminator::Fail(_, other)) = (own, end) {
                *own = own.zip(other).and_then(|(own, other)| places.common(own, other));
            }
        }
    }
}

/// What is known of operations that are from one place or another.
struct Places<'p> {
    inlined: &'p mut EntityVec<InlinedId, Source>,
    /// Of inlined calls.
    known: FxHashMap<[InlinedId; 2], Option<InlinedId>>,
}

impl Places<'_> {
    fn common(&mut self, own: Source, other: Source) -> Option<Source> {
        if own.span != other.span {
            return None;
        }
        let within = own.within.zip(other.within).and_then(|(own, other)| self.calls(own, other));
        // A value that is part of a derivative elsewhere is a value.
        Some(Source { phase: own.phase.min(other.phase), within, ..own })
    }

    /// The calls that are the same, the inner ones first.
    fn calls(&mut self, own: InlinedId, other: InlinedId) -> Option<InlinedId> {
        if own == other {
            return Some(own);
        }
        if let Some(known) = self.known.get(&[own, other]) {
            return *known;
        }
        let (first, second) = (self.inlined[own], self.inlined[other]);
        let common = self.common(first, second);
        let common = common.map(|common| if common == first { own } else { self.inlined.push(common) });
        self.known.insert([own, other], common);
        common
    }
}

/// Calls leaders instead of the functions that they stand for.
fn redirect(program: &mut Program, leader_of: &EntityVec<FuncId, FuncId>) {
    for block in program.functions.values_mut().flat_map(|function| function.blocks.values_mut()) {
        for inst in &mut block.insts {
            if let Op::Call(callee) = &mut inst.op {
                *callee = leader_of[*callee];
            }
        }
        if let Terminator::TailCall(callee, _) = &mut block.terminator {
            *callee = leader_of[*callee];
        }
    }
    program.main = program.main.map(|main| leader_of[main]);
}
