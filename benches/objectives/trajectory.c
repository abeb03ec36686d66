// How far predators and prey (Lotka and Volterra) end from a target, after a thousand steps of Runge and Kutta.

#include "shared/measure.h"

static double end, target[2];

typedef struct { double prey, predators; } State;

static State slope(const double *x, State s) {
    return (State){x[0] * s.prey - x[1] * s.prey * s.predators, x[2] * s.prey * s.predators - x[3] * s.predators};
}

static State along(State s, double h, State k) {
    return (State){s.prey + h * k.prey, s.predators + h * k.predators};
}

static double f(const double *x) {
    State s = {x[4], x[5]};
    double h = end / 1000;
    for (int i = 0; i < 1000; i++) {
        State k1 = slope(x, s);
        State k2 = slope(x, along(s, h / 2, k1));
        State k3 = slope(x, along(s, h / 2, k2));
        State k4 = slope(x, along(s, h, k3));
        s.prey += h / 6 * (k1.prey + k4.prey + 2 * (k2.prey + k3.prey));
        s.predators += h / 6 * (k1.predators + k4.predators + 2 * (k2.predators + k3.predators));
    }
    double a = s.prey - target[0], b = s.predators - target[1];
    return a * a + b * b;
}

int main(void) {
    double x[6];
    for (int i = 0; i < 6; i++) x[i] = read_real();
    end = read_real();
    for (int i = 0; i < 2; i++) target[i] = read_real();
    measure(f, x, 6);
}
