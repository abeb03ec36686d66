//! The abstract interpreter: core → specialised functions with the shape of every variable.
//!
//! A *variant* is a λ specialised to the shapes of its environment and argument. Interpreting its body on shapes finds
//! the variants that it calls and the shape of its result; the memo table of variants is iterated to a fixed point, one
//! strongly connected component of calls at a time. What remains is a finite, first-order program: every application
//! names the variants it may call, every conditional whose condition is known has one branch left, and the derivative
//! operators have been applied.
//!
//! **Termination.** Two things could grow without bound.
//!
//! - The result of a variant that calls itself: it is [widened](crate::shape::widen).
//! - Arguments along a chain of calls of one λ. When the arguments of a call *repeat* those of a call of the same λ that
//!   is still being interpreted, the earlier call is restarted with widened arguments. If a branch that only run time
//!   decides lies between the two, this happens at once: the recursion will not stop by itself. If all control between
//!   them was decided by what is known, the recursion is unrolled, up to a budget; past it, first the numbers that vary
//!   are forgotten, and only structure that grows without them is folded. So small fixed dimensions unroll and long
//!   loops stay loops. So do loops around loops, of which copies would gain nothing: a loop whose rounds differ in
//!   numbers only has none.
//!
//! Variants of one λ that differ in known numbers only are bounded as well, and so is the number of its variants: past
//! it, further calls share one that covers them all. Past a bound on the number of all variants or on the steps taken,
//! the analysis starts again with bounds that make it coarse and short; past one on the order of `*j`, the program is
//! [`Unsupported`].
//!
//! Invariant: when the analysis ends, the facts of every reachable variant were recorded in an interpretation that used
//! final results only.

mod body;
mod choices;
mod errors;
mod filling;
mod fixpoint;
mod shared;

use super::limits::{Options, Precision};
use crate::ad::tower::{Tower, Transformation};
use crate::ad::{Transforms, adding, base_and_tower, plain};
use crate::base::{Diagnostic, EntityVec, SourceMap, Span, entity_id};
use crate::core::ir::{Below, Binding, Const, Definition, GlobalId, Item, Lambda, LambdaId, Program, Rhs, Var};
use crate::core::prim::Prim;
use crate::shape::algebra::{TowerTooHigh, Transform};
use crate::shape::collapse::Grade;
use crate::shape::lattice::{Code, Head, Shape, Shapes, Site};
use crate::shape::primitive;
use crate::shape::primitive::Question;
use choices::Choice;
use errors::NO_ERROR;
use rustc_hash::{FxHashMap, FxHashSet};
use shared::{Made, Shared};
use std::cell::RefCell;
use std::rc::Rc;

entity_id! {
    /// A λ specialised to shapes.
    VariantId, "S"
}

/// Why a program cannot be compiled to native code; it can still be evaluated.
#[derive(Clone, Debug)]
pub struct Unsupported {
    /// The reason and the place, as a warning.
    pub diagnostic: Box<Diagnostic>,
}

/// What identifies a variant: a λ, and the shapes of its captures followed by that of its argument.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    /// The code.
    pub lambda: LambdaId,
    /// Environment, then argument.
    pub args: Rc<[Shape]>,
    /// What is shared of the environment and of the argument.
    pub shared: [Shared; 2],
    /// Which parts of the argument the caller has made.
    pub new: Shared,
}

impl Key {
    /// The same call with other arguments.
    fn with(&self, args: Rc<[Shape]>) -> Key {
        Key { args, ..self.clone() }
    }

    /// The same call by whom has not made the argument.
    fn with_old_argument(&self) -> Key {
        Key { new: Shared::Nothing, ..self.clone() }
    }
}

/// What the analysis found in one body.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The shape of each variable that can have a value. A binding whose variable is missing never completes.
    pub shapes: FxHashMap<Var, Shape>,
    /// The variables that hold what is shared. This and what follows is known while the body is looked at.
    shared: FxHashMap<Var, Shared>,
    /// The variables that would hold more of that outside, if they were returned.
    outside: FxHashMap<Var, Shared>,
    /// Which parts of the values of variables have been made by the body or by what it calls.
    new: FxHashMap<Var, Shared>,
    /// The variables that hold what was there before the body's function was called.
    old: FxHashSet<Var>,
    /// Parts of these that are made anew in each round of the function's recursion.
    renewed: FxHashMap<Var, Shared>,
    /// What variables are made of, where that is nothing new.
    made: FxHashMap<Var, Made>,
    /// Which parts of the argument variables hold: first (0) and second (1) parts of pairs, from the outside.
    paths: FxHashMap<Var, Vec<usize>>,
    /// The parts of the argument of which the length has been asked.
    measures: Shared,
    /// Which variant the application bound to a variable calls, for each code that its function may have.
    pub calls: FxHashMap<(Var, LambdaId), VariantId>,
    /// What the tests bound to variables say, for the branches that they decide.
    pub tests: FxHashMap<Var, Test>,
    /// The conditionals that variables are bound to.
    choices: FxHashMap<Var, Choice>,
    /// The pairs of message and value that the handlers get whose outcomes are bound to variables.
    pub caught: FxHashMap<Var, Shape>,
}

/// A test of the shape of a value.
#[derive(Clone, Debug)]
pub struct Test {
    /// What is asked.
    pub question: Question,
    /// Which transformations of the value it is below.
    pub below: Below,
    /// The variable that was tested; then the one that it is `*j-inverse` of, and so on.
    pub subjects: Vec<Var>,
}

impl Facts {
    /// The shapes that the subjects of a condition's test have where it came out as `outcome`. Tests around this one
    /// may have left them less than what they were bound to: `shape_of` says what they have here.
    pub fn refinements(
        &self,
        shapes: &mut Shapes,
        condition: Var,
        outcome: bool,
        shape_of: impl Fn(Var) -> Shape,
    ) -> Vec<(Var, Shape)> {
        let mut refined: Vec<(Var, Shape)> = Vec::new();
        for (implied, outcome) in self.implied(shapes, condition, outcome) {
            let Some(test) = self.tests.get(&implied) else { continue };
            for (inverses, var) in (0..).zip(&test.subjects).filter(|(_, var)| !self.is_within(condition, **var)) {
                let before = refined.iter_mut().find(|(of, _)| of == var);
                let shape = before.as_ref().map_or_else(|| shape_of(*var), |(_, shape)| *shape);
                let below = test.below.with_forward(test.below.forward + inverses);
                let after = primitive::refine(shapes, shape, test.question, outcome, below);
                match before {
                    Some((_, shape)) => *shape = after,
                    None if after != shape => refined.push((*var, after)),
                    None => {}
                }
            }
        }
        refined
    }
}

/// A specialised function.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What it is a specialisation of.
    pub key: Key,
    /// The shape of its result; ⊥ if it never returns.
    pub result: Shape,
    /// What closures in data share of its result.
    pub gives: Shared,
    /// Which parts of its result it has made.
    makes: Shared,
    /// Which parts of its argument are made anew for each call that it makes of its own λ.
    renews: Shared,
    /// The parts of its argument of which it asks how long they are.
    measures: Shared,
    /// The messages and the values of the errors that it raises and does not handle.
    raises: [Shape; 2],
    /// What is known inside it. It is shared by attempts to specialise the program.
    pub facts: Rc<Facts>,
    /// It may call itself, directly or through others.
    pub recursive: bool,
    /// It calls variants that do.
    loops: bool,
    /// How often its result has changed.
    updates: usize,
    /// The result is final.
    complete: bool,
    /// Interpreted already in this iteration of the component it belongs to.
    visited: bool,
    /// The frame in which it is being interpreted.
    frame: Option<usize>,
    /// The outermost frame whose preliminary result its own depends on.
    low: usize,
}

/// The result of the analysis.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// All shapes.
    pub shapes: Shapes,
    /// All variants, the ones that widening replaced included.
    pub variants: EntityVec<VariantId, Variant>,
    /// For each item of the program, what is known in it and the shape of its value.
    pub items: Vec<(Rc<Facts>, Shape)>,
    /// The shape of each global value that gets one.
    pub globals: FxHashMap<GlobalId, Shape>,
    /// Globals that may be used before they are defined.
    pub unchecked_globals: FxHashSet<GlobalId>,
    /// Texts by number.
    pub texts: Vec<Rc<str>>,
    /// The messages and the values of all errors, if the program handles any.
    pub raised: Option<[Shape; 2]>,
}

/// Analyses a whole program; appends the transformed λs to it. The first attempt has that precision. A tower of
/// derivatives whose height may be hidden gets an attempt in which `real` hides nothing and all is unrolled.
///
/// # Errors
///
/// [`Unsupported`] when the limits do not hold for the program.
pub fn analyze(
    program: &mut Program,
    sources: &SourceMap,
    options: &Options,
    mut precision: Precision,
) -> Result<Analysis, Unsupported> {
    // Transforms are appended to what the program has, so that they are easily taken away again.
    let (lambdas, vars) = (program.lambdas.len(), program.vars.len());
    let (mut first, mut open_reals) = (None, false);
    loop {
        let refusal = match attempt(program, sources, &options.at(precision), precision, open_reals) {
            Ok(analysis) => return Ok(analysis),
            Err(Failure::Work(refusal)) => refusal,
            Err(Failure::Tower { refusal, hides }) if hides && !open_reals && precision == Precision::Full => {
                open_reals = true;
                refusal
            }
            // The first attempt knows that a tower has no end; the others may have made it by what they mix.
            Err(Failure::Tower { refusal, .. }) if first.is_none() => return Err(refusal),
            Err(Failure::Tower { refusal, .. }) => refusal,
        };
        program.lambdas.truncate(lambdas);
        program.vars.truncate(vars);
        program.adding.retain(|_, adding| (adding.0 as usize) < lambdas);
        // What stops a later attempt is mostly its lack of precision, so the message is about the first.
        let is_first = first.is_none();
        let first = first.get_or_insert(refusal);
        if is_first && open_reals {
            continue;
        }
        // Coarse attempts forget numbers.
        match precision.less().filter(|_| !open_reals) {
            Some(less) => precision = less,
            None => return Err(first.clone()),
        }
    }
}

/// Why an analysis was given up.
enum Failure {
    /// It went past a bound on its work; a coarse analysis may get through.
    Work(Unsupported),
    /// A tower has no known height. If `hides`, the program hides numbers with `real` that may decide it, or numbers have
    /// been forgotten so that loops stay loops.
    Tower { refusal: Unsupported, hides: bool },
}

fn attempt(
    program: &mut Program,
    sources: &SourceMap,
    options: &Options,
    precision: Precision,
    open_reals: bool,
) -> Result<Analysis, Failure> {
    let mut analyzer = Analyzer {
        stored: FxHashSet::default(),
        holding: RefCell::default(),
        sources,
        codes: Codes { program, transforms: Transforms::new(), options },
        options,
        lambdas: FxHashMap::default(),
        result: Analysis {
            shapes: Shapes::new(),
            variants: EntityVec::new(),
            items: Vec::new(),
            globals: FxHashMap::default(),
            unchecked_globals: FxHashSet::default(),
            texts: Vec::new(),
            raised: None,
        },
        raised: NO_ERROR,
        memo: FxHashMap::default(),
        redirects: FxHashMap::default(),
        budgets: FxHashMap::default(),
        keeps_loops: false,
        widenings: FxHashMap::default(),
        variants_of: FxHashMap::default(),
        general: FxHashMap::default(),
        skeletons: FxHashMap::default(),
        frames: Vec::new(),
        pending: Vec::new(),
        changes: 0,
        undefined: FxHashSet::default(),
        defined: FxHashSet::default(),
        inverse_of: FxHashMap::default(),
        span: None,
        item: None,
    };
    analyzer.result.shapes.coarse = precision == Precision::Coarse;
    analyzer.result.shapes.max_parts = options.max_parts;
    analyzer.result.shapes.open_reals = open_reals;
    analyzer.result.shapes.max_steps = options.max_work;
    analyzer.program()?;
    analyzer.result.shapes.max_steps = usize::MAX;
    Ok(analyzer.result)
}

/// The program and its transforms, as operations on shapes need them.
struct Codes<'a> {
    program: &'a mut Program,
    transforms: Transforms,
    options: &'a Options,
}

impl Codes<'_> {
    fn too_large(&self) -> bool {
        self.program.vars.len() > self.options.max_code
    }
    fn code(&self, lambda: LambdaId) -> Code {
        let (base, tower) = base_and_tower(self.program, lambda);
        Code { base, tower, lambda }
    }
    fn raise(&mut self, base: LambdaId, tower: Tower) -> Code {
        let lambda = self.transforms.raise(self.program, base, tower);
        Code { base, tower, lambda }
    }
}

impl Transform for Codes<'_> {
    fn insert(&mut self, code: Code, new: Transformation, below: u32) -> Option<Code> {
        if code.tower.height() >= self.options.max_order || self.too_large() {
            return None;
        }
        Some(self.raise(code.base, code.tower.insert(below, new)))
    }
    fn remove(&mut self, code: Code, old: Transformation, below: u32) -> Option<Code> {
        Some(self.raise(code.base, code.tower.remove(below, old)?))
    }
    fn form(&mut self, code: Code, prim: Prim) -> Code {
        let base = match prim {
            Prim::Plain => plain(self.program, code.base).unwrap_or(code.base),
            _ => adding(self.program, code.base),
        };
        self.raise(base, code.tower)
    }
}

/// Why the interpretation of a body was given up.
enum Abort {
    /// The call interpreted in this frame is to be interpreted with these arguments instead.
    Restart {
        frame: usize,
        key: Key,
    },
    Failure(Failure),
}

impl From<Failure> for Abort {
    fn from(failure: Failure) -> Abort {
        Abort::Failure(failure)
    }
}

/// A body being interpreted.
struct Frame {
    key: Option<Key>,
    /// The code of the key's λ.
    code: Option<Code>,
    /// How many branches that run time decides the interpretation is in.
    dynamic: usize,
    /// The outermost frame whose preliminary result was used.
    low: usize,
    /// A variant that calls itself has been called.
    loops: bool,
    /// Which parts of the argument have been made anew for all calls of the same λ so far, if there were some.
    renews: Option<Shared>,
    /// The messages and the values of the errors that have been raised so far and are not handled.
    raises: [Shape; 2],
}

/// The arguments of a variant that covers further calls of its λ.
struct General {
    args: Rc<[Shape]>,
    /// How often they have been widened.
    widenings: usize,
}

struct Analyzer<'a> {
    sources: &'a SourceMap,
    codes: Codes<'a>,
    options: &'a Options,
    /// The shapes of vectors that elements of data have in common with others.
    stored: FxHashSet<Shape>,
    /// Whether there are vectors in values of a shape.
    holding: RefCell<FxHashMap<Shape, bool>>,
    /// λs by id, shared so that a body can be walked while the program grows.
    lambdas: FxHashMap<LambdaId, Rc<Lambda>>,
    result: Analysis,
    memo: FxHashMap<Key, VariantId>,
    /// Calls that are made with other (wider) arguments.
    redirects: FxHashMap<Key, Key>,
    /// What is left of the unrolling budget of λs that used it up.
    budgets: FxHashMap<LambdaId, usize>,
    /// Numbers have been forgotten so that loops stay loops.
    keeps_loops: bool,
    /// How often the arguments of a call have been widened to those of a key.
    widenings: FxHashMap<Key, usize>,
    /// How many variants each λ has.
    variants_of: FxHashMap<LambdaId, usize>,
    /// What all further calls of a λ with too many variants take.
    general: FxHashMap<(LambdaId, Vec<Grade>), General>,
    /// Number of variants that differ from a key in known numbers only: those that no other of them has called, and
    /// all.
    skeletons: FxHashMap<Key, (usize, usize)>,
    frames: Vec<Frame>,
    /// Interpreted variants whose component is not finished.
    pending: Vec<VariantId>,
    /// Number of changes of results so far.
    changes: usize,
    /// Globals that were read before they had a shape.
    undefined: FxHashSet<GlobalId>,
    /// Globals whose definition has been interpreted before the item at hand.
    defined: FxHashSet<GlobalId>,
    /// Variables bound to `*j-inverse` of another, below some transformations.
    inverse_of: FxHashMap<Var, (Var, Below)>,
    /// The messages and the values of the errors that the program raises.
    raised: [Shape; 2],
    /// The binding at hand.
    span: Option<Span>,
    /// The item at hand.
    item: Option<Span>,
}

impl Analyzer<'_> {
    fn program(&mut self) -> Result<(), Failure> {
        self.fixed_point()?;
        if self.result.raised.is_some() {
            self.result.raised = Some(self.beside_own_errors(self.raised));
        }
        Ok(())
    }

    fn fixed_point(&mut self) -> Result<(), Failure> {
        let items: Vec<Rc<Item>> = self.codes.program.items.iter().cloned().map(Rc::new).collect();
        loop {
            let mut stable = true;
            self.result.items.clear();
            self.undefined.clear();
            self.defined.clear();
            for variant in self.result.variants.values_mut() {
                (variant.complete, variant.visited) = (false, false);
            }
            for item in &items {
                let (facts, shape) = self.top_level(item)?;
                if let Item::Define(global, _) = **item {
                    self.defined.insert(global);
                    let old = self.result.globals.get(&global).copied().unwrap_or(Shapes::BOTTOM);
                    let new = self.result.shapes.widen(old, shape);
                    self.check_work()?;
                    // A value that some function may have read too early, or that has changed, needs another pass.
                    stable &= new == old || (old == Shapes::BOTTOM && !self.undefined.contains(&global));
                    if new != Shapes::BOTTOM {
                        self.result.globals.insert(global, new);
                    }
                }
                self.result.items.push((Rc::new(facts), shape));
                if shape == Shapes::BOTTOM {
                    break;
                }
            }
            if stable {
                return Ok(());
            }
        }
    }

    fn top_level(&mut self, item: &Item) -> Result<(Facts, Shape), Failure> {
        let (body, span) = match item {
            Item::Define(global, body) => (body, self.codes.program.globals[*global].span),
            Item::Print(body, span) => (body, *span),
        };
        self.item = Some(span);
        let mut facts = Facts::default();
        self.frames.push(Frame {
            key: None,
            code: None,
            dynamic: 0,
            low: usize::MAX,
            loops: false,
            renews: None,
            raises: NO_ERROR,
        });
        let shape = self.body(body, &mut facts);
        self.frames.clear();
        match shape {
            Ok(shape) => self.check_work().map(|()| (facts, shape)),
            Err(Abort::Failure(failure)) => Err(failure),
            Err(Abort::Restart { .. }) => unreachable!("only variants are restarted"),
        }
    }

    /// The program went past the limit of that name.
    fn unsupported(&self, limit: &str, message: &str, remedy: &str) -> Unsupported {
        Unsupported { diagnostic: Box::new(self.options.refusal(limit, message, self.blame(), remedy)) }
    }

    /// The binding at hand or, in the library, what led there: the innermost of the user's functions or the item.
    fn blame(&self) -> (Span, &'static str) {
        let here = self.span.expect("the analysis stands at some binding");
        if !self.sources.is_library(here) {
            return (here, "the analysis gave up here");
        }
        let calls = self.frames.iter().rev().filter_map(|frame| frame.key.as_ref());
        let mut spans = calls.map(|key| self.codes.program.lambdas[key.lambda].span).chain(self.item);
        let user = spans.find(|span| !self.sources.is_library(*span));
        (user.unwrap_or(here), "the analysis gave up in what this calls")
    }

    fn lambda(&mut self, id: LambdaId) -> Rc<Lambda> {
        let Codes { program, transforms, .. } = &mut self.codes;
        let lambda = self.lambdas.entry(id).or_insert_with(|| {
            transforms.complete(program, id);
            Rc::new(program.lambdas[id].clone())
        });
        lambda.clone()
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a body is being interpreted")
    }

    fn rhs(&mut self, binding: &Binding, facts: &mut Facts) -> Result<Shape, Abort> {
        let shapes = &mut self.result.shapes;
        Ok(match &binding.rhs {
            Rhs::Var(x) => match self.codes.program.vars[binding.var].environment_of {
                Some(lambda) => {
                    let code = self.codes.code(lambda);
                    primitive::own_environment(&mut self.result.shapes, &mut self.codes, facts.shapes[x], code)
                }
                None => facts.shapes[x],
            },
            Rhs::Const(constant) => self.constant(constant),
            Rhs::Global(global) => self.global(*global),
            Rhs::Closure(lambda, captured) => {
                let children: Vec<Shape> = captured.iter().map(|x| facts.shapes[x]).collect();
                let code = self.codes.code(*lambda);
                let site = self.site_of_closure(*lambda, captured, facts);
                self.result.shapes.make(Head::Closure(code, site), &children)
            }
            Rhs::Destructure(part, x) => primitive::destructure(shapes, *part, facts.shapes[x]),
            Rhs::Prim(Prim::CheckNumber, vars) => {
                primitive::check_number(shapes, self.codes.program, facts.shapes[&vars[0]])
            }
            Rhs::Prim(Prim::Catch, vars) => self.catch(binding.var, [vars[0], vars[1], vars[2]], facts)?,
            Rhs::Prim(prim, vars) => {
                if *prim == Prim::Error {
                    self.raise([facts.shapes[&vars[0]], facts.shapes[&vars[2]]]);
                }
                let args: Vec<Shape> = vars.iter().map(|x| facts.shapes[x]).collect();
                match self.codes.program.vars[binding.var].environment_of {
                    Some(lambda) if *prim == Prim::Cons => {
                        let code = self.codes.code(lambda);
                        self.result.shapes.make(Head::Pair(Some(code)), &args)
                    }
                    _ => {
                        let shape = self.primitive(Below::NONE, *prim, &args)?;
                        if *prim == Prim::Zero { self.zero_of(vars[0], shape, facts) } else { shape }
                    }
                }
            }
            Rhs::Lifted(below, prim, args) => {
                let args: Vec<Shape> = args.iter().map(|x| facts.shapes[x]).collect();
                self.primitive(*below, *prim, &args)?
            }
            Rhs::Apply(f, a) => self.apply(binding.var, *f, *a, facts)?,
            Rhs::If(condition, then, other) => self.choice(binding.var, *condition, then, other, facts)?,
        })
    }

    fn constant(&mut self, constant: &Const) -> Shape {
        let shapes = &mut self.result.shapes;
        match constant {
            Const::Nil => shapes.nil(),
            Const::Nothing => shapes.make(Head::Nothing, &[]),
            Const::Bool(value) => shapes.boolean(Some(*value)),
            Const::Real(value) => shapes.real(crate::shape::lattice::Fact::of(*value)),
            Const::Record(kind) => {
                let nil = shapes.nil();
                shapes.make(Head::Record(*kind), &[nil, nil])
            }
            Const::Str(text) => {
                let texts = &mut self.result.texts;
                let number = texts.iter().position(|known| known == text).unwrap_or_else(|| {
                    texts.push(text.clone());
                    texts.len() - 1
                });
                shapes.make(Head::Text(u32::try_from(number).ok()), &[])
            }
        }
    }

    fn global(&mut self, global: GlobalId) -> Shape {
        match self.codes.program.globals[global].definition {
            Definition::Function(lambda) => {
                let code = self.codes.code(lambda);
                self.result.shapes.make(Head::Closure(code, Site::Value), &[])
            }
            Definition::Value => {
                if !self.defined.contains(&global) {
                    self.result.unchecked_globals.insert(global);
                }
                match self.result.globals.get(&global) {
                    Some(shape) => *shape,
                    None => {
                        self.undefined.insert(global);
                        Shapes::BOTTOM
                    }
                }
            }
        }
    }

    fn primitive(&mut self, below: Below, prim: Prim, args: &[Shape]) -> Result<Shape, Abort> {
        primitive::apply(&mut self.result.shapes, &mut self.codes, below, prim, args).map_err(|TowerTooHigh| {
            if self.codes.too_large() { self.too_much_code() } else { self.tower_too_high("order") }
        })
    }

    fn too_much_code(&self) -> Abort {
        Abort::Failure(Failure::Work(self.unsupported(
            "code",
            "the transforms of the program's functions are too large",
            "take fewer derivatives of the same function",
        )))
    }

    /// The analysis has more variants or takes more steps than the limit of that name allows.
    fn too_much_work(&self, limit: &str) -> Failure {
        Failure::Work(self.unsupported(
            limit,
            "there are too many cases in which functions of the program may be called",
            "fewer functions that make functions, or values of fewer kinds in the same place, make it simpler",
        ))
    }

    /// Gives up where more work has been done than is allowed. What operations on shapes have given since then may be
    /// anything, so nothing is made of a result before this has been asked.
    fn check_work(&self) -> Result<(), Failure> {
        if self.result.shapes.is_exhausted() { Err(self.too_much_work("work")) } else { Ok(()) }
    }

    fn tower_too_high(&self, limit: &str) -> Abort {
        let refusal = self.unsupported(
            limit,
            "a tower of derivatives has no height known at compile time",
            "make the number of nested derivatives a constant to compile it",
        );
        Abort::Failure(Failure::Tower { refusal, hides: self.result.shapes.hides_numbers.get() || self.keeps_loops })
    }
}

/// Whether values of a shape count as true; `None` if run time decides.
pub fn truth(shapes: &Shapes, shape: Shape) -> Option<bool> {
    let mut known = None;
    for alternative in shapes.alternatives(shape).iter() {
        let value = match alternative.head {
            Head::Bool(None) => return None,
            Head::Bool(Some(value)) => value,
            _ => true,
        };
        if known.is_some_and(|known| known != value) {
            return None;
        }
        known = Some(value);
    }
    known
}
