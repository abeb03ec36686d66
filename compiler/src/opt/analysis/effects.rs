//! What calls of each function may do besides returning results.
//!
//! The answer for a function is the union over what it can reach in the call graph: a fixed point from below.

use crate::base::EntityVec;
use crate::opt::analysis::call_graph::callers;
use crate::opt::analysis::termination;
use crate::ssa::forms::{self, Form};
use crate::ssa::ir::{FuncId, Function, Op, Program, Terminator};

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
        let Effects { mut table } = Effects::without_ends(program);
        // Whether a function ends takes longer to find out, and matters only where nothing else shows that it is
        // called. What such a function calls shows as little.
        let is_silent: EntityVec<FuncId, bool> = table.values().map(|effect| effect.is_silent()).collect();
        let endless = termination::endless_functions(program, &is_silent);
        let returning = returning(program);
        for id in table.ids() {
            table[id].endless = endless[id] || !returning[id];
        }
        spread(program, &mut table);
        Effects { table }
    }
    /// The same, but takes every function for one that may never return: enough for those who do not drop or move
    /// calls.
    pub fn without_ends(program: &Program) -> Effects {
        let own = |function: &Function| Effect { endless: true, ..own_effect(function) };
        let mut table: EntityVec<FuncId, Effect> = program.functions.values().map(own).collect();
        spread(program, &mut table);
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
fn spread(program: &Program, table: &mut EntityVec<FuncId, Effect>) {
    let callers = callers(program);
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

fn own_effect(function: &Function) -> Effect {
    let mut effect = Effect::default();
    for block in function.blocks.values() {
        effect.visible |=
            block.insts.iter().any(|inst| inst.op.has_effect() && forms::of(inst.op) != Some(Form::Remembered));
        effect.fails |= matches!(block.terminator, Terminator::Fail(_));
    }
    effect
}

/// The functions that may return: those with a `return`, and those that leave the returning to such a function.
fn returning(program: &Program) -> EntityVec<FuncId, bool> {
    let returns = |function: &Function| function.blocks.values().any(|b| matches!(b.terminator, Terminator::Return(_)));
    let mut table: EntityVec<FuncId, bool> = program.functions.values().map(returns).collect();
    let mut tail_callers: EntityVec<FuncId, Vec<FuncId>> = program.functions.ids().map(|_| Vec::new()).collect();
    for (id, function) in program.functions.iter() {
        for block in function.blocks.values() {
            if let Terminator::TailCall(callee, _) = block.terminator {
                tail_callers[callee].push(id);
            }
        }
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
