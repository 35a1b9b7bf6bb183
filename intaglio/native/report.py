"""The compile report: which steps of a graph are machine code, and why others are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from intaglio.ir.graph import Graph, Node
from intaglio.native import fallback, pipeline
from intaglio.native.kernels.node_selection import choice_of, kernel_of
from intaglio.native.passes.elementwise_fusion import can_compile
from intaglio.native.pipeline import Graphs
from intaglio.native.program import Program
from intaglio.native.regions import Regions
from intaglio.native.runtime import entry
from intaglio.opdef import late, raw

# How fused ops run, by op.
PARTS = {
    late._FusedLayers.name: "one kernel",
    late._FusedReduction.name: "one loop",
    late._FusedRows.name: "one pass over rows",
}


class Row(NamedTuple):
    """A step: its node, how it runs, and whether that is machine code."""

    node: Node
    how: str
    compiled: bool = True
    depth: int = 0


def compile_report(graph: Graph) -> str:
    """A table of the graph's nodes as they run: a line for each, with the user's line."""
    try:
        found = list(rows(graph))
    except Exception as e:
        fallback.failed(graph.name, e)
        return f"{graph.name}: interpreted, for the compiler failed"
    compiled = sum(1 for row in found if row.compiled)
    lines = [f"{graph.name}: {compiled} of {len(found)} steps are machine code"]
    names = ["  " * row.depth + row.node.name for row in found]
    width = max(map(len, names), default=0)
    for name, row in zip(names, found, strict=True):
        frames = row.node.frames
        where = f"  ({frames[0].filename}:{frames[0].lineno})" if frames else ""
        lines.append(f"  {name:<{width}}  {row.how}{where}")
    return "\n".join(lines)


def rows(graph: Graph) -> Iterator[Row]:
    """The graph's nodes as they run. Raises what the compiler raises."""
    if not entry.AVAILABLE:
        interpreted = pipeline.run(graph, Graphs.INTERPRETED)
        yield from (_alone(n, {}) for n in interpreted.nodes if n.op.reported)
        return
    regions = Regions(pipeline.run(graph, Graphs.CALLED))
    if regions.whole is not None:
        yield from _steps(regions.whole)
        return
    for node in regions.mixed.nodes:
        program = regions.programs.get(id(node.attrs.get("body")))
        if program is not None:
            yield from _steps(program)
        elif node.op.reported:
            yield _alone(node, regions.reasons)


def _steps(program: Program) -> Iterator[Row]:
    """The steps of a native function."""
    for depth, node, how in program.writer.notes:
        if not node.op.reported:
            continue
        name = node.op.name
        if node.op is raw._FusedElementwise:
            how = f"{how or 'registers'}: {_listed(node.attrs['body'])}"
        elif name in PARTS:
            how = f"{PARTS[name]}: {_listed(node.attrs['body'])}"
        else:
            how = f"{name}: {how}" if how else f"registers: {name}"
        yield Row(node, how, "NumPy" not in how, depth)


def _alone(node: Node, reasons: dict[int, str]) -> Row:
    """A step outside of native functions: a native kernel of its own, or NumPy's."""
    name = node.op.name
    if node.op is raw._FusedElementwise:
        return Row(node, f"one loop: {_listed(node.attrs['body'])}")
    if name in PARTS:
        return Row(node, f"{PARTS[name]}: {_listed(node.attrs['body'])}")
    if kernel_of(node) is not None:
        return Row(node, f"{name}: kernel, where the shapes allow it")
    reason = reasons.get(id(node), "")
    if choice_of(node.op) is not None:
        reason = f"of {node.outputs[0].dtype.name}"
    elif "scalar" in node.op.rules:
        reason = can_compile(node) or reason or "alone, where a loop would save nothing"
    suffix = f", {reason}" if reason and reason != name else ""
    return Row(node, f"NumPy: {name}{suffix}", False)


def _listed(body: Graph) -> str:
    """The ops of a loop with their counts: `2 Mul, Tanh`."""
    names = [n.op.name for n in body.nodes if n.op not in (raw.Placeholder, raw.Const)]
    return ", ".join([f"{n} {k}" if n > 1 else k for k, n in Counter(names).items()])
