// The closest integer, and of two the even one: a function of C23 that not every C library has.

double roundeven(double x) __attribute__((visibility("hidden")));

double roundeven(double x) {
    // From here on doubles are integers, so a sum is rounded to one.
    const double large = 0x1p52;
    if (!(__builtin_fabs(x) < large)) return x;
    double shift = __builtin_copysign(large, x);
    return __builtin_copysign(x + shift - shift, x);
}
