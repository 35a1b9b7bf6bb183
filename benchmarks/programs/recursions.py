"""Programs of dynamic programming: tables that are filled row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


@program()
def local_alignment(tf: Any, inputs: Inputs) -> Any:
    """Scores of Smith and Waterman, by anti-diagonals."""
    n, b = inputs.size(60, 150, 7), inputs.size(8, 40, 3)
    first, second = inputs.integers(4, b, n), inputs.integers(4, b, n)
    backwards = tf.constant(np.pad(second[:, ::-1], [(0, 0), (n, n)], constant_values=9))

    def step(x: Any) -> Any:
        before, last, best = tf.zeros([b, n + 1]), tf.zeros([b, n + 1]), tf.zeros([b])
        for d in tf.range(1, 2 * n):
            score = tf.where(x == backwards[:, 2 * n - d : 3 * n - d], 2.0, -1.0)
            gap = tf.maximum(last[:, 1:], last[:, :-1]) - 1.0
            inner = tf.nn.relu(tf.maximum(before[:, :-1] + score, gap))
            now = tf.ensure_shape(tf.pad(inner, [[0, 0], [1, 0]]), [b, n + 1])
            best = tf.maximum(best, tf.reduce_max(now, 1))
            before, last = last, now
        return best

    return step, (tf.constant(first),)


@program()
def time_warping(tf: Any, inputs: Inputs) -> Any:
    """Soft minima along the rows of a matrix of costs."""
    b, n = inputs.size(10, 40, 3), inputs.size(40, 120, 7)

    def step(x: Any, y: Any) -> Any:
        cost = tf.abs(x[:, :, None] - y[:, None, :])
        row = tf.cumsum(cost[:, 0], 1)
        for i in tf.range(1, n):
            c = cost[:, i]
            above = tf.minimum(row, tf.concat([tf.fill([b, 1], 1e9), row[:, :-1]], 1)) + c
            spent = tf.cumsum(c, 1)
            row = spent - tf.math.cumulative_logsumexp(20.0 * (spent - above), 1) / 20.0
        return row[:, -1]

    return step, (tf.constant(inputs.normal(b, n)), tf.constant(inputs.normal(b, n)))


@program()
def knapsack(tf: Any, inputs: Inputs) -> Any:
    """The most value for each capacity, item by item."""
    items, capacity = inputs.size(30, 120, 6), inputs.size(1000, 8000, 40)
    weights = tf.constant(inputs.integers(max(2, capacity // 5), items) + 1)
    values = tf.constant(inputs.integers(100, items) + 1)

    def step(values: Any) -> Any:
        best, at = tf.zeros([capacity + 1], tf.int32), tf.range(capacity + 1)
        for i in tf.range(items):
            source = at - weights[i]
            taken = tf.where(source >= 0, tf.gather(best, tf.maximum(source, 0)) + values[i], 0)
            best = tf.maximum(best, taken)
        return best

    return step, (values,)


@program()
def ctc_forward(tf: Any, inputs: Inputs) -> Any:
    """The forward recursion of CTC written out in logarithms."""
    b, t, s, c = inputs.size(4, 24, 2), inputs.size(30, 90, 6), inputs.size(5, 15, 2), 30
    labels = inputs.integers(c - 1, b, s) + 1
    extended = np.zeros((b, 2 * s + 1), "int32")
    extended[:, 1::2] = labels
    skip = np.zeros((b, 2 * s + 1), bool)
    skip[:, 2:] = (extended[:, 2:] != 0) & (extended[:, 2:] != extended[:, :-2])
    skips, at = tf.constant(skip), tf.constant(extended)

    def step(logits: Any) -> Any:
        logs = tf.nn.log_softmax(logits)
        emitted = tf.gather(logs, tf.tile(at[:, None], [1, t, 1]), batch_dims=2)
        first = tf.one_hot([0, 1], 2 * s + 1, on_value=True, off_value=False)
        a = tf.where(tf.reduce_any(first, 0), emitted[:, 0], -1e30)
        for i in tf.range(1, t):
            one = tf.pad(a[:, :-1], [[0, 0], [1, 0]], constant_values=-1e30)
            two = tf.pad(a[:, :-2], [[0, 0], [2, 0]], constant_values=-1e30)
            two = tf.where(skips, two, -1e30)
            a = tf.reduce_logsumexp(tf.stack([a, one, two]), 0) + emitted[:, i]
        return -tf.reduce_logsumexp(a[:, -2:], 1)

    return step, (tf.constant(inputs.normal(b, t, c)),)
