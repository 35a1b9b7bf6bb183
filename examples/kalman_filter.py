"""A Kalman filter as a scan: the position and speed of something that is seen with noise."""

import numpy as np

from intaglio import tf

MOTION = tf.constant([[1.0, 1.0], [0.0, 1.0]])
SEEN = tf.constant([[1.0, 0.0]])
MOTION_NOISE, SEEN_NOISE = 1e-4 * tf.eye(2), tf.constant([[4.0]])


@tf.function
def filtered(measurements):
    def update(carry, z):
        mean, cov = carry
        mean, cov = MOTION @ mean, MOTION @ cov @ tf.transpose(MOTION) + MOTION_NOISE
        gain = (
            cov @ tf.transpose(SEEN) @ tf.linalg.inv(SEEN @ cov @ tf.transpose(SEEN) + SEEN_NOISE)
        )
        return mean + gain @ (z[None, None] - SEEN @ mean), cov - gain @ SEEN @ cov

    return tf.scan(update, measurements, (tf.zeros([2, 1]), 100.0 * tf.eye(2)))[0][:, :, 0]


truth = np.arange(200) * 0.5
found = filtered((truth + np.random.default_rng(1).normal(0, 2, 200)).astype(np.float32)).numpy()
print(f"speed {found[-1, 1]:.2f} (0.50), off by {abs(found[-1, 0] - truth[-1]):.1f} at the end")
