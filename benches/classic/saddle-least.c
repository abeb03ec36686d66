// The saddle point of saddle-r.c with what a person knows and a program does not say: the step sizes and the iterations
// that change nothing else carry no sensitivity, so the tape holds accepted steps only, one number each.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  double x, y;
} point;

// The step sizes of the accepted steps.
typedef struct {
  double *etas;
  size_t length, capacity;
} tape;

// Stored where other files could read it, else the compiler would be free to drop the backward loop.
point start_sensitivity;

static void record(tape *t, double eta) {
  if (t->length == t->capacity) {
    t->capacity = t->capacity ? 2 * t->capacity : 64;
    t->etas = realloc(t->etas, t->capacity * sizeof(double));
    if (!t->etas) exit(3);
  }
  t->etas[t->length++] = eta;
}

static double magnitude(point p) { return sqrt(p.x * p.x + p.y * p.y); }

static point step_from(point p, double eta, point g) { return (point){p.x - eta * g.x, p.y - eta * g.y}; }

static point difference(point p, point q) { return (point){p.x - q.x, p.y - q.y}; }

static double payoff(point a, point b) { return (a.x * a.x + a.y * a.y) - (b.x * b.x + b.y * b.y); }

// What the inner search minimises.
static double loss(point a, point b) { return 0 - payoff(a, b); }

// Its gradient with respect to b: the adjoint of the statements of loss, last to first.
static point loss_gradient(point b) {
  double payoff_bar = -1;
  double square_bar = -payoff_bar;
  return (point){square_bar * b.x + square_bar * b.x, square_bar * b.y + square_bar * b.y};
}

// The adjoint of loss_gradient: what a sensitivity of the gradient gives b.
static point loss_gradient_adjoint(point g_bar) {
  double square_bar = 1;
  return (point){square_bar * g_bar.x + square_bar * g_bar.x, square_bar * g_bar.y + square_bar * g_bar.y};
}

// The inner search: the maximising b. Records accepted steps where a tape is given.
static inline point inner_search(point a, point b, tape *t) {
  double value = loss(a, b);
  point g = loss_gradient(b);
  double eta = 1e-5;
  int successes = 0;
  for (;;) {
    if (magnitude(g) <= 1e-5) return b;
    if (successes == 10) {
      eta *= 2;
      successes = 0;
      continue;
    }
    point next = step_from(b, eta, g);
    if (magnitude(difference(b, next)) <= 1e-5) return b;
    double next_value = loss(a, next);
    if (next_value < value) {
      if (t) record(t, eta);
      b = next;
      value = next_value;
      g = loss_gradient(b);
      successes++;
    } else {
      eta /= 2;
      successes = 0;
    }
  }
}

static double maximum(point a, point start) { return payoff(a, inner_search(a, start, NULL)); }

// The gradient of maximum with respect to a, by a tape and a backward loop.
static point maximum_gradient(point a, point start, tape *t) {
  t->length = 0;
  point b = inner_search(a, start, t);
  point a_bar = {a.x + a.x, a.y + a.y};
  point b_bar = {-(b.x + b.x), -(b.y + b.y)};
  for (size_t i = t->length; i-- > 0;) {
    double eta = t->etas[i];
    point from_gradient = loss_gradient_adjoint((point){-eta * b_bar.x, -eta * b_bar.y});
    b_bar.x += from_gradient.x;
    b_bar.y += from_gradient.y;
  }
  start_sensitivity = b_bar;
  return a_bar;
}

// The outer search: the minimising a.
static point outer_search(point a, point start, tape *t) {
  double value = maximum(a, start);
  point g = maximum_gradient(a, start, t);
  double eta = 1e-5;
  int successes = 0;
  for (;;) {
    if (magnitude(g) <= 1e-5) return a;
    if (successes == 10) {
      eta *= 2;
      successes = 0;
      continue;
    }
    point next = step_from(a, eta, g);
    if (magnitude(difference(a, next)) <= 1e-5) return a;
    double next_value = maximum(next, start);
    if (next_value < value) {
      a = next;
      value = next_value;
      g = maximum_gradient(a, start, t);
      successes++;
    } else {
      eta /= 2;
      successes = 0;
    }
  }
}

int main(void) {
  tape t = {0};
  point a = {0, 0}, b = {0, 0};
  for (int repetition = 0; repetition < 1000; repetition++) {
    double one = 1 + 0 * a.x;
    point start = {one, one};
    a = outer_search(start, start, &t);
    b = inner_search(a, start, NULL);
  }
  printf("((%.17g %.17g) (%.17g %.17g))\n", a.x, a.y, b.x, b.y);
  free(t.etas);
  return 0;
}
