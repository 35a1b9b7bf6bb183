"""16-bit floats: what has several steps is computed in float32 and rounded once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.opdef import raw

NAMES = sorted(name for name, op in raw.catalogue().items() if op.computes_wide)
HALVES = (tf.float16, tf.bfloat16)


def _inputs(count: int, dtype: Any) -> list[tf.Tensor]:
    """Numbers of all sizes, and those at the ends of the range."""
    draw = np.random.default_rng(0)
    sizes = np.exp2(draw.uniform(-14, 5, (count, 4000)))
    x = sizes * draw.choice([-1, 1], sizes.shape)
    x[:, :8] = [0.0, -0.0, 1.0, -1.0, 11.5, -11.5, -15.0, 17.0]
    return [tf.cast(tf.constant(row), dtype) for row in x]


def _distance(x: Any, y: Any) -> int:
    """How many numbers of their dtype lie between two, at most; NaN is as far as NaN."""
    bits = []
    for a in (x, y):
        a = np.where(np.isnan(a), a.dtype.type(0), a)
        whole = a.view(np.int16).astype(np.int64)
        bits.append(np.where(whole < 0, -(whole & 0x7FFF), whole))
    assert np.array_equal(np.isnan(x), np.isnan(y))
    return int(np.abs(bits[0] - bits[1]).max())


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_as_float32_rounded(name: str, dtype: Any, compiled: bool) -> None:
    op = getattr(tf.raw_ops, name)
    names = raw.catalogue()[name].input_names
    given = _inputs(len(names), dtype)

    def run(*tensors: tf.Tensor) -> Any:
        return op(**dict(zip(names, tensors, strict=True)))

    got = (tf.function(run, jit_compile=True) if compiled else run)(*given)
    want = tf.cast(run(*[tf.cast(x, tf.float32) for x in given]), dtype)
    # Differences of exponentials lose what two libraries do not agree on.
    assert _distance(got.numpy(), want.numpy()) <= (2 if compiled else 1)


def test_sigmoid_does_not_underflow() -> None:
    x = tf.constant([-12.0, -15.0, -17.0], tf.float16)
    for f in (tf.sigmoid, tf.function(tf.sigmoid, jit_compile=True)):
        np.testing.assert_allclose(f(x).numpy(), np.exp([-12.0, -15.0, -17.0]), rtol=0.5)


def test_composed_functions() -> None:
    x = _inputs(1, tf.float16)[0]
    for f in (tf.nn.silu, tf.math.log_sigmoid, tf.nn.softmax, tf.math.softplus, tf.nn.gelu):
        got, want = f(x).numpy(), tf.cast(f(tf.cast(x, tf.float32)), tf.float16).numpy()
        np.testing.assert_allclose(got, want, rtol=4e-3, atol=2e-3, err_msg=f.__name__)


def test_the_family() -> None:
    assert {"Sigmoid", "SigmoidGrad", "Softplus", "Elu", "Selu", "Xlogy"} <= {*NAMES}


COLUMN = np.random.default_rng(0).uniform(0, 1, (3000, 3))
ROWS = tf.zeros([3000], tf.int32)
SUMS: dict[str, Any] = {
    "reduce_sum": lambda x: tf.reduce_sum(x, 0),
    "reduce_mean": lambda x: tf.reduce_mean(x, 0) * 3000,
    "cumsum": lambda x: tf.cumsum(x, 0)[-1],
    "segment_sum": lambda x: tf.math.segment_sum(x, ROWS)[0],
    "unsorted_segment_sum": lambda x: tf.math.unsorted_segment_sum(x, ROWS, 1)[0],
    "matmul": lambda x: tf.matmul(x, tf.ones([3000, 1], x.dtype), transpose_a=True)[:, 0],
    "einsum": lambda x: tf.einsum("ij->j", x),
    "BiasAddGrad": lambda x: tf.raw_ops.BiasAddGrad(out_backprop=x),
}


@pytest.mark.parametrize("jit", [None, True], ids=["graph", "jit"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", SUMS)
def test_sums_are_rounded_once(name: str, dtype: Any, jit: bool | None) -> None:
    """Some of TensorFlow 2.21 round each step: its bfloat16 `cumsum` stays at 256."""
    x = tf.cast(tf.constant(COLUMN), dtype)
    exact = tf.cast(x, tf.float64).numpy().sum(0)
    eps = 2.0**-11 if dtype is tf.float16 else 2.0**-8
    for run in (SUMS[name], tf.function(SUMS[name], jit_compile=jit)):
        tolerance = 3 * eps if name == "reduce_mean" else eps
        np.testing.assert_allclose(tf.cast(run(x), tf.float64).numpy(), exact, rtol=tolerance)


SCATTERS: dict[str, Any] = {
    "scatter_nd": lambda i, x: tf.scatter_nd(i, x, [4, 3]),
    "tensor_scatter_nd_add": lambda i, x: tf.tensor_scatter_nd_add(tf.zeros([4, 3], x.dtype), i, x),
    "tensor_scatter_nd_sub": lambda i, x: (
        -tf.tensor_scatter_nd_sub(tf.zeros([4, 3], x.dtype), i, x)
    ),
}


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1 << 30), rows=st.integers(0, 400))
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", SCATTERS)
def test_scatters_round_after_each_addition(name: str, dtype: Any, seed: int, rows: int) -> None:
    """As TensorFlow 2.21's, in all modes: eager = graph = machine code, bit for bit."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(rows, 3)).astype(dtype.as_numpy_dtype)
    at = draw.integers(0, 4, (rows, 1)).astype(np.int32)
    want = np.zeros((4, 3), x.dtype)
    for i, row in zip(at[:, 0], x, strict=True):
        want[i] += row
    run = SCATTERS[name]
    signature = [tf.TensorSpec([None, 1], tf.int32), tf.TensorSpec([None, 3], dtype)]
    for f in (run, tf.function(run), tf.function(run, signature, jit_compile=True)):
        np.testing.assert_array_equal(f(at, x).numpy(), want)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_scatters_to_variables_round_after_each_addition(dtype: Any) -> None:
    x = tf.cast(tf.constant(COLUMN), dtype)
    want = tf.scatter_nd(ROWS[:, tf.newaxis], x, [1, 3]).numpy()
    rows = tf.IndexedSlices(x, ROWS)

    def by_slices(v: tf.Variable) -> Any:
        return v.scatter_add(rows)

    def by_indices(v: tf.Variable) -> Any:
        return v.scatter_nd_add(ROWS[:, tf.newaxis], x)

    for run in (by_slices, by_indices):
        for jit in (False, True):
            v = tf.Variable(tf.zeros([1, 3], dtype))
            tf.function(run, jit_compile=jit)(v)
            np.testing.assert_array_equal(v.numpy(), want)
