"""Slices with a constant size and a computed start, `x[i : i + 3]`.

If the range of the loop counter shows that no iteration slices beyond the ends, all slices have the same
size, and the shapes of their users are known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from intaglio.base import shapes
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.opdef import door, raw
from intaglio.optimize.algebra import ALGEBRA
from intaglio.optimize.fold import fold_constants
from intaglio.optimize.integer_ranges import (
    Affine,
    Range,
    Ranges,
    is_integer_scalar,
    ranges_in_body,
)
from intaglio.optimize.specialize import specialized


@looks_for(lambda op: op is raw.StridedSlice or op.has_graphs)
def fix_slice_sizes(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with such slices replaced by `Slice` of a constant size."""
    if not any(_is_open(n) for g in (graph, *walk.nested(graph)) for n in g.nodes):
        return graph
    return _fixed(graph, {}, fuel or Fuel())


def _is_open(node: Node) -> bool:
    """Whether a slice of a value of known rank has unknown sizes."""
    return (
        node.op is raw.StridedSlice
        and node.inputs[0].dims is not None
        and not shapes.known(node.outputs[0].dims)
    )


def _fixed(graph: Graph, inputs: dict[int, Range], fuel: Fuel) -> Graph:
    """The rewritten graph, nested loops and branches included, for these ranges of its integer inputs."""
    ranges, new = Ranges(inputs), Rewriter(graph)
    fixed = False
    for node in graph.nodes:
        parts = _parts(node, ranges) if _is_open(node) else None
        if parts is not None and fuel.burn():
            new.root, fixed = node, True
            with door.pushed(new):
                new.replace(node, [_sliced(node, parts, new)])
        elif node.op.has_graphs:
            new.keep(node, _inside(node, ranges, new, fuel))
        else:
            new.keep(node)
    changed = new.result()
    if not fixed:
        return changed
    known = specialized(changed, [None] * len(changed.inputs))
    # Computed shapes are constants now, and their checks can be removed.
    return ALGEBRA.rewrite(fold_constants(known, fuel), fuel)


def _inside(node: Node, ranges: Ranges, new: Rewriter, fuel: Fuel) -> Node:
    """A node with its nested graphs rewritten."""
    current, attrs = new.copy(node), dict(node.attrs)
    if node.op.control_flow == "loop" and {"cond", "body"} <= attrs.keys():
        attrs["body"] = _fixed(node.attrs["body"], ranges_in_body(node, ranges), fuel)
    elif node.op.control_flow == "branch":
        for name, value in node.attrs.items():
            if isinstance(value, Graph):
                attrs[name] = _fixed(value, _operands(node, value, ranges), fuel)
            elif isinstance(value, tuple) and value and isinstance(value[0], Graph):
                attrs[name] = tuple([_fixed(g, _operands(node, g, ranges), fuel) for g in value])
    if all(attrs[name] is value for name, value in node.attrs.items()):
        return current
    return derived(node, current.inputs, attrs=attrs, control=current.control)


def _operands(node: Node, branch: Graph, ranges: Ranges) -> dict[int, Range]:
    """The ranges of a branch's inputs: the node's inputs without the first."""
    pairs = zip(branch.inputs, node.inputs[1:], strict=True)
    return {id(a): ranges.range(b) for a, b in pairs if is_integer_scalar(b)}


class _Part(NamedTuple):
    """An entry of a slice: `size` elements of an axis from a computed start."""

    entry: int
    axis: int
    size: int


def _parts(node: Node, ranges: Ranges) -> list[_Part] | None:
    """The entries with computed bounds; None unless the size of each is known."""
    source, begin, end, strides = node.inputs
    steps = strides.spec.value
    starts, stops = _elements(begin), _elements(end)
    if steps is None or starts is None or stops is None or begin.dtype.size < 4:
        return None
    masks = node.attrs
    plain = [i for i in range(len(starts)) if not _bit(masks, "ellipsis_mask", i)]
    plain = [i for i in plain if not _bit(masks, "new_axis_mask", i)]
    gap, axis = len(source.dims or ()) - len(plain), 0
    found: list[_Part] = []
    for i, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        if i not in plain:
            axis += gap if _bit(masks, "ellipsis_mask", i) else 0
            continue
        whole = _bit(masks, "begin_mask", i), _bit(masks, "end_mask", i)
        known = [
            masked or isinstance(v, int) for masked, v in zip(whole, (start, stop), strict=True)
        ]
        if not (_bit(masks, "shrink_axis_mask", i) or all(known)):
            size = None if any(whole) or steps[i] != 1 else _size(start, stop, source, axis, ranges)
            if size is None:
                return None
            found.append(_Part(i, axis, size))
        axis += 1
    return found or None


def _bit(masks: dict[str, Any], name: str, entry: int) -> bool:
    return bool(masks[name] >> entry & 1)


def _size(start: Any, stop: Any, source: SymbolicTensor, axis: int, ranges: Ranges) -> int | None:
    """The number of elements between two bounds, if it is the same in every run; else None."""
    first, last = (Affine(b, {}) if isinstance(b, int) else ranges.affine(b) for b in (start, stop))
    size = last.plus(first, -1)
    low, high = ranges.of(first)
    length = (source.dims or ())[axis]
    if size.terms or size.constant <= 0 or length is None:
        return None
    return size.constant if low >= 0 and high + size.constant <= length else None


def _elements(vector: SymbolicTensor) -> list[int | SymbolicTensor] | None:
    """The elements of a vector: numbers where they are known, else values."""
    if vector.spec.value is not None:
        return [int(n) for n in vector.spec.value]
    node = vector.node
    if node.op is not raw.Pack or not all(is_integer_scalar(v) for v in node.inputs):
        return None
    return [v if v.spec.value is None else int(v.spec.value) for v in node.inputs]


def _sliced(node: Node, parts: list[_Part], new: Rewriter) -> Any:
    """Records a `Slice` of these sizes, and the remaining entries of the slice applied to it."""
    source, begin, end, strides = new.values(node.inputs)
    dims, dtype = source.dims or (), begin.dtype.numpy
    firsts, stops = _elements(begin) or [], _elements(end) or []
    starts: list[Any] = [0] * len(dims)
    sizes = [-1 if d is None else d for d in dims]
    for part in parts:
        starts[part.axis], sizes[part.axis] = firsts[part.entry], part.size
    taken = raw.Slice(source, _vector(starts, dtype, new), new.constant(np.array(sizes, dtype)))
    # The slice takes the whole of the axes that `Slice` has cut.
    entries = {part.entry for part in parts}
    whole = sum(1 << i for i in entries)
    masks = {name: value for name, value in node.attrs.items() if name.endswith("_mask")}
    masks["begin_mask"] |= whole
    masks["end_mask"] |= whole
    if _takes_all(masks, len(firsts), strides.spec.value):
        return taken
    bounds = [
        _vector([0 if i in entries else v for i, v in enumerate(b)], dtype, new)
        for b in (firsts, stops)
    ]
    return raw.StridedSlice(taken, *bounds, strides, **masks)


def _takes_all(masks: dict[str, int], count: int, strides: Any) -> bool:
    """Whether a slice of this number of entries selects its whole input."""
    open_ends = masks["begin_mask"] & masks["end_mask"] | masks["ellipsis_mask"]
    return (
        open_ends == (1 << count) - 1
        and not masks["new_axis_mask"] | masks["shrink_axis_mask"]
        and all(strides == 1)
    )


def _vector(numbers: list[Any], dtype: Any, new: Rewriter) -> Any:
    """A vector of numbers and values."""
    if all(isinstance(n, int) for n in numbers):
        return new.constant(np.array(numbers, dtype))
    scalars = [new.constant(np.array(n, dtype)) if isinstance(n, int) else n for n in numbers]
    return raw.Pack(scalars, axis=0)
