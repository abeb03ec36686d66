// A 2-2-1 sigmoid network learns XOR by gradient descent, the gradient in forward mode: the C that backprop-f.vlad is
// measured against.
//
// Loops over layers, units and weights whose numbers are data, as in the VLAD program, which works on lists of any
// length. Every number carries its derivatives with respect to all weights, so the network runs once for a gradient.
// Prints the error after a million steps.

#include <math.h>
#include <stdio.h>

enum { MOST_LAYERS = 8, MOST_UNITS = 16, MOST_WEIGHTS = 9, MOST_SAMPLES = 16 };

// Layer l maps sizes[l] activations to sizes[l + 1]. The weights of a unit are its bias and one for each input; units
// and layers follow one another.
typedef struct {
  int layers, weights;
  int sizes[MOST_LAYERS + 1];
} shape;

typedef struct {
  int count;
  double inputs[MOST_SAMPLES][2], targets[MOST_SAMPLES][1];
} data;

typedef struct {
  double value;
  double tangents[MOST_WEIGHTS];
} dual;

static dual sigmoid(const shape *net, dual x) {
  dual y = {1 / (exp(-x.value) + 1), {0}};
  double slope = y.value * (1 - y.value);
  for (int i = 0; i < net->weights; i++) y.tangents[i] = slope * x.tangents[i];
  return y;
}

// The error on one sample, with the network run on dual numbers.
static dual error_on_sample(const shape *net, const dual *weights, const data *set, int sample) {
  dual activations[MOST_UNITS], outputs[MOST_UNITS];
  for (int i = 0; i < net->sizes[0]; i++) activations[i] = (dual){set->inputs[sample][i], {0}};
  for (int l = 0; l < net->layers; l++) {
    int inputs = net->sizes[l], units = net->sizes[l + 1];
    for (int unit = 0; unit < units; unit++) {
      dual activity = weights[0];
      for (int i = 0; i < inputs; i++) {
        const dual *weight = &weights[1 + i], *input = &activations[i];
        activity.value += weight->value * input->value;
        for (int j = 0; j < net->weights; j++)
          activity.tangents[j] += weight->tangents[j] * input->value + weight->value * input->tangents[j];
      }
      outputs[unit] = sigmoid(net, activity);
      weights += 1 + inputs;
    }
    for (int unit = 0; unit < units; unit++) activations[unit] = outputs[unit];
  }
  dual sum = {0, {0}};
  for (int i = 0; i < net->sizes[net->layers]; i++) {
    double difference = activations[i].value - set->targets[sample][i];
    sum.value += 0.5 * difference * difference;
    for (int j = 0; j < net->weights; j++) sum.tangents[j] += difference * activations[i].tangents[j];
  }
  return sum;
}

static dual error_on_data(const shape *net, const double *weights, const data *set) {
  dual variables[MOST_WEIGHTS];
  for (int i = 0; i < net->weights; i++) {
    variables[i] = (dual){weights[i], {0}};
    variables[i].tangents[i] = 1;
  }
  dual sum = {0, {0}};
  for (int sample = set->count - 1; sample >= 0; sample--) {
    dual error = error_on_sample(net, variables, set, sample);
    sum.value += error.value;
    for (int i = 0; i < net->weights; i++) sum.tangents[i] += error.tangents[i];
  }
  return sum;
}

static void train(const shape *net, double *weights, const data *set, long steps, double eta) {
  for (long step = 0; step < steps; step++) {
    dual error = error_on_data(net, weights, set);
    for (int i = 0; i < net->weights; i++) weights[i] -= eta * error.tangents[i];
  }
}

int main(void) {
  shape net = {2, 9, {2, 2, 1}};
  data exclusive_or = {4, {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, {{0}, {1}, {1}, {0}}};
  double weights[MOST_WEIGHTS] = {0, -.284227, 1.16054, 0, .617194, 1.30467, 0, -.084395, .648461};
  train(&net, weights, &exclusive_or, 1000000, .3);
  printf("%.17g\n", error_on_data(&net, weights, &exclusive_or).value);
  return 0;
}
