"""Lists that code outside of AutoGraph returns: as Python, or refused, whatever else refers to them.

The programs are those that write to containers. Their lists come from a function that is not
converted. A registry that keeps all lists, or a debugger that holds the variables of all
frames, is no part of the program.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Generator
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from intaglio import tf

from .programs import Outcome, examples, load, same
from .test_containers import ANOTHER, REFUSALS, arguments, bodies

DISPLAYS = {
    "a, b = [x, x + 1.0], [x * 2.0]": "a, b = make(x, x + 1.0), make(x * 2.0)",
    "box = Box([x])": "box = Box(make(x))",
    "    e = [x]": "    e = make(x)",
}
KEPT: list[Any] = []


@tf.autograph.experimental.do_not_convert
def new(*values: Any) -> list[Any]:
    return list(values)


@tf.autograph.experimental.do_not_convert
def kept(*values: Any) -> list[Any]:
    KEPT.append(list(values))
    return KEPT[-1]  # type: ignore[no-any-return]  # a list


@contextlib.contextmanager
def debugger() -> Generator[None]:
    """Holds the variables of all frames of generated programs, at each line."""
    held: list[Any] = []

    def line(frame: Any, event: str, arg: Any) -> Any:
        held.append((list(frame.f_locals.values()), arg))
        return line

    def call(frame: Any, event: str, arg: Any) -> Any:
        generated = frame.f_code.co_filename.startswith("<generated")
        return line(frame, event, arg) if generated else None

    outer = sys.gettrace()
    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(outer)


def outcome(source: str, make: Callable[..., Any], x: float, n: int) -> Outcome:
    traced = tf.function(load(source, make=make))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return Outcome(lambda: traced(tf.constant(x), tf.constant(n)))


@examples(1.0)
@given(bodies(), st.lists(arguments, min_size=1, max_size=2))
def test_other_references_to_a_list_change_nothing(
    source: str, calls: list[tuple[float, int]]
) -> None:
    for display, call in DISPLAYS.items():
        source = source.replace(display, call)
    note(source)
    eager = load(source, make=new)
    for x, n in calls:
        want = Outcome(lambda x=x, n=n: eager(tf.constant(x), tf.constant(n)))
        got = outcome(source, new, x, n)
        if got.error is not None:
            known = any(part in str(got.error) for part in (*REFUSALS, ANOTHER))
            assert known or want.error is not None, (x, n, want, got)
        elif want.error is None:
            assert same(want, got), (x, n, want, got)
        registered = outcome(source, kept, x, n)
        with debugger():
            debugged = outcome(source, new, x, n)
        assert same(got, registered), (x, n, got, registered)
        assert same(got, debugged), (x, n, got, debugged)
        KEPT.clear()
