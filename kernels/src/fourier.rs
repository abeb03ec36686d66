//! The discrete Fourier transform.

use crate::scratch::{Exhausted, numbers};

/// The transform of n complex numbers, all real parts and then all imaginary ones, by the roots of unity
/// exp(-2 pi i k / n) for k from 0 to n - 1, given in the same way. By their conjugates, it is the inverse times n.
///
/// The length is taken apart into its prime factors p, for each of which n p operations are made: short ones are best.
/// Source: Cooley and Tukey, "An algorithm for the machine calculation of complex Fourier series" (1965).
pub fn transform(n: usize, z: &[f64], roots: &[f64], result: &mut [f64]) -> Result<(), Exhausted> {
    assert!(z.len() == 2 * n && roots.len() == 2 * n && result.len() == 2 * n, "n complex numbers");
    if n == 0 {
        return Ok(());
    }
    let (re, im) = result.split_at_mut(n);
    let mut part = numbers(2 * largest_factor(n))?;
    let given = Given { n, re: &z[..n], im: &z[n..], cos: &roots[..n], sin: &roots[n..] };
    given.transform(0, 1, re, im, &mut part);
    Ok(())
}

struct Given<'a> {
    n: usize,
    re: &'a [f64],
    im: &'a [f64],
    cos: &'a [f64],
    sin: &'a [f64],
}

fn smallest_factor(n: usize) -> usize {
    if n.is_multiple_of(4) {
        return 4;
    }
    (2..).take_while(|p| p * p <= n).find(|p| n.is_multiple_of(*p)).unwrap_or(n)
}

fn largest_factor(mut n: usize) -> usize {
    let mut largest = 1;
    while n > 1 {
        let p = smallest_factor(n);
        largest = largest.max(p);
        n /= p;
    }
    largest
}

impl Given<'_> {
    /// The transform of every `step`-th number from `from` on.
    fn transform(&self, from: usize, step: usize, re: &mut [f64], im: &mut [f64], part: &mut [f64]) {
        let n = re.len();
        if n == 1 {
            (re[0], im[0]) = (self.re[from], self.im[from]);
            return;
        }
        let p = smallest_factor(n);
        let m = n / p;
        for r in 0..p {
            let place = r * m..(r + 1) * m;
            self.transform(from + r * step, step * p, &mut re[place.clone()], &mut im[place], part);
        }
        for k in 0..m {
            match p {
                2 => {
                    let (a, b) = ((re[k], im[k]), self.turned(re, im, k + m, k * step));
                    (re[k], im[k]) = (a.0 + b.0, a.1 + b.1);
                    (re[k + m], im[k + m]) = (a.0 - b.0, a.1 - b.1);
                }
                4 => {
                    let a = (re[k], im[k]);
                    let [b, c, d] = [1, 2, 3].map(|r| self.turned(re, im, k + r * m, r * k * step));
                    // A quarter turn, in the direction of the roots.
                    let turn = self.sin[self.n / 4];
                    let (even, odd) = ((a.0 + c.0, a.1 + c.1), (b.0 + d.0, b.1 + d.1));
                    let (less, more) = ((a.0 - c.0, a.1 - c.1), (turn * (b.1 - d.1), turn * (b.0 - d.0)));
                    (re[k], im[k]) = (even.0 + odd.0, even.1 + odd.1);
                    (re[k + m], im[k + m]) = (less.0 - more.0, less.1 + more.1);
                    (re[k + 2 * m], im[k + 2 * m]) = (even.0 - odd.0, even.1 - odd.1);
                    (re[k + 3 * m], im[k + 3 * m]) = (less.0 + more.0, less.1 - more.1);
                }
                _ => {
                    for r in 0..p {
                        (part[2 * r], part[2 * r + 1]) = self.turned(re, im, k + r * m, r * k * step);
                    }
                    for q in 0..p {
                        let (mut x, mut y) = (part[0], part[1]);
                        for r in 1..p {
                            let place = r * q % p * (self.n / p);
                            let (c, s) = (self.cos[place], self.sin[place]);
                            let (a, b) = (part[2 * r], part[2 * r + 1]);
                            x += a * c - b * s;
                            y += a * s + b * c;
                        }
                        (re[k + q * m], im[k + q * m]) = (x, y);
                    }
                }
            }
        }
    }

    /// The number at a place times a root.
    #[inline(always)]
    fn turned(&self, re: &[f64], im: &[f64], place: usize, root: usize) -> (f64, f64) {
        let (a, b) = (re[place], im[place]);
        if root == 0 {
            return (a, b);
        }
        let (c, s) = (self.cos[root], self.sin[root]);
        (a * c - b * s, a * s + b * c)
    }
}
