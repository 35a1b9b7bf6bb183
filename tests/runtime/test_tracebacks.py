"""Tracebacks of eager errors: frames of the package are left out of them, unless asked for."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from intaglio import tf
from intaglio.base import origins


def _broken(value: Any) -> Any:
    return value["key"]


CALLS: dict[str, Callable[[], Any]] = {
    "matmul": lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
    "operator": lambda: tf.ones([2]) + tf.ones([3]),
    "reduce_sum": lambda: tf.reduce_sum([1.0], axis=7),
    "constant": lambda: tf.constant("a", tf.int32),
    "resize": lambda: tf.image.resize(tf.ones([2]), [2, 2]),
    "raw op": lambda: tf.raw_ops.AddV2(x=tf.ones([2]), y=tf.ones([3])),
    "map_fn": lambda: tf.map_fn(_broken, tf.ones([2])),
    "assign": lambda: tf.Variable([1.0]).assign([1.0, 2.0]),
    "gather": lambda: tf.gather([1, 2], 7),
    "reshape": lambda: tf.reshape(tf.ones([4]), [3]),
    "parse": lambda: tf.io.decode_json_example("{"),
    "function": lambda: tf.function(lambda x: tf.reshape(x, [3]))(tf.ones([4])),
}
MOST_FRAMES = 4


def _frames(call: Callable[[], Any]) -> list[Any]:
    with pytest.raises(Exception) as raised:
        call()
    frames = [trace.tb_frame.f_code for trace in _traces(raised.value.__traceback__)]
    return [code for code in frames if origins.is_ours(code)]


def _traces(trace: Any) -> Iterator[Any]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


@pytest.fixture
def unfiltered() -> Iterator[None]:
    tf.debugging.disable_traceback_filtering()
    yield
    tf.debugging.enable_traceback_filtering()


@pytest.mark.parametrize("name", CALLS)
def test_few_frames_are_ours(name: str) -> None:
    assert len(_frames(CALLS[name])) <= MOST_FRAMES


@pytest.mark.usefixtures("unfiltered")
def test_all_frames_when_filtering_is_off() -> None:
    assert len(_frames(CALLS["resize"])) > 1
    assert len(_frames(CALLS["map_fn"])) > MOST_FRAMES


def test_the_users_frames_stay() -> None:
    with pytest.raises(TypeError) as raised:
        CALLS["map_fn"]()
    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert names[-1] == "_broken"
    assert "test_the_users_frames_stay" in names


def test_errors_keep_their_cause() -> None:
    def fail(x: Any) -> Any:
        try:
            return {}[float(x)]
        except KeyError as e:
            raise RuntimeError("outer") from e

    with pytest.raises(RuntimeError, match="outer") as raised:
        tf.map_fn(fail, tf.ones([2]))
    assert isinstance(raised.value.__cause__, KeyError)
