//! Transforms as terms: what is printed and simplified.
//!
//! Core code is a sequence of operations that each have a name; a [`Term`] may also nest, as people write. Each name is
//! bound once in a term, so a part may be moved wherever what it mentions is in scope.

use crate::core::prim::Prim;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A local name of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub u32);

/// How names are called, before those that clash are told apart.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<Rc<str>>);

impl Names {
    /// A new name that is called so.
    pub fn fresh(&mut self, called: &str) -> Name {
        self.0.push(Rc::from(called));
        Name(u32::try_from(self.0.len() - 1).expect("terms are small"))
    }
    /// How a name is called.
    pub fn called(&self, name: Name) -> Rc<str> {
        self.0[name.0 as usize].clone()
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    Name(Name),
    /// A top-level name.
    Global(Rc<str>),
    Number(f64),
    /// The zero of a number, to which sums add nothing.
    Zero,
    Bool(bool),
    Nil,
    Text(Rc<str>),
    Prim(Prim, Vec<Term>),
    /// A vector of these elements.
    Vector(Vec<Term>),
    Apply(Box<Term>, Box<Term>),
    Lambda(Pattern, Box<Term>),
    If(Box<Term>, Box<Term>, Box<Term>),
    /// Steps in order, and the value.
    Block(Vec<Step>, Box<Term>),
}

/// What stands before the value of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Let(Name, Term),
    /// Functions that refer to each other.
    Letrec(Vec<(Name, Term)>),
    /// Takes a value apart; fails if it does not fit.
    Take(Pattern, Term),
}

/// What is bound or demanded.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    Name(Name),
    Any,
    Nil,
    Pair(Box<Pattern>, Box<Pattern>),
    /// A vector of so many elements.
    Vector(u32),
}

impl Pattern {
    /// The names that it binds.
    pub fn names(&self, found: &mut Vec<Name>) {
        match self {
            Pattern::Name(name) => found.push(*name),
            Pattern::Pair(first, second) => {
                first.names(found);
                second.names(found);
            }
            Pattern::Any | Pattern::Nil | Pattern::Vector(_) => {}
        }
    }
}

impl Term {
    /// A call of a primitive.
    pub fn prim(prim: Prim, operands: impl Into<Vec<Term>>) -> Term {
        Term::Prim(prim, operands.into())
    }
    /// A call of a function.
    pub fn apply(function: Term, argument: Term) -> Term {
        Term::Apply(Box::new(function), Box::new(argument))
    }
    /// Steps and a value.
    pub fn block(steps: Vec<Step>, value: Term) -> Term {
        if steps.is_empty() { value } else { Term::Block(steps, Box::new(value)) }
    }
    /// True for what may be repeated without repeating work.
    pub fn is_atom(&self) -> bool {
        match self {
            Term::Prim(Prim::J, operands) => !matches!(operands[0], Term::Name(_)) && operands[0].is_atom(),
            Term::Name(_) | Term::Global(_) | Term::Number(_) | Term::Zero => true,
            Term::Bool(_) | Term::Nil | Term::Text(_) => true,
            _ => false,
        }
    }
    /// True for what has no effect and ends: it may be dropped if nobody needs it. (It may fail, on data of a wrong
    /// shape.)
    pub fn is_pure(&self) -> bool {
        match self {
            Term::Prim(prim, operands) => !prim.has_effect() && operands.iter().all(Term::is_pure),
            Term::Vector(elements) => elements.iter().all(Term::is_pure),
            Term::If(condition, yes, no) => condition.is_pure() && yes.is_pure() && no.is_pure(),
            Term::Block(steps, value) => value.is_pure() && steps.iter().all(Step::is_pure),
            Term::Apply(..) => false,
            _ => true,
        }
    }
    /// The number of its parts.
    pub fn size(&self) -> usize {
        let mut size = 1;
        self.parts(&mut |part| size += part.size());
        size
    }
    /// Calls `visit` for each direct part.
    pub fn parts(&self, visit: &mut impl FnMut(&Term)) {
        match self {
            Term::Prim(_, operands) | Term::Vector(operands) => operands.iter().for_each(visit),
            Term::Apply(function, argument) => {
                visit(function);
                visit(argument);
            }
            Term::Lambda(_, body) => visit(body),
            Term::If(condition, yes, no) => {
                visit(condition);
                visit(yes);
                visit(no);
            }
            Term::Block(steps, value) => {
                for step in steps {
                    step.parts(visit);
                }
                visit(value);
            }
            _ => {}
        }
    }
    /// Rewrites each direct part.
    pub fn map(self, rewrite: &mut impl FnMut(Term) -> Term) -> Term {
        match self {
            Term::Prim(prim, operands) => Term::Prim(prim, operands.into_iter().map(rewrite).collect()),
            Term::Vector(elements) => Term::Vector(elements.into_iter().map(rewrite).collect()),
            Term::Apply(function, argument) => {
                let function = rewrite(*function);
                Term::apply(function, rewrite(*argument))
            }
            Term::Lambda(pattern, body) => Term::Lambda(pattern, Box::new(rewrite(*body))),
            Term::If(condition, yes, no) => {
                let condition = rewrite(*condition);
                let yes = rewrite(*yes);
                Term::If(Box::new(condition), Box::new(yes), Box::new(rewrite(*no)))
            }
            Term::Block(steps, value) => {
                let steps = steps.into_iter().map(|step| step.map(rewrite)).collect();
                Term::Block(steps, Box::new(rewrite(*value)))
            }
            atom => atom,
        }
    }
    /// A copy whose own names are new.
    pub fn renamed(&self, names: &mut Names) -> Term {
        let mut map = FxHashMap::default();
        self.bound(&mut |name| {
            map.insert(name, names.fresh(&names.called(name)));
        });
        self.clone().rename(&map)
    }
    fn bound(&self, visit: &mut impl FnMut(Name)) {
        let mut found = Vec::new();
        if let Term::Lambda(pattern, _) = self {
            pattern.names(&mut found);
        }
        if let Term::Block(steps, _) = self {
            for step in steps {
                match step {
                    Step::Let(name, _) => found.push(*name),
                    Step::Letrec(functions) => found.extend(functions.iter().map(|function| function.0)),
                    Step::Take(pattern, _) => pattern.names(&mut found),
                }
            }
        }
        found.into_iter().for_each(&mut *visit);
        self.parts(&mut |part| part.bound(visit));
    }
    fn rename(self, map: &FxHashMap<Name, Name>) -> Term {
        let new = |name: Name| map.get(&name).copied().unwrap_or(name);
        match self {
            Term::Name(name) => Term::Name(new(name)),
            Term::Lambda(pattern, body) => Term::Lambda(pattern.rename(map), Box::new(body.rename(map))),
            Term::Block(steps, value) => {
                let steps = steps.into_iter().map(|step| match step {
                    Step::Let(name, term) => Step::Let(new(name), term.rename(map)),
                    Step::Letrec(functions) => {
                        let functions = functions.into_iter();
                        Step::Letrec(functions.map(|(name, term)| (new(name), term.rename(map))).collect())
                    }
                    Step::Take(pattern, term) => Step::Take(pattern.rename(map), term.rename(map)),
                });
                Term::Block(steps.collect(), Box::new(value.rename(map)))
            }
            other => other.map(&mut |part| part.rename(map)),
        }
    }
}

impl Pattern {
    fn rename(self, map: &FxHashMap<Name, Name>) -> Pattern {
        match self {
            Pattern::Name(name) => Pattern::Name(map.get(&name).copied().unwrap_or(name)),
            Pattern::Pair(first, second) => Pattern::Pair(Box::new(first.rename(map)), Box::new(second.rename(map))),
            other => other,
        }
    }
}

impl Step {
    fn is_pure(&self) -> bool {
        match self {
            Step::Let(_, term) => term.is_pure(),
            Step::Letrec(_) => true,
            Step::Take(..) => false,
        }
    }
    fn parts(&self, visit: &mut impl FnMut(&Term)) {
        match self {
            Step::Let(_, term) | Step::Take(_, term) => visit(term),
            Step::Letrec(functions) => functions.iter().for_each(|(_, function)| visit(function)),
        }
    }
    fn map(self, rewrite: &mut impl FnMut(Term) -> Term) -> Step {
        match self {
            Step::Let(name, term) => Step::Let(name, rewrite(term)),
            Step::Take(pattern, term) => Step::Take(pattern, rewrite(term)),
            Step::Letrec(functions) => {
                Step::Letrec(functions.into_iter().map(|(name, term)| (name, rewrite(term))).collect())
            }
        }
    }
}

/// How often each name is used, and whether somewhere in a function that is made after it was bound.
#[derive(Default)]
pub struct Uses {
    counts: FxHashMap<Name, (usize, bool)>,
    /// In how many functions each name is bound.
    depths: FxHashMap<Name, usize>,
    depth: usize,
}

impl Uses {
    /// Those in a term.
    pub fn of(term: &Term) -> Uses {
        let mut uses = Uses::default();
        uses.term(term);
        uses
    }
    /// How often a name is used.
    pub fn count(&self, name: Name) -> usize {
        self.counts.get(&name).map_or(0, |use_| use_.0)
    }
    /// Whether it is used in a function that is made after it was bound.
    pub fn is_captured(&self, name: Name) -> bool {
        self.counts.get(&name).is_some_and(|use_| use_.1)
    }
    fn term(&mut self, term: &Term) {
        match term {
            Term::Name(name) => {
                let captured = self.depths.get(name).is_some_and(|depth| *depth < self.depth);
                let entry = self.counts.entry(*name).or_default();
                *entry = (entry.0 + 1, entry.1 || captured);
            }
            Term::Lambda(pattern, body) => {
                self.depth += 1;
                self.bind(pattern);
                self.term(body);
                self.depth -= 1;
            }
            Term::Block(steps, value) => {
                for step in steps {
                    match step {
                        Step::Let(name, term) => {
                            self.term(term);
                            self.depths.insert(*name, self.depth);
                        }
                        Step::Letrec(functions) => {
                            self.depths.extend(functions.iter().map(|function| (function.0, self.depth)));
                            functions.iter().for_each(|function| self.term(&function.1));
                        }
                        Step::Take(pattern, term) => {
                            self.term(term);
                            self.bind(pattern);
                        }
                    }
                }
                self.term(value);
            }
            other => other.parts(&mut |part| self.term(part)),
        }
    }
    fn bind(&mut self, pattern: &Pattern) {
        let mut names = Vec::new();
        pattern.names(&mut names);
        self.depths.extend(names.into_iter().map(|name| (name, self.depth)));
    }
}
