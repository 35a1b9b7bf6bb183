"""Softmax and cross entropies of rows of few elements against NumPy's kernels, and in every mode."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from intaglio import tf
from intaglio.native.kernels import short_softmax, softmax
from intaglio.opdef import raw

DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
# What the results of 16, 32 and 64 bits may differ by.
TOLERANCE = {2: 2e-2, 4: 4e-6, 8: 2e-14}


def rows(count: int, classes: int, dtype) -> np.ndarray:
    """Logits, among them infinities and a NaN."""
    x = np.random.default_rng(classes).normal(size=(count, classes)).astype(dtype)
    if count > 5:
        x[2, 0], x[3], x[4, 0] = np.inf, -np.inf, np.nan
    return x


def assert_near(found, right, dtype) -> None:
    tolerance = TOLERANCE[np.dtype(dtype).itemsize]
    np.testing.assert_allclose(
        found.astype(np.float64), right.astype(np.float64), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("classes", range(1, short_softmax.MAX_CLASSES + 1))
@pytest.mark.parametrize("count", [1, 16, 39])
def test_rows_of_every_length(count, classes, dtype):
    x, dtype = rows(count, classes, dtype), np.dtype(dtype)
    rng = np.random.default_rng(1)
    labels = rng.dirichlet(np.ones(classes), count).astype(dtype)
    labels[0] = 0
    with np.errstate(all="ignore"):
        for op, name in ((raw.Softmax, "softmax"), (raw.LogSoftmax, "log_softmax")):
            kernel = softmax.row_softmax(name, x.shape, dtype)
            assert_near(kernel(x), op.kernel(x), dtype)
        kernel = softmax.cross_entropy(x.shape, dtype)
        expected = raw.SoftmaxCrossEntropyWithLogits.kernel(x, labels)
        for mine, theirs in zip(kernel(x, labels), expected, strict=True):
            assert_near(mine, theirs, dtype)
        if dtype.itemsize == 2:
            return
        indices = rng.integers(0, classes, count)
        kernel = softmax.sparse_cross_entropy(x.shape, dtype)
        expected = raw.SparseSoftmaxCrossEntropyWithLogits.kernel(x, indices)
        for mine, theirs in zip(kernel(x, indices), expected, strict=True):
            assert_near(mine, theirs, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(7, 3), (9000, 5), (40, 300, 4), (5000, 16)])
def test_every_mode_gives_the_same(shape, dtype):
    x = tf.constant(np.random.default_rng(0).normal(size=shape), dtype)

    def both(x):
        return tf.nn.softmax(x), tf.nn.log_softmax(x * 2)

    eager = both(x)
    plain, native = tf.function(both), tf.function(both, jit_compile=True)
    for call in (plain, plain, plain, native):
        for mine, theirs in zip(call(x), eager, strict=True):
            assert_near(mine.numpy(), theirs.numpy(), dtype)


def test_a_row_does_not_depend_on_those_beside_it():
    x = rows(39, 5, np.float32)
    whole = softmax.row_softmax("softmax", x.shape)(x)
    for number, row in enumerate(x):
        alone = softmax.row_softmax("softmax", (1, 5))(row[None])
        np.testing.assert_array_equal(alone[0], whole[number])
