// A probabilistic Prolog, reverse mode by hand: the C that prolog-r.vlad is measured against.

#include "shared/tape.h"

#include "shared/prolog.h"
