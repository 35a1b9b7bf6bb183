"""Python and NumPy values to tensors; the answers are TensorFlow 2.21's."""

import ml_dtypes
import numpy as np
import pytest

from intaglio import tf
from intaglio.base import dtypes
from intaglio.trace.graph import record

CASES = [
    (1, None, "int32", 1),
    (1.5, None, "float32", 1.5),
    (True, None, "bool", True),
    ("é", None, "string", "é".encode()),
    (1j, None, "complex128", 1j),
    (2**31, None, "int64", 2**31),
    (2**31, "int32", "int32", -(2**31)),
    (300, "uint8", "uint8", 44),
    (True, "float32", "float32", 1.0),
    (1e10, "float16", "float16", np.inf),
    ([], None, "float32", []),
    ([1, 2.5], None, "float32", [1.0, 2.5]),
    ([1, True], None, "int32", [1, 1]),
    ([1j, 1], None, "complex128", [1j, 1]),
    ([[], [1]], "int32", "int32", [[], []]),
    (["a", b"b"], None, "string", [b"a", b"b"]),
    (range(3), None, "int32", [0, 1, 2]),
    (np.float64(1.5), None, "float64", 1.5),
    (np.float64(1.5), "int32", "int32", 1),
    (np.array([1.5, 2.0]), "int32", "int32", [1, 2]),
    (np.array([2**40, 300]), "uint8", "uint8", [0, 44]),
    (np.array(["a", "b"]), None, "string", [b"a", b"b"]),
    (np.array([1, 2.5], object), "float32", "float32", [1.0, 2.5]),
    (np.array([1.5], ">f4"), None, "float32", [1.5]),
    (np.array([1.5], ml_dtypes.bfloat16), None, "bfloat16", [1.5]),
    ([np.float64(1), 1], None, "float64", [1.0, 1.0]),
    ([1, np.float64(1)], None, "float32", [1.0, 1.0]),
    ([np.int64(1)], None, "int32", [1]),
    ([np.array([1, 2]), [3, 4]], None, "int32", [[1, 2], [3, 4]]),
    (tf.TensorShape([1, 2]), None, "int32", [1, 2]),
]


@pytest.mark.parametrize(("value", "dtype", "got", "answer"), CASES)
def test_values(value, dtype, got, answer):
    tensor = tf.convert_to_tensor(value, dtype)
    assert tensor.dtype.name == got
    assert tensor.numpy().tolist() == answer if got != "string" else True
    if got == "string":
        found = tensor.numpy()
        assert (found.tolist() if isinstance(answer, list) else found) == answer


ERRORS = [
    (1.5, "int32", TypeError, "Cannot convert 1.5 to EagerTensor of dtype int32"),
    ("a", "float32", TypeError, "Cannot convert 'a' to EagerTensor of dtype float"),
    (True, "uint8", TypeError, "Cannot convert True to EagerTensor of dtype uint8"),
    (1, "bool", TypeError, "Cannot convert 1 to EagerTensor of dtype bool"),
    (None, None, ValueError, "unsupported type (<class 'NoneType'>)"),
    ({}, None, ValueError, "Attempt to convert a value ({})"),
    ([[1, 2], [3]], None, ValueError, "non-rectangular Python sequence"),
    ([1, [2, 3]], None, ValueError, "mixed types"),
    ([True, 1], None, ValueError, "mixed types"),
    ([1, 1j], None, ValueError, "mixed types"),
    (["a", 1], None, ValueError, "mixed types"),
    ([1, None], None, ValueError, "mixed types"),
    (2**64, None, ValueError, "out-of-range integer"),
    (np.array([1.5]), "string", ValueError, "Unsupported object type float"),
    (tf.TensorShape([None]), None, ValueError, "partially known TensorShape"),
]


@pytest.mark.parametrize(("value", "dtype", "kind", "phrase"), ERRORS)
def test_errors(value, dtype, kind, phrase):
    with pytest.raises(kind) as caught:
        tf.convert_to_tensor(value, dtype)
    assert phrase in str(caught.value)


def test_lists_with_tensors():
    one, half = tf.constant(1), tf.constant(0.5)
    assert tf.convert_to_tensor([one, 2]).numpy().tolist() == [1, 2]
    assert tf.convert_to_tensor([1, half]).dtype == tf.float32
    assert tf.convert_to_tensor([[1, 2], [one, one]]).shape == (2, 2)
    assert tf.convert_to_tensor([one, half], tf.float64).numpy().tolist() == [1.0, 0.5]
    with pytest.raises(TypeError, match=r"Cannot convert 1\.5"):
        tf.convert_to_tensor([one, 1.5])


def test_a_hint_is_only_a_hint():
    assert tf.convert_to_tensor(1, dtype_hint=tf.float32).dtype == tf.float32
    assert tf.convert_to_tensor(1.5, dtype_hint=tf.int32).dtype == tf.float32


def test_arrays_are_copied():
    array = np.zeros(2)
    tensor = tf.convert_to_tensor(array)
    array[0] = 1
    assert tensor.numpy()[0] == 0


def test_graph_errors():
    def body(i):
        with pytest.raises(TypeError, match=r"Expected int32, but got 1\.5 of type 'float'"):
            1.5 + i
        with pytest.raises(ValueError, match="None values not supported"):
            i + None
        with pytest.raises(TypeError, match=r"passed to parameter 'y' of op 'Sub', got 1\.5"):
            i - 1.5
        with pytest.raises(TypeError, match="does not match type int32 of argument 'x'"):
            i + 1.5
        with pytest.raises(TypeError, match="Failed to convert elements of"):
            i + object()
        return i

    record(body, "f", [(dtypes.int32, (), "i")])
