"""Debuggers stop in converted code where the user wrote it, and tracebacks show those lines."""

from __future__ import annotations

import bdb
import pathlib
import re
import sys
import traceback
from typing import Any

import pytest

from intaglio import tf

from . import stops

PATH = pathlib.Path(stops.__file__)
LINES = PATH.read_text(encoding="utf-8").split("\n")
MARKED = {i for i, text in enumerate(LINES, 1) if text.endswith("# stop")}
CALLS = [(3, 2), (-3, 7), (-50, 7)]


class Debugger(bdb.Bdb):
    """Stops at every marked line and notes it, with the function's name."""

    def __init__(self) -> None:
        super().__init__()
        self.hits: list[tuple[int, str]] = []
        for line in MARKED:
            assert self.set_break(str(PATH), line) is None

    def user_line(self, frame: Any) -> None:
        if self.break_here(frame):
            self.hits.append((frame.f_lineno, frame.f_code.co_name))
        self.set_continue()


def stopped(function: Any, *args: Any) -> list[tuple[int, str]]:
    debugger = Debugger()
    debugger.runcall(function, *args)
    return debugger.hits


@pytest.mark.parametrize("call", CALLS)
def test_on_python_values_it_stops_where_python_does(call: Any) -> None:
    python = stopped(stops.program, *call)
    converted = stopped(tf.autograph.to_graph(stops.program), *call)
    assert {line for line, _ in converted} == {line for line, _ in python}
    # And in this order, when a line that goes on in a function of its own counts once.
    assert _once(converted) == _once(python)


def _once(hits: list[tuple[int, str]]) -> list[int]:
    first_seen: list[int] = []
    for line, _ in hits:
        if line not in first_seen:
            first_seen.append(line)
    return first_seen


def test_all_marked_lines_are_python_s_own() -> None:
    hit = {line for call in CALLS for line, _ in stopped(stops.program, *call)}
    assert hit <= MARKED
    assert len(hit) > 35


def test_while_tracing_it_stops_in_every_branch_and_body() -> None:
    traced = tf.function(stops.program)
    hits = stopped(traced, tf.constant(3), tf.constant(2))
    assert {line for line, _ in hits} == MARKED


def test_frames_have_the_users_names() -> None:
    """The functions that conversion makes of blocks are said to be the one they came from."""
    hits = stopped(tf.function(stops.program), tf.constant(3), tf.constant(2))
    names = {name for _, name in hits}
    # From Python 3.12 on a list's comprehension has no frame of its own (PEP 709).
    comprehension = {"<listcomp>"} if sys.version_info < (3, 12) else set[str]()
    assert names == {"program", "nested", "<lambda>"} | comprehension
    inside = {
        name for line, name in hits if "y + 1" in LINES[line - 1]
    }  # a branch of a nested function
    assert inside == {"nested"}


def test_classes_and_functions_keep_their_qualified_names() -> None:
    def outer(x: Any) -> Any:
        class Inner:
            def method(self) -> Any:
                return None

        def nested() -> Any:
            return Inner

        return nested(), Inner().method.__qualname__, nested.__qualname__

    kind, method, function = tf.autograph.to_graph(outer)(1)
    prefix = outer.__qualname__ + ".<locals>."
    assert kind.__qualname__ == prefix + "Inner"
    assert method == prefix + "Inner.method"
    assert function == prefix + "nested"


PLACES = [
    "if",
    "else",
    "while",
    "for",
    "nested",
    "comprehension",
    "expression",
    "logic",
    "with",
    "try",
]


@pytest.mark.parametrize("place", PLACES)
def test_tracebacks_show_the_users_lines_only(place: str) -> None:
    with pytest.raises(ValueError) as caught:
        tf.function(stops.failing)(tf.ones([2]), place)
    frames = traceback.extract_tb(caught.value.__traceback__)
    # The call of the traced function itself is there, and nothing below it of ours.
    assert [f.name for f in frames if f.filename not in (str(PATH), __file__)] == ["__call__"]
    marked = next(i for i, t in enumerate(LINES, 1) if t.endswith(f"# {place}"))
    inside = [frame for frame in frames if frame.filename == str(PATH)]
    assert inside[-2].lineno == marked
    assert inside[-1].line == "fail = lambda y: y + tf.ones([7])"
    shown = re.findall(r"line (\d+), in", str(caught.value))
    assert str(marked) in shown


def test_the_reason_for_an_error_is_not_hidden() -> None:
    def f(x: Any) -> Any:
        try:
            if x > 0:
                raise ValueError("first")
        except ValueError as e:
            raise KeyError("second") from e
        return x

    with pytest.raises(KeyError) as caught:
        tf.function(f)(1)
    assert isinstance(caught.value.__cause__, ValueError)
