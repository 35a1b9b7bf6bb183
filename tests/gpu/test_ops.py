"""Eager ops on a GPU are those of the host: values, gradients, control flow, random numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from tests.gpu.conftest import GPU, NAME

FLOATS = (tf.float16, tf.bfloat16, tf.float32, tf.float64)
TOLERANCE = {tf.float16: 2e-3, tf.bfloat16: 2e-2, tf.float32: 1e-5, tf.float64: 1e-12}

UNARY = {
    "abs": tf.abs, "neg": tf.negative, "exp": tf.exp, "tanh": tf.tanh, "sigmoid": tf.sigmoid,
    "square": tf.square, "relu": tf.nn.relu, "softmax": tf.nn.softmax, "cumsum": tf.cumsum,
    "sort": tf.sort, "reverse": lambda x: tf.reverse(x, [0]), "mean": tf.reduce_mean,
    "max": lambda x: tf.reduce_max(x, -1, keepdims=True), "argmax": tf.argmax,
    "norm": tf.norm, "gather": lambda x: tf.gather(x, [0, 0]), "slice": lambda x: x[..., :1],
    "sum": lambda x: tf.reduce_sum(x, 0), "pad": lambda x: tf.pad(x, [[1, 1]] * len(x.shape)),
    "tile": lambda x: tf.tile(x, [2] * len(x.shape)), "stack": lambda x: tf.stack([x, x]),
    "split": lambda x: tf.split(tf.concat([x, x], 0), 2)[0], "one_hot": lambda x: tf.one_hot(tf.cast(x > 0, tf.int32), 2),
}  # fmt: skip
BINARY = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "div": lambda x, y: x / (tf.abs(y) + 1), "max": tf.maximum, "less": lambda x, y: x < y,
    "floordiv": lambda x, y: x // (tf.abs(y) + 1), "where": lambda x, y: tf.where(x > y, x, y),
    "squared": tf.math.squared_difference, "atan2": tf.atan2,
}  # fmt: skip


def _both(function, *arrays, dtype):
    """What a function gives on the host and on the GPU."""
    here = function(*[tf.cast(a, dtype) for a in arrays])
    with tf.device(GPU):
        operands = [tf.cast(tf.constant(a), dtype) for a in arrays]
        there = function(*operands)
    assert there.dtype is here.dtype and there.device == NAME
    return np.asarray(here, np.float64), np.asarray(there, np.float64)


# Small sizes, in few shapes: each is a program to compile.
ARRAYS = st.sampled_from([(3,), (2, 3), (1, 4)]).flatmap(
    lambda dims: st.lists(
        st.integers(-30, 30), min_size=int(np.prod(dims)), max_size=int(np.prod(dims))
    ).map(lambda v: np.array(v, np.float64).reshape(dims) / 8)
)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_ops_of_one_tensor(name, dtype):
    @settings(max_examples=4, deadline=None)
    @given(ARRAYS)
    def check(x):
        here, there = _both(UNARY[name], x, dtype=dtype)
        np.testing.assert_allclose(there, here, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])

    check()


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_ops_of_two_tensors(name, dtype):
    @settings(max_examples=4, deadline=None)
    @given(ARRAYS)
    def check(x):
        here, there = _both(BINARY[name], x, x[..., ::-1].copy(), dtype=dtype)
        np.testing.assert_allclose(there, here, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])

    check()


@pytest.mark.parametrize("dtype", [tf.int8, tf.uint8, tf.int32, tf.int64, tf.uint32])
def test_integers(dtype):
    x = np.array([1, 5, 100, 7])
    for function in (lambda a: a + a, lambda a: a * a, lambda a: a // 3, lambda a: a % 3):
        here, there = _both(function, x, dtype=dtype)
        np.testing.assert_array_equal(there, here)


def test_complex_numbers():
    value = np.array([1 + 2j, 3 - 1j], np.complex64)
    with tf.device(GPU):
        x = tf.constant(value)
        product = x * tf.math.conj(x)
        spectrum = tf.signal.fft(x)
    np.testing.assert_allclose(product.numpy(), value * value.conj())
    np.testing.assert_allclose(spectrum.numpy(), np.fft.fft(value), rtol=1e-5)


def test_products_of_matrices_and_convolutions():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(65, 33)), random.normal(size=(33, 17))
    here, there = _both(tf.matmul, a, b, dtype=tf.float32)
    np.testing.assert_allclose(there, here, rtol=1e-4, atol=1e-4)
    image, filters = random.normal(size=(2, 9, 9, 3)), random.normal(size=(3, 3, 3, 5))
    for padding in ("SAME", "VALID"):
        here, there = _both(
            lambda x, w, p=padding: tf.nn.conv2d(x, w, 2, p), image, filters, dtype=tf.float32
        )
        np.testing.assert_allclose(there, here, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["exp", "tanh", "softmax", "cumsum", "norm", "max", "gather"])
def test_gradients(name):
    x = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], np.float32)

    def gradient(value):
        with tf.GradientTape() as tape:
            tape.watch(value)
            y = tf.reduce_sum(UNARY[name](value) ** 2)
        return tape.gradient(y, value)

    here = gradient(tf.constant(x))
    with tf.device(GPU):
        value = tf.constant(x)
    there = gradient(value)  # the tape is on the host, the tensors are not
    assert there.device == NAME
    np.testing.assert_allclose(
        tf.convert_to_tensor(there), tf.convert_to_tensor(here), rtol=1e-5, atol=1e-6
    )


def test_second_derivatives():
    with tf.device(GPU):
        x = tf.constant(2.0)
        with tf.GradientTape() as outer, tf.GradientTape() as inner:
            inner.watch(x), outer.watch(x)
            with outer.stop_recording():
                pass
            y = x**4
            first = inner.gradient(y, x)
        second = outer.gradient(first, x)
    assert first.device == second.device == NAME
    assert (float(first), float(second)) == (32.0, 48.0)


def test_control_flow_by_its_functions():
    with tf.device(GPU):
        x = tf.constant(5.0)
        assert float(tf.cond(x > 3.0, lambda: x * 2.0, lambda: x)) == 10.0
        n, total = tf.while_loop(
            lambda i, s: i < 4, lambda i, s: (i + 1, s + x), (tf.constant(0), tf.constant(0.0))
        )
        assert float(total) == 20.0 and total.device == NAME
        assert float(tf.foldl(lambda a, b: a + b, tf.range(4.0))) == 6.0
        mapped = tf.map_fn(lambda v: v * v, tf.range(4.0))
    np.testing.assert_array_equal(mapped.numpy(), [0.0, 1.0, 4.0, 9.0])
    del n


@pytest.mark.parametrize(
    "draw",
    [
        lambda: tf.random.stateless_normal((7,), [3, 4]),
        lambda: tf.random.stateless_uniform((7,), [3, 4], 0, 100, tf.int32),
        lambda: tf.random.stateless_uniform((5,), [3, 4], dtype=tf.float64),
        lambda: tf.random.stateless_truncated_normal((7,), [1, 2]),
        lambda: tf.random.experimental.stateless_shuffle(tf.range(9), [1, 2]),
    ],
)
def test_stateless_random_numbers_have_the_hosts_bits(draw):
    here = draw()
    with tf.device(GPU):
        there = draw()
    np.testing.assert_allclose(there.numpy(), here.numpy(), rtol=2e-6)


def test_random_bits_and_uniform_numbers_are_the_hosts_exactly():
    here = tf.random.stateless_uniform((33,), [5, 6])
    with tf.device(GPU):
        there = tf.random.stateless_uniform((33,), [5, 6])
    np.testing.assert_array_equal(there.numpy(), here.numpy())


def test_a_seeded_stream_is_the_hosts():
    def drawn():
        tf.random.set_seed(7)
        return [tf.random.uniform((3,)), tf.random.normal((2,)), tf.random.uniform((3,))]

    here = drawn()
    with tf.device(GPU):
        there = drawn()
    for a, b in zip(here, there, strict=True):
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=2e-6)
        assert b.device == NAME


def test_a_generators_stream_is_the_hosts():
    def drawn():
        generator = tf.random.Generator.from_seed(3)
        return [generator.uniform((3,)), generator.normal((4,)), generator.uniform((2,))]

    here = drawn()
    with tf.device(GPU):
        there = drawn()
    for a, b in zip(here, there, strict=True):
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=2e-6)


def test_errors_are_the_hosts():
    with tf.device(GPU):
        x = tf.ones((2, 3))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Matrix size-incompatible"):
            tf.matmul(x, x)
        with pytest.raises(tf.errors.InvalidArgumentError):
            x + tf.ones((2, 2))


def test_what_checks_data_fails_as_on_the_host():
    with tf.device(GPU):
        x = tf.constant([1.0, np.inf])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Tensor had Inf values"):
            tf.debugging.check_numerics(x, "x")
        with pytest.raises(tf.errors.InvalidArgumentError, match="to be true"):
            tf.debugging.Assert(tf.reduce_all(x < 0.0), [x])
        assert tf.debugging.check_numerics(x[:1], "x").device == NAME
