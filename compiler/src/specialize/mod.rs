//! Specialisation: core and the shapes of the flow analysis → first-order SSA.
//!
//! Every variant that the program reaches becomes a function whose parameters are the leaves of its environment and
//! argument and whose results are the leaves of its result. An application whose function can have one code becomes a
//! call, one that can have several a choice between calls; what is known has no code at all.
//!
//! A variant of a library function is emitted once for each place in the user's files that leads into the library, so
//! that its run-time errors blame that place; copies that cannot fail turn out equal later and are merged.
//!
//! | file | |
//! |---|---|
//! | [`layout`] | which SSA values represent a shape |
//! | [`emit`] | values with shapes, choices and joins |
//! | [`convert`] | from a shape to one that covers it |
//! | [`zeros`] | reals that may be the symbolic zero |
//! | [`operators`] | `zero`, `plus`, `*j`, `*j-inverse` |
//! | [`primitive`] | all other primitives |
//! | [`write`] | printing |
//! | [`failure`] | run-time errors |

pub mod layout;

pub mod emit;

pub mod convert;

pub mod operators;

pub mod primitive;

pub mod zeros;

pub mod write;

pub mod failure;

use crate::base::{Diagnostic, SourceMap, Span};
use crate::core::errors::RuntimeError;
use crate::core::ir::{Binding, Body, Definition, Item, LambdaId, Program, Rhs, Var};
use crate::flow::analysis::{Facts, VariantId, truth};
use crate::flow::shape::{Head, Shape, Shapes};
use crate::flow::{Analysis, Unsupported};
use crate::ssa::ir::{self, FuncId, Function, Op, SlotId, Stream, SumId, Terminator, TextId, Type};
use emit::{Emitted, Emitter, Val, reached, target};
use failure::Call;
use layout::{Layouts, TooLarge};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use write::Position;

/// Why there is no SSA program.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The program makes a mistake that it cannot avoid: an error at compile time.
    Mistake(Box<Diagnostic>),
    /// The program has data that this compiler cannot lay out.
    Unsupported(Unsupported),
}

/// A function made on demand for an operation on recursive data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Helper {
    /// From one shape to another that covers it.
    Convert(Shape, Shape),
    /// `plus` of two shapes, as a third.
    Plus(Shape, Shape, Shape),
    /// Unfolding a folded zero, to a shape without one at its top.
    UnfoldZeros(Shape, Shape),
    /// Printing.
    Write(Shape, Position, Stream),
}

/// What a function certainly does, in order, as far as errors are concerned.
#[derive(Clone, Debug)]
enum Event {
    Fail(Box<Diagnostic>),
    Call(FuncId),
}

/// What remains to be emitted.
#[derive(Clone, Copy, Debug)]
enum Task {
    Variant(VariantId, Option<Call>),
    Helper(Helper),
}

/// The translation of one program.
pub struct Specializer<'a> {
    core: &'a Program,
    sources: &'a SourceMap,
    flow: Analysis,
    out: ir::Program,
    layouts: Layouts,
    functions: FxHashMap<(VariantId, Option<Call>), FuncId>,
    helpers: FxHashMap<Helper, FuncId>,
    tasks: Vec<(FuncId, Task)>,
    texts: FxHashMap<Rc<str>, TextId>,
    slots: FxHashMap<crate::core::ir::GlobalId, Vec<SlotId>>,
    /// What each function certainly does.
    certain: FxHashMap<FuncId, Vec<Event>>,
    events: Vec<Event>,
    empty: Option<SumId>,
    /// The function being emitted.
    lambda: Option<LambdaId>,
    blame: Option<Call>,
    fallback_span: Span,
    /// Whether a pattern of the variant may meet a value that does not fit.
    may_mismatch: FxHashMap<VariantId, bool>,
}

/// Translates a program.
///
/// # Errors
///
/// [`Failure::Mistake`] when an error is certain to happen, [`Failure::Unsupported`] when the program can only be
/// evaluated.
pub fn lower(core: &Program, flow: Analysis, sources: &SourceMap) -> Result<ir::Program, Failure> {
    let Some(fallback_span) = core.items.iter().find_map(item_span) else {
        return Ok(empty_program());
    };
    if let Some(global) = flow.unchecked_globals.iter().min() {
        let span = core.globals[*global].span;
        let message = format!("`{}` may be used before its definition has run", core.globals[*global].name);
        let diagnostic = Diagnostic::error("V0402", message, span, "defined here")
            .help("the program runs in the reference evaluator instead; move the definition up to compile it")
            .as_warning();
        return Err(Failure::Unsupported(Unsupported { diagnostic: Box::new(diagnostic) }));
    }
    let mut specializer = Specializer {
        core,
        sources,
        flow,
        out: ir::Program::default(),
        layouts: Layouts::default(),
        functions: FxHashMap::default(),
        helpers: FxHashMap::default(),
        tasks: Vec::new(),
        texts: FxHashMap::default(),
        slots: FxHashMap::default(),
        certain: FxHashMap::default(),
        events: Vec::new(),
        empty: None,
        lambda: None,
        blame: None,
        fallback_span,
        may_mismatch: FxHashMap::default(),
    };
    match specializer.program() {
        Ok(main) => match specializer.certain_failure(main) {
            Some(diagnostic) => Err(Failure::Mistake(diagnostic)),
            None => Ok(specializer.out),
        },
        Err(TooLarge) => {
            let span = specializer.core.lambdas.values().next_back().map_or(fallback_span, |lambda| lambda.span);
            let span = specializer.lambda.map_or(span, |lambda| specializer.core.lambdas[lambda].span);
            let diagnostic = Diagnostic::error("V0403", "some data have no flat layout", span, "in this function")
                .help("the program runs in the reference evaluator instead; keep large data in lists")
                .as_warning();
            Err(Failure::Unsupported(Unsupported { diagnostic: Box::new(diagnostic) }))
        }
    }
}

fn item_span(item: &Item) -> Option<Span> {
    match item {
        Item::Print(_, span) => Some(*span),
        Item::Define(_, body) => body.bindings.first().map(|binding| binding.span),
    }
}

fn empty_program() -> ir::Program {
    let mut program = ir::Program::default();
    let mut main = Function::new("main".into(), &[], Vec::new());
    main.blocks[Function::ENTRY].terminator = Terminator::Return(Vec::new());
    program.main = Some(program.functions.push(main));
    program
}

type Env = FxHashMap<Var, Val>;

impl Specializer<'_> {
    fn program(&mut self) -> Result<FuncId, TooLarge> {
        for text in self.flow.texts.clone() {
            // The number of a text in the analysis is its number in the program.
            self.text(&text);
        }
        let main = self.out.functions.push(Function::new("main".into(), &[], Vec::new()));
        self.out.main = Some(main);
        let mut e = Emitter::new("main".into(), &[], Vec::new());
        let result = self.items(&mut e)?;
        if result.is_some() {
            e.terminate(Terminator::Return(Vec::new()));
        }
        self.out.functions[main] = e.function;
        self.certain.insert(main, std::mem::take(&mut self.events));
        while let Some((function, task)) = self.tasks.pop() {
            self.task(function, task)?;
        }
        self.layouts.write_sums(self.core, &self.flow.shapes, &mut self.out)?;
        self.rename_sums();
        Ok(main)
    }

    /// Replaces every sum by the one that stands for all that are the same.
    fn rename_sums(&mut self) {
        for function in self.out.functions.values_mut() {
            for inst in function.blocks.values_mut().flat_map(|block| block.insts.iter_mut()) {
                match &mut inst.op {
                    Op::Immediate(sum, _)
                    | Op::Box(sum, _)
                    | Op::Tag(sum)
                    | Op::HasTag(sum, _)
                    | Op::Field(sum, ..) => *sum = self.layouts.representative(*sum),
                    _ => {}
                }
            }
        }
    }

    /// The first error that the program cannot avoid.
    fn certain_failure(&self, main: FuncId) -> Option<Box<Diagnostic>> {
        let mut pending: Vec<&Event> = self.certain.get(&main)?.iter().rev().collect();
        let mut seen = FxHashSet::default();
        while let Some(event) = pending.pop() {
            match event {
                Event::Fail(diagnostic) => return Some(diagnostic.clone()),
                Event::Call(function) if seen.insert(*function) => {
                    pending.extend(self.certain.get(function).into_iter().flat_map(|events| events.iter().rev()));
                }
                Event::Call(_) => {}
            }
        }
        None
    }

    fn items(&mut self, e: &mut Emitter) -> Emitted<()> {
        let items = std::mem::take(&mut self.flow.items);
        for (item, (facts, shape)) in self.core.items.iter().zip(items) {
            match item {
                Item::Print(body, span) => {
                    let value = reached!(self.body(e, body, &facts, Env::default()));
                    e.span = Some(*span);
                    write::write(self, e, &value, Stream::Out)?;
                    self.write_text(e, Stream::Out, "\n");
                }
                Item::Define(global, body) => {
                    let value = reached!(self.body(e, body, &facts, Env::default()));
                    let shape = self.flow.globals.get(global).copied().unwrap_or(shape);
                    let value = reached!(self.convert(e, &value, shape));
                    let slots = self.slots(*global)?;
                    for (slot, leaf) in slots.into_iter().zip(value.leaves) {
                        e.inst(Op::GlobalSet(slot), &[leaf], &[]);
                    }
                }
            }
        }
        Ok(Some(()))
    }

    /// The cells of a global value.
    fn slots(&mut self, global: crate::core::ir::GlobalId) -> Result<Vec<SlotId>, TooLarge> {
        if let Some(slots) = self.slots.get(&global) {
            return Ok(slots.clone());
        }
        let shape = self.flow.globals.get(&global).copied().unwrap_or(Shapes::BOTTOM);
        let slots: Vec<SlotId> = self.leaves(shape)?.iter().map(|ty| self.out.slots.push(*ty)).collect();
        self.slots.insert(global, slots.clone());
        Ok(slots)
    }

    fn task(&mut self, function: FuncId, task: Task) -> Result<(), TooLarge> {
        let empty = Function::new("".into(), &[], Vec::new());
        let declared = std::mem::replace(&mut self.out.functions[function], empty);
        let mut e = Emitter { function: declared, block: Function::ENTRY, span: None, depth: 0 };
        match task {
            Task::Variant(variant, blame) => {
                self.blame = blame;
                self.variant(&mut e, variant)?;
            }
            Task::Helper(helper) => {
                (self.lambda, self.blame) = (None, None);
                match helper {
                    Helper::Convert(from, to) => convert::conversion(self, &mut e, from, to)?,
                    Helper::Plus(a, b, to) => {
                        let params = e.function.params().to_vec();
                        let values = self.split(&[a, b], &params)?;
                        let result = self.plus_unfolded(&mut e, &values[0], &values[1], to)?;
                        self.finish(&mut e, result)?;
                    }
                    Helper::UnfoldZeros(from, to) => {
                        let value = Val { shape: from, leaves: e.function.params().to_vec() };
                        let result = self.unfold_zeros_to(&mut e, &value, to)?;
                        self.finish(&mut e, result)?;
                    }
                    Helper::Write(shape, position, stream) => {
                        write::printer(self, &mut e, shape, position, stream)?;
                    }
                }
            }
        }
        self.out.functions[function] = e.function;
        self.certain.insert(function, std::mem::take(&mut self.events));
        Ok(())
    }

    fn variant(&mut self, e: &mut Emitter, id: VariantId) -> Result<(), TooLarge> {
        let core = self.core;
        let key = self.flow.variants[id].key.clone();
        let facts = std::mem::take(&mut self.flow.variants[id].facts);
        let lambda = &core.lambdas[key.lambda];
        self.lambda = Some(key.lambda);
        let params = e.function.params().to_vec();
        let values = self.split(&key.args, &params)?;
        let env: Env = lambda.captures.iter().chain([&lambda.param]).copied().zip(values).collect();
        if let Some(value) = self.body(e, &lambda.body, &facts, env)? {
            let result = self.flow.variants[id].result;
            if let Some(value) = self.convert(e, &value, result)? {
                e.terminate(Terminator::Return(value.leaves));
            }
        }
        self.flow.variants[id].facts = facts;
        Ok(())
    }

    /// The function of a variant, to be emitted later if it is not yet.
    fn function(&mut self, variant: VariantId, blame: Option<Call>) -> Result<FuncId, TooLarge> {
        if let Some(function) = self.functions.get(&(variant, blame)) {
            return Ok(*function);
        }
        let key = self.flow.variants[variant].key.clone();
        let params = convert::parameter_types(self, &key.args)?;
        let results = self.leaves(self.flow.variants[variant].result)?.to_vec();
        let name = self.core.lambdas[key.lambda].name.clone();
        let function = self.out.functions.push(Function::new(name, &params, results));
        self.functions.insert((variant, blame), function);
        self.tasks.push((function, Task::Variant(variant, blame)));
        Ok(function)
    }

    /// The function for an operation on recursive data.
    pub fn helper(&mut self, helper: Helper) -> Result<FuncId, TooLarge> {
        if let Some(function) = self.helpers.get(&helper) {
            return Ok(*function);
        }
        let (name, params, results) = match helper {
            Helper::Convert(from, to) => ("convert", vec![from], Some(to)),
            Helper::Plus(a, b, to) => ("plus", vec![a, b], Some(to)),
            Helper::UnfoldZeros(from, to) => ("unfold", vec![from], Some(to)),
            Helper::Write(shape, ..) => ("write", vec![shape], None),
        };
        let params = convert::parameter_types(self, &params)?;
        let results: Vec<Type> = match results {
            Some(shape) => self.leaves(shape)?.to_vec(),
            None => Vec::new(),
        };
        let function = self.out.functions.push(Function::new(name.into(), &params, results));
        self.helpers.insert(helper, function);
        self.tasks.push((function, Task::Helper(helper)));
        Ok(function)
    }

    fn body(&mut self, e: &mut Emitter, body: &Body, facts: &Facts, mut env: Env) -> Emitted<Val> {
        self.body_in(e, body, facts, &mut env)
    }

    fn body_in(&mut self, e: &mut Emitter, body: &Body, facts: &Facts, env: &mut Env) -> Emitted<Val> {
        for binding in &body.bindings {
            e.span = Some(binding.span);
            let shape = facts.shapes.get(&binding.var).copied().unwrap_or(Shapes::BOTTOM);
            let value = reached!(self.binding(e, binding, shape, facts, env));
            if shape == Shapes::BOTTOM {
                // The analysis has shown that nothing gets here.
                e.terminate(Terminator::Unreachable);
                return Ok(None);
            }
            let value = reached!(self.convert(e, &value, shape));
            env.insert(binding.var, value);
        }
        Ok(Some(env[&body.result].clone()))
    }

    fn binding(
        &mut self,
        e: &mut Emitter,
        binding: &Binding,
        shape: Shape,
        facts: &Facts,
        env: &mut Env,
    ) -> Emitted<Val> {
        Ok(Some(match &binding.rhs {
            Rhs::Var(x) => env[x].clone(),
            Rhs::Const(_) => Val { shape, leaves: Vec::new() },
            Rhs::Global(global) => match self.core.globals[*global].definition {
                Definition::Function(_) => Val { shape, leaves: Vec::new() },
                Definition::Value => return self.global(e, *global, shape),
            },
            Rhs::Closure(lambda) => {
                let captures = &self.core.lambdas[*lambda].captures;
                let leaves = captures.iter().flat_map(|x| env[x].leaves.iter().copied()).collect();
                self.build(e, shape, 0, leaves)?
            }
            Rhs::Destructure(part, x) => {
                let value = env[x].clone();
                return self.destructure(e, *part, *x, &value, shape);
            }
            Rhs::Prim(prim, args) => {
                let args: Vec<Val> = args.iter().map(|x| env[x].clone()).collect();
                return self.primitive(e, *prim, &args, shape);
            }
            Rhs::Lifted(..) => return Ok(None),
            Rhs::Apply(f, a) => {
                let (function, argument) = (env[f].clone(), env[a].clone());
                return self.apply(e, binding.var, &function, &argument, shape, facts);
            }
            Rhs::If(condition, then, other) => {
                return self.conditional(e, *condition, [then, other], shape, facts, env);
            }
        }))
    }

    fn global(&mut self, e: &mut Emitter, global: crate::core::ir::GlobalId, shape: Shape) -> Emitted<Val> {
        if !self.flow.globals.contains_key(&global) {
            let info = &self.core.globals[global];
            let error = RuntimeError::Undefined { name: info.name.to_string(), definition: info.span };
            return self.fail(e, &error);
        }
        let slots = self.slots(global)?;
        let leaves = slots.iter().map(|slot| e.value(Op::GlobalGet(*slot), &[], self.out.slots[*slot])).collect();
        Ok(Some(Val { shape, leaves }))
    }

    fn apply(
        &mut self,
        e: &mut Emitter,
        var: Var,
        function: &Val,
        argument: &Val,
        shape: Shape,
        facts: &Facts,
    ) -> Emitted<Val> {
        let function = reached!(self.unfold_zeros(e, function));
        self.dispatch(e, &function, shape, |this, e, parts| {
            let Head::Closure(code) = parts.alternative.head else {
                let error = RuntimeError::NotAProcedure { found: this.found(parts.alternative.head) };
                return this.fail(e, &error);
            };
            let Some(variant) = facts.calls.get(&(var, code.lambda)).copied() else {
                e.terminate(Terminator::Unreachable);
                return Ok(None);
            };
            let blame = this.blame_of_call(e, code, variant);
            let callee = this.function(variant, blame)?;
            let key = this.flow.variants[variant].key.clone();
            let mut args = Vec::new();
            for (value, wanted) in parts.children.iter().chain([argument]).zip(key.args.iter()) {
                args.extend(reached!(this.convert(e, value, *wanted)).leaves);
            }
            let result = this.flow.variants[variant].result;
            let types = this.leaves(result)?;
            if e.depth == 0 {
                this.events.push(Event::Call(callee));
            }
            let leaves = e.call(callee, &args, &types);
            if result == Shapes::BOTTOM {
                e.terminate(Terminator::Unreachable);
                return Ok(None);
            }
            this.convert(e, &Val { shape: result, leaves }, shape)
        })
    }

    fn conditional(
        &mut self,
        e: &mut Emitter,
        condition: Var,
        branches: [&Body; 2],
        shape: Shape,
        facts: &Facts,
        env: &mut Env,
    ) -> Emitted<Val> {
        let value = env[&condition].clone();
        match truth(&self.flow.shapes, value.shape) {
            Some(true) => return self.body_in(e, branches[0], facts, env),
            Some(false) => return self.body_in(e, branches[1], facts, env),
            None => {}
        }
        let decision = reached!(self.condition(e, &value));
        let blocks = [e.new_block(&[]), e.new_block(&[])];
        let types = self.leaves(shape)?;
        let join = e.new_block(&types);
        e.terminate(Terminator::Branch(decision, target(blocks[0]), target(blocks[1])));
        let mut joined = false;
        e.depth += 1;
        for ((block, branch), outcome) in blocks.into_iter().zip(branches).zip([true, false]) {
            e.switch_to(block);
            let refined = facts.refinements(&mut self.flow.shapes, condition, outcome);
            let Some(before) = self.refine(e, refined, env)? else { continue };
            let value = self.body_in(e, branch, facts, env)?;
            env.extend(before);
            let Some(value) = value else { continue };
            let Some(value) = self.convert(e, &value, shape)? else { continue };
            e.jump(join, value.leaves);
            joined = true;
        }
        e.depth -= 1;
        Ok(self.continue_at(e, join, joined, shape))
    }

    /// Gives variables the shapes that a test has left them; returns what they were before.
    fn refine(&mut self, e: &mut Emitter, refined: Vec<(Var, Shape)>, env: &mut Env) -> Emitted<Vec<(Var, Val)>> {
        let mut before = Vec::new();
        for (var, shape) in refined {
            let value = env[&var].clone();
            let narrow = reached!(self.convert(e, &value, shape));
            env.insert(var, narrow);
            before.push((var, value));
        }
        Ok(Some(before))
    }
}
