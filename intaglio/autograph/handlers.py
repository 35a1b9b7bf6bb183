"""`try` statements in converted code: handlers catch errors of tracing, never those of a graph's run."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from intaglio.base.errors import OpError
from intaglio.base.threads import Inherited
from intaglio.opdef import door


class _Active(Inherited):
    def __init__(self) -> None:
        self.handlers: list[Handling] = []


_active = _Active()


class Handling:
    """The body of a `try` with handlers for the exceptions that `types()` returns."""

    __slots__ = ("_graph", "_nodes", "_types", "where")

    def __init__(self, types: Callable[[], Any]) -> None:
        self._types = types
        code = types.__code__
        self.where = f"{code.co_filename}:{code.co_firstlineno}"

    def __enter__(self) -> None:
        here = door.level()
        self._graph = None if here.eager else getattr(here, "graph", None)
        if self._graph is not None:
            self._nodes = len(self._graph.nodes)
            _active.handlers.append(self)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._graph is None:
            return
        _active.handlers.pop()
        if error is None and len(self._graph.nodes) > self._nodes:
            self._warn()

    def types(self) -> tuple[type[BaseException], ...]:
        """The classes that the handlers name."""
        found: list[type[BaseException]] = []
        pending = list(self._types())
        while pending:
            kind = pending.pop(0)
            if isinstance(kind, tuple):
                pending = [*kind, *pending]
            elif isinstance(kind, type):
                found.append(kind)
        return tuple(found)

    def _warn(self) -> None:
        kinds = [k.__name__ for k in self.types() if issubclass(k, OpError)]
        if kinds:
            warnings.warn(
                f"`except {kinds[0]}` at {self.where} sees errors of tracing only: the ops in its "
                "`try` run later, with the graph. Catch the error around the call of the "
                "tf.function, or test its cause with `if`.",
                stacklevel=3,
            )


def check_handlers(error: Exception) -> None:
    """Raises NotImplementedError if a handler would catch an error that the graph raises when it runs."""
    for handling in reversed(_active.handlers):
        if isinstance(error, handling.types()):
            kind = type(error).__name__
            raise NotImplementedError(
                f"{kind} is raised under a tensor's condition, so by the graph when it runs, and "
                f"the `except` at {handling.where} has run by then. Write what the handler does "
                "as a branch of the `if`, or catch the error around the call of the tf.function."
            )
