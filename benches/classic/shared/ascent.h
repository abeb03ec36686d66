// A thousand steps of gradient ascent, and memory for lists that is given back as a whole after each.

#include <stdio.h>
#include <stdlib.h>

static char arena[1 << 20];
static size_t arena_used;

static inline void *allocate(size_t size) {
  size = (size + 15) & ~(size_t)15;
  if (arena_used + size > sizeof arena) {
    fputs("the memory is too short\n", stderr);
    exit(3);
  }
  void *memory = arena + arena_used;
  arena_used += size;
  return memory;
}

static void learn(number (*likelihood)(number, number)) {
  double p0 = .5, p1 = .5;
  for (int step = 0; step < 1000; step++) {
    double g[2];
    arena_used = 0;
    gradient(likelihood, p0, p1, g);
    p0 += .1 * g[0];
    p1 += .1 * g[1];
  }
  printf("(%.17g %.17g)\n", p0, p1);
}
