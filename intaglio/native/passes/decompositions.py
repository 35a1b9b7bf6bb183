"""Decomposition of ops into simpler ones before lowering, by their `native` rules."""

from __future__ import annotations

from typing import Any

from intaglio.base import shapes
from intaglio.ir.equality import attributes_key
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.operand_shapes import refused
from intaglio.opdef import raw
from intaglio.opdef.op import Rule
from intaglio.opdef.spec import Spec
from intaglio.trace.graph import record

# Recorded decompositions, by `_key`; cleared when full.
_recorded: dict[Any, Graph | None] = {}
MAX_CACHED_EXPRESSIONS = 1024
MAX_COMPARED_BYTES = 1 << 8  # the size of a constant


def expression(node: Node) -> Graph | None:
    """The decomposition of a node as a graph of its inputs; None if it has none.

    All shapes are known then; a node that the rule cannot express, or the op rejects, stays as it
    is. Nodes of one op, with equal attributes and input specs, share one graph.
    """
    rule = node.op.rules.get("native")
    values = (*node.inputs, *node.outputs)
    if rule is None or not all(shapes.known(v.dims) for v in values):
        return None
    key = _key(node)
    if key is None:
        return _expressed(node, rule)
    if key not in _recorded:
        if len(_recorded) >= MAX_CACHED_EXPRESSIONS:
            _recorded.clear()
        _recorded[key] = _expressed(node, rule)
    return _recorded[key]


def _key(node: Node) -> Any:
    """The key that determines a decomposition; None where constants are too large to compare."""
    inputs: list[Any] = []
    for value in node.inputs:
        inputs += (value.dtype, value.dims)
        if value.node.op is raw.Const:
            constant = value.node.attrs["value"]
            if constant.dtype.hasobject or constant.nbytes > MAX_COMPARED_BYTES:
                return None
            inputs.append(constant.tobytes())
    if node.op.has_graphs:
        return None
    key = (node.op, tuple(inputs), attributes_key(node))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _expressed(node: Node, rule: Rule) -> Graph | None:
    if refused(node, [v.dims for v in node.inputs]):
        return None
    specs = [(v.dtype, v.dims, "x") for v in node.inputs]

    def function(*tensors: Any) -> Any:
        inputs = [_known(a, v) for a, v in zip(tensors, node.inputs, strict=True)]
        known = node.op.known(inputs, node.attrs)
        return rule(**known | {name: known[name].spec for name in rule.specs})

    traced, decomposed = record(function, node.op.name, specs)
    if decomposed is NotImplemented:
        return None
    results: Any = decomposed if isinstance(decomposed, (list, tuple)) else [decomposed]
    traced.outputs.extend(results[: len(node.outputs)])
    return traced.freeze_function()


def _known(tensor: SymbolicTensor, value: SymbolicTensor) -> SymbolicTensor:
    """The input of a rule, with its value where that is known."""
    if value.node.op is raw.Const:
        tensor.spec = Spec(value.dtype, value.dims, value.node.attrs["value"])
    return tensor
