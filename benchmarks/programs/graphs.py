"""Programs on graphs, sparse matrices and recommendations."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


@program()
def graph_attention(tf: Any, inputs: Inputs) -> Any:
    """Attention along edges: a softmax for each end of segments, forward and back."""
    n, edges, d, heads = (
        inputs.size(100, 800, 8),
        inputs.size(800, 6000, 30),
        inputs.size(8, 32, 4, 4),
        4,
    )
    w, a = (
        tf.Variable(inputs.weights(d, heads * d)),
        tf.Variable(inputs.normal(2, heads, d, scale=0.2)),
    )

    def step(x: Any, origin: Any, end: Any) -> Any:
        with tf.GradientTape() as tape:
            h = tf.reshape(x @ w, [n, heads, d])
            s, r = tf.reduce_sum(h * a[0], -1), tf.reduce_sum(h * a[1], -1)
            score = tf.nn.leaky_relu(tf.gather(s, origin) + tf.gather(r, end), 0.2)
            top = tf.math.unsorted_segment_max(score, end, n)
            e = tf.exp(score - tf.gather(top, end))
            total = tf.math.unsorted_segment_sum(e, end, n) + 1e-9
            alpha = e / tf.gather(total, end)
            out = tf.math.unsorted_segment_sum(alpha[..., None] * tf.gather(h, origin), end, n)
            out = tf.nn.elu(tf.reshape(out, [n, heads * d]))
            loss = tf.reduce_mean(out**2)
        for v, g in zip((w, a), tape.gradient(loss, (w, a)), strict=True):
            v.assign_sub(0.1 * g)
        return loss

    return step, (
        tf.constant(inputs.normal(n, d)), tf.constant(inputs.integers(n, edges)),
        tf.constant(inputs.integers(n, edges)),
    )  # fmt: skip


@program()
def breadth_first(tf: Any, inputs: Inputs) -> Any:
    """Distances from a node by frontiers, along lists of edges."""
    n = inputs.size(200, 3000, 20)
    edges = 4 * n

    def step(origin: Any, end: Any) -> Any:
        far = tf.fill([n], n)
        far = tf.tensor_scatter_nd_update(far, [[0]], [0])
        level, more = 0, tf.constant(True)
        while more:
            reached = tf.gather(far, origin) == level
            ends = tf.where(reached, level + 1, n)
            nearest = tf.math.unsorted_segment_min(ends, end, n)
            new = tf.minimum(far, nearest)
            more = tf.reduce_any(new < far)
            far = new
            level += 1
        return far, level

    return step, (tf.constant(inputs.integers(n, edges)), tf.constant(inputs.integers(n, edges)))


@program()
def connected_regions(tf: Any, inputs: Inputs) -> Any:
    """Regions of a picture by the greatest label of the neighbourhood, and their sizes."""
    h, w = inputs.size(24, 80, 8), inputs.size(24, 80, 9)

    def step(mask: Any) -> Any:
        labels = tf.reshape(tf.range(1.0, h * w + 1.0), [1, h, w, 1]) * mask
        changed = tf.constant(True)
        while changed:
            new = tf.nn.max_pool2d(labels, 3, 1, "SAME") * mask
            changed = tf.reduce_any(new > labels)
            labels = new
        ids = tf.cast(tf.reshape(labels, [-1]), tf.int32)
        return labels[0, ..., 0], tf.math.bincount(ids, minlength=h * w + 1, maxlength=h * w + 1)

    return step, (tf.constant((inputs.uniform(1, h, w, 1) < 0.5).astype("float32")),)


@program()
def label_propagation(tf: Any, inputs: Inputs) -> Any:
    """Labels of few nodes spread over a graph of neighbours, then the Laplacian's energy."""
    n, d, k = inputs.size(60, 300, 8), inputs.size(2, 10, 2), inputs.size(3, 8, 2)

    def step(x: Any, seeds: Any) -> Any:
        square = tf.reduce_sum(x**2, 1)
        distance = square[:, None] + square - 2.0 * tf.matmul(x, x, transpose_b=True)
        values, near = tf.math.top_k(-distance, 6)
        rows = tf.repeat(tf.range(n), 6)
        pairs = tf.stack([rows, tf.reshape(near, [-1])], 1)
        a = tf.scatter_nd(pairs, tf.exp(tf.reshape(values, [-1])), [n, n])
        a = 0.5 * (a + tf.transpose(a))
        degree = tf.reduce_sum(a, 1)
        s = a * tf.math.rsqrt(degree)[:, None] * tf.math.rsqrt(degree)
        y = tf.one_hot(seeds, k)
        f = y
        for _ in tf.range(10):
            f = 0.9 * (s @ f) + 0.1 * y
        energy = tf.reduce_sum(f * (f - s @ f))
        return tf.argmax(f, 1), energy

    seeds = inputs.integers(k, n)
    seeds[5:] = -1
    return step, (tf.constant(inputs.normal(n, d)), tf.constant(seeds))


@program()
def two_towers(tf: Any, inputs: Inputs) -> Any:
    """Users and items in towers, a softmax over the batch, with corrected frequencies."""
    users, items, b, d = (
        inputs.size(500, 5000, 9),
        inputs.size(300, 3000, 8),
        inputs.size(32, 256, 5),
        16,
    )
    tables = [tf.Variable(inputs.normal(k, d, scale=0.1)) for k in (users, items)]
    w = [tf.Variable(inputs.weights(d, d)) for _ in range(2)]
    counts = tf.Variable(tf.ones([items]))

    def step(user: Any, item: Any) -> Any:
        counts.scatter_add(tf.IndexedSlices(tf.ones([b]), item))
        with tf.GradientTape() as tape:
            u = tf.nn.l2_normalize(tf.nn.relu(tf.nn.embedding_lookup(tables[0], user)) @ w[0], 1)
            i = tf.nn.l2_normalize(tf.nn.relu(tf.nn.embedding_lookup(tables[1], item)) @ w[1], 1)
            logits = 20.0 * tf.matmul(u, i, transpose_b=True) - tf.math.log(tf.gather(counts, item))
            same = tf.cast(item[:, None] == item, tf.float32) - tf.eye(b)
            logits -= 1e6 * same
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.range(b), logits=logits)
            )
        gradients = tape.gradient(loss, [*tables, *w])
        for v, g in zip(tables, gradients[:2], strict=True):
            v.scatter_sub(tf.IndexedSlices(0.1 * g.values, g.indices))
        for v, g in zip(w, gradients[2:], strict=True):
            v.assign_sub(0.1 * g)
        return loss

    return step, (tf.constant(inputs.integers(users, b)), tf.constant(inputs.integers(items, b)))


@program()
def session_bags(tf: Any, inputs: Inputs) -> Any:
    """Histories of several lengths as weighted bags, a factorisation machine, training."""
    b, fields, v = inputs.size(32, 200, 4), inputs.size(6, 20, 3), inputs.size(500, 5000, 20)
    table, linear = tf.Variable(inputs.normal(v, 12, scale=0.1)), tf.Variable(tf.zeros([v]))
    ids, lengths = inputs.integers(v, b, fields), inputs.integers(fields, b) + 1

    def step(ids: Any, lengths: Any, y: Any) -> Any:
        mask = tf.sequence_mask(lengths, fields, tf.float32)
        with tf.GradientTape() as tape:
            e = tf.gather(table, ids) * mask[..., None]
            pairs = 0.5 * tf.reduce_sum(tf.reduce_sum(e, 1) ** 2 - tf.reduce_sum(e**2, 1), -1)
            logits = pairs + tf.reduce_sum(tf.gather(linear, ids) * mask, 1)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logits))
        for var, g in zip((table, linear), tape.gradient(loss, (table, linear)), strict=True):
            var.scatter_sub(tf.IndexedSlices(0.1 * g.values, g.indices))
        return loss

    y = (inputs.uniform(b) > 0.5).astype("float32")
    return step, (tf.constant(ids), tf.constant(lengths), tf.constant(y))


@program(modes=("eager", "graph"))
def sparse_features(tf: Any, inputs: Inputs) -> Any:
    """Sparse rows: softmax, sums by row, a product, slices and what is left of them."""
    n, v, per = inputs.size(100, 800, 6), inputs.size(100, 1000, 30), 8
    columns = np.sort(np.argsort(inputs.uniform(n, v), 1)[:, :per], 1)
    indices = np.stack([np.repeat(np.arange(n), per), columns.ravel()], 1).astype("int64")
    w = tf.constant(inputs.weights(v, 16))

    def step(values: Any) -> Any:
        x = tf.sparse.SparseTensor(indices, values, [n, v])
        share = tf.sparse.softmax(x)
        totals = tf.sparse.reduce_sum(share, 0)
        hidden = tf.sparse.sparse_dense_matmul(share, w)
        strong = tf.sparse.retain(x, x.values > 0.0)
        half = tf.sparse.slice(strong, [0, 0], [n // 2, v])
        return totals, hidden, tf.sparse.reduce_sum(half), tf.sparse.to_dense(half)

    return step, (tf.constant(inputs.normal(n * per)),)


@program(modes=("eager", "graph"))
def ragged_sessions(tf: Any, inputs: Inputs) -> Any:
    """Events of users as ragged rows: gaps, the last few, shares, distinct counts."""
    n = inputs.size(100, 800, 6)
    lengths = inputs.integers(12, n) + 2
    times = np.sort(inputs.uniform(int(lengths.sum()), high=1000.0))

    def step(times: Any, lengths: Any, kinds: Any) -> Any:
        t = tf.RaggedTensor.from_row_lengths(times, lengths)
        gaps = t[:, 1:] - t[:, :-1]
        last = t[:, -3:]
        k = tf.RaggedTensor.from_row_lengths(kinds, lengths)
        ones = tf.cast(k == 2, tf.float32)
        share = tf.reduce_sum(ones, 1) / tf.cast(k.row_lengths(), tf.float32)
        stacked = tf.concat([tf.ragged.map_flat_values(tf.math.log1p, gaps), last], 1)
        hist = tf.reduce_sum(tf.one_hot(k, 6), 1)
        return stacked.to_tensor(), tf.reduce_mean(gaps, 1), share, hist, tf.reduce_max(gaps, 1)

    kinds = inputs.integers(6, int(lengths.sum()))
    return step, (tf.constant(times), tf.constant(lengths), tf.constant(kinds))
