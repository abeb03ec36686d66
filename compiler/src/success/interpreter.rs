//! Bodies on what is known of values: what comes of them, or the error that they certainly end in.
//!
//! A conditional that nothing decides is looked at on both sides, and what holds behind it is what both come to. Where
//! one side fails, the other one is what goes on. A call is looked into with what is known of its argument.
//!
//! **Termination.** Calls nest so deep only, and a function that is called again behind a conditional that nothing
//! decides is not looked into again: it comes to what it comes to for every argument that is that of one call or the
//! other, which is a fixed point. Each function that is looked at may take so many steps. Whatever is given up is taken
//! to succeed.

use super::primitives::{Demand, tested};
use super::value::{Call, Head, Value};
use crate::base::{EntityVec, Span};
use crate::core::errors::RuntimeError;
use crate::core::ir::{Binding, Body, Definition, GlobalId, Lambda, LambdaId, Origin, Part, Program, Rhs, Var};
use crate::core::mismatch::{mismatch, mismatch_at_top};
use crate::core::prim::Prim;
use rustc_hash::FxHashMap;

/// Calls are looked into this deep.
const DEEPEST: usize = 48;

/// How many bindings are looked at for one function of the program, with those of what it calls.
const MOST_STEPS: usize = 20_000;

/// How often a function is looked at to find out what it comes to.
const MOST_ROUNDS: usize = 4;

/// In how many contexts a function is looked at within itself before nothing is assumed of its arguments.
const MOST_CONTEXTS: usize = 3;

/// How many results of one function are kept.
const MOST_KEPT: usize = 8;

/// Why a body does not come to a value.
#[derive(Clone, Debug)]
pub enum Failure {
    /// Because of a mistake.
    Mistake(Box<Mistake>),
    /// As far as is known it does not end: it comes to what a function comes to of which nothing is assumed yet.
    Endless,
    /// Because it is meant to, as where the program raises an error, or because of a mistake that is known already.
    Known,
}

/// An error that is certain.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// What is wrong.
    pub error: RuntimeError,
    /// The operation.
    pub span: Span,
    /// The calls that lead there, the innermost one first.
    pub calls: Vec<Call>,
}

/// A test of a variable.
#[derive(Clone)]
struct Test {
    of: Var,
    prim: Prim,
    /// What else the test is given.
    kind: Option<Value>,
    /// How it comes out where the variable that holds its result is true.
    outcome: bool,
}

/// A body that is being looked at.
pub struct Frame {
    lambda: Option<LambdaId>,
    values: FxHashMap<Var, Value>,
    /// The variables that others are another name of.
    names: FxHashMap<Var, Var>,
    /// The variables that hold the first and second parts of others.
    parts: FxHashMap<(Var, usize), Var>,
    tests: FxHashMap<Var, Test>,
    /// What was known before, of what more has been learnt.
    learnt: Vec<(Var, Value)>,
    /// How many conditionals that nothing decides are around what is looked at, and were when this was called.
    open: usize,
    opened: usize,
}

impl Frame {
    fn new(lambda: Option<LambdaId>, opened: usize) -> Frame {
        let (values, names, parts, tests, learnt) = Default::default();
        Frame { lambda, values, names, parts, tests, learnt, open: opened, opened }
    }

    fn name(&self, mut var: Var) -> Var {
        while let Some(of) = self.names.get(&var) {
            var = *of;
        }
        var
    }

    /// What is known of a variable.
    pub fn value(&self, var: Var) -> Value {
        self.values.get(&self.name(var)).cloned().unwrap_or(Value::Any)
    }

    /// A variable of which nothing is known turns out to be that.
    pub fn know(&mut self, var: Var, value: Value) {
        let var = self.name(var);
        let before = self.values.insert(var, value).unwrap_or(Value::Any);
        self.learnt.push((var, before));
    }

    /// A part of a pair, which `result` is to hold.
    pub fn part(&mut self, result: Var, pair: Var, part: usize) -> Value {
        let pair = self.name(pair);
        match self.parts.get(&(pair, part)) {
            Some(known) => drop(self.names.insert(result, *known)),
            None => drop(self.parts.insert((pair, part), result)),
        }
        self.value(pair).parts(Head::Pair).map_or(Value::Any, |parts| parts[part].clone())
    }

    /// `result` is whether `of` passes a test.
    pub fn test(&mut self, result: Var, of: Var, prim: Prim, kind: Option<Value>) {
        self.tests.insert(result, Test { of, prim, kind, outcome: true });
    }

    fn learn_from(&mut self, condition: Var, outcome: bool) {
        let condition = self.name(condition);
        match self.tests.get(&condition).cloned() {
            Some(test) => {
                let before = self.value(test.of);
                match tested(test.prim, &before, test.kind.as_ref(), test.outcome == outcome) {
                    Some(value) if value != before => self.know(test.of, value),
                    _ => {}
                }
            }
            None => {
                let before = self.value(condition);
                match before.counting_as(outcome) {
                    Some(value) if value != before => self.know(condition, value),
                    _ => {}
                }
            }
        }
    }

    fn forget(&mut self, learnt: usize) {
        for (var, before) in self.learnt.drain(learnt..).rev() {
            self.values.insert(var, before);
        }
    }
}

/// What a function came to with that argument and these captured values.
struct Kept {
    captured: Vec<Value>,
    argument: Value,
    result: Result<Value, Failure>,
}

/// What a function has captured, and its argument.
#[derive(Clone)]
struct Context {
    captured: Vec<Value>,
    argument: Value,
}

impl Context {
    fn covers(&self, other: &Context) -> bool {
        self.argument.covers(&other.argument)
            && self.captured.iter().zip(&other.captured).all(|(one, other)| one.covers(other))
    }

    fn join(&self, other: &Context) -> Context {
        let both = self.captured.iter().cloned().zip(other.captured.iter().cloned());
        Context {
            captured: both.map(|(one, other)| one.join(other)).collect(),
            argument: self.argument.clone().join(other.argument.clone()),
        }
    }
}

/// What looks at bodies.
pub struct Interpreter<'p> {
    pub program: &'p Program,
    is_library: &'p dyn Fn(Span) -> bool,
    /// What is known of the values of the top level.
    pub globals: EntityVec<GlobalId, Value>,
    kept: FxHashMap<LambdaId, Vec<Kept>>,
    /// What recursive functions come to.
    general: FxHashMap<LambdaId, Vec<(Context, Value)>>,
    /// The functions of which that is being found out, and what is assumed of them.
    assumed: Vec<(LambdaId, Context, Option<Value>)>,
    /// The functions that are being looked at, with the conditionals that are open where they are called.
    active: Vec<(LambdaId, Context, usize)>,
    steps: usize,
    /// How many functions are being looked at where one is looked at for itself.
    outermost: usize,
    /// The mistakes of what is looked at for itself.
    pub mistakes: Vec<Mistake>,
    /// The functions that have been made there, with what is known of what they have captured.
    pub made: Vec<(LambdaId, Vec<Value>)>,
}

impl<'p> Interpreter<'p> {
    /// One that has looked at nothing.
    pub fn new(program: &'p Program, is_library: &'p dyn Fn(Span) -> bool) -> Interpreter<'p> {
        let globals = program.globals.values().map(|_| Value::Any).collect();
        let (kept, general, assumed, active, mistakes, made) = Default::default();
        Interpreter {
            program,
            is_library,
            globals,
            kept,
            general,
            assumed,
            active,
            steps: 0,
            outermost: 0,
            mistakes,
            made,
        }
    }

    /// Looks at a body of the top level.
    pub fn item(&mut self, body: &Body) -> Value {
        (self.steps, self.outermost) = (0, 0);
        let mut frame = Frame::new(None, 0);
        self.body(&mut frame, body).unwrap_or(Value::Any)
    }

    /// Looks at a function for itself, whatever its argument is.
    pub fn function(&mut self, lambda: LambdaId, captured: &[Value]) {
        (self.steps, self.outermost) = (0, 1);
        let result = self.called(lambda, captured, Value::Any, 0);
        self.mistake(result.err());
    }

    fn mistake(&mut self, failure: Option<Failure>) {
        if let Some(Failure::Mistake(mistake)) = failure
            && !self.is_meant(&mistake)
        {
            self.mistakes.push(*mistake);
        }
    }

    /// Whether an error is one that the program itself raises.
    fn is_meant(&self, mistake: &Mistake) -> bool {
        matches!(mistake.error, RuntimeError::Raised { .. }) && !(self.is_library)(mistake.span)
    }

    /// Whether what is looked at belongs to the function that is looked at for itself.
    fn is_outermost(&self) -> bool {
        self.active.len() == self.outermost && self.outermost > 0
    }

    fn called(&mut self, id: LambdaId, captured: &[Value], argument: Value, open: usize) -> Result<Value, Failure> {
        let lambda = &self.program.lambdas[id];
        let mut frame = Frame::new(Some(id), open);
        frame.values.extend(lambda.captures.iter().copied().zip(captured.iter().cloned()));
        frame.values.insert(lambda.param, argument.clone());
        self.active.push((id, Context { captured: captured.to_vec(), argument }, open));
        let result = self.body(&mut frame, &lambda.body);
        self.active.pop();
        result
    }

    fn body(&mut self, frame: &mut Frame, body: &Body) -> Result<Value, Failure> {
        for binding in &body.bindings {
            self.steps += 1;
            let value = self.rhs(frame, binding)?;
            frame.values.insert(binding.var, value);
        }
        Ok(frame.value(body.result))
    }

    fn rhs(&mut self, frame: &mut Frame, binding: &Binding) -> Result<Value, Failure> {
        let program = self.program;
        let failure = |error| Failure::Mistake(Box::new(Mistake { error, span: binding.span, calls: Vec::new() }));
        Ok(match &binding.rhs {
            Rhs::Var(of) => {
                frame.names.insert(binding.var, *of);
                frame.value(*of)
            }
            Rhs::Const(constant) => Value::of(constant),
            Rhs::Global(global) => match program.globals[*global].definition {
                Definition::Function(lambda) => Value::made(Head::Function(lambda), Vec::new()),
                Definition::Value => self.globals[*global].clone(),
            },
            Rhs::Closure(lambda, captured) => {
                let captured: Vec<Value> = captured.iter().map(|var| frame.value(*var)).collect();
                if self.is_outermost() {
                    self.made.push((*lambda, captured.clone()));
                }
                Value::made(Head::Function(*lambda), captured)
            }
            Rhs::Destructure(part, of) => self.destructure(frame, binding, *part, *of)?,
            Rhs::Prim(prim, operands) => self.primitive(frame, binding.var, *prim, operands).map_err(failure)?,
            Rhs::Lifted(..) => Value::Any,
            Rhs::Apply(function, argument) => match frame.value(*function) {
                Value::Any => Value::Any,
                Value::Made(Head::Function(lambda), parts) => {
                    let argument = frame.value(*argument);
                    self.apply(frame, binding.span, (lambda, &parts.values), argument)?
                }
                other => match other.found(&program.records) {
                    Some(found) if !other.kinds().iter().any(Value::is_function) => {
                        return Err(failure(RuntimeError::NotAProcedure { found }));
                    }
                    _ => Value::Any,
                },
            },
            Rhs::If(condition, yes, no) => self.choice(frame, (binding.var, *condition), yes, no)?,
        })
    }

    fn destructure(&mut self, frame: &mut Frame, binding: &Binding, part: Part, of: Var) -> Result<Value, Failure> {
        let value = frame.value(of);
        let demand = match part {
            Part::Car | Part::Cdr => Some(Demand::Pair),
            Part::Record(kind) => Some(Demand::Record(kind)),
            Part::Nil => Some(Demand::Nil),
            Part::Vector(_) => Some(Demand::Vector),
            Part::Never => None,
        };
        let fits = match demand {
            Some(demand) => demand.is_met(&value),
            // Where clauses decide what is done, there may be none for what nobody passes.
            None if frame.open > frame.opened => return Err(Failure::Known),
            None => Some(false),
        };
        if fits == Some(false)
            && let Some(found) = value.found(&self.program.records)
        {
            let error = match frame.lambda {
                Some(lambda) => {
                    let lambda: &Lambda = &self.program.lambdas[lambda];
                    mismatch(self.program, &lambda.name, lambda, part, of, found)
                }
                None => mismatch_at_top(self.program, part, of, found),
            };
            return Err(Failure::Mistake(Box::new(Mistake { error, span: binding.span, calls: Vec::new() })));
        }
        if let (Some(demand), None) = (demand, fits) {
            frame.know(of, demand.narrow(&value));
        }
        let value = frame.value(of);
        Ok(match part {
            Part::Car | Part::Cdr => frame.part(binding.var, of, usize::from(part == Part::Cdr)),
            Part::Record(kind) => value.parts(Head::Record(kind)).map_or(Value::Any, |parts| parts[0].clone()),
            Part::Nil => Value::Nil,
            Part::Vector(length) => {
                if let Value::Vector(found, element) = value {
                    if let Some(found) = found.filter(|found| *found != length) {
                        let error = RuntimeError::VectorLength { expected: length, found: found.to_string() };
                        return Err(Failure::Mistake(Box::new(Mistake {
                            error,
                            span: binding.span,
                            calls: Vec::new(),
                        })));
                    }
                    frame.know(of, Value::Vector(Some(length), element));
                }
                Value::Nil
            }
            Part::Never => Value::Any,
        })
    }

    fn choice(
        &mut self,
        frame: &mut Frame,
        (var, condition): (Var, Var),
        yes: &Body,
        no: &Body,
    ) -> Result<Value, Failure> {
        match frame.value(condition).truth() {
            Some(true) => return self.body(frame, yes),
            Some(false) => return self.body(frame, no),
            None => {}
        }
        frame.open += 1;
        let learnt = frame.learnt.len();
        let side = |this: &mut Self, frame: &mut Frame, outcome, body| {
            frame.learn_from(condition, outcome);
            let result = this.body(frame, body);
            if this.is_outermost()
                && let Err(failure @ Failure::Mistake(_)) = result
            {
                this.mistake(Some(failure));
                return Err(Failure::Known);
            }
            result
        };
        let first = side(self, frame, true, yes);
        let known: Vec<(Var, Value)> =
            frame.learnt[learnt..].iter().map(|(var, _)| (*var, frame.value(*var))).collect();
        frame.forget(learnt);
        let second = side(self, frame, false, no);
        frame.open -= 1;
        let result = match (first, second) {
            (Ok(first), Ok(second)) => {
                frame.forget(learnt);
                Ok(first.join(second))
            }
            (Err(Failure::Endless), Ok(value)) | (Ok(value), Err(Failure::Endless)) => {
                frame.forget(learnt);
                Ok(value)
            }
            (Err(Failure::Endless), Err(_)) | (Err(_), Err(Failure::Endless)) => Err(Failure::Endless),
            (Ok(value), Err(_)) => {
                frame.forget(learnt);
                known.into_iter().for_each(|(var, value)| frame.know(var, value));
                Ok(value)
            }
            (Err(_), Ok(value)) => Ok(value),
            (Err(failure @ Failure::Mistake(_)), Err(_)) | (Err(_), Err(failure)) => Err(failure),
        };
        // `not` of a test is the test the other way round.
        if let Some(test) = frame.tests.get(&frame.name(condition)).cloned()
            && [yes, no].map(|body| self.constant(body)) == [Some(false), Some(true)]
        {
            frame.tests.insert(var, Test { outcome: !test.outcome, ..test });
        }
        result
    }

    /// The truth value that a body is, if it is nothing else.
    fn constant(&self, body: &Body) -> Option<bool> {
        match &body.bindings[..] {
            [Binding { rhs: Rhs::Const(constant), .. }] => match Value::of(constant) {
                Value::Bool(value) => value,
                _ => None,
            },
            _ => None,
        }
    }

    fn apply(
        &mut self,
        frame: &Frame,
        span: Span,
        (id, captured): (LambdaId, &[Value]),
        argument: Value,
    ) -> Result<Value, Failure> {
        let lambda = &self.program.lambdas[id];
        let again = |(active, _, open): &&(LambdaId, Context, usize)| *active == id && *open < frame.open;
        if !matches!(lambda.origin, Origin::Source | Origin::Primitive(_))
            || self.active.len() >= DEEPEST
            || self.steps >= MOST_STEPS
        {
            return Ok(Value::Any);
        }
        if let Some((_, before, _)) = self.active.iter().rfind(again) {
            let now = Context { captured: captured.to_vec(), argument };
            let context = if before.covers(&now) { before.clone() } else { before.join(&now) };
            return self.general(id, context);
        }
        let result = self.result(id, captured, argument.clone(), frame.open);
        let Err(failure) = result else { return result };
        let Failure::Mistake(mut mistake) = failure else { return Err(failure) };
        // What fails whatever it is given is meant to, or said of the function itself.
        let nothing = vec![Value::Any; captured.len()];
        if self.is_meant(&mistake) || self.result(id, &nothing, Value::Any, frame.open).is_err() {
            return Err(Failure::Known);
        }
        mistake.calls.push(Call { span, callee: id, argument });
        Err(Failure::Mistake(mistake))
    }

    /// What a function comes to in that context and in those that calls of itself in there lead to: the least value
    /// that its body comes to if these calls do.
    fn general(&mut self, id: LambdaId, mut context: Context) -> Result<Value, Failure> {
        let assumed = self.assumed.iter().rev().filter(|(function, ..)| *function == id);
        if let Some((.., assumed)) = assumed.clone().find(|(_, assumed, _)| assumed.covers(&context)) {
            return assumed.clone().ok_or(Failure::Endless);
        }
        if assumed.count() >= MOST_CONTEXTS {
            context.captured.fill(Value::Any);
            context.argument = Value::Any;
        }
        let known = self.general.get(&id).into_iter().flatten();
        if let Some((_, known)) = known.clone().find(|(known, _)| known.covers(&context)) {
            return Ok(known.clone());
        }
        let mut assumed: Option<Value> = None;
        let mut found = Value::Any;
        for _ in 0..MOST_ROUNDS {
            self.assumed.push((id, context.clone(), assumed.clone()));
            let result = self.called(id, &context.captured, context.argument.clone(), 0);
            self.assumed.pop();
            let Ok(value) = result else { break };
            if assumed.as_ref().is_some_and(|assumed| assumed.covers(&value)) {
                found = value;
                break;
            }
            assumed = Some(assumed.map_or(value.clone(), |assumed| assumed.join(value)));
        }
        // What rests on what is assumed of others holds no longer than that.
        let known = self.general.entry(id).or_default();
        if self.assumed.is_empty() && known.len() < MOST_KEPT {
            known.push((context, found.clone()));
        }
        Ok(found)
    }

    fn result(&mut self, id: LambdaId, captured: &[Value], argument: Value, open: usize) -> Result<Value, Failure> {
        let is_it = |kept: &&Kept| kept.argument == argument && kept.captured == captured;
        if let Some(kept) = self.kept.get(&id).and_then(|kept| kept.iter().find(is_it)) {
            return kept.result.clone();
        }
        let result = self.called(id, captured, argument.clone(), open);
        let kept = self.kept.entry(id).or_default();
        if kept.len() < MOST_KEPT && self.assumed.is_empty() {
            kept.push(Kept { captured: captured.to_vec(), argument, result: result.clone() });
        }
        result
    }
}
