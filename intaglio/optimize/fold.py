"""Constant folding: evaluates pure nodes of constants.

A folded value has a known shape even where inference has left dimensions open, such as those of a slice of
a computed size. So the shapes of its users are inferred again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.opdef import door, raw
from intaglio.optimize.specialize import inferred
from intaglio.runtime import interpreter

# Maximum number of elements of a folded constant; larger ones cost memory in every saved graph.
MAX_FOLDED_ELEMENTS = 1 << 16


def fold_constants(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with every pure node of constant inputs, or known value, as a Const.

    A kernel that fails stays in the graph, so that the error is raised when it runs, and
    only if it runs.
    """
    fuel = fuel or Fuel()
    new = Rewriter(graph)
    for node in graph.nodes:
        current = new.copy(node)
        if current is not node and any(map(_is_open, node.outputs)):
            specs = inferred(current, current.inputs)
            current = derived(current, current.inputs, specs=specs, control=current.control)
        values = constant_outputs(current)
        if values is None or not fuel.burn():
            new.keep(node, current)
            continue
        new.root = node
        with door.pushed(new):
            constants = [door.level().constant(v) for v in values]
        new.replace(node, constants)  # type: ignore[arg-type]  # constants of the new graph
    return new.result()


def _is_open(value: SymbolicTensor) -> bool:
    """True if inference may find more about a value once it knows more about the inputs."""
    spec = value.spec
    if not shapes.known(spec.shape):
        return True
    return spec.value is None and spec.dtype.is_integer and len(spec.shape or ()) < 2


def constant_outputs(node: Node) -> list[Any] | None:
    """The values of a node's outputs, if they follow from constants; else None."""
    op, outputs = node.op, node.outputs
    if op in (raw.Const, raw.Placeholder) or op.stateful or not outputs:
        return None
    known = [v.spec.value for v in outputs]
    if all([isinstance(v, np.ndarray) for v in known]):
        # For example an element of a known shape.
        return known if _are_arrays(node) else None
    for v in node.inputs:
        if v.node.op is not raw.Const:
            return None
    if op.kernel_fn is None or not _are_arrays(node) or _is_large(node):
        return None
    if any(kind == "service" for kind, _ in op.kernel_order):
        return None
    try:
        result = interpreter.call_kernel(
            op, [v.node.attrs["value"] for v in node.inputs], node.attrs
        )
    except (
        Exception
    ):  # the kernel fails for these constants: the error is raised when the graph runs
        return None
    arrays = [np.asarray(a) for a in interpreter.flat_result(op, result)]
    return arrays if all(a.size <= MAX_FOLDED_ELEMENTS for a in arrays) else None


def _are_arrays(node: Node) -> bool:
    """True if all outputs can be written down as constants."""
    return all([v.dtype.is_numpy_compatible for v in node.outputs])


def _is_large(node: Node) -> bool:
    """True if an output may be too large for a constant, decided before it is computed."""
    return any((v.spec.count or 0) > MAX_FOLDED_ELEMENTS for v in node.outputs)
