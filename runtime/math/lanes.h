// A register of LANES doubles: 2, 4, or 8.

#include <immintrin.h>

typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef long long words __attribute__((vector_size(8 * LANES)));
typedef unsigned long long bits __attribute__((vector_size(8 * LANES)));

#define INLINE static inline __attribute__((always_inline))

INLINE lanes all(double x) { return x - (lanes){}; }

INLINE bits all_bits(unsigned long long x) { return x - (bits){}; }

INLINE lanes magnitude(lanes x) { return (lanes)((bits)x & all_bits(~(1ull << 63))); }

INLINE lanes choose(words which, lanes yes, lanes no) { return (lanes)((which & (words)yes) | (~which & (words)no)); }

INLINE lanes load(const double *from) {
    lanes x;
    __builtin_memcpy(&x, from, sizeof x);
    return x;
}

INLINE void store(double *to, lanes x) { __builtin_memcpy(to, &x, sizeof x); }

// fused(x, y, z) is x y + z, rounded once. pick(table, places) are numbers in a table, and pick_two gives those behind
// them, too. A bit of failures(conditions) is 1 where a condition does not hold.

#if LANES == 2

INLINE lanes fused(lanes x, lanes y, lanes z) { return (lanes)_mm_fmadd_pd((__m128d)x, (__m128d)y, (__m128d)z); }
INLINE lanes pick(const double *table, bits places) { return (lanes){ table[places[0]], table[places[1]] }; }
INLINE unsigned failures(words conditions) { return _mm_movemask_pd((__m128d)~conditions); }

INLINE void pick_two(const double *table, bits places, lanes *first, lanes *second) {
    __m128d x = _mm_loadu_pd(table + places[0]), y = _mm_loadu_pd(table + places[1]);
    *first = (lanes)_mm_unpacklo_pd(x, y);
    *second = (lanes)_mm_unpackhi_pd(x, y);
}

#elif LANES == 4

INLINE lanes fused(lanes x, lanes y, lanes z) { return (lanes)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z); }
INLINE lanes pick(const double *table, bits places) { return (lanes)_mm256_i64gather_pd(table, (__m256i)places, 8); }
INLINE unsigned failures(words conditions) { return _mm256_movemask_pd((__m256d)~conditions); }

#else

INLINE lanes fused(lanes x, lanes y, lanes z) { return (lanes)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z); }
INLINE lanes pick(const double *table, bits places) { return (lanes)_mm512_i64gather_pd((__m512i)places, table, 8); }
INLINE unsigned failures(words conditions) { return _mm512_cmpeq_epi64_mask((__m512i)conditions, (__m512i){}); }

#endif

#if LANES > 2

INLINE void pick_two(const double *table, bits places, lanes *first, lanes *second) {
    *first = pick(table, places);
    *second = pick(table + 1, places);
}

#endif
