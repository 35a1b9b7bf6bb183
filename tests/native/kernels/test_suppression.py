"""Suppression in machine code keeps the boxes that the NumPy code keeps."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.opdef import machine_code


def _boxes(rng, batch, size, kinds, classes, steps):
    """Boxes and scores; with `steps` many are equal. Some corners and scores are no numbers."""
    boxes = rng.random((batch, size, kinds, 4)).astype("f4")
    boxes[..., 2:] = boxes[..., :2] + 0.4 * rng.random((batch, size, kinds, 2)) - 0.05
    scores = rng.random((batch, size, classes)).astype("f4")
    if steps:
        boxes, scores = (np.round(x * steps) / np.float32(steps) for x in (boxes, scores))
    boxes[rng.random(boxes.shape) < 0.02] = np.nan
    odd = rng.random(scores.shape) < 0.05
    scores[odd] = rng.choice(np.array([np.nan, np.inf, -np.inf], "f4"), odd.sum())
    return boxes, scores


@pytest.mark.parametrize("seed", range(12))
def test_the_same_boxes(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    batch, size, classes = rng.integers(1, 4), rng.integers(1, 90), rng.integers(1, 5)
    kinds = classes if seed % 2 else 1
    boxes, scores = _boxes(rng, batch, size, kinds, classes, 8 if seed % 3 else 0)
    each, total = int(rng.integers(1, 120)), int(rng.integers(1, 40))
    least = float(rng.choice([0.3, -np.inf]))

    def call():
        combined = tf.image.combined_non_max_suppression(
            boxes, scores, each, total, 0.4, least, pad_per_class=seed % 4 == 1
        )
        single = tf.image.non_max_suppression(boxes[0, :, 0], scores[0, :, 0], each, 0.4, least)
        padded = tf.image.non_max_suppression_padded(
            boxes[0, :, 0], scores[0, :, 0], each, 0.4, least, pad_to_max_output_size=True
        )
        return [x.numpy() for x in (*combined, single, *padded)]

    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    got = call()
    monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: None)
    for a, b in zip(got, call(), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
