"""Arguments that TensorFlow refuses, with its classes of errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("second", [[1.0, 2.0], np.arange(3), np.ones(2, np.float16)])
def test_grids_have_one_dtype(indexing: str, second: Any) -> None:
    """TensorFlow 2.21 was asked: eagerly InvalidArgumentError, in a graph TypeError."""
    first = tf.range(3)
    second = tf.constant(second)
    if second.dtype is tf.int32:
        second = tf.cast(second, tf.int64)

    def grids(a: Any, b: Any) -> Any:
        return tf.meshgrid(a, b, indexing=indexing)

    with pytest.raises(tf.errors.InvalidArgumentError, match="Mul"):
        grids(first, second)
    with pytest.raises(TypeError):
        tf.function(grids)(first, second)
    for run in (grids, tf.function(grids)):
        assert [x.dtype for x in run(first, first[:2])] == [tf.int32] * 2


@pytest.mark.parametrize("call", [tf.foldl, tf.foldr, tf.scan])
@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_no_rows_have_no_first_one(call: Any, shape: tuple[int, ...]) -> None:
    """TensorFlow 2.21 was asked: OutOfRangeError eagerly, InvalidArgumentError in a graph."""
    x = tf.zeros(shape)

    def run(x: Any) -> Any:
        return call(lambda a, row: a + row, x)

    with pytest.raises(tf.errors.OutOfRangeError):
        run(x)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(run)(x)


COUNTED = np.array([[1, 0, 1], [2, 2, 0]], np.int32)
VALUES = {
    "dense": tf.constant(COUNTED),
    "sparse": tf.sparse.from_dense(COUNTED),
    "ragged": tf.RaggedTensor.from_tensor(COUNTED),
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_weights_and_binary_output_exclude_each_other(kind: str, axis: int | None) -> None:
    values = VALUES[kind]
    weights: Any = values if kind == "dense" else tf.cast(values, tf.float32)
    with pytest.raises(ValueError, match="binary_output"):
        tf.math.bincount(values, weights=weights, axis=axis, binary_output=True)


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_sparse_tensors_are_counted_by_their_values(axis: int | None, graph: bool) -> None:
    """[0, 2, 2] together and [[0, 2, 0], [0, 0, 2]] by rows, as TensorFlow 2.21 counts them."""

    def counts(x: Any) -> Any:
        weighted = tf.cast(x, tf.float32)
        return [
            tf.math.bincount(x, axis=axis),
            tf.math.bincount(x, axis=axis, minlength=5),
            tf.math.bincount(x, axis=axis, binary_output=True),
            tf.math.bincount(x, axis=axis, weights=weighted),
        ]

    run = tf.function(counts) if graph else counts
    rows = np.array([[0, 2, 0], [0, 0, 2]])
    want = rows if axis == -1 else rows.sum(0)
    plain, wide, binary, weighted = run(VALUES["sparse"])
    np.testing.assert_array_equal(plain, want)
    np.testing.assert_array_equal(wide[..., :3], want)
    assert wide.shape[-1] == 5
    np.testing.assert_array_equal(binary, want > 0)
    np.testing.assert_array_equal(weighted, want * np.arange(3.0))


def test_targets_are_a_vector() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="targets must be 1-dimensional"):
        tf.math.in_top_k([[0]], [[1.0, 2.0]], 1)
