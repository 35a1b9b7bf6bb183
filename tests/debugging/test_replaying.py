"""`f.replay` runs a recorded call again, eagerly and up to a line."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf

v = tf.Variable([1.0, 2.0])


@tf.function
def step(x: Any) -> Any:
    scaled = x * v
    loss = tf.reduce_sum(scaled)
    v.assign_sub(scaled)
    return loss


def at(text: str) -> str:
    lines, first = inspect.getsourcelines(step.python_function)
    return f"test_replaying.py:{first + next(i for i, t in enumerate(lines) if text in t)}"


def test_up_to_a_line_with_the_values_of_that_call() -> None:
    v.assign([1.0, 2.0])
    with intaglio.record_calls() as recorded:
        step(tf.constant([0.5, 0.5]))
        step(tf.constant([1.0, 1.0]))
    first, second = recorded.calls
    assert v.numpy().tolist() == [0.0, 0.0]
    stopped = step.replay(first, until=at("v.assign_sub"))
    assert stopped.values["scaled"].numpy().tolist() == [0.5, 1.0]
    assert float(stopped.values["loss"]) == 1.5
    assert stopped.where.source == "v.assign_sub(scaled)"
    assert step.replay(second.number, until=at("loss =")).values["scaled"].numpy().tolist() == [
        0.5,
        1.0,
    ]
    assert float(step.replay().result) == 1.5
    assert v.numpy().tolist() == [0.0, 0.0]  # they are what they were before the replay
    assert repr(first).startswith(f"<call {first.number} of step from test_replaying.py:")


def test_a_call_that_failed() -> None:
    @tf.function
    def f(x: Any, i: Any) -> Any:
        doubled = x * 2
        return tf.gather(doubled, i)

    with intaglio.record_calls() as recorded, pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant([1, 2]), tf.constant(9))
    (call,) = recorded.calls
    assert isinstance(call.error, tf.errors.InvalidArgumentError)
    with pytest.raises(tf.errors.InvalidArgumentError):
        f.replay(call)
    lines, first = inspect.getsourcelines(f.python_function)
    line = first + next(i for i, t in enumerate(lines) if "gather" in t)
    stopped = call.replay(f"test_replaying.py:{line}")
    assert stopped.values["doubled"].numpy().tolist() == [2, 4]


def test_arrays_are_kept_as_they_were() -> None:
    f = tf.function(lambda x: x + 1)
    array = np.array([1, 2])
    with intaglio.record_calls():
        f(array)
    array[:] = 0
    assert np.asarray(f.replay().result).tolist() == [2, 3]


def test_a_line_that_is_not_reached() -> None:
    with intaglio.record_calls():
        step(tf.constant([0.5, 0.5]))
    with pytest.raises(
        ValueError, match=r"did not reach test_replaying.py:1\. .* it ran the lines \d+"
    ):
        step.replay(until="test_replaying.py:1")
    with pytest.raises(ValueError, match=r"such as 'train.py:41', not 'here'"):
        step.replay(until="here")


def test_a_call_that_is_not_there() -> None:
    f = tf.function(lambda x: x + 1)
    with pytest.raises(ValueError, match="no recorded call -1; there are: none"):
        f.replay()


def test_only_the_last_calls_are_kept() -> None:
    f = tf.function(lambda x: x + 1)
    with intaglio.record_calls(limit=2) as recorded:
        for i in range(5):
            f(tf.constant(i))
    assert [int(c.args[0]) for c in recorded.calls] == [3, 4]
    with pytest.raises(ValueError, match="limit of 1 and more"):
        intaglio.record_calls(0)


def test_debugger(monkeypatch: pytest.MonkeyPatch) -> None:
    frames: list[Any] = []
    monkeypatch.setattr("pdb.Pdb.set_trace", lambda self, frame: frames.append(frame.f_lineno))
    with intaglio.record_calls():
        step(tf.constant([0.5, 0.5]))
    replayed = step.replay(until=at("loss ="), debugger=True)
    assert frames == [int(at("loss =").split(":")[1])]
    assert replayed.result is not None
