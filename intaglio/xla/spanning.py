"""A graph in which processes of a cluster exchange values as one XLA program of all of them.

Each process has the graph, and its own arrays. For XLA it is one SPMD program on a mesh with a device of each
process, and what they exchange are its collectives. So all of them must compile the same program: before each
call they compare what they are about to run, and where shapes or numbers differ, such as those of a last
batch, each computes its own programs between exchanges of the host. So they do where one of them fails before it
has a program: it takes part in the comparison with its error.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import late
from intaglio.ops.control_flow.python_call import function_of
from intaglio.xla.evaluator import NodeUntraceable


class NotAlike(NodeUntraceable):
    """The processes do not have the same program for this call."""

    def __init__(self, node: Node) -> None:
        super().__init__(node, "the processes of the cluster have programs that differ")


def exchange_in(graph: Graph) -> Node | None:
    """The first node of a graph that is, or has in its branches or bodies, an exchange of processes."""
    for node in graph.nodes:
        inner = [raw_op for child in walk.attached(node) for raw_op in walk.all_ops(child)]
        if late._Exchange.is_op(node.op) or any(map(late._Exchange.is_op, inner)):
            return node
    return None


class Spanning:
    """A function of arrays of one process as a program of all; called as what `jax.jit` makes."""

    def __init__(self, node: Node, body: Callable[..., Any], donated: tuple[int, ...]) -> None:
        self._node = node
        self._processes = processes_of(node)
        self._program = self._processes.mapped(body, donated)
        self._lowered: Any = None
        self._compiled: Any = None
        self._text = ""

    def __call__(self, *operands: Any) -> Any:
        if self._lowered is None:
            self._lowered = self.lower(*operands)
            self._text = self._lowered.as_text()
        agree(self._node, self._text)
        if self._compiled is None:
            self._compiled = self._lowered.compile()
        return self._processes.together(self._compiled, operands)

    def lower(self, *operands: Any) -> Any:
        """The program before XLA compiles it: `jax.stages.Lowered`."""
        return self._processes.lowered(self._program, operands)


@contextmanager
def compared(node: Node) -> Generator[None]:
    """A context in which each process calls its program once, and another, if it fails first, says so.

    Raises NotAlike in all of them if they do not fail alike.
    """
    processes = processes_of(node)
    before = processes.comparisons
    try:
        yield
    except Exception as e:
        if processes.comparisons == before:
            agree(node, f"{type(e).__name__}: {e}")
        raise


def agree(node: Node, text: str) -> None:
    """Compares what this process is about to do with what the others are. Raises NotAlike if it differs."""
    if not processes_of(node).are_alike(text):
        raise NotAlike(node)


def processes_of(node: Node) -> Any:
    """The processes of the exchange that a node is, or has in its branches or bodies."""
    graphs = [g for child in walk.attached(node) for g in (child, *walk.nested(child))]
    inner = [node, *[n for g in graphs for n in g.nodes]]
    (first, *_) = [n for n in inner if late._Exchange.is_op(n.op)]
    exchange: Any = function_of(first.attrs["token"]).function
    return exchange.processes


__all__ = ["NotAlike", "Spanning", "agree", "compared", "exchange_in", "processes_of"]
