"""Python's operators on tensors; the answers are TensorFlow 2.21's."""

from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.base import dtypes
from intaglio.trace.graph import record

VALUES = {
    "d": tf.constant([1, 2, 3]),
    "f": tf.constant(1.0),
    "i": tf.constant(1),
    "b": tf.constant(True),
    "s": tf.constant("a"),
    "u": tf.constant(1, tf.uint8),
    "np": np,
    "tf": tf,
}

ANSWERS = {
    "f + 1": 2.0, "i + True": 2, "[1, 2] + f": [2.0, 3.0], "d / 2": [0.5, 1.0, 1.5],
    "-d % 2": [1, 0, 1], "-d // 2": [-1, -1, -2], "2 ** d": [2, 4, 8], "2 - d": [1, 0, -1],
    "d + np.float32(1)": [2, 3, 4], "np.array([1.0]) + f": [2.0], "u + 300": 45,
    "u - 2": 255, "1 & d": [1, 0, 1], "b ^ True": False, "~d": [-2, -3, -4], "~b": False,
    "2 < d": [False, False, True], "d == 2": [False, True, False], "b * b": True,
    "d == [1, 2]": False, "d != [1, 2]": True, "abs(-d)": [1, 2, 3], "d // 2.0 if 0 else 1.0 // f": 1.0,
    "f % 0.0 == f % 0.0": False, "tf.constant([7.0]) // 0.0": [np.inf],
}  # fmt: skip


@pytest.mark.parametrize("expression", ANSWERS)
def test_answers(expression):
    result = eval(expression, VALUES)
    assert result.numpy().tolist() == ANSWERS[expression]


def test_text():
    assert (VALUES["s"] + "b").numpy() == b"ab"
    assert ("b" + VALUES["s"]).numpy() == b"ba"
    assert bool(VALUES["s"] == "a")


def test_types_of_quotients():
    for name, wanted in (("int8", "float32"), ("uint16", "float32"), ("int64", "float64")):
        x = tf.constant([1], name)
        assert (x / x).dtype.name == wanted


ERRORS = {
    "i + 1.5": (
        tf.errors.InvalidArgumentError,
        "cannot compute AddV2 as input #1(zero-based) was expected to be a int32 tensor but is a float tensor",
    ),
    "1.5 + i": (TypeError, "Cannot convert 1.5 to EagerTensor of dtype int32"),
    "i + f": (
        tf.errors.InvalidArgumentError,
        "expected to be a int32 tensor but is a float tensor",
    ),
    "d / 2.5": (TypeError, "`x` and `y` must have the same dtype, got tf.int32 != tf.float32."),
    "d < 2.5": (TypeError, "Cannot convert 2.5 to EagerTensor of dtype int32"),
    "d // 0": (tf.errors.InvalidArgumentError, "Integer division by zero"),
    "d % 0": (tf.errors.InvalidArgumentError, "Integer division by zero"),
    "d ** -1": (
        tf.errors.InvalidArgumentError,
        "Integers to negative integer powers are not allowed",
    ),
    "b + b": (
        tf.errors.InvalidArgumentError,
        "Value for attr 'T' of bool is not in the list of allowed values",
    ),
    "b / b": (TypeError, "Invalid dtype tf.bool in __truediv__"),
    "d + [1, 2]": (tf.errors.InvalidArgumentError, "Incompatible shapes: [3] vs. [2]"),
    "d << 1": (TypeError, "unsupported operand type"),
    "+d": (TypeError, "bad operand type for unary +"),
    "hash(d)": (TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key."),
    "round(f)": (AttributeError, "no attribute 'astype'"),
}


@pytest.mark.parametrize("expression", ERRORS)
def test_errors(expression):
    kind, phrase = ERRORS[expression]
    with pytest.raises(kind) as caught:
        eval(expression, VALUES)
    assert phrase in str(caught.value)


def test_none_is_never_equal():
    assert (VALUES["d"] == None) is False  # noqa: E711
    assert (VALUES["d"] != None) is True  # noqa: E711


def test_nodes_are_named_as_tensorflow_names_them():
    def body(a, b):
        made = [a + b, a - b, a * b, a / b, a // b, a % b, a**b, a < b, a == b, 1 - a]
        return [t.name for t in made]

    floats = [(dtypes.float32, (2,), "a"), (dtypes.float32, (2,), "b")]
    _, names = record(body, "f", floats)
    assert names == [
        "add:0",
        "sub:0",
        "mul:0",
        "truediv:0",
        "floordiv:0",
        "mod:0",
        "pow:0",
        "Less:0",
        "Equal:0",
        "sub_1:0",
    ]


def test_what_needs_a_value_is_refused_in_graphs():
    def body(d):
        for ask in (bool, iter):
            with pytest.raises(TypeError, match="is not allowed"):
                ask(d)
        with pytest.raises(TypeError, match="len is not well defined"):
            len(d)
        with pytest.raises(TypeError, match="is not iterable"):
            2 in d  # noqa: B015
        return d

    record(body, "f", [(dtypes.int32, (3,), "d")])


def test_membership_and_bytes_are_those_of_the_elements():
    """Asked of TensorFlow 2.21; a scalar integer is a number of zeros, as for Python's own."""
    assert 2 in tf.constant([1, 2]) and 3 not in tf.constant([1, 2])
    with pytest.raises(TypeError, match="is not iterable"):
        _ = 1 in tf.constant(1)
    assert bytes(tf.constant([1, 2])) == b"\1\0\0\0\2\0\0\0"
    assert bytes(tf.constant(3)) == bytes(3)


def test_the_left_operand_of_a_product_takes_the_tensors_type():
    a = tf.constant([[1, 2], [3, 4]])
    assert ([[1, 1]] @ a).numpy().tolist() == [[4, 6]]
    with pytest.raises(TypeError, match=r"Cannot convert 2.5 to EagerTensor of dtype int32"):
        _ = 2.5 @ a


# What TensorFlow 2.21 infers for `x == y`, where shapes that do not broadcast give a scalar.
EQUALITY_SHAPES = [
    ([None, None], [33], None),
    ([None, 33], [33], [None, 33]),
    ([None, 1], [33], [None, 33]),
    ([2, None], [33], None),
    ([None], [33], None),
    ([None, 3], [None, 3], [None, 3]),
    ([None, 3], [5, 3], None),
    ([None, 1], [4, None], None),
    ([5, 3], [4, 3], []),
    ([], [None, 3], [None, 3]),
    (None, [3], None),
]


@pytest.mark.parametrize(("x", "y", "shape"), EQUALITY_SHAPES)
def test_shapes_of_equality(x: Any, y: Any, shape: Any) -> None:
    inferred: list[Any] = []

    @tf.function(input_signature=[tf.TensorSpec(x), tf.TensorSpec(y)])
    def f(x: Any, y: Any) -> Any:
        inferred.extend([(x == y).shape, (y != x).shape])
        return x

    f.get_concrete_function()
    assert [None if s.rank is None else s.as_list() for s in inferred] == [shape, shape]


def test_equality_of_shapes_that_do_not_broadcast() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None])], jit_compile=True)
    def f(x: Any) -> Any:
        return x == tf.range(33.0), tf.where(x != tf.range(33.0), 1.0, 2.0)

    for size, shape in ((33, (2, 33)), (1, (2, 33)), (3, ())):
        equal, chosen = f(tf.ones([2, size]))
        assert equal.shape == chosen.shape == shape
