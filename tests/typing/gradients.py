"""`GradientTape`: gradients have the structure of the sources."""

from typing import reveal_type

from intaglio import tf

v = tf.Variable(1.0)
x = tf.constant(2.0)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = v * x
reveal_type(tape)  # -> GradientTape
reveal_type(tape.gradient(y, x))  # -> Tensor
reveal_type(tape.gradient(y, v))  # -> Tensor
reveal_type(tape.gradient(y, [x, v]))  # -> list[Tensor]
reveal_type(tape.gradient(y, (x, v)))  # -> list[Tensor]
reveal_type(tape.gradient(y, {"x": x}))  # -> dict[str, Tensor]
reveal_type(tape.gradient([y, y], v, output_gradients=[x, x]))  # -> Tensor
reveal_type(tape.watched_variables())  # -> tuple[Any, ...]

tape.gradient(y)  # error
tape.grad(y, x)  # error
