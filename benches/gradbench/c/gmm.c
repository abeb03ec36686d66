/* The logarithm of the posterior probability of a mixture of normal distributions. */
#include "serve.h"

static array alpha, mu, q, l, x;
static double m, gamma_, result, *diagonals, *logarithms, *centered, *heights;

static void read_input(void) {
  alpha = vector();
  mu = matrix();
  q = matrix();
  l = matrix();
  x = matrix();
  m = next();
  gamma_ = next();
  diagonals = room(q.rows * q.columns);
  logarithms = room(q.rows);
  centered = room(q.columns);
  heights = room(q.rows);
}

static double log_sum_exp(size_t n, const double *v) {
  double largest = v[0], sum = 0;
  for (size_t i = 1; i < n; i++) largest = v[i] > largest ? v[i] : largest;
  for (size_t i = 0; i < n; i++) sum += exp(v[i] - largest);
  return largest + log(sum);
}

static double log_gamma(double d, double x) {
  double sum = 0.25 * d * (d - 1) * log(acos(-1));
  for (double j = 0; j < d; j++) sum += lgamma(x - j / 2);
  return sum;
}

static void compute(void) {
  size_t d = q.columns, k = q.rows;
  double n = d + m + 1, likelihood = 0, prior = 0;
  for (size_t j = 0; j < k; j++) {
    logarithms[j] = 0;
    for (size_t i = 0; i < d; i++) {
      diagonals[j * d + i] = exp(q.at[j * d + i]);
      logarithms[j] += q.at[j * d + i];
    }
  }
  for (size_t point = 0; point < x.rows; point++) {
    for (size_t j = 0; j < k; j++) {
      const double *below = l.at + j * l.columns;
      double squares = 0;
      for (size_t i = 0; i < d; i++) centered[i] = x.at[point * d + i] - mu.at[j * d + i];
      for (size_t row = 0; row < d; row++) {
        double sum = diagonals[j * d + row] * centered[row];
        for (size_t column = 0, at = row - 1; column < row; at += d - 2 - column, column++)
          sum += below[at] * centered[column];
        squares += sum * sum;
      }
      heights[j] = alpha.at[j] + logarithms[j] - squares / 2;
    }
    likelihood += log_sum_exp(k, heights);
  }
  likelihood -= x.rows * (d * 0.5 * log(2 * acos(-1)) + log_sum_exp(k, alpha.at));
  for (size_t j = 0; j < k; j++) {
    double squares = 0;
    for (size_t i = 0; i < d; i++) squares += diagonals[j * d + i] * diagonals[j * d + i];
    for (size_t i = 0; i < l.columns; i++) squares += l.at[j * l.columns + i] * l.at[j * l.columns + i];
    prior += 0.5 * gamma_ * gamma_ * squares - m * logarithms[j];
  }
  result = likelihood + k * (n * d * log(gamma_ / sqrt(2)) - log_gamma(d, n / 2)) - prior;
}

static void show(void) { printf("%.17g\n", result); }
