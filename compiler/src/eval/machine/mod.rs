//! The machine of the reference evaluator.
//!
//! One stack of values, divided into activations, and one stack of frames, the activations that wait for the value of a
//! call. A tail call replaces the running activation. Both stacks live on the heap, so recursion is as deep as memory
//! allows, and every entry of a function checks that the memory allowed is not used up.

mod callers;
mod watch;

use super::code::{self, Code, Instruction, Operand, Slot};
use super::files::Files;
use super::print::{found, print_noting};
use super::value::{Function, Value, live_bytes};
use super::{Counts, Failure, KinkReport, Options, primitives};
use crate::ad::{Transforms, plain_without_sums};
use crate::base::{SourceMap, Span};
use crate::core::errors::{Place, RuntimeError};
use crate::core::input::Numbers;
use crate::core::ir::{Body, Definition, GlobalId, Item, LambdaId, Part, Program, Var};
use crate::core::mismatch::{mismatch, mismatch_at_top};
use crate::core::number;
use crate::core::operands::contract::Misfit;
use crate::core::place::{Library, Tuples};
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::io::{BufRead, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What primitives act on.
pub struct World<'a> {
    /// Grows when `*j` transforms a λ.
    pub program: &'a mut Program,
    /// The transforms made so far.
    pub transforms: Transforms,
    /// For what reads.
    pub input: Numbers<'a>,
    /// For `write` and the values of top-level expressions.
    pub output: &'a mut dyn Write,
    /// Operations so far.
    pub counts: Counts,
    /// True while a derivative is checked, which computes values of functions of which the program asks for one only.
    pub in_check: bool,
    /// Whether a zero has to conform to what it is added to.
    pub strict_sums: bool,
    /// What to do with the numbers that tell how far a search has come.
    pub answer: Option<fn(f64, f64) -> f64>,
    /// The message and the value of the error that the program has raised last.
    pub raised: Option<(Value, Value)>,
    /// Files that are written.
    pub files: Files,
    /// The shard at hand, or -1.
    pub shard: f64,
}

/// The state of a run.
pub struct Machine<'a> {
    world: World<'a>,
    sources: &'a SourceMap,
    /// For messages.
    tuples: OnceCell<Tuples>,
    memory: usize,
    trap_nan: bool,
    on_kink: Option<KinkReport>,
    interrupted: Option<Arc<AtomicBool>>,
    on_result: Option<fn(Option<f64>)>,
    /// How often derivatives of functions were to be checked, and up to which number all of these checks are made.
    checks: RefCell<FxHashMap<LambdaId, u64>>,
    checked_calls: u64,
    /// How many activations wait for the outermost check of a derivative, if one is running.
    check: Option<usize>,
    /// The same for its part that calls the function again and again.
    probe: Option<usize>,
    /// How many activations waited when the value of a function was asked for whose derivative is given; the innermost
    /// such call last.
    given: Vec<usize>,
    /// What is watched for at kinks.
    kinks: watch::Kinks,
    codes: Vec<Rc<Code>>,
    code_of_function: FxHashMap<Function, u32>,
    globals: FxHashMap<GlobalId, Value>,
    /// The slots of all activations, the running one last.
    stack: Vec<Value>,
    /// The activations that wait, the innermost last.
    frames: Vec<Activation>,
    /// The handlers of errors, the innermost last.
    handlers: Vec<Handler>,
    running: Activation,
    /// What was wrong with arguments of calls of library functions the last time that they were made.
    misfits: FxHashMap<(u32, u32), Rc<Misfit>>,
    /// The call that a top-level item ends with, once that runs.
    last_of_item: Option<Call>,
}

/// A body being executed.
#[derive(Clone, Copy, Debug, Default)]
struct Activation {
    /// Its code.
    code: u32,
    /// The next instruction.
    next: u32,
    /// Its first slot.
    base: u32,
    /// The call to blame for a mistake in it.
    call: Option<Call>,
}

/// A call: where, and of what. Tail calls inside the library do not replace it, so that a mistake in the library can
/// be blamed on the program's call.
#[derive(Clone, Copy, Debug)]
struct Call {
    code: u32,
    instruction: u32,
    callee: Function,
    /// Whether an argument is not what the library function takes.
    misfits: bool,
}

/// What deals with the failure of a call that has not returned.
#[derive(Clone, Debug)]
struct Handler {
    /// How many activations wait in the call, that of the caller included.
    waiting: usize,
    /// How many slots the activations have that wait.
    slots: usize,
    /// The function that is called with the message and the value of the error.
    function: Value,
    /// The shard at hand.
    shard: f64,
}

/// What to do after an instruction.
enum Next {
    Continue,
    /// Another activation runs now.
    Switch,
    Finish(Value),
}

impl<'a> Machine<'a> {
    /// A machine that has not run anything.
    pub fn new(
        program: &'a mut Program,
        sources: &'a SourceMap,
        options: &Options,
        input: &'a mut dyn BufRead,
        output: &'a mut dyn Write,
    ) -> Machine<'a> {
        let world = World {
            program,
            transforms: Transforms::new(),
            input: Numbers::after(&options.arguments, input),
            output,
            counts: Counts::default(),
            in_check: false,
            strict_sums: options.strict_sums,
            answer: options.answer,
            raised: None,
            files: Files::telling(options.on_file),
            shard: -1.0,
        };
        Machine {
            world,
            sources,
            tuples: OnceCell::new(),
            memory: live_bytes().saturating_add(options.limits.memory),
            trap_nan: options.trap_nan,
            on_kink: options.on_kink,
            interrupted: options.interrupted.clone(),
            on_result: options.on_result,
            checks: RefCell::default(),
            checked_calls: options.checked_calls,
            check: None,
            probe: None,
            given: Vec::new(),
            kinks: watch::Kinks::default(),
            codes: Vec::new(),
            code_of_function: FxHashMap::default(),
            globals: FxHashMap::default(),
            stack: Vec::new(),
            frames: Vec::new(),
            handlers: Vec::new(),
            running: Activation::default(),
            misfits: FxHashMap::default(),
            last_of_item: None,
        }
    }

    /// Runs all items of the program.
    pub fn run(mut self) -> Result<Counts, Failure> {
        let items = self.world.program.items.clone();
        for item in &items {
            match item {
                Item::Define(global, body) => {
                    let span = self.world.program.globals[*global].span;
                    let value = self.item(body, span)?;
                    self.globals.insert(*global, value);
                }
                Item::Print(body, span) => {
                    let value = self.item(body, *span)?;
                    self.print_line(&value).map_err(|error| failure(&error, &Place::from(*span)))?;
                }
            }
        }
        Ok(self.world.counts)
    }

    fn print_line(&mut self, value: &Value) -> Result<(), RuntimeError> {
        let note = |number| self.on_result.into_iter().for_each(|on_result| on_result(number));
        print_noting(self.world.program, value, self.world.output, &mut |number| note(Some(number)))
            .map_err(primitives::failed)?;
        note(None);
        self.world.output.write_all(b"\n").map_err(primitives::failed)
    }

    fn item(&mut self, body: &Body, span: Span) -> Result<Value, Failure> {
        let code = self.add_code(code::of_item(self.world.program, body, span));
        self.running = Activation { code, ..Activation::default() };
        self.last_of_item = None;
        self.world.shard = -1.0;
        self.stack.resize(self.codes[code as usize].slots as usize, Value::Nil);
        self.execute()
    }

    fn execute(&mut self) -> Result<Value, Failure> {
        let mut code = self.codes[self.running.code as usize].clone();
        loop {
            let instruction = &code.instructions[self.running.next as usize];
            self.running.next += 1;
            let next = match self.step(instruction) {
                Err(error) => self.handle(error, &code),
                next => next,
            };
            match next {
                Ok(Next::Continue) => {}
                Ok(Next::Switch) => code = self.codes[self.running.code as usize].clone(),
                Ok(Next::Finish(value)) => return Ok(value),
                Err(error) => {
                    let Failure { mut diagnostic, exit_code } = failure(&error, &self.place(&code));
                    diagnostic.callers = self.callers(&code);
                    if self.world.shard >= 0.0 && matches!(error, RuntimeError::NotFinite { .. }) {
                        diagnostic.callers.push(format!("this happened in shard {}", self.world.shard));
                    }
                    let diagnostic = Box::new(self.with_suspect(&error, *diagnostic));
                    return Err(Failure { diagnostic, exit_code });
                }
            }
        }
    }

    fn step(&mut self, instruction: &Instruction) -> Result<Next, RuntimeError> {
        let (slot, value) = match instruction {
            Instruction::Call(slot, function, argument) if self.is_unwanted_check(*function, *argument) => {
                (*slot, Value::Nil)
            }
            Instruction::Call(_, function, argument) => return self.call(*function, *argument, false),
            Instruction::Catch(_, function, handler, argument) => return self.catch(*function, *handler, *argument),
            Instruction::TailCall(function, argument) => return self.call(*function, *argument, true),
            Instruction::Return(result) => return Ok(self.finish(*result)),
            Instruction::Jump(target) => {
                self.running.next = *target;
                return Ok(Next::Continue);
            }
            Instruction::Unless(condition, target) => {
                if !self.get(*condition).is_true() {
                    self.running.next = *target;
                }
                return Ok(Next::Continue);
            }
            Instruction::Forget(slots) => {
                slots.iter().for_each(|slot| self.set(*slot, Value::Nil));
                return Ok(Next::Continue);
            }
            Instruction::Constant(slot, value) => (*slot, value.clone()),
            Instruction::Global(slot, global) => (*slot, self.global(*global)?),
            Instruction::Move(slot, operand) => (*slot, self.get(*operand)),
            Instruction::Prim(slot, prim, operands) => {
                let mut values = [const { Value::Nil }; 3];
                values.iter_mut().zip(operands).for_each(|(value, operand)| *value = self.get(*operand));
                let watched = self.trap_nan || self.on_kink.is_some();
                let numbers = if watched { watch::numbers(*prim, &values) } else { None };
                let computes = self.trap_nan && prim.kernel().is_some_and(vlad_kernels::Kernel::computes);
                let arrays = computes.then(|| values.clone());
                let value = primitives::apply(*prim, values, &mut self.world)?;
                if let Some(operands) = numbers {
                    self.watch_primitive(*prim, &operands);
                    self.trap(*prim, &operands, &value)?;
                }
                if let Some(operands) = arrays {
                    self.trap_kernel(*prim, &operands, &value)?;
                }
                (*slot, value)
            }
            Instruction::Lifted(slot, below, prim, operands) => {
                let mut values = [const { Value::Nil }; 3];
                values.iter_mut().zip(operands).for_each(|(value, operand)| *value = self.get(*operand));
                (*slot, primitives::apply_below(*below, *prim, values, &mut self.world)?)
            }
            Instruction::Destructure(slot, part, operand, var) => {
                let whole = self.get(*operand);
                (*slot, self.destructure(*part, &whole, *var)?)
            }
            Instruction::Closure(slot, function, captures) => {
                let captures = captures.iter().map(|operand| self.get(*operand)).collect();
                (*slot, Value::closure(*function, captures))
            }
        };
        self.set(slot, value);
        Ok(Next::Continue)
    }

    fn position(&self, slot: Slot) -> usize {
        (self.running.base + slot) as usize
    }

    fn get(&mut self, operand: Operand) -> Value {
        let position = self.position(operand.slot);
        if operand.last { std::mem::take(&mut self.stack[position]) } else { self.stack[position].clone() }
    }

    fn set(&mut self, slot: Slot, value: Value) {
        let position = self.position(slot);
        self.stack[position] = value;
    }

    fn global(&mut self, id: GlobalId) -> Result<Value, RuntimeError> {
        if let Some(value) = self.globals.get(&id) {
            return Ok(value.clone());
        }
        let global = &self.world.program.globals[id];
        match global.definition {
            Definition::Value => {
                Err(RuntimeError::Undefined { name: global.name.to_string(), definition: global.span })
            }
            Definition::Function(lambda) => {
                let value = Value::closure(Function::of(self.world.program, lambda), Vec::new());
                self.globals.insert(id, value.clone());
                Ok(value)
            }
        }
    }

    fn destructure(&mut self, part: Part, whole: &Value, var: Var) -> Result<Value, RuntimeError> {
        match (part, whole) {
            (Part::Car, Value::Pair(pair)) => Ok(pair.car().clone()),
            (Part::Cdr, Value::Pair(pair)) => Ok(pair.cdr().clone()),
            (Part::Nil, Value::Nil) => Ok(Value::Nil),
            (Part::Record(wanted), Value::Record(pair)) if pair.kind() == wanted => Ok(Value::renamed(pair, None)),
            // In what is handed to backpropagators there may be nothing.
            (Part::Record(_), Value::Nothing) => Ok(Value::Nothing),
            (Part::Vector(length), Value::Vector(vector)) if vector.elements().len() == length as usize => {
                Ok(Value::Nil)
            }
            (Part::Vector(expected), Value::Vector(vector)) => {
                let found = number::format(vector.elements().len() as f64).as_str().into();
                Err(RuntimeError::VectorLength { expected, found })
            }
            _ => {
                let found = found(self.world.program, whole);
                let Some(lambda) = self.codes[self.running.code as usize].lambda else {
                    return Err(mismatch_at_top(self.world.program, part, var, found));
                };
                let name = self.source_name(Function::of(self.world.program, lambda));
                Err(mismatch(self.world.program, &name, &self.world.program.lambdas[lambda], part, var, found))
            }
        }
    }

    fn call(&mut self, function: Operand, argument: Operand, tail: bool) -> Result<Next, RuntimeError> {
        let function = self.get(function);
        let argument = self.get(argument);
        self.call_value(function, argument, tail)
    }

    /// Calls a function with a handler of its errors.
    fn catch(&mut self, function: Operand, handler: Operand, argument: Operand) -> Result<Next, RuntimeError> {
        let [function, handler, argument] = [function, handler, argument].map(|operand| self.get(operand));
        let slots = self.stack.len();
        let next = self.call_value(function, argument, false)?;
        let (waiting, shard) = (self.frames.len(), self.world.shard);
        self.handlers.push(Handler { waiting, slots, function: handler, shard });
        Ok(next)
    }

    /// Goes on where an error is dealt with, if that is so anywhere.
    fn handle(&mut self, error: RuntimeError, code: &Code) -> Result<Next, RuntimeError> {
        if !error.is_survivable() {
            return Err(error);
        }
        let Some(handler) = self.handlers.pop() else { return Err(error) };
        let raised = self.world.raised.take().filter(|_| matches!(error, RuntimeError::Raised { .. }));
        let (message, value) = raised.unwrap_or_else(|| {
            let message = error.caught(&self.place(code));
            (Value::Str(Rc::new(message.into())), Value::Nil)
        });
        self.frames.truncate(handler.waiting);
        self.stack.truncate(handler.slots);
        self.world.shard = handler.shard;
        self.running = self.frames.pop().expect("the caller waits");
        self.leave_check();
        self.leave_given();
        let code = self.codes[self.running.code as usize].clone();
        self.call_value(handler.function, Value::pair(message, value), false).or_else(|error| self.handle(error, &code))
    }

    fn call_value(&mut self, function: Value, argument: Value, tail: bool) -> Result<Next, RuntimeError> {
        let Value::Closure(closure) = &function else {
            return Err(RuntimeError::NotAProcedure { found: found(self.world.program, &function) });
        };
        let (function, argument) = self.without_sums(closure.function(), argument);
        self.watch_call(function, &argument);
        let call = self.call_to_blame(function, tail, &argument);
        let code = self.code_of(function);
        if tail {
            if self.codes[self.running.code as usize].lambda.is_none() {
                self.last_of_item = call;
            }
            self.stack.truncate(self.running.base as usize);
        } else {
            self.reserve_frame()?;
            self.frames.push(self.running);
            self.enter_check(function);
        }
        self.enter_given(function);
        let (base, slots) = (self.stack.len(), self.codes[code as usize].slots as usize);
        self.reserve_slots(slots)?;
        self.stack.push(argument);
        self.stack.extend_from_slice(closure.captures());
        self.stack.resize(base + slots, Value::Nil);
        let base = u32::try_from(base).map_err(|_| RuntimeError::Exhausted)?;
        self.running = Activation { code, next: 0, base, call };
        Ok(Next::Switch)
    }

    /// What a call calls, and with what. The plain form is called for an adding form that is handed no sums, as in
    /// compiled code, so that contributions are added in the same order.
    fn without_sums(&self, function: Function, argument: Value) -> (Function, Value) {
        match (plain_without_sums(self.world.program, function.base, &function.tower), &argument) {
            (Some(base), Value::Pair(pair)) if pair.cdr().is_nothing() => {
                (Function { base, ..function }, pair.car().clone())
            }
            _ => (function, argument),
        }
    }

    fn call_to_blame(&mut self, callee: Function, tail: bool, argument: &Value) -> Option<Call> {
        let Activation { code, next, .. } = self.running;
        let mut here = Call { code, instruction: next - 1, callee, misfits: false };
        let span = self.span_of(here);
        if self.sources.is_library(span) {
            return if tail { self.running.call } else { Some(here) };
        }
        let program = &*self.world.program;
        if let Some(contract) = program.contracts.get(&callee.base) {
            let passed = self.tuples.get_or_init(|| Tuples::new(program)).count(span);
            if let Some(misfit) = contract.misfit(program, argument, passed) {
                here.misfits = true;
                self.misfits.insert((here.code, here.instruction), Rc::new(misfit));
            }
        }
        Some(here)
    }

    fn span_of(&self, call: Call) -> Span {
        self.codes[call.code as usize].spans[call.instruction as usize]
    }

    fn reserve_frame(&mut self) -> Result<(), RuntimeError> {
        self.frames.try_reserve(1).map_err(|_| RuntimeError::Exhausted)
    }

    /// Makes room for an activation, unless the program has used up its memory, or somebody wants it to stop.
    fn reserve_slots(&mut self, slots: usize) -> Result<(), RuntimeError> {
        if self.interrupted.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(RuntimeError::Interrupted);
        }
        let stacks = size_of_val(self.stack.as_slice()) + size_of_val(self.frames.as_slice());
        if stacks + live_bytes() > self.memory {
            return Err(RuntimeError::Exhausted);
        }
        self.stack.try_reserve(slots).map_err(|_| RuntimeError::Exhausted)
    }

    /// Gives the value of the running activation to the one that waits for it.
    fn finish(&mut self, result: Operand) -> Next {
        let value = self.get(result);
        self.stack.truncate(self.running.base as usize);
        let Some(frame) = self.frames.pop() else {
            return Next::Finish(value);
        };
        self.handlers.pop_if(|handler| handler.waiting > self.frames.len());
        self.leave_check();
        self.leave_given();
        self.running = frame;
        let instruction = &self.codes[frame.code as usize].instructions[frame.next as usize - 1];
        if let Instruction::Call(slot, ..) | Instruction::Catch(slot, ..) = instruction {
            let slot = *slot;
            self.set(slot, value);
        }
        Next::Switch
    }

    fn add_code(&mut self, code: Code) -> u32 {
        self.codes.push(Rc::new(code));
        u32::try_from(self.codes.len() - 1).expect("a program has fewer than 2^32 bodies")
    }

    /// The code of a function, transformed as often as it takes.
    fn code_of(&mut self, function: Function) -> u32 {
        if let Some(code) = self.code_of_function.get(&function) {
            return *code;
        }
        let World { program, transforms, .. } = &mut self.world;
        let lambda = transforms.raise(program, function.base, function.tower);
        transforms.complete(program, lambda);
        let code = self.add_code(code::of_lambda(self.world.program, lambda));
        self.code_of_function.insert(function, code);
        code
    }

    /// The name of a function as the source knows it, for transforms too.
    fn source_name(&self, function: Function) -> String {
        self.world.program.lambdas[function.base].name.to_string()
    }

    /// What to blame for a mistake in the instruction just executed: itself, or, in the library, the innermost call
    /// that the program made.
    fn place(&self, code: &Code) -> Place {
        let span = code.spans[self.running.next as usize - 1];
        if !self.sources.is_library(span) {
            let lambda = code.lambda.map(|lambda| Function::of(self.world.program, lambda));
            let call = self.running.call.filter(|call| Some(call.callee) == lambda);
            let call = call.map(|call| (self.span_of(call), call.callee.base));
            let tuples = || self.tuples.get_or_init(|| Tuples::new(self.world.program));
            let tuple = call.and_then(|(call, callee)| tuples().passed(self.world.program, callee, call));
            let call = call.map(|(call, _)| call).filter(|call| !self.sources.is_library(*call));
            return Place { span, library: None, call, tuple };
        }
        let activations = std::iter::once(&self.running).chain(self.frames.iter().rev());
        let mut calls = activations.filter_map(|activation| activation.call);
        match calls.find(|call| !self.sources.is_library(self.span_of(*call))) {
            Some(call) => {
                let misfit = self.misfits.get(&(call.code, call.instruction)).filter(|_| call.misfits).cloned();
                let library = Library::new(self.world.program, call.callee.base, self.span_of(call), misfit);
                Place { library: Some(library), ..Place::from(self.span_of(call)) }
            }
            None => Place::from(span),
        }
    }
}

fn failure(error: &RuntimeError, place: &Place) -> Failure {
    Failure { diagnostic: Box::new(error.to_diagnostic(place)), exit_code: error.exit_code() }
}
