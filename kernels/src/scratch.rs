//! Memory that a kernel needs while it works.

use alloc::vec::Vec;

/// There is no memory left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

/// So many zeros.
pub fn numbers(count: usize) -> Result<Vec<f64>, Exhausted> {
    filled(count, 0.0)
}

/// So many times the same.
pub fn filled<T: Copy>(count: usize, x: T) -> Result<Vec<T>, Exhausted> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(count).map_err(|_| Exhausted)?;
    memory.resize(count, x);
    Ok(memory)
}
