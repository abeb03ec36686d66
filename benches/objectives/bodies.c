// The energy of five bodies: of their motion, and of their attraction.

#include <math.h>
#include "shared/measure.h"

enum { BODIES = 5 };

static double masses[BODIES];

static double f(const double *x) {
    double motion = 0, attraction = 0;
    for (int i = 0; i < BODIES; i++) {
        const double *p = x + 6 * i, *v = p + 3;
        motion += 0.5 * masses[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (int j = i + 1; j < BODIES; j++) {
            const double *q = x + 6 * j;
            double a = p[0] - q[0], b = p[1] - q[1], c = p[2] - q[2];
            attraction += masses[i] * masses[j] / sqrt(a * a + b * b + c * c);
        }
    }
    return motion - attraction;
}

int main(void) {
    double x[6 * BODIES];
    for (int i = 0; i < 6 * BODIES; i++) x[i] = read_real();
    for (int i = 0; i < BODIES; i++) masses[i] = read_real();
    measure(f, x, 6 * BODIES);
}
