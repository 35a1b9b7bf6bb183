"""Convolutions whose channels are in groups: a filter sees the channels of its own group.

A group of few filters would leave lanes idle. Several such groups are computed as one, with
block-diagonal filters: as many instructions, on whole vectors.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from intaglio.native.kernels import convolution
from intaglio.native.kernels.convolution import KINDS, Geometry
from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.sequence import Chain, Rounding
from intaglio.native.kernels.tap_convolution import guarded
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Kind
from intaglio.native.runtime import entry
from intaglio.ops.nn.convolution_by_taps import multiplies_padding

Run = Callable[..., Any]
# The kernel of an ungrouped convolution.
Whole = Callable[[], Run | None]

DIMS = ("elements", "count", "channels", "filters", "merged")
# The most groups that are merged where there is no kernel for groups.
MAX_GROUPS_AS_ONE = 8


class Groups(NamedTuple):
    """The number of groups, the channels and filters of each, and how many are merged into one."""

    number: int
    channels: int
    filters: int
    merged: int

    @property
    def parts(self) -> int:
        """The number of merged groups."""
        return self.number // self.merged


def _groups(g: Geometry, count: int, columns: int, dtype: Any) -> Groups:
    """Merges as many groups as their results, `columns` of each, have lanes in a vector."""
    lanes = jit.WIDTH // np.dtype(dtype).itemsize
    merged = max(
        [n for n in range(1, count + 1) if count % n == 0 and (n == 1 or n * columns <= lanes)]
    )
    return Groups(count, g.channels // count, g.filters // count, merged)


def forward(g: Geometry, count: int, dtype: Any, whole: Whole) -> Run | None:
    """The convolution: (images, filters) to the result. None where there is no kernel."""
    groups, zeros = _groups(g, count, g.filters // count, dtype), multiplies_padding(dtype)
    run = whole() if groups.parts == 1 else convolution.forward(_divided(g, groups), dtype)
    if run is None:
        return None
    alone, every = groups.merged == 1, g._replace(channel_groups=count)
    if alone and (zeros or not g.padded):
        return run
    if not alone:
        blocks = _rearranged("block_diagonal", g, groups, dtype)
        run = _chained(run, lambda chain, run: chain.then(run, 0, *chain.then(blocks, 1)))
    return guarded(run, "forward", every, dtype, by_filters=alone, zeros=zeros)


def filter_gradient(g: Geometry, count: int, dtype: Any, whole: Whole) -> Run | None:
    """The filter gradient: (images, gradients) to it."""
    groups = _groups(g, count, g.filters // count, dtype)
    run = whole() if groups.parts == 1 else convolution.filter_gradient(_divided(g, groups), dtype)
    if run is None:
        return None
    if groups.merged > 1:
        extracted = _rearranged("diagonal_blocks", g, groups, dtype)
        run = _chained(run, lambda chain, run: chain.then(extracted, *chain.then(run, 0, 1)))
    if not g.padded or multiplies_padding(dtype):
        return run
    return guarded(run, "filter_gradient", g._replace(channel_groups=count), dtype)


def input_gradient(g: Geometry, count: int, dtype: Any, whole: Whole) -> Run | None:
    """The input gradient: (filters, gradients) to it.

    Without strides it is the convolution of the gradients with the rotated filters.
    """
    groups = _groups(g, count, g.channels // count, dtype)
    opposite = convolution.transposed(_divided(g, groups))
    every = g._replace(channel_groups=count)
    if groups.parts > 1 and opposite is not None:
        run, rotated = (
            convolution.forward(opposite, dtype),
            _rearranged("rotated", g, groups, dtype),
        )
        if run is None:
            return None
        run = _chained(run, lambda chain, run: chain.then(run, 1, *chain.then(rotated, 0)))
        return guarded(run, "input_gradient", every, dtype, by_filters=groups.merged == 1)
    run = whole() if groups.parts == 1 or count <= MAX_GROUPS_AS_ONE else None
    if run is None:
        return None
    blocks = _rearranged("block_diagonal", g, groups._replace(merged=count), dtype)
    run = _chained(run, lambda chain, run: chain.then(run, *chain.then(blocks, 0), 1))
    return guarded(run, "input_gradient", every, dtype)


def _chained(run: Run, steps: Callable[[Chain, Run], list[int]]) -> Run:
    """A kernel of two arrays as a step of a chain."""

    def chained(run: Run) -> Run:
        chain = Chain(2)
        (result,) = steps(chain, run)
        return chain.returning(result)

    return run.within(chained) if isinstance(run, Rounding) else chained(run)


def _divided(g: Geometry, groups: Groups) -> Geometry:
    return g._replace(channel_groups=groups.parts)


def _rearranged(name: str, g: Geometry, groups: Groups, dtype: Any) -> Run:
    """The function that rearranges filters, or their gradient."""
    count, channels, filters, merged = groups
    shape = {
        "block_diagonal": (merged * channels, count * filters),
        "rotated": (merged * filters, count * channels),
        "diagonal_blocks": (channels, count * filters),
    }[name]
    dims = (math.prod(g.window), *groups)
    kernel = LIBRARIES[np.dtype(dtype)].entry(name, shared=False).for_dims(dims)
    return entry.filling(kernel, (*g.window, *shape), dtype)


def _rearranging(name: str, kind: Kind) -> Code:
    """Emits a kernel over the elements `from` to `to` of windows, by `name`: filters of groups to
    block-diagonal filters of merged groups; the same, rotated and with channels exchanged with
    columns; or the blocks of such filters."""
    code = Code(name, entry.KERNEL)
    dims = entry.load_dims(code, DIMS)
    count, channels, filters, merged = (dims[n] for n in DIMS[1:])
    source, target = (code.load("ptr", array, 8) for array in ("%ins", "%outs"))

    def element(matrix: str, row: str, rows: str, group: str, column: str, columns: str) -> str:
        """The index of an element in a row of all groups' columns."""
        at = code.integer("add", code.integer("mul", matrix, rows), row)
        at = code.integer("add", code.integer("mul", at, count), group)
        return code.integer("add", code.integer("mul", at, columns), column)

    def within(group: str, size: str, number: str) -> str:
        """The index of a channel within the merged groups."""
        place = code.integer("srem", group, merged)
        return code.integer("add", code.integer("mul", place, size), number)

    size = code.integer(
        "mul", code.integer("mul", channels, filters), code.integer("mul", count, merged)
    )
    with code.loop("%from", "%to") as tap:
        opposite = code.integer("sub", code.integer("sub", dims["elements"], tap), 1)
        if name != "diagonal_blocks":
            first = code.integer("mul", opposite if name == "rotated" else tap, size)
            code.zero(code.at(kind.memory, target, first), code.integer("mul", size, kind.bytes))
        with (
            code.loop("0", channels) as c,
            code.loop("0", count) as group,
            code.loop("0", filters) as f,
        ):
            own = element(tap, c, channels, group, f, filters)
            if name == "rotated":
                rows = code.integer("mul", merged, filters)
                other = element(opposite, within(group, filters, f), rows, group, c, channels)
            else:
                rows = code.integer("mul", merged, channels)
                other = element(tap, within(group, channels, c), rows, group, f, filters)
            read, written = (other, own) if name == "diagonal_blocks" else (own, other)
            value = code.load(kind.memory, code.at(kind.memory, source, read), kind.bytes)
            there = code.at(kind.memory, target, written)
            code.do(f"store {kind.memory} {value}, ptr {there}, align {kind.bytes}")
    code.do("ret void")
    return code


def _source(kind: Kind) -> Source:
    return Source(
        [Kernel(_rearranging(n, kind), 1) for n in ("block_diagonal", "rotated", "diagonal_blocks")]
    )


LIBRARIES = {dtype: Library(functools.partial(_source, kind)) for dtype, kind in KINDS.items()}
