"""Functions that are made anew, in a loop or at each call of another one, and share their traces: `generalise("functions")`.

A function is the same as an earlier one if its code is, its globals, the options of `tf.function`, and the values of its
closure and defaults, objects by identity. It takes the traces over only if tracing it would give these again: they
have made no variables and had no side effects, draw no random numbers, and all that they have read of Python's state
is what it was.
"""

from __future__ import annotations

import collections
from types import FunctionType
from typing import Any

from intaglio.autograph.read_values import Kept
from intaglio.base.locks import lasting_lock
from intaglio.function.cache import TraceCache
from intaglio.runtime.call_state import streams

# The traces of so many functions are kept for others like them.
MAX_FUNCTIONS = 64


class _Offer:
    """The traces of a function, and what another one must have in common with it."""

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
    if trace.effects.found or not (reads is None or reads.is_fresh()):
        return False
    return not streams(trace.frozen)


_lock = lasting_lock()
_offers: collections.OrderedDict[int, _Offer] = collections.OrderedDict()


def _may_share(function: Any) -> bool:
    """True for plain functions that AutoGraph converts: of others it is not known what they have read."""
    python_function = function.python_function
    return type(python_function) is FunctionType and function.is_converted


def offer(function: Any) -> None:
    """Keeps a function's traces for others like it. Its first trace has made no variables."""
    if not _may_share(function):
        return
    with _lock:
        _offers[id(function._cache)] = _Offer(function)
        if len(_offers) > MAX_FUNCTIONS:
            _offers.popitem(last=False)


def found(function: Any) -> TraceCache | None:
    """The traces of an earlier function that is the same, or None."""
    if not _may_share(function):
        return None
    with _lock:
        earlier = [*_offers.values()]
    return next((o.cache for o in reversed(earlier) if o.serves(function)), None)
