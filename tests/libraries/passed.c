/* Passes texts and functions to the library of `passed.vlad`: with and without derivatives, of all kinds of arguments,
 * and some that fail. */
#include "passed.h"
#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <xmmintrin.h>

/* What functions are handed: they count their calls, and fail from one on. */
typedef struct {
    passed_context *context;
    int calls, last, depth;
} state;

/* Little stack: what checks memory looks at all of it. */
static const passed_options small = {8 << 20, 0};

static int valley(void *data, const double *x, size_t x_length, double *value, double *gradient) {
    state *s = data;
    double a = 1 - x[0], b = x[1] - x[0] * x[0];
    assert(x_length == 2);
    if (++s->calls == s->last) {
        return 42;
    }
    *value = a * a + 100 * b * b;
    if (gradient) {
        gradient[0] = -2 * a - 400 * x[0] * b;
        gradient[1] = 200 * b;
    }
    return 0;
}

static int without_gradient(void *data, const double *x, size_t x_length, double *value, double *gradient) {
    (void)gradient;
    return valley(data, x, x_length, value, NULL);
}

static int line(void *data, const double *x, size_t x_length, double *value, size_t room, size_t *length,
                double *jacobian) {
    size_t rows = 100;
    ++*(int *)data;
    *length = rows;
    if (room < rows) {
        return PASSED_ERROR_ROOM;
    }
    for (size_t i = 0; i < rows; i++) {
        value[i] = x[0] + (double)i * x[1] - 7 - 3 * (double)i;
        if (jacobian) {
            jacobian[i * x_length] = 1;
            jacobian[i * x_length + 1] = (double)i;
        }
    }
    return 0;
}

static int liar(void *data, double x, double *value, size_t room, size_t *length, double *jacobian) {
    (void)data, (void)x, (void)value, (void)jacobian;
    *length = room + 1;
    return 0;
}

static int square(void *data, double x, double *value, double *gradient) {
    (void)data;
    *value = x * x;
    if (gradient) {
        *gradient = 2 * x;
    }
    return 0;
}

static int weighted(void *data, double a, const double *v, size_t v_length, double *value, double *gradient) {
    (void)data;
    *value = 0;
    for (size_t i = 0; i < v_length; i++) {
        *value += a * v[i];
    }
    if (gradient) {
        gradient[0] = *value / a;
        for (size_t i = 0; i < v_length; i++) {
            gradient[i + 1] = a;
        }
    }
    return 0;
}

static int many(void *data, double x1, const double *x2, size_t x2_length, double x3, double x4, const double *x5,
                size_t x5_rows, size_t x5_columns, double x6, double x7, double x8, double x9, double x10, double x11,
                const double *x12, size_t x12_length, double *value, double *gradient) {
    assert(data == NULL && gradient == NULL && x2_length == 2 && x2[1] == 20 && x12_length == 2 && x12[0] == 10);
    assert(x5_rows == 3 && x5_columns == 2 && x5[5] == 6);
    assert(x1 == 1 && x3 == 2 && x4 == 3 && x6 == 4 && x7 == 5 && x8 == 6 && x9 == 7 && x10 == 8 && x11 == 9);
    *value = 0.5;
    return 0;
}

static int mixed(void *data, int64_t x1, double x2, bool x3, const double *x4, size_t x4_length, const char *x5,
                 double *value, double *gradient) {
    double sum = 0;
    (void)data;
    for (size_t i = 0; i < x4_length; i++) {
        sum += x4[i];
    }
    *value = (double)x1 * x2 * sum + (x3 ? (double)strlen(x5) : 0);
    assert(!strcmp(x5, x3 ? "Ada" : "Ada!"));
    if (gradient) {
        gradient[0] = (double)x1 * sum;
        for (size_t i = 0; i < x4_length; i++) {
            gradient[i + 1] = (double)x1 * x2;
        }
    }
    return 0;
}

static int chosen(void *data, int64_t x1, bool x2, const char *x3, double *value, double *gradient) {
    (void)data;
    assert(gradient == NULL && !strcmp(x3, "-9007199254740992"));
    *value = (double)x1 + (x2 ? 0.5 : 0);
    return 0;
}

/* Finds the caller's way to round, towards zero, and leaves another one behind. */
static int rounded(void *data, double x, double *value, double *gradient) {
    (void)data, (void)gradient;
    assert((_mm_getcsr() & 0x6000) == 0x6000);
    *value = x;
    _mm_setcsr(0x1f80 | 0x4000);
    return 0;
}

/* The context at hand is in use; another one is not. */
static int nested(void *data, double x, double *value, double *gradient) {
    state *s = data;
    passed_context *other = passed_context_new(&small);
    assert(passed_twice(s->context, square, NULL, x, value) == PASSED_ERROR_BUSY);
    state inner = {other, 0, 0, s->depth + 1};
    (void)gradient;
    int code = s->depth < 3 ? passed_first_of_two(other, nested, &inner, square, NULL, x, value)
                            : passed_twice(other, square, NULL, x, value);
    passed_context_free(other);
    return code;
}

static void *search(void *unused) {
    (void)unused;
    passed_context *context = passed_context_new(&small);
    double start[] = {-1.2, 1}, found[2], value, gradient, gradients[3], vector[] = {10, 20};
    double matrix[] = {1, 2, 3, 4, 5, 6};
    size_t length;
    state s = {context, 0, 0, 0};
    int calls = 0;
    assert(passed_fit(context, valley, &s, start, 2, found, 2, &length) == 0);
    assert(length == 2 && fabs(found[0] - 1) < 1e-6 && fabs(found[1] - 1) < 1e-6);
    assert(passed_simplex(context, without_gradient, &s, start, 2, found, 2, &length) == 0);
    assert(fabs(found[0] - 1) < 1e-4 && fabs(found[1] - 1) < 1e-4);
    assert(passed_curve(context, line, &calls, start, 2, found, 2, NULL) == 0);
    assert(fabs(found[0] - 7) < 1e-6 && fabs(found[1] - 3) < 1e-6 && calls > 2);

    assert(passed_twice(context, square, NULL, 3, &value) == 0 && value == 729);
    assert(passed_twice_gradient(context, square, NULL, 3, PASSED_OVERWRITE, &value, &gradient) == 0);
    assert(value == 729 && gradient == 6 * 243);
    assert(passed_slope(context, square, NULL, 3, &value) == 0 && value == 6);
    assert(passed_both_gradient(context, weighted, NULL, 3, vector, 2, PASSED_OVERWRITE, &value, gradients,
                                   gradients + 1) == 0);
    assert(value == 180 && gradients[0] == 60 && gradients[1] == 6 && gradients[2] == 6);
    assert(passed_many(context, many, NULL, vector, 2, matrix, 3, 2, &value) == 0 && value == 0.5);
    assert(passed_mixed_gradient(context, mixed, NULL, 3, 0.5, vector, 2, "Ada", PASSED_OVERWRITE, &value, gradients,
                                 gradients + 1) == 0);
    assert(value == 3 * 0.5 * 30 + 3 + 3 * 4 * 30 && gradients[0] == 3 * 30 + 3 * 4 * 30 * 2);
    assert(gradients[1] == 3 * 0.5 + 3 * 4 && gradients[2] == gradients[1]);
    assert(passed_chosen(context, chosen, NULL, -((int64_t)1 << 53), false, &value) == 0 && value == 0x1p53);
    unsigned mode = _mm_getcsr();
    _mm_setcsr(mode | 0x6000);
    assert(passed_tenth(context, rounded, NULL, &value) == 0);
    assert((_mm_getcsr() & 0x6000) == 0x6000);
    _mm_setcsr(mode);
    assert(value == 0.1);
    s.calls = 0;
    assert(passed_first_of_two(context, nested, &s, square, NULL, 2, &value) == 0 && value == pow(2, 96));

    /* Failures: the caller's function ends the call, and the context is as good as before. */
    s = (state){context, 0, 20, 0};
    assert(passed_fit(context, valley, &s, start, 2, found, 2, NULL) == PASSED_ERROR_CALLBACK && s.calls == 20);
    const char *message = passed_message(context);
    assert(strstr(message, "error[V0327]: the function that was passed as argument 1 failed with code 42"));
    assert(strstr(message, "        (found-place (minimise by-bfgs objective start)))\n"
                           "  |                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ this call\n"));
    assert(strstr(message, "this happened inside the library function `(minimise "));
    s.calls = 0;
    assert(passed_simplex(context, valley, &s, start, 2, found, 2, NULL) == PASSED_ERROR_CALLBACK && s.calls == 20);
    s.last = 0;
    assert(passed_fit(context, without_gradient, &s, start, 2, found, 2, NULL) == PASSED_ERROR_CALLBACK);
    assert(strstr(passed_message(context), "was asked for its derivative, and has not written all of it"));
    assert(passed_newton(context, valley, &s, start, 2, found, 2, NULL) == PASSED_ERROR_PROGRAM);
    assert(strstr(passed_message(context), "has no second derivative"));
    assert(passed_curved_hessian(context, square, NULL, 3, &value) == PASSED_ERROR_PROGRAM);
    assert(strstr(passed_message(context), "has no second derivative"));
    assert(passed_first_of_two(context, square, NULL, NULL, NULL, 2, &value) == PASSED_ERROR_ARGUMENT);
    assert(strstr(passed_message(context), "argument 2 is a null pointer"));
    assert(strstr(passed_message(context), "(g x)))\n") && strstr(passed_message(context), " ^^^^^ this call\n"));
    assert(!strstr(passed_message(context), "library function"));
    assert(passed_values(context, liar, NULL, found, 2, NULL) == PASSED_ERROR_CALLBACK);
    assert(passed_unused(context, NULL, NULL, 5, &value) == 0 && value == 5);
    assert(passed_twice(context, square, NULL, 3, &value) == 0 && value == 729);

    /* Texts have a zero at their end, which there must be room for. */
    char text[16];
    assert(passed_greet(context, "Ada", text, sizeof text, &length) == 0);
    assert(length == 11 && !strcmp(text, "hello, Ada!"));
    assert(passed_greet(context, "12345678", text, sizeof text, &length) == PASSED_ERROR_ROOM && length == 16);
    assert(strstr(passed_message(context), "a text of 17 bytes with the zero at its end, and there is room for 16"));
    assert(passed_greet(context, "1234567", text, sizeof text, NULL) == 0 && strlen(text) == 15);
    assert(passed_greet(context, "123456789", NULL, 0, &length) == 0 && length == 17);
    assert(passed_greet(context, NULL, text, sizeof text, &length) == PASSED_ERROR_ARGUMENT);
    assert(passed_method(context, "hello, ", 3, &value) == 0 && value == 27);
    assert(passed_method(context, "cube", 3, &value) == PASSED_ERROR_PROGRAM);
    assert(strstr(passed_message(context), "no method has this name: \"cube\""));
    assert(passed_characters(context, "\xff\xfe", 1, "", &value) == 0 && value == 3);
    assert(passed_written(context, 2, text, sizeof text, NULL) == PASSED_ERROR_PROGRAM);
    assert(passed_written(context, 1, text, 14, NULL) == PASSED_ERROR_ROOM);
    assert(passed_greet(context, "Ada", text, sizeof text, NULL) == 0 && !strcmp(text, "hello, Ada!"));
    assert(passed_numerals(context, 3000, &value) == 0 && value == 10890);
    uint64_t objects, bytes;
    passed_memory(context, &objects, &bytes);
    assert(objects == 0);
    passed_context_free(context);
    return NULL;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, search, NULL);
    search(NULL);
    pthread_join(other, NULL);
    puts("all right");
    return 0;
}
