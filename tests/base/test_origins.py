"""Origins are the user's frames, also where those of the callers are walked once."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from intaglio.base import origins

_OWN = """
def plain(call):
    return call()

def within(call):
    with origins.enclosing():
        return call()

def twice(call):
    with origins.enclosing():
        return within(call)
"""


def _own() -> dict[str, Any]:
    """Functions that are taken for the package's own."""
    space: dict[str, Any] = {"origins": origins}
    exec(compile(_OWN, "<intaglio test>", "exec"), space)
    return space


def _deep(depth: int, way: Any, call: Any) -> Any:
    return _deep(depth - 1, way, call) if depth else way(call)


@pytest.mark.parametrize("most", [1, 3, origins.MAX_FRAMES, 1000])
@pytest.mark.parametrize("depth", [0, 1, 8])
@pytest.mark.parametrize("inner", [0, 2, 9])
def test_the_same_frames_as_without_a_context(depth, inner, most):
    def call() -> Any:
        return _deep(inner, lambda c: c(), lambda: origins.capture(1, most))

    own = _own()
    found = [_deep(depth, own[way], call) for way in ("plain", "within", "twice", "plain")]
    assert len(found[0]) == min(most, len(found[0]))
    assert found[1:] == found[:1] * 3


def test_other_threads_have_frames_of_their_own():
    found: list[Any] = []

    def look() -> None:
        found.append(origins.capture())

    def call() -> Any:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        return found[-1]

    own = _own()
    assert own["plain"](call) == own["within"](call)
    assert "look" in [frame.function for frame in origins.frames(found[-1])]


def test_an_error_ends_the_context():
    def fail() -> None:
        raise ValueError

    own = _own()
    with pytest.raises(ValueError):
        own["within"](fail)
    assert origins._enclosing.innermost == (None, ())
