"""Calls of functions of TensorFlow 1: `CALLS` by name, each a function of the name `tf`.

    path/to/python-with-tensorflow -m tests.compat_v1.function_calls

writes what TensorFlow answers, eagerly and by a session, into `function_answers.json`.
"""

from __future__ import annotations

import importlib
import json
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

FILE = pathlib.Path(__file__).with_name("function_answers.json")
CALLS: dict[str, Callable[[Any], Any]] = {}


def call(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    CALLS[function.__name__] = function
    return function


def numbers(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32).round(2)


class Cell:
    """A cell whose state has two parts, of other sizes than its output."""

    output_size = 2
    state_size = (3, 2)

    def __init__(self, tf: Any, seed: int = 0) -> None:
        self.tf, self.seed = tf, seed

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        return tuple(self.tf.zeros([batch_size, n], dtype) for n in self.state_size)

    def __call__(self, inputs: Any, state: Any) -> Any:
        tf = self.tf
        both = tf.concat([inputs, *state], 1)
        h = tf.tanh(tf.matmul(both, numbers(4 + 5, 3, seed=self.seed)))
        c = state[1] * 0.5 + tf.reduce_sum(h, 1, keepdims=True)
        return c * 2.0, (h, c)


STEPS = numbers(3, 5, 4, seed=7)
LENGTHS = [5, 2, 0]


@call
def dynamic(tf: Any) -> Any:
    return tf.compat.v1.nn.dynamic_rnn(Cell(tf), tf.constant(STEPS), dtype=tf.float32)


@call
def dynamic_with_lengths(tf: Any) -> Any:
    return tf.compat.v1.nn.dynamic_rnn(Cell(tf), tf.constant(STEPS), LENGTHS, dtype=tf.float32)


@call
def dynamic_from_a_state(tf: Any) -> Any:
    state = (tf.ones([5, 3]), tf.ones([5, 2]))
    return tf.compat.v1.nn.dynamic_rnn(
        Cell(tf), tf.constant(STEPS), [3, 3, 1, 0, 2], initial_state=state, time_major=True
    )


@call
def bidirectional_dynamic(tf: Any) -> Any:
    return tf.compat.v1.nn.bidirectional_dynamic_rnn(
        Cell(tf), Cell(tf, 1), tf.constant(STEPS), tf.constant(LENGTHS), dtype=tf.float32
    )


@call
def static(tf: Any) -> Any:
    return tf.compat.v1.nn.static_rnn(Cell(tf), tf.unstack(STEPS, axis=1), dtype=tf.float32)


@call
def static_with_lengths(tf: Any) -> Any:
    return tf.compat.v1.nn.static_rnn(
        Cell(tf), tf.unstack(STEPS, axis=1), dtype=tf.float32, sequence_length=LENGTHS
    )


@call
def static_bidirectional(tf: Any) -> Any:
    return tf.compat.v1.nn.static_bidirectional_rnn(
        Cell(tf), Cell(tf, 1), tf.unstack(STEPS, axis=1), dtype=tf.float32, sequence_length=LENGTHS
    )


@call
def raw(tf: Any) -> Any:
    """Sequences that end when their sum is large, with a count as loop state."""
    cell, inputs = Cell(tf), tf.constant(STEPS)

    def loop_fn(time: Any, output: Any, state: Any, count: Any) -> Any:
        if output is None:
            return tf.constant([False] * 3), inputs[:, 0], cell.zero_state(3, tf.float32), None, 0
        ended = tf.logical_or(time >= 5, tf.reduce_sum(output, 1) > 3.0)
        then = tf.minimum(time, 4)
        return ended, tf.gather(inputs, then, axis=1), state, output, count + 2

    emitted, state, count = tf.compat.v1.nn.raw_rnn(cell, loop_fn)
    return emitted.stack(), state, count


def answer(tf: Any, name: str, graph: bool) -> list[Any]:
    """The flat values of a call."""
    if not graph:
        return [np.asarray(v).tolist() for v in tf.nest.flatten(CALLS[name](tf))]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        values = tf.nest.flatten(CALLS[name](tf), expand_composites=True)
        return [
            np.asarray(v).tolist() for v in session.run([tf.convert_to_tensor(v) for v in values])
        ]


if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")
    answers = {name: answer(tf, name, True) for name in CALLS}
    for name in CALLS:
        try:
            values = answer(tf, name, False)
        except (NotImplementedError, RuntimeError) as e:
            print(name, "does not run eagerly:", e)
            continue
        for x, y in zip(values, answers[name], strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6, err_msg=name)
    FILE.write_text(json.dumps(answers, indent=1) + "\n")
