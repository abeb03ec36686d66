//! Factorisations of matrices: Cholesky, LU with partial pivoting, QR by reflections.

use crate::product::{Mode, product};
use crate::root::root;
use crate::scratch::{Exhausted, numbers};
use crate::triangular::{Triangle, solve};
use crate::view::{Layout, View, ViewMut};
use crate::wide::wide;

/// Columns that are treated one by one, before products take them to all others.
const BLOCK: usize = 32;

/// The lower factor of the symmetric matrix `a`, n x n, of which the lower triangle is read, in its place; zeros above.
/// Where a pivot is not positive, it stays on the diagonal as it was found, and the rest of the diagonal is 0.
///
/// Element by element: less the products of the columns before, in their order, then divided by the pivot.
pub fn cholesky(n: usize, a: &mut [f64]) -> Result<(), Exhausted> {
    (0..n).for_each(|i| a[i * n + i + 1..(i + 1) * n].fill(0.0));
    let mut known = numbers(n * BLOCK.min(n))?;
    for from in (0..n).step_by(BLOCK) {
        let to = (from + BLOCK).min(n);
        let below = &mut a[from * n..];
        if from > 0 {
            // The rows of this block are factors of all products, and change themselves.
            for (i, known) in known.chunks_exact_mut(from).take(to - from).enumerate() {
                known.copy_from_slice(&below[i * n..][..from]);
            }
            subtract_products(n, from, to, &known, below)?;
        }
        if let Some(failed) = panel(n, from, to, below) {
            (failed + 1..n).for_each(|i| a[i * n + i] = 0.0);
            return Ok(());
        }
    }
    Ok(())
}

/// Subtracts from columns `from` to `to` of the rows from `from` on the products of the columns before.
fn subtract_products(n: usize, from: usize, to: usize, known: &[f64], below: &mut [f64]) -> Result<(), Exhausted> {
    let factor = View::new(known, Layout::by_rows(to - from, from));
    // Rows in groups, since a row holds both what is read and what is changed.
    let mut left = numbers(GROUP.min(n - from) * from)?;
    for rows in below.chunks_mut(GROUP * n) {
        let count = rows.len() / n;
        for (row, left) in rows.chunks_exact(n).zip(left.chunks_exact_mut(from)) {
            left.copy_from_slice(&row[..from]);
        }
        let left = View::new(&left[..count * from], Layout::by_rows(count, from));
        let place = Layout { start: from, rows: count, columns: to - from, down: n as isize, right: 1 };
        product(Mode::Subtract, left, factor.transposed(), &mut ViewMut::new(rows, place))?;
    }
    Ok(())
}

/// Rows whose left part is copied at a time.
const GROUP: usize = 192;

/// Factors the columns `from` to `to` of the rows from `from` on, which begin at `a`; the row of a pivot that is not
/// positive.
fn panel(n: usize, from: usize, to: usize, a: &mut [f64]) -> Option<usize> {
    let width = to - from;
    // The transpose of the triangle on the diagonal: what later rows are divided by stands side by side.
    let mut triangle = [[0.0; BLOCK]; BLOCK];
    for (i, row) in a.chunks_exact_mut(n).take(width).enumerate() {
        let row = &mut row[from..to];
        // The products went to whole squares.
        row[i + 1..].fill(0.0);
        for k in 0..i {
            row[k] /= triangle[k][k];
            let factor = row[k];
            (k + 1..=i).for_each(|j| row[j] -= factor * if j == i { factor } else { triangle[k][j] });
        }
        if row[i].is_nan() || row[i] <= 0.0 {
            return Some(from + i);
        }
        row[i] = root(row[i]);
        (0..=i).for_each(|k| triangle[k][i] = row[k]);
    }
    rows_below(n, from, width, &triangle, &mut a[width * n..]);
    None
}

wide! {
    fn rows_below / rows_below_in(n: usize, from: usize, width: usize, triangle: &[[f64; BLOCK]; BLOCK], a: &mut [f64]) {
        for row in a.chunks_exact_mut(n) {
            let row = &mut row[from..from + width];
            for k in 0..width {
                let factor = row[k] / triangle[k][k];
                row[k] = factor;
                for (x, y) in row[k + 1..].iter_mut().zip(&triangle[k][k + 1..width]) {
                    *x -= factor * y;
                }
            }
        }
    }
}

/// LU with partial pivoting of `a`, n x n, in its place: the multipliers below the diagonal, the upper factor on and
/// above it. `order` gets the row that came to each place. The pivot of a column is its first largest number; a column
/// of zeros is left as it is.
pub fn lu(n: usize, a: &mut [f64], order: &mut [f64]) -> Result<(), Exhausted> {
    order.iter_mut().enumerate().for_each(|(i, row)| *row = i as f64);
    let mut upper = numbers(BLOCK.min(n) * n)?;
    for from in (0..n).step_by(BLOCK) {
        let to = (from + BLOCK).min(n);
        for column in from..to {
            let size = |row: usize| a[row * n + column].abs();
            let mut pivot = column;
            // What is not a number is larger than all others, so that it is seen.
            for row in column + 1..n {
                if size(row) > size(pivot) || size(row).is_nan() && !size(pivot).is_nan() {
                    pivot = row;
                }
            }
            if pivot != column {
                let (above, below) = a.split_at_mut(pivot * n);
                above[column * n..][..n].swap_with_slice(&mut below[..n]);
                order.swap(column, pivot);
            }
            if a[column * n + column] != 0.0 {
                let (above, below) = a.split_at_mut((column + 1) * n);
                eliminate(n, column, to, &above[column * n..], below);
            }
        }
        if to == n {
            break;
        }
        let (above, below) = a.split_at_mut(to * n);
        let block = &mut above[from * n..];
        let width = n - to;
        let upper = &mut upper[..(to - from) * width];
        for (row, upper) in block.chunks_exact(n).zip(upper.chunks_exact_mut(width)) {
            upper.copy_from_slice(&row[to..]);
        }
        let place = Layout { start: from, rows: to - from, columns: to - from, down: n as isize, right: 1 };
        solve(Triangle { upper: false, transposed: false, unit: true }, View::new(block, place), upper, width)?;
        for (row, upper) in block.chunks_exact_mut(n).zip(upper.chunks_exact(width)) {
            row[to..].copy_from_slice(upper);
        }
        let upper = View::new(upper, Layout::by_rows(to - from, width));
        let mut left = numbers(GROUP.min(n - to) * (to - from))?;
        for rows in below.chunks_mut(GROUP * n) {
            let count = rows.len() / n;
            for (row, left) in rows.chunks_exact(n).zip(left.chunks_exact_mut(to - from)) {
                left.copy_from_slice(&row[from..to]);
            }
            let left = View::new(&left[..count * (to - from)], Layout::by_rows(count, to - from));
            let place = Layout { start: to, rows: count, columns: width, down: n as isize, right: 1 };
            product(Mode::Subtract, left, upper, &mut ViewMut::new(rows, place))?;
        }
    }
    Ok(())
}

wide! {
    fn eliminate / eliminate_in(n: usize, column: usize, to: usize, pivots: &[f64], below: &mut [f64]) {
        let pivot = pivots[column];
        for row in below.chunks_exact_mut(n) {
            let factor = row[column] / pivot;
            row[column] = factor;
            for (x, y) in row[column + 1..to].iter_mut().zip(&pivots[column + 1..to]) {
                *x -= factor * y;
            }
        }
    }
}

/// QR by reflections of `a`, m x n with m >= n, in its place: R on and above the diagonal, below it the vectors v of
/// the reflections I - tau v v^T, whose first element is 1. The diagonal of R has any sign.
///
/// Source: Golub and Van Loan, "Matrix computations", 4th edition, algorithms 5.1.1 and 5.2.1.
pub fn qr(m: usize, n: usize, a: &mut [f64], tau: &mut [f64]) -> Result<(), Exhausted> {
    let mut vector = numbers(m)?;
    let mut sums = numbers(n)?;
    for column in 0..n {
        let v = &mut vector[column..];
        v.iter_mut().zip(a[column * n..].iter().skip(column).step_by(n)).for_each(|(v, x)| *v = *x);
        tau[column] = reflection(v);
        let (new, v) = (v[0], {
            v[0] = 1.0;
            &*v
        });
        let rows = &mut a[column * n..];
        reflect(tau[column], v, rows, n, column + 1, n, &mut sums);
        rows[column] = new;
        rows.chunks_exact_mut(n).zip(v).skip(1).for_each(|(row, v)| row[column] = *v);
    }
    Ok(())
}

/// The tau of the reflection that takes `x` to a multiple of the first unit vector; `x` becomes that multiple, and the
/// rest of v.
pub fn reflection(x: &mut [f64]) -> f64 {
    let largest =
        x[1..].iter().fold(0.0_f64, |largest, x| if x.abs() > largest || x.is_nan() { x.abs() } else { largest });
    if largest == 0.0 {
        return 0.0;
    }
    // Scaled, so that squares neither overflow nor vanish.
    let scale = if x[0].abs() > largest { x[0].abs() } else { largest };
    let first = x[0] / scale;
    let rest = x[1..].iter().fold(0.0, |sum, x| sum + (x / scale) * (x / scale));
    let length = root(first * first + rest);
    let new = if first > 0.0 { -length } else { length };
    let divisor = (first - new) * scale;
    x[1..].iter_mut().for_each(|x| *x /= divisor);
    x[0] = new * scale;
    (new - first) / new
}

wide! {
    fn reflect_rows / reflect_rows_in(tau: f64, v: &[f64], a: &mut [f64], step: usize, from: usize, to: usize, sums: &mut [f64]) {
        let sums = &mut sums[..to - from];
        sums.fill(0.0);
        for (row, v) in a.chunks_exact(step).zip(v) {
            for (sum, x) in sums.iter_mut().zip(&row[from..to]) {
                *sum += v * x;
            }
        }
        for (row, v) in a.chunks_exact_mut(step).zip(v) {
            let factor = tau * v;
            for (x, sum) in row[from..to].iter_mut().zip(&*sums) {
                *x -= factor * sum;
            }
        }
    }
}

/// Reflects the columns `from` to `to` of rows that stand `step` numbers apart.
pub fn reflect(tau: f64, v: &[f64], a: &mut [f64], step: usize, from: usize, to: usize, sums: &mut [f64]) {
    if tau != 0.0 && from < to {
        reflect_rows(tau, v, a, step, from, to, sums);
    }
}

/// Q b or Q^T b, in the place of `b`, m x c, for the m x m matrix Q of [`qr`].
pub fn qr_multiply(
    transposed: bool,
    (m, n, c): (usize, usize, usize),
    factors: (&[f64], &[f64]),
    b: &mut [f64],
) -> Result<(), Exhausted> {
    let (qr, tau) = factors;
    let mut vector = numbers(m)?;
    let mut sums = numbers(c)?;
    for step in 0..n {
        let column = if transposed { step } else { n - 1 - step };
        let v = &mut vector[column..];
        v.iter_mut().zip(qr[column * n..].iter().skip(column).step_by(n)).for_each(|(v, x)| *v = *x);
        v[0] = 1.0;
        reflect(tau[column], v, &mut b[column * c..], c, 0, c, &mut sums);
    }
    Ok(())
}
