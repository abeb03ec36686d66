// The probabilistic Prolog of prolog.vlad: all proofs of a query with their probabilities. The including file says what
// a `number` is: dual.h or tape.h.

#include "ascent.h"

#include <stdbool.h>

typedef enum { CONSTANT, VARIABLE, COMPOUND } form;

// A constant, a variable or a functor, by number, and the arguments of a compound term.
typedef struct term {
  form form;
  int name;
  const struct terms *arguments;
} term;

typedef struct terms {
  const term *first;
  const struct terms *rest;
} terms;

// An association list from variables to terms. The empty one is EMPTY, so that NULL can say that there is none.
typedef struct substitution {
  int variable;
  const term *meaning;
  const struct substitution *next;
} substitution;

typedef struct {
  number probability;
  const term *head;
  const terms *body;
} clause;

typedef struct proofs {
  const substitution *substitution;
  number probability;
  const struct proofs *next;
} proofs;

static const substitution empty = {.variable = -1};

static const term *new_term(form form, int name, const terms *arguments) {
  term *t = allocate(sizeof *t);
  *t = (term){form, name, arguments};
  return t;
}

static const terms *cons(const term *first, const terms *rest) {
  terms *l = allocate(sizeof *l);
  *l = (terms){first, rest};
  return l;
}

static const substitution *extended(const substitution *s, int variable, const term *meaning) {
  substitution *longer = allocate(sizeof *longer);
  *longer = (substitution){variable, meaning, s};
  return longer;
}

static const term *walk(const term *t, const substitution *s) {
  while (t->form == VARIABLE) {
    const substitution *binding = s;
    while (binding && (binding->variable != t->name)) binding = binding->next;
    if (!binding) return t;
    t = binding->meaning;
  }
  return t;
}

// The substitution extended so that a and b become equal, or NULL.
static const substitution *unify(const term *a, const term *b, const substitution *s) {
  a = walk(a, s);
  b = walk(b, s);
  if (a->form == VARIABLE) return b->form == VARIABLE && a->name == b->name ? s : extended(s, a->name, b);
  if (b->form == VARIABLE) return extended(s, b->name, a);
  if (a->form != b->form || a->name != b->name) return NULL;
  const terms *as = a->arguments, *bs = b->arguments;
  for (; as && bs && s; as = as->rest, bs = bs->rest) s = unify(as->first, bs->first, s);
  return as || bs ? NULL : s;
}

// t with n added to the names of its variables.
static const term *renamed(const term *t, int n);

static const terms *all_renamed(const terms *l, int n, const terms *rest) {
  return l ? cons(renamed(l->first, n), all_renamed(l->rest, n, rest)) : rest;
}

static const term *renamed(const term *t, int n) {
  if (t->form == CONSTANT) return t;
  if (t->form == VARIABLE) return new_term(VARIABLE, t->name + n, NULL);
  return new_term(COMPOUND, t->name, all_renamed(t->arguments, n, NULL));
}

static const proofs *proof(const substitution *s, number probability, const proofs *next) {
  proofs *p = allocate(sizeof *p);
  *p = (proofs){s, probability, next};
  return p;
}

// The proofs l, each probability times p, in front of rest.
static const proofs *scaled(const proofs *l, number p, const proofs *rest) {
  return l ? proof(l->substitution, mul(p, l->probability), scaled(l->next, p, rest)) : rest;
}

enum { CLAUSES = 4 };

// The proofs of all goals by the clauses from `first` on for the first goal. Variables named n and above are fresh.
static const proofs *prove_from(const clause *program, int first, const terms *goals, const substitution *s, int n);

static const proofs *prove(const clause *program, const terms *goals, const substitution *s, int n) {
  return goals ? prove_from(program, 0, goals, s, n) : proof(s, constant(1), NULL);
}

static const proofs *prove_from(const clause *program, int first, const terms *goals, const substitution *s, int n) {
  if (first == CLAUSES) return NULL;
  const clause *c = &program[first];
  const substitution *more = unify(goals->first, renamed(c->head, n), s);
  if (!more) return prove_from(program, first + 1, goals, s, n);
  const proofs *these = prove(program, all_renamed(c->body, n, goals->rest), more, n + 1);
  return scaled(these, c->probability, prove_from(program, first + 1, goals, s, n));
}

static number likelihood(int answer, const proofs *l) {
  term x = {VARIABLE, 0, NULL};
  number sum = constant(0);
  for (; l; l = l->next)
    if (walk(&x, l->substitution)->name == answer) sum = add(sum, l->probability);
  return sum;
}

static number likelihood_of_observations(number p0, number p1) {
  static const int observations[] = {0, 1, 2, 2};
  static const term zero = {CONSTANT, 0, NULL}, one = {CONSTANT, 1, NULL}, two = {CONSTANT, 2, NULL};
  static const term x = {VARIABLE, 0, NULL};
  static const terms with_zero = {&zero, NULL}, with_one = {&one, NULL}, with_two = {&two, NULL}, with_x = {&x, NULL};
  static const term p_zero = {COMPOUND, 0, &with_zero}, p_x = {COMPOUND, 0, &with_x}, q_x = {COMPOUND, 1, &with_x};
  static const term q_one = {COMPOUND, 1, &with_one}, q_two = {COMPOUND, 1, &with_two};
  static const terms only_q_x = {&q_x, NULL}, query = {&p_x, NULL};
  const clause program[CLAUSES] = {
      {p0, &p_zero, NULL},
      {sub(constant(1), p0), &p_x, &only_q_x},
      {p1, &q_one, NULL},
      {sub(constant(1), p1), &q_two, NULL},
  };
  const proofs *l = prove(program, &query, &empty, 1);
  number product = likelihood(observations[0], l);
  for (int i = 1; i < 4; i++) product = mul(product, likelihood(observations[i], l));
  return product;
}

int main(void) {
  learn(likelihood_of_observations);
  return 0;
}
