"""Regression by a Gaussian process: Cholesky factors, and hyperparameters found by their gradients."""

import numpy as np

from intaglio import tf

x = np.linspace(0, 6, 24)[:, None]
y = np.sin(x) + np.random.default_rng(3).normal(0, 0.1, x.shape)
log_scale, log_noise = tf.Variable(0.0, dtype=tf.float64), tf.Variable(-1.0, dtype=tf.float64)


def kernel(a, b):
    return tf.exp(-0.5 * (a - tf.transpose(b)) ** 2 * tf.exp(-2 * log_scale))


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        factor = tf.linalg.cholesky(
            kernel(x, x) + tf.exp(2 * log_noise) * tf.eye(24, dtype=x.dtype)
        )
        alpha = tf.linalg.cholesky_solve(factor, y)
        loss = 0.5 * tf.reduce_sum(y * alpha) + tf.reduce_sum(
            tf.math.log(tf.linalg.diag_part(factor))
        )
    for v, g in zip(
        (log_scale, log_noise), tape.gradient(loss, (log_scale, log_noise)), strict=True
    ):
        v.assign_sub(0.02 * tf.clip_by_value(g, -5.0, 5.0))
    return alpha


for _ in range(200):
    alpha = step(x, y)
at = np.array([[1.0], [2.5], [4.0]])
print("noise", f"{float(tf.exp(log_noise)):.2f}")
print("predicted", (kernel(at, tf.constant(x)) @ alpha).numpy()[:, 0].round(1))
print("sine     ", np.sin(at[:, 0]).round(1))
