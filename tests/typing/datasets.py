"""`tf.data`: chains of datasets know the type of their elements."""

from typing import reveal_type

import numpy as np

from intaglio import tf

numbers = tf.data.Dataset.range(3)
pairs = tf.data.Dataset.from_tensor_slices((np.zeros(3), [1, 2, 3]))


def swapped(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """A function of two tensors."""
    return b, a


def named(a: tf.Tensor) -> dict[str, tf.Tensor]:
    """A function of one."""
    return {"a": a}


reveal_type(numbers)  # -> Dataset[Tensor]
reveal_type(numbers.shuffle(3).repeat(2).take(4).skip(1))  # -> Dataset[Tensor]
reveal_type(numbers.batch(2).prefetch(tf.data.AUTOTUNE).cache())  # -> Dataset[Tensor]
reveal_type(numbers.filter(lambda t: t > 1))  # -> Dataset[Tensor]
reveal_type(numbers.map(named, num_parallel_calls=2))  # -> Dataset[dict[str, Tensor]]
reveal_type(pairs)  # -> Dataset[tuple[Tensor, Tensor]]
reveal_type(pairs.map(swapped).batch(2))  # -> Dataset[tuple[Tensor, Tensor]]
reveal_type(tf.data.Dataset.from_tensor_slices({"a": np.zeros(3)}))  # -> Dataset[dict[str, Tensor]]
reveal_type(tf.data.Dataset.zip(numbers, pairs))  # -> Dataset[tuple[Tensor, tuple[Tensor, Tensor]]]
reveal_type(tf.data.Dataset.zip((numbers, numbers)))  # -> Dataset[tuple[Tensor, Tensor]]
reveal_type(numbers.enumerate())  # -> Dataset[tuple[Tensor, Tensor]]
reveal_type(numbers.concatenate(numbers))  # -> Dataset[Tensor]
reveal_type(numbers.apply(lambda d: d.batch(2)))  # -> Dataset[Tensor]
reveal_type(numbers.reduce(tf.constant(0), lambda state, t: state + t))  # -> Tensor
reveal_type(next(iter(numbers)))  # -> Tensor
reveal_type(tf.data.Dataset.from_tensors((1, (2, 3))))  # -> Dataset[Any]
for first, _ in pairs:
    reveal_type(first)  # -> Tensor

# The parameters of lambda expressions are inferred by pyright alone.
reveal_type(numbers.map(lambda t: (t, t)))  # -> Dataset[tuple[Tensor, Tensor]]; mypy: Dataset[Any]
reveal_type(pairs.map(lambda a, b: {"a": a}))  # -> Dataset[dict[str, Tensor]]; mypy: Dataset[Any]

numbers.map(swapped).batch()  # error
numbers.shufle(3)  # error
