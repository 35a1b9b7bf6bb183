"""Tracebacks of eager errors: frames of the package are left out of them, unless asked for."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from intaglio import tf
from intaglio.base import origins
from intaglio.opdef.dispatch import filtering


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
MOST_FRAMES = 1
OPERATORS: dict[str, Callable[[], Any]] = {
    "+": lambda: tf.ones([2]) + tf.ones([3]),
    "- with a float": lambda: tf.constant([1, 2]) - 1.5,
    "reflected *": lambda: 1.5 * tf.constant([1, 2]),
    "//": lambda: tf.constant([1, 2]) // 0,
    "**": lambda: tf.ones([2]) ** tf.ones([3]),
    "@": lambda: tf.ones([2]) @ tf.ones([3, 3]),
    "<": lambda: tf.ones([2]) < tf.ones([3]),
    "neg": lambda: -tf.constant("a"),
    "invert": lambda: ~tf.ones([2]),
    "abs": lambda: abs(tf.constant("a")),
    "index": lambda: tf.ones([3])[5],
    "variable": lambda: tf.Variable([1.0, 2.0]) + tf.ones([3]),
}


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


@pytest.mark.parametrize("name", OPERATORS)
def test_no_frame_of_operators_is_ours(name: str) -> None:
    assert not _frames(OPERATORS[name])


DATASET = tf.data.Dataset
METHODS: dict[str, Callable[[], Any]] = {
    "from_tensor_slices": lambda: DATASET.from_tensor_slices(5),
    "range": lambda: DATASET.range("a"),
    "zip": lambda: DATASET.zip(3),
    "map": lambda: DATASET.range(3).map(_broken),
    "batch": lambda: DATASET.range(3).batch("a"),
    "padded_batch": lambda: DATASET.range(3).padded_batch(2, padded_shapes=[3, 4]),
    "concatenate": lambda: DATASET.range(3).concatenate(DATASET.from_tensors("a")),
    "reduce": lambda: DATASET.range(3).reduce(0, lambda a, b: "x"),
    "single": lambda: DATASET.range(3).get_single_element(),
    "bool": lambda: len(DATASET.range(3).repeat()),
    "lines": lambda: tf.data.TextLineDataset("a", compression_type=3),
    "enqueue": lambda: tf.queue.FIFOQueue(2, [tf.float32]).enqueue("a"),
    "normal": lambda: tf.random.Generator.from_seed(1).normal("a"),
    "from_row_splits": lambda: tf.RaggedTensor.from_row_splits([1, 2], [0, 5]),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_leave_their_frames_out(name: str) -> None:
    assert not _frames(METHODS[name])


@pytest.mark.usefixtures("unfiltered")
def test_frames_of_methods_when_filtering_is_off() -> None:
    assert all(len(_frames(call)) > 1 for call in METHODS.values())


def test_filtering_functions_take_what_the_functions_take() -> None:
    def all_kinds(a: Any, /, b: Any = 2, *args: Any, c: Any, d: Any = 4, **kwargs: Any) -> Any:
        """Said."""
        return a, b, args, c, d, kwargs

    public = filtering(all_kinds)
    assert inspect.signature(public) == inspect.signature(all_kinds)
    assert (public.__name__, public.__doc__) == ("all_kinds", "Said.")
    assert public(1, c=3) == (1, 2, (), 3, 4, {})
    assert public(1, 5, 6, 7, c=3, d=0, e=8) == (1, 5, (6, 7), 3, 0, {"e": 8})
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'c'"):
        public(1)


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
