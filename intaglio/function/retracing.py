"""TensorFlow's warning about functions that are traced again and again."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable
from typing import Any

from intaglio.base.locks import lasting_lock
from intaglio.base.log import logger
from intaglio.function.cache import TraceCache
from intaglio.function.explanation import TraceReason

HISTORY_CALLS = 10  # number of recent calls that are examined
MAX_TRACES_IN_HISTORY = 5  # this number of traces among them causes a warning
MAX_WARNINGS = 2  # number of warnings for one function

_lock = lasting_lock()
_detectors: dict[Any, Detector] = {}


class Detector:
    """Counts the calls and traces of all functions that share one code object."""

    __slots__ = ("calls", "runs", "warnings")

    def __init__(self) -> None:
        self.runs: list[int] = []  # calls from each recent trace up to the next one
        self.calls = 0  # calls since the last trace
        self.warnings = 0

    def traced(self, shown: Any, why: Callable[[], str]) -> None:
        """Counts a call that traced; warns if there are too many, with the cause of the last one."""
        with _lock:
            if self.runs:
                self.runs[-1] += self.calls
            self.calls = 0
            self.runs.append(1)
            while sum(self.runs) - self.runs[0] > HISTORY_CALLS:
                self.runs.pop(0)
            total = sum(self.runs)
            if self.warnings >= MAX_WARNINGS or len(self.runs) < MAX_TRACES_IN_HISTORY:
                return
            self.warnings += 1
        logger().warning(
            f"{len(self.runs)} out of the last {total} calls to {shown!r} triggered tf.function retracing. Tracing is "
            "expensive and the excessive number of tracings could be due to (1) creating @tf.function repeatedly in a "
            "loop, (2) passing tensors with different shapes, (3) passing Python objects instead of tensors. For (1), "
            "please define your @tf.function outside of the loop. For (2), @tf.function has reduce_retracing=True option "
            "that can avoid unnecessary retracing. For (3), please refer to "
            "https://www.tensorflow.org/guide/function#controlling_retracing and "
            f"https://www.tensorflow.org/api_docs/python/tf/function for  more details.{why()}"
        )


def detector_of(function: Any) -> Detector:
    """The detector shared by all functions of the same code.

    Wrappers of one kind have one code: theirs is that of what they wrap.
    """
    if hasattr(function, "__wrapped__"):
        function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    key = code if code is not None else id(function)
    with _lock:
        found = _detectors.get(key)
        if found is None:
            found = _detectors[key] = Detector()
        return found


class _LastRetrace:
    """The traces of the function that was traced again last, while they live."""

    traces: weakref.ref[TraceCache] | None = None


_LAST = _LastRetrace()


def note(traces: TraceCache) -> None:
    """Notes that a call has traced; the first trace of a function is not a retrace."""
    if len(traces) + traces.dead > 1:
        _LAST.traces = weakref.ref(traces)


def last_retrace() -> TraceReason | None:
    """Why a function was traced again last, of all functions: the last item of its `explain()`.

    None if no function has been traced again, or the one that was is gone.

    >>> import intaglio
    >>> f = tf.function(lambda x: x + 1)
    >>> for n in (2, 3):
    ...     _ = f(tf.zeros([n]))
    >>> print(intaglio.last_retrace().changes[0].path)
    x.shape[0]
    """
    traces = None if _LAST.traces is None else _LAST.traces()
    if traces is None or len(traces) + traces.dead < 2:
        return None
    return traces.explanation()[-1]


__all__ = ["last_retrace"]
