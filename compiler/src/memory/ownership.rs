//! Who owns which box: the analysis behind [`crate::memory::counting`].
//!
//! A parameter of type `ptr` is *owned* by its function, which then has to consume it, or *borrowed* from the caller,
//! who keeps it alive during the call. Borrowing is assumed of every parameter and given up where the function has a
//! use for an owner (it stores the parameter in a box or a global, changes it as a vector, returns it, or hands it to
//! someone who does), or where a tail call passes something that the caller itself would have to release: after a tail
//! call there is nobody left to do so. Functions that are told to borrow ([`Walk::Borrowing`]) never give it up; nobody
//! leaves to them by a tail call. Each parameter changes at most once, so the iteration ends. Last it is given up where
//! no caller has a use for what it lends, see [`crate::memory::owned_params`].
//!
//! Within a function a value is *safe* when it lives at least as long as the function runs, without an owner here:
//! borrowed parameters, globals, alternatives without fields, fields of safe values, and what can only be one of
//! these. All other pointers hold exactly one owner, from their definition to the point that consumes them.

use crate::base::EntityVec;
use crate::memory::owned_params::with_all_handed_over;
use crate::ssa::call_graph::callers;
use crate::ssa::ir::{FuncId, Function, Inst, Op, Program, Terminator, Type, Value, Walk};

/// For each function, which of its parameters are pointers that it owns.
#[derive(Clone, Debug)]
pub struct Modes {
    owned: EntityVec<FuncId, Vec<bool>>,
}

impl Modes {
    /// Infers the modes of all parameters of a program.
    pub fn infer(program: &Program) -> Modes {
        let callers = callers(program);
        with_all_handed_over(program, &callers, &Modes::least(program, &callers))
    }

    /// Owned is only what has to be.
    fn least(program: &Program, callers: &EntityVec<FuncId, Vec<FuncId>>) -> Modes {
        let owned = program.functions.values().map(|function| vec![false; function.params().len()]).collect();
        let mut modes = Modes { owned };
        let mut waiting: Vec<FuncId> = program.functions.ids().rev().collect();
        let mut queued = program.functions.same_ids(true);
        while let Some(id) = waiting.pop() {
            queued[id] = false;
            for changed in modes.refine(program, id) {
                for again in callers[changed].iter().copied().chain([changed]) {
                    if !std::mem::replace(&mut queued[again], true) {
                        waiting.push(again);
                    }
                }
            }
        }
        modes
    }

    /// True when the function owns the argument at this position, which is a pointer.
    pub fn is_owned(&self, function: FuncId, position: usize) -> bool {
        self.owned[function][position]
    }

    /// Sets whether a function owns the argument at this position.
    pub fn set(&mut self, function: FuncId, position: usize, owned: bool) {
        self.owned[function][position] = owned;
    }

    /// Gives up borrowing where the code of `id` demands it; the functions whose modes changed.
    fn refine(&mut self, program: &Program, id: FuncId) -> Vec<FuncId> {
        let function = &program.functions[id];
        let mut changed = Vec::new();
        let wanted = wants_owner(function, self);
        for (position, param) in function.params().iter().enumerate() {
            if function.walk != Walk::Borrowing
                && wanted[*param]
                && !std::mem::replace(&mut self.owned[id][position], true)
            {
                changed.push(id);
            }
        }
        let safe = safe_values(function, id, self);
        for block in function.blocks.values() {
            let Terminator::TailCall(callee, args) = &block.terminator else { continue };
            for (position, arg) in args.iter().enumerate() {
                let may_own = program.functions[*callee].walk != Walk::Borrowing;
                let must_own = may_own && function.values[*arg] == Type::Ptr && !safe[*arg];
                if must_own && !std::mem::replace(&mut self.owned[*callee][position], true) {
                    changed.push(*callee);
                }
            }
        }
        changed
    }
}

/// Which operands of an instruction it consumes, by position.
pub fn consumes(inst: &Inst, position: usize, modes: &Modes) -> bool {
    match inst.op {
        Op::Box(..) | Op::GlobalSet(_) | Op::Exchange => true,
        op if op.changes_vector() => true,
        Op::Fill(_) => position == 1,
        Op::Call(callee) => modes.is_owned(callee, position),
        _ => false,
    }
}

/// Whether results of an operation come with an owner.
pub fn gives_owner(op: Op) -> bool {
    op.changes_vector() || op.makes_vectors() || matches!(op, Op::Box(..) | Op::Call(_) | Op::Recall(_) | Op::Exchange)
}

/// The pointers for which the function has a use that consumes an owner.
pub fn wants_owner(function: &Function, modes: &Modes) -> EntityVec<Value, bool> {
    let mut wanted = function.values.same_ids(false);
    let mut waiting = Vec::new();
    for block in function.blocks.values() {
        for inst in &block.insts {
            let consumed = inst.args.iter().enumerate().filter(|(position, _)| consumes(inst, *position, modes));
            waiting.extend(consumed.map(|(_, value)| *value));
        }
        match &block.terminator {
            Terminator::Return(values) => waiting.extend(values),
            Terminator::TailCall(callee, args) => {
                let consumed = args.iter().enumerate().filter(|(position, _)| modes.is_owned(*callee, *position));
                waiting.extend(consumed.map(|(_, value)| *value));
            }
            _ => {}
        }
    }
    // From a block parameter back to what jumps pass for it.
    let mut sources = function.values.same_ids(Vec::new());
    for_each_argument(function, |arg, param| sources[param].push(arg));
    while let Some(value) = waiting.pop() {
        if function.values[value] == Type::Ptr && !std::mem::replace(&mut wanted[value], true) {
            waiting.extend(&sources[value]);
        }
    }
    wanted
}

/// The pointers that live as long as the function runs; see the module's comment.
pub fn safe_values(function: &Function, id: FuncId, modes: &Modes) -> EntityVec<Value, bool> {
    let mut safe: EntityVec<Value, bool> = function.values.values().map(|ty| *ty == Type::Ptr).collect();
    // From a value to those that are not safe when it is not.
    let mut dependents = function.values.same_ids(Vec::new());
    let mut waiting: Vec<Value> = Vec::new();
    for (position, param) in function.params().iter().enumerate() {
        if function.values[*param] == Type::Ptr && modes.is_owned(id, position) {
            waiting.push(*param);
        }
    }
    for inst in function.blocks.values().flat_map(|block| &block.insts) {
        match inst.op {
            op if gives_owner(op) => waiting.extend(&inst.results),
            Op::Field(..) | Op::Element(..) | Op::Select | Op::Opaque => {
                inst.args.iter().for_each(|arg| dependents[*arg].push(inst.results[0]))
            }
            _ => {}
        }
    }
    for_each_argument(function, |arg, param| dependents[arg].push(param));
    while let Some(value) = waiting.pop() {
        if std::mem::replace(&mut safe[value], false) {
            waiting.extend(&dependents[value]);
        }
    }
    safe
}

/// Calls `f` on every pointer that a jump passes, with the parameter that receives it.
fn for_each_argument(function: &Function, mut f: impl FnMut(Value, Value)) {
    for target in function.blocks.values().flat_map(|block| block.terminator.targets()) {
        for (arg, param) in target.args.iter().zip(&function.blocks[target.block].params) {
            if function.values[*arg] == Type::Ptr {
                f(*arg, *param);
            }
        }
    }
}
