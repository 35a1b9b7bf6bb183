"""What of a graph is machine code, and what is not, with the reason."""

from __future__ import annotations

from collections import Counter

from intaglio.ir.graph import Graph, Node
from intaglio.native import row_clusters
from intaglio.native.clusters import can_compile, fuse
from intaglio.native.kernels import CHOICES, kernel_of

# Ops that move no data, or cost nothing beside what they name.
FREE = frozenset(
    ["Placeholder", "Const", "ReadVariableOp", "Identity", "NoOp", "Reshape", "Shape",
     "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp", "Squeeze", "ExpandDims"]
)  # fmt: skip


def report(graph: Graph) -> str:
    """A table of the graph's nodes as they run: a line for each, with the user's line."""
    fused = fuse(row_clusters.fuse(graph))
    rows = [_row(n) for n in fused.nodes if n.op.name not in FREE]
    compiled = sum(1 for _, how, _ in rows if not how.startswith("NumPy"))
    lines = [f"{graph.name}: {compiled} of {len(rows)} steps are machine code"]
    width = max([len(name) for name, _, _ in rows], default=0)
    for name, how, where in rows:
        lines.append(f"  {name:<{width}}  {how}{where}")
    return "\n".join(lines)


def _row(node: Node) -> tuple[str, str, str]:
    frames = node.frames
    where = f"  ({frames[0].filename}:{frames[0].lineno})" if frames else ""
    return node.name, _how(node), where


def _how(node: Node) -> str:
    name = node.op.name
    if name == "_FusedElementwise":
        return f"one loop: {_listed(node.attrs['body'])}"
    if name == "_FusedRows":
        return f"one pass over rows: {_listed(node.attrs['body'])}"
    if kernel_of(node) is not None:
        return f"{name}: kernel, where the shapes allow it"
    if name in CHOICES:
        return f"NumPy: {name} of {node.outputs[0].dtype.name}"
    if "scalar" in node.op.rules:
        reason = can_compile(node)
        return f"NumPy: {name}, {reason or 'alone, where a loop would save nothing'}"
    return f"NumPy: {name}"


def _listed(body: Graph) -> str:
    """The ops of a loop, the frequent ones once: `2 Mul, Tanh`."""
    names = [n.op.name for n in body.nodes if n.op.name not in ("Placeholder", "Const")]
    return ", ".join([f"{n} {k}" if n > 1 else k for k, n in Counter(names).items()])
