// One function of `elementary.c`, FUNCTION, of two numbers, and of many in place: the compilation that suits the
// machine.

#include <stddef.h>

#define JOIN(a, b) a##b
#define NAME(prefix, function) JOIN(prefix, function)

typedef double pair __attribute__((vector_size(16)));

double NAME(vlad_, FUNCTION)(double x);

static void each(double *x, size_t count) {
    for (size_t at = 0; at < count; at++) x[at] = NAME(vlad_, FUNCTION)(x[at]);
}

#ifdef __x86_64__

#include "processor.h"

pair NAME(fused_pair_, FUNCTION)(pair x);
void NAME(all_4_, FUNCTION)(double *x, size_t count);
void NAME(all_8_, FUNCTION)(double *x, size_t count);

pair NAME(NAME(vlad_, FUNCTION), _pair)(pair x) {
    if (has_fused()) return NAME(fused_pair_, FUNCTION)(x);
    return (pair){ NAME(vlad_, FUNCTION)(x[0]), NAME(vlad_, FUNCTION)(x[1]) };
}

void NAME(NAME(vlad_, FUNCTION), _all)(double *x, size_t count) {
    if (has_wide()) NAME(all_8_, FUNCTION)(x, count);
    else if (has_fused()) NAME(all_4_, FUNCTION)(x, count);
    else each(x, count);
}

#ifdef LONE
double NAME(cr_, FUNCTION)(double x);

double NAME(vlad_, FUNCTION)(double x) {
    return has_fused() ? NAME(fused_pair_, FUNCTION)((pair){ x, x })[0] : NAME(cr_, FUNCTION)(x);
}
#endif

#else

pair NAME(NAME(vlad_, FUNCTION), _pair)(pair x) {
    return (pair){ NAME(vlad_, FUNCTION)(x[0]), NAME(vlad_, FUNCTION)(x[1]) };
}

void NAME(NAME(vlad_, FUNCTION), _all)(double *x, size_t count) { each(x, count); }

#endif
