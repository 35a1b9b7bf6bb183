"""Programs on all pairs of points."""

from __future__ import annotations

from typing import Any

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


@program()
def pairwise_distances(tf: Any, inputs: Inputs) -> Any:
    """Euclidean distances from differences."""
    n, m, d = inputs.size(300, 700), inputs.size(200, 600), inputs.size(2, 7, tiny=3)

    def step(x: Any, y: Any) -> Any:
        return tf.sqrt(tf.reduce_sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1) + 1e-9)

    return step, (tf.constant(inputs.normal(n, d)), tf.constant(inputs.normal(m, d)))


@program()
def kmeans(tf: Any, inputs: Inputs) -> Any:
    """Lloyd's iterations."""
    n, d, k = inputs.size(3000, 9000, 40), inputs.size(3, 24, 3), inputs.size(5, 20, 4)

    def step(points: Any, centres: Any) -> Any:
        for _ in range(3):
            squares = tf.reduce_sum(tf.square(points[:, None] - centres[None]), -1)
            nearest = tf.argmin(squares, axis=1, output_type=tf.int32)
            sums = tf.math.unsorted_segment_sum(points, nearest, k)
            counts = tf.math.unsorted_segment_sum(tf.ones_like(points[:, :1]), nearest, k)
            centres = tf.where(counts > 0, sums / tf.maximum(counts, 1.0), centres)
        return centres

    points = inputs.normal(n, d)
    return step, (tf.constant(points), tf.constant(points[:k]))


@program()
def nbody(tf: Any, inputs: Inputs) -> Any:
    """Gravity between bodies, leapfrog steps."""
    n = inputs.size(200, 500)
    masses = tf.constant(inputs.uniform(n, low=0.5))

    def acceleration(x: Any) -> Any:
        apart = x[None, :, :] - x[:, None, :]
        cubes = (tf.reduce_sum(apart * apart, -1) + 0.05) ** -1.5
        return tf.reduce_sum(apart * (masses * cubes)[..., None], axis=1)

    def step(x: Any, v: Any) -> Any:
        for _ in tf.range(4):
            v = v + 0.005 * acceleration(x)
            x = x + 0.01 * v
            v = v + 0.005 * acceleration(x)
        return x, v

    return step, (tf.constant(inputs.normal(n, 3)), tf.constant(inputs.normal(n, 3)))


@program()
def kernel_density(tf: Any, inputs: Inputs) -> Any:
    """Log density of queries under Gaussian kernels."""
    n, m, d = inputs.size(800, 2000), inputs.size(100, 400), inputs.size(1, 5, 2)

    def step(data: Any, queries: Any, width: Any) -> Any:
        squares = tf.reduce_sum(((queries[:, None] - data[None]) / width) ** 2, -1)
        return tf.reduce_logsumexp(-0.5 * squares, axis=1) - tf.reduce_sum(tf.math.log(width))

    width = tf.constant(inputs.uniform(d, low=0.3))
    return step, (tf.constant(inputs.normal(n, d)), tf.constant(inputs.normal(m, d)), width)


@program()
def nearest_neighbours(tf: Any, inputs: Inputs) -> Any:
    """Votes of the nearest neighbours by a matrix product and top_k."""
    n, m, d = inputs.size(1500, 4000, 30), inputs.size(100, 300), inputs.size(20, 80)
    labels = tf.constant(inputs.integers(7, n))

    def step(data: Any, queries: Any) -> Any:
        near = 2 * tf.matmul(queries, data, transpose_b=True) - tf.reduce_sum(data**2, 1)
        _, found = tf.math.top_k(near, k=5)
        votes = tf.reduce_sum(tf.one_hot(tf.gather(labels, found), 7), axis=1)
        return tf.argmax(votes, axis=1)

    return step, (tf.constant(inputs.normal(n, d)), tf.constant(inputs.normal(m, d)))


@program()
def contrastive_loss(tf: Any, inputs: Inputs) -> Any:
    """SimCLR's loss of two views, and its gradient."""
    n, d = inputs.size(96, 300), inputs.size(32, 160)

    def step(a: Any, b: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            z = tf.math.l2_normalize(tf.concat([a, b], 0), axis=1)
            alike = tf.matmul(z, z, transpose_b=True) / 0.1
            alike = tf.linalg.set_diag(alike, tf.fill([2 * n], -1e9))
            partner = tf.concat([tf.range(n, 2 * n), tf.range(n)], 0)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(partner, alike)
            loss = tf.reduce_mean(losses)
        return loss, tape.gradient(loss, [a, b])

    return step, (tf.constant(inputs.normal(n, d)), tf.constant(inputs.normal(n, d)))


@program()
def chamfer_loss(tf: Any, inputs: Inputs) -> Any:
    """Chamfer distance of clouds of points and its gradient."""
    b, n, m = inputs.size(2, 6, 2), inputs.size(150, 350), inputs.size(150, 350)

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            squares = tf.reduce_sum((x[:, :, None, :] - y[:, None, :, :]) ** 2, axis=3)
            loss = tf.reduce_mean(tf.reduce_min(squares, 2)) + tf.reduce_mean(
                tf.reduce_min(squares, 1)
            )
        return loss, tape.gradient(loss, x)

    return step, (tf.constant(inputs.normal(b, n, 3)), tf.constant(inputs.normal(b, m, 3)))
