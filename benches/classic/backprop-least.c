// The training of backprop-r.c with the network written out: two hidden units, one output, four samples, fixed arrays.

#include <math.h>
#include <stdio.h>

static const double inputs[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
static const double targets[4] = {0, 1, 1, 0};

static double sigmoid(double x) { return 1 / (exp(-x) + 1); }

static double unit(const double w[3], double a, double b) { return sigmoid(w[0] + (w[1] * a + w[2] * b)); }

int main(void) {
  double hidden[2][3] = {{0, -.284227, 1.16054}, {0, .617194, 1.30467}};
  double output[3] = {0, -.084395, .648461};
  for (long step = 0; step < 1000000; step++) {
    double hidden_bar[2][3] = {{0}}, output_bar[3] = {0};
    for (int k = 3; k >= 0; k--) {
      double a = inputs[k][0], b = inputs[k][1];
      double h[2] = {unit(hidden[0], a, b), unit(hidden[1], a, b)};
      double o = unit(output, h[0], h[1]);
      double d = (o - targets[k]) * (o * (1 - o));
      output_bar[0] += d;
      for (int j = 0; j < 2; j++) {
        output_bar[1 + j] += d * h[j];
        double e = d * output[1 + j] * (h[j] * (1 - h[j]));
        hidden_bar[j][0] += e;
        hidden_bar[j][1] += e * a;
        hidden_bar[j][2] += e * b;
      }
    }
    for (int i = 0; i < 3; i++) {
      hidden[0][i] -= .3 * hidden_bar[0][i];
      hidden[1][i] -= .3 * hidden_bar[1][i];
      output[i] -= .3 * output_bar[i];
    }
  }
  double sum = 0;
  for (int k = 3; k >= 0; k--) {
    double a = inputs[k][0], b = inputs[k][1];
    double o = unit(output, unit(hidden[0], a, b), unit(hidden[1], a, b));
    sum += .5 * ((o - targets[k]) * (o - targets[k]));
  }
  printf("%.17g\n", sum);
  return 0;
}
