"""The paths of a recorded kernel through its conditions on data: all are recorded, and the data selects.

NumPy code says `if mask.any():`. A program cannot ask; it computes what both branches give, and
selects one result by the condition. A path that ends in an error of the op is left out: XLA programs do
not check their data.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from intaglio.base.errors import OpError
from intaglio.xla.values import Untraceable

# Runs of a kernel for all of its paths.
MAX_RUNS = 24
TOO_MANY = "the program's course depends on data, in more ways than one can record"


class _Active(threading.local):
    path: Path | None = None


_active = _Active()


class Path:
    """One run of a kernel: the outcomes of its conditions, first those given, then False."""

    def __init__(self, outcomes: list[bool]) -> None:
        self.outcomes = outcomes
        self.conditions: list[Any] = []

    def decide(self, condition: Any) -> bool:
        """The outcome of the next condition."""
        self.conditions.append(condition)
        if len(self.conditions) > MAX_RUNS:  # a loop until the data says so
            raise Untraceable(TOO_MANY)
        if len(self.conditions) > len(self.outcomes):
            self.outcomes.append(False)
        return self.outcomes[len(self.conditions) - 1]


def decided(condition: Any) -> bool:
    """The outcome of a condition that the program computes. Raises Untraceable outside of `selected`."""
    if _active.path is None:
        raise Untraceable("the program's course depends on data")
    return _active.path.decide(condition)


def without_paths(function: Callable[[], Any]) -> Any:
    """Calls a function whose conditions have to be known."""
    outer, _active.path = _active.path, None
    try:
        return function()
    finally:
        _active.path = outer


def selected(run: Callable[[], list[Any]]) -> list[Any]:
    """The results of a kernel, which is run once for each of its paths.

    Raises Untraceable if results of two paths differ in shape or dtype, or there are too many paths, and
    the op's own error where each path ends in one.
    """
    runs = 0

    def explored(outcomes: list[bool]) -> list[Any] | OpError:
        nonlocal runs
        runs += 1
        if runs > MAX_RUNS:
            raise Untraceable(
                "the program's course depends on data, in more ways than one can record"
            )
        first = len(outcomes)
        path = Path(outcomes)
        outer, _active.path = _active.path, path
        try:
            result: list[Any] | OpError = run()
        except OpError as e:
            result = e
        finally:
            _active.path = outer
        for number in reversed(range(first, len(path.conditions))):
            other = explored([*path.outcomes[:number], True])
            result = _chosen(path.conditions[number], other, result)
        return result

    found = explored([])
    if isinstance(found, OpError):
        raise found
    return found


def _chosen(condition: Any, yes: Any, no: Any) -> Any:
    if isinstance(yes, OpError) or isinstance(no, OpError):
        return no if isinstance(yes, OpError) else yes
    if [(v.shape, v.dtype) for v in yes] != [(v.shape, v.dtype) for v in no]:
        raise Untraceable("the shape of its result depends on data")
    condition = jnp.reshape(condition, ())
    return [jnp.where(condition, a, b) for a, b in zip(yes, no, strict=True)]
