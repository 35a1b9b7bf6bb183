"""Functions that TensorFlow 2 has in another form. The numbers are those of TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.base import later
from intaglio.compat_v1 import renamed

v1: Any = tf.compat.v1


@pytest.mark.parametrize(
    ("strategy", "first"), [("mod", [0, 10, 20, 1, 11]), ("div", [0, 1, 10, 11, 20])]
)
def test_ids_of_a_divided_table(strategy: str, first: list[int]) -> None:
    shards = [np.array([[0], [1]], "f"), np.array([[10], [11]], "f"), np.array([[20]], "f")]
    found = v1.nn.embedding_lookup(shards, [0, 1, 2, 3, 4], strategy)
    assert found.numpy().ravel().tolist() == first


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (lambda: v1.constant([1, 2], tf.float32, [2]), [1.0, 2.0]),
        (
            lambda: v1.nn.xw_plus_b(
                np.ones([1, 2], "f"), np.ones([2, 2], "f"), np.array([1, 2], "f")
            ),
            [[3, 4]],
        ),
        (lambda: v1.string_split(["a b  c", "d"]).values, [b"a", b"b", b"c", b"d"]),
        (lambda: v1.string_split(["a,b;c"], ",;").values, [b"a", b"b", b"c"]),
        (lambda: v1.strings.split(["a b", "c"]).indices, [[0, 0], [0, 1], [1, 0]]),
        (lambda: v1.sparse_to_dense([[0, 1], [1, 0]], [2, 2], [5, 6], -1), [[-1, 5], [6, -1]]),
        (lambda: v1.reduce_join([["a", "b"], ["c", "d"]], 1, separator="-"), [b"a-b", b"c-d"]),
        (lambda: v1.nn.dropout(tf.ones([3]), 1.0), [1, 1, 1]),
        (
            lambda: v1.image.resize_images(np.arange(4.0, dtype="f").reshape(2, 2, 1), [1, 4])[
                0, :, 0
            ],
            [0, 0.5, 1, 1],
        ),
        (lambda: v1.sparse_segment_sum([[1.0, 2.0], [3.0, 4.0]], [0, 1], [0, 0]), [[4, 6]]),
    ],
)
def test_values(call: Any, answer: Any) -> None:
    assert call().numpy().tolist() == answer


def test_setdiff1d() -> None:
    left, at = v1.setdiff1d([1, 2, 3, 4], [2], index_dtype=tf.int64)
    assert (left.numpy().tolist(), at.numpy().tolist()) == ([1, 3, 4], [0, 2, 3])
    assert (left.dtype, at.dtype) == (tf.int32, tf.int64)


@pytest.mark.parametrize("name", renamed.names())
def test_renamed_functions_are_there(name: str) -> None:
    _, target = renamed._lines()[name]
    assert callable(later.named(f"intaglio.tf:{target.partition(':')[0]}"))


def test_local_variables_are_not_global() -> None:
    with tf.Graph().as_default():
        own = v1.get_local_variable("own", initializer=3.0)
        assert (v1.local_variables(), v1.global_variables()) == ([own], [])
        assert not own.trainable
        with v1.Session() as session:
            session.run(v1.initializers.local_variables())
            assert session.run(own) == 3.0


@pytest.mark.parametrize("arguments", [{"keep_prob": 0.5, "rate": 0.5}, {}])
def test_dropout_takes_one_rate(arguments: Any) -> None:
    with pytest.raises(ValueError, match=r"keep_prob|rate"):
        v1.nn.dropout(tf.ones([3]), **arguments)


def _image() -> Any:
    return np.arange(96, dtype=np.float32).reshape(2, 4, 4, 3) % 7 - 3


def test_batches_are_normalized_in_graphs() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant(_image())
        y, mean, variance = v1.nn.fused_batch_norm(x, [1.0, 2.0, 3.0], [0.0, 1.0, 2.0])
        known = v1.nn.fused_batch_norm(
            x, [1.0] * 3, [0.0] * 3, [0.0] * 3, [1.0] * 3, is_training=False, epsilon=1e-9
        )[0]
        found = session.run([y, mean, variance, known])
        with pytest.raises(ValueError, match="must be a 1D tensor"):
            v1.nn.fused_batch_norm(x, [1.0], [1.0], is_training=False)
    columns = _image().reshape(-1, 3).astype(np.float64)
    np.testing.assert_allclose(found[1], columns.mean(0), atol=1e-5)
    # TensorFlow gives the variance of a sample.
    np.testing.assert_allclose(found[2], columns.var(0, ddof=1), rtol=1e-5)
    scaled = (columns - columns.mean(0)) / np.sqrt(columns.var(0) + 1e-3)
    np.testing.assert_allclose(
        found[0].reshape(-1, 3), scaled * [1, 2, 3] + [0, 1, 2], rtol=1e-4, atol=1e-4
    )
    # The least epsilon is 1.001e-5.
    np.testing.assert_allclose(found[3].reshape(-1, 3), columns / np.sqrt(1 + 1.001e-5), rtol=1e-6)


def test_losses_of_sequences_have_the_last_class_as_blank() -> None:
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 2, 0]), [2, 2])
    scores = np.linspace(-1, 1, 40, dtype=np.float32).reshape(5, 2, 4)
    found = v1.nn.ctc_loss(labels, scores, [5, 4])
    other = v1.nn.ctc_loss(
        labels, logits=scores.transpose(1, 0, 2), sequence_length=[5, 4], time_major=False
    )
    newer = tf.nn.ctc_loss(labels, scores, None, [5, 4], blank_index=-1)
    np.testing.assert_allclose(found, newer, rtol=1e-5)
    np.testing.assert_allclose(found, other)
    with pytest.raises(TypeError, match="to be a SparseTensor"):
        v1.nn.ctc_loss(tf.ones([2, 2]), scores, [1, 1])


def test_windows_by_their_earlier_names() -> None:
    x = _image()
    ones = [1, 1, 1, 1]
    windows = v1.extract_image_patches(x, [1, 2, 2, 1], ones, ones, "VALID")
    same = v1.image.extract_image_patches(
        x, sizes=[1, 2, 2, 1], strides=ones, rates=ones, padding="VALID"
    )
    assert windows.shape == (2, 3, 3, 12)
    np.testing.assert_array_equal(windows, same)
    largest, places = v1.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    np.testing.assert_array_equal(largest, tf.nn.max_pool2d(x, 2, 2, "SAME"))
    np.testing.assert_array_equal(x[0].ravel()[places[0].numpy()], largest[0])
    spread = v1.nn.dilation2d(x, np.zeros((2, 2, 3), np.float32), ones, ones, "VALID")
    np.testing.assert_array_equal(spread, tf.nn.max_pool2d(x, 2, 1, "VALID"))
    filters = np.ones((2, 2, 3, 2), np.float32)
    np.testing.assert_array_equal(
        v1.nn.depthwise_conv2d_native(x, filters, ones, "SAME"),
        tf.nn.depthwise_conv2d(x, filters, ones, "SAME"),
    )


def test_moving_averages_of_tensors():
    """Those begin with zeros, in graphs alone; TensorFlow 2.21 was asked for names and numbers."""
    tf1 = tf.compat.v1
    with tf1.Graph().as_default(), tf1.Session() as session:
        x = tf1.placeholder(tf.float32, [2])
        squares, v = tf.square(x, name="sq"), tf1.Variable([1.0, 2.0], name="v")
        average = tf1.train.ExponentialMovingAverage(0.5)
        moves = average.apply([squares, v])
        names = [w.name for w in tf1.global_variables()]
        assert names == ["v:0", "sq/ExponentialMovingAverage:0", "v/ExponentialMovingAverage:0"]
        assert [w.name for w in tf1.moving_average_variables()] == ["v:0"]
        session.run(tf1.global_variables_initializer())
        for _ in range(2):
            session.run(moves, {x: [1.0, 2.0]})
        assert session.run(average.average(squares)).tolist() == [0.75, 3.0]
        assert session.run(average.average(v)).tolist() == [1.0, 2.0]
        unbiased = tf1.train.ExponentialMovingAverage(0.5, zero_debias=True)
        with pytest.raises(NotImplementedError, match="zero_debias"):
            unbiased.apply([squares])
        assert len(tf1.global_variables()) == 3
        unbiased.apply([v])
    with pytest.raises(TypeError, match="non-Variable tensors"):
        tf.train.ExponentialMovingAverage(0.5).apply([tf.constant(1.0)])
