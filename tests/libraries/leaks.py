"""Calls the library again and again, from threads that end, too, and in calls that fail; prints by how many pages of memory the
process has grown since the first round."""

import gc
import sys
import threading

sys.path.insert(0, sys.argv[1])

import numpy
import functions as f

w, x, y = numpy.ones(5), numpy.ones((40, 5)), numpy.ones(40)


def work():
    f.loss_gradient(w, 0.5, x, y)
    f.multiply(x, w)
    f.bubbles(100)
    try:
        f.lookup(9)
        raise AssertionError("there are five")
    except f.Error:
        pass


def pages():
    gc.collect()
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1])


def turn():
    for _ in range(200):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    for _ in range(2000):
        work()


turn()
before = pages()
for _ in range(3):
    turn()
print(pages() - before)
