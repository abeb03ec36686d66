//! Shapes of vectors and of their sensitivities.
//!
//! A sensitivity of a vector has one of three forms: a zero, which holds the length only or is folded; one-hot, which
//! is what reading an element gives, and the sum of reads; and a vector. Sums go from the former to the latter,
//! so that a loop that reads a vector adds to one element of a sum at each step.
//!
//! The sum of one-hot vectors has few places, whose number is in its shape, and is a vector otherwise. If it began with
//! the zero of what closures in data share, or is handed on to such a closure, it may have any number: each of n
//! closures has a sum of its own then, of which none may cost what the vector does. In loops there is one sum, which is
//! a vector.

use crate::core::prim::{Levels, Prim};
use crate::shape::algebra::{are_pairs, is_pair};
use crate::shape::lattice::{Alternative, Class, Fact, Head, Shape, Shapes, Site};
use crate::shape::primitive::real_fact;

/// A zero that would hold more lengths of vectors than this stays folded.
const MAX_LENGTHS: u32 = 16;

impl Shapes {
    /// Whether the zero of values of the shape stays folded: where it has no end, where it would hold more than a
    /// length for each vector, and where it would hold many lengths, since most code of transformed closures would copy
    /// them.
    pub fn folds_zero(&mut self, shape: Shape) -> bool {
        self.is_recursive(shape)
            || self.lengths_in_zero(shape) > MAX_LENGTHS
            || self.alternatives(shape).iter().any(|alternative| {
                alternative.head.holds_elements() && {
                    let zero = self.zero(alternative.children[0]);
                    !self.is_constant(zero)
                }
            })
    }

    /// How many lengths, and folded zeros, the zero of values of the shape would hold.
    fn lengths_in_zero(&mut self, shape: Shape) -> u32 {
        if self.is_recursive(shape) {
            return 1;
        }
        if let Some(known) = self.known.lengths.get(&shape) {
            return *known;
        }
        let each = self.alternatives(shape);
        let each = each.iter().map(|alternative| match alternative.head {
            Head::Vector | Head::Beginning | Head::OneHot(_) | Head::ZeroOf(_) => 1,
            _ => alternative.children.iter().fold(0, |sum: u32, part| sum.saturating_add(self.lengths_in_zero(*part))),
        });
        let sum = each.fold(0, u32::saturating_add);
        self.known.lengths.insert(shape, sum);
        sum
    }

    /// A zero whose plain vectors are folded, as others of its vectors are: of data that may have several forms the
    /// zero has one. As a plain vector it would become one of numbers where it meets these, element by element.
    pub fn zero_in_one_form(&mut self, zero: Shape) -> Shape {
        let alternatives = self.alternatives(zero);
        let (vectors, others): (Vec<_>, Vec<_>) = alternatives.iter().cloned().partition(|of| of.head == Head::Vector);
        let [vectors, others] = [vectors, others].map(|alternatives| self.intern(alternatives));
        let folded = self.make(Head::ZeroOf(Site::Data), &[vectors]);
        self.join(folded, others)
    }

    /// Whether a zero of data, or of what closures in data share, may be a plain vector or a folded one.
    pub fn is_to_have_one_form(&self, zero: Shape, site: Site) -> bool {
        (site == Site::Data || self.may_be_shared_zero(zero))
            && [Class::Vector, Class::ZeroOf].iter().all(|class| self.position(zero, *class).is_some())
    }

    /// The zero of what a closure captures. That of a vector stays folded where the closure is data, and says so, so
    /// that it costs nothing where such closures share what they capture and most get a sensitivity of a few elements.
    /// So do those in pairs and records. It has the leaves of the zero.
    pub fn zero_of_capture(&mut self, zero: Shape, site: Site) -> Shape {
        let Some(Alternative { head, children }) = self.single(zero).filter(|_| site == Site::Data) else {
            return zero;
        };
        match head {
            Head::Pair(None) | Head::Record(_) if !self.is_recursive(zero) => {
                let parts: Vec<Shape> = children.iter().map(|part| self.zero_of_capture(*part, site)).collect();
                self.make(head, &parts)
            }
            Head::Vector => self.make(Head::ZeroOf(site), &[zero]),
            Head::ZeroOf(_) if self.is_vector(children[0]) && !self.is_recursive(children[0]) => {
                self.make(Head::ZeroOf(site), &children)
            }
            _ => zero,
        }
    }

    /// Whether one of two zeros is the other one, or that with some of its vectors folded ([`Self::zero_of_capture`]).
    pub fn is_with_folded(&self, folded: Shape, zero: Shape) -> bool {
        if folded == zero {
            return true;
        }
        let [Some(folded), Some(of)] = [folded, zero].map(|shape| self.single(shape)) else { return false };
        match (folded.head, of.head) {
            (Head::ZeroOf(_), Head::Vector) => folded.children[0] == zero,
            (Head::ZeroOf(_), Head::ZeroOf(_)) => folded.children == of.children,
            (Head::Pair(_) | Head::Record(_), head) if head == folded.head => {
                folded.children.iter().zip(of.children.iter()).all(|(part, of)| self.is_with_folded(*part, *of))
            }
            _ => false,
        }
    }

    /// Whether a one-hot vector has zeros in all places: what is added to it stays as it is.
    pub fn has_zero_parts(&self, alternative: &Alternative) -> bool {
        matches!(alternative.head, Head::OneHot(_)) && self.is_zero(alternative.children[1])
    }

    /// Whether the shape has one value, to which no number belongs that is not a symbolic zero. ⊥ counts.
    pub fn is_constant(&self, shape: Shape) -> bool {
        match &*self.alternatives(shape) {
            [] => true,
            [Alternative { head, children }] => match head {
                Head::Nil | Head::Nothing | Head::Real(Fact::Zero) => true,
                Head::Pair(_) | Head::Record(_) | Head::Series | Head::Reverse | Head::Bundle => {
                    !self.is_recursive(shape) && children.iter().all(|child| self.is_constant(*child))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether the alternative is a vector of which it is known that all elements are zeros.
    pub fn is_zero_vector(&self, alternative: &Alternative) -> bool {
        alternative.head == Head::Vector && self.is_constant(alternative.children[0])
    }

    /// The alternatives of a shape that are vectors, those that folded zeros are zeros of among them, each with whether
    /// it stands for its zero. What zeros of zeros are zeros of is one shape: the zero of a join is not the join of the
    /// zeros.
    fn vector_forms(&mut self, shape: Shape) -> Vec<(Alternative, bool)> {
        let mut forms = Vec::new();
        for alternative in self.alternatives(shape).iter() {
            match alternative.head {
                Head::Vector | Head::Beginning | Head::OneHot(_) => forms.push((alternative.clone(), false)),
                Head::ZeroOf(_) => {
                    let primal = self.beneath_zeros(alternative.children[0]);
                    let primal = self.alternatives(primal);
                    let vectors =
                        primal.iter().filter(|form| form.head.holds_elements() || form.head.class() == Class::OneHot);
                    forms.extend(vectors.map(|form| (form.clone(), true)));
                }
                _ => {}
            }
        }
        forms
    }

    /// The shape of the elements of the vectors in a shape.
    pub fn element(&mut self, vector: Shape) -> Shape {
        let mut elements = Vec::new();
        for (form, zero) in self.vector_forms(vector) {
            let is_one_hot = form.head.class() == Class::OneHot;
            let element = form.children[0];
            elements.push(if zero || is_one_hot { self.zero_at(element, Site::Data) } else { element });
            if is_one_hot {
                let part = form.children[1];
                elements.push(if zero { self.zero_at(part, Site::Data) } else { part });
            }
        }
        self.join_all(&elements)
    }

    /// What the elements of the zeros of the vectors in a shape are zeros of: a zero, where all of these are the same.
    pub fn zero_base(&mut self, vector: Shape) -> Shape {
        let elements: Vec<Shape> = self.vector_forms(vector).iter().map(|(form, _)| form.children[0]).collect();
        let element = self.join_all(&elements);
        let zero = self.zero_at(element, Site::Data);
        if self.is_constant(zero) { zero } else { element }
    }

    /// The classes that a shape offers, where all forms of the sensitivities of vectors count as vectors: that a sum
    /// gets from one form to the next is no growth.
    pub fn classes_but_forms(&self, shape: Shape) -> Vec<Class> {
        let only_vectors = |of: Shape| self.alternatives(of).iter().all(|of| of.head == Head::Vector);
        let mut classes: Vec<Class> = Vec::new();
        for alternative in self.alternatives(shape).iter() {
            let class = match alternative.head {
                Head::OneHot(_) => Class::Vector,
                Head::ZeroOf(_) if only_vectors(alternative.children[0]) => Class::Vector,
                head => head.class(),
            };
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        classes.sort_unstable();
        classes
    }

    /// The shape with one-hot vectors and folded zeros of vectors as plain vectors.
    pub fn dense(&mut self, shape: Shape) -> Shape {
        let shape = self.unfold_zeros(shape);
        if self.find(shape, Class::OneHot).is_none() {
            return shape;
        }
        let mut parts = Vec::new();
        let alternatives = self.alternatives(shape);
        for alternative in alternatives.iter() {
            let part = self.intern(vec![alternative.clone()]);
            parts.push(match alternative.head {
                Head::OneHot(_) => {
                    let element = self.element(part);
                    let element = self.settled_element(element);
                    self.make(Head::Vector, &[element])
                }
                _ => part,
            });
        }
        self.join_all(&parts)
    }

    /// The shape with plain vectors in place of one-hot ones and zeros of vectors, and so on for elements that are
    /// vectors: who adds to it meets one form.
    pub fn settled(&mut self, shape: Shape) -> Shape {
        let shape = self.dense(shape);
        match self.single(shape).filter(|vector| vector.head == Head::Vector) {
            Some(vector) => {
                let element = self.settled_element(vector.children[0]);
                self.make(Head::Vector, &[element])
            }
            None => shape,
        }
    }

    /// The same of an element, if it is a vector. The zero of a recursive vector stays folded: its elements are such
    /// zeros again.
    pub fn settled_element(&mut self, element: Shape) -> Shape {
        let alternatives = self.alternatives(element);
        let is_vector = |alternative: &Alternative| match alternative.head {
            Head::ZeroOf(_) => {
                let of = self.alternatives(alternative.children[0]);
                !self.is_recursive(alternative.children[0])
                    && of.iter().all(|of| matches!(of.head, Head::Vector | Head::OneHot(_)))
            }
            head => may_be_vector(head),
        };
        let are_vectors = !alternatives.is_empty() && alternatives.iter().all(is_vector);
        if are_vectors && !self.is_recursive(element) { self.settled(element) } else { element }
    }

    /// A folded zero where it fills a hole: settled, since who fills a hole is about to be added to. The sum of what
    /// closures in data share may come to a few places only.
    pub fn filling(&mut self, zero: Shape) -> Shape {
        if self.may_be_shared_zero(zero) { zero } else { self.settled_element(zero) }
    }

    /// Whether an alternative is the folded zero of a vector that closures in data share, see
    /// [`Self::zero_of_capture`].
    fn is_shared_zero(zero: &Alternative) -> bool {
        zero.head == Head::ZeroOf(Site::Data)
    }

    /// Whether values of a shape may be such zeros.
    fn may_be_shared_zero(&self, shape: Shape) -> bool {
        self.find(shape, Class::ZeroOf).is_some_and(|zero| Self::is_shared_zero(&zero))
    }

    /// The head of a sum that began with a folded zero.
    pub(super) fn head_beside(head: Head, zero: &Alternative) -> Head {
        match head {
            Head::OneHot(places) if Self::is_shared_zero(zero) => Head::OneHot(Places { is_of_data: true, ..places }),
            _ => head,
        }
    }

    /// The sum of two pairs of which one is a zero: the other one, which remembers where it began with folded zeros.
    pub fn sum_beside_zero(&mut self, x: &Alternative, y: &Alternative) -> Option<Alternative> {
        let other = self.beside_zero(x, y)?;
        let zero = if std::ptr::eq(other, x) { y } else { x };
        let children = other.children.iter().zip(zero.children.iter());
        let children = children.map(|(part, zero)| self.began_with(*part, *zero)).collect();
        Some(Alternative { head: other.head, children })
    }

    /// A sum that began with a zero.
    fn began_with(&mut self, sum: Shape, zero: Shape) -> Shape {
        if self.is_recursive(sum) {
            return sum;
        }
        if let Some(known) = self.known.began.get(&(sum, zero)) {
            return *known;
        }
        let mut alternatives = self.alternatives(sum).to_vec();
        if let Some(zero) = self.find(zero, Class::ZeroOf) {
            alternatives.iter_mut().for_each(|of| of.head = Self::head_beside(of.head, &zero));
        } else if let ([pair], Some(zero)) = (&mut alternatives[..], self.single(zero))
            && are_pairs(pair.head, zero.head)
        {
            let parts = pair.children.iter().zip(zero.children.iter());
            pair.children = parts.map(|(part, zero)| self.began_with(*part, *zero)).collect();
        }
        let began = self.intern(alternatives);
        self.known.began.insert((sum, zero), began);
        began
    }

    /// The elements of the vector in a sum with a one-hot vector, settled, and the part that is added to one of them:
    /// as it is where that is a vector, so that a read of an element of an element adds one number.
    pub fn element_and_part(&mut self, element: Shape, part: Shape) -> [Shape; 2] {
        let element = self.settled_element(element);
        [element, if self.is_vector(element) { part } else { self.settled_element(part) }]
    }

    /// Whether all values of a shape are plain vectors.
    pub fn is_vector(&self, shape: Shape) -> bool {
        self.single(shape).is_some_and(|alternative| alternative.head == Head::Vector)
    }

    /// What [`Prim::Handed`], [`Prim::HandedFew`] or [`Prim::Kept`] makes of sums, this deep in them.
    pub fn split_sum(&mut self, sum: Shape, side: Prim, levels: Levels) -> Shape {
        if side == Prim::Kept && !self.hands_on(sum, levels) {
            return sum;
        }
        if let Some(known) = self.known.sides.get(&(sum, side, levels)) {
            return *known;
        }
        let mut sides = Vec::new();
        for alternative in self.alternatives(sum).iter() {
            sides.push(match alternative.head {
                head if is_pair(head) && self.parts_hand_on(alternative, levels) => {
                    let levels = levels.within(is_environment(alternative.head));
                    let parts: Vec<Shape> = (0..2)
                        .map(|part| self.side_of_part(alternative.children[part], side, levels.below(part)))
                        .collect();
                    self.make(alternative.head, &parts)
                }
                _ if is_handed(self, alternative) == (side == Prim::Kept) => self.make(Head::Nothing, &[]),
                head if side != Prim::Kept => match head {
                    Head::OneHot(places) if self.stays_few(sum, side, levels) => {
                        let is_of_data = places.is_of_data || self.may_be_shared_zero(sum);
                        let handed = Places { most: Most::Any, is_of_data };
                        self.make(Head::OneHot(handed), &alternative.children)
                    }
                    _ => {
                        let vector = self.make(head, &alternative.children);
                        self.settled(vector)
                    }
                },
                head => self.make(head, &alternative.children),
            });
        }
        let sides = self.join_all(&sides);
        self.known.sides.insert((sum, side, levels), sides);
        sides
    }

    /// Whether a one-hot sum stays so where it is handed on: in the environment of a closure, which may be one of many
    /// that share a vector. The sum of such a closure begins with a folded zero or a hole. That of a function that a
    /// loop calls begins with a plain zero, and comes to many places: it goes on with a vector; so does one that is a
    /// vector already, if control comes another way. What a recursive call has again ([`Prim::Handed`]) begins with a
    /// hole in any case, so that only a folded zero tells.
    pub fn stays_few(&mut self, sum: Shape, side: Prim, levels: Levels) -> bool {
        let alternatives = self.alternatives(sum);
        let Some((hot, places)) = alternatives.iter().find_map(|of| match of.head {
            Head::OneHot(places) => Some((of, places)),
            _ => None,
        }) else {
            return false;
        };
        let is_data = places.is_of_data || self.may_be_shared_zero(sum);
        let is_plain = alternatives.iter().any(|of| of.head == Head::Vector);
        let is_of_closure = side == Prim::HandedFew && levels.keeps_few && !is_plain && !self.gives_elements(hot);
        // Whoever handed on a table has not got a vector either.
        is_data || places.most == Most::Any || is_of_closure
    }

    /// The same of a part of a sum; where it is not looked at, it is kept.
    pub fn side_of_part(&mut self, part: Shape, side: Prim, levels: Option<Levels>) -> Shape {
        match levels {
            Some(levels) => self.split_sum(part, side, levels),
            None if side == Prim::Kept => part,
            None => self.make(Head::Nothing, &[]),
        }
    }

    /// Whether sums have vectors that are handed on, this deep in them.
    pub fn hands_on(&mut self, sum: Shape, levels: Levels) -> bool {
        if let Some(known) = self.known.hands_on.get(&(sum, levels)) {
            return *known;
        }
        let hands_on = self.alternatives(sum).iter().any(|alternative| match alternative.head {
            Head::Pair(_) | Head::Record(_) => self.parts_hand_on(alternative, levels),
            _ => is_handed(self, alternative),
        });
        self.known.hands_on.insert((sum, levels), hands_on);
        hands_on
    }

    /// Whether a part of a pair has vectors that are handed on.
    pub fn parts_hand_on(&mut self, pair: &Alternative, levels: Levels) -> bool {
        let mut parts = pair.children.iter().enumerate();
        parts.any(|(part, shape)| levels.below(part).is_some_and(|levels| self.hands_on(*shape, levels)))
    }

    /// Whether elements of an alternative of a sum have vectors that are handed on.
    pub fn gives_elements(&mut self, alternative: &Alternative) -> bool {
        is_handed(self, alternative) && {
            let part = self.intern(vec![alternative.clone()]);
            let element = self.element(part);
            self.hands_on(element, Levels::ALL)
        }
    }

    /// The one-hot vector with a vector as its part if that is one-hot or a folded zero: who takes it out again adds to
    /// it.
    pub fn dense_part(&mut self, one_hot: Shape) -> Shape {
        match self.single(one_hot).filter(|alternative| alternative.head == Head::OneHot(Places::ONE)) {
            Some(alternative) => {
                let part = self.settled(alternative.children[1]);
                self.make(Head::OneHot(Places::ONE), &[alternative.children[0], part])
            }
            None => one_hot,
        }
    }

    /// The element that a one-hot vector does not have from its base.
    pub fn hot_element(&mut self, one_hot: Shape) -> Shape {
        match self.single(one_hot).filter(|alternative| has_one_place(alternative.head)) {
            Some(alternative) => alternative.children[1],
            None => self.element(one_hot),
        }
    }

    /// Whether values of a shape hold nothing.
    pub fn is_nothing(&self, shape: Shape) -> bool {
        !self.is_recursive(shape)
            && self.single(shape).is_some_and(|alternative| match alternative.head {
                Head::Nothing | Head::Nil => true,
                Head::Pair(_) | Head::Record(_) => alternative.children.iter().all(|part| self.is_nothing(*part)),
                _ => false,
            })
    }

    /// The shape without alternatives that are no vectors, nor may be.
    pub fn vectors(&mut self, shape: Shape) -> Shape {
        let alternatives = self.alternatives(shape);
        let is_vector = |alternative: &&Alternative| may_be_vector(alternative.head);
        if alternatives.iter().all(|alternative| is_vector(&alternative)) {
            return shape;
        }
        let kept = alternatives.iter().filter(is_vector).cloned().collect();
        self.intern(kept)
    }
}

/// Sums of one-hot vectors have so many places that are no zeros, at most. What would have more is a vector, or has any
/// number of places if closures in data share it.
const MAX_HOT: u8 = 4;

/// How many places of a one-hot vector there are, at most; some may be vacant since parts in the same place are added.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Most {
    Few(u8),
    /// Run time decides.
    Any,
}

/// The places of a one-hot vector.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Places {
    pub most: Most,
    /// Whether the sum began with a folded zero, as that of a closure in data does.
    pub is_of_data: bool,
}

impl Places {
    pub const ONE: Places = Places { most: Most::Few(1), is_of_data: false };

    pub fn join(self, other: Places) -> Places {
        Places { most: self.most.max(other.most), is_of_data: self.is_of_data || other.is_of_data }
    }

    /// The places of the sum of two one-hot vectors, if that is one: what closures in data share may have any number of
    /// places.
    pub fn plus(self, other: Places) -> Option<Places> {
        let both = self.join(other);
        let most = match (self.most, other.most) {
            (Most::Few(a), Most::Few(b)) if a + b <= MAX_HOT => Most::Few(a + b),
            (Most::Few(_), Most::Few(_)) if !both.is_of_data => return None,
            _ => Most::Any,
        };
        Some(Places { most, ..both })
    }

    /// Where the vector is whose sensitivity this is.
    pub fn site(self) -> Site {
        if self.is_of_data { Site::Data } else { Site::Value }
    }

    /// Whether that many places fit.
    pub fn hold(self, places: usize) -> bool {
        match self.most {
            Most::Few(most) => places <= usize::from(most),
            Most::Any => true,
        }
    }
}

/// Whether a head is that of one-hot vectors with a single place.
pub fn has_one_place(head: Head) -> bool {
    matches!(head, Head::OneHot(Places { most: Most::Few(1), .. }))
}

/// Whether a pair is the list of the sensitivities of the environment of a closure.
pub fn is_environment(head: Head) -> bool {
    matches!(head, Head::Pair(Some(_)))
}

/// Whether an alternative of a sum is a vector to be handed on. Zeros are not: to begin with one costs nothing.
pub fn is_handed(shapes: &Shapes, alternative: &Alternative) -> bool {
    matches!(alternative.head, Head::Vector | Head::OneHot(_)) && !shapes.is_zero_vector(alternative)
}

/// Whether values of a head are vectors, or zeros of which that is not known.
pub fn may_be_vector(head: Head) -> bool {
    matches!(head, Head::Vector | Head::OneHot(_) | Head::ZeroOf(_))
}

/// The shape of `(%new-vector length)`.
pub fn new_vector(shapes: &mut Shapes, length: Shape) -> Shape {
    match real_fact(shapes, length) {
        Some(_) => shapes.make(Head::Beginning, &[Shapes::BOTTOM]),
        None => Shapes::BOTTOM,
    }
}

/// The shape of `(%fill beginning value)`.
pub fn fill(shapes: &mut Shapes, beginning: Shape, value: Shape) -> Shape {
    let Some(beginning) = shapes.find(beginning, Class::Beginning) else { return Shapes::BOTTOM };
    let element = shapes.join(beginning.children[0], value);
    shapes.make(Head::Beginning, &[element])
}

/// The shape of `(%finish beginning)`.
pub fn finish(shapes: &mut Shapes, beginning: Shape) -> Shape {
    let Some(beginning) = shapes.find(beginning, Class::Beginning) else { return Shapes::BOTTOM };
    shapes.make(Head::Vector, &beginning.children)
}

/// The shape of `(%filled beginning)`.
pub fn filled(shapes: &mut Shapes, beginning: Shape) -> Shape {
    match shapes.find(beginning, Class::Beginning) {
        Some(_) => shapes.real(Fact::Unknown),
        None => Shapes::BOTTOM,
    }
}

/// The shape of `(vector-length vector)`.
pub fn length(shapes: &mut Shapes, vector: Shape) -> Shape {
    let vector = shapes.vectors(vector);
    if vector == Shapes::BOTTOM { vector } else { shapes.real(Fact::Unknown) }
}

/// The shape of `(vector-ref vector index)`.
pub fn reference(shapes: &mut Shapes, vector: Shape, index: Shape) -> Shape {
    match real_fact(shapes, index) {
        Some(_) => {
            let element = shapes.element(vector);
            shapes.read_from_data(element)
        }
        None => Shapes::BOTTOM,
    }
}

/// The shape of `(%with-element vector index element)`.
pub fn with_element(shapes: &mut Shapes, args: &[Shape]) -> Shape {
    let vector = shapes.vectors(args[0]);
    let vector = shapes.dense(vector);
    match (shapes.find(vector, Class::Vector), real_fact(shapes, args[1])) {
        (Some(vector), Some(_)) => {
            let element = shapes.join(vector.children[0], args[2]);
            shapes.make(Head::Vector, &[element])
        }
        _ => Shapes::BOTTOM,
    }
}

/// The shape of `(in-element vector index sensitivity)`.
pub fn in_element(shapes: &mut Shapes, vector: Shape, sensitivity: Shape) -> Shape {
    let vector = shapes.vectors(vector);
    if vector == Shapes::BOTTOM || sensitivity == Shapes::BOTTOM {
        return Shapes::BOTTOM;
    }
    let base = shapes.zero_base(vector);
    let shares = shapes.single(vector).is_some_and(|zero| Shapes::is_shared_zero(&zero));
    let places = Places { is_of_data: shares, ..Places::ONE };
    shapes.make(Head::OneHot(places), &[base, sensitivity])
}

/// The shape of `(take-element sum index)`.
pub fn take_element(shapes: &mut Shapes, sum: Shape) -> Shape {
    let (given, others) = given_elements(shapes, sum);
    let element = shapes.element(given);
    or_nothing(shapes, element, others)
}

/// The alternatives of a sum whose elements have vectors that are handed on, and whether there are others.
fn given_elements(shapes: &mut Shapes, sum: Shape) -> (Shape, bool) {
    let alternatives = shapes.alternatives(sum);
    let given: Vec<Alternative> = alternatives.iter().filter(|of| shapes.gives_elements(of)).cloned().collect();
    let others = given.len() < alternatives.len();
    (shapes.intern(given), others)
}

/// A shape, and perhaps nothing.
fn or_nothing(shapes: &mut Shapes, shape: Shape, nothing: bool) -> Shape {
    if !nothing {
        return shape;
    }
    let nothing = shapes.make(Head::Nothing, &[]);
    shapes.join(shape, nothing)
}

/// The shape of `(put-element sum index element)`, where the element is one-hot.
pub fn put_element(shapes: &mut Shapes, sum: Shape, one_hot: Shape) -> Shape {
    let one_hot = shapes.dense_part(one_hot);
    let hot = shapes.hot_element(one_hot);
    let mut sums = Vec::new();
    for alternative in shapes.alternatives(sum).iter() {
        let part = shapes.intern(vec![alternative.clone()]);
        sums.push(match alternative.head {
            Head::Nothing => one_hot,
            _ if !shapes.gives_elements(alternative) => shapes.plus(part, one_hot),
            Head::OneHot(Places { is_of_data: true, .. }) => {
                let part = shapes.join(alternative.children[1], hot);
                let places = Places { most: Most::Any, is_of_data: true };
                shapes.make(Head::OneHot(places), &[alternative.children[0], part])
            }
            _ => {
                let element = shapes.element(part);
                let elements = [element, hot].map(|element| shapes.settled_element(element));
                let element = shapes.join_all(&elements);
                shapes.make(Head::Vector, &[element])
            }
        });
    }
    shapes.join_all(&sums)
}
