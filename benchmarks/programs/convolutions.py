"""Convolutional networks beyond filters of 3x3, with their gradients."""

from __future__ import annotations

from typing import Any

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


def _descend(tf: Any, variables: Any, loss_of: Any, rate: float = 0.01) -> Any:
    """A step of gradient descent on a loss of the arguments."""

    def step(*arguments: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(*arguments)
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(rate * g)
        return loss

    return step


@program()
def wavenet(tf: Any, inputs: Inputs) -> Any:
    """Causal dilated convolutions of two taps, gated, with residuals."""
    b, n, c = inputs.size(2, 6, 2), inputs.size(400, 1200, 40), inputs.size(12, 40, 4)
    layers = inputs.size(4, 7, 2)
    filters = [tf.Variable(inputs.weights(2, c, 2 * c)) for _ in range(layers)]
    mixing = [tf.Variable(inputs.weights(1, c, c)) for _ in range(layers)]

    def loss_of(x: Any) -> Any:
        h = x
        for n, (w, m) in enumerate(zip(filters, mixing, strict=True)):
            padded = tf.pad(h, [[0, 0], [2**n, 0], [0, 0]])
            both = tf.nn.conv1d(padded, w, 1, "VALID", dilations=2**n)
            gate, value = tf.split(both, 2, axis=-1)
            h = h + tf.nn.conv1d(tf.sigmoid(gate) * tf.tanh(value), m, 1, "VALID")
        return tf.reduce_mean((h[:, :-1] - x[:, 1:]) ** 2)

    return _descend(tf, [*filters, *mixing], loss_of), (tf.constant(inputs.normal(b, n, c)),)


@program()
def convolutions_5x5(tf: Any, inputs: Inputs) -> Any:
    """Two convolutions of 5x5 with pooling and a dense layer: training."""
    b, size = inputs.size(8, 24, 2), inputs.size(24, 40, 8, step=4)
    c1, c2 = inputs.size(8, 24, 3), inputs.size(16, 48, 4)
    w1, w2 = tf.Variable(inputs.weights(5, 5, 3, c1)), tf.Variable(inputs.weights(5, 5, c1, c2))
    dense = tf.Variable(inputs.weights((size // 4) ** 2 * c2, 10))

    def loss_of(x: Any, labels: Any) -> Any:
        h = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, w1, 1, "SAME")), 2, 2, "VALID")
        h = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(h, w2, 1, "SAME")), 2, 2, "VALID")
        logits = tf.reshape(h, [b, -1]) @ dense
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))

    return _descend(tf, [w1, w2, dense], loss_of), (
        tf.constant(inputs.normal(b, size, size, 3)),
        tf.constant(inputs.integers(10, b)),
    )


@program()
def stem_7x7(tf: Any, inputs: Inputs) -> Any:
    """ResNet's first layers: 7x7 with stride 2, normalisation, pooling; inference."""
    b, size, c = inputs.size(1, 4, 1), inputs.size(96, 224, 24, step=8), inputs.size(24, 64, 4)
    w = tf.constant(inputs.weights(7, 7, 3, c))
    scale, offset = tf.constant(inputs.uniform(c)), tf.constant(inputs.normal(c))

    def step(x: Any) -> Any:
        h = tf.nn.conv2d(x, w, 2, "SAME")
        mean, variance = tf.nn.moments(h, [0, 1, 2])
        h = tf.nn.relu(tf.nn.batch_normalization(h, mean, variance, offset, scale, 1e-3))
        return tf.nn.max_pool2d(h, 3, 2, "SAME")

    return step, (tf.constant(inputs.normal(b, size, size, 3)),)


@program()
def autoencoder(tf: Any, inputs: Inputs) -> Any:
    """Strided convolutions down, transposed ones up: training."""
    b, size = inputs.size(4, 16, 2), inputs.size(24, 56, 8, step=8)
    c1, c2 = inputs.size(8, 24, 3), inputs.size(16, 40, 4)
    d1, d2 = tf.Variable(inputs.weights(3, 3, 1, c1)), tf.Variable(inputs.weights(3, 3, c1, c2))
    u1 = tf.Variable(inputs.normal(4, 4, c1, c2, scale=0.1))
    u2 = tf.Variable(inputs.normal(4, 4, 1, c1, scale=0.1))

    def loss_of(x: Any) -> Any:
        h = tf.nn.relu(tf.nn.conv2d(x, d1, 2, "SAME"))
        h = tf.nn.relu(tf.nn.conv2d(h, d2, 2, "SAME"))
        h = tf.nn.relu(tf.nn.conv2d_transpose(h, u1, [b, size // 2, size // 2, c1], 2, "SAME"))
        h = tf.sigmoid(tf.nn.conv2d_transpose(h, u2, [b, size, size, 1], 2, "SAME"))
        return tf.reduce_mean((h - x) ** 2)

    x = tf.constant(inputs.uniform(b, size, size, 1))
    return _descend(tf, [d1, d2, u1, u2], loss_of, 0.1), (x,)


@program()
def video_3d(tf: Any, inputs: Inputs) -> Any:
    """Convolutions over space and time: training."""
    b, frames, size = inputs.size(1, 4, 1), inputs.size(6, 14, 4), inputs.size(16, 36, 6)
    c1, c2 = inputs.size(6, 16, 2), inputs.size(8, 24, 3)
    w1 = tf.Variable(inputs.weights(3, 3, 3, 3, c1))
    w2 = tf.Variable(inputs.weights(3, 3, 3, c1, c2))

    def loss_of(x: Any, labels: Any) -> Any:
        h = tf.nn.relu(tf.nn.conv3d(x, w1, [1, 1, 1, 1, 1], "SAME"))
        h = tf.nn.max_pool3d(h, 2, 2, "SAME")
        h = tf.nn.relu(tf.nn.conv3d(h, w2, [1, 1, 2, 2, 1], "SAME"))
        logits = tf.reduce_mean(h, [1, 2, 3])
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))

    return _descend(tf, [w1, w2], loss_of), (
        tf.constant(inputs.normal(b, frames, size, size, 3)),
        tf.constant(inputs.integers(c2, b)),
    )


@program()
def mobilenet_block(tf: Any, inputs: Inputs) -> Any:
    """Inverted residuals: 1x1, depthwise 3x3, 1x1; training."""
    b, size, c = inputs.size(2, 10, 2), inputs.size(14, 40, 6), inputs.size(12, 36, 4)
    wide = 4 * c
    expand = tf.Variable(inputs.weights(1, 1, c, wide))
    depth = tf.Variable(inputs.normal(3, 3, wide, 1, scale=0.3))
    project = tf.Variable(inputs.weights(1, 1, wide, c))

    def loss_of(x: Any) -> Any:
        h = tf.nn.relu6(tf.nn.conv2d(x, expand, 1, "SAME"))
        h = tf.nn.relu6(tf.nn.depthwise_conv2d(h, depth, [1, 1, 1, 1], "SAME"))
        h = x + tf.nn.conv2d(h, project, 1, "SAME")
        return tf.reduce_mean(h * h)

    x = tf.constant(inputs.normal(b, size, size, c))
    return _descend(tf, [expand, depth, project], loss_of), (x,)


@program()
def separable_multiplier(tf: Any, inputs: Inputs) -> Any:
    """A separable convolution with a depth multiplier, strided, and its gradients."""
    b, size, c = inputs.size(2, 8, 2), inputs.size(24, 64, 8), inputs.size(6, 20, 3)
    depth = tf.Variable(inputs.normal(5, 5, c, 2, scale=0.2))
    point = tf.Variable(inputs.weights(1, 1, 2 * c, 3 * c))

    def loss_of(x: Any) -> Any:
        h = tf.nn.separable_conv2d(x, depth, point, [1, 2, 2, 1], "SAME")
        return tf.reduce_mean(tf.nn.swish(h))

    return _descend(tf, [depth, point], loss_of), (tf.constant(inputs.normal(b, size, size, c)),)


@program()
def grouped_convolution(tf: Any, inputs: Inputs) -> Any:
    """ResNeXt's block of groups; inference."""
    b, size, groups = inputs.size(1, 6, 2), inputs.size(14, 40, 6), inputs.size(4, 8, 2)
    c = groups * inputs.size(4, 12, 3)
    narrow = tf.constant(inputs.weights(1, 1, 2 * c, c))
    grouped = tf.constant(inputs.weights(3, 3, c // groups, c))
    widen = tf.constant(inputs.weights(1, 1, c, 2 * c))

    def step(x: Any) -> Any:
        h = tf.nn.relu(tf.nn.conv2d(x, narrow, 1, "SAME"))
        h = tf.nn.relu(tf.nn.conv2d(h, grouped, 1, "SAME"))
        return tf.nn.relu(x + tf.nn.conv2d(h, widen, 1, "SAME"))

    return step, (tf.constant(inputs.normal(b, size, size, 2 * c)),)


@program()
def bottleneck(tf: Any, inputs: Inputs) -> Any:
    """ResNet's bottleneck with batch normalisation: training."""
    b, size, c = inputs.size(2, 8, 2), inputs.size(12, 32, 6), inputs.size(12, 40, 4)
    shapes = [(1, 1, 4 * c, c), (3, 3, c, c), (1, 1, c, 4 * c)]
    filters = [tf.Variable(inputs.weights(*s)) for s in shapes]
    scales = [tf.Variable(tf.ones([s[-1]])) for s in shapes]
    offsets = [tf.Variable(tf.zeros([s[-1]])) for s in shapes]

    def loss_of(x: Any) -> Any:
        h = x
        for n, (w, scale, offset) in enumerate(zip(filters, scales, offsets, strict=True)):
            h = tf.nn.conv2d(h, w, 1, "SAME")
            mean, variance = tf.nn.moments(h, [0, 1, 2])
            h = tf.nn.batch_normalization(h, mean, variance, offset, scale, 1e-3)
            h = tf.nn.relu(h) if n < 2 else tf.nn.relu(h + x)
        return tf.reduce_mean(h * h)

    x = tf.constant(inputs.normal(b, size, size, 4 * c))
    return _descend(tf, [*filters, *scales, *offsets], loss_of), (x,)


@program()
def unet(tf: Any, inputs: Inputs) -> Any:
    """Two levels with skip connections: training of a segmentation."""
    b, size, c = inputs.size(1, 4, 1), inputs.size(32, 72, 8, step=8), inputs.size(8, 20, 3)
    w = {
        "in": tf.Variable(inputs.weights(3, 3, 3, c)),
        "down": tf.Variable(inputs.weights(3, 3, c, 2 * c)),
        "up": tf.Variable(inputs.normal(2, 2, c, 2 * c, scale=0.2)),
        "join": tf.Variable(inputs.weights(3, 3, 2 * c, c)),
        "out": tf.Variable(inputs.weights(1, 1, c, 1)),
    }

    def loss_of(x: Any, mask: Any) -> Any:
        first = tf.nn.relu(tf.nn.conv2d(x, w["in"], 1, "SAME"))
        deep = tf.nn.max_pool2d(first, 2, 2, "SAME")
        deep = tf.nn.relu(tf.nn.conv2d(deep, w["down"], 1, "SAME"))
        up = tf.nn.conv2d_transpose(deep, w["up"], [b, size, size, c], 2, "SAME")
        h = tf.nn.relu(tf.nn.conv2d(tf.concat([first, up], -1), w["join"], 1, "SAME"))
        logits = tf.nn.conv2d(h, w["out"], 1, "SAME")
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(mask, logits))

    return _descend(tf, list(w.values()), loss_of), (
        tf.constant(inputs.normal(b, size, size, 3)),
        tf.constant(inputs.integers(2, b, size, size, 1).astype("float32")),
    )


@program()
def style_statistics(tf: Any, inputs: Inputs) -> Any:
    """Gram matrices of feature maps, gradient by the picture."""
    size, c = inputs.size(40, 90, 10), inputs.size(12, 40, 4)
    w1 = tf.constant(inputs.weights(3, 3, 3, c))
    w2 = tf.constant(inputs.weights(3, 3, c, 2 * c))

    def grams(x: Any) -> Any:
        first = tf.nn.relu(tf.nn.conv2d(x, w1, 1, "SAME"))
        second = tf.nn.relu(tf.nn.conv2d(tf.nn.avg_pool2d(first, 2, 2, "SAME"), w2, 1, "SAME"))
        return [tf.einsum("bijc,bijd->cd", h, h) / size**2 for h in (first, second)]

    def step(x: Any, style: Any) -> Any:
        wanted = grams(style)
        with tf.GradientTape() as tape:
            tape.watch(x)
            found = grams(x)
            pairs = zip(wanted, found, strict=True)
            loss = tf.add_n([tf.reduce_mean((a - b) ** 2) for a, b in pairs])
        return loss, tape.gradient(loss, x)

    picture = (1, size, size, 3)
    return step, (tf.constant(inputs.normal(*picture)), tf.constant(inputs.normal(*picture)))
