// The log-likelihood of a mixture of three Gaussians, for numbers that are read at run time.

#include <math.h>
#include "shared/measure.h"

enum { COMPONENTS = 3 };

static int numbers;
static double *data;

static double log_sum_exp(const double *x) {
    double most = x[0], sum = 0;
    for (int k = 1; k < COMPONENTS; k++) most = x[k] > most ? x[k] : most;
    for (int k = 0; k < COMPONENTS; k++) sum += exp(x[k] - most);
    return most + log(sum);
}

static double f(const double *x) {
    double weights[COMPONENTS], deviations[COMPONENTS], sum = 0;
    for (int k = 0; k < COMPONENTS; k++) {
        weights[k] = x[3 * k];
        deviations[k] = exp(x[3 * k + 2]);
    }
    double all = log_sum_exp(weights);
    for (int i = 0; i < numbers; i++) {
        double densities[COMPONENTS];
        for (int k = 0; k < COMPONENTS; k++) {
            double z = (data[i] - x[3 * k + 1]) / deviations[k];
            densities[k] = weights[k] - x[3 * k + 2] - 0.5 * z * z;
        }
        sum += log_sum_exp(densities) - all;
    }
    return sum;
}

int main(void) {
    double x[3 * COMPONENTS];
    for (int i = 0; i < 3 * COMPONENTS; i++) x[i] = read_real();
    numbers = read_real();
    data = malloc(numbers * sizeof *data);
    for (int i = 0; i < numbers; i++) data[i] = read_real();
    measure(f, x, 3 * COMPONENTS);
}
