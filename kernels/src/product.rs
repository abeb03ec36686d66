//! Products of matrices.
//!
//! Every element is the sum of its products in the order of the inner index, each product rounded before it is added:
//! so sizes of tiles and blocks, and the width of instructions, change nothing in the result. The structure is that of
//! Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008): both factors are packed into
//! tiles that suit the caches, and an inner loop keeps a tile of the result in registers.

use crate::lanes::Lanes;
use crate::scratch::{Exhausted, numbers};
use crate::view::{Layout, View, ViewMut};
use core::mem::size_of;

/// What becomes of what was in the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// It is replaced.
    Replace,
    /// The product is subtracted from it.
    Subtract,
}

/// The inner index advances by blocks of so many, rows of the first factor and columns of the second one by so many.
const DEPTH: usize = 256;
const ROWS: usize = 96;
const COLUMNS: usize = 2048;

/// The numbers in a line of the cache.
const CACHE_LINE: usize = 8;

/// Products of fewer operations are made without packing.
const SMALL: usize = 12 * 12 * 12;

/// `c = a b` or `c = c - a b`.
pub fn product(mode: Mode, a: View<'_>, b: View<'_>, c: &mut ViewMut<'_>) -> Result<(), Exhausted> {
    let (m, k, n) = (a.layout().rows, a.layout().columns, b.layout().columns);
    assert!(b.layout().rows == k && c.layout().rows == m && c.layout().columns == n, "factors fit");
    if k == 0 {
        if mode == Mode::Replace {
            (0..m).for_each(|i| (0..n).for_each(|j| c.set(i, j, 0.0)));
        }
        return Ok(());
    }
    if m.saturating_mul(n).saturating_mul(k) <= SMALL || n == 1 {
        small(mode, a, b, c);
        return Ok(());
    }
    let depth = k.min(DEPTH);
    let mut packed = numbers(depth * (ROWS + n.min(COLUMNS).next_multiple_of(16)) + CACHE_LINE)?;
    // Registers are as long as a line of the cache, which they should not straddle.
    let start = packed.as_ptr().align_offset(CACHE_LINE * size_of::<f64>());
    blocks(mode, a, b, c, packed[start..].split_at_mut(depth * ROWS));
    Ok(())
}

fn small(mode: Mode, a: View<'_>, b: View<'_>, c: &mut ViewMut<'_>) {
    let (m, k, n) = (a.layout().rows, a.layout().columns, b.layout().columns);
    for i in 0..m {
        for j in 0..n {
            let mut sum = if mode == Mode::Replace { -0.0 } else { c.at(i, j) };
            for p in 0..k {
                let product = a.at(i, p) * b.at(p, j);
                sum = if mode == Mode::Replace { sum + product } else { sum - product };
            }
            c.set(i, j, sum);
        }
    }
}

/// The numbers of the largest tile of the result: of rows that there are registers for, and the columns of two
/// registers.
const LARGEST_TILE: usize = 8 * 16;

fn blocks(mode: Mode, a: View<'_>, b: View<'_>, c: &mut ViewMut<'_>, packed: (&mut [f64], &mut [f64])) {
    #[cfg(target_arch = "x86_64")]
    {
        use crate::wide::{Instructions, instructions};
        use core::arch::x86_64::{__m128d, __m256d, __m512d};

        #[target_feature(enable = "avx2")]
        fn with_avx2(mode: Mode, a: View<'_>, b: View<'_>, c: &mut ViewMut<'_>, packed: (&mut [f64], &mut [f64])) {
            // SAFETY: the processor has these instructions.
            unsafe { blocks_in::<__m256d, 4>(mode, a, b, c, packed) }
        }
        #[target_feature(enable = "avx512f")]
        fn with_avx512(mode: Mode, a: View<'_>, b: View<'_>, c: &mut ViewMut<'_>, packed: (&mut [f64], &mut [f64])) {
            // SAFETY: the processor has these instructions.
            unsafe { blocks_in::<__m512d, 8>(mode, a, b, c, packed) }
        }
        // SAFETY: the processor has the instructions.
        unsafe {
            match instructions() {
                Instructions::Avx512 => with_avx512(mode, a, b, c, packed),
                Instructions::Avx2 => with_avx2(mode, a, b, c, packed),
                Instructions::Sse2 => blocks_in::<__m128d, 4>(mode, a, b, c, packed),
            }
        }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: every processor of the family has these instructions.
    unsafe {
        blocks_in::<core::arch::aarch64::float64x2_t, 4>(mode, a, b, c, packed)
    }
}

/// # Safety
///
/// The processor has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn blocks_in<V: Lanes, const TILE_ROWS: usize>(
    mode: Mode,
    a: View<'_>,
    b: View<'_>,
    c: &mut ViewMut<'_>,
    (packed_a, packed_b): (&mut [f64], &mut [f64]),
) {
    let (m, k, n) = (a.layout().rows, a.layout().columns, b.layout().columns);
    for column in (0..n).step_by(COLUMNS) {
        let columns = COLUMNS.min(n - column);
        for depth in (0..k).step_by(DEPTH) {
            let deep = DEPTH.min(k - depth);
            pack(b.part(depth, column, deep, columns).transposed(), 2 * V::COUNT, false, packed_b);
            for row in (0..m).step_by(ROWS) {
                let rows = ROWS.min(m - row);
                pack(a.part(row, depth, rows, deep), TILE_ROWS, mode == Mode::Subtract, packed_a);
                let begins = mode == Mode::Replace && depth == 0;
                let place = c.layout().part(row, column, rows, columns);
                // SAFETY: the caller's obligation.
                unsafe { tiles::<V, TILE_ROWS>(begins, deep, packed_a, packed_b, c, place) };
            }
        }
    }
}

/// Packs rows in groups of `width`: the first elements of all rows of a group, then the second ones... Rows that are
/// missing in the last group are zeros.
#[inline(always)]
fn pack(of: View<'_>, width: usize, negate: bool, to: &mut [f64]) {
    let Layout { rows, columns, .. } = of.layout();
    let sign = if negate { -1.0 } else { 1.0 };
    for (group, to) in to.chunks_exact_mut(width * columns).take(rows.div_ceil(width)).enumerate() {
        let first = group * width;
        if first + width > rows {
            to.fill(0.0);
        }
        for lane in 0..width.min(rows - first) {
            for p in 0..columns {
                to[p * width + lane] = sign * of.at(first + lane, p);
            }
        }
    }
}

/// # Safety
///
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn tiles<V: Lanes, const TILE_ROWS: usize>(
    begins: bool,
    depth: usize,
    a: &[f64],
    b: &[f64],
    c: &mut ViewMut<'_>,
    place: Layout,
) {
    let width = 2 * V::COUNT;
    for (column, b) in (0..place.columns).step_by(width).zip(b.chunks_exact(width * depth)) {
        let columns = width.min(place.columns - column);
        for (row, a) in (0..place.rows).step_by(TILE_ROWS).zip(a.chunks_exact(TILE_ROWS * depth)) {
            let rows = TILE_ROWS.min(place.rows - row);
            let mut tile = [-0.0; LARGEST_TILE];
            if !begins {
                for (i, tile) in tile.chunks_exact_mut(width).take(rows).enumerate() {
                    for (j, x) in tile.iter_mut().take(columns).enumerate() {
                        *x = c.element(place.at(row + i, column + j));
                    }
                }
            }
            // SAFETY: the caller's obligation.
            unsafe { add_products::<V, TILE_ROWS>(&mut tile, a, b) };
            for (i, tile) in tile.chunks_exact(width).take(rows).enumerate() {
                for (j, x) in tile.iter().take(columns).enumerate() {
                    c.set_element(place.at(row + i, column + j), *x);
                }
            }
        }
    }
}

/// Adds to a tile of the result the products of the packed rows and columns, in their order.
///
/// # Safety
///
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn add_products<V: Lanes, const TILE_ROWS: usize>(tile: &mut [f64; LARGEST_TILE], a: &[f64], b: &[f64]) {
    let width = 2 * V::COUNT;
    debug_assert!(a.len() / TILE_ROWS == b.len() / width && TILE_ROWS * width <= LARGEST_TILE);
    // SAFETY: there are `width` numbers from each address on.
    unsafe {
        let tile = tile.as_mut_ptr();
        let mut sums: [[V; 2]; TILE_ROWS] =
            core::array::from_fn(|i| core::array::from_fn(|half| V::load(tile.add(i * width + half * V::COUNT))));
        for (a, b) in a.chunks_exact(TILE_ROWS).zip(b.chunks_exact(width)) {
            let b = [V::load(b.as_ptr()), V::load(b.as_ptr().add(V::COUNT))];
            for i in 0..TILE_ROWS {
                let a = V::splat(a[i]);
                sums[i] = [sums[i][0].plus_product(a, b[0]), sums[i][1].plus_product(a, b[1])];
            }
        }
        for (i, sums) in sums.iter().enumerate() {
            sums[0].store(tile.add(i * width));
            sums[1].store(tile.add(i * width + V::COUNT));
        }
    }
}

/// The transpose of `a`, m x n. Squares of the matrix are treated one by one, so that what is read and written stays in
/// the cache.
pub fn transpose(m: usize, n: usize, a: &[f64], result: &mut [f64]) {
    const SQUARE: usize = 16;
    assert!(a.len() == m * n && result.len() == m * n, "as many numbers");
    for rows in (0..m).step_by(SQUARE) {
        for columns in (0..n).step_by(SQUARE) {
            for j in columns..(columns + SQUARE).min(n) {
                for i in rows..(rows + SQUARE).min(m) {
                    result[j * m + i] = a[i * n + j];
                }
            }
        }
    }
}
