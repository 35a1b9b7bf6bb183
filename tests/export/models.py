"""Functions that are exported in tests: small, each of another family."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio import tf


def _weights(rng: Any, *shape: int) -> Any:
    scale = np.sqrt(2.0 / max(np.prod(shape[:-1]), 1))
    return tf.Variable((rng.normal(size=shape) * scale).astype("float32"))


def _spec(*shape: int, dtype: Any = tf.float32, name: str = "x") -> Any:
    return tf.TensorSpec(shape, dtype, name=name)


def digits(batch: int = 1) -> Any:
    """The network of `examples/cutmix_digits.py`."""
    rng = np.random.default_rng(0)
    k1, b1, k2, b2 = (_weights(rng, *s) for s in ((3, 3, 1, 16), (16,), (3, 3, 16, 32), (32,)))
    dense, b3 = _weights(rng, 128, 10), _weights(rng, 10)

    def logits(images: Any) -> Any:
        x = tf.nn.relu(tf.nn.conv2d(images, k1, strides=1, padding="SAME") + b1)
        x = tf.nn.max_pool2d(x, 2, 2, "SAME")
        x = tf.nn.relu(tf.nn.conv2d(x, k2, strides=1, padding="SAME") + b2)
        x = tf.nn.max_pool2d(x, 2, 2, "SAME")
        return {"logits": tf.matmul(tf.reshape(x, [-1, 128]), dense) + b3}

    return tf.function(logits, jit_compile=True).get_concrete_function(
        _spec(batch, 8, 8, 1, name="images")
    )


def lstm() -> Any:
    """A recurrent cell over twelve steps."""
    rng = np.random.default_rng(1)
    kernel, bias = _weights(rng, 8 + 16, 4 * 16), _weights(rng, 4 * 16)

    @tf.function(jit_compile=True, input_signature=[_spec(2, 12, 8)])
    def run(x: Any) -> Any:
        h, c = tf.zeros([2, 16]), tf.zeros([2, 16])
        for t in tf.range(12):
            z = tf.matmul(tf.concat([x[:, t], h], 1), kernel) + bias
            i, f, g, o = tf.split(z, 4, axis=1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
        return {"h": h, "c": c}

    return run.get_concrete_function()


def transformer() -> Any:
    """A block of attention and a feed-forward layer, with layer normalisation."""
    rng = np.random.default_rng(2)
    qkv, out = _weights(rng, 32, 96), _weights(rng, 32, 32)
    up, down = _weights(rng, 32, 64), _weights(rng, 64, 32)

    def normalized(x: Any) -> Any:
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5)

    @tf.function(jit_compile=True, input_signature=[_spec(1, 10, 32)])
    def block(x: Any) -> Any:
        parts = tf.reshape(tf.matmul(normalized(x), qkv), [1, 10, 3, 4, 8])
        q, k, v = tf.unstack(tf.transpose(parts, [2, 0, 3, 1, 4]))
        weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / tf.sqrt(8.0))
        mixed = tf.reshape(tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3]), [1, 10, 32])
        x = x + tf.matmul(mixed, out)
        return x + tf.matmul(tf.nn.gelu(tf.matmul(normalized(x), up)), down)

    return block.get_concrete_function()


def mobile() -> Any:
    """Inverted residual blocks of depthwise convolutions with batch normalisation, as in MobileNetV2."""
    rng = np.random.default_rng(4)
    stem = _weights(rng, 3, 3, 3, 16)
    blocks = [_block(rng, *sizes) for sizes in ((16, 48, 24, 2), (24, 72, 24, 1), (24, 72, 32, 2))]
    head, bias = _weights(rng, 32, 10), _weights(rng, 10)

    @tf.function(jit_compile=True, input_signature=[_spec(1, 32, 32, 3, name="images")])
    def classify(images: Any) -> Any:
        x = tf.nn.relu6(tf.nn.conv2d(images, stem, strides=2, padding="SAME"))
        for block in blocks:
            x = block(x)
        return tf.nn.softmax(tf.matmul(tf.reduce_mean(x, [1, 2]), head) + bias)

    return classify.get_concrete_function()


def _block(rng: Any, inputs: int, wide: int, outputs: int, stride: int) -> Any:
    """An inverted residual block."""
    expand, narrow = _weights(rng, 1, 1, inputs, wide), _weights(rng, 1, 1, wide, outputs)
    depthwise = _weights(rng, 3, 3, wide, 1)
    scale, offset = _weights(rng, wide), _weights(rng, wide)
    mean, variance = _weights(rng, wide), tf.Variable(tf.ones([wide]))

    def block(x: Any) -> Any:
        y = tf.nn.conv2d(x, expand, strides=1, padding="SAME")
        y = tf.raw_ops.FusedBatchNormV3(
            x=y, scale=scale, offset=offset, mean=mean, variance=variance, is_training=False
        )
        y = tf.nn.relu6(y.y)
        strides = [1, stride, stride, 1]
        y = tf.nn.relu6(tf.nn.depthwise_conv2d(y, depthwise, strides=strides, padding="SAME"))
        y = tf.nn.conv2d(y, narrow, strides=1, padding="SAME")
        return x + y if stride == 1 and inputs == outputs else y

    return block


def loop() -> Any:
    """A loop whose trip count is data, with several results."""

    @tf.function(jit_compile=True, input_signature=[_spec(5), _spec(dtype=tf.int32, name="steps")])
    def decay(x: Any, steps: Any) -> Any:
        i, x = tf.while_loop(
            lambda i, x: i < steps,
            lambda i, x: (i + 1, tf.where(x > 4.0, x * 0.5, x * 1.5 + 0.1)),
            (tf.constant(0), x),
        )
        return {"x": x, "count": i, "large": tf.reduce_any(x > 3.0)}

    return decay.get_concrete_function()


def training() -> dict[str, Any]:
    """A step of training with momentum, and the prediction, which share variables."""
    rng = np.random.default_rng(3)
    w1, w2 = _weights(rng, 6, 24), _weights(rng, 24, 1)
    slots = [tf.Variable(tf.zeros_like(v), name="momentum") for v in (w1, w2)]

    def predicted(x: Any) -> Any:
        return tf.matmul(tf.tanh(tf.matmul(x, w1)), w2)

    @tf.function(jit_compile=True, input_signature=[_spec(32, 6), _spec(32, 1, name="y")])
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(predicted(x) - y))
        for v, m, g in zip((w1, w2), slots, tape.gradient(loss, (w1, w2)), strict=True):
            m.assign(0.9 * m + g)
            v.assign_sub(0.1 * m)
        return {"loss": loss}

    @tf.function(jit_compile=True, input_signature=[_spec(32, 6)])
    def predict(x: Any) -> Any:
        return {"y": predicted(x)}

    return {"step": step.get_concrete_function(), "predict": predict.get_concrete_function()}


def dropout() -> Any:
    """Random numbers of a stateful op, which a context draws from a stream of its own."""

    @tf.function(jit_compile=True, input_signature=[_spec(4, 50)])
    def drop(x: Any) -> Any:
        kept = tf.random.uniform([4, 50], seed=7) < 0.75
        return tf.where(kept, x / 0.75, 0.0)

    return drop.get_concrete_function()


def lookup() -> Any:
    """Rows at indices that are data, which may be out of range, and an assertion."""
    table = tf.Variable(tf.reshape(tf.range(12.0), [4, 3]))

    @tf.function(input_signature=[_spec(2, dtype=tf.int32, name="rows")])
    def rows(rows: Any) -> Any:
        tf.debugging.assert_less(rows[0], 3, message="the first row is below three")
        return tf.gather(table, rows)

    return rows.get_concrete_function()


def texts() -> Any:
    """Texts of numbers and their parts, which loops over bytes write."""

    @tf.function(input_signature=[_spec(6, dtype=tf.int64), _spec(6, name="y")])
    def f(x: Any, y: Any) -> Any:
        numbers, fractions = tf.strings.as_string(x), tf.strings.as_string(y, precision=3, width=9)
        whole = tf.strings.join([numbers, tf.strings.strip(fractions)], separator="/")
        points = tf.strings.unicode_decode(whole, "UTF-8").to_tensor()
        return {
            "fast": tf.strings.to_hash_bucket_fast(whole, 2**40),
            "joined": tf.strings.to_hash_bucket_strong(tf.strings.reduce_join(whole), 99, [1, 2]),
            "length": tf.strings.length(tf.strings.substr(whole, [1] * 6, [40] * 6)),
            "number": tf.strings.to_number(numbers, tf.int64),
            "sum": tf.reduce_sum(points),
        }

    return f.get_concrete_function()


def loops_over_elements() -> Any:
    """Rows that data selects, segments, partitions, and functions by algorithms of their own."""

    @tf.function(input_signature=[_spec(8, 4), _spec(8, dtype=tf.int32, name="ids")])
    def f(x: Any, ids: Any) -> Any:
        wide = tf.cast(x, tf.float64)
        parts = tf.dynamic_partition(x, ids, 3)
        return {
            "segments": tf.reduce_sum(tf.math.segment_mean(x, tf.sort(ids)), 0),
            "parts": tf.stack([tf.reduce_sum(tf.abs(p)) for p in parts]),
            "unique": tf.reduce_sum(tf.unique(ids).y),
            "root": tf.cast(
                tf.math.real(tf.linalg.sqrtm(tf.cast(wide[4:], tf.complex128))), tf.float32
            ),
            "boxes": tf.image.draw_bounding_boxes(
                tf.reshape(x, [1, 4, 8, 1]), [[[0.1, 0.2, 0.8, 0.9]]], x[:1, :1]
            ),
            "solved": tf.cast(
                tf.linalg.tridiagonal_solve(wide[:3] + 4.0, wide[4:], diagonals_format="compact"),
                tf.float32,
            ),
        }

    return f.get_concrete_function()


def loops_of_floats() -> Any:
    """Of 12 floats 6, by loops that find rows, join texts, and end when the data says so."""

    @tf.function(input_signature=[_spec(12, name="x")])
    def f(x: Any) -> Any:
        rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[2])
        i = 0
        while i < 12 and x[i] >= 0.0:
            rows = rows.write(i, x[:2])
            i += 1
        ids = tf.sort(tf.cast(tf.abs(x), tf.int32) % 5)
        text = tf.strings.reduce_join(tf.strings.as_string(x))
        found = [
            tf.reduce_sum(rows.stack()),
            tf.reduce_sum(tf.math.segment_sum(x, ids)),
            tf.cast(tf.strings.to_hash_bucket_fast(text, 1000), tf.float32),
            tf.reduce_sum(tf.boolean_mask(x, x > 0.0)),
            tf.reduce_sum(tf.abs(tf.linalg.qr(tf.reshape(x, [4, 3])).r)),
            tf.reduce_sum(tf.dynamic_partition(x, ids, 5)[1]),
        ]
        return tf.stack(found)

    return f.get_concrete_function()
