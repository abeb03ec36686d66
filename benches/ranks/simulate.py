"""What a `sum-over` costs on many ranks of MPI: a simulation with measured constants (docs/distributed.md).

Each rank computes the first shard; the others are dealt out, one to each in turn. The results of a round are sent to
all ranks, which add them, while workers compute the next shards. Run it with any Python 3:
`python3 benches/ranks/simulate.py`.
"""

import math
import random

# Measured, on one machine: starting the workers of a rank; sending a result to another rank, taking and adding it; and
# the same for each number of the result.
START = 1e-3
TAKE = 1e-6
TAKE_NUMBER = 15e-9
# Bytes of a result beside its numbers.
BESIDE = 80
# Of a fast network: a message, and a byte.
MESSAGE = 2e-6
BYTE = 1e-10
# Bytes that each rank says about a round.
SAID = 32


def gather(ranks, size):
    """Seconds until all ranks have what each has, so many bytes in all."""
    return math.ceil(math.log2(ranks)) * MESSAGE + size * BYTE


def step(ranks, shards, seconds, spread, numbers, rng):
    """Seconds of a sum that are computing, sending, adding; and the part of the time in which ranks compute shards."""
    sigma = math.sqrt(math.log(1 + spread * spread))
    lengths = [seconds * rng.lognormvariate(-sigma * sigma / 2, sigma) for _ in range(shards)]
    computing = lengths[0] + START + max(sum(lengths[1 + rank :: ranks]) for rank in range(ranks))
    rounds = math.ceil((shards - 1) / ranks)
    sending = rounds * (gather(ranks, ranks * SAID) + gather(ranks, ranks * (8 * numbers + BESIDE)))
    adding = shards * (TAKE + numbers * TAKE_NUMBER)
    # One rank waits for what all have computed, and what can be taken meanwhile has been taken.
    total = max(computing, sending + adding) + (sending + adding) / rounds
    return computing, sending, adding, sum(lengths) / ranks / total


def main():
    rng = random.Random(1)
    print("ranks  shards/rank  numbers  spread  computing  sending  adding   efficiency")
    for ranks, each, numbers, spread in [
        (100, 10, 1000, 0.1),
        (1000, 10, 1000, 0.1),
        (10000, 1, 10, 0.1),
        (10000, 10, 10, 0.1),
        (10000, 100, 10, 0.1),
        (10000, 10, 10, 1.0),
        (10000, 100, 10, 1.0),
        (10000, 10, 1000, 0.1),
        (10000, 10, 100000, 0.1),
    ]:
        seconds = 1.0 if each < 100 else 0.1
        parts = step(ranks, ranks * each, seconds, spread, numbers, rng)
        print(
            f"{ranks:5}  {each:11}  {numbers:7}  {spread:6.1f}  {parts[0]:8.2f}s {parts[1]:7.2g}s {parts[2]:6.2g}s"
            f"  {100 * parts[3]:9.0f}%"
        )


if __name__ == "__main__":
    main()
