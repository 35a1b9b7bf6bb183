"""Transformers: training, decoding, variants of attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


def _norm(tf: Any, x: Any, scale: Any) -> Any:
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale


def _attend(tf: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
    scores = tf.einsum("bqhd,bkhd->bhqk", q, k) * float(q.shape[-1]) ** -0.5
    return tf.einsum("bhqk,bkhd->bqhd", tf.nn.softmax(scores + mask), v)


def _weights(tf: Any, inputs: Inputs, d: int, wrap: Any) -> dict[str, Any]:
    shapes = {"q": (d, d), "k": (d, d), "v": (d, d), "o": (d, d), "up": (d, 4 * d)}
    found = {n: wrap(inputs.weights(*s)) for n, s in shapes.items()}
    found["down"] = wrap(inputs.weights(4 * d, d))
    found["n1"], found["n2"] = wrap(tf.ones([d])), wrap(tf.ones([d]))
    return found


def _block(tf: Any, x: Any, w: dict[str, Any], heads: int, mask: Any) -> Any:
    shape = [x.shape[0], x.shape[1], heads, -1]
    h = _norm(tf, x, w["n1"])
    q, k, v = (tf.reshape(h @ w[n], shape) for n in "qkv")
    x = x + tf.reshape(_attend(tf, q, k, v, mask), x.shape) @ w["o"]
    return x + tf.nn.gelu(_norm(tf, x, w["n2"]) @ w["up"], approximate=True) @ w["down"]


@program(random=True)
def encoder_training(tf: Any, inputs: Inputs) -> Any:
    """Two blocks with a padding mask, dropout, classification: plain gradient steps."""
    b, n, heads = inputs.size(4, 16, 2), inputs.size(20, 70, 5), inputs.size(2, 6, 2)
    d = heads * inputs.size(16, 32, 4)
    blocks = [_weights(tf, inputs, d, tf.Variable) for _ in range(2)]
    table = tf.Variable(inputs.normal(300, d))
    out = tf.Variable(inputs.weights(d, 5))
    variables = [v for w in blocks for v in w.values()] + [out]

    def step(words: Any, lengths: Any, labels: Any, seed: Any) -> Any:
        valid = tf.sequence_mask(lengths, n, tf.float32)
        mask = (valid[:, None, None, :] - 1.0) * 1e9
        with tf.GradientTape() as tape:
            x = tf.nn.embedding_lookup(table, words)
            for w in blocks:
                keep = tf.random.stateless_uniform(tf.shape(x), seed) >= 0.1
                x = tf.where(keep, _block(tf, x, w, heads, mask) / 0.9, 0.0)
            mean = tf.reduce_sum(x * valid[..., None], 1) / tf.reduce_sum(valid, 1, True)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, mean @ out)
            loss = tf.reduce_mean(losses)
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(0.01 * g)
        return loss

    return step, (
        tf.constant(inputs.integers(300, b, n)), tf.constant(1 + inputs.integers(n, b)),
        tf.constant(inputs.integers(5, b)), tf.constant([1, 2]),
    )  # fmt: skip


@program()
def causal_language_model(tf: Any, inputs: Inputs) -> Any:
    """A decoder-only block: loss of the next symbol and all gradients, clipped."""
    b, n, heads = inputs.size(2, 10, 2), inputs.size(24, 90, 5), inputs.size(2, 6, 2)
    d, symbols = heads * inputs.size(16, 32, 4), inputs.size(200, 1500, 20)
    w = _weights(tf, inputs, d, tf.Variable)
    table = tf.Variable(inputs.normal(symbols, d, scale=0.05))
    variables = [*w.values(), table]

    def step(words: Any) -> Any:
        causal = tf.linalg.band_part(tf.ones([n, n]), -1, 0)
        with tf.GradientTape() as tape:
            x = _block(tf, tf.gather(table, words), w, heads, (causal - 1.0) * 1e9)
            logits = tf.einsum("bnd,sd->bns", x[:, :-1], table)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(words[:, 1:], logits)
            loss = tf.reduce_mean(losses)
        gradients = [tf.convert_to_tensor(g) for g in tape.gradient(loss, variables)]
        clipped, norm = tf.clip_by_global_norm(gradients, 1.0)
        for v, g in zip(variables, clipped, strict=True):
            v.assign_sub(0.1 * g)
        return loss, norm

    return step, (tf.constant(inputs.integers(symbols, b, n)),)


@program()
def cached_decoding(tf: Any, inputs: Inputs) -> Any:
    """Symbols one by one, with a cache of keys and values."""
    b, steps, heads = inputs.size(1, 4, 1), inputs.size(10, 30, 3), inputs.size(2, 6, 2)
    d, symbols = heads * inputs.size(16, 32, 4), inputs.size(200, 1000, 20)
    w = _weights(tf, inputs, d, tf.constant)
    table = tf.constant(inputs.normal(symbols, d))

    def step(first: Any) -> Any:
        keys = tf.zeros([b, steps, heads, d // heads])
        values, word = tf.zeros_like(keys), first
        score = tf.zeros([b])
        for t in tf.range(steps):
            x = tf.gather(table, word)[:, None]
            h = _norm(tf, x, w["n1"])
            q, k, v = (tf.reshape(h @ w[name], [b, 1, heads, -1]) for name in "qkv")
            now = tf.one_hot(t, steps)[None, :, None, None]
            keys, values = keys + now * k, values + now * v
            mask = tf.where(tf.range(steps) <= t, 0.0, -1e9)
            x = x + tf.reshape(_attend(tf, q, keys, values, mask), [b, 1, d]) @ w["o"]
            x = x + tf.nn.gelu(_norm(tf, x, w["n2"]) @ w["up"]) @ w["down"]
            logits = tf.nn.log_softmax(tf.linalg.matvec(table, x[:, 0]) * 0.1)
            word = tf.argmax(logits, axis=1, output_type=tf.int32)
            score += tf.reduce_max(logits, 1)
        return word, score

    return step, (tf.constant(inputs.integers(symbols, b)),)


@program()
def vision_transformer(tf: Any, inputs: Inputs) -> Any:
    """Patches of images through two blocks; inference."""
    b, patch, grid = inputs.size(1, 6, 2), inputs.size(4, 12, 2), inputs.size(5, 10, 3)
    heads = inputs.size(2, 6, 2)
    d = heads * inputs.size(16, 40, 4)
    blocks = [_weights(tf, inputs, d, tf.constant) for _ in range(2)]
    project = tf.constant(inputs.weights(patch, patch, 3, d))
    positions = tf.constant(inputs.normal(grid * grid, d))

    def step(images: Any) -> Any:
        x = tf.nn.conv2d(images, project, patch, "VALID")
        x = tf.reshape(x, [b, grid * grid, d]) + positions
        for w in blocks:
            x = _block(tf, x, w, heads, 0.0)
        return tf.reduce_mean(x, 1)

    return step, (tf.constant(inputs.normal(b, grid * patch, grid * patch, 3)),)


@program()
def linear_attention(tf: Any, inputs: Inputs) -> Any:
    """Causal linear attention by cumulative sums, rotary positions; gradient by the queries."""
    b, n, h, d = inputs.size(1, 4, 1), inputs.size(60, 200, 6), 2, inputs.size(8, 20, 4, step=2)
    angles = tf.range(n, dtype=tf.float32)[:, None] * 0.01 ** tf.linspace(0.0, 1.0, d // 2)
    cos, sin = tf.cos(angles)[:, None], tf.sin(angles)[:, None]

    def rotate(x: Any) -> Any:
        a, c = tf.split(x, 2, -1)
        return tf.concat([a * cos - c * sin, a * sin + c * cos], -1)

    def step(q: Any, k: Any, v: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(q)
            fq, fk = tf.nn.elu(rotate(q)) + 1.0, tf.nn.elu(rotate(k)) + 1.0
            state = tf.cumsum(fk[..., :, None] * v[..., None, :], axis=1)
            y = tf.einsum("bnhd,bnhde->bnhe", fq, state)
            y = y / (tf.reduce_sum(fq * tf.cumsum(fk, axis=1), -1, keepdims=True) + 1e-3)
            loss = tf.reduce_mean(y * y)
        return y, tape.gradient(loss, q)

    return step, tuple(tf.constant(inputs.normal(b, n, h, d)) for _ in range(3))


@program()
def mixture_of_experts(tf: Any, inputs: Inputs) -> Any:
    """Two of some small experts for each token, weighted by a gate."""
    n, d, e = inputs.size(500, 3000, 6), inputs.size(32, 96, 5), inputs.size(4, 12, 3)
    gate, experts = tf.constant(inputs.weights(d, e)), tf.constant(inputs.weights(e, d, d))

    def step(x: Any) -> Any:
        shares, chosen = tf.math.top_k(tf.nn.softmax(x @ gate), 2)
        shares = shares / tf.reduce_sum(shares, -1, keepdims=True)
        weights = tf.reduce_sum(tf.one_hot(chosen, e) * shares[..., None], 1)
        return tf.einsum("enf,ne->nf", tf.einsum("nd,edf->enf", x, experts), weights)

    return step, (tf.constant(inputs.normal(n, d)),)


@program()
def sliding_window_attention(tf: Any, inputs: Inputs) -> Any:
    """Attention of each query to a band of keys, with a mask of padding and a relative bias."""
    b, h, n, d = inputs.size(1, 4, 2), inputs.size(2, 6, 2), inputs.size(64, 256, 9), 32
    band = np.abs(np.arange(n)[:, None] - np.arange(n)[None]) <= n // 8
    q, k, v = (tf.constant(inputs.normal(b, h, n, d)) for _ in range(3))
    lengths = tf.constant(inputs.integers(n, b) + 1)
    bias = tf.constant(inputs.normal(h, 2 * n - 1))
    at = tf.constant(np.arange(n)[:, None] - np.arange(n)[None] + n - 1)

    def step(q: Any, k: Any, v: Any, lengths: Any) -> Any:
        logits = tf.matmul(q, k, transpose_b=True) * d**-0.5 + tf.gather(bias, at, axis=1)
        keep = tf.sequence_mask(lengths, n)[:, None, None] & tf.constant(band)
        weights = tf.nn.softmax(tf.where(keep, logits, -1e9))
        return tf.einsum("bhqk,bhkd->bqhd", weights, v)

    return step, (q, k, v, lengths)


@program()
def grouped_query_attention(tf: Any, inputs: Inputs) -> Any:
    """Rotary positions, fewer keys than queries, causal; with gradients."""
    b, n, g, r, d = inputs.size(1, 4, 2), inputs.size(48, 160, 6), 2, 4, 32
    x = tf.constant(inputs.normal(b, n, g * r * d))
    weights = [tf.Variable(inputs.weights(g * r * d, m)) for m in (g * r * d, g * d, g * d)]
    angles = np.arange(n)[:, None] * 10000.0 ** (-np.arange(d // 2) / (d // 2))
    cos, sin = (tf.constant(f(angles).astype("float32"))[:, None] for f in (np.cos, np.sin))

    def rotated(a: Any) -> Any:
        even, odd = a[..., ::2], a[..., 1::2]
        both = tf.stack([even * cos - odd * sin, even * sin + odd * cos], -1)
        return tf.reshape(both, tf.shape(a))

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            q = rotated(tf.reshape(x @ weights[0], [b, n, g * r, d]))
            k = rotated(tf.reshape(x @ weights[1], [b, n, g, d]))
            v = tf.reshape(x @ weights[2], [b, n, g, d])
            q = tf.reshape(q, [b, n, g, r, d])
            logits = tf.einsum("bqgrd,bkgd->bgrqk", q, k) * d**-0.5
            causal = tf.linalg.band_part(tf.ones([n, n]), -1, 0)
            logits = logits + (causal - 1.0) * 1e9
            out = tf.einsum("bgrqk,bkgd->bqgrd", tf.nn.softmax(logits), v)
            loss = tf.reduce_mean(out * out)
        return loss, tape.gradient(loss, weights)

    return step, (x,)
