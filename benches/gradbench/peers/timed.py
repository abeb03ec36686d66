"""What the scripts here share: they print as GradBench's tools in C++ do, a line for the output and for each timing."""

import json
import math
import sys
import time


def main(evals):
    """Runs a script as `SCRIPT EVAL INPUT.json FUNCTION`. An eval makes of an input a call and what shows its value."""
    name, path, function = sys.argv[1:]
    with open(path) as file:
        given = json.load(file)
    call, show = evals[name](given, function)
    timings = []
    while len(timings) < given["min_runs"] or sum(timings) < 1e9 * given["min_seconds"]:
        start = time.perf_counter_ns()
        value = call()
        timings.append(time.perf_counter_ns() - start)
    print(json.dumps(show(value)))
    for timing in timings:
        print(json.dumps({"name": "evaluate", "nanoseconds": timing}))


def gmm_constant(given):
    """The part of `gmm` that depends on no parameter."""
    d, k, n, m = (given[name] for name in "dknm")
    degrees = d + m + 1
    log_gamma = d * (d - 1) / 4 * math.log(math.pi) + sum(math.lgamma(degrees / 2 - j / 2) for j in range(d))
    wishart = degrees * d * math.log(given["gamma"] / math.sqrt(2)) - log_gamma
    return k * wishart - n * d / 2 * math.log(2 * math.pi)
