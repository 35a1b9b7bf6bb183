"""Which node of a graph is the first that another way of running gives something else for.

The graph is run with one value as its only result. Where that is wrong, the values that its node takes are run so,
and the node all of whose operands are right is the one: with what is fused into it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import resource, variant
from intaglio.debugging.comparison import Scatter, agree
from intaglio.debugging.repeatable import RepeatableCall
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import copied
from intaglio.opdef import raw
from intaglio.runtime.observation import observed

# How many parts of a graph are run at most to find the node.
MAX_PARTS = 200

Run = Callable[..., Sequence[Any]]


class _Values:
    """The values of the nodes of a graph, and what they are where arithmetic is perturbed."""

    def __init__(self, call: RepeatableCall) -> None:
        self.samples: list[dict[tuple[int, int], Any]] = []
        self._known = {id(n) for n in call.graph.nodes}
        self.reference = self._recorded(lambda run: call.state.run(run), call.graph)
        scatter = Scatter(call, self._recording)
        scatter.extend(4)

    def _recording(self, graph: Graph) -> Run:
        def run(*arrays: Any) -> Any:
            found: dict[tuple[int, int], Any] = {}
            results = observed(graph, self._observer(found), self._is_known)(*arrays)
            self.samples.append(found)
            return results

        return run

    def _recorded(self, carry_out: Callable[[Run], Any], graph: Graph) -> dict[Any, Any]:
        found: dict[tuple[int, int], Any] = {}
        carry_out(observed(graph, self._observer(found), self._is_known))
        return found

    def _is_known(self, node: Node) -> bool:
        return id(node.source or node) in self._known and node.op is not raw._Perturb

    def _observer(self, found: dict[tuple[int, int], Any]) -> Any:
        def observe(node: Node, inputs: Any, outputs: Any) -> None:
            number = id(node.source or node)
            found.update({(number, i): array for i, array in enumerate(outputs)})

        return observe

    def is_right(self, value: SymbolicTensor, array: Any) -> bool:
        """Whether an array is the value but for rounding."""
        key = id(value.node.source or value.node), value.index
        if key not in self.reference:
            return True
        return agree(
            self.reference[key], array, [sample[key] for sample in self.samples if key in sample]
        )


class FirstWrong:
    """Looks for the first node that `make`, which makes a graph a function, gets wrong."""

    def __init__(self, call: RepeatableCall, make: Callable[[Graph], Run]) -> None:
        self._call, self._make = call, make
        self._values = _Values(call)
        self._index = {id(n): i for i, n in enumerate(call.graph.nodes)}
        self._wrong: dict[int, bool] = {}

    def node(self, output: int) -> tuple[Node, Any, Any] | None:
        """The node behind a wrong result, with what it should give and gives; None if it is not found.

        Results beyond those of the graph are variables that it writes.
        """
        graph = self._call.graph
        if output < len(graph.outputs):
            return self._descend([graph.outputs[output]])
        written = self._call.variables_of_runs[output - len(graph.outputs)]
        handles = {
            id(v) for v, a in zip(graph.inputs, self._call.arrays, strict=True) if a is written
        }
        writing = [
            n for n in graph.nodes if n.op.writes and any(id(v) in handles for v in n.inputs)
        ]
        found = self._descend([v for n in writing for v in n.inputs if id(v) not in handles])
        return found or ((writing[0], None, None) if writing else None)

    def _descend(self, values: Sequence[SymbolicTensor]) -> tuple[Node, Any, Any] | None:
        wrong = next((v for v in values if self._is_wrong(v)), None)
        if wrong is None:
            return None
        while True:
            operands = [v for v in wrong.node.inputs if v.node.inputs or v.node.op.stateful]
            deeper = next((v for v in operands if self._is_wrong(v)), None)
            if deeper is None:
                key = id(wrong.node.source or wrong.node), wrong.index
                return wrong.node, self._values.reference.get(key), self._run(wrong)
            wrong = deeper

    def _is_wrong(self, value: SymbolicTensor) -> bool:
        if value.dtype in (resource, variant) or len(self._wrong) >= MAX_PARTS:
            return False
        if id(value.node) not in self._index:
            return False
        known = self._wrong.get(id(value))
        if known is None:
            got = self._run(value)
            known = isinstance(got, Exception) or not self._values.is_right(value, got)
            self._wrong[id(value)] = known
        return known

    def _run(self, value: SymbolicTensor) -> Any:
        graph = self._call.graph
        nodes = graph.nodes[: self._index[id(value.node)] + 1]
        inputs = [v.node for v in graph.inputs]
        missing = [n for n in inputs if not any(n is m for m in nodes)]
        part = prune(Graph(graph.name, graph.inputs, [*missing, *nodes], [value]))
        try:
            return np.asarray(self._call.state.run(self._make(copied(part)))[0])
        except Exception as e:
            return e
