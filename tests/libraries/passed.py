"""Passes functions and texts to the library of `passed.vlad`, some of which fail."""

import gc
import sys
import threading
import weakref

sys.path.insert(0, sys.argv[1])

import passed
import numpy


def valley(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def slope(x):
    return numpy.array([-2 * (1 - x[0]) - 400 * x[0] * (x[1] - x[0] ** 2), 200 * (x[1] - x[0] ** 2)])


def fails(error, text, call):
    try:
        call()
    except error as found:
        assert type(found) is error and text in str(found), found
        return found
    raise AssertionError("nothing failed")


def close(a, b):
    assert numpy.allclose(a, b, atol=1e-4), (a, b)


start, places = numpy.array([-1.2, 1.0]), []
close(passed.fit((valley, slope), start), [1, 1])
close(passed.fit(lambda x: (places.append(x), (valley(x), slope(x)))[1], start), [1, 1])
# What the function was given stays as it was.
assert (places[0] == start).all() and len({place.tobytes() for place in places}) > 10
close(passed.simplex(valley, start), [1, 1])
t = numpy.arange(40.0)
model = lambda p: p[0] * numpy.exp(-p[1] * t)
jacobian = lambda p: numpy.stack([numpy.exp(-p[1] * t), -t * model(p)], axis=1)
close(passed.curve((lambda p: model(p) - model([3, 0.1]), jacobian), [1, 0.2]), [3, 0.1])
close(passed.curve((lambda p: list(p - 1), lambda p: [[1, 0], [0, 1]]), [5, 2]), [1, 1])
assert passed.twice_gradient(lambda x: (x * x, 2 * x), 3) == (729, 1458)
assert passed.slope(f=lambda x: (x * x, 2 * x), x=3) == 6
value, (by_a, by_v) = passed.both_gradient(lambda a, v: (a * v.sum(), (v.sum(), numpy.full(2, a))), 3, [10, 20])
assert (value, by_a) == (180, 60) and by_v.tolist() == [6, 6]
assert passed.many(lambda *given: sum(map(numpy.sum, given)), [1, 2], [[1, 2], [3, 4]]) == 61
assert passed.values(lambda x: range(int(x))).tolist() == [0, 1, 2]
assert passed.values(lambda x: numpy.arange(1000) * x)[999] == 2997
assert passed.values(lambda x: []).size == 0
assert numpy.isnan(passed.twice(lambda x: numpy.nan, 1)) and passed.twice(lambda x: -numpy.inf, 1) == -numpy.inf
# Whole numbers, truth values and texts.
mixed = lambda n, x, b, v, name: n * x * v.sum() + b * len(name)
slopes = lambda n, x, b, v, name: (n * v.sum(), numpy.full(v.size, n * x))
value, (by_x, by_v) = passed.mixed_gradient((mixed, slopes), 3, 0.5, [1, 2], "wörld")
assert (value, by_x) == (3 * 0.5 * 3 + 5 + 3 * 4 * 1 * 3, 3 * 3 + 3 * 4 * 3 * 2) and by_v.tolist() == [13.5, 13.5]
kinds = []
assert passed.mixed(lambda *given: kinds.append([type(x).__name__ for x in given]) or 1, -(2**53), 1, [], "") == 1 - 2.0**53
assert kinds == [["int", "float", "bool", "ndarray", "str"]] * 2, kinds
weigh = lambda name, m, n: ([len(name) * m.sum(), n * m[0, 1]], [numpy.full(m.shape, len(name)), [[0, n], [0, 0]]])
value, by_m = passed.weigh_gradient(weigh, [[1, 2], [3, 4]])
assert value == 60 + 10 * 4 and by_m.tolist() == [[6, 26], [6, 6]]
assert passed.chosen(lambda n, up, name: n + up + float(name), 7, True) == 1
assert passed.floored_gradient(lambda n, x: (n * x, n), 2.5) == (5, 2)
named = lambda x, name, n: (((x - n) ** 2).sum() + len(name), 2 * (x - n))
close(passed.fit_named(named, start, "here", 4), [4, 4])
# Where no place has a finite value, the search stays at its start.
assert (passed.fit(lambda x: (numpy.nan, [numpy.nan, 1]), start) == start).all()

# Functions of the library, and calls of it while it calls.
assert passed.first_of_two(lambda x: passed.twice(lambda y: y + 1, x), lambda x: 2 * x, 3) == 43
within = lambda y: passed.fit(lambda x: ((x[0] - y[0]) ** 2, 2 * (x - y)), [0])[0]
close(passed.simplex(lambda y: (within(y) - 2) ** 2, [0]), [2])

# What a function raises ends the call, whatever the program does about errors.
cause = ValueError("why")


def raises(*_):
    raise KeyError("mine") from cause


for call in (lambda: passed.fit(raises, start), lambda: passed.simplex(raises, start), lambda: passed.guarded(raises, 1)):
    assert fails(KeyError, "mine", call).__cause__ is cause
fails(SystemExit, "3", lambda: passed.simplex(lambda x: sys.exit(3), start))
fails(KeyboardInterrupt, "", lambda: passed.guarded(lambda x: (_ for _ in ()).throw(KeyboardInterrupt()), 1))
inner = lambda x: passed.twice(raises, x)
fails(KeyError, "mine", lambda: passed.guarded(inner, 1))
fails(passed.Error, "no second derivative", lambda: passed.newton((valley, slope), start))
fails(passed.Error, "no second derivative", lambda: passed.curved_hessian(lambda x: (x * x, 2 * x), 3))
fails(TypeError, "the derivative of objective is wanted: return a tuple", lambda: passed.fit(valley, start))
fails(TypeError, "objective is a function, or a tuple of a function and its derivative, not 3", lambda: passed.fit(3, start))
fails(TypeError, "derivative, not (<function valley", lambda: passed.fit((valley, 3), start))
fails(TypeError, "the value of f is a number, not of type <U1", lambda: passed.twice(lambda x: "a", 1))
fails(ValueError, "the value of f is a number, not an array of 1 dimensions", lambda: passed.twice(lambda x: [1], 1))
fails(ValueError, "the value of f is a vector, not an array of 2 dimensions", lambda: passed.values(lambda x: [[1]]))
fails(TypeError, "a tuple of the value and its derivative, not (1, 2, 3)", lambda: passed.values(lambda x: (1, 2, 3)))
fails(ValueError, "objective has shape (2,), not (3,)", lambda: passed.fit(lambda x: (1, [1, 2, 3]), start))
fails(ValueError, "residuals has shape (1, 2), not (2,)", lambda: passed.curve(lambda x: ([1], [1, 2]), start))
fails(ValueError, "has 2 parts, one for each argument, not 1", lambda: passed.both_gradient(lambda a, v: (1, [1]), 1, [1]))
fails(TypeError, "consists of numbers, not of type <U1", lambda: passed.slope((lambda x: 1, lambda x: "a"), 1))
fails(TypeError, "positional argument", lambda: passed.twice(lambda: 1, 1))
fails(ValueError, "2 parts, one for each argument of real numbers, not 1", lambda: passed.mixed_gradient(
    lambda *_: (1, [1]), 3, 0.5, [1, 2], ""))
for x in (0.5, 2.0**53 + 2, numpy.nan, -numpy.inf):
    fails(passed.Error, "takes a whole number up to 2^53, but has: ", lambda: passed.rounded(lambda n: n, x))
assert passed.rounded(lambda n: n, 2.0**53) == 2**53
assert passed.twice(lambda x: x * x, 3) == 729

# Texts.
assert passed.greet("wörld") == "hello, wörld!" and len(passed.greet("x" * 1000)) == 1008 and passed.greet("") == "hello, !"
assert passed.method("square", 3) == 9 and passed.method("hello, ", 3) == 27
assert passed.describe(3.14159) == ("3.14", 3.14159, "positive") and passed.characters(("wörld", 1, "")) == 6
assert passed.numerals(3000) == 10890 and passed.scaled_gradient("two", 3) == (6, 2)
assert passed.written(1) == 'at (2 "q\\"q")\n'
assert passed.counted(lambda x: passed.characters(("abc", x, "")), "there are ") == "there are 4"
fails(passed.Error, 'no method has this name: "cube"', lambda: passed.method("cube", 3))
fails(passed.Error, "no index", lambda: passed.written(2))
assert passed.greet("again") == "hello, again!"
fails(TypeError, "name is a text, not 3", lambda: passed.greet(3))
fails(ValueError, "name has a character of code 0", lambda: passed.greet("a\0b"))
fails(UnicodeEncodeError, "surrogates", lambda: passed.greet("\ud800"))

# Neither what was passed nor what it raised is kept, and threads may pass functions at the same time.


class Kept(Exception):
    pass


def raised():
    error = Kept()

    def function(x):
        raise error

    fails(Kept, "", lambda: passed.twice(function, 1))
    return weakref.ref(error), weakref.ref(function)


references = raised()
gc.collect()
assert [reference() for reference in references] == [None, None]
found = []
threads = [threading.Thread(target=lambda: found.append(passed.fit((valley, slope), start))) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert len({place.tobytes() for place in found}) == 1 and len(found) == 4
print("all right")
