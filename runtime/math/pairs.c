// Elementary functions of two numbers at a time, which are in the lanes of a register.
//
//     exp(x)  = 2^k * COARSE[i] * FINE[j] * e^r     where x = (k + i/64 + j/4096) log 2 + r
//     tanh(x) = (1 - e^-2|x|) / (1 + e^-2|x|)       with the sign of x
//
// The results are those of the functions of single numbers, which are correctly rounded: they are computed as sums of two
// doubles, with an error below a bound. Where the sum more and less the bound is not the same double, or an operand is not in
// the range of the method, the function of single numbers is asked.
//
// Bounds: r is below 2^-13.4, and in error by less than 2^-66 for its rounding; three operations on products with it add
// less than 2^-65. The rest of the series is below 2^-73, tables and their product are exact to more than 2^-100. So the
// power before it is scaled, which is below 2, is in error by less than 2^-63; and half as much the tangent, whose derivative
// with respect to it is at most 2, as much as the power is below 1, and no more than half of that relatively.
//
// The tables are made by the compiler's build script. Compiled without contraction of operations: sums of two doubles are what
// is written here.

typedef double pair __attribute__((vector_size(16)));

double vlad_exp(double x);
double vlad_tanh(double x);

#define EACH(function) \
    static __attribute__((noinline)) pair each_##function(pair x) { return (pair){ function(x[0]), function(x[1]) }; }
EACH(vlad_exp)
EACH(vlad_tanh)

#ifdef __x86_64__

#include <immintrin.h>
#include "powers.h"

typedef long long words __attribute__((vector_size(16)));

#define FUSED __attribute__((target("avx2,fma,bmi2")))
#define INLINE static inline __attribute__((always_inline)) FUSED

INLINE pair both(double x) { return (pair){ x, x }; }

INLINE pair fused(pair x, pair y, pair z) { return (pair)_mm_fmadd_pd((__m128d)x, (__m128d)y, (__m128d)z); }

INLINE int hold(words conditions) { return _mm_movemask_pd((__m128d)conditions) == 3; }

INLINE pair magnitude(pair x) { return (pair)_mm_andnot_pd((__m128d)both(-0.0), (__m128d)x); }

// e^x = (result + low) 2^k, where the exponent is k in its place among the bits of a double.
INLINE pair power(pair x, pair *low, words *exponent) {
    // A sum with this has its integer part in its last bits.
    const pair shift = both(0x1.8p52);
    pair shifted = fused(x, both(0x1.71547652b82fep+12), shift), n = shifted - shift;
    words bits = (words)shifted;
    long long first = bits[0], second = bits[1];
    __m128d coarse[2] = { _mm_loadu_pd(COARSE[first >> 6 & 63]), _mm_loadu_pd(COARSE[second >> 6 & 63]) };
    __m128d fine[2] = { _mm_loadu_pd(FINE[first & 63]), _mm_loadu_pd(FINE[second & 63]) };
    pair coarse_high = (pair)_mm_unpacklo_pd(coarse[0], coarse[1]), coarse_low = (pair)_mm_unpackhi_pd(coarse[0], coarse[1]);
    pair fine_high = (pair)_mm_unpacklo_pd(fine[0], fine[1]), fine_low = (pair)_mm_unpackhi_pd(fine[0], fine[1]);
    pair high = coarse_high * fine_high;
    pair rest = fused(coarse_high, fine_low, fused(coarse_low, fine_high, fused(coarse_high, fine_high, -high)));
    // log 2 / 4096 in two parts.
    pair r = fused(n, both(-0x1.abc9e3b39803fp-68), fused(n, both(-0x1.62e42fefa39efp-13), x));
    pair series = fused(r * r, fused(r, both(1.0 / 24), both(1.0 / 6)), fused(r, both(0.5), both(1)));
    *low = fused(high * r, series, rest);
    *exponent = (bits << 40) & (words){ 0xfffll << 52, 0xfffll << 52 };
    return high;
}

static FUSED pair exp_pair(pair x) {
    words exponent;
    pair low, high = power(x, &low, &exponent);
    const pair bound = both(0x1p-62);
    pair below = high + (low - bound), above = high + (low + bound);
    if (!hold((below == above) & (magnitude(x) < both(708)))) return each_vlad_exp(x);
    return (pair)((words)below + exponent);
}

static FUSED pair tanh_pair(pair x) {
    words exponent;
    pair size = magnitude(x), rest, power_high = power(-2 * size, &rest, &exponent);
    const pair one = both(1);
    pair scale = (pair)((words)one + exponent);
    pair high = (power_high + rest) * scale, low = ((power_high - (power_high + rest)) + rest) * scale;
    pair above_high = one - high, above_low = ((one - above_high) - high) - low;
    pair below_high = one + high, below_low = ((one - below_high) + high) + low;
    pair inverse = one / below_high, quotient = above_high * inverse;
    pair correction = (fused(-quotient, below_high, above_high) + fused(-quotient, below_low, above_low)) * inverse;
    const pair bound = both(0x1p-63);
    pair less = quotient + (correction - bound), more = quotient + (correction + bound);
    // Below, the other method is more exact; above, the power is too small to be scaled like this.
    words in_range = (size > both(0x1p-4)) & (size < both(19));
    if (!hold((less == more) & in_range)) return each_vlad_tanh(x);
    return (pair)_mm_or_pd((__m128d)less, _mm_and_pd((__m128d)x, (__m128d)both(-0.0)));
}

#define PAIR(name) \
    pair vlad_##name##_pair(pair x) { \
        if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) \
            return name##_pair(x); \
        return each_vlad_##name(x); \
    }

#else

#define PAIR(name) pair vlad_##name##_pair(pair x) { return each_vlad_##name(x); }

#endif

PAIR(exp)
PAIR(tanh)
