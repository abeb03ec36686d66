def _package(name, function, adapter):
    """A package that only an adapter needs."""
    try:
        return _importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{function.__name__}.{adapter} needs the package {name}: pip install {name}") from error


# Types of arguments that other packages know nothing of: they are handed on as they are, and are constants to them. That
# of a function is a text, too.
_CONSTANT = ("text", "function")


def _plain(kind, leaf):
    """A number or an array of another package, as calls take it."""
    if kind in _CONSTANT:
        return leaf
    array = _numpy.asarray(leaf)
    return array.item() if kind in ("integer", "boolean") else array.astype(_double)


# What SciPy calls second derivatives, and what exports do.
_second = {"hess": "hessian", "hessp": "hvp"}


class _Objective:
    """A function of one array, as `scipy.optimize.minimize` takes it with `jac=True`.

    The array holds all that the gradient is taken with respect to, one after another: `x0` are the values that the
    objective was made with, and `parts` makes numbers, arrays, tuples and records of such an array again. There are
    methods `hess` and `hessp` if the library exports the Hessian, or its product with a direction, with respect to the
    same parameter.
    """

    def __init__(self, function, arguments):
        self._function, self._arguments = function, list(arguments)
        self._gradient = function._beside("gradient")
        self._positions = self._gradient._gradient
        start = []
        for position in self._positions:
            name, kind = function._parameters[position]
            leaves = zip(_leaves(name, kind), _flat(name, kind, arguments[position]))
            numbers = [_array(n, k, leaf) if sizes else _number(n, leaf) for (n, k, sizes), leaf in leaves]
            start.append(_nested(kind, iter(numbers)))
        self.x0, self._shape = _pack(tuple(start))
        for method, derivative in _second.items():
            if [getattr(_functions.get(f"{function.__name__}_{derivative}"), "_at", None)] == self._positions:
                setattr(self, method, getattr(self, "_" + method))

    def __getattr__(self, name):
        if name in _second:
            function, derivative = self._function, _second[name]
            of = " and ".join(function._names[position] for position in self._positions)
            raise AttributeError(
                f"there is no {name}: the library exports no {derivative} of {function.__name__} with respect to {of}; "
                f"`(export ({derivative} ...) ...)` does, for one parameter"
            )
        raise AttributeError(f"an objective has no {name}")

    def parts(self, x):
        """What an array of numbers stands for: the value of the parameter, or a tuple of the values of several."""
        x = _array("x", "vector", x)
        if x.size != self.x0.size:
            raise ValueError(f"x is an array of {self.x0.size} numbers, not of {x.size}")
        values = _unpack(x, self._shape)
        return values if len(values) > 1 else values[0]

    def _call(self, x):
        """The arguments of a call."""
        values, arguments = self.parts(x), list(self._arguments)
        for position, value in zip(self._positions, values if len(self._positions) > 1 else [values]):
            arguments[position] = value
        return arguments

    def __call__(self, x):
        value, gradient = self._gradient(*self._call(x))
        return value, _pack(gradient)[0]

    def _hess(self, x):
        return _numpy.atleast_2d(self._function._beside("hessian")(*self._call(x)))

    def _hessp(self, x, p):
        return _pack(self._function._beside("hvp")(*self._call(x), self.parts(p)))[0]


def _for_torch(function):
    torch = _package("torch", function, "torch")
    gradient = function._beside("gradient")
    kinds = [kind for _, kind, _ in function._leaves]

    def arguments(leaves):
        plain = [leaf.detach().cpu() if torch.is_tensor(leaf) else leaf for leaf in leaves]
        plain = [leaf.to(torch.float64) if torch.is_tensor(leaf) and leaf.is_floating_point() else leaf for leaf in plain]
        leaves = iter([_plain(kind, leaf) for kind, leaf in zip(kinds, plain)])
        return [_nested(kind, leaves) for _, kind in function._parameters]

    class Slope(torch.autograd.Function):
        """The gradient times a sensitivity. It depends on the arguments, so that nobody takes it for a constant."""

        @staticmethod
        def forward(ctx, sensitivity, count, *parts):
            return tuple(sensitivity * of for of in parts[:count])

        @staticmethod
        def backward(ctx, *_):
            raise RuntimeError(f"{function.__name__}.torch is differentiable once: the library gives no second derivatives")

    class Call(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *leaves):
            for place, needed in enumerate(ctx.needs_input_grad):
                if needed and place not in gradient._wanted:
                    raise TypeError(function._no_gradient(place))
            if any(ctx.needs_input_grad):
                value, gradients = gradient(*arguments(leaves))
                gradients = gradient._wanted_leaves(gradients)
            else:
                value, gradients = function(*arguments(leaves)), []
            like = [leaf for leaf in leaves if torch.is_tensor(leaf) and leaf.is_floating_point()]
            ctx.places = [place for place in gradient._wanted if ctx.needs_input_grad[place]]
            kept = dict(zip(gradient._wanted, gradients))
            of = [torch.as_tensor(kept[place], dtype=leaves[place].dtype, device=leaves[place].device) for place in ctx.places]
            ctx.save_for_backward(*of, *[leaves[place] for place in ctx.places])
            dtype, device = (like[0].dtype, like[0].device) if like else (torch.float64, None)
            return torch.tensor(value, dtype=dtype, device=device)

        @staticmethod
        def backward(ctx, sensitivity):
            result = [None] * len(kinds)
            for place, part in zip(ctx.places, Slope.apply(sensitivity, len(ctx.places), *ctx.saved_tensors)):
                result[place] = part
            return tuple(result)

    return lambda leaves: Call.apply(*leaves)


def _for_jax(function):
    jax = _package("jax", function, "jax")
    gradient = function._beside("gradient")
    kinds = [kind for _, kind, _ in function._leaves]
    places = [place for place, kind in enumerate(kinds) if kind not in _CONSTANT]
    _register_records(jax)

    def real():
        return jax.numpy.result_type(float)

    def of_arrays(constants):
        return _jax_call(jax, function, gradient, kinds, places, constants)

    # JAX knows this function again. One with functions or texts in it is made for each call.
    known = of_arrays({}) if len(places) == len(kinds) else None

    def apply(leaves):
        constants = {place: leaves[place] for place, kind in enumerate(kinds) if kind in _CONSTANT}
        arrays = [jax.numpy.asarray(leaves[place]) for place in places]
        are_real = [kinds[place] not in ("integer", "boolean") for place in places]
        is_exact = [not jax.numpy.issubdtype(array.dtype, jax.numpy.floating) for array in arrays]
        call = known or of_arrays(constants)
        return call(*[a.astype(real()) if r and e else a for a, r, e in zip(arrays, are_real, is_exact)])

    return apply


def _jax_call(jax, function, gradient, kinds, places, constants):
    """The function of the arrays at these places among the arguments, where others are constants."""
    wanted = [places.index(place) for place in gradient._wanted]

    def real():
        return jax.numpy.result_type(float)

    def arguments(arrays):
        arrays = dict(zip(places, arrays))
        leaves = iter([_plain(kind, arrays.get(place, constants.get(place))) for place, kind in enumerate(kinds)])
        return [_nested(kind, leaves) for _, kind in function._parameters]

    def value(*leaves):
        return _numpy.asarray(function(*arguments(leaves)), dtype=real())

    def value_and_gradient(*leaves):
        value, gradients = gradient(*arguments(leaves))
        of = zip(wanted, gradient._wanted_leaves(gradients))
        gradients = [_numpy.asarray(part, dtype=leaves[place].dtype) for place, part in of]
        return _numpy.asarray(value, dtype=real()), gradients

    @jax.custom_vjp
    def call(*leaves):
        return jax.pure_callback(value, jax.ShapeDtypeStruct((), real()), *leaves, vmap_method="sequential")

    def forward(*leaves):
        for place, leaf in enumerate(leaves):
            if leaf.perturbed and place not in wanted:
                raise TypeError(function._no_gradient(places[place]))
        leaves = [leaf.value for leaf in leaves]
        parts = [jax.ShapeDtypeStruct(leaves[place].shape, leaves[place].dtype) for place in wanted]
        shapes = jax.ShapeDtypeStruct((), real()), parts
        return jax.pure_callback(value_and_gradient, shapes, *leaves, vmap_method="sequential")

    def backward(gradients, sensitivity):
        result = [None] * len(places)
        if not isinstance(sensitivity, jax.custom_derivatives.SymbolicZero):
            for place, of in zip(wanted, gradients):
                result[place] = (sensitivity * of).astype(of.dtype)
        return tuple(result)

    call.defvjp(forward, backward, symbolic_zeros=True)
    return call


_registered = set()


def _register_records(jax):
    """Lets JAX look into records."""
    for record in _records:
        if record not in _registered:
            _registered.add(record)
            jax.tree_util.register_dataclass(record, data_fields=list(record._kinds), meta_fields=[])


# The classes of records.
_records = []
