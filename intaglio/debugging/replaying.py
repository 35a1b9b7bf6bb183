"""`intaglio.record_calls` and `f.replay`: a call of a traced function again, eagerly, up to a line.

A recorded call keeps its arguments and the arrays that its variables had, which costs no copy. A replay gives the
variables those values again, runs the Python function on values, and stops before a line.
"""

from __future__ import annotations

import collections
import itertools
import os
import pdb
from types import FrameType
from typing import Any

import numpy as np

from intaglio.base import nest, origins
from intaglio.base.origins import Frame
from intaglio.debugging.lines import followed
from intaglio.debugging.repeatable import RepeatableCall
from intaglio.function import control
from intaglio.function.polymorphic import Function
from intaglio.opdef import door
from intaglio.runtime.call_state import contents

# How many calls of all functions are kept, unless the block says otherwise.
MAX_CALLS = 100

_numbers = itertools.count(1)


class RecordedCall:
    """A call that can be replayed: its `number` in the process, `args` and `kwargs`, and the line that called."""

    def __init__(self, call: RepeatableCall) -> None:
        self.number = next(_numbers)
        self.function = call.function
        self.args, self.kwargs = nest.map_structure(_kept, (call.args, call.kwargs))
        self.where: Frame | None = next(iter(origins.frames(origins.capture(1, 1))), None)
        self.error: Exception | None = None
        self._call = call

    def __repr__(self) -> str:
        where = "" if self.where is None else f" from {self.where.short}"
        failed = "" if self.error is None else f", raised {type(self.error).__name__}"
        return f"<call {self.number} of {self.function.name}{where}{failed}>"

    def replay(self, until: str | None = None, *, debugger: bool = False) -> Replay:
        """The call once more: see `f.replay`."""
        now = contents(self._call.arrays)
        variables = self._call.variables_of_runs
        self._call.state.restore()
        try:
            return Replay(self, until, debugger)
        finally:
            for variable, array in zip(variables, now, strict=True):
                variable.assign(array)


def _kept(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


class record_calls:
    """In the block, keeps the calls of traced functions, so that `f.replay` can run them again.

    The last `limit` calls of this thread are `calls` of the block; a call that raises is one of them. What is kept of a
    call are its arguments and the arrays that its variables had. Raises ValueError for a limit below 1.

    >>> f = tf.function(lambda x: x * 2)
    >>> with intaglio.record_calls() as recorded:
    ...     _ = f(tf.constant(4))
    >>> int(f.replay(recorded.calls[-1]).result)
    8
    """

    def __init__(self, limit: int = MAX_CALLS) -> None:
        if limit < 1:
            raise ValueError(f"record_calls takes a limit of 1 and more, not {limit}")
        self.calls: collections.deque[RecordedCall] = collections.deque(maxlen=limit)
        self._blocks: list[Any] = []

    def __enter__(self) -> record_calls:
        block = control.intercepting(self)
        block.__enter__()
        self._blocks.append(block)
        return self

    def __exit__(self, *error: object) -> None:
        self._blocks.pop().__exit__(*error)

    def call(self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a traced function, which is kept."""
        recorded = RecordedCall(RepeatableCall(function, args, kwargs))
        self.calls.append(recorded)
        function.recorded_calls = self.calls
        try:
            return function(*args, **kwargs)
        except Exception as e:
            recorded.error = e
            raise


class _Reached(BaseException):
    """The line has been reached. It is no Exception, so that the user's handlers do not see it."""


class Replay:
    """What a replay has come to: `where` it stopped, and the `values` of the names there.

    `result` is the call's, where no line stopped it; `error` what it raised.
    """

    def __init__(self, call: RecordedCall, until: str | None, debugger: bool) -> None:
        self.result: Any = None
        self.error: Exception | None = None
        self.where: Frame | None = None
        self.values: dict[str, Any] = {}
        self._until = None if until is None else _line(until)
        self._debugger = debugger
        self._ran: set[int] = set()
        function = call.function.python_function
        try:
            with (
                control.uncontrolled(),
                control.stance("eager"),
                door.unwatched(),
                followed(self._follow),
            ):
                self.result = function(*call.args, **call.kwargs)
        except _Reached:
            pass
        except Exception as e:
            self.error = e
            if until is None:
                raise
        if self._until is not None and self.where is None:
            lines = ", ".join(map(str, sorted(self._ran))) or "none of it"
            why = (
                ""
                if self.error is None
                else f"; it raised {type(self.error).__name__}: {self.error}"
            )
            raise ValueError(
                f"the call did not reach {until}. Of that file it ran the lines {lines}{why}"
            )

    def _follow(self, frame: FrameType, event: str) -> None:
        if self._until is None or event != "line":
            return
        path, line = self._until
        name = frame.f_code.co_filename
        if name != path and not name.endswith(os.sep + path):
            return
        self._ran.add(frame.f_lineno)
        if frame.f_lineno != line or self.where is not None:
            return
        self.where = Frame(name, line, frame.f_code.co_name)
        self.values = dict(frame.f_locals)
        if self._debugger:
            pdb.Pdb().set_trace(frame)
            return
        raise _Reached

    def __repr__(self) -> str:
        if self.where is None:
            return f"<replay: {self.result!r}>"
        return f"<replay up to {self.where.short}: {', '.join(self.values)}>"


def _line(until: str) -> tuple[str, int]:
    path, _, line = until.rpartition(":")
    if not path or not line.isdigit():
        raise ValueError(f"until is a file and a line, such as 'train.py:41', not {until!r}")
    return os.path.normpath(path), int(line)


def replay(
    function: Function,
    call: RecordedCall | int = -1,
    until: str | None = None,
    debugger: bool = False,
) -> Replay:
    """A recorded call of the function again: see `Function.replay`."""
    if isinstance(call, int):
        calls = [c for c in function.recorded_calls if c.function.__dict__ is function.__dict__]
        found = calls[-1:] if call == -1 else [c for c in calls if c.number == call]
        if not found:
            known = ", ".join([str(c.number) for c in calls]) or "none"
            raise ValueError(
                f"{function.name} has no recorded call {call}; there are: {known}. "
                "Calls are recorded inside `with intaglio.record_calls():`"
            )
        return found[0].replay(until, debugger=debugger)
    return call.replay(until, debugger=debugger)


__all__ = ["RecordedCall", "Replay", "record_calls"]
