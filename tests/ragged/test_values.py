"""Ragged tensors kept, sent through functions, and refused."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intaglio import tf

ROWS = [[1, 2], [], [3]]


def test_pickled_and_copied() -> None:
    x = tf.ragged.constant(ROWS)
    for other in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        assert other.to_list() == ROWS
        assert other.row_splits.dtype is tf.int64


def test_a_uniform_dimension_survives_a_function() -> None:
    x = tf.RaggedTensor.from_uniform_row_length(tf.range(6), 3)
    assert tf.function(lambda v: v)(x).shape.as_list() == [2, 3]
    assert pickle.loads(pickle.dumps(x)).uniform_row_length.numpy() == 3


def test_rows_that_are_not_there_are_errors_when_the_graph_runs() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def made(splits: Any) -> Any:
        return tf.RaggedTensor.from_row_splits([1, 2, 3], splits)

    assert made([0, 3]).to_list() == [[1, 2, 3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not form a valid"):
        made([0, 2])


def test_indices_outside_their_rows_are_errors() -> None:
    x = tf.ragged.constant([[1, 2], [3]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="inside their rows"):
        tf.gather(x, [[0], [1]], batch_dims=1)


def test_what_takes_no_ragged_tensor_raises() -> None:
    x = tf.ragged.constant(ROWS)
    for function in (tf.transpose, tf.sort, tf.linalg.norm, tf.unstack):
        with pytest.raises(ValueError, match="RaggedTensor"):
            function(x)


def test_one_ragged_tensor_in_several_threads() -> None:
    x = tf.ragged.constant([[i] * (i % 5) for i in range(200)])
    found: list[Any] = []

    def work() -> None:
        found.append(tf.reduce_sum(x * 2, 1).numpy())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [2 * i * (i % 5) for i in range(200)]
    assert len(found) == 8 and all(np.array_equal(f, expected) for f in found)


def test_a_ragged_argument_traces_once_for_each_number_of_rows() -> None:
    traces: list[Any] = []

    @tf.function(reduce_retracing=True)
    def f(x: Any) -> Any:
        traces.append(x.shape.as_list())
        return tf.reduce_sum(x, 1)

    for rows in ([[1], [2, 3]], [[1, 2], [3]], [[1]], [[1], [2], [3]], [[4]] * 4):
        f(tf.ragged.constant(rows))
    assert traces == [[2, None], [None, None]]


def test_a_saved_function_takes_and_gives_ragged_tensors(tmp_path: Any) -> None:
    class Model(tf.Module):
        @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
        def __call__(self, x: Any) -> Any:
            return x + 1, tf.reduce_sum(x, 1)

    tf.saved_model.save(Model(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    more, sums = loaded(tf.ragged.constant(ROWS))
    assert more.to_list() == [[2, 3], [], [4]]
    assert sums.numpy().tolist() == [3, 0, 3]


@pytest.mark.parametrize("batched", [True, False])
def test_encoded_as_variants_and_back(batched: bool) -> None:
    x = tf.ragged.constant([[[1.0], [2.0, 3.0]], [], [[4.0]]])

    def there_and_back(flat: Any) -> Any:
        encoded = tf.raw_ops.RaggedTensorToVariant(
            rt_nested_splits=list(x.nested_row_splits), rt_dense_values=flat, batched_input=batched
        )
        assert encoded.dtype is tf.variant
        assert encoded.shape.as_list() == ([3] if batched else [])
        made = tf.raw_ops.RaggedTensorFromVariant(
            encoded_ragged=encoded,
            input_ragged_rank=-1 if batched else 2,
            output_ragged_rank=2,
            Tvalues=tf.float32,
        )
        return tf.RaggedTensor.from_nested_row_splits(
            made.output_dense_values, made.output_nested_splits
        )

    with tf.GradientTape() as tape:
        tape.watch(x.flat_values)
        back = there_and_back(x.flat_values)
        squares = tf.reduce_sum(back * back)
    assert back.to_list() == x.to_list()
    assert tape.gradient(squares, x.flat_values).numpy().tolist() == [2, 4, 6, 8]
    assert tf.function(there_and_back)(x.flat_values).to_list() == x.to_list()


@pytest.mark.parametrize(
    "indices", [[[0, 1]], [[0, 0], [0, 2]], [[0, 0], [1, 1]], [[0, 1], [0, 0]], [[1, 0], [0, 0]]]
)
def test_gaps_of_a_sparse_matrix_are_refused(indices):
    def ragged():
        x = tf.SparseTensor(indices, [1.0] * len(indices), [2, 3])
        return tf.RaggedTensor.from_sparse(x)

    for call in (ragged, tf.function(ragged)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            call()


@given(st.lists(st.lists(st.integers(-3, 3), max_size=4), min_size=1, max_size=5))
def test_there_and_back_through_sparse(rows):
    x = tf.ragged.constant(rows, dtype=tf.int32, ragged_rank=1)
    for call in (tf.RaggedTensor.from_sparse, tf.function(tf.RaggedTensor.from_sparse)):
        assert call(x.to_sparse()).to_list() == rows


def test_no_gradient_through_stop_gradient():
    x = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x.flat_values)
        y = tf.reduce_sum(x.flat_values * tf.stop_gradient(x).flat_values)
    assert tape.gradient(y, x.flat_values).numpy().tolist() == [1.0, 2.0, 3.0]


def test_flat_values_of_different_sizes():
    # The classes are TensorFlow 2.21's; in a graph the assertion named an eager tensor.
    x, y = tf.ragged.constant([[1, 2], [], [3]]), tf.ragged.constant([[1], [2]])
    shifted = tf.ragged.constant([[1], [2], [4]])

    def added(other):
        return lambda: tf.ragged.map_flat_values(tf.add, x, other)

    for wrap in (lambda f: f, tf.function):
        with pytest.raises(ValueError, match="must all have the same outer-dimension size"):
            wrap(added(y))()
        with pytest.raises(tf.errors.InvalidArgumentError):
            wrap(added(shifted))()


def test_segment_ids_of_splits_that_begin_later():
    # Only the lengths of rows count, as in TensorFlow 2.21.
    assert tf.ragged.row_splits_to_segment_ids([1, 2]).numpy().tolist() == [0]
    assert tf.ragged.row_splits_to_segment_ids([2, 5, 5, 6]).numpy().tolist() == [0, 0, 0, 2]


@pytest.mark.parametrize("w", [2.0, [[2.0], [3.0]]])
def test_an_operand_of_unknown_rank_is_not_guessed(w: Any) -> None:
    """TensorFlow raises too. Taken for a scalar, a matrix gave rows of rows that nobody asked for."""
    ragged, shape = tf.ragged.constant([[1.0, 2.0], [3.0]]), np.shape(w)

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None]), tf.TensorSpec(None)])
    def product(x: Any, w: Any) -> Any:
        return x * w

    with pytest.raises(ValueError, match="unknown rank"):
        product(ragged, w)

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None]), tf.TensorSpec(None)])
    def known(x: Any, w: Any) -> Any:
        return x * tf.ensure_shape(w, shape)

    assert known(ragged, w).to_list() == (ragged * w).to_list()
