"""A pendulum by Runge and Kutta's method, and how well its energy is kept."""

from intaglio import tf


def slope(state):
    angle, speed = tf.unstack(state)
    return tf.stack([speed, -9.81 * tf.sin(angle)])


@tf.function(jit_compile=True)
def simulated(state, h, steps):
    path = tf.TensorArray(state.dtype, steps)
    for i in tf.range(steps):
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        state += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path = path.write(i, state)
    return path.stack()


path = simulated(tf.constant([2.0, 0.0], tf.float64), tf.constant(0.01, tf.float64), 1000)
energy = 0.5 * path[:, 1] ** 2 - 9.81 * tf.cos(path[:, 0])
drift = float(tf.reduce_max(energy) - tf.reduce_min(energy))
print(f"{path.shape[0]} steps, energy drifts by {drift:.1e}")
