"""Common subexpressions: equal pure work is done once."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.ir.graph import Graph, Node
from intaglio.optimize.rebuild import Fuel, Rebuild

# Constants of at most this many bytes are compared by their bytes, larger ones by identity.
COMPARED = 1 << 12


def share_subexpressions(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with each pure node once for equal op, attributes and inputs."""
    fuel = fuel or Fuel()
    new = Rebuild(graph)
    first: dict[Any, Node] = {}
    for node in graph.nodes:
        current = new.copy(node)
        key = (
            None if node.op.stateful or node.op.name == "Placeholder" else _key(current)
        )
        twin = first.get(key) if key is not None else None
        if twin is not None and fuel.burn():
            new.replace(node, twin.outputs)
            continue
        if key is not None:
            first[key] = current
        new.keep(node, current)
    return new.done()


def _key(node: Node) -> Any:
    """Equal for nodes that compute the same, None if that cannot be told."""
    attrs = tuple([(k, _frozen(v)) for k, v in node.attrs.items()])
    key = (
        node.op.name,
        attrs,
        tuple(map(id, node.inputs)),
        tuple(map(id, node.control)),
    )
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype == object or value.nbytes > COMPARED:
            return ("array", id(value))
        return ("array", value.dtype.str, value.dtype.num, value.shape, value.tobytes())
    if isinstance(value, float):
        return ("float", value.hex())  # -0.0 is not 0.0
    return (type(value), value)
