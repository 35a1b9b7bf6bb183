"""Sums of long axes: their errors are those of blocks, not of chains as long as the axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.ops.math import summation

ROWS = 300_000
# A few roundings of float32, relative to the result; chains of ROWS terms are off by 1e-5 and more.
TOLERANCE = 3e-6

NUMBERS = np.random.default_rng(0).random(ROWS * 7)


@pytest.fixture(params=["compiled", "numpy"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the kernels that a compiler offers for large arrays, and without."""
    if request.param == "numpy":
        monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: None)


def _norm(x: Any, axis: Any = None) -> Any:
    return np.sqrt(np.square(x).sum(axis))


def _batch_variance(x: tf.Tensor) -> tf.Tensor:
    columns = x.shape[-1]
    ones, none = tf.ones([columns]), tf.zeros([0])
    return tf.raw_ops.FusedBatchNormV3(
        x=x[None, None],
        scale=ones,
        offset=ones,
        mean=none,
        variance=none,
        is_training=True,
        epsilon=0.001,
    ).reserve_space_2


WHOLE: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "l2_loss": (tf.nn.l2_loss, lambda x: np.square(x).sum() / 2),
    "sum": (tf.reduce_sum, np.sum),
    "mean": (tf.reduce_mean, np.mean),
    "variance": (tf.math.reduce_variance, np.var),
    "std": (tf.math.reduce_std, np.std),
    "euclidean": (tf.math.reduce_euclidean_norm, _norm),
    "norm": (tf.norm, _norm),
    "norm 1": (lambda x: tf.norm(x, 1), np.sum),
    "global norm": (lambda x: tf.linalg.global_norm([x]), _norm),
    "dot": (lambda x: tf.tensordot(x, x, 1), lambda x: x.dot(x)),
    "einsum": (lambda x: tf.einsum("i,i->", x, x), lambda x: x.dot(x)),
    "matmul": (lambda x: tf.matmul(x[None, None], x[:, None])[0, 0, 0], lambda x: x.dot(x)),
    "sparse": (lambda x: tf.sparse.reduce_sum(tf.sparse.from_dense(x)), np.sum),
}
COLUMNS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (lambda x: tf.reduce_sum(x, 0), lambda x: x.sum(0)),
    "mean": (lambda x: tf.reduce_mean(x, 0), lambda x: x.mean(0)),
    "variance": (lambda x: tf.math.reduce_variance(x, 0), lambda x: x.var(0)),
    "moments": (lambda x: tf.nn.moments(x, [0])[1], lambda x: x.var(0)),
    "euclidean": (lambda x: tf.math.reduce_euclidean_norm(x, 0), lambda x: _norm(x, 0)),
    "bias gradient": (
        lambda x: tf.raw_ops.BiasAddGrad(out_backprop=x, data_format="NHWC"),
        lambda x: x.sum(0),
    ),
    "batch normalization": (_batch_variance, lambda x: x.var(0)),
}


def _compare(pair: tuple[Callable[..., Any], Callable[..., Any]], x: Any) -> None:
    run, exact = pair
    single = x.astype(np.float32)
    want = exact(single.astype(np.float64))
    np.testing.assert_allclose(run(tf.constant(single)).numpy(), want, TOLERANCE)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("name", WHOLE)
def test_all_elements(name: str) -> None:
    _compare(WHOLE[name], NUMBERS)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("columns", [1, 2, 7])
@pytest.mark.parametrize("name", COLUMNS)
def test_columns(name: str, columns: int) -> None:
    _compare(COLUMNS[name], NUMBERS.reshape(-1, columns))


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((1000, 3), (0,)),
        ((5, 700, 4), (1,)),
        ((150, 4, 150), (0, 2)),
        ((150, 1, 200), (0, 1)),
        ((2, 0, 3), (1,)),
        ((200, 300), (0, 1)),
        ((257, 2, 5), (0,)),
        ((130, 131, 2), (0, 1)),
        ((), ()),
    ],
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int32"])
def test_any_axes(shape: tuple[int, ...], axes: tuple[int, ...], dtype: str) -> None:
    x = np.random.default_rng(1).integers(0, 3, shape).astype(dtype)
    wide = "complex128" if dtype == "complex64" else "float64"
    for source in (x, np.asfortranarray(x).reshape(shape)):
        for keep in (False, True):
            total = summation.add_reduce(source, axes, keep)
            want = np.sum(x.astype(wide), axis=axes, keepdims=keep)
            assert total.shape == want.shape
            assert total.dtype == dtype
            np.testing.assert_array_equal(total, want.astype(dtype))  # small whole numbers


def test_halves_are_added_in_float32() -> None:
    ones = tf.ones([5000, 3], tf.float16)
    assert tf.reduce_sum(ones, 0).numpy().tolist() == [5000.0] * 3
    ones = tf.ones([3, 5000], tf.bfloat16)
    assert tf.reduce_sum(ones, 1).numpy().tolist() == [4992.0] * 3  # 5000 as a bfloat16


def test_sums_of_squares() -> None:
    for size in (0, 1, 4095, 4096, 10_000):
        x = np.arange(size) % 5
        assert summation.sum_of_squares(x.astype(np.float32)) == np.square(x).sum()
        rows = (np.arange(size * 3) % 4).reshape(size, 3)
        total = summation.column_sums(rows.astype(np.float32))
        assert total.tolist() == rows.sum(0).tolist()


NEGATIVE_ZEROS = [
    ((6,), (0,)),
    ((6, 2), (0,)),
    ((6, 2), (1,)),
    ((40, 50), (0,)),
    ((40, 50), (0, 1)),
    ((7, 8, 9), (0, 2)),
    ((700, 900), (0,)),
    ((700, 900), (1,)),
    ((1, 33), (0,)),
    ((6, 1), (1,)),
    ((1, 400, 900), (0,)),
    ((5,), ()),
]


@pytest.mark.parametrize(("shape", "axes"), NEGATIVE_ZEROS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_sums_of_negative_zeros(shape, axes, dtype):
    """0.0 of several, as TensorFlow 2.21 has it, and -0.0 where nothing is added."""
    x = tf.cast(np.full(shape, -0.0), dtype)
    negative = np.prod([shape[a] for a in axes]) == 1
    functions = [tf.reduce_sum, tf.reduce_mean, lambda x, a: tf.reduce_sum(tf.identity(x) * 1, a)]
    # Products and quotients of complex numbers have zeros of their own.
    for function in functions[: 1 if x.dtype.is_complex else 3]:
        for jit in (None, False, True):
            run = function if jit is None else tf.function(function, jit_compile=jit)
            found = tf.math.real(tf.cast(run(x, list(axes)), "complex64")).numpy()
            assert not found.any()
            assert (np.signbit(found) == negative).all()
