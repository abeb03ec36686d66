//! Sorting.

use crate::scratch::{Exhausted, filled};
use core::cmp::Ordering;

/// The places of the numbers of `v` in ascending order; of equal ones, the first first. What is not a number comes
/// last.
pub fn order(v: &[f64], result: &mut [f64]) -> Result<(), Exhausted> {
    assert_eq!(v.len(), result.len(), "a place for each number");
    let mut places = filled(v.len(), 0_usize)?;
    places.iter_mut().enumerate().for_each(|(i, place)| *place = i);
    let compare = |i: usize, j: usize| match v[i].partial_cmp(&v[j]) {
        Some(order) => order,
        None => v[i].is_nan().cmp(&v[j].is_nan()),
    };
    // The order is total, since places differ; no memory is needed for it.
    places.sort_unstable_by(|i, j| match compare(*i, *j) {
        Ordering::Equal => i.cmp(j),
        order => order,
    });
    result.iter_mut().zip(places).for_each(|(to, place)| *to = place as f64);
    Ok(())
}
