"""What a call returns: a program means the same, whatever else refers to the container."""

from __future__ import annotations

import collections
import contextlib
import copy
import functools
import json
import re
import sys
import warnings
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import pytest

from intaglio import strict, tf
from intaglio.autograph import line_warnings

from .checklist import item
from .test_data_in_blocks import flat

plain = tf.autograph.experimental.do_not_convert
KEPT: list[Any] = []


@pytest.fixture(autouse=True)
def _nothing_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_warnings, "_reported", set[tuple[str, int]]())
    KEPT.clear()


# -- who else may refer to a container --------------------------------------------------------


@contextlib.contextmanager
def debugger() -> Generator[None]:
    """Holds the variables of all frames of this file, at each of their lines."""
    held: list[Any] = []

    def line(frame: Any, event: str, arg: Any) -> Any:
        held.append((list(frame.f_locals.values()), arg))
        return line

    def call(frame: Any, event: str, arg: Any) -> Any:
        return line(frame, event, arg) if frame.f_code.co_filename == __file__ else None

    outer = sys.gettrace()
    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(outer)
    assert held


@contextlib.contextmanager
def profiler() -> Generator[None]:
    """Holds what every function returns."""
    held: list[Any] = []
    outer = sys.getprofile()
    sys.setprofile(lambda frame, event, arg: held.append(arg))
    try:
        yield
    finally:
        sys.setprofile(outer)
    assert held


OBSERVERS = {"debugger": debugger, "profiler": profiler}


def kept(make: Callable[..., Any]) -> Callable[..., Any]:
    """A factory that is not converted, and keeps what it returns."""

    @plain
    @functools.wraps(make)
    def register(*args: Any) -> Any:
        KEPT.append(make(*args))
        return KEPT[-1]

    return register


def meaning(function: Callable[..., Any], *args: Any) -> tuple[Any, list[str]]:
    """What a traced call gives or raises, and its warnings."""
    line_warnings._reported.clear()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found: Any = flat(tf.function(function)(*map(tf.constant, args)))
        except Exception as e:
            found = type(e), re.sub(r"\d+", "", str(e).splitlines()[-1])
    return found, [str(w.message) for w in told if w.category is UserWarning]


# -- programs ---------------------------------------------------------------------------------


def add(rows: Any, value: Any) -> None:
    rows.append(value)


def grown_in_a_loop(make: Any, n: Any) -> Any:
    rows = make()
    for i in tf.range(n):
        rows.append(i)
    return tf.stack(rows), len(rows)


def counted_in_a_loop(make: Any, n: Any) -> Any:
    rows = make()
    for _ in tf.range(n):
        rows.append(1)
    return len(rows)


def changed_by_a_helper(make: Any, n: Any) -> Any:
    rows = make()
    if n > 1:
        add(rows, 5)
    return n + len(rows)


def texts_in_a_branch(make: Any, n: Any) -> Any:
    rows = make()
    if n > 1:
        add(rows, "text")
    return n + len(rows)


def nobody_looks(make: Any, n: Any) -> Any:
    rows = make()
    if n > 1:
        add(rows, "text")
    return n


def in_the_loop(make: Any, n: Any) -> Any:
    total = n * 0
    for i in tf.range(n):
        rows = make()
        add(rows, i)
        total = total + tf.stack(rows)[-1] + len(rows)
    return total


def in_both_branches(make: Any, n: Any) -> Any:
    if n > 1:
        rows = make()
        add(rows, n)
    else:
        rows = make()
        add(rows, -n)
    return tf.stack(rows)


def in_a_loop_in_a_loop(make: Any, n: Any) -> Any:
    total = n * 0
    for i in tf.range(n):
        for _ in tf.range(n):
            rows = make()
            rows.extend([i, i])
            total = total + len(rows)
    return total


def under_two_names(make: Any, n: Any) -> Any:
    rows = make()
    other = rows
    other += [n]
    if n > 1:
        other.append(n)
    return tf.stack(rows)


def in_a_tuple(make: Any, n: Any) -> Any:
    rows, more = make(), (make(), 1)
    if n > 1:
        add(more[0], 3)
        add(rows, n)
    return n + len(rows) + len(more[0])


PROGRAMS = [
    grown_in_a_loop,
    counted_in_a_loop,
    changed_by_a_helper,
    texts_in_a_branch,
    nobody_looks,
    in_the_loop,
    in_both_branches,
    in_a_loop_in_a_loop,
    under_two_names,
    in_a_tuple,
]


def new_list() -> Any:
    return []


FACTORIES: dict[str, Callable[[], Any]] = {
    "converted": new_list,
    "not converted": plain(new_list),
    "list": list,
    "json": lambda: json.loads("[]"),
    "a partial": functools.partial(plain(new_list)),
    "a copy": lambda: copy.copy([]),
    "split": list,
    "repeated": lambda: [0] * 0,
    "NumPy": lambda: np.zeros(0, np.int32).tolist(),
    "Intaglio": lambda: tf.unstack(tf.zeros([0], tf.int32)),
}


@pytest.mark.parametrize("factory", FACTORIES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@item("eager or an error")
def test_an_observer_changes_nothing(program: Callable[..., Any], factory: str) -> None:
    make = FACTORIES[factory]

    def f(n: Any) -> Any:
        return program(make, n)

    for n in (3, 0):
        alone = meaning(f, n)
        with debugger():
            assert meaning(f, n) == alone
        with profiler():
            assert meaning(f, n) == alone
        if not isinstance(alone[0], tuple) or not isinstance(alone[0][0], type):
            assert alone[0] == flat(f(tf.constant(n)))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_registry_changes_nothing(program: Callable[..., Any]) -> None:
    """What is not converted is asked for once more, whether or not it keeps what it returns."""

    unknown, registered = plain(new_list), kept(new_list)
    for n in (3, 1, 0):
        found = meaning(lambda n: program(registered, n), n)
        assert found == meaning(lambda n: program(unknown, n), n)
        assert KEPT


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@item("eager or an error")
def test_a_cached_factory_gives_what_it_gives_eagerly(program: Callable[..., Any]) -> None:
    """Each call begins with a cache that is empty. The first look is right, or refused."""
    for n in (3, 1, 0):
        eager = program(functools.lru_cache(new_list), tf.constant(n))
        cached = functools.lru_cache(new_list)
        found, told = meaning(lambda n, cached=cached: program(cached, n), n)
        refused = isinstance(found, tuple) and found and isinstance(found[0], type)
        assert refused or found == flat(eager) or told


# -- what is refused, restored and reported ----------------------------------------------------

CHANGES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "dict": (lambda: {"a": 1}, lambda c: c.update(b=object())),
    "set": (lambda: {1}, lambda c: c.add(2)),
    "deque": (collections.deque, lambda c: c.append("t")),
    "bytearray": (bytearray, lambda c: c.append(1)),
    "ndarray": (lambda: np.arange(3), lambda c: c.fill(4)),
    "nested": (lambda: [{1}], lambda c: c[0].add(2)),
}


def look(c: Any) -> Any:
    return [list(part) for part in c] if isinstance(c, list) else list(c)


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("block", ["if", "for"])
@pytest.mark.parametrize("name", CHANGES)
def test_what_no_graph_can_carry_is_refused(name: str, block: str, keeps: bool) -> None:
    make, change = CHANGES[name]
    get = kept(make) if keeps else plain(make)

    def f(x: Any) -> Any:
        c = get()
        if block == "if":
            if x > 0:
                change(c)
        else:
            for _ in tf.range(x):
                change(c)
        return x + len(look(c))

    for n in (1, 0):
        (kind, text), _ = meaning(f, n)
        assert kind in (TypeError, tf.errors.InvalidArgumentError)
        assert "line" in text or "must iterate at least once" in text


def test_what_is_shared_is_restored_and_reported() -> None:
    get = kept(new_list)

    def f(n: Any) -> Any:
        rows = get()
        for _ in tf.range(n):
            rows.append(1)
        return len(rows)

    found, (told,) = meaning(f, 3)
    assert found == flat(3)
    assert "`rows.append(1)` changes this list once" in told
    assert "This list was returned by code that is not converted" in told
    assert KEPT == [[1]]  # as Python leaves it


def test_what_is_new_in_each_iteration_is_not_reported() -> None:
    """A second trace of the block gets another list; one that is shared it gets again."""

    def f(n: Any, get: Any) -> Any:
        total = n * 0
        for i in tf.range(n):
            rows = get()
            rows.append(i)
            total = total + len(rows)
        return total

    get = kept(new_list)
    found, told = meaning(lambda n: f(n, get), 3)
    assert found == flat(f(tf.constant(3), new_list))
    assert told == []
    shared = functools.lru_cache(new_list)
    found, told = meaning(lambda n: f(n, shared), 3)
    assert found == flat(f(tf.constant(3), functools.lru_cache(new_list)))
    assert len(told) == 1


def test_iterators_that_are_returned() -> None:
    numbers = iter(range(100))

    def advanced(n: Any, get: Any) -> Any:
        for _ in tf.range(n):
            n = n + next(get())
        return n

    @plain
    def shared() -> Any:
        return numbers

    found, told = meaning(lambda n: advanced(n, lambda: iter([5, 6])), 2)
    assert (found, told) == (flat(advanced(tf.constant(2), lambda: iter([5, 6]))), [])
    found, told = meaning(lambda n: advanced(n, shared), 2)
    assert found[0] is TypeError
    assert "an item of this range_iterator is taken in a staged loop" in found[1]


class Single:
    """All calls of the class give one object."""

    only: Any = None

    def __new__(cls) -> Any:
        cls.only = cls.only or object.__new__(cls)
        return cls.only

    def __init__(self) -> None:
        self.kind: type = int

    def change(self) -> None:
        self.kind = str


def test_a_class_that_gives_one_object() -> None:
    def f(n: Any) -> Any:
        single = Single()
        if n > 1:
            single.change()
        return n + len(single.kind.__name__)

    (kind, text), _ = meaning(f, 3)
    assert kind is TypeError
    assert "'Single.kind' is a Python object of type type that differs" in text


def test_strictness_leaves_what_python_leaves() -> None:
    get = kept(new_list)

    def f(n: Any) -> Any:
        if n > 1:
            rows = get()
            rows.append(n)
        else:
            rows = get()
            rows.append(-n)
        return rows[0]

    with strict():
        assert int(tf.function(f)(tf.constant(3))) == 3
        assert int(tf.function(f)(tf.constant(0))) == 0


def test_elements_of_a_display_are_not_new_with_it() -> None:
    log: list[str] = []

    def f(n: Any) -> Any:
        held = {"log": log}
        _, *rest = ["a", "b"]
        if n > 1:
            add(held["log"], "traced")
            add(rest, "c")
        return n

    _, told = meaning(f, 3)
    assert set(log) == {"traced"}  # once for each trace of the block
    assert len(told) == 1
    assert "older than the trace" in told[0]
