"""Sparse tensors in datasets, saved functions and large shapes.

What functions of sparse tensors answer is compared with TensorFlow in
tests/parity/snippets/sparse_tensors.txt and sparse_functions.txt.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from intaglio import tf


def _sparse(shift=0):
    return tf.SparseTensor([[0, 0], [1, 2 + shift]], [5, 6], [2, 3 + shift])


def _same(a, b):
    for one, two in zip(
        (a.indices, a.values, a.dense_shape), (b.indices, b.values, b.dense_shape), strict=True
    ):
        assert np.array_equal(one.numpy(), two.numpy())


def test_batches_and_slices():
    """Asked of TensorFlow: batches of different shapes get the largest."""
    both = tf.data.Dataset.from_tensors(_sparse()).concatenate(
        tf.data.Dataset.from_tensors(_sparse(1))
    )
    (batch,) = both.batch(2)
    assert batch.dense_shape.numpy().tolist() == [2, 2, 4]
    assert batch.indices.numpy().tolist() == [[0, 0, 0], [0, 1, 2], [1, 0, 0], [1, 1, 3]]
    slices = tf.data.Dataset.from_tensor_slices({"s": _sparse(), "n": [1, 2]})
    assert slices.element_spec["s"] == tf.SparseTensorSpec([3], tf.int32)
    rows = [row["s"] for row in slices]
    assert [r.indices.numpy().tolist() for r in rows] == [[[0]], [[2]]]
    (again,) = slices.batch(2)
    _same(again["s"], _sparse())
    assert len(list(slices.batch(2).unbatch())) == 2


def test_sparse_batch():
    data = tf.data.Dataset.range(3).map(lambda x: tf.fill([x], x)).sparse_batch(2, [4])
    assert data.element_spec == tf.SparseTensorSpec([None, 4], tf.int64)
    one, two = data
    assert one.indices.numpy().tolist() == [[1, 0]]
    assert two.values.numpy().tolist() == [2, 2]
    with pytest.raises(tf.errors.DataLossError, match="larger than the row shape"):
        list(tf.data.Dataset.range(3).map(lambda x: tf.fill([x], x)).sparse_batch(4, [1]))


def test_saved_functions_take_and_give_sparse_tensors(tmp_path):
    module = tf.Module()
    module.f = tf.function(
        lambda s: s * 2, input_signature=[tf.SparseTensorSpec([None, 3], tf.int32)]
    )
    tf.saved_model.save(module, str(tmp_path / "m"))
    found = tf.saved_model.load(str(tmp_path / "m")).f(_sparse())
    assert found.values.numpy().tolist() == [10, 12]


def test_pickles():
    _same(pickle.loads(pickle.dumps(_sparse())), _sparse())


def test_shapes_larger_than_a_number_counts():
    huge = tf.SparseTensor([[2**50, 1], [5, 2**55]], [1, 2], [2**60, 2**60])
    assert tf.sparse.reorder(huge).values.numpy().tolist() == [2, 1]
    assert tf.sparse.add(huge, huge).values.numpy().tolist() == [4, 2]


def test_tapes_take_sparse_tensors():
    """Not in TensorFlow, which refuses them: the gradient is sparse as well."""
    s = tf.SparseTensor([[0], [2]], [1.0, 2.0], [3])
    with tf.GradientTape() as tape:
        tape.watch(s)
        y = tf.sparse.reduce_sum(s) ** 2
    assert tape.gradient(y, s).values.numpy().tolist() == [6.0, 6.0]


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64, tf.int32])
def test_no_division_by_a_zero_that_is_taken(dtype):
    # TensorFlow 2.21 looks at the dense elements that the sparse ones meet, whatever the dtype.
    x = tf.SparseTensor([[0, 1], [1, 0]], tf.cast([1, 2], dtype), [2, 3])

    def divided(dense):
        return tf.raw_ops.SparseDenseCwiseDiv(
            sp_indices=x.indices, sp_values=x.values, sp_shape=x.dense_shape, dense=dense
        )

    assert divided(tf.cast([[0, 1, 1], [1, 1, 1]], dtype)).numpy().tolist() == [1, 2]
    for dense in ([[1, 0, 1], [1, 1, 1]], [0, 1, 1], [[0, 0, 0], [0, 0, 0]]):
        for call in (divided, tf.function(divided)):
            with pytest.raises(tf.errors.InvalidArgumentError, match="cannot divide by zero"):
                call(tf.cast(dense, dtype))


@pytest.mark.parametrize("perm", [[0], [0, 1, 0], [[0, 1]]])
def test_a_permutation_has_an_axis_for_each(perm):
    x = tf.SparseTensor([[0, 1]], [1.0], [2, 3])
    with pytest.raises(ValueError, match="must be a vector of 2 numbers"):
        tf.sparse.transpose(x, perm)
