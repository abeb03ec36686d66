// Steering a charged particle, reverse mode outside: the C that particle-rf.vlad and particle-rr.vlad are measured
// against.
//
// The forward sweep of the Euler steps records position and velocity of each on a tape, the backward loop walks it from
// the last step to the first. The gradient of the potential is its adjoint, written by hand; the backward loop contains
// the adjoint of that.
//
// A repetition starts at 0 * (the answer of the one before): without licence to ignore infinities no compiler may fold
// it, so that no repetition can be shared with another. Prints the last answer.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  double x, y;
} point;

typedef struct {
  point position, velocity;
} state;

typedef struct {
  state *states;
  size_t length, capacity;
} tape;

static const double dt = .1;

static void record(tape *t, state s) {
  if (t->length == t->capacity) {
    t->capacity = t->capacity ? 2 * t->capacity : 64;
    t->states = realloc(t->states, t->capacity * sizeof(state));
    if (!t->states) exit(3);
  }
  t->states[t->length++] = s;
}

// The gradient of the sum of 1 / distance, last statement to first.
static point potential_gradient(point p, const point charges[2]) {
  point g = {0, 0};
  for (int i = 1; i >= 0; i--) {
    double dx = p.x - charges[i].x, dy = p.y - charges[i].y;
    double r = sqrt(dx * dx + dy * dy);
    double r_bar = -(1 / r) / r;
    double square_bar = r_bar / (2 * r);
    g.x += square_bar * dx + square_bar * dx;
    g.y += square_bar * dy + square_bar * dy;
  }
  return g;
}

// The adjoint of potential_gradient: adds what g_bar gives to the position and to the first charge's height.
static void potential_gradient_adjoint(point p, const point charges[2], point g_bar, point *p_bar, double *charge_bar) {
  for (int i = 0; i < 2; i++) {
    double dx = p.x - charges[i].x, dy = p.y - charges[i].y;
    double r = sqrt(dx * dx + dy * dy);
    double r_bar = -(1 / r) / r;
    double square_bar = r_bar / (2 * r);
    double square_bar_bar = g_bar.x * (dx + dx) + g_bar.y * (dy + dy);
    double dx_bar = g_bar.x * (square_bar + square_bar), dy_bar = g_bar.y * (square_bar + square_bar);
    double r_bar_bar = square_bar_bar / (2 * r);
    double r_sensitivity = -square_bar_bar * square_bar / r - r_bar_bar * (r_bar + r_bar) / r;
    double square_sensitivity = r_sensitivity / (2 * r);
    dx_bar += square_sensitivity * (dx + dx);
    dy_bar += square_sensitivity * (dy + dy);
    p_bar->x += dx_bar;
    p_bar->y += dy_bar;
    if (i == 0) *charge_bar -= dy_bar;
  }
}

// The square of where the particle lands. Records the states where a tape is given.
static inline double landing(double w, tape *t) {
  point charges[2] = {{10, 10 - w}, {10, 0}};
  state s = {{0, 8}, {.75, 0}};
  for (;;) {
    if (t) record(t, s);
    point g = potential_gradient(s.position, charges);
    point next = {s.position.x + dt * s.velocity.x, s.position.y + dt * s.velocity.y};
    if (next.y > 0) {
      s.velocity.x += dt * (-1 * g.x);
      s.velocity.y += dt * (-1 * g.y);
      s.position = next;
    } else {
      double rest = (0 - s.position.y) / s.velocity.y;
      double x = s.position.x + rest * s.velocity.x;
      return x * x;
    }
  }
}

static double landing_value(double w) { return landing(w, NULL); }

static double landing_slope(double w, tape *t) {
  t->length = 0;
  landing(w, t);
  point charges[2] = {{10, 10 - w}, {10, 0}};
  state last = t->states[t->length - 1];
  double rest = (0 - last.position.y) / last.velocity.y;
  double x_bar = 2 * (last.position.x + rest * last.velocity.x);
  double rest_bar = x_bar * last.velocity.x;
  point position_bar = {x_bar, -rest_bar / last.velocity.y};
  point velocity_bar = {x_bar * rest, -rest_bar * rest / last.velocity.y};
  double charge_bar = 0;
  for (size_t i = t->length - 1; i-- > 0;) {
    point g_bar = {-dt * velocity_bar.x, -dt * velocity_bar.y};
    velocity_bar.x += dt * position_bar.x;
    velocity_bar.y += dt * position_bar.y;
    potential_gradient_adjoint(t->states[i].position, charges, g_bar, &position_bar, &charge_bar);
  }
  return -charge_bar;
}

static double search(double w, tape *t) {
  double value = landing_value(w), g = landing_slope(w, t), eta = 1e-5;
  int successes = 0;
  for (;;) {
    if (fabs(g) <= 1e-5) return w;
    if (successes == 10) {
      eta *= 2;
      successes = 0;
      continue;
    }
    double next = w - eta * g;
    if (fabs(w - next) <= 1e-5) return w;
    double next_value = landing_value(next);
    if (next_value < value) {
      w = next;
      value = next_value;
      g = landing_slope(w, t);
      successes++;
    } else {
      eta /= 2;
      successes = 0;
    }
  }
}

int main(void) {
  tape t = {0};
  double w = 0;
  for (int repetition = 0; repetition < 1000; repetition++) w = search(0 * w, &t);
  printf("%.17g\n", w);
  free(t.states);
  return 0;
}
