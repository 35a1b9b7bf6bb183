"""Recurrent networks of cells, eagerly and by sessions: TensorFlow was asked (`function_calls.py`)."""

from __future__ import annotations

import json

import numpy as np
import pytest

from intaglio import tf
from tests.compat_v1 import function_calls as calls

v1 = tf.compat.v1
ANSWERS = json.loads(calls.FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "session"])
@pytest.mark.parametrize("name", calls.CALLS)
def test_values(name: str, graph: bool) -> None:
    for got, want in zip(calls.answer(tf, name, graph), ANSWERS[name], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_loops_have_the_gradients_of_steps() -> None:
    x = tf.constant(calls.STEPS)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        outputs, _ = v1.nn.dynamic_rnn(calls.Cell(tf), x, calls.LENGTHS, dtype=tf.float32)
        steps, _ = v1.nn.static_rnn(
            calls.Cell(tf), tf.unstack(x, axis=1), None, tf.float32, calls.LENGTHS
        )
        losses = [tf.reduce_sum(y**2) for y in (outputs, tf.stack(steps, 1))]
    by_loop, by_steps = (tape.gradient(loss, x) for loss in losses)
    np.testing.assert_allclose(by_loop, by_steps, rtol=1e-5, atol=1e-6)
    assert not np.any(by_loop[2])  # a sequence of no steps


class Weighted(calls.Cell):
    def __call__(self, inputs: tf.Tensor, state: tuple[tf.Tensor, ...]) -> object:
        weight = v1.get_variable("weight", [4, 4], initializer=v1.initializers.ones())
        return super().__call__(inputs @ weight, state)


def test_variables_are_made_once_in_the_scope() -> None:
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, None, 4])
        outputs, state = v1.nn.dynamic_rnn(Weighted(tf), x, dtype=tf.float32)
        v1.nn.static_rnn(Weighted(tf), [x[:, 0], x[:, 1]], dtype=tf.float32, scope="other")
        assert [v.name for v in v1.global_variables()] == ["rnn/weight:0", "other/weight:0"]
        assert outputs.shape.as_list() == [None, None, 2]
        assert [s.shape.as_list() for s in state] == [[None, 3], [None, 2]]


def test_wrong_arguments() -> None:
    x = tf.constant(calls.STEPS)
    with pytest.raises(ValueError, match="no initial_state is provided"):
        v1.nn.dynamic_rnn(calls.Cell(tf), x)
    with pytest.raises(ValueError, match="sequence_length must be a vector"):
        v1.nn.dynamic_rnn(calls.Cell(tf), x, [[1, 2, 3]], dtype=tf.float32)
    with pytest.raises(TypeError, match="`inputs` must be a sequence"):
        v1.nn.static_rnn(calls.Cell(tf), x, dtype=tf.float32)
    with pytest.raises(ValueError, match="`inputs` must not be empty"):
        v1.nn.static_rnn(calls.Cell(tf), [], dtype=tf.float32)
