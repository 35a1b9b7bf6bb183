"""Programs of narrow numbers."""

from __future__ import annotations

from typing import Any

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


@program(tolerance=0.02)
def quantised_network(tf: Any, inputs: Inputs) -> Any:
    """Dense layers of int8 weights, products of integers, rescaled."""
    b, d, h = inputs.size(16, 100), inputs.size(64, 300), inputs.size(64, 300)
    weights = [tf.constant(inputs.integers(255, *s) - 127, tf.int8) for s in ((d, h), (h, 10))]

    def quantise(x: Any) -> Any:
        scale = tf.reduce_max(tf.abs(x)) / 127.0
        return tf.cast(tf.clip_by_value(tf.round(x / scale), -127.0, 127.0), tf.int8), scale

    def step(x: Any) -> Any:
        for w in weights:
            q, scale = quantise(x)
            product = tf.matmul(tf.cast(q, tf.int32), tf.cast(w, tf.int32))
            x = tf.nn.relu(tf.cast(product, tf.float32) * scale * 0.01)
        return x

    return step, (tf.constant(inputs.normal(b, d)),)


@program(tolerance=0.02)
def fake_quantisation(tf: Any, inputs: Inputs) -> Any:
    """Training that rounds weights and activations in the forward pass."""
    b, d, h = inputs.size(32, 128), inputs.size(32, 200), inputs.size(32, 200)
    w1, w2 = tf.Variable(inputs.weights(d, h)), tf.Variable(inputs.weights(h, 5))
    fake = tf.quantization.fake_quant_with_min_max_args

    def step(x: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(fake(x, -4, 4) @ fake(w1, -1, 1))
            logits = fake(hidden, 0, 6) @ fake(w2, -1, 1)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_mean(losses)
        for v, g in zip((w1, w2), tape.gradient(loss, (w1, w2)), strict=True):
            v.assign_sub(0.05 * g)
        return loss

    return step, (tf.constant(inputs.normal(b, d)), tf.constant(inputs.integers(5, b)))


def _mixed(tf: Any, inputs: Inputs, dtype: Any, scale: float) -> Any:
    b, d, h = inputs.size(32, 160), inputs.size(64, 400), inputs.size(64, 400)
    shapes = ((d, h), (h, h), (h, 10))
    weights = [tf.Variable(inputs.weights(*s)) for s in shapes]

    def step(x: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            z = tf.cast(x, dtype)
            for w in weights[:-1]:
                z = tf.nn.relu(z @ tf.cast(w, dtype))
            logits = tf.cast(z @ tf.cast(weights[-1], dtype), tf.float32)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_mean(losses)
            scaled = loss * scale
        for v, g in zip(weights, tape.gradient(scaled, weights), strict=True):
            v.assign_sub(0.05 / scale * g)
        return loss

    return step, (tf.constant(inputs.normal(b, d)), tf.constant(inputs.integers(10, b)))


@program(tolerance=0.05)
def mixed_bfloat16(tf: Any, inputs: Inputs) -> Any:
    """A network trained with products of bfloat16."""
    return _mixed(tf, inputs, tf.bfloat16, 1.0)


@program(tolerance=0.05)
def mixed_float16(tf: Any, inputs: Inputs) -> Any:
    """The same with float16 and a scaled loss."""
    return _mixed(tf, inputs, tf.float16, 128.0)
