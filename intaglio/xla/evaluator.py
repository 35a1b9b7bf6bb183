"""Carries a graph out on jax, op by op, while jax traces: the graph becomes one XLA program.

A value is known (an array of NumPy), a tracer, a resource of the program, or a tensor list. What
follows from known values is computed at once by the op's kernel, shapes above all. Every other op
goes the first of these routes that it has:

- `rule`: the function in `intaglio.xla.rules` that is registered with the op,
- `scalar`: the op's elementwise expression,
- `expression`: the op's expression in simpler ops, its rules `native` and `decompose`,
- `kernel`: its NumPy kernel, recorded on jax (`intaglio.xla.kernels`).

An op with none of them raises `Untraceable`: the program is not XLA's then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from intaglio.base.errors import OpError
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.operand_shapes import refused
from intaglio.opdef import raw
from intaglio.runtime import interpreter
from intaglio.xla import kernels, registry, scalars
from intaglio.xla.expressions import expression
from intaglio.xla.state import Counters, Resource, State, Variable
from intaglio.xla.values import Untraceable

# Results of known values with more elements are computed by the program, not stored in it.
MAX_FOLDED_ELEMENTS = 1 << 14
ROUTES = ("rule", "scalar", "expression", "kernel")


class NodeUntraceable(Untraceable):
    """`Untraceable`, with the node."""

    def __init__(self, node: Node, reason: str) -> None:
        super().__init__(f"{node.op.name}: {reason}")
        self.node = node
        self.reason = reason
        # The node of the program's own graph, in whose branch or body this one may be.
        self.outermost = node


class Evaluator:
    """Carries out graphs for one program; `state` is what they read and write."""

    def __init__(self, state: State, used: Callable[[Node, str], None] | None = None) -> None:
        self.state = state
        self._used = used
        self._values: dict[int, Any] = {}
        # Of arguments of the program that are those of replicas, all in one array: by the ids of the values.
        self.stacked: dict[tuple[int, ...], Any] = {}
        # What the nodes `_OfReplica` of the graph of a replica give.
        self.own: dict[int, Any] = {}

    def within(self, state: State | None = None) -> Evaluator:
        """An evaluator for a branch or body, with a state of its own."""
        inner = Evaluator(state or self.state.copy(), self._used)
        inner.own = self.own
        return inner

    def note(self, node: Node, route: str) -> None:
        """Notes for reports how a node is carried out."""
        if self._used is not None:
            self._used(node, route)

    def run(self, graph: Graph, inputs: Sequence[Any]) -> list[Any]:
        """The outputs of a graph. Raises NodeUntraceable for a node without a program."""
        values = {id(v): operands for v, operands in zip(graph.inputs, inputs, strict=True)}
        before, self._values = self._values, values
        node: Any = None
        try:
            for node in graph.nodes:
                if node.op is raw.Const:
                    values[id(node.outputs[0])] = node.attrs["value"]
                elif not (node.op is raw.Placeholder and id(node.outputs[0]) in values):
                    found = self.evaluate(node, [values[id(v)] for v in node.inputs])
                    values.update(zip(map(id, node.outputs), found, strict=True))
        except NodeUntraceable as e:
            e.outermost = node
            raise
        finally:
            self._values = before
        return [values[id(v)] for v in graph.outputs]

    def operands(self, value: SymbolicTensor) -> list[Any]:
        """The inputs of the node that made a value of the graph that runs, for a rule of the two nodes."""
        return [self._values[id(v)] for v in value.node.inputs]

    def evaluate(self, node: Node, inputs: Sequence[Any]) -> list[Any]:
        """The outputs of one node. Raises NodeUntraceable for one that is an error: the host words it."""
        try:
            return self._evaluated(node, inputs)
        except OpError as e:
            raise NodeUntraceable(node, e.message) from e

    def _evaluated(self, node: Node, inputs: Sequence[Any]) -> list[Any]:
        if self._is_known(node, inputs):
            result = interpreter.call_kernel(node.op, inputs, node.attrs, node)
            return [np.asarray(v) for v in interpreter.flat_result(node.op, result)]
        if _is_refused(node, inputs):  # what the program would broadcast
            raise NodeUntraceable(node, "it raises an error for these shapes")
        reason = ""
        for route in ROUTES:
            try:
                found = getattr(self, f"_by_{route}")(node, inputs)
            except NodeUntraceable as e:
                if route != "expression":
                    raise
                reason = reason or str(e)
                continue
            except Untraceable as e:
                reason = reason or str(e)
                continue
            if found is not None:
                self.note(node, route)
                return found
        raise NodeUntraceable(node, reason or "there is no rule for it")

    def _is_known(self, node: Node, inputs: Sequence[Any]) -> bool:
        op = node.op
        if op.stateful or op.has_graphs or op.kernel_fn is None or kernels.services(op):
            return False
        if op.sets_layout:
            return False
        if not all(type(v) is np.ndarray or isinstance(v, np.generic) for v in inputs):
            return False
        return all(
            v.dtype.is_numpy_compatible and (v.spec.count or 0) <= MAX_FOLDED_ELEMENTS
            for v in node.outputs
        )

    def _by_rule(self, node: Node, inputs: Sequence[Any]) -> list[Any] | None:
        rule = registry.RULES.get(node.op.name)
        if rule is None:
            return None
        operands = registry.arguments(rule, node, inputs, self)
        try:
            result = rule.fn(*operands)
        except kernels.REFUSED as e:
            raise Untraceable(kernels.refusal(e)) from e
        if result is None:
            return []
        if not isinstance(result, (tuple, list)):
            return [result]
        flat: list[Any] = []
        for item in result:
            flat.extend(item) if isinstance(item, list) else flat.append(item)
        return flat

    def _by_scalar(self, node: Node, inputs: Sequence[Any]) -> list[Any] | None:
        if "scalar" not in node.op.rules:
            return None
        return self._typed(node, [scalars.expressed(node.op, inputs, node.attrs)])

    def _by_expression(self, node: Node, inputs: Sequence[Any]) -> list[Any] | None:
        graph = expression(node, inputs)
        if graph is None:
            return None
        return self._typed(node, Evaluator(self.state).run(graph, inputs))

    def _by_kernel(self, node: Node, inputs: Sequence[Any]) -> list[Any] | None:
        op = node.op
        if op.reaches_outside:
            raise Untraceable(OUTSIDE[op.reaches_outside])
        values = [v.within(self.state) if isinstance(v, Variable) else v for v in inputs]
        if not all(isinstance(v, (Resource, jax.Array, np.ndarray, np.generic)) for v in values):
            raise Untraceable("its kernel works on no plain array")
        wanted = kernels.services(op)
        if op.stateful and not wanted and not any(isinstance(v, Resource) for v in values):
            raise Untraceable("its effect is outside of the program")
        operands = (
            {"stream": Counters(self.stream_key(node), self.state)} if "stream" in wanted else {}
        )
        return self._typed(node, kernels.record(op, values, node.attrs, operands))

    @staticmethod
    def stream_key(node: Node) -> Any:
        """The key of a random op's stream in the state: the traced node."""
        return node.source or node

    @staticmethod
    def _typed(node: Node, results: list[Any]) -> list[Any]:
        """The results, if they have the dtypes of the node's outputs."""
        for value, result in zip(node.outputs, results, strict=True):
            if result.dtype != value.dtype.numpy:
                raise Untraceable(f"its kernel gives {result.dtype}, not {value.dtype.name}")
        return results


def _is_refused(node: Node, inputs: Sequence[Any]) -> bool:
    """True for operands of unlike shapes that an op of one element at a time refuses."""
    op = node.op
    if len(inputs) < 2 or op.batching == "broadcast":
        return False
    if "scalar" not in op.rules and op.batching != "alike":
        return False
    dims = [getattr(v, "shape", None) for v in inputs]
    return any(d != dims[0] for d in dims) and refused(node, dims)


# What keeps an op out of a program, by its trait `reaches_outside`.
OUTSIDE = {
    "prints": "it prints",
    "python": "it calls Python",
    "files": "it reads or writes files",
    "clock": "it reads the clock",
    "tables": "it looks up a table",
    "data": "it reads a dataset",
}

__all__ = ["Evaluator", "NodeUntraceable"]
