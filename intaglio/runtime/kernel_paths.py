"""The paths of a recorded kernel through its conditions on data: all are recorded, a select picks one.

A NumPy kernel may contain `if mask.any():`. While it is recorded the condition is unknown. So the kernel
is run once for each outcome, and the recorded program selects among the results by the condition.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from intaglio.base.errors import OpError

# Maximum number of runs of a kernel, over all of its paths.
MAX_RUNS = 24
TOO_MANY = "the program's course depends on data, in more ways than one can record"


class Undecided(Exception):
    """A condition on data outside of `explored`, or more of them than `MAX_RUNS` permits."""


class _Active(threading.local):
    path: Path | None = None


_active = _Active()


class Path:
    """One run of a kernel: the outcomes of its conditions, first those given, then 0."""

    def __init__(self, outcomes: list[int]) -> None:
        self.outcomes = outcomes
        # Each condition with the number of its outcomes.
        self.conditions: list[tuple[Any, int]] = []

    def decide(self, condition: Any, count: int) -> int:
        """The outcome of the next condition, below `count`."""
        self.conditions.append((condition, count))
        if len(self.conditions) > MAX_RUNS or count > MAX_RUNS:  # a loop until the data says so
            raise Undecided(TOO_MANY)
        if len(self.conditions) > len(self.outcomes):
            self.outcomes.append(0)
        return self.outcomes[len(self.conditions) - 1]


def decided(condition: Any) -> bool:
    """The outcome of a condition that the program computes. Raises Undecided outside of `explored`."""
    return bool(decided_among(condition, 2))


def decided_among(value: Any, count: int) -> int:
    """The value of an integer below `count` that the program computes, such as how many elements there are.

    Raises Undecided outside of `explored`.
    """
    if _active.path is None:
        raise Undecided("the program's course depends on data")
    return _active.path.decide(value, count)


def without_paths(function: Callable[[], Any]) -> Any:
    """Calls a function in which conditions on data raise Undecided."""
    outer, _active.path = _active.path, None
    try:
        return function()
    finally:
        _active.path = outer


def explored(run: Callable[[], Any], choose: Callable[[Any, list[Any]], Any]) -> Any:
    """The result of a kernel, which is run once for each of its paths.

    A run ends in results or in an OpError. `choose` is called with a condition and with the result for
    each of its outcomes, and returns the selected one. Raises Undecided if there are too many paths.
    """
    runs = 0

    def found(outcomes: list[int]) -> Any:
        nonlocal runs
        runs += 1
        if runs > MAX_RUNS:
            raise Undecided(TOO_MANY)
        first = len(outcomes)
        path = Path(outcomes)
        outer, _active.path = _active.path, path
        try:
            result: Any = run()
        except OpError as e:
            result = e
        finally:
            _active.path = outer
        for number in reversed(range(first, len(path.conditions))):
            condition, count = path.conditions[number]
            before = path.outcomes[:number]
            others = [found([*before, outcome]) for outcome in range(1, count)]
            result = choose(condition, [result, *others])
        return result

    return found([])
