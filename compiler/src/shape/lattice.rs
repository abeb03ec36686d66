//! Shapes: the abstract values of the flow analysis.
//!
//! A shape describes a set of values. It is a set of [`Alternative`]s, at most one for each [`Class`] of values: the
//! empty set is ⊥ (no value: the computation fails or does not end), one alternative is a product (only its unknown
//! leaves are decided at run time), more are a sum with a run-time tag.
//!
//! Shapes are graphs: a child may be the shape itself or one further up, so data of unbounded depth have a finite
//! shape. `list of reals = {(), (real . list of reals)}`.
//!
//! Invariant (canonical form): two shapes that unfold to the same infinite tree are the same [`Shape`] id. Acyclic
//! nodes are hash-consed; a new strongly connected component is minimised by partition refinement, as one minimises an
//! automaton, and then compared with the recursive shapes that exist. So equality of shapes is equality of ids.

use super::collapse::Grade;
use super::known::Known;
use super::minimise::minimise;
use super::vector::Places;
use crate::ad::tower::Tower;
use crate::core::ir::{LambdaId, RecordId};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Unless it is told, a shape with more parts than this is made small.
pub const MAX_PARTS: usize = 5000;

/// A shape in a [`Shapes`] table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Shape(pub u32);

/// What is known of a real.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fact {
    /// A number that is decided at run time.
    Unknown,
    /// A number or the symbolic zero, decided at run time.
    PerhapsZero,
    /// The symbolic zero sensitivity: the number 0 to everything but `plus`, `scale` and `unscale`.
    Zero,
    /// The double with these bits.
    Known(u64),
}

impl Fact {
    /// The number, if it is known.
    pub fn number(self) -> Option<f64> {
        match self {
            Fact::Unknown | Fact::PerhapsZero => None,
            Fact::Zero => Some(0.0),
            Fact::Known(bits) => Some(f64::from_bits(bits)),
        }
    }
    /// The least fact that covers both.
    pub fn join(self, other: Fact) -> Fact {
        let perhaps_zero = |fact| matches!(fact, Fact::Zero | Fact::PerhapsZero);
        if self == other {
            self
        } else if perhaps_zero(self) || perhaps_zero(other) {
            Fact::PerhapsZero
        } else {
            Fact::Unknown
        }
    }
    /// What is left when known numbers are forgotten.
    pub fn forget(self) -> Fact {
        match self {
            Fact::Zero | Fact::PerhapsZero => Fact::PerhapsZero,
            Fact::Known(_) | Fact::Unknown => Fact::Unknown,
        }
    }
    /// The known number `x`.
    pub fn of(x: f64) -> Fact {
        Fact::Known(x.to_bits())
    }
}

/// The code of a closure. Ordered by the λ that it is a transform of and then by the transformations, so that `*j`
/// keeps the order of the alternatives of a sum and with it their tags.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Code {
    /// The λ at the start of the chain of transformations.
    pub base: LambdaId,
    /// How it has been transformed.
    pub tower: Tower,
    /// The λ itself.
    pub lambda: LambdaId,
}

/// The constructor of an alternative, with what is known of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Head {
    /// `()`
    Nil,
    /// A boolean, possibly a known one.
    Bool(Option<bool>),
    /// A text, possibly a known one (its number in the program's table).
    Text(Option<u32>),
    /// A real.
    Real(Fact),
    /// A reverse value of the child.
    Reverse,
    /// A number and its tangent.
    Bundle,
    /// A power series: its constant term, and the list of its further coefficients.
    Series,
    /// A pair of the two children; the list of the sensitivities of a closure's environment says of which code.
    Pair(Option<Code>),
    /// A record of that kind: what a pair of the two children would be, under another name.
    Record(RecordId),
    /// A closure, and whether it has been read from data; the children are its environment.
    Closure(Code, Site),
    /// A vector; the child covers all elements, and is ⊥ if there is none.
    Vector,
    /// The beginning of a vector, in the same way.
    Beginning,
    /// A sensitivity of a vector that is zero but in so many places at most, a few: what its elements are zeros of (or
    /// a zero, where all of these are the same), and what is in those places.
    OneHot(Places),
    /// The zero sensitivity of the child, not yet unfolded: making it costs nothing. That of a vector which closures in
    /// data share says so.
    ZeroOf(Site),
    /// No sensitivity, see [`Const::Nothing`](crate::core::ir::Const::Nothing).
    Nothing,
}

/// Where a value is whose zero is taken, or where a closure comes from, or the vector that a folded zero is the zero
/// of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Site {
    /// Not in data.
    Value,
    /// An element of a vector, or a part of a pair.
    Data,
}

impl Site {
    /// Where the parts are of a value with that head.
    pub fn within(self, head: Head) -> Site {
        match head {
            Head::Vector | Head::Beginning | Head::OneHot(_) | Head::Pair(None) | Head::Record(_) => Site::Data,
            Head::Closure(_, site) => self.max(site),
            _ => self,
        }
    }
}

/// What distinguishes alternatives: a head without what is known of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    Nil,
    Bool,
    Text,
    Real,
    Reverse,
    Bundle,
    Series,
    Pair(Option<Code>),
    Record(RecordId),
    Closure(Code),
    Vector,
    Beginning,
    OneHot,
    ZeroOf,
    Nothing,
}

impl Head {
    /// Whether the child covers elements of which there may be none.
    pub fn holds_elements(self) -> bool {
        matches!(self, Head::Vector | Head::Beginning)
    }
    /// The class of values that the head builds.
    pub fn class(self) -> Class {
        match self {
            Head::Nil => Class::Nil,
            Head::Bool(_) => Class::Bool,
            Head::Text(_) => Class::Text,
            Head::Real(_) => Class::Real,
            Head::Reverse => Class::Reverse,
            Head::Bundle => Class::Bundle,
            Head::Series => Class::Series,
            Head::Pair(code) => Class::Pair(code),
            Head::Record(kind) => Class::Record(kind),
            Head::Closure(code, _) => Class::Closure(code),
            Head::Vector => Class::Vector,
            Head::Beginning => Class::Beginning,
            Head::OneHot(_) => Class::OneHot,
            Head::ZeroOf(_) => Class::ZeroOf,
            Head::Nothing => Class::Nothing,
        }
    }
    /// The least head that covers two heads of one class.
    pub fn join(self, other: Head) -> Head {
        if self == other {
            return self;
        }
        match (self, other) {
            (Head::Bool(_), _) => Head::Bool(None),
            (Head::Text(_), _) => Head::Text(None),
            (Head::Real(x), Head::Real(y)) => Head::Real(x.join(y)),
            (Head::OneHot(x), Head::OneHot(y)) => Head::OneHot(x.join(y)),
            (Head::Closure(code, x), Head::Closure(_, y)) => Head::Closure(code, x.max(y)),
            (Head::ZeroOf(x), Head::ZeroOf(y)) => Head::ZeroOf(x.max(y)),
            _ => self,
        }
    }
}

/// One alternative of a shape.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Alternative {
    /// The constructor.
    pub head: Head,
    /// The shapes of its parts.
    pub children: Rc<[Shape]>,
}

impl Alternative {
    /// Whether all its values are symbolic zeros and empty lists, given for which parts that is so.
    fn is_zero_if(&self, is_zero: impl Fn(Shape) -> bool) -> bool {
        match self.head {
            Head::Nil | Head::ZeroOf(_) | Head::Nothing | Head::Real(Fact::Zero) => true,
            Head::Pair(_) | Head::Record(_) | Head::Series | Head::Bundle | Head::Reverse | Head::Vector => {
                self.children.iter().all(|part| is_zero(*part))
            }
            Head::OneHot(_) => is_zero(self.children[1]),
            Head::Real(_) | Head::Bool(_) | Head::Text(_) | Head::Closure(..) | Head::Beginning => false,
        }
    }
}

#[derive(Clone, Debug)]
struct Node {
    alternatives: Rc<[Alternative]>,
    /// The shape contains itself.
    recursive: bool,
    /// See [`Shapes::depth`].
    depth: u32,
    /// See [`Shapes::has_holes`].
    has_holes: bool,
    /// See [`Shapes::is_zero`].
    is_zero: bool,
    /// See [`Shapes::grade`].
    grade: Grade,
}

/// A reference in a graph under construction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ref {
    /// A finished shape.
    Done(Shape),
    /// A node of the graph.
    New(usize),
}

/// The alternatives of a node under construction, in class order.
pub type NewNode = Vec<(Head, Vec<Ref>)>;

/// Hashes of a recursive shape unfolded to more and more levels; shapes that unfold to the same tree have the same.
type Fingerprints = [u64; 8];

/// So few alternatives are all tried where one that fits is looked for.
const FEW: usize = 8;

/// The table of all shapes.
#[derive(Clone, Debug)]
pub struct Shapes {
    nodes: Vec<Node>,
    interned: FxHashMap<Rc<[Alternative]>, Shape>,
    /// Recursive shapes by the last of their fingerprints.
    recursive: FxHashMap<u64, Vec<Shape>>,
    /// The fingerprints of recursive shapes.
    fingerprints: FxHashMap<Shape, Fingerprints>,
    /// Results of the operations that walk a shape, so that shared parts are walked once.
    pub known: Known,
    /// Whether widening is to make shapes small instead of finding out how they grow.
    pub coarse: bool,
    /// What would have more parts than this is made by unification.
    pub max_parts: usize,
    /// Whether what `real` gives is as well known as its operand.
    pub open_reals: bool,
    /// Whether `real` has made a known number unknown.
    pub hides_numbers: Cell<bool>,
    /// See [`Shapes::steps`].
    steps: Cell<usize>,
    /// See [`Shapes::is_exhausted`].
    pub max_steps: usize,
}

impl Default for Shapes {
    fn default() -> Self {
        Shapes::new()
    }
}

impl Shapes {
    /// The empty shape.
    pub const BOTTOM: Shape = Shape(0);

    /// A table that holds ⊥ only.
    pub fn new() -> Shapes {
        let mut shapes = Shapes {
            nodes: Vec::new(),
            interned: FxHashMap::default(),
            recursive: FxHashMap::default(),
            fingerprints: FxHashMap::default(),
            known: Known::default(),
            coarse: false,
            max_parts: MAX_PARTS,
            open_reals: false,
            hides_numbers: Cell::new(false),
            steps: Cell::new(0),
            max_steps: usize::MAX,
        };
        shapes.intern(Vec::new());
        shapes
    }

    /// How much work has been done with the shapes of this table: a measure of time that is the same on every machine.
    pub fn steps(&self) -> usize {
        self.steps.get()
    }
    /// Counts so many steps of work.
    pub fn work(&self, steps: usize) {
        self.steps.set(self.steps.get() + steps);
    }
    /// Whether more work has been done than is allowed. From then on operations may end early with any result, ⊥ for
    /// example: whoever sets a limit asks before a result is used.
    pub fn is_exhausted(&self) -> bool {
        self.steps.get() > self.max_steps
    }
    /// The alternatives in class order.
    pub fn alternatives(&self, shape: Shape) -> Rc<[Alternative]> {
        self.work(1);
        self.nodes[shape.0 as usize].alternatives.clone()
    }
    /// The number of alternatives.
    pub fn count(&self, shape: Shape) -> usize {
        self.nodes[shape.0 as usize].alternatives.len()
    }
    /// Whether the shape contains itself.
    pub fn is_recursive(&self, shape: Shape) -> bool {
        self.nodes[shape.0 as usize].recursive
    }
    /// The length of the longest path in the shape; [`u32::MAX`] when a part of it is recursive.
    pub fn depth(&self, shape: Shape) -> u32 {
        self.nodes[shape.0 as usize].depth
    }
    /// How much there is inside the shape.
    pub fn grade(&self, shape: Shape) -> Grade {
        self.nodes[shape.0 as usize].grade
    }
    /// Whether values of the shape may contain [`Head::Nothing`].
    pub fn has_holes(&self, shape: Shape) -> bool {
        self.nodes[shape.0 as usize].has_holes
    }
    /// Whether all values of the shape consist of symbolic zeros and empty lists.
    pub fn is_zero(&self, shape: Shape) -> bool {
        self.nodes[shape.0 as usize].is_zero
    }
    /// Number of shapes made so far.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// Never true: ⊥ is always there.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    /// The only alternative, if there is just one.
    pub fn single(&self, shape: Shape) -> Option<Alternative> {
        match &*self.nodes[shape.0 as usize].alternatives {
            [alternative] => Some(alternative.clone()),
            _ => None,
        }
    }
    /// The alternative of that class, if there is one.
    pub fn find(&self, shape: Shape, class: Class) -> Option<Alternative> {
        self.position(shape, class).map(|tag| self.nodes[shape.0 as usize].alternatives[tag].clone())
    }
    /// The position of the alternative of that class.
    pub fn position(&self, shape: Shape, class: Class) -> Option<usize> {
        self.nodes[shape.0 as usize].alternatives.binary_search_by_key(&class, |a| a.head.class()).ok()
    }

    /// The positions of the alternatives of a shape that may be added to a value with that head: with the other
    /// alternatives it has no sum. Sums of hundreds of alternatives each would take long to try in pairs.
    pub fn perhaps_added(&self, head: Head, shape: Shape) -> Vec<usize> {
        let count = self.count(shape);
        let meets_all = matches!(head, Head::Nothing | Head::ZeroOf(_) | Head::Pair(None));
        let mut positions: Vec<usize> = if meets_all || count < FEW {
            (0..count).collect()
        } else {
            let always = [Class::Nothing, Class::ZeroOf, Class::Pair(None), Class::Vector, Class::OneHot];
            always.into_iter().chain([head.class()]).filter_map(|class| self.position(shape, class)).collect()
        };
        positions.sort_unstable();
        positions.dedup();
        self.work(positions.len());
        positions
    }

    /// A shape with one alternative.
    pub fn make(&mut self, head: Head, children: &[Shape]) -> Shape {
        let parts = (head, SmallVec::from_slice(children));
        if let Some(shape) = self.known.made.get(&parts) {
            return *shape;
        }
        let shape = self.intern(vec![Alternative { head, children: children.into() }]);
        self.known.made.insert(parts, shape);
        shape
    }
    /// `()`
    pub fn nil(&mut self) -> Shape {
        self.make(Head::Nil, &[])
    }
    /// A real.
    pub fn real(&mut self, fact: Fact) -> Shape {
        self.make(Head::Real(fact), &[])
    }
    /// A boolean.
    pub fn boolean(&mut self, known: Option<bool>) -> Shape {
        self.make(Head::Bool(known), &[])
    }
    /// A pair.
    pub fn pair(&mut self, car: Shape, cdr: Shape) -> Shape {
        self.make(Head::Pair(None), &[car, cdr])
    }
    /// A list of known length.
    pub fn list(&mut self, items: &[Shape]) -> Shape {
        let mut tail = self.nil();
        for item in items.iter().rev() {
            tail = self.pair(*item, tail);
        }
        tail
    }

    /// The shape with these alternatives, which are in class order and have finished children.
    pub fn intern(&mut self, alternatives: Vec<Alternative>) -> Shape {
        debug_assert!(
            alternatives.is_sorted_by_key(|a| a.head.class()),
            "alternatives are in the order of their classes"
        );
        let alternatives: Rc<[Alternative]> = self.with_stored_elements(alternatives).into();
        if let Some(shape) = self.interned.get(&alternatives) {
            return *shape;
        }
        let shape = Shape(u32::try_from(self.nodes.len()).expect("fewer than 2^32 shapes"));
        let below = alternatives.iter().flat_map(|a| a.children.iter()).map(|child| self.depth(*child)).max();
        let depth = below.map_or(0, |depth| depth.saturating_add(1));
        let is_hole =
            |a: &Alternative| a.head == Head::Nothing || a.children.iter().any(|child| self.has_holes(*child));
        let has_holes = alternatives.iter().any(is_hole);
        let is_zero = alternatives.iter().all(|a| a.is_zero_if(|part| self.is_zero(part)));
        let grade = Grade::of(&alternatives, |child| self.grade(child));
        let recursive = false;
        self.nodes.push(Node { alternatives: alternatives.clone(), recursive, depth, has_holes, is_zero, grade });
        self.interned.insert(alternatives, shape);
        shape
    }

    /// Finishes a graph: the canonical shape of each of its nodes.
    pub fn finish(&mut self, mut graph: Vec<NewNode>) -> Vec<Shape> {
        self.work(graph.len());
        let mut done: Vec<Option<Shape>> = vec![None; graph.len()];
        for component in components(&graph) {
            if let [node] = component[..]
                && !graph[node].iter().any(|(_, children)| children.contains(&Ref::New(node)))
            {
                let alternatives = self.resolve(&graph[node], &done);
                done[node] = Some(self.intern(alternatives));
            } else {
                self.store_in_component(&mut graph, &component, &done);
                self.finish_component(&graph, &component, &mut done);
            }
        }
        done.into_iter().map(|shape| shape.expect("every node lies in one component")).collect()
    }

    fn resolve(&self, node: &NewNode, done: &[Option<Shape>]) -> Vec<Alternative> {
        let resolve = |child: &Ref| match child {
            Ref::Done(shape) => *shape,
            Ref::New(node) => done[*node].expect("components are finished in dependency order"),
        };
        node.iter()
            .map(|(head, children)| Alternative { head: *head, children: children.iter().map(resolve).collect() })
            .collect()
    }

    /// Finishes a strongly connected component whose outside children are finished.
    fn finish_component(&mut self, graph: &[NewNode], component: &[usize], done: &mut [Option<Shape>]) {
        let fingerprints = self.fingerprints(graph, component, done);
        if let Some(found) = self.existing(graph, component, done, fingerprints[&component[0]]) {
            for (node, shape) in found {
                done[node] = Some(shape);
            }
            return;
        }
        let classes = minimise(graph, component, done);
        self.work(component.len() * component.len().ilog2() as usize);
        let first = self.nodes.len();
        let shape_of = |class: usize| Shape(u32::try_from(first + class).expect("fewer than 2^32 shapes"));
        let mut first_members = Vec::new();
        for (node, class) in component.iter().zip(classes) {
            done[*node] = Some(shape_of(class));
            if class == first_members.len() {
                first_members.push(*node);
            }
        }
        let is_outside = |child: &&Shape| (child.0 as usize) < first;
        let all: Vec<Alternative> = component.iter().flat_map(|node| self.resolve(&graph[*node], done)).collect();
        let has_holes = all.iter().any(|a| {
            a.head == Head::Nothing || a.children.iter().filter(is_outside).any(|child| self.has_holes(*child))
        });
        let is_zero = all.iter().all(|a| a.is_zero_if(|part| !is_outside(&&part) || self.is_zero(part)));
        for (class, node) in first_members.into_iter().enumerate() {
            let alternatives: Rc<[Alternative]> = self.resolve(&graph[node], done).into();
            let shape = shape_of(class);
            let (recursive, depth) = (true, u32::MAX);
            let grade = Grade::default();
            self.nodes.push(Node { alternatives: alternatives.clone(), recursive, depth, has_holes, is_zero, grade });
            self.interned.insert(alternatives, shape);
            let fingerprints = fingerprints[&node];
            self.recursive.entry(fingerprints[fingerprints.len() - 1]).or_default().push(shape);
            self.fingerprints.insert(shape, fingerprints);
        }
        self.settle_grades(first);
    }

    /// The grades of the shapes from `first` on, which are parts of each other.
    fn settle_grades(&mut self, first: usize) {
        // In both directions, so that what lies in a long row does not take a round each.
        let mut nodes: Vec<usize> = (first..self.nodes.len()).collect();
        let mut is_stable = false;
        while !is_stable {
            is_stable = true;
            for node in &nodes {
                let grade = Grade::of(&self.nodes[*node].alternatives, |child| self.grade(child));
                is_stable &= std::mem::replace(&mut self.nodes[*node].grade, grade) == grade;
            }
            nodes.reverse();
        }
    }

    /// The fingerprints of the nodes of a component. A finished part that is not recursive cannot be equal to one of
    /// them, so its number stands for it.
    fn fingerprints(
        &self,
        graph: &[NewNode],
        component: &[usize],
        done: &[Option<Shape>],
    ) -> FxHashMap<usize, Fingerprints> {
        self.work(component.len());
        let mut all: FxHashMap<usize, Fingerprints> =
            component.iter().map(|node| (*node, Fingerprints::default())).collect();
        for level in 0..Fingerprints::default().len() {
            for node in component {
                let mut hasher = FxHasher::default();
                for (head, children) in &graph[*node] {
                    head.hash(&mut hasher);
                    for child in children.iter().filter(|_| level > 0) {
                        let finished = match child {
                            Ref::Done(shape) => Ok(*shape),
                            Ref::New(child) => done[*child].ok_or(child),
                        };
                        match finished {
                            Ok(shape) if self.is_recursive(shape) => {
                                self.fingerprints[&shape][level - 1].hash(&mut hasher);
                            }
                            Ok(shape) => shape.hash(&mut hasher),
                            Err(unfinished) => all[unfinished][level - 1].hash(&mut hasher),
                        }
                    }
                }
                all.get_mut(node).expect("a node of the component")[level] = hasher.finish();
            }
        }
        all
    }

    /// The finished recursive shapes that the nodes of a component are equal to, if it is equal to one.
    fn existing(
        &self,
        graph: &[NewNode],
        component: &[usize],
        done: &[Option<Shape>],
        fingerprints: Fingerprints,
    ) -> Option<FxHashMap<usize, Shape>> {
        let node = component[0];
        for candidate in self.recursive.get(&fingerprints[fingerprints.len() - 1])? {
            let mut assumed = FxHashSet::default();
            if self.bisimilar(graph, done, Ref::New(node), *candidate, &mut assumed) {
                let found: FxHashMap<usize, Shape> = assumed.into_iter().collect();
                if component.iter().all(|node| found.contains_key(node)) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Whether a reference and a shape unfold to the same tree, assuming that of the pairs in `assumed`.
    fn bisimilar(
        &self,
        graph: &[NewNode],
        done: &[Option<Shape>],
        reference: Ref,
        shape: Shape,
        assumed: &mut FxHashSet<(usize, Shape)>,
    ) -> bool {
        let node = match reference {
            Ref::Done(finished) => return finished == shape,
            Ref::New(node) => node,
        };
        if let Some(finished) = done[node] {
            return finished == shape;
        }
        if !assumed.insert((node, shape)) {
            return true;
        }
        let alternatives = self.alternatives(shape);
        alternatives.len() == graph[node].len()
            && alternatives.iter().zip(&graph[node]).all(|(alternative, (head, children))| {
                alternative.head == *head
                    && alternative
                        .children
                        .iter()
                        .zip(children)
                        .all(|(shape, child)| self.bisimilar(graph, done, *child, *shape, assumed))
            })
    }
}

/// Strongly connected components of a graph, callees before callers (Tarjan's algorithm).
fn components(graph: &[NewNode]) -> Vec<Vec<usize>> {
    struct State<'a> {
        graph: &'a [NewNode],
        index: Vec<Option<usize>>,
        low: Vec<usize>,
        on_stack: Vec<bool>,
        stack: Vec<usize>,
        counter: usize,
        components: Vec<Vec<usize>>,
    }
    fn visit(state: &mut State<'_>, node: usize) {
        state.index[node] = Some(state.counter);
        state.low[node] = state.counter;
        state.counter += 1;
        state.stack.push(node);
        state.on_stack[node] = true;
        let graph = state.graph;
        for child in graph[node].iter().flat_map(|(_, children)| children) {
            let Ref::New(child) = *child else { continue };
            match state.index[child] {
                None => {
                    visit(state, child);
                    state.low[node] = state.low[node].min(state.low[child]);
                }
                Some(index) if state.on_stack[child] => state.low[node] = state.low[node].min(index),
                Some(_) => {}
            }
        }
        if Some(state.low[node]) == state.index[node] {
            let start = state.stack.iter().rposition(|n| *n == node).expect("the node is on the stack");
            let component = state.stack.split_off(start);
            for member in &component {
                state.on_stack[*member] = false;
            }
            state.components.push(component);
        }
    }
    let mut state = State {
        graph,
        index: vec![None; graph.len()],
        low: vec![0; graph.len()],
        on_stack: vec![false; graph.len()],
        stack: Vec::new(),
        counter: 0,
        components: Vec::new(),
    };
    for node in 0..graph.len() {
        if state.index[node].is_none() {
            visit(&mut state, node);
        }
    }
    state.components
}
