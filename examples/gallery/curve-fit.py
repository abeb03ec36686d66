# The same fit with SciPy, whose Jacobian is one of differences.
import numpy as np
from scipy.optimize import least_squares
from scipy.stats import t

doses = np.array([0.1, 0.2, 0.5, 1, 2, 3, 5, 8, 12, 20, 35, 60, 100, 200])
effects = np.array([7.7, 0.2, 6.0, 7.1, 13.1, 17.2, 27.3, 42.2, 53.2, 69.9, 79.1, 85.4, 90.2, 88.9])


def effect(p, dose):
    bottom, top, log_half, slope = p
    return bottom + (top - bottom) / (1 + np.exp(-slope * (np.log(dose) - log_half)))


start = [effects.min(), effects.max(), np.log(doses).mean(), 1]
found = least_squares(lambda p: effect(p, doses) - effects, start, method="lm")
print(found.message)
degrees = len(doses) - 4
covariance = 2 * found.cost / degrees * np.linalg.inv(found.jac.T @ found.jac)
width = t.ppf(0.975, degrees)
for name, x, e in zip(
    ["bottom      ", "top         ", "log of half ", "slope       "],
    found.x,
    np.sqrt(np.diag(covariance)),
):
    print(f"{name} {x:.3f} +- {width * e:.3f}")
