"""A trace as a Python program that needs NumPy alone: `f.to_python()`, for reports of bugs.

A graph becomes a function, a node a line, the user's lines comments. Branches, bodies and called
functions become functions too; variables become objects with a `value`, those that a trace
captures with the value that they have now. How an op is written follows from its kernel, if that is
one of NumPy's functions, from its `scalar` rule or its traits, or stands in `numpy_forms`.
"""

from __future__ import annotations

import base64
import keyword
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import from_numpy, resource, variant
from intaglio.insight.graphs import Titled, latest
from intaglio.insight.numpy_forms import PRELUDE, Call, dtype_text, expression, is_foreign
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.runtime.eager import EagerTensor

# Arrays with more elements are written as base64.
MAX_WRITTEN_ELEMENTS = 64
# A dimension that the trace leaves open has so many elements in the program's own call.
OPEN_DIMENSION = 2
_NO_NAME = re.compile(r"\W+")
# Names that the program uses itself.
_TAKEN = {"np", "base64", *PRELUDE}


class NumpyProgram(str):
    """A Python program. `missing` are the ops that it has no NumPy for: it raises where it is there."""

    __slots__ = ("missing",)
    missing: tuple[str, ...]


def to_python(target: Any) -> NumpyProgram:
    """The last trace of a function, a trace, or a graph, as a program that imports NumPy alone.

    It defines a function of the trace's tensors, and calls it if it is run. Ops without a NumPy form
    (its attribute `missing`) raise NotImplementedError there. Raises as `graphs_of` does.

    >>> f = tf.function(lambda x: tf.nn.relu(x) * 2.0)
    >>> program = f.get_concrete_function(tf.TensorSpec([2])).to_python()
    >>> space = {}
    >>> exec(program, space)
    >>> space["program"](np.array([-1.0, 3.0], np.float32))
    array([0., 6.], dtype=float32)
    """
    return _Writer(latest(target)).program()


class _Names:
    """Names of Python for what has others."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = set(taken)

    def new(self, preferred: str) -> str:
        name = _NO_NAME.sub("_", preferred).strip("_") or "value"
        if name[0].isdigit() or keyword.iskeyword(name):
            name = f"v_{name}"
        found, n = name, 1
        while found in self.taken:
            found, n = f"{name}_{n}", n + 1
        self.taken.add(found)
        return found


class _Writer:
    """Writes a graph and those nested in it."""

    def __init__(self, found: Titled) -> None:
        self.found = found
        self.names = _Names(_TAKEN | {"program"})
        self.functions: dict[int, str] = {}
        self.missing: dict[str, None] = {}
        self.used: set[str] = set()

    def program(self) -> NumpyProgram:
        graph = self.found.graph
        for nested in walk.nested(graph):
            self.functions[id(nested)] = self.names.new(nested.name)
        self.functions[id(graph)] = "program"
        bodies = [self.function(g) for g in [*walk.nested(graph), graph]]
        values = "\n".join(self.captured())
        call = ", ".join(self.arguments())
        self.use("\n".join([*bodies, values, call]))
        helpers = [PRELUDE[n] for n in PRELUDE if n in self.used]
        missing = tuple(sorted(self.missing))
        imports = ["import base64"] if "array_of" in self.used else []
        head = [f'"""{self.found.title}, as NumPy."""', "", *imports, "import numpy as np"]
        if missing:
            head.append(f"\n# Without a NumPy form, and an error here: {', '.join(missing)}.")
        main = f'if __name__ == "__main__":\n    print(program({call}))'
        parts = ["\n".join(head), *helpers, *bodies, *([values] if values else []), main]
        program = NumpyProgram("\n\n\n".join([p.strip("\n") for p in parts]) + "\n")
        program.missing = missing
        return program

    def use(self, text: str) -> None:
        """Defines the helpers that a text calls, and those that they call."""
        for name in PRELUDE:
            if name not in self.used and re.search(rf"\b{name}\(", text):
                self.used.add(name)
                self.use(PRELUDE[name])

    # -- values --------------------------------------------------------------------------

    def captures(self) -> list[tuple[SymbolicTensor, Any]]:
        """The inputs that are captures, with what they hold."""
        trace = self.found.trace
        if trace is None:
            return []
        captured = trace.captured_inputs
        inputs = self.found.graph.inputs
        return list(zip(inputs[len(inputs) - len(captured) :], captured, strict=True))

    def captured(self) -> Iterator[str]:
        """Lines that define what is captured."""
        self.defaults: dict[int, str] = {}
        by_object: dict[int, str] = {}
        variables = {} if self.found.trace is None else _by_handle(self.found.trace.variables)
        for inner, outer in self.captures():
            variable = variables.get(id(outer))
            content = outer if variable is None else variable
            if id(content) not in by_object:
                text = _initial(outer, variable)
                name = self.names.new(getattr(content, "name", inner.node.name).removesuffix(":0"))
                by_object[id(content)] = name
                yield f"{name} = {text}"
            self.defaults[id(inner)] = by_object[id(content)]

    def arguments(self) -> list[str]:
        """What the program passes to its own call: zeros of the shapes of the inputs."""
        return [self.defaults.get(id(v)) or _zeros(v) for v in self.found.graph.inputs]

    # -- functions -----------------------------------------------------------------------

    def function(self, graph: Graph) -> str:
        """The Python function of a graph; one result is returned as it is, others as a tuple."""
        names = _Names(self.names.taken)
        values = {id(v): names.new(v.node.name) for v in graph.inputs}
        lines: list[str] = []
        used = {id(v) for n in graph.nodes for v in n.inputs} | {id(v) for v in graph.outputs}
        line = ""
        inputs = {id(v.node) for v in graph.inputs}
        for node in graph.nodes:
            if id(node) in inputs:
                continue
            now = _line(node)
            if now and now != line:
                lines.append(f"# {now}")
                line = now
            lines += self.node(node, values, names, used)
        results = ", ".join([values[id(v)] for v in graph.outputs])
        if id(graph) != id(self.found.graph):
            results = f"({results}{',' if len(graph.outputs) == 1 else ''})"
        lines.append(f"return {results}")
        parameters = ", ".join([values[id(v)] for v in graph.inputs])
        body = "\n".join([f"    {part}" for text in lines for part in text.splitlines()])
        return f"def {self.functions[id(graph)]}({parameters}):\n{body}"

    def node(self, node: Node, values: dict[int, str], names: _Names, used: set[int]) -> list[str]:
        """The lines of a node."""
        if node.op is raw.Const:
            array = np.asarray(node.attrs["value"])
            text = written(array)
            if array.size <= 1 and len(text) < 40:
                values[id(node.outputs[0])] = text
                return []
            values[id(node.outputs[0])] = names.new(node.name)
            return [f"{values[id(node.outputs[0])]} = {text}"]
        call = Call(node, [values[id(v)] for v in node.inputs], self.functions, names.new)
        text = expression(call)
        targets = [names.new(_preferred_name(v)) if id(v) in used else "_" for v in node.outputs]
        values.update(zip(map(id, node.outputs), targets, strict=True))
        if text is None:
            what = _without_form(node)
            self.missing[what] = None
            reason = f"{what} has no NumPy form ({_line(node) or node.name})"
            text = f"raise NotImplementedError({reason!r})"
            return [text] if not targets else [*[f"{t} = None" for t in targets if t != "_"], text]
        if not text:
            return call.lines
        left = ", ".join(targets) + ("," if call.is_tuple and len(targets) == 1 else "")
        return [*call.lines, f"{left} = {text}" if targets and set(targets) != {"_"} else text]


def _preferred_name(value: SymbolicTensor) -> str:
    name = value.node.name
    return name if value.index == 0 else f"{name}_{value.node.op.sig.outputs[0].name}{value.index}"


def _without_form(node: Node) -> str:
    """What NumPy lacks: the op, or the dtype."""
    foreign = [v.dtype.name for v in (*node.inputs, *node.outputs) if is_foreign(v.dtype)]
    return f"{node.op.name} of {foreign[0]}" if foreign else node.op.name


def _line(node: Node) -> str:
    frame = node.frame
    return "" if frame is None else f"{frame.short}: {frame.source}".rstrip(": ")


def _by_handle(variables: Sequence[Any]) -> dict[int, Any]:
    return {id(v.handle): v for v in variables}


def _initial(outer: Any, variable: Any) -> str:
    """What a capture holds, as an expression."""
    if variable is not None:
        return f"Variable({written(np.asarray(variable.numpy()))})"
    if isinstance(outer, EagerTensor) and outer.dtype not in (resource, variant):
        return written(np.asarray(outer.numpy()))
    return "None"


def _zeros(value: SymbolicTensor) -> str:
    dims = value.dims
    shape = (
        tuple([OPEN_DIMENSION if d is None else d for d in dims])
        if dims is not None and not shapes.known(dims)
        else dims or ()
    )
    if value.dtype is resource:
        return "Variable(None)"
    if value.dtype is variant:
        return "[]"
    kind = np.float32 if is_foreign(value.dtype) else value.dtype.numpy
    return f"np.zeros({shape}, {dtype_text(kind)})"


def written(array: np.ndarray[Any, Any]) -> str:
    """An array as an expression that gives all its bits."""
    dtype = array.dtype
    if is_foreign(from_numpy(dtype)):  # an op of it is missing anyway
        return written(array.astype(np.float32))
    if dtype.kind == "O":
        return f"np.array({array.tolist()!r}, object)"
    finite = dtype.kind not in "fc" or bool(np.isfinite(array).all())
    if array.size <= MAX_WRITTEN_ELEMENTS and finite:
        if array.ndim == 0:
            return f"{dtype_text(dtype)}({array.item()!r})"
        if array.size:
            return f"np.array({array.tolist()!r}, {dtype_text(dtype)})"
        return f"np.zeros({array.shape}, {dtype_text(dtype)})"
    text = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return f"array_of({dtype_text(dtype)}, {array.shape}, {text!r})"
