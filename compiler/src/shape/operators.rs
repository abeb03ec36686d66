//! The operators on shapes that transform: `*j`, `*j-inverse`, `bundle`, `j*`, `primal`, `tangent`, `%lift`, `%unlift`,
//! `%lift-directions`, `%unlift-directions`.
//!
//! An operator is done below some transformations of its operand (see [`Rhs::Lifted`](crate::core::ir::Rhs::Lifted)).
//! It goes through data down to the numbers, through the transformations of a number that it is below, and through the
//! environments of closures, whose code it transforms at the same depth. Alternatives that it cannot be done on are
//! left out of the result; compiled code fails there.

use super::algebra::{Atom, Parts, Stop, Transform, Unfolding};
use crate::ad::tower::Transformation;
use crate::core::ir::Below;
use crate::core::prim::{DIRECTIONS, Prim};
use crate::shape::lattice::{Alternative, Class, Code, Head, Shape, Shapes};
use crate::shape::primitive;
use rustc_hash::FxHashSet;

/// An operator on one value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Operator {
    /// `*j`, `*j-inverse`, `j*`, `primal`, `tangent`, `%lift`, `%unlift`, `%lift-directions` or `%unlift-directions`.
    pub prim: Prim,
    /// Which transformations of the value it is done below.
    pub below: Below,
}

impl Operator {
    /// What it adds or takes away.
    pub fn transformation(self) -> Transformation {
        match self.prim {
            Prim::J | Prim::JInverse => Transformation::Reverse,
            Prim::Lift | Prim::Unlift => Transformation::Series,
            Prim::LiftDirections | Prim::UnliftDirections => Transformation::Directions,
            _ => Transformation::Forward,
        }
    }
    /// Whether it transforms, which cannot fail; else it undoes a transformation.
    pub fn transforms(self) -> bool {
        matches!(self.prim, Prim::J | Prim::JStar | Prim::Lift | Prim::LiftDirections)
    }
    /// Whether there are forward transformations of the number to go through first. Power series are around all that.
    pub fn is_inside(self) -> bool {
        self.below.forward > 0 && !self.is_of_series()
    }
    /// The same for what a forward transformation is made of.
    pub fn inside(self) -> Operator {
        Operator { below: self.below.with_forward(self.below.forward.saturating_sub(1)), ..self }
    }
    /// Whether it makes power series, or numbers that change in some directions, or undoes that.
    pub fn is_of_series(self) -> bool {
        matches!(self.prim, Prim::Lift | Prim::Unlift | Prim::LiftDirections | Prim::UnliftDirections)
    }
    /// What it does to the value that a zero is the zero of.
    pub fn of_zero(self) -> Operator {
        let prim = if self.prim == Prim::Tangent { Prim::Primal } else { self.prim };
        Operator { prim, ..self }
    }
    /// The code that it makes of a closure's. `None` where it cannot be undone, or where `transform` has no more.
    pub fn code(self, transform: &mut dyn Transform, code: Code) -> Option<Code> {
        if self.transforms() {
            return transform.insert(code, self.transformation(), self.below.of_code());
        }
        transform.remove(code, self.transformation(), self.below.of_code())
    }
}

/// Whether a head builds numbers. Power series are data that consist of numbers.
pub fn is_number(head: Head) -> bool {
    matches!(head, Head::Real(_) | Head::Reverse | Head::Bundle)
}

impl Shapes {
    /// The list of the sensitivities of the environment of a closure of that code.
    pub fn environment(&mut self, code: Code, items: &[Shape]) -> Shape {
        let Some((first, rest)) = items.split_first() else { return self.nil() };
        let rest = self.list(rest);
        self.make(Head::Pair(Some(code)), &[*first, rest])
    }
}

impl Unfolding<'_, '_> {
    /// The code that the operator makes of a closure's. `Ok(None)` where it cannot be undone.
    fn code(&mut self, operator: Operator, code: Code) -> Result<Option<Code>, Stop> {
        match operator.code(self.transform(), code) {
            None if operator.transforms() => Err(Stop::Tower),
            transformed => Ok(transformed),
        }
    }

    /// Adds what the operator makes of a shape.
    pub fn expand_operator(&mut self, operator: Operator, shape: Shape, parts: &mut Parts) -> Result<(), Stop> {
        for alternative in self.shapes.alternatives(shape).iter() {
            let is_tangent = operator.prim == Prim::Tangent;
            let on = |operator: Operator| -> Vec<Vec<Atom>> {
                alternative.children.iter().map(|child| vec![Atom::Operator(operator, *child)]).collect()
            };
            match alternative.head {
                Head::Nil | Head::Bool(_) | Head::Text(_) if is_tangent => Self::add(parts, Head::Nil, vec![]),
                Head::Nil | Head::Bool(_) | Head::Text(_) | Head::Nothing => Self::add(parts, alternative.head, vec![]),
                Head::Real(_) | Head::Reverse | Head::Bundle => self.expand_number(operator, alternative, parts),
                Head::Series if operator.is_of_series() => self.expand_number(operator, alternative, parts),
                Head::Series => Self::add(parts, Head::Series, on(operator)),
                Head::Record(_) => Self::add(parts, alternative.head, on(operator)),
                Head::ZeroOf(_) => Self::add(parts, alternative.head, on(operator.of_zero())),
                Head::Vector | Head::Beginning => Self::add(parts, alternative.head, on(operator)),
                Head::OneHot(_) => {
                    let zero = Atom::Operator(operator.of_zero(), alternative.children[0]);
                    let one = Atom::Operator(operator, alternative.children[1]);
                    Self::add(parts, alternative.head, vec![vec![zero], vec![one]]);
                }
                Head::Pair(of) => {
                    let of = of.map(|code| self.code(operator, code)).transpose()?.flatten();
                    Self::add(parts, Head::Pair(of), on(operator));
                }
                Head::Closure(code, site) => {
                    let Some(code) = self.code(operator, code)? else { continue };
                    if is_tangent {
                        let closure = self.shapes.intern(vec![alternative.clone()]);
                        self.expand_environment(Some(code), operator, closure, 0, parts);
                    } else {
                        Self::add(parts, Head::Closure(code, site), on(operator));
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the list of what the operator makes of the environment of a closure, from the capture at `index` on.
    pub fn expand_environment(
        &mut self,
        of: Option<Code>,
        operator: Operator,
        closure: Shape,
        index: usize,
        parts: &mut Parts,
    ) {
        let Some(alternative) = self.shapes.single(closure) else { return };
        match alternative.children.get(index) {
            None => Self::add(parts, Head::Nil, vec![]),
            Some(capture) => {
                let rest = Atom::Environment(operator, closure, index + 1);
                Self::add(parts, Head::Pair(of), vec![vec![Atom::Operator(operator, *capture)], vec![rest]]);
            }
        }
    }

    fn expand_number(&mut self, operator: Operator, alternative: &Alternative, parts: &mut Parts) {
        let children = &alternative.children;
        if operator.is_inside() && !children.is_empty() {
            let inside = |child: &Shape| vec![Atom::Operator(operator.inside(), *child)];
            return Self::add(parts, alternative.head, children.iter().map(inside).collect());
        }
        match (operator.prim, alternative.head) {
            (Prim::J, _) => {
                let inner = self.shapes.intern(vec![alternative.clone()]);
                Self::add(parts, Head::Reverse, vec![vec![Atom::Shape(inner)]]);
            }
            (Prim::JStar, _) => {
                let inner = self.shapes.intern(vec![alternative.clone()]);
                let zero = self.shapes.zero(inner);
                Self::add(parts, Head::Bundle, vec![vec![Atom::Shape(inner)], vec![Atom::Shape(zero)]]);
            }
            (Prim::Lift, _) => {
                let inner = self.shapes.intern(vec![alternative.clone()]);
                let nil = self.shapes.nil();
                Self::add(parts, Head::Series, vec![vec![Atom::Shape(inner)], vec![Atom::Shape(nil)]]);
            }
            (Prim::LiftDirections, _) => {
                let inner = self.shapes.intern(vec![alternative.clone()]);
                let zero = self.shapes.zero(inner);
                let zeros = self.shapes.list(&[zero; DIRECTIONS]);
                Self::add(parts, Head::Series, vec![vec![Atom::Shape(inner)], vec![Atom::Shape(zeros)]]);
            }
            (Prim::Unlift | Prim::UnliftDirections, Head::Series) => self.expand_shape(children[0], parts),
            // Nothing is left to undo, or another transformation than the one that was done.
            _ if operator.is_inside() => {}
            (Prim::JInverse, Head::Reverse) | (Prim::Primal, Head::Bundle) => self.expand_shape(children[0], parts),
            (Prim::Tangent, Head::Bundle) => self.expand_shape(children[1], parts),
            _ => {}
        }
    }

    /// Adds what `bundle` makes of a value and a tangent.
    pub fn expand_bundle(&mut self, below: Below, value: Shape, tangent: Shape, parts: &mut Parts) -> Result<(), Stop> {
        let perturb = Operator { prim: Prim::JStar, below };
        let single = self.shapes.single(tangent).is_some();
        for x in self.shapes.alternatives(value).iter() {
            for t in self.shapes.alternatives(tangent).iter() {
                let zip = |below: Below| -> Vec<Vec<Atom>> {
                    let pairs = x.children.iter().zip(t.children.iter());
                    pairs.map(|(x, t)| vec![Atom::Bundle(below, *x, *t)]).collect()
                };
                match (x.head, t.head) {
                    (_, Head::ZeroOf(_)) => {
                        let value = self.shapes.intern(vec![x.clone()]);
                        self.expand_operator(perturb, value, parts)?;
                    }
                    (Head::ZeroOf(_), _) => {
                        let value = self.shapes.intern(vec![x.clone()]);
                        let value = self.shapes.unfold_zeros(value);
                        let tangent = self.shapes.intern(vec![t.clone()]);
                        self.expand_bundle(below, value, tangent, parts)?;
                    }
                    (Head::OneHot(_), _) | (_, Head::OneHot(_)) => {
                        let [x, t] = [x, t].map(|part| {
                            let part = self.shapes.intern(vec![part.clone()]);
                            self.shapes.dense(part)
                        });
                        self.expand_bundle(below, x, t, parts)?;
                    }
                    (Head::Vector, Head::Vector) => Self::add(parts, Head::Vector, zip(below)),
                    (Head::Nil | Head::Bool(_) | Head::Text(_), Head::Nil) => Self::add(parts, x.head, vec![]),
                    (Head::Nothing, Head::Nothing) => Self::add(parts, x.head, vec![]),
                    (f, g) if is_number(f) && f.class() == g.class() => {
                        if below.forward == 0 {
                            let (x, t) = (self.shapes.intern(vec![x.clone()]), self.shapes.intern(vec![t.clone()]));
                            if self.shapes.alike(x, t) {
                                Self::add(parts, Head::Bundle, vec![vec![Atom::Shape(x)], vec![Atom::Shape(t)]]);
                            }
                        } else if !x.children.is_empty() {
                            Self::add(parts, f, zip(below.with_forward(below.forward - 1)));
                        }
                    }
                    (Head::Series, Head::Series) => Self::add(parts, Head::Series, zip(below)),
                    (Head::Record(kind), Head::Record(other)) if kind == other => {
                        Self::add(parts, x.head, zip(below));
                    }
                    (Head::Pair(of), Head::Pair(_)) => {
                        let of = of.map(|code| self.code(perturb, code)).transpose()?.flatten();
                        Self::add(parts, Head::Pair(of), zip(below));
                    }
                    (Head::Closure(code, site), Head::Nil | Head::Pair(_)) => {
                        if !is_environment_of(t.head, code, single) {
                            continue;
                        }
                        let list = self.shapes.intern(vec![t.clone()]);
                        let Some(items) = self.shapes.items(list, x.children.len()) else { continue };
                        let pairs = x.children.iter().zip(items);
                        let children = pairs.map(|(x, t)| vec![Atom::Bundle(below, *x, t)]).collect();
                        if let Some(code) = self.code(perturb, code)? {
                            Self::add(parts, Head::Closure(code, site), children);
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// Whether a list can hold the tangents of the environment of a closure of that code. Lists of the environments of
/// other code are told apart only where there are several.
pub fn is_environment_of(list: Head, code: Code, single: bool) -> bool {
    match list {
        Head::Pair(Some(of)) => single || of == code,
        _ => true,
    }
}

impl crate::shape::lattice::Shapes {
    /// Whether two numbers can be a value and its tangent: they have been through the same transformations down to the
    /// first bundle.
    pub fn alike(&self, x: Shape, t: Shape) -> bool {
        let (mut seen, mut pending) = (FxHashSet::default(), vec![(x, t)]);
        while let Some((x, t)) = pending.pop() {
            if !seen.insert((x, t)) {
                continue;
            }
            for x in self.alternatives(x).iter().filter(|x| is_number(x.head)) {
                match self.find(t, x.head.class()) {
                    Some(t) if x.head == Head::Reverse => pending.push((x.children[0], t.children[0])),
                    Some(_) => return true,
                    None => {}
                }
            }
        }
        false
    }

    /// The elements of the lists of that length in a shape.
    pub fn items(&mut self, list: Shape, length: usize) -> Option<Vec<Shape>> {
        let (mut items, mut rest) = (Vec::with_capacity(length), list);
        for _ in 0..length {
            items.push(primitive::part(self, rest, 0));
            rest = primitive::part(self, rest, 1);
        }
        let rest = self.unfold_zeros(rest);
        let ends = self.find(rest, Class::Nil).is_some();
        (ends && !items.contains(&crate::shape::lattice::Shapes::BOTTOM)).then_some(items)
    }
}
