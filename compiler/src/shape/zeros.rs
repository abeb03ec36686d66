//! Shapes of zeros: symbolic ones part by part, and folded ones.
//!
//! The zero of a zero is that zero. So what a folded zero is the zero of can be told in several ways, and where two
//! shapes of folded zeros meet, a value of one need not become one of the other part by part: the zero of a list is
//! that of the list's sensitivity, too, if this is the zero of the list or ends in it.
//!
//! ```text
//! zero-of P, zero-of S   where S = {(number . S) | zero-of P}
//! zero-of S              is their join; a zero-of P in it is the zero of its own zero
//! ```

use crate::shape::algebra::Atom;
use crate::shape::lattice::{Alternative, Class, Fact, Head, Shape, Shapes, Site};
use rustc_hash::FxHashSet;

impl Shapes {
    /// The shape of `(zero x)`. At a recursive shape the zero stays folded ([`Head::ZeroOf`]), and at a vector whose
    /// elements' zeros are not all the same.
    pub fn zero(&mut self, shape: Shape) -> Shape {
        self.zero_at(shape, Site::Value)
    }

    /// The shape of the zero of what is in that place.
    pub fn zero_at(&mut self, shape: Shape, site: Site) -> Shape {
        if self.folds_zero(shape) {
            return self.make(Head::ZeroOf(Site::Value), &[shape]);
        }
        if let Some(zero) = self.known.zeros.get(&(shape, site)) {
            return *zero;
        }
        let zero = self.zero_unfolded(shape, site);
        let zero = if self.is_to_have_one_form(zero, site) { self.zero_in_one_form(zero) } else { zero };
        self.known.zeros.insert((shape, site), zero);
        zero
    }

    /// The shape of the zero of `x`, with the outermost level unfolded.
    pub fn zero_unfolded(&mut self, shape: Shape, site: Site) -> Shape {
        if let Some(zero) = self.known.unfolded_zeros.get(&(shape, site)) {
            return *zero;
        }
        let mut zeros = Vec::new();
        for alternative in self.alternatives(shape).iter() {
            let within = site.within(alternative.head);
            let mut zeros_of_parts =
                || -> Vec<Shape> { alternative.children.iter().map(|child| self.zero_at(*child, within)).collect() };
            zeros.push(match alternative.head {
                Head::Nil | Head::Bool(_) | Head::Text(_) => self.nil(),
                Head::Real(_) => self.real(Fact::Zero),
                head @ (Head::Reverse | Head::Bundle | Head::Series | Head::Pair(_) | Head::Record(_)) => {
                    let zeros = zeros_of_parts();
                    self.make(head, &zeros)
                }
                Head::Closure(code, _) => {
                    let zeros = zeros_of_parts();
                    let items: Vec<Shape> = zeros.into_iter().map(|zero| self.zero_of_capture(zero, within)).collect();
                    self.environment(code, &items)
                }
                head @ Head::ZeroOf(_) => self.make(head, &alternative.children),
                head @ Head::Nothing => self.make(head, &[]),
                Head::Vector | Head::Beginning => {
                    let zeros = zeros_of_parts();
                    self.make(Head::Vector, &zeros)
                }
                Head::OneHot(places) => {
                    let vector = self.make(Head::Vector, &[alternative.children[0]]);
                    let zero = self.zero_at(vector, site);
                    self.zero_of_capture(zero, places.site())
                }
            });
        }
        let zero = self.join_all(&zeros);
        self.known.unfolded_zeros.insert((shape, site), zero);
        zero
    }

    /// The shape with folded zeros unfolded by one level, so that every alternative shows its constructor. The zero of
    /// a folded zero is that zero again, so each primal is unfolded once.
    pub fn unfold_zeros(&mut self, shape: Shape) -> Shape {
        if self.position(shape, Class::ZeroOf).is_none() {
            return shape;
        }
        if let Some(known) = self.known.without_zeros.get(&shape) {
            return *known;
        }
        let whole = shape;
        let mut parts = Vec::new();
        let mut unfolded = FxHashSet::default();
        let mut pending = vec![shape];
        while let Some(shape) = pending.pop() {
            let alternatives = self.alternatives(shape);
            let (zeros, others): (Vec<_>, Vec<_>) = alternatives.iter().partition(|a| a.head.class() == Class::ZeroOf);
            if zeros.is_empty() {
                parts.push(shape);
                continue;
            }
            for zero in zeros {
                if unfolded.insert(zero.children[0]) {
                    pending.push(self.zero_unfolded(zero.children[0], Site::Data));
                }
            }
            let others = others.into_iter().cloned().collect();
            parts.push(self.intern(others));
        }
        let result = self.join_all(&parts);
        self.known.without_zeros.insert(whole, result);
        result
    }

    /// The shape of what a value is, or is the zero of, through zeros of zeros.
    pub fn beneath_zeros(&mut self, shape: Shape) -> Shape {
        let mut parts = Vec::new();
        let (mut seen, mut pending) = (FxHashSet::default(), vec![shape]);
        while let Some(shape) = pending.pop() {
            if !seen.insert(shape) {
                continue;
            }
            let alternatives = self.alternatives(shape);
            let (zeros, others): (Vec<_>, Vec<_>) =
                alternatives.iter().cloned().partition(|a| a.head.class() == Class::ZeroOf);
            pending.extend(zeros.iter().map(|zero| zero.children[0]));
            parts.push(self.intern(others));
        }
        self.join_all(&parts)
    }

    /// Whether two values that are added may both be zeros of vectors, one of them folded: their sum is the longer one.
    pub fn may_be_zero_vectors(&mut self, x: &Alternative, y: &Alternative) -> bool {
        [x, y].iter().any(|zero| zero.head.class() == Class::ZeroOf)
            && [x, y].iter().all(|zero| self.may_be_zero_vector(zero))
    }

    fn may_be_zero_vector(&mut self, alternative: &Alternative) -> bool {
        if alternative.head.class() != Class::ZeroOf {
            return self.is_zero_vector(alternative);
        }
        let primal = self.beneath_zeros(alternative.children[0]);
        [Class::Vector, Class::OneHot].iter().any(|class| self.position(primal, *class).is_some())
    }

    /// Leaves out of what a folded zero may be the zero of whatever another shape of it may be the folded zero of, at
    /// any depth: otherwise the parts of the one would meet those of the other after all.
    pub fn leave_out_zeros_of(&self, atoms: &mut Vec<Atom>) {
        let all: Vec<Shape> =
            atoms.iter().filter_map(|atom| if let Atom::Shape(shape) = atom { Some(*shape) } else { None }).collect();
        let is_in = |shape: Shape, of: Shape| self.is_zero_of_zero_in(shape, of);
        atoms.retain(|atom| match atom {
            Atom::Shape(shape) if self.is_recursive(*shape) => {
                let mut others = all.iter().filter(|other| *other != shape);
                !others.any(|other| is_in(*shape, *other) && (other < shape || !is_in(*other, *shape)))
            }
            _ => true,
        });
    }

    /// Whether values of the second shape, which is that of data, and their parts that are such data may be folded
    /// zeros of values of the first one, through zeros of zeros.
    fn is_zero_of_zero_in(&self, shape: Shape, of: Shape) -> bool {
        self.is_recursive(of) && self.containing(of, vec![of]).iter().all(|part| self.zeros_in(*part).contains(&shape))
    }

    /// What values of a shape may be the folded zeros of, through zeros of zeros.
    fn zeros_in(&self, mut shape: Shape) -> Vec<Shape> {
        let mut zeros = Vec::new();
        while let Some(zero) = self.find(shape, Class::ZeroOf)
            && !zeros.contains(&zero.children[0])
        {
            shape = zero.children[0];
            zeros.push(shape);
        }
        zeros
    }

    /// Whether the folded zero of a value of one shape is that of a value of another one only because that value may
    /// be its zero.
    pub fn is_zero_of_own_zero(&mut self, shape: Shape, of: Shape) -> bool {
        if shape == of || self.position(of, Class::ZeroOf).is_none() {
            return false;
        }
        let zeros = self.zeros_in(of);
        let covers = |this: &mut Self, wide: Shape| this.join(shape, wide) == wide;
        zeros.contains(&shape) || !covers(self, of) && zeros.into_iter().any(|zero| covers(self, zero))
    }
}
