#!/usr/bin/env python3
"""The problems of mgh.vlad in NumPy, for SciPy's methods.

usage: mgh.py METHOD [PROBLEM]

Prints the lines that the program of mgh.vlad prints: METHOD is 1 to 7, or 0 for residuals at two points. Needs NumPy
and SciPy. Derivatives of the residuals are exact, by complex steps. An evaluation is a new place where the value, with
or without derivatives, is asked for.
"""

import sys
import time
import warnings

import numpy as np
from scipy.optimize import least_squares, minimize

# Residuals as functions of x, whose first axis counts the parameters. Further axes are places that are computed
# together; what is returned has the residuals in the first axis.


def column(values, x):
    """A vector that is combined with the numbers of x: its axis is the first one."""
    return np.asarray(values, dtype=float).reshape((-1,) + (1,) * (x.ndim - 1))


def count(m, x):
    return column(np.arange(1, m + 1), x)


def stacked(*parts):
    return np.stack(np.broadcast_arrays(*parts))


def rosenbrock(x):
    return stacked(10 * (x[1] - x[0] * x[0]), 1 - x[0])


def freudenstein_roth(x):
    a, b = x
    return stacked(-13 + a + ((5 - b) * b - 2) * b, -29 + a + ((b + 1) * b - 14) * b)


def powell_badly_scaled(x):
    a, b = x
    return stacked(1e4 * a * b - 1, np.exp(-a) + np.exp(-b) - 1.0001)


def brown_badly_scaled(x):
    a, b = x
    return stacked(a - 1e6, b - 2e-6, a * b - 2)


def beale(x):
    a, b = x
    return stacked(1.5 - a * (1 - b), 2.25 - a * (1 - b * b), 2.625 - a * (1 - b * b * b))


def jennrich_sampson(x):
    i = count(10, x)
    return 2 + 2 * i - (np.exp(i * x[0]) + np.exp(i * x[1]))


def helical_valley(x):
    a, b, c = x
    turn = np.arctan(b / a) / (2 * np.pi) + np.where(a.real < 0, 0.5, 0)
    return stacked(10 * (c - 10 * turn), 10 * (np.sqrt(a * a + b * b) - 1), c)


BARD = [0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.1, 4.39]


def bard(x):
    u = count(15, x)
    return column(BARD, x) - (x[0] + u / ((16 - u) * x[1] + np.minimum(u, 16 - u) * x[2]))


GAUSSIAN = [0.0009, 0.0044, 0.0175, 0.054, 0.1295, 0.242, 0.3521]
GAUSSIAN = GAUSSIAN + [0.3989] + GAUSSIAN[::-1]


def gaussian(x):
    away = 0.5 * (8 - count(15, x)) - x[2]
    return x[0] * np.exp(-0.5 * x[1] * away * away) - column(GAUSSIAN, x)


MEYER = [34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872]


def meyer(x):
    return x[0] * np.exp(x[1] / (45 + 5 * count(16, x) + x[2])) - column(MEYER, x)


def gulf(x):
    t = count(99, x) / 100
    away = 25 + (-50 * np.log(t)) ** (2 / 3) - x[1]
    away = np.where(away.real < 0, -away, away)
    return np.exp(-np.exp(x[2] * np.log(away)) / x[0]) - t


def box(x):
    t = 0.1 * count(10, x)
    return np.exp(-t * x[0]) - np.exp(-t * x[1]) - x[2] * (np.exp(-t) - np.exp(-10 * t))


def powell_singular(x):
    a, b, c, d = x
    return stacked(a + 10 * b, np.sqrt(5) * (c - d), (b - 2 * c) ** 2, np.sqrt(10) * (a - d) ** 2)


def wood(x):
    a, b, c, d = x
    root = np.sqrt(10)
    return stacked(10 * (b - a * a), 1 - a, np.sqrt(90) * (d - c * c), 1 - c, root * (b + d - 2), (b - d) / root)


KOWALIK_OSBORNE = [0.1957, 0.1947, 0.1735, 0.16, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246]
KOWALIK_OSBORNE_PLACES = [4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625]


def kowalik_osborne(x):
    u = column(KOWALIK_OSBORNE_PLACES, x)
    return column(KOWALIK_OSBORNE, x) - x[0] * (u * u + u * x[1]) / (u * u + u * x[2] + x[3])


def brown_dennis(x):
    t = count(20, x) / 5
    return (x[0] + t * x[1] - np.exp(t)) ** 2 + (x[2] + x[3] * np.sin(t) - np.cos(t)) ** 2


OSBORNE_1 = [
    0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.85, 0.818, 0.784, 0.751, 0.718, 0.685, 0.658, 0.628, 0.603, 0.58,
    0.558, 0.538, 0.522, 0.506, 0.49, 0.478, 0.467, 0.457, 0.448, 0.438, 0.431, 0.424, 0.42, 0.414, 0.411, 0.406,
]  # fmt: skip


def osborne_1(x):
    t = 10 * (count(33, x) - 1)
    return column(OSBORNE_1, x) - (x[0] + x[1] * np.exp(-t * x[3]) + x[2] * np.exp(-t * x[4]))


def biggs(x):
    t = 0.1 * count(13, x)
    y = np.exp(-t) - 5 * np.exp(-10 * t) + 3 * np.exp(-4 * t)
    return x[2] * np.exp(-t * x[0]) - x[3] * np.exp(-t * x[1]) + x[5] * np.exp(-t * x[4]) - y


OSBORNE_2 = [
    1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608, 0.655, 0.616, 0.606,
    0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661, 0.612, 0.558, 0.533, 0.495, 0.5, 0.423, 0.395,
    0.375, 0.372, 0.391, 0.396, 0.405, 0.428, 0.429, 0.523, 0.562, 0.607, 0.653, 0.672, 0.708, 0.633, 0.668, 0.645,
    0.632, 0.591, 0.559, 0.597, 0.625, 0.739, 0.71, 0.729, 0.72, 0.636, 0.581, 0.428, 0.292, 0.162, 0.098, 0.054,
]  # fmt: skip


def osborne_2(x):
    t = (count(65, x) - 1) / 10
    bumps = sum(x[j] * np.exp(-((t - x[j + 7]) ** 2) * x[j + 4]) for j in (1, 2, 3))
    return column(OSBORNE_2, x) - (x[0] * np.exp(-t * x[4]) + bumps)


def watson(x):
    t = count(29, x) / 29
    p = dp = 0
    for xj in x[::-1]:
        p, dp = xj + t * p, p + t * dp
    return np.concatenate([dp - p * p - 1, stacked(x[0], x[1] - x[0] * x[0] - 1)])


def extended_rosenbrock(x):
    r = np.empty_like(x)
    r[::2] = 10 * (x[1::2] - x[::2] ** 2)
    r[1::2] = 1 - x[::2]
    return r


def extended_powell_singular(x):
    return np.concatenate([powell_singular(x[i : i + 4]) for i in range(0, len(x), 4)])


def penalty_1(x):
    return np.concatenate([np.sqrt(1e-5) * (x - 1), [np.sum(x * x, axis=0) - 0.25]])


def penalty_2(x):
    n = len(x)
    power = np.exp(x / 10)
    i = count(n, x)[1:]
    y = np.exp(i / 10) + np.exp((i - 1) / 10)
    root = np.sqrt(1e-5)
    last = np.sum((n + 1 - count(n, x)) * x * x, axis=0) - 1
    return np.concatenate(
        [[x[0] - 0.2], root * (power[1:] + power[:-1] - y), root * (power[1:] - np.exp(-0.1)), [last]]
    )


def variably_dimensioned(x):
    s = np.sum(count(len(x), x) * (x - 1), axis=0)
    return np.concatenate([x - 1, [s, s * s]])


def trigonometric(x):
    n = len(x)
    return n - np.sum(np.cos(x), axis=0) + count(n, x) * (1 - np.cos(x)) - np.sin(x)


def brown_almost_linear(x):
    return np.concatenate([x[:-1] + np.sum(x, axis=0) - (len(x) + 1), [np.prod(x, axis=0) - 1]])


def between_zeros(x):
    none = np.zeros_like(x[:1])
    return np.concatenate([none, x, none])


def discrete_boundary_value(x):
    n = len(x)
    h = 1 / (n + 1)
    y = between_zeros(x)
    return 2 * x - y[:-2] - y[2:] + h * h * (x + h * count(n, x) + 1) ** 3 / 2


def discrete_integral_equation(x):
    n = len(x)
    h = 1 / (n + 1)
    t = h * count(n, x)
    cubes = (x + t + 1) ** 3
    before = np.cumsum(t * cubes, axis=0)
    behind = (1 - t) * cubes
    behind = np.sum(behind, axis=0) - np.cumsum(behind, axis=0)
    return x + h * ((1 - t) * before + t * behind) / 2


def broyden_tridiagonal(x):
    y = between_zeros(x)
    return (3 - 2 * x) * x - y[:-2] - 2 * y[2:] + 1


def broyden_banded(x):
    n = len(x)
    near = [sum(x[j] * (1 + x[j]) for j in range(max(0, i - 5), min(n, i + 2)) if j != i) for i in range(n)]
    return x * (2 + 5 * x * x) + 1 - stacked(*near)


def linear_full_rank(x):
    s = 0.1 * np.sum(x, axis=0)
    return np.concatenate([x, np.zeros_like(x)]) - s - 1


def linear_rank_1(x):
    return count(20, x) * np.sum(count(len(x), x) * x, axis=0) - 1


def linear_rank_1_with_zeros(x):
    s = np.sum((count(len(x), x) * x)[1:-1], axis=0)
    factors = np.arange(20.0)
    factors[-1] = 0
    return column(factors, x) * s - 1


def chebyquad(x):
    t = 2 * x - 1
    before, last = np.ones_like(x), t
    r = []
    for i in range(1, len(x) + 1):
        r.append(np.mean(last, axis=0) + (1 / (i * i - 1) if i % 2 == 0 else 0))
        before, last = last, 2 * t * last - before
    return stacked(*r)


J = np.arange(1.0, 11)
BOUNDARY = J / 11 * (J / 11 - 1)
PROBLEMS = [
    (rosenbrock, [-1.2, 1]),
    (freudenstein_roth, [0.5, -2]),
    (powell_badly_scaled, [0, 1]),
    (brown_badly_scaled, [1, 1]),
    (beale, [1, 1]),
    (jennrich_sampson, [0.3, 0.4]),
    (helical_valley, [-1, 0, 0]),
    (bard, [1, 1, 1]),
    (gaussian, [0.4, 1, 0]),
    (meyer, [0.02, 4000, 250]),
    (gulf, [5, 2.5, 0.15]),
    (box, [0, 10, 20]),
    (powell_singular, [3, -1, 0, 1]),
    (wood, [-3, -1, -3, -1]),
    (kowalik_osborne, [0.25, 0.39, 0.415, 0.39]),
    (brown_dennis, [25, 5, -5, -1]),
    (osborne_1, [0.5, 1.5, -1, 0.01, 0.02]),
    (biggs, [1, 2, 1, 1, 1, 1]),
    (osborne_2, [1.3, 0.65, 0.65, 0.7, 0.6, 3, 5, 7, 2, 4.5, 5.5]),
    (watson, [0] * 9),
    (extended_rosenbrock, [-1.2, 1] * 5),
    (extended_powell_singular, [3, -1, 0, 1] * 3),
    (penalty_1, J),
    (penalty_2, [0.5] * 10),
    (variably_dimensioned, 1 - J / 10),
    (trigonometric, [0.1] * 10),
    (brown_almost_linear, [0.5] * 10),
    (discrete_boundary_value, BOUNDARY),
    (discrete_integral_equation, BOUNDARY),
    (broyden_tridiagonal, [-1] * 10),
    (broyden_banded, [-1] * 10),
    (linear_full_rank, [1] * 10),
    (linear_rank_1, [1] * 10),
    (linear_rank_1_with_zeros, [1] * 10),
    (chebyquad, J[:8] / 9),
]
PROBLEMS = [(f, np.array(start, dtype=float)) for f, start in PROBLEMS]

# The minima in the literature, for these dimensions; further ones are local or at infinity.
MINIMA = [
    [0], [0, 48.9842], [0], [0], [0], [124.362], [0], [8.21487e-3, 17.4286], [1.12793e-8], [87.9458], [0], [0], [0],
    [0], [3.07505e-4, 1.02734e-3], [85822.2], [5.46489e-5], [0, 5.65565e-3], [4.01377e-2], [1.39976e-6], [0], [0],
    [7.08765e-5], [2.93660e-4], [0], [0, 2.79506e-5], [0, 1], [0], [0], [0], [0], [10], [4.634146], [6.135135],
    [3.51687e-3],
]  # fmt: skip

STEP = 1e-50


def name(k):
    return PROBLEMS[k - 1][0].__name__.replace("_", "-")


def start(k, factor):
    x = PROBLEMS[k - 1][1]
    if factor == 1:
        return x
    return factor * x if np.any(x) else np.full_like(x, factor)


def jacobians(f, x):
    """Residuals and their Jacobians at places x, an array of n rows with a column for each place."""
    n = len(x)
    r = f(x[:, :, None] + 1j * STEP * np.eye(n)[:, None, :])
    return r[:, :, 0].real, r.imag / STEP


def gradients(f, x):
    """Sums of squares and their gradients at places x."""
    r, j = jacobians(f, x)
    return np.sum(r * r, axis=0), 2 * np.einsum("mp,mpn->np", r, j)


def value_and_gradient(f, x):
    y, g = gradients(f, x[:, None])
    return y[0], g[:, 0]


def hessian(f, x):
    """From exact gradients by differences of the fourth order."""
    n = len(x)
    steps = np.diag(1e-4 * np.maximum(0.1, np.abs(x)))
    shifts = np.concatenate([k * steps for k in (-2, -1, 1, 2)], axis=1)
    _, g = gradients(f, x[:, None] + shifts)
    g = g.reshape(n, 4, n)
    h = (g[:, 0] - g[:, 3] + 8 * (g[:, 2] - g[:, 1])) / (12 * np.diag(steps))
    return 0.5 * (h + h.T)


class Counted:
    """The objective and its derivatives; counts new places."""

    def __init__(self, f):
        self.f, self.evaluations, self.place = f, 0, None

    def at(self, x, compute):
        if self.place is None or not np.array_equal(x, self.place):
            self.place, self.found = x.copy(), compute(x)
            self.evaluations += 1
        return self.found

    def value(self, x):
        return self.at(x, lambda x: np.sum(self.f(x) ** 2))

    def both(self, x):
        return self.at(x, lambda x: value_and_gradient(self.f, x))

    def residuals(self, x):
        return self.at(x, self.f)


OPTIONS = {
    "BFGS": {"gtol": 1e-8, "maxiter": 10000},
    "L-BFGS-B": {"gtol": 1e-8, "ftol": 0, "maxiter": 10000, "maxfun": 100000},
    "CG": {"gtol": 1e-8, "maxiter": 10000},
    "trust-exact": {"gtol": 1e-8, "maxiter": 10000, "max_trust_radius": 1e10},
    "trust-ncg": {"gtol": 1e-8, "maxiter": 10000, "max_trust_radius": 1e10},
    "Nelder-Mead": {"xatol": 1e-8, "fatol": 1e-20, "maxiter": 10000, "maxfev": 100000},
}
METHODS = list(OPTIONS) + ["lm"]


def solve(method, f, x):
    """The place, whether the search says that it has converged, steps, evaluations, and its message."""
    counted = Counted(f)
    if method == "lm":

        def jacobian(x):
            return jacobians(f, x[:, None])[1][:, 0, :]

        found = least_squares(
            counted.residuals, x, jac=jacobian, method="lm", ftol=1e-14, xtol=1e-14, gtol=1e-12, max_nfev=10000
        )
        return found.x, found.status > 0, found.njev or 0, counted.evaluations, found.message
    if method == "Nelder-Mead":
        found = minimize(counted.value, x, method=method, options=OPTIONS[method])
    else:
        more = {"hess": lambda x: hessian(f, x)} if method.startswith("trust") else {}
        value, slope = lambda x: counted.both(x)[0], lambda x: counted.both(x)[1]
        found = minimize(value, x, jac=slope, method=method, options=OPTIONS[method], **more)
    return found.x, found.success, found.nit, counted.evaluations, found.message


def run(method, k, factor):
    f, x = PROBLEMS[k - 1][0], start(k, factor)
    try:
        x, good, steps, evaluations, message = solve(METHODS[method - 1], f, x)
    except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
        good, steps, evaluations, message = False, 0, 0, f"exception: {error}"
    y = np.sum(f(np.asarray(x, dtype=float)) ** 2)
    place = " ".join(repr(float(xi)) for xi in x)
    message = " ".join(str(message).split())
    print(k, method, factor, repr(float(y)), int(good), steps, evaluations, f"[{place} ]", message, flush=True)


def show_residuals(k):
    f, x = PROBLEMS[k - 1]
    y = x + 0.01 * np.arange(1, len(x) + 1)
    print(k, *(repr(float(v)) for v in [*x, *f(x), *f(y)]))


def main(method, problem=0):
    warnings.filterwarnings("ignore")
    np.seterr(all="ignore")
    for k in [problem] if problem else range(1, len(PROBLEMS) + 1):
        if method == 0:
            show_residuals(k)
        else:
            for factor in (1, 10):
                run(method, k, factor)


if __name__ == "__main__":
    begin = time.process_time()
    main(*map(int, sys.argv[1:]))
    # The time without that of the interpreter's start.
    print(f"seconds {time.process_time() - begin}", file=sys.stderr)
