// A probabilistic lambda calculus, reverse mode by hand: the C that lambda-r.vlad is measured against.

#include "shared/tape.h"

#include "shared/lambda.h"
