"""Common subexpressions: equal pure work is done once."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType
from intaglio.ir.graph import Graph, Node
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.opdef import raw

# Constants of at most this many bytes are compared by their bytes, larger ones by identity.
MAX_COMPARED_BYTES = 1 << 12


def share_subexpressions(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with each pure node once for equal op, attributes and inputs."""
    fuel = fuel or Fuel()
    new = Rewriter(graph)
    first: dict[Any, Node] = {}
    for node in graph.nodes:
        current = new.copy(node)
        if node.op.stateful or node.op is raw.Placeholder:
            new.keep(node, current)
            continue
        key = _key(current)
        first_node = first.setdefault(key, current) if key is not None else current
        if first_node is not current and fuel.burn():
            new.replace(node, first_node.outputs)
        else:
            new.keep(node, current)
    return new.result()


def _key(node: Node) -> Any:
    """A key that is equal for nodes that compute the same, None if the node has none."""
    inputs = node.inputs
    key = (
        node.op.name,
        tuple([id(v) for v in inputs]),
        tuple([(k, _frozen(v)) for k, v in node.attrs.items()]) if node.attrs else (),
        tuple([id(c) for c in node.control]) if node.control else (),
    )
    try:
        hash(key)
    except TypeError:
        return None
    return key


_PLAIN = frozenset([str, int, DType])


def _frozen(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, np.ndarray):
        if value.dtype == object or value.nbytes > MAX_COMPARED_BYTES:
            return ("array", id(value))
        return ("array", value.dtype.str, value.dtype.num, value.shape, value.tobytes())
    if isinstance(value, float):
        return ("float", value.hex())  # -0.0 is not 0.0
    return (kind, value)
