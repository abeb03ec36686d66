// Sine and cosine of one number together, in the two lanes of a register.
//
//     sin(x)  = sin(a) + cos(a) sin(r) + sin(a) (cos(r) - 1)        where x = a + r, and a is a multiple of pi/256,
//     cos(x)  = cos(a) - sin(a) sin(r) + cos(a) (cos(r) - 1)        up to the sign one of those of CIRCLE
//
// The results are those of CORE-MATH, as in `elementary.c`. Here r is below 2^-7.3, and in error by less than 2^-90;
// what is added to the first two terms is below 2^-15.6, so that its roundings are below 2^-65.5, and the smaller the
// smaller x is where a is 0.

typedef double pair __attribute__((vector_size(16)));

double cr_sin(double x);
double cr_cos(double x);

#ifdef __x86_64__

#include <immintrin.h>
#include "circle.h"
#include "processor.h"

typedef long long words __attribute__((vector_size(16)));

double fma_cr_sin(double x);
double fma_cr_cos(double x);

#define FUSED __attribute__((target("avx2,fma,bmi2")))
#define INLINE static inline __attribute__((always_inline)) FUSED

INLINE pair both(double x) { return (pair){ x, x }; }

INLINE pair fused(pair x, pair y, pair z) { return (pair)_mm_fmadd_pd((__m128d)x, (__m128d)y, (__m128d)z); }

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

#define CHOOSE(fused, other) return has_fused() ? fused : other

#else

#define CHOOSE(fused, other) return other

#endif

pair vlad_sin_cos(double x) { CHOOSE(both_sin_cos(x), ((pair){ cr_sin(x), cr_cos(x) })); }
double vlad_sin(double x) { CHOOSE(lone_sin(x), cr_sin(x)); }
double vlad_cos(double x) { CHOOSE(lone_cos(x), cr_cos(x)); }
