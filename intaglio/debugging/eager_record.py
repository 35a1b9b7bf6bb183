"""A call run eagerly with a record of each op: what it gave, and the line of the user's that has it.

A graph's nodes are matched with the record by op, file and line: the n-th time that a line's op runs in the graph
is the n-th time that it ran eagerly. Random ops of the graph are given the numbers that were drawn eagerly.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import nest, origins
from intaglio.base.composite import CompositeTensor
from intaglio.debugging.comparison import Scatter, agree
from intaglio.debugging.repeatable import RepeatableCall
from intaglio.function import control
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import convert, door
from intaglio.opdef.op import Op
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.observation import observed

# Perturbed runs whose ops are compared one by one.
MAX_SAMPLES = 3

# The op, and the file and line of the user's program.
Key = tuple[str, str, int]


def _key(op: Op, origin: origins.Origin) -> Key:
    frames = origins.frames(origin[:1])
    return (op.name, frames[0].filename, frames[0].lineno) if frames else (op.name, "", 0)


class EagerRun:
    """The outcome of a call that was run eagerly, on the variables themselves."""

    def __init__(self, call: RepeatableCall) -> None:
        self.ops: dict[Key, list[list[Any]]] = {}
        self.result: Any = None
        self.error: Exception | None = None
        self._thread = threading.get_ident()
        door.INSPECTORS.append(self._inspect)
        door.STATE.shift(+1)
        try:
            with control.stance("eager"):
                self.result = call.function.python_function(*call.args, **call.kwargs)
        except Exception as e:
            self.error = e
        finally:
            door.STATE.shift(-1)
            door.INSPECTORS.remove(self._inspect)

    def _inspect(
        self, op: Op, attrs: dict[str, Any], inputs: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> Sequence[Tensor]:
        if threading.get_ident() == self._thread and door.level().eager:
            arrays = [t._array for t in outputs]
            self.ops.setdefault(_key(op, origins.capture(2, 1)), []).append(arrays)
        return outputs

    @property
    def arrays(self) -> list[Any]:
        """The results, flat, as the graph has them."""
        flat = nest.flatten(nest.map_structure(_as_output, self.result), expand_composites=True)
        return [t._array for t in flat if isinstance(t, Tensor)]

    def drawing(self, graph: Graph) -> Callable[..., Any]:
        """The graph as a function whose random ops give what was drawn eagerly."""

        def run(*arrays: Any) -> Any:
            matches = _Matches(self.ops)

            def observe(node: Node, inputs: Any, outputs: Any) -> Any:
                return _drawn(matches.take(node)[1], outputs)

            return observed(graph, observe, lambda node: node.op.is_random)(*arrays)

        return run

    def first_unlike(self, call: RepeatableCall) -> Node | None:
        """The first node, in the order of the graph's run, that does not give what its op gave eagerly."""
        samples: list[dict[Any, Any]] = []

        def sampled(graph: Graph) -> Callable[..., Any]:
            def run(*arrays: Any) -> Any:
                found: dict[Any, Any] = {}
                samples.append(found)
                return self._beside(graph, lambda key, node, eager, now: found.update({key: now}))(
                    *arrays
                )

            return run

        Scatter(call, sampled).extend(MAX_SAMPLES)
        wrong: list[Node] = []

        def compare(key: Any, node: Node, eager: Any, now: Any) -> None:
            if wrong or eager is None or len(eager) != len(now):
                return
            others = [s[key] for s in samples if key in s]
            if not all(
                [
                    agree(b, a, [o[i] for o in others])
                    for i, (a, b) in enumerate(zip(eager, now, strict=True))
                ]
            ):
                wrong.append(node)

        call.state.run(self._beside(call.graph, compare))
        return wrong[0] if wrong else None

    def _beside(self, graph: Graph, compare: Callable[..., None]) -> Callable[..., Any]:
        """The graph as a function that calls `compare` for each node: what it gives now, and gave eagerly."""

        def run(*arrays: Any) -> Any:
            matches = _Matches(self.ops)

            def observe(node: Node, inputs: Any, outputs: Any) -> Any:
                if node.op.internal or node.op.has_graphs:
                    return None
                key, eager = matches.take(node)
                drawn = _drawn(eager, outputs) if node.op.is_random else None
                compare(key, node, eager, outputs if drawn is None else drawn)
                return drawn

            return observed(graph, observe)(*arrays)

        return run


def _drawn(eager: Any, outputs: Any) -> Any:
    """The numbers drawn eagerly, if they are as many of the same dtype."""
    alike = eager is not None and all(
        [a.shape == b.shape and a.dtype == b.dtype for a, b in zip(eager, outputs, strict=True)]
    )
    return eager if alike else None


def _as_output(value: Any) -> Any:
    if value is None or isinstance(value, (Tensor, CompositeTensor)):
        return value
    value = convert.outcome(value)
    return value if isinstance(value, CompositeTensor) else convert.to_tensor(value)


class _Matches:
    """The record of an eager run, taken from op by op while a graph runs."""

    def __init__(self, ops: dict[Key, list[list[Any]]]) -> None:
        self._ops = ops
        self._taken: dict[Key, int] = {}

    def take(self, node: Node) -> tuple[Any, list[Any] | None]:
        """What identifies this run of a node, and what its op gave eagerly at that point, or None."""
        key = _key(node.op, node.origin)
        index = self._taken[key] = self._taken.get(key, -1) + 1
        found = self._ops.get(key, ())
        return (key, index), found[index] if index < len(found) else None
