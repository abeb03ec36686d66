// Steering a charged particle with what a person knows and a program does not say: the acceleration in closed form,
// tangents written out without those that are zero.

#include <math.h>
#include <stdio.h>

// The square of where the particle lands, and its derivative with respect to w where that is wanted.
static inline double landing(double w, double *slope) {
  const double dt = .1;
  double x = 0, y = 8, vx = .75, vy = 0;
  double tx = 0, ty = 0, tvx = 0, tvy = 0;
  for (;;) {
    double next_y = y + dt * vy;
    if (next_y <= 0) {
      double rest = -y / vy, landed = x + rest * vx;
      if (slope) {
        double rest_tangent = -(ty + rest * tvy) / vy;
        *slope = 2 * landed * (tx + rest_tangent * vx + rest * tvx);
      }
      return landed * landed;
    }
    double dx = x - 10, dy0 = y - (10 - w), dy1 = y;
    double q0 = dx * dx + dy0 * dy0, q1 = dx * dx + dy1 * dy1;
    double k0 = 1 / (q0 * sqrt(q0)), k1 = 1 / (q1 * sqrt(q1));
    x += dt * vx;
    y = next_y;
    vx += dt * (dx * (k0 + k1));
    vy += dt * (dy0 * k0 + dy1 * k1);
    if (slope) {
      double tdy0 = ty + 1;
      double tk0 = -3 * k0 / q0 * (dx * tx + dy0 * tdy0), tk1 = -3 * k1 / q1 * (dx * tx + dy1 * ty);
      double ax = tx * (k0 + k1) + dx * (tk0 + tk1), ay = tdy0 * k0 + dy0 * tk0 + ty * k1 + dy1 * tk1;
      tx += dt * tvx;
      ty += dt * tvy;
      tvx += dt * ax;
      tvy += dt * ay;
    }
  }
}

static double search(double w) {
  double g, value = landing(w, &g), eta = 1e-5;
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
    double next_value = landing(next, NULL);
    if (next_value < value) {
      w = next;
      value = landing(w, &g);
      successes++;
    } else {
      eta /= 2;
      successes = 0;
    }
  }
}

int main(void) {
  double w = 0;
  for (int repetition = 0; repetition < 1000; repetition++) w = search(0 * w);
  printf("%.17g\n", w);
  return 0;
}
