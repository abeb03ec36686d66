//! When shapes grow: recognising growth and tying knots.
//!
//! A *whistle* (homeomorphic embedding, as in supercompilation) tells that the arguments of a call repeat those of an
//! ancestor call, with something more around them; every infinite sequence of finite shapes blows it. Then *widening*
//! folds the growing position back onto the ancestor position that it repeats (the type-graph widening of Van
//! Hentenryck, Cortesi and Le Charlier), which makes the shape recursive.
//!
//! Termination: a fold happens when the node at a clash offers only classes that an ancestor on its path offers. Where
//! no ancestor does, the clash adds a set of classes that is new on its path; classes are finite, so paths that cannot
//! be folded have bounded length, and facts (known numbers) only ever become unknown. That the beginning of a vector
//! gets elements folds nothing: it happens once on a path. Nor does a node that is the ancestor itself, with zeros of
//! the same data: it has been folded.

use super::algebra::Step;
use crate::shape::lattice::{Class, Head, Shape, Shapes};
use rustc_hash::{FxHashMap, FxHashSet};

/// After so many changes the result of a recursive variant is folded wherever a sum comes back along a path, after
/// twice as many it is collapsed, after three times as many it is fused; the arguments of a call are collapsed after so
/// many widenings and fused after twice as many.
pub const PATIENCE: usize = 12;

/// Folds per widening; each removes one clash, so this many clashes at once are more than any program has shown.
const MAX_FOLDS: usize = 64;

/// What has more parts than this and still grows is collapsed at once: to find out how it grows would take too long.
const MAX_PARTS: usize = 30_000;

/// How many times the same steps must lead to the same sum for [`Shapes::fold_repetitions`] in every widening. Lists
/// nested less deep than that keep an element shape of their own on every level.
const PERIODS: usize = 3;

impl Shapes {
    /// Whether every value of `b` is one of `a`.
    pub fn covers(&self, a: Shape, b: Shape) -> bool {
        let mut assumed = FxHashSet::default();
        self.covers_assuming(a, b, &mut assumed)
    }

    fn covers_assuming(&self, a: Shape, b: Shape, assumed: &mut FxHashSet<(Shape, Shape)>) -> bool {
        if a == b || !assumed.insert((a, b)) {
            return true;
        }
        self.alternatives(b).iter().all(|small| {
            self.find(a, small.head.class()).is_some_and(|large| {
                large.head.join(small.head) == large.head
                    && large
                        .children
                        .iter()
                        .zip(small.children.iter())
                        .all(|(x, y)| self.covers_assuming(*x, *y, assumed))
            })
        })
    }

    /// The whistle: whether the arguments `new` repeat the arguments `old` with something more around them (or only
    /// with other numbers). Both have the same length.
    pub fn repeats(&self, old: &[Shape], new: &[Shape]) -> bool {
        let mut memo = FxHashMap::default();
        old.iter().zip(new).all(|(a, b)| {
            let fits = self.depth(*a) <= self.depth(*b);
            fits && (self.couples(*a, *b, &mut memo)
                || (!self.is_leaf(*a) && self.contains(*b, *a, &mut FxHashSet::default())))
        })
    }

    pub fn is_leaf(&self, shape: Shape) -> bool {
        self.alternatives(shape).iter().all(|a| matches!(a.head, Head::Real(_) | Head::Bool(_) | Head::Text(_)))
    }

    /// The parts of `root` that are or contain one of `members`.
    pub fn containing(&self, root: Shape, members: Vec<Shape>) -> FxHashSet<Shape> {
        let mut parents: FxHashMap<Shape, Vec<Shape>> = FxHashMap::default();
        for part in self.parts(root) {
            for child in self.alternatives(part).iter().flat_map(|alternative| alternative.children.iter()) {
                parents.entry(*child).or_default().push(part);
            }
        }
        let (mut found, mut pending) = (FxHashSet::default(), members);
        while let Some(part) = pending.pop() {
            if found.insert(part) {
                pending.extend(parents.get(&part).into_iter().flatten());
            }
        }
        found
    }

    /// Whether `whole` is or contains `part`; shapes in `seen` are taken not to.
    pub fn contains(&self, whole: Shape, part: Shape, seen: &mut FxHashSet<Shape>) -> bool {
        // What is not recursive was made after all of its parts.
        let is_younger = part > whole && !self.is_recursive(whole);
        whole == part
            || (!is_younger
                && self.depth(part) <= self.depth(whole)
                && seen.insert(whole)
                && self
                    .alternatives(whole)
                    .iter()
                    .any(|a| a.children.iter().any(|child| self.contains(*child, part, seen))))
    }

    /// Every alternative of `a` has one of the same class in `b` whose parts embed those of the former.
    fn couples(&self, a: Shape, b: Shape, memo: &mut FxHashMap<(Shape, Shape), bool>) -> bool {
        if a == b {
            return true;
        }
        if self.depth(a) > self.depth(b) {
            return false;
        }
        if let Some(known) = memo.get(&(a, b)) {
            return *known;
        }
        memo.insert((a, b), true);
        let result = self.alternatives(a).iter().all(|small| {
            self.find(b, small.head.class()).is_some_and(|large| {
                (matches!(small.head, Head::Real(_)) || large.head.join(small.head) == large.head)
                    && small.children.iter().zip(large.children.iter()).all(|(x, y)| self.embeds(*x, *y, memo))
            })
        });
        memo.insert((a, b), result);
        result
    }

    /// `a` is `b` with something left out. What embeds cannot be deeper than what it is embedded in: that settles at
    /// once that a list which is taken apart does not grow, on however many ancestors.
    fn embeds(&self, a: Shape, b: Shape, memo: &mut FxHashMap<(Shape, Shape), bool>) -> bool {
        if self.depth(a) > self.depth(b) {
            return false;
        }
        self.couples(a, b, memo)
            || (!self.is_leaf(a) && self.contains(b, a, &mut FxHashSet::default()))
            || self.dives(a, b, memo, &mut FxHashSet::default())
    }

    fn dives(
        &self,
        a: Shape,
        b: Shape,
        memo: &mut FxHashMap<(Shape, Shape), bool>,
        seen: &mut FxHashSet<Shape>,
    ) -> bool {
        if !seen.insert(b) {
            return false;
        }
        self.alternatives(b).iter().any(|alternative| {
            alternative.children.iter().any(|child| self.couples(a, *child, memo) || self.dives(a, *child, memo, seen))
        })
    }

    /// A shape that covers both and, in a sequence of widenings, stops growing.
    pub fn widen(&mut self, old: Shape, new: Shape) -> Shape {
        let mut current = self.join(old, new);
        if current == old {
            return old;
        }
        if self.coarse {
            return self.shrink(current);
        }
        if self.parts(current).len() > MAX_PARTS {
            return self.collapse(current);
        }
        let mut groups = Vec::new();
        self.wrapped(old, current, &mut groups, &mut FxHashSet::default());
        if !groups.is_empty() {
            current = self.merge(current, groups);
        }
        current = self.fold_repetitions(current, PERIODS);
        for _ in 0..MAX_FOLDS {
            if current == old {
                return current;
            }
            let mut search = Search { shapes: self, seen: FxHashSet::default(), steps: Vec::new() };
            let Some((steps, last, target)) = search.clash(old, current) else { return current };
            let folded = self.tie(current, &steps[..target], steps[target].shape, &[last]);
            if folded == current {
                return current;
            }
            current = folded;
        }
        current
    }

    /// The pairs of what stood at a position before and what stands there now, where the former is wrapped up in the
    /// latter: what grows by one layer in each round.
    fn wrapped(&self, old: Shape, new: Shape, groups: &mut Vec<Vec<Shape>>, seen: &mut FxHashSet<(Shape, Shape)>) {
        if old == new || !seen.insert((old, new)) {
            return;
        }
        // A vector of zeros has no more parts than a number: that the sum that began with it may be the folded zero of
        // one is no growth.
        let has_parts = self.alternatives(old).iter().any(|a| !a.children.is_empty() && !self.is_zero_vector(a));
        if has_parts && self.contains(new, old, &mut FxHashSet::default()) {
            groups.push(vec![new, old]);
            return;
        }
        for before in self.alternatives(old).iter() {
            let Some(now) = self.find(new, before.head.class()) else { continue };
            for (x, y) in before.children.iter().zip(now.children.iter()) {
                self.wrapped(*x, *y, groups, seen);
            }
        }
    }

    /// The shape with sums folded that repeat along a path.
    ///
    /// Data that grow where they are entered, around a part that is recursive already, differ from round to round in no
    /// class of any position, so no clash shows. What shows is that the same sum comes back after the same steps. As
    /// many periods as `periods` says count as recursion; with none, coming back after any steps does.
    pub fn fold_repetitions(&mut self, shape: Shape, periods: usize) -> Shape {
        let mut current = shape;
        for _ in 0..MAX_FOLDS {
            let mut search = Repetitions::new(self, periods);
            let Some((steps, chain)) = search.find(current) else { return current };
            let folded = self.tie(current, &steps, chain[0], &chain[1..]);
            if folded == current {
                return current;
            }
            current = folded;
        }
        current
    }

    /// The shape with data folded that go on for more than `limit` parts in one and the same direction: a long list of
    /// known length becomes a list of any length.
    pub fn fold_long_chains(&mut self, shape: Shape, limit: usize) -> Shape {
        let mut current = shape;
        for _ in 0..MAX_FOLDS {
            let Some(chain) = self.long_chain(current, limit) else { return current };
            current = self.merge(current, vec![chain]);
        }
        current
    }

    /// The members of a chain of more than `limit` products inside a shape, with what ends it.
    fn long_chain(&self, shape: Shape, limit: usize) -> Option<Vec<Shape>> {
        let mut seen = FxHashSet::default();
        // Members of chains that are not long enough, by direction. Nor are the chains that begin with them.
        let mut walked: FxHashSet<(Class, usize, Shape)> = FxHashSet::default();
        let mut pending = vec![shape];
        while let Some(start) = pending.pop() {
            let too_flat = (self.depth(start) as usize) < limit;
            if too_flat || self.is_recursive(start) || !seen.insert(start) {
                continue;
            }
            let alternatives = self.alternatives(start);
            for alternative in alternatives.iter() {
                pending.extend(alternative.children.iter());
                for child in 0..alternative.children.len() {
                    let step = Step { shape: start, class: alternative.head.class(), child };
                    if walked.contains(&(step.class, child, start)) {
                        continue;
                    }
                    let chain = self.chain(start, &step);
                    let uniform = self.uniform_end(&chain, &step);
                    if uniform.len() > limit {
                        return Some(uniform.to_vec());
                    }
                    walked.extend(chain.iter().map(|part| (step.class, child, *part)));
                }
            }
        }
        None
    }

    /// The shape with data folded that a walk has gone through from one part to the next, in one direction: `after` is
    /// what the walk has come to.
    pub fn fold_walked(&mut self, before: Shape, after: Shape) -> Shape {
        let mut chains = Vec::new();
        self.walked(before, after, &mut chains, &mut FxHashSet::default());
        if chains.is_empty() { before } else { self.merge(before, chains) }
    }

    fn walked(&self, before: Shape, after: Shape, chains: &mut Vec<Vec<Shape>>, seen: &mut FxHashSet<(Shape, Shape)>) {
        if before == after || self.is_recursive(before) || !seen.insert((before, after)) {
            return;
        }
        let alternatives = self.alternatives(before);
        for alternative in alternatives.iter() {
            for child in 0..alternative.children.len() {
                let chain = self.chain(before, &Step { shape: before, class: alternative.head.class(), child });
                if chain.contains(&after) {
                    chains.push(chain);
                    return;
                }
            }
        }
        for was in alternatives.iter() {
            let Some(now) = self.find(after, was.head.class()) else { continue };
            for (x, y) in was.children.iter().zip(now.children.iter()) {
                self.walked(*x, *y, chains, seen);
            }
        }
    }

    /// The shapes that going in one direction leads through. What is recursive already ends the chain: it would lead
    /// back into itself.
    fn chain(&self, start: Shape, step: &Step) -> Vec<Shape> {
        let next = |part: &Shape| self.follow(*part, step).filter(|_| !self.is_recursive(*part));
        std::iter::successors(Some(start), next).collect()
    }

    /// The end of a chain from which on all members have the same classes of values beside the chain: a function that a
    /// tuple puts before a list is no element of the list.
    fn uniform_end<'a>(&self, chain: &'a [Shape], step: &Step) -> &'a [Shape] {
        let beside = |part: &Shape| -> Option<Vec<Vec<Class>>> {
            let alternative = self.find(*part, step.class)?;
            let others = alternative.children.iter().enumerate().filter(|(child, _)| *child != step.child);
            Some(others.map(|(_, child)| self.classes(*child)).collect())
        };
        let mut pairs = chain.windows(2).map(|pair| (beside(&pair[0]), beside(&pair[1])));
        let start = pairs.rposition(|(a, b)| b.is_some() && a != b).map_or(0, |last| last + 1);
        &chain[start..]
    }

    /// The classes that a shape offers.
    pub fn classes(&self, shape: Shape) -> Vec<Class> {
        self.alternatives(shape).iter().map(|a| a.head.class()).collect()
    }

    /// The part of a shape that a step leads to.
    fn follow(&self, shape: Shape, step: &Step) -> Option<Shape> {
        self.find(shape, step.class).map(|alternative| alternative.children[step.child])
    }

    /// [`widen`](Self::widen)s a list of arguments position by position.
    pub fn widen_all(&mut self, old: &[Shape], new: &[Shape]) -> Vec<Shape> {
        old.iter().zip(new).map(|(a, b)| self.widen(*a, *b)).collect()
    }

    /// `old` with every number forgotten that differs in `new`; structure that differs is left as `old` has it.
    pub fn forget_varying_numbers(&mut self, old: Shape, new: Shape) -> Shape {
        self.forget_varying(old, new, &mut FxHashMap::default())
    }

    fn forget_varying(&mut self, old: Shape, new: Shape, memo: &mut FxHashMap<(Shape, Shape), Shape>) -> Shape {
        if old == new || self.is_recursive(old) {
            return old;
        }
        if let Some(known) = memo.get(&(old, new)) {
            return *known;
        }
        let mut alternatives = self.alternatives(old).to_vec();
        for alternative in &mut alternatives {
            let Some(other) = self.find(new, alternative.head.class()) else { continue };
            if matches!(alternative.head, Head::Real(_)) {
                alternative.head = alternative.head.join(other.head);
            }
            alternative.children = alternative
                .children
                .iter()
                .zip(other.children.iter())
                .map(|(a, b)| self.forget_varying(*a, *b, memo))
                .collect();
        }
        let result = self.intern(alternatives);
        memo.insert((old, new), result);
        result
    }

    /// The shape with all known numbers forgotten outside of recursive parts.
    pub fn forget_numbers(&mut self, shape: Shape) -> Shape {
        if self.is_recursive(shape) {
            return shape;
        }
        if let Some(known) = self.known.without_numbers.get(&shape) {
            return *known;
        }
        let mut alternatives = self.alternatives(shape).to_vec();
        for alternative in &mut alternatives {
            if let Head::Real(fact) = alternative.head {
                alternative.head = Head::Real(fact.forget());
            }
            alternative.children = alternative.children.iter().map(|child| self.forget_numbers(*child)).collect();
        }
        let result = self.intern(alternatives);
        self.known.without_numbers.insert(shape, result);
        result
    }
}

/// Looks for a position where a shape has grown and an ancestor of it that it repeats.
struct Search<'a> {
    shapes: &'a Shapes,
    seen: FxHashSet<(Shape, Shape)>,
    steps: Vec<Step>,
}

impl Search<'_> {
    /// The steps to the clash, the node there, and the position of the ancestor.
    fn clash(&mut self, old: Shape, new: Shape) -> Option<(Vec<Step>, Shape, usize)> {
        if old == new || !self.seen.insert((old, new)) {
            return None;
        }
        let here = self.shapes.classes_but_forms(new);
        if here != self.shapes.classes_but_forms(old) && !self.is_first_fill(old) {
            let offers_all = |step: &Step| {
                let above = self.shapes.classes_but_forms(step.shape);
                here.iter().all(|class| above.contains(class))
            };
            // Sensitivities of a tree and of the list of its branches are both a zero or a pair: what tells them apart
            // is what they are zeros of.
            let zero = self.shapes.find(new, Class::ZeroOf);
            let of_same = zero.and_then(|zero| {
                let has_same_zero = |step: &Step| self.shapes.find(step.shape, Class::ZeroOf).as_ref() == Some(&zero);
                self.steps.iter().rposition(|step| has_same_zero(step) && offers_all(step))
            });
            let is_tied = of_same.is_some_and(|target| self.steps[target].shape == new);
            let of_any = || self.steps.iter().rposition(|step| step.shape != new && offers_all(step));
            if !is_tied && let Some(target) = of_same.or_else(of_any) {
                return Some((self.steps.clone(), new, target));
            }
        }
        for alternative in self.shapes.alternatives(new).iter() {
            let class = alternative.head.class();
            let Some(before) = self.shapes.find(old, class) else { continue };
            for (child, (x, y)) in before.children.iter().zip(alternative.children.iter()).enumerate() {
                self.steps.push(Step { shape: new, class, child });
                if let Some(found) = self.clash(*x, *y) {
                    return Some(found);
                }
                self.steps.pop();
            }
        }
        None
    }

    /// Whether this is where the beginning of a vector gets its first element, which is no growth: the element has
    /// nothing to do with what is around the beginning, such as a tuple of it and a counter. (Within the elements of
    /// another beginning it counts as growth, so that vectors of vectors of... end.)
    fn is_first_fill(&self, old: Shape) -> bool {
        let is_beginning = |step: &Step| step.class == Class::Beginning;
        match self.steps.split_last() {
            Some((last, above)) => old == Shapes::BOTTOM && is_beginning(last) && !above.iter().any(is_beginning),
            None => false,
        }
    }
}

/// Looks for a path along which the same sum comes back after the same steps.
struct Repetitions<'a> {
    shapes: &'a Shapes,
    periods: usize,
    seen: FxHashSet<Shape>,
    steps: Vec<Step>,
    /// The positions of the steps from sums with the same classes.
    alike: FxHashMap<Vec<Class>, Vec<usize>>,
}

impl<'a> Repetitions<'a> {
    fn new(shapes: &'a Shapes, periods: usize) -> Repetitions<'a> {
        Repetitions { shapes, periods, seen: FxHashSet::default(), steps: Vec::new(), alike: FxHashMap::default() }
    }

    /// The steps to the first of the repeated sums, and all of them.
    fn find(&mut self, shape: Shape) -> Option<(Vec<Step>, Vec<Shape>)> {
        if !self.seen.insert(shape) {
            return None;
        }
        let alternatives = self.shapes.alternatives(shape);
        let classes = (alternatives.len() > 1).then(|| self.shapes.classes(shape));
        if let Some(classes) = &classes {
            let alike = self.alike.entry(classes.clone()).or_default();
            alike.push(self.steps.len());
            let found = self.repetition(shape, classes);
            if found.is_some() {
                return found;
            }
        }
        for alternative in alternatives.iter() {
            for (child, part) in alternative.children.iter().enumerate() {
                self.steps.push(Step { shape, class: alternative.head.class(), child });
                if let Some(found) = self.find(*part) {
                    return Some(found);
                }
                self.steps.pop();
            }
        }
        if let Some(alike) = classes.and_then(|classes| self.alike.get_mut(&classes)) {
            alike.pop();
        }
        None
    }

    fn repetition(&self, shape: Shape, here: &[Class]) -> Option<(Vec<Step>, Vec<Shape>)> {
        let steps = &self.steps;
        let alike = &self.alike[here];
        let same = |at: usize| alike.binary_search(&at).is_ok();
        // The last one is this one.
        for at in alike.iter().rev().skip(1).copied() {
            let period = steps.len() - at;
            let start = match self.periods {
                0 => at,
                periods => match steps.len().checked_sub(period * periods) {
                    Some(start) => start,
                    None => continue,
                },
            };
            let word = &steps[at..];
            let periodic = (start..at).all(|i| {
                let (x, y) = (&steps[i], &word[(i - start) % period]);
                x.class == y.class && x.child == y.child
            });
            let ends = (start..at).step_by(period).all(same);
            if !periodic || !ends {
                continue;
            }
            let mut chain: Vec<Shape> = (start..steps.len()).step_by(period).map(|i| steps[i].shape).collect();
            let mut next = Some(shape);
            while let Some(sum) = next
                && self.shapes.classes(sum) == here
                && !chain.contains(&sum)
            {
                chain.push(sum);
                next = word.iter().try_fold(sum, |part, step| self.shapes.follow(part, step));
            }
            return Some((steps[..start].to_vec(), chain));
        }
        None
    }
}
