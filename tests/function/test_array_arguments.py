"""NumPy arrays as arguments: entries recognise them, and nothing of them stays behind."""

import numpy as np
import pytest

from intaglio import tf


def warm(f, *args):
    for _ in range(12):
        result = f(*args)
    return result


def test_results_are_no_parts_of_arguments() -> None:
    f = tf.function(lambda x: (x, tf.reshape(x, [-1]), x + 1.0))
    x = np.ones((2, 3), np.float32)
    general = None
    for _ in range(20):
        results = f(x)
        general, before = f.traces[0].general_calls, general
    assert general == before
    x[:] = 7.0
    assert [float(tf.reduce_max(r)) for r in results] == [1.0, 1.0, 2.0]


def test_variables_keep_no_arguments() -> None:
    v = tf.Variable(tf.zeros([3]))
    f = tf.function(lambda x: v.assign(x))
    x = np.ones(3, np.float32)
    warm(f, x)
    x[:] = 7.0
    assert v.numpy().tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x[:, ::2],
        lambda x: x[:2],
        lambda x: x.astype(np.float64),
        lambda x: np.asfortranarray(x),
        lambda x: x.astype(">f4"),
        lambda x: tf.constant(x),
    ],
)
def test_other_arrays_after_one_form(change) -> None:
    f = tf.function(lambda x: x * 2)
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    warm(f, x)
    for _ in range(8):
        assert np.array_equal(f(change(x)).numpy(), np.asarray(change(x)) * 2)
    assert np.array_equal(f(x).numpy(), x * 2)


def test_read_only_arrays() -> None:
    f = tf.function(lambda x: x * 2)
    x = np.ones(3, np.float32)
    x.flags.writeable = False
    assert warm(f, x).numpy().tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "complex64", "U3", "S3"])
def test_dtypes(dtype: str) -> None:
    f = tf.function(lambda x: tf.identity(x))
    x = np.array([1, 0, 1]).astype(dtype)
    found = warm(f, x)
    expected = tf.constant(x)
    assert found.dtype == expected.dtype and found.numpy().tolist() == expected.numpy().tolist()


def test_converted_arguments_are_named() -> None:
    f = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([2])])
    warm(f, [1.0, 2.0])
    assert f.explain().notes[-1].startswith("slow calls: x is converted")
    g = tf.function(lambda x: x + 1.0)
    warm(g, tf.ones([2]))
    assert not g.explain().notes
