"""Conditions that are no bools, axes of norms and names of devices: TensorFlow 2.21's error classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from intaglio import tf

InvalidArgumentError = tf.errors.InvalidArgumentError


def _count(condition: Any, **options: Any) -> int:
    """How many of at most three iterations an eager loop does."""
    left = iter([condition, condition, condition, False])
    (n,) = tf.while_loop(lambda n: next(left), lambda n: [n + 1], [tf.constant(0)], **options)
    return int(n)


@pytest.mark.parametrize(
    ("condition", "count"), [(1, 3), (0, 0), (None, 0), ("", 0), ([], 0), (tf.constant(2), 3)]
)
def test_an_eager_loop_asks_as_python_does(condition: Any, count: int) -> None:
    assert _count(condition) == count


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        (1, TypeError),
        ("a", TypeError),
        (None, ValueError),
        (tf.constant(1), InvalidArgumentError),
        (tf.constant("a"), InvalidArgumentError),
    ],
)
def test_a_limited_eager_loop_wants_a_bool(condition: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        _count(condition, maximum_iterations=2)


@pytest.mark.parametrize(
    ("condition", "kind"), [(1, TypeError), (1.5, TypeError), ("a", TypeError), (None, ValueError)]
)
def test_a_recorded_loop_wants_a_bool(condition: Any, kind: type[Exception]) -> None:
    loop = tf.function(
        lambda: tf.while_loop(lambda n: condition, lambda n: n + 1, [0], maximum_iterations=2)
    )
    with pytest.raises(kind):
        loop()


def _while(x: Any) -> int:
    n = 0
    while x:
        n += 1
    return n


CONVERTED: list[tuple[Callable[[Any], Any], type[Exception]]] = [
    (lambda x: 1 if x else 2, InvalidArgumentError),
    (lambda x: x and True, TypeError),
    (lambda x: x or True, TypeError),
    (lambda x: not x, TypeError),
    (_while, TypeError),
]


@pytest.mark.parametrize("number", [1, 1.5, "a"], ids=repr)
@pytest.mark.parametrize(("function", "kind"), CONVERTED)
def test_converted_code(function: Callable[[Any], Any], kind: type[Exception], number: Any) -> None:
    with pytest.raises(kind):
        tf.function(function)(tf.constant(number))


@pytest.mark.parametrize(
    "axis", [[0], (0,), [0, 1, 2], [], (1, 1), np.int64(1), np.array([0, 1]), 1.0, [0.0, 1.0], "a"]
)
def test_axes_of_norms(axis: Any) -> None:
    with pytest.raises(ValueError, match="None, an integer, or a tuple of 2 unique integers"):
        tf.norm(tf.ones([2, 2]), axis=axis)


def test_a_bool_is_an_axis() -> None:
    assert tf.norm(tf.ones([2, 3]), axis=True).shape == [2]
    assert tf.norm(tf.ones([2, 3]), axis=[0, 1]).shape == []


@pytest.fixture
def hard_placement() -> Iterator[None]:
    tf.config.set_soft_device_placement(False)
    yield
    tf.config.set_soft_device_placement(True)


def _on(name: Any, recorded: bool) -> float:
    def run(x: tf.Tensor) -> tf.Tensor:
        with tf.device(name):
            return x + 1.0

    return float((tf.function(run) if recorded else run)(tf.constant(1.0)))


@pytest.mark.parametrize("recorded", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("/cpu:-1", InvalidArgumentError),
        ("/cpu:a", ValueError),
        ("/device:CPU", ValueError),
        ("/device:CPU:0:0", ValueError),
        ("/cpu:0/cpu:0", ValueError),
        ("/task:x", ValueError),
        ("nowhere", ValueError),
        ("/job:elsewhere", InvalidArgumentError),
        ("/task:1", InvalidArgumentError),
    ],
)
def test_bad_devices(name: str, kind: type[Exception], recorded: bool) -> None:
    with pytest.raises(kind):
        _on(name, recorded)


@pytest.mark.parametrize("recorded", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("name", ["/cpu:7", "/gpu:0", "/device:TPU:1"])
def test_soft_placement(name: str, recorded: bool) -> None:
    assert _on(name, recorded) == 2.0


@pytest.mark.usefixtures("hard_placement")
@pytest.mark.parametrize("recorded", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("name", ["/cpu:7", "/gpu:0", "/device:TPU:1"])
def test_hard_placement(name: str, recorded: bool) -> None:
    with pytest.raises(InvalidArgumentError):
        _on(name, recorded)
    assert _on("/cpu:0", recorded) == 2.0
