//! Sums in eight interleaved parts.

use crate::wide::wide;

/// How many partial sums there are: element i belongs to sum i modulo this.
const PARTS: usize = 8;

/// The partial sums together, in a fixed tree.
#[inline(always)]
fn together(s: [f64; PARTS]) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// The sum of the products of the elements of two vectors of the same length.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; PARTS];
    let (a, b) = (a.chunks_exact(PARTS), b.chunks_exact(PARTS));
    let rest = (a.remainder(), b.remainder());
    for (a, b) in a.zip(b) {
        for i in 0..PARTS {
            sums[i] += a[i] * b[i];
        }
    }
    for (sum, (a, b)) in sums.iter_mut().zip(rest.0.iter().zip(rest.1)) {
        *sum += a * b;
    }
    together(sums)
}

wide! {
    fn of_products / of_products_in(a: &[f64], b: &[f64], result: &mut f64) {
        *result = dot(a, b);
    }
}

/// The same as a kernel.
pub fn dot_wide(a: &[f64], b: &[f64]) -> f64 {
    let mut result = 0.0;
    of_products(a, b, &mut result);
    result
}
