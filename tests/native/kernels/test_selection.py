"""Large convolutions use machine code eagerly and in graphs, with the same bits."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.ops import compiled
from intaglio.ops.nn import convolution_kernels


def test_eager_and_traced_are_the_same_bits(monkeypatch):
    asked = []
    select = compiled.select_kernel

    def watched(kind, *given):
        run = select(kind, *given)
        asked.append((kind, run is not None))
        return run

    monkeypatch.setattr(convolution_kernels, "select_kernel", watched)

    def step(x, k):
        with tf.GradientTape() as tape:
            tape.watch([x, k])
            loss = tf.reduce_sum(tf.nn.conv2d(x, k, 1, "SAME") ** 2)
        return tape.gradient(loss, [x, k])

    x = tf.random.stateless_normal([8, 24, 24, 16], [1, 2])
    k = tf.random.stateless_normal([3, 3, 16, 24], [3, 4])
    eager, traced = step(x, k), tf.function(step)(x, k)
    for one, other in zip(eager, traced, strict=True):
        np.testing.assert_array_equal(one, other)
    kinds = ("convolution", "convolution filter gradient", "convolution input gradient")
    assert sorted(asked) == sorted([(kind, True) for kind in kinds] * 2)


def test_products_of_matrices_too():
    a = tf.random.stateless_normal([130, 140], [1, 2])
    b = tf.random.stateless_normal([140, 150], [3, 4])
    transposed = tf.transpose(a), tf.transpose(b)
    eager = [
        tf.matmul(a, b),
        tf.matmul(transposed[0], b, transpose_a=True),
        tf.matmul(a, transposed[1], transpose_b=True),
    ]
    exact = a.numpy().astype(np.float64) @ b.numpy()
    for got in eager:
        np.testing.assert_allclose(got, exact, rtol=1e-4, atol=1e-4)
    loose = tf.function(tf.matmul, input_signature=[tf.TensorSpec([None, None])] * 2)
    for traced in (tf.function(tf.matmul), loose):
        for _ in range(3):
            np.testing.assert_array_equal(traced(a, b), eager[0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_and_means_too(dtype):
    x = tf.random.stateless_normal([40, 50, 60], [1, 2], dtype=dtype)

    def f(x):
        return (
            tf.reduce_sum(x),
            tf.reduce_sum(x, [0, 1]),
            tf.reduce_mean(x, [0, 2]),
            tf.reduce_mean(x, -1, keepdims=True),
            tf.reduce_sum(tf.transpose(x), 1),
        )

    loose = tf.function(f, input_signature=[tf.TensorSpec(None, dtype)])
    ways = [f, tf.function(f), loose, tf.function(f, jit_compile=True)]
    exact = [r.numpy() for r in f(tf.cast(x, tf.float64))]
    for way in ways:
        for got, eager, near in zip(way(x), f(x), exact, strict=True):
            np.testing.assert_array_equal(got, eager)
            size = 1e-6 if dtype == "float32" else 1e-14
            np.testing.assert_allclose(got, near, rtol=size, atol=size * 100)


def test_small_ones_ask_for_nothing(monkeypatch):
    monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: 1 / 0)
    tf.nn.conv2d(tf.ones([1, 4, 4, 2]), tf.ones([2, 2, 2, 2]), 1, "SAME")


def test_without_llvmlite_numpy_computes_them():
    program = (
        "import sys; sys.modules['llvmlite'] = None\n"
        "from intaglio import tf\n"
        "y = tf.nn.conv2d(tf.ones([8, 24, 24, 16]), tf.ones([3, 3, 16, 24]), 1, 'VALID')\n"
        "print(float(tf.reduce_max(y)), float(tf.reduce_min(y)))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "144.0 144.0\n"
    assert run.stderr == ""


def test_importing_does_not_load_the_compiler():
    program = "import sys; from intaglio import tf; print('llvmlite' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "False\n"


OTHERS = {
    "pixels": ((4, 20, 20, 32), (1, 1, 32, 40), {}),
    "pixels of many channels": ((2, 9, 9, 400), (1, 1, 400, 40), {}),
    "gaps": ((4, 20, 20, 16), (3, 3, 16, 24), {"dilations": 2}),
    "groups": ((4, 20, 20, 16), (3, 3, 8, 24), {}),
    "volumes": ((2, 6, 10, 12, 8), (3, 3, 3, 8, 12), {}),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", OTHERS)
def test_eager_traced_and_compiled_are_the_same_bits(case, dtype):
    images, filters, options = OTHERS[case]
    rng = np.random.default_rng(0)
    x, w = (tf.constant(rng.normal(size=s), dtype) for s in (images, filters))
    bias = rng.normal(size=filters[-1])

    def step(x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            if len(images) == 5:
                y = tf.nn.conv3d(x, w, [1] * 5, "SAME")
            else:
                y = tf.nn.relu(
                    tf.nn.conv2d(x, w, 1, "SAME", **options) + tf.constant(bias, x.dtype)
                )
            loss = tf.reduce_sum(y * y)
        return [y, *tape.gradient(loss, [x, w])]

    eager = step(x, w)
    for way in (tf.function(step), tf.function(step, jit_compile=True)):
        for got, wanted in zip(way(x, w), eager, strict=True):
            np.testing.assert_array_equal(got, wanted)
    if dtype == "float32":
        exact = step(tf.cast(x, tf.float64), tf.cast(w, tf.float64))
        for got, wanted in zip(eager, exact, strict=True):
            largest = np.abs(wanted).max()
            np.testing.assert_allclose(got, wanted, rtol=0, atol=2e-6 * largest)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("transposes", [{}, {"transpose_a": True}, {"adjoint_b": True}])
def test_large_complex_products_are_those_of_their_parts(dtype, transposes):
    rng = np.random.default_rng(8)
    x = tf.constant((rng.normal(size=(90, 90)) + 1j * rng.normal(size=(90, 90))).astype(dtype))
    eager = tf.matmul(x, x, **transposes)
    a = x.numpy().T if "transpose_a" in transposes else x.numpy()
    b = x.numpy().conj().T if "adjoint_b" in transposes else x.numpy()
    tolerance = 1e-5 if dtype == "complex64" else 1e-12
    np.testing.assert_allclose(eager, a @ b, rtol=tolerance, atol=100 * tolerance)
    for how in (None, True):
        traced = tf.function(lambda x: tf.matmul(x, x, **transposes), jit_compile=how)
        np.testing.assert_allclose(traced(x), eager, rtol=tolerance, atol=100 * tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cubes_have_the_bits_of_machine_code(dtype):
    """TensorFlow 2.21 rounds them as often in its graphs."""
    x = tf.constant(np.random.default_rng(9).normal(size=(50, 60)).astype(dtype))
    for how in (None, True):
        traced = tf.function(lambda x: x**3, jit_compile=how)
        np.testing.assert_array_equal(traced(x), x**3)
    np.testing.assert_allclose(x**3, x.numpy() ** 3, rtol=4 * np.finfo(dtype).eps)
