//! What can be said of a function without looking at others. It holds until the function changes, so that whoever asks
//! about a whole program looks at those only which have.

use crate::opt::analysis::termination::{CallOf, calls, has_endless_loop};
use crate::ssa::call_graph::callees;
use crate::ssa::forms::{self, Form};
use crate::ssa::ir::{FuncId, Function, Inst, Op, Terminator};
use std::sync::OnceLock;

/// See the module.
#[derive(Debug, Default)]
pub struct Summary {
    /// The functions that it calls, tail calls included, once for each place.
    pub callees: Vec<FuncId>,
    /// Those of them that it leaves the returning to.
    pub tail_callees: Vec<FuncId>,
    /// Whether it reads input, writes output or sets a global.
    pub is_visible: bool,
    /// Whether it ends the program with an error.
    pub fails: bool,
    /// Whether it returns itself.
    pub returns: bool,
    endless_loop: OnceLock<bool>,
    calls: OnceLock<Vec<CallOf>>,
}

impl Summary {
    /// Looks at a function.
    pub fn new(function: &Function) -> Summary {
        let mut summary = Summary { callees: callees(function), ..Summary::default() };
        for block in function.blocks.values() {
            let is_visible = |inst: &Inst| {
                let asks_memory = matches!(inst.op, Op::HeapBytes | Op::TapeMemory);
                inst.op.has_effect() && !asks_memory && forms::of(inst.op) != Some(Form::Remembered)
            };
            summary.is_visible |= block.insts.iter().any(is_visible);
            match block.terminator {
                Terminator::Return(_) => summary.returns = true,
                Terminator::Fail(..) => summary.fails = true,
                Terminator::TailCall(callee, _) => summary.tail_callees.push(callee),
                _ => {}
            }
        }
        summary
    }

    /// Whether the function, which is that one, has a loop that may never end.
    pub fn has_endless_loop(&self, function: &Function) -> bool {
        *self.endless_loop.get_or_init(|| has_endless_loop(function))
    }

    /// The calls of the function, which is that one, with what becomes of its parameters in them.
    pub fn calls(&self, function: &Function) -> &[CallOf] {
        self.calls.get_or_init(|| calls(function))
    }
}

impl AsRef<Summary> for Summary {
    fn as_ref(&self) -> &Summary {
        self
    }
}

impl AsRef<[FuncId]> for Summary {
    fn as_ref(&self) -> &[FuncId] {
        &self.callees
    }
}
