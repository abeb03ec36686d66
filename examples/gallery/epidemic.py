import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

cases = np.array([4, 3, 12, 17, 22, 25, 30, 33, 59, 57, 85, 101, 149, 168, 175, 223, 249, 273, 290,
                  284, 247, 219, 222, 203, 160, 136, 122, 109, 89, 67, 58, 45, 52, 40, 27, 18, 17,
                  17, 19, 11, 15, 11, 3, 4])
people = 5000.0
times = np.arange(len(cases) + 1)


def expected(p):
    infection, recovery, ill = np.exp(p)

    def change(t, y):
        falls_ill = infection * y[0] * y[1] / people
        return [-falls_ill, falls_ill - recovery * y[1]]

    s = solve_ivp(change, (0, times[-1]), [people - ill, ill], t_eval=times, rtol=1e-8, atol=1e-8)
    return -np.diff(s.y[0])


def residuals(p):
    return 2 * (np.sqrt(cases) - np.sqrt(expected(p)))


found = least_squares(residuals, np.log([0.5, 0.2, 5]), method="lm")
covariance = np.linalg.inv(found.jac.T @ found.jac)
print(found.message)


def line(text, f):
    p, e = found.x, 1e-6
    slope = np.array([(f(p + d) - f(p - d)) / (2 * e) for d in e * np.eye(3)])
    print(f"{text} {f(p):.3f} ± {np.sqrt(slope @ covariance @ slope):.3f}")


line("infections for each ill person and day", lambda p: np.exp(p[0]))
line("days until recovery", lambda p: np.exp(-p[1]))
line("infections for each ill person in all", lambda p: np.exp(p[0] - p[1]))
line("ill at the beginning", lambda p: np.exp(p[2]))
