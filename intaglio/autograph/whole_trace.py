"""A whole trace: what was Python's before it became state is Python's again at its end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from intaglio.autograph import aliases, containers
from intaglio.autograph.carried import has_tensor
from intaglio.autograph.containers import Contents
from intaglio.autograph.memory import remembering
from intaglio.autograph.watches import Seen
from intaglio.base import nest


class _Traces(threading.local):
    """What was Python's before it became state, for each trace that this thread is in."""

    def __init__(self) -> None:
        self.open: list[list[tuple[Seen, Any]]] = []


_traces = _Traces()


def leave(seen: Seen, value: Any) -> None:
    """Notes what Python would have left in a place that outlives the trace."""
    is_python = isinstance(value, Contents) or not has_tensor(value)
    if _traces.open and seen.place.lasting and is_python:
        _traces.open[-1].append((seen, value))


def traced(call: Callable[[], Any]) -> Any:
    """What a traced call returns. Lists and numbers that became state are Python's again after it.

    A list has the tensors of the graph then, as TensorFlow leaves them: their use says so.
    """
    left: list[tuple[Seen, Any]] = []
    _traces.open.append(left)
    containers.begin_trace()
    known = aliases.state()
    try:
        with remembering(None):
            result = aliases.everywhere(call())
        return nest.map_structure(lambda v: v, result) if left else result
    finally:
        _traces.open.pop()
        containers.end_trace()
        for seen, value in reversed(left):
            if has_tensor(seen.place.get()):
                put_end(seen, value)
        aliases.reset(known)


def put_end(seen: Seen, value: Any) -> None:
    """Makes a place what it was at the end of some trace: `value` is what `carried.now` gave."""
    if isinstance(value, Contents):
        containers.put_contents(seen.value, value)
        value = seen.value
    if seen.place.get() is not value:
        seen.place.put(value)
