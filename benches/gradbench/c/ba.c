/* Bundle adjustment: the errors of all observations. */
#include "serve.h"

enum { CAMERA = 11 };

static size_t n, m, p;
static double *cameras, *points, *weights, *features, *errors, *weight_errors;

static double *copies(size_t count, size_t size, const double *of) {
  double *all = room(count * size);
  for (size_t i = 0; i < count * size; i++) all[i] = of[i % size];
  return all;
}

static void read_input(void) {
  n = (size_t)next();
  m = (size_t)next();
  p = (size_t)next();
  cameras = copies(n, CAMERA, vector().at);
  points = copies(m, 3, vector().at);
  double weight = next();
  weights = copies(p, 1, &weight);
  features = copies(p, 2, vector().at);
  errors = room(2 * p);
  weight_errors = room(p);
}

static void cross(const double *a, const double *b, double *c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void rotate(const double *axis, const double *x, double *y) {
  double squared = dot(axis, axis), w[3], c[3];
  if (squared == 0) {
    cross(axis, x, c);
    for (int i = 0; i < 3; i++) y[i] = x[i] + c[i];
    return;
  }
  double angle = sqrt(squared), cosine = cos(angle), sine = sin(angle);
  for (int i = 0; i < 3; i++) w[i] = axis[i] / angle;
  cross(w, x, c);
  double along = dot(w, x) * (1 - cosine);
  for (int i = 0; i < 3; i++) y[i] = cosine * x[i] + sine * c[i] + along * w[i];
}

static void reproject(const double *camera, const double *point, double weight, const double *feature, double *error) {
  double x[3], y[3];
  for (int i = 0; i < 3; i++) x[i] = point[i] - camera[3 + i];
  rotate(camera, x, y);
  double u = y[0] / y[2], v = y[1] / y[2], squared = u * u + v * v;
  double distortion = 1 + camera[9] * squared + camera[10] * squared * squared;
  error[0] = weight * (u * distortion * camera[6] + camera[7] - feature[0]);
  error[1] = weight * (v * distortion * camera[6] + camera[8] - feature[1]);
}

static void compute(void) {
  for (size_t i = 0; i < p; i++)
    reproject(cameras + i % n * CAMERA, points + i % m * 3, weights[i], features + 2 * i, errors + 2 * i);
  for (size_t i = 0; i < p; i++) weight_errors[i] = 1 - weights[i] * weights[i];
}

static void show(void) { printf("%.17g\n%.17g\n%.17g\n", errors[0], errors[1], weight_errors[0]); }
