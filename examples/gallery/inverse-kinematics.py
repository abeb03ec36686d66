# The same with SciPy.
import numpy as np
from scipy.optimize import minimize

links = np.array([1, 0.9, 0.8, 0.6, 0.4])
limit, radius, points = 1.5, 0.6, 24


def hand(angles):
    directions = np.cumsum(angles)
    return np.array([links @ np.cos(directions), links @ np.sin(directions)])


def point(i):
    turn = 2 * np.pi * i / points
    return np.array([2 + radius * np.cos(turn), 1 + radius * np.sin(turn)])


def reach(before, target):
    found = minimize(
        lambda angles: np.sum((angles - before) ** 2),
        before,
        jac=lambda angles: 2 * (angles - before),
        method="SLSQP",
        bounds=[(-limit, limit)] * len(links),
        constraints={"type": "eq", "fun": lambda angles: hand(angles) - target},
        options={"ftol": 1e-10, "maxiter": 1000},
    )
    assert found.success, found.message
    return found.x


angles = np.array([1.2, -0.4, -0.4, -0.4, -0.4])
path = []
for i in range(points + 1):
    angles = reach(angles, point(i))
    path.append(angles)
path = np.array(path)
print(f"shoulder at the end {path[-1, 0]:.4f}")
print(f"elbow at the end    {path[-1, 1]:.4f}")
print(f"largest bend        {np.abs(path).max():.4f}")
print(f"way of the joints   {np.linalg.norm(np.diff(path, axis=0), axis=1).sum():.4f}")
