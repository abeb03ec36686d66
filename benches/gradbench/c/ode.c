/* A differential equation by the Runge-Kutta method of fourth order. */
#include "serve.h"

static array x;
static double s, *y, *k[4], *z;

static void read_input(void) {
  x = vector();
  s = next();
  y = room(x.rows);
  z = room(x.rows);
  for (int i = 0; i < 4; i++) k[i] = room(x.rows);
}

static void slope(const double *restrict y, double *restrict k) {
  k[0] = x.at[0];
  for (size_t i = 1; i < x.rows; i++) k[i] = x.at[i] * y[i - 1];
}

static void after(double h, const double *restrict k) {
  for (size_t i = 0; i < x.rows; i++) z[i] = y[i] + h * k[i];
}

static void compute(void) {
  double h = 2 / s;
  for (size_t i = 0; i < x.rows; i++) y[i] = 0;
  for (double step = 0; step < s; step++) {
    slope(y, k[0]);
    after(h / 2, k[0]);
    slope(z, k[1]);
    after(h / 2, k[1]);
    slope(z, k[2]);
    after(h, k[2]);
    slope(z, k[3]);
    for (size_t i = 0; i < x.rows; i++) y[i] += h * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]) / 6;
  }
}

static void show(void) {
  for (size_t i = 0; i < x.rows; i++) printf("%.17g\n", y[i]);
}
