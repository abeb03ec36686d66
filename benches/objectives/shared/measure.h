// Reads numbers, and computes the value of an objective again and again: value.vlad in C.

#include <stdio.h>
#include <stdlib.h>

static double read_real(void) {
    double x;
    if (scanf("%lf", &x) != 1) exit(1);
    return x;
}

static void measure(double (*f)(const double *), double *x, int n) {
    for (long rounds = read_real();; rounds--) {
        double y = f(x);
        if (rounds <= 1) {
            printf("%.17g\n", y);
            return;
        }
        for (int i = 0; i < n; i++) x[i] += 1e-30 * y;
    }
}
