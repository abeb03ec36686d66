//! Errors that the program handles, in compiled code: functions that return them.
//!
//! A function that is called where its errors are handled has a second form, which returns whether it has succeeded,
//! the results, and the message and the value of the error. Where the plain form fails, this one returns the error;
//! where it calls a function that may fail, this one calls that function's second form, and returns what that could
//! not do. So nothing is unwound: owners are counted as in all other code, and a call that nobody handles costs nothing.
//!
//! ```text
//! fn f(v0: f64) -> f64          fn f(v0: f64) -> bool, f64, int, f64
//!     v1 = call g(v0)               v2, v1, v3, v4 = call g'(v0)
//!     return v1                     branch v2, b1, b2
//!                               b1: return true, v1, 0, 0
//!                               b2: return false, 0, v3, v4
//! ```
//!
//! Where the program raises an error, the emitter leaves a call of a function that does nothing ([`Specializer::raise`])
//! with the message and the value. The second forms are made of the finished plain ones; then these calls go.

use super::failure::HOLE;
use crate::core::check::Check;
use crate::core::errors::RuntimeError;
use crate::core::ir::Var;
use crate::core::question::{ENTER_SHARD, SHARD};
use crate::flow::analysis::Facts;
use crate::shape::lattice::{Head, Shape};
use crate::specialize::Specializer;
use crate::specialize::calls::Calls;
use crate::specialize::emit::{Emitted, Emitter, Val, target};
use crate::ssa::ir::{Block, BlockId, FuncId, Function, Op, Target, Terminator, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

impl Specializer<'_> {
    /// `(%catch f handler x)`
    pub(in crate::specialize) fn catch(
        &mut self,
        e: &mut Emitter,
        var: Var,
        (f, x): (&Val, &Val),
        (handler_var, handler): (Var, &Val),
        shape: Shape,
        facts: &Facts,
    ) -> Emitted<Val> {
        let raised = self.flow.raised.expect("the analysis has met a handler");
        let join_types = self.leaves(shape);
        let error_types = self.error_types();
        let join = e.new_block(&join_types);
        let failed = e.new_block(&error_types);
        let mut joined = false;
        // An error may leave checks of derivatives.
        let level = self.core.checks.map(|_| {
            let asked = [Check::Level as u32 as f64, 0.0].map(|x| e.real(x));
            e.value(Op::Ask, &asked, Type::F64)
        });
        // And shards.
        let shard = self.watches.then(|| {
            let asked = [SHARD, 0.0].map(|x| e.real(x));
            e.value(Op::Ask, &asked, Type::F64)
        });
        e.depth += 1;
        let calls = Calls { noted: var, form: None, catches: Some(failed) };
        if let Some(value) = self.apply(e, calls, f, x, shape, facts) {
            e.jump(join, value.leaves);
            joined = true;
        }
        e.switch_to(failed);
        if let Some(level) = level {
            let what = e.real(Check::Restore as u32 as f64);
            e.value(Op::Ask, &[what, level], Type::F64);
        }
        if let Some(shard) = shard {
            let what = e.real(ENTER_SHARD);
            e.value(Op::Ask, &[what, shard], Type::F64);
        }
        let leaves = e.function.blocks[failed].params.clone();
        let error = self.flow.shapes.make(Head::Pair(None), &raised);
        let error = Val { shape: error, leaves };
        let calls = Calls { noted: handler_var, form: None, catches: None };
        let handled = match self.convert(e, &error, facts.caught[&var]) {
            Some(caught) => self.apply(e, calls, handler, &caught, shape, facts),
            None => None,
        };
        if let Some(value) = handled {
            e.jump(join, value.leaves);
            joined = true;
        }
        e.depth -= 1;
        self.continue_at(e, join, joined, shape)
    }

    /// Calls the second form of a function. Control goes on with its results, or at the block with the error.
    pub(in crate::specialize) fn call_and_catch(
        &mut self,
        e: &mut Emitter,
        callee: FuncId,
        args: &[Value],
        failed: BlockId,
    ) -> Vec<Value> {
        let catching = self.catching_form(callee);
        let types = self.out.functions[catching].results.clone();
        let mut results = e.call(catching, args, &types);
        let error = results.split_off(results.len() - self.error_types().len());
        let done = e.new_block(&[]);
        let otherwise = Target { block: failed, args: error };
        e.terminate(Terminator::Branch(results[0], target(done), otherwise));
        e.switch_to(done);
        results.split_off(1)
    }

    /// The types of the leaves of an error: its message and its value.
    fn error_types(&mut self) -> Vec<Type> {
        let raised = self.flow.raised.expect("the analysis has met a handler");
        raised.into_iter().flat_map(|shape| self.leaves(shape).to_vec()).collect()
    }

    /// The second form of a function, to be written when all plain ones are there.
    fn catching_form(&mut self, function: FuncId) -> FuncId {
        if let Some(form) = self.catching.get(&function) {
            return *form;
        }
        let plain = &self.out.functions[function];
        let (name, params) = (plain.name.clone(), plain.param_types());
        let mut results = vec![Type::Bool];
        results.extend(&plain.results);
        results.extend(self.error_types());
        let form = self.out.functions.push(Function::new(name, &params, results));
        self.catching.insert(function, form);
        form
    }

    /// Says that an error is raised here: one of the program's own, with that message and that value, or another one.
    pub(super) fn note_error(&mut self, e: &mut Emitter, error: &RuntimeError, own: Option<[&Val; 2]>) {
        let Some([message_shape, value_shape]) = self.flow.raised.filter(|_| error.is_survivable()) else { return };
        let (message, value) = match own {
            Some([message, value]) => (self.convert(e, message, message_shape), self.convert(e, value, value_shape)),
            None => {
                let text = self.text(&error.caught(&self.place(e)).replace(HOLE, ""));
                let nil = Val { shape: self.flow.shapes.nil(), leaves: Vec::new() };
                let text =
                    Val { shape: self.flow.shapes.make(Head::Text(None), &[]), leaves: vec![e.int(i64::from(text.0))] };
                (self.convert(e, &text, message_shape), self.convert(e, &nil, value_shape))
            }
        };
        let (Some(message), Some(value)) = (message, value) else { return };
        let leaves: Vec<Value> = message.leaves.into_iter().chain(value.leaves).collect();
        let raise = match self.raise {
            Some(raise) => raise,
            None => {
                let types = self.error_types();
                let mut function = Function::new("raise".into(), &types, Vec::new());
                function.blocks[Function::ENTRY].terminator = Terminator::Return(Vec::new());
                *self.raise.insert(self.out.functions.push(function))
            }
        };
        e.call(raise, &leaves, &[]);
    }

    /// Writes the second forms of all functions that need one, and takes the notes of errors away.
    pub(in crate::specialize) fn write_catching_forms(&mut self) {
        if self.flow.raised.is_none() {
            return;
        }
        let failing = self.failing();
        let mut pending: Vec<(FuncId, FuncId)> = self.catching.iter().map(|(plain, form)| (*plain, *form)).collect();
        pending.sort_unstable();
        let mut known: FxHashSet<FuncId> = pending.iter().map(|(plain, _)| *plain).collect();
        while let Some((plain, form)) = pending.pop() {
            let function = self.out.functions[plain].clone();
            for callee in callees(&function).filter(|callee| failing.contains(callee)) {
                if known.insert(callee) {
                    pending.push((callee, self.catching_form(callee)));
                }
            }
            let mut function = self.returning_errors(function, &failing);
            function.results.clone_from(&self.out.functions[form].results);
            (self.clean)(&mut function);
            self.out.functions[form] = function;
        }
        let Some(raise) = self.raise else { return };
        for function in self.out.functions.values_mut() {
            for block in function.blocks.values_mut() {
                block.insts.retain(|inst| inst.op != Op::Call(raise));
            }
        }
    }

    /// The functions in which errors are raised that can be handled, or that call such functions. What ends in an
    /// exchange between processes is not one of them: a process that only helps must not get to a handler.
    fn failing(&self) -> FxHashSet<FuncId> {
        let mut callers: FxHashMap<FuncId, Vec<FuncId>> = FxHashMap::default();
        for (id, function) in self.out.functions.iter() {
            callees(function).for_each(|callee| callers.entry(callee).or_default().push(id));
        }
        let mut failing = FxHashSet::default();
        let mut pending: Vec<FuncId> = self.raise.into_iter().collect();
        while let Some(callee) = pending.pop() {
            let callers = callers.get(&callee).into_iter().flatten().copied();
            let callers = callers.filter(|caller| !exchanges(&self.out.functions[*caller]));
            pending.extend(callers.filter(|caller| failing.insert(*caller)));
        }
        failing
    }

    /// A plain function, with its errors returned.
    fn returning_errors(&mut self, mut function: Function, failing: &FxHashSet<FuncId>) -> Function {
        let (results, errors) = (function.results.clone(), self.error_types());
        let blocks: Vec<BlockId> = function.blocks.ids().collect();
        for id in blocks {
            let Block { insts, terminator, .. } = &mut function.blocks[id];
            let (insts, terminator) = (std::mem::take(insts), terminator.clone());
            let mut e = Emitter::of(function);
            e.switch_to(id);
            let ended = insts.into_iter().any(|mut inst| {
                match inst.op {
                    Op::Call(callee) if Some(callee) == self.raise => {
                        self.return_error(&mut e, &results, &inst.args);
                        return true;
                    }
                    Op::Call(callee) if failing.contains(&callee) => {
                        let [succeeded, error] = [&[Type::Bool][..], &errors]
                            .map(|types| types.iter().map(|ty| e.function.values.push(*ty)).collect::<Vec<Value>>());
                        inst.op = Op::Call(self.catching_form(callee));
                        inst.results = succeeded.iter().chain(&inst.results).chain(&error).copied().collect();
                        e.function.blocks[e.block].insts.push(inst);
                        let [done, failed] = [(); 2].map(|()| e.new_block(&[]));
                        e.terminate(Terminator::Branch(succeeded[0], target(done), target(failed)));
                        e.switch_to(failed);
                        self.return_error(&mut e, &results, &error);
                        e.switch_to(done);
                    }
                    _ => e.function.blocks[e.block].insts.push(inst),
                }
                false
            });
            match terminator {
                _ if ended => {}
                Terminator::Return(values) => self.return_results(&mut e, values, &errors),
                Terminator::TailCall(callee, args) if failing.contains(&callee) => {
                    let form = self.catching_form(callee);
                    e.terminate(Terminator::TailCall(form, args));
                }
                Terminator::TailCall(callee, args) => {
                    let values = e.call(callee, &args, &results);
                    self.return_results(&mut e, values, &errors);
                }
                other => e.terminate(other),
            }
            function = e.function;
        }
        clear_unreachable(&mut function);
        function
    }

    fn return_error(&mut self, e: &mut Emitter, results: &[Type], error: &[Value]) {
        let mut values = vec![e.boolean(false)];
        values.extend(results.iter().map(|ty| self.filler(e, *ty)));
        values.extend(error);
        e.terminate(Terminator::Return(values));
    }

    fn return_results(&mut self, e: &mut Emitter, results: Vec<Value>, errors: &[Type]) {
        let mut values = vec![e.boolean(true)];
        values.extend(results);
        values.extend(errors.iter().map(|ty| self.filler(e, *ty)));
        e.terminate(Terminator::Return(values));
    }
}

fn exchanges(function: &Function) -> bool {
    function.blocks.values().flat_map(|block| &block.insts).any(|inst| inst.op == Op::Exchange)
}

/// The functions that a function calls, some of them several times.
fn callees(function: &Function) -> impl Iterator<Item = FuncId> {
    function.blocks.values().flat_map(|block| {
        let calls = block.insts.iter().filter_map(|inst| match inst.op {
            Op::Call(callee) => Some(callee),
            _ => None,
        });
        let last = match block.terminator {
            Terminator::TailCall(callee, _) => Some(callee),
            _ => None,
        };
        calls.chain(last)
    })
}

/// What stood behind an error to show it cannot be reached.
fn clear_unreachable(function: &mut Function) {
    let mut reached: FxHashSet<BlockId> = FxHashSet::from_iter([Function::ENTRY]);
    let mut pending = vec![Function::ENTRY];
    while let Some(block) = pending.pop() {
        let targets = function.blocks[block].terminator.targets();
        pending.extend(targets.iter().map(|target| target.block).filter(|block| reached.insert(*block)));
    }
    let unreached: Vec<BlockId> = function.blocks.ids().filter(|block| !reached.contains(block)).collect();
    for block in unreached {
        function.blocks[block] = Block { params: Vec::new(), insts: Vec::new(), terminator: Terminator::Unreachable };
    }
}
