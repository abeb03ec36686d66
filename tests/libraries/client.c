// Calls every function of the library from several threads at a time, each with a context of its own, and prints the bits of
// what it gets, one number in a line.

#include "functions.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ROUNDS
#define ROUNDS 20
#endif

enum { THREADS = 4, MOST = 400 };

struct answers {
    double numbers[MOST];
    int count;
};

static void demand(int holds, const char *what, functions_context *context) {
    if (!holds) {
        fprintf(stderr, "%s: %s\n", what, context ? functions_message(context) : "no context");
        exit(1);
    }
}

#define CALL(call) demand((call) == FUNCTIONS_OK, #call, context)

static void add(struct answers *answers, const double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        answers->numbers[answers->count++] = numbers[i];
    }
}

static double number(int k) { return (double)(7 * k % 11) / 4 - 1.1; }

static double *numbers(int count) {
    double *v = malloc(count * sizeof *v);
    for (int i = 0; i < count; i++) {
        v[i] = number(i);
    }
    return v;
}

// Whole numbers, truth values and records.
static void answer_records(functions_context *context, struct answers *answers, double *v) {
    double value, gradient, w[5], matrix[16];
    bool is_less, is_less_or_equal;
    CALL(functions_power_gradient(context, 1.7, 3, FUNCTIONS_OVERWRITE, &value, &gradient));
    add(answers, (double[]){value, gradient}, 2);
    CALL(functions_less(context, 1.5, 1.5, true, &is_less));
    CALL(functions_less(context, 1.5, 1.5, false, &is_less_or_equal));
    add(answers, (double[]){is_less, is_less_or_equal}, 2);
    functions_linear_model m = {v, 5, 0.125}, g = {w, 5, 0}, direction = {v, 5, 0.5};
    CALL(functions_predict(context, m, v, 5, &value));
    add(answers, &value, 1);
    CALL(functions_badness_gradient(context, m, v, 40, 5, v, 40, FUNCTIONS_OVERWRITE, &value, &g));
    add(answers, &value, 1);
    add(answers, w, 5);
    add(answers, &g.bias, 1);
    // Lengths say how much room there is, and then how long the result is.
    double room[8];
    functions_linear_model product = {room, 8, 0};
    CALL(functions_badness_hvp(context, m, v, 40, 5, v, 40, direction, &product));
    demand(product.weights_length == 5, "length", context);
    add(answers, room, 5);
    add(answers, &product.bias, 1);
    functions_layers l = {v, 4, 4, {v, 4, 0.25}, 1.5}, gl = {matrix, 4, 4, {w, 4, 0}, 0};
    functions_point p = {0.5, 1.5}, gp;
    CALL(functions_network_gradient(context, l, p, 2.5, FUNCTIONS_OVERWRITE, &value, &gl, &gp, &gradient));
    add(answers, &value, 1);
    add(answers, matrix, 16);
    add(answers, w, 4);
    add(answers, (double[]){gl.second.bias, gl.scale_up, gp.x, gp.y, gradient}, 5);
    // What is not wanted.
    CALL(functions_network_gradient(context, l, p, 2.5, FUNCTIONS_OVERWRITE, NULL, NULL, &gp, NULL));
    gl.first = NULL;
    CALL(functions_network_gradient(context, l, p, 2.5, FUNCTIONS_ACCUMULATE, NULL, &gl, NULL, NULL));
    demand(gl.second.weights[3] == 2 * answers->numbers[answers->count - 6], "sum", context);
}

static void answer(functions_context *context, struct answers *answers) {
    double *v = numbers(2000), r, out[64], value, gw[5], gb, gm[12], gv[3], gk;
    size_t n, m;
    answers->count = 0;
    CALL(functions_square(context, 1.7, &r));
    add(answers, &r, 1);
    CALL(functions_norm(context, v, 50, &r));
    add(answers, &r, 1);
    CALL(functions_lookup(context, 3, &r));
    add(answers, &r, 1);
    CALL(functions_multiply(context, v, 20, 50, v, 50, out, 64, &n));
    add(answers, out, n);
    CALL(functions_scale(context, 0.3, v, 3, 2, out, 64, &m, &n));
    demand(m == 3 && n == 2, "scale", context);
    add(answers, out, m * n);
    CALL(functions_swap(context, 7.5, v, 3, out, 64, &n, &r));
    add(answers, out, n);
    add(answers, &r, 1);
    CALL(functions_deep(context, 100000, &r));
    add(answers, &r, 1);
    double sums[3];
    CALL(functions_elementary(context, v, 9, &sums[0], &sums[1], &sums[2], out, 64, &n));
    add(answers, sums, 3);
    add(answers, out, n);
    CALL(functions_bubbles(context, 300, &r));
    add(answers, &r, 1);
    CALL(functions_cube(context, 1.7, &r));
    add(answers, &r, 1);
    CALL(functions_loss(context, v, 5, 0.125, v, 40, 5, v, 40, &r));
    add(answers, &r, 1);
    CALL(functions_loss_gradient(context, v, 5, 0.125, v, 40, 5, v, 40, FUNCTIONS_OVERWRITE, &value, gw, &gb));
    add(answers, &value, 1);
    add(answers, gw, 5);
    add(answers, &gb, 1);
    CALL(functions_loss_gradient(context, v, 5, 0.125, v, 40, 5, v, 40, FUNCTIONS_ACCUMULATE, NULL, gw, &gb));
    add(answers, gw, 5);
    add(answers, &gb, 1);
    CALL(functions_energy_gradient(context, v, 4, 3, v, 3, 0.75, FUNCTIONS_OVERWRITE, &value, gm, gv, &gk));
    add(answers, &value, 1);
    add(answers, gm, 12);
    add(answers, gv, 3);
    add(answers, &gk, 1);
    answer_records(context, answers, v);
    free(v);
}

// What goes wrong is said, and the context is good for further calls.
static void fail(functions_context *context) {
    double r, out[2], v[3] = {1, 2, 3};
    size_t n = 0;
    demand(functions_lookup(context, 5, &r) == FUNCTIONS_ERROR_PROGRAM, "no such index", context);
    demand(strstr(functions_message(context), "5 is no index of a vector of length 5") != NULL, "index", context);
    demand(strstr(functions_message(context), "functions.vlad:") != NULL, "place", context);
    demand(functions_refuse(context, -2, &r) == FUNCTIONS_ERROR_PROGRAM, "error", context);
    demand(strstr(functions_message(context), "this is not positive: (-2 1)") != NULL, "text", context);
    demand(functions_deep(context, 1e9, &r) == FUNCTIONS_ERROR_MEMORY, "recursion", context);
    demand(strstr(functions_message(context), "recursion too deep") != NULL, "recursion", context);
    demand(functions_bubbles(context, 1e9, &r) == FUNCTIONS_ERROR_MEMORY, "memory", context);
    demand(strstr(functions_message(context), "out of memory") != NULL, "memory", context);
    demand(functions_swap(context, 1, v, 3, out, 2, &n, &r) == FUNCTIONS_ERROR_ROOM && n == 3, "room", context);
    demand(functions_norm(context, NULL, 2, &r) == FUNCTIONS_ERROR_ARGUMENT, "null", context);
    demand(functions_norm(NULL, v, 3, &r) == FUNCTIONS_ERROR_ARGUMENT, "no context", context);
    double value, gw[3], gb;
    for (int mode = -1; mode <= 2; mode += 3) {
        int code = functions_loss_gradient(context, v, 3, 0.5, v, 1, 3, v, 1, mode, &value, gw, &gb);
        demand(code == FUNCTIONS_ERROR_ARGUMENT, "mode", context);
        demand(strstr(functions_message(context), "there is no mode ") != NULL, "mode", context);
    }
    demand(functions_power(context, 2, INT64_C(9007199254740993), &r) == FUNCTIONS_ERROR_ARGUMENT, "large", context);
    demand(strstr(functions_message(context), "2^53 at most") != NULL, "large", context);
    demand(functions_power(context, 2, INT64_MIN, &r) == FUNCTIONS_ERROR_ARGUMENT, "small", context);
    demand(functions_power(context, 1, 3, &r) == FUNCTIONS_OK, "a number", context);
    functions_linear_model m = {v, 3, 1}, g = {gw, 2, 0};
    demand(functions_badness_gradient(context, m, v, 1, 3, v, 1, FUNCTIONS_OVERWRITE, &r, &g) == FUNCTIONS_ERROR_ARGUMENT,
           "sizes", context);
    demand(strstr(functions_message(context), "another size than that of the argument") != NULL, "sizes", context);
    functions_point point;
    functions_linear_model row = {gw, 1, 0};
    functions_layers all = {NULL, 0, 0, {out, 2, 0}, 0};
    functions_named named = {NULL, 0};
    bool truth;
    demand(functions_corners(context, v, 2, 1, 3, &point, &row, &all, &truth, &named) == FUNCTIONS_ERROR_ROOM, "room", context);
    demand(all.second.weights_length == 3, "length of three", context);
    all = (functions_layers){NULL, 0, 0, {gw, 3, 0}, 0};
    demand(functions_corners(context, v, 2, 1, 3, &point, &row, &all, &truth, &named) == FUNCTIONS_OK, "corners", context);
    demand(all.first_rows == 2 && all.first_columns == 1 && all.second.weights_length == 3, "sizes", context);
    demand(gw[2] == 3 && all.second.bias == 1 && all.scale_up == 2, "a record in a record", context);
    demand(point.x == 3 && point.y == 2 && row.bias == 2 && truth && named.value_length == 1, "parts", context);
    demand(functions_norm(context, NULL, 0, &r) == FUNCTIONS_OK && r == 0, "empty", context);
    demand(functions_multiply(context, NULL, 0, 5, v, 3, NULL, 0, &n) == FUNCTIONS_OK && n == 0, "rows", context);
    demand(functions_norm(context, v, 3, NULL) == FUNCTIONS_OK, "unwanted", context);
    demand(functions_message(context)[0] == 0, "success says nothing", context);
}

static void *work(void *result) {
    functions_options options = {.stack_bytes = 64 << 20, .memory_bytes = 64 << 20};
    functions_context *context = functions_context_new(&options);
    demand(context != NULL, "context", NULL);
    struct answers *answers = result, again;
    answer(context, answers);
    uint64_t objects, bytes, objects_later, bytes_later;
    functions_memory(context, &objects, &bytes);
    for (int round = 1; round < ROUNDS; round++) {
        answer(context, &again);
        demand(again.count == answers->count, "count", context);
        demand(memcmp(again.numbers, answers->numbers, again.count * sizeof(double)) == 0, "bits", context);
    }
    functions_memory(context, &objects_later, &bytes_later);
    demand(objects == objects_later, "a call leaves objects behind", context);
    demand(bytes == bytes_later, "a call takes memory after the first", context);
    fail(context);
    answer(context, &again);
    demand(memcmp(again.numbers, answers->numbers, again.count * sizeof(double)) == 0, "bits after errors", context);
    functions_memory(context, &objects_later, &bytes_later);
    demand(objects == objects_later, "an error leaves objects behind", context);
    functions_context_free(context);
    return NULL;
}

int main(void) {
    static struct answers all[THREADS];
    pthread_t threads[THREADS];
    demand(functions_abi_version() == FUNCTIONS_ABI_VERSION, "version", NULL);
    for (int i = 0; i < THREADS; i++) {
        demand(pthread_create(&threads[i], NULL, work, &all[i]) == 0, "thread", NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 1; i < THREADS; i++) {
        demand(memcmp(&all[0], &all[i], sizeof all[0]) == 0, "threads differ", NULL);
    }
    for (int i = 0; i < all[0].count; i++) {
        uint64_t bits;
        memcpy(&bits, &all[0].numbers[i], sizeof bits);
        printf("%016lx\n", (unsigned long)bits);
    }
    return 0;
}
