# The same with SciPy. Gradient and Hessian are written by hand.
import numpy as np
from scipy.optimize import minimize

data = np.genfromtxt("classifier.csv", delimiter=",", names=True)
temperature, moisture, y = data["temperature"], data["moisture"], data["germinated"]
penalty = 0.01


def description(t, m):
    scale = lambda x, xs: (x - xs.mean()) / xs.std()
    return np.stack([np.ones_like(t), scale(t, temperature), scale(m, moisture)], axis=-1)


x = description(temperature, moisture)
sigmoid = lambda z: 1 / (1 + np.exp(-z))


def surprise(w):
    z = x @ w
    return np.sum(np.logaddexp(0, z) - y * z) + penalty * w @ w


def gradient(w):
    return x.T @ (sigmoid(x @ w) - y) + 2 * penalty * w


def hessian(w):
    p = sigmoid(x @ w)
    return (x.T * (p * (1 - p))) @ x + 2 * penalty * np.eye(3)


found = minimize(surprise, np.zeros(3), jac=gradient, hess=hessian, method="trust-exact")
print(found.message)
errors = np.sqrt(np.diag(np.linalg.inv(hessian(found.x))))
right = np.mean(np.round(sigmoid(x @ found.x)) == y)
chance = sigmoid(description(np.array(20.0), np.array(30.0)) @ found.x)
names = ["constant", "temperature", "moisture"]
names += ["error of " + n for n in names] + ["share that is right", "chance of a new seed"]
for name, value in zip(names, [*found.x, *errors, right, chance]):
    print(f"{name:20} {value:.3f}")
