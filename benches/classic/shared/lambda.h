// The probabilistic lambda calculus of lambda.vlad, an interpreter over lists of values with their probabilities. The
// including file says what a `number` is: dual.h or tape.h.

#include "ascent.h"

typedef enum { CONSTANT, VARIABLE, FUNCTION, CALL } form;

typedef struct expression {
  form form;
  double constant;
  int name;
  const struct expression *operator, *operand;
} expression;

typedef struct distribution distribution;

// An association list from names to distributions.
typedef struct environment {
  int name;
  const distribution *meaning;
  const struct environment *next;
} environment;

// `if` is a function that gets condition and branches one by one: CHOOSE, then with what it has got so far.
typedef enum { NUMBER, BOOLEAN, CLOSURE, CHOOSE, CHOOSE_BY, CHOOSE_BETWEEN } kind;

typedef struct value {
  kind kind;
  double number;
  const expression *body;
  int parameter;
  const environment *environment;
  const struct value *then;
} value;

struct distribution {
  value value;
  number probability;
  const distribution *next;
};

static const distribution *possible(value v, number probability, const distribution *next) {
  distribution *d = allocate(sizeof *d);
  *d = (distribution){v, probability, next};
  return d;
}

static const distribution *certain(value v) { return possible(v, constant(1), NULL); }

static const environment *bound(int name, const distribution *meaning, const environment *next) {
  environment *e = allocate(sizeof *e);
  *e = (environment){name, meaning, next};
  return e;
}

static const distribution *evaluate(const expression *e, const environment *env);

static const distribution *apply(const value *f, const value *v) {
  value partial = *f;
  switch (f->kind) {
  case CLOSURE:
    return evaluate(f->body, bound(f->parameter, certain(*v), f->environment));
  case CHOOSE:
    return certain((value){.kind = CHOOSE_BY, .number = v->number});
  case CHOOSE_BY: {
    value *then = allocate(sizeof *then);
    *then = *v;
    partial.kind = CHOOSE_BETWEEN;
    partial.then = then;
    return certain(partial);
  }
  case CHOOSE_BETWEEN: {
    value nothing = {.kind = NUMBER};
    return apply(f->number != 0 ? f->then : v, &nothing);
  }
  default:
    fputs("not a function\n", stderr);
    exit(1);
  }
}

// The distribution d, each probability times p, in front of rest.
static const distribution *scaled(const distribution *d, number p, const distribution *rest) {
  return d ? possible(d->value, mul(p, d->probability), scaled(d->next, p, rest)) : rest;
}

// The distribution of the value of f on what is distributed like operand.
static const distribution *bind(const value *f, const distribution *operand) {
  if (!operand) return NULL;
  return scaled(apply(f, &operand->value), operand->probability, bind(f, operand->next));
}

static const distribution *bind_all(const distribution *functions, const distribution *operand) {
  if (!functions) return NULL;
  return scaled(bind(&functions->value, operand), functions->probability, bind_all(functions->next, operand));
}

static const distribution *evaluate(const expression *e, const environment *env) {
  switch (e->form) {
  case CONSTANT:
    return certain((value){.kind = NUMBER, .number = e->constant});
  case VARIABLE:
    while (env->name != e->name) env = env->next;
    return env->meaning;
  case FUNCTION:
    return certain((value){.kind = CLOSURE, .body = e->operand, .parameter = e->name, .environment = env});
  default: {
    const distribution *operand = evaluate(e->operand, env);
    return bind_all(evaluate(e->operator, env), operand);
  }
  }
}

static const distribution *coin(number p) {
  value no = {.kind = BOOLEAN, .number = 0}, yes = {.kind = BOOLEAN, .number = 1};
  return possible(yes, p, possible(no, sub(constant(1), p), NULL));
}

static number likelihood(double v, const distribution *d) {
  number sum = constant(0);
  for (; d; d = d->next)
    if (d->value.number == v) sum = add(sum, d->probability);
  return sum;
}

// (if x0 0 (if x1 1 2))
static const expression zero = {.form = CONSTANT, .constant = 0}, one = {.form = CONSTANT, .constant = 1},
                        two = {.form = CONSTANT, .constant = 2};
static const expression x0 = {.form = VARIABLE, .name = 1}, x1 = {.form = VARIABLE, .name = 2},
                        choose = {.form = VARIABLE, .name = 0};
static const expression if_x1 = {.form = CALL, .operator = &choose, .operand = &x1};
static const expression then_one = {.form = FUNCTION, .name = 3, .operand = &one},
                        else_two = {.form = FUNCTION, .name = 3, .operand = &two};
static const expression if_x1_one = {.form = CALL, .operator = &if_x1, .operand = &then_one};
static const expression inner = {.form = CALL, .operator = &if_x1_one, .operand = &else_two};
static const expression if_x0 = {.form = CALL, .operator = &choose, .operand = &x0};
static const expression then_zero = {.form = FUNCTION, .name = 3, .operand = &zero},
                        else_inner = {.form = FUNCTION, .name = 3, .operand = &inner};
static const expression if_x0_zero = {.form = CALL, .operator = &if_x0, .operand = &then_zero};
static const expression program = {.form = CALL, .operator = &if_x0_zero, .operand = &else_inner};

static number likelihood_of_observations(number p0, number p1) {
  static const double observations[] = {0, 1, 2, 2};
  const environment *env = bound(2, coin(p1), NULL);
  env = bound(0, certain((value){.kind = CHOOSE}), bound(1, coin(p0), env));
  const distribution *d = evaluate(&program, env);
  number product = likelihood(observations[0], d);
  for (int i = 1; i < 4; i++) product = mul(product, likelihood(observations[i], d));
  return product;
}

int main(void) {
  learn(likelihood_of_observations);
  return 0;
}
