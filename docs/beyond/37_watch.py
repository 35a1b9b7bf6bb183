"""Tensors of a function that runs are shown by the names of the program, without a change to it."""

import intaglio
from intaglio import tf

v = tf.Variable([1.0, 2.0])


@tf.function(jit_compile=True)
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x * v)
    gradients = tape.gradient(loss, [v])
    v.assign_sub(gradients[0])
    return loss


shown = []
with intaglio.watch("loss", "grad*", to=lambda w: shown.append((w.call, w.name, w.value.tolist()))):
    for _ in range(2):
        step(tf.constant([1.0, 1.0]))
assert shown == [
    (1, "loss", 3.0),
    (1, "gradients[0]", [1.0, 1.0]),
    (2, "loss", 1.0),
    (2, "gradients[0]", [1.0, 1.0]),
]
