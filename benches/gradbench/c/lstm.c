/* The loss of a recurrent network of LSTM cells with diagonal weights. */
#include "serve.h"

static array parameters, extra, start, sequence;
static double result, *state, *output;

static void read_input(void) {
  parameters = matrix();
  extra = matrix();
  start = matrix();
  sequence = matrix();
  state = room(start.rows * start.columns);
  output = room(start.columns);
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void layer(size_t b, const double *w, const double *bias, double *hidden, double *cell, const double *in) {
  for (size_t i = 0; i < b; i++) {
    double forget_gate = sigmoid(in[i] * w[i] + bias[i]);
    double in_gate = sigmoid(hidden[i] * w[b + i] + bias[b + i]);
    double out_gate = sigmoid(in[i] * w[2 * b + i] + bias[2 * b + i]);
    double change = tanh(hidden[i] * w[3 * b + i] + bias[3 * b + i]);
    cell[i] = cell[i] * forget_gate + in_gate * change;
    hidden[i] = out_gate * tanh(cell[i]);
  }
}

static void compute(void) {
  size_t b = start.columns, layers = start.rows / 2;
  double total = 0;
  for (size_t i = 0; i < start.rows * b; i++) state[i] = start.at[i];
  for (size_t t = 0; t + 1 < sequence.rows; t++) {
    const double *in = output, *gold = sequence.at + (t + 1) * b;
    for (size_t i = 0; i < b; i++) output[i] = sequence.at[t * b + i] * extra.at[i];
    for (size_t j = 0; j < layers; j++) {
      double *hidden = state + 2 * j * b;
      layer(b, parameters.at + 8 * j * b, parameters.at + (8 * j + 4) * b, hidden, hidden + b, in);
      in = hidden;
    }
    double sum = 2;
    for (size_t i = 0; i < b; i++) {
      output[i] = in[i] * extra.at[b + i] + extra.at[2 * b + i];
      sum += exp(output[i]);
    }
    double norm = log(sum);
    for (size_t i = 0; i < b; i++) total += gold[i] * (output[i] - norm);
  }
  result = -(total / ((sequence.rows - 1) * b));
}

static void show(void) { printf("%.17g\n", result); }
