// The loss of a network with two inputs, two hidden layers of 16 units and one output, over some samples.

#include <math.h>
#include "shared/measure.h"

enum { A = 2, B = 16, C = 16, D = 1, WEIGHTS = B * (A + 1) + C * (B + 1) + D * (C + 1), SAMPLES = 100 };

static int samples;
static double data[SAMPLES][3];

// Computes a layer, and returns the weights of the next.
static const double *layer(const double *weights, const double *inputs, int n, double *outputs, int m) {
    for (int i = 0; i < m; i++, weights += n + 1) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += weights[j + 1] * inputs[j];
        outputs[i] = tanh(weights[0] + sum);
    }
    return weights;
}

static double f(const double *x) {
    double sum = 0;
    for (int i = 0; i < samples; i++) {
        double b[B], c[C], d[D];
        layer(layer(layer(x, data[i], A, b, B), b, B, c, C), c, C, d, D);
        double error = d[0] - data[i][2];
        sum += error * error;
    }
    return sum;
}

int main(void) {
    static double x[WEIGHTS];
    for (int i = 0; i < WEIGHTS; i++) x[i] = read_real();
    samples = read_real();
    if (samples > SAMPLES) return 1;
    for (int i = 0; i < samples; i++) for (int j = 0; j < 3; j++) data[i][j] = read_real();
    measure(f, x, WEIGHTS);
}
