# The same with SciPy. The search takes differences; the probabilities of the states need a second
# pass, backwards.
import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import norm

observed = np.array([
    1.3, 1.9, 0.9, 1.4, 0.6, 1.2, 1.5, 0.8, 3.1, 2.2, 3.9, 3.4, 2.6, 3.4, 1.7, 2.9, 3.6, 1.1, 0.7,
    1.6, 1.2, 0.4, 1.4, 1.8, 1.0, 0.9, 1.3, 2.1, 0.8, 1.1, 1.7, 0.6, 3.3, 2.4, 4.6, 3.0, 3.8, 2.8,
    1.9, 1.2, 0.7, 1.5, 1.0, 1.3, 0.5, 1.6, 1.1, 2.7, 3.5, 1.8, 4.1, 3.2, 2.5, 0.9, 1.4, 1.2, 0.8,
    1.9, 1.0, 1.3,
])


def densities(p):
    return norm.logpdf(observed[:, None], p[:2], np.exp(p[2:4]))


def transitions(p):
    stay0, stay1 = p[4:]
    return -np.logaddexp(0, [[-stay0, stay0], [stay1, -stay1]])


def forward(p):
    d, t = densities(p), transitions(p)
    a = np.full(2, np.log(0.5))
    rows = []
    for di in d:
        a = di + logsumexp(a[:, None] + t, axis=0)
        rows.append(a)
    return np.array(rows)


def backward(p):
    d, t = densities(p), transitions(p)
    b = np.zeros(2)
    rows = [b]
    for di in d[:0:-1]:
        b = logsumexp(t + di + b, axis=1)
        rows.append(b)
    return np.array(rows[::-1])


start = [observed.min(), observed.max(), 0, 0, 1, 1]
found = minimize(lambda p: -logsumexp(forward(p)[-1]), start, method="BFGS")
print(found.message)
m0, m1, s0, s1, stay0, stay1 = found.x
disturbed = np.exp(forward(found.x) + backward(found.x) + found.fun)[:, 1]
for name, value in [
    ("calm: mean", m0),
    ("      deviation", np.exp(s0)),
    ("      lasts hours", 1 + np.exp(stay0)),
    ("disturbed: mean", m1),
    ("      deviation", np.exp(s1)),
    ("      lasts hours", 1 + np.exp(stay1)),
    ("log likelihood", -found.fun),
    ("disturbed for hours", disturbed.sum()),
]:
    print(f"{name:19} {value:.3f}")
