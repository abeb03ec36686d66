//! Where each variable of a body is used for the last time, so that the evaluator can give its value up there: a loop
//! over a list must not hold the list, and a deep recursion must not hold what it does not need any more.

use crate::core::ir::{Binding, Body, Program, Rhs, Var};
use rustc_hash::FxHashSet;

/// The last uses in a body; one entry for each of its bindings.
#[derive(Debug, Default)]
pub struct Lives {
    /// In the order of the bindings.
    pub bindings: Vec<BindingLives>,
    /// True when the body's result is not needed after the body under its own name.
    pub result_dies: bool,
}

/// The last uses in one binding.
#[derive(Debug, Default)]
pub struct BindingLives {
    /// Variables that this binding uses last, those that only its branches use not included.
    pub dying: FxHashSet<Var>,
    /// True when nothing uses the variable that is bound.
    pub unused: bool,
    /// For a conditional: both branches.
    pub branches: Option<Box<[Branch; 2]>>,
}

/// A branch of a conditional: the variables that are alive before it and not needed in it, and its last uses.
pub type Branch = (Vec<Var>, Lives);

/// The variables that are alive at the start of a body, given those alive after it, and its last uses.
pub fn analyse(program: &Program, body: &Body, after: &FxHashSet<Var>) -> (FxHashSet<Var>, Lives) {
    let mut live = after.clone();
    let result_dies = live.insert(body.result);
    let mut bindings: Vec<BindingLives> =
        body.bindings.iter().rev().map(|binding| analyse_binding(program, binding, &mut live)).collect();
    bindings.reverse();
    (live, Lives { bindings, result_dies })
}

/// Steps backwards over one binding.
fn analyse_binding(program: &Program, binding: &Binding, live: &mut FxHashSet<Var>) -> BindingLives {
    let unused = !live.remove(&binding.var);
    let mut branches = None;
    if let Rhs::If(_, then, other) = &binding.rhs {
        let (before_then, then_lives) = analyse(program, then, live);
        let (before_other, other_lives) = analyse(program, other, live);
        let forgotten = |here: &FxHashSet<Var>, there: &FxHashSet<Var>| -> Vec<Var> {
            let mut vars: Vec<Var> = there.difference(here).copied().collect();
            vars.sort();
            vars
        };
        branches = Some(Box::new([
            (forgotten(&before_then, &before_other), then_lives),
            (forgotten(&before_other, &before_then), other_lives),
        ]));
        *live = &before_then | &before_other;
    }
    let dying = binding.rhs.operands().into_iter().filter(|var| live.insert(*var)).collect();
    BindingLives { dying, unused, branches }
}
