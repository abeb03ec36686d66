// Steering a charged particle, forward mode outside: the C that particle-ff.vlad and particle-fr.vlad are measured
// against.
//
// The derivative of the landing point with respect to w is carried through the Euler steps by dual numbers; the
// gradient of the potential is its adjoint, written by hand, on dual numbers. Prints the last of a thousand answers;
// see particle-r.c for what makes each repetition start anew.

#include <math.h>
#include <stdio.h>

typedef struct {
  double value, tangent;
} dual;

static dual constant(double c) { return (dual){c, 0}; }
static dual add(dual a, dual b) { return (dual){a.value + b.value, a.tangent + b.tangent}; }
static dual sub(dual a, dual b) { return (dual){a.value - b.value, a.tangent - b.tangent}; }
static dual mul(dual a, dual b) { return (dual){a.value * b.value, a.tangent * b.value + a.value * b.tangent}; }
static dual quotient(dual a, dual b) {
  double q = a.value / b.value;
  return (dual){q, (a.tangent - q * b.tangent) / b.value};
}
static dual root(dual a) {
  double r = sqrt(a.value);
  return (dual){r, a.tangent / (2 * r)};
}

typedef struct {
  dual x, y;
} point;

// The gradient of the sum of 1 / distance, last statement to first.
static point potential_gradient(point p, const point charges[2]) {
  point g = {constant(0), constant(0)};
  for (int i = 1; i >= 0; i--) {
    dual dx = sub(p.x, charges[i].x), dy = sub(p.y, charges[i].y);
    dual r = root(add(mul(dx, dx), mul(dy, dy)));
    dual r_bar = sub(constant(0), quotient(quotient(constant(1), r), r));
    dual square_bar = quotient(r_bar, mul(constant(2), r));
    g.x = add(g.x, add(mul(square_bar, dx), mul(square_bar, dx)));
    g.y = add(g.y, add(mul(square_bar, dy), mul(square_bar, dy)));
  }
  return g;
}

// The square of where the particle lands.
static inline dual landing(dual w) {
  point charges[2] = {{constant(10), sub(constant(10), w)}, {constant(10), constant(0)}};
  point p = {constant(0), constant(8)}, velocity = {constant(.75), constant(0)};
  dual dt = constant(.1), minus = constant(-1);
  for (;;) {
    point g = potential_gradient(p, charges);
    point next = {add(p.x, mul(dt, velocity.x)), add(p.y, mul(dt, velocity.y))};
    if (next.y.value > 0) {
      velocity.x = add(velocity.x, mul(dt, mul(minus, g.x)));
      velocity.y = add(velocity.y, mul(dt, mul(minus, g.y)));
      p = next;
    } else {
      dual rest = quotient(sub(constant(0), p.y), velocity.y);
      dual x = add(p.x, mul(rest, velocity.x));
      return mul(x, x);
    }
  }
}

static double landing_value(double w) { return landing(constant(w)).value; }

static double landing_slope(double w) { return landing((dual){w, 1}).tangent; }

static double search(double w) {
  double value = landing_value(w), g = landing_slope(w), eta = 1e-5;
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
      g = landing_slope(w);
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
