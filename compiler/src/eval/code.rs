//! Core bodies → instructions for the evaluator's machine.
//!
//! ~~~text
//! λn. z = 0                          0  s1 = 0
//!     c = (= n z)                    1  s1 = (= s0 s1!)
//!     r = if c then n                2  unless s1! goto 4
//!         else m = (dec n)      →    3  return s0!
//!              y = (loop m)          4  s0 = call dec s0!
//!     return r                       5  tail call loop s0!
//! ~~~
//!
//! A body becomes a straight list of instructions with forward jumps. Variables live in slots of the activation; a slot
//! is used again after the last use of its variable. `!` marks the last use: the machine moves the value out of the
//! slot there, so that no activation holds a value that it does not need.

use super::liveness::{self, BindingLives, Branch, Lives};
use super::value::{Function, Value};
use crate::base::Span;
use crate::core::ir::{Below, Binding, Body, GlobalId, LambdaId, Part, Program, Rhs, Var};
use crate::core::prim::Prim;
use rustc_hash::{FxHashMap, FxHashSet};

/// A place in an activation.
pub type Slot = u32;

/// A use of a variable.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Where the variable is.
    pub slot: Slot,
    /// True when the value is not needed any more.
    pub last: bool,
}

/// One step of the machine. The first slot of those that have one gets the result.
#[derive(Debug)]
pub enum Instruction {
    /// A literal.
    Constant(Slot, Value),
    /// The value of a global.
    Global(Slot, GlobalId),
    /// A copy.
    Move(Slot, Operand),
    /// A primitive.
    Prim(Slot, Prim, Vec<Operand>),
    /// A primitive below so many transformations of its operands.
    Lifted(Slot, Below, Prim, Vec<Operand>),
    /// A part that a pattern demands of the named variable's value.
    Destructure(Slot, Part, Operand, Var),
    /// A closure over these captures.
    Closure(Slot, Function, Vec<Operand>),
    /// An application whose value is needed here.
    Call(Slot, Operand, Operand),
    /// The same of a function whose failure a handler, the second operand, deals with.
    Catch(Slot, Operand, Operand, Operand),
    /// An application whose value is the value of the whole body.
    TailCall(Operand, Operand),
    /// Continues at the index when the operand is `#f`, else with the next instruction.
    Unless(Operand, u32),
    /// Continues at the index.
    Jump(u32),
    /// Ends the body.
    Return(Operand),
    /// Gives up the values of variables that a branch does not need.
    Forget(Vec<Slot>),
}

/// The instructions of one body.
#[derive(Debug)]
pub struct Code {
    /// The λ, unless this is the body of a top-level item.
    pub lambda: Option<LambdaId>,
    /// What to do.
    pub instructions: Vec<Instruction>,
    /// The source of each instruction.
    pub spans: Vec<Span>,
    /// Whether it is a part of a derivative of what stands there.
    pub of_derivative: Vec<bool>,
    /// How many slots an activation has.
    pub slots: u32,
}

/// The code of a λ. Slot 0 is the parameter, then come the captures.
pub fn of_lambda(program: &Program, id: LambdaId) -> Code {
    let lambda = &program.lambdas[id];
    let mut inputs = vec![lambda.param];
    inputs.extend(&lambda.captures);
    build(program, &lambda.body, &inputs, lambda.span, Some(id))
}

/// The code of the body of a top-level item.
pub fn of_item(program: &Program, body: &Body, span: Span) -> Code {
    build(program, body, &[], span, None)
}

fn build(program: &Program, body: &Body, inputs: &[Var], span: Span, lambda: Option<LambdaId>) -> Code {
    let (live, lives) = liveness::analyse(program, body, &FxHashSet::default());
    let mut builder = Builder {
        program,
        code: Code { lambda, instructions: Vec::new(), spans: Vec::new(), of_derivative: Vec::new(), slots: 0 },
        slots: FxHashMap::default(),
        free: Vec::new(),
        span,
        is_reverse_phase: lambda.is_some_and(|lambda| program.is_reverse_phase(lambda)),
        is_of_derivative: false,
    };
    for input in inputs {
        builder.allocate(*input);
    }
    let unused: Vec<Var> = inputs.iter().copied().filter(|input| !live.contains(input)).collect();
    builder.forget(&unused);
    builder.body(body, &lives, None);
    builder.code
}

struct Builder<'a> {
    program: &'a Program,
    code: Code,
    /// Where the variables that are alive are.
    slots: FxHashMap<Var, Slot>,
    free: Vec<Slot>,
    /// The source of the instructions being built.
    span: Span,
    is_reverse_phase: bool,
    /// Whether they are a part of a derivative of that.
    is_of_derivative: bool,
}

impl Builder<'_> {
    fn emit(&mut self, instruction: Instruction) -> usize {
        self.code.instructions.push(instruction);
        self.code.spans.push(self.span);
        self.code.of_derivative.push(self.is_of_derivative);
        self.code.instructions.len() - 1
    }

    fn here(&self) -> u32 {
        u32::try_from(self.code.instructions.len()).expect("a body has fewer than 2^32 instructions")
    }

    fn allocate(&mut self, var: Var) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.code.slots += 1;
            self.code.slots - 1
        });
        self.slots.insert(var, slot);
        slot
    }

    /// Frees the slots of variables whose values have been moved out.
    fn release(&mut self, vars: impl IntoIterator<Item = Var>) {
        for var in vars {
            self.free.extend(self.slots.remove(&var));
        }
    }

    fn forget(&mut self, vars: &[Var]) {
        if !vars.is_empty() {
            let slots = vars.iter().map(|var| self.slots[var]).collect();
            self.emit(Instruction::Forget(slots));
            self.release(vars.iter().copied());
        }
    }

    /// The operands, the last use of a variable marked at its last occurrence.
    fn operands(&self, vars: &[Var], dying: &FxHashSet<Var>) -> Vec<Operand> {
        let last = |index: usize, var: &Var| dying.contains(var) && !vars[index + 1..].contains(var);
        vars.iter().enumerate().map(|(index, var)| Operand { slot: self.slots[var], last: last(index, var) }).collect()
    }

    /// A body whose value goes to a slot, or is returned.
    fn body(&mut self, body: &Body, lives: &Lives, destination: Option<Slot>) {
        for (index, (binding, lives)) in body.bindings.iter().zip(&lives.bindings).enumerate() {
            self.span = binding.span;
            self.is_of_derivative = self.is_reverse_phase || self.program.vars[binding.var].is_of_derivative;
            let returns = destination.is_none() && index + 1 == body.bindings.len() && binding.var == body.result;
            if returns && self.tail(binding, lives) {
                return;
            }
            self.binding(binding, lives);
        }
        let result = Operand { slot: self.slots[&body.result], last: lives.result_dies };
        self.emit(match destination {
            Some(slot) => Instruction::Move(slot, result),
            None => Instruction::Return(result),
        });
        if lives.result_dies {
            self.release([body.result]);
        }
    }

    /// A binding in tail position; false when it is neither an application nor a conditional.
    fn tail(&mut self, binding: &Binding, lives: &BindingLives) -> bool {
        let operands = self.operands(&binding.rhs.operands(), &lives.dying);
        match (&binding.rhs, operands.as_slice(), &lives.branches) {
            (Rhs::Apply(..), [function, argument], _) => {
                self.emit(Instruction::TailCall(*function, *argument));
                self.release(lives.dying.iter().copied());
            }
            (Rhs::If(_, then, other), [condition], Some(branches)) => {
                self.release(lives.dying.iter().copied());
                self.conditional(*condition, [then, other], branches, None);
            }
            _ => return false,
        }
        true
    }

    fn binding(&mut self, binding: &Binding, lives: &BindingLives) {
        let operands = self.operands(&binding.rhs.operands(), &lives.dying);
        self.release(lives.dying.iter().copied());
        if let (Rhs::If(_, then, other), [condition], Some(branches)) =
            (&binding.rhs, operands.as_slice(), &lives.branches)
        {
            let slot = self.allocate(binding.var);
            self.conditional(*condition, [then, other], branches, Some(slot));
        } else {
            let slot = self.allocate(binding.var);
            self.simple(&binding.rhs, slot, operands);
        }
        if lives.unused {
            self.forget(&[binding.var]);
        }
    }

    /// Anything but a conditional.
    fn simple(&mut self, rhs: &Rhs, slot: Slot, operands: Vec<Operand>) {
        let instruction = match (rhs, operands.as_slice()) {
            (Rhs::Const(constant), _) => Instruction::Constant(slot, Value::constant(constant)),
            (Rhs::Global(global), _) => Instruction::Global(slot, *global),
            (Rhs::Var(_), [operand]) => Instruction::Move(slot, *operand),
            (Rhs::Destructure(part, var), [operand]) => Instruction::Destructure(slot, *part, *operand, *var),
            (Rhs::Apply(..), [function, argument]) => Instruction::Call(slot, *function, *argument),
            (Rhs::Closure(lambda, _), _) => Instruction::Closure(slot, Function::of(self.program, *lambda), operands),
            (Rhs::Lifted(below, prim, _), _) => Instruction::Lifted(slot, *below, *prim, operands),
            (Rhs::Prim(Prim::Catch, _), [function, handler, argument]) => {
                Instruction::Catch(slot, *function, *handler, *argument)
            }
            (Rhs::Prim(prim, _), _) => Instruction::Prim(slot, *prim, operands),
            _ => unreachable!("`Rhs::operands` gives as many operands as the right-hand side has"),
        };
        self.emit(instruction);
    }

    /// Both branches start from the same slots and end with the same variables alive.
    fn conditional(
        &mut self,
        condition: Operand,
        bodies: [&Body; 2],
        branches: &[Branch; 2],
        destination: Option<Slot>,
    ) {
        let unless = self.emit(Instruction::Unless(condition, 0));
        let (slots, free) = (self.slots.clone(), self.free.clone());
        let [(forgotten, lives), (forgotten_otherwise, lives_otherwise)] = branches;
        self.forget(forgotten);
        self.body(bodies[0], lives, destination);
        let jump = destination.map(|_| self.emit(Instruction::Jump(0)));
        self.code.instructions[unless] = Instruction::Unless(condition, self.here());
        (self.slots, self.free) = (slots, free);
        self.forget(forgotten_otherwise);
        self.body(bodies[1], lives_otherwise, destination);
        if let Some(jump) = jump {
            self.code.instructions[jump] = Instruction::Jump(self.here());
        }
    }
}
