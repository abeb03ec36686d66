//! Registers of several doubles, for the few loops that a compiler does not find on its own.

/// A register of doubles. No operation contracts a multiplication and an addition.
///
/// # Safety
///
/// The functions run where the processor has the instructions of the implementation only.
pub trait Lanes: Copy {
    /// How many doubles.
    const COUNT: usize;
    /// The same number in all lanes.
    unsafe fn splat(x: f64) -> Self;
    /// The numbers from an address on.
    unsafe fn load(from: *const f64) -> Self;
    /// Writes the numbers from an address on.
    unsafe fn store(self, to: *mut f64);
    /// `self + a * b`, lane by lane: the product is rounded first.
    unsafe fn plus_product(self, a: Self, b: Self) -> Self;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Lanes;
    use core::arch::x86_64::{
        __m128d, __m256d, __m512d, _mm_add_pd, _mm_loadu_pd, _mm_mul_pd, _mm_set1_pd, _mm_storeu_pd, _mm256_add_pd,
        _mm256_loadu_pd, _mm256_mul_pd, _mm256_set1_pd, _mm256_storeu_pd, _mm512_add_pd, _mm512_loadu_pd,
        _mm512_mul_pd, _mm512_set1_pd, _mm512_storeu_pd,
    };

    macro_rules! lanes {
        ($register:ty, $count:literal, $splat:ident, $load:ident, $store:ident, $add:ident, $multiply:ident) => {
            impl Lanes for $register {
                const COUNT: usize = $count;
                #[inline(always)]
                unsafe fn splat(x: f64) -> Self {
                    unsafe { $splat(x) }
                }
                #[inline(always)]
                unsafe fn load(from: *const f64) -> Self {
                    unsafe { $load(from) }
                }
                #[inline(always)]
                unsafe fn store(self, to: *mut f64) {
                    unsafe { $store(to, self) }
                }
                #[inline(always)]
                unsafe fn plus_product(self, a: Self, b: Self) -> Self {
                    unsafe { $add(self, $multiply(a, b)) }
                }
            }
        };
    }

    lanes!(__m128d, 2, _mm_set1_pd, _mm_loadu_pd, _mm_storeu_pd, _mm_add_pd, _mm_mul_pd);
    lanes!(__m256d, 4, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_add_pd, _mm256_mul_pd);
    lanes!(__m512d, 8, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_add_pd, _mm512_mul_pd);
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use super::Lanes;
    use core::arch::aarch64::{float64x2_t, vaddq_f64, vdupq_n_f64, vld1q_f64, vmulq_f64, vst1q_f64};

    impl Lanes for float64x2_t {
        const COUNT: usize = 2;
        #[inline(always)]
        unsafe fn splat(x: f64) -> Self {
            unsafe { vdupq_n_f64(x) }
        }
        #[inline(always)]
        unsafe fn load(from: *const f64) -> Self {
            unsafe { vld1q_f64(from) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f64) {
            unsafe { vst1q_f64(to, self) }
        }
        #[inline(always)]
        unsafe fn plus_product(self, a: Self, b: Self) -> Self {
            unsafe { vaddq_f64(self, vmulq_f64(a, b)) }
        }
    }
}
