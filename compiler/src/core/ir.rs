//! The core language: a λ-calculus in A-normal form, α-converted and closure-converted.
//!
//! ```text
//! body ::= x1 = rhs1; ...; xn = rhsn; return x
//! rhs  ::= x | constant | global | (x y) | (prim x ...) | (prim^n x ...) | closure λ x ... | if x then body else body
//! ```
//!
//! Invariants, checked by [`crate::core::verify`]:
//!
//! - Every variable is bound once in the whole program, except that a λ's captured variables keep the ids that they
//!   have in the function around it: [`Lambda::captures`] lists the free local variables in binding order, outer
//!   binders first. `closure λ` says which variables in scope have their values: these ones, or others.
//! - A λ's body uses only its parameter, its captures, and what it binds itself. The bodies of an `if` also see what
//!   the body around them has bound so far.
//! - A letrec group shares one environment: each λ of the group captures the free locals of the whole group without
//!   the group's own names, and a λ that uses a name of the group starts with bindings that rebuild that closure
//!   (`f = closure λf`) from its own captures. So closures are never cyclic and no later stage knows letrec.
//! - A λ that was written in the program captures no variable that is bound to a closure: it captures what that
//!   function captures, and makes it again. (Backpropagators capture whatever the reverse phase needs.)
//! - Every function takes one argument. `(f a b c)` has become a tuple of nested pairs and one application.
//! - Globals are constants of the program, not captures.

use crate::base::{EntityVec, Span, entity_id};
use crate::core::interface;
use crate::core::operands::contract::Contract;
use crate::core::prim::Prim;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

entity_id! {
    /// A local variable, unique in the program.
    Var, "%"
}
entity_id! {
    /// A λ-expression: code without its environment.
    LambdaId, "L"
}
entity_id! {
    /// A top-level name.
    GlobalId, "G"
}
entity_id! {
    /// A kind of records: what one `define-record` defines.
    RecordId, "R"
}

/// A kind of records. A record is a pair of another name: it holds what the pair of its fields would hold, the list of
/// them made by `cons*`, with `()` in place of what one or two fields lack. Two definitions make two kinds, whatever
/// they are called.
#[derive(Clone, Debug)]
pub struct Record {
    /// The name that records of the kind print with.
    pub name: Rc<str>,
    /// The names of the fields, in order.
    pub fields: Vec<Rc<str>>,
    /// Where the name stands in the definition.
    pub span: Span,
}

/// A name for people: the source name of a local variable and where it was bound.
#[derive(Clone, Debug)]
pub struct VarInfo {
    /// The source name; generated variables have one that tells their role.
    pub name: Rc<str>,
    /// Where it was bound.
    pub span: Span,
    /// Set when the variable is bound to the list of the sensitivities of this λ's environment. To a program it is a
    /// list like any other; the analysis keeps the lists of different functions apart. `x = y` with such an x says that
    /// y can be no other function's list there: the closure whose sensitivity it is was made of this λ.
    pub environment_of: Option<LambdaId>,
    /// Whether it is bound to a part of a derivative, in a transformed function.
    pub is_of_derivative: bool,
    /// Set when it stands for a variable of a function of which a call has been copied.
    pub copied: Option<Rc<Copied>>,
}

/// What a variable stands for that has been copied from a called function.
#[derive(Clone, Debug)]
pub struct Copied {
    /// The function.
    pub lambda: LambdaId,
    /// The variable in it.
    pub var: Var,
    /// The call.
    pub call: Span,
}

/// Where the code of a λ comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Written in a source file.
    Source,
    /// The function whose body is one call of a primitive.
    Primitive(Prim),
    /// The reverse transform of the λ.
    Reverse(LambdaId),
    /// The forward transform of the λ.
    Forward(LambdaId),
    /// The λ on power series.
    Series(LambdaId),
    /// The λ on numbers that change in several directions.
    Directions(LambdaId),
    /// The backpropagator that the reverse transform of the λ returns (of its `n`-th nested body: 0 for the λ's own
    /// body, then the branches of its conditionals in order).
    Backpropagator(LambdaId, u32),
    /// The form of the λ, a backpropagator, that adds to sums it is handed.
    Adding(LambdaId),
}

/// A λ-expression.
#[derive(Clone, Debug)]
pub struct Lambda {
    /// The name that the function prints as; `lambda` when it has none.
    pub name: Rc<str>,
    /// The whole expression in the source; transformed code keeps the span of what it was made from.
    pub span: Span,
    /// Where the code comes from.
    pub origin: Origin,
    /// The one parameter.
    pub param: Var,
    /// Free local variables in binding order.
    pub captures: Vec<Var>,
    /// The body.
    pub body: Body,
}

impl Lambda {
    /// Whether it is a function that somebody has written and given a name.
    pub fn is_named_in_source(&self) -> bool {
        self.origin == Origin::Source && &*self.name != "lambda"
    }
}

/// A sequence of bindings and the variable that is its value.
#[derive(Clone, Debug)]
pub struct Body {
    /// Evaluated in order.
    pub bindings: Vec<Binding>,
    /// The value of the body. When this is the last binding's variable, that binding is in tail position.
    pub result: Var,
}

impl Body {
    /// The bindings of the body and of the branches in it, in order.
    pub fn all_bindings(&self) -> Vec<&Binding> {
        let mut found = Vec::new();
        self.add_bindings(&mut found);
        found
    }

    fn add_bindings<'a>(&'a self, found: &mut Vec<&'a Binding>) {
        for binding in &self.bindings {
            found.push(binding);
            if let Rhs::If(_, yes, no) = &binding.rhs {
                yes.add_bindings(found);
                no.add_bindings(found);
            }
        }
    }

    /// Whether its value is that of a call, in one of its branches at least.
    pub fn ends_in_call(&self) -> bool {
        match self.bindings.iter().find(|binding| binding.var == self.result).map(|binding| &binding.rhs) {
            Some(Rhs::Apply(..)) => true,
            Some(Rhs::If(_, yes, no)) => yes.ends_in_call() || no.ends_in_call(),
            _ => false,
        }
    }

    /// Drops bindings that may go if nothing uses them, and are not used.
    pub fn drop_unused(&mut self, may_go: &impl Fn(&Binding) -> bool) {
        self.drop_unused_before(may_go, &mut FxHashSet::default());
    }

    /// The same, given what is used behind the body; adds what the body uses.
    fn drop_unused_before(&mut self, may_go: &impl Fn(&Binding) -> bool, used: &mut FxHashSet<Var>) {
        used.insert(self.result);
        let mut kept = Vec::with_capacity(self.bindings.len());
        for mut binding in std::mem::take(&mut self.bindings).into_iter().rev() {
            if !used.contains(&binding.var) && may_go(&binding) {
                continue;
            }
            used.extend(binding.rhs.operands());
            if let Rhs::If(_, yes, no) = &mut binding.rhs {
                yes.drop_unused_before(may_go, used);
                no.drop_unused_before(may_go, used);
            }
            kept.push(binding);
        }
        kept.reverse();
        self.bindings = kept;
    }

    /// The λs whose closures are made in the body, in order.
    pub fn closures(&self) -> Vec<LambdaId> {
        let made = self.all_bindings().into_iter().filter_map(|binding| match &binding.rhs {
            Rhs::Closure(lambda, _) => Some(*lambda),
            _ => None,
        });
        made.collect()
    }
}

/// `var = rhs`
#[derive(Clone, Debug)]
pub struct Binding {
    /// The variable bound.
    pub var: Var,
    /// Its definition.
    pub rhs: Rhs,
    /// The source of the operation: where a run-time error in it is reported.
    pub span: Span,
}

/// The right-hand side of a binding.
#[derive(Clone, Debug)]
pub enum Rhs {
    /// Another name of a variable.
    Var(Var),
    /// A constant.
    Const(Const),
    /// The value of a top-level name.
    Global(GlobalId),
    /// Application of a function to its argument.
    Apply(Var, Var),
    /// A saturated call of a primitive: as many operands as [`Prim::arity`] says.
    Prim(Prim, Vec<Var>),
    /// A derivative operator or a test, done below the last transformations of its operands: below one forward
    /// transformation `real?` of `(bundle x t)` is `(real? x)` and `*j` of it `(bundle (*j x) (*j t))`. What
    /// transforming such a primitive gives; below at least one.
    Lifted(Below, Prim, Vec<Var>),
    /// A part of a value that a pattern takes apart; [`Part::Car`] differs from [`Prim::Car`] in the message of its
    /// error only.
    Destructure(Part, Var),
    /// The closure of a λ over values for its captures, in their order.
    Closure(LambdaId, Vec<Var>),
    /// Only `#f` is false.
    If(Var, Box<Body>, Box<Body>),
}

impl Rhs {
    /// A saturated call of a primitive below some transformations of its operands.
    pub fn lifted(below: Below, prim: Prim, operands: Vec<Var>) -> Rhs {
        if below == Below::NONE { Rhs::Prim(prim, operands) } else { Rhs::Lifted(below, prim, operands) }
    }

    /// The variables that are read, those of branches not included.
    pub fn operands(&self) -> SmallVec<[Var; 3]> {
        match self {
            Rhs::Var(x) | Rhs::Destructure(_, x) | Rhs::If(x, ..) => smallvec![*x],
            Rhs::Apply(f, a) => smallvec![*f, *a],
            Rhs::Prim(_, args) | Rhs::Lifted(_, _, args) | Rhs::Closure(_, args) => SmallVec::from_slice(args),
            Rhs::Const(_) | Rhs::Global(_) => SmallVec::new(),
        }
    }

    /// The same, to be given other names.
    pub fn operands_mut(&mut self) -> SmallVec<[&mut Var; 3]> {
        match self {
            Rhs::Var(x) | Rhs::Destructure(_, x) | Rhs::If(x, ..) => smallvec![x],
            Rhs::Apply(f, a) => smallvec![f, a],
            Rhs::Prim(_, args) | Rhs::Lifted(_, _, args) | Rhs::Closure(_, args) => args.iter_mut().collect(),
            Rhs::Const(_) | Rhs::Global(_) => SmallVec::new(),
        }
    }
}

/// How many of the last transformations of its operands an operation is done below.
///
/// A function has been through all of them, one after another. Of a number, the forward ones are inside the power
/// series, whatever the order was: the coefficients of a series are data to all other transformations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Below {
    /// Forward transformations.
    pub forward: u32,
    /// Transformations to power series, and forward ones for several directions.
    pub series: u32,
}

impl Below {
    /// Below none.
    pub const NONE: Below = Below { forward: 0, series: 0 };

    /// Below one more forward transformation.
    pub fn forward(self) -> Below {
        Below { forward: self.forward + 1, ..self }
    }
    /// Below one more transformation to power series.
    pub fn series(self) -> Below {
        Below { series: self.series + 1, ..self }
    }
    /// The same with so many forward transformations.
    pub fn with_forward(self, forward: u32) -> Below {
        Below { forward, ..self }
    }
    /// How many of the transformations of a function it is below.
    pub fn of_code(self) -> u32 {
        self.forward + self.series
    }
}

/// What a pattern demands of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// A pair; the value is its first part.
    Car,
    /// A pair; the value is its second part.
    Cdr,
    /// The empty list; the value is `()`.
    Nil,
    /// A vector of so many elements; the value is `()`.
    Vector(u32),
    /// A record of that kind; the value is the pair that it is another name of.
    Record(RecordId),
    /// What no value is: no clause of a `match` fits.
    Never,
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Const {
    /// `()`
    Nil,
    /// `#t`, `#f`
    Bool(bool),
    /// A double.
    Real(f64),
    /// A text, for messages.
    Str(Rc<str>),
    /// A record of that kind which is made of `(() . ())`. Operations on records take it for the kind.
    Record(RecordId),
    /// No sensitivity: what a sum is to which nothing has been added, where no zero has been made of what it is the
    /// sensitivity of. It stands in what is handed to backpropagators; no program sees it.
    Nothing,
}

/// A top-level name.
#[derive(Clone, Debug)]
pub struct Global {
    /// The source name.
    pub name: Rc<str>,
    /// Where it is defined.
    pub span: Span,
    /// What it is.
    pub definition: Definition,
}

/// What a top-level name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// A function: a λ without captures, available before anything runs.
    Function(LambdaId),
    /// The value of an [`Item::Define`]; using it before that item has run is an error.
    Value,
}

/// What the program does, in order.
#[derive(Clone, Debug)]
pub enum Item {
    /// Computes the value of a global that is not a function.
    Define(GlobalId, Body),
    /// Computes a value and prints it on its own line.
    Print(Body, Span),
}

impl Item {
    /// What it computes.
    pub fn body(&self) -> &Body {
        let (Item::Define(_, body) | Item::Print(body, _)) = self;
        body
    }

    /// The same, to be changed.
    pub fn body_mut(&mut self) -> &mut Body {
        let (Item::Define(_, body) | Item::Print(body, _)) = self;
        body
    }
}

/// The transforms of a function, as given.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// The reverse transform.
    pub reverse: LambdaId,
    /// The forward transform.
    pub forward: LambdaId,
    /// The same on power series.
    pub series: LambdaId,
    /// The forward transform for several directions.
    pub directions: LambdaId,
}

/// Library functions that check the derivative of the function that is their first argument, and return `()`.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    /// Checks a derivative that the program takes.
    pub taken: LambdaId,
    /// Checks a derivative that the program gives.
    pub given: LambdaId,
    /// The part of the former that calls the function again and again.
    pub probe: LambdaId,
}

/// A whole program. Transformations append to the tables; ids stay valid.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// All λ-expressions.
    pub lambdas: EntityVec<LambdaId, Lambda>,
    /// All local variables.
    pub vars: EntityVec<Var, VarInfo>,
    /// All top-level names.
    pub globals: EntityVec<GlobalId, Global>,
    /// All kinds of records.
    pub records: EntityVec<RecordId, Record>,
    /// What to do, in order.
    pub items: Vec<Item>,
    /// Functions whose transforms are written in the library instead of derived from their code. All are top-level
    /// functions, so there are no captures to transform.
    pub given: FxHashMap<LambdaId, Given>,
    /// What primitives do on power series: library functions.
    pub series: FxHashMap<Prim, GlobalId>,
    /// The forms of backpropagators that add to sums they are handed.
    pub adding: FxHashMap<LambdaId, LambdaId>,
    /// The parameters that are the only one of their function, and have a name; not those that take all arguments.
    pub single: FxHashSet<Var>,
    /// Library functions of two numbers that have a kink where these are equal.
    pub kinked: FxHashSet<LambdaId>,
    /// What functions of the library take that programs know by name.
    pub contracts: FxHashMap<LambdaId, Rc<Contract>>,
    /// Functions of the library that have been copied to where the program calls them, by the call.
    pub copied_calls: FxHashMap<Span, LambdaId>,
    /// The library functions that check derivatives.
    pub checks: Option<Checks>,
    /// Functions whose derivatives are not checked where others are.
    pub trusted: FxHashSet<LambdaId>,
    /// Functions of the library whose given derivatives are not checked: those without a name that programs know.
    pub own: FxHashSet<LambdaId>,
    /// What the program exports, if it is to be a library.
    pub library: Option<Library>,
    /// The arguments that the program takes, in the form of [`crate::core::arguments`]; empty without a declaration.
    pub arguments: Option<Rc<str>>,
    /// A check over the text of the program and of the library: which program this is.
    pub identity: u64,
    /// The names of variables, most of which many have: those that transformations bind.
    pub names: FxHashSet<Rc<str>>,
}

/// What makes a program a library: an item reads which function is called, and one more for each function calls it if
/// it is that. The items before these give globals their values, once for all calls.
#[derive(Clone, Debug)]
pub struct Library {
    /// The position of the first of these items.
    pub first_item: usize,
    /// The functions.
    pub exports: Vec<Export>,
}

/// A function that a library exports.
#[derive(Clone, Debug)]
pub struct Export {
    /// What its callers know, except for its results.
    pub function: interface::Function,
    /// The form.
    pub span: Span,
    /// The function whose result its callers get.
    pub lambda: LambdaId,
}

impl Program {
    /// Where the program does its first thing: the place of what is said about all of it.
    pub fn place(&self) -> Option<Span> {
        self.items.iter().find_map(|item| match item {
            Item::Print(_, span) => Some(*span),
            Item::Define(_, body) => body.bindings.first().map(|binding| binding.span),
        })
    }
    /// A new variable.
    pub fn new_var(&mut self, name: &str, span: Span) -> Var {
        let name = match self.names.get(name) {
            Some(known) => Rc::clone(known),
            None => {
                let name: Rc<str> = Rc::from(name);
                self.names.insert(Rc::clone(&name));
                name
            }
        };
        self.vars.push(VarInfo { name, span, environment_of: None, is_of_derivative: false, copied: None })
    }

    /// Whether a λ computes a derivative and nothing else: it is made of a backpropagator.
    pub fn is_reverse_phase(&self, mut lambda: LambdaId) -> bool {
        loop {
            lambda = match self.lambdas[lambda].origin {
                Origin::Backpropagator(..) | Origin::Adding(_) => return true,
                Origin::Source | Origin::Primitive(_) => return false,
                Origin::Reverse(of) | Origin::Forward(of) | Origin::Series(of) | Origin::Directions(of) => of,
            }
        }
    }

    /// What a λ prints as: `f`, `(*j f)`, `(j* f)`, `(backpropagator f)`...
    pub fn printed_name(&self, mut lambda: LambdaId) -> String {
        let mut name = String::new();
        let mut open = 0;
        loop {
            let (word, of) = match self.lambdas[lambda].origin {
                Origin::Source | Origin::Primitive(_) => break,
                Origin::Reverse(of) => ("(*j ", of),
                Origin::Forward(of) => ("(j* ", of),
                Origin::Series(of) => ("(series ", of),
                Origin::Directions(of) => ("(directions ", of),
                Origin::Backpropagator(of, _) => ("(backpropagator ", of),
                Origin::Adding(of) => ("(adding ", of),
            };
            name.push_str(word);
            (lambda, open) = (of, open + 1);
        }
        name + &self.lambdas[lambda].name + &")".repeat(open)
    }
}
