"""Where `tensorflow` is Intaglio, the module of that name has the same types."""

from typing import reveal_type

import tensorflow as tf


@tf.function
def f(x: tf.Tensor) -> tf.Tensor:
    """A decorated function."""
    return tf.nn.relu(x)


reveal_type(f(tf.constant([1.0])))  # -> Tensor
reveal_type(tf.data.Dataset.range(3))  # -> Dataset[Tensor]
reveal_type(tf.Variable(1.0) * 2)  # -> Tensor
reveal_type(tf.image.flip_left_right(f(tf.zeros([2, 2, 3]))))  # -> Tensor
f("text", 1)  # error
print(tf.nothing)  # error
