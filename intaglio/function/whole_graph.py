"""The requirements of `jit_compile=True`: a graph of arithmetic, without ops that reach outside of it.

XLA has no kernels for strings, printing, Python, tables, datasets, files and the clock, and
TensorFlow refuses graphs with such ops before they run; so does this. Numeric ops without native
code are another matter: they are NumPy's, and the report names them.
"""

from __future__ import annotations

from typing import NamedTuple

from intaglio.base.dtypes import string
from intaglio.base.errors import InvalidArgumentError
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node
from intaglio.ir.memo import memoized
from intaglio.opdef import raw


class Reach(NamedTuple):
    """A reason why an op is not arithmetic, and what to write instead."""

    why: str
    instead: str


OUTSIDE = "Do it outside of the function, and pass what it gives as an argument"
STRINGS = Reach("works on strings", OUTSIDE)
# The reasons by value of the trait `reaches_outside`.
REACHES = {
    "prints": Reach("prints text", "Print outside of the function, or without jit_compile=True"),
    "python": Reach(
        "calls Python", "Write the function in TensorFlow ops, or call it outside of this one"
    ),
    "tables": Reach("looks up a table", OUTSIDE),
    "data": Reach(
        "reads a dataset", "Iterate outside of the function, and call it with each element"
    ),
    "files": Reach("reads or writes files", OUTSIDE),
    "clock": Reach("reads the clock", OUTSIDE),
}
# Maximum number of ops that one message names.
MAX_NAMED_OPS = 3


def reach(node: Node) -> Reach | None:
    """The reason why a node is not arithmetic; None if it is."""
    op = node.op
    if op.reaches_outside:
        return REACHES[op.reaches_outside]
    if op.carries_strings or op.has_graphs:
        return None
    for value in (*node.inputs, *node.outputs):
        if value.spec.dtype is string:
            return STRINGS
    return None


def is_on_host(node: Node) -> bool:
    """Whether only the host executes a node, or one in its graphs.

    That is what is not arithmetic, has objects of the host, or takes or gives strings that are no constants.
    """
    if node.op.on_host or reach(node) is not None:
        return True
    strings = [v for v in (*node.inputs, *node.outputs) if v.dtype is string]
    if any([v.node.op is not raw.Const for v in strings]):
        return True
    return any(map(has_host_ops, walk.attached(node)))


@memoized
def has_host_ops(graph: Graph) -> bool:
    """Whether only the host executes a node of a graph, or one in its graphs."""
    return any(map(is_on_host, graph.nodes))


def check_arithmetic(graph: Graph) -> None:
    """Raises InvalidArgumentError if parts of a graph, or of a graph in it, are not arithmetic."""
    found = _outside(graph)
    if not found:
        return
    lines = "\n".join([_line(*one) for one in [*found.values()][:MAX_NAMED_OPS]])
    more = f"\nand {len(found) - MAX_NAMED_OPS} other ops" if len(found) > MAX_NAMED_OPS else ""
    raise InvalidArgumentError(
        None,
        None,
        "Detected unsupported operations when trying to compile graph "
        f"{graph.name} with jit_compile=True: {lines}{more}",
    )


def is_arithmetic(graph: Graph) -> bool:
    """Whether `check_arithmetic` would raise nothing, and no op has an object of the host."""
    return not _outside(graph) and not any([n.op.on_host for n in _nodes(graph)])


def _outside(graph: Graph) -> dict[str, tuple[Node, Reach]]:
    """The ops that are not arithmetic, by name: the first node of each, and the reason."""
    found: dict[str, tuple[Node, Reach]] = {}
    for node in _nodes(graph):
        kind = reach(node)
        if kind is not None:
            found.setdefault(node.op.name, (node, kind))
    for value in graph.outputs:
        if value.dtype is string:
            found.setdefault(value.node.op.name, (value.node, STRINGS))
    return found


def _nodes(graph: Graph) -> list[Node]:
    return [n for g in (*walk.nested(graph), graph) for n in g.nodes]


def _line(node: Node, kind: Reach) -> str:
    """The line of the message about a node."""
    frames = node.frames
    where = "".join(
        [
            f"\nThe op is created at:\nFile {f.filename!r}, line {f.lineno}, in {f.function}"
            for f in frames[:1]
        ]
    )
    return (
        f"{node.op.name} ({kind.why}, which machine code does not){{{{node {node.name}}}}}"
        f"{where}\n{kind.instead}."
    )
