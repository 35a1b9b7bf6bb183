"""The Python state that a trace has read, and the policy for changes of it: `intaglio.captures`.

A trace keeps the Python values that it has read: numbers, attributes, items. TensorFlow goes on with
them without a word when they change. Here a trace knows its reads (`autograph/reads.py`), and each
call checks them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal

from intaglio.autograph import side_effects
from intaglio.autograph.access_paths import Read
from intaglio.base.log import logger
from intaglio.function import read_guards, registry

Mode = Literal["warn", "retrace", "error", "freeze"]
MODES = ("warn", "retrace", "error", "freeze")
# Number of interpreted checks of a trace before one is generated, which costs as much as a hundred.
CHECKS_BEFORE_CODE = 8


class StaleCaptureError(RuntimeError):
    """Under `captures("error")`: a traced function would go on with a value that has changed."""


class Policy:
    """The policy for a call whose trace has read Python values that have changed since."""

    def __init__(self) -> None:
        mode = os.environ.get("INTAGLIO_CAPTURES", "warn")
        if mode not in MODES:
            raise ValueError(_refusal(mode))
        self.mode: str = mode
        self.check_arrays = os.environ.get("INTAGLIO_CHECK_ARRAYS", "0") not in ("", "0")


def _refusal(mode: Any) -> str:
    return f"captures takes {', '.join(map(repr, MODES))}, not {mode!r}"


class TraceReads:
    """The reads of one trace, and the check whether their values are still the same."""

    def __init__(self, reads: tuple[Read, ...]) -> None:
        self.all = reads
        self.distinguish = POLICY.mode == "retrace"  # this trace from others
        self.watched = list(reads)  # reads whose change has not been reported yet
        self._check: Callable[[], bool] | None = None
        self._checks = 0

    def is_fresh(self) -> bool:
        """True if no watched value has changed."""
        check = self._check
        if check is not None:
            return check()
        self._checks += 1
        if self._checks == CHECKS_BEFORE_CODE:
            self._check = read_guards.checker(self.watched)
        return all([r.is_unchanged() for r in self.watched])

    def changed(self) -> list[Read]:
        """The reads whose values have changed. A read that cannot be evaluated is dropped."""
        self.release([r for r in self.watched if r.is_lost])
        return [r for r in self.watched if not r.is_unchanged()]

    def release(self, reads: Sequence[Read]) -> None:
        """Stops watching these reads."""
        if reads:
            gone = set(map(id, reads))
            self.watched = [r for r in self.watched if id(r) not in gone]
            self._check, self._checks = None, 0

    def reset(self) -> None:
        """Watches all reads again."""
        self.watched = list(self.all)
        self._check, self._checks = None, 0


POLICY = Policy()


class captures:
    """Sets what calls do once a Python value has changed that their trace has read.

    `"warn"`, the default, logs one warning for each value, with its old and its new value and the line
    that read it; the trace goes on with the old value, as in TensorFlow. `"retrace"` makes
    another trace, and returns to an earlier one where the values are what they were. `"error"`
    raises StaleCaptureError. `"freeze"` is TensorFlow's behaviour without a word, and costs nothing.

    With `check_arrays=True` traces made from then on keep a checksum of the NumPy arrays that they
    read, so that writing to their elements counts as a change; of arrays over 64 KB, samples.

    It holds in the whole process from the call on; as a context manager, up to the end of the block.
    INTAGLIO_CAPTURES and INTAGLIO_CHECK_ARRAYS=1 in the environment set the same.

    Of code that AutoGraph does not convert (functions under `do_not_convert`, `autograph=False`, generators,
    special methods) the bytecode says what it reads. Not known is what libraries and C extensions read, nor
    a method that is replaced in its class. Raises ValueError for another mode.

    >>> with intaglio.captures("retrace"):
    ...     pass
    """

    def __init__(self, mode: Mode | None = None, *, check_arrays: bool | None = None) -> None:
        self._before = POLICY.mode, POLICY.check_arrays
        _set(
            POLICY.mode if mode is None else mode,
            POLICY.check_arrays if check_arrays is None else check_arrays,
        )

    def __enter__(self) -> captures:
        return self

    def __exit__(self, *error: object) -> None:
        _set(*self._before)


def _set(mode: str, check_arrays: bool) -> None:
    if mode not in MODES:
        raise ValueError(_refusal(mode))
    if mode != POLICY.mode:
        for function in registry.functions():
            function.captures_again()
    POLICY.mode, POLICY.check_arrays = mode, check_arrays


class effects:
    """Sets what becomes of side effects that a function has while it is traced.

    `"record"`, the default, lists them in `f.side_effects`. `"error"` raises SideEffectError at the line of
    the first. `"replay"` repeats those that add to a number, in an attribute or item such as
    `self.calls += 1`, at each call; calls of such functions cost a few microseconds more.

    It holds in the whole process from the call on; as a context manager, up to the end of the block.
    INTAGLIO_EFFECTS in the environment sets the same. Raises ValueError for another mode.

    >>> with intaglio.effects("error"):
    ...     pass
    """

    def __init__(self, mode: Literal["record", "error", "replay"]) -> None:
        self._before = side_effects.POLICY.mode
        _set_effects(side_effects.checked(mode))

    def __enter__(self) -> effects:
        return self

    def __exit__(self, *error: object) -> None:
        _set_effects(self._before)


def _set_effects(mode: str) -> None:
    if mode != side_effects.POLICY.mode:
        side_effects.POLICY.mode = mode
        for function in registry.functions():
            function.captures_again()


_ADVICE = (
    'Pass what changes as an argument, make it a tf.Variable, or call intaglio.captures("retrace").'
)


def message(name: str, changed: Sequence[Read], advice: str = _ADVICE) -> str:
    """The warning: which values have changed, and what to write instead."""
    what = "; ".join([change(r) for r in changed])
    return (
        f"{name} was traced with values that have changed since: {what}. The trace keeps the old ones, as in "
        f"TensorFlow. {advice}"
    )


def change(read: Read) -> str:
    """`self.k: 1 -> 10 (read at model.py:12)`."""
    where = read.where
    line = "" if where is None else f" (read at {where.short})"
    return f"{read.name}: {read.before()} -> {read.now()}{line}"


def warn(name: str, changed: Sequence[Read]) -> None:
    """Logs the changes. The caller counts: of each function and value once."""
    logger().warning(message(name, changed))


__all__ = ["StaleCaptureError", "captures", "effects"]
