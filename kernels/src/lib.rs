//! Kernels: what the library of VLAD does with whole arrays of numbers and compiled code would do slower.
//!
//! | module | what |
//! |---|---|
//! | [`product`] | products of matrices |
//! | [`triangular`] | triangular systems |
//! | [`factor`] | Cholesky, LU and QR factors |
//! | [`spectral`] | eigenvalues of symmetric matrices, singular values |
//! | [`fourier`] | the discrete Fourier transform |
//! | [`order`] | sorting |
//! | [`random`] | random numbers from counters |
//! | [`sums`] | sums in eight interleaved parts |
//! | [`lanes`] | registers of several doubles |
//! | [`view`] | matrices inside of slices |
//! | [`wide`] | the same code for several widths of registers |
//!
//! A kernel takes numbers and vectors of numbers, and fills a vector. Matrices are vectors of their rows, one behind
//! another. What a kernel makes depends on nothing but its operands: the same bits in the evaluator and in compiled
//! code, with every width of instructions, on every machine. So nothing here calls a mathematical library, and no sum
//! changes its order.
//!
//! The build script of the compiler turns this crate into what executables link (`--cfg vlad_archive`); as an ordinary
//! crate it is what the evaluators call.

#![cfg_attr(not(test), no_std)]

extern crate alloc;

pub mod factor;
pub mod fourier;
mod lanes;
pub mod order;
pub mod product;
pub mod random;
pub mod root;
pub mod scratch;
pub mod spectral;
pub mod sums;
pub mod triangular;
pub mod view;
mod wide;

#[cfg(vlad_archive)]
mod archive;

use product::Mode;
use scratch::Exhausted;
use triangular::Triangle;
use view::{Layout, View, ViewMut};

/// A kernel. The comment gives its sizes and vectors, and what it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kernel {
    /// m, k, n, a transposed?, b transposed?; a, b → the product of an m x k and a k x n matrix.
    Product,
    /// n; a → the lower factor; see [`factor::cholesky`].
    Cholesky,
    /// upper?, transposed?, unit?, n, m; l (n x n), b (n x m) → the solutions; see [`triangular::solve`].
    Triangular,
    /// n; a → the factors and then the order of the rows; see [`factor::lu`].
    Lu,
    /// m, n; a → the factors, and then n numbers tau; see [`factor::qr`].
    Qr,
    /// transposed?, m, n, c; what `Qr` made, b (m x c) → the product with the orthogonal matrix.
    QrMultiply,
    /// n; a → the eigenvalues and then the eigenvectors; see [`spectral::symmetric_eigen`].
    SymmetricEigen,
    /// m, n; a → n singular values, m x n left vectors, n x n right ones; see [`spectral::singular_values`].
    SingularValues,
    /// m, n; a → the transpose.
    Transpose,
    /// n; z, roots → see [`fourier::transform`].
    Fourier,
    /// ; v → see [`order::order`].
    Order,
    /// words?, two parts of a key, two parts of a domain → see [`random`].
    Random,
    /// ; a, b → one number, the sum of the products; see [`sums::dot`].
    Dot,
    /// start; v → elements of v from that place on. Compiled code gives a view of them.
    Part,
    /// room; a, b → the elements of both. Compiled code copies none if those of b stand behind those of a in memory, or
    /// if a is what it has joined before with enough room.
    Joined,
}

/// Each kernel with its name in the library and in printed code, the name of its machine code, and how many sizes and
/// vectors it takes.
pub const TABLE: &[(Kernel, &str, &str, usize, usize)] = &[
    (Kernel::Product, "product", "vlad_kernel_product", 5, 2),
    (Kernel::Cholesky, "cholesky", "vlad_kernel_cholesky", 1, 1),
    (Kernel::Triangular, "triangular", "vlad_kernel_triangular", 5, 2),
    (Kernel::Lu, "lu", "vlad_kernel_lu", 1, 1),
    (Kernel::Qr, "qr", "vlad_kernel_qr", 2, 1),
    (Kernel::QrMultiply, "qr-multiply", "vlad_kernel_qr_multiply", 4, 2),
    (Kernel::SymmetricEigen, "symmetric-eigen", "vlad_kernel_symmetric_eigen", 1, 1),
    (Kernel::SingularValues, "singular-values", "vlad_kernel_singular_values", 2, 1),
    (Kernel::Transpose, "transpose", "vlad_kernel_transpose", 2, 1),
    (Kernel::Fourier, "fourier", "vlad_kernel_fourier", 1, 2),
    (Kernel::Order, "order", "vlad_kernel_order", 0, 1),
    (Kernel::Random, "random", "vlad_kernel_random", 5, 0),
    (Kernel::Dot, "dot", "vlad_kernel_dot", 0, 2),
    (Kernel::Part, "part", "vlad_part", 1, 1),
    (Kernel::Joined, "joined", "vlad_joined", 1, 2),
];

impl Kernel {
    fn row(self) -> &'static (Kernel, &'static str, &'static str, usize, usize) {
        &TABLE[self as usize]
    }
    /// The name in the library and in printed code.
    pub fn name(self) -> &'static str {
        self.row().1
    }
    /// The name of the function in machine code.
    pub fn symbol(self) -> &'static str {
        self.row().2
    }
    /// Whether the result may lie in the memory of what it is made of.
    pub fn shares(self) -> bool {
        matches!(self, Kernel::Part | Kernel::Joined)
    }
    /// Whether the result consists of numbers that are computed of those in vectors.
    pub fn computes(self) -> bool {
        use Kernel::{Joined, Order, Part, Random, Transpose};
        !matches!(self, Transpose | Order | Random | Part | Joined)
    }
    /// How many numbers it takes.
    pub fn sizes(self) -> usize {
        self.row().3
    }
    /// How many vectors it takes.
    pub fn vectors(self) -> usize {
        self.row().4
    }

    /// Fills `result`. What is not a number has the same bits wherever it comes from.
    ///
    /// # Errors
    ///
    /// When there is no memory left to work in.
    ///
    /// # Panics
    ///
    /// When sizes do not fit the vectors: a mistake in the library.
    pub fn run(self, result: &mut [f64], sizes: &[f64], vectors: &[&[f64]]) -> Result<(), Exhausted> {
        self.fill(result, &Sizes(sizes), vectors)?;
        for x in result {
            if x.is_nan() {
                *x = f64::NAN;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn fill(self, result: &mut [f64], sizes: &Sizes<'_>, vectors: &[&[f64]]) -> Result<(), Exhausted> {
        match self {
            Kernel::Product => {
                let [m, k, n] = [0, 1, 2].map(|i| sizes.number(i));
                let factor = |place: usize, rows, columns, vector: usize| match sizes.flag(place) {
                    true => View::new(vectors[vector], Layout::by_rows(columns, rows)).transposed(),
                    false => View::new(vectors[vector], Layout::by_rows(rows, columns)),
                };
                let (a, b) = (factor(3, m, k, 0), factor(4, k, n, 1));
                product::product(Mode::Replace, a, b, &mut ViewMut::new(result, Layout::by_rows(m, n)))
            }
            Kernel::Cholesky => {
                result.copy_from_slice(vectors[0]);
                factor::cholesky(sizes.number(0), result)
            }
            Kernel::Triangular => {
                let [upper, transposed, unit] = [0, 1, 2].map(|i| sizes.flag(i));
                let (n, m) = (sizes.number(3), sizes.number(4));
                result.copy_from_slice(vectors[1]);
                let l = View::new(vectors[0], Layout::by_rows(n, n));
                triangular::solve(Triangle { upper, transposed, unit }, l, result, m)
            }
            Kernel::Lu => {
                let n = sizes.number(0);
                let (a, order) = result.split_at_mut(n * n);
                a.copy_from_slice(vectors[0]);
                factor::lu(n, a, order)
            }
            Kernel::Qr => {
                let (m, n) = (sizes.number(0), sizes.number(1));
                let (a, tau) = result.split_at_mut(m * n);
                a.copy_from_slice(vectors[0]);
                factor::qr(m, n, a, tau)
            }
            Kernel::QrMultiply => {
                let [m, n, c] = [1, 2, 3].map(|i| sizes.number(i));
                result.copy_from_slice(vectors[1]);
                factor::qr_multiply(sizes.flag(0), (m, n, c), vectors[0].split_at(m * n), result)
            }
            Kernel::SymmetricEigen => {
                let (values, eigenvectors) = result.split_at_mut(sizes.number(0));
                let mut a = copy(vectors[0])?;
                spectral::symmetric_eigen(sizes.number(0), &mut a, values, eigenvectors)
            }
            Kernel::SingularValues => {
                let (m, n) = (sizes.number(0), sizes.number(1));
                let (values, rest) = result.split_at_mut(n);
                let (left, right) = rest.split_at_mut(m * n);
                let mut a = copy(vectors[0])?;
                spectral::singular_values(m, n, &mut a, spectral::Svd { values, left, right })
            }
            Kernel::Transpose => {
                let (m, n) = (sizes.number(0), sizes.number(1));
                product::transpose(m, n, vectors[0], result);
                Ok(())
            }
            Kernel::Fourier => fourier::transform(sizes.number(0), vectors[0], vectors[1], result),
            Kernel::Order => order::order(vectors[0], result),
            Kernel::Random => {
                let key = [1, 2].map(|i| sizes.0[i] as u32);
                let domain = u64::from(sizes.0[4] as u32) << 32 | u64::from(sizes.0[3] as u32);
                if sizes.flag(0) {
                    random::bits(key, domain, result);
                } else {
                    random::uniforms(key, domain, result);
                }
                Ok(())
            }
            Kernel::Dot => {
                result[0] = sums::dot_wide(vectors[0], vectors[1]);
                Ok(())
            }
            Kernel::Part => {
                result.copy_from_slice(&vectors[0][sizes.number(0)..][..result.len()]);
                Ok(())
            }
            Kernel::Joined => {
                let (first, second) = result.split_at_mut(vectors[0].len());
                first.copy_from_slice(vectors[0]);
                second.copy_from_slice(vectors[1]);
                Ok(())
            }
        }
    }
}

fn copy(v: &[f64]) -> Result<alloc::vec::Vec<f64>, Exhausted> {
    let mut copy = scratch::numbers(v.len())?;
    copy.copy_from_slice(v);
    Ok(copy)
}

/// The numbers that a kernel takes.
struct Sizes<'a>(&'a [f64]);

impl Sizes<'_> {
    #[inline(always)]
    fn number(&self, position: usize) -> usize {
        self.0[position] as usize
    }
    #[inline(always)]
    fn flag(&self, position: usize) -> bool {
        self.0[position] != 0.0
    }
}

#[cfg(test)]
mod tests;
