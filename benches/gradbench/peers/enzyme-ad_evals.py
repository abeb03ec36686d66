"""Some evals of GradBench in C++, differentiated by Enzyme as the package `enzyme-ad` calls it, from JAX.

Sizes are constants to the compiler. There are no headers: what is needed of the library is declared.
"""

import jax
import jax.numpy as jnp
import numpy as np
from enzyme_ad.jax import cpp_call
from timed import gmm_constant, main

jax.config.update("jax_enable_x64", True)

LSE = """
template <typename V> double log_sum_exp(const V &v, std::size_t n) {
  double most = v[0], sum = 0;
  for (std::size_t i = 1; i < n; i++) most = v[i] > most ? v[i] : most;
  for (std::size_t i = 0; i < n; i++) sum += __builtin_exp(v[i] - most);
  return most + __builtin_log(sum);
}
"""

SOURCES = {
    "lse": LSE
    + """
template <std::size_t n> void f(enzyme::tensor<double, 1> &out, const enzyme::tensor<double, n> &x) {
  out[0] = log_sum_exp(x, n);
}
""",
    "llsq": """
template <std::size_t m> void f(enzyme::tensor<double, 1> &out, const enzyme::tensor<double, m> &x) {
  double sum = 0;
  for (std::size_t i = 0; i < N; i++) {
    double t = -1 + i * 2.0 / (N - 1.0), power = 1;
    double difference = (t > 0) - (t < 0);
    for (std::size_t j = 0; j < m; j++) {
      difference -= x[j] * power;
      power *= t;
    }
    sum += difference * difference;
  }
  out[0] = sum / 2;
}
""",
    "ode": """
template <std::size_t n> void flow(const enzyme::tensor<double, n> &x, const double *y, double *z) {
  z[0] = x[0];
  for (std::size_t i = 1; i < n; i++) z[i] = x[i] * y[i - 1];
}
template <std::size_t n> void f(enzyme::tensor<double, n> &y, const enzyme::tensor<double, n> &x) {
  const double h = 2.0 / S;
  double state[n], k1[n], k2[n], k3[n], k4[n], tried[n];
  for (std::size_t i = 0; i < n; i++) state[i] = 0;
  for (std::size_t step = 0; step < S; step++) {
    flow(x, state, k1);
    for (std::size_t i = 0; i < n; i++) tried[i] = state[i] + h * k1[i] / 2;
    flow(x, tried, k2);
    for (std::size_t i = 0; i < n; i++) tried[i] = state[i] + h * k2[i] / 2;
    flow(x, tried, k3);
    for (std::size_t i = 0; i < n; i++) tried[i] = state[i] + h * k3[i];
    flow(x, tried, k4);
    for (std::size_t i = 0; i < n; i++) state[i] += h * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]) / 6;
  }
  for (std::size_t i = 0; i < n; i++) y[i] = state[i];
}
""",
    "gmm": LSE
    + """
template <std::size_t k, std::size_t d, std::size_t below, std::size_t n>
void f(enzyme::tensor<double, 1> &out, const enzyme::tensor<double, k> &alpha,
       const enzyme::tensor<double, k, d> &mu, const enzyme::tensor<double, k, d> &q,
       const enzyme::tensor<double, k, below> &l, const enzyme::tensor<double, n, d> &x) {
  double diagonals[k][d], logarithms[k], heights[k], centered[d], value = 0, prior = 0;
  for (std::size_t j = 0; j < k; j++) {
    logarithms[j] = 0;
    for (std::size_t i = 0; i < d; i++) {
      diagonals[j][i] = __builtin_exp(q[j][i]);
      logarithms[j] += q[j][i];
    }
  }
  for (std::size_t point = 0; point < n; point++) {
    for (std::size_t j = 0; j < k; j++) {
      double squares = 0;
      for (std::size_t i = 0; i < d; i++) centered[i] = x[point][i] - mu[j][i];
      for (std::size_t row = 0; row < d; row++) {
        double sum = diagonals[j][row] * centered[row];
        for (std::size_t column = 0, at = row - 1; column < row; at += d - 2 - column, column++)
          sum += l[j][at] * centered[column];
        squares += sum * sum;
      }
      heights[j] = alpha[j] + logarithms[j] - squares / 2;
    }
    value += log_sum_exp(heights, k);
  }
  for (std::size_t j = 0; j < k; j++) {
    double squares = 0;
    for (std::size_t i = 0; i < d; i++) squares += diagonals[j][i] * diagonals[j][i];
    for (std::size_t i = 0; i < below; i++) squares += l[j][i] * l[j][i];
    prior += GAMMA * GAMMA / 2 * squares - M * logarithms[j];
  }
  out[0] = value - n * log_sum_exp(alpha, k) - prior;
}
""",
}


def called(eval_name, shape, constants, arguments):
    """The function in C++ with constants in place of their names."""
    source = "".join(f"#define {name} {value}\n" for name, value in constants.items()) + SOURCES[eval_name]
    shapes = [jax.core.ShapedArray(shape, jnp.float64)]
    return cpp_call(*arguments, out_shapes=shapes, source=source, argv=("-O3",))[0]


def of_vector(eval_name, constants, primal_is_vector=False):
    """An eval whose input is a vector and whose functions are a primal and a gradient."""

    def prepare(given, function):
        x = jnp.array(given["x"])
        shape = x.shape if primal_is_vector else (1,)
        values = lambda x: called(eval_name, shape, constants(given), [x])
        chosen = jax.jit(values if function == "primal" else jax.grad(lambda x: values(x)[-1]))

        def show(found):
            return np.asarray(found).tolist() if function == "gradient" or primal_is_vector else float(found[0])

        return lambda: chosen(x).block_until_ready(), show

    return prepare


def gmm(given, function):
    x = jnp.array(given["x"])
    parameters = [jnp.array(given[name]) for name in ("alpha", "mu", "q", "l")]
    constants = {"GAMMA": float(given["gamma"]), "M": float(given["m"])}
    value = lambda *parameters: called("gmm", (1,), constants, [*parameters, x])[0]
    if function == "objective":
        objective = jax.jit(value)
        constant = gmm_constant(given)
        return lambda: objective(*parameters).block_until_ready(), lambda found: float(found) + constant
    gradient = jax.jit(jax.grad(value, argnums=(0, 1, 2, 3)))
    show = lambda found: dict(zip(("alpha", "mu", "q", "l"), (np.asarray(part).tolist() for part in found)))
    return lambda: jax.block_until_ready(gradient(*parameters)), show


main(
    {
        "lse": of_vector("lse", lambda given: {}),
        "llsq": of_vector("llsq", lambda given: {"N": given["n"]}),
        "ode": of_vector("ode", lambda given: {"S": given["s"]}, primal_is_vector=True),
        "gmm": gmm,
    }
)
