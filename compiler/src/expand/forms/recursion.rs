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
//! needs a later value cannot be computed; that is the mistake "used before its definition". If it needs the function
//! inside another one only, both values become functions ([`super::delayed`]).
//!
//! While a function is expanded, the group that its uses of other functions belong to is not known yet. So inside the
//! function each such name stands for a variable of its own, an alias, whose binding is put at the start of the
//! function when the group is made.

use crate::base::Span;
use crate::core::ir::{Binding, Body, LambdaId, Rhs, Var};
use crate::expand::build::{Callee, Expander, closure};
use crate::expand::error::Error;
use crate::expand::forms::define::{Define, Defined};
use crate::expand::names::scope;
use crate::syntax::Datum;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Local definitions that see each other.
pub struct Recursion {
    /// The variables that are functions.
    functions: FxHashSet<Var>,
    /// Inside one of the functions: what the functions' names stand for there.
    aliases: Option<FxHashMap<Var, Var>>,
    /// The functions that compute values. Functions use these, until all values exist.
    delayed: FxHashMap<Var, Var>,
    /// The number of λs around the definitions.
    functions_around: usize,
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
    /// Those that are functions.
    functions: FxHashSet<Var>,
    /// Those that compute values: what they need at once has been looked at where the values were expanded first.
    delayed: FxHashSet<Var>,
    /// Values that functions use before they exist, with these uses.
    early: FxHashMap<Var, Span>,
    /// Values whose definitions read or write.
    effects: FxHashSet<Var>,
}

/// A point to which expansion can go back.
struct Mark {
    errors: usize,
    lambdas: usize,
    bindings: usize,
    recursions: usize,
    uses: FxHashMap<Var, Span>,
    scope: scope::Mark,
}

/// A variable that is needed, where, and whether at once.
type Need = (Var, Span, bool);

impl Expander {
    /// Expands definitions and effects into the current body. Their names come into scope.
    pub fn local_definitions(&mut self, parts: &[Part], grouping: Grouping) {
        let mark = self.mark();
        while let Some(early) = self.definitions(parts, grouping, mark.errors) {
            self.go_back(&mark);
            self.delayed.extend(early);
        }
    }

    /// Expands definitions and effects; returns the names of values that have to be delayed first.
    fn definitions(&mut self, parts: &[Part], grouping: Grouping, errors: usize) -> Option<Vec<Span>> {
        let recursion = self.recursions.len();
        let vars = self.declare(parts);
        let Recursion { functions, delayed, .. } = &self.recursions[recursion];
        let all = vars.iter().flatten().chain(delayed.values()).copied().collect();
        let (functions, computing) = (functions.clone(), delayed.values().copied().collect());
        let (pending, available, early, effects) = Default::default();
        let mut order = Order { grouping, pending, available, all, functions, delayed: computing, early, effects };
        for (part, var) in parts.iter().zip(&vars) {
            let (Part::Define(Define { name, value, .. }), Some(var)) = (part, var) else { continue };
            let pending = match value {
                Defined::Function(function) => self.pending_function(*var, function.span, |expander| {
                    expander.function(name, &function.layers, function.forms, function.span)
                }),
                Defined::Value(value) => match self.recursions[recursion].delayed.get(var) {
                    Some(function) => {
                        self.pending_function(*function, value.span, |expander| expander.delay(name, value))
                    }
                    None => continue,
                },
            };
            order.pending.push(pending);
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
        self.recursions[recursion].delayed.clear();
        self.early_values(&order, errors)
    }

    /// The values that have to be delayed, by name; none if there are mistakes.
    fn early_values(&mut self, order: &Order, errors: usize) -> Option<Vec<Span>> {
        let mut early: Vec<(Var, Span)> = order.early.iter().map(|(var, span)| (*var, *span)).collect();
        early.sort();
        for (var, used) in &early {
            if order.effects.contains(var) {
                self.used_early(*var, *used);
            }
        }
        let names = early.iter().map(|(var, _)| self.core.vars[*var].span).collect();
        (!early.is_empty() && self.errors.len() == errors).then_some(names)
    }

    fn used_early(&mut self, var: Var, used: Span) {
        let info = &self.core.vars[var];
        let (definition, name) = (info.span, info.name.clone());
        self.errors.push(Error::UsedBeforeDefinition { used, definition, name });
    }

    fn mark(&self) -> Mark {
        Mark {
            errors: self.errors.len(),
            lambdas: self.core.lambdas.len(),
            bindings: self.bound(),
            recursions: self.recursions.len(),
            uses: self.uses.clone(),
            scope: self.scope.mark(),
        }
    }

    /// Forgets what has been expanded. Variables stay, and nothing uses them.
    fn go_back(&mut self, mark: &Mark) {
        self.core.lambdas.truncate(mark.lambdas);
        self.unbind(mark.bindings);
        self.recursions.truncate(mark.recursions);
        self.uses.clone_from(&mark.uses);
        self.scope.reset(mark.scope);
    }

    /// Creates the variables of all definitions and brings them into scope.
    fn declare(&mut self, parts: &[Part]) -> Vec<Option<Var>> {
        let mut first: FxHashMap<&Rc<str>, Span> = FxHashMap::default();
        let mut vars = Vec::new();
        let (mut functions, mut delayed) = (FxHashSet::default(), FxHashMap::default());
        for part in parts {
            let Part::Define(define) = part else {
                vars.push(None);
                continue;
            };
            let (name, span) = (define.name, define.name_span);
            let var = self.new_var(name, span);
            self.know_arity(Callee::Local(var), define);
            match first.get(name) {
                Some(&first) => self.errors.push(Error::DefinedTwice { first, second: span, name: name.clone() }),
                None => self.scope.push(name.clone(), var),
            }
            first.entry(name).or_insert(span);
            if matches!(define.value, Defined::Function(_)) {
                functions.insert(var);
            }
            self.recursion_of.insert(var, self.recursions.len());
            if matches!(define.value, Defined::Value(_)) && self.delayed.contains(&span) {
                let function = self.new_var(name, span);
                self.recursion_of.insert(function, self.recursions.len());
                functions.insert(function);
                delayed.insert(var, function);
            }
            vars.push(Some(var));
        }
        let functions_around = self.functions_around;
        self.recursions.push(Recursion { functions, aliases: None, delayed, functions_around });
        vars
    }

    /// Expands a function.
    fn pending_function(&mut self, var: Var, span: Span, expand: impl FnOnce(&mut Expander) -> LambdaId) -> Pending {
        let recursion = self.recursion_of[&var];
        let outer_uses = std::mem::take(&mut self.uses);
        self.recursions[recursion].aliases = Some(FxHashMap::default());
        let lambda = expand(self);
        let aliases = self.recursions[recursion].aliases.take().unwrap_or_default();
        let uses = std::mem::replace(&mut self.uses, outer_uses);
        self.merge_uses(&uses);
        let inside: FxHashSet<Var> = aliases.values().copied().collect();
        let captures = self.core.lambdas[lambda].captures.iter().copied();
        let captures = captures.filter(|var| !inside.contains(var)).collect();
        let mut aliases: Vec<(Var, Var)> = aliases.into_iter().collect();
        aliases.sort();
        Pending { var, lambda, span, captures, aliases, uses }
    }

    /// Expands a value, or an effect when there is no name, after the closures that it needs.
    fn value(&mut self, order: &mut Order, value: &Datum, var: Option<Var>, name: Option<&Rc<str>>, place: Span) {
        let outer_uses = std::mem::take(&mut self.uses);
        self.open();
        let function = var.and_then(|var| self.recursions[self.recursion_of[&var]].delayed.get(&var).copied());
        let rhs = match (function, name) {
            (Some(function), _) => self.force(function, value.span),
            (None, Some(name)) => self.named(value, name),
            (None, None) => self.rhs(value),
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
        let used = self.uses_of(&fragment, |var| order.functions.contains(&var));
        if let Some(var) = var.filter(|_| used.has_effect) {
            order.effects.insert(var);
        }
        let place = |var: Var| uses.get(&var).copied().unwrap_or(place);
        let mut needed: Vec<Var> = used.at_once.iter().chain(&used.later).copied().collect();
        self.sort(&mut needed);
        let needed = needed.into_iter().map(|var| (var, place(var), used.at_once.contains(&var))).collect();
        let group = self.needed_functions(order, needed);
        self.make_closures(order, group);
        self.append(fragment.bindings);
        order.available.extend(var);
    }

    /// Takes the functions that `needed` variables depend on out of the pending ones; reports values used too early.
    fn needed_functions(&mut self, order: &mut Order, mut needed: Vec<Need>) -> Vec<Pending> {
        let mut taken = vec![false; order.pending.len()];
        let by_var: FxHashMap<Var, usize> =
            order.pending.iter().enumerate().map(|(index, pending)| (pending.var, index)).collect();
        let mut seen = FxHashSet::default();
        let mut reported = FxHashSet::default();
        while let Some((var, span, at_once)) = needed.pop() {
            if !order.all.contains(&var) || order.available.contains(&var) || !seen.insert((var, at_once)) {
                continue;
            }
            match by_var.get(&var) {
                Some(&index) => {
                    taken[index] = true;
                    let pending = &order.pending[index];
                    let functions = pending.aliases.iter().map(|(function, _)| *function);
                    let at_once = at_once && !order.delayed.contains(&var);
                    let inner = |var: Var| (var, pending.uses.get(&var).copied().unwrap_or(pending.span), at_once);
                    needed.extend(functions.chain(pending.captures.iter().copied()).map(inner));
                }
                None if at_once => {
                    if reported.insert(var) {
                        self.used_early(var, span);
                    }
                }
                None => drop(order.early.entry(var).or_insert(span)),
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
                rhs: members.get(function).map_or(Rhs::Var(*function), |lambda| closure(*lambda)),
                span: pending.span,
            });
            let prologue: Vec<Binding> = prologue.collect();
            let lambda = &mut self.core.lambdas[pending.lambda];
            lambda.body.bindings.splice(0..0, prologue);
            lambda.captures = captures.clone();
        }
        for pending in group {
            self.bind(pending.var, closure(pending.lambda), pending.span);
            order.available.insert(pending.var);
        }
    }

    /// A reference to a local variable: inside a function of its own group, a function is known by its alias, and a
    /// delayed value by the function that computes it.
    pub fn local(&mut self, var: Var, span: Span) -> Rhs {
        let Some(&index) = self.recursion_of.get(&var) else { return Rhs::Var(var) };
        let recursion = &self.recursions[index];
        match recursion.delayed.get(&var).copied() {
            Some(function) if self.functions_around > recursion.functions_around => {
                let function = self.recursive(function, index, span);
                self.force(function, span)
            }
            _ => Rhs::Var(self.recursive(var, index, span)),
        }
    }

    fn recursive(&mut self, var: Var, index: usize, span: Span) -> Var {
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
