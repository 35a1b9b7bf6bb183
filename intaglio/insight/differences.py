"""What differs between two graphs, by the user's lines: `intaglio.graph_diff`.

The graphs may be two traces, a graph before and after a pass, or the texts of graphs that two
revisions of a program made. Nodes belong to the line that created them; lines are aligned by what
they say, so that a line that only moved is the same. Within a line nodes are aligned by
`difflib`, in their order.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from typing import Any, NamedTuple

from intaglio.base.hooks import ShownInNotebooks
from intaglio.base.origins import Frame
from intaglio.insight.graphs import latest
from intaglio.ir import text, walk
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import raw


class NodeChange(NamedTuple):
    """An op that is in one of the graphs alone (`was` or `now` is empty), or differs in its type."""

    op: str
    was: str
    now: str

    @property
    def kind(self) -> str:
        """`"added"`, `"removed"` or `"changed"`."""
        return "changed" if self.was and self.now else "added" if self.now else "removed"

    def __str__(self) -> str:
        if self.kind == "changed":
            return f"~ {self.op}: {self.was} -> {self.now}"
        return f"+ {self.op}: {self.now}" if self.now else f"- {self.op}: {self.was}"


class LineDiff(NamedTuple):
    """What differs in the nodes of one line of the user's program; `where` is None without one."""

    where: Frame | None
    changes: tuple[NodeChange, ...]

    def __str__(self) -> str:
        where = "inputs and what no line made"
        if self.where is not None:
            where = f"{self.where.short} {self.where.source}".rstrip()
        return "\n".join([where, *[f"  {c}" for c in self.changes]])


class GraphDiff(ShownInNotebooks, tuple[LineDiff, ...]):
    """The lines whose nodes differ; empty, and false, for graphs that do the same."""

    __slots__ = ()

    def __str__(self) -> str:
        if not self:
            return "the graphs have the same ops"
        counts: dict[str, int] = dict.fromkeys(("added", "removed", "changed"), 0)
        for line in self:
            for change in line.changes:
                counts[change.kind] += 1
        head = ", ".join([f"{n} {k}" for k, n in counts.items() if n])
        return "\n".join([f"{head}, in {len(self)} lines", *map(str, self)])

    __repr__ = __str__


def graph_diff(one: Any, other: Any) -> GraphDiff:
    """How the second graph differs from the first: ops added, removed, of other types, by line.

    Each may be a trace, a function (its last trace), a graph, or the text that `to_text` gave, as one
    that was saved with an earlier revision. Raises ValueError for a function without traces.

    >>> import intaglio
    >>> f = tf.function(lambda x: x * 2)
    >>> one = f.get_concrete_function(tf.TensorSpec([3]))
    >>> other = f.get_concrete_function(tf.TensorSpec([4]))
    >>> print(intaglio.graph_diff(one, one))
    the graphs have the same ops
    >>> bool(intaglio.graph_diff(one, other))
    True
    """
    before, after = _by_line(latest(one).graph), _by_line(latest(other).graph)
    keys = list(dict.fromkeys([*before, *after]))
    found: list[LineDiff] = []
    for key in keys:
        old, new = before.get(key, []), after.get(key, [])
        changes = tuple(_changes(old, new))
        if changes:
            found.append(LineDiff([*new, *old][0].frame, changes))
    return GraphDiff(found)


def _by_line(graph: Graph) -> dict[Any, list[Node]]:
    """The nodes by what their lines say, of nested graphs too."""
    found: dict[Any, list[Node]] = defaultdict(list)
    for one in [*walk.nested(graph), graph]:
        for node in one.nodes:
            if node.op is raw.Placeholder and one is not graph:
                continue  # what is passed to a branch or body
            frame = None if node.op is raw.Placeholder else node.frame
            key = None if frame is None else (frame.function, frame.source or frame.lineno)
            found[key].append(node)
    return dict(found)


def _changes(old: list[Node], new: list[Node]) -> list[NodeChange]:
    found: list[NodeChange] = []
    names = [n.op.name for n in old], [n.op.name for n in new]
    matcher = difflib.SequenceMatcher(None, *names, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            for a, b in zip(old[i:j], new[k:m], strict=True):
                was, now = _described(a), _described(b)
                if was != now:
                    found.append(NodeChange(a.op.name, was, now))
            continue
        found += [NodeChange(n.op.name, _described(n), "") for n in old[i:j]]
        found += [NodeChange(n.op.name, "", _described(n)) for n in new[k:m]]
    return found


def _described(node: Node) -> str:
    """The types of a node's results and its attributes, without the names of other nodes."""
    if node.op is raw.Placeholder:
        return f"{node.name}: {text.format_types(node)}"
    return text.format_type_and_attributes(node)
