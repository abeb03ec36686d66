//! Local definitions that see each other: internal `define`, `letrec` and named `let`.
//!
//! Values are computed in the order of the text. A function becomes a closure as late as possible: just before the
//! first value that needs it, directly or through other functions, or else before the end. Functions that share their
//! captures form a group, in the sense of [`crate::core::ir`]: each rebuilds the others from them. So in
//!
//! ```text
//! (define (even n) ... odd ...)
//! (define (odd n) ... even ... k ...)      group {even, odd} captures k
//! ```
//!
//! `even` starts with `odd = closure λodd`. The functions of a `letrec` are one group, as the language says. Internal
//! definitions are divided into groups of functions that call each other in a circle, so that a function captures no
//! more than it needs. A function of an earlier group is captured like any variable. A value that needs a function that
//! needs a later value cannot be computed; that is the mistake "used before its definition".
//!
//! While a function is expanded, the group that its uses of other functions belong to is not known yet. So inside the
//! function each such name stands for a variable of its own, an alias, whose binding is put at the start of the
//! function when the group is made.

use crate::base::Span;
use crate::core::ir::{Binding, Body, LambdaId, Rhs, Var};
use crate::expand::build::Expander;
use crate::expand::define::{Define, Defined, Function};
use crate::expand::error::Error;
use crate::syntax::Datum;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Local definitions that see each other.
pub struct Recursion {
    /// The variables that are functions.
    functions: FxHashSet<Var>,
    /// Inside one of the functions: what the functions' names stand for there.
    aliases: Option<FxHashMap<Var, Var>>,
}

/// A part of a body that is not its value.
pub enum Part<'a> {
    /// A definition.
    Define(Define<'a>),
    /// An expression evaluated for effect.
    Effect(&'a Datum),
}

/// A function that is not a closure yet.
struct Pending {
    var: Var,
    lambda: LambdaId,
    span: Span,
    /// What it captures, aliases excluded.
    captures: Vec<Var>,
    /// The functions it uses, with the aliases that stand for them inside.
    aliases: Vec<(Var, Var)>,
    /// Where it uses which recursively defined variable first.
    uses: FxHashMap<Var, Span>,
}

/// How functions are divided into groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// All together: `letrec`.
    Together,
    /// By the circles in which they call each other: internal definitions.
    Circles,
}

/// The state while the parts of one body are put in order.
struct Order {
    grouping: Grouping,
    pending: Vec<Pending>,
    /// Variables of this body whose value or closure exists.
    available: FxHashSet<Var>,
    /// All variables of this body.
    all: FxHashSet<Var>,
}

impl Expander {
    /// Expands definitions and effects into the current body. Their names come into scope.
    pub fn local_definitions(&mut self, parts: Vec<Part>, grouping: Grouping) {
        let vars = self.declare(&parts);
        let all = vars.iter().flatten().copied().collect();
        let mut order = Order { grouping, pending: Vec::new(), available: FxHashSet::default(), all };
        for (part, var) in parts.iter().zip(&vars) {
            if let (Part::Define(Define { name, value: Defined::Function(function), .. }), Some(var)) = (part, var) {
                let pending = self.pending_function(*var, name, function);
                order.pending.push(pending);
            }
        }
        for (part, var) in parts.iter().zip(vars) {
            match part {
                Part::Define(Define { name, name_span, value: Defined::Value(value), .. }) => {
                    self.value(&mut order, value, var, Some(name), *name_span);
                }
                Part::Define(_) => {}
                Part::Effect(value) => self.value(&mut order, value, None, None, value.span),
            }
        }
        let remaining = std::mem::take(&mut order.pending);
        self.make_closures(&mut order, remaining);
    }

    /// Creates the variables of all definitions and brings them into scope.
    fn declare(&mut self, parts: &[Part]) -> Vec<Option<Var>> {
        let mut first: FxHashMap<&Rc<str>, Span> = FxHashMap::default();
        let mut vars = Vec::new();
        let mut functions = FxHashSet::default();
        for part in parts {
            let Part::Define(define) = part else {
                vars.push(None);
                continue;
            };
            let (name, span) = (define.name, define.name_span);
            let var = self.new_var(name, span);
            match first.get(name) {
                Some(&first) => self.errors.push(Error::DefinedTwice { first, second: span, name: name.clone() }),
                None => self.scope.push(name.clone(), var),
            }
            first.entry(name).or_insert(span);
            if matches!(define.value, Defined::Function(_)) {
                functions.insert(var);
            }
            self.recursion_of.insert(var, self.recursions.len());
            vars.push(Some(var));
        }
        self.recursions.push(Recursion { functions, aliases: None });
        vars
    }

    /// Expands a function.
    fn pending_function(&mut self, var: Var, name: &Rc<str>, function: &Function) -> Pending {
        let recursion = self.recursion_of[&var];
        let outer_uses = std::mem::take(&mut self.uses);
        self.recursions[recursion].aliases = Some(FxHashMap::default());
        let lambda = self.function(name, &function.layers, function.forms, function.span);
        let aliases = self.recursions[recursion].aliases.take().unwrap_or_default();
        let uses = std::mem::replace(&mut self.uses, outer_uses);
        self.merge_uses(&uses);
        let inside: FxHashSet<Var> = aliases.values().copied().collect();
        let captures = self.core.lambdas[lambda].captures.iter().copied();
        let captures = captures.filter(|var| !inside.contains(var)).collect();
        let mut aliases: Vec<(Var, Var)> = aliases.into_iter().collect();
        aliases.sort();
        Pending { var, lambda, span: function.span, captures, aliases, uses }
    }

    /// Expands a value, or an effect when there is no name, after the closures that it needs.
    fn value(&mut self, order: &mut Order, value: &Datum, var: Option<Var>, name: Option<&Rc<str>>, place: Span) {
        let outer_uses = std::mem::take(&mut self.uses);
        self.open();
        let rhs = match name {
            Some(name) => self.named(value, name),
            None => self.rhs(value),
        };
        let result = match var {
            Some(var) => {
                self.bind(var, rhs, value.span);
                var
            }
            None => self.hold(rhs, value.span),
        };
        let fragment = Body { bindings: self.close(), result };
        let uses = std::mem::replace(&mut self.uses, outer_uses);
        self.merge_uses(&uses);
        // The definition binds its own variable, so a use of it inside does not show among the free variables.
        let own = var.filter(|var| uses.contains_key(var));
        let needed: Vec<Var> = self.free_variables(&fragment, None).into_iter().chain(own).collect();
        let group = self.needed_functions(order, &needed, &uses, place);
        self.make_closures(order, group);
        self.append(fragment.bindings);
        order.available.extend(var);
    }

    /// Takes the functions that `needed` variables depend on out of the pending ones; reports values used too early.
    fn needed_functions(
        &mut self,
        order: &mut Order,
        needed: &[Var],
        uses: &FxHashMap<Var, Span>,
        place: Span,
    ) -> Vec<Pending> {
        let mut taken = vec![false; order.pending.len()];
        let by_var: FxHashMap<Var, usize> =
            order.pending.iter().enumerate().map(|(index, pending)| (pending.var, index)).collect();
        let mut work: Vec<(Var, Span)> =
            needed.iter().map(|var| (*var, uses.get(var).copied().unwrap_or(place))).collect();
        let mut reported = FxHashSet::default();
        while let Some((var, span)) = work.pop() {
            if !order.all.contains(&var) || order.available.contains(&var) {
                continue;
            }
            match by_var.get(&var) {
                Some(&index) if taken[index] => {}
                Some(&index) => {
                    taken[index] = true;
                    let pending = &order.pending[index];
                    let functions = pending.aliases.iter().map(|(function, _)| *function);
                    let inner = |var: Var| (var, pending.uses.get(&var).copied().unwrap_or(pending.span));
                    work.extend(functions.chain(pending.captures.iter().copied()).map(inner));
                }
                None if reported.insert(var) => {
                    let info = &self.core.vars[var];
                    let (definition, name) = (info.span, info.name.clone());
                    self.errors.push(Error::UsedBeforeDefinition { used: span, definition, name });
                }
                None => {}
            }
        }
        let pending = std::mem::take(&mut order.pending);
        let (group, rest): (Vec<_>, Vec<_>) = pending.into_iter().zip(taken).partition(|(_, taken)| *taken);
        order.pending = rest.into_iter().map(|(pending, _)| pending).collect();
        group.into_iter().map(|(pending, _)| pending).collect()
    }

    /// Makes closures of functions, group by group.
    fn make_closures(&mut self, order: &mut Order, functions: Vec<Pending>) {
        if order.grouping == Grouping::Together {
            return self.make_group(order, functions);
        }
        let index: FxHashMap<Var, usize> =
            functions.iter().enumerate().map(|(index, pending)| (pending.var, index)).collect();
        let used = |pending: &Pending| {
            pending.aliases.iter().filter_map(|(function, _)| index.get(function).copied()).collect::<Vec<usize>>()
        };
        let circles = circles(&functions.iter().map(used).collect::<Vec<_>>());
        let mut functions: Vec<Option<Pending>> = functions.into_iter().map(Some).collect();
        for circle in circles {
            let group = circle.into_iter().filter_map(|index| functions[index].take()).collect();
            self.make_group(order, group);
        }
    }

    /// Makes closures of functions that share their captures.
    fn make_group(&mut self, order: &mut Order, group: Vec<Pending>) {
        let members: FxHashMap<Var, LambdaId> = group.iter().map(|pending| (pending.var, pending.lambda)).collect();
        let mut captures: FxHashSet<Var> = FxHashSet::default();
        for pending in &group {
            captures.extend(&pending.captures);
            captures.extend(pending.aliases.iter().map(|(function, _)| *function));
        }
        let mut captures: Vec<Var> = captures.into_iter().filter(|var| !members.contains_key(var)).collect();
        self.sort(&mut captures);
        for pending in &group {
            let prologue = pending.aliases.iter().map(|(function, alias)| Binding {
                var: *alias,
                rhs: members.get(function).map_or(Rhs::Var(*function), |lambda| Rhs::Closure(*lambda)),
                span: pending.span,
            });
            let prologue: Vec<Binding> = prologue.collect();
            let lambda = &mut self.core.lambdas[pending.lambda];
            lambda.body.bindings.splice(0..0, prologue);
            lambda.captures = captures.clone();
        }
        for pending in group {
            self.bind(pending.var, Rhs::Closure(pending.lambda), pending.span);
            order.available.insert(pending.var);
        }
    }

    /// A reference to a local variable: inside a function of its own group, a function is known by its alias.
    pub fn local(&mut self, var: Var, span: Span) -> Var {
        let Some(&index) = self.recursion_of.get(&var) else { return var };
        self.uses.entry(var).or_insert(span);
        let recursion = &self.recursions[index];
        let Some(aliases) = recursion.aliases.as_ref().filter(|_| recursion.functions.contains(&var)) else {
            return var;
        };
        if let Some(&alias) = aliases.get(&var) {
            return alias;
        }
        let alias = self.new_alias(var);
        if let Some(aliases) = &mut self.recursions[index].aliases {
            aliases.insert(var, alias);
        }
        alias
    }

    fn merge_uses(&mut self, uses: &FxHashMap<Var, Span>) {
        for (var, span) in uses {
            self.uses.entry(*var).or_insert(*span);
        }
    }
}

/// The strongly connected components of a graph given by its edges; each comes after those that it has edges to, and
/// lists its nodes in order.
fn circles(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let order = finishing_order(edges);
    let mut reversed = vec![Vec::new(); edges.len()];
    for (from, targets) in edges.iter().enumerate() {
        targets.iter().for_each(|to| reversed[*to].push(from));
    }
    // Against the edges, from the node finished last, one reaches exactly the nodes of its own component.
    let mut seen = vec![false; edges.len()];
    let mut components = Vec::new();
    for start in order.into_iter().rev() {
        let mut component = Vec::new();
        let mut work = vec![start];
        while let Some(node) = work.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                component.push(node);
                work.extend(&reversed[node]);
            }
        }
        if !component.is_empty() {
            component.sort();
            components.push(component);
        }
    }
    components.reverse();
    components
}

/// The nodes of a graph in the order in which a depth-first search leaves them.
fn finishing_order(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; edges.len()];
    let mut order = Vec::new();
    for start in 0..edges.len() {
        let mut path = Vec::new();
        if !std::mem::replace(&mut seen[start], true) {
            path.push((start, 0));
        }
        while let Some((node, next)) = path.pop() {
            match edges[node].get(next) {
                None => order.push(node),
                Some(&target) => {
                    path.push((node, next + 1));
                    if !std::mem::replace(&mut seen[target], true) {
                        path.push((target, 0));
                    }
                }
            }
        }
    }
    order
}
