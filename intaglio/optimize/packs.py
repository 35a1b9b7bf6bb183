"""Cancels pairs of Pack and Unpack."""

from __future__ import annotations

from intaglio.ir.graph import Graph, Node
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.opdef import raw


@looks_for(lambda op: op is raw.Unpack)
def cancel_packs(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with `unpack(pack(a, b))` as `a, b`, and `pack(unpack(x))` as `x`."""
    fuel = fuel or Fuel()
    new = Rewriter(graph)
    for node in graph.nodes:
        current = new.copy(node)
        values = None
        if node.op is raw.Unpack:
            values = _packed(current)
        elif node.op is raw.Pack:
            values = _unpacked(current)
        if values is not None and fuel.burn():
            new.replace(node, values)
        else:
            new.keep(node, current)
    return new.result()


def _packed(unpack: Node) -> list | None:
    """The values that were packed along the unpacked axis; None for any other node."""
    pack = unpack.inputs[0].node
    if pack.op is not raw.Pack or _axis(pack) is None or _axis(pack) != _axis(unpack):
        return None
    known = all([a.dims == b.dims for a, b in zip(pack.inputs, unpack.outputs, strict=True)])
    return list(pack.inputs) if known else None


def _unpacked(pack: Node) -> list | None:
    """The value whose parts are packed again, all of them in order; None for any other node."""
    unpack = pack.inputs[0].node
    if unpack.op is not raw.Unpack or len(pack.inputs) != len(unpack.outputs):
        return None
    if any([a is not b for a, b in zip(pack.inputs, unpack.outputs, strict=True)]):
        return None
    whole = unpack.inputs[0]
    if _axis(pack) is None or _axis(pack) != _axis(unpack):
        return None
    return [whole] if whole.dims == pack.outputs[0].dims else None


def _axis(node: Node) -> int | None:
    """The axis, counted from the front; None if the rank is not known."""
    whole = node.inputs[0] if node.op is raw.Unpack else node.outputs[0]
    if whole.dims is None:
        return None
    axis = node.attrs["axis"]
    return axis + len(whole.dims) if axis < 0 else axis
