"""Traces shared by functions that are defined repeatedly, in a loop or by a function: `generalise("functions")`.

Two functions are equal if their code, globals, options of `tf.function`, and the values of their closures and defaults are;
objects are compared by identity. A function uses the traces of an equal one only if tracing it would record the same: the
traces have created no variables, had no side effects and draw no random numbers, and the Python state that they have
read has not changed.
"""

from __future__ import annotations

import collections
from types import FunctionType
from typing import Any

from intaglio.autograph.read_values import Kept
from intaglio.base.locks import lasting_lock
from intaglio.function.cache import TraceCache
from intaglio.runtime.call_state import streams

# Maximum number of published functions; the oldest is removed first.
MAX_FUNCTIONS = 64


class _Published:
    """The traces of a function, and the properties that a function must share to use them."""

    def __init__(self, function: Any) -> None:
        self._function = Kept(function.python_function)
        self._globals = function.python_function.__globals__
        self._options = function.options_key
        self.cache: TraceCache = function._cache

    def serves(self, function: Any) -> bool:
        """True if tracing the function would give the traces of this one."""
        python_function = function.python_function
        return (
            python_function.__globals__ is self._globals
            and function.options_key == self._options
            and self._function.is_same(python_function)
            and all([_is_repeatable(trace) for trace in self.cache])
        )


def _is_repeatable(trace: Any) -> bool:
    reads = trace.reads
    if trace.effects or not (reads is None or reads.is_fresh()):
        return False
    return not streams(trace.frozen)


_lock = lasting_lock()
_published: collections.OrderedDict[int, _Published] = collections.OrderedDict()


def _may_share(function: Any) -> bool:
    """True for plain functions that AutoGraph converts: the reads of others are unknown."""
    python_function = function.python_function
    return type(python_function) is FunctionType and function.is_converted


def publish(function: Any) -> None:
    """Lets equal functions use a function's traces. Its first trace has created no variables."""
    if not _may_share(function):
        return
    with _lock:
        _published[id(function._cache)] = _Published(function)
        if len(_published) > MAX_FUNCTIONS:
            _published.popitem(last=False)


def find(function: Any) -> TraceCache | None:
    """The traces of an equal function, or None."""
    if not _may_share(function):
        return None
    with _lock:
        earlier = [*_published.values()]
    return next((o.cache for o in reversed(earlier) if o.serves(function)), None)
