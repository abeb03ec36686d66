import numpy as np
from scipy.optimize import minimize

distance, duration, rope, strongest, steps = 10.0, 6.0, 4.0, 1.3, 40
h = duration / steps


def change(s, u):
    _, v, angle, turning = s
    return np.array([v, u, turning, -(9.81 * np.sin(angle) + u * np.cos(angle)) / rope])


def step(s, u):
    k1 = change(s, u)
    k2 = change(s + h / 2 * k1, u)
    k3 = change(s + h / 2 * k2, u)
    k4 = change(s + h * k3, u)
    return s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def path(controls):
    states = [np.zeros(4)]
    for u in controls:
        states.append(step(states[-1], u))
    return np.array(states)


goal = np.array([distance, 0, 0, 0])


def miss(controls):
    return path(controls)[-1] - goal


found = minimize(lambda u: h * u @ u, np.zeros(steps), jac=lambda u: 2 * h * u, method="SLSQP",
                 bounds=[(-strongest, strongest)] * steps,
                 constraints={"type": "eq", "fun": miss})  # its Jacobian by differences
states = path(found.x)
print(found.message)
print(f"energy {found.fun:.3f} m²/s³")
print(f"largest acceleration {np.max(np.abs(found.x)):.3f} m/s²")
print(f"largest angle of the rope {np.degrees(np.max(np.abs(states[:, 2]))):.3f}°")
print(f"fastest {np.max(states[:, 1]):.3f} m/s")
print(f"misses the goal by {1000 * np.linalg.norm(miss(found.x)):.3f} mm")
