# The same with SciPy. The derivative of the least variance is a difference of two searches.
import numpy as np
from scipy.optimize import minimize

demanded, limit = 0.065, 0.5
returns = np.array([0.025, 0.05, 0.07, 0.095, 0.06])
deviations = np.array([0.05, 0.11, 0.16, 0.24, 0.2])
correlations = np.array([
    [1, 0.2, 0.1, 0, -0.1],
    [0.2, 1, 0.5, 0.4, 0.1],
    [0.1, 0.5, 1, 0.8, 0.2],
    [0, 0.4, 0.8, 1, 0.2],
    [-0.1, 0.1, 0.2, 0.2, 1],
])
covariance = correlations * np.outer(deviations, deviations)


def portfolio(demanded):
    return minimize(
        lambda w: w @ covariance @ w,
        np.full(5, 0.2),
        jac=lambda w: 2 * covariance @ w,
        method="SLSQP",
        bounds=[(0, limit)] * 5,
        constraints=[
            {"type": "eq", "fun": lambda w: w.sum() - 1},
            {"type": "ineq", "fun": lambda w: returns @ w - demanded},
        ],
        options={"ftol": 1e-14},
    )


found = portfolio(demanded)
print(found.message)
h = 1e-4
price = (portfolio(demanded + h).fun - portfolio(demanded - h).fun) / (2 * h)
names = ["bonds", "property", "large companies", "small companies", "raw materials"]
names += ["return", "deviation", "price of return"]
for name, x in zip(names, [*found.x, returns @ found.x, np.sqrt(found.fun), price]):
    print(f"{name:15} {x:.4f}")
