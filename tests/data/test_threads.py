"""Stages that compute ahead: their threads end with what they work for, and errors keep their place."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.data import threads

numbers: Any = tf.data.Dataset.range


def in_python(x: Any) -> Any:
    """The element, through a Python function that takes a while."""

    def pause(value: Any) -> Any:
        time.sleep(0.002)
        return value

    return tf.ensure_shape(tf.numpy_function(pause, [x], tf.int64), ())


ENDLESS: dict[str, Callable[[], Any]] = {
    "prefetch": lambda: numbers(10**6).map(in_python).prefetch(10),
    "map": lambda: numbers(10**6).map(in_python, num_parallel_calls=4),
    "map in any order": lambda: numbers(10**6).map(
        in_python, num_parallel_calls=4, deterministic=False
    ),
    "several": lambda: numbers(10**6).map(in_python, num_parallel_calls=4).batch(2).prefetch(2),
    "interleave": lambda: numbers(100).interleave(
        lambda i: numbers(1000).map(in_python), cycle_length=4, num_parallel_calls=4
    ),
    "zip": lambda: tf.data.Dataset.zip(
        numbers(1000).prefetch(2), numbers(1000).map(in_python, num_parallel_calls=2)
    ),
    "shuffle": lambda: numbers(1000).shuffle(50).repeat().batch(4).prefetch(-1),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_threads_end_when_an_iterator_is_dropped_early(name: str) -> None:
    before = set(threading.enumerate())
    iterator = iter(ENDLESS[name]())
    for _ in range(3):
        next(iterator)
    del iterator
    gc.collect()
    # What a thread is just computing it ends.
    limit = time.monotonic() + 30
    while set(threading.enumerate()) - before and time.monotonic() < limit:
        time.sleep(0.01)
    assert not set(threading.enumerate()) - before


def test_a_program_ends_with_iterators_that_still_work() -> None:
    program = (
        "import time\n"
        "from intaglio import tf\n"
        "def pause(value):\n"
        "    time.sleep(0.01)\n"
        "    return value\n"
        "def slow(x):\n"
        "    return tf.numpy_function(pause, [x], tf.int64)\n"
        "slow = tf.autograph.experimental.do_not_convert(slow)\n"
        "dataset = tf.data.Dataset.range(10**6).map(slow, num_parallel_calls=4).prefetch(10)\n"
        "iterator = iter(dataset)\n"
        "print(int(next(iterator)))\n"
    )
    run = [sys.executable, "-c", program]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def fails_at_five(x: Any) -> Any:
    def check(value: Any) -> Any:
        if value == 5:
            raise ValueError("no five")
        return value

    return tf.ensure_shape(tf.numpy_function(check, [x], tf.int64), ())


@pytest.mark.parametrize(
    ("dataset", "wanted"),
    [
        (lambda: numbers(8).map(fails_at_five).prefetch(3), [0, 1, 2, 3, 4, "no", 6, 7]),
        (lambda: numbers(8).map(fails_at_five, num_parallel_calls=3), [0, 1, 2, 3, 4, "no", 6, 7]),
        (
            lambda: numbers(8).map(fails_at_five, num_parallel_calls=3).batch(2).prefetch(1),
            [[0, 1], [2, 3], "no", [6, 7]],
        ),
    ],
)
def test_errors_replace_their_elements(dataset: Any, wanted: list[Any]) -> None:
    # TensorFlow 2.21 was asked.
    iterator = iter(dataset())
    found: list[Any] = []
    while True:
        try:
            found.append(np.asarray(next(iterator)).tolist())
        except StopIteration:
            break
        except tf.errors.InvalidArgumentError as error:
            assert "no five" in error.message
            found.append("no")
    assert found == wanted


@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("seconds", [1e-5, 1.0])
def test_quick_calls_are_made_by_the_thread_that_asks(
    monkeypatch: pytest.MonkeyPatch, deterministic: bool, seconds: float
) -> None:
    clock = threading.local()

    def tick() -> float:
        clock.now = getattr(clock, "now", 0.0) + seconds
        return clock.now

    monkeypatch.setattr(threads, "time", types.SimpleNamespace(perf_counter=tick))
    seen: list[int] = []

    def note(value: Any) -> Any:
        seen.append(threading.get_ident())
        return value

    def noting(x: Any) -> Any:
        return tf.ensure_shape(tf.numpy_function(note, [x], tf.int64), ())

    dataset = numbers(60).map(noting, num_parallel_calls=4, deterministic=deterministic)
    assert sorted(dataset.as_numpy_iterator()) == [*range(60)]
    own = [ident == threading.get_ident() for ident in seen]
    assert any(own) == (seconds < threads.QUICK_CALL)
    if any(own):
        assert own == sorted(own)
        assert own.index(True) < 2 * threads.MEASURED_CALLS + 4


def test_slow_calls_among_quick_ones_are_made_by_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = threading.local()

    def tick() -> float:
        clock.now = getattr(clock, "now", 0.0) + 1e-5
        return clock.now

    monkeypatch.setattr(threads, "time", types.SimpleNamespace(perf_counter=tick))
    seen: list[bool] = []
    caller = threading.get_ident()

    def note(value: Any) -> Any:
        seen.append(threading.get_ident() == caller)
        if value >= 40 and value % 4 == 0:
            clock.now = getattr(clock, "now", 0.0) + 1.0
        return value

    def noting(x: Any) -> Any:
        return tf.ensure_shape(tf.numpy_function(note, [x], tf.int64), ())

    assert list(numbers(80).map(noting, num_parallel_calls=2).as_numpy_iterator()) == [*range(80)]
    assert seen[30:41] == [True] * 11
    assert not any(seen[41:])


@pytest.mark.parametrize("quick", [False, True])
def test_errors_of_quick_calls_replace_their_elements(
    monkeypatch: pytest.MonkeyPatch, quick: bool
) -> None:
    monkeypatch.setattr(threads, "QUICK_CALL", 1e9 if quick else 0.0)

    def checked(x: Any) -> Any:
        tf.debugging.assert_less(tf.math.floormod(x, 20), tf.constant(19, tf.int64))
        return x

    iterator = iter(numbers(50).map(checked, num_parallel_calls=3))
    found: list[int] = []
    failed = 0
    while True:
        try:
            found.append(int(next(iterator)))
        except StopIteration:
            break
        except tf.errors.InvalidArgumentError:
            failed += 1
    assert found == [n for n in range(50) if n % 20 != 19]
    assert failed == 2


def _ended_by_function(x: Any) -> Any:
    def none_at_three(value: Any) -> Any:
        if value == 3:
            raise StopIteration
        return value

    return tf.ensure_shape(tf.numpy_function(none_at_three, [x], tf.int64), ())


@pytest.mark.parametrize(
    "transformed",
    [
        lambda d: d.map(_ended_by_function),
        lambda d: d.map(_ended_by_function, num_parallel_calls=2),
        lambda d: d.flat_map(lambda x: tf.data.Dataset.from_tensors(_ended_by_function(x))),
        lambda d: d.scan(tf.constant(0, tf.int64), lambda s, x: (s, _ended_by_function(x))),
    ],
    ids=["map", "parallel map", "flat_map", "scan"],
)
def test_the_end_of_a_function_is_not_that_of_the_dataset(transformed: Any) -> None:
    # OutOfRangeError would end loops over the iterator; TensorFlow's maps and scans raise this one.
    found: list[int] = []
    iterator = iter(transformed(numbers(5)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="produced OutOfRangeError"):
        while True:
            found.append(int(next(iterator)))
    assert found == [0, 1, 2]


def test_the_end_of_the_function_of_a_reduction_is_out_of_range() -> None:
    with pytest.raises(tf.errors.OutOfRangeError):
        numbers(5).reduce(tf.constant(0, tf.int64), lambda s, x: s + _ended_by_function(x))
