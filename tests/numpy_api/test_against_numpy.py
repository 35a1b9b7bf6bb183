"""Functions give what NumPy gives: eagerly, traced with unknown dimensions, and with unknown rank."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from intaglio import tf

tnp = tf.experimental.numpy
QUICK = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)

UNARY = (
    "sin", "cos", "tan", "arctan", "arcsinh", "sinh", "cosh", "tanh", "exp", "exp2", "expm1",
    "cbrt", "deg2rad", "rad2deg", "sinc", "floor", "ceil", "fix", "around", "abs", "fabs",
    "negative", "positive", "square", "sign", "isfinite", "isinf", "isnan", "isreal",
    "iscomplex", "real", "imag", "conj", "angle", "logical_not", "sum", "prod", "mean", "var",
    "std", "max", "min", "amax", "amin", "ptp", "all", "any", "argmax", "argmin",
    "count_nonzero", "cumsum", "cumprod", "nansum", "nanprod", "nanmean", "ravel", "flatten",
    "transpose", "flip", "atleast_1d", "atleast_2d", "atleast_3d", "squeeze", "zeros_like",
    "ones_like", "diff", "sort", "argsort", "copy", "isposinf", "isneginf", "tril", "triu",
    "average",
)  # fmt: skip
POSITIVE = ("sqrt", "log", "log2", "log10", "log1p", "reciprocal")
BINARY = (
    "add", "subtract", "multiply", "true_divide", "floor_divide", "mod", "remainder", "power",
    "maximum", "minimum", "heaviside", "hypot", "arctan2", "logaddexp", "logaddexp2", "equal",
    "not_equal", "greater", "greater_equal", "less", "less_equal", "logical_and", "logical_or",
    "logical_xor", "isclose", "allclose", "outer", "kron", "append",
)  # fmt: skip
INTEGERS = ("gcd", "lcm", "bitwise_and", "bitwise_or", "bitwise_xor")

# Where NumPy has it as a method, or not in a given order.
_NUMPYS = {"flatten": np.ravel, "argsort": lambda x: np.argsort(x, kind="stable")}

floats = st.floats(-4, 4, width=32)
shapes = arrays.array_shapes(min_dims=1, max_dims=3, max_side=4)
values = arrays.arrays(np.float64, shapes, elements=floats)
square = arrays.arrays(
    np.float64, arrays.array_shapes(min_dims=2, max_dims=3, max_side=4), elements=floats
)
pairs = arrays.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4)


def _same(mine: Any, theirs: Any) -> None:
    if isinstance(theirs, (list, tuple)):
        assert len(mine) == len(theirs)
        for one, two in zip(mine, theirs, strict=True):
            _same(one, two)
        return
    got, wanted = np.asarray(mine), np.asarray(theirs)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got.astype(complex), wanted.astype(complex), rtol=1e-6, atol=1e-7)


def _everywhere(function: Any, wanted: Any, *args: np.ndarray) -> None:
    """Eagerly, and in graphs that know the rank, or nothing."""
    _same(function(*args), wanted)
    for shaped in (True, False):
        specs = [tf.TensorSpec([None] * a.ndim if shaped else None, a.dtype) for a in args]
        try:
            traced = tf.function(function, input_signature=specs)
            result = traced(*args)
        except ValueError as e:
            assert not shaped and "rank" in str(e), e  # says what it needs to know
            continue
        _same(result, wanted)


@pytest.mark.parametrize("name", UNARY)
@QUICK
@given(st.data())
def test_of_one(name: str, data: st.DataObject) -> None:
    x = data.draw(square if name in ("tril", "triu") else values)
    if name == "around":
        x = x + 0.001
    if name == "angle":
        x = x + 0.0  # no -0, whose angle is pi in NumPy
    _everywhere(getattr(tnp, name), _NUMPYS.get(name, getattr(np, name, None))(x), x)


@pytest.mark.parametrize("name", POSITIVE)
@QUICK
@given(arrays.arrays(np.float64, shapes, elements=st.floats(0.125, 9, width=32)))
def test_of_positive(name: str, x: np.ndarray) -> None:
    _everywhere(getattr(tnp, name), getattr(np, name)(x), x)


@pytest.mark.parametrize("name", BINARY)
@QUICK
@given(pairs, st.data())
def test_of_two(name: str, pair: arrays.BroadcastableShapes, data: st.DataObject) -> None:
    first, second = pair.input_shapes
    element = st.floats(0.125, 4, width=32)
    x = data.draw(arrays.arrays(np.float64, first, elements=element))
    y = data.draw(arrays.arrays(np.float64, second, elements=element))
    if name == "append":
        x, y = x.ravel(), y.ravel()
    if name in ("floor_divide", "mod", "remainder"):
        x = x + 0.01  # not on the edge, where rounding decides
    _everywhere(getattr(tnp, name), getattr(np, name)(x, y), x, y)


@pytest.mark.parametrize("name", INTEGERS)
@QUICK
@given(pairs, st.data())
def test_of_integers(name: str, pair: arrays.BroadcastableShapes, data: st.DataObject) -> None:
    first, second = pair.input_shapes
    element = st.integers(-60, 60)
    x = data.draw(arrays.arrays(np.int64, first, elements=element))
    y = data.draw(arrays.arrays(np.int64, second, elements=element))
    _everywhere(getattr(tnp, name), getattr(np, name)(x, y), x, y)


CALLS = {
    "sum along": lambda m, x: m.sum(x, axis=-1, keepdims=True),
    "mean along": lambda m, x: m.mean(x, axis=0),
    "var of a sample": lambda m, x: m.var(x, axis=0, ddof=1) if len(x) > 1 else x,
    "cumsum along": lambda m, x: m.cumsum(x, axis=-1),
    "sort along": lambda m, x: m.sort(x, axis=0),
    "argmax along": lambda m, x: m.argmax(x, axis=0),
    "take": lambda m, x: m.take(x, np.array([0, 5, 2]), axis=0, mode="clip"),
    "take around": lambda m, x: m.take(x, np.array([0, 5, -2]), mode="wrap"),
    "roll": lambda m, x: m.roll(x, 1, axis=0),
    "roll all": lambda m, x: m.roll(x, -2),
    "flip one": lambda m, x: m.flip(x, 0),
    "tile": lambda m, x: m.tile(x, (2, 1, 3)),
    "repeat": lambda m, x: m.repeat(x, 2, axis=0),
    "repeat all": lambda m, x: m.repeat(x, 3),
    "stack": lambda m, x: m.stack([x, x], axis=0),
    "concatenate": lambda m, x: m.concatenate([x, x], axis=0),
    "vstack": lambda m, x: m.vstack([x, x]),
    "dstack": lambda m, x: m.dstack([x, x]),
    "clip": lambda m, x: m.clip(x, -1, 2.0),
    "expand_dims": lambda m, x: m.expand_dims(x, 0),
    "swapaxes": lambda m, x: m.swapaxes(x, 0, -1),
    "reshape": lambda m, x: m.reshape(x, (1, -1)),
    "where": lambda m, x: m.where(x > 0, x, 0),
    "select": lambda m, x: m.select([x > 1, x > 0], [x, 2 * x], 7),
    "compress": lambda m, x: m.compress([True], x, axis=0),
    "diagflat": lambda m, x: m.diagflat(x, 1),
    "polyval": lambda m, x: m.polyval(x.ravel() if m is np else m.ravel(x), 0.5),
    "full_like": lambda m, x: m.full_like(x, 3),
    "inner": lambda m, x: m.inner(x, x),
    "vdot": lambda m, x: m.vdot(x, x),
    "pad": lambda m, x: m.pad(m.ravel(x), [[1, 2]], "constant", constant_values=3),
    "along": lambda m, x: m.take_along_axis(x, m.argsort(x, axis=0), axis=0),
}


@pytest.mark.parametrize("name", CALLS)
@QUICK
@given(values)
def test_call(name: str, x: np.ndarray) -> None:
    call = CALLS[name]
    _everywhere(lambda t: call(tnp, tf.convert_to_tensor(t)), call(np, x), x)


MATRICES = {
    "diagonal": lambda m, x: m.diagonal(x, 1),
    "diagonal of axes": lambda m, x: m.diagonal(x, -1, -1, 0),
    "trace": lambda m, x: m.trace(x),
    "swap": lambda m, x: m.moveaxis(x, 0, -1),
    "rot90": lambda m, x: m.rot90(x),
    "rot90 back": lambda m, x: m.rot90(x, -1),
    "fliplr": lambda m, x: m.fliplr(x),
    "matmul": lambda m, x: m.matmul(x, m.swapaxes(x, -1, -2)),
    "matvec": lambda m, x: m.matmul(x, m.ones_like(x[(0,) * (len(x.shape) - 1)])),
    "dot": lambda m, x: m.dot(x, m.swapaxes(x, -1, -2)),
    "tensordot": lambda m, x: m.tensordot(x, x, axes=[[0], [0]]),
    "hstack": lambda m, x: m.hstack([x, x]),
    "cross": lambda m, x: m.cross(x[..., :1] + np.arange(3.0), np.array([1.0, 2, 0])),
}


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
@pytest.mark.parametrize("name", MATRICES)
@QUICK
@given(square)
def test_matrix(name: str, x: np.ndarray) -> None:
    call = MATRICES[name]
    _same(call(tnp, tf.constant(x)), call(np, x))
    spec = tf.TensorSpec([None] * x.ndim, x.dtype)
    if name != "cross":  # its components are counted while tracing
        traced = tf.function(lambda t: call(tnp, t), input_signature=[spec])
        _same(traced(x), call(np, x))


@pytest.mark.parametrize("name", ["matmul", "dot", "inner"])
@pytest.mark.parametrize(
    ("one", "two"),
    [([3], [3]), ([2, 3], [3]), ([3], [3, 3]), ([2, 3], [3, 3]), ([4, 2, 3], [3, 3])],
    ids=str,
)
def test_products_of_unknown_rank(name: str, one: list[int], two: list[int]) -> None:
    x, y = np.random.rand(*one), np.random.rand(*two)
    _everywhere(getattr(tnp, name), getattr(np, name)(x, y), x, y)
    spec = tf.TensorSpec(None, tf.float64)
    traced = tf.function(getattr(tnp, name), input_signature=[spec, spec])
    _same(traced(x, y), getattr(np, name)(x, y))
    if name != "matmul":
        _same(traced(x, np.float64(2)), x * 2)
    move = tf.function(lambda t: tnp.moveaxis(t, [0], [-1]), input_signature=[spec])
    _same(move(x), np.moveaxis(x, [0], [-1]))


@QUICK
@given(st.integers(1, 4), st.integers(1, 5), st.integers(-3, 3))
def test_creation(rows: int, columns: int, k: int) -> None:
    for name in ("eye", "tri"):
        wanted = getattr(np, name)(rows, columns, k)
        _same(getattr(tnp, name)(rows, columns, k), wanted)
        late = tf.function(lambda r, c: getattr(tnp, name)(r, c, k))  # noqa: B023
        _same(late(tf.constant(rows), tf.constant(columns)), wanted)
    _same(tnp.arange(rows, columns, 0.5), np.arange(rows, columns, 0.5))
    _same(tnp.linspace(rows, k, columns), np.linspace(rows, k, columns))
    _same(tnp.geomspace(rows, 9, columns), np.geomspace(rows, 9, columns))
    _same(tnp.vander([1, 2, k], columns), np.vander([1, 2, k], columns))


INDICES = [
    (slice(None), [1, 0]),
    ([0, 1], slice(None), [1, 2]),
    (slice(None), [0, 1], [1, -1]),
    ([[0], [1]], [[0, 1]]),
    ([1, 0],),
    (Ellipsis, [2, 0]),
    (1, [0, 2]),
    (slice(None), None, [0, 1]),
    (slice(None, None, -1), [1]),
    ([True, False], 1),
    (slice(None), np.array([True, False, True])),
    ([0, 1], None, [1, 2]),
]


@pytest.mark.usefixtures("numpy_behavior")
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_brackets(index: Any) -> None:
    x = np.arange(24).reshape(2, 3, 4)
    wanted = x[index]
    _same(tf.constant(x)[index], wanted)
    spec = tf.TensorSpec([None] * 3, tf.int64)
    _same(tf.function(lambda t: t[index], input_signature=[spec])(x), wanted)
