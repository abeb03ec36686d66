//! Towers: the transformations that code or a number has been through, the last on top.
//!
//! A tower is a name for a sequence: equal sequences have equal names, so towers are as cheap as numbers however high
//! they get. The table of names belongs to the thread.

use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::cmp::Ordering;

/// A transformation of code and data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Transformation {
    /// `*j`
    Reverse,
    /// `bundle`, `j*`
    Forward,
    /// `%lift`
    Series,
    /// `%lift-directions`
    Directions,
}

/// A sequence of transformations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Tower(u32);

/// What a tower is made of: the transformation on top, what is below, and how many there are.
#[derive(Clone, Copy)]
struct Level {
    top: Transformation,
    below: Tower,
    height: u32,
}

#[derive(Default)]
struct Towers {
    /// The level of tower n + 1 at position n.
    levels: Vec<Level>,
    above: FxHashMap<(Tower, Transformation), Tower>,
}

thread_local! {
    static TOWERS: RefCell<Towers> = RefCell::default();
}

impl Tower {
    /// No transformation.
    pub const EMPTY: Tower = Tower(0);

    fn level(self) -> Option<Level> {
        let position = self.0.checked_sub(1)?;
        TOWERS.with_borrow(|towers| towers.levels.get(position as usize).copied())
    }
    /// The number of transformations.
    pub fn height(self) -> u32 {
        self.level().map_or(0, |level| level.height)
    }
    /// The transformation on top, and the tower below it.
    pub fn top(self) -> Option<(Transformation, Tower)> {
        self.level().map(|level| (level.top, level.below))
    }
    /// The tower with one more transformation on top.
    pub fn push(self, top: Transformation) -> Tower {
        let height = self.height() + 1;
        TOWERS.with_borrow_mut(|towers| {
            let next = towers.levels.len();
            let tower = *towers.above.entry((self, top)).or_insert_with(|| {
                Tower(u32::try_from(next + 1).expect("the names of 2^32 towers do not fit into memory"))
            });
            if tower.0 as usize > next {
                towers.levels.push(Level { top, below: self, height });
            }
            tower
        })
    }
    /// The tower with one more transformation below the `depth` topmost, or at the bottom if there are not so many.
    pub fn insert(self, depth: u32, new: Transformation) -> Tower {
        let (above, rest) = self.split(depth);
        above.into_iter().rev().fold(rest.push(new), Tower::push)
    }
    /// The tower without the transformation below the `depth` topmost, if that is `old`.
    pub fn remove(self, depth: u32, old: Transformation) -> Option<Tower> {
        let (above, rest) = self.split(depth);
        let (top, below) = rest.top()?;
        (top == old && above.len() == depth as usize).then(|| above.into_iter().rev().fold(below, Tower::push))
    }
    /// The `depth` topmost transformations, the top first, and the tower below them.
    fn split(self, depth: u32) -> (Vec<Transformation>, Tower) {
        let (mut above, mut rest) = (Vec::new(), self);
        while above.len() < depth as usize
            && let Some((top, below)) = rest.top()
        {
            above.push(top);
            rest = below;
        }
        (above, rest)
    }
    /// The transformations in the order in which they were done.
    pub fn transformations(self) -> Vec<Transformation> {
        let (mut all, _) = self.split(u32::MAX);
        all.reverse();
        all
    }
}

/// By height, then by the first transformation that differs. So towers that get the same transformation in the same
/// place keep their order.
impl Ord for Tower {
    fn cmp(&self, other: &Tower) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        let heights = self.height().cmp(&other.height());
        heights.then_with(|| match (self.top(), other.top()) {
            (Some((left, below)), Some((right, other_below))) => below.cmp(&other_below).then(left.cmp(&right)),
            _ => Ordering::Equal,
        })
    }
}

impl PartialOrd for Tower {
    fn partial_cmp(&self, other: &Tower) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::Transformation::{Forward, Reverse};
    use super::*;

    #[test]
    fn equal_sequences_are_equal_towers() {
        let tower = Tower::EMPTY.push(Forward).push(Reverse);
        assert_eq!(tower, Tower::EMPTY.push(Reverse).insert(1, Forward));
        assert_eq!(tower.transformations(), [Forward, Reverse]);
        assert_eq!(tower.remove(1, Forward), Some(Tower::EMPTY.push(Reverse)));
        assert_eq!(tower.remove(1, Reverse), None);
        assert_eq!(tower.remove(2, Reverse), None);
        assert_eq!(tower.insert(9, Reverse), Tower::EMPTY.push(Reverse).push(Forward).push(Reverse));
    }

    #[test]
    fn transformation_keeps_order() {
        let low = Tower::EMPTY.push(Reverse).push(Forward);
        let high = Tower::EMPTY.push(Forward).push(Reverse);
        assert!(low < high);
        for (depth, new) in [(0, Forward), (1, Reverse), (2, Forward)] {
            assert!(low.insert(depth, new) < high.insert(depth, new));
        }
    }
}
