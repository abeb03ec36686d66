/* Hand tracking: how far points are from a hand. Transformations are four rows of four numbers. */
#include "serve.h"

static array theta, parents, relatives, inverses, positions, weights, triangles, correspondences, points, us;
static double mirror, *absolutes, *transformations, *vertices, *errors;

static void read_input(void) {
  theta = vector();
  parents = vector();
  relatives = matrix();
  inverses = matrix();
  positions = matrix();
  weights = matrix();
  triangles = matrix();
  mirror = next() > 0 ? -1 : 1;
  correspondences = vector();
  points = matrix();
  us = matrix();
  absolutes = room(16 * parents.rows);
  transformations = room(16 * parents.rows);
  vertices = room(3 * positions.rows);
  errors = room(3 * points.rows);
}

static void product(const double *a, const double *b, double *restrict c) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      c[4 * i + j] = 0;
      for (int k = 0; k < 4; k++) c[4 * i + j] += a[4 * i + k] * b[4 * k + j];
    }
}

static void bend(size_t bone, double *t) {
  double x = 0, z = 0;
  if (bone >= 2) {
    size_t finger = (bone - 2) / 4, joint = (bone - 2) % 4;
    const double *angles = theta.at + 6 + 4 * finger;
    if (joint == 0) {
      x = angles[0];
      z = angles[1];
    } else if (joint < 3) {
      x = angles[joint + 1];
    }
  }
  double sx = sin(x), cx = cos(x), sz = sin(z), cz = cos(z);
  double bent[16] = { cz, -(sz * cx), sz * sx, 0, sz, cz * cx, -(cz * sx), 0, 0, sx, cx, 0, 0, 0, 0, 1 };
  for (int i = 0; i < 16; i++) t[i] = bent[i];
}

static void rotation(double *r) {
  const double *a = theta.at;
  double angle = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  double x = a[0] / angle, y = a[1] / angle, z = a[2] / angle, s = sin(angle), c = cos(angle), d = 1 - c;
  double turned[9] = { x * x + (1 - x * x) * c, x * y * d - z * s, x * z * d + y * s,
                       x * y * d + z * s, y * y + (1 - y * y) * c, y * z * d - x * s,
                       x * z * d - y * s, z * y * d + x * s, z * z + (1 - z * z) * c };
  double same[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  for (int i = 0; i < 9; i++) r[i] = angle < 1e-4 ? same[i] : turned[i];
}

static void compute(void) {
  size_t bones = parents.rows;
  double bent[16], relative[16], turn[9];
  for (size_t i = 0; i < bones; i++) {
    bend(i, bent);
    product(relatives.at + 16 * i, bent, relative);
    if (parents.at[i] < 0)
      for (int j = 0; j < 16; j++) absolutes[16 * i + j] = relative[j];
    else
      product(absolutes + 16 * (size_t)parents.at[i], relative, absolutes + 16 * i);
    product(absolutes + 16 * i, inverses.at + 16 * i, transformations + 16 * i);
  }
  rotation(turn);
  for (size_t v = 0; v < positions.rows; v++) {
    double at[3] = { 0 };
    const double *position = positions.at + 4 * v;
    for (size_t bone = 0; bone < bones; bone++) {
      const double *t = transformations + 16 * bone;
      for (int i = 0; i < 3; i++)
        at[i] += weights.at[v * bones + bone] *
                 (t[4 * i] * position[0] + t[4 * i + 1] * position[1] + t[4 * i + 2] * position[2] +
                  t[4 * i + 3] * position[3]);
    }
    at[0] *= mirror;
    for (int i = 0; i < 3; i++)
      vertices[3 * v + i] =
        turn[3 * i] * at[0] + turn[3 * i + 1] * at[1] + turn[3 * i + 2] * at[2] + theta.at[3 + i];
  }
  for (size_t p = 0; p < points.rows; p++) {
    size_t c = (size_t)correspondences.at[p];
    for (int i = 0; i < 3; i++) {
      double place = vertices[3 * c + i];
      if (us.rows > 0) {
        const double *corners = triangles.at + 3 * c, *u = us.at + 2 * p;
        place = u[0] * vertices[3 * (size_t)corners[0] + i] + u[1] * vertices[3 * (size_t)corners[1] + i] +
                (1 - u[0] - u[1]) * vertices[3 * (size_t)corners[2] + i];
      }
      errors[3 * p + i] = points.at[3 * p + i] - place;
    }
  }
}

static void show(void) {
  for (size_t i = 0; i < 3 * points.rows; i++) printf("%.17g\n", errors[i]);
}
