"""Logistic regression: a training step as one graph, compiled once it is hot."""

import numpy as np

from intaglio import tf

rng = np.random.default_rng(0)
points = rng.normal(size=(512, 2)).astype(np.float32)
labels = (points @ [2.0, -1.0] + 0.3 > 0).astype(np.float32)
weights, bias = tf.Variable(tf.zeros([2])), tf.Variable(0.0)


@tf.function
def step(x, y, rate):
    with tf.GradientTape() as tape:
        logits = tf.linalg.matvec(x, weights) + bias
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
    gradients = tape.gradient(loss, [weights, bias])
    weights.assign_sub(rate * gradients[0])
    bias.assign_sub(rate * gradients[1])
    return loss


for _ in range(300):
    loss = step(tf.constant(points), tf.constant(labels), tf.constant(1.0))
right = (tf.linalg.matvec(points, weights) + bias > 0).numpy() == (labels > 0)
print(f"loss {float(loss):.3f}, {right.mean():.0%} right, {len(step.traces)} trace")
