"""`tf.function`: the traced function has the parameters and the result of the Python function."""

from typing import reveal_type

from intaglio import tf


@tf.function
def scaled(x: tf.Tensor, n: int = 1) -> tf.Tensor:
    """A decorated function."""
    return x * n


@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None])])
def compiled(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Decorated with arguments."""
    return x, x


class Model(tf.Module):
    """Traced methods."""

    @tf.function
    def call(self, x: tf.Tensor) -> tf.Tensor:
        """A method."""
        return x

    @tf.function(autograph=False)
    def loss(self, x: tf.Tensor, *, scale: float) -> tf.Tensor:
        """A method with a parameter by name."""
        return x * scale


x = tf.constant([1.0, 2.0])
model = Model()
reveal_type(scaled(x, 2))  # -> Tensor
reveal_type(scaled(x, n=2))  # -> Tensor
reveal_type(compiled(x))  # -> tuple[Tensor, Tensor]
reveal_type(model.call(x))  # -> Tensor
reveal_type(model.loss(x, scale=2.0))  # -> Tensor
reveal_type(tf.function(scaled.python_function)(x))  # -> Tensor
reveal_type(scaled.experimental_get_tracing_count())  # -> int

scaled()  # error
scaled(x, "two")  # error
scaled(x, m=1)  # error
compiled(x, x)  # error
model.call()  # error
model.call(x, x)  # error
model.loss(x, 2.0)  # error
tf.function(1)  # error
tf.function(scaled, jit=True)  # error
