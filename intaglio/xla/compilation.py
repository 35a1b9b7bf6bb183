"""From an optimised graph to a function of arrays that runs XLA programs, and what is said of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.base.errors import OpError, ResourceExhaustedError
from intaglio.base.log import logger
from intaglio.ir.graph import Graph
from intaglio.opdef import raw
from intaglio.runtime import interpreter
from intaglio.xla import splitting
from intaglio.xla.evaluator import NodeUntraceable
from intaglio.xla.program import Programs, Run
from intaglio.xla.spanning import NotAlike
from intaglio.xla.transfers import fetched

# What XLA's errors say where a device has no memory left.
EXHAUSTED = "RESOURCE_EXHAUSTED"
# Errors of the evaluator and of jax are raised, not fallen back from.
VERIFY = bool(os.environ.get("INTAGLIO_VERIFY"))


class Compiled:
    """A graph as a function of arrays, by an XLA program.

    A node that is no part of a program divides the graph: programs run before and after it, and the
    interpreter between them. Where no node is the reason, all runs by another compiler, whose function
    `instead` makes once it is needed. Programs of a `device` of XLA leave their results there.
    """

    native = True

    def __init__(
        self, graph: Graph, instead: Callable[[], Run], device: Any = None, spans: bool = True
    ) -> None:
        spans = spans and device is None
        self._programs = Programs(graph, device=device, spans=spans)
        # What runs in calls for which the processes of a cluster have no common program.
        self._apart: Divided | None = None
        self._device = device
        self._make = instead
        self._instead: Run | None = None
        self._failure = ""

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        if self._instead is not None:
            return self._otherwise(self._instead, arrays)
        try:
            return self._programs(*arrays)
        except OpError:  # of what ran: nothing is computed again
            raise
        except NotAlike as e:
            if self._apart is None:
                self._apart = Divided(self._programs.graph, e, self._device, spans=False)
            return self._apart(*arrays)
        except NodeUntraceable as e:  # before anything ran
            return self._divided(e, arrays)
        except Exception as e:
            if self._device is not None and EXHAUSTED in str(e):
                raise ResourceExhaustedError(None, None, str(e)) from None
            if VERIFY or interpreter.is_users(e):
                raise
            return self._otherwise(self._fall_back(e), arrays)

    def _otherwise(self, run: Run, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """A call of what runs instead of a program: other compilers take arrays of the host."""
        return run(*(arrays if isinstance(run, Divided) else _of_host(arrays)))

    def _divided(self, error: NodeUntraceable, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """A call of the graph divided by a node. Later calls go the same way, unless the arrays are wrong."""
        graph = self._programs.graph
        host = error.outermost
        if host.op is raw.Placeholder or not any([n is host for n in graph.nodes]):
            return self._otherwise(self._fall_back(error), arrays)
        run = Divided(graph, error, self._device)
        results = run(*arrays)
        if self._instead is None:
            self._failure = str(error)
            where = f" (line {error.node.frames[0].lineno})" if error.node.frames else ""
            logger().warning(
                "%s runs on the host, between XLA programs, in %s%s: %s",
                error.node.op.name,
                graph.name,
                where,
                error.reason,
            )
            self._instead = run
        return results

    def _fall_back(self, error: Exception) -> Run:
        """What runs from now on."""
        if self._instead is None:
            self._failure = f"{type(error).__name__}: {error}"
            logger().warning(
                "%s is no XLA program, and runs on the host, as without XLA: %s",
                self._programs.graph.name,
                self._failure,
            )
            self._instead = self._make()
        return self._instead

    def bound_to(self, captured: Sequence[Any]) -> Run:
        """The function of what comes before `captured`, which every call passes, with the least work in each."""
        if self._instead is not None:
            return lambda *arrays: self(*arrays, *captured)
        found = None if self._device is not None else self._programs.bound_to(captured, self)
        if found is not None:
            return found
        staged = self._programs.staged(captured)
        return lambda *arrays: self(*arrays, *staged)

    @property
    def shapes(self) -> tuple[str, ...]:
        """The shapes of the arguments of each program, those last used last."""
        if isinstance(self._instead, Divided):
            return self._instead.shapes
        return tuple([_shown(dims) for dims in self._programs.shapes])

    def report(self) -> str:
        """What the graph runs as, for `compile_report`."""
        name = self._programs.graph.name
        if isinstance(self._instead, Divided):
            return self._instead.report()
        if self._instead is not None:
            return f"{name}: no XLA program, for {self._failure}"
        programs = self._programs.programs
        lines = [f"{name}: {len(programs)} XLA programs, by jax on {self._programs.platform}"]
        for dims, program in zip(self._programs.shapes, programs, strict=True):
            lines.append(f"  arguments {_shown(dims)}")
            lines += [f"    {op}: {route}" for op, route in sorted(program.routes.items())]
        return "\n".join(lines)

    def ir(self, arrays: Sequence[Any], stage: str) -> Any:
        """The program for these arrays at a stage: see `Programs.ir`."""
        return self._programs.ir(arrays, stage)


class Divided:
    """A graph as XLA programs and what the host computes between them."""

    def __init__(
        self, graph: Graph, error: NodeUntraceable, device: Any = None, spans: bool = True
    ) -> None:
        self._graph = graph
        self._reason = error.reason
        self._node = error.node
        before, host, after = splitting.split(graph, error.outermost)
        self._crossings = len(host.takes), len(host.gives)
        self._parts: list[tuple[splitting.Part, Run]] = []
        for part in (before, host, after):
            if part is not None:
                run = _host_part(part.graph) if part is host else _part(part.graph, device, spans)
                self._parts.append((part, run))
        self._constants = {
            id(v): v.node.attrs["value"] for v in graph.outputs if splitting.is_constant(v)
        }

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        values = dict(self._constants)
        values.update(zip(map(id, self._graph.inputs), arrays, strict=True))
        for part, run in self._parts:
            found = run(*[values[id(v)] for v in part.takes])
            values.update(zip(map(id, part.gives), found, strict=True))
        return tuple([values[id(v)] for v in self._graph.outputs])

    @property
    def shapes(self) -> tuple[str, ...]:
        """The shapes of the arguments of the programs of all parts."""
        runs = [run for _, run in self._parts if isinstance(run, Compiled)]
        return tuple([shown for run in runs for shown in run.shapes])

    def report(self) -> str:
        """What each part runs as, with what goes to the host and comes back."""
        node = self._node
        where = f" (line {node.frames[0].lineno})" if node.frames else ""
        takes, gives = self._crossings
        lines = [
            f"{self._graph.name}: divided by {node.op.name}{where}, which the host computes: {self._reason};"
            f" {takes} tensors go to the host and {gives} come back"
        ]
        for _, run in self._parts:
            if isinstance(run, Compiled):
                lines += [f"  {line}" for line in run.report().split("\n")]
        return "\n".join(lines)


def _part(graph: Graph, device: Any, spans: bool) -> Run:
    """A part without the node that divides the graph; it may have others."""
    return Compiled(graph, lambda: interpreter.compiled(graph), device, spans)


def _host_part(graph: Graph) -> Run:
    """The node that divides a graph, with arrays of the host."""
    run = interpreter.compiled(graph)
    return lambda *arrays: run(*_of_host(arrays))


def _of_host(arrays: Sequence[Any]) -> list[Any]:
    """The arrays of devices among these as arrays of the host."""
    return [fetched(a) if hasattr(a, "sharding") and hasattr(a, "nbytes") else a for a in arrays]


def _shown(dims: Sequence[Any]) -> str:
    return ", ".join([shapes.text(d) for d in dims]) or "none"


def compiled(graph: Graph, instead: Callable[[], Run], device: Any = None) -> Compiled:
    """The graph as a function of arrays, of a device. `instead` makes the one for graphs without a program."""
    return Compiled(graph, instead, device)
