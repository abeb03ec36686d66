// Rosenbrock's function of ten variables.

#include "shared/measure.h"

enum { N = 10 };

static double square(double x) { return x * x; }

static double f(const double *x) {
    double sum = 0;
    for (int i = 0; i + 1 < N; i++) sum += 100 * square(x[i + 1] - square(x[i])) + square(1 - x[i]);
    return sum;
}

int main(void) {
    double x[N];
    for (int i = 0; i < N; i++) x[i] = read_real();
    measure(f, x, N);
}
