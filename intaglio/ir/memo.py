"""Memoization of functions of a graph: the results are stored on the immutable graph."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from intaglio.ir.graph import Graph

P = ParamSpec("P")
R = TypeVar("R")

_ABSENT = object()


def memoized(function: Callable[Concatenate[Graph, P], R]) -> Callable[Concatenate[Graph, P], R]:
    """Decorates a function of a graph: its results are memoized in `Graph.derived`.

    The key is the decorated function, or with it the further arguments, which must be hashable and are
    passed by position. Threads that compute it at the same time all get one of the results.
    """

    @functools.wraps(function)
    def memo(graph: Graph, *args: Any) -> Any:
        key: Any = (memo, *args) if args else memo
        found = graph.derived.get(key, _ABSENT)
        if found is _ABSENT:
            found = graph.derived.setdefault(key, function(graph, *args))  # type: ignore[call-arg]  # no keywords
        return found

    return memo  # type: ignore[return-value]  # keywords are refused, which ParamSpec cannot say


__all__ = ["memoized"]
