"""Conversion happens once for each code object, in one thread or in many."""

from __future__ import annotations

import gc
import linecache
import threading
import types
import weakref
from typing import Any

from intaglio import tf
from intaglio.autograph import conversion, source

from .checklist import item

TEXT = """
def scaled(x):
    if x > 0:
        x = x * by
    return x
"""


def registered(name: str, text: str = TEXT, **names: Any) -> Any:
    """A function from text, with its source where the interactive prompt keeps it."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = names
    exec(compile(text, name, "exec"), space)
    return space["scaled"]


def converted(function: Any) -> types.FunctionType:
    return tf.autograph.to_graph(function)


@item("converts: the cache, and sources of converted code")
def test_one_conversion_serves_all_closures_over_one_code() -> None:
    def scaled_by(by: int) -> Any:
        def scaled(x: Any) -> Any:
            return x * by if x > 0 else x

        return scaled

    twins = [converted(scaled_by(k)) for k in (2, 3)]
    assert twins[0].__code__ is twins[1].__code__
    assert [int(tf.function(scaled_by(k))(tf.constant(5))) for k in (2, 3)] == [10, 15]


def test_a_closure_is_read_when_it_is_traced() -> None:
    by = 2

    def scaled(x: Any) -> Any:
        return x * by if x > 0 else x

    assert int(tf.function(scaled)(tf.constant(5))) == 10
    by = 3
    assert int(tf.function(scaled)(tf.constant(5))) == 15


def test_globals_are_each_functions_own() -> None:
    first, second = registered("<one>", by=2), registered("<one>", by=7)
    assert first.__code__ == second.__code__
    assert [int(tf.function(f)(tf.constant(5))) for f in (first, second)] == [10, 35]


def test_equal_code_of_two_files_keeps_its_file() -> None:
    first, second = registered("<cell 1>", by=2), registered("<cell 2>", by=2)
    assert first.__code__ == second.__code__
    files = [converted(f).__code__.co_filename for f in (first, second)]
    assert files == ["<cell 1>", "<cell 2>"]


def test_a_cell_that_is_run_again_is_converted_again() -> None:
    first = registered("<cell 3>", by=2)
    assert int(tf.function(first)(tf.constant(5))) == 10
    second = registered("<cell 3>", TEXT.replace("x * by", "x + by"), by=2)
    assert int(tf.function(second)(tf.constant(5))) == 7


def test_a_conversion_goes_with_its_function() -> None:
    function = registered("<gone>", TEXT.replace("x * by", "x - by"), by=3)
    converted(function)
    (made,) = conversion._cache[function.__code__].values()
    made = weakref.ref(made)
    assert made() is not None
    del function
    gc.collect()
    assert made() is None


def test_threads_convert_a_function_at_once(monkeypatch: Any) -> None:
    function = registered("<threads>", by=3)
    gate, find = threading.Barrier(4), source.find

    def slowly(wanted: Any) -> Any:
        gate.wait(timeout=30)  # all of them are in it
        return find(wanted)

    monkeypatch.setattr(source, "find", slowly)
    made: list[Any] = []
    threads = [threading.Thread(target=lambda: made.append(converted(function))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4
    assert all(twin.__code__ is made[0].__code__ for twin in made)


def test_threads_trace_functions_that_call_one_another() -> None:
    def step(x: Any) -> Any:
        return x + 1 if x < 50 else x - 1

    def walk(x: Any, n: Any) -> Any:
        while n > 0:
            x, n = step(x), n - 1
        return x

    results: dict[int, int] = {}

    def work(k: int) -> None:
        results[k] = int(tf.function(walk)(tf.constant(k), tf.constant(k)))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {k: 2 * k for k in range(8)}
