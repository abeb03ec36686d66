/* What the programs here share: arrays from standard input, and the answers that the harness asks for.
 *
 * A program includes this file and defines `read_input`, `compute` and `show`. Input are doubles, eight bytes each: an array is
 * its sizes and its elements. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { size_t rows, columns; double *at; } array;

static void read_input(void);
static void compute(void);
static void show(void);

static double next(void) {
  double x;
  if (fread(&x, sizeof x, 1, stdin) != 1) exit(1);
  return x;
}

static double *numbers(size_t count) {
  double *at = malloc((count + 1) * sizeof *at);
  if (!at || fread(at, sizeof *at, count, stdin) != count) exit(1);
  return at;
}

static inline double *room(size_t count) {
  double *at = malloc((count + 1) * sizeof *at);
  if (!at) exit(1);
  return at;
}

static inline array vector(void) {
  array v = { (size_t)next(), 1, 0 };
  v.at = numbers(v.rows);
  return v;
}

static inline array matrix(void) {
  array m = { 0 };
  m.rows = (size_t)next();
  m.columns = (size_t)next();
  m.at = numbers(m.rows * m.columns);
  return m;
}

/* Nothing is known about memory after this, so no call of `compute` can be left out. */
static inline void forget(void) { __asm__ volatile("" ::: "memory"); }

int main(void) {
  read_input();
  compute();
  show();
  puts(".");
  fflush(stdout);
  for (double rounds; (rounds = next()) > 0;) {
    for (double i = 0; i < rounds; i++) {
      forget();
      compute();
      forget();
    }
    printf("%g\n", rounds);
    fflush(stdout);
  }
}
