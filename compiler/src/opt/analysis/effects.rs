//! What calls of each function may do besides returning results.
//!
//! The answer for a function is the union over what it can reach in the call graph: a fixed point from below.

use crate::base::EntityVec;
use crate::opt::analysis::summary::Summary;
use crate::opt::analysis::termination;
use crate::ssa::call_graph::callers_by;
use crate::ssa::ir::{FuncId, Op, Program};

/// What a function may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Effect {
    /// Reads input, writes output or sets a global.
    visible: bool,
    /// Ends the program with an error.
    fails: bool,
    /// May never return, for all that is known.
    endless: bool,
}

impl Effect {
    fn or(self, other: Effect) -> Effect {
        Effect {
            visible: self.visible || other.visible,
            fails: self.fails || other.fails,
            endless: self.endless || other.endless,
        }
    }
    fn is_silent(self) -> bool {
        !self.visible && !self.fails
    }
}

/// The effects of all functions of a program.
#[derive(Clone, Debug)]
pub struct Effects {
    table: EntityVec<FuncId, Effect>,
}

impl Effects {
    /// Analyses a program.
    pub fn new(program: &Program) -> Effects {
        Effects::by(program, &program.functions.values().map(Summary::new).collect())
    }
    /// The same, by what is known of each function for itself.
    pub fn by<S: AsRef<Summary> + AsRef<[FuncId]>>(program: &Program, summaries: &EntityVec<FuncId, S>) -> Effects {
        let Effects { mut table } = Effects::without_ends_by(summaries);
        // Whether a function ends takes longer to find out, and matters only where nothing else shows that it is
        // called. What such a function calls shows as little.
        let is_silent: EntityVec<FuncId, bool> = table.values().map(|effect| effect.is_silent()).collect();
        let endless = termination::endless_functions(program, summaries, &is_silent);
        let returning = returning(summaries);
        for id in table.ids() {
            table[id].endless = endless[id] || !returning[id];
        }
        spread(summaries, &mut table);
        Effects { table }
    }
    /// The same, but takes every function for one that may never return: enough for those who do not drop or move
    /// calls.
    pub fn without_ends(program: &Program) -> Effects {
        Effects::without_ends_by(&program.functions.values().map(Summary::new).collect())
    }
    /// The same, by what is known of each function for itself.
    pub fn without_ends_by<S: AsRef<Summary> + AsRef<[FuncId]>>(summaries: &EntityVec<FuncId, S>) -> Effects {
        let own = |summary: &S| {
            let Summary { is_visible, fails, .. } = *summary.as_ref();
            Effect { visible: is_visible, fails, endless: true }
        };
        let mut table: EntityVec<FuncId, Effect> = summaries.values().map(own).collect();
        spread(summaries, &mut table);
        Effects { table }
    }
    /// For code whose callees are not all known yet: calls may do anything.
    pub fn of_calls_unknown() -> Effects {
        Effects { table: EntityVec::new() }
    }
    /// What a function may do, if that is known.
    pub fn of(&self, function: FuncId) -> Option<Effect> {
        self.table.get(function).copied()
    }
    /// True when a call whose results are not used may be dropped.
    pub fn can_be_dropped(&self, function: FuncId) -> bool {
        self.table.get(function) == Some(&Effect::default())
    }
    /// True when a second call with the same arguments gives the same results and does nothing else.
    pub fn is_repeatable(&self, function: FuncId) -> bool {
        !self.table[function].visible
    }
    /// True when nobody can see that the function is called, but that it may never return.
    pub fn is_silent(&self, function: FuncId) -> bool {
        self.table[function].is_silent()
    }
    /// True when the operation may be dropped if its results are not used.
    pub fn is_removable(&self, op: Op) -> bool {
        match op {
            Op::Call(callee) => self.can_be_dropped(callee),
            // All processes have the same instruction, so that none waits for what another one does not hand over.
            Op::Exchange => true,
            op => !op.has_effect(),
        }
    }
    /// True when the operation may change places with others of which this is true.
    pub fn is_movable(&self, op: Op) -> bool {
        match op {
            Op::Call(callee) => self.is_silent(callee),
            op => !op.has_effect(),
        }
    }
}

/// What a function does its callers do.
fn spread<S: AsRef<[FuncId]>>(callees: &EntityVec<FuncId, S>, table: &mut EntityVec<FuncId, Effect>) {
    let callers = callers_by(callees);
    let mut waiting: Vec<FuncId> = table.ids().filter(|id| table[*id] != Effect::default()).collect();
    while let Some(id) = waiting.pop() {
        for caller in &callers[id] {
            let after = table[*caller].or(table[id]);
            if after != table[*caller] {
                table[*caller] = after;
                waiting.push(*caller);
            }
        }
    }
}

/// The functions that may return: those with a `return`, and those that leave the returning to such a function.
fn returning<S: AsRef<Summary>>(summaries: &EntityVec<FuncId, S>) -> EntityVec<FuncId, bool> {
    let mut table: EntityVec<FuncId, bool> = summaries.values().map(|summary| summary.as_ref().returns).collect();
    let mut tail_callers: EntityVec<FuncId, Vec<FuncId>> = summaries.same_ids(Vec::new());
    for (id, summary) in summaries.iter() {
        summary.as_ref().tail_callees.iter().for_each(|callee| tail_callers[*callee].push(id));
    }
    let mut waiting: Vec<FuncId> = table.ids().filter(|id| table[*id]).collect();
    while let Some(id) = waiting.pop() {
        for caller in &tail_callers[id] {
            if !std::mem::replace(&mut table[*caller], true) {
                waiting.push(*caller);
            }
        }
    }
    table
}
