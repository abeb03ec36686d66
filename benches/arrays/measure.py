#!/usr/bin/env python3
"""Array programs compiled by vlad, NumPy by hand and JAX on the CPU, one thread each, alternating in one run.

usage: measure.py VLAD [NAME...]

Installs NumPy and JAX by pip into target/arrays, compiles the programs beside this file with the compiler VLAD, checks that all
agree, and prints a table in Markdown: the median time of each in milliseconds, and the ratio of vlad's to the best of the others.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent.parent / "target" / "arrays"
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "1",
}


def with_packages(arguments):
    """Runs this file again with an interpreter that has the packages."""
    python = TARGET / "python" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", TARGET / "python"], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy", "jax"], check=True)
    pinned = ["taskset", "-c", "0"] if os.path.exists("/usr/bin/taskset") else []
    command = [*pinned, str(python), __file__, *arguments]
    os.execvpe(command[0], command, os.environ | ONE_THREAD | {"VLAD_ARRAYS": "1"})


def compiled(vlad, name):
    """The Python module of a program."""
    output = TARGET / name
    subprocess.run([vlad, "build", "--lib", "shared", HERE / f"{name}.vlad", "-o", output], check=True)
    sys.path.insert(0, str(TARGET))
    return __import__(name)


def medians(contestants, seconds=1.5):
    """The median times of functions without arguments, called by turns."""
    times = [[] for _ in contestants]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 5:
        for place, run in enumerate(contestants):
            start = time.perf_counter()
            run()
            times[place].append(time.perf_counter() - start)
    return [1000 * statistics.median(found) for found in times]


def main(vlad, wanted):
    import jax
    import jax.numpy as jnp
    import jax.scipy.linalg as jsl
    import numpy as np

    rng = np.random.default_rng(1)

    def ready(f):
        compiled_f = jax.jit(f)
        return lambda *args: jax.block_until_ready(compiled_f(*args))

    rows = []

    def compare(name, vlad_run, numpy_run, jax_run):
        if wanted and not any(word in name for word in wanted):
            return
        runs = {"vlad": vlad_run, "NumPy": numpy_run, "JAX": jax_run}
        runs = {who: run for who, run in runs.items() if run}
        numbers = {who: np.concatenate([np.ravel(np.asarray(x)) for x in flat(run())]) for who, run in runs.items()}
        scale = max(1e-300, float(np.max(np.abs(numbers["vlad"]))))
        for who, found in numbers.items():
            error = float(np.max(np.abs(found - numbers["vlad"]))) / scale
            if not error < 1e-7:
                sys.exit(f"{name}: {who} differs by {error}")
        found = dict(zip(runs, medians(list(runs.values()))))
        best = min(found[who] for who in runs if who != "vlad")
        cells = [f"{found[who]:.3f}" if who in found else "" for who in ["vlad", "NumPy", "JAX"]]
        rows.append([name, *cells, f"{found['vlad'] / best:.2f}"])
        print("| " + " | ".join(rows[-1]) + " |", flush=True)

    def flat(x):
        return [y for part in x for y in flat(part)] if isinstance(x, (tuple, list)) else [x]

    print("| | vlad | NumPy | JAX | ratio to the best |\n|---|---|---|---|---|")
    library = compiled(vlad, "products")
    for n in [300, 1000]:
        a, b = rng.standard_normal((n, n)), rng.standard_normal((n, n))
        v = rng.standard_normal(n)
        ja, jb, jv = jnp.asarray(a), jnp.asarray(b), jnp.asarray(v)
        multiply = ready(lambda a, b: a @ b)
        compare(f"matmul {n}", lambda: library.product(a, b), lambda: a @ b, lambda: multiply(ja, jb))

        def by_hand():
            c = a @ b
            return 0.5 * np.vdot(c, c), c @ b.T, a.T @ c

        g = ready(jax.value_and_grad(lambda a, b: 0.5 * jnp.sum((a @ b) ** 2), argnums=(0, 1)))
        compare(f"matmul {n}, gradient", lambda: library.product_loss_gradient(a, b), by_hand, lambda: g(ja, jb))
        apply = ready(lambda a, v: a @ v)
        compare(f"matvec {n}", lambda: library.applied(a, v), lambda: a @ v, lambda: apply(ja, jv))

        def by_hand_v():
            c = a @ v
            return 0.5 * (c @ c), np.outer(c, v), c @ a

        gv = ready(jax.value_and_grad(lambda a, v: 0.5 * jnp.sum((a @ v) ** 2), argnums=(0, 1)))
        compare(f"matvec {n}, gradient", lambda: library.applied_loss_gradient(a, v), by_hand_v, lambda: gv(ja, jv))
    for n in [400, 1000]:
        a = rng.standard_normal((n, n)) + 3 * np.sqrt(n) * np.eye(n)
        s = a @ a.T
        b = rng.standard_normal(n)
        ja, js, jb = jnp.asarray(a), jnp.asarray(s), jnp.asarray(b)
        factor = ready(jnp.linalg.cholesky)
        compare(f"Cholesky {n}", lambda: library.factor(s), lambda: np.linalg.cholesky(s), lambda: factor(js))
        g = ready(jax.value_and_grad(lambda s: 0.5 * jnp.sum(jnp.linalg.cholesky(s) ** 2)))
        compare(f"Cholesky {n}, gradient", lambda: library.factor_loss_gradient(s), None, lambda: g(js))
        solve = ready(jnp.linalg.solve)
        compare(f"linear-solve {n}", lambda: library.solved(a, b), lambda: np.linalg.solve(a, b), lambda: solve(ja, jb))

        def by_hand_s():
            x = np.linalg.solve(a, b)
            z = np.linalg.solve(a.T, x)
            return 0.5 * (x @ x), -np.outer(z, x), z

        gs = ready(jax.value_and_grad(lambda a, b: 0.5 * jnp.sum(jnp.linalg.solve(a, b) ** 2), argnums=(0, 1)))
        compare(f"linear-solve {n}, gradient", lambda: library.solved_loss_gradient(a, b), by_hand_s, lambda: gs(ja, jb))

    n = 400
    x = np.sort(rng.uniform(0, 10, n))
    y = np.sin(x) + 0.1 * rng.standard_normal(n)
    jx, jy = jnp.asarray(x), jnp.asarray(y)

    def likelihood(p, x, y):
        d = x[:, None] - x[None, :]
        k = jnp.exp(p[0]) * jnp.exp(-0.5 * d * d / jnp.exp(2 * p[1]))
        l = jnp.linalg.cholesky(k + (jnp.exp(p[2]) + 1e-8) * jnp.eye(n))
        z = jsl.solve_triangular(l, y, lower=True)
        return 0.5 * (z @ z) + jnp.sum(jnp.log(jnp.diag(l))) + n * 0.9189385332046728

    process = compiled(vlad, "process")
    g = ready(jax.value_and_grad(likelihood))
    p = jnp.asarray([0.1, -0.2, -3.0])
    compare("Gaussian process 400, gradient", lambda: process.likelihood_gradient(0.1, -0.2, -3.0, x, y), None,
            lambda: g(p, jx, jy))

    m, n = 5000, 20
    x, w = rng.standard_normal((m, n)), rng.standard_normal(n)
    y = (rng.uniform(size=m) < 0.5).astype(float)
    jx, jy, jw = jnp.asarray(x), jnp.asarray(y), jnp.asarray(w)

    def loss(w, x, y):
        z = x @ w
        return (jnp.sum(jax.nn.softplus(z) - y * z) + 0.5 * (w @ w)) / m

    def loss_by_hand():
        z = x @ w
        e = np.exp(-np.abs(z))
        value = (np.sum(np.maximum(z, 0) + np.log1p(e) - y * z) + 0.5 * (w @ w)) / m
        p = np.where(z < 0, e, 1) / (1 + e)
        return value, (x.T @ (p - y) + w) / m

    def curvature_by_hand():
        z = x @ w
        e = np.exp(-np.abs(z))
        q = e / (1 + e) ** 2
        return (x.T @ (q[:, None] * x) + np.eye(n)) / m

    logistic = compiled(vlad, "logistic")
    g = ready(jax.value_and_grad(loss))
    compare("logistic regression 5000 x 20, gradient", lambda: logistic.loss_gradient(w, x, y), loss_by_hand,
            lambda: g(jw, jx, jy))
    h = ready(jax.hessian(loss))
    compare("logistic regression 5000 x 20, Hessian", lambda: logistic.curvature(w, x, y), curvature_by_hand,
            lambda: h(jw, jx, jy))

    sizes = (784, 128, 10)
    w1, w2 = (0.05 * rng.standard_normal((sizes[k + 1], sizes[k])) for k in (0, 1))
    b1, b2 = np.zeros(sizes[1]), np.zeros(sizes[2])
    xs, labels = rng.uniform(size=(128, sizes[0])), rng.integers(0, 10, 128).astype(float)

    def batch_loss(p, xs, labels):
        w1, b1, w2, b2 = p
        s = jnp.tanh(xs @ w1.T + b1) @ w2.T + b2
        return jnp.mean(jax.nn.logsumexp(s, axis=1) - jnp.take_along_axis(s, labels[:, None], 1)[:, 0])

    def train(p, xs, labels):
        step = lambda _, p: jax.tree.map(lambda x, d: x - 0.1 * d, p, jax.grad(batch_loss)(p, xs, labels))
        return jax.lax.fori_loop(0, 20, step, p)

    def train_by_hand():
        a, b, c, d = w1, b1, w2, b2
        rows = np.arange(len(xs))
        chosen = labels.astype(int)
        for _ in range(20):
            hidden = np.tanh(xs @ a.T + b)
            s = hidden @ c.T + d
            e = np.exp(s - s.max(axis=1, keepdims=True))
            ds = e / e.sum(axis=1, keepdims=True)
            ds[rows, chosen] -= 1
            ds /= len(xs)
            dh = (ds @ c) * (1 - hidden * hidden)
            a, b, c, d = a - 0.1 * (dh.T @ xs), b - 0.1 * dh.sum(0), c - 0.1 * (ds.T @ hidden), d - 0.1 * ds.sum(0)
        return a, b, c, d

    network = compiled(vlad, "network")
    t = ready(train)
    p = tuple(jnp.asarray(x) for x in (w1, b1, w2, b2))
    jl = jnp.asarray(labels.astype(int))
    compare("network 784-128-10, 20 steps", lambda: network.trained(w1, b1, w2, b2, xs, labels), train_by_hand,
            lambda: t(p, jnp.asarray(xs), jl))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if "VLAD_ARRAYS" not in os.environ:
        with_packages(sys.argv[1:])
    main(sys.argv[1], sys.argv[2:])
