// A probabilistic Prolog, forward mode by hand: the C that prolog-f.vlad is measured against.

#include "shared/dual.h"

#include "shared/prolog.h"
