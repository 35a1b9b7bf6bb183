"""Graphs with ops that only the host executes: what is numeric between these becomes functions of its own.

The ops of the host (iterators of datasets, strings, prints, calls of Python) are interpreted, and so is
control flow around them. Each numeric core is a graph without such ops, which may become one native function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base import later
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node
from intaglio.native import outer_control_flow
from intaglio.native.passes.numeric_cores import outline_cores
from intaglio.native.tiers import Background, Shapes
from intaglio.opdef import raw
from intaglio.runtime import interpreter

Run = Callable[..., tuple[Any, ...]]


class HostParts:
    """A graph as a function: an interpreted graph that calls its numeric cores.

    `core` makes the function of a core; `on_host` says which nodes are none of one.
    """

    def __init__(
        self, graph: Graph, on_host: Callable[[Node], bool], core: Callable[[Graph], Run]
    ) -> None:
        self._graph = graph
        self._on_host = on_host
        self._core = core
        self._outlined: dict[int, Graph] = {}  # by the id of the graph
        self._graphs: list[Graph] = []
        # The functions of the cores that were reached so far.
        self.cores: list[Run] = []
        self.has_cores = self._finds_cores(graph)
        self._run = self._compiled(graph) if self.has_cores else interpreter.compiled(graph)

    @property
    def native(self) -> bool:
        """Whether there is code for any core."""
        return any(getattr(core, "native", False) for core in self.cores)

    @property
    def state(self) -> str:
        """How the graph runs, in words."""
        states = dict.fromkeys([getattr(core, "state", "interpreted") for core in self.cores])
        cores = "; ".join(states) or "not reached yet"
        return f"interpreted, but for what is numeric between ops of the host: {cores}"

    def report(self) -> str:
        """How the graph runs, and which steps of its cores are machine code."""
        compile_report = later.named("intaglio.native.report:compile_report")
        codes = [code for core in self.cores for code in _codes(core)]
        graphs = [code.program.graph for code in codes if hasattr(code, "program")]
        return "\n".join([f"{self._graph.name}: {self.state}", *map(compile_report, graphs)])

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        return self._run(*arrays)

    def _finds_cores(self, graph: Graph) -> bool:
        """Whether the graph, or one that it runs on the host, has a core."""
        outlined = self._of(graph)
        inner = [g for n in outlined.nodes if self._is_divided(n) for g in walk.attached(n)]
        return any([n.op is raw._Program for n in outlined.nodes]) or any(
            map(self._finds_cores, inner)
        )

    def _of(self, graph: Graph) -> Graph:
        """The graph with its cores outlined."""
        found = self._outlined.get(id(graph))
        if found is None:
            found = self._outlined[id(graph)] = outline_cores(graph, self._on_host)
            self._graphs.append(graph)  # keeps the id valid
        return found

    def _is_divided(self, node: Node) -> bool:
        """Whether the graphs of a node may have cores: control flow around ops of the host."""
        return bool(node.op.control_flow) and not any(
            [g.opaque or interpreter.compiler_of(g) is not None for g in walk.attached(node)]
        )

    def _compiled(self, graph: Graph) -> Run:
        return interpreter.compiled_with(self._of(graph), self._kernel)

    def _kernel(self, node: Node) -> Callable[..., Any] | None:
        if node.op is raw._Program:
            body = node.attrs["body"]
            body.name = self._graph.name  # for messages
            run = self._core(body)
            self.cores.append(run)
            return run
        return outer_control_flow.kernel(node, self._compiled) if self._is_divided(node) else None


def _codes(core: Run) -> list[Any]:
    """The machine code of a core, for each of its shapes."""
    found = core.counted if isinstance(core, Shapes) else [core]
    return [f.code for f in found if isinstance(f, Background) and f.native]
