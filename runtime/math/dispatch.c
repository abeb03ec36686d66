// One function of the language, FUNCTION with 1 or 2 OPERANDS: the compilation that suits the machine.

#define JOIN(a, b) a##b
#define NAME(prefix, function) JOIN(prefix, function)

#if OPERANDS == 1
#define PARAMETERS double x
#define ARGUMENTS x
#else
#define PARAMETERS double x, double y
#define ARGUMENTS x, y
#endif

double NAME(cr_, FUNCTION)(PARAMETERS);
double vlad_log1p(double x);

// Near 1, where log has to compute in high precision, there is a faster way: x - 1 is exact, so log1p has the same
// exact value to round. (The logarithm of a sum of exponentials is mostly there.)
#ifdef LOGARITHM
#define NEAR_ONE if (x > 0.9375 && x < 1.0625) return vlad_log1p(x - 1)
#else
#define NEAR_ONE
#endif

#ifdef __x86_64__

#include "processor.h"

double NAME(fma_cr_, FUNCTION)(PARAMETERS);

double NAME(vlad_, FUNCTION)(PARAMETERS) {
    NEAR_ONE;
    if (has_fused())
        return NAME(fma_cr_, FUNCTION)(ARGUMENTS);
    return NAME(cr_, FUNCTION)(ARGUMENTS);
}

#else

double NAME(vlad_, FUNCTION)(PARAMETERS) {
    NEAR_ONE;
    return NAME(cr_, FUNCTION)(ARGUMENTS);
}

#endif
