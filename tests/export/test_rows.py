"""Libraries whose number of rows is an argument: equal to Python for any number, or refused with op and line."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from tests.export.loaded import Loaded

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
COUNTS = (0, 1, 2, 5, 7, 12)


def _weights(*shape: int) -> Any:
    rng = np.random.default_rng(sum(shape))
    return tf.Variable((rng.normal(size=shape) / np.sqrt(shape[0])).astype("float32"))


def _open(*rest: int, dtype: Any = tf.float32, name: str = "x") -> Any:
    return tf.TensorSpec([None, *rest], dtype, name=name)


def dense() -> Any:
    a, b = _weights(6, 16), _weights(16, 3)
    return [_open(6)], lambda x: tf.nn.softmax(tf.matmul(tf.nn.gelu(tf.matmul(x, a)), b))


def convolutional() -> Any:
    a, b, c = _weights(3, 3, 2, 8), _weights(3, 3, 8, 1), _weights(72, 4)
    mean, variance = _weights(8), tf.Variable(tf.ones([8]))

    def f(x: Any) -> Any:
        y = tf.nn.relu(tf.nn.conv2d(x, a, 1, "SAME"))
        y = tf.nn.batch_normalization(y, mean, variance, None, None, 1e-3)
        y = tf.nn.depthwise_conv2d(y, b, [1, 1, 1, 1], "SAME")
        y = tf.nn.max_pool2d(y, 2, 2, "VALID")
        return tf.matmul(tf.reshape(y, [-1, 72]), c)

    return [_open(6, 6, 2)], f


def attention() -> Any:
    """Rows multiply in [-1, d], and move to other dimensions and back."""
    q, o = _weights(8, 24), _weights(8, 8)

    def f(x: Any) -> Any:
        batch = tf.shape(x)[0]
        y = tf.reshape(tf.matmul(tf.reshape(x, [-1, 8]), q), [batch, 5, 3, 2, 4])
        parts = [tf.transpose(y[:, :, i], [0, 2, 1, 3]) for i in range(3)]
        s = tf.nn.softmax(tf.matmul(parts[0], parts[1], transpose_b=True) / 2.0)
        y = tf.reshape(tf.transpose(tf.matmul(s, parts[2]), [0, 2, 1, 3]), tf.shape(x))
        y = x + tf.tensordot(y, o, 1)
        mean, variance = tf.nn.moments(y, -1, keepdims=True)
        return (y - mean) * tf.math.rsqrt(variance + 1e-5)

    return [_open(5, 8)], f


def recurrent() -> Any:
    """A loop with a state and a list, time first."""
    kernel, recurrence = _weights(3, 4), _weights(4, 4)

    def f(x: Any) -> Any:
        state = tf.zeros([tf.shape(x)[0], 4])
        outputs = tf.TensorArray(tf.float32, 6)
        steps = tf.transpose(x, [1, 0, 2])
        for t in tf.range(6):
            state = tf.tanh(tf.matmul(steps[t], kernel) + tf.matmul(state, recurrence))
            outputs = outputs.write(t, state)
        return {"all": tf.transpose(outputs.stack(), [1, 0, 2]), "last": state}

    return [_open(6, 3)], f


def embedded() -> Any:
    table, out = _weights(11, 4), _weights(4, 2)

    def f(ids: Any, scale: Any) -> Any:
        y = tf.reduce_mean(tf.nn.embedding_lookup(table, ids), 1)
        return tf.matmul(y, out) * scale[:, tf.newaxis] + tf.one_hot(ids[:, 0], 2)

    return [_open(3, dtype=tf.int32, name="ids"), _open(name="scale")], f


def groups() -> Any:
    """Several rows of the result for one of the argument."""
    return [_open(4, 3)], lambda x: tf.reshape(tf.sort(x, axis=1), [-1, 3]) * 2.0


def branches() -> Any:
    """A branch that all rows share, and one for each row."""

    def f(x: Any, k: Any) -> Any:
        y = tf.cond(k > 0, lambda: tf.sin(x), lambda: x * 2.0)
        return tf.where(tf.reduce_sum(x, 1, keepdims=True) > 0.0, y, -y)

    return [_open(3), tf.TensorSpec([], tf.int32, name="k")], f


def upsampled() -> Any:
    """Shapes that are computed, one for a transposed convolution, biases, a dropped dimension."""
    filters, bias = _weights(3, 3, 2, 4), _weights(2)

    def f(x: Any) -> Any:
        size = tf.shape(x)
        y = tf.nn.conv2d_transpose(x, filters, [size[0], 2 * size[1], 8, 2], 2)
        y = tf.nn.bias_add(tf.repeat(y, 2, axis=1), bias)
        return tf.squeeze(tf.reduce_max(y, [1, 2], keepdims=True), [1, 2])

    return [_open(4, 4, 4)], f


PROGRAMS = [dense, convolutional, attention, recurrent, embedded, groups, branches, upsampled]


def argument(spec: Any, count: int) -> Any:
    rng = np.random.default_rng(count)
    shape = [count if d is None else d for d in spec.shape]
    if spec.dtype == tf.int32:
        return rng.integers(0, 11, shape).astype("int32")
    return rng.normal(size=shape).astype("float32")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("make", PROGRAMS)
def test_any_number_of_rows(make: Any, threads: int, tmp_path: pathlib.Path) -> None:
    specs, function = make()
    concrete = tf.function(function).get_concrete_function(*specs)
    library = Loaded(
        intaglio.export_library(concrete, tmp_path / "model", batch_size=(1, 5), threads=threads)
    )
    for count in COUNTS:
        given = {s.name: argument(s, count) for s in specs}
        found = library.call("run", given, count)
        expected = concrete(**{k: tf.constant(v) for k, v in given.items()})
        if not isinstance(expected, dict):
            expected = {"output": expected}
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            assert found[name].shape == value.shape
            np.testing.assert_allclose(found[name], value.numpy(), rtol=1e-5, atol=1e-6)
    library.close()


def test_errors_of_rows(tmp_path: pathlib.Path) -> None:
    """Counts that do not fit, numbers of rows beyond any memory, and an index out of range."""
    specs, function = embedded()
    concrete = tf.function(function).get_concrete_function(*specs)
    library = Loaded(intaglio.export_library(concrete, tmp_path / "model", batch_size=(1, 4)))
    given = {s.name: argument(s, 6) for s in specs}
    with pytest.raises(
        RuntimeError, match=r"count is not 3 \* rows, the number of elements of int32\["
    ):
        library.call("run", given, 5)
    for many in (1 << 62, 1 << 63, (1 << 64) // 3 + 7):
        with pytest.raises(RuntimeError, match=r"count is not 3 \* rows"):
            library.call("run", given, many, results=6)
    given["ids"][5, 1] = 11
    with pytest.raises(RuntimeError, match="out of range"):
        library.call("run", given, 6)
    library.close()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x - tf.reduce_mean(x, 0), "Mean '.*' .*it reduces along the rows"),
        (lambda x: x / tf.cast(tf.shape(x)[0], tf.float32), "computes with the number of rows"),
        (lambda x: x[1:], "StridedSlice .*takes some of the rows"),
        (lambda x: tf.reverse(x, [0]), "ReverseV2 .*works along the rows"),
        (lambda x: tf.matmul(x, x, transpose_b=True), "rows of operands are in several places"),
        (lambda x: tf.matmul(x, x, transpose_a=True), "it sums over the rows"),
        (lambda x: tf.reshape(x, [3, -1]), "Reshape .*rows are no dimension of its result"),
        (lambda x: tf.transpose(x), "rows are not the first dimension of the result 'output'"),
        (
            lambda x: x + tf.random.uniform(tf.shape(x)),
            "it writes a variable, draws random numbers",
        ),
        (lambda x: x * tf.cast(tf.range(tf.shape(x)[0]), tf.float32)[:, None], "Range "),
        (lambda x: x + tf.cond(tf.shape(x)[0] > 4, lambda: 1.0, lambda: 2.0), "number of rows"),
    ],
)
def test_rows_that_depend_on_each_other(
    function: Any, message: str, tmp_path: pathlib.Path
) -> None:
    concrete = tf.function(function).get_concrete_function(_open(3))
    with pytest.raises(intaglio.ExportError, match=message) as caught:
        intaglio.export_library(concrete, tmp_path / "model", kinds=[])
    assert "test_rows.py:" in str(caught.value) or "'output'" in str(caught.value)
    assert "give batch_size=8" in str(caught.value)
    intaglio.export_library(concrete, tmp_path / "model", batch_size=2, kinds=["object"])


def test_numbers_of_rows(tmp_path: pathlib.Path) -> None:
    concrete = tf.function(lambda x: x * 2.0).get_concrete_function(_open(3))
    with pytest.raises(intaglio.ExportError, match="with 1 among them"):
        intaglio.export_library(concrete, tmp_path / "model", batch_size=(4, 8), kinds=[])
