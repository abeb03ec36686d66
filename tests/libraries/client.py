"""Calls every function of the library from several threads at a time and prints the bits of what it gets."""

import concurrent.futures
import dataclasses
import pickle
import struct
import sys

sys.path.insert(0, sys.argv[1])

import numpy
import functions as f


def numbers(*shape):
    k = numpy.arange(int(numpy.prod(shape)))
    return ((7 * k % 11) / 4 - 1.1).reshape(shape)


def flat(value):
    if dataclasses.is_dataclass(value):
        value = tuple(getattr(value, field.name) for field in dataclasses.fields(value))
    if isinstance(value, tuple):
        return [x for part in value for x in flat(part)]
    return list(numpy.ravel(value))


def answers(_=None):
    out = [f.square(1.7), f.norm(numbers(50)), f.lookup(3)]
    out += flat(f.multiply(numbers(20, 50), numbers(50)))
    scaled = f.scale(0.3, numbers(3, 2))
    assert scaled.shape == (3, 2) and scaled.dtype == numpy.float64
    out += flat(scaled)
    out += flat(f.swap((7.5, numbers(3))))
    out += [f.deep(100000)]
    out += flat(f.elementary(numbers(9)))
    out += [f.bubbles(300), f.cube(1.7)]
    arguments = numbers(5), 0.125, numbers(40, 5), numbers(40)
    out += [f.loss(*arguments)]
    value, (gw, gb) = f.loss_gradient(*arguments)
    out += [value, *gw, gb]
    total = gw, numpy.array(gb)
    f.loss_gradient(*arguments, out=total, accumulate=True)
    out += flat(total)
    out += flat(f.energy_gradient((numbers(4, 3), numbers(3)), k=0.75))
    out += [*f.power_gradient(1.7, 3), f.less(1.5, 1.5, True), f.less(1.5, 1.5, numpy.bool_(False))]
    m = f.LinearModel(numbers(5), 0.125)
    out += [f.predict(m, numbers(5))]
    out += flat(f.badness_gradient(m, numbers(40, 5), numbers(40)))
    out += flat(f.badness_hvp(m, numbers(40, 5), numbers(40), f.LinearModel(numbers(5), 0.5)))
    layers = f.Layers(numbers(4, 4), f.LinearModel(numbers(4), 0.25), scale_up=1.5)
    out += flat(f.network_gradient(layers, (f.Point(0.5, 1.5), 2.5)))
    return out


def fails(error, text, call):
    try:
        call()
    except error as found:
        assert text in str(found), found
        return found
    raise AssertionError("nothing failed")


first = answers()
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    for other in pool.map(answers, range(20)):
        assert struct.pack(f"{len(first)}d", *first) == struct.pack(f"{len(other)}d", *other)
    assert f.square.map(pool, [(x,) for x in range(10)]) == [x * x for x in range(10)]

assert fails(f.Error, "9 is no index of a vector of length 5", lambda: f.lookup(9)).code == 1
assert fails(f.Error, "recursion too deep", lambda: f.deep(1e9)).code == 3
fails(TypeError, "without", lambda: f.norm())
fails(TypeError, "no parameter", lambda: f.norm(numbers(3), w=1))
fails(ValueError, "v is a vector", lambda: f.norm(numbers(3, 2)))
fails(ValueError, "v is a vector", lambda: f.norm(3))
fails(TypeError, "a vector of numbers, not of type complex128", lambda: f.norm(numbers(3) * 1j))
fails(TypeError, "x is a number, not of type complex128", lambda: f.square(numpy.complex128(1j)))
fails(TypeError, "v is a vector of numbers, not of type object", lambda: f.norm([1, None]))
fails(TypeError, "of numbers, not of type <U1", lambda: f.norm(["1"]))
fails(TypeError, "tuple of 2 parts", lambda: f.swap((1, 2, 3)))
fails(ValueError, "no writeable array", lambda: f.loss_gradient(numbers(5), 0, numbers(4, 5), numbers(4), out=(numbers(4), numpy.zeros(()))))
assert f.range(os=1) == 2 and f.len(1, 2, 3)[1].tolist() == [2, 3] and "len" in dir(f)
fails(AttributeError, "no function absent", lambda: f.absent)
# Whole numbers, truth values and records.
assert f.power(2, numpy.int8(5)) == 32 and f.less(1, 2, True) is True
fails(TypeError, "n is a whole number, not 2.0", lambda: f.power(2, 2.0))
fails(ValueError, "2**53 at most, not 18446744073709551617", lambda: f.power(2, 2**64 + 1))
fails(TypeError, "strictly is True or False, not 1", lambda: f.less(1, 2, 1))
fails(TypeError, "m is a record LinearModel, not 3", lambda: f.predict(3, numbers(5)))
fails(ValueError, "m.weights is a vector", lambda: f.predict(f.LinearModel(1, 2), numbers(5)))
fails(TypeError, "l.second is a record LinearModel, not None", lambda: f.network(f.Layers(numbers(4, 4), None, 1), (f.Point(1, 2), 3)))
assert f.Point(1.0, 2.0) == f.Point(1.0, 2.0) and "Point" in dir(f)
model, total = f.LinearModel(numbers(5), 0.0), f.LinearModel(numpy.zeros(5), numpy.zeros(()))
_, gradient = f.badness_gradient(model, numbers(4, 5), numbers(4))
for _ in range(2):
    f.badness_gradient(model, numbers(4, 5), numbers(4), out=total, accumulate=True)
assert (total.weights == 2 * gradient.weights).all() and total.bias == 2 * gradient.bias
corner, row, layers, is_more, named = f.corners(numbers(4, 2), 3)
assert corner == f.Point(3, 4) and is_more is True and (row.weights == numbers(4, 2)[0]).all()
assert layers.first.shape == (4, 2) and layers.second.weights.tolist() == [3, 3, 3] and named.value.tolist() == [3]
again = pickle.loads(pickle.dumps(layers))
assert type(again.second) is f.LinearModel and (again.first == layers.first).all()
value, sums = f.badness_gradient.sum(3, lambda k: (model, numbers(4, 5), numbers(4)))
assert numpy.allclose(sums.weights, 3 * gradient.weights) and isinstance(sums, f.LinearModel)
# Nothing that the program changes is the caller's, and nothing that the caller gets is what it passed.
m, v = numbers(4, 3), numbers(6)
before = m.copy(), v.copy()
turned, m_again, negated, v_again, part = f.turned(m, v)
assert (turned == -m).all() and (negated == -v).all() and (part == v[2:5]).all()
m_again[:], v_again[:] = 0, 0
assert (m == before[0]).all() and (v == before[1]).all()
# Arrays in any order and of any kind of number.
assert (f.scale(2, numpy.asfortranarray(numbers(3, 2))) == 2 * numbers(3, 2)).all()
assert (f.scale(2, [[1, 2], [3, 4]]) == [[2, 4], [6, 8]]).all()
assert f.scale(2, numpy.empty((0, 3))).size == 0
assert f.swap((1, numbers(5000)))[0].shape == (5000,)
assert pickle.loads(pickle.dumps(f.square)) is f.square
assert "The square of a number." in f.square.__doc__ and "x: a number" in f.square.__doc__

for number in first:
    print(struct.pack(">d", number).hex())
