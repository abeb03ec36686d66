"""Calls every function of the library from several threads at a time and prints the bits of what it gets."""

import concurrent.futures
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
