// Elementary functions in the two lanes of a register: of two numbers at a time, or sine and cosine of one.
//
//     exp(x)  = 2^k * COARSE[i] * FINE[j] * e^r             where x = (k + i/64 + j/4096) log 2 + r
//     tanh(x) = (1 - e^-2|x|) / (1 + e^-2|x|)               with the sign of x
//     sin(x)  = sin(a) + cos(a) sin(r) + sin(a) (cos(r) - 1)        where x = a + r, and a is a multiple of pi/256,
//     cos(x)  = cos(a) - sin(a) sin(r) + cos(a) (cos(r) - 1)        up to the sign one of those of CIRCLE
//
// The results are those of CORE-MATH, which are correctly rounded: they are computed as sums of two doubles, with an
// error below a bound. Where the sum more and less the bound is not the same double, or an operand is not in the range
// of the method, CORE-MATH's function is asked.
//
// Bounds: r is below 2^-13.4, and in error by less than 2^-66 for its rounding; three operations on products with it
// add less than 2^-65. The rest of the series is below 2^-73, tables and their product are exact to more than 2^-100.
// So the power before it is scaled, which is below 2, is in error by less than 2^-63; and half as much the tangent,
// whose derivative with respect to it is at most 2, as much as the power is below 1, and no more than half of that
// relatively. For sine and cosine, r is below 2^-7.3, and in error by less than 2^-90; what is added to the first two
// terms is below 2^-15.6, so that its roundings are below 2^-65.5, and the smaller the smaller x is where a is 0.
//
// The tables are made by the compiler's build script. Compiled without contraction of operations: sums of two doubles
// are what is written here.

typedef double pair __attribute__((vector_size(16)));

double cr_exp(double x);
double cr_tanh(double x);
double cr_sin(double x);
double cr_cos(double x);

#ifdef __x86_64__

#include <immintrin.h>
#include "processor.h"
#include "tables.h"

typedef long long words __attribute__((vector_size(16)));

double fma_cr_exp(double x);
double fma_cr_tanh(double x);
double fma_cr_sin(double x);
double fma_cr_cos(double x);

#define FUSED __attribute__((target("avx2,fma,bmi2")))
#define INLINE static inline __attribute__((always_inline)) FUSED

INLINE pair both(double x) { return (pair){ x, x }; }

INLINE pair fused(pair x, pair y, pair z) { return (pair)_mm_fmadd_pd((__m128d)x, (__m128d)y, (__m128d)z); }

INLINE int hold(words conditions) { return _mm_movemask_pd((__m128d)conditions) == 3; }

INLINE pair magnitude(pair x) { return (pair)_mm_andnot_pd((__m128d)both(-0.0), (__m128d)x); }

// What is left to CORE-MATH happens seldom.
#define EACH(function) \
    static __attribute__((noinline)) pair each_##function(pair x) { return (pair){ function(x[0]), function(x[1]) }; }
EACH(fma_cr_exp)
EACH(fma_cr_tanh)

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
    if (!hold((below == above) & (magnitude(x) < both(708)))) return each_fma_cr_exp(x);
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
    if (!hold((less == more) & in_range)) return each_fma_cr_tanh(x);
    return (pair)_mm_or_pd((__m128d)less, _mm_and_pd((__m128d)x, (__m128d)both(-0.0)));
}

// Sine and cosine; a bit for each that is sure to be rounded correctly.
INLINE pair sin_cos(double x, int *sure) {
    const double shift = 0x1.8p52;
    double shifted = __builtin_fma(x, 0x1.45f306dc9c883p+6, shift), n = shifted - shift;
    long long k = ((words)both(shifted))[0];
    // pi / 256 in two parts. Of r, a part is in r_low.
    double near = __builtin_fma(-n, 0x1.921fb54442d18p-7, x), rest = n * 0x1.1a62633145c07p-61;
    double r = near - rest, r_low = (near - r) - rest;
    const double *row = CIRCLE[k & 255];
    pair a = (pair)_mm_loadu_pd(row), a_low = (pair)_mm_loadu_pd(row + 2);
    const words negative = { 0, 1ll << 63 };
    pair b = (pair)((words)_mm_shuffle_pd(a, a, 1) ^ negative), b_low = (pair)((words)_mm_shuffle_pd(a_low, a_low, 1) ^ negative);
    // sin(r) - r and cos(r) - 1.
    double square = r * r;
    double sine = square * r * __builtin_fma(square, __builtin_fma(square, -1.0 / 5040, 1.0 / 120), -1.0 / 6) + r_low;
    double cosine = __builtin_fma(square * square, __builtin_fma(square, -1.0 / 720, 1.0 / 24), square * -0.5) - r * r_low;
    pair product = b * both(r), product_low = fused(b, both(r), -product);
    pair high = a + product, added = high - a, low = (a - (high - added)) + (product - added);
    low += fused(a, both(cosine), fused(b, both(sine), fused(b_low, both(r), product_low + a_low)));
    double size = __builtin_fabs(x);
    pair bound = { n == 0 ? size * 0x1p-64 : 0x1p-64, 0x1p-64 };
    pair less = high + (low - bound), more = high + (low + bound);
    *sure = size > 0x1p-30 && size < 4096 ? _mm_movemask_pd((__m128d)(less == more)) : 0;
    const words half_turn = { k << 55 & 1ll << 63, k << 55 & 1ll << 63 };
    return (pair)((words)less ^ half_turn);
}

static FUSED pair both_sin_cos(double x) {
    int sure;
    pair found = sin_cos(x, &sure);
    return sure == 3 ? found : (pair){ fma_cr_sin(x), fma_cr_cos(x) };
}

static FUSED double lone_sin(double x) {
    int sure;
    pair found = sin_cos(x, &sure);
    return sure & 1 ? found[0] : fma_cr_sin(x);
}

static FUSED double lone_cos(double x) {
    int sure;
    pair found = sin_cos(x, &sure);
    return sure & 2 ? found[1] : fma_cr_cos(x);
}

static FUSED double lone_tanh(double x) { return tanh_pair(both(x))[0]; }

#define CHOOSE(fused, other) return has_fused() ? fused : other

#else

#define CHOOSE(fused, other) return other

#endif

pair vlad_exp_pair(pair x) { CHOOSE(exp_pair(x), ((pair){ cr_exp(x[0]), cr_exp(x[1]) })); }
pair vlad_tanh_pair(pair x) { CHOOSE(tanh_pair(x), ((pair){ cr_tanh(x[0]), cr_tanh(x[1]) })); }
pair vlad_sin_cos(double x) { CHOOSE(both_sin_cos(x), ((pair){ cr_sin(x), cr_cos(x) })); }
double vlad_sin(double x) { CHOOSE(lone_sin(x), cr_sin(x)); }
double vlad_cos(double x) { CHOOSE(lone_cos(x), cr_cos(x)); }
double vlad_tanh(double x) { CHOOSE(lone_tanh(x), cr_tanh(x)); }
