"""The ops, time and memory of tracing, by line of the program: `f.trace_profile()`."""

from __future__ import annotations

import json
import pathlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from intaglio.base import origins
from intaglio.base.hooks import ShownInNotebooks
from intaglio.base.origins import Frame, Origin
from intaglio.function import trace_limits
from intaglio.function.concrete import ConcreteFunction
from intaglio.insight.graphs import latest
from intaglio.insight.html import cell, fragment, table
from intaglio.insight.profile_files import speedscope
from intaglio.insight.profiling import Profile, Sample, Step
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import raw

# A line that ran so often in one trace is a loop of Python that a graph could have as one body.
MANY_TIMES = 32
MAX_SHOWN_LINES = 40
HEADS = ("nodes", "ms", "bytes", "times", "line")


class TracedLine(NamedTuple):
    """A line: the nodes that it has made by op type, what that took, and how often it ran.

    `bytes` is an estimate of what the nodes take in memory, constants included; `times` is how often the
    line ran in one graph, 1 for what a loop of the graph repeats.
    """

    where: Frame | None
    ops: Counter[str]
    nodes: int
    milliseconds: float
    bytes: int
    times: int

    @property
    def advice(self) -> str:
        """What to write instead, if the line ran very often; else nothing."""
        if self.times < MANY_TIMES or self.where is None:
            return ""
        return (
            f"{self.where.short} ran {self.times} times while tracing and made {self.nodes} nodes: a loop "
            "over tf.range, or over a tensor, has its body once in the graph"
        )


class TraceProfile(ShownInNotebooks, tuple[TracedLine, ...]):
    """The lines of a trace, those with the most nodes first; printed, a table."""

    name: str
    times: Profile

    @property
    def nodes(self) -> int:
        """The nodes of all lines."""
        return sum([line.nodes for line in self])

    @property
    def advice(self) -> tuple[str, ...]:
        """What to write instead of loops that were unrolled into many nodes."""
        return tuple([line.advice for line in self if line.advice])

    def cells(self) -> list[tuple[str, ...]]:
        """The table, as texts."""
        return [
            (
                *(str(r.nodes), f"{r.milliseconds:.2f}", str(r.bytes), str(r.times)),
                "" if r.where is None else f"{r.where.short} {r.where.source}",
            )
            for r in self[:MAX_SHOWN_LINES]
        ]

    def __str__(self) -> str:
        rows = [HEADS, *self.cells()]
        widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
        lines = [
            "  ".join([*[c.rjust(w) for c, w in zip(r, widths, strict=False)], r[-1]]).rstrip()
            for r in rows
        ]
        head = f"{self.name}: {self.nodes} nodes, {sum([r.milliseconds for r in self]):.1f} ms"
        return "\n".join([head, *lines, *self.advice])

    __repr__ = __str__

    def save(self, path: Any) -> None:
        """Writes the times of tracing as speedscope's JSON."""
        pathlib.Path(path).write_text(json.dumps(speedscope(self.times)), encoding="utf-8")


def trace_profile(target: Any) -> TraceProfile:
    """The rows of a function's last trace, or of a trace, by line.

    The time of a node is that since the node before it; a line with a loop or branch of the graph has the
    time of the body too. Raises ValueError for a function without traces.
    """
    found = latest(target)
    assert isinstance(found.trace, ConcreteFunction)
    nanoseconds = _nanoseconds(found.trace)
    groups: dict[Frame | None, list[tuple[Node, Graph | None]]] = defaultdict(list)
    for graph in (*walk.nested(found.graph), found.graph):
        for node in graph.nodes:
            if node.op is not raw.Placeholder:
                groups[next(iter(node.frames[:1]), None)].append((node, graph))
    lines = [_line(where, nodes, nanoseconds) for where, nodes in groups.items()]
    profile = TraceProfile(sorted(lines, key=lambda line: -line.nodes))
    profile.name = found.title
    profile.times = _times(found.trace, nanoseconds)
    return profile


def _nanoseconds(trace: ConcreteFunction) -> dict[str, int]:
    """What the nodes of the outermost graph took, by name; the first one has what came before it."""
    graph = trace.graph
    if len(graph.added_at) != len(graph.nodes):
        return {}
    found: dict[str, int] = {}
    before = graph.added_at[0] if graph.nodes else 0
    for node, at in zip(graph.nodes, graph.added_at, strict=True):
        found[node.name] = at - before
        before = at
    return found


def _line(
    where: Frame | None, nodes: list[tuple[Node, Graph | None]], nanoseconds: dict[str, int]
) -> TracedLine:
    by_origin: dict[tuple[Origin, int], Counter[str]] = defaultdict(Counter)
    for node, graph in nodes:
        by_origin[node.origin, id(graph)][node.type] += 1
    # One run of a line may make several nodes of an op; the rarest says how often it ran.
    times = max([min(ops.values()) for ops in by_origin.values()])
    data = sum([getattr(n.attrs.get("value"), "nbytes", 0) for n, _ in nodes if n.op is raw.Const])
    spent = sum([nanoseconds.get(n.traced_name, 0) for n, _ in nodes])
    return TracedLine(
        where,
        Counter([n.type for n, _ in nodes]),
        len(nodes),
        spent / 1e6,
        data + trace_limits.BYTES_PER_NODE * len(nodes),
        times,
    )


def _times(trace: ConcreteFunction, nanoseconds: dict[str, int]) -> Profile:
    """The times as a profile: a sample for each node, its stack the user's frames."""
    profile = Profile(0.0)
    profile.seconds = trace.seconds
    profile.threads = {0: "tracing"}
    profile.samples = list(_samples(trace, nanoseconds))
    return profile


def _samples(trace: ConcreteFunction, nanoseconds: dict[str, int]) -> Iterator[Sample]:
    at = 0
    for node in trace.graph.nodes:
        took = nanoseconds.get(node.name, 0)
        frames = origins.frames(node.origin)[::-1]
        # What the tracing itself adds, such as inputs of captured tensors, has no line.
        around, last = frames[:-1], frames[-1] if frames else None
        yield Sample(0, at, took, (*[Step(f, "") for f in around], Step(last, node.type)))
        at += took


@fragment.register
def _(target: TraceProfile) -> str:
    head = f"<p><b>{cell(target.name)}</b>, {target.nodes} nodes</p>"
    advice = "".join([f"<p>{cell(text)}</p>" for text in target.advice])
    return head + table(HEADS, target.cells(), (0, 1, 2, 3)) + advice


__all__ = ["TraceProfile", "TracedLine", "trace_profile"]
