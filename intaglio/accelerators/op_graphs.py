"""An op that is called eagerly as a graph with nothing but the op in it, and what tells two calls apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base.dtypes import resource as resource_dtype
from intaglio.ir.graph import Graph
from intaglio.opdef import door
from intaglio.optimize.pipeline import optimize
from intaglio.runtime.eager import spec_of
from intaglio.trace.graph import record

# Attributes of random ops that say where a stream begins, which is an argument of a program.
SEEDS = frozenset(("seed", "seed2"))


def graph_of(
    op: Any,
    inputs: Sequence[Any],
    attrs: dict[str, Any],
    is_constant: Callable[[Any], bool] = lambda tensor: False,
) -> Graph:
    """The optimised graph of a call; inputs that are constants are no inputs of the graph."""
    tensors = [t for t in inputs if not is_constant(t)]

    def call(*arguments: Any) -> Any:
        left = iter(arguments)
        operands = [
            door.level().constant(t._array) if is_constant(t) else next(left) for t in inputs
        ]
        return door.carry_out(op, operands, attrs, None)

    specs = [(t.dtype, t.dims, f"x_{i}") for i, t in enumerate(tensors)]
    graph, result = record(call, op.name, specs)
    for value, tensor in zip(graph.inputs, tensors, strict=True):
        if tensor.dtype is resource_dtype:
            value.spec = spec_of(tensor)
    graph.outputs = list(result)
    return optimize(graph.freeze_function())


def key_of(
    op: Any, operands: Any, attrs: dict[str, Any], without: frozenset[str] = frozenset()
) -> Any:
    """What determines the graph of a call besides `operands`; None where that cannot be compared."""
    named = tuple([(k, v) for k, v in sorted(attrs.items()) if k not in without])
    key = (op.name, operands, named)
    try:
        hash(key)
    except TypeError:
        return None
    return key


__all__ = ["SEEDS", "graph_of", "key_of"]
