//! Eigenvalues of symmetric matrices, and singular values.

use crate::factor::{qr, qr_multiply, reflection};
use crate::root::root;
use crate::scratch::{Exhausted, filled, numbers};
use crate::sums::dot;
use crate::wide::wide;

/// Steps of the QR iteration for each eigenvalue, and sweeps of rotations, after which there is no convergence: with
/// numbers there always is.
const MOST_STEPS: usize = 60;

/// The eigenvalues of the symmetric matrix `a`, n x n, ascending, and n x n eigenvectors as columns. `a` is destroyed;
/// its lower triangle counts.
///
/// Reflections make the matrix tridiagonal, and implicit QR steps with Wilkinson's shift make it diagonal. Source:
/// Golub and Van Loan, "Matrix computations", 4th edition, algorithms 8.3.1 to 8.3.3.
pub fn symmetric_eigen(n: usize, a: &mut [f64], values: &mut [f64], vectors: &mut [f64]) -> Result<(), Exhausted> {
    for i in 0..n {
        (0..i).for_each(|j| a[j * n + i] = a[i * n + j]);
    }
    let largest = a.iter().fold(0.0_f64, |largest, x| if x.abs() > largest { x.abs() } else { largest });
    if a.iter().any(|x| !x.is_finite()) {
        values.fill(f64::NAN);
        vectors.fill(f64::NAN);
        return Ok(());
    }
    // Squares neither overflow nor vanish; a power of two changes no digits.
    let scale = power_of_two_near(largest);
    a.iter_mut().for_each(|x| *x /= scale);
    let mut off = numbers(n)?;
    // Rows are the columns of the orthogonal matrix.
    let mut rows = numbers(n * n)?;
    tridiagonal(n, a, values, &mut off, &mut rows)?;
    diagonal(n, values, &mut off, &mut rows);
    let mut order = filled(n, 0_usize)?;
    order.iter_mut().enumerate().for_each(|(i, place)| *place = i);
    order.sort_unstable_by(|i, j| values[*i].total_cmp(&values[*j]).then(i.cmp(j)));
    off.copy_from_slice(values);
    for (column, from) in order.iter().enumerate() {
        values[column] = off[*from] * scale;
        let row = &rows[from * n..][..n];
        let sign = sign_of(row);
        for (i, x) in row.iter().enumerate() {
            vectors[i * n + column] = sign * x;
        }
    }
    Ok(())
}

/// The sign that makes the component of largest modulus positive, the first of equals.
fn sign_of(row: &[f64]) -> f64 {
    let mut largest = 0.0_f64;
    for x in row {
        if x.abs() > largest.abs() {
            largest = *x;
        }
    }
    if largest < 0.0 { -1.0 } else { 1.0 }
}

/// A power of two of the size of a number; 1 for zero.
fn power_of_two_near(x: f64) -> f64 {
    let exponent = x.to_bits() >> 52 & 0x7ff;
    if exponent == 0 { 1.0 } else { f64::from_bits(exponent << 52) }
}

fn tridiagonal(
    n: usize,
    a: &mut [f64],
    diagonal: &mut [f64],
    off: &mut [f64],
    rows: &mut [f64],
) -> Result<(), Exhausted> {
    let mut v = numbers(n)?;
    let mut w = numbers(n)?;
    let mut taus = numbers(n)?;
    for k in 0..n.saturating_sub(1) {
        diagonal[k] = a[k * n + k];
        let rest = n - k - 1;
        let (v, w) = (&mut v[..rest], &mut w[..rest]);
        v.copy_from_slice(&a[k * n + k + 1..(k + 1) * n]);
        let tau = reflection(v);
        off[k] = v[0];
        taus[k] = tau;
        v[0] = 1.0;
        let corner = &mut a[(k + 1) * n + k + 1..];
        if tau != 0.0 {
            two_sided(n, tau, v, w, corner);
        }
        // What the reflection was is needed at the end.
        a[k * n + k + 1..(k + 1) * n].copy_from_slice(v);
    }
    if n > 0 {
        diagonal[n - 1] = a[n * n - 1];
    }
    // The product of the reflections, from the last to the first: its transpose, row by row.
    for i in 0..n {
        rows[i * n + i] = 1.0;
    }
    for k in (0..n.saturating_sub(1)).rev() {
        if taus[k] != 0.0 {
            let v = &a[k * n + k + 1..(k + 1) * n];
            reflect_from_right(n, taus[k], v, k + 1, rows);
        }
    }
    Ok(())
}

wide! {
    fn two_sided / two_sided_in(n: usize, tau: f64, v: &[f64], w: &mut [f64], a: &mut [f64]) {
        let rest = v.len();
        for i in 0..rest {
            w[i] = tau * dot(&a[i * n..][..rest], v);
        }
        let half = tau / 2.0 * dot(w, v);
        w.iter_mut().zip(v).for_each(|(w, v)| *w -= half * v);
        for i in 0..rest {
            let (first, second) = (v[i], w[i]);
            for ((x, v), w) in a[i * n..][..rest].iter_mut().zip(v).zip(&*w) {
                *x -= first * w + second * v;
            }
        }
    }
}

wide! {
    fn reflect_from_right / reflect_from_right_in(n: usize, tau: f64, v: &[f64], from: usize, rows: &mut [f64]) {
        for row in rows.chunks_exact_mut(n).skip(from) {
            let row = &mut row[from..];
            let factor = tau * dot(row, v);
            row.iter_mut().zip(v).for_each(|(x, v)| *x -= factor * v);
        }
    }
}

fn diagonal(n: usize, d: &mut [f64], e: &mut [f64], rows: &mut [f64]) {
    let mut last = n.saturating_sub(1);
    let mut steps = 0;
    while last > 0 {
        for i in 0..last {
            if e[i].abs() <= f64::EPSILON / 2.0 * (d[i].abs() + d[i + 1].abs()) {
                e[i] = 0.0;
            }
        }
        if e[last - 1] == 0.0 {
            (last, steps) = (last - 1, 0);
            continue;
        }
        steps += 1;
        if steps > MOST_STEPS {
            d.fill(f64::NAN);
            return;
        }
        let mut first = last - 1;
        while first > 0 && e[first - 1] != 0.0 {
            first -= 1;
        }
        let half = (d[last - 1] - d[last]) / 2.0;
        let t = e[last - 1];
        let length = root(half * half + t * t);
        let shift = d[last] - t * t / if half < 0.0 { half - length } else { half + length };
        let (mut x, mut z) = (d[first] - shift, e[first]);
        for k in first..last {
            let r = root(x * x + z * z);
            let (c, s) = if r == 0.0 { (1.0, 0.0) } else { (x / r, z / r) };
            if k > first {
                e[k - 1] = r;
            }
            let (a, b, g) = (d[k], e[k], d[k + 1]);
            d[k] = c * c * a + 2.0 * c * s * b + s * s * g;
            d[k + 1] = s * s * a - 2.0 * c * s * b + c * c * g;
            e[k] = c * s * (g - a) + (c * c - s * s) * b;
            if k + 1 < last {
                (x, z) = (e[k], s * e[k + 1]);
                e[k + 1] *= c;
            }
            let (above, below) = rows.split_at_mut((k + 1) * n);
            rotate(c, s, &mut above[k * n..], &mut below[..n]);
        }
    }
}

wide! {
    fn rotate / rotate_in(c: f64, s: f64, p: &mut [f64], q: &mut [f64]) {
        for (p, q) in p.iter_mut().zip(q) {
            (*p, *q) = (c * *p + s * *q, c * *q - s * *p);
        }
    }
}

/// What [`singular_values`] gives.
pub struct Svd<'a> {
    /// The n singular values, descending.
    pub values: &'a mut [f64],
    /// The left vectors as columns, m x n.
    pub left: &'a mut [f64],
    /// The right vectors as columns, n x n.
    pub right: &'a mut [f64],
}

/// The singular value decomposition of `a`, m x n with m >= n, which is destroyed.
///
/// Rotations from one side make the columns of the triangular factor of QR orthogonal. Source: Hestenes, "Inversion of
/// matrices by biorthogonalization and related results" (1958); Golub and Van Loan, 8.6.3.
pub fn singular_values(m: usize, n: usize, a: &mut [f64], svd: Svd<'_>) -> Result<(), Exhausted> {
    let Svd { values, left, right } = svd;
    if n == 0 {
        return Ok(());
    }
    if a.iter().any(|x| !x.is_finite()) {
        [values, left, right].into_iter().for_each(|x| x.fill(f64::NAN));
        return Ok(());
    }
    let largest = a.iter().fold(0.0_f64, |largest, x| if x.abs() > largest { x.abs() } else { largest });
    let scale = power_of_two_near(largest);
    a.iter_mut().for_each(|x| *x /= scale);
    let mut tau = numbers(n)?;
    qr(m, n, a, &mut tau)?;
    // Rows are the columns that become orthogonal, and behind them those of the rotations.
    let width = 2 * n;
    let mut rows = numbers(n * width)?;
    for (j, row) in rows.chunks_exact_mut(width).enumerate() {
        (0..=j).for_each(|i| row[i] = a[i * n + j]);
        row[n + j] = 1.0;
    }
    orthogonalise(n, &mut rows);
    let mut sizes = numbers(n)?;
    let mut order = filled(n, 0_usize)?;
    for (j, row) in rows.chunks_exact(width).enumerate() {
        sizes[j] = root(dot(&row[..n], &row[..n]));
        order[j] = j;
    }
    order.sort_unstable_by(|i, j| sizes[*j].total_cmp(&sizes[*i]).then(i.cmp(j)));
    left.fill(0.0);
    for (column, from) in order.iter().enumerate() {
        let row = &rows[from * width..][..width];
        values[column] = sizes[*from] * scale;
        for i in 0..n {
            left[i * n + column] = if sizes[*from] > 0.0 { row[i] / sizes[*from] } else { 0.0 };
            right[i * n + column] = row[n + i];
        }
        if sizes[*from] == 0.0 {
            complete(n, column, left);
        }
    }
    qr_multiply(false, (m, n, n), (a, &tau), left)?;
    let mut vector = numbers(m)?;
    for column in 0..n {
        vector.iter_mut().zip(left.iter().skip(column).step_by(n)).for_each(|(to, x)| *to = *x);
        if sign_of(&vector) < 0.0 {
            left.iter_mut().skip(column).step_by(n).for_each(|x| *x = -*x);
            right.iter_mut().skip(column).step_by(n).for_each(|x| *x = -*x);
        }
    }
    Ok(())
}

/// Makes a column of the n x n matrix on top of `left` a unit vector at right angles to those before it.
fn complete(n: usize, column: usize, left: &mut [f64]) {
    for axis in 0..n {
        (0..n).for_each(|i| left[i * n + column] = if i == axis { 1.0 } else { 0.0 });
        // Twice is enough.
        for _ in 0..2 {
            for other in 0..column {
                let along = (0..n).fold(0.0, |sum, i| sum + left[i * n + other] * left[i * n + column]);
                (0..n).for_each(|i| left[i * n + column] -= along * left[i * n + other]);
            }
        }
        let length = root((0..n).fold(0.0, |sum, i| sum + left[i * n + column] * left[i * n + column]));
        // Some axis is as far from the others as the columns that are left allow.
        if length * length * n as f64 >= 0.5 {
            (0..n).for_each(|i| left[i * n + column] /= length);
            return;
        }
    }
}

wide! {
    fn orthogonalise / orthogonalise_in(n: usize, rows: &mut [f64]) {
        let width = 2 * n;
        for _ in 0..MOST_STEPS {
            let mut rotated = false;
            for i in 0..n {
                let (above, below) = rows.split_at_mut((i + 1) * width);
                let p = &mut above[i * width..];
                for q in below.chunks_exact_mut(width) {
                    let (alpha, beta, gamma) = (dot(&p[..n], &p[..n]), dot(&q[..n], &q[..n]), dot(&p[..n], &q[..n]));
                    if gamma == 0.0 || gamma.abs() <= f64::EPSILON * root(alpha) * root(beta) {
                        continue;
                    }
                    rotated = true;
                    let zeta = (beta - alpha) / (2.0 * gamma);
                    let t = if zeta.abs() > 1e150 {
                        0.5 / zeta
                    } else {
                        (if zeta < 0.0 { -1.0 } else { 1.0 }) / (zeta.abs() + root(1.0 + zeta * zeta))
                    };
                    let c = 1.0 / root(1.0 + t * t);
                    let s = c * t;
                    for (p, q) in p.iter_mut().zip(q) {
                        (*p, *q) = (c * *p - s * *q, s * *p + c * *q);
                    }
                }
            }
            if !rotated {
                return;
            }
        }
    }
}
