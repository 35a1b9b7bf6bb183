"""Gradients of recursive calls, which are recursive calls of a gradient graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base.dtypes import resource
from intaglio.base.locks import lasting_lock
from intaglio.ir.graph import Graph, Node
from intaglio.ir.recursive_graph import RecursiveGraph
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.runtime import interpreter
from intaglio.trace.graph import record

# (graph, inputs) -> outputs, by an op; (node, wanted inputs, gradients) -> gradients.
Call = Callable[[Graph, Sequence[Any]], list[Any]]
Differentiate = Callable[[Node, tuple[int, ...], Sequence[Any]], Sequence[Any]]
_building = lasting_lock()


def gradient_of_recursion(
    node: Node,
    wanted: tuple[int, ...],
    grads: Sequence[Any],
    call: Call,
    differentiate: Differentiate,
) -> list[Any]:
    """The gradients of a recursive call: a call of the gradient graph, which is built on its first run.

    That graph recomputes the function's value and then runs the reverse pass over it.
    """
    graph: RecursiveGraph = node.attrs["f"]
    active = tuple([i for i, g in enumerate(grads) if g is not None])
    with _building:
        back = graph.derived.get(("gradient", wanted, active))
        if back is None:
            back = _Back(graph, wanted, active, call, differentiate).graph
            graph.derived["gradient", wanted, active] = back
    gradients = [convert.to_tensor(grads[i]) for i in active]
    return call(back, [*node.inputs, *gradients])


class _Back:
    """The gradient graph, recorded on its first run, when the function's graph is finished."""

    def __init__(
        self,
        graph: RecursiveGraph,
        wanted: tuple[int, ...],
        active: tuple[int, ...],
        call: Call,
        differentiate: Differentiate,
    ) -> None:
        self.of = graph
        self.wanted = wanted
        self.active = active
        self.call = call
        self.differentiate = differentiate
        self.recorded: Graph | None = None
        self.specs = [v.spec for v in graph.inputs]
        self.specs += [graph.outputs[i].spec for i in active]

        def stand_in(*values: Any) -> list[Any]:
            self._describe(values)
            found = [self._gradient_spec(values[i]) for i in wanted]
            return [raw.FakeParam(dtype=s.dtype, shape=s.shape) for s in found]

        self.graph = RecursiveGraph(self._recorded(stand_in), graph.limit)
        self.graph.resolve(self._target, interpreter.repeated)

    def _describe(self, values: Sequence[Any]) -> None:
        for value, spec in zip(values, self.specs, strict=True):
            value.spec = spec

    def _gradient_spec(self, value: Any) -> Any:
        return value.spec.value if value.dtype is resource else value.spec

    def _recorded(self, body: Callable[..., Any]) -> Graph:
        specs = [(s.dtype, s.shape, f"x_{i}") for i, s in enumerate(self.specs)]
        graph, graph.outputs = record(body, f"{self.of.name}_gradient", specs)
        return graph.freeze_function()

    def _target(self) -> Graph:
        if self.recorded is None:
            with _building:
                if self.recorded is None:
                    self.recorded = self._recorded(self._body)
        return self.recorded

    def _body(self, *values: Any) -> list[Any]:
        self._describe(values)
        count = len(self.of.inputs)
        inputs, gradients = values[:count], values[count:]
        outputs = self.call(self.of.target, inputs)
        grads: list[Any] = [None] * len(self.of.outputs)
        for index, gradient in zip(self.active, gradients, strict=True):
            grads[index] = gradient
        found = self.differentiate(outputs[0].node, self.wanted, grads)
        return [raw.Identity(_dense(g, inputs[i])) for g, i in zip(found, self.wanted, strict=True)]


def _dense(gradient: Any, value: Any) -> Tensor:
    if gradient is not None:
        return convert.to_tensor(gradient)
    if value.dtype is resource:
        value = raw.ReadVariableOp(value, dtype=value.spec.value.dtype)
    return raw.ZerosLike(value)
