// Numbers that carry their derivatives with respect to the two parameters of a program: forward mode by hand.

typedef struct {
  double value, d0, d1;
} number;

static inline number constant(double c) { return (number){c, 0, 0}; }
static inline double value_of(number a) { return a.value; }
static inline number add(number a, number b) { return (number){a.value + b.value, a.d0 + b.d0, a.d1 + b.d1}; }
static inline number sub(number a, number b) { return (number){a.value - b.value, a.d0 - b.d0, a.d1 - b.d1}; }
static inline number mul(number a, number b) {
  return (number){a.value * b.value, a.d0 * b.value + a.value * b.d0, a.d1 * b.value + a.value * b.d1};
}

// The gradient of f at (p0, p1).
static void gradient(number (*f)(number, number), double p0, double p1, double g[2]) {
  number y = f((number){p0, 1, 0}, (number){p1, 0, 1});
  g[0] = y.d0;
  g[1] = y.d1;
}
