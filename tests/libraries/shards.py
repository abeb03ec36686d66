"""Sums a gradient over shards on all ranks and prints the hash of its bits; with `fail` and `leave`, one rank fails or leaves,
with `differ`, ranks add up different numbers of shards."""

import concurrent.futures
import hashlib
import os
import sys

sys.path.insert(0, sys.argv[1])

import numpy
import functions as f

SHARDS, ROWS, COLUMNS = 13, 1000, 7

if sys.argv[2] == "local":
    comm, rank, ranks = None, 0, 1
else:
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    rank, ranks = comm.Get_rank(), comm.Get_size()

generator = numpy.random.default_rng(7)
x, y, w = generator.normal(size=(ROWS, COLUMNS)), generator.normal(size=ROWS), generator.normal(size=COLUMNS)
asked = []


def say(text):
    # All at once, so that lines of different ranks stay apart.
    os.write(1, (text + "\n").encode())



def shard(k):
    if sys.argv[2] == "fail" and k == SHARDS - 1:
        raise RuntimeError("the file of this shard is missing")
    if sys.argv[2] == "leave" and k == SHARDS - 1:
        sys.exit("there is nothing to do")
    asked.append(k)
    first, end = f.bounds(ROWS, SHARDS, k)
    return w, 0.25, x[first:end], y[first:end]


try:
    value, (gw, gb) = f.loss_gradient.sum(SHARDS - rank if sys.argv[2] == "differ" else SHARDS, shard, comm)
except BaseException as error:
    # Every rank gets here, and says so in its own words.
    say(f"rank {rank} of {ranks}: {type(error).__name__}: {error}")
    sys.exit(0)

# Each rank has computed its own shards, and no others.
assert asked == list(range(*f.bounds(SHARDS, ranks, rank))), asked
# Threads change nothing.
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    again = f.loss_gradient.sum(SHARDS, shard, comm, executor=pool)
assert again[0] == value and (again[1][0] == gw).all() and again[1][1] == gb
# The sum is that of the shards.
parts = [f.loss_gradient(*shard(k)) for k in range(SHARDS)]
assert numpy.allclose(gw, sum(part[1][0] for part in parts), rtol=1e-12, atol=1e-12)
assert numpy.isclose(value, sum(part[0] for part in parts), rtol=1e-12)
# Ranks that have no shard take part.
total = f.norm.sum(1, lambda k: (x[:, k],), comm)
assert total == f.norm(x[:, 0])
# What cannot be added is an error on all ranks.
try:
    f.swap.sum(2, lambda k: ((1.0, numpy.zeros(k + 1)),), comm)
    raise AssertionError("vectors of two lengths have been added")
except ValueError as error:
    assert "differ in shape" in str(error)

digest = hashlib.sha256(numpy.concatenate([[value], gw, [gb]]).tobytes()).hexdigest()
say(digest)
