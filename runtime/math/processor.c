// Asks the processor what it has. The C compiler's library could be asked, but would have to be linked for that.

#include "processor.h"

int vlad_processor = UNKNOWN;

#ifdef __x86_64__

#include <cpuid.h>

// Bits of registers that `cpuid` fills: FMA and OSXSAVE in leaf 1, AVX2, BMI2 and AVX-512 in leaf 7.
enum { FMA = 1 << 12, OSXSAVE = 1 << 27, AVX2 = 1 << 5, BMI2 = 1 << 8, AVX512F = 1 << 16 };
// Bits of what the system keeps of a thread: registers of 128 and of 256 bits; masks and what makes them 512 bits wide.
enum { WIDE = 0x6, WIDEST = 0xe6 };

int vlad_ask_processor(void) {
    unsigned a, b, c, d;
    int found = PLAIN;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & FMA) && (c & OSXSAVE)) {
        unsigned low, high;
        __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        if ((low & WIDE) == WIDE && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & AVX2) && (b & BMI2))
            found = (low & WIDEST) == WIDEST && (b & AVX512F) ? WIDE_TOO : FUSED_TOO;
    }
    // Threads that ask at the same time find the same. An exchange, not a plain store: by that, tools that look for
    // races between threads of a library's caller know that it is atomic.
    int unknown = UNKNOWN;
    __atomic_compare_exchange_n(&vlad_processor, &unknown, found, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return found;
}

#endif
