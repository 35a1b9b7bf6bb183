"""The text form of graphs: a printer, and a parser that reads it back.

    graph add(x: float32[2, None], y: float32[2, None]) {
      sum: float32[2, None] = AddV2(x, y)
      mean: float32[2] = Mean(sum, axis; keep_dims=False)
      return mean
    }

A line is `node: types = Op(inputs; attributes) after control, inputs`. Attributes are Python
literals, dtypes by name, shapes `(2, None)`, arrays `tensor(dtype, shape, values)`, other
graphs `graph("name")`; those come first in the text. Values are `node`, or `node:1` for a later
output. Lines that begin with `#` are comments; those that `user_lines=True` writes say where the
nodes below them come from, and are read as that.
"""

from __future__ import annotations

import ast
import base64
import re
from typing import Any

import numpy as np

from intaglio.base import origins
from intaglio.base.dtypes import BY_NAME, DType, from_numpy, string
from intaglio.base.origins import Origin
from intaglio.base.shapes import Dims
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec

# Number of elements above which arrays are written as base64, which is exact too.
MAX_READABLE_ELEMENTS = 16
# Maximum number of characters of a malformed line that the message shows.
MAX_SHOWN_CHARACTERS = 200


class GraphSyntaxError(ValueError):
    """The text is no graph; the message has the line."""


# -- writing -------------------------------------------------------------------------


def format_graph(graph: Graph, user_lines: bool = False) -> str:
    """The graph as text, preceded by the graphs nested in it.

    With `user_lines`, comments show the line of the user's program that created the nodes below.
    """
    graphs = [*walk.nested(graph), graph]
    names = _graph_names(graphs)
    return "\n".join([_format_one(g, names, user_lines) for g in graphs])


def _graph_names(graphs: list[Graph]) -> dict[int, str]:
    names: dict[int, str] = {}
    taken: set[str] = set()
    for graph in graphs:
        name, n = graph.name, 0
        while name in taken:
            n += 1
            name = f"{graph.name}_{n}"
        taken.add(name)
        names[id(graph)] = name
    return names


def _format_one(graph: Graph, names: dict[int, str], user_lines: bool) -> str:
    inputs = {id(v.node) for v in graph.inputs}
    arguments = ", ".join([f"{v.node.name}: {_type(v.spec)}" for v in graph.inputs])
    lines = [f"graph {names[id(graph)]}({arguments}) {{"]
    line = ""
    for node in graph.nodes:
        if id(node) in inputs:
            continue
        if user_lines and node.origin and (now := _user_line(node)) != line:
            line = now
            lines.append(f"  # {line}")
        lines.append(f"  {format_node(node, names)}")
    lines.append(f"  return {', '.join([_value(v) for v in graph.outputs])}".rstrip())
    return "\n".join([*lines, "}"]) + "\n"


def _user_line(node: Node) -> str:
    frame = node.frames[0]
    where = f"{frame.filename}:{frame.lineno} {frame.function}"
    text = f"{where}: {frame.source}" if frame.source else where
    return " ".join(text.split())


def format_node(node: Node, names: dict[int, str] | None = None) -> str:
    """One node as a line."""
    types = format_types(node)
    inputs = ", ".join(_value(v) for v in node.inputs)
    attrs = ", ".join(f"{k}={_literal(v, names or {})}" for k, v in _written(node).items())
    after = f" after {', '.join(c.name for c in node.control)}" if node.control else ""
    return f"{node.name}: {types} = {node.op.name}({inputs}{'; ' if attrs else ''}{attrs}){after}"


def format_types(node: Node) -> str:
    """The types of a node's results: `float32[2, None], int32[]`."""
    return ", ".join(_type(v.spec) for v in node.outputs)


def format_type_and_attributes(node: Node) -> str:
    """A node's result types, op and attributes, without names of nodes and graphs."""
    types = format_types(node)
    plain = {k: v for k, v in _written(node).items() if not _holds_graph(v)}
    attrs = ", ".join(f"{k}={_literal(v, {})}" for k, v in plain.items())
    return f"{types} ({attrs})" if attrs else types


def _holds_graph(value: Any) -> bool:
    return isinstance(value, Graph) or (
        isinstance(value, tuple) and any([isinstance(v, Graph) for v in value])
    )


def _written(node: Node) -> dict[str, Any]:
    """The attributes that differ from the signature's defaults: in its order, then those it implies."""
    defaults, attrs = node.op.defaults, node.attrs
    order = [*(n for n in node.op.attr_names if n in attrs), *attrs]
    written = {k: attrs[k] for k in order}
    return {k: v for k, v in written.items() if k not in defaults or not _same(v, defaults[k])}


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and not isinstance(value, np.ndarray) and value == default


def _type(spec: Spec) -> str:
    if spec.shape is None:
        return f"{spec.dtype.name}[...]"
    return f"{spec.dtype.name}[{', '.join(str(d) for d in spec.shape)}]"


def _value(value: SymbolicTensor) -> str:
    return value.node.name if value.index == 0 else f"{value.node.name}:{value.index}"


def _literal(value: Any, names: dict[int, str]) -> str:
    if isinstance(value, Graph):
        return f'graph("{names.get(id(value), value.name)}")'
    if isinstance(value, DType):
        return value.name
    if isinstance(value, (np.ndarray, np.generic)):
        return _tensor(np.asarray(value))
    if isinstance(value, tuple):
        inner = ", ".join(_literal(v, names) for v in value)
        return f"({inner}{',' if len(value) == 1 else ''})"
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return repr(value)
    return f"object({type(value).__name__!r})"


def _tensor(array: np.ndarray) -> str:
    dtype = from_numpy(array.dtype)
    if array.size > MAX_READABLE_ELEMENTS and dtype is not string:
        text = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
        return f'tensor({dtype.name}, {array.shape}, "{text}")'
    flat = array.reshape(-1)
    if dtype.is_complex:  # real and imaginary parts in turn: -1j would lose its sign of zero
        flat = flat.view(dtype.real_dtype.numpy)
    values = [float(v) for v in flat] if dtype.is_floating else flat.tolist()
    return f"tensor({dtype.name}, {array.shape}, {values})"


# -- reading -------------------------------------------------------------------------

_HEAD = re.compile(r"^graph (?P<name>.+?)\((?P<inputs>.*)\) \{$")
_LINE = re.compile(r"^(?P<name>\S+): (?P<types>.*?) ?= (?P<op>\w+)\((?P<rest>.*)$")
_TYPE = re.compile(r"(?P<dtype>\w+)\[(?P<dims>[^\]]*)\]")
_USER_LINE = re.compile(r"^# (?P<file>.+?):(?P<line>\d{1,9}) (?P<function>[\w<>]+)(: .*)?$")


def parse(text: str) -> Graph:
    """The last graph of the text; the graphs before it are those that it refers to.

    Raises GraphSyntaxError with the line for anything that `format_graph` does not write.
    """
    graphs: dict[str, Graph] = {}
    reader: _Reader | None = None
    last: Graph | None = None
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        try:
            if not stripped or stripped.startswith("#"):
                if reader is not None:
                    reader.comment(stripped)
                continue
            if reader is None:
                reader = _Reader(stripped, graphs)
            elif stripped == "}":
                last = graphs[reader.name] = reader.finish()
                reader = None
            else:
                reader.line(stripped)
        except Exception as e:  # shape inference may raise any error for a malformed graph
            raise GraphSyntaxError(_syntax_error_text(number, stripped, e)) from None
    if last is None or reader is not None:
        raise GraphSyntaxError("the text ends before the graph does")
    return last


def _syntax_error_text(number: int, line: str, error: Exception) -> str:
    shown = line if len(line) <= MAX_SHOWN_CHARACTERS else f"{line[:MAX_SHOWN_CHARACTERS]}..."
    reason = f"unknown name {error}" if isinstance(error, KeyError) else str(error)
    if isinstance(error, (RecursionError, MemoryError)):
        reason = "nested too deeply"
    return f"line {number}: {shown!r}: {reason}"


class _Reader:
    def __init__(self, head: str, graphs: dict[str, Graph]) -> None:
        found = _HEAD.match(head)
        if not found:
            raise ValueError("expected 'graph name(inputs) {'")
        self.name = found["name"]
        self.graphs = graphs
        self.values: dict[str, SymbolicTensor] = {}
        self.nodes: list[Node] = []
        self.by_name: dict[str, Node] = {}
        self.outputs: list[SymbolicTensor] | None = None
        self.origin: Origin = ()  # the origin of the nodes that follow
        self.inputs = [self._input(p) for p in _split(found["inputs"])]

    def _input(self, text: str) -> SymbolicTensor:
        name, _, kind = text.rpartition(": ")
        spec = _parse_types(kind)[0]
        attrs = {"dtype": spec.dtype, "shape": spec.shape}
        return self._add(Node(raw.Placeholder, (), attrs, name, [spec])).outputs[0]

    def _add(self, node: Node) -> Node:
        if node.name in self.by_name:
            raise ValueError(f"there are two nodes named {node.name!r}")
        self.nodes.append(node)
        self.by_name[node.name] = node
        for value in node.outputs:
            self.values[_value(value)] = value
        return node

    def comment(self, text: str) -> None:
        """Parses a comment that has a line of the user's program."""
        found = _USER_LINE.match(text)
        if found:
            self.origin = origins.at(found["file"], int(found["line"]), found["function"])

    def line(self, text: str) -> None:
        if text == "return" or text.startswith("return "):
            self.outputs = [self.values[n] for n in _split(text[7:])]
            return
        found = _LINE.match(text)
        if not found:
            raise ValueError("expected 'name: types = Op(inputs; attributes)'")
        op = raw.find(found["op"])
        if op is None:
            raise ValueError(f"unknown name {found['op']!r}")
        body, _, after = found["rest"].rpartition(")")
        control = _split(after.removeprefix(" after ")) if after else []
        inputs, attrs = self._arguments(body, op)
        counts = [n for a in op.sig.inputs for n in (a.number, a.types) if n]
        missing = [n for n in (*op.attr_names, *counts) if n not in attrs]
        if missing:
            raise ValueError(f"{op.name} needs the attributes {', '.join(missing)}")
        specs = _with_values(op, inputs, attrs, _parse_types(found["types"]))
        self._add(
            Node(
                op,
                inputs,
                attrs,
                found["name"],
                specs,
                control=tuple([self.by_name[c] for c in control]),
                origin=self.origin,
            )
        )

    def _arguments(self, body: str, op: Op) -> tuple[list[SymbolicTensor], dict[str, Any]]:
        inputs, _, attrs = body.partition(";")
        call = ast.parse(f"f({attrs.strip()})", mode="eval").body
        attributes = {k.arg: self._evaluate(k.value) for k in call.keywords}  # type: ignore[attr-defined]  # a call, as parsed above
        return [self.values[n] for n in _split(inputs)], {**op.defaults, **attributes}

    def _evaluate(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return {"inf": float("inf"), "nan": float("nan")}.get(node.id) or BY_NAME[node.id]
        if isinstance(node, ast.Tuple):
            return tuple([self._evaluate(e) for e in node.elts])
        if isinstance(node, ast.List):
            return [self._evaluate(e) for e in node.elts]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._evaluate(node.operand)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            arguments = [self._evaluate(a) for a in node.args]
            if node.func.id == "graph":
                return self.graphs[arguments[0]]
            if node.func.id == "tensor":
                return _parse_tensor(*arguments)
            raise ValueError(f"{ast.unparse(node)} cannot be read back")
        return ast.literal_eval(node)

    def finish(self) -> Graph:
        if self.outputs is None:
            raise ValueError("a graph ends with 'return'")
        return Graph(self.name, self.inputs, self.nodes, self.outputs)


def _with_values(
    op: Op, inputs: list[SymbolicTensor], attrs: Any, written: list[Spec]
) -> list[Spec]:
    """The types in the text, with the values that inference finds."""
    inferred = op.output_specs([v.spec for v in inputs], attrs)
    for spec, known in zip(written, inferred, strict=True):
        if known.dtype is not spec.dtype:
            raise ValueError(f"written {spec!r}, but {op.name} gives {known!r}")
    return [k if k.shape == w.shape else w for k, w in zip(inferred, written, strict=True)]


def _parse_types(text: str) -> list[Spec]:
    return [Spec(BY_NAME[m["dtype"]], _parse_dims(m["dims"])) for m in _TYPE.finditer(text)]


def _parse_dims(text: str) -> Dims:
    if text == "...":
        return None
    return tuple([None if d.strip() == "None" else int(d) for d in text.split(",") if d.strip()])


def _parse_tensor(dtype: DType, shape: tuple[int, ...], values: Any) -> np.ndarray:
    if isinstance(values, str):
        return np.frombuffer(base64.b64decode(values), dtype.numpy).reshape(shape)
    part = dtype.real_dtype.numpy
    array = np.empty(len(values), part)
    array[:] = values
    return array.view(dtype.numpy).reshape(shape)


def _split(text: str) -> list[str]:
    """Parts between commas outside brackets."""
    parts: list[str] = []
    inside: list[str] = []  # the pieces of a part with an open bracket
    depth = 0
    for piece in text.split(","):
        inside.append(piece)
        depth += piece.count("[") - piece.count("]")
        if depth <= 0:
            parts.append(",".join(inside))
            inside, depth = [], 0
    return [p.strip() for p in [*parts, ",".join(inside)] if p.strip()]
