"""Programs that sort, count, select and group."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


@program(modes=("eager", "graph"))
def detection_boxes(tf: Any, inputs: Inputs) -> Any:
    """Boxes from anchors, overlaps, non-maximum suppression."""
    n, keep = inputs.size(500, 2500, 20), inputs.size(20, 80, 5)
    corners = inputs.uniform(n, 2, high=300)
    anchors = tf.constant(np.concatenate([corners, corners + inputs.uniform(n, 2, high=60) + 5], 1))

    def step(offsets: Any, logits: Any) -> Any:
        scores = tf.reduce_max(tf.nn.softmax(logits), 1)
        boxes = tf.clip_by_value(anchors + 4.0 * offsets, 0.0, 320.0)
        kept = tf.image.non_max_suppression(boxes, scores, keep, 0.4)
        chosen = tf.gather(boxes, kept)
        areas = tf.reduce_prod(chosen[:, 2:] - chosen[:, :2], 1)
        return chosen, tf.gather(scores, kept), areas

    return step, (tf.constant(inputs.normal(n, 4)), tf.constant(inputs.normal(n, 10)))


@program()
def robust_statistics(tf: Any, inputs: Inputs) -> Any:
    """Medians, trimmed means and ranks by columns."""
    n, d = inputs.size(800, 4000, 11), inputs.size(8, 40, 3)

    def step(x: Any) -> Any:
        ordered = tf.sort(x, axis=0)
        median = ordered[n // 2]
        trimmed = tf.reduce_mean(ordered[n // 10 : n - n // 10], 0)
        deviation = tf.sort(tf.abs(x - median), axis=0)[n // 2]
        ranks = tf.argsort(tf.argsort(x, axis=0), axis=0)
        return median, trimmed, deviation, ranks

    return step, (tf.constant(inputs.normal(n, d)),)


@program(modes=("eager", "graph"))
def group_by(tf: Any, inputs: Inputs) -> Any:
    """A table grouped by a key: unique, counts, sums, means, maxima."""
    n, keys = inputs.size(5000, 40_000, 40), inputs.size(50, 3000, 7)

    def step(key: Any, value: Any) -> Any:
        names, index, counts = tf.unique_with_counts(key)
        size = tf.size(names)
        sums = tf.math.unsorted_segment_sum(value, index, size)
        tops = tf.math.unsorted_segment_max(value, index, size)
        order = tf.argsort(names)
        means = sums / tf.cast(counts, tf.float32)
        return [tf.gather(a, order) for a in (names, counts, means, tops)]

    return step, (tf.constant(inputs.integers(keys, n)), tf.constant(inputs.uniform(n)))


@program()
def histogram_equalisation(tf: Any, inputs: Inputs) -> Any:
    """Bincount, cumulative sum and lookup on an image; quantiles by searchsorted."""
    h, w, q = inputs.size(200, 500, 8), inputs.size(200, 500, 9), inputs.size(10, 60, 4)

    def step(image: Any) -> Any:
        counts = tf.math.bincount(tf.reshape(image, [-1]), minlength=256, maxlength=256)
        cumulative = tf.cumsum(tf.cast(counts, tf.float32)) / (h * w)
        levels = tf.linspace(0.01, 0.99, q)
        quantiles = tf.searchsorted(cumulative, levels)
        return tf.gather(cumulative, image), quantiles

    return step, (tf.constant(inputs.integers(256, h, w)),)


@program(modes=("eager", "graph"))
def filter_events(tf: Any, inputs: Inputs) -> Any:
    """Rows by a mask, their positions, and running totals."""
    n, d = inputs.size(5000, 50_000, 30), inputs.size(2, 9, 3)

    def step(x: Any, low: Any) -> Any:
        mask = tf.logical_and(x[:, 0] > low, x[:, 1] < 1.0)
        kept = tf.boolean_mask(x, mask)
        positions = tf.where(mask)[:, 0]
        gaps = positions[1:] - positions[:-1]
        return tf.cumsum(kept, axis=0), tf.reduce_max(gaps), tf.shape(kept)[0]

    return step, (tf.constant(inputs.normal(n, d)), tf.constant(0.0))


@program()
def top_sampling(tf: Any, inputs: Inputs) -> Any:
    """Nucleus filtering of logits: sort, cumulative probabilities, threshold."""
    b, n = inputs.size(4, 24, 2), inputs.size(2000, 20_000, 30)

    def step(logits: Any) -> Any:
        values, indices = tf.math.top_k(logits, 40 if n > 40 else n)
        ordered = tf.sort(logits, direction="DESCENDING")
        kept = tf.cumsum(tf.nn.softmax(ordered), axis=-1, exclusive=True) < 0.9
        least = tf.reduce_min(tf.where(kept, ordered, np.inf), -1, keepdims=True)
        filtered = tf.where(logits < least, -1e9, logits)
        return tf.reduce_logsumexp(filtered, -1), values, indices

    return step, (tf.constant(inputs.normal(b, n, scale=3.0)),)


@program()
def sorted_segments(tf: Any, inputs: Inputs) -> Any:
    """A softmax within each segment, as on edges of graphs, and its gradient."""
    n, groups, d = inputs.size(3000, 20_000, 30), inputs.size(100, 900, 6), inputs.size(2, 12, 2)
    ids = np.sort(inputs.integers(groups, n))
    ids[-1] = groups - 1

    def step(x: Any, ids: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            top = tf.math.unsorted_segment_max(x, ids, groups)
            powers = tf.exp(x - tf.gather(tf.stop_gradient(top), ids))
            total = tf.math.segment_sum(powers, ids)
            share = powers / tf.gather(total, ids)
            loss = tf.reduce_sum(share * share)
        return loss, tape.gradient(loss, x)

    return step, (tf.constant(inputs.normal(n, d)), tf.constant(ids))
