//! Loops that go on with the loop around them return to it instead.
//!
//! ```text
//! (define (rows i total)                      (define (rows i total)
//!   (let row ((j 0) (sum 0))                    (let ((sum (let row ((j 0) (sum 0))
//!     (if (< j n)                         →                  (if (< j n) (row (+ j 1) (+ sum j)) sum))))
//!         (row (+ j 1) (+ sum j))                 (rows (+ i 1) (+ total sum))))
//!         (rows (+ i 1) (+ total sum)))))
//! ```
//!
//! In: a program whose closures name what they capture. Out: the same, where what an inner loop does when it ends stands
//! behind the call that begins it. The loop returns the values of its own that this needs.
//!
//! Why: where loops call each other, their derivatives are one recursion, of which nobody can tell how often it does
//! what. Loops within loops have trip counts each.
//!
//! A loop is a function that is called once from outside, and calls itself in tail position only. It may end in one
//! place, which calls the function that begins the loop.

use crate::core::ir::{Binding, Body, Const, Definition, Item, LambdaId, Program, Rhs, Var};
use crate::core::prim::Prim;
use rustc_hash::{FxHashMap, FxHashSet};

/// Makes loops return in the whole program, inner ones first.
pub fn restore(program: &mut Program) {
    let mut made = FxHashMap::default();
    let bodies = program.lambdas.values().map(|lambda| &lambda.body).chain(program.items.iter().map(Item::body));
    bodies.for_each(|body| count_closures(body, 1, &mut made));
    let mut loops = Loops { program, made, done: FxHashSet::default() };
    for lambda in loops.program.lambdas.ids().collect::<Vec<_>>() {
        loops.treat(lambda);
    }
}

/// Adds how often closures are made in a body, so many times.
fn count_closures(body: &Body, times: i32, made: &mut FxHashMap<LambdaId, i32>) {
    for binding in body.all_bindings() {
        if let Rhs::Closure(lambda, _) = binding.rhs {
            *made.entry(lambda).or_insert(0) += times;
        }
    }
}

/// How often variables are used in a body.
fn uses(body: &Body) -> FxHashMap<Var, usize> {
    let mut uses = FxHashMap::default();
    let operands = body.all_bindings().into_iter().flat_map(|binding| binding.rhs.operands());
    operands.chain(results(body)).for_each(|var| *uses.entry(var).or_insert(0) += 1);
    uses
}

struct Loops<'p> {
    program: &'p mut Program,
    /// In how many places closures of each λ are made.
    made: FxHashMap<LambdaId, i32>,
    done: FxHashSet<LambdaId>,
}

impl Loops<'_> {
    /// Treats the loops that a λ begins, behind those that begin in these.
    fn treat(&mut self, lambda: LambdaId) {
        if !self.done.insert(lambda) {
            return;
        }
        let bindings = self.program.lambdas[lambda].body.all_bindings();
        let inner: Vec<(Var, LambdaId, Vec<Var>)> = bindings
            .into_iter()
            .filter_map(|binding| match &binding.rhs {
                Rhs::Closure(inner, values) if *inner != lambda => Some((binding.var, *inner, values.clone())),
                _ => None,
            })
            .collect();
        inner.iter().for_each(|(_, inner, _)| self.treat(*inner));
        let mut used = uses(&self.program.lambdas[lambda].body);
        for (function, inner, values) in inner {
            // It is made here and for itself, and called here.
            if used.get(&function) != Some(&1) || self.made.get(&inner) != Some(&2) {
                continue;
            }
            if let Some(end) = end(self.program, lambda, function, inner) {
                let bodies = [lambda, inner];
                bodies.iter().for_each(|of| count_closures(&self.program.lambdas[*of].body, -1, &mut self.made));
                end.move_out(self.program, lambda, function, inner, &values);
                bodies.iter().for_each(|of| count_closures(&self.program.lambdas[*of].body, 1, &mut self.made));
                used = uses(&self.program.lambdas[lambda].body);
            }
        }
    }
}

/// Where a loop ends.
struct End {
    /// The branches that lead there: the conditionals, and whether their first branch does.
    path: Vec<(Var, bool)>,
    /// What it needs of the loop.
    needed: Vec<Var>,
    /// What it needs that can be made anywhere.
    remade: Vec<Binding>,
}

/// The end of a loop that a λ begins, if that is to be moved.
fn end(program: &Program, lambda: LambdaId, function: Var, inner: LambdaId) -> Option<End> {
    let begins = |binding: &&Binding| matches!(binding.rhs, Rhs::Apply(called, _) if called == function);
    if program.given.contains_key(&inner) || !program.lambdas[lambda].body.all_bindings().iter().any(begins) {
        return None;
    }
    let body = &program.lambdas[inner].body;
    let is_own = |of: &&Binding| matches!(of.rhs, Rhs::Closure(made, _) if made == inner);
    let own = body.all_bindings().into_iter().find(is_own)?.var;
    let mut ends = Vec::new();
    let mut rounds = 0;
    find_ends(body, own, &mut Vec::new(), &mut ends, &mut rounds);
    let [path] = &ends[..] else { return None };
    if rounds == 0 || uses(body).get(&own) != Some(&rounds) {
        return None;
    }
    let last = at(body, path);
    let within: FxHashSet<Var> = last.all_bindings().iter().map(|binding| binding.var).collect();
    let bound: FxHashMap<Var, &Binding> =
        body.all_bindings().into_iter().filter(|of| !within.contains(&of.var)).map(|of| (of.var, of)).collect();
    let is_around = |var: &Var| {
        let binding = bound.get(var).copied().or_else(|| last.all_bindings().into_iter().find(|of| of.var == *var));
        binding.is_some_and(|binding| match &binding.rhs {
            Rhs::Closure(made, _) => *made == lambda,
            Rhs::Global(global) => program.globals[*global].definition == Definition::Function(lambda),
            _ => false,
        })
    };
    let goes_on = |of: &&Binding| matches!(&of.rhs, Rhs::Apply(called, _) if is_around(called));
    if !last.all_bindings().iter().any(goes_on) {
        return None;
    }
    let captures = &program.lambdas[inner].captures;
    let (mut needed, mut remade, mut seen) = (Vec::new(), Vec::new(), FxHashSet::default());
    let operands = last.all_bindings().into_iter().flat_map(|of| of.rhs.operands());
    for var in operands.chain(results(last)).filter(|var| !within.contains(var) && !captures.contains(var)) {
        if !seen.insert(var) {
            continue;
        }
        match bound.get(&var) {
            Some(binding) if is_remade(&binding.rhs, captures) => remade.push((*binding).clone()),
            _ => needed.push(var),
        }
    }
    Some(End { path: path.clone(), needed, remade })
}

/// Whether a value is as easily made again as returned.
fn is_remade(rhs: &Rhs, captures: &[Var]) -> bool {
    match rhs {
        Rhs::Const(_) | Rhs::Global(_) => true,
        Rhs::Closure(_, values) => values.iter().all(|value| captures.contains(value)),
        _ => false,
    }
}

/// The results of a body and of the branches in it.
fn results(body: &Body) -> Vec<Var> {
    let mut found = vec![body.result];
    for binding in &body.bindings {
        if let Rhs::If(_, yes, no) = &binding.rhs {
            found.extend(results(yes).into_iter().chain(results(no)));
        }
    }
    found
}

/// Finds where a body ends, and how often by a call of the function itself.
fn find_ends(body: &Body, own: Var, path: &mut Vec<(Var, bool)>, ends: &mut Vec<Vec<(Var, bool)>>, rounds: &mut usize) {
    match body.bindings.last().filter(|last| last.var == body.result).map(|last| &last.rhs) {
        Some(Rhs::Apply(called, _)) if *called == own => *rounds += 1,
        Some(Rhs::If(_, yes, no)) => {
            for (branch, is_first) in [(yes, true), (no, false)] {
                path.push((body.result, is_first));
                find_ends(branch, own, path, ends, rounds);
                path.pop();
            }
        }
        _ => ends.push(path.clone()),
    }
}

/// The branch to which a path leads.
fn at<'b>(body: &'b Body, path: &[(Var, bool)]) -> &'b Body {
    let Some(((conditional, is_first), rest)) = path.split_first() else { return body };
    match body.bindings.iter().find(|binding| binding.var == *conditional).map(|binding| &binding.rhs) {
        Some(Rhs::If(_, yes, no)) => at(if *is_first { yes } else { no }, rest),
        _ => unreachable!("the path was found in this body"),
    }
}

/// The same, to be changed.
fn at_mut<'b>(body: &'b mut Body, path: &[(Var, bool)]) -> &'b mut Body {
    let Some(((conditional, is_first), rest)) = path.split_first() else { return body };
    match body.bindings.iter_mut().find(|binding| binding.var == *conditional).map(|binding| &mut binding.rhs) {
        Some(Rhs::If(_, yes, no)) => at_mut(if *is_first { yes } else { no }, rest),
        _ => unreachable!("the path was found in this body"),
    }
}

/// Gives variables other names.
fn rename(body: &mut Body, names: &FxHashMap<Var, Var>) {
    let new = |var: &mut Var| *var = names.get(var).copied().unwrap_or(*var);
    for binding in &mut body.bindings {
        binding.rhs.operands_mut().into_iter().for_each(new);
        if let Rhs::If(_, yes, no) = &mut binding.rhs {
            rename(yes, names);
            rename(no, names);
        }
    }
    new(&mut body.result);
}

impl End {
    /// Moves the end behind the call of the loop.
    fn move_out(self, program: &mut Program, lambda: LambdaId, function: Var, inner: LambdaId, values: &[Var]) {
        let copy = |program: &mut Program, var: Var| {
            let info = program.vars[var].clone();
            program.vars.push(info)
        };
        let captures = program.lambdas[inner].captures.clone();
        let mut names: FxHashMap<Var, Var> = captures.into_iter().zip(values.iter().copied()).collect();
        // What the loop returns.
        let span = program.lambdas[inner].span;
        let mut returned = Body { bindings: Vec::new(), result: Var(0) };
        let mut needed = self.needed.iter().rev().copied();
        let last = needed.next();
        returned.result = last.unwrap_or_else(|| copy(program, program.lambdas[inner].param));
        if last.is_none() {
            returned.bindings.push(Binding { var: returned.result, rhs: Rhs::Const(Const::Nil), span });
        }
        for first in needed {
            let pair = copy(program, first);
            returned.bindings.push(Binding {
                var: pair,
                rhs: Rhs::Prim(Prim::Cons, vec![first, returned.result]),
                span,
            });
            returned.result = pair;
        }
        let result = copy(program, returned.result);
        let mut end = std::mem::replace(at_mut(&mut program.lambdas[inner].body, &self.path), returned);
        // What stands behind the call.
        let mut behind = Vec::new();
        let mut rest = result;
        for (position, var) in self.needed.iter().enumerate() {
            if position + 1 == self.needed.len() {
                names.insert(*var, rest);
                continue;
            }
            let (first, others) = (copy(program, *var), copy(program, *var));
            behind.push(Binding { var: first, rhs: Rhs::Prim(Prim::Car, vec![rest]), span });
            behind.push(Binding { var: others, rhs: Rhs::Prim(Prim::Cdr, vec![rest]), span });
            names.insert(*var, first);
            rest = others;
        }
        for mut binding in self.remade {
            binding.rhs.operands_mut().into_iter().for_each(|operand| *operand = names[operand]);
            let var = copy(program, binding.var);
            names.insert(binding.var, var);
            behind.push(Binding { var, ..binding });
        }
        rename(&mut end, &names);
        behind.append(&mut end.bindings);
        let mut behind = Some((behind, end.result));
        insert(&mut program.lambdas[lambda].body, function, result, &mut behind);
        for of in [inner, lambda] {
            let may_go = |binding: &Binding| matches!(binding.rhs, Rhs::Const(_) | Rhs::Global(_) | Rhs::Closure(..));
            program.lambdas[of].body.drop_unused(&may_go);
        }
        drop_captures(program, lambda, inner);
    }
}

/// Gives the result of the call of a function another name, and puts bindings behind it that make the result of before.
fn insert(body: &mut Body, function: Var, result: Var, behind: &mut Option<(Vec<Binding>, Var)>) {
    let mut position = 0;
    while position < body.bindings.len() {
        let binding = &mut body.bindings[position];
        position += 1;
        match &mut binding.rhs {
            Rhs::If(_, yes, no) => {
                insert(yes, function, result, behind);
                insert(no, function, result, behind);
            }
            Rhs::Apply(called, _) if *called == function => {
                let Some((mut bindings, made)) = behind.take() else { continue };
                let (name, span) = (std::mem::replace(&mut binding.var, result), binding.span);
                // A call in tail position stays in tail position.
                match bindings.last_mut().filter(|last| last.var == made) {
                    Some(last) => last.var = name,
                    None => bindings.push(Binding { var: name, rhs: Rhs::Var(made), span }),
                }
                let count = bindings.len();
                body.bindings.splice(position..position, bindings);
                position += count;
            }
            _ => {}
        }
    }
}

/// Drops captures that a loop only has for its own closure.
fn drop_captures(program: &mut Program, lambda: LambdaId, inner: LambdaId) {
    let code = &program.lambdas[inner];
    let mut used: FxHashSet<Var> = results(&code.body).into_iter().collect();
    for binding in code.body.all_bindings() {
        if !matches!(binding.rhs, Rhs::Closure(made, _) if made == inner) {
            used.extend(binding.rhs.operands());
        }
    }
    let kept: Vec<bool> = code.captures.iter().map(|capture| used.contains(capture)).collect();
    let retain = |vars: &mut Vec<Var>| {
        let mut kept = kept.iter();
        vars.retain(|_| *kept.next().expect("a value for each capture"));
    };
    retain(&mut program.lambdas[inner].captures);
    for of in [lambda, inner] {
        retain_values(&mut program.lambdas[of].body, inner, &retain);
    }
}

fn retain_values(body: &mut Body, inner: LambdaId, retain: &impl Fn(&mut Vec<Var>)) {
    for binding in &mut body.bindings {
        match &mut binding.rhs {
            Rhs::Closure(made, values) if *made == inner => retain(values),
            Rhs::If(_, yes, no) => {
                retain_values(yes, inner, retain);
                retain_values(no, inner, retain);
            }
            _ => {}
        }
    }
}
