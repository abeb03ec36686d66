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
//! | [`cycles`] | which sums that contain themselves need no box |
//! | [`boxes`] | boxed values: taking them apart, making them |
//! | [`emit`] | values with shapes |
//! | [`dispatch`] | choices and joins |
//! | [`calls`] | applications of functions |
//! | [`projections`] | applications that need no code |
//! | [`convert`] | from a shape to one that covers it |
//! | [`zeros`] | reals that may be the symbolic zero |
//! | [`helper`] | functions for operations on boxed data |
//! | [`operators`] | `zero`, `plus` |
//! | [`transform`] | `*j`, `*j-inverse`, `bundle`, `j*`, `primal`, `tangent` |
//! | [`vector`] | vectors |
//! | [`records`] | records |
//! | [`primitive`] | all other primitives |
//! | [`write`] | printing |
//! | [`failure`] | run-time errors |

pub mod layout;

mod calls;
pub mod convert;
mod dispatch;
mod emit;

pub mod errors;
pub mod helper;

pub mod operators;

pub mod primitive;

mod projections;

mod records;

pub mod write;

use crate::ad::base_and_tower;
use crate::base::{Diagnostic, SourceMap, Span};
use crate::core::errors::{Place, RuntimeError};
use crate::core::interface::INITIALISE;
use crate::core::ir::{Below, Binding, Body, Definition, GlobalId, Item, LambdaId, Program, Rhs, Var};
use crate::core::operands::contract::Misfit;
use crate::core::place::Tuples;
use crate::core::prim::Prim;
use crate::flow::analysis::{Facts, VariantId, truth};
use crate::flow::{Analysis, Options};
use crate::shape::lattice::{Code, Head, Shape, Shapes, Site};
use crate::shape::operators::Operator;
use crate::ssa::ir::{self, FuncId, Function, Op, Phase, SlotId, Stream, SumId, Terminator, TextId, Type, VectorId};
use calls::Calls;
use emit::{Emitted, Emitter, Val, target};
use errors::certain::Event;
use errors::failure::Call;
use helper::Helper;
use layout::leaves::Layouts;
use projections::Projection;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

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
    flow: &'a mut Analysis,
    out: ir::Program,
    layouts: Layouts,
    functions: FxHashMap<(VariantId, Option<Call>), FuncId>,
    helpers: FxHashMap<Helper, FuncId>,
    tasks: Vec<(FuncId, Task)>,
    texts: FxHashMap<Arc<str>, TextId>,
    /// Rendered errors.
    error_texts: FxHashMap<(Place, RuntimeError), TextId>,
    /// Those of which run time writes parts.
    rendered: FxHashMap<(Place, RuntimeError), Rc<str>>,
    slots: FxHashMap<GlobalId, Vec<SlotId>>,
    flags: FxHashMap<GlobalId, SlotId>,
    /// What each function certainly does.
    certain: FxHashMap<FuncId, Vec<Event>>,
    events: Vec<Event>,
    empty: Option<SumId>,
    /// The kinds of vectors, by the fields of their elements.
    vectors: FxHashMap<Vec<Type>, VectorId>,
    /// Made when it is first needed.
    codes: Option<operators::transform::Codes>,
    /// The function being emitted.
    lambda: Option<LambdaId>,
    blame: Option<Call>,
    /// What is wrong with arguments of calls of the library.
    misfits: Vec<Rc<Misfit>>,
    fallback_span: Span,
    /// Whether a pattern of the variant may meet a value that does not fit.
    may_mismatch: FxHashMap<VariantId, bool>,
    tuples: Tuples,
    sharing: Sharing,
    /// Drops what nobody needs from a function that has been emitted: of what captures and boxes are taken apart into,
    /// most is needed by few, and all of it would count for the size of the program.
    clean: fn(&mut Function),
    /// Whether operations are watched, and the numbers of those that are.
    watches: bool,
    watched: FxHashMap<(Place, RuntimeError), u32>,
    /// The backpropagators that variables hold the adding forms of.
    adding: FxHashMap<Var, Var>,
    /// See [`Specializer::has_many_choices`].
    choices: FxHashMap<Shape, usize>,
    /// Which shapes have plain forms only.
    plain: FxHashMap<Shape, bool>,
    /// On which shapes operators can be done, whatever the value.
    always: FxHashMap<(Operator, Shape), bool>,
    /// What variants take.
    signatures: FxHashMap<VariantId, (Shape, Shape)>,
    /// The forms of functions that return their errors.
    catching: FxHashMap<FuncId, FuncId>,
    /// Variants that have been emitted because they seemed to need no code: what they hand on, if they do.
    projections: FxHashMap<VariantId, Option<Rc<Projection>>>,
    /// Whether variants seem to need no code.
    weightless: FxHashMap<VariantId, bool>,
    /// What is called where an error is raised, with its message and its value.
    raise: Option<FuncId>,
}

/// How many functions are made for one and the same operation on large data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// One for each place, where that can fail: what the optimiser finds out at one place holds for its function.
    Apart,
    /// One for all places, and for operations that are code in place otherwise. Large programs consist of these
    /// operations mostly.
    Shared,
}

/// Why there is no code for a program.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// It cannot avoid this error.
    CertainFailure(Box<Diagnostic>),
    /// It would be larger than the limit; it can still be evaluated.
    TooLarge(Box<Diagnostic>),
}

/// Translates a program. Of what the analysis found out nothing is lost; more shapes become known. `clean` drops what
/// nobody needs from a function.
///
/// # Errors
///
/// See [`Refusal`].
pub fn lower(
    core: &Program,
    flow: &mut Analysis,
    sources: &SourceMap,
    limits: &Options,
    sharing: Sharing,
    clean: fn(&mut Function),
    watches: bool,
) -> Result<ir::Program, Refusal> {
    let Some(fallback_span) = core.place() else {
        return Ok(empty_program());
    };
    let mut specializer = Specializer {
        core,
        sources,
        flow,
        out: ir::Program {
            arguments: core.arguments.as_deref().unwrap_or_default().into(),
            identity: core.identity,
            definitions: definitions(core, sources),
            ..ir::Program::default()
        },
        layouts: Layouts::new(sharing == Sharing::Shared),
        functions: FxHashMap::default(),
        helpers: FxHashMap::default(),
        tasks: Vec::new(),
        texts: FxHashMap::default(),
        error_texts: FxHashMap::default(),
        rendered: FxHashMap::default(),
        slots: FxHashMap::default(),
        flags: FxHashMap::default(),
        certain: FxHashMap::default(),
        events: Vec::new(),
        empty: None,
        vectors: FxHashMap::default(),
        codes: None,
        lambda: None,
        blame: None,
        misfits: Vec::new(),
        fallback_span,
        may_mismatch: FxHashMap::default(),
        tuples: Tuples::new(core),
        sharing,
        clean,
        watches,
        watched: FxHashMap::default(),
        adding: FxHashMap::default(),
        choices: FxHashMap::default(),
        plain: FxHashMap::default(),
        always: FxHashMap::default(),
        signatures: FxHashMap::default(),
        catching: FxHashMap::default(),
        projections: FxHashMap::default(),
        weightless: FxHashMap::default(),
        raise: None,
    };
    let main = specializer.program(limits)?;
    match specializer.certain_failure(main) {
        Some(diagnostic) => Err(Refusal::CertainFailure(diagnostic)),
        None => Ok(specializer.out),
    }
}

/// The functions of the program that have names, in the order of their places.
fn definitions(core: &Program, sources: &SourceMap) -> Vec<(Span, Arc<str>)> {
    let own = core.lambdas.values().filter(|lambda| lambda.is_named_in_source() && !sources.is_library(lambda.span));
    let mut definitions: Vec<(Span, Arc<str>)> = own.map(|lambda| (lambda.span, (*lambda.name).into())).collect();
    definitions.sort();
    definitions
}

fn empty_program() -> ir::Program {
    let mut program = ir::Program::default();
    let mut main = Function::new("main".into(), &[], Vec::new());
    main.blocks[Function::ENTRY].terminator = Terminator::Return(Vec::new());
    program.main = Some(program.functions.push(main));
    program
}

type Env = FxHashMap<Var, Val>;

/// Where the branches of a conditional meet, and the shape of what they bring.
#[derive(Clone, Copy)]
struct Join {
    block: ir::BlockId,
    shape: Shape,
}

impl Specializer<'_> {
    fn program(&mut self, limits: &Options) -> Result<FuncId, Refusal> {
        for text in self.flow.texts.clone() {
            // The number of a text in the analysis is its number in the program.
            self.text(&text);
        }
        let main = self.out.functions.push(Function::new("main".into(), &[], Vec::new()));
        self.out.main = Some(main);
        let mut e = Emitter::new("main".into(), &[], Vec::new());
        let result = self.items(&mut e);
        if result.is_some() {
            e.terminate(Terminator::Return(Vec::new()));
        }
        self.emitted(main, e.function);
        self.certain.insert(main, std::mem::take(&mut self.events));
        let mut instructions = 0;
        while let Some((function, task)) = self.tasks.pop() {
            self.task(function, task);
            instructions += self.out.functions[function].blocks.values().map(|block| block.insts.len()).sum::<usize>();
            if instructions > limits.max_instructions {
                return Err(self.too_large(limits));
            }
        }
        self.write_catching_forms();
        self.layouts.write_sums(self.core, &self.flow.shapes, &mut self.out);
        self.rename_sums();
        Ok(main)
    }

    /// Adds the code of a function.
    fn emitted(&mut self, id: FuncId, mut function: Function) {
        (self.clean)(&mut function);
        if self.watches {
            self.watch(&mut function);
        }
        for source in
            function.blocks.values_mut().flat_map(|block| &mut block.insts).filter_map(|inst| inst.span.as_mut())
        {
            if source.span.number().is_none()
                && let Some(call) = self.call_into_library(source.span)
            {
                source.span = call.span;
            }
        }
        self.out.functions[id] = function;
    }

    /// The program is larger than the limit with the function that has been emitted last.
    fn too_large(&self, limits: &Options) -> Refusal {
        let here = self.lambda.map(|lambda| self.core.lambdas[lambda].span);
        let span = here.filter(|span| !self.sources.is_library(*span)).unwrap_or(self.fallback_span);
        Refusal::TooLarge(Box::new(limits.refusal(
            "instructions",
            "the program becomes too large when its functions are specialised",
            (span, "the compiler gave up here"),
            "values of fewer kinds in the same place make it smaller",
        )))
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

    fn items(&mut self, e: &mut Emitter) -> Emitted<()> {
        let items = self.flow.items.clone();
        let calls = self.core.library.as_ref().map(|library| (library.first_item, self.begin_library(e)));
        for (position, (item, (facts, shape))) in self.core.items.iter().zip(items).enumerate() {
            if let Some((_, block)) = calls.filter(|(first, _)| *first == position) {
                e.terminate(Terminator::Return(Vec::new()));
                e.switch_to(block);
            }
            match item {
                Item::Print(body, span) => {
                    let value = self.body(e, body, &facts, Env::default())?;
                    self.stand_at(e, Some(*span));
                    write::write(self, e, &value, Stream::Result);
                    self.write_text(e, Stream::Result, "\n");
                }
                Item::Define(global, body) => {
                    let value = self.body(e, body, &facts, Env::default())?;
                    let shape = self.flow.globals.get(global).copied().unwrap_or(shape);
                    let value = self.convert(e, &value, shape)?;
                    let slots = self.slots(*global);
                    for (slot, leaf) in slots.into_iter().zip(value.leaves) {
                        e.inst(Op::GlobalSet(slot), &[leaf], &[]);
                    }
                    if self.flow.unchecked_globals.contains(global) {
                        let (flag, set) = (self.flag(*global), e.boolean(true));
                        e.inst(Op::GlobalSet(flag), &[set], &[]);
                    }
                }
            }
        }
        Some(())
    }

    /// In a library, a call computes the globals, or it calls a function: the block where the latter goes on.
    fn begin_library(&mut self, e: &mut Emitter) -> ir::BlockId {
        let [initialise, call] = [(); 2].map(|()| e.new_block(&[]));
        let kind = e.value(Op::Argument(ir::Piece::Number), &[], Type::F64);
        let zero = e.real(INITIALISE);
        let condition = e.value(Op::Compare(ir::Compare::Eq), &[kind, zero], Type::Bool);
        let [yes, no] = [initialise, call].map(|block| ir::Target { block, args: Vec::new() });
        e.terminate(Terminator::Branch(condition, yes, no));
        e.switch_to(initialise);
        call
    }

    /// The cells of a global value.
    fn slots(&mut self, global: GlobalId) -> Vec<SlotId> {
        if let Some(slots) = self.slots.get(&global) {
            return slots.clone();
        }
        let shape = self.flow.globals.get(&global).copied().unwrap_or(Shapes::BOTTOM);
        let slots: Vec<SlotId> = self.leaves(shape).iter().map(|ty| self.out.slots.push(*ty)).collect();
        self.slots.insert(global, slots.clone());
        slots
    }

    /// The cell that tells whether a global that may be read before its definition has run has its value.
    fn flag(&mut self, global: GlobalId) -> SlotId {
        let program = &mut self.out;
        *self.flags.entry(global).or_insert_with(|| program.slots.push(Type::Bool))
    }

    fn task(&mut self, function: FuncId, task: Task) {
        let empty = Function::new("".into(), &[], Vec::new());
        let declared = std::mem::replace(&mut self.out.functions[function], empty);
        let mut e = Emitter::of(declared);
        match task {
            Task::Variant(variant, blame) => {
                self.blame = blame;
                self.variant(&mut e, variant);
            }
            Task::Helper(helper) => self.emit_helper(&mut e, helper),
        }
        self.emitted(function, e.function);
        self.certain.insert(function, std::mem::take(&mut self.events));
    }

    fn variant(&mut self, e: &mut Emitter, id: VariantId) {
        let core = self.core;
        let key = self.flow.variants[id].key.clone();
        let facts = self.flow.variants[id].facts.clone();
        let lambda = &core.lambdas[key.lambda];
        self.lambda = Some(key.lambda);
        let params = e.function.params().to_vec();
        let (closure, argument) = self.signature(id);
        let mut values = self.split(&[closure, argument], &params);
        let argument = values.pop().expect("a function has an argument");
        let captures = self.parts(e, &values[0], 0).children;
        let values = captures.into_iter().chain([argument]);
        let env: Env = lambda.captures.iter().chain([&lambda.param]).copied().zip(values).collect();
        let result = self.flow.variants[id].result;
        e.is_endless_tail = result == Shapes::BOTTOM;
        if let Some(value) = self.body(e, &lambda.body, &facts, env)
            && let Some(value) = self.convert(e, &value, result)
        {
            e.terminate(Terminator::Return(value.leaves));
        }
    }

    /// The shapes of what a variant takes: the closure, and the argument. The adding form of a backpropagator takes the
    /// backpropagator itself, so that nothing is made for the call.
    fn signature(&mut self, variant: VariantId) -> (Shape, Shape) {
        if let Some(known) = self.signatures.get(&variant) {
            return *known;
        }
        let key = &self.flow.variants[variant].key.clone();
        let (argument, captures) = key.args.split_last().expect("a function has an argument");
        let (base, tower) = base_and_tower(self.core, key.lambda);
        let code = self.form_of_code(Code { base, tower, lambda: key.lambda }, Prim::Plain);
        let closure = Head::Closure(code, Site::Value);
        let signature = (self.flow.shapes.make(closure, captures), *argument);
        self.signatures.insert(variant, signature);
        signature
    }

    /// The function of a variant, to be emitted later if it is not yet.
    fn function(&mut self, variant: VariantId, blame: Option<Call>) -> FuncId {
        if let Some(function) = self.functions.get(&(variant, blame)) {
            return *function;
        }
        let declared = self.declared(variant);
        let function = self.out.functions.push(declared);
        self.functions.insert((variant, blame), function);
        self.tasks.push((function, Task::Variant(variant, blame)));
        function
    }

    /// The function of a variant, without code.
    fn declared(&mut self, variant: VariantId) -> Function {
        let lambda = self.flow.variants[variant].key.lambda;
        let (closure, argument) = self.signature(variant);
        let params = convert::parameter_types(self, &[closure, argument]);
        let results = self.leaves(self.flow.variants[variant].result).to_vec();
        let code = &self.core.lambdas[lambda];
        Function { span: Some(code.span), ..Function::new(code.name.as_ref().into(), &params, results) }
    }

    fn body(&mut self, e: &mut Emitter, body: &Body, facts: &Facts, mut env: Env) -> Emitted<Val> {
        self.body_in(e, body, facts, &mut env)
    }

    fn body_in(&mut self, e: &mut Emitter, body: &Body, facts: &Facts, env: &mut Env) -> Emitted<Val> {
        self.bindings(e, &body.bindings, Some(body.result), facts, env)?;
        Some(env[&body.result].clone())
    }

    /// Emits bindings; the last one is in tail position if it gives the result.
    fn bindings(
        &mut self,
        e: &mut Emitter,
        bindings: &[Binding],
        result: Option<Var>,
        facts: &Facts,
        env: &mut Env,
    ) -> Emitted<()> {
        let is_endless_tail = e.is_endless_tail;
        let mut emitted = Some(());
        for (position, binding) in bindings.iter().enumerate() {
            let is_last = position + 1 == bindings.len() && result == Some(binding.var);
            e.is_endless_tail = is_endless_tail && is_last;
            emitted = self.bind(e, binding, facts, env);
            if emitted.is_none() {
                break;
            }
        }
        e.is_endless_tail = is_endless_tail;
        emitted
    }

    fn bind(&mut self, e: &mut Emitter, binding: &Binding, facts: &Facts, env: &mut Env) -> Emitted<()> {
        self.stand_at(e, Some(binding.span));
        let is_reverse_phase = self.lambda.is_some_and(|lambda| self.core.is_reverse_phase(lambda));
        let is_of_derivative = is_reverse_phase || self.core.vars[binding.var].is_of_derivative;
        e.phase = if is_of_derivative { Phase::Derivative } else { Phase::Value };
        let shape = facts.shapes.get(&binding.var).copied().unwrap_or(Shapes::BOTTOM);
        let value = self.binding(e, binding, shape, facts, env)?;
        if shape == Shapes::BOTTOM {
            // The analysis has shown that nothing gets here.
            e.terminate(Terminator::Unreachable);
            return None;
        }
        let value = self.convert(e, &value, shape)?;
        env.insert(binding.var, value);
        Some(())
    }

    fn binding(
        &mut self,
        e: &mut Emitter,
        binding: &Binding,
        shape: Shape,
        facts: &Facts,
        env: &mut Env,
    ) -> Emitted<Val> {
        Some(match &binding.rhs {
            Rhs::Var(x) if self.core.vars[binding.var].environment_of.is_some() => {
                return self.own_environment(e, &env[x], shape);
            }
            Rhs::Var(x) => env[x].clone(),
            Rhs::Const(_) => Val { shape, leaves: Vec::new() },
            Rhs::Global(global) => match self.core.globals[*global].definition {
                Definition::Function(_) => Val { shape, leaves: Vec::new() },
                Definition::Value => return self.global(e, *global, shape),
            },
            Rhs::Closure(_, captured) => {
                let leaves = captured.iter().flat_map(|x| env[x].leaves.iter().copied()).collect();
                self.build(e, shape, 0, leaves)
            }
            Rhs::Destructure(part, x) => {
                let value = env[x].clone();
                return self.destructure(e, *part, *x, &value, shape);
            }
            Rhs::Prim(Prim::Catch, args) => {
                let [f, handler, x] = [0, 1, 2].map(|position| env[&args[position]].clone());
                return self.catch(e, binding.var, (&f, &x), (args[1], &handler), shape, facts);
            }
            Rhs::Prim(prim, args) => {
                if *prim == Prim::Adding {
                    self.adding.insert(binding.var, args[0]);
                }
                let args: Vec<Val> = args.iter().map(|x| env[x].clone()).collect();
                return self.primitive(e, Below::NONE, *prim, &args, shape);
            }
            Rhs::Lifted(below, prim, args) => {
                let args: Vec<Val> = args.iter().map(|x| env[x].clone()).collect();
                return self.primitive(e, *below, *prim, &args, shape);
            }
            Rhs::Apply(f, a) => {
                let backpropagator = self.adding.get(f).and_then(|b| env.get(b)).cloned();
                let form = backpropagator.is_some().then_some(Prim::Adding);
                let (function, argument) = (backpropagator.unwrap_or_else(|| env[f].clone()), env[a].clone());
                let calls = Calls { noted: binding.var, form, catches: None };
                return self.apply(e, calls, &function, &argument, shape, facts);
            }
            Rhs::If(condition, then, other) => {
                return self.conditional(e, *condition, [then, other], shape, facts, env);
            }
        })
    }

    fn global(&mut self, e: &mut Emitter, global: GlobalId, shape: Shape) -> Emitted<Val> {
        let info = &self.core.globals[global];
        let error = RuntimeError::Undefined { name: info.name.to_string(), definition: info.span };
        if !self.flow.globals.contains_key(&global) {
            return self.fail(e, &error);
        }
        if self.flow.unchecked_globals.contains(&global) {
            let set = e.value(Op::IsSet(self.flag(global)), &[], Type::Bool);
            self.demand(e, set, |this, e| this.fail(e, &error));
        }
        let slots = self.slots(global);
        let leaves = slots.iter().map(|slot| e.value(Op::GlobalGet(*slot), &[], self.out.slots[*slot])).collect();
        Some(Val { shape, leaves })
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
        let types = self.leaves(shape);
        let join = Join { block: e.new_block(&types), shape };
        let joined = self.choose(e, condition, branches, facts, env, join);
        self.continue_at(e, join.block, joined, shape)
    }

    /// Emits branches that go on at a join; whether any does.
    fn choose(
        &mut self,
        e: &mut Emitter,
        condition: Var,
        branches: [&Body; 2],
        facts: &Facts,
        env: &mut Env,
        join: Join,
    ) -> bool {
        let value = env[&condition].clone();
        match truth(&self.flow.shapes, value.shape) {
            Some(true) => return self.branch(e, branches[0], facts, env, join),
            Some(false) => return self.branch(e, branches[1], facts, env, join),
            None => {}
        }
        let Some(decision) = self.condition(e, &value) else { return false };
        let blocks = [e.new_block(&[]), e.new_block(&[])];
        e.terminate(Terminator::Branch(decision, target(blocks[0]), target(blocks[1])));
        let mut joined = false;
        e.depth += 1;
        for ((block, branch), outcome) in blocks.into_iter().zip(branches).zip([true, false]) {
            e.switch_to(block);
            let refined = facts.refinements(&mut self.flow.shapes, condition, outcome, |var| env[&var].shape);
            let Some(before) = self.refine(e, refined, env) else { continue };
            joined |= self.branch(e, branch, facts, env, join);
            env.extend(before);
        }
        e.depth -= 1;
        joined
    }

    /// Emits a branch that goes on at a join; whether it gets there. The branches of a branch that ends in a choice go
    /// on there, too: a value of n alternatives that n clauses give is built in one step, not handed through n joins.
    fn branch(&mut self, e: &mut Emitter, body: &Body, facts: &Facts, env: &mut Env, join: Join) -> bool {
        if let Some((last, before)) = body.bindings.split_last()
            && let Rhs::If(condition, then, other) = &last.rhs
            && last.var == body.result
            && facts.shapes.get(&last.var).is_some_and(|shape| *shape != Shapes::BOTTOM)
        {
            let done = self.bindings(e, before, None, facts, env);
            self.stand_at(e, Some(last.span));
            return done.is_some() && self.choose(e, *condition, [then, other], facts, env, join);
        }
        let value = self.body_in(e, body, facts, env).and_then(|value| self.convert(e, &value, join.shape));
        if let Some(value) = &value {
            e.jump(join.block, value.leaves.clone());
        }
        value.is_some()
    }

    /// Gives variables the shapes that a test has left them; returns what they were before.
    fn refine(&mut self, e: &mut Emitter, refined: Vec<(Var, Shape)>, env: &mut Env) -> Emitted<Vec<(Var, Val)>> {
        let mut before = Vec::new();
        for (var, shape) in refined {
            let value = env[&var].clone();
            let narrow = self.convert(e, &value, shape)?;
            env.insert(var, narrow);
            before.push((var, value));
        }
        Some(before)
    }
}
