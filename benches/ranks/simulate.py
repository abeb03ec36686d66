"""What a `sum-over` costs on many ranks of MPI: a simulation with measured constants (docs/distributed.md).

Each rank computes the first shard and then a block of the others. When the last one is done, all get the results of
all, and add them. Run it with any Python 3: `python3 benches/ranks/simulate.py`.
"""

import math
import random

# Measured, on one machine: starting the workers of a rank; taking a result, and a number of it.
START = 0.4e-3
TAKE = 0.25e-6
TAKE_NUMBER = 2e-9
# Bytes of a result beside its numbers.
BESIDE = 80
# Of a fast network: a message, and a byte.
MESSAGE = 2e-6
BYTE = 1e-10
# Words that ranks say about each topic, and topics of a `sum-over`.
SAID = 32
TOPICS = 2


def gather(ranks, size):
    """Seconds until all ranks have what each has, so many bytes in all."""
    return math.ceil(math.log2(ranks)) * MESSAGE + size * BYTE


def step(ranks, shards, seconds, spread, numbers, rng):
    """Seconds of a sum, and the parts: computing, sending, adding."""
    sigma = math.sqrt(math.log(1 + spread * spread))
    lengths = [seconds * rng.lognormvariate(-sigma * sigma / 2, sigma) for _ in range(shards)]
    left = shards - 1
    bounds = [1 + left * r // ranks for r in range(ranks + 1)]
    longest = max(sum(lengths[a:b]) for a, b in zip(bounds, bounds[1:]))
    computing = lengths[0] + START + longest
    sending = TOPICS * gather(ranks, ranks * SAID) + gather(ranks, shards * (8 * numbers + BESIDE))
    adding = shards * (TAKE + numbers * TAKE_NUMBER)
    return computing, sending, adding, sum(lengths) / ranks


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
        efficiency = parts[3] / sum(parts[:3])
        print(
            f"{ranks:5}  {each:11}  {numbers:7}  {spread:6.1f}  {parts[0]:8.2f}s {parts[1]:7.2g}s {parts[2]:6.2g}s"
            f"  {100 * efficiency:9.1f}%"
        )


if __name__ == "__main__":
    main()
