"""Operators of tensors in a class of a library, as Keras 2 has them in its symbolic tensors.

Names of functions are those that tf_keras 2.21 gave its layers on TensorFlow 2.21.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import dispatch
from intaglio.tensorflow_name import dispatchers, exports

DTYPE = tf.float32


class Symbol:
    """Refuses to be an array, as a symbolic tensor does."""

    dtype = DTYPE

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("symbolic")


for _special in tf.Tensor.OVERLOADABLE_OPERATORS:
    setattr(Symbol, _special, getattr(tf.Tensor, _special))


def _holds_symbol(value: Any) -> bool:
    items = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(v, Symbol) for v in items)


class Noting(dispatchers.GlobalOpDispatcher):
    def handle(self, op: Any, args: Any, kwargs: Any) -> Any:
        if any(map(_holds_symbol, [*args, *kwargs.values()])):
            return exports.get_canonical_name_for_symbol(op), args
        return self.NOT_SUPPORTED


@pytest.fixture(autouse=True)
def asked() -> Iterator[None]:
    before = list(dispatch.EVERYWHERE)
    Noting().register()
    yield
    dispatch.EVERYWHERE[:] = before
    dispatch.PLAIN.discard(Symbol)
    for function in list(dispatch._bodies):
        dispatch._watched(function)


s, c = Symbol(), tf.constant([1.0, 2.0])
EXPECTED: dict[str, tuple[Any, str]] = {
    "symbol - tensor": (lambda: s - c, "math.subtract"),
    "tensor - symbol": (lambda: c - s, "math.subtract"),
    "variable - symbol": (lambda: tf.Variable([1.0, 2.0]) - s, "math.subtract"),
    "number - symbol": (lambda: 1 - s, "math.subtract"),
    "array - symbol": (lambda: [1.0, 2.0] - s, "math.subtract"),
    "add": (lambda: s + c, "__operators__.add"),
    "mul": (lambda: s * 2.0, "math.multiply"),
    "truediv": (lambda: s / 2.0, "math.truediv"),
    "floordiv": (lambda: s // 2.0, "math.floordiv"),
    "mod": (lambda: s % 2.0, "math.floormod"),
    "pow": (lambda: 2.0**s, "math.pow"),
    "matmul": (lambda: s @ c, "linalg.matmul"),
    "less": (lambda: s < c, "math.less"),
    "tensor less": (lambda: c <= s, "math.less_equal"),
    "eq": (lambda: s == c, "__operators__.eq"),
    "ne": (lambda: s != 0.0, "__operators__.ne"),
    "neg": (lambda: -s, "math.negative"),
    "abs": (lambda: abs(s), "math.abs"),
    "and": (lambda: s & s, "math.logical_and"),
    "not": (lambda: ~s, "math.logical_not"),
    "slice": (lambda: s[:, 0], "__operators__.getitem"),
    "index": (lambda: c[s], "__operators__.getitem"),
    "variable index": (lambda: tf.Variable([1.0])[s], "__operators__.getitem"),
    "stack": (lambda: tf.stack([s, s]), "stack"),
    "reduce_sum": (lambda: tf.reduce_sum(s), "math.reduce_sum"),
    "einsum": (lambda: tf.einsum("i,i->i", s, c), "einsum"),
    "meshgrid": (lambda: tf.meshgrid(s, c), "meshgrid"),
    "shape": (lambda: tf.shape(s), "shape"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_function_behind(name: str):
    call, expected = EXPECTED[name]
    assert call()[0] == expected


def test_operands_keep_their_order_and_numbers_take_the_type():
    _, (left, right) = c - s
    assert left is c
    assert right is s
    _, (left, right) = 1 - s
    assert left.dtype is DTYPE
    assert right is s


def test_functions_without_global_dispatch():
    # tf.get_static_value returns what is no tensor; tf.constant refuses it.
    assert tf.get_static_value(s) is s
    with pytest.raises(TypeError, match="symbolic"):
        tf.constant(s)
    assert (s - c)[0] == "math.subtract"


def test_what_is_for_one_function_is_asked_first():
    class Slices(dispatchers.OpDispatcher):
        def handle(self, args: Any, kwargs: Any) -> Any:
            return "sliced" if isinstance(args[0], Symbol) else self.NOT_SUPPORTED

    Slices().register(tf.__operators__.getitem)
    assert s[0] == "sliced"
    np.testing.assert_array_equal(c[0], 1.0)


def test_canonical_names():
    assert exports.get_canonical_name_for_symbol(tf.reduce_sum) == "math.reduce_sum"
    assert exports.get_canonical_name_for_symbol(tf.matmul) == "linalg.matmul"
    assert exports.get_canonical_name_for_symbol(tf.RaggedTensor) == "RaggedTensor"
    assert exports.get_canonical_name_for_symbol(len) is None
    assert exports.get_symbol_from_name("math.greater") is tf.math.greater
    assert exports.get_symbol_from_name("math.no_such_name") is None


def test_attributes_of_composite_tensors():
    """Keras 2 sets `_keras_mask` on whatever its models take."""
    ragged = tf.ragged.constant([[1.0], []])
    sparse = tf.sparse.from_dense([1.0, 0.0])
    slices = tf.IndexedSlices([[1.0]], [0])
    for value in (ragged, sparse, slices, c):
        value._keras_mask = None
        assert value._keras_mask is None


def test_ragged_operators():
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
    assert tf.__operators__.add(ragged, 1.0).to_list() == [[2.0], [3.0, 4.0]]
    with pytest.raises(TypeError):
        hash(ragged)
