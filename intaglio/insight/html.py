"""What notebooks show of Intaglio's objects: `html_of(object)`, a fragment of HTML by class.

Fragments hold no scripts that they need, load nothing, and follow the reader's colour scheme. Text
that comes from a program is escaped.
"""

from __future__ import annotations

import functools
import html
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import resource, variant
from intaglio.base.origins import Frame
from intaglio.data.dataset import Dataset
from intaglio.function.concrete import ConcreteFunction
from intaglio.function.explanation import CompileReport, Explanation
from intaglio.function.polymorphic import Function
from intaglio.function.trace_table import HEADS, Traces
from intaglio.insight.differences import GraphDiff
from intaglio.insight.graphs import shortened
from intaglio.insight.picture import Picture, picture
from intaglio.insight.profiling import Profile
from intaglio.insight.style import STYLE
from intaglio.insight.text_form import to_text
from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.runtime.eager import EagerTensor
from intaglio.state.variable import Variable
from intaglio.trace import graph as recorded

# Tables of numbers have no more rows and columns; a picture has no more nodes.
MAX_ROWS, MAX_COLUMNS = 12, 12
MAX_PICTURED_NODES = 2000
MAX_PROFILE_ROWS, MAX_BAR_PIXELS = 60, 160


def html_of(target: Any) -> str:
    """An object as a fragment of HTML: `_repr_html_` of all that has one."""
    return f'<div class="intaglio"><style>{STYLE}</style>{fragment(target)}</div>'


def cell(text: Any) -> str:
    """Text of a program in HTML."""
    return html.escape(str(text))


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Sequence[int] = ()) -> str:
    """A table of texts; the columns in `numbers` are aligned to the right."""
    head = "".join([f"<th>{cell(h)}</th>" for h in heads])
    lines = [
        "".join(
            [f"<td{' class=n' if i in numbers else ''}>{cell(c)}</td>" for i, c in enumerate(row)]
        )
        for row in rows
    ]
    body = "".join([f"<tr>{line}</tr>" for line in lines])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def folded(title: str, content: str) -> str:
    """Content that is shown when its title is clicked."""
    return f"<details><summary>{cell(title)}</summary>{content}</details>"


@functools.singledispatch
def fragment(target: Any) -> str:
    """The inside of `html_of`, by class."""
    return f"<pre>{cell(shortened(str(target)))}</pre>"


@fragment.register
def _(target: Function) -> str:
    traces = target._list_all_concrete_functions()
    head = f"<p><b>tf.function {cell(target.name)}</b>, {len(traces)} traces</p>"
    if not traces:
        return head + "<p>It has not been called yet.</p>"
    parts = [head, fragment(target.traces)]
    if len(traces) > 1:
        parts.append(folded("why it was traced", fragment(target.explain())))
    for title, found in (
        ("read of Python's state", [f"{r.name} = {r.before()}" for r in target.captures]),
        ("side effects, which ran once", list(map(str, target.side_effects))),
        ("large constants", list(map(str, target.constants))),
    ):
        if found:
            items = "".join([f"<li>{cell(f)}</li>" for f in found])
            parts.append(folded(title, f"<ul>{items}</ul>"))
    parts.append(
        folded("graph of the last trace", _graph(traces[-1], len(traces[-1].frozen.nodes)))
    )
    return "".join(parts)


@fragment.register
def _(target: ConcreteFunction) -> str:
    head = f"<p><b>{cell(target.pretty_printed_signature(verbose=False))}</b></p>"
    rows = [("input", v.node.name, v.dtype.name, v.shape) for v in target.inputs]
    rows += [("output", v.node.name, v.dtype.name, v.shape) for v in target.outputs]
    parts = table(("", "name", "dtype", "shape"), rows)
    return head + parts + folded("graph", _graph(target, len(target.frozen.nodes)))


@fragment.register
def _(target: Graph) -> str:
    return _graph(target, len(target.nodes))


@fragment.register
def _(target: recorded.Graph) -> str:
    return _graph(target, len(target.nodes))


def _graph(target: Any, nodes: int) -> str:
    text = folded(f"{nodes} nodes as text", f"<pre>{cell(shortened(to_text(target)))}</pre>")
    return (picture(target).fragment if nodes <= MAX_PICTURED_NODES else "") + text


@fragment.register
def _(target: Picture) -> str:
    return target.fragment


@fragment.register
def _(target: Explanation) -> str:
    rows: list[tuple[Any, ...]] = []
    for reason in target:
        where = "" if reason.where is None else f"{reason.where.short} {reason.where.source}"
        ms = f"{reason.seconds * 1e3:.1f}"
        if not reason.changes:
            rows.append(
                (reason.number, ms, where, "the first" if reason.nearest is None else "", "")
            )
        for change in reason.changes:
            what = f"{change.path} was {change.was}, now {change.now}"
            rows.append((reason.number, ms, where, what, change.advice))
    return table(("trace", "ms", "called at", "what was new", "what helps"), rows, (0, 1))


@fragment.register
def _(target: Traces) -> str:
    return table(HEADS, target.cells(), (0, 2, 3, 4, 5))


@fragment.register
def _(target: CompileReport) -> str:
    head, _, rest = target.partition("\n")
    return f"<p>{cell(head)}</p>" + (folded("steps", f"<pre>{cell(rest)}</pre>") if rest else "")


@fragment.register
def _(target: Profile) -> str:
    head = f"<p><b>profile</b>, {target.seconds:.3f} s, {len(target.samples)} samples</p>"
    rows = [
        "<tr>"
        + f"<td class=n>{t.seconds:.3f}</td><td class=n>{t.share:.1%}</td>"
        + f'<td><span class="bar" style="width:{t.share * MAX_BAR_PIXELS:.0f}px"></span></td>'
        + f"<td>{cell(t.name)}</td><td>{cell(_line(t.where))}</td></tr>"
        for t in target.ops[:MAX_PROFILE_ROWS]
    ]
    heads = "".join([f"<th>{h}</th>" for h in ("seconds", "share", "", "what", "line")])
    times = f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    inside = [
        folded(
            f"machine code of {name}",
            table(("step", "line"), [(s.name, _line(s.where)) for s in steps]),
        )
        for name, steps in target.machine_code.items()
    ]
    return head + times + "".join(inside)


def _line(frame: Frame | None) -> str:
    return "" if frame is None else f"{frame.short} {frame.source}"


@fragment.register
def _(target: GraphDiff) -> str:
    if not target:
        return f"<p>{cell(target)}</p>"
    rows = [
        (
            "" if line.where is None else f"{line.where.short} {line.where.source}",
            c.kind,
            c.op,
            c.was,
            c.now,
        )
        for line in target
        for c in line.changes
    ]
    return table(("line", "", "op", "was", "now"), rows)


# -- values ------------------------------------------------------------------------------------


@fragment.register
def _(target: SymbolicTensor) -> str:
    return f"<p><b>symbolic tensor</b> {cell(target.name)}, {target.dtype.name}, shape {cell(target.shape)}</p>"


@fragment.register
def _(target: EagerTensor) -> str:
    return f"<p><b>tensor</b> {target.dtype.name}, shape {cell(target.shape)}</p>{_values(target)}"


@fragment.register
def _(target: Variable) -> str:
    kind = "" if target.trainable else ", not trainable"
    head = f"<p><b>variable</b> {cell(target.name)}, {target.dtype.name}, shape {cell(target.shape)}{kind}</p>"
    try:
        return head + _values(target.read_value())
    except Exception:  # of a graph, or not initialised: it has no value to show
        return head


def _values(tensor: Any) -> str:
    if not isinstance(tensor, EagerTensor) or tensor.dtype in (resource, variant):
        return ""
    array = np.asarray(tensor.numpy())
    return _summary(array) + _elements(array)


def _summary(array: np.ndarray[Any, Any]) -> str:
    if array.dtype.kind not in "iuf" or array.size < 2:
        return ""
    parts = [f"from {array.min()} to {array.max()}"]
    if array.dtype.kind == "f":
        parts.append(f"mean {np.mean(array, dtype=np.float64):.6g}")
        strange = int(array.size - np.count_nonzero(np.isfinite(array)))
        parts += [f"{strange} not finite"] * bool(strange)
    return f"<p>{cell(', '.join(parts))}</p>"


def _elements(array: np.ndarray[Any, Any]) -> str:
    if array.ndim not in (1, 2) or not array.size:
        return f"<pre>{cell(np.array2string(array, threshold=200))}</pre>"
    rows = array.reshape(1, -1) if array.ndim == 1 else array
    shown = rows[:MAX_ROWS, :MAX_COLUMNS]
    numbered = [[i, *[_element(e) for e in row]] for i, row in enumerate(shown)]
    more = "<p>...</p>" if shown.size < rows.size else ""
    return table(["", *map(str, range(shown.shape[1]))], numbered, range(shown.shape[1] + 1)) + more


def _element(value: Any) -> str:
    if isinstance(value, bytes):
        return repr(value)
    return f"{value:.6g}" if isinstance(value, np.floating) else str(value)


@fragment.register
def _(target: Dataset) -> str:
    size = int(target.cardinality())
    shown = {-1: "endless", -2: "of unknown size"}.get(size, f"{size} elements")
    spec = target.element_spec
    parts = (
        spec.items()
        if isinstance(spec, dict)
        else enumerate(spec if isinstance(spec, tuple) else (spec,))
    )
    return f"<p><b>dataset</b>, {shown}</p>" + table(("", "element"), parts)
