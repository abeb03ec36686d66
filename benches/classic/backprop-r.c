// A 2-2-1 sigmoid network learns XOR by gradient descent, the gradient in reverse mode: the C that backprop-r.vlad is
// measured against.
//
// Loops over layers, units and weights whose numbers are data, as in the VLAD program, which works on lists of any
// length: the forward sweep of a sample leaves the activations of each layer on a tape, the backward loop walks the
// layers from the last to the first. Prints the error after a million steps.

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_LAYERS = 8, MOST_WEIGHTS = 64, MOST_ACTIVATIONS = 64, MOST_SAMPLES = 16 };

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

static double sigmoid(double x) { return 1 / (exp(-x) + 1); }

// Leaves the activations of the input and of each layer on the tape, one after another; returns those of the last.
static double *forward(const shape *net, const double *weights, const double *input, double *tape) {
  double *activations = tape;
  memcpy(activations, input, net->sizes[0] * sizeof(double));
  for (int l = 0; l < net->layers; l++) {
    int inputs = net->sizes[l], units = net->sizes[l + 1];
    double *outputs = activations + inputs;
    for (int unit = 0; unit < units; unit++) {
      double activity = 0;
      for (int i = 0; i < inputs; i++) activity += weights[1 + i] * activations[i];
      outputs[unit] = sigmoid(weights[0] + activity);
      weights += 1 + inputs;
    }
    activations = outputs;
  }
  return activations;
}

static double error_on_sample(const shape *net, const double *weights, const data *set, int sample, double *tape) {
  const double *outputs = forward(net, weights, set->inputs[sample], tape);
  double sum = 0;
  for (int i = 0; i < net->sizes[net->layers]; i++) {
    double difference = outputs[i] - set->targets[sample][i];
    sum += difference * difference;
  }
  return 0.5 * sum;
}

// Adds the gradient of the error on one sample to gradient.
static void add_gradient(const shape *net, const double *weights, const data *set, int sample, double *gradient) {
  double tape[MOST_ACTIVATIONS], sensitivities[MOST_ACTIVATIONS], earlier[MOST_ACTIVATIONS];
  const double *outputs = forward(net, weights, set->inputs[sample], tape);
  for (int i = 0; i < net->sizes[net->layers]; i++) sensitivities[i] = outputs[i] - set->targets[sample][i];
  int end = net->weights;
  for (int l = net->layers - 1; l >= 0; l--) {
    int inputs = net->sizes[l], units = net->sizes[l + 1];
    const double *activations = outputs - inputs;
    memset(earlier, 0, inputs * sizeof(double));
    for (int unit = units - 1; unit >= 0; unit--) {
      end -= 1 + inputs;
      double activity_bar = sensitivities[unit] * (outputs[unit] * (1 - outputs[unit]));
      gradient[end] += activity_bar;
      for (int i = 0; i < inputs; i++) {
        gradient[end + 1 + i] += activity_bar * activations[i];
        earlier[i] += activity_bar * weights[end + 1 + i];
      }
    }
    memcpy(sensitivities, earlier, inputs * sizeof(double));
    outputs = activations;
  }
}

static double error_on_data(const shape *net, const double *weights, const data *set) {
  double tape[MOST_ACTIVATIONS], sum = 0;
  for (int sample = set->count - 1; sample >= 0; sample--) sum += error_on_sample(net, weights, set, sample, tape);
  return sum;
}

static void train(const shape *net, double *weights, const data *set, long steps, double eta) {
  for (long step = 0; step < steps; step++) {
    double gradient[MOST_WEIGHTS] = {0};
    for (int sample = set->count - 1; sample >= 0; sample--) add_gradient(net, weights, set, sample, gradient);
    for (int i = 0; i < net->weights; i++) weights[i] -= eta * gradient[i];
  }
}

int main(void) {
  shape net = {2, 9, {2, 2, 1}};
  data exclusive_or = {4, {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, {{0}, {1}, {1}, {0}}};
  double weights[MOST_WEIGHTS] = {0, -.284227, 1.16054, 0, .617194, 1.30467, 0, -.084395, .648461};
  train(&net, weights, &exclusive_or, 1000000, .3);
  printf("%.17g\n", error_on_data(&net, weights, &exclusive_or));
  return 0;
}
