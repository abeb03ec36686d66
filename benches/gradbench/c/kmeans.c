/* The sum of the squared distances between points and their closest centroids. */
#include "serve.h"

static array points, centroids;
static double result;

static void read_input(void) { points = matrix(); centroids = matrix(); }

static void compute(void) {
  size_t d = points.columns;
  result = 0;
  for (size_t i = 0; i < points.rows; i++) {
    double least = INFINITY;
    for (size_t j = 0; j < centroids.rows; j++) {
      double distance = 0;
      for (size_t k = 0; k < d; k++) {
        double difference = points.at[i * d + k] - centroids.at[j * d + k];
        distance += difference * difference;
      }
      if (distance < least) least = distance;
    }
    result += least;
  }
}

static void show(void) { printf("%.17g\n", result); }
