"""`tf.compat.v1.profiler`: counts of a graph's floating-point operations and parameters, by name, op or line.

What sessions measure (times and memory) is 0: `intaglio.profile()` shows where time goes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from intaglio.base.errors import InvalidArgumentError
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.compat_v1.variable_scopes import GraphKeys
from intaglio.graphdef import tensors
from intaglio.graphdef.graph_profile_messages import GraphNodeProto, MultiGraphNodeProto
from intaglio.insight.float_operations import float_operations
from intaglio.insight.profile_options import ProfileOptionBuilder
from intaglio.ir.graph import Node
from intaglio.opdef import raw

_ROOT = "_TFProfRoot"
_TRAINABLE = "_trainable_variables"
# Command -> what its nodes are.
_COMMANDS = {
    "scope": "The nodes in the model graph are organized by their names, which is hierarchical like filesystem.",
    "graph": "The nodes are those of the graph, organized by their names here.",
    "op": "The nodes are operation kernel type, such as MatMul, Conv2D. Graph nodes belonging to the same type are "
    "aggregated together.",
    "code": "The nodes are lines of the program, organized by the call stack.",
}


@dataclass
class _Entry:
    """A name, an op type or a line, with what is below it."""

    name: str
    nodes: list[Node] = field(default_factory=list[Node])
    flops: int = 0
    parameters: int = 0
    below: dict[str, _Entry] = field(default_factory=dict[str, "_Entry"])

    def inside(self, name: str) -> _Entry:
        """The entry of a name below this one."""
        return self.below.setdefault(name, _Entry(name))

    def total(self, of: Callable[[_Entry], int]) -> int:
        """What it counts together with all below it."""
        return of(self) + sum([e.total(of) for e in self.below.values()])


def profile(
    graph: Any = None,
    run_meta: Any = None,
    op_log: Any = None,
    cmd: str = "scope",
    options: Any = None,
) -> Any:
    """Counts of the graph's nodes, and a report where the options say: a message with `total_float_ops`
    and `total_parameters`.

    Args:
      graph: the graph; the default one if None.
      run_meta: accepted and ignored: nothing is measured.
      op_log: accepted and ignored.
      cmd: "scope" or "graph" for a GraphNodeProto, "op" or "code" for a MultiGraphNodeProto.
      options: of `ProfileOptionBuilder`.

    Raises InvalidArgumentError for another command.

    >>> with tf.Graph().as_default() as graph:
    ...     product = tf.ones([2, 3]) @ tf.ones([3, 4])
    >>> builder = tf.compat.v1.profiler.ProfileOptionBuilder
    >>> quiet = builder(builder.float_operation()).with_empty_output().build()
    >>> tf.compat.v1.profiler.profile(graph, options=quiet).total_float_ops
    48

    https://www.tensorflow.org/api_docs/python/tf/compat/v1/profiler/profile
    """
    if cmd not in _COMMANDS:
        raise InvalidArgumentError(None, None, f"unknown cmd: {cmd}")
    found = get_default_graph() if graph is None else graph
    wanted = {**ProfileOptionBuilder().build(), **(options or ProfileOptionBuilder().build())}
    root = _counted(found, cmd, wanted)
    _report(root, cmd, wanted)
    return _multiple(root) if cmd in ("op", "code") else _single(root)


class Profiler:
    """Profiles of a graph. Steps that are added measure nothing.

    https://www.tensorflow.org/api_docs/python/tf/compat/v1/profiler/Profiler
    """

    def __init__(self, graph: Any = None, op_log: Any = None) -> None:
        self._graph = get_default_graph() if graph is None else graph

    def add_step(self, step: int, run_meta: Any) -> None:
        """Takes note of nothing."""

    def profile_python(self, options: Any) -> Any:
        """Counts of lines of the program."""
        return profile(self._graph, cmd="code", options=options)

    def profile_operations(self, options: Any) -> Any:
        """Counts of op types."""
        return profile(self._graph, cmd="op", options=options)

    def profile_name_scope(self, options: Any) -> Any:
        """Counts of names."""
        return profile(self._graph, cmd="scope", options=options)

    def profile_graph(self, options: Any) -> Any:
        """Counts of the graph."""
        return profile(self._graph, cmd="graph", options=options)


# -- counting ------------------------------------------------------------------------------


def _counted(graph: Any, cmd: str, options: dict[str, Any]) -> _Entry:
    root = _Entry(_ROOT)
    trainable = {v.op.name for v in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
    types = options["account_type_regexes"]
    for node in graph.get_operations():
        own = [node.op.name, *([_TRAINABLE] if node.name in trainable else [])]
        if not any(re.fullmatch(pattern, name) for pattern in types for name in own):
            continue
        entry = root
        for name in _path(node, cmd):
            entry = entry.inside(name)
        entry.nodes.append(node)
        entry.flops += float_operations(node) or 0
        entry.parameters += _parameters(node)
    _select(root, options, 0)
    return _chained(root) if cmd == "op" else root


def _chained(root: _Entry) -> _Entry:
    """Each op type inside the one before it, so that its totals are those of it and the rest."""
    above = root
    for entry in list(root.below.values()):
        above.below = {entry.name: entry}
        above = entry
    return root


def _path(node: Node, cmd: str) -> Iterable[str]:
    if cmd == "op":
        return [node.op.name]
    if cmd == "code":
        return [f"{f.filename}:{f.lineno}:{f.function}" for f in reversed(node.frames)]
    parts = node.name.split("/")
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]


def _parameters(node: Node) -> int:
    if node.op not in (raw.VarHandleOp, raw.Placeholder):
        return 0
    dims = node.attrs.get("shape")
    return 0 if dims is None or None in dims else math.prod(dims)


def _select(entry: _Entry, options: dict[str, Any], depth: int) -> None:
    """Leaves out what is not to be shown; what is below something shown stays with it."""
    kept: dict[str, _Entry] = {}
    for name, below in entry.below.items():
        _select(below, options, depth + 1)
        if _shown(below, options, depth + 1):
            kept[name] = below
        else:
            kept.update(below.below)
            if not options["account_displayed_op_only"]:
                entry.flops += below.flops
                entry.parameters += below.parameters
    key: Callable[[_Entry], Any] = {
        "float_ops": lambda e: -e.total(_flops),
        "params": lambda e: -e.total(_own_parameters),
    }.get(options["order_by"], lambda e: e.name)
    entry.below = {e.name: e for e in sorted(kept.values(), key=key)}


def _shown(entry: _Entry, options: dict[str, Any], depth: int) -> bool:
    name = entry.name

    def matches(patterns: Iterable[str]) -> bool:
        return any(re.fullmatch(pattern, name) for pattern in patterns)

    return (
        depth <= options["max_depth"]
        and entry.flops >= options["min_float_ops"]
        and entry.parameters >= options["min_params"]
        and matches(options["show_name_regexes"])
        and not matches(options["hide_name_regexes"])
        and (bool(entry.nodes) or bool(entry.below))
    )


def _flops(entry: _Entry) -> int:
    return entry.flops


def _own_parameters(entry: _Entry) -> int:
    return entry.parameters


# Column -> what it is, its title, its unit, its number.
_COLUMNS: dict[str, tuple[str, str, str, Callable[[_Entry], int]]] = {
    "float_ops": ("flops: Number of float operations.", "float_ops", "flops", _flops),
    "params": (
        "param: Number of parameters (in the Variable).",
        "parameters",
        "params",
        _own_parameters,
    ),
}


# -- messages and reports --------------------------------------------------------------------


def _single(entry: _Entry) -> Any:
    found = GraphNodeProto(
        name=entry.name,
        float_ops=entry.flops,
        parameters=entry.parameters,
        total_float_ops=entry.total(_flops),
        total_parameters=entry.total(_own_parameters),
        total_definition_count=entry.total(lambda e: len(e.nodes)),
        children=[_single(e) for e in entry.below.values()],
    )
    for node in entry.nodes[:1]:
        for i, value in enumerate(node.inputs):
            found.input_shapes[i].CopyFrom(tensors.shape_proto(value.dims))
    return found


def _multiple(entry: _Entry) -> Any:
    return MultiGraphNodeProto(
        name=entry.name,
        float_ops=entry.flops,
        parameters=entry.parameters,
        total_float_ops=entry.total(_flops),
        total_parameters=entry.total(_own_parameters),
        graph_nodes=[_single(_Entry(n.name, [n])) for n in entry.nodes],
        children=[_multiple(e) for e in entry.below.values()],
    )


def _report(root: _Entry, cmd: str, options: dict[str, Any]) -> None:
    kind, _, target = str(options["output"]).partition(":outfile=")
    if kind not in ("stdout", "file"):
        return
    columns = [c for c in _COLUMNS if c in options["select"]]
    lines = [
        "",
        "==================Model Analysis Report======================",
        "",
        "Doc:",
        f"{cmd}: {_COMMANDS[cmd]}",
        *[_COLUMNS[c][0] for c in columns],
        "",
        "Profile:",
        f"node name | {' | '.join([f'# {_COLUMNS[c][1]}' for c in columns])}",
        *_lines(root, columns, 0),
        "",
        "======================End of Report==========================",
    ]
    text = "\n".join(lines)
    if kind == "stdout":
        print(text)
    else:
        with open(target, "w", encoding="utf-8") as file:
            file.write(text + "\n")


def _lines(entry: _Entry, columns: list[str], depth: int) -> list[str]:
    counts = [
        f"{_short(count(entry)) if depth else '--'}/{_short(entry.total(count))} {unit}"
        for _, _, unit, count in [_COLUMNS[c] for c in columns]
    ]
    line = f"{'  ' * depth}{entry.name} ({', '.join(counts)})"
    return [line, *[x for e in entry.below.values() for x in _lines(e, columns, depth + 1)]]


def _short(count: int) -> str:
    """A number with its unit: 42.54k."""
    for size, unit in ((1e12, "t"), (1e9, "b"), (1e6, "m"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.2f}{unit}"
    return str(count)


__all__ = ["Profiler", "profile"]
