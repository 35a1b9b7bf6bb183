"""Variables created while a function is traced: when that is allowed, and their initial values.

Follows https://www.tensorflow.org/guide/function#creating_tfvariables: a function may create
variables when it is called for the first time only, and they start with a value computed
outside of the graph.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

from intaglio.base import origins
from intaglio.base.errors import InaccessibleTensorError
from intaglio.base.locks import lasting_lock
from intaglio.base.origins import Frame
from intaglio.base.threads import Inherited
from intaglio.ir import walk
from intaglio.ir.graph import Graph as FrozenGraph
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.runtime import interpreter
from intaglio.runtime.eager import EagerTensor, from_array

SINGLETON = (
    "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable "
    "is only created once or created outside tf.function. See "
    "https://www.tensorflow.org/guide/function#creating_tfvariables for more information."
)
LATER = "Creating variables on a non-first call to a function decorated with tf.function."
# The target of an assignment that keeps a variable: an attribute or an item.
_KEPT_AS = re.compile(r"\s*([\w.]+\.\w+|\w[\w.]*\[.+?\])\s*(?::[^=]+)?=[^=]")


def refusal(earlier: Sequence[Frame | None] | None) -> ValueError:
    """The error for a variable created after the first call; `earlier`: the lines that created some then."""
    error = ValueError(SINGLETON if earlier else LATER)
    here = origins.innermost()
    if here is None:
        return error
    where = [f"{f.short}: {f.source}" for f in dict.fromkeys(earlier or ()) if f is not None]
    lines = [f"A variable would be made in {here.short}: {here.source}"]
    if where:
        lines.append(f"The first trace has made {len(earlier or ())}, in {'; '.join(where)}")
    kept = _KEPT_AS.match(here.source_line)
    if kept is not None:
        name = kept[1]
        lines.append(f"Make {name} once: before the first call, or only if it is None.")
    lines.append('Or call intaglio.variables("once_per_site"): each line makes its variable once.')
    error.add_note("\n".join(lines))
    return error


# -- `variables("once_per_site")` ----------------------------------------------------------------

Mode = Literal["singleton", "once_per_site"]
MODES = ("singleton", "once_per_site")
_mode = ContextVar[str]("variables", default="singleton")


@contextmanager
def variables(mode: Mode) -> Generator[None]:
    """Sets when traced functions may create variables, in the block and in this thread.

    `"singleton"` is TensorFlow's rule: on the first call only. With `"once_per_site"` a line that makes a
    variable makes it in the first trace of a function and finds it again in later ones, with the value
    that it has by then; a line that is run several times in a trace makes as many. The function keeps
    them. Raises ValueError for another mode.

    >>> import intaglio
    >>> f = tf.function(lambda x: tf.Variable(1.0).assign_add(x))
    >>> with intaglio.variables("once_per_site"):
    ...     f(tf.constant(2.0)).numpy(), f(tf.constant(2.0)).numpy()
    (np.float32(3.0), np.float32(5.0))
    """
    if mode not in MODES:
        raise ValueError(f"variables takes {' or '.join(map(repr, MODES))}, not {mode!r}")
    before = _mode.set(mode)
    try:
        yield
    finally:
        _mode.reset(before)


class Sites:
    """The variables by the lines of a function that created them, for its later traces."""

    def __init__(self) -> None:
        self._variables: dict[Any, Any] = {}
        self._lock = lasting_lock()

    def of_trace(self) -> Callable[[Callable[[], Any]], Any] | None:
        """The creator of variables for a trace that begins now; None under TensorFlow's rule."""
        if _mode.get() != "once_per_site":
            return None
        outside = len(origins.stack())
        times: Counter[Any] = Counter()

        def create(make: Callable[[], Any]) -> Any:
            stack = origins.stack(2)
            site = stack[: len(stack) - outside]
            times[site] += 1
            key = site, times[site]
            with self._lock:
                found = self._variables.get(key)
            if found is None:
                found = make()
                with self._lock:
                    found = self._variables.setdefault(key, found)
            return found

        return create


def at_site(make: Callable[[], Any]) -> Any:
    """The existing variable of the same line if the function being traced has one, else that of `make`."""
    for level in reversed(door.stack().levels):
        if level.eager:
            break
        sites = getattr(getattr(level, "graph", None), "variable_sites", None)
        if sites is not None:
            return sites(make)
    return make()


def admit(variable: Any) -> None:
    """Called for every variable that is created; the function being traced records it.

    Raises ValueError if that function may make no variables now.
    """
    for level in reversed(door.stack().levels):
        graph = getattr(level, "graph", None)
        if level.eager:
            return
        allow = getattr(graph, "admit_variable", None)
        if allow is not None:
            allow(variable)
            return


class _Creators(Inherited):
    """The functions through which variables are created, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[Callable[..., Any]] = []


CREATORS = _Creators()


class _Collections(Inherited):
    """The collections that variables of plain graphs join, where they are not the usual ones."""

    def __init__(self) -> None:
        self.names: list[Any] | None = None


_collections = _Collections()


@contextmanager
def collected_in(names: list[Any] | None) -> Generator[None]:
    """Adds variables of plain graphs in the block to these collections; None: to the usual ones."""
    outer, _collections.names = _collections.names, names
    try:
        yield
    finally:
        _collections.names = outer


def collect(variable: Any) -> None:
    """Adds a variable of a plain graph to collections of the graph, each once."""
    names = ["variables"] if _collections.names is None else list(_collections.names)
    if variable.trainable and "trainable_variables" not in names:
        names.append("trainable_variables")
    variable.graph.add_to_collections(names, variable)


def lift(tensor: Tensor) -> EagerTensor:
    """The value of a tensor of the function being traced, computed at once.

    Raises ValueError if it depends on an argument whose value is not known, as in
    `get_concrete_function` with specs only.
    """
    if isinstance(tensor, EagerTensor):
        return tensor
    assert isinstance(tensor, SymbolicTensor)
    nodes = nodes_above(tensor)
    inputs = [n.outputs[0] for n in nodes if n.op is raw.Placeholder]
    arrays = [_value_of(v) for v in inputs]
    graph = FrozenGraph("initial_value", inputs, nodes, [tensor])
    return from_array(interpreter.run_nodes(graph, *arrays)[0])


def nodes_above(tensor: SymbolicTensor) -> Sequence[Node]:
    """The nodes that a tensor depends on, in order."""
    wanted: dict[int, Node] = {}
    work = [tensor.node]
    while work:
        node = work.pop()
        if id(node) not in wanted:
            wanted[id(node)] = node
            work.extend([v.node for v in node.inputs])
    return [n for n in tensor.node.graph.nodes if id(n) in wanted]


def _value_of(placeholder: SymbolicTensor) -> Any:
    graph = placeholder.graph
    for outer, inner in graph.captured.values():
        if inner is placeholder:
            return lift(outer)._array
    example = graph.example.get(id(placeholder))
    if example is None:
        raise ValueError(
            f"A tf.Variable created inside a tf.function starts with a value that depends on the argument "
            f"{placeholder.node.name!r}, whose value is not known while tracing. Create the variable outside "
            "of the function, or give it a constant initial value."
        )
    return lift(example)._array


__all__ = [
    "InaccessibleTensorError",
    "Sites",
    "admit",
    "at_site",
    "lift",
    "nodes_above",
    "refusal",
    "variables",
    "walk",
]
