"""Splits slices at several dynamic indices into slices of the form `x[i]` or `x[:, i]`.

`x[i, :]`, `x[..., i]`, `x[i, j]` and `x[i, 1:-1]` with dynamic indices become one slice for each
index, of which lowering computes the address, and one with static bounds. The gradients of such
slices, zeros except for a part, become gradients of these slices, which sums add in place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from intaglio.base import shapes
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import looks_for
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.opdef import door, raw
from intaglio.ops.array.slicing import Masks, is_index, numpy_index

OPS = (raw.StridedSlice, raw.StridedSliceGrad)
FULL = slice(None)


class _At(NamedTuple):
    """A dynamic index: its position among the entries of `begin`."""

    entry: int


class Part(NamedTuple):
    """A slice of a value of a shape: a dynamic index of one axis, or a static NumPy index of all
    axes."""

    shape: tuple[int, ...]
    axis: int
    at: _At | tuple[Any, ...]


@looks_for(lambda op: op in OPS)
def split_slices(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with such slices, and their gradients, split."""
    found = {id(n): parts for n in graph.nodes if n.op in OPS and (parts := _parts(n))}
    if not found:
        return graph
    fuel = fuel or Fuel()
    new = Rewriter(graph)
    for node in graph.nodes:
        parts = found.get(id(node))
        if parts is None or not fuel.burn():
            new.keep(node)
            continue
        new.root = node
        with door.pushed(new):
            new.replace(node, [_written(node, parts, new.values(node.inputs))])
        new.absorb([node], new.nodes[-1])
    return prune(new.result())


def _written(node: Node, parts: list[Part], inputs: list[SymbolicTensor]) -> Any:
    """The slices one after the other, or their gradients from the last to the first."""
    if node.op is raw.StridedSlice:
        value, begin = inputs[:2]
        for part in parts:
            value = raw.StridedSlice(value, **_bounds(part, begin))
        return value
    begin, value = inputs[1], inputs[4]
    for part in reversed(parts):
        shape = np.asarray(part.shape, begin.dtype.numpy)
        value = raw.StridedSliceGrad(shape, dy=value, **_bounds(part, begin))
    return value


def _bounds(part: Part, begin: SymbolicTensor) -> dict[str, Any]:
    """The inputs and attributes of the `StridedSlice` of a part."""
    if isinstance(part.at, _At):
        before = (1 << part.axis) - 1
        entries = [*[np.zeros((), begin.dtype.numpy)] * part.axis, _entry(begin, part.at.entry)]
        at = raw.Pack(entries, axis=0)
        ones = np.ones(part.axis + 1, begin.dtype.numpy)
        masks = {"begin_mask": before, "end_mask": before, "shrink_axis_mask": 1 << part.axis}
        return {"begin": at, "end": at, "strides": ones, **masks}
    numbers: list[tuple[int, int, int]] = []
    masks = {"begin_mask": 0, "end_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0}
    for i, item in enumerate(part.at):
        if isinstance(item, slice):
            masks["begin_mask"] |= (item.start is None) << i
            masks["end_mask"] |= (item.stop is None) << i
            numbers.append((item.start or 0, item.stop or 0, item.step or 1))
        else:
            masks["new_axis_mask" if item is None else "shrink_axis_mask"] |= 1 << i
            numbers.append((item or 0, (item or 0) + 1, 1))
    begins, ends, strides = np.array(numbers, begin.dtype.numpy).T.copy()
    return {"begin": begins, "end": ends, "strides": strides, **masks}


def _entry(begin: SymbolicTensor, entry: int) -> Any:
    """The element of the vector `begin` at a position."""
    if begin.node.op is raw.Pack:
        return begin.node.inputs[entry]
    first, last = (np.array([n], begin.dtype.numpy) for n in (entry, entry + 1))
    return raw.StridedSlice(begin, first, last, np.ones_like(first), shrink_axis_mask=1)


def _parts(node: Node) -> list[Part] | None:
    """The slices that a node becomes; None if it is not split."""
    if node.op is raw.StridedSlice:
        dims = node.inputs[0].dims
    else:
        dims = node.inputs[0].spec.partial
    begin, end, strides = [v.spec.partial for v in node.inputs[1:4]]
    if node.control or node.device or not shapes.known(dims) or 0 in dims:
        return None
    if begin is None or end is None or strides is None or None in strides:
        return None
    attrs = node.attrs
    masks = Masks(
        attrs["begin_mask"],
        attrs["end_mask"],
        attrs["ellipsis_mask"],
        attrs["new_axis_mask"],
        attrs["shrink_axis_mask"],
    )
    index = _index(begin, end, strides, masks, len(dims))
    entries = [i for i in index or () if isinstance(i, _At)]
    if index is None or not entries:
        return None
    simple = is_index(attrs, len(begin) - 1) and len(entries) == 1
    return None if simple else _planned(tuple(dims), index)


def _index(
    begin: tuple[int | None, ...],
    end: tuple[int | None, ...],
    strides: tuple[int, ...],
    masks: Masks,
    rank: int,
) -> list[Any] | None:
    """A NumPy index with an entry for each axis, `_At` for a dynamic one; None if a range is
    dynamic."""
    for i, (b, e) in enumerate(zip(begin, end, strict=True)):
        bit = 1 << i
        if bit & (masks.ellipsis | masks.new_axis):
            continue
        if bit & masks.shrink:
            if strides[i] != 1:
                return None
        elif (b is None and not bit & masks.begin) or (e is None and not bit & masks.end):
            return None
    first, last = ([0 if n is None else n for n in bounds] for bounds in (begin, end))
    try:
        found: list[Any] = list(numpy_index(first, last, strides, masks))
    except ValueError:  # the op's kernel raises the error
        return None
    for i, b in enumerate(begin):
        if (
            b is None
            and (1 << i) & masks.shrink
            and found[i] is not Ellipsis
            and found[i] is not None
        ):
            found[i] = _At(i)
    gap = rank - sum(i is not None and i is not Ellipsis for i in found)
    if gap < 0 or sum(i is Ellipsis for i in found) > 1:
        return None
    if Ellipsis not in found:
        found.append(Ellipsis)
    at = found.index(Ellipsis)
    return [*found[:at], *[FULL] * gap, *found[at + 1 :]]


def _planned(shape: tuple[int, ...], index: list[Any]) -> list[Part] | None:
    """Leading indices first, which are views of rows; then the static part; then the other indices."""
    parts: list[Part] = []
    while isinstance(index[0], _At):
        parts.append(Part(shape, 0, index[0]))
        shape, index = shape[1:], index[1:]
        if not index:
            return parts
    known = tuple([FULL if isinstance(i, _At) else i for i in index])
    left = [i for i in index if isinstance(i, (_At, slice)) or i is None]
    if any(i != FULL for i in known):
        parts.append(Part(shape, 0, known))
        try:
            shape = np.broadcast_to(np.int8(0), shape)[known].shape
        except IndexError:  # the op's kernel raises the error
            return None
    if 0 in shape:
        return None
    for entry in [i for i in left if isinstance(i, _At)]:
        axis = left.index(entry)
        parts.append(Part(shape, axis, entry))
        shape, left = (*shape[:axis], *shape[axis + 1 :]), [*left[:axis], *left[axis + 1 :]]
    return parts
