/* The determinant of a matrix by expansion along its first row. `following` links the columns that are left. */
#include "serve.h"

static array a;
static size_t size, following[64];
static double result;

static void read_input(void) { a = vector(); size = (size_t)next(); }

static double minor_from(size_t row) {
  const double *entries = a.at + row * size;
  if (row + 1 == size) return entries[following[size]];
  double sum = 0, sign = 1;
  for (size_t before = size, column; (column = following[before]) < size; before = column) {
    following[before] = following[column];
    sum += sign * entries[column] * minor_from(row + 1);
    following[before] = column;
    sign = -sign;
  }
  return sum;
}

static void compute(void) {
  following[size] = 0;
  for (size_t i = 0; i < size; i++) following[i] = i + 1;
  result = minor_from(0);
}

static void show(void) { printf("%.17g\n", result); }
