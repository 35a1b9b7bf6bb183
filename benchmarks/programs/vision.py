"""Programs of computer vision."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


@program()
def edge_detection(tf: Any, inputs: Inputs) -> Any:
    """Blurred, differentiated, thinned along the gradient, and edges grown from strong ones."""
    b, h, w = inputs.size(1, 4, 1), inputs.size(40, 150, 10), inputs.size(40, 150, 11)
    line = np.array([1, 4, 6, 4, 1], "float32") / 16
    blur = tf.constant(np.outer(line, line)[:, :, None, None])

    def step(x: Any) -> Any:
        smooth = tf.nn.conv2d(x, blur, 1, "SAME")
        d = tf.image.sobel_edges(smooth)
        gy, gx = d[..., 0], d[..., 1]
        size = tf.sqrt(gx**2 + gy**2)
        p = tf.pad(size, [[0, 0], [1, 1], [1, 1], [0, 0]])
        across = tf.maximum(p[:, 1:-1, 2:], p[:, 1:-1, :-2])
        along = tf.maximum(p[:, 2:, 1:-1], p[:, :-2, 1:-1])
        peak = tf.where(tf.abs(gx) > tf.abs(gy), size >= across, size >= along)
        strong = tf.cast(peak & (size > 1.0), tf.float32)
        weak = tf.cast(peak & (size > 0.4), tf.float32)
        for _ in tf.range(5):
            strong = tf.nn.max_pool2d(strong, 3, 1, "SAME") * weak
        return strong, tf.reduce_sum(strong, [1, 2, 3])

    return step, (tf.constant(inputs.uniform(b, h, w, 1, high=3.0)),)


@program()
def optical_flow(tf: Any, inputs: Inputs) -> Any:
    """Motion between two pictures by sums over windows and systems of two equations."""
    b, h, w = inputs.size(1, 4, 1), inputs.size(40, 120, 12), inputs.size(40, 120, 13)

    def step(first: Any, second: Any) -> Any:
        mean = 0.5 * (first + second)
        ix = 0.5 * (tf.roll(mean, -1, 2) - tf.roll(mean, 1, 2))
        iy = 0.5 * (tf.roll(mean, -1, 1) - tf.roll(mean, 1, 1))
        it = second - first
        parts = tf.concat([ix * ix, ix * iy, iy * iy, ix * it, iy * it], -1)
        sums = tf.nn.avg_pool2d(parts, 7, 1, "SAME")
        a, c, d, e, f = tf.unstack(sums, axis=-1)
        det = a * d - c * c + 1e-4
        flow = tf.stack([(c * f - d * e) / det, (c * e - a * f) / det], -1)
        return tf.clip_by_value(flow, -5.0, 5.0), tf.norm(flow, axis=-1)

    x = inputs.uniform(b, h, w, 1)
    return step, (tf.constant(x), tf.constant(np.roll(x, 1, 2)))


@program()
def block_compression(tf: Any, inputs: Inputs) -> Any:
    """Blocks of 8 by 8 through cosine transforms, quantised and restored, and the error."""
    b, h, w = inputs.size(1, 4, 1), inputs.size(40, 160, 8, 8), inputs.size(40, 160, 16, 8)
    k, i = np.indices((8, 8))
    dct = np.cos((2 * i + 1) * k * np.pi / 16) * np.where(k == 0, 8**-0.5, 0.5)
    m, q = tf.constant(dct.astype("float32")), tf.constant((10 + 3 * (k + i)).astype("float32"))

    def step(x: Any) -> Any:
        y = tf.reduce_sum(tf.cast(x, tf.float32) * [0.299, 0.587, 0.114], -1) - 128.0
        blocks = tf.reshape(y, [b, h // 8, 8, w // 8, 8])
        blocks = tf.transpose(blocks, [0, 1, 3, 2, 4])
        codes = tf.round(tf.einsum("ki,...ij,lj->...kl", m, blocks, m) / q)
        restored = tf.einsum("ki,...kl,lj->...ij", m, codes * q, m)
        back = tf.reshape(tf.transpose(restored, [0, 1, 3, 2, 4]), [b, h, w])
        image = tf.cast(tf.clip_by_value(back + 128.0, 0.0, 255.0), tf.uint8)
        return image, tf.reduce_mean((back - y) ** 2), tf.math.count_nonzero(codes)

    return step, (tf.constant(inputs.pixels(b, h, w, 3)),)


@program()
def bilateral_filter(tf: Any, inputs: Inputs) -> Any:
    """Smoothing that keeps edges: weights by distance and by difference, in patches."""
    b, h, w = inputs.size(1, 3, 1), inputs.size(30, 90, 8), inputs.size(30, 90, 9)
    y, x = np.indices((5, 5)) - 2
    near = tf.constant(np.exp(-(x**2 + y**2) / 4.5).ravel().astype("float32"))

    def step(x: Any) -> Any:
        patches = tf.image.extract_patches(x, [1, 5, 5, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME")
        weights = near * tf.exp(-((patches - x) ** 2) / 0.02)
        return tf.reduce_sum(weights * patches, -1) / tf.reduce_sum(weights, -1)

    return step, (tf.constant(inputs.uniform(b, h, w, 1)),)


@program()
def anchor_matching(tf: Any, inputs: Inputs) -> Any:
    """Boxes matched with anchors by overlap, offsets, focal loss and its gradient."""
    b, n, m, k = inputs.size(1, 6, 2), inputs.size(200, 1500, 30), inputs.size(3, 12, 2), 5

    def boxes(*shape: int) -> Any:
        corner = inputs.uniform(*shape, 2, high=0.8)
        return np.concatenate([corner, corner + inputs.uniform(*shape, 2, low=0.05, high=0.3)], -1)

    anchors = tf.constant(boxes(n))

    def step(truth: Any, labels: Any, logits: Any, offsets: Any) -> Any:
        low = tf.maximum(truth[:, :, None, :2], anchors[:, :2])
        high = tf.minimum(truth[:, :, None, 2:], anchors[:, 2:])
        common = tf.reduce_prod(tf.nn.relu(high - low), -1)
        areas = tf.reduce_prod(truth[..., 2:] - truth[..., :2], -1)
        own = tf.reduce_prod(anchors[:, 2:] - anchors[:, :2], -1)
        overlap = common / (areas[..., None] + own - common)
        best, which = tf.reduce_max(overlap, 1), tf.argmax(overlap, 1)
        positive = best > 0.3
        target = tf.where(positive, tf.gather(labels, which, batch_dims=1), 0)
        matched = tf.gather(truth, which, batch_dims=1)
        with tf.GradientTape() as tape:
            tape.watch([logits, offsets])
            hot = tf.one_hot(target, k)
            p = tf.sigmoid(logits)
            ce = tf.nn.sigmoid_cross_entropy_with_logits(hot, logits)
            focal = tf.reduce_sum(ce * tf.abs(hot - p) ** 2, -1)
            delta = tf.abs(anchors + offsets - matched)
            huber = tf.reduce_sum(tf.where(delta < 0.1, 5 * delta**2, delta - 0.05), -1)
            count = tf.maximum(tf.reduce_sum(tf.cast(positive, tf.float32)), 1.0)
            loss = (tf.reduce_sum(focal) + tf.reduce_sum(tf.where(positive, huber, 0.0))) / count
        return loss, tape.gradient(loss, [logits, offsets])

    return step, (
        tf.constant(boxes(b, m)), tf.constant(inputs.integers(k, b, m)),
        tf.constant(inputs.normal(b, n, k)), tf.constant(inputs.normal(b, n, 4, scale=0.05)),
    )  # fmt: skip


@program()
def squeeze_excite(tf: Any, inputs: Inputs) -> Any:
    """A residual block with gates for its channels and normalisation by groups, training."""
    b, h, c = inputs.size(2, 8, 2), inputs.size(8, 24, 6), inputs.size(8, 32, 8, 8)
    f1, f2 = (tf.Variable(inputs.weights(3, 3, c, c)) for _ in range(2))
    w1, w2 = tf.Variable(inputs.weights(c, c // 4)), tf.Variable(inputs.weights(c // 4, c))
    scale = tf.Variable(tf.ones([c]))
    weights = [f1, f2, w1, w2, scale]

    def normalise(x: Any) -> Any:
        g = tf.reshape(x, [b, h, h, 4, c // 4])
        mean, variance = tf.nn.moments(g, [1, 2, 4], keepdims=True)
        return tf.reshape((g - mean) * tf.math.rsqrt(variance + 1e-5), [b, h, h, c]) * scale

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = tf.nn.swish(normalise(tf.nn.conv2d(x, f1, 1, "SAME")))
            y = normalise(tf.nn.conv2d(y, f2, 1, "SAME"))
            gate = tf.sigmoid(tf.nn.relu(tf.reduce_mean(y, [1, 2]) @ w1) @ w2)
            y = tf.nn.relu(x + y * gate[:, None, None])
            loss = tf.reduce_mean(y**2)
        for v, g in zip(weights, tape.gradient(loss, weights), strict=True):
            v.assign_sub(0.05 * g)
        return loss

    return step, (tf.constant(inputs.normal(b, h, h, c)),)


@program()
def rotary_attention(tf: Any, inputs: Inputs) -> Any:
    """Attention with rotated pairs, a cap on scores, gated feed forward and RMS norms: training."""
    b, t, heads, d = inputs.size(1, 4, 2), inputs.size(16, 96, 5), 4, inputs.size(8, 24, 4, 4)
    e = heads * d
    w = [tf.Variable(inputs.weights(*s)) for s in ((e, 3 * e), (e, e), (e, 4 * e), (2 * e, e))]
    angles = np.arange(t)[:, None] / 10000 ** (np.arange(d // 2) * 2 / d)
    cos, sin = (tf.constant(f(angles).astype("float32")) for f in (np.cos, np.sin))

    def rotate(x: Any) -> Any:
        a, c = tf.split(x, 2, -1)
        return tf.concat([a * cos - c * sin, a * sin + c * cos], -1)

    def norm(x: Any) -> Any:
        return x * tf.math.rsqrt(tf.reduce_mean(x**2, -1, keepdims=True) + 1e-6)

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            q, k, v = tf.unstack(tf.reshape(norm(x) @ w[0], [b, t, 3, heads, d]), axis=2)
            q, k, v = (tf.transpose(a, [0, 2, 1, 3]) for a in (q, k, v))
            scores = tf.matmul(rotate(q), rotate(k), transpose_b=True) * d**-0.5
            scores = 30.0 * tf.tanh(scores / 30.0)
            mask = tf.linalg.band_part(tf.ones([t, t]), -1, 0)
            scores = tf.where(mask > 0, scores, -1e9)
            y = tf.transpose(tf.nn.softmax(scores) @ v, [0, 2, 1, 3])
            x1 = x + tf.reshape(y, [b, t, e]) @ w[1]
            gate, up = tf.split(norm(x1) @ w[2], 2, -1)
            out = x1 + (tf.nn.silu(gate) * up) @ w[3]
            loss = tf.reduce_mean(out**2)
        for v, g in zip(w, tape.gradient(loss, w), strict=True):
            v.assign_sub(0.05 * g)
        return loss

    return step, (tf.constant(inputs.normal(b, t, e)),)


@program()
def relative_axial_attention(tf: Any, inputs: Inputs) -> Any:
    """Attention along rows, then along columns, with biases by distance."""
    b, h, w, d = inputs.size(1, 3, 1), inputs.size(8, 32, 4), inputs.size(8, 32, 5), 24
    p = [tf.constant(inputs.weights(d, d)) for _ in range(3)]
    bias = tf.constant(inputs.normal(2 * max(h, w) - 1))

    def along(x: Any, n: int) -> Any:
        q, k, v = (tf.tensordot(x, m, 1) for m in p)
        far = tf.range(n)[:, None] - tf.range(n) + n - 1
        scores = tf.einsum("bxid,bxjd->bxij", q, k) * d**-0.5 + tf.gather(bias, far)
        return x + tf.einsum("bxij,bxjd->bxid", tf.nn.softmax(scores), v)

    def step(x: Any) -> Any:
        x = along(x, w)
        x = tf.transpose(along(tf.transpose(x, [0, 2, 1, 3]), h), [0, 2, 1, 3])
        mean, variance = tf.nn.moments(x, -1, keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5)

    return step, (tf.constant(inputs.normal(b, h, w, d)),)
