// A probabilistic lambda calculus, forward mode by hand: the C that lambda-f.vlad is measured against.

#include "shared/dual.h"

#include "shared/lambda.h"
