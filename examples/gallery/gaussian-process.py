# The same with SciPy. The gradient of the search is one of differences.
import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize

xs = np.array([0.25, 0.27, 0.3, 1.29, 1.57, 2.11, 2.25, 2.39, 2.83, 3.59, 4.43, 4.44,
               4.64, 4.94, 5.36, 5.5, 7.65, 7.66, 8.18, 8.48, 8.73, 8.89, 9.19, 9.7])
ys = np.array([-0.41, -0.5, -0.17, -1.09, -0.89, -0.5, -0.16, -0.15, 0.46, 1.15, 1.01, 0.9,
               0.83, 0.58, -0.02, 0.08, 1.11, 1.19, 1.87, 1.47, 1.5, 1.16, 0.71, 0.08])


def kernel(p, a, b):
    length, size, _ = np.exp(p)
    return size**2 * np.exp(-(((a[:, None] - b) / length) ** 2) / 2)


def factor(p):
    return cholesky(kernel(p, xs, xs) + np.exp(2 * p[2]) * np.eye(len(xs)), lower=True)


def surprise(p):
    l = factor(p)
    log_determinant = np.log(np.diag(l)).sum()
    return ys @ cho_solve((l, True), ys) / 2 + log_determinant + len(xs) / 2 * np.log(2 * np.pi)


found = minimize(surprise, [0, 0, -2], method="L-BFGS-B")
print(found.message)
l = factor(found.x)
at = np.array([6.5])
k = kernel(found.x, xs, at)
v = solve_triangular(l, k, lower=True)
mean = k.T @ cho_solve((l, True), ys)
deviation = np.sqrt(kernel(found.x, at, at) - v.T @ v)
length, size, noise = np.exp(found.x)
for name, value in [
    ("length", length),
    ("size", size),
    ("noise", noise),
    ("surprise", found.fun),
    ("prediction", mean[0]),
    ("deviation", deviation[0, 0]),
]:
    print(f"{name:10} {value:.4f}")
