"""The same results with narrower registers, as other processors have them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from intaglio import tf
from intaglio.native.kernels import batch_normalization, convolution, matmul, pooling
from intaglio.native.kernels import reductions, softmax, winograd, winograd_filter_gradient
from intaglio.native.kernels.convolution import Geometry
from intaglio.native.kernels.windows import Windows
from intaglio.native.llvm import jit, vectors
from intaglio.native.llvm.builder import module

rng = np.random.default_rng(0)
def code_of(source):
    declared = source.table.declaration if source.table else ''
    return declared + source.text + module([*source.called, *[k.code for k in source.kernels]])

def some(*shape):
    return rng.integers(-4, 5, shape).astype(np.float32)

f = tf.function(lambda x, y: (tf.tanh(x) * y + tf.exp(-x), x > y), jit_compile=True)
x, y = rng.normal(size=(7, 37)).astype("f4"), rng.normal(size=37).astype("f4")
value, above = f(x, y)
np.testing.assert_allclose(value, np.tanh(x) * y + np.exp(-x), rtol=3e-6, atol=1e-6)
np.testing.assert_array_equal(above, x > y)
a, b = some(61, 50), some(50, 83)
np.testing.assert_array_equal(matmul.product(a.shape, b.shape)(a, b), a @ b)
b = np.ascontiguousarray(b.T)
np.testing.assert_array_equal(matmul.product(a.shape, b.shape, False, True)(a, b), a @ b.T)
a, b = a.astype("f8"), b.astype("f8")
np.testing.assert_array_equal(matmul.product(a.shape, b.shape, False, True, "f8")(a, b), a @ b.T)
code = jit.assembly(code_of(matmul._source(vectors.FLOAT)))
assert ("vfmadd" in code) == (jit.WIDTH > 16)
assert ("ymm" in code) == (jit.WIDTH > 16)
assert "zmm" not in code
g = Geometry(1, 9, 8, 5, 7, 6, 21, 3, 3, 1, 1, 0, 0)
images, filters = some(1, 9, 8, 5), some(3, 3, 5, 21)
want = sum(images[:, i:i + 7, j:j + 6] @ filters[i, j] for i in range(3) for j in range(3))
for way in (convolution, winograd):
    np.testing.assert_array_equal(way.forward(g)(images, filters), want)
spread = g._replace(out_height=5, out_width=4, apart_y=2, apart_x=2)
want = sum(images[:, 2 * i:2 * i + 5, 2 * j:2 * j + 4] @ filters[i, j] for i in range(3) for j in range(3))
np.testing.assert_array_equal(convolution.forward(spread)(images, filters), want)
d = some(1, 7, 6, 21)
np.testing.assert_array_equal(winograd.input_gradient(g)(filters, d), convolution.input_gradient(g)(filters, d))
np.testing.assert_array_equal(winograd_filter_gradient.filter_gradient(g)(images, d), convolution.filter_gradient(g)(images, d))
x = some(70, 83)
for axis in (0, 1):
    np.testing.assert_array_equal(reductions.reduction("sum", x.shape, (axis,), False)(x), x.sum(axis))
    np.testing.assert_array_equal(reductions.reduction("maximum", x.shape, (axis,), False)(x), x.max(axis))
grown = np.exp(x.astype("f8"))
share = softmax.row_softmax("softmax", x.shape)(x)
np.testing.assert_allclose(share, grown / grown.sum(1, keepdims=True), rtol=3e-6)
def normal(x, scale):
    mean = tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.square(x - mean), -1, keepdims=True)
    return tf.nn.softmax((x - mean) * tf.math.rsqrt(variance + 1e-3) * scale), tf.reduce_sum(x, 0)

x, scale = rng.normal(size=(900, 83)), rng.normal(size=83)
made = tf.function(normal, jit_compile=True)
got = made(tf.constant(x, tf.float32), tf.constant(scale, tf.float32))
assert "rows:" in made.compile_report()
for one, want in zip(got, normal(tf.constant(x), tf.constant(scale))):
    np.testing.assert_allclose(one, want, rtol=3e-5, atol=3e-5)
near = x[0].astype("f4")
sums, squares = batch_normalization.moments(900, 83)(x.astype("f4"), near)
np.testing.assert_allclose(sums, (x - near).sum(0), rtol=1e-5, atol=1e-3)
np.testing.assert_allclose(squares, np.square(x - near).sum(0), rtol=1e-5)
w = Windows(2, 6, 4, 21, 3, 2, 2, 2, 2, 2, 0, 0)
images, d = some(*w.in_shape), some(*w.out_shape)
pairs = images.reshape(2, 3, 2, 2, 2, 21)
most = pooling.pooling("maximum", w)(images)
np.testing.assert_array_equal(most, pairs.max((2, 4)))
back = pooling.pooling("maximum_gradient", w)(images, most, d)
np.testing.assert_array_equal(back.reshape(pairs.shape).sum((2, 4)), d)
print(jit.WIDTH)
"""


@pytest.mark.parametrize("width", [16, 32])
def test_narrow_registers(width):
    environment = dict(os.environ, INTAGLIO_VECTOR_BYTES=str(width))
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) <= width


@pytest.mark.parametrize("width", [16, 32])
def test_functions_of_narrow_registers(width):
    """Tables are shorter there, or there are none."""
    environment = dict(os.environ, INTAGLIO_VECTOR_BYTES=str(width))
    files = [
        f"tests/native/vector_math/test_{name}.py"
        for name in ("piecewise_polynomials", "functions")
    ]
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "-k",
            "not float64",
            *files,
        ],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert run.returncode == 0, run.stdout
