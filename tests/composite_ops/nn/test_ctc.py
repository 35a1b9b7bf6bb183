"""Losses of labels that hardly fit. TensorFlow 2.21 was asked for the numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from intaglio import tf


def loss(labels, lengths, logits, blank, steps=None):
    count = logits.shape[0]
    steps = [count] * len(labels) if steps is None else steps
    return tf.nn.ctc_loss(
        tf.constant(labels), logits, tf.constant(lengths), tf.constant(steps), blank_index=blank
    )


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    ("labels", "steps", "blank", "wanted"),
    [
        ([[1, 1, 1], [1, 2, 3]], 4, 0, [710.55859375, 4.491841793060303]),
        ([[1, 1]], 2, -1, [708.72607421875]),
        ([[1, 2]], 1, 0, [707.8098754882812]),
    ],
)
def test_labels_that_do_not_fit_have_a_finite_loss(labels, steps, blank, wanted, traced):
    logits = tf.zeros([steps, len(labels), 5])
    call = tf.function(loss) if traced else loss
    found = call(labels, [len(row) for row in labels], logits, blank).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("labels", "length", "wanted"),
    [([1, 2, 3], 3, 5021.77978515625), ([1, 2, 3], 1, 5366.98974609375), ([2, 2, 1], 2, 5092.75732421875)],
)  # fmt: skip
def test_a_very_large_loss(labels, length, wanted):
    logits = tf.reshape(tf.sin(tf.range(300, dtype=tf.float32) * 1.7), [60, 1, 5]) * 100
    np.testing.assert_allclose(loss([labels], [length], logits, 0).numpy(), [wanted], rtol=1e-6)


def _of_all_paths(scores, labels):
    """Minus the logarithm of the sum over all paths that begin with the labels, one by one."""
    total = -math.inf
    for path in itertools.product(range(scores.shape[1]), repeat=scores.shape[0]):
        merged = [k for k, _ in itertools.groupby(path) if k]
        if merged == labels[: len(merged)]:
            own = sum(scores[t, k] for t, k in enumerate(path))
            end = 0.0 if merged == labels else math.log(1e-307)
            total = np.logaddexp(total, own + end)
    return -total


@pytest.mark.parametrize("labels", [[1, 1], [1, 2, 1], [2, 2, 2], [1, 2]])
@pytest.mark.parametrize("steps", [1, 2, 4])
def test_loss_is_that_of_all_paths_that_begin_with_the_labels(labels, steps):
    logits = tf.constant(np.random.default_rng(steps).normal(size=(steps, 1, 3)))
    scores = tf.nn.log_softmax(logits).numpy()[:, 0]
    found = float(loss([labels], [len(labels)], logits, 0)[0])
    assert found == pytest.approx(_of_all_paths(scores, labels), rel=1e-12)


@pytest.mark.parametrize("traced", [False, True])
def test_the_gradient_is_that_of_differences(traced):
    rng = np.random.default_rng(1)
    start = tf.constant(rng.normal(size=(4, 3, 3)))
    labels, lengths, steps = [[1, 1, 2], [1, 2, 1], [2, 0, 0]], [3, 3, 1], [3, 2, 4]

    def value(logits):
        return tf.reduce_sum(loss(labels, lengths, logits, 0, steps))

    def slope(logits):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            result = value(logits)
        return tape.gradient(result, logits)

    found = (tf.function(slope) if traced else slope)(start).numpy()
    direction = rng.normal(size=start.shape)
    step = 1e-4 * direction
    difference = float(value(start + step) - value(start - step)) / 2e-4
    assert np.sum(found * direction) == pytest.approx(difference, rel=1e-6)
    assert not found[3, 0].any() and not found[2:, 1].any()


def test_sparse_labels_that_do_not_fit():
    logits = tf.zeros([4, 1, 5])
    sparse = tf.sparse.from_dense([[1, 1, 1]])
    assert tf.nn.ctc_loss(sparse, logits, None, [4], blank_index=0).numpy() == np.inf
    with pytest.raises(tf.errors.InvalidArgumentError, match="required: 3, available: 2"):
        tf.nn.ctc_loss(sparse, logits, None, [2], blank_index=0)
