"""The models and graphs that fuzzers begin with: every kind of claim that a file can make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio import tf

_X = tf.TensorSpec([3, 4], tf.float32)


class Network(tf.Module):
    """Functions of a matrix with constants, captures, variables, control flow, lists and calls."""

    NAMES = ("dense", "update", "branch", "loop", "rows", "texts", "outer", "parts")

    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(np.ones((4, 5), np.float32))
        self.b = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])
        self.steps = tf.Variable(0)
        self.more = [tf.Variable([1.0]), {"k": tf.Variable("s")}]

    @tf.function(input_signature=[_X])
    def dense(self, x: Any) -> Any:
        return tf.nn.relu(x @ self.w + self.b)

    @tf.function(input_signature=[_X])
    def update(self, x: Any) -> Any:
        self.steps.assign_add(1)
        self.w.assign_add(tf.ones([4, 5]) * tf.reduce_mean(x))
        return tf.reduce_sum(self.w)

    @tf.function(input_signature=[_X])
    def branch(self, x: Any) -> Any:
        return tf.cond(x[0, 0] > 0, lambda: x * 2.0, lambda: tf.nn.softmax(x))

    @tf.function(input_signature=[_X])
    def loop(self, x: Any) -> Any:
        def body(i: Any, y: Any) -> Any:
            return i + 1, tf.tanh(y) + x

        return tf.while_loop(lambda i, y: i < 3, body, (tf.constant(0), x))[1]

    @tf.function(input_signature=[_X])
    def rows(self, x: Any) -> Any:
        array = tf.TensorArray(tf.float32, 3, element_shape=[4])
        for i in range(3):
            array = array.write(i, x[i] * float(i))
        return array.stack()

    @tf.function(input_signature=[_X])
    def texts(self, x: Any) -> Any:
        return tf.strings.join([tf.strings.as_string(x), tf.fill([3, 4], "!")])

    @tf.function(input_signature=[_X])
    def outer(self, x: Any) -> Any:
        return self.dense(x) + self.dense(x * 2.0)

    @tf.function(input_signature=[_X])
    def parts(self, x: Any) -> Any:
        a, b = tf.split(x, 2, axis=1)
        c = tf.concat([a, b, tf.cast(tf.cast(a, tf.int32), tf.float32)], 1)
        return tf.transpose(tf.reshape(c, [2, 9]))[:, :1] + tf.reduce_max(tf.gather(x, [0, 2]))


def _convolved(x: Any) -> Any:
    image = tf.reshape(x, [1, 3, 4, 1])
    y = tf.nn.conv2d(image, tf.ones([2, 2, 1, 2]), 1, "SAME")
    return tf.nn.max_pool2d(y, 2, 2, "VALID"), tf.image.resize(y, [5, 6])


def _sorted(x: Any) -> Any:
    values, indices = tf.math.top_k(x, 2)
    return values, tf.one_hot(indices, 4), tf.cumsum(x, 1), tf.where(x > 0, x, -x)


def _sliced(x: Any) -> Any:
    padded = tf.pad(x, [[1, 0], [0, 1]])
    return padded[::-1, 1:3], tf.tile(x, [2, 1]), tf.scatter_nd([[1], [0]], x[:2], [3, 4])


def _random(x: Any) -> Any:
    drawn = tf.random.stateless_normal([3, 4], [1, 2])
    return x + drawn, tf.einsum("ij,kj->ik", x, drawn), tf.linalg.band_part(x[:, :3], 0, 1)


def _strings(x: Any) -> Any:
    text = tf.strings.as_string(x)
    return (
        tf.strings.regex_replace(text, "0+", "o"),
        tf.strings.length(text),
        tf.strings.substr(text, 0, 2),
    )


def _sums(x: Any) -> Any:
    ids = tf.constant([0, 0, 1])
    return (
        tf.math.unsorted_segment_sum(x, ids, 2),
        tf.math.segment_max(x, ids),
        tf.reduce_logsumexp(x, 1),
        tf.argmax(x, 1),
    )


GRAPHS: tuple[Callable[[Any], Any], ...] = (_convolved, _sorted, _sliced, _random, _strings, _sums)


def graphs() -> list[Any]:
    """GraphDefs, of functions without variables."""
    made = [tf.function(f).get_concrete_function(_X).graph.as_graph_def() for f in GRAPHS]
    network = Network()
    return made + [
        getattr(network, name).get_concrete_function().graph.as_graph_def()
        for name in ("branch", "loop", "rows", "texts", "parts")
    ]
