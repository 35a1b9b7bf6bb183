"""Newton's method for two equations: the Jacobian comes from the tape, the error from your own class."""

from intaglio import tf


class NotConverged(Exception):
    """The method has come to no solution."""


def equations(v):
    x, y = tf.unstack(v)
    return tf.stack([x**2 + y**2 - 4.0, tf.exp(x) + y - 1.0])


@tf.function
def solved(v, limit):
    for i in tf.range(limit):
        with tf.GradientTape() as tape:
            tape.watch(v)
            f = equations(v)
        if tf.norm(f) < 1e-12:
            return v, i
        v -= tf.linalg.solve(tape.jacobian(f, v), f[:, None])[:, 0]
    raise NotConverged(f"still off by {tf.norm(equations(v))} after {limit} steps")


v, steps = solved(tf.constant([1.0, -1.0], tf.float64), 20)
print(f"x = {float(v[0]):.6f}, y = {float(v[1]):.6f} after {int(steps)} steps")
try:
    solved(tf.constant([1.0, -1.0], tf.float64), 2)
except NotConverged as e:
    print("NotConverged:", str(e).partition(" by ")[0], "after", str(e).rpartition(" after ")[2])
