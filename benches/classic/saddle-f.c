// Saddle point by nested gradient descent, forward mode outside: the C that saddle-ff.vlad and saddle-fr.vlad are
// measured against. The inner derivative is its adjoint, written by hand.
//
// The derivatives with respect to both coordinates of the outer point are carried through the inner search by dual
// numbers with two tangents, as the VLAD program differentiates through it. See saddle-r.c for what makes each
// repetition start anew.

#include <math.h>
#include <stdio.h>

typedef struct {
  double value, dx, dy;
} dual;

static dual constant(double c) { return (dual){c, 0, 0}; }
static dual add(dual a, dual b) { return (dual){a.value + b.value, a.dx + b.dx, a.dy + b.dy}; }
static dual sub(dual a, dual b) { return (dual){a.value - b.value, a.dx - b.dx, a.dy - b.dy}; }
static dual mul(dual a, dual b) {
  return (dual){a.value * b.value, a.dx * b.value + a.value * b.dx, a.dy * b.value + a.value * b.dy};
}

typedef struct {
  double x, y;
} point;

typedef struct {
  dual x, y;
} dual_point;

static double magnitude(double x, double y) { return sqrt(x * x + y * y); }

static dual payoff(dual_point a, dual_point b) {
  return sub(add(mul(a.x, a.x), mul(a.y, a.y)), add(mul(b.x, b.x), mul(b.y, b.y)));
}

// What the inner search minimises.
static dual loss(dual_point a, dual_point b) { return sub(constant(0), payoff(a, b)); }

// Its gradient with respect to b: the adjoint of the statements of loss, last to first.
static dual_point loss_gradient(dual_point b) {
  dual square_bar = sub(constant(0), constant(-1));
  return (dual_point){add(mul(square_bar, b.x), mul(square_bar, b.x)), add(mul(square_bar, b.y), mul(square_bar, b.y))};
}

// The inner search: the maximising b.
static inline dual_point inner_search(dual_point a, dual_point b) {
  double value = loss(a, b).value;
  dual_point g = loss_gradient(b);
  dual eta = constant(1e-5);
  int successes = 0;
  for (;;) {
    if (magnitude(g.x.value, g.y.value) <= 1e-5) return b;
    if (successes == 10) {
      eta = mul(constant(2), eta);
      successes = 0;
      continue;
    }
    dual_point next = {sub(b.x, mul(eta, g.x)), sub(b.y, mul(eta, g.y))};
    if (magnitude(b.x.value - next.x.value, b.y.value - next.y.value) <= 1e-5) return b;
    double next_value = loss(a, next).value;
    if (next_value < value) {
      b = next;
      value = next_value;
      g = loss_gradient(b);
      successes++;
    } else {
      eta = mul(constant(.5), eta);
      successes = 0;
    }
  }
}

static dual_point constant_point(point p) { return (dual_point){constant(p.x), constant(p.y)}; }

static double maximum(point a, point start) {
  dual_point outer = constant_point(a);
  return payoff(outer, inner_search(outer, constant_point(start))).value;
}

static point maximum_gradient(point a, point start) {
  dual_point outer = {{a.x, 1, 0}, {a.y, 0, 1}};
  dual value = payoff(outer, inner_search(outer, constant_point(start)));
  return (point){value.dx, value.dy};
}

// The outer search: the minimising a.
static point outer_search(point a, point start) {
  double value = maximum(a, start);
  point g = maximum_gradient(a, start);
  double eta = 1e-5;
  int successes = 0;
  for (;;) {
    if (magnitude(g.x, g.y) <= 1e-5) return a;
    if (successes == 10) {
      eta *= 2;
      successes = 0;
      continue;
    }
    point next = {a.x - eta * g.x, a.y - eta * g.y};
    if (magnitude(a.x - next.x, a.y - next.y) <= 1e-5) return a;
    double next_value = maximum(next, start);
    if (next_value < value) {
      a = next;
      value = next_value;
      g = maximum_gradient(a, start);
      successes++;
    } else {
      eta /= 2;
      successes = 0;
    }
  }
}

int main(void) {
  point a = {0, 0}, b = {0, 0};
  for (int repetition = 0; repetition < 1000; repetition++) {
    double one = 1 + 0 * a.x;
    point start = {one, one};
    a = outer_search(start, start);
    dual_point reply = inner_search(constant_point(a), constant_point(start));
    b = (point){reply.x.value, reply.y.value};
  }
  printf("((%.17g %.17g) (%.17g %.17g))\n", a.x, a.y, b.x, b.y);
  return 0;
}
