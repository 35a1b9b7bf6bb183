"""Ops without an operator of ONNX by rules that libraries have, too: onnxruntime gives what Python gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from tests.export.onnx.running import session


def normal(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def compare(function: Any, folder: Any, *arrays: Any, tolerance: float = 1e-5) -> None:
    specs = [tf.TensorSpec(a.shape, a.dtype, name=f"x{i}") for i, a in enumerate(arrays)]
    concrete = tf.function(function).get_concrete_function(*specs)
    run = session(intaglio.export_onnx(concrete, folder / "model.onnx"))
    found = run.run(None, {f"x{i}": a for i, a in enumerate(arrays)})
    expected = tf.nest.flatten(concrete(*map(tf.constant, arrays)))
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.dtype == theirs.numpy().dtype
        largest = np.abs(theirs.numpy()).max(initial=0)
        np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance * largest)


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (2, 3, 4, 4)])
def test_matrices(shape, tmp_path):
    """Elimination takes the largest element of a column first: zeros on the diagonal are no matter."""

    def f(x: Any, y: Any) -> Any:
        definite = tf.matmul(x, x, transpose_b=True) + 2.0 * tf.eye(shape[-1])
        lower = tf.linalg.cholesky(definite)
        hollow = x - tf.linalg.diag(tf.linalg.diag_part(x)) if shape[-1] > 1 else x
        return [
            lower,
            tf.linalg.triangular_solve(lower, y),
            tf.linalg.triangular_solve(lower, y, adjoint=True),
            tf.linalg.triangular_solve(definite, y, lower=False),
            tf.linalg.solve(hollow, y),
            tf.linalg.solve(x, y, adjoint=True),
            tf.linalg.inv(hollow),
            tf.linalg.trace(x),
        ]

    compare(f, tmp_path, normal(*shape), normal(*shape[:-1], 3), tolerance=2e-4)


def test_diagonals(tmp_path):
    def f(x: Any) -> Any:
        return [tf.linalg.diag_part(x, k=k) for k in (0, 2, -1)]

    compare(f, tmp_path, normal(2, 3, 5))


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_products_from_one_end(exclusive, reverse, tmp_path):
    def f(x: Any) -> Any:
        return [tf.math.cumprod(x, axis, exclusive, reverse) for axis in (0, 1, -1)]

    compare(f, tmp_path, normal(1, 5, 7))


def test_positions(tmp_path):
    def f(x: Any, y: Any) -> Any:
        ordered = tf.sort(x)
        return [
            tf.searchsorted(ordered, side, side=name, out_type=kind)
            for side in (y, x)
            for name, kind in (("left", tf.int32), ("right", tf.int64))
        ]

    x = np.array([[3, 1, 2, 2, 9], [0, 0, 5, 7, 7]], np.float32)
    compare(f, tmp_path, x, np.array([[2, 10, -1], [0, 6, 7]], np.float32))


def test_segments_and_windows(tmp_path):
    """By rules of the format, and by what a kernel does with symbolic arrays."""

    def f(x: Any, k: Any) -> Any:
        ids = [0, 0, 2, 3, 3, 3]
        return [
            tf.math.segment_sum(x[0], ids),
            tf.math.segment_max(x[0], ids),
            tf.nn.dilation2d(x, k, [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]),
        ]

    compare(f, tmp_path, normal(2, 6, 5, 3), normal(3, 3, 3))


NAMES = ["sum", "mean", "prod", "max", "min"]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("sizes", [(), (3,), (2, 3)])
def test_segments(dtype, sizes, tmp_path):
    """By numbers that are known, and by those that are data, with segments without elements."""

    def f(x: Any, rising: Any, numbers: Any) -> Any:
        found = [
            getattr(tf.math, f"segment_{name}")(x, ids)
            for name in NAMES
            for ids in (rising, [0, 0, 2, 3, 3, 3])
        ]
        unsorted = [getattr(tf.math, f"unsorted_segment_{n}") for n in NAMES if n != "mean"]
        return found + [reduce(x, numbers, 5) for reduce in unsorted]

    x = np.round(normal(6, *sizes) * 8).astype(dtype)
    if x.dtype.kind == "f":
        x[3:] = -np.inf  # where a segment has nothing else, this is its maximum
    numbers = np.array([2, 0, 2, -1, 3, 3])
    arguments = {"x": x, "rising": np.array([1, 1, 1, 4, 6, 6]), "numbers": numbers}
    specs = [tf.TensorSpec(a.shape, a.dtype, n) for n, a in arguments.items()]
    concrete = tf.function(f).get_concrete_function(*specs)
    run = session(intaglio.export_onnx(concrete, tmp_path / "model.onnx"))
    wanted = concrete(*map(tf.constant, arguments.values()))
    for mine, theirs in zip(run.run(None, arguments), wanted, strict=True):
        assert mine.dtype == theirs.numpy().dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-3 if dtype is np.float16 else 1e-6)


def test_segments_of_unknown_sizes(tmp_path):
    """One model for any number of rows, also none."""

    def f(x: Any, ids: Any) -> Any:
        return [getattr(tf.math, f"segment_{name}")(x, ids) for name in NAMES]

    specs = [tf.TensorSpec([None, None], np.float32, "x"), tf.TensorSpec([None], np.int32, "ids")]
    concrete = tf.function(f).get_concrete_function(*specs)
    run = session(intaglio.export_onnx(concrete, tmp_path / "model.onnx"))
    for numbers in ([0, 2, 2, 5], [3], []):
        x, ids = normal(len(numbers), 3), np.array(numbers, np.int32)
        wanted = concrete(tf.constant(x), tf.constant(ids))
        for mine, theirs in zip(run.run(None, {"x": x, "ids": ids}), wanted, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-6)


@pytest.mark.parametrize("method", ["bicubic", "area"])
def test_sizes_of_images(method, tmp_path):
    """With the weights of the op, which differ from those that ONNX computes."""

    def f(x: Any) -> Any:
        return [tf.image.resize(x, size, method) for size in ((9, 4), (3, 10), (1, 1))]

    compare(f, tmp_path, normal(2, 5, 7, 3))


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (2, 5, 3), (3, 6), (2, 1, 4)])
@pytest.mark.parametrize("full", [False, True])
def test_orthogonal_factors(shape, full, tmp_path):
    """With the signs of LAPACK, also of columns that are zero below the diagonal, and of zeros."""

    def f(x: Any) -> Any:
        return [
            *tf.linalg.qr(x, full_matrices=full),
            *tf.linalg.qr(tf.linalg.band_part(x, 0, -1), full_matrices=full),
            tf.linalg.qr(x * 0.0, full_matrices=full).r,
        ]

    compare(f, tmp_path, normal(*shape), tolerance=1e-4)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.linalg.svd(x, compute_uv=False),
        tf.linalg.eigvalsh,
        lambda x: tf.linalg.expm(tf.linalg.logm(tf.cast(x, tf.complex64))),
    ],
)
def test_algorithms_of_loops_are_refused_with_their_reason(function, tmp_path):
    concrete = tf.function(function).get_concrete_function(tf.TensorSpec([4, 4], name="x"))
    reason = r"\(\w+.py:\d+\) cannot be written as ONNX: it is an algorithm of loops over elements"
    with pytest.raises(intaglio.ExportError, match=reason):
        intaglio.export_onnx(concrete, tmp_path / "model.onnx")


@pytest.mark.parametrize("dtype", [tf.quint8, tf.qint8, tf.qint32, tf.quint16])
@pytest.mark.parametrize("mode", ["MIN_COMBINED", "SCALED"])
def test_quantised_numbers(dtype, mode, tmp_path):
    """They are integers in a model; what is computed of them and of their range are floats again."""

    def f(x: Any) -> Any:
        found = tf.quantization.quantize(x, -1.0, 3.0, dtype, mode=mode)
        back = tf.quantization.dequantize(found.output, found.output_min, found.output_max, mode)
        return [back, found.output_min, tf.reshape(back, [-1])]

    compare(f, tmp_path, normal(3, 4))


def test_an_expression_of_the_op_itself_is_none(tmp_path):
    concrete = tf.function(lambda x: tf.bitcast(x, tf.int32)).get_concrete_function(
        tf.TensorSpec([3], name="x")
    )
    with pytest.raises(intaglio.ExportError, match="Bitcast 'Bitcast'") as refused:
        intaglio.export_onnx(concrete, tmp_path / "model.onnx")
    assert str(refused.value).count("Bitcast") <= 2


def test_reductions_of_sparse_tensors(tmp_path):
    """Errors that depend on data are none in a model, which has no operator for them."""

    def f(values: Any) -> Any:
        x = tf.SparseTensor([[0, 1], [1, 0], [1, 2], [3, 0]], values, [4, 3])
        reduce = [tf.sparse.reduce_sum, tf.sparse.reduce_max]
        return [r(x, axis=a) for r in reduce for a in (0, 1, -1, None)]

    compare(f, tmp_path, normal(4))


def test_shapes_that_are_data(tmp_path):
    def f(a: Any, b: Any) -> Any:
        return tf.broadcast_dynamic_shape(a, b)

    compare(f, tmp_path, np.array([3, 1], np.int32), np.array([2, 1, 5], np.int32))
