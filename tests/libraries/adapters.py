"""Hands functions of the library to another package, which has to find the same derivatives as the library."""

import sys

sys.path[:0] = sys.argv[1], sys.argv[3]

import numpy
import functions as f
import passed


def numbers(*shape):
    k = numpy.arange(int(numpy.prod(shape)))
    return ((7 * k % 11) / 4 - 1.1).reshape(shape)


def fails(error, text, call):
    try:
        call()
    except error as found:
        assert text in str(found), found
        return
    raise AssertionError("nothing failed")


def near(a, b):
    return numpy.allclose(numpy.asarray(a), numpy.asarray(b), rtol=1e-12, atol=1e-12)


def mixed(n, x, b, v, name):
    return n * x * v.sum() + b * len(name), (n * v.sum(), numpy.full(v.size, n * x))


square = (lambda x: x * x, lambda x: 2 * x)
mixed_value, (mixed_x, mixed_v) = passed.mixed_gradient(mixed, 3, 0.5, [1.0, 2.0], "w")
w, b, x, y = numbers(5), 0.125, numbers(40, 5), numbers(40)
value, (gw, gb) = f.loss_gradient(w, b, x, y)
energy = (numbers(4, 3), numbers(3)), 0.75
energy_value, ((gm, gv), gk) = f.energy_gradient(*energy)
model = f.LinearModel(numbers(5), 0.125)
badness, gmodel = f.badness_gradient(model, x, y)


def scipy():
    from scipy.optimize import check_grad, minimize

    start = numpy.array([-1.2, 1.0])
    valley = f.valley.scipy(start)
    for method, options in [
        ("BFGS", {}),
        ("L-BFGS-B", {}),
        ("Newton-CG", {"hessp": valley.hessp}),
        ("trust-exact", {"hess": valley.hess}),
        ("trust-krylov", {"hessp": valley.hessp}),
    ]:
        found = minimize(valley, valley.x0, jac=True, method=method, **options)
        assert found.success and numpy.allclose(valley.parts(found.x), 1, atol=1e-3), (method, found)
    assert (start == [-1.2, 1]).all()
    assert near(valley.hess(start) @ [1, 2], valley.hessp(start, [1, 2]))
    # Several parameters, a tuple and a record are one array.
    loss = f.loss.scipy(w, b, x, y=y)
    assert loss.x0.tolist() == [*w, b] and loss(loss.x0)[0] == value and loss(loss.x0)[1].tolist() == [*gw, gb]
    found = minimize(loss, loss.x0, jac=True)
    w_found, b_found = loss.parts(found.x)
    exact = numpy.linalg.lstsq(numpy.column_stack([x, numpy.ones(40)]), y, rcond=None)[0]
    assert numpy.allclose([*w_found, b_found], exact, atol=1e-3), (found, exact)
    parts = f.energy.scipy(*energy)
    assert parts(parts.x0)[0] == energy_value and parts(parts.x0)[1].tolist() == [*gm.ravel(), *gv, gk]
    (m, v), k = parts.parts(parts.x0)
    assert (m == energy[0][0]).all() and (v == energy[0][1]).all() and k == 0.75
    record = f.badness.scipy(model, x, y)
    assert type(record.parts(record.x0)) is f.LinearModel
    found = minimize(record, record.x0, jac=True, hessp=record.hessp, method="Newton-CG", options={"xtol": 1e-10})
    best = record.parts(found.x)
    assert numpy.allclose([*best.weights, best.bias], exact), (best, exact)
    power = f.power.scipy(1.5, 4)
    assert check_grad(lambda x: power(x)[0], lambda x: power(x)[1], power.x0) < 1e-5
    fails(ValueError, "x is an array of 2 numbers, not of 3", lambda: valley(numbers(3)))
    fails(ValueError, "w is a vector", lambda: f.loss.scipy(1, b, x, y))
    fails(TypeError, "loss is called without y", lambda: f.loss.scipy(w, b, x))
    fails(AttributeError, "exports no gradient of cube", lambda: f.cube.scipy(1))
    fails(AttributeError, "no hessp: the library exports no hvp of loss with respect to w and b", lambda: loss.hessp)
    fails(AttributeError, "exports no hessian of badness with respect to m", lambda: record.hess)


def torch():
    import torch

    def tensor(numbers, grad=True, dtype=torch.float64):
        return torch.tensor(numbers, dtype=dtype, requires_grad=grad)

    tw, tb, tx, ty = tensor(w), tensor(b), tensor(x, False), tensor(y, False)
    loss = f.loss.torch(tw, tb, tx, y=ty)
    assert loss.dtype == torch.float64 and loss.item() == value
    (3 * loss).backward()
    assert near(tw.grad, 3 * gw) and near(tb.grad, 3 * gb)
    assert torch.autograd.gradcheck(lambda w, b: f.loss.torch(w.sin(), b * b, tx, ty), (tw, tb))
    # Arrays of NumPy are constants, and so is what needs no gradient.
    tw.grad = None
    f.loss.torch(tw, b, x, y).backward()
    assert near(tw.grad, gw)
    assert not f.loss.torch(tw.detach(), b, x, y).requires_grad
    with torch.no_grad():
        assert f.loss.torch(tw, tb, tx, ty).item() == value
    # Single precision comes back in single precision.
    sw = tensor(w, dtype=torch.float32)
    single = f.loss.torch(sw, torch.tensor(b), x, y)
    single.backward()
    assert single.dtype == sw.grad.dtype == torch.float32 and numpy.allclose(sw.grad, gw, rtol=1e-5)
    # Tuples, records, whole numbers.
    m, v, k = tensor(energy[0][0]), tensor(energy[0][1]), tensor(0.75)
    f.energy.torch((m, v), k).backward()
    assert near(m.grad, gm) and near(v.grad, gv) and near(k.grad, gk)
    record = f.LinearModel(tensor(model.weights), tensor(model.bias))
    f.badness.torch(record, tx, ty).backward()
    assert near(record.weights.grad, gmodel.weights) and near(record.bias.grad, gmodel.bias)
    p = tensor(1.7)
    f.power.torch(p, torch.tensor(3)).backward()
    assert near(p.grad, f.power_gradient(1.7, 3)[1])
    weights = tensor(numpy.zeros(5))
    search = torch.optim.LBFGS([weights], line_search_fn="strong_wolfe")

    def closure():
        search.zero_grad()
        loss = f.loss.torch(weights, 0.0, x, y)
        loss.backward()
        return loss

    for _ in range(5):
        search.step(closure)
    exact = numpy.linalg.lstsq(x, y, rcond=None)[0]
    assert numpy.allclose(weights.detach(), exact, atol=1e-4)
    fails(TypeError, "no gradient of loss with respect to x", lambda: f.loss.torch(tw, tb, tensor(x), ty))
    fails(AttributeError, "exports no gradient of cube", lambda: f.cube.torch)
    fails(f.Error, "index", lambda: f.loss.torch(tw, tb, tx[:3], ty))
    # Functions of the caller and texts are constants.
    tx, tv = tensor(0.5), tensor([1.0, 2.0])
    value = passed.mixed.torch(mixed, 3, tx, tv, name="w")
    value.backward()
    assert value.item() == mixed_value and near(tx.grad, mixed_x) and near(tv.grad, mixed_v)
    tx.grad = None
    passed.twice.torch(square, tx).backward()
    assert near(tx.grad, 6 * 0.5**5) and passed.scaled.torch("two", tx).item() == 1
    fails(ZeroDivisionError, "", lambda: passed.twice.torch(lambda x: 1 / 0, tx))
    p = tensor([1.0, 2.0])
    gradient, = torch.autograd.grad(f.valley.torch(p), p, create_graph=True)
    assert near(gradient.detach(), f.valley_gradient([1, 2])[1])
    fails(RuntimeError, "differentiable once", lambda: gradient.sum().backward())


def jax():
    import jax

    assert numpy.allclose(jax.grad(f.loss.jax)(numpy.float32(w), b, x, y), gw, rtol=1e-5)
    jax.config.update("jax_enable_x64", True)
    both = jax.value_and_grad(lambda w, b: f.loss.jax(w, b, x, y), (0, 1))
    for function in [both, jax.jit(both)]:
        found, (of_w, of_b) = function(w, b)
        assert found == value and near(of_w, gw) and near(of_b, gb), (found, of_w, of_b)
    assert jax.jit(f.loss.jax)(w, b, x, y) == value and f.loss.jax is f.loss.jax
    # The chain rule goes on around it.
    chained = jax.grad(lambda t: f.loss.jax(jax.numpy.sin(t * w), 2 * t, x, y) ** 2)
    function = lambda t: float(f.loss(numpy.sin(t * w), 2 * t, x, y)) ** 2
    assert numpy.isclose(chained(0.3), (function(0.3 + 1e-6) - function(0.3 - 1e-6)) / 2e-6, rtol=1e-6)
    rows = jax.vmap(f.valley.jax)(numbers(6, 2))
    assert near(rows, [f.valley(row) for row in numbers(6, 2)])
    rows = jax.vmap(jax.grad(f.valley.jax))(numbers(6, 2))
    assert near(rows, [f.valley_gradient(row)[1] for row in numbers(6, 2)])
    # Tuples, records, whole numbers.
    of_m, of_v = jax.grad(f.energy.jax)(*energy)
    assert near(of_m, gm) and near(of_v, gv)
    for gradient in [jax.grad(f.badness.jax), jax.jit(jax.grad(f.badness.jax))]:
        found = gradient(model, x, y)
        assert type(found) is f.LinearModel and near(found.weights, gmodel.weights) and near(found.bias, gmodel.bias)
    assert near(jax.grad(f.power.jax)(1.7, 3), f.power_gradient(1.7, 3)[1])
    # Functions of the caller and texts are constants.
    v = numpy.array([1.0, 2.0])
    both = jax.value_and_grad(lambda x, v: passed.mixed.jax(mixed, 3, x, v, "w"), (0, 1))
    for function in [both, jax.jit(both)]:
        found, (of_x, of_v) = function(0.5, v)
        assert found == mixed_value and near(of_x, mixed_x) and near(of_v, mixed_v)
    twice = lambda x: passed.twice.jax(square, x)
    assert near(jax.vmap(jax.grad(twice))(v), [6 * x**5 for x in v])
    assert jax.jit(passed.twice.jax, static_argnums=0)(square, 2.0) == 2.0**6
    assert jax.grad(passed.scaled.jax, 1)("two", 3.0) == 2 and jax.grad(passed.scaled.jax, 1)("one", 3.0) == 1
    fails(Exception, "division by zero", lambda: passed.twice.jax(lambda x: 1 / 0, 3.0))
    fails(TypeError, "no gradient of mixed with respect to n", lambda: jax.grad(
        lambda n: passed.mixed.jax(mixed, n, 0.5, v, "w"))(3.0))
    fails(TypeError, "no gradient of loss with respect to x", lambda: jax.grad(f.loss.jax, 2)(w, b, x, y))
    fails(AttributeError, "exports no gradient of cube", lambda: f.cube.jax)
    fails(Exception, "index", lambda: f.loss.jax(w, b, x[:3], y))


{"scipy": scipy, "torch": torch, "jax": jax}[sys.argv[2]]()
