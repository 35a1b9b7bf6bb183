"""`intaglio.watch`: the values of tensors of traced functions, by the names that the program gives them.

In the block, functions are traced once more, by a copy of each, while Python's lines are followed: a name that is
bound to a tensor of the graph, or to a structure of such, is remembered with its line. Calls then run the
copy's graph interpreted under an observer, which sees the nodes of these tensors.
"""

from __future__ import annotations

import collections
import fnmatch
import sys
import weakref
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from intaglio.autograph.libraries import is_standard
from intaglio.base.log import logger
from intaglio.base.origins import Frame, is_ours
from intaglio.debugging.lines import followed
from intaglio.debugging.repeatable import RepeatableCall
from intaglio.function import control
from intaglio.function.polymorphic import Function
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.runtime.eager import from_array
from intaglio.runtime.observation import observed

# How many values a block keeps for each name.
MAX_KEPT = 1000
# Arrays of more elements are shown by what they range over.
MAX_SHOWN_ELEMENTS = 8
# Locals that AutoGraph's code adds.
_OWN = ("ag__", "do_return", "retval_")


class Watched(NamedTuple):
    """One value: the function and its call, from 1 on, the name, the line that has bound it, the array."""

    function: str
    call: int
    name: str
    where: Frame
    value: Any

    def __str__(self) -> str:
        return f"{self.function} call {self.call}, {self.where.short}: {self.name} = {_shown(self.value)}"


def _shown(value: Any) -> str:
    array = np.asarray(value)
    if array.ndim == 0:
        return str(array)
    form = f"{array.dtype.name}{list(array.shape)}"
    if array.size <= MAX_SHOWN_ELEMENTS:
        return f"{form} {np.array2string(array, precision=6).replace(chr(10), '')}"
    if array.dtype.kind in "OSU" or not array.size:
        return form
    wide = np.abs(array) if array.dtype.kind == "c" else array.astype(np.float64)
    return f"{form} from {wide.min():.6g} to {wide.max():.6g}, mean {wide.mean():.6g}"


class watch:
    """In the block, shows the tensors that traced functions bind to names like these, whenever they run.

    A pattern is a name, or has `*` and `?`: `"grad*"`; of an attribute that is set, `"self.loss"`. A name that is bound to
    a structure shows each of its tensors, as `grads[0]`. Each value is printed on stderr, or passed to the function
    `to` as a `Watched`; the block's `values` have the last 1000 arrays by name. In a loop a value is shown for each
    iteration, in a branch where it runs.

    Functions are traced once more for it, with the Python side effects of that, and interpreted as long as the block
    lasts. A name that no tensor has had is a warning, with the names that there are. It is about the calls of this
    thread. Names that eager code binds are not shown: print them. Raises ValueError without patterns.

    >>> @tf.function
    ... def f(x):
    ...     loss = tf.reduce_sum(x * x)
    ...     return loss + 1.0
    >>> with intaglio.watch("loss", to=lambda w: print(w.name, w.value)):
    ...     _ = f(tf.constant([1.0, 2.0]))
    loss 5.0
    """

    def __init__(self, *patterns: str, to: Callable[[Watched], Any] | None = None) -> None:
        if not patterns:
            raise ValueError('watch takes names, such as watch("loss", "grad*")')
        self._patterns = patterns
        self._to = to or _print
        self._functions: dict[int, tuple[Function, _Copy]] = {}
        self._blocks: list[Any] = []
        self.values: dict[str, collections.deque[Any]] = {}

    def __enter__(self) -> watch:
        block = control.intercepting(self)
        block.__enter__()
        self._blocks.append(block)
        return self

    def __exit__(self, *error: object) -> None:
        self._blocks.pop().__exit__(*error)
        if error[0] is None:
            self._warn_of_unknown_names()

    def _warn_of_unknown_names(self) -> None:
        """Says which patterns no tensor of the functions that ran has had, and which names there are."""
        copies = [copy for _, copy in self._functions.values()]
        known = sorted({name for copy in copies for name in copy.names})
        for pattern in self._patterns:
            if copies and not any(pattern in copy.matched for copy in copies):
                ran = ", ".join(dict.fromkeys([f.name for f, _ in self._functions.values()]))
                has = ", ".join(known) or "none"
                logger().warning(
                    f"watch: no tensor of {ran} has the name {pattern!r}; it has {has}"
                )

    def call(self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a traced function, carried out with its copy."""
        key = id(function.__dict__)  # a method shares its function's
        found = self._functions.get(key)
        if found is None:
            found = self._functions[key] = function, _Copy(function, self._patterns)
        return found[1].call(args, kwargs, self._note)

    def _note(self, watched: Watched) -> None:
        kept = self.values.setdefault(watched.name, collections.deque(maxlen=MAX_KEPT))
        kept.append(watched.value)
        self._to(watched)


def _print(watched: Watched) -> None:
    print(watched, file=sys.stderr)


class _Copy:
    """A function traced again, and the names of its tensors."""

    def __init__(self, function: Function, patterns: Sequence[str]) -> None:
        self._function = function.fresh()
        self._patterns = patterns
        self._calls = 0
        self.names: set[str] = set()  # of tensors, whatever the patterns are
        self.matched: set[str] = set()  # the patterns that a name of a tensor has had
        # By the trace: the names of the outputs of nodes.
        self._named: weakref.WeakKeyDictionary[Any, dict[tuple[int, int], list[Any]]] = (
            weakref.WeakKeyDictionary()
        )

    def call(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], note: Callable[[Watched], None]
    ) -> Any:
        """The result of a call, with its values noted."""
        self._calls += 1
        number, names = self._calls, _Names(self._patterns)
        with followed(names.follow):
            call = RepeatableCall(self._function, args, kwargs)
        self.names |= names.tensors
        self.matched |= names.matched
        named = self._named.setdefault(call.concrete, names.found)
        known = {number for number, _ in named}

        def shown(name: str, where: Frame, array: Any) -> None:
            if isinstance(array, (np.ndarray, np.generic)):
                note(Watched(call.function.name, number, name, where, np.array(array)))

        def observe(node: Node, inputs: Any, outputs: Any) -> None:
            for i, array in enumerate(outputs):
                for name, where, _ in named.get((id(node), i), ()):
                    shown(name, where, array)

        for value, array in zip(call.graph.inputs, call.arrays, strict=True):
            for name, where, _ in named.get((id(value.node), 0), ()):
                shown(name, where, array)
        run = observed(_with_values(call, named), observe, lambda node: id(node) in known)
        concrete = call.concrete
        try:
            results = run(*call.arrays)[: len(call.graph.outputs)]
        except Exception as e:
            concrete.fail(e)
        for state in concrete.states:
            state.put()
        return concrete.pack([from_array(a) for a in results])


def _with_values(call: RepeatableCall, named: dict[tuple[int, int], list[Any]]) -> Graph:
    """The graph of a call with the named values that it would not compute, for nothing needs them."""
    graph, traced = call.graph, call.concrete.graph
    own = {id(n) for n in traced.nodes}
    values = [names[0][2] for names in named.values() if id(names[0][2].node) in own]
    outputs = [*graph.outputs, *values]
    nodes = walk.live_nodes(traced.nodes, outputs)
    live = {id(n) for n in nodes}
    unused = [v.node for v in graph.inputs if id(v.node) not in live]
    return Graph(graph.name, graph.inputs, [*unused, *nodes], outputs)


class _Names:
    """The tensors that names are bound to while a function is traced."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = patterns
        self._plain = [p for p in patterns if "." not in p]
        self._dotted = [tuple(p.split(".", 1)) for p in patterns if "." in p]
        # By node and number of the output: the name, where it was bound, and the tensor.
        self.found: dict[tuple[int, int], list[Any]] = {}
        self._lines: dict[int, int] = {}
        self._bound: dict[tuple[int, str], int] = {}
        self.tensors: set[str] = set()
        self.matched: set[str] = set()

    def follow(self, frame: FrameType, event: str) -> None:
        """Before a line, and at the end: what the line before has bound."""
        line = self._lines.get(id(frame))
        if line is None:
            line = frame.f_lineno
        space = frame.f_locals
        for name, value in [*space.items()]:
            if name.startswith(_OWN):
                continue
            if type(value) is SymbolicTensor and _is_users(frame):
                self.tensors.add(name)
            found = [p for p in self._plain if fnmatch.fnmatchcase(name, p)]
            if found:
                self._bind(frame, line, name, value, found)
        for owner, attribute in self._dotted:
            for name, value in getattr(space.get(owner), "__dict__", {}).items():
                if fnmatch.fnmatchcase(name, attribute):
                    path = f"{owner}.{name}"
                    self._bind(frame, line, path, value, [f"{owner}.{attribute}"])
        if event == "return":
            self._lines.pop(id(frame), None)
        else:
            self._lines[id(frame)] = frame.f_lineno

    def _bind(
        self, frame: FrameType, line: int, name: str, value: Any, patterns: Sequence[str]
    ) -> None:
        if self._bound.get((id(frame), name)) == id(value):
            return
        self._bound[(id(frame), name)] = id(value)
        where = Frame(frame.f_code.co_filename, line, frame.f_code.co_name)
        for path, tensor in _tensors(name, value):
            self.matched.update(patterns)
            key = id(tensor.node), tensor.index
            names = self.found.setdefault(key, [])
            if not any(known == path for known, _, _ in names):
                names.append((path, where, tensor))


def _is_users(frame: FrameType) -> bool:
    """False for code of this package and of Python's library."""
    package = str(frame.f_globals.get("__name__")).partition(".")[0]
    return not is_ours(frame.f_code) and not is_standard(package)


def _tensors(name: str, value: Any) -> list[tuple[str, SymbolicTensor]]:
    """The tensors of a graph in a value, with how Python reaches them."""
    if isinstance(value, SymbolicTensor):
        return [(name, value)]
    if isinstance(value, dict):
        return [t for key, part in value.items() for t in _tensors(f"{name}[{key!r}]", part)]
    if isinstance(value, (list, tuple)):
        return [t for i, part in enumerate(value) for t in _tensors(f"{name}[{i}]", part)]
    return []


__all__ = ["Watched", "watch"]
