"""What a node of a graph is called in profiles: fused loops and machine code by the ops they hold."""

from __future__ import annotations

from collections import Counter

from intaglio.ir import walk
from intaglio.ir.graph import Node
from intaglio.opdef import late, raw

MAX_NAMED_OPS = 6


def name_of(node: Node) -> str:
    """`"MatMul"`, `"one loop: 2 Mul, Tanh"`, `"machine code: MatMul, Relu"`."""
    op = node.op
    if op is raw._FusedElementwise:
        return f"one loop: {_ops(node)}"
    if late._Program.is_op(op):
        return f"machine code: {_ops(node)}"
    if op.internal and walk.attached(node):
        return f"{op.name.removeprefix('_')}: {_ops(node)}"
    return op.name


def _ops(node: Node) -> str:
    names = [
        n.op.name
        for graph in walk.attached(node)
        for n in graph.nodes
        if n.op not in (raw.Placeholder, raw.Const)
    ]
    counts = Counter(names).most_common()
    shown = ", ".join([f"{n} {k}" if n > 1 else k for k, n in counts[:MAX_NAMED_OPS]])
    return shown + ", ..." * (len(counts) > MAX_NAMED_OPS)
