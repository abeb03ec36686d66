/* Half the sum of the squared differences between a step and a polynomial. */
#include "serve.h"

static array x;
static double n, result;

static void read_input(void) { x = vector(); n = next(); }

static void compute(void) {
  double sum = 0;
  for (double i = 0; i < n; i++) {
    double t = -1 + i * 2 / (n - 1), left = (t > 0) - (t < 0), power = 1;
    for (size_t j = 0; j < x.rows; j++) {
      left -= x.at[j] * power;
      power *= t;
    }
    sum += left * left;
  }
  result = sum / 2;
}

static void show(void) { printf("%.17g\n", result); }
