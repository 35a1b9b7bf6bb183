"""The verifier: a graph that passes can be run, printed and rewritten."""

from __future__ import annotations

from intaglio.base import shapes
from intaglio.base.errors import ShapeError
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import raw


class InvalidGraphError(ValueError):
    """A graph violates an invariant; the message names the node and the rule."""


def verify(graph: Graph) -> None:
    """Checks the graph and those nested in it. Raises InvalidGraphError.

    The rules: names are unique; inputs and control inputs come from earlier nodes; number
    and dtypes of inputs are the signature's; outputs have the specs of inference; the graph's
    inputs are placeholders of it, and its outputs values of it.
    """
    for nested in walk.nested(graph):
        _verify_one(nested)
    _verify_one(graph)


def _verify_one(graph: Graph) -> None:
    defined: set[int] = set()
    seen: set[int] = set()
    names: set[str] = set()
    for node in graph.nodes:
        where = f"graph {graph.name}, node {node.name} ({node.op.name})"
        if node.name in names:
            raise InvalidGraphError(f"{where}: the name is taken")
        for value in node.inputs:
            if id(value) not in defined:
                raise InvalidGraphError(f"{where}: input {value.name} is not defined before")
        for control in node.control:
            if id(control) not in seen:
                raise InvalidGraphError(
                    f"{where}: control input {control.name} does not come before"
                )
        _verify_node(node, where)
        names.add(node.name)
        seen.add(id(node))
        defined.update(map(id, node.outputs))
    for value in graph.inputs:
        if id(value) not in defined or value.node.op is not raw.Placeholder:
            raise InvalidGraphError(
                f"graph {graph.name}: input {value.name} is no placeholder of it"
            )
    for value in graph.outputs:
        if id(value) not in defined:
            raise InvalidGraphError(f"graph {graph.name}: output {value.name} is not defined")


def _verify_node(node: Node, where: str) -> None:
    try:
        grouped = node.op.sig.group(node.inputs, node.attrs)
    except (IndexError, KeyError, ValueError) as e:
        raise InvalidGraphError(
            f"{where}: the inputs do not fit {node.op.sig.text!r}: {e}"
        ) from None
    count = sum(len(g) if isinstance(g, list) else 1 for g in grouped)
    if count != len(node.inputs):
        raise InvalidGraphError(f"{where}: {len(node.inputs)} inputs for {node.op.sig.text!r}")
    missing = [a for a in node.op.attr_names if a not in node.attrs]
    if missing:
        raise InvalidGraphError(f"{where}: attributes {missing} are missing")
    _verify_types(node, where)
    try:
        specs = node.op.output_specs([v.spec for v in node.inputs], node.attrs)
    except (ShapeError, ValueError) as e:
        raise InvalidGraphError(f"{where}: {e}") from None
    if len(specs) != len(node.outputs):
        raise InvalidGraphError(
            f"{where}: {len(node.outputs)} outputs, inference says {len(specs)}"
        )
    for value, spec in zip(node.outputs, specs, strict=True):
        if value.dtype is not spec.dtype or not shapes.compatible(value.dims, spec.shape):
            raise InvalidGraphError(f"{where}: output {value.spec!r}, inference says {spec!r}")


def _verify_types(node: Node, where: str) -> None:
    types = node.op.types_of(node.inputs, node.attrs)
    grouped = node.op.sig.group(node.inputs, node.attrs)
    for arg, (_, fixed, allowed), value in zip(
        node.op.sig.inputs, node.op.slots, grouped, strict=True
    ):
        for i, item in enumerate(value if isinstance(value, list) else [value]):
            want = fixed or (types[arg.types][i] if arg.types else types.get(arg.var or ""))
            if item.dtype is not want:
                raise InvalidGraphError(f"{where}: {arg.name} is {item.dtype.name}, not {want}")
            if allowed is not None and item.dtype not in allowed:
                raise InvalidGraphError(f"{where}: {arg.name} may not be {item.dtype.name}")
