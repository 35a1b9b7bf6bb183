"""A model with custom gradients, saved by TensorFlow: `record` writes it and its answers."""

from __future__ import annotations

from typing import Any

NAMES = ("silu", "clipped", "recomputed")
INPUT = [1.0, -2.0]


def save(tf: Any, folder: str) -> None:
    """Saves the model with the functions of its gradients."""

    @tf.custom_gradient
    def clip(x: Any) -> Any:
        return x * 1.0, lambda dy: tf.clip_by_value(dy, -0.1, 0.1) * 5.0

    class Model(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def silu(self, x: Any) -> Any:
            return tf.nn.silu(x) * self.scale

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def clipped(self, x: Any) -> Any:
            return clip(x) * self.scale

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def recomputed(self, x: Any) -> Any:
            return tf.recompute_grad(lambda y: tf.sin(y) * self.scale)(x)

    options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
    tf.saved_model.save(Model(), folder, options=options)


def slopes(tf: Any, model: Any, name: str) -> list[list[float]]:
    """The result, and its gradients by the input and by the variable."""
    x = tf.constant(INPUT)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = getattr(model, name)(x)
    found = tape.gradient(y, [x, model.scale])
    return [[float(v) for v in tf.reshape(t, [-1])] for t in (y, *found)]
