"""What quantised types show of themselves. TensorFlow 2.21 was asked for every answer."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf

KINDS = [
    (tf.qint8, np.int8),
    (tf.quint8, np.uint8),
    (tf.qint16, np.int16),
    (tf.quint16, np.uint16),
    (tf.qint32, np.int32),
]


@pytest.mark.parametrize(("dtype", "numbers"), KINDS, ids=lambda k: getattr(k, "name", ""))
def test_arrays_are_of_the_integers(dtype, numbers):
    x = tf.cast([[1], [2]], dtype)
    assert x.dtype is dtype
    for array in (x.numpy(), np.array(x), np.asarray(x), tf.get_static_value(x)):
        assert array.dtype == numbers
        assert array.tolist() == [[1], [2]]
    scalar = x[1, 0]
    assert type(scalar.numpy()) is numbers
    assert (int(scalar), float(scalar), f"{scalar}") == (2, 2.0, "2")
    assert scalar.dtype is dtype
    (row, _) = tf.data.Dataset.from_tensor_slices(x).as_numpy_iterator()
    assert row.dtype == numbers
    copied = x.numpy()
    copied[:] = 7
    assert x.numpy().tolist() == [[1], [2]]


@pytest.mark.parametrize(("dtype", "numbers"), KINDS, ids=lambda k: getattr(k, "name", ""))
def test_how_they_print(dtype, numbers):
    x = tf.constant([1, 2], dtype)
    shown = repr(np.array([1, 2], numbers))
    assert repr(x) == f"<tf.Tensor: shape=(2,), dtype={dtype.name}, numpy={shown}>"
    assert str(x) == f"tf.Tensor([1 2], shape=(2,), dtype={dtype.name})"
    assert repr(tf.constant(3, dtype)) == f"<tf.Tensor: shape=(), dtype={dtype.name}, numpy=3>"
    with pytest.raises(TypeError, match=r"minimum value of .* with quantized type"):
        dtype.min  # noqa: B018


@pytest.mark.parametrize(("dtype", "numbers"), KINDS, ids=lambda k: getattr(k, "name", ""))
def test_their_numpy_dtype_is_of_one_field(dtype, numbers):
    assert dtype.as_numpy_dtype == np.dtype([(dtype.name, numbers)])
    assert tf.as_dtype(dtype.as_numpy_dtype) is dtype
    assert tf.constant(np.zeros(2, dtype.as_numpy_dtype)).dtype is dtype
    assert tf.constant(tf.constant([1], dtype).numpy()).dtype is tf.as_dtype(numbers)


def test_a_quantised_result():
    result = tf.quantization.quantize([0.0, 1.0, 2.0], 0.0, 2.0, tf.quint8).output
    np.testing.assert_array_equal(result.numpy(), np.array([0, 128, 255], np.uint8), strict=True)


@pytest.mark.parametrize("dtype", [tf.qint8, tf.quint8])
def test_a_variable(dtype):
    variable = tf.Variable(tf.constant([1, 2], dtype))
    assert "numpy=array([1, 2], dtype=" in repr(variable)
    assert variable.numpy().tolist() == [1, 2]
