//! The state of expansion, and the construction of bodies, λs and their captures.

use crate::base::{Diagnostic, EntityVec, FileId, Span};
use crate::core::ir::{
    Binding, Body, Const, Definition, Global, GlobalId, Item, Lambda, LambdaId, Origin, Program, RecordId, Rhs, Var,
};
use crate::core::prim::Prim;
use crate::expand::Dialect;
use crate::expand::error::Error;
use crate::expand::forms::pattern::{Arity, Params};
use crate::expand::forms::recursion::Recursion;
use crate::expand::names::basis;
use crate::expand::names::basis::Keyword;
use crate::expand::names::known_functions;
use crate::expand::names::modules::{Found, Target};
use crate::expand::names::scope::{Globals, Scope};
use crate::expand::program::load::Unread;
use crate::syntax::Datum;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// How deeply expressions may nest after expansion.
pub const MAX_NESTING: usize = 2000;

/// How many clauses of `cond`, operands of `and` and of `or` there may be around an expression: each nests in the one
/// before it. All stages behind this one are recursive, and this is what the smallest stack that they run on has room
/// for.
pub const MAX_CLAUSES: usize = 20_000;

/// The state of expansion.
pub struct Expander {
    /// The program so far.
    pub core: Program,
    /// The mistakes so far.
    pub errors: Vec<Error>,
    /// Names that wrong definitions and patterns were to define, or what could not be read.
    pub excused: FxHashSet<Rc<str>>,
    /// Whether anything may be defined in a file that could not be read.
    pub excuses_all: bool,
    /// Top-level names.
    pub globals: Globals,
    /// Local names.
    pub scope: Scope,
    /// Groups of recursive local definitions, open ones and finished ones.
    pub recursions: Vec<Recursion>,
    /// The group that a variable is defined in.
    pub recursion_of: FxHashMap<Var, usize>,
    /// The first use of each recursively defined variable in the piece being expanded.
    pub uses: FxHashMap<Var, Span>,
    /// The names of local values that functions compute, since they need each other.
    pub delayed: FxHashSet<Span>,
    /// Top-level values whose definition has not been passed yet.
    pub pending: FxHashSet<GlobalId>,
    /// The constructors of records.
    pub records: FxHashMap<GlobalId, RecordId>,
    /// How named functions are called.
    pub arities: FxHashMap<Callee, Usage>,
    /// The names that the `let` forms around the current point bind, where these are not in scope yet.
    pub beside: Vec<Rc<str>>,
    /// The language of the program.
    pub dialect: Dialect,
    /// True while the library is expanded.
    pub in_library: bool,
    /// The library's file whose functions stand for primitives.
    pub primitives_file: Option<FileId>,
    /// The number of λs around the current point.
    pub functions_around: usize,
    /// The number of expressions around the current point.
    nesting: usize,
    /// The number of clauses around the current point.
    clauses: usize,
    /// The bodies being built, innermost last.
    bodies: Vec<Vec<Binding>>,
    /// The place of each variable in binding order.
    ranks: EntityVec<Var, u32>,
}

/// A function that is called by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// A local one.
    Local(Var),
    /// One of the top level.
    Global(GlobalId),
}

/// How a function is called.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// How many operands it takes.
    pub arity: Arity,
    /// Where it is defined.
    pub span: Span,
    /// Its name and its parameters, as in a call.
    pub call: Rc<str>,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A local variable.
    Local(Var),
    /// A top-level name of the program.
    User(GlobalId),
    /// A top-level name of the library.
    Library(GlobalId),
    /// A primitive that only the library can name.
    Internal(Prim),
    /// A word that introduces a form.
    Keyword(Keyword),
    /// `list`, which is not a function because a function cannot tell `(list t)` from `(list a b)`.
    List,
    /// `vector`, for the same reason.
    Vector,
    /// A word that introduces something at the top level of a file.
    Reserved(&'static str),
    /// What two modules define that the current one imports.
    Several,
    /// Nothing.
    Unbound,
}

impl Expander {
    /// The state before anything is expanded.
    pub fn new(dialect: Dialect, unread: Unread) -> Expander {
        Expander {
            dialect,
            core: Program::default(),
            errors: Vec::new(),
            excused: unread.names,
            excuses_all: unread.is_partial,
            globals: Globals::default(),
            scope: Scope::default(),
            recursions: Vec::new(),
            recursion_of: FxHashMap::default(),
            uses: FxHashMap::default(),
            delayed: FxHashSet::default(),
            pending: FxHashSet::default(),
            records: FxHashMap::default(),
            arities: FxHashMap::default(),
            beside: Vec::new(),
            in_library: true,
            primitives_file: None,
            functions_around: 0,
            nesting: 0,
            clauses: 0,
            bodies: Vec::new(),
            ranks: EntityVec::new(),
        }
    }

    /// The program, or the messages, with those that came before.
    pub fn finish(mut self, mut messages: Vec<Diagnostic>) -> Result<Program, Vec<Diagnostic>> {
        if self.errors.is_empty() && messages.is_empty() {
            if self.dialect == Dialect::Vlad {
                known_functions::rebuild(&mut self);
            }
            self.capture();
            return Ok(self.core);
        }
        messages.extend(self.errors.iter().map(Error::to_diagnostic));
        messages.sort_by_key(|message| message.primary.as_ref().map(|label| (label.span.file, label.span.start)));
        Err(messages)
    }

    /// Says of all closures what they capture: what their λs do, under the same names.
    fn capture(&mut self) {
        let captures: EntityVec<LambdaId, Vec<Var>> = self.core.lambdas.values().map(|l| l.captures.clone()).collect();
        let items = self.core.items.iter_mut().map(Item::body_mut);
        let mut bodies: Vec<&mut Body> = items.chain(self.core.lambdas.values_mut().map(|l| &mut l.body)).collect();
        while let Some(body) = bodies.pop() {
            for binding in &mut body.bindings {
                match &mut binding.rhs {
                    Rhs::Closure(lambda, captured) => captured.clone_from(&captures[*lambda]),
                    Rhs::If(_, yes, no) => bodies.extend([&mut **yes, &mut **no]),
                    _ => {}
                }
            }
        }
    }

    /// Records a mistake; the result stands in for the erroneous expression.
    pub fn error(&mut self, error: Error) -> Rhs {
        self.errors.push(error);
        Rhs::Const(Const::Nil)
    }

    /// What `name` stands for here.
    pub fn meaning(&self, name: &str) -> Meaning {
        if let Some(var) = self.scope.get(name) {
            return Meaning::Local(var);
        }
        match self.globals.user.find(name).filter(|_| !self.in_library) {
            Some(Found::One(Target::User(global))) => return Meaning::User(global),
            Some(Found::One(Target::Library(global))) => return Meaning::Library(global),
            Some(Found::Several(_)) => return Meaning::Several,
            None => {}
        }
        if (self.in_library || !name.starts_with('%'))
            && let Some(&global) = self.globals.library.get(name)
        {
            return Meaning::Library(global);
        }
        if let Some(prim) = basis::internal(name).filter(|_| self.in_library) {
            return Meaning::Internal(prim);
        }
        match basis::keyword(name) {
            Some(keyword) => Meaning::Keyword(keyword),
            None if name == "list" => Meaning::List,
            None if name == "vector" => Meaning::Vector,
            None => match basis::RESERVED.iter().find(|word| **word == name) {
                Some(word) => Meaning::Reserved(word),
                None => Meaning::Unbound,
            },
        }
    }

    /// A library function, by its name.
    pub fn library_function(&self, name: &str) -> GlobalId {
        *self.globals.library.get(name).expect("a program gets what the functions that it names come with")
    }

    /// A new top-level name. It counts as a value until its function is known.
    pub fn new_global(&mut self, name: &Rc<str>, span: Span) -> GlobalId {
        self.core.globals.push(Global { name: name.clone(), span, definition: Definition::Value })
    }

    /// A new variable, behind all others in binding order.
    pub fn new_var(&mut self, name: &str, span: Span) -> Var {
        let var = self.core.new_var(name, span);
        self.ranks.push(var.0);
        var
    }

    /// A new variable that stands for `of` and takes its place in binding order.
    pub fn new_alias(&mut self, of: Var) -> Var {
        let info = self.core.vars[of].clone();
        self.ranks.push(self.ranks[of]);
        self.core.vars.push(info)
    }

    /// Starts a body inside the current one.
    pub fn open(&mut self) {
        self.bodies.push(Vec::new());
    }

    /// Ends the innermost body and returns its bindings.
    pub fn close(&mut self) -> Vec<Binding> {
        self.bodies.pop().expect("bodies are closed as often as opened")
    }

    /// Appends a binding to the innermost body.
    pub fn bind(&mut self, var: Var, rhs: Rhs, span: Span) {
        let body = self.bodies.last_mut().expect("expressions are expanded inside a body");
        body.push(Binding { var, rhs, span });
    }

    /// How many bindings the innermost body has.
    pub fn bound(&self) -> usize {
        self.bodies.last().map_or(0, Vec::len)
    }

    /// Drops the last bindings of the innermost body.
    pub fn unbind(&mut self, left: usize) {
        self.bodies.last_mut().expect("expressions are expanded inside a body").truncate(left);
    }

    /// Appends finished bindings to the innermost body.
    pub fn append(&mut self, bindings: Vec<Binding>) {
        self.bodies.last_mut().expect("expressions are expanded inside a body").extend(bindings);
    }

    /// Binds a right-hand side to a new variable.
    pub fn emit(&mut self, name: &str, rhs: Rhs, span: Span) -> Var {
        let var = self.new_var(name, span);
        self.bind(var, rhs, span);
        var
    }

    /// The variable that holds a right-hand side; a new one unless it is one already.
    pub fn hold(&mut self, rhs: Rhs, span: Span) -> Var {
        let name = match &rhs {
            Rhs::Var(var) => return *var,
            Rhs::Global(global) => self.core.globals[*global].name.clone(),
            Rhs::Closure(lambda, _) => self.core.lambdas[*lambda].name.clone(),
            Rhs::Const(_) => Rc::from("c"),
            _ => Rc::from("t"),
        };
        self.emit(&name, rhs, span)
    }

    /// Evaluates for effect.
    pub fn discard(&mut self, rhs: Rhs, span: Span) {
        if !matches!(rhs, Rhs::Var(_) | Rhs::Const(_) | Rhs::Closure(..)) {
            self.emit("_", rhs, span);
        }
    }

    /// The body whose bindings and value `expand` makes; `span` is that of the value.
    pub fn branch(&mut self, span: Span, expand: impl FnOnce(&mut Expander) -> Rhs) -> Box<Body> {
        self.open();
        let mark = self.scope.mark();
        let rhs = expand(self);
        let result = self.hold(rhs, span);
        self.scope.reset(mark);
        Box::new(Body { bindings: self.close(), result })
    }

    /// Runs `expand` one level deeper, unless that is too deep.
    pub fn nested(&mut self, span: Span, expand: impl FnOnce(&mut Expander) -> Rhs) -> Rhs {
        if self.nesting >= MAX_NESTING {
            return self.too_deep(span);
        }
        self.nesting += 1;
        let rhs = expand(self);
        self.nesting -= 1;
        rhs
    }

    /// Runs `expand` behind one clause more, unless there are too many.
    pub fn in_clause(&mut self, span: Span, expand: impl FnOnce(&mut Expander) -> Rhs) -> Rhs {
        if self.clauses >= MAX_CLAUSES {
            return self.too_deep(span);
        }
        self.clauses += 1;
        let rhs = expand(self);
        self.clauses -= 1;
        rhs
    }

    fn too_deep(&mut self, span: Span) -> Rhs {
        // One message suffices: everything further in is too deep as well.
        if !self.errors.iter().any(|error| matches!(error, Error::TooDeep(_))) {
            self.errors.push(Error::TooDeep(span));
        }
        Rhs::Const(Const::Nil)
    }

    /// The λ with the given curried parameter lists and body.
    pub fn function(&mut self, name: &Rc<str>, layers: &[Params], forms: &[Datum], span: Span) -> LambdaId {
        let (params, inner) = layers.split_first().expect("a function has a parameter list");
        self.lambda(name, span, forms.last().map_or(span, |form| form.span), |expander| {
            let param = expander.parameter(params);
            if inner.is_empty() {
                return (param, expander.body(forms, span));
            }
            (param, closure(expander.function(name, inner, forms, span)))
        })
    }

    /// The λ whose parameter and value `expand` makes; `place` is that of the value.
    pub fn lambda(
        &mut self,
        name: &Rc<str>,
        span: Span,
        place: Span,
        expand: impl FnOnce(&mut Expander) -> (Var, Rhs),
    ) -> LambdaId {
        self.functions_around += 1;
        self.open();
        let mark = self.scope.mark();
        let (param, rhs) = expand(self);
        let result = self.hold(rhs, place);
        self.scope.reset(mark);
        let body = Body { bindings: self.close(), result };
        self.functions_around -= 1;
        let captures = self.free_variables(&body, Some(param));
        let origin = self.origin(name, span);
        self.core.lambdas.push(Lambda { name: name.clone(), span, origin, param, captures, body })
    }

    fn origin(&self, name: &str, span: Span) -> Origin {
        match basis::primitive(name) {
            Some(prim) if self.primitives_file == Some(span.file) => Origin::Primitive(prim),
            _ => Origin::Source,
        }
    }

    /// The variables that a body uses and does not bind, in binding order.
    pub fn free_variables(&self, body: &Body, param: Option<Var>) -> Vec<Var> {
        let mut seen = Seen { used: FxHashSet::default(), bound: param.into_iter().collect(), program: &self.core };
        seen.body(body);
        let mut free: Vec<Var> = seen.used.difference(&seen.bound).copied().collect();
        self.sort(&mut free);
        free
    }

    /// Puts variables in binding order.
    pub fn sort(&self, vars: &mut [Var]) {
        vars.sort_by_key(|var| (self.ranks[*var], *var));
    }
}

/// The variables met in a body. Every variable is bound once, so order does not matter.
struct Seen<'a> {
    used: FxHashSet<Var>,
    bound: FxHashSet<Var>,
    program: &'a Program,
}

impl Seen<'_> {
    fn body(&mut self, body: &Body) {
        for binding in &body.bindings {
            self.bound.insert(binding.var);
            self.rhs(&binding.rhs);
        }
        self.used.insert(body.result);
    }

    fn rhs(&mut self, rhs: &Rhs) {
        self.used.extend(rhs.operands());
        match rhs {
            Rhs::Closure(lambda, _) => self.used.extend(&self.program.lambdas[*lambda].captures),
            Rhs::If(_, yes, no) => {
                self.body(yes);
                self.body(no);
            }
            _ => {}
        }
    }
}

/// The closure of a λ. What it captures is filled in when the whole program has been read.
pub fn closure(lambda: LambdaId) -> Rhs {
    Rhs::Closure(lambda, Vec::new())
}
