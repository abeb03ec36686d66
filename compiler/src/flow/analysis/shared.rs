//! What data share.
//!
//! Closures, pairs and records may be many that hold the same vector: views of it. What is read of one of them are a
//! few elements. So the zero of a vector that is shared stays folded: the sum of its sensitivity begins with a folded
//! zero, however many calls and loops there are between the view and the read, and costs what is added to it. Sums of
//! what is not shared begin with plain zeros, and are plain vectors in loops.
//!
//! Shared is what
//!
//! - a closure has captured that has been read from data ([`Site::Data`]);
//! - a pair or record holds that has been read from data, if some function puts vectors of that shape into such data
//!   that were there before it was called ([`Analyzer::note_stored`]);
//! - a call gives in a closure, a pair or a record, if it was there before the call, but not the state of a loop that
//!   each round makes anew: to make it costs as much as a sum of its own;
//! - an argument holds for the second time, since the sum of a vector is handed on to a call once; but not what the
//!   body has made itself, or its caller for this call alone, nor what the function asks the length of: a sum of its
//!   own costs no more than to make it, or to read it as a whole;
//!
//! and what a body makes of that: closures that capture it, functions that it is handed to.
//!
//! Backpropagators are in data wherever there is a tape; their captures are numbers and zeros, not what the program
//! shares. But given ones, such as that of a checkpoint, capture what the program does. So in the derivative of a
//! reverse phase, where captures have sensitivities, a function that a backpropagator calls and that is none itself is
//! on the tape: what the functions in its environment have captured is shared. Vectors in its environment are its own,
//! such as the state of a loop.

use super::{Analyzer, Facts, Key};
use crate::ad::tower::Transformation;
use crate::core::ir::{Binding, LambdaId, Origin, Part, Rhs, Var};
use crate::core::prim::{Family, Prim};
use crate::shape::lattice::{Alternative, Code, Head, Shape, Site};
use crate::shape::operators::is_number;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Nested pairs have marks so deep.
const DEPTH: usize = 8;

/// Which parts of a value are shared.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Shared {
    #[default]
    Nothing,
    All,
    /// What the functions in it have captured.
    OfFunctions,
    /// Parts of the two parts of a pair, such as several arguments are.
    Parts(Rc<[Shared; 2]>),
    /// Parts of what a closure has captured, one by one.
    Captures(Rc<[Shared]>),
}

impl Shared {
    fn pair(parts: [Shared; 2]) -> Shared {
        match parts {
            [Shared::Nothing, Shared::Nothing] => Shared::Nothing,
            parts => Shared::Parts(Rc::new(parts)).if_not_too_deep(),
        }
    }

    fn captures(parts: impl Iterator<Item = Shared>) -> Shared {
        let parts: Rc<[Shared]> = parts.collect();
        match parts.iter().all(|part| *part == Shared::Nothing) {
            true => Shared::Nothing,
            false => Shared::Captures(parts).if_not_too_deep(),
        }
    }

    fn if_not_too_deep(self) -> Shared {
        if self.depth() > DEPTH { Shared::Nothing } else { self }
    }

    fn depth(&self) -> usize {
        let parts: &[Shared] = match self {
            Shared::Nothing | Shared::All | Shared::OfFunctions => return 0,
            Shared::Parts(parts) => &**parts,
            Shared::Captures(parts) => parts,
        };
        1 + parts.iter().map(Shared::depth).max().unwrap_or(0)
    }

    /// What is shared of one or the other.
    pub(super) fn join(self, other: Shared) -> Shared {
        match (self, other) {
            (Shared::Nothing, one) | (one, Shared::Nothing) => one,
            (Shared::OfFunctions, Shared::OfFunctions) => Shared::OfFunctions,
            (Shared::Parts(a), Shared::Parts(b)) => {
                Shared::pair([0, 1].map(|part| a[part].clone().join(b[part].clone())))
            }
            (Shared::Captures(a), Shared::Captures(b)) if a.len() == b.len() => {
                Shared::captures(a.iter().zip(b.iter()).map(|(a, b)| a.clone().join(b.clone())))
            }
            _ => Shared::All,
        }
    }

    /// What is shared of both.
    pub(super) fn meet(self, other: Shared) -> Shared {
        match (self, other) {
            (Shared::All, one) | (one, Shared::All) => one,
            (Shared::Parts(a), Shared::Parts(b)) => {
                Shared::pair([0, 1].map(|part| a[part].clone().meet(b[part].clone())))
            }
            (one, other) if one == other => one,
            _ => Shared::Nothing,
        }
    }

    /// What is shared of all that have been met so far, and of one more.
    pub(super) fn met(all: Option<Shared>, one: Shared) -> Option<Shared> {
        Some(match all {
            Some(all) => all.meet(one),
            None => one,
        })
    }

    /// Whether all of this is among other parts.
    pub(super) fn is_within(&self, others: &Shared) -> bool {
        match (self, others) {
            (Shared::Nothing, _) | (_, Shared::All) => true,
            (Shared::Parts(a), Shared::Parts(b)) => a.iter().zip(b.iter()).all(|(a, b)| a.is_within(b)),
            _ => false,
        }
    }

    /// What is shared of a part of a pair.
    fn part(&self, index: usize) -> Shared {
        match self {
            Shared::Nothing | Shared::All | Shared::OfFunctions => self.clone(),
            Shared::Parts(parts) => parts[index].clone(),
            Shared::Captures(_) => Shared::Nothing,
        }
    }

    /// What is shared of each of so many variables that a closure has captured.
    fn of_captures(&self, number: usize) -> Vec<Shared> {
        match self {
            Shared::Captures(parts) if parts.len() == number => parts.to_vec(),
            Shared::Captures(_) => vec![Shared::All; number],
            Shared::Parts(_) => vec![Shared::Nothing; number],
            Shared::Nothing | Shared::All | Shared::OfFunctions => vec![self.clone(); number],
        }
    }
}

/// What a variable is made of.
#[derive(Clone, Debug)]
pub(super) enum Made {
    Copy(Var),
    Pair([Var; 2]),
    Closure(Rc<[Var]>),
}

impl Facts {
    /// What is shared of the value of a variable.
    pub(super) fn shared_of(&self, x: Var) -> Shared {
        self.shared.get(&x).cloned().unwrap_or_default()
    }

    /// What is shared of the value of a variable where it is returned.
    pub(super) fn shared_outside(&self, x: Var) -> Shared {
        self.outside.get(&x).cloned().unwrap_or_default().join(self.shared_of(x))
    }

    /// Lets a variable hold that.
    pub(super) fn hold(&mut self, x: Var, shared: Shared) {
        if shared != Shared::Nothing {
            self.shared.insert(x, shared);
        }
    }

    /// Which parts of the value of a variable the body has made.
    pub(super) fn new_of(&self, x: Var) -> Shared {
        self.new.get(&x).cloned().unwrap_or_default()
    }

    /// Notes that the body has made these parts of the value of a variable.
    pub(super) fn note_new(&mut self, x: Var, parts: Shared) {
        if parts != Shared::Nothing {
            self.new.insert(x, parts);
        }
    }

    /// Notes what a binding makes, unless it is a call or a conditional.
    fn note_made(&mut self, binding: &Binding) {
        let parts = match &binding.rhs {
            Rhs::Var(y) => self.new_of(*y),
            Rhs::Destructure(Part::Car, y) => self.new_of(*y).part(0),
            Rhs::Destructure(Part::Cdr, y) => self.new_of(*y).part(1),
            Rhs::Prim(prim, args) | Rhs::Lifted(_, prim, args) => match prim {
                Prim::Finish => Shared::All,
                Prim::Cons => Shared::pair([0, 1].map(|part| self.new_of(args[part]))),
                Prim::Car => self.new_of(args[0]).part(0),
                Prim::Cdr => self.new_of(args[0]).part(1),
                Prim::J | Prim::Primal => self.new_of(args[0]),
                prim if prim.family() == Family::Kernel => Shared::All,
                _ => return,
            },
            _ => return,
        };
        self.note_new(binding.var, parts);
    }

    /// Notes what a primitive asks the length of: kernels read all of their arguments.
    fn note_measured(&mut self, binding: &Binding) {
        let (Rhs::Prim(prim, args) | Rhs::Lifted(_, prim, args)) = &binding.rhs else { return };
        if *prim == Prim::VectorLength || prim.family() == Family::Kernel {
            args.iter().for_each(|arg| self.measure(*arg, &Shared::All));
        }
    }

    /// Lets a variable hold that where it is returned.
    fn hold_outside(&mut self, x: Var, shared: Shared) {
        if shared != Shared::Nothing {
            self.outside.insert(x, shared);
        }
    }

    /// Leaves out what nobody asks for once the body has been looked at.
    pub(super) fn forget_shared(&mut self) {
        (self.shared, self.outside, self.new, self.old, self.renewed, self.made) = Default::default();
        (self.paths, self.measures) = Default::default();
    }

    /// Begins with what the captures of a λ and its parameter hold.
    pub(super) fn begin_with(&mut self, captures: &[Var], param: Var, key: &Key, renewed: &Shared) {
        let [captured, argument] = &key.shared;
        for (x, shared) in captures.iter().zip(captured.of_captures(captures.len())) {
            self.hold(*x, shared);
        }
        self.hold(param, argument.clone());
        self.note_new(param, key.new.clone());
        self.old.extend(captures.iter().copied().chain([param]));
        self.renewed.insert(param, renewed.clone());
        self.paths.insert(param, Vec::new());
    }

    /// Notes that somebody asks how long these parts of the value of a variable are.
    pub(super) fn measure(&mut self, x: Var, parts: &Shared) {
        if *parts == Shared::Nothing {
            return;
        }
        match self.made.get(&x).cloned() {
            Some(Made::Copy(of)) => self.measure(of, parts),
            Some(Made::Pair(of)) => of.into_iter().enumerate().for_each(|(i, of)| self.measure(of, &parts.part(i))),
            Some(Made::Closure(_)) => {}
            None => {
                let Some(path) = self.paths.get(&x) else { return };
                let measured = path.iter().rev().fold(parts.clone(), |part, position| {
                    let mut parts = [Shared::Nothing, Shared::Nothing];
                    parts[*position] = part;
                    Shared::pair(parts)
                });
                self.measures = std::mem::take(&mut self.measures).join(measured);
            }
        }
    }

    /// Notes which part of the argument a variable holds that holds a part of another one, or all of it.
    fn note_path(&mut self, x: Var, of: Var, part: Option<usize>) {
        if let Some(path) = self.paths.get(&of).filter(|path| path.len() < DEPTH) {
            let path = path.iter().copied().chain(part).collect();
            self.paths.insert(x, path);
        }
    }

    /// Notes that a variable holds another one that was there before the function was called, or a part of it, unless
    /// that is made anew in each round.
    fn note_old(&mut self, x: Var, of: Var, part: Option<usize>) {
        if !self.old.contains(&of) {
            return;
        }
        let renewed = self.renewed.get(&of).cloned().unwrap_or_default();
        let renewed = part.map_or(renewed.clone(), |part| renewed.part(part));
        if renewed != Shared::All {
            self.old.insert(x);
        }
        self.renewed.insert(x, renewed);
    }
}

impl Analyzer<'_> {
    /// Notes what is shared of the value of a variable.
    pub(super) fn share(&mut self, binding: &Binding, shape: Shape, facts: &mut Facts) {
        let x = binding.var;
        facts.note_made(binding);
        facts.note_measured(binding);
        if let Rhs::Var(y) = &binding.rhs {
            facts.made.insert(x, Made::Copy(*y));
        }
        let (of, part) = match &binding.rhs {
            Rhs::Var(y) | Rhs::Destructure(Part::Record(_), y) => (*y, None),
            Rhs::Destructure(Part::Car, y) => (*y, Some(0)),
            Rhs::Destructure(Part::Cdr, y) => (*y, Some(1)),
            Rhs::Prim(prim, args) | Rhs::Lifted(_, prim, args) => match prim {
                Prim::J | Prim::JInverse | Prim::JStar | Prim::Primal | Prim::Zero | Prim::RecordParts => {
                    (args[0], None)
                }
                Prim::Record => (args[1], None),
                Prim::Car | Prim::VectorRef => (args[0], Some(0)),
                Prim::Cdr => (args[0], Some(1)),
                Prim::Cons => {
                    facts.made.insert(x, Made::Pair([args[0], args[1]]));
                    facts.hold(x, Shared::pair([0, 1].map(|part| facts.shared_of(args[part]))));
                    if self.is_in_reverse_phase() {
                        return;
                    }
                    let outside = [0, 1].map(|part| self.shared_in(args[part], facts));
                    facts.hold_outside(x, Shared::pair(outside));
                    for [part, other] in [[0, 1], [1, 0]] {
                        if self.result.shapes.is_recursive(facts.shapes[&args[other]]) {
                            self.note_stored(args[part], facts);
                        }
                    }
                    return;
                }
                Prim::Fill => return self.note_stored(args[1], facts),
                _ => return,
            },
            Rhs::Closure(lambda, captured) if !self.is_backpropagator(self.codes.code(*lambda)) => {
                facts.made.insert(x, Made::Closure(captured.iter().copied().collect()));
                facts.hold(x, Shared::captures(captured.iter().map(|y| facts.shared_of(*y))));
                if !self.is_in_reverse_phase() {
                    let outside = Shared::captures(captured.iter().map(|y| self.shared_in(*y, facts)));
                    facts.hold_outside(x, outside);
                }
                return;
            }
            Rhs::If(_, then, other) => {
                facts.hold(x, facts.shared_of(then.result).join(facts.shared_of(other.result)));
                facts.hold_outside(x, facts.shared_outside(then.result).join(facts.shared_outside(other.result)));
                return;
            }
            _ => return,
        };
        facts.note_old(x, of, part);
        if !matches!(&binding.rhs, Rhs::Prim(Prim::VectorRef, _) | Rhs::Lifted(_, Prim::VectorRef, _)) {
            facts.note_path(x, of, part);
        }
        let of_part = |shared: Shared| if let Some(part) = part { shared.part(part) } else { shared };
        facts.hold_outside(x, of_part(facts.shared_outside(of)));
        let is_read = matches!(&binding.rhs, Rhs::Prim(Prim::VectorRef, _) | Rhs::Lifted(_, Prim::VectorRef, _))
            || part == Some(0) && self.result.shapes.is_recursive(facts.shapes[&of]);
        let shared = of_part(facts.shared_of(of));
        facts.hold(x, if is_read { shared.join(self.shared_by_data(shape)) } else { shared });
    }

    /// Notes what an element of data shares with others: vectors that were there before the function was called that
    /// made its pairs and records.
    fn note_stored(&mut self, x: Var, facts: &Facts) {
        let (shape, shared) = (facts.shapes[&x], facts.shared_outside(x));
        if matches!(shared, Shared::Parts(_)) {
            self.note_parts(shape, &shared);
        }
    }

    fn note_parts(&mut self, shape: Shape, shared: &Shared) {
        for of in self.result.shapes.alternatives(shape).iter() {
            match (of.head, shared) {
                (Head::Vector, Shared::All) => drop(self.stored.insert(shape)),
                (Head::Pair(None) | Head::Record(_), Shared::Parts(parts)) => {
                    of.children.iter().zip(parts.iter()).for_each(|(part, shared)| self.note_parts(*part, shared));
                }
                (Head::Pair(None) | Head::Record(_), Shared::All) if !self.result.shapes.is_recursive(shape) => {
                    of.children.iter().for_each(|part| self.note_parts(*part, &Shared::All));
                }
                _ => {}
            }
        }
    }

    /// What a value that has been read from data shares with others there.
    fn shared_by_data(&self, shape: Shape) -> Shared {
        if self.stored.is_empty() || !self.holds_vectors(shape) {
            return Shared::Nothing;
        }
        match self.result.shapes.single(shape) {
            Some(Alternative { head: Head::Pair(None) | Head::Record(_), children })
                if !self.result.shapes.is_recursive(shape) =>
            {
                let part =
                    |part: Shape| if self.stored.contains(&part) { Shared::All } else { self.shared_by_data(part) };
                Shared::pair([part(children[0]), part(children[1])])
            }
            _ => Shared::Nothing,
        }
    }

    /// Whether the function at hand is made of a backpropagator: what it returns are sums.
    fn is_in_reverse_phase(&self) -> bool {
        self.frames.last().and_then(|frame| frame.code).is_some_and(|code| self.is_backpropagator(code))
    }

    /// Notes what the function at hand hands to itself, if this is a call of it.
    pub(super) fn note_recursion(&mut self, call: &Key) {
        let frame = self.frame();
        if frame.key.as_ref().is_some_and(|key| key.lambda == call.lambda) {
            frame.renews = Shared::met(frame.renews.take(), call.new.clone());
        }
    }

    /// What is shared of a variable in a pair or a closure that a function returns: vectors that were there before the
    /// function was called may be in others, too.
    fn shared_in(&self, x: Var, facts: &Facts) -> Shared {
        if facts.old.contains(&x) && self.holds_vectors(facts.shapes[&x]) {
            Shared::All
        } else {
            facts.shared_outside(x)
        }
    }

    /// What is in an operand for the second time, or in the function, too: the sum of its sensitivity is handed on to
    /// the call once.
    pub(super) fn twice_in_operand(&self, function: Var, operand: Var, facts: &Facts) -> Shared {
        let mut seen = FxHashSet::default();
        self.in_it_twice(function, facts, &mut seen, DEPTH);
        self.in_it_twice(operand, facts, &mut seen, DEPTH)
    }

    /// What has been seen of the value of a variable.
    fn in_it_twice(&self, x: Var, facts: &Facts, seen: &mut FxHashSet<Var>, depth: usize) -> Shared {
        if depth == 0 {
            return Shared::Nothing;
        }
        let mut part = |part: Var| self.in_it_twice(part, facts, seen, depth - 1);
        match facts.made.get(&x) {
            Some(Made::Copy(of)) => part(*of),
            Some(Made::Pair(parts)) => Shared::pair(parts.map(part)),
            Some(Made::Closure(captured)) => Shared::captures(captured.iter().map(|x| part(*x))),
            None if facts.new_of(x) == Shared::All => Shared::Nothing,
            None if self.holds_vectors(facts.shapes[&x]) && !seen.insert(x) => Shared::All,
            None => Shared::Nothing,
        }
    }

    /// Whether a value that is no recursive data is a vector, or has some in its pairs and records.
    fn holds_vectors(&self, shape: Shape) -> bool {
        if let Some(known) = self.holding.borrow().get(&shape) {
            return *known;
        }
        let shapes = &self.result.shapes;
        let holds = !shapes.is_recursive(shape)
            && shapes.alternatives(shape).iter().any(|of| match of.head {
                Head::Vector => true,
                Head::Pair(None) | Head::Record(_) => of.children.iter().any(|part| self.holds_vectors(*part)),
                _ => false,
            });
        self.holding.borrow_mut().insert(shape, holds);
        holds
    }

    /// Where a closure is that a body makes: in data, if it captures more than numbers, and all of that is shared.
    pub(super) fn site_of_closure(&self, lambda: LambdaId, captured: &[Var], facts: &Facts) -> Site {
        if self.is_backpropagator(self.codes.code(lambda)) {
            return Site::Value;
        }
        let is_number = |x: &Var| self.result.shapes.alternatives(facts.shapes[x]).iter().all(|of| is_number(of.head));
        let mut others = captured.iter().filter(|x| !is_number(x)).peekable();
        let is_data = others.peek().is_some() && others.all(|x| facts.shared_of(*x) == Shared::All);
        if is_data { Site::Data } else { Site::Value }
    }

    /// What is shared of the environment and the argument of a call. A closure of recursive data has been read from
    /// these, whatever it was read by.
    pub(super) fn shared_by_call(&self, function: Var, site: Site, argument: Shared, facts: &Facts) -> [Shared; 2] {
        let caller = self.frames.last().and_then(|frame| frame.code);
        let is_on_tape = caller.is_some_and(|caller| self.is_derived(caller) && is_differentiated(caller));
        let is_data = site == Site::Data
            || self.result.shapes.is_recursive(facts.shapes[&function])
            || matches!(facts.shared_of(function), Shared::All | Shared::OfFunctions);
        let captured = match (facts.shared_of(function), is_on_tape) {
            (shared @ Shared::Captures(_), _) if site == Site::Value => shared,
            _ if is_data => Shared::All,
            (_, true) => Shared::OfFunctions,
            (_, false) => Shared::Nothing,
        };
        [captured, argument]
    }

    /// Whether what is captured and handed over in calls of the code has sensitivities that this code adds up.
    pub(super) fn has_sensitivities(&self, code: Code) -> bool {
        is_differentiated(code) && !self.is_derived(code)
    }

    /// Whether the code is that of a backpropagator or transformed from it.
    fn is_backpropagator(&self, code: Code) -> bool {
        matches!(self.codes.program.lambdas[code.base].origin, Origin::Backpropagator(..) | Origin::Adding(_))
    }

    /// The same of one that no program and no library gives.
    fn is_derived(&self, code: Code) -> bool {
        let origin = |lambda: LambdaId| self.codes.program.lambdas[lambda].origin;
        match origin(code.base) {
            Origin::Adding(of) => matches!(origin(of), Origin::Backpropagator(..)),
            origin => matches!(origin, Origin::Backpropagator(..)),
        }
    }

    /// The zero of what is in a variable; its vectors that are shared are folded and marked.
    pub(super) fn zero_of(&mut self, x: Var, zero: Shape, facts: &Facts) -> Shape {
        self.with_folded(zero, &facts.shared_of(x))
    }

    fn with_folded(&mut self, zero: Shape, shared: &Shared) -> Shape {
        let parts = match shared {
            Shared::Nothing | Shared::OfFunctions => return zero,
            Shared::All => return self.result.shapes.zero_of_capture(zero, Site::Data),
            Shared::Parts(parts) => (**parts).clone(),
            // The zero of an environment is a list.
            Shared::Captures(parts) => match parts.split_first() {
                Some((first, rest)) => [first.clone(), Shared::Captures(rest.into())],
                None => return zero,
            },
        };
        let is_environment = matches!(shared, Shared::Captures(_));
        let Some(Alternative { head, children }) = self.result.shapes.single(zero) else { return zero };
        if !matches!(head, Head::Pair(code) if code.is_none() || is_environment) && !matches!(head, Head::Record(_)) {
            return zero;
        }
        let children = [0, 1].map(|part| self.with_folded(children[part], &parts[part]));
        self.result.shapes.make(head, &children)
    }
}

/// Whether the code is a transform in reverse mode.
fn is_differentiated(code: Code) -> bool {
    code.tower.transformations().contains(&Transformation::Reverse)
}
