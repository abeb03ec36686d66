"""The problems of constrained.vlad for SciPy: SLSQP, trust-constr, and L-BFGS-B within bounds.

Arguments: the name of a method, and how often to solve each problem with it; "start" shows what the functions are at
the start. Functions take arrays whose first axis counts the variables, so that all complex steps are taken at once.
A line of the output is: problem, value, violation, whether converged, status, steps, evaluations.
"""

import sys
import time
import warnings

import numpy as np
from numpy import cos, exp, log, pi, sin, sqrt
from scipy.optimize import Bounds, NonlinearConstraint, minimize

inf = np.inf
PROBLEMS = []


def problem(name, best, f, start, lower=None, upper=None, equal=None, above=None):
    """Notes a problem; best is the known value of its minimum."""
    n = len(start)
    if lower is not None:
        lower = np.full(n, lower, dtype=float) if np.isscalar(lower) else np.array(lower, dtype=float)
        upper = np.full(n, upper, dtype=float) if np.isscalar(upper) else np.array(upper, dtype=float)
    PROBLEMS.append((name, best, f, np.array(start, dtype=float), lower, upper, equal, above))


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def minus_product(x):
    return -x[0] * x[1] * x[2]


def three_spheres(v):
    a, b, c, d, e = v
    return [a**2 + b**2 + c**2 + d**2 + e**2 - 10, b * c - 5 * d * e, a**3 + b**3 + 1]


def three_lines(v):
    a, b, c, d, e = v
    return [a + 3 * b, c + d - 2 * e, b - e]


def product(v):
    return np.prod(v, axis=0)


def alternate(n, x, y):
    return [x if i % 2 == 0 else y for i in range(n)]


def pairs(v):
    return np.sum(100 * (v[1::2] - v[0::2] ** 2) ** 2 + (1 - v[0::2]) ** 2, axis=0)


def chain(v):
    return np.sum(100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2, axis=0)


def string(v):
    n = len(v)
    ends = np.zeros_like(v[:1])
    steps = np.diff(np.concatenate([ends, v, ends]), axis=0)
    return 0.5 * (n + 1) * np.sum(steps**2, axis=0) + 10 / (n + 1) * np.sum(v, axis=0)


def within_bounds():
    problem("hs1", 0, rosenbrock, [-2, 1], [-inf, -1.5], inf)
    problem("hs2", 0.05042618790, rosenbrock, [-2, 1], [-inf, 1.5], inf)
    problem("hs3", 0, lambda v: v[1] + 1e-5 * (v[1] - v[0]) ** 2, [10, 1], [-inf, 0], inf)
    problem("hs4", 8 / 3, lambda v: (v[0] + 1) ** 3 / 3 + v[1], [1.125, 0.125], [1, 0], inf)
    problem("hs5", -(sqrt(3) / 2 + pi / 3),
            lambda v: sin(v[0] + v[1]) + (v[0] - v[1]) ** 2 - 1.5 * v[0] + 2.5 * v[1] + 1,
            [0, 0], [-1.5, -3], [4, 3])

    def wood(v):
        a, b, c, d = v
        return (100 * (b - a**2) ** 2 + (1 - a) ** 2 + 90 * (d - c**2) ** 2 + (1 - c) ** 2
                + 10.1 * ((b - 1) ** 2 + (d - 1) ** 2) + 19.8 * (b - 1) * (d - 1))

    problem("hs38", 0, wood, [-3, -1, -3, -1], -10, 10)
    problem("hs45", 1, lambda v: 2 - product(v) / 120, [2] * 5, 0, [1, 2, 3, 4, 5])
    problem("hs110", -45.77846971,
            lambda v: np.sum(log(v - 2) ** 2 + log(10 - v) ** 2, axis=0) - product(v) ** 0.2,
            [9] * 10, 2.001, 9.999)
    problem("rosenbrock20", 2.5, pairs, alternate(20, -1.2, 1), alternate(20, -50, 0), alternate(20, 0.5, 100))
    problem("rosenbrock50", 6.25, pairs, alternate(50, -1.2, 1), alternate(50, -50, 0), alternate(50, 0.5, 100))
    # The last two are known from several solvers that agree.
    problem("chain20", 16.59716841935, chain, alternate(20, -1.2, 1), alternate(20, -2, -0.5), alternate(20, 0.7, 2))
    problem("obstacle50", -1.548718018914, string, [0] * 50,
            [-4 * (i / 49 - 0.3) ** 2 - 0.1 for i in range(50)], 1)


def under_equations():
    problem("hs6", 0, lambda v: (1 - v[0]) ** 2, [-1.2, 1], equal=lambda v: [10 * (v[1] - v[0] ** 2)])
    problem("hs7", -sqrt(3), lambda v: log(1 + v[0] ** 2) - v[1], [2, 2],
            equal=lambda v: [(1 + v[0] ** 2) ** 2 + v[1] ** 2 - 4])
    problem("hs8", -1, lambda v: -1 + 0 * v[0], [2, 1],
            equal=lambda v: [v[0] ** 2 + v[1] ** 2 - 25, v[0] * v[1] - 9])
    problem("hs9", -0.5, lambda v: sin(pi * v[0] / 12) * cos(pi * v[1] / 16), [0, 0],
            equal=lambda v: [4 * v[0] - 3 * v[1]])
    problem("hs26", 0, lambda v: (v[0] - v[1]) ** 2 + (v[1] - v[2]) ** 4, [-2.6, 2, 2],
            equal=lambda v: [(1 + v[1] ** 2) * v[0] + v[2] ** 4 - 3])
    problem("hs27", 0.04, lambda v: 0.01 * (v[0] - 1) ** 2 + (v[1] - v[0] ** 2) ** 2, [2, 2, 2],
            equal=lambda v: [v[0] + v[2] ** 2 + 1])
    problem("hs28", 0, lambda v: (v[0] + v[1]) ** 2 + (v[1] + v[2]) ** 2, [-4, 1, 1],
            equal=lambda v: [v[0] + 2 * v[1] + 3 * v[2] - 1])
    problem("hs39", -1, lambda v: -v[0], [2] * 4,
            equal=lambda v: [v[1] - v[0] ** 3 - v[2] ** 2, v[0] ** 2 - v[1] - v[3] ** 2])
    problem("hs40", -0.25, lambda v: -product(v), [0.8] * 4,
            equal=lambda v: [v[0] ** 3 + v[1] ** 2 - 1, v[0] ** 2 * v[3] - v[2], v[3] ** 2 - v[1]])
    problem("hs42", 28 - 10 * sqrt(2), lambda v: sum((v[i] - i - 1) ** 2 for i in range(4)), [1] * 4,
            equal=lambda v: [v[0] - 2, v[2] ** 2 + v[3] ** 2 - 2])
    problem("hs48", 0, lambda v: (v[0] - 1) ** 2 + (v[1] - v[2]) ** 2 + (v[3] - v[4]) ** 2, [3, 5, -3, 2, -2],
            equal=lambda v: [v[0] + v[1] + v[2] + v[3] + v[4] - 5, v[2] - 2 * (v[3] + v[4]) + 3])
    problem("hs49", 0, lambda v: (v[0] - v[1]) ** 2 + (v[2] - 1) ** 2 + (v[3] - 1) ** 4 + (v[4] - 1) ** 6,
            [10, 7, 2, -3, 0.8],
            equal=lambda v: [v[0] + v[1] + v[2] + 4 * v[3] - 7, v[2] + 5 * v[4] - 6])
    problem("hs50", 0, lambda v: (v[0] - v[1]) ** 2 + (v[1] - v[2]) ** 2 + (v[2] - v[3]) ** 4 + (v[3] - v[4]) ** 2,
            [35, -31, 11, 5, -5],
            equal=lambda v: [v[0] + 2 * v[1] + 3 * v[2] - 6, v[1] + 2 * v[2] + 3 * v[3] - 6,
                             v[2] + 2 * v[3] + 3 * v[4] - 6])

    def distances(v):
        return (v[0] - v[1]) ** 2 + (v[1] + v[2] - 2) ** 2 + (v[3] - 1) ** 2 + (v[4] - 1) ** 2

    problem("hs51", 0, distances, [2.5, 0.5, 2, -1, 0.5],
            equal=lambda v: [v[0] + 3 * v[1] - 4, v[2] + v[3] - 2 * v[4], v[1] - v[4]])
    problem("hs52", 1859 / 349,
            lambda v: (4 * v[0] - v[1]) ** 2 + (v[1] + v[2] - 2) ** 2 + (v[3] - 1) ** 2 + (v[4] - 1) ** 2,
            [2] * 5, equal=three_lines)
    problem("hs53", 176 / 43, distances, [2] * 5, -10, 10, equal=three_lines)
    problem("hs60", 0.03256820025, lambda v: (v[0] - 1) ** 2 + (v[0] - v[1]) ** 2 + (v[1] - v[2]) ** 4,
            [2] * 3, -10, 10, equal=lambda v: [v[0] * (1 + v[1] ** 2) + v[2] ** 4 - 4 - 3 * sqrt(2)])
    problem("hs61", -143.6461422,
            lambda v: 4 * v[0] ** 2 + 2 * v[1] ** 2 + 2 * v[2] ** 2 - 33 * v[0] + 16 * v[1] - 24 * v[2], [0] * 3,
            equal=lambda v: [3 * v[0] - 2 * v[1] ** 2 - 7, 4 * v[0] - v[2] ** 2 - 11])

    def cracking(v):
        x, y, z = v
        return -32.174 * (255 * log((x + y + z + 0.03) / (0.09 * x + y + z + 0.03))
                          + 280 * log((y + z + 0.03) / (0.07 * y + z + 0.03))
                          + 290 * log((z + 0.03) / (0.13 * z + 0.03)))

    problem("hs62", -26272.51448, cracking, [0.7, 0.2, 0.1], 0, 1, equal=lambda v: [v[0] + v[1] + v[2] - 1])
    problem("hs63", 961.7151721,
            lambda v: 1000 - v[0] ** 2 - 2 * v[1] ** 2 - v[2] ** 2 - v[0] * v[1] - v[0] * v[2], [2] * 3, 0, inf,
            equal=lambda v: [8 * v[0] + 14 * v[1] + 7 * v[2] - 56, v[0] ** 2 + v[1] ** 2 + v[2] ** 2 - 25])
    problem("hs77", 0.24150513,
            lambda v: ((v[0] - 1) ** 2 + (v[0] - v[1]) ** 2 + (v[2] - 1) ** 2 + (v[3] - 1) ** 4 + (v[4] - 1) ** 6),
            [2] * 5,
            equal=lambda v: [v[0] ** 2 * v[3] + sin(v[3] - v[4]) - 2 * sqrt(2),
                             v[1] + v[2] ** 4 * v[3] ** 2 - 8 - sqrt(2)])
    problem("hs78", -2.91970041, product, [-2, 1.5, 2, -1, -1], equal=three_spheres)
    problem("hs79", 0.0787768209,
            lambda v: ((v[0] - 1) ** 2 + (v[0] - v[1]) ** 2 + (v[1] - v[2]) ** 2 + (v[2] - v[3]) ** 4
                       + (v[3] - v[4]) ** 4),
            [2] * 5,
            equal=lambda v: [v[0] + v[1] ** 2 + v[2] ** 3 - 2 - 3 * sqrt(2),
                             v[1] - v[2] ** 2 + v[3] + 2 - 2 * sqrt(2), v[0] * v[4] - 2])
    limits = [-2.3, -2.3, -3.2, -3.2, -3.2], [2.3, 2.3, 3.2, 3.2, 3.2]
    problem("hs80", 0.0539498478, lambda v: exp(product(v)), [-2, 2, 2, -1, -1], *limits, equal=three_spheres)
    problem("hs81", 0.0539498478, lambda v: exp(product(v)) - 0.5 * (v[0] ** 3 + v[1] ** 3 + 1) ** 2,
            [-2, 2, 2, -1, -1], *limits, equal=three_spheres)


def under_inequalities():
    problem("hs10", -1, lambda v: v[0] - v[1], [-10, 10],
            above=lambda v: [-3 * v[0] ** 2 + 2 * v[0] * v[1] - v[1] ** 2 + 1])
    problem("hs11", -8.498464223, lambda v: (v[0] - 5) ** 2 + v[1] ** 2 - 25, [4.9, 0.1],
            above=lambda v: [v[1] - v[0] ** 2])
    problem("hs12", -30, lambda v: 0.5 * v[0] ** 2 + v[1] ** 2 - v[0] * v[1] - 7 * v[0] - 7 * v[1], [0, 0],
            above=lambda v: [25 - 4 * v[0] ** 2 - v[1] ** 2])
    problem("hs13", 1, lambda v: (v[0] - 2) ** 2 + v[1] ** 2, [-2, -2], 0, inf,
            above=lambda v: [(1 - v[0]) ** 3 - v[1]])
    problem("hs14", 9 - 2.875 * sqrt(7), lambda v: (v[0] - 2) ** 2 + (v[1] - 1) ** 2, [2, 2],
            equal=lambda v: [v[0] - 2 * v[1] + 1], above=lambda v: [1 - 0.25 * v[0] ** 2 - v[1] ** 2])
    problem("hs15", 306.5, rosenbrock, [-2, 1], -inf, [0.5, inf],
            above=lambda v: [v[0] * v[1] - 1, v[0] + v[1] ** 2])
    problem("hs16", 0.25, rosenbrock, [-2, 1], [-0.5, -inf], [0.5, 1],
            above=lambda v: [v[0] + v[1] ** 2, v[0] ** 2 + v[1]])
    problem("hs17", 1, rosenbrock, [-2, 1], [-0.5, -inf], [0.5, 1],
            above=lambda v: [v[1] ** 2 - v[0], v[0] ** 2 - v[1]])
    problem("hs18", 5, lambda v: 0.01 * v[0] ** 2 + v[1] ** 2, [2, 2], [2, 0], 50,
            above=lambda v: [v[0] * v[1] - 25, v[0] ** 2 + v[1] ** 2 - 25])
    problem("hs19", -6961.81388, lambda v: (v[0] - 10) ** 3 + (v[1] - 20) ** 3, [20.1, 5.84], [13, 0], 100,
            above=lambda v: [(v[0] - 5) ** 2 + (v[1] - 5) ** 2 - 100,
                             82.81 - (v[1] - 5) ** 2 - (v[0] - 6) ** 2])
    problem("hs20", 81.5 - 25 * sqrt(3), rosenbrock, [-2, 1], [-0.5, -inf], [0.5, inf],
            above=lambda v: [v[0] + v[1] ** 2, v[0] ** 2 + v[1], v[0] ** 2 + v[1] ** 2 - 1])
    problem("hs21", -99.96, lambda v: 0.01 * v[0] ** 2 + v[1] ** 2 - 100, [-1, -1], [2, -50], 50,
            above=lambda v: [10 * v[0] - v[1] - 10])
    problem("hs22", 1, lambda v: (v[0] - 2) ** 2 + (v[1] - 1) ** 2, [2, 2],
            above=lambda v: [2 - v[0] - v[1], v[1] - v[0] ** 2])
    problem("hs23", 2, lambda v: v[0] ** 2 + v[1] ** 2, [3, 1], -50, 50,
            above=lambda v: [v[0] + v[1] - 1, v[0] ** 2 + v[1] ** 2 - 1, 9 * v[0] ** 2 + v[1] ** 2 - 9,
                             v[0] ** 2 - v[1], v[1] ** 2 - v[0]])
    problem("hs24", -1, lambda v: ((v[0] - 3) ** 2 - 9) * v[1] ** 3 / (27 * sqrt(3)), [1, 0.5], 0, inf,
            above=lambda v: [v[0] / sqrt(3) - v[1], v[0] + sqrt(3) * v[1], 6 - v[0] - sqrt(3) * v[1]])
    problem("hs29", -16 * sqrt(2), minus_product, [1] * 3,
            above=lambda v: [48 - v[0] ** 2 - 2 * v[1] ** 2 - 4 * v[2] ** 2])
    problem("hs30", 1, lambda v: v[0] ** 2 + v[1] ** 2 + v[2] ** 2, [1] * 3, [1, -10, -10], 10,
            above=lambda v: [v[0] ** 2 + v[1] ** 2 - 1])
    problem("hs31", 6, lambda v: 9 * v[0] ** 2 + v[1] ** 2 + 9 * v[2] ** 2, [1] * 3, [-10, 1, -10], [10, 10, 1],
            above=lambda v: [v[0] * v[1] - 1])
    problem("hs33", sqrt(2) - 6, lambda v: (v[0] - 1) * (v[0] - 2) * (v[0] - 3) + v[2], [0, 0, 3], 0, [inf, inf, 5],
            above=lambda v: [v[2] ** 2 - v[0] ** 2 - v[1] ** 2, v[0] ** 2 + v[1] ** 2 + v[2] ** 2 - 4])
    problem("hs34", -log(log(10)), lambda v: -v[0], [0, 1.05, 2.9], 0, [100, 100, 10],
            above=lambda v: [v[1] - exp(v[0]), v[2] - exp(v[1])])
    problem("hs35", 1 / 9,
            lambda v: (9 - 8 * v[0] - 6 * v[1] - 4 * v[2] + 2 * v[0] ** 2 + 2 * v[1] ** 2 + v[2] ** 2
                       + 2 * v[0] * v[1] + 2 * v[0] * v[2]),
            [0.5] * 3, 0, inf, above=lambda v: [3 - v[0] - v[1] - 2 * v[2]])
    problem("hs36", -3300, minus_product, [10] * 3, 0, [20, 11, 42],
            above=lambda v: [72 - v[0] - 2 * v[1] - 2 * v[2]])
    problem("hs37", -3456, minus_product, [10] * 3, 0, 42,
            above=lambda v: [72 - v[0] - 2 * v[1] - 2 * v[2], v[0] + 2 * v[1] + 2 * v[2]])
    problem("hs43", -44,
            lambda v: (v[0] ** 2 + v[1] ** 2 + 2 * v[2] ** 2 + v[3] ** 2 - 5 * v[0] - 5 * v[1] - 21 * v[2] + 7 * v[3]),
            [0] * 4,
            above=lambda v: [8 - v[0] ** 2 - v[1] ** 2 - v[2] ** 2 - v[3] ** 2 - v[0] + v[1] - v[2] + v[3],
                             10 - v[0] ** 2 - 2 * v[1] ** 2 - v[2] ** 2 - 2 * v[3] ** 2 + v[0] + v[3],
                             5 - 2 * v[0] ** 2 - v[1] ** 2 - v[2] ** 2 - 2 * v[0] + v[1] + v[3]])

    def bilinear(v):
        a, b, c, d = v
        return a - b - c - a * c + a * d + b * c - b * d

    problem("hs44", -15, bilinear, [0] * 4, 0, inf,
            above=lambda v: [8 - v[0] - 2 * v[1], 12 - 4 * v[0] - v[1], 12 - 3 * v[0] - 4 * v[1],
                             8 - 2 * v[2] - v[3], 8 - v[2] - 2 * v[3], 5 - v[2] - v[3]])
    problem("hs64", 6299.842428,
            lambda v: 5 * v[0] + 50000 / v[0] + 20 * v[1] + 72000 / v[1] + 10 * v[2] + 144000 / v[2],
            [1] * 3, 1e-5, inf, above=lambda v: [1 - 4 / v[0] - 32 / v[1] - 120 / v[2]])
    problem("hs65", 0.9535288567, lambda v: (v[0] - v[1]) ** 2 + (v[0] + v[1] - 10) ** 2 / 9 + (v[2] - 5) ** 2,
            [-5, 5, 0], [-4.5, -4.5, -5], [4.5, 4.5, 5],
            above=lambda v: [48 - v[0] ** 2 - v[1] ** 2 - v[2] ** 2])
    problem("hs71", 17.0140173, lambda v: v[0] * v[3] * (v[0] + v[1] + v[2]) + v[2], [1, 5, 5, 1], 1, 5,
            equal=lambda v: [v[0] ** 2 + v[1] ** 2 + v[2] ** 2 + v[3] ** 2 - 40],
            above=lambda v: [product(v) - 25])
    problem("hs76", -4.681818182,
            lambda v: (v[0] ** 2 + 0.5 * v[1] ** 2 + v[2] ** 2 + 0.5 * v[3] ** 2 - v[0] * v[2] + v[2] * v[3]
                       - v[0] - 3 * v[1] + v[2] - v[3]),
            [0.5] * 4, 0, inf,
            above=lambda v: [5 - v[0] - 2 * v[1] - v[2] - v[3], 4 - 3 * v[0] - v[1] - 2 * v[2] + v[3],
                             v[1] + 4 * v[2] - 1.5])

    def seven(v):
        a, b, c, d, e, f, g = v
        return ((a - 10) ** 2 + 5 * (b - 12) ** 2 + c**4 + 3 * (d - 11) ** 2 + 10 * e**6 + 7 * f**2 + g**4
                - 4 * f * g - 10 * f - 8 * g)

    def seven_above(v):
        a, b, c, d, e, f, g = v
        return [127 - 2 * a**2 - 3 * b**4 - c - 4 * d**2 - 5 * e, 282 - 7 * a - 3 * b - 10 * c**2 - d + e,
                196 - 23 * a - b**2 - 6 * f**2 + 8 * g, -4 * a**2 - b**2 + 3 * a * b - 2 * c**2 - 5 * f + 11 * g]

    problem("hs100", 680.6300573, seven, [1, 2, 0, 4, 0, 1, 1], above=seven_above)

    def exchanger(v):
        a, b, c, d, e, f, g, h = v
        return [1 - 0.0025 * (d + f), 1 - 0.0025 * (e + g - d), 1 - 0.01 * (h - e),
                a * f - 833.33252 * d - 100 * a + 83333.333, b * g - 1250 * e - b * d + 1250 * d,
                c * h - 1250000 - c * e + 2500 * e]

    problem("hs106", 7049.248021, lambda v: v[0] + v[1] + v[2], [5000, 5000, 5000, 200, 350, 150, 225, 425],
            [100, 1000, 1000, 10, 10, 10, 10, 10], [1e4, 1e4, 1e4, 1e3, 1e3, 1e3, 1e3, 1e3], above=exchanger)

    def ten(v):
        a, b, c, d, e, f, g, h, i, j = v
        return (a**2 + b**2 + a * b - 14 * a - 16 * b + (c - 10) ** 2 + 4 * (d - 5) ** 2 + (e - 3) ** 2
                + 2 * (f - 1) ** 2 + 5 * g**2 + 7 * (h - 11) ** 2 + 2 * (i - 10) ** 2 + (j - 7) ** 2 + 45)

    def ten_above(v):
        a, b, c, d, e, f, g, h, i, j = v
        return [105 - 4 * a - 5 * b + 3 * g - 9 * h, -10 * a + 8 * b + 17 * g - 2 * h,
                8 * a - 2 * b - 5 * i + 2 * j + 12,
                -3 * (a - 2) ** 2 - 4 * (b - 3) ** 2 - 2 * c**2 + 7 * d + 120,
                -5 * a**2 - 8 * b - (c - 6) ** 2 + 2 * d + 40,
                -0.5 * (a - 8) ** 2 - 2 * (b - 4) ** 2 - 3 * e**2 + f + 30,
                -a**2 - 2 * (b - 2) ** 2 + 2 * a * b - 14 * e + 6 * f,
                3 * a - 6 * b - 12 * (i - 8) ** 2 + 7 * j]

    problem("hs113", 24.3062091, ten, [2, 3, 5, 5, 1, 2, 7, 3, 6, 10], above=ten_above)


def gradient(f):
    """The gradient by complex steps, all of them at once: exact up to rounding."""
    def g(x):
        return np.imag(f(x[:, None] + 1e-30j * np.eye(len(x)))) / 1e-30
    return g


def jacobian(c):
    def j(x):
        steps = x[:, None] + 1e-30j * np.eye(len(x))
        return np.array([np.imag(np.broadcast_to(row, len(x))) for row in c(steps)]) / 1e-30
    return j


def violation(lower, upper, equal, above, x):
    worst = 0.0
    if lower is not None:
        worst = max(worst, np.max(lower - x), np.max(x - upper))
    if equal is not None:
        worst = max(worst, np.max(np.abs(equal(x))))
    if above is not None:
        worst = max(worst, -np.min(above(x)))
    return worst


def solve(method, f, start, lower, upper, equal, above):
    bounds = None if lower is None else Bounds(lower, upper)
    if method == "L-BFGS-B":
        return minimize(f, start, jac=gradient(f), method=method, bounds=bounds,
                        options=dict(maxiter=1000, maxfun=100000, ftol=1e-15, gtol=1e-8))
    if method == "SLSQP":
        conditions = [dict(type=kind, fun=lambda x, c=c: np.array(c(x)), jac=jacobian(c))
                      for kind, c in (("eq", equal), ("ineq", above)) if c is not None]
        return minimize(f, start, jac=gradient(f), method=method, bounds=bounds, constraints=conditions,
                        options=dict(maxiter=1000, ftol=1e-10))
    conditions = [NonlinearConstraint(lambda x, c=c: np.array(c(x)), 0, top, jac=jacobian(c))
                  for c, top in ((equal, 0), (above, inf)) if c is not None]
    return minimize(f, start, jac=gradient(f), method=method, bounds=bounds, constraints=conditions,
                    options=dict(maxiter=1000, gtol=1e-8, xtol=1e-10))


def main():
    method, rounds = sys.argv[1], int(sys.argv[2])
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    within_bounds()
    under_equations()
    under_inequalities()
    started = time.perf_counter()
    for name, _, f, start, lower, upper, equal, above in PROBLEMS:
        free = equal is None and above is None
        if method == "start":
            print(name, repr(float(f(start))), *(repr(float(y)) for c in (equal, above) if c for y in c(start)))
        elif free or method != "L-BFGS-B":
            for _ in range(rounds):
                found = solve(method, f, start, lower, upper, equal, above)
            print(name, repr(float(found.fun)), repr(float(violation(lower, upper, equal, above, found.x))),
                  "#t" if found.success else "#f", '"%s"' % found.message, found.nit, found.nfev, flush=True)
    print("seconds", time.perf_counter() - started)


if __name__ == "__main__":
    main()
