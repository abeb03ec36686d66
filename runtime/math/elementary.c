// Elementary functions in the lanes of a register, of 2, 4, or 8 numbers at a time. Compiled for each FUNCTION and
// number of LANES.
//
//     exp(x)   = 2^k * COARSE[i] * FINE[j] * e^r            where x = (k + i/64 + j/4096) log 2 + r
//     tanh(x)  = (1 - e^-2|x|) / (1 + e^-2|x|)              with the sign of x
//     log(x)   = k log 2 - log(c) + log(1 + r)              where x = 2^k m, c is close to 1/m, and r = m c - 1
//     log1p(x) = log(s) + log(1 + e/s)                      where 1 + x = s + e, and s is the closest double
//
// The results are those of CORE-MATH, which are correctly rounded: they are computed as sums of two doubles, with an
// error below a bound. Where the sum more and less the bound is not the same double, or an operand is not in the range
// of the method, CORE-MATH's function is asked.
//
// Bounds for exp: r is below 2^-13.4, and in error by less than 2^-66 for its rounding; three operations on products
// with it add less than 2^-65. The rest of the series is below 2^-73, tables and their product are exact to more than
// 2^-100. So the power before it is scaled, which is below 2, is in error by less than 2^-63; and half as much the
// tangent, whose derivative with respect to it is at most 2, as much as the power is below 1, and no more than half of
// that relatively.
//
// For logarithms: c is 1 or a number of nine bits, so that r is exact, and below 2^-8.1. The sum of k log 2 and -log(c)
// is exact but for 2^-80, as their high parts are multiples of 2^-42. The series is exact up to its third term, below
// r^3 / 2, in which few roundings are in error by less than r^3 2^-51; what it leaves out is below r^8 / 8. For log1p,
// e adds to r less than 2^-52, and products of that with third powers of r are left out. The rest are roundings of sums
// of what is below the last bit of the result, by less than 2^-53 of it.
//
// The tables are made by the compiler's build script. Compiled without contraction of operations: sums of two doubles
// are what is written here.

#include <stddef.h>

#include "lanes.h"
#include "tables.h"

#define EXPONENTS (0xfffull << 52)

// e^x = (result + low) 2^k, where the exponent is k in its place among the bits of a double.
INLINE lanes power(lanes x, lanes *low, bits *exponent) {
    // A sum with this has its integer part in its last bits.
    const lanes shift = all(0x1.8p52);
    lanes shifted = fused(x, all(0x1.71547652b82fep+12), shift), n = shifted - shift;
    lanes coarse_high, coarse_low, fine_high, fine_low;
    pick_two(COARSE[0], (bits)shifted >> 5 & 126, &coarse_high, &coarse_low);
    pick_two(FINE[0], (bits)shifted << 1 & 126, &fine_high, &fine_low);
    lanes high = coarse_high * fine_high;
    lanes rest = fused(coarse_high, fine_low, fused(coarse_low, fine_high, fused(coarse_high, fine_high, -high)));
    // log 2 / 4096 in two parts.
    lanes r = fused(n, all(-0x1.abc9e3b39803fp-68), fused(n, all(-0x1.62e42fefa39efp-13), x));
    lanes series = fused(r * r, fused(r, all(1.0 / 24), all(1.0 / 6)), fused(r, all(0.5), all(1)));
    *low = fused(high * r, series, rest);
    *exponent = (bits)shifted << 40 & all_bits(EXPONENTS);
    return high;
}

INLINE lanes try_exp(lanes x, words *sure) {
    bits exponent;
    lanes low, high = power(x, &low, &exponent);
    const lanes bound = all(0x1p-62);
    lanes less = high + (low - bound), more = high + (low + bound);
    *sure = (less == more) & (magnitude(x) < all(708));
    return (lanes)((bits)less + exponent);
}

INLINE lanes try_tanh(lanes x, words *sure) {
    bits exponent;
    lanes size = magnitude(x), rest, power_high = power(-2 * size, &rest, &exponent);
    const lanes one = all(1);
    lanes scale = (lanes)((bits)one + exponent);
    lanes high = (power_high + rest) * scale, low = ((power_high - (power_high + rest)) + rest) * scale;
    lanes above_high = one - high, above_low = ((one - above_high) - high) - low;
    lanes below_high = one + high, below_low = ((one - below_high) + high) + low;
    lanes inverse = one / below_high, quotient = above_high * inverse;
    lanes correction = (fused(-quotient, below_high, above_high) + fused(-quotient, below_low, above_low)) * inverse;
    const lanes bound = all(0x1p-63);
    lanes less = quotient + (correction - bound), more = quotient + (correction + bound);
    // Below, the other method is more exact; above, the power is too small to be scaled like this.
    *sure = (less == more) & (size > all(0x1p-4)) & (size < all(19));
    return (lanes)((bits)less | ((bits)x & all_bits(1ull << 63)));
}

// A positive number that is neither small nor infinite, taken apart.
struct parts {
    // The number is m, which is close to 1, divided by the scale.
    lanes m, scale;
    // c, and the logarithm of the number times c / m: the high part is a multiple of 2^-42.
    lanes c, high, low;
};

INLINE struct parts take_apart(lanes x) {
    const bits one = all_bits(0x3ffull << 52);
    bits moved = (bits)x - all_bits(ORIGIN) + one, exponent = moved & all_bits(EXPONENTS);
    // A number as large as this has its integer part in its last bits.
    lanes k = (lanes)(moved >> 52 | all_bits(0x433ull << 52)) - all(0x1p52 + 1023);
    bits place = (moved >> 44 & 255) * 3;
    lanes c, high;
    pick_two(INVERSES[0], place, &c, &high);
    return (struct parts){
        .m = (lanes)((bits)x - exponent + one),
        .scale = (lanes)(all_bits(2046ull << 52) - exponent),
        .c = c,
        .high = fused(k, all(LOG2_HIGH), high),
        .low = fused(k, all(LOG2_LOW), pick(INVERSES[0] + 2, place)),
    };
}

// high + low + log(1 + r), rounded; `sure` tells of each lane whether it is rounded correctly.
INLINE lanes with_series(lanes high, lanes r, lanes low, words *sure) {
    lanes square = r * r, square_low = fused(r, r, -square), half = all(0.5);
    lanes series = fused(r, fused(r, all(-1.0 / 8), all(1.0 / 7)), all(-1.0 / 6));
    series = fused(r, fused(r, fused(r, series, all(1.0 / 5)), all(-1.0 / 4)), all(1.0 / 3));
    lanes cube = square * r;
    // The first two terms; then the high part, which is larger, or zero.
    lanes two = fused(-half, square, r), two_low = fused(-half, square, r - two);
    lanes sum = high + two, sum_low = (high - sum) + two;
    low = fused(cube, series, low + (sum_low + fused(-half, square_low, two_low)));
    lanes bound = fused(magnitude(cube), all(0x1p-50), magnitude(sum) * all(0x1p-75));
    lanes less = sum + (low - bound), more = sum + (low + bound);
    *sure = less == more;
    return less;
}

INLINE lanes try_log(lanes x, words *sure) {
    struct parts of = take_apart(x);
    lanes found = with_series(of.high, fused(of.m, of.c, all(-1)), of.low, sure);
    *sure &= (x >= all(0x1p-1022)) & (x < all(__builtin_inf()));
    return found;
}

INLINE lanes try_log1p(lanes x, words *sure) {
    const lanes one = all(1);
    lanes s = one + x, added = s - one, e = (one - (s - added)) + (x - added);
    struct parts of = take_apart(s);
    // Where s is close to 1, x is r.
    words is_near = of.high == all(0);
    lanes r = choose(is_near, x, fused(of.m, of.c, -one)), rest = choose(is_near, all(0), e * of.scale * of.c);
    lanes found = with_series(of.high, r, fused(rest, fused(r, r - one, one), of.low), sure);
    *sure &= (x > all(-1)) & (x < all(0x1p1000)) & (magnitude(x) > all(0x1p-200));
    return found;
}

// What is left to CORE-MATH happens seldom.
static __attribute__((noinline)) lanes mend(double (*function)(double), unsigned failed, lanes x, lanes found) {
    for (int lane = 0; lane < LANES; lane++) {
        if (failed >> lane & 1) found[lane] = function(x[lane]);
    }
    return found;
}

#define JOIN(a, b) a##b
#define NAME(prefix, function) JOIN(prefix, function)

double NAME(fma_cr_, FUNCTION)(double x);

INLINE lanes of_lanes(lanes x) {
    words sure;
    lanes found = NAME(try_, FUNCTION)(x, &sure);
    unsigned failed = failures(sure);
    return __builtin_expect(failed, 0) ? mend(NAME(fma_cr_, FUNCTION), failed, x, found) : found;
}

#if LANES == 2

lanes NAME(fused_pair_, FUNCTION)(lanes x) { return of_lanes(x); }

#else

void NAME(NAME(all_, LANES), NAME(_, FUNCTION))(double *x, size_t count) {
    size_t at = 0;
    for (; at + LANES <= count; at += LANES) store(x + at, of_lanes(load(x + at)));
    if (at == count) return;
    lanes last = all(1);
    for (int lane = 0; at + lane < count; lane++) last[lane] = x[at + lane];
    last = of_lanes(last);
    for (int lane = 0; at + lane < count; lane++) x[at + lane] = last[lane];
}

#endif
