// Saddle point by nested gradient descent, reverse mode outside: the C that saddle-rf.vlad and saddle-rr.vlad are
// measured against. The inner derivative is its adjoint, written by hand.
//
// min over (x1, y1) of max over (x2, y2) of (x1^2 + y1^2) - (x2^2 + y2^2). The outer gradient differentiates through
// the inner search, as the VLAD program does: the forward sweep records each iteration of the search on a tape, the
// backward loop walks it from the last to the first and carries the sensitivities of the point, the gradient and the
// step size.
//
// The starting point of a repetition is 1 + 0 * (an answer of the one before): without licence to ignore infinities no
// compiler may fold it, so that no repetition can be shared with another. The sensitivities of what the inner search
// starts from are stored where other files could read them, else the compiler would be free to drop the backward loop.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  double x, y;
} point;

// What an iteration of the search did: double the step size, or try a step and keep it or not.
typedef enum { GROWN, ACCEPTED, REJECTED } outcome;

typedef struct {
  outcome kind;
  double eta;
  point g;
} step;

typedef struct {
  step *steps;
  size_t length, capacity;
} tape;

point start_sensitivity;
double eta_sensitivity;

static void record(tape *t, outcome kind, double eta, point g) {
  if (t->length == t->capacity) {
    t->capacity = t->capacity ? 2 * t->capacity : 64;
    t->steps = realloc(t->steps, t->capacity * sizeof(step));
    if (!t->steps) exit(3);
  }
  t->steps[t->length++] = (step){kind, eta, g};
}

static double magnitude(point p) { return sqrt(p.x * p.x + p.y * p.y); }

static point step_from(point p, double eta, point g) { return (point){p.x - eta * g.x, p.y - eta * g.y}; }

static point sum(point p, point q) { return (point){p.x + q.x, p.y + q.y}; }

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

// The inner search: the maximising b. Records its iterations where a tape is given.
static inline point inner_search(point a, point b, tape *t) {
  double value = loss(a, b);
  point g = loss_gradient(b);
  double eta = 1e-5;
  int successes = 0;
  for (;;) {
    if (magnitude(g) <= 1e-5) return b;
    if (successes == 10) {
      if (t) record(t, GROWN, eta, g);
      eta *= 2;
      successes = 0;
      continue;
    }
    point next = step_from(b, eta, g);
    if (magnitude(difference(b, next)) <= 1e-5) return b;
    double next_value = loss(a, next);
    if (next_value < value) {
      if (t) record(t, ACCEPTED, eta, g);
      b = next;
      value = next_value;
      g = loss_gradient(b);
      successes++;
    } else {
      if (t) record(t, REJECTED, eta, g);
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
  point g_bar = {0, 0};
  double eta_bar = 0;
  for (size_t i = t->length; i-- > 0;) {
    const step *s = &t->steps[i];
    switch (s->kind) {
    case GROWN:
      eta_bar *= 2;
      break;
    case REJECTED:
      eta_bar /= 2;
      break;
    case ACCEPTED:
      b_bar = sum(b_bar, loss_gradient_adjoint(g_bar));
      eta_bar -= s->g.x * b_bar.x + s->g.y * b_bar.y;
      g_bar = (point){-s->eta * b_bar.x, -s->eta * b_bar.y};
      break;
    }
  }
  start_sensitivity = sum(b_bar, loss_gradient_adjoint(g_bar));
  eta_sensitivity = eta_bar;
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
  free(t.steps);
  return 0;
}
