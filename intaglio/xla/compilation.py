"""From an optimised graph to a function of arrays that runs XLA programs, and what is said of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.base.errors import OpError
from intaglio.base.log import logger
from intaglio.ir.graph import Graph
from intaglio.xla.program import Programs

Run = Callable[..., tuple[Any, ...]]
# Errors of the evaluator and of jax are raised, not fallen back from.
VERIFY = bool(os.environ.get("INTAGLIO_VERIFY"))


class Compiled:
    """A graph as a function of arrays. What XLA has no program for is run by another compiler.

    `instead` makes that function, once it is needed.
    """

    native = True

    def __init__(self, graph: Graph, instead: Callable[[], Run]) -> None:
        self._programs = Programs(graph)
        self._make = instead
        self._instead: Run | None = None
        self._failure = ""

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        if self._instead is not None:
            return self._instead(*arrays)
        try:
            return self._programs(*arrays)
        except OpError:  # with the node that raises it
            return self._make()(*arrays)
        except Exception as e:
            return self._fall_back(e)(*arrays)

    def _fall_back(self, error: Exception) -> Run:
        """What runs from now on."""
        node = getattr(error, "node", None)
        known = node is not None
        if VERIFY and not known:
            raise error
        if self._instead is None:
            self._failure = str(error) if known else f"{type(error).__name__}: {error}"
            where = f" (line {node.frames[0].lineno})" if known and node.frames else ""
            logger().warning(
                "%s is no XLA program, and runs as without INTAGLIO_BACKEND=xla: %s%s",
                self._programs.graph.name,
                self._failure,
                where,
            )
            self._instead = self._make()
        return self._instead

    @property
    def shapes(self) -> tuple[str, ...]:
        """The shapes of the arguments of each program, those last used last."""
        return tuple([_shown(dims) for dims in self._programs.shapes])

    def report(self) -> str:
        """What the graph runs as, for `compile_report`."""
        name = self._programs.graph.name
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


def _shown(dims: Sequence[Any]) -> str:
    return ", ".join([shapes.text(d) for d in dims]) or "none"


def compiled(graph: Graph, instead: Callable[[], Run]) -> Compiled:
    """The graph as a function of arrays. `instead` makes the one for graphs without a program."""
    return Compiled(graph, instead)
