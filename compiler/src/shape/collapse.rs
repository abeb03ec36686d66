//! Making shapes small: parts that look alike become one part.
//!
//! Widening finds out how a shape grows and folds that only; it can take many rounds, and programs are thinkable whose
//! shapes grow in exponentially many ways. These operations do not look for growth. What is left of a shape after them
//! is bounded, so that a sequence of joins with one of them after each ends.

use crate::shape::lattice::{Alternative, Head, Shape, Shapes};
use crate::shape::widen::PATIENCE;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Rounds of making parts one; each makes fewer of them.
const MAX_ROUNDS: usize = 64;

/// A shape with more parts than this is large.
const MAX_PARTS: usize = 50;

/// More layers of transformed data than this count as this many.
const MAX_LAYERS: u32 = 16;

/// Pairs in pairs and closures in closures deeper than this count as this deep.
const MAX_NESTING: u32 = 4;

/// How much there is inside a part. Only parts of one grade are made one: what mixes orders of derivatives, or a
/// function with one made from it, looks like a tower of derivatives without end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Grade {
    /// How often code inside has been transformed, or how many layers of transformed data there are.
    order: u32,
    /// How deep closures are nested in closures.
    closures: u32,
    /// How deep pairs are nested in pairs.
    pairs: u32,
}

impl Shapes {
    /// The shape with all parts of a grade made one that offer the same classes of values: no more parts are left than
    /// there are sets of classes, times grades.
    pub fn collapse(&mut self, shape: Shape) -> Shape {
        self.unify_alike(
            shape,
            |shapes, part, grade| {
                if shapes.is_leaf(part) { vec![] } else { vec![(shapes.classes(part), grade)] }
            },
        )
    }

    /// The shape with all parts of a grade made one that offer a structure of the same class: no more parts are left
    /// than there are classes, times grades.
    pub fn fuse(&mut self, shape: Shape) -> Shape {
        self.unify_alike(shape, |shapes, part, grade| {
            let structures = shapes.alternatives(part);
            let structures = structures.iter().filter(|alternative| !alternative.children.is_empty());
            structures.map(|alternative| (alternative.head.class(), grade)).collect()
        })
    }

    /// The shape collapsed, and fused if it is still large.
    pub fn shrink(&mut self, shape: Shape) -> Shape {
        let collapsed = self.collapse(shape);
        if self.parts(collapsed).len() > MAX_PARTS { self.fuse(collapsed) } else { collapsed }
    }

    /// Arguments that have been widened so often: they are collapsed when that is oftener than patience lasts, then
    /// fused.
    pub fn limit(&mut self, args: Vec<Shape>, widenings: usize, patience: usize) -> Rc<[Shape]> {
        let limited = args.into_iter().map(|arg| match widenings {
            _ if widenings > patience + PATIENCE => self.fuse(arg),
            _ if widenings > patience => self.collapse(arg),
            _ => arg,
        });
        limited.collect()
    }

    /// Makes parts one that have a key in common, and again while the result has such parts.
    fn unify_alike<K>(&mut self, shape: Shape, keys: impl Fn(&Shapes, Shape, Grade) -> Vec<K>) -> Shape
    where
        K: Ord + std::hash::Hash,
    {
        let mut current = shape;
        for _ in 0..MAX_ROUNDS {
            let mut groups: FxHashMap<K, Vec<Shape>> = FxHashMap::default();
            for part in self.parts(current) {
                for key in keys(self, part, self.grade(part)) {
                    groups.entry(key).or_default().push(part);
                }
            }
            let mut groups: Vec<Vec<Shape>> = groups.into_values().filter(|group| group.len() > 1).collect();
            groups.iter_mut().for_each(|group| group.sort_unstable());
            if groups.is_empty() {
                return current;
            }
            groups.sort_unstable();
            current = self.unify(current, &groups);
        }
        current
    }
}

impl Grade {
    /// The grade of a shape with these alternatives, by the grades of their children.
    pub fn of(alternatives: &[Alternative], below: impl Fn(Shape) -> Grade) -> Grade {
        alternatives.iter().fold(Grade::default(), |grade, alternative| {
            let children = alternative.children.iter().map(|child| below(*child));
            grade.max(children.fold(Grade::default(), Grade::max).around(alternative.head))
        })
    }

    fn max(self, other: Grade) -> Grade {
        Grade {
            order: self.order.max(other.order),
            closures: self.closures.max(other.closures),
            pairs: self.pairs.max(other.pairs),
        }
    }

    /// The grade of an alternative with that head whose children have this grade.
    fn around(mut self, head: Head) -> Grade {
        match head {
            Head::Closure(code, _) => {
                self.order = self.order.max(code.tower.height());
                self.closures = (self.closures + 1).min(MAX_NESTING);
            }
            Head::Pair(code) => {
                self.order = self.order.max(code.map_or(0, |code| code.tower.height()));
                self.pairs = (self.pairs + 1).min(MAX_NESTING);
            }
            Head::Record(_) | Head::Vector | Head::Beginning | Head::OneHot(_) => {
                self.pairs = (self.pairs + 1).min(MAX_NESTING);
            }
            Head::Reverse | Head::Bundle => self.order = (self.order + 1).min(MAX_LAYERS),
            Head::Nil | Head::Bool(_) | Head::Text(_) | Head::Real(_) | Head::Series => {}
            Head::ZeroOf(_) | Head::Nothing => {}
        }
        self
    }
}
