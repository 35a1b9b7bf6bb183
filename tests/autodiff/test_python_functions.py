"""Errors and lifetimes of Python functions in graphs; classes as TensorFlow 2.21 raises them."""

import gc

import numpy as np
import pytest

from intaglio import tf
from intaglio.ops.control_flow import python_call

STATUSES = [
    (ValueError, tf.errors.InvalidArgumentError),
    (TypeError, tf.errors.InvalidArgumentError),
    (StopIteration, tf.errors.OutOfRangeError),
    (MemoryError, tf.errors.ResourceExhaustedError),
    (NotImplementedError, tf.errors.UnimplementedError),
    (KeyError, tf.errors.UnknownError),
    (ZeroDivisionError, tf.errors.UnknownError),
]


def raising(kind):
    def fail(*args):
        raise kind("bad thing")

    return fail


@pytest.mark.parametrize(("kind", "status"), STATUSES)
def test_py_function_translates_exceptions(kind, status):
    with pytest.raises(status) as got:
        tf.py_function(raising(kind), [1.0], tf.float32)
    first, second = str(got.value).splitlines()[:2]
    assert first.startswith(f"{kind.__name__}: ")
    assert second == "Traceback (most recent call last):"
    assert str(got.value).endswith("[Op:EagerPyFunc] name: ")


@pytest.mark.parametrize("call", [tf.py_function, tf.numpy_function])
def test_exceptions_in_graphs(call):
    @tf.function
    def traced(x):
        return call(raising(ValueError), [x], tf.float32)

    with pytest.raises(tf.errors.InvalidArgumentError, match="ValueError: bad thing"):
        traced(tf.constant(1.0))


def test_numpy_function_in_eager_mode_raises_the_exception_itself():
    with pytest.raises(KeyError):
        tf.numpy_function(raising(KeyError), [1.0], tf.float32)


def test_counts_of_outputs():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="returns 2 values, but expects to see 3"
    ):
        tf.py_function(lambda: (1.0, 2.0), [], [tf.float32] * 3)


def test_dtype_of_numpy_function_in_graphs():
    @tf.function
    def traced(x):
        return tf.numpy_function(lambda a: a, [x], tf.float64)

    with pytest.raises(tf.errors.InvalidArgumentError, match="float, but expects double"):
        traced(tf.constant(1.0))


def test_effects_happen_on_every_run():
    seen = []

    @tf.function
    def traced(x):
        tf.py_function(lambda a: seen.append(float(a)), [x], [])
        return x

    traced(tf.constant(1.0))
    traced(tf.constant(2.0))
    assert seen == [1.0, 2.0]


def test_backward_runs_the_function_once_more_only_if_it_must():
    calls = []

    def cube(a):
        calls.append(1)
        return a * a * a

    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(cube, [x], tf.float32)
        return tape.gradient(y, x)

    assert float(slope(tf.constant(2.0))) == 12.0
    assert float(slope(tf.constant(3.0))) == 27.0
    assert len(calls) == 2


def test_functions_live_as_long_as_their_graph():
    class Callable:
        def __call__(self, a):
            return np.float32(a)

    @tf.function
    def traced(x):
        return tf.numpy_function(Callable(), [x], tf.float32)

    traced(tf.constant(1.0))
    gc.collect()
    assert float(traced(tf.constant(4.0))) == 4.0
    before = len(python_call._tokens)
    del traced
    gc.collect()
    assert len(python_call._tokens) < before
