"""The loss of connectionist temporal classification: against an enumeration of all paths."""

import itertools

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import raw

LABELS = {
    "labels_indices": np.array([[0, 0], [0, 1], [1, 0]], np.int64),
    "labels_values": np.array([1, 1, 0], np.int32),
    "sequence_length": np.array([4, 3], np.int32),
}
INPUTS = np.random.RandomState(3).normal(size=(4, 2, 3))


def reduced(way):
    """A path without repetitions, then without blanks."""
    return tuple(k for k, _ in itertools.groupby(way) if k != 2)


def test_loss_is_that_of_all_paths_together():
    loss = raw.CTCLoss(INPUTS, **LABELS).loss.numpy()
    for row, (steps, labels) in enumerate(((4, (1, 1)), (3, (0,)))):
        logits = INPUTS[:steps, row]
        probs = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        total = sum(
            np.prod([probs[t, k] for t, k in enumerate(way)])
            for way in itertools.product(range(3), repeat=steps)
            if reduced(way) == labels
        )
        assert loss[row] == pytest.approx(-np.log(total), rel=1e-12)


def test_gradient_of_the_loss_is_that_of_differences():
    x = tf.constant(INPUTS)
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(raw.CTCLoss(x, **LABELS).loss * [1.0, 2.0])
    got = tape.gradient(total, x).numpy()
    step = 1e-6
    for place in ((0, 0, 1), (2, 1, 0), (3, 0, 2), (3, 1, 1)):
        moved = np.zeros_like(INPUTS)
        moved[place] = step
        up, down = (
            raw.CTCLoss(INPUTS + d, **LABELS).loss.numpy() @ [1.0, 2.0] for d in (moved, -moved)
        )
        assert got[place] == pytest.approx((up - down) / (2 * step), abs=1e-7)
