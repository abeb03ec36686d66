import builtins as _builtins
import ctypes as _ctypes
import dataclasses as _dataclasses
import importlib as _importlib
import math as _math
import operator as _operator
import os as _os
import sys as _sys
import threading as _threading

import numpy as _numpy

__all__ = @ALL@

_library = _ctypes.CDLL(_os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "lib@name@.so"))
_library.@name@_abi_version.restype = _ctypes.c_uint32
if _library.@name@_abi_version() != @ABI@:
    raise ImportError("lib@name@.so and @name@.py were not made together")
_library.@name@_context_new.argtypes = [_ctypes.c_void_p]
_library.@name@_context_new.restype = _ctypes.c_void_p
_library.@name@_context_free.argtypes = [_ctypes.c_void_p]
_library.@name@_context_free.restype = None
_library.@name@_message.argtypes = [_ctypes.c_void_p]
_library.@name@_message.restype = _ctypes.c_char_p

_ROOM = 5


class Error(Exception):
    """A call failed: `code` says how (1: the program, 2: an argument, 3: memory or recursion), the text says why."""

    def __init__(self, code, message):
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self):
        return self.message


class _Context:
    """What a thread calls the library with."""

    def __init__(self):
        self.inner = None
        self.address = _library.@name@_context_new(None)
        if not self.address:
            raise MemoryError("no memory for a context of @name@")

    def __del__(self):
        if getattr(self, "address", None):
            _library.@name@_context_free(self.address)


_contexts = _threading.local()


def _context():
    try:
        return _contexts.own.address
    except AttributeError:
        _contexts.own = _Context()
        return _contexts.own.address


class _Callback(str):
    """The type of a function that is passed: what it takes, and what it returns."""

    def __new__(cls, arguments, result):
        self = super().__new__(cls, "function")
        self.arguments, self.result = arguments, result
        types = [_ctypes.c_void_p]
        for kind in arguments:
            sizes = _SIZES[kind]
            types += [_ctypes.c_void_p] + [_ctypes.c_size_t] * sizes if sizes else [_SCALARS[kind]]
        # Those that there are derivatives with respect to.
        self.reals = [place for place, kind in enumerate(arguments) if kind not in ("integer", "boolean", "text")]
        types += [_ctypes.c_void_p] * (2 if result == "real" else 4)
        self.prototype = _ctypes.CFUNCTYPE(_ctypes.c_int, *types)
        return self

    def wrapped(self, name, function, failures):
        """The function as C calls it. Why it failed goes to a list."""
        both = function if isinstance(function, tuple) else (function,)
        if len(both) not in (1, 2) or not all(map(callable, both)):
            raise TypeError(f"{name} is a function, or a tuple of a function and its derivative, not {function!r}")
        function, derivative = both[0], both[1] if len(both) > 1 else None
        kept = []

        def call(_, *given):
            try:
                given, arguments = iter(given), []
                for kind in self.arguments:
                    first = next(given)
                    shape = tuple([next(given) for _ in range(_SIZES[kind])])
                    first = first.decode("utf-8", "replace") if kind == "text" else first
                    arguments.append(_copied(first, shape) if shape else first)
                *value, slopes = given
                found = kept.pop() if kept else self._found(name, function, derivative, arguments, slopes)
                numbers, of = found
                if self.result != "real":
                    _word.from_address(value[2]).value = numbers.size
                    if numbers.size > (value[1] or 0):
                        kept.append(found)
                        return _ROOM
                _ctypes.memmove(value[0], _address(numbers), 8 * numbers.size)
                if slopes:
                    _ctypes.memmove(slopes, _address(of), 8 * of.size)
                return 0
            except BaseException as error:  # Whatever it is, an interruption, too, it ends the call of the library.
                failures.append(error)
                return 1

        return self.prototype(call)

    def _found(self, name, function, derivative, arguments, wanted):
        """The value as an array, and if it is wanted the derivatives, row by row."""
        value, slopes = function(*arguments), None
        if isinstance(value, tuple):
            if len(value) != 2:
                raise TypeError(f"{name} returns its value, or a tuple of the value and its derivative, not {value!r}")
            value, slopes = value
        value = _array(f"the value of {name}", self.result, value).reshape(-1)
        if not wanted or not self.reals:
            return value, _empty(0)
        if derivative is not None:
            slopes = derivative(*arguments)
        if slopes is None:
            raise TypeError(
                f"the derivative of {name} is wanted: return a tuple of its value and its derivative, or pass a tuple of "
                "a function for each"
            )
        shapes = [getattr(arguments[place], "shape", ()) for place in self.reals]
        slopes = [slopes] if len(shapes) == 1 else list(slopes)
        front = () if self.result == "real" else (value.size,)
        if len(slopes) != len(shapes):
            kind = "" if len(shapes) == len(arguments) else " of real numbers"
            parts = f"{len(shapes)} parts, one for each argument{kind}"
            raise ValueError(f"the derivative of {name} has {parts}, not {len(slopes)}")
        rows = []
        for part, shape in zip(slopes, shapes):
            part = _numpy.asarray(part)
            if part.dtype.kind not in "biuf":
                raise TypeError(f"the derivative of {name} consists of numbers, not of type {part.dtype}")
            if part.shape != front + shape:
                raise ValueError(f"the derivative of {name} has shape {front + shape}, not {part.shape}")
            rows.append(part.reshape(value.size, _math.prod(shape)))
        return value, _numpy.ascontiguousarray(_numpy.concatenate(rows, axis=1), dtype=_double)


def _copied(address, shape):
    """An array with these elements, which may be kept."""
    array = _empty(shape)
    _ctypes.memmove(_address(array), address, 8 * array.size)
    return array


def _parts(name, kind):
    """The types that a value of this type consists of, with names; nothing for numbers and arrays."""
    if isinstance(kind, tuple):
        return [(f"{name}_{n}", part) for n, part in enumerate(kind)]
    if isinstance(kind, type):
        return [(f"{name}.{field}", part) for field, part in kind._kinds.items()]
    return []


def _leaves(name, kind):
    """The numbers and arrays that a value of this type consists of, with names."""
    if isinstance(kind, str):
        return [(name, kind, _SIZES.get(kind, 0))]
    return [leaf for part in _parts(name, kind) for leaf in _leaves(*part)]


def _values(value):
    """What a tuple or a record consists of."""
    return [getattr(value, field) for field in value._kinds] if hasattr(value, "_kinds") else list(value)


def _flat(name, kind, value):
    """The same of a value."""
    if isinstance(kind, str):
        return [value]
    if isinstance(kind, type) and not isinstance(value, kind):
        raise TypeError(f"{name} is a record {kind.__name__}, not {value!r}")
    if isinstance(kind, tuple) and (not isinstance(value, (tuple, list)) or len(value) != len(kind)):
        raise TypeError(f"{name} is a tuple of {len(kind)} parts, not {value!r}")
    return [leaf for (n, k), v in zip(_parts(name, kind), _values(value)) for leaf in _flat(n, k, v)]


def _nested(kind, leaves):
    """The value of this type that consists of these numbers and arrays, which it takes from an iterator."""
    if isinstance(kind, str):
        return next(leaves)
    parts = [_nested(part, leaves) for _, part in _parts("", kind)]
    return tuple(parts) if isinstance(kind, tuple) else kind(*parts)


_SIZES = {"real": 0, "integer": 0, "boolean": 0, "text": 0, "vector": 1, "matrix": 2}
_WORDS = {"real": "a number", "vector": "a vector", "matrix": "a matrix"}
_SCALARS = {"real": _ctypes.c_double, "integer": _ctypes.c_int64, "boolean": _ctypes.c_bool, "text": _ctypes.c_char_p}
_RESULTS = {"real": _ctypes.c_double, "boolean": _ctypes.c_bool}
_ndarray, _double, _empty = _numpy.ndarray, _numpy.dtype(_numpy.float64), _numpy.empty


def _array(name, kind, value):
    array = _numpy.asarray(value)
    # NumPy would make numbers of complex ones, and of None.
    if array.dtype.kind not in "biuf":
        of_numbers = "" if kind == "real" else " of numbers"
        raise TypeError(f"{name} is {_WORDS[kind]}{of_numbers}, not of type {array.dtype}")
    if array.ndim != _SIZES[kind]:
        raise ValueError(f"{name} is {_WORDS[kind]}, not an array of {array.ndim} dimensions")
    return _numpy.ascontiguousarray(array, dtype=_numpy.float64)


def _address(array):
    return array.__array_interface__["data"][0]


def _address_in(array):
    """The same at a tenth of the time: an array of CPython begins with what all objects have, and this address."""
    return _word.from_address(id(array) + object.__basicsize__).value


_word, _addressof, _one = _ctypes.c_size_t, _ctypes.addressof, _empty(1)
_SIZE = _ctypes.sizeof(_word)
if _sys.implementation.name == "cpython" and _address_in(_one) == _address(_one):
    _address = _address_in


def _number(name, value):
    if isinstance(value, (int, float)):
        return float(value)
    return _array(name, "real", value).item()


def _integer(name, value):
    try:
        number = _operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {value!r}") from None
    if abs(number) > 2**53:
        raise ValueError(f"{name} is a whole number with a magnitude of 2**53 at most, not {number}")
    return number


def _boolean(name, value):
    if not isinstance(value, (bool, _numpy.bool_)):
        raise TypeError(f"{name} is True or False, not {value!r}")
    return bool(value)


def _text(name, value):
    if not isinstance(value, str):
        raise TypeError(f"{name} is a text, not {value!r}")
    if "\0" in value:
        raise ValueError(f"{name} has a character of code 0, which no text of a library has")
    return value.encode()


_CHECKS = {"real": _number, "integer": _integer, "boolean": _boolean, "text": _text}


def bounds(count, shards, shard):
    """The first of `count` rows that belongs to a shard of `shards`, and the one behind its last."""
    return count * shard // shards, count * (shard + 1) // shards


class Function:
    """A function of the library. Threads may call it at the same time: each has a context of its own."""

    def __init__(self, name, symbol, parameters, result, gradient, at, doc):
        self.__name__ = self.__qualname__ = name
        self.__module__ = __name__
        self.__doc__ = doc
        self._parameters = parameters
        self._names = [name for name, _ in parameters]
        self._has_parts = any(not isinstance(kind, str) for _, kind in parameters)
        self._has_callbacks = any(isinstance(kind, _Callback) for _, kind in parameters)
        leaves = [(position, leaf) for position, (name, kind) in enumerate(parameters) for leaf in _leaves(name, kind)]
        self._leaves = [leaf for _, leaf in leaves]
        self._result = result
        self._gradient, self._at = gradient, at
        self._adapted = {}
        # Addresses and numbers are passed as they are, without objects of ctypes for each.
        types = [_ctypes.c_void_p]
        for _, kind, sizes in self._leaves:
            if isinstance(kind, _Callback):
                types += [kind.prototype, _ctypes.c_void_p]
            else:
                types += [_ctypes.c_void_p] + [_ctypes.c_size_t] * sizes if sizes else [_SCALARS[kind]]
        if gradient is None:
            # Texts are arrays of bytes, with a zero behind the last.
            leaves = [(kind, 1 if kind == "text" else sizes) for _, kind, sizes in _leaves("", result)]
            self._results = [(_RESULTS.get(kind, kind), sizes) for kind, sizes in leaves]
            self._sizes = _word * sum(sizes for _, sizes in self._results)
            for _, sizes in self._results:
                types += [_ctypes.c_void_p]
                types += [_ctypes.c_size_t] + [_ctypes.c_void_p] * sizes if sizes else []
        else:
            self._wanted = [place for place, (position, _) in enumerate(leaves) if position in gradient]
            types += [_ctypes.c_int, _ctypes.c_void_p] + [_ctypes.c_void_p] * len(self._wanted)
        self._code = getattr(_library, "@name@_" + symbol)
        self._code.restype = _ctypes.c_int
        self._code.argtypes = types
        # The size of the arguments of the last call, and the sizes of its results.
        self._rooms = -1, []

    def __reduce__(self):
        # Other processes have the module, too.
        return (_find, (self.__name__,))

    def __repr__(self):
        return f"<function {self.__name__} of the library @name@>"

    def __call__(self, *arguments, **named):
        out = accumulate = None
        if named:
            out, accumulate = named.pop("out", None), named.pop("accumulate", False)
            if self._gradient is None and (out is not None or accumulate):
                raise TypeError(f"{self.__name__} has no gradient to write to `out`")
        if named or len(arguments) != len(self._names):
            arguments = self._named(arguments, named)
        if self._has_parts:
            pairs = zip(self._parameters, arguments)
            arguments = [leaf for (name, kind), value in pairs for leaf in _flat(name, kind, value)]
        # The arrays live as long as their addresses are used.
        passed, arrays, given = [_context()], [], 0
        failures = []
        for (name, kind, sizes), value in zip(self._leaves, arguments):
            if self._has_callbacks and isinstance(kind, _Callback):
                passed += [kind.wrapped(name, value, failures), None]
                arrays.append(None)
                continue
            if not sizes:
                passed.append(value if type(value) is float and kind == "real" else _CHECKS[kind](name, value))
                arrays.append(None)
                continue
            is_right = type(value) is _ndarray and value.dtype is _double and value.ndim == sizes
            if not is_right or not value.flags.c_contiguous:
                value = _array(name, kind, value)
            passed.append(_address(value))
            passed.extend(value.shape)
            arrays.append(value)
            given += value.size
        if not self._has_callbacks:
            return self._result_of(passed, arrays, given, out, accumulate)
        # The functions may call the library, too, with a context of its own.
        outer = _contexts.own
        outer.inner = outer.inner or _Context()
        _contexts.own = outer.inner
        try:
            return self._result_of(passed, arrays, given, out, accumulate)
        except Error:
            if not failures:
                raise
        finally:
            _contexts.own = outer
        raise failures.pop()

    def _result_of(self, passed, arrays, given, out, accumulate):
        if self._gradient is None:
            return self._value(passed, given)
        return self._value_and_gradient(passed, arrays, out, accumulate)

    def _named(self, arguments, named):
        """The arguments in the order of the parameters."""
        names = self._names
        if len(arguments) > len(names):
            raise TypeError(f"{self.__name__} takes {len(names)} arguments, not {len(arguments)}")
        values = dict(zip(names, arguments))
        for name, value in named.items():
            if name not in names or name in values:
                raise TypeError(f"{self.__name__} has no parameter {name}, or it has been given already")
            values[name] = value
        missing = [name for name in names if name not in values]
        if missing:
            raise TypeError(f"{self.__name__} is called without {', '.join(missing)}")
        return [values[name] for name in names]

    def _value(self, passed, given):
        # Results of arguments that are not larger than those of an earlier call are seldom larger.
        most, rooms = self._rooms
        if given > most:
            rooms = [max(16, given)] * len(self._results)
        while True:
            results, buffers, sizes = [], [], self._sizes()
            at = _addressof(sizes)
            for (kind, dimensions), room in zip(self._results, rooms):
                if not dimensions:
                    buffers.append(kind())
                    results.append(_addressof(buffers[-1]))
                    continue
                room, of = (room + 1, _numpy.uint8) if kind == "text" else (room, _double)
                buffers.append(_empty(room, of))
                results += [_address(buffers[-1]), room]
                for _ in range(dimensions):
                    results.append(at)
                    at += _SIZE
            # Other threads run meanwhile.
            code = self._code(*passed, *results)
            sizes = iter(sizes)
            shapes = [tuple([next(sizes) for _ in range(dimensions)]) for _, dimensions in self._results]
            counts = [_math.prod(shape) for shape in shapes]
            if code != _ROOM:
                break
            rooms = [max(room, count) for room, count in zip(rooms, counts)]
        if code != 0:
            self._fail(passed[0], code)
        self._rooms = given, counts
        values = []
        for buffer, shape, count, (kind, _) in zip(buffers, shapes, counts, self._results):
            if not shape:
                values.append(buffer.value)
            elif kind == "text":
                values.append(buffer[:count].tobytes().decode("utf-8", "replace"))
            else:
                value = buffer if buffer.size == count else buffer[:count].copy()
                values.append(value if len(shape) == 1 else value.reshape(shape))
        return values[0] if isinstance(self._result, str) else _nested(self._result, iter(values))

    def _value_and_gradient(self, passed, arrays, out, accumulate):
        arrays = [arrays[place] for place in self._wanted]
        shapes = [() if array is None else array.shape for array in arrays]
        if out is None:
            if accumulate:
                raise TypeError("`accumulate` adds to the arrays in `out`, so these have to be given")
            buffers = [_empty(shape) for shape in shapes]
        else:
            kinds = tuple(self._parameters[position][1] for position in self._gradient)
            buffers = _flat("out", kinds, out if len(kinds) > 1 else (out,))
            for place, shape, buffer in zip(self._wanted, shapes, buffers):
                fits = isinstance(buffer, _ndarray) and buffer.dtype == _double and buffer.shape == shape
                if not fits or not buffer.flags.c_contiguous or not buffer.flags.writeable:
                    name = self._leaves[place][0]
                    raise ValueError(f"what gets the gradient of {name} is no writeable array of doubles of shape {shape}")
        value = _ctypes.c_double()
        code = self._code(*passed, 1 if accumulate else 0, _ctypes.byref(value), *map(_address, buffers))
        if code != 0:
            self._fail(passed[0], code)
        if out is not None:
            return value.value, out
        parts = iter([float(buffer) if buffer.ndim == 0 else buffer for buffer in buffers])
        gradient = tuple([_nested(self._parameters[position][1], parts) for position in self._gradient])
        return value.value, gradient if len(gradient) > 1 else gradient[0]

    def scipy(self, *arguments, **named):
        """This function as `scipy.optimize.minimize` takes it: `minimize(f, f.x0, jac=True)`.

        Arguments that the gradient is taken with respect to are where the search begins, `f.x0`; the others stay as they are.
        `f.parts(x)` are the arguments that an array stands for. Where the library exports them, `f.hess` and `f.hessp`
        are second derivatives.
        """
        if len(arguments) != len(self._names) or named:
            arguments = self._named(arguments, named)
        return _Objective(self, arguments)

    @property
    def torch(self):
        """This function of tensors, differentiable by PyTorch, once."""
        return self._adapt("torch", _for_torch)

    @property
    def jax(self):
        """This function of arrays of JAX, with `jax.grad` and `jax.jit`."""
        return self._adapt("jax", _for_jax)

    def _adapt(self, name, adapter):
        if name not in self._adapted:
            apply = adapter(self)

            def adapted(*arguments, **named):
                if len(arguments) != len(self._names) or named:
                    arguments = self._named(arguments, named)
                parts = zip(self._parameters, arguments)
                return apply([leaf for (name, kind), value in parts for leaf in _flat(name, kind, value)])

            adapted.__name__, adapted.__doc__ = self.__name__, self.__doc__
            self._adapted[name] = adapted
        return self._adapted[name]

    def _beside(self, derivative):
        """The function of the library that computes a derivative of this one."""
        name = f"{self.__name__}_{derivative}"
        if name not in _functions:
            what = f"({derivative} {self.__name__} ...)"
            raise AttributeError(f"the library exports no {derivative} of {self.__name__}: `(export {what} ...)` does")
        return _functions[name]

    def _no_gradient(self, place):
        """The message that an argument, of which a part has this place, has no gradient."""
        name, of = self._leaves[place][0], self.__name__
        return f"the library exports no gradient of {of} with respect to {name}: `(export (gradient {of} ...) ...)` names it"

    def _wanted_leaves(self, gradients):
        """The numbers and arrays of a gradient."""
        parts = zip(self._gradient, gradients if len(self._gradient) > 1 else [gradients])
        return [leaf for position, part in parts for leaf in _flat(*self._parameters[position], part)]

    def _fail(self, context, code):
        message = _library.@name@_message(context)
        raise Error(code, (message or b"").decode("utf-8", "replace"))

    def map(self, executor, calls):
        """The results of several calls, each given as a tuple of arguments, in order.

        `executor` has a method `submit`, as thread pools, process pools and Dask's clients have, or `starmap`, as the pools
        of `multiprocessing` and Ray have.
        """
        calls = list(calls)
        if hasattr(executor, "submit"):
            return [future.result() for future in [executor.submit(self, *call) for call in calls]]
        return list(executor.starmap(self, calls))

    def sum(self, shards, arguments, comm=None, executor=None):
        """The sum of the results for `shards` shards, of which `arguments(shard)` gives the arguments.

        With `comm`, a communicator of mpi4py, each rank computes the shards that are its own, and all get the sum. With
        `executor`, the calls of a rank go to it. The result has the same bits for any number of ranks and threads: the sum
        is that of a tree which the number of shards decides alone. If one rank fails, all raise an error.
        """
        rank, ranks = (0, 1) if comm is None else (comm.Get_rank(), comm.Get_size())
        failure, nodes, shape = None, {}, None
        try:
            if shards < 1:
                raise ValueError("there is at least one shard")
            first, end = bounds(shards, ranks, rank)
            calls = [tuple(arguments(shard)) for shard in range(first, end)]
            results = [self(*call) for call in calls] if executor is None else self.map(executor, calls)
            for shard, result in enumerate(results, first):
                nodes[shard, shard + 1], own = _pack(result)
                if shape not in (None, own):
                    raise ValueError("the results of shards differ in shape")
                shape = own
            nodes = {node: _tree(*node, nodes) for node in _cover(0, shards, first, end)}
        except BaseException as error:  # Whatever it is, an exit, too, the other ranks have to know.
            failure = error
        if comm is not None:
            failure = _agree(comm, failure, shards)
            if failure is None:
                found = [shape for shape in comm.allgather(shape) if shape is not None]
                if any(other != found[0] for other in found):
                    raise ValueError("the results of shards differ in shape")
                shape = found[0]
                nodes = _exchange(comm, nodes, shards, ranks, _size(shape))
        if failure is not None:
            raise failure
        return _unpack(_tree(0, shards, nodes), shape)


def _pack(result):
    """The numbers of a result, one after another, and what else it consists of."""
    if isinstance(result, tuple) or hasattr(result, "_kinds"):
        parts = [_pack(part) for part in _values(result)]
        return _numpy.concatenate([numbers for numbers, _ in parts]), (type(result), *[shape for _, shape in parts])
    if isinstance(result, _numpy.ndarray):
        return result.ravel(), list(result.shape)
    return _numpy.array([result], dtype=_numpy.float64), "real"


def _size(shape):
    if isinstance(shape, tuple):
        return sum(_size(part) for part in shape[1:])
    return 1 if shape == "real" else int(_numpy.prod(shape, dtype=int))


def _unpack(numbers, shape):
    def part(shape, at):
        if isinstance(shape, tuple):
            parts = []
            for inner in shape[1:]:
                value, at = part(inner, at)
                parts.append(value)
            return tuple(parts) if shape[0] is tuple else shape[0](*parts), at
        end = at + _size(shape)
        return (float(numbers[at]) if shape == "real" else numbers[at:end].reshape(shape).copy()), end

    return part(shape, 0)[0]


def _tree(first, end, nodes):
    """The sum over the shards from `first` to `end`, of which the nodes of the tree below are known."""
    if (first, end) in nodes:
        return nodes[first, end]
    middle = (first + end) // 2
    return _tree(first, middle, nodes) + _tree(middle, end, nodes)


def _cover(first, end, own, own_end):
    """The largest nodes of the tree whose shards are all among those of a rank."""
    if own <= first and end <= own_end:
        return [(first, end)]
    if own_end <= first or end <= own or end - first <= 1:
        return []
    middle = (first + end) // 2
    return _cover(first, middle, own, own_end) + _cover(middle, end, own, own_end)


def _agree(comm, failure, shards):
    """What to raise: the failure of this rank, or the news that another one has failed or adds up something else."""
    news = comm.allgather((None if failure is None else f"{type(failure).__name__}: {failure}", shards))
    failed = [(rank, message) for rank, (message, _) in enumerate(news) if message is not None]
    if failure is not None:
        return failure
    if failed:
        return Error(1, "rank %d failed: %s" % failed[0])
    counts = [count for _, count in news]
    return None if len(set(counts)) == 1 else ValueError(f"ranks add up different numbers of shards: {counts}")


def _exchange(comm, nodes, shards, ranks, size):
    """The nodes of all ranks: each rank sends some rows of doubles, and gets those of the others."""
    covers = [_cover(0, shards, *bounds(shards, ranks, rank)) for rank in range(ranks)]
    own = _numpy.array([nodes[node] for node in covers[comm.Get_rank()]], dtype=_numpy.float64).reshape(-1)
    counts = [len(cover) * size for cover in covers]
    everything = _numpy.empty(sum(counts))
    comm.Allgatherv(own, [everything, counts])
    rows = iter(everything.reshape(-1, size))
    return {node: next(rows) for cover in covers for node in cover}


# Functions are found here and not among the names of the module, so that they may be called as anything that it uses.
_functions = {}


def _find(name):
    return _functions[name]


def __getattr__(name):
    if name in _functions:
        # Next time, Python finds it by itself, unless this module uses what has the name.
        return _functions[name] if hasattr(_builtins, name) else globals().setdefault(name, _functions[name])
    raise AttributeError(f"the library @name@ has no function {name}")


def __dir__():
    return __all__
