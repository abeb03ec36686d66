//! Systems of equations with a triangular matrix.

use crate::product::{Mode, product};
use crate::scratch::Exhausted;
use crate::view::{View, ViewMut};
use crate::wide::wide;

/// Unknowns that are found one by one, before products take them to all others.
const BLOCK: usize = 32;

/// Which system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triangle {
    /// The elements above the diagonal are there, else those below it.
    pub upper: bool,
    /// The transpose of the matrix is meant.
    pub transposed: bool,
    /// The diagonal counts as ones.
    pub unit: bool,
}

/// Replaces the columns of `b`, n x m, row by row, by the solutions of the system: unknown by unknown, each less the
/// products of those before it, in the order in which they were found.
pub fn solve(triangle: Triangle, l: View<'_>, b: &mut [f64], m: usize) -> Result<(), Exhausted> {
    let n = l.layout().rows;
    let place = if triangle.transposed { l.layout().transposed() } else { l.layout() };
    // The last unknown of an upper triangle is the first to be known.
    let is_backwards = triangle.upper != triangle.transposed;
    let place = if is_backwards { place.backwards() } else { place };
    let l = l.moved(place);
    for from in (0..n).step_by(BLOCK) {
        let to = (from + BLOCK).min(n);
        let (known, rest) = if is_backwards {
            let (rest, known) = b.split_at_mut((n - from) * m);
            let start = rest.len() - (to - from) * m;
            (&*known, &mut rest[start..])
        } else {
            let (known, rest) = b.split_at_mut(from * m);
            (&*known, &mut rest[..(to - from) * m])
        };
        let oriented = |rows| {
            let place = crate::view::Layout::by_rows(rows, m);
            if is_backwards { place.upside_down() } else { place }
        };
        if from > 0 {
            let known = View::new(known, oriented(from));
            product(
                Mode::Subtract,
                l.part(from, 0, to - from, from),
                known,
                &mut ViewMut::new(rest, oriented(to - from)),
            )?;
        }
        block(triangle.unit, l.part(from, from, to - from, to - from), rest, m, is_backwards);
    }
    Ok(())
}

wide! {
    fn block / block_in(unit: bool, l: View<'_>, b: &mut [f64], m: usize, is_backwards: bool) {
        let n = l.layout().rows;
        let row = |i: usize| if is_backwards { n - 1 - i } else { i };
        for i in 0..n {
            for k in 0..i {
                let factor = l.at(i, k);
                let (known, x) = if row(k) < row(i) {
                    let (before, after) = b.split_at_mut(row(i) * m);
                    (&before[row(k) * m..][..m], &mut after[..m])
                } else {
                    let (before, after) = b.split_at_mut(row(k) * m);
                    (&after[..m], &mut before[row(i) * m..][..m])
                };
                for (x, known) in x.iter_mut().zip(known) {
                    *x -= factor * known;
                }
            }
            if !unit {
                let pivot = l.at(i, i);
                b[row(i) * m..][..m].iter_mut().for_each(|x| *x /= pivot);
            }
        }
    }
}
