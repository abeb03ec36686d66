//! How values of a shape are represented: as a tuple of SSA values, its *leaves*.
//!
//! | shape | leaves |
//! |---|---|
//! | `()`, a known number, boolean or text | none |
//! | a real, a boolean, a text | one |
//! | a product | those of its parts, in order |
//! | a vector | its length, and a pointer to its elements unless these have no leaves (see [`crate::specialize::operators::vector`]) |
//! | a one-hot vector | its length, the place, the elements of the vector unless their zeros are the same, and the part; |
//! | | further places, each with its part: -1 and anything for none |
//! | the beginning of a vector | the same, with the number of elements so far between |
//! | a sum that does not contain itself | the tag, then slots that the alternatives share, by type (see [`Leaf`]) |
//! | a sum that contains itself | one pointer to a box, which holds the alternative's leaves (see [`super::boxes`]) |
//! | a small sum within one that contains it | as a sum that does not contain itself (see [`super::cycles`]) |
//! | what would have more than [`MAX_FLAT`] leaves, in large programs also a sum of more than [`MAX_NARROW`] | the same |
//!
//! So a value has few leaves however large it is, and a list of a thousand known positions is a chain of some boxes of
//! as many leaves each.
//!
//! Invariant: `*j`, `*j-inverse` and `j*` keep the leaves of a shape; boxed shapes that they turn into each other are
//! one sum of the SSA program ([`Layouts::unify`]).

use super::boxes::{Cases, Choice};
use super::cycles::boxed_parts;
use crate::core::ir::Program;
use crate::shape::lattice::{Alternative, Fact, Head, Shape, Shapes};
use crate::shape::operators::is_number;
use crate::shape::vector::Most;
use crate::ssa::ir::{self, SumId, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

/// A value with more leaves than this is boxed. What a loop carries should not be (a box would be made in each round);
/// more than this would not stay in registers anyway.
pub const MAX_FLAT: usize = 64;

/// The same for a choice in programs that are large. What takes choices apart and makes them mentions each leaf, and
/// most of such programs is that.
const MAX_NARROW: usize = 6;

/// The representation of a shape.
#[derive(Clone, Copy, Debug)]
pub enum Layout {
    /// At most one alternative: its leaves follow each other.
    Product,
    /// A tag and shared slots.
    Union {
        /// How many slots of each class (see [`Leaf::class`]) follow the tag.
        slots: Slots,
    },
    /// A pointer to a box.
    Boxed(SumId),
}

/// Numbers by classes of slots.
pub type Slots = [usize; 8];

/// The order of the types of slots in a union; those for captured zeros follow, in the same order.
pub const SLOT_TYPES: [Type; 4] = [Type::F64, Type::Bool, Type::Int, Type::Ptr];

/// A part of the representation of a value.
///
/// What a folded zero holds is the value that it is the zero of. Backpropagators capture one for each variable that
/// they owe a sensitivity which they have not computed, and mostly nobody unfolds it. If it shared a slot with what
/// other alternatives need, it would be kept as they are: each round of a tape would hold a version of a vector that
/// could otherwise be changed in place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leaf {
    pub ty: Type,
    role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Value,
    /// A part of a folded zero.
    Zero,
    /// A part of a folded zero that a closure has captured.
    CapturedZero,
}

impl Leaf {
    /// Which slots of unions it takes.
    pub fn class(self) -> usize {
        let class =
            SLOT_TYPES.iter().position(|slot| *slot == self.ty).expect("values of the language are of these types");
        class + if self.role == Role::CapturedZero { SLOT_TYPES.len() } else { 0 }
    }

    fn value(ty: Type) -> Leaf {
        Leaf { ty, role: Role::Value }
    }

    /// The leaf of a slot of that class.
    fn of_class(class: usize) -> Leaf {
        let role = if class < SLOT_TYPES.len() { Role::Value } else { Role::CapturedZero };
        Leaf { ty: SLOT_TYPES[class % SLOT_TYPES.len()], role }
    }

    /// What it is in a value with that head.
    fn within(self, head: Head) -> Leaf {
        let role = match (self.role, head) {
            (Role::Value, Head::ZeroOf(_)) => Role::Zero,
            (Role::Zero, Head::Closure(..)) => Role::CapturedZero,
            (role, _) => role,
        };
        Leaf { role, ..self }
    }
}

/// What is known of a shape.
#[derive(Clone, Debug)]
struct Known {
    layout: Layout,
    leaves: Rc<[Leaf]>,
    types: Rc<[Type]>,
}

/// Memoised layouts.
#[derive(Debug, Default)]
pub struct Layouts {
    /// By the numbers of shapes, since they are asked for all the time.
    known: Vec<Option<Known>>,
    sums: FxHashMap<Shape, SumId>,
    open: FxHashSet<Shape>,
    /// For shapes that contain themselves, whether they are boxes.
    boxed: FxHashMap<Shape, bool>,
    /// See [`super::boxes`].
    pub(in crate::specialize) cases: FxHashMap<Shape, Rc<[Cases]>>,
    /// The first choice among the parts of a product.
    pub(super) choices: FxHashMap<Shape, Option<Choice>>,
    /// Whether the program is large, so that only narrow choices are not boxed.
    has_narrow_unions: bool,
    /// Sums that are the same as another.
    same: FxHashMap<SumId, SumId>,
    /// What [`Layouts::unify`] has answered.
    alike: FxHashMap<(Shape, Shape), bool>,
    /// Shapes of boxed sums whose alternatives have not been written to the program yet.
    unwritten: Vec<Shape>,
}

impl Layouts {
    /// No layouts yet.
    pub fn new(has_narrow_unions: bool) -> Layouts {
        Layouts { has_narrow_unions, ..Layouts::default() }
    }

    /// The types of the leaves of a shape.
    pub fn leaves(&mut self, shapes: &Shapes, program: &mut ir::Program, shape: Shape) -> Rc<[Type]> {
        Rc::clone(&self.of(shapes, program, shape).types)
    }

    /// What is known of a shape, found if need be.
    fn of(&mut self, shapes: &Shapes, program: &mut ir::Program, shape: Shape) -> &Known {
        if self.known(shape).is_none() {
            self.find(shapes, program, shape);
        }
        self.known(shape).expect("it was found")
    }

    fn find(&mut self, shapes: &Shapes, program: &mut ir::Program, shape: Shape) {
        let alternatives = shapes.alternatives(shape);
        let is_sum = alternatives.len() > 1;
        let is_recursive = shapes.is_recursive(shape);
        let is_box = is_recursive && self.is_box(shapes, shape);
        let cyclic = is_box || is_recursive && !is_sum && !self.open.insert(shape);
        let flat = (!cyclic).then(|| self.flat(shapes, program, &alternatives));
        // A cycle of products has been cut at this shape meanwhile: then it is a box.
        if self.known(shape).is_some() {
            return;
        }
        let (layout, leaves) = match flat {
            Some((layout, leaves)) if leaves.len() <= self.most_flat(&layout) => (layout, leaves),
            _ => (Layout::Boxed(self.sum(program, shape)), vec![Leaf::value(Type::Ptr)]),
        };
        if self.known.len() < shapes.len() {
            self.known.resize(shapes.len(), None);
        }
        let types = leaves.iter().map(|leaf| leaf.ty).collect();
        self.known[shape.0 as usize] = Some(Known { layout, leaves: leaves.into(), types });
    }

    fn known(&self, shape: Shape) -> Option<&Known> {
        self.known.get(shape.0 as usize)?.as_ref()
    }

    /// How many leaves a value of that layout may have.
    fn most_flat(&self, layout: &Layout) -> usize {
        match layout {
            Layout::Union { .. } if self.has_narrow_unions => MAX_NARROW,
            _ => MAX_FLAT,
        }
    }

    fn is_box(&mut self, shapes: &Shapes, shape: Shape) -> bool {
        if !self.boxed.contains_key(&shape) {
            self.boxed.extend(boxed_parts(shapes, shape));
        }
        self.boxed.get(&shape).copied().unwrap_or(false)
    }

    /// The layout of a value that is not boxed, and its leaves.
    fn flat(
        &mut self,
        shapes: &Shapes,
        program: &mut ir::Program,
        alternatives: &[Alternative],
    ) -> (Layout, Vec<Leaf>) {
        match alternatives {
            [] => return (Layout::Product, Vec::new()),
            [only] => return (Layout::Product, self.alternative(shapes, program, only)),
            _ => {}
        }
        let mut slots: Slots = [0; 8];
        for alternative in alternatives {
            let mut counts: Slots = [0; 8];
            for leaf in self.alternative(shapes, program, alternative) {
                counts[leaf.class()] += 1;
            }
            for (slot, count) in slots.iter_mut().zip(counts) {
                *slot = count.max(*slot);
            }
        }
        let mut leaves = vec![Leaf::value(Type::Int)];
        for (class, count) in slots.into_iter().enumerate() {
            leaves.extend(std::iter::repeat_n(Leaf::of_class(class), count));
        }
        (Layout::Union { slots }, leaves)
    }

    /// The types of the leaves of one alternative.
    pub fn types(&mut self, shapes: &Shapes, program: &mut ir::Program, alternative: &Alternative) -> Vec<Type> {
        self.alternative(shapes, program, alternative).into_iter().map(|leaf| leaf.ty).collect()
    }

    /// The leaves of one alternative: its own, or those of its parts in order.
    pub fn alternative(&mut self, shapes: &Shapes, program: &mut ir::Program, alternative: &Alternative) -> Vec<Leaf> {
        let types = match alternative.head {
            Head::Real(Fact::Unknown | Fact::PerhapsZero) => vec![Type::F64],
            Head::Bool(None) => vec![Type::Bool],
            Head::Text(None) => vec![Type::Int],
            Head::Vector | Head::Beginning => {
                let mut leaves = vec![Type::Int];
                leaves.extend((alternative.head == Head::Beginning).then_some(Type::Int));
                leaves.extend(self.has_leaves(shapes, program, alternative.children[0]).then_some(Type::Ptr));
                leaves
            }
            Head::OneHot(places) => {
                let mut leaves = vec![Type::Int, Type::Int];
                leaves.extend((!shapes.is_constant(alternative.children[0])).then_some(Type::Ptr));
                if let Most::Few(most) = places.most {
                    let part = self.leaves(shapes, program, alternative.children[1]);
                    leaves.extend_from_slice(&part);
                    for _ in 1..most {
                        leaves.push(Type::Int);
                        leaves.extend_from_slice(&part);
                    }
                } else {
                    leaves.extend([Type::Int, Type::Ptr]);
                }
                leaves
            }
            head => {
                let mut leaves = Vec::new();
                for child in alternative.children.iter() {
                    let parts = &self.of(shapes, program, *child).leaves;
                    leaves.extend(parts.iter().map(|leaf| leaf.within(head)));
                }
                return leaves;
            }
        };
        types.into_iter().map(Leaf::value).collect()
    }

    /// Whether the elements of a vector have leaves. Those that contain vectors of their own kind do: their lengths.
    pub fn has_leaves(&mut self, shapes: &Shapes, program: &mut ir::Program, element: Shape) -> bool {
        shapes.is_recursive(element) || !self.leaves(shapes, program, element).is_empty()
    }

    /// The representation of a shape.
    pub fn layout(&mut self, shapes: &Shapes, program: &mut ir::Program, shape: Shape) -> Layout {
        self.of(shapes, program, shape).layout
    }

    fn sum(&mut self, program: &mut ir::Program, shape: Shape) -> SumId {
        if let Some(sum) = self.sums.get(&shape) {
            return *sum;
        }
        let sum = program.sums.push(ir::Sum::default());
        self.sums.insert(shape, sum);
        self.unwritten.push(shape);
        sum
    }

    /// Writes the alternatives of all sums mentioned so far; the fields of a sum may mention further ones.
    pub fn write_sums(&mut self, core: &Program, shapes: &Shapes, program: &mut ir::Program) {
        while let Some(shape) = self.unwritten.pop() {
            let mut alternatives = Vec::new();
            let cases = self.cases(shapes, program, shape);
            for (alternative, cases) in shapes.alternatives(shape).iter().zip(cases.iter()) {
                let outer = name(core, alternative.head);
                for (case, fields) in cases.fields.iter().enumerate() {
                    let name = match cases.choice {
                        Some(choice) => {
                            let inner = name(core, shapes.alternatives(choice.shape)[case].head);
                            format!("{outer} {inner}").into()
                        }
                        None => outer.clone(),
                    };
                    alternatives.push(ir::Alternative { name, fields: fields.clone() });
                }
            }
            let sum = self.sums[&shape];
            program.sums[sum].alternatives = alternatives;
        }
    }

    /// Makes the boxed sums of two shapes that a transformation turns into each other the same. False, and nothing
    /// done, when the two are not laid out alike.
    pub fn unify(&mut self, shapes: &Shapes, program: &mut ir::Program, a: Shape, b: Shape) -> bool {
        if let Some(known) = self.alike.get(&(a, b)) {
            return *known;
        }
        let mut pairs = FxHashSet::default();
        let alike = self.unify_pairs(shapes, program, (a, b), &mut pairs);
        if alike {
            self.alike.extend(pairs.into_iter().map(|pair| (pair, true)));
        }
        self.alike.insert((a, b), alike);
        alike
    }

    /// A shape without what has no representation around it: reverse tags, and what makes a series of a constant.
    fn strip(&mut self, shapes: &Shapes, program: &mut ir::Program, mut shape: Shape) -> Shape {
        while let Some(alternative) = shapes.single(shape)
            && (alternative.head == Head::Reverse
                || alternative.head == Head::Series && self.leaves(shapes, program, alternative.children[1]).is_empty())
        {
            shape = alternative.children[0];
        }
        shape
    }

    /// [`unify`](Self::unify) for what has not been asked; the pairs of parts that must be alike for that.
    fn unify_pairs(
        &mut self,
        shapes: &Shapes,
        program: &mut ir::Program,
        root: (Shape, Shape),
        seen: &mut FxHashSet<(Shape, Shape)>,
    ) -> bool {
        let (mut pending, mut same) = (vec![root], Vec::new());
        while let Some((a, b)) = pending.pop() {
            match self.alike.get(&(a, b)) {
                Some(false) => return false,
                Some(true) => continue,
                None if a == b || !seen.insert((a, b)) => continue,
                None => {}
            }
            if self.leaves(shapes, program, a) != self.leaves(shapes, program, b) {
                return false;
            }
            let [a, b] = [a, b].map(|shape| self.strip(shapes, program, shape));
            let (left, right) = (shapes.alternatives(a), shapes.alternatives(b));
            if left.len() != right.len() {
                return false;
            }
            match (self.layout(shapes, program, a), self.layout(shapes, program, b)) {
                (Layout::Boxed(p), Layout::Boxed(q)) => {
                    let fields = |cases: &Cases| cases.fields.clone();
                    let left: Vec<_> = self.cases(shapes, program, a).iter().map(fields).collect();
                    let right: Vec<_> = self.cases(shapes, program, b).iter().map(fields).collect();
                    if left != right {
                        return false;
                    }
                    same.push((p, q));
                }
                (Layout::Boxed(_), _) | (_, Layout::Boxed(_)) => return false,
                (Layout::Union { slots: p }, Layout::Union { slots: q }) if p != q => return false,
                _ => {}
            }
            for (x, y) in left.iter().zip(right.iter()) {
                match (x.head, y.head) {
                    // A number and what a transformation has made of it: what they add to the leaves decides, unless
                    // they hold boxes themselves.
                    (f, g) if is_number(f) && is_number(g) => {
                        let leaves = self.alternative(shapes, program, x);
                        if leaves != self.alternative(shapes, program, y) {
                            return false;
                        }
                        if !leaves.iter().any(|leaf| leaf.ty == Type::Ptr) {
                            continue;
                        }
                        if f.class() != g.class() {
                            return false;
                        }
                    }
                    _ if x.children.len() != y.children.len() => return false,
                    _ => {}
                }
                pending.extend(x.children.iter().copied().zip(y.children.iter().copied()));
            }
        }
        for (p, q) in same {
            let (p, q) = (self.representative(p), self.representative(q));
            if p != q {
                self.same.insert(q.max(p), p.min(q));
            }
        }
        true
    }

    /// The sum that stands for all that are the same.
    pub fn representative(&self, mut sum: SumId) -> SumId {
        while let Some(same) = self.same.get(&sum) {
            sum = *same;
        }
        sum
    }
}

/// What an alternative is called.
fn name(core: &Program, head: Head) -> Arc<str> {
    match head {
        Head::Nil => "nil".into(),
        Head::Nothing => "nothing".into(),
        Head::Bool(_) => "boolean".into(),
        Head::Text(_) => "text".into(),
        Head::Real(_) => "real".into(),
        Head::Reverse => "reverse".into(),
        Head::Bundle => "bundle".into(),
        Head::Series => "series".into(),
        Head::Pair(_) => "pair".into(),
        Head::Record(kind) => core.records[kind].name.as_ref().into(),
        Head::Closure(code, _) => core.lambdas[code.lambda].name.as_ref().into(),
        Head::ZeroOf(_) => "zero".into(),
        Head::Vector | Head::Beginning => "vector".into(),
        Head::OneHot(_) => "one-hot".into(),
    }
}
