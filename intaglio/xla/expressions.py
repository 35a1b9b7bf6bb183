"""The expressions of ops in simpler ones, by their rules `native` and `decompose`, as graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.ir.graph import Graph, Node
from intaglio.opdef.spec import Spec
from intaglio.trace.graph import record
from intaglio.xla.values import Untraceable

# The rules that are such expressions, best first.
RULES = ("native", "decompose")


def expression(node: Node, values: Sequence[Any]) -> Graph | None:
    """The expression that replaces a node, as a graph of the node's inputs; None without a rule.

    Known values are known to the rule. Raises Untraceable where the rule has no expression.
    """
    rule = next((node.op.rules[r] for r in RULES if r in node.op.rules), None)
    if rule is None or not all(hasattr(v, "shape") for v in values):
        return None
    specs = [(t.dtype, tuple(v.shape), "x") for t, v in zip(node.inputs, values, strict=True)]

    def function(*tensors: Any) -> Any:
        for tensor, value in zip(tensors, values, strict=True):
            if isinstance(value, np.ndarray):
                tensor.spec = Spec(tensor.dtype, value.shape, value)
        names = node.op.known(tensors, node.attrs)
        return rule(**names | {name: names[name].spec for name in rule.specs})

    graph, result = record(function, node.op.name, specs)
    if result is NotImplemented:
        raise Untraceable("it has no expression in other ops for these attributes")
    found: Any = result if isinstance(result, (list, tuple)) else [result]
    graph.outputs.extend(found[: len(node.outputs)])
    return graph.freeze_function()
