//! Operations on shapes: least upper bound, the derivative operators, and the knot.
//!
//! Each operation may turn cycles into cycles and may meet several alternatives of one class, whose parts must then be
//! joined. Both are handled by one construction, the one that makes an automaton deterministic: a node of the result is
//! a set of [`Atom`]s, unfolded to the union of their alternatives; equal sets are the same node. There are finitely
//! many atoms over given shapes, so the construction ends.

use super::operators::Operator;
use crate::ad::tower::Transformation;
use crate::core::ir::Below;
use crate::core::prim::Prim;
use crate::shape::lattice::{Alternative, Class, Code, Fact, Head, NewNode, Ref, Shape, Shapes};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// How many times as many parts as before a shape may have after a knot.
const MAX_GROWTH: usize = 2;

/// What would have more parts than this is made by unification where shapes are to be small.
const MAX_COARSE_PARTS: usize = 300;

/// How many atoms a part may have on average. Where parts of two shapes meet in pairs, few parts can have very many.
const MAX_ATOMS: usize = 20;

/// So many parts it may always have.
const SMALL: usize = 200;

/// How the operations ask for transforms of code.
pub trait Transform {
    /// The code with one more transformation, below so many others; `None` past the limit on orders.
    fn insert(&mut self, code: Code, new: Transformation, below: u32) -> Option<Code>;
    /// The code without its transformation below so many others, if it is that one.
    fn remove(&mut self, code: Code, old: Transformation, below: u32) -> Option<Code>;
    /// The adding form of code, or with `Prim::Plain` the code that this one is the adding form of.
    fn form(&mut self, code: Code, prim: Prim) -> Code;
}

/// The order of `*j` on some code went past the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TowerTooHigh;

/// Why a construction was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Tower,
    /// It would have more nodes than allowed.
    Size,
    /// See [`Shapes::is_exhausted`].
    Work,
}

/// A term whose unfolding is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Atom {
    Shape(Shape),
    Plus(Shape, Shape),
    Operator(Operator, Shape),
    /// `bundle` below some transformations.
    Bundle(Below, Shape, Shape),
    /// The list of what an operator makes of the environment of a closure, from this capture on.
    Environment(Operator, Shape, usize),
    /// The shape at this position of the path to the knots.
    Path(usize),
    /// The shape inside the knots, where the nodes that they make one are one.
    Within(Shape),
}

/// A step down a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub shape: Shape,
    pub class: Class,
    pub child: usize,
}

/// Knots to tie: below the node that the steps lead to, the members of each group are one node.
struct Knots<'a> {
    steps: &'a [Step],
    /// The shape that the steps lead to.
    start: Shape,
    groups: Vec<Vec<Shape>>,
    /// The group of each shape that is in one.
    group_of: FxHashMap<Shape, usize>,
    /// The parts that are or contain a member of a group.
    contains: FxHashSet<Shape>,
}

impl<'a> Knots<'a> {
    /// Knots in `root`.
    fn new(shapes: &Shapes, root: Shape, steps: &'a [Step], start: Shape, groups: Vec<Vec<Shape>>) -> Knots<'a> {
        let group_of = groups.iter().enumerate().flat_map(|(i, group)| group.iter().map(move |s| (*s, i))).collect();
        let contains = shapes.containing(root, groups.iter().flatten().copied().collect());
        Knots { steps, start, groups, group_of, contains }
    }
}

pub struct Unfolding<'a, 't> {
    pub shapes: &'a mut Shapes,
    transform: Option<&'a mut (dyn Transform + 't)>,
    knots: Option<Knots<'a>>,
    graph: Vec<NewNode>,
    nodes: FxHashMap<Vec<Atom>, usize>,
    /// The number of nodes that the graph may have.
    limit: usize,
    /// The number of atoms of the nodes so far.
    atoms: usize,
}

impl Shapes {
    /// The least shape that covers both.
    pub fn join(&mut self, a: Shape, b: Shape) -> Shape {
        self.join_all(&[a, b])
    }

    /// The least shape that covers all of them. One construction for all: each step of a chain of joins would build
    /// anew what it has in common with the one before.
    pub fn join_all(&mut self, shapes: &[Shape]) -> Shape {
        let mut distinct: Vec<Shape> = shapes.iter().copied().filter(|shape| *shape != Shapes::BOTTOM).collect();
        distinct.sort_unstable();
        distinct.dedup();
        match distinct[..] {
            [] => Shapes::BOTTOM,
            [only] => only,
            _ => {
                let atoms = distinct.into_iter().map(Atom::Shape).collect();
                self.unfold_or_unite(atoms, None).expect("a join transforms no code")
            }
        }
    }

    /// The exact shape, unless it has very many parts; ⊥ where the work for it is not allowed.
    fn unfold_or_unite(
        &mut self,
        root: Vec<Atom>,
        mut transform: Option<&mut (dyn Transform + '_)>,
    ) -> Result<Shape, Stop> {
        let again: Option<&mut dyn Transform> = match &mut transform {
            Some(transform) => Some(&mut **transform),
            None => None,
        };
        let exact = self.unfold(root.clone(), again, None, self.most_parts());
        let result = if exact == Err(Stop::Size) { self.unite(root, Vec::new(), transform) } else { exact };
        if result == Err(Stop::Work) { Ok(Shapes::BOTTOM) } else { result }
    }

    /// The shape of `(plus x y)`; ⊥ where no alternatives conform.
    pub fn plus(&mut self, a: Shape, b: Shape) -> Shape {
        let exact = self.unfold(vec![Atom::Plus(a, b)], None, None, self.most_parts());
        let result = exact.or_else(|_| {
            // The parts meet in pairs. Where these are many, both are made small first.
            let (a, b) = (self.shrink(a), self.shrink(b));
            self.unfold_or_unite(vec![Atom::Plus(a, b)], None)
        });
        result.expect("a sum transforms no code")
    }

    fn most_parts(&self) -> usize {
        if self.coarse { MAX_COARSE_PARTS } else { self.max_parts }
    }

    /// Whether an alternative of a sum is a pair or record that may have holes.
    pub fn is_pair_with_holes(&self, alternative: &Alternative) -> bool {
        is_pair(alternative.head) && alternative.children.iter().any(|part| self.has_holes(*part))
    }

    /// Two values to be added. Zeros fill holes, so that beside holes they have to show what they consist of.
    fn unfolded_for_sum(&mut self, a: Shape, b: Shape) -> [Shape; 2] {
        [(a, b), (b, a)].map(|(shape, beside)| match self.has_parts_with_holes(beside) {
            true => self.unfold_zeros(shape),
            false => shape,
        })
    }

    /// Whether values of a sum's shape may be pairs with holes; what is nothing as a whole does not count.
    pub fn has_parts_with_holes(&self, sum: Shape) -> bool {
        self.alternatives(sum).iter().any(|alternative| self.is_pair_with_holes(alternative))
    }

    /// The shape of what an operator makes of a value; alternatives that it does not work on are left out.
    pub fn operator(
        &mut self,
        operator: Operator,
        shape: Shape,
        transform: &mut dyn Transform,
    ) -> Result<Shape, TowerTooHigh> {
        self.unfold_or_unite(vec![Atom::Operator(operator, shape)], Some(transform)).map_err(|_| TowerTooHigh)
    }

    /// The shape of `(bundle x t)`, below some transformations; alternatives that do not fit are left out.
    pub fn bundle(
        &mut self,
        below: Below,
        [value, tangent]: [Shape; 2],
        transform: &mut dyn Transform,
    ) -> Result<Shape, TowerTooHigh> {
        self.unfold_or_unite(vec![Atom::Bundle(below, value, tangent)], Some(transform)).map_err(|_| TowerTooHigh)
    }

    /// Ties a knot: inside the shape `ancestor`, which the steps lead to from `root`, it and `others` become one node.
    /// The result covers `root`. Where the steps pass through a recursive shape, all of that shape is rebuilt, since
    /// copying its nodes along the steps would only unroll it.
    pub fn tie(&mut self, root: Shape, steps: &[Step], ancestor: Shape, others: &[Shape]) -> Shape {
        let plain = steps.iter().position(|step| self.is_recursive(step.shape)).unwrap_or(steps.len());
        let start = steps.get(plain).map_or(ancestor, |step| step.shape);
        let group: Vec<Shape> = [ancestor].into_iter().chain(others.iter().copied()).collect();
        let knots = Knots::new(self, root, &steps[..plain], start, vec![group.clone()]);
        self.knot(root, knots, &[group])
    }

    /// The shape with the members of each group made one node; groups that share a member are one. The result covers
    /// `root`.
    pub fn merge(&mut self, root: Shape, mut groups: Vec<Vec<Shape>>) -> Shape {
        let mut disjoint: Vec<Vec<Shape>> = Vec::new();
        while let Some(mut group) = groups.pop() {
            while let Some(overlap) = disjoint.iter().position(|other| other.iter().any(|s| group.contains(s))) {
                group.extend(disjoint.swap_remove(overlap));
            }
            group.sort_unstable();
            group.dedup();
            disjoint.push(group);
        }
        let knots = Knots::new(self, root, &[], root, disjoint.clone());
        self.knot(root, knots, &disjoint)
    }

    /// Ties the knots exactly, unless that makes a shape of many more parts: then by unification.
    fn knot(&mut self, root: Shape, knots: Knots<'_>, groups: &[Vec<Shape>]) -> Shape {
        let limit = MAX_GROWTH * self.parts(root).len() + SMALL;
        match self.unfold(vec![Atom::Path(0)], None, Some(knots), limit) {
            Ok(tied) => self.join(tied, root),
            Err(_) => self.unify(root, groups),
        }
    }

    /// A shape and all that it contains.
    pub fn parts(&self, shape: Shape) -> FxHashSet<Shape> {
        let (mut seen, mut pending) = (FxHashSet::default(), vec![shape]);
        while let Some(part) = pending.pop() {
            if seen.insert(part) {
                pending.extend(self.alternatives(part).iter().flat_map(|alternative| alternative.children.iter()));
            }
        }
        seen
    }

    /// The shape without the lists of the sensitivities of the environments of other code.
    pub fn environment_only(&mut self, shape: Shape, code: Code) -> Shape {
        let alternatives = self.alternatives(shape);
        let other = |head: Head| matches!(head, Head::Pair(Some(of)) if of != code);
        if !alternatives.iter().any(|a| other(a.head)) {
            return shape;
        }
        let kept = alternatives.iter().filter(|a| !other(a.head)).cloned().collect();
        self.intern(kept)
    }

    /// The sum of two pairs or records of which one is a zero: the other, whatever it holds.
    pub fn beside_zero<'a>(&self, x: &'a Alternative, y: &'a Alternative) -> Option<&'a Alternative> {
        let has_holes = |pair: &Alternative| pair.children.iter().any(|part| self.has_holes(*part));
        if has_holes(x) || has_holes(y) {
            return None;
        }
        let pairs = are_pairs(x.head, y.head);
        let is_zero = |pair: &Alternative| pair.children.iter().all(|part| self.is_zero(*part));
        if pairs && is_zero(x) {
            return Some(y);
        }
        (pairs && is_zero(y)).then_some(x)
    }

    /// Whether a value may be the empty list.
    pub fn may_be_empty(&self, shape: Shape) -> bool {
        self.position(shape, Class::Nil).is_some()
    }

    /// Whether all values of an alternative that is no empty list consist of symbolic zeros and empty lists.
    pub fn is_zero_alternative(&self, alternative: &Alternative) -> bool {
        alternative.head != Head::Nil && alternative.children.iter().all(|part| self.is_zero(*part))
    }

    fn unfold(
        &mut self,
        root: Vec<Atom>,
        transform: Option<&mut (dyn Transform + '_)>,
        knots: Option<Knots<'_>>,
        limit: usize,
    ) -> Result<Shape, Stop> {
        let mut unfolding = Unfolding { knots, ..Unfolding::new(self, transform, limit) };
        let root = unfolding.node(root)?;
        let Unfolding { graph, nodes, knots, .. } = unfolding;
        let context_free = knots.is_none();
        let shapes = self.finish(graph);
        if context_free {
            self.known.unfolded.extend(nodes.into_iter().map(|(atoms, node)| (atoms, shapes[node])));
        }
        Ok(match root {
            Ref::Done(shape) => shape,
            Ref::New(node) => shapes[node],
        })
    }
}

/// The alternatives of one node while atoms add to them: the parts are still sets of atoms.
pub type Parts = BTreeMap<Class, (Head, Vec<Vec<Atom>>)>;

impl<'a, 't> Unfolding<'a, 't> {
    /// An empty graph.
    pub fn new(
        shapes: &'a mut Shapes,
        transform: Option<&'a mut (dyn Transform + 't)>,
        limit: usize,
    ) -> Unfolding<'a, 't> {
        Unfolding { shapes, transform, knots: None, graph: Vec::new(), nodes: FxHashMap::default(), limit, atoms: 0 }
    }
}

impl Unfolding<'_, '_> {
    /// The node that unfolds the set of atoms.
    fn node(&mut self, mut atoms: Vec<Atom>) -> Result<Ref, Stop> {
        self.shapes.work(atoms.len() / 2);
        if self.shapes.is_exhausted() {
            return Err(Stop::Work);
        }
        for atom in &mut atoms {
            *atom = self.normal(*atom);
        }
        self.shapes.store_beside_recursive(&mut atoms);
        atoms.sort_unstable();
        atoms.dedup();
        atoms.retain(|atom| *atom != Atom::Shape(Shapes::BOTTOM));
        if atoms.is_empty() {
            return Ok(Ref::Done(Shapes::BOTTOM));
        }
        if let [Atom::Shape(shape)] = atoms[..] {
            return Ok(Ref::Done(shape));
        }
        if let Some(node) = self.nodes.get(&atoms) {
            return Ok(Ref::New(*node));
        }
        // Without knots an atom means the same everywhere, so that shared parts are unfolded once.
        if self.knots.is_none()
            && let Some(shape) = self.shapes.known.unfolded.get(&atoms)
        {
            return Ok(Ref::Done(*shape));
        }
        let node = self.graph.len();
        self.atoms += atoms.len();
        if node >= self.limit || self.atoms > self.limit.saturating_mul(MAX_ATOMS) {
            return Err(Stop::Size);
        }
        self.shapes.work(atoms.len());
        self.graph.push(Vec::new());
        self.nodes.insert(atoms.clone(), node);
        let mut parts = Parts::new();
        for atom in atoms {
            self.expand(atom, &mut parts)?;
        }
        let mut alternatives = Vec::with_capacity(parts.len());
        for (class, (head, mut children)) in parts {
            if class == Class::ZeroOf {
                self.shapes.leave_out_zeros_of(&mut children[0]);
            }
            let children = children.into_iter().map(|atoms| self.node(atoms)).collect::<Result<Vec<_>, _>>()?;
            // A product with a part that has no value has no value. A vector need not have elements.
            if head.holds_elements() || !children.contains(&Ref::Done(Shapes::BOTTOM)) {
                alternatives.push((head, children));
            }
        }
        self.graph[node] = alternatives;
        Ok(Ref::New(node))
    }

    /// The representative of atoms that mean the same.
    fn normal(&mut self, atom: Atom) -> Atom {
        let Some(knots) = &self.knots else { return atom };
        let shape = match atom {
            Atom::Path(position) if position == knots.steps.len() => knots.start,
            Atom::Within(shape) => shape,
            atom => return atom,
        };
        if let Some(group) = knots.group_of.get(&shape) {
            return Atom::Within(knots.groups[*group][0]);
        }
        if knots.contains.contains(&shape) { Atom::Within(shape) } else { Atom::Shape(shape) }
    }

    pub fn add(parts: &mut Parts, head: Head, children: Vec<Vec<Atom>>) {
        match parts.get_mut(&head.class()) {
            None => {
                parts.insert(head.class(), (head, children));
            }
            Some((known, existing)) => {
                *known = known.join(head);
                for (set, more) in existing.iter_mut().zip(children) {
                    set.extend(more);
                }
            }
        }
    }

    /// Adds what an atom unfolds to.
    pub fn expand(&mut self, atom: Atom, parts: &mut Parts) -> Result<(), Stop> {
        match atom {
            Atom::Shape(shape) => self.expand_shape(shape, parts),
            Atom::Plus(a, b) => self.expand_plus(a, b, parts),
            Atom::Operator(operator, shape) => return self.expand_operator(operator, shape, parts),
            Atom::Bundle(below, x, t) => return self.expand_bundle(below, x, t, parts),
            Atom::Environment(operator, closure, index) => {
                self.expand_environment(None, operator, closure, index, parts);
            }
            Atom::Path(position) => {
                let Some(knots) = &self.knots else { return Ok(()) };
                let step = knots.steps[position];
                self.expand_each(step.shape, parts, |child, (class, index)| {
                    if class == step.class && index == step.child {
                        Atom::Path(position + 1)
                    } else {
                        Atom::Shape(child)
                    }
                });
            }
            Atom::Within(shape) => {
                let Some(knots) = &self.knots else { return Ok(()) };
                let members =
                    knots.group_of.get(&shape).map_or_else(|| vec![shape], |group| knots.groups[*group].clone());
                for member in members {
                    self.expand_each(member, parts, |child, _| Atom::Within(child));
                }
            }
        }
        Ok(())
    }

    /// Adds a shape as it is.
    pub fn expand_shape(&mut self, shape: Shape, parts: &mut Parts) {
        self.expand_each(shape, parts, |child, _| Atom::Shape(child));
    }

    fn expand_each(&mut self, shape: Shape, parts: &mut Parts, part: impl Fn(Shape, (Class, usize)) -> Atom) {
        for alternative in self.shapes.alternatives(shape).iter() {
            self.shapes.work(1 + alternative.children.len());
            let class = alternative.head.class();
            let children =
                alternative.children.iter().enumerate().map(|(i, child)| vec![part(*child, (class, i))]).collect();
            Self::add(parts, alternative.head, children);
        }
    }

    fn expand_plus(&mut self, a: Shape, b: Shape, parts: &mut Parts) {
        let [a, b] = self.shapes.unfolded_for_sum(a, b);
        let (left, right) = (self.shapes.alternatives(a), self.shapes.alternatives(b));
        for x in left.iter() {
            for y in self.shapes.perhaps_added(x.head, b) {
                let y = &right[y];
                let shapes = |children: &[Shape]| children.iter().map(|child| vec![Atom::Shape(*child)]).collect();
                match (x.head, y.head) {
                    (_, Head::Nothing) => Self::add(parts, x.head, shapes(&x.children)),
                    (Head::Nothing, Head::ZeroOf(_)) => {
                        let zero = self.shapes.make(y.head, &y.children);
                        let zero = self.shapes.filling(zero);
                        for alternative in self.shapes.alternatives(zero).iter() {
                            Self::add(parts, alternative.head, shapes(&alternative.children));
                        }
                    }
                    (Head::Nothing, _) => Self::add(parts, y.head, shapes(&y.children)),
                    _ if self.shapes.may_be_zero_vectors(x, y) => {
                        Self::add(parts, x.head, shapes(&x.children));
                        Self::add(parts, y.head, shapes(&y.children));
                    }
                    // As `plus` in compiled code, which decides as little as it can at run time.
                    (_, Head::ZeroOf(_)) if right.len() == 1 => {
                        Self::add(parts, Shapes::head_beside(x.head, y), shapes(&x.children))
                    }
                    (Head::ZeroOf(_), _) => Self::add(parts, Shapes::head_beside(y.head, x), shapes(&y.children)),
                    (_, Head::ZeroOf(_)) => Self::add(parts, Shapes::head_beside(x.head, y), shapes(&x.children)),
                    (Head::Real(f), Head::Real(g)) => Self::add(parts, Head::Real(add_facts(f, g)), vec![]),
                    // The longer one, as long as its zeros are.
                    (Head::Vector, Head::Vector) if self.shapes.is_zero_vector(x) && self.shapes.is_zero_vector(y) => {
                        Self::add(parts, x.head, shapes(&x.children));
                        Self::add(parts, y.head, shapes(&y.children));
                    }
                    (Head::Vector, Head::Vector | Head::OneHot(_)) if self.shapes.is_zero_vector(x) => {
                        Self::add(parts, y.head, shapes(&y.children));
                    }
                    (Head::Vector | Head::OneHot(_), Head::Vector) if self.shapes.is_zero_vector(y) => {
                        Self::add(parts, x.head, shapes(&x.children));
                    }
                    (Head::Vector | Head::OneHot(_), Head::OneHot(_)) if self.shapes.has_zero_parts(y) => {
                        Self::add(parts, x.head, shapes(&x.children));
                    }
                    (Head::OneHot(_), Head::Vector | Head::OneHot(_)) if self.shapes.has_zero_parts(x) => {
                        Self::add(parts, y.head, shapes(&y.children));
                    }
                    (Head::Vector, Head::OneHot(_)) => {
                        let [all, one] = self.shapes.element_and_part(x.children[0], y.children[1]);
                        Self::add(parts, Head::Vector, vec![vec![Atom::Shape(all), Atom::Plus(all, one)]]);
                    }
                    (Head::OneHot(_), Head::Vector) => {
                        let [all, one] = self.shapes.element_and_part(y.children[0], x.children[1]);
                        Self::add(parts, Head::Vector, vec![vec![Atom::Shape(all), Atom::Plus(one, all)]]);
                    }
                    (Head::OneHot(m), Head::OneHot(n)) => {
                        if let Some(places) = m.plus(n) {
                            let (base, one, other) = (x.children[0], x.children[1], y.children[1]);
                            let part = vec![Atom::Shape(one), Atom::Shape(other), Atom::Plus(one, other)];
                            Self::add(parts, Head::OneHot(places), vec![vec![Atom::Shape(base)], part]);
                            continue;
                        }
                        let zero = self.shapes.zero(x.children[0]);
                        let [zero, one, other] =
                            [zero, x.children[1], y.children[1]].map(|part| self.shapes.settled_element(part));
                        let each =
                            vec![Atom::Shape(zero), Atom::Shape(one), Atom::Shape(other), Atom::Plus(one, other)];
                        Self::add(parts, Head::Vector, vec![each]);
                    }
                    _ => {
                        let single = left.len() == 1 && right.len() == 1;
                        let Some(head) = sum_head(x.head, y.head, single) else { continue };
                        if let Some(other) = self.shapes.sum_beside_zero(x, y) {
                            Self::add(parts, other.head, shapes(&other.children));
                            continue;
                        }
                        let sums = x.children.iter().zip(y.children.iter());
                        let mut sums: Vec<Vec<Atom>> = sums.map(|(x, y)| vec![Atom::Plus(*x, *y)]).collect();
                        if head == Head::Series {
                            // Beside a constant the other one keeps its further coefficients.
                            let [one, other] = self.shapes.unfolded_for_sum(x.children[1], y.children[1]);
                            let kept = [(one, other), (other, one)]
                                .into_iter()
                                .filter(|(one, _)| self.shapes.may_be_empty(*one));
                            sums[1].extend(kept.map(|(_, other)| Atom::Shape(other)));
                        }
                        Self::add(parts, head, sums);
                    }
                }
            }
        }
    }

    /// What transforms code.
    pub fn transform(&mut self) -> &mut dyn Transform {
        *self.transform.as_mut().expect("transforming operations have a transform")
    }
}

/// The head of the sum of two values that `plus` adds part by part; `None` if they do not conform.
///
/// The lists of environments of different code conform only where nothing else can stand: in sums, only lists of one
/// and the same code ever meet, and to allow for others would mix their parts.
pub fn sum_head(x: Head, y: Head, single: bool) -> Option<Head> {
    match (x, y) {
        (Head::Pair(p), Head::Pair(q)) if p != q => (single || p.is_none() || q.is_none()).then_some(Head::Pair(None)),
        // The sum of a truth value and itself.
        (Head::Bool(Some(p)), Head::Bool(Some(q))) if p != q => None,
        (Head::Bool(known), Head::Bool(None)) | (Head::Bool(None), Head::Bool(known)) => Some(Head::Bool(known)),
        _ => (x.class() == y.class() && conforms(x)).then(|| x.join(y)),
    }
}

/// Whether values of a head are made of two parts that sensitivities have, too: pairs and records.
pub fn is_pair(head: Head) -> bool {
    matches!(head, Head::Pair(_) | Head::Record(_))
}

/// Whether values of two heads are pairs, or records of one kind.
pub fn are_pairs(x: Head, y: Head) -> bool {
    match (x, y) {
        (Head::Pair(_), Head::Pair(_)) => true,
        (Head::Record(kind), Head::Record(other)) => kind == other,
        _ => false,
    }
}

/// Whether `plus` adds two values built by this head part by part.
fn conforms(head: Head) -> bool {
    match head {
        Head::Nil | Head::Pair(_) | Head::Series | Head::Reverse | Head::Bundle | Head::Closure(..) => true,
        Head::Vector | Head::Bool(_) | Head::Record(_) => true,
        Head::Text(_) | Head::Real(_) | Head::ZeroOf(_) | Head::OneHot(_) | Head::Beginning | Head::Nothing => false,
    }
}

/// What is known of the sum of two sensitivities.
fn add_facts(a: Fact, b: Fact) -> Fact {
    match (a, b) {
        (Fact::Zero, other) | (other, Fact::Zero) => other,
        (Fact::PerhapsZero, Fact::PerhapsZero) => Fact::PerhapsZero,
        (Fact::Known(x), Fact::Known(y)) => Fact::of(f64::from_bits(x) + f64::from_bits(y)),
        _ => Fact::Unknown,
    }
}
