"""Pictures of graphs: self-contained SVG and HTML, collapsed by function, by line, or op by op.

A graph and those nested in it become boxes at three levels. A box is an op, a line of the user's
program or a function of it; an arrow is data that one box makes and another takes. `layout`
places them. A click leads to the source of a box and its ops, below the picture. Boxes that run as
machine code have a colour of their own.
"""

from __future__ import annotations

import html
import itertools
import pathlib
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from intaglio.base.hooks import ShownInNotebooks
from intaglio.base.origins import Frame
from intaglio.insight.graphs import Titled, latest, shortened
from intaglio.insight.layout import layout
from intaglio.insight.machine_code import machine_code
from intaglio.insight.style import STYLE
from intaglio.ir import text, walk
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import raw

LEVELS = ("functions", "lines", "ops")
WIDTH, HEIGHT, GAP_X, GAP_Y = 168, 34, 14, 30  # of a box, and between two, in pixels
MAX_LABEL_CHARACTERS = 23
MAX_LISTED_OPS = 200
CONTEXT_LINES = 2
_numbers = itertools.count(1)


class Box(NamedTuple):
    """A box: what is written in it, its tool tip, its colours, and the source that it leads to."""

    label: str
    below: str
    tip: str
    style: str
    source: str


class View(NamedTuple):
    """The boxes of a level, the arrows between them, and the nodes of each."""

    boxes: list[Box]
    edges: list[tuple[int, int]]
    nodes: list[list[Node]]


class Picture(ShownInNotebooks):
    """A graph as SVG (at one level) and HTML (all levels, with the source). Made by `picture`."""

    def __init__(self, found: Titled, level: str) -> None:
        self.title = found.title
        self.level = level
        self._compiled = machine_code(found.trace)
        self._graph = found.graph
        self._id = f"intaglio-{next(_numbers)}"
        self._sources: dict[Any, str] = {}

    @property
    def svg(self) -> str:
        """The picture at its level, as a document of its own."""
        drawn = _drawn(self._view(self.level), STYLE)
        return drawn.replace(
            "<svg ", '<svg xmlns="http://www.w3.org/2000/svg" class="intaglio" ', 1
        )

    @property
    def fragment(self) -> str:
        """All levels, and the source of the boxes, as a part of a page."""
        views = [self._view(level) for level in LEVELS]
        chosen = LEVELS.index(self.level)
        buttons = "".join(
            [
                f'<input type="radio" name="{self._id}" id="{self._id}-{level}"'
                f'{" checked" if i == chosen else ""}><label for="{self._id}-{level}">{level}</label>'
                for i, level in enumerate(LEVELS)
            ]
        )
        drawings = "".join([f"<div>{_drawn(v)}</div>" for v in views])
        legend = "blue: inputs; green: machine code; orange edge: branches, loops, calls"
        title = f"<p><b>{html.escape(self.title)}</b></p><p>{legend}</p>"
        return f'{title}<div class="views">{buttons}{drawings}</div>{self._listed(views[1])}'

    @property
    def html(self) -> str:
        """`fragment` as a page of its own."""
        title = html.escape(self.title)
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
            f'<style>{STYLE}</style><body class="intaglio">{self.fragment}</body></html>'
        )

    def save(self, path: Any) -> None:
        """Writes a file: SVG if its name ends in `.svg`, else HTML."""
        path = pathlib.Path(path)
        content = self.svg if path.suffix == ".svg" else self.html
        path.write_text(content, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<picture of {self.title}: {len(self._graph.nodes)} nodes, by {self.level}>"

    # -- boxes -----------------------------------------------------------------------------

    def _view(self, level: str) -> View:
        groups: dict[Any, list[Node]] = {}
        of: dict[int, Any] = {}
        graphs = [self._graph, *reversed(walk.nested(self._graph))]
        for graph in graphs:
            # The counter of a loop has no line of its own: its body has.
            around = None
            if graph is not self._graph:
                around = next((n.frame for n in graph.nodes if n.frame is not None), None)
            for node in graph.nodes:
                key = self._key(node, graph, around, level)
                if key is not None:
                    of[id(node)] = key
                    groups.setdefault(key, []).append(node)
        index = {key: i for i, key in enumerate(groups)}
        edges: dict[tuple[int, int], None] = {}
        for graph in graphs:
            for a, b in _arrows(graph):
                if id(a) in of and id(b) in of:
                    edge = index[of[id(a)]], index[of[id(b)]]
                    if edge[0] != edge[1]:
                        edges[edge] = None
        boxes = [self._box(key, nodes, level) for key, nodes in groups.items()]
        return View(boxes, list(edges), list(groups.values()))

    def _key(self, node: Node, graph: Graph, around: Frame | None, level: str) -> Any:
        """What box a node is in; None for none. A node without a line has that `around` it."""
        if node.op is raw.Placeholder:
            if graph is not self._graph:
                return None  # what a branch or body is placeholders
            return node.name if level == "ops" else "inputs"
        if level == "ops":
            return None if node.op is raw.Const else id(node)
        frame = node.frame or around
        if frame is None:
            return None if node.op is raw.Const else "other ops"
        return (frame.filename, frame.function) if level == "functions" else frame[:2]

    def _box(self, key: Any, nodes: list[Node], level: str) -> Box:
        node = next((n for n in nodes if n.frame is not None), nodes[0])
        frame = node.frame
        counts = Counter([n.op.name for n in nodes if n.op not in (raw.Const, raw.Placeholder)])
        ops = ", ".join([f"{n} {k}" if n > 1 else k for k, n in counts.most_common()])
        style = self._style(nodes)
        source = "" if frame is None else self._anchor(frame)
        if node.op is raw.Placeholder:
            types = "; ".join([f"{n.name}: {text.format_types(n)}" for n in nodes])
            return Box(node.name if level == "ops" else "inputs", types, types, "input", "")
        if level == "ops":
            return Box(
                node.name,
                f"{node.op.name} {text.format_types(node)}",
                shortened(text.format_node(node)),
                style,
                source,
            )
        if frame is None:
            return Box(str(key), ops, ops, style, "")
        if level == "functions":
            return Box(frame.function, ops, f"{frame.filename}: {ops}", style, source)
        return Box(
            f"{frame.lineno}: {frame.source}",
            ops,
            f"{frame.short} {frame.source}\n{ops}",
            style,
            source,
        )

    def _style(self, nodes: list[Node]) -> str:
        flow = " flow" * any([n.op.control_flow for n in nodes])
        steps = [n for n in nodes if n.op is not raw.Const and not n.op.free]
        code = steps and all([n.traced_name in self._compiled for n in steps])
        return ("code" if code else "op") + flow

    # -- source ----------------------------------------------------------------------------

    def _anchor(self, frame: Frame) -> str:
        return self._sources.setdefault(frame[:2], f"{self._id}-{len(self._sources)}")

    def _listed(self, view: View) -> str:
        """The source of each line, with its ops, folded."""
        parts: list[str] = []
        for nodes in view.nodes:
            frame = next((n.frame for n in nodes if n.frame is not None), None)
            if frame is None or nodes[0].op is raw.Placeholder:
                continue
            lines = [
                f"{'>' if n == frame.lineno else ' '} {n:4} {around.source_line}"
                for n in range(
                    max(frame.lineno - CONTEXT_LINES, 1), frame.lineno + CONTEXT_LINES + 1
                )
                if (around := frame._replace(lineno=n)).source_line or n == frame.lineno
            ]
            ops = [shortened(text.format_node(n)) for n in nodes[:MAX_LISTED_OPS]]
            content = "\n".join([*lines, "", *ops])
            parts.append(
                f'<details id="{self._anchor(frame)}"><summary>{html.escape(frame.short)} '
                f"{html.escape(frame.source)}</summary><pre>{html.escape(content)}</pre></details>"
            )
        return f"<p>Source</p>{''.join(parts)}" if parts else ""


def picture(target: Any, level: str = "lines") -> Picture:
    """The graph of a trace, of a function (its last trace), or a graph, as a picture.

    `level` is what a box is in the SVG, and first in the HTML: `"functions"`, `"lines"` or `"ops"` of
    the user's program. Notebooks show it; `.svg`, `.html` and `.save(path)` give files that load
    nothing. Raises ValueError for another level, and for a function without traces.

    >>> import intaglio
    >>> f = tf.function(lambda x: tf.nn.relu(x) * 2.0)
    >>> intaglio.picture(f.get_concrete_function(tf.TensorSpec([2])), "ops").svg[:4]
    '<svg'
    """
    if level not in LEVELS:
        raise ValueError(f"level is one of {', '.join(LEVELS)}, not {level!r}")
    return Picture(latest(target), level)


def _arrows(graph: Graph) -> list[tuple[Node, Node]]:
    """Who makes what who takes, and from what calls a graph to what takes its arguments."""
    found: list[tuple[Node, Node]] = []
    for node in graph.nodes:
        found += [(v.node, node) for v in node.inputs]
        for nested in walk.attached(node):
            placeholders = {id(v.node) for v in nested.inputs}
            found += [
                (node, n)
                for n in nested.nodes
                if any([id(v.node) in placeholders for v in n.inputs])
            ]
    return found


def _short(label: str) -> str:
    if len(label) <= MAX_LABEL_CHARACTERS:
        return label
    return label[: MAX_LABEL_CHARACTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _drawn(view: View, style: str = "") -> str:
    """The boxes and arrows of a view as an SVG element."""
    found = layout(len(view.boxes), view.edges)
    places = [
        (x * (WIDTH + GAP_X) + GAP_X, y * (HEIGHT + GAP_Y) + GAP_Y / 2) for x, y in found.positions
    ]
    width = max([x for x, _ in places], default=0) + WIDTH + GAP_X
    height = max([y for _, y in places], default=0) + HEIGHT + GAP_Y / 2
    head = f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">'
    arrows = "".join([_arrow(places[a], places[b]) for a, b in view.edges])
    boxes = [_drawn_box(box, *place) for box, place in zip(view.boxes, places, strict=True)]
    return f"{head}{f'<style>{style}</style>' if style else ''}<path d='{arrows}'/>{''.join(boxes)}</svg>"


def _arrow(start: Sequence[float], end: Sequence[float]) -> str:
    x, y = start[0] + WIDTH / 2, start[1] + HEIGHT
    to_x, to_y = end[0] + WIDTH / 2, end[1]
    bend = GAP_Y * 0.8
    return f"M{x:.0f} {y:.0f}C{x:.0f} {y + bend:.0f} {to_x:.0f} {to_y - bend:.0f} {to_x:.0f} {to_y:.0f}"


def _drawn_box(box: Box, x: float, y: float) -> str:
    label, below = html.escape(_short(box.label)), html.escape(_short(box.below))
    drawn = (
        f'<g class="{box.style}"><title>{html.escape(box.tip)}</title>'
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="4"/>'
        f'<text x="{x + 6:.0f}" y="{y + 14:.0f}">{label}</text>'
        f'<text class="s" x="{x + 6:.0f}" y="{y + 27:.0f}">{below}</text></g>'
    )
    return f'<a href="#{box.source}">{drawn}</a>' if box.source else drawn
