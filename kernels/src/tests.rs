//! The kernels beside their definitions.

use crate::{Kernel, TABLE};

/// Numbers that look random.
fn numbers(count: usize, seed: u32) -> Vec<f64> {
    let mut bits = vec![0.0; count];
    Kernel::Random.run(&mut bits, &[0.0, f64::from(seed), 7.0, 0.0, 0.0], &[]).expect("memory");
    bits.iter().map(|x| x - 0.5).collect()
}

fn run(kernel: Kernel, length: usize, sizes: &[usize], vectors: &[&[f64]]) -> Vec<f64> {
    let sizes: Vec<f64> = sizes.iter().map(|size| *size as f64).collect();
    let mut result = vec![f64::INFINITY; length];
    assert_eq!((sizes.len(), vectors.len()), (kernel.sizes(), kernel.vectors()));
    kernel.run(&mut result, &sizes, vectors).expect("memory");
    result
}

/// The product by its definition, in the order of the inner index.
fn plain_product(
    (m, k, n): (usize, usize, usize),
    a: impl Fn(usize, usize) -> f64,
    b: impl Fn(usize, usize) -> f64,
) -> Vec<f64> {
    let element = |i, j| (1..k).fold(if k > 0 { a(i, 0) * b(0, j) } else { 0.0 }, |sum, p| sum + a(i, p) * b(p, j));
    (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| element(i, j)).collect()
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() <= tolerance, "{i}: {x} {y}");
    }
}

#[test]
fn rows_stand_at_their_kernel() {
    for (index, row) in TABLE.iter().enumerate() {
        assert_eq!(row.0 as usize, index, "{}", row.1);
    }
}

#[test]
fn sizes_may_be_zero() {
    let a = numbers(4, 1);
    for (m, n) in [(0, 0), (0, 2), (2, 0)] {
        assert!(run(Kernel::Product, 0, &[m, 2, n, 0, 0], &[&a[..2 * m], &a[..2 * n]]).is_empty());
        assert!(run(Kernel::Product, 0, &[m, 2, n, 1, 1], &[&a[..2 * m], &a[..2 * n]]).is_empty());
        assert_eq!(run(Kernel::Product, 4, &[2, 0, 2, m.min(1), n.min(1)], &[&[], &[]]), [0.0; 4]);
        assert!(run(Kernel::Transpose, 0, &[m, n], &[&[]]).is_empty());
        assert!(run(Kernel::Triangular, 0, &[0, m.min(1), 0, m, n], &[&a[..m * m], &[]]).is_empty());
        if m >= n {
            assert!(run(Kernel::Qr, 0, &[m, n], &[&[]]).is_empty());
            assert!(run(Kernel::SingularValues, 0, &[m, n], &[&[]]).is_empty());
            assert_eq!(run(Kernel::QrMultiply, 2 * m, &[0, m, n, 2], &[&[], &a[..2 * m]]), a[..2 * m]);
            assert!(run(Kernel::QrMultiply, 0, &[1, m, 0, 0], &[&[], &[]]).is_empty());
        }
    }
    assert!(run(Kernel::QrMultiply, 0, &[0, 2, 1, 0], &[&[0.5, 0.5, 1.5], &[]]).is_empty());
    for kernel in [Kernel::Cholesky, Kernel::Lu, Kernel::SymmetricEigen] {
        assert!(run(kernel, 0, &[0], &[&[]]).is_empty());
    }
    assert!(run(Kernel::Fourier, 0, &[0], &[&[], &[]]).is_empty());
    assert!(run(Kernel::Order, 0, &[], &[&[]]).is_empty());
    assert!(run(Kernel::Random, 0, &[0, 1, 2, 3, 4], &[]).is_empty());
    assert_eq!(run(Kernel::Dot, 1, &[], &[&[], &[]]), [0.0]);
    assert!(run(Kernel::Part, 0, &[4], &[&a]).is_empty());
    assert!(run(Kernel::Joined, 0, &[0], &[&[], &[]]).is_empty());
}

#[test]
fn products_have_the_bits_of_their_definition() {
    for (m, k, n) in [
        (0, 3, 2),
        (3, 0, 2),
        (1, 1, 1),
        (3, 4, 5),
        (17, 33, 9),
        (100, 300, 50),
        (97, 257, 61),
        (5, 600, 1),
        (1, 70, 2100),
    ] {
        let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
        let (at, bt) = (run(Kernel::Transpose, m * k, &[m, k], &[&a]), run(Kernel::Transpose, k * n, &[k, n], &[&b]));
        let plain = plain_product((m, k, n), |i, p| a[i * k + p], |p, j| b[p * n + j]);
        for (ta, tb) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let (a, b) = (if ta == 1 { &at } else { &a }, if tb == 1 { &bt } else { &b });
            assert_eq!(run(Kernel::Product, m * n, &[m, k, n, ta, tb], &[a, b]), plain, "{m} {k} {n}");
        }
    }
    let minus_zero = run(Kernel::Product, 1, &[1, 1, 1, 0, 0], &[&[-0.0], &[1.0]]);
    assert_eq!(minus_zero[0].to_bits(), (-0.0_f64).to_bits());
}

/// A symmetric positive definite matrix.
fn definite(n: usize) -> Vec<f64> {
    let a = numbers(n * n, 3);
    let mut s = run(Kernel::Product, n * n, &[n, n, n, 0, 1], &[&a, &a]);
    (0..n).for_each(|i| s[i * n + i] += 0.5);
    s
}

#[test]
fn cholesky_factors_have_the_bits_of_their_definition() {
    for n in [0, 1, 2, 5, 31, 32, 33, 70, 250] {
        let a = definite(n);
        let found = run(Kernel::Cholesky, n * n, &[n], &[&a]);
        let mut l = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let sum = (0..j).fold(a[i * n + j], |sum, k| sum - l[i * n + k] * l[j * n + k]);
                l[i * n + j] = if i == j { sum.sqrt() } else { sum / l[j * n + j] };
            }
        }
        assert_eq!(found, l, "{n}");
    }
}

#[test]
fn cholesky_stops_at_a_pivot_that_is_not_positive() {
    let n = 40;
    for bad in [0, 5, 31, 32, 39] {
        let mut a = vec![0.0; n * n];
        (0..n).for_each(|i| a[i * n + i] = if i == bad { -2.0 } else { 4.0 });
        let l = run(Kernel::Cholesky, n * n, &[n], &[&a]);
        let diagonal: Vec<f64> = (0..n).map(|i| l[i * n + i]).collect();
        assert!(diagonal[..bad].iter().all(|x| *x == 2.0) && diagonal[bad] == -2.0, "{bad}");
        assert!(diagonal[bad + 1..].iter().all(|x| *x == 0.0), "{bad}");
    }
}

#[test]
fn triangular_systems_are_solved() {
    for (n, m) in [(1, 1), (5, 1), (40, 3), (100, 70)] {
        let mut t = numbers(n * n, 4);
        (0..n).for_each(|i| t[i * n + i] += 4.0);
        let b = numbers(n * m, 5);
        for flags in 0..8 {
            let [upper, transposed, unit] = [flags & 1, flags >> 1 & 1, flags >> 2];
            let x = run(Kernel::Triangular, n * m, &[upper, transposed, unit, n, m], &[&t, &b]);
            let element = |i: usize, j: usize| match (i == j, (i < j) == (upper == 1)) {
                (true, _) => {
                    if unit == 1 {
                        1.0
                    } else {
                        t[i * n + i]
                    }
                }
                (_, true) => t[i * n + j],
                _ => 0.0,
            };
            let of = |i, j| if transposed == 1 { element(j, i) } else { element(i, j) };
            let back = plain_product((n, n, m), of, |p, j| x[p * m + j]);
            let largest = x.iter().fold(1.0_f64, |largest, x| largest.max(x.abs()));
            close(&back, &b, 1e-11 * largest);
        }
    }
}

#[test]
fn lu_factors_make_the_matrix_with_its_rows_exchanged() {
    for n in [0, 1, 2, 31, 33, 100, 250] {
        let a = numbers(n * n, 6);
        let found = run(Kernel::Lu, n * n + n, &[n], &[&a]);
        let (lu, order) = found.split_at(n * n);
        let l = |i: usize, j: usize| {
            if i == j {
                1.0
            } else if i > j {
                lu[i * n + j]
            } else {
                0.0
            }
        };
        let u = |i: usize, j: usize| if i <= j { lu[i * n + j] } else { 0.0 };
        let product = plain_product((n, n, n), l, u);
        let rows: Vec<f64> = order.iter().flat_map(|row| a[*row as usize * n..][..n].to_vec()).collect();
        close(&product, &rows, 1e-12);
        assert!((0..n).all(|i| (0..i).all(|j| lu[i * n + j].abs() <= 1.0)));
    }
    let singular = run(Kernel::Lu, 6, &[2], &[&[0.0, 1.0, 0.0, 2.0]]);
    assert_eq!(singular, [0.0, 1.0, 0.0, 2.0, 0.0, 1.0]);
}

#[test]
fn qr_factors_are_orthogonal_and_make_the_matrix() {
    for (m, n) in [(1, 1), (3, 2), (5, 5), (60, 40)] {
        let a = numbers(m * n, 8);
        let qr = run(Kernel::Qr, m * n + n, &[m, n], &[&a]);
        let r: Vec<f64> = (0..m * n).map(|at| if at / n <= at % n { qr[at] } else { 0.0 }).collect();
        close(&run(Kernel::QrMultiply, m * n, &[0, m, n, n], &[&qr, &r]), &a, 1e-13);
        close(&run(Kernel::QrMultiply, m * n, &[1, m, n, n], &[&qr, &a]), &r, 1e-13);
    }
}

#[test]
fn symmetric_matrices_are_made_of_their_eigenvectors() {
    for n in [0, 1, 2, 3, 10, 60] {
        let mut a = numbers(n * n, 9);
        for i in 0..n {
            (0..i).for_each(|j| a[j * n + i] = a[i * n + j]);
        }
        let found = run(Kernel::SymmetricEigen, n + n * n, &[n], &[&a]);
        let (values, v) = found.split_at(n);
        assert!(values.is_sorted());
        close(
            &plain_product((n, n, n), |i, p| v[i * n + p] * values[p], |p, j| v[j * n + p]),
            &a,
            1e-13 * (1.0 + n as f64),
        );
    }
    let repeated = run(Kernel::SymmetricEigen, 12, &[3], &[&[2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, -1.0]]);
    assert_eq!(repeated[..3], [-1.0, 2.0, 2.0]);
    let unknown = run(Kernel::SymmetricEigen, 6, &[2], &[&[1.0, 0.0, f64::NAN, 1.0]]);
    assert!(unknown.iter().all(|x| x.is_nan()));
}

#[test]
fn matrices_are_made_of_their_singular_vectors() {
    let deficient: Vec<f64> = (0..12).map(|at| f64::from(1 + at / 3)).collect();
    let zero = vec![0.0; 12];
    for (m, n, a) in
        [(1, 1, numbers(1, 1)), (4, 3, numbers(12, 2)), (50, 20, numbers(1000, 3)), (4, 3, deficient), (4, 3, zero)]
    {
        let found = run(Kernel::SingularValues, n + m * n + n * n, &[m, n], &[&a]);
        let (values, rest) = found.split_at(n);
        let (u, v) = rest.split_at(m * n);
        assert!(values.is_sorted_by(|a, b| a >= b));
        close(&plain_product((m, n, n), |i, p| u[i * n + p] * values[p], |p, j| v[j * n + p]), &a, 1e-13);
        let identity: Vec<f64> = (0..n * n).map(|at| if at / n == at % n { 1.0 } else { 0.0 }).collect();
        close(&plain_product((n, m, n), |i, p| u[p * n + i], |p, j| u[p * n + j]), &identity, 1e-13);
        close(&plain_product((n, n, n), |i, p| v[p * n + i], |p, j| v[p * n + j]), &identity, 1e-13);
    }
}

#[test]
fn fourier_transforms_are_sums_of_waves() {
    for n in [1_usize, 2, 3, 4, 5, 7, 8, 12, 16, 30, 37, 64, 60, 121] {
        let roots: Vec<f64> = [f64::cos as fn(f64) -> f64, f64::sin]
            .iter()
            .flat_map(|f| (0..n).map(move |k| f(-std::f64::consts::TAU * k as f64 / n as f64)))
            .collect();
        let z = numbers(2 * n, 10);
        let found = run(Kernel::Fourier, 2 * n, &[n], &[&z, &roots]);
        for k in 0..n {
            let (mut re, mut im) = (0.0, 0.0);
            for j in 0..n {
                let (c, s) = (roots[j * k % n], roots[n + j * k % n]);
                re += z[j] * c - z[n + j] * s;
                im += z[j] * s + z[n + j] * c;
            }
            close(&[found[k], found[n + k]], &[re, im], 1e-12);
        }
    }
}

#[test]
fn sorting_is_stable_and_puts_what_is_no_number_last() {
    let v = [3.0, f64::NAN, 1.0, 3.0, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY];
    assert_eq!(run(Kernel::Order, 8, &[], &[&v]), [7.0, 4.0, 5.0, 2.0, 0.0, 3.0, 6.0, 1.0]);
}

#[test]
fn sums_of_products_have_eight_parts() {
    let (a, b) = (numbers(21, 11), numbers(21, 12));
    let mut parts = [0.0; 8];
    (0..21).for_each(|i| parts[i % 8] += a[i] * b[i]);
    let [p0, p1, p2, p3, p4, p5, p6, p7] = parts;
    assert_eq!(run(Kernel::Dot, 1, &[], &[&a, &b]), [((p0 + p4) + (p2 + p6)) + ((p1 + p5) + (p3 + p7))]);
}

#[test]
fn vectors_are_taken_apart_and_joined() {
    let (a, b) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0]);
    assert_eq!(run(Kernel::Part, 2, &[1], &[&a]), [2.0, 3.0]);
    assert_eq!(run(Kernel::Part, 0, &[4], &[&a]), [0.0; 0]);
    assert_eq!(run(Kernel::Joined, 6, &[6], &[&a, &b]), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(run(Kernel::Joined, 2, &[6], &[&[], &b]), b);
}

#[test]
fn what_is_not_a_number_has_one_form() {
    let other = f64::from_bits(f64::NAN.to_bits() | 1 << 63 | 5);
    let found = run(Kernel::Transpose, 2, &[1, 2], &[&[other, 1.0]]);
    assert_eq!(found[0].to_bits(), f64::NAN.to_bits());
}

#[cfg(target_arch = "x86_64")]
#[test]
fn products_have_the_same_bits_with_registers_of_every_width() {
    use crate::lanes::Lanes;
    use crate::product::{Mode, blocks_in};
    use crate::view::{Layout, View, ViewMut};
    use crate::wide::{Instructions, instructions};
    use core::arch::x86_64::{__m128d, __m256d, __m512d};

    const SIZE: (usize, usize, usize) = (37, 300, 45);
    fn product<V: Lanes, const ROWS: usize>(a: &[f64], b: &[f64]) -> Vec<f64> {
        let (m, k, n) = SIZE;
        let mut c = vec![0.0; m * n];
        let mut packed = (vec![0.0; 300 * 96], vec![0.0; 300 * 64]);
        let [a, b] =
            [(a, m, k), (b, k, n)].map(|(data, rows, columns)| View::new(data, Layout::by_rows(rows, columns)));
        let mut to = ViewMut::new(&mut c, Layout::by_rows(m, n));
        // SAFETY: the caller knows that the processor has the instructions.
        unsafe { blocks_in::<V, ROWS>(Mode::Replace, a, b, &mut to, (&mut packed.0, &mut packed.1)) };
        c
    }
    let (m, k, n) = SIZE;
    let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
    let narrow = product::<__m128d, 4>(&a, &b);
    if instructions() >= Instructions::Avx2 {
        assert_eq!(product::<__m256d, 4>(&a, &b), narrow);
    }
    if instructions() >= Instructions::Avx512 {
        assert_eq!(product::<__m512d, 8>(&a, &b), narrow);
    }
}
