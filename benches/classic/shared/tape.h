// Numbers that are recorded on a tape: reverse mode by hand. A number is an entry of the tape, which says what was
// computed there and how it depends on two earlier entries; the backward loop walks the entries from the last to the
// first.

#include <stdio.h>
#include <stdlib.h>

typedef struct {
  double value;
  int entry;
} number;

typedef struct {
  double da, db, sensitivity;
  int a, b;
} entry;

enum { MOST_ENTRIES = 1 << 16 };

static entry tape[MOST_ENTRIES];
static int entries;

static inline number record(double value, double da, number a, double db, number b) {
  if (entries == MOST_ENTRIES) {
    fputs("the tape is too short\n", stderr);
    exit(3);
  }
  tape[entries] = (entry){da, db, 0, a.entry, b.entry};
  return (number){value, entries++};
}

// Entry 0 collects the sensitivities of constants.
static inline number constant(double c) { return (number){c, 0}; }
static inline double value_of(number a) { return a.value; }
static inline number add(number a, number b) { return record(a.value + b.value, 1, a, 1, b); }
static inline number sub(number a, number b) { return record(a.value - b.value, 1, a, -1, b); }
static inline number mul(number a, number b) { return record(a.value * b.value, b.value, a, a.value, b); }

// The gradient of f at (p0, p1).
static void gradient(number (*f)(number, number), double p0, double p1, double g[2]) {
  entries = 1;
  number nothing = constant(0);
  number x0 = record(p0, 0, nothing, 0, nothing), x1 = record(p1, 0, nothing, 0, nothing);
  number y = f(x0, x1);
  tape[y.entry].sensitivity = 1;
  for (int i = entries - 1; i > 0; i--) {
    tape[tape[i].a].sensitivity += tape[i].da * tape[i].sensitivity;
    tape[tape[i].b].sensitivity += tape[i].db * tape[i].sensitivity;
  }
  g[0] = tape[x0.entry].sensitivity;
  g[1] = tape[x1.entry].sensitivity;
}
