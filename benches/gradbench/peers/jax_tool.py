"""Runs GradBench's tool in JAX, the path of which is the argument, so that its timings are those of results.

A call returns before its result is there; GradBench's tool takes the time until then. Here it waits. And all numbers
are doubles, which not all of its modules ask for.
"""

import runpy
import sys
from pathlib import Path

import jax
from gradbench import wrap

jax.config.update("jax_enable_x64", True)
multiple_runs = wrap.multiple_runs


def waiting(**options):
    """What `multiple_runs` does, for functions that have computed their values when they return."""
    decorate = multiple_runs(**options)
    return lambda function: decorate(lambda given: jax.block_until_ready(function(given)))


wrap.multiple_runs = waiting
tool = Path(sys.argv.pop(1))
# As if it had been started itself.
sys.path[0] = str(tool.parent)
runpy.run_path(str(tool), run_name="__main__")
