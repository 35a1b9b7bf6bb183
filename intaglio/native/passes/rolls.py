"""Replaces several rolls of one array by slices of one copy with wrapped borders.

The neighbours of each cell of a torus are as many rolls, or concatenations of two slices of an
array in the other order. Of one copy with a border, all of them are views that loops read in place.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import shapes
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.native.analysis.sizes import is_small, numeric
from intaglio.native.kernels.elementwise import row_major_strides
from intaglio.native.passes.elementwise_fusion import has_vector_code
from intaglio.opdef import raw
from intaglio.runtime import interpreter

# A border has at most one such part of the length of an axis.
MAX_SHARE = 8
# The ops that may roll an array.
ROLLS = (raw.Roll, raw.ConcatV2)


class _Rolled(NamedTuple):
    """A node that rolls a value, and its shift along each axis, at most half of the axis."""

    node: Node
    shifts: tuple[int, ...]


@looks_for(lambda op: op in ROLLS)
def wrap_rolled(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with one `_Wrap` for each array of which loops read several rolls, and `_View`s of
    it."""
    fuel = fuel or Fuel()
    found = {k: rolls for k, rolls in _rolls(graph).items() if len(rolls) > 1 and fuel.burn()}
    if not found:
        return graph
    source_of = {id(r.node): key for key, rolls in found.items() for r in rolls}
    shifts = {id(r.node): r.shifts for rolls in found.values() for r in rolls}
    copies: dict[int, Node] = {}
    unused = _parts_of(graph, source_of)
    new = Rewriter(graph)
    for node in graph.nodes:
        key = source_of.get(id(node))
        if key is None:
            if id(node) in unused:
                new.drop(node)
            else:
                new.keep(node)
            continue
        rolls = found[key]
        rank = len(shifts[id(node)])
        before = [max(0, *[r.shifts[d] for r in rolls]) for d in range(rank)]
        after = [max(0, *[-r.shifts[d] for r in rolls]) for d in range(rank)]
        if key not in copies:
            label = new.label(f"{node.name}/wrapped")
            source = new.value(_source(node))
            copies[key] = new.add(_wrapped(node, source, (before, after), label))
        whole = copies[key].outputs[0]
        dims = whole.dims
        steps = row_major_strides(dims if shapes.known(dims) else ())
        begin = [b - s for b, s in zip(before, shifts[id(node)], strict=True)]
        offset = sum(b * step for b, step in zip(begin, steps, strict=True))
        attrs = {"offset": offset, "strides": tuple(steps), "shape": node.outputs[0].dims}
        new.keep(node, derived(node, [whole], op=raw._View, attrs=attrs))
    return new.result()


def _parts_of(graph: Graph, replaced: dict[int, int]) -> set[int]:
    """The ids of slices that only replaced nodes use."""
    users, results = walk.uses(graph), {id(v) for v in graph.outputs}
    return {
        id(node)
        for node in graph.nodes
        if node.op is raw.StridedSlice
        and id(node.outputs[0]) not in results
        and (takers := users.get(id(node.outputs[0])))
        and all(id(n) in replaced for n in takers)
    }


def _source(node: Node) -> SymbolicTensor:
    """The value that a node rolls."""
    return node.inputs[0] if node.op is raw.Roll else node.inputs[0].node.inputs[0]


def _wrapped(
    node: Node, source: SymbolicTensor, borders: tuple[list[int], list[int]], name: str
) -> Node:
    """The `_Wrap` that copies a value with its opposite ends before and after it."""
    before, after = map(tuple, borders)
    attrs: dict[str, Any] = {"before": before, "after": after}
    specs = raw._Wrap.output_specs([source.spec], attrs)
    return derived(node, [source], op=raw._Wrap, attrs=attrs, specs=specs, name=name)


def _rolls(graph: Graph) -> dict[int, list[_Rolled]]:
    """The nodes that roll large values and that only loops use, by the id of the rolled value."""
    rolling = [n for n in graph.nodes if n.op in ROLLS and not n.control and not n.device]
    rolled = [_Rolled(n, shifts) for n in rolling if (shifts := _shifts_of(n)) is not None]
    if len(rolled) < 2:
        return {}
    users, results = walk.uses(graph), {id(v) for v in graph.outputs}
    found: dict[int, list[_Rolled]] = {}
    for roll in rolled:
        value = roll.node.outputs[0]
        takers = users.get(id(value), [])
        if id(value) not in results and takers and all(has_vector_code(n) for n in takers):
            found.setdefault(id(_source(roll.node)), []).append(roll)
    return found


def _shifts_of(node: Node) -> tuple[int, ...] | None:
    """The shift of a node along each axis; None if it does not roll, or too far."""
    value = node.outputs[0]
    dims = value.dims
    if not shapes.known(dims) or is_small(dims) or dims[-1] == 1 or not math.prod(dims):
        return None
    if not numeric(value.dtype) or value.dtype.is_complex:
        return None
    shifts = _of_roll(node, len(dims)) if node.op is raw.Roll else _of_parts(node, dims)
    if shifts is None:
        return None
    near = [(s + n // 2) % n - n // 2 for s, n in zip(shifts, dims, strict=True)]
    if any(abs(s) * MAX_SHARE > n for s, n in zip(near, dims, strict=True)):
        return None
    return tuple(near)


def _of_roll(node: Node, rank: int) -> list[int] | None:
    if any(v.node.op is not raw.Const for v in node.inputs[1:]):
        return None
    by, axes = (np.atleast_1d(v.node.attrs["value"]).tolist() for v in node.inputs[1:])
    if len(by) != len(axes) or not all(-rank <= a < rank for a in axes):
        return None  # the kernel raises the error
    shifts = [0] * rank
    for s, axis in zip(by, axes, strict=True):
        shifts[axis] += s
    return shifts


def _of_parts(node: Node, dims: tuple[int, ...]) -> list[int] | None:
    """The shifts of a concatenation of an array's last and first part, in this order."""
    *parts, axis = node.inputs
    if len(parts) != 2 or axis.node.op is not raw.Const:
        return None
    last, first = (v.node for v in parts)
    sliced = last.op is raw.StridedSlice and first.op is raw.StridedSlice
    if not sliced or last.inputs[0] is not first.inputs[0] or last.inputs[0].dims != dims:
        return None
    at = int(axis.node.attrs["value"]) % len(dims)
    part = parts[0].dims
    count = part[at] if shapes.known(part) and len(part) == len(dims) else 0
    wanted = [(dims[at] - count, last), (0, first)]
    if all(_begins_at(n, part, at, dims) for n, part in wanted):
        return [count if d == at else 0 for d in range(len(dims))]
    return None


def _begins_at(number: int, part: Node, axis: int, dims: tuple[int, ...]) -> bool:
    """True if a slice has all elements from an index of an axis on, up to its own length."""
    if part.control or any(v.node.op is not raw.Const for v in part.inputs[1:]):
        return False
    whole = np.empty(dims, np.uint8)
    bounds: list[Any] = [v.node.attrs["value"] for v in part.inputs[1:]]
    try:
        view = interpreter.call_kernel(part.op, [whole, *bounds], part.attrs)
    except Exception:  # the kernel raises the error when the node runs
        return False
    others = [n for d, n in enumerate(dims) if d != axis]
    if view.ndim != len(dims) or [n for d, n in enumerate(view.shape) if d != axis] != others:
        return False
    offset = view.ctypes.data - whole.ctypes.data
    return view.strides == whole.strides and offset == number * whole.strides[axis]


__all__ = ["wrap_rolled"]
