"""Some evals of GradBench in CasADi: graphs of matrices, the derivatives of which CasADi makes, compiled by it as C."""

import casadi as ca
import numpy as np
from timed import gmm_constant, main

COMPILED = {
    "jit": True,
    "compiler": "shell",
    "jit_options": {"compiler": "cc", "flags": ["-O3", "-march=native"], "verbose": False},
}


def prepared(arguments, results, values):
    """A call of the compiled function of these results, and a way to their numbers."""
    function = ca.Function("f", arguments, [ca.densify(result) for result in results], COMPILED)
    buffer, call = function.buffer()
    inputs = [np.asfortranarray(value, dtype=float) for value in values]
    outputs = [np.zeros(function.size_out(i), order="F") for i in range(len(results))]
    for i, value in enumerate(inputs):
        buffer.set_arg(i, memoryview(value.reshape(-1, order="F")))
    for i, value in enumerate(outputs):
        buffer.set_res(i, memoryview(value.reshape(-1, order="F")))

    def run():
        call()
        return outputs

    # The buffers live as long as the call.
    run.kept = (buffer, inputs, function)
    return run


def of_vector(objective):
    """An eval whose input is a vector and whose functions are a primal and a gradient."""

    def prepare(given, function):
        x = ca.MX.sym("x", len(given["x"]))
        value = objective(x, given)
        if function == "primal":
            scalar = value.is_scalar()
            show = lambda out: out[0].item() if scalar else out[0].ravel().tolist()
            return prepared([x], [value], [given["x"]]), show
        gradient = ca.gradient(value[-1], x)
        return prepared([x], [gradient], [given["x"]]), lambda out: out[0].ravel().tolist()

    return prepare


def lse(x, given):
    most = ca.mmax(x)
    return ca.log(ca.sum1(ca.exp(x - most))) + most


def llsq(x, given):
    n = given["n"]
    t = -1 + ca.DM(np.arange(n)) * 2 / (n - 1)
    value = ca.MX.zeros(n)
    for part in reversed(ca.vertsplit(x)):
        value = value * t + part
    return ca.sumsqr(ca.sign(t) - value) / 2


def ode(x, given):
    n, steps = len(given["x"]), given["s"]
    h = 2 / steps
    start = ca.MX.sym("start", n)
    x_of_step = ca.MX.sym("x", n)
    flow = lambda y: x_of_step * ca.vertcat(1, y[:-1])
    k1 = flow(start)
    k2 = flow(start + h * k1 / 2)
    k3 = flow(start + h * k2 / 2)
    k4 = flow(start + h * k3)
    step = ca.Function("step", [start, x_of_step], [start + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6])
    return step.fold(steps)(ca.DM.zeros(n), x)


def gmm(given, function):
    d, k, n = given["d"], given["k"], given["n"]
    alpha, mu = ca.MX.sym("alpha", k), ca.MX.sym("mu", d, k)
    q, l = ca.MX.sym("q", d, k), ca.MX.sym("l", d * (d - 1) // 2, k)
    x = ca.DM(np.array(given["x"]).T)
    below = ca.Sparsity.lower(d)
    strictly = ca.Sparsity(d, d, *strictly_lower(d))
    heights = []
    for j in range(k):
        triangle = ca.diag(ca.exp(q[:, j])) + (ca.MX(strictly, l[:, j]) if d > 1 else 0)
        rotated = ca.mtimes(ca.project(triangle, below), x - ca.repmat(mu[:, j], 1, n))
        heights.append(alpha[j] + ca.sum1(q[:, j]) - ca.sum1(rotated * rotated) / 2)
    heights = ca.vertcat(*heights)
    most = heights[0, :]
    for j in range(1, k):
        most = ca.fmax(most, heights[j, :])
    likelihood = ca.sum2(ca.log(ca.sum1(ca.exp(heights - ca.repmat(most, k, 1)))) + most)
    squares = ca.sumsqr(ca.exp(q)) + ca.sumsqr(l)
    prior = given["gamma"] ** 2 / 2 * squares - given["m"] * ca.sum1(ca.sum2(q))
    value = likelihood - n * ca.logsumexp(alpha) - prior + gmm_constant(given)
    parameters = [alpha, mu, q, l]
    values = [np.array(given["alpha"])] + [np.array(given[name]).reshape(k, -1).T for name in ("mu", "q", "l")]
    if function == "objective":
        return prepared(parameters, [value], values), lambda out: out[0].item()
    gradients = [ca.gradient(value, parameter) for parameter in parameters]

    def show(out):
        return {"alpha": out[0].ravel().tolist()} | dict(zip(("mu", "q", "l"), (part.T.tolist() for part in out[1:])))

    return prepared(parameters, gradients, values), show


def strictly_lower(d):
    """The columns and rows of what is below a diagonal."""
    starts = np.concatenate([[0], np.cumsum(np.arange(d - 1, -1, -1))]).tolist()
    return starts, [row for column in range(d) for row in range(column + 1, d)]


main({"lse": of_vector(lse), "llsq": of_vector(llsq), "ode": of_vector(ode), "gmm": gmm})
