/* The logarithm of a sum of exponentials. */
#include "serve.h"

static array x;
static double result;

static void read_input(void) { x = vector(); }

static void compute(void) {
  double largest = x.at[0], sum = 0;
  for (size_t i = 1; i < x.rows; i++) largest = x.at[i] > largest ? x.at[i] : largest;
  for (size_t i = 0; i < x.rows; i++) sum += exp(x.at[i] - largest);
  result = largest + log(sum);
}

static void show(void) { printf("%.17g\n", result); }
