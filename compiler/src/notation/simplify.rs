//! Terms → the same, simpler: what one does by hand after applying the rules.
//!
//! Functions that are known are called where they stand, parts of pairs that are known are taken, `*j-inverse` undoes
//! `*j`, sums leave zeros out, products ones; what nobody needs goes, and what is used once stands where it is used.
//! Nothing here changes a number that the term computes, but the sign of a zero: sums are not reordered.
//!
//! [`tidy`] does only what does not change the operations: the transform as it comes from the rules, with parameter
//! lists and calls as they are written.

use super::term::{Name, Names, Pattern, Step, Term, Uses};
use crate::core::prim::{Family, Prim};
use rustc_hash::{FxHashMap, FxHashSet};

/// Rounds of simplification; each needs the one before to have changed something.
const ROUNDS: usize = 60;
/// What is larger keeps its name.
const LARGEST_PART: usize = 12;
/// How often what follows a choice may be repeated in its branches, and how large it may be.
const CHOICES: usize = 12;
const LARGEST_REST: usize = 150;

/// A transform with names for each operation.
pub fn tidy(term: Term, names: &mut Names) -> Term {
    rounds(term, names, false)
}

/// A transform that does what it has to.
pub fn simplify(term: Term, names: &mut Names) -> Term {
    rounds(term, names, true)
}

fn rounds(mut term: Term, names: &mut Names, full: bool) -> Term {
    let mut choices = CHOICES;
    for _ in 0..ROUNDS {
        let before = term.clone();
        let uses = Uses::of(&term);
        term = with_patterns(term, &uses);
        let uses = Uses::of(&term);
        let projected = projected(&term);
        let mut captured = FxHashSet::default();
        pinned(&term, &mut captured);
        let (substitutions, known, parts, primals, real) = Default::default();
        let mut round = Round {
            full,
            names,
            uses,
            projected,
            pinned: captured,
            substitutions,
            known,
            parts,
            primals,
            real,
            choices: &mut choices,
        };
        term = round.term(term);
        if term == before {
            break;
        }
    }
    term
}

/// Lets steps take what they compute apart, where only its parts are used: `(↼x . x̃) = (↼f ↼a)`.
pub fn with_parts(term: Term) -> Term {
    let uses = Uses::of(&term);
    parts_taken(term, &uses)
}

fn parts_taken(term: Term, uses: &Uses) -> Term {
    let term = term.map(&mut |part| parts_taken(part, uses));
    let Term::Block(mut steps, value) = term else { return term };
    let mut at = 0;
    while at < steps.len() {
        if let Step::Let(name, _) = &steps[at] {
            let mut pattern = Pattern::Name(*name);
            let mut rest = steps.split_off(at + 1);
            while take_apart(&mut pattern, &mut rest, uses) {}
            if !matches!(pattern, Pattern::Name(_))
                && let Some(Step::Let(_, term)) = steps.pop()
            {
                steps.push(Step::Take(pattern, term));
            }
            steps.extend(rest);
        }
        at += 1;
    }
    Term::Block(steps, value)
}

/// Lets parameter lists take their arguments apart, where functions begin with that.
fn with_patterns(term: Term, uses: &Uses) -> Term {
    let term = term.map(&mut |part| with_patterns(part, uses));
    let Term::Lambda(mut pattern, body) = term else { return term };
    let Term::Block(mut steps, value) = *body else { return Term::Lambda(pattern, body) };
    while take_apart(&mut pattern, &mut steps, uses) {}
    Term::Lambda(pattern, Box::new(Term::block(steps, *value)))
}

/// Moves what takes a name of the pattern apart from the steps into the pattern; false if there is nothing to move.
fn take_apart(pattern: &mut Pattern, steps: &mut Vec<Step>, uses: &Uses) -> bool {
    let name = match pattern {
        Pattern::Pair(first, second) => return take_apart(first, steps, uses) || take_apart(second, steps, uses),
        Pattern::Name(name) => *name,
        _ => return false,
    };
    let of_name = |term: &Term| *term == Term::Name(name);
    let position = |steps: &[Step], wanted: Prim| {
        steps.iter().position(|step| match step {
            Step::Let(_, Term::Prim(prim, operands)) => *prim == wanted && of_name(&operands[0]),
            _ => false,
        })
    };
    let is_check = |step: &Step| matches!(step, Step::Take(Pattern::Nil, term) if of_name(term));
    if uses.count(name) == 1 && steps.iter().any(is_check) {
        steps.retain(|step| !is_check(step));
        *pattern = Pattern::Nil;
        return true;
    }
    let [first, second] = [position(steps, Prim::Car), position(steps, Prim::Cdr)];
    let count = usize::from(first.is_some()) + usize::from(second.is_some());
    if count == 0 || uses.count(name) != count {
        return false;
    }
    let bound = |position: Option<usize>| match position.map(|position| &steps[position]) {
        Some(Step::Let(name, _)) if uses.count(*name) > 0 => Pattern::Name(*name),
        _ => Pattern::Any,
    };
    *pattern = Pattern::Pair(Box::new(bound(first)), Box::new(bound(second)));
    let mut at = 0;
    steps.retain(|_| {
        at += 1;
        Some(at - 1) != first && Some(at - 1) != second
    });
    true
}

/// How often each name is used as a pair whose part is taken.
fn projected(term: &Term) -> FxHashMap<Name, usize> {
    fn count(term: &Term, counts: &mut FxHashMap<Name, usize>) {
        if let Term::Prim(Prim::Car | Prim::Cdr, operands) = term
            && let Term::Name(name) = operands[0]
        {
            *counts.entry(name).or_default() += 1;
        }
        term.parts(&mut |part| count(part, counts));
    }
    let mut counts = FxHashMap::default();
    count(term, &mut counts);
    counts
}

struct Round<'a> {
    full: bool,
    names: &'a mut Names,
    uses: Uses,
    projected: FxHashMap<Name, usize>,
    /// Names that stay, and keep their order: functions that are differentiated elsewhere have captured them.
    pinned: FxHashSet<Name>,
    /// What stands for a name from here on.
    substitutions: FxHashMap<Name, Term>,
    /// What names are bound to.
    known: FxHashMap<Name, Term>,
    /// The names of parts of names.
    parts: FxHashMap<(Name, Prim), Name>,
    /// The names of what names are the transforms of.
    primals: FxHashMap<Name, Name>,
    /// Names of numbers: an operation before would have failed otherwise.
    real: FxHashSet<Name>,
    choices: &'a mut usize,
}

impl Round<'_> {
    fn term(&mut self, term: Term) -> Term {
        match term {
            Term::Name(name) => self.substitutions.get(&name).cloned().unwrap_or(term),
            Term::Block(steps, value) => self.block(steps, *value),
            Term::Lambda(pattern, body) => {
                let (real, parts) = (self.real.clone(), self.parts.clone());
                let body = self.term(*body);
                (self.real, self.parts) = (real, parts);
                Term::Lambda(pattern, Box::new(body))
            }
            Term::If(condition, yes, no) => {
                let condition = self.term(*condition);
                let mut steps = Vec::new();
                let condition = floated(condition, &mut steps);
                if let (Term::Bool(value), true) = (&condition, self.full) {
                    return Term::block(steps, self.term(if *value { *yes } else { *no }));
                }
                let (real, parts) = (self.real.clone(), self.parts.clone());
                let yes = self.term(*yes);
                (self.real, self.parts) = (real.clone(), parts.clone());
                let no = self.term(*no);
                (self.real, self.parts) = (real, parts);
                Term::block(steps, Term::If(Box::new(condition), Box::new(yes), Box::new(no)))
            }
            Term::Apply(function, argument) => {
                let mut steps = Vec::new();
                let function = self.operand(*function, &mut steps);
                let argument = self.operand(*argument, &mut steps);
                let called = match function {
                    function if self.full && is_minus(&function) && self.primal_number(&argument).is_some() => {
                        // The library's function for any number of operands; of one, the negative.
                        let number = self.primal_number(&argument).unwrap_or(Term::Zero);
                        let s = self.names.fresh("s\u{304}");
                        let back = self.prim(Prim::Neg, vec![Term::Name(s)]);
                        let back = Term::prim(Prim::Cons, [Term::Nil, back]);
                        let negative = Term::prim(Prim::J, [Term::prim(Prim::Neg, [number])]);
                        Term::prim(Prim::Cons, [negative, Term::Lambda(Pattern::Name(s), Box::new(back))])
                    }
                    Term::Lambda(pattern, body) if self.full => {
                        self.destructure(pattern, argument, &mut steps);
                        *body
                    }
                    function => Term::apply(function, argument),
                };
                Term::block(steps, called)
            }
            // What a function has captured is part of its derivative: nothing in it may change.
            Term::Prim(Prim::J, operands) if is_function(&operands[0]) => {
                let mut steps = Vec::new();
                let operands = operands.into_iter().map(|operand| match operand {
                    Term::Block(captured, function) if !defines(&captured, &function) => {
                        let captured = self.block(captured, Term::Nil);
                        let _ = floated(captured, &mut steps);
                        *function
                    }
                    other => other,
                });
                let operands = operands.collect();
                Term::block(steps, Term::Prim(Prim::J, operands))
            }
            Term::Prim(prim, operands) => {
                let mut steps = Vec::new();
                let operands: Vec<Term> =
                    operands.into_iter().map(|operand| self.operand(operand, &mut steps)).collect();
                let term = if self.full { self.prim(prim, operands) } else { Term::Prim(prim, operands) };
                if let (Term::Prim(prim, operands), true) = (&term, self.full)
                    && matches!(prim.family(), Family::Arithmetic | Family::Comparison)
                {
                    self.real.extend(operands.iter().filter_map(|operand| match operand {
                        Term::Name(name) => Some(*name),
                        _ => None,
                    }));
                }
                Term::block(steps, term)
            }
            Term::Vector(elements) => {
                let mut steps = Vec::new();
                let elements = elements.into_iter().map(|element| self.operand(element, &mut steps)).collect();
                Term::block(steps, Term::Vector(elements))
            }
            atom => atom,
        }
    }

    /// An operand. What has effects gets a name, so that it happens where it did.
    fn operand(&mut self, term: Term, steps: &mut Vec<Step>) -> Term {
        let term = floated(self.term(term), steps);
        let chooses = self.full && matches!(&term, Term::If(_, yes, no) if makes_function(yes) && makes_function(no));
        if term.is_pure() && !chooses {
            return term;
        }
        let name = self.names.fresh("t");
        steps.push(Step::Let(name, term));
        Term::Name(name)
    }

    /// Binds what a pattern takes of an argument.
    fn destructure(&mut self, pattern: Pattern, argument: Term, steps: &mut Vec<Step>) {
        match pattern {
            Pattern::Name(name) => steps.push(Step::Let(name, argument)),
            Pattern::Any => steps.push(Step::Let(self.names.fresh("_"), argument)),
            Pattern::Nil | Pattern::Vector(_) => steps.push(Step::Take(pattern, argument)),
            Pattern::Pair(first, second) => {
                let [car, cdr] = match argument {
                    Term::Prim(Prim::Cons, parts) => <[Term; 2]>::try_from(parts).unwrap_or([Term::Nil, Term::Nil]),
                    argument => {
                        let pair = self.names.fresh("p");
                        steps.push(Step::Let(pair, argument));
                        [Prim::Car, Prim::Cdr].map(|prim| Term::prim(prim, [Term::Name(pair)]))
                    }
                };
                self.destructure(*first, car, steps);
                self.destructure(*second, cdr, steps);
            }
        }
    }

    fn block(&mut self, steps: Vec<Step>, value: Term) -> Term {
        let mut out = Vec::new();
        let mut steps = std::collections::VecDeque::from(steps);
        while let Some(step) = steps.pop_front() {
            match step {
                Step::Let(name, term) => {
                    let term = self.term(term);
                    let term = floated(term, &mut out);
                    if let Term::If(condition, yes, no) = &term
                        && self.is_choice_of_functions(name, yes, no)
                    {
                        let rest: Vec<Step> = steps.into();
                        if let Some(choice) = self.with_rest(name, (condition, yes, no), &rest, &value) {
                            return Term::block(out, choice);
                        }
                        steps = rest.into();
                    }
                    self.bind(name, term, &mut out);
                }
                Step::Letrec(functions) => {
                    let own = Uses::of(&Term::block(vec![Step::Letrec(functions.clone())], Term::Nil));
                    if functions.iter().all(|(name, _)| self.uses.count(*name) == own.count(*name)) {
                        continue;
                    }
                    out.push(Step::Letrec(functions.into_iter().map(|(name, term)| (name, self.term(term))).collect()));
                }
                Step::Take(pattern, term) => {
                    let mut term = floated(self.term(term), &mut out);
                    if let (Pattern::Nil, Term::Prim(Prim::J | Prim::JInverse, of), true) = (&pattern, &term, self.full)
                    {
                        term = of[0].clone();
                    }
                    if let (Pattern::Nil, Term::Name(name), true) = (&pattern, &term, self.full) {
                        self.substitutions.insert(*name, Term::Nil);
                    }
                    let fits = match (&pattern, &term) {
                        (Pattern::Nil, Term::Nil) => true,
                        (Pattern::Vector(length), Term::Vector(elements)) => elements.len() == *length as usize,
                        _ => false,
                    };
                    if !fits {
                        out.push(Step::Take(pattern, term));
                    }
                }
            }
        }
        let value = self.term(value);
        let value = floated(value, &mut out);
        Term::block(out, value)
    }

    /// Whether both branches make a value and the function that takes its sensitivity back, and these are taken apart
    /// at once.
    fn is_choice_of_functions(&self, name: Name, yes: &Term, no: &Term) -> bool {
        self.full
            && self.projected.get(&name) == Some(&self.uses.count(name))
            && makes_function(yes)
            && makes_function(no)
    }

    /// A choice whose branches also do what follows it.
    fn with_rest(
        &mut self,
        name: Name,
        (condition, yes, no): (&Term, &Term, &Term),
        rest: &[Step],
        value: &Term,
    ) -> Option<Term> {
        let rest = Term::block(rest.to_vec(), value.clone());
        if *self.choices == 0 || rest.size() > LARGEST_REST {
            return None;
        }
        *self.choices -= 1;
        // What was bound in this round and stands for a name in the rest.
        let rest = self.substituted(rest);
        let branch = |names: &mut Names, branch: &Term| {
            let mut steps = Vec::new();
            let pair = floated(branch.clone(), &mut steps);
            steps.push(Step::Let(name, pair));
            Term::block(steps, rest.clone()).renamed(names)
        };
        let yes = branch(self.names, yes);
        let no = branch(self.names, no);
        Some(Term::If(Box::new(condition.clone()), Box::new(yes), Box::new(no)))
    }

    fn substituted(&self, term: Term) -> Term {
        if let Term::Prim(prim @ (Prim::Car | Prim::Cdr), operands) = &term
            && let Term::Name(name) = operands[0]
            && let Some(Term::Prim(Prim::Cons, parts)) = self.known.get(&name)
            && parts.iter().all(Term::is_atom)
        {
            return parts[usize::from(*prim == Prim::Cdr)].clone();
        }
        match term {
            Term::Name(name) => match self.substitutions.get(&name) {
                Some(term) => term.clone(),
                None => Term::Name(name),
            },
            other => other.map(&mut |part| self.substituted(part)),
        }
    }

    /// Binds a name, or remembers what stands for it.
    fn bind(&mut self, name: Name, term: Term, out: &mut Vec<Step>) {
        if self.pinned.contains(&name) {
            self.note(name, &term);
            out.push(Step::Let(name, term));
            return;
        }
        if term.is_atom() {
            self.substitutions.insert(name, term);
            return;
        }
        let count = self.uses.count(name);
        let trivial = matches!(term, Term::Lambda(..) | Term::Vector(_))
            || matches!(term, Term::Prim(Prim::J | Prim::JInverse | Prim::Zero | Prim::Cons, _));
        if count == 0 && (trivial || self.full) && term.is_pure() {
            return;
        }
        let captured = self.uses.is_captured(name);
        let once = match &term {
            Term::Lambda(..) => true,
            Term::Prim(Prim::Cons, _) | Term::Vector(_) => !captured && term.is_pure(),
            Term::Prim(Prim::Car | Prim::Cdr, _) => false,
            Term::Prim(Prim::J | Prim::JInverse | Prim::Zero, _) => self.full && term.is_pure(),
            _ => self.full && !captured && term.is_pure() && term.size() <= LARGEST_PART,
        };
        if once && count == 1 && !(self.full && self.projected.contains_key(&name)) {
            self.substitutions.insert(name, term);
            return;
        }
        if let Term::Prim(Prim::Cons, parts) = &term
            && self.full
            && self.projected.get(&name) == Some(&count)
        {
            // Only its parts are used: they get names, and it goes.
            let parts: Vec<Term> = parts.iter().map(|part| self.named(part, out)).collect();
            self.known.insert(name, Term::Prim(Prim::Cons, parts));
            return;
        }
        if let Term::Prim(prim @ (Prim::Car | Prim::Cdr), operands) = &term
            && let Term::Name(pair) = operands[0]
            && self.full
        {
            if let Some(part) = self.parts.get(&(pair, *prim)) {
                self.substitutions.insert(name, Term::Name(*part));
                return;
            }
            self.parts.insert((pair, *prim), name);
        }
        self.note(name, &term);
        out.push(Step::Let(name, term));
    }

    /// Notes what is known of a name.
    fn note(&mut self, name: Name, term: &Term) {
        if self.is_real(term) {
            self.real.insert(name);
        }
        if let Term::Prim(Prim::JInverse, operands) = term
            && let Term::Name(of) = operands[0]
        {
            self.primals.insert(of, name);
        }
        self.known.insert(name, term.clone());
    }

    fn named(&mut self, part: &Term, out: &mut Vec<Step>) -> Term {
        if part.is_atom() {
            return part.clone();
        }
        let called = if matches!(part, Term::Lambda(..)) { "b" } else { "t" };
        let name = self.names.fresh(called);
        if self.is_real(part) {
            self.real.insert(name);
        }
        self.known.insert(name, part.clone());
        out.push(Step::Let(name, part.clone()));
        Term::Name(name)
    }

    /// What a term is, if that is known.
    fn view<'t>(&'t self, term: &'t Term) -> &'t Term {
        match term {
            Term::Name(name) => self.known.get(name).unwrap_or(term),
            term => term,
        }
    }

    fn is_real(&self, term: &Term) -> bool {
        match term {
            Term::Name(name) => self.real.contains(name),
            Term::Number(_) | Term::Zero => true,
            Term::Prim(prim, _) => prim.family() == Family::Arithmetic || prim.counts(),
            _ => false,
        }
    }

    /// The number that a term is the transform of, if it is one.
    fn primal_number(&self, term: &Term) -> Option<Term> {
        let number = match self.view(term) {
            Term::Prim(Prim::J, of) => of[0].clone(),
            _ => match term {
                Term::Name(name) => Term::Name(*self.primals.get(name)?),
                _ => return None,
            },
        };
        (self.is_real(&number) && number.is_atom()).then_some(number)
    }

    fn is_truth_value(&self, term: &Term) -> bool {
        match self.view(term) {
            Term::Bool(_) => true,
            Term::Prim(prim, _) => matches!(prim.family(), Family::Comparison | Family::Test),
            _ => false,
        }
    }

    /// A call of a primitive whose operands are simple.
    fn prim(&mut self, prim: Prim, operands: Vec<Term>) -> Term {
        let again = |this: &mut Self, prim, operand| this.prim(prim, vec![operand]);
        match (prim, &operands[..]) {
            (Prim::Car | Prim::Cdr, [pair]) => {
                if let Term::Name(name) = pair
                    && let Some(part) = self.parts.get(&(*name, prim))
                {
                    return Term::Name(*part);
                }
                match self.view(pair).clone() {
                    Term::Prim(Prim::Cons, parts) => {
                        let (part, other) = if prim == Prim::Car { (0, 1) } else { (1, 0) };
                        let whole = matches!(pair, Term::Name(_));
                        if if whole { parts[part].is_atom() } else { parts[other].is_pure() } {
                            return parts[part].clone();
                        }
                    }
                    Term::Prim(outer @ (Prim::JInverse | Prim::J), inner) => {
                        let part = again(self, prim, inner[0].clone());
                        return again(self, outer, part);
                    }
                    _ => {}
                }
            }
            (Prim::Cons, [first, second]) => {
                if let (Term::Prim(Prim::Car, a), Term::Prim(Prim::Cdr, b)) = (self.view(first), self.view(second))
                    && matches!(a[0], Term::Name(_))
                    && a == b
                {
                    return a[0].clone();
                }
            }
            (Prim::J | Prim::JInverse, [operand]) => {
                let inverse = if prim == Prim::J { Prim::JInverse } else { Prim::J };
                match self.view(operand) {
                    Term::Nil => return Term::Nil,
                    Term::Prim(inner, of) if *inner == inverse && of[0].is_atom() => return of[0].clone(),
                    _ if self.is_truth_value(operand) => return operand.clone(),
                    _ => {}
                }
                match operand {
                    Term::Prim(inner, of) if *inner == inverse => return of[0].clone(),
                    Term::Prim(Prim::Cons, parts) if prim == Prim::JInverse => {
                        let parts: Vec<Term> = parts.iter().map(|part| again(self, prim, part.clone())).collect();
                        return Term::Prim(Prim::Cons, parts);
                    }
                    _ => {}
                }
            }
            (Prim::Zero, [operand]) => {
                if self.is_real(operand) {
                    return Term::Zero;
                }
                match operand {
                    Term::Nil => return Term::Nil,
                    _ if self.is_truth_value(operand) => return Term::Nil,
                    Term::Prim(Prim::Cons, parts) => {
                        let parts: Vec<Term> = parts.iter().map(|part| again(self, prim, part.clone())).collect();
                        return Term::Prim(Prim::Cons, parts);
                    }
                    _ => {}
                }
            }
            (Prim::Plus, [Term::Prim(Prim::Cons, a), Term::Prim(Prim::Cons, b)]) => {
                let parts = a.iter().zip(b).map(|(a, b)| self.prim(Prim::Plus, vec![a.clone(), b.clone()]));
                return Term::Prim(Prim::Cons, parts.collect());
            }
            (Prim::Plus, [a, b]) if self.is_real(a) || self.is_real(b) => return sum(a.clone(), b.clone()),
            (Prim::Plus, [Term::Zero, other] | [other, Term::Zero]) => return other.clone(),
            (Prim::Plus, [Term::Nil, Term::Nil]) => return Term::Nil,
            (Prim::Neg, [Term::Zero]) => return Term::Zero,
            (Prim::Neg, [Term::Number(number)]) => return Term::Number(-number),
            (Prim::Neg, [Term::Prim(Prim::Neg, inner)]) => return inner[0].clone(),
            (Prim::Scale, [Term::Zero, _] | [_, Term::Zero]) => return Term::Zero,
            (Prim::Scale, [Term::Number(a), Term::Number(b)]) => return Term::Number(a * b),
            (Prim::Scale, [Term::Number(k), other] | [other, Term::Number(k)]) if k.abs() == 1.0 => {
                let other = other.clone();
                return if *k == 1.0 { other } else { self.prim(Prim::Neg, vec![other]) };
            }
            (Prim::Unscale, [Term::Zero, _]) => return Term::Zero,
            _ => {}
        }
        Term::Prim(prim, operands)
    }
}

/// Whether a value is a pair with a function in its second part.
fn makes_function(term: &Term) -> bool {
    match term {
        Term::Block(_, value) => makes_function(value),
        Term::If(_, yes, no) => makes_function(yes) && makes_function(no),
        Term::Prim(Prim::Cons, parts) => matches!(parts[1], Term::Lambda(..)),
        _ => false,
    }
}

/// Whether a term is a function, perhaps one of a group.
fn is_function(term: &Term) -> bool {
    match term {
        Term::Lambda(..) => true,
        Term::Block(steps, value) => is_function(value) || defines(steps, value),
        _ => false,
    }
}

/// Whether steps define the function whose name is the value.
fn defines(steps: &[Step], value: &Term) -> bool {
    let is_value = |name: &Name| *value == Term::Name(*name);
    steps.iter().any(|step| matches!(step, Step::Letrec(group) if group.iter().any(|(name, _)| is_value(name))))
}

/// The names that functions under `*j` have captured.
fn pinned(term: &Term, found: &mut FxHashSet<Name>) {
    fn names(term: &Term, found: &mut FxHashSet<Name>) {
        if let Term::Name(name) = term {
            found.insert(*name);
        }
        term.parts(&mut |part| names(part, found));
    }
    match term {
        Term::Prim(Prim::J, operands) if is_function(&operands[0]) => names(&operands[0], found),
        other => other.parts(&mut |part| pinned(part, found)),
    }
}

fn is_minus(function: &Term) -> bool {
    matches!(function, Term::Prim(Prim::J, of) if matches!(&of[0], Term::Global(name) if **name == *"-"))
}

/// The sum of two numbers; one of them may be the zero to which nothing was added.
fn sum(a: Term, b: Term) -> Term {
    match (a, b) {
        (Term::Zero, other) | (other, Term::Zero) => other,
        (a, Term::Prim(Prim::Neg, b)) => Term::Prim(Prim::Sub, [vec![a], b].concat()),
        (Term::Prim(Prim::Neg, a), b) => Term::Prim(Prim::Sub, [vec![b], a].concat()),
        (a, b) => Term::prim(Prim::Add, [a, b]),
    }
}

/// Moves the steps of a block out of it; what is left is its value.
fn floated(term: Term, steps: &mut Vec<Step>) -> Term {
    match term {
        Term::Block(more, value) => {
            steps.extend(more);
            *value
        }
        term => term,
    }
}
