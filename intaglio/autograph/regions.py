"""Regions of staged code: the branch or loop body being recorded, and whether its end is reachable.

A region that always raises has no reachable end: the code that follows in it is dead, and so are its
assignments. An exception, `Unreachable`, unwinds the user's code to the boundary of the region.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from intaglio.base.threads import Inherited
from intaglio.trace import control_flow


class Recorded(Protocol):
    """The node that represents an exception in a graph; the exception has it as `MARK`."""

    def record(self) -> None:
        """Records it at the current point of the graph."""
        ...


MARK = "_raised_by_graph"


class Region:
    """A branch or loop body, or a `whole` function, while it is recorded into `graph`."""

    __slots__ = ("graph", "whole")

    def __init__(self, graph: Any, whole: bool = False) -> None:
        self.graph = graph
        self.whole = whole

    @property
    def decided(self) -> bool:
        """True where no effect of a run precedes the current point."""
        return self.whole and not any(n.op.must_run for n in self.graph.nodes)


class Unreachable(BaseException):
    """The graph has raised on every path to this point. Not caught by the user's handlers."""


class _Regions(Inherited):
    def __init__(self) -> None:
        self.open: list[Region] = []


_regions = _Regions()


def current() -> Region | None:
    """The region whose graph is the one being recorded, or None."""
    if not _regions.open:
        return None
    region = _regions.open[-1]
    return region if region.graph is control_flow.recording() else None


def ends(body: Callable[[], Any]) -> bool:
    """Runs a region of staged code in the graph being recorded; True if its end is reachable."""
    try:
        return _reached(body, Region(control_flow.recording()))
    except Unreachable:
        return False


def _reached(body: Callable[[], Any], region: Region) -> bool:
    _regions.open.append(region)
    try:
        body()
        return True
    except Exception as e:
        recorded: Recorded | None = getattr(e, MARK, None)
        if recorded is None:
            raise
        recorded.record()
        return False
    finally:
        _regions.open.pop()


def to_the_end(function: Callable[[], Any]) -> Any:
    """The result of a traced function; None if the graph always raises."""
    graph = control_flow.recording()
    if graph is None:
        return function()
    result: list[Any] = [None]

    def run() -> None:
        result[0] = function()

    try:
        _reached(run, Region(graph, whole=True))
    except Unreachable as e:
        if type(e) is not Unreachable:
            raise
    return result[0]
