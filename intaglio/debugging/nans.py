"""`intaglio.check_nans`: the op and the user's line that first gave a NaN or an infinity.

Functions run as they do: compiled where they are compiled. Their results, and the variables that they write, are looked
at after each call. Where one is not finite, the call runs once more on copies of the variables as they were, interpreted
under an observer, which finds the first op that makes such a number of others.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import nest
from intaglio.base.origins import Frame, capture, frames
from intaglio.debugging.repeatable import RepeatableCall, line_of
from intaglio.function import control, error_reports
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import door
from intaglio.opdef.op import Op
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.call_state import CallState
from intaglio.runtime.observation import observed
from intaglio.runtime.resources import Resource


class NonFiniteError(FloatingPointError):
    """Under `check_nans`: an op gave a NaN or an infinity.

    `op` is its type, `node` its name in the graph (empty eagerly), `where` the user's line, `kind` `"NaN"` or
    `"infinity"`, `inputs` the arrays that it took by the op's names, `path` the branches and iterations that it was in.
    """

    def __init__(self, text: str, op: str, kind: str) -> None:
        super().__init__(text)
        self.op, self.kind = op, kind
        self.node = ""
        self.where: Frame | None = None
        self.inputs: dict[str, Any] = {}
        self.path: list[str] = []


class check_nans(contextlib.ContextDecorator):
    """In the block, or the decorated function, the op that first gives a NaN or an infinity is an error.

    Eager ops raise NonFiniteError at once. Calls of traced functions, compiled or not, raise it where a result, or a variable
    that they write, is not finite: the error names the first op in the function that made such a number
    of others, with the user's line, the iteration of the loop and the op's inputs. NaNs that a function does not
    return, as those behind `tf.where`, are no error. Nor are infinities with `infinities=False`.

    It is about the thread that runs the block. Calls cost one pass over their results, and keep the variables' old
    arrays until they return. Raises RuntimeError inside a function that is being traced: put it around the call.

    >>> with intaglio.check_nans():
    ...     try:
    ...         _ = tf.math.log(tf.constant([1.0, -1.0]))
    ...     except intaglio.NonFiniteError as e:
    ...         print(e.op, e.kind, e.inputs["x"])
    Log NaN [ 1. -1.]
    """

    def __init__(self, *, infinities: bool = True) -> None:
        self._infinities = infinities
        self._blocks: list[tuple[Any, _Inspector]] = []

    def __enter__(self) -> check_nans:
        if not door.level().eager:
            raise RuntimeError(
                "check_nans inside a function that is being traced checks nothing: the block ends before the graph "
                "runs. Put it around the call of the function."
            )
        inspector = _Inspector(self._infinities)
        block = control.intercepting(inspector)
        block.__enter__()
        self._blocks.append((block, inspector))
        door.INSPECTORS.append(inspector.inspect)
        door.STATE.shift(+1)
        return self

    def __exit__(self, *error: object) -> None:
        block, inspector = self._blocks.pop()
        door.STATE.shift(-1)
        door.INSPECTORS.remove(inspector.inspect)
        block.__exit__(*error)


class _Inspector:
    """Looks at eager ops and at calls of functions, of one thread."""

    def __init__(self, infinities: bool) -> None:
        self._infinities = infinities
        self._thread = threading.get_ident()
        self._calls = 0  # that the thread is in: their ops are looked at afterwards

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a traced function, and what it gave is looked at."""
        call = RepeatableCall(function, args, kwargs)
        self._calls += 1
        try:
            result = function(*args, **kwargs)
        finally:
            self._calls -= 1
        self._look(call, result)
        return result

    def _look(self, call: RepeatableCall, result: Any) -> None:
        """Raises NonFiniteError if a result of a call is not finite, or a variable that it wrote."""
        arrays = [t._array for t in nest.flatten(result, expand_composites=True) if _is_eager(t)]
        written = [v.read() for v in call.variables_of_runs]
        kind = self.kind_of([*arrays, *written])
        if kind is not None:
            raise _located(call.graph, call.state, kind, call.function.name)

    def inspect(
        self, op: Op, attrs: dict[str, Any], inputs: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> Sequence[Tensor]:
        """An eager op. One with a graph, such as a gradient's, runs once more if it gave a NaN."""
        if self._calls or threading.get_ident() != self._thread or not door.level().eager:
            return outputs
        arrays = [t._array for t in outputs]
        kind = self.kind_of(arrays) if op.numerics_checked or op.has_graphs else None
        taken = [t._array for t in inputs]
        if kind is None or not inputs:
            return outputs
        graph = next((g for g in attrs.values() if isinstance(g, Graph)), None)
        if graph is not None and len(graph.inputs) == len(taken):
            raise _located(graph, CallState(taken), kind, graph.name)
        if _has(kind, taken):
            return outputs
        where = next(iter(frames(capture(2, 1))), None)
        raise _error(op, kind, where, dict(zip(_names(op, taken), taken, strict=False)), arrays)

    def kind_of(self, arrays: Sequence[Any]) -> str | None:
        """What of arrays is not finite: a NaN, else an infinity; None if all is."""
        if _has("NaN", arrays):
            return "NaN"
        return "infinity" if self._infinities and _has("infinity", arrays) else None


def _is_eager(value: Any) -> bool:
    return isinstance(value, Tensor) and hasattr(value, "_array")


def _has(kind: str, arrays: Sequence[Any]) -> bool:
    """Whether some array of floating-point numbers has a NaN, or an infinity."""
    return any(_counted(kind, a) for a in arrays)


def _counted(kind: str, array: Any) -> int:
    """How many elements of an array are NaN, or infinite."""
    if not isinstance(array, (np.ndarray, np.generic)) or array.dtype.kind in "biuOSUM":
        return 0
    if bool(np.isfinite(array).all()):
        return 0
    return int((np.isnan(array) if kind == "NaN" else np.isinf(array)).sum())


def _names(op: Op, arrays: Sequence[Any]) -> list[str]:
    names = list(op.input_names)
    if len(names) == len(arrays):
        return names
    return [f"{names[0]}[{i}]" for i in range(len(arrays))]


def _error(
    op: Op, kind: str, where: Frame | None, inputs: dict[str, Any], outputs: Sequence[Any]
) -> NonFiniteError:
    output = next(a for a in outputs if _counted(kind, a))
    count = f"{_counted(kind, output)} of {np.size(output)} elements"
    line = "" if where is None else f" at {where}"
    text = f"{op.name}{line} gave the first {kind}, in {count}"
    if where is not None and where.source:
        text += f"\n    {where.source}"
    shown = [f"{name}: {error_reports.shown(a)}" for name, a in inputs.items() if _is_data(a)]
    if shown:
        text += f"\n  It took {'; '.join(shown)}"
    error = NonFiniteError(text, op.name, kind)
    error.where, error.inputs = where, inputs
    return error


def _is_data(array: Any) -> bool:
    return isinstance(array, (np.ndarray, np.generic))


class _Produced(Exception):
    """An op has made a number that is not finite."""

    def __init__(self, node: Node, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        super().__init__()
        self.node, self.inputs, self.outputs = node, inputs, outputs


def _located(graph: Graph, state: CallState, kind: str, name: str) -> NonFiniteError:
    """The error for a call that gave a NaN, or an infinity, which runs once more to find the op."""
    infinite: list[Node] = []

    def observe(node: Node, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        if node.op.has_graphs or not node.op.numerics_checked or not inputs:
            return
        if not infinite and _has("infinity", outputs) and not _has("infinity", inputs):
            infinite.append(node)
        if _has(kind, outputs) and not _has(kind, inputs):
            raise _Produced(node, inputs, outputs)

    state.rewind()
    arguments = state.arguments()
    try:
        results = observed(graph, observe)(*arguments)
    except _Produced as produced:
        node = produced.node
        taken = dict(zip(_names(node.op, produced.inputs), produced.inputs, strict=False))
        error = _error(node.op, kind, line_of(node), taken, produced.outputs)
        error.node, error.path = node.traced_name, error_reports.steps(produced)
        text = [f"{name}: {error}", *[f"  It was {step}." for step in reversed(error.path)]]
        if kind == "NaN" and infinite and infinite[0] is not node:
            first = line_of(infinite[0])
            where = "" if first is None else f" at {first.short}: {first.source}"
            text.append(f"  Before that, {infinite[0].op.name} gave an infinity{where}")
        error.args = ("\n".join(text),)
        return error
    del results
    bad = [v.node.name for v, a in zip(graph.inputs, arguments, strict=True) if _brings(kind, a)]
    if bad:
        return NonFiniteError(f"{name}: {', '.join(bad)} had a {kind} before the call", "", kind)
    return NonFiniteError(
        f"{name}: machine code gave a {kind} that the interpreted graph does not give. "
        "intaglio.bisect(f, *args) says which pass or lowering does.",
        "",
        kind,
    )


def _brings(kind: str, argument: Any) -> bool:
    array = argument.read() if isinstance(argument, Resource) and argument.initialized else argument
    return _has(kind, [array])


__all__ = ["NonFiniteError", "check_nans"]
