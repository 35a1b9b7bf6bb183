"""Reductions of values in registers, in the order in which NumPy adds up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.errors import InvalidArgumentError
from intaglio.ir.graph import Node
from intaglio.native.functions import Functions
from intaglio.native.held import Held
from intaglio.native.lanes import Lanes, Unsupported
from intaglio.native.writer import Writer
from intaglio.ops.reduction import axes_of

Join = Callable[[Lanes, Lanes], Lanes]
OPS: dict[str, Callable[[Functions], Join]] = {
    "Sum": lambda s: s.add,
    "Mean": lambda s: s.add,
    "Prod": lambda s: s.mul,
    "Max": lambda s: s.maximum,
    "Min": lambda s: s.minimum,
    "All": lambda s: s.logical_and,
    "Any": lambda s: s.logical_or,
}
# NumPy adds so many sums of every so many elements side by side, if they lie in order.
ABREAST = 8


def reduction(w: Writer, node: Node, inputs: list[Any]) -> list[Held]:
    """One of `OPS` over axes that are known."""
    source, axis = inputs
    if axis.known is None:
        raise Unsupported(f"{node.op.name} over axes that are data")
    try:
        axes = axes_of(axis.known, len(source.shape))
    except InvalidArgumentError:
        raise Unsupported(f"{node.op.name} that fails") from None
    if node.op.name == "Mean" and source.kind.letter != "f":
        raise Unsupported("Mean of integers")
    shape = source.shape
    order = np.arange(source.count).reshape(shape)
    kept = [d for d in range(len(shape)) if d not in axes]
    columns = order.transpose([*kept, *axes]).reshape(
        int(np.prod([shape[d] for d in kept])), -1
    )
    result = tuple(
        [1 if d in axes else n for d, n in enumerate(shape) if node.attrs["keep_dims"] or d not in axes]
    )  # fmt: skip
    s = w.builder(len(columns))
    lanes = w.lanes(source)
    parts = [
        w.shuffled(lanes, source.count, columns[:, i].tolist())
        for i in range(columns.shape[1])
    ]
    trailing = list(axes) == list(range(len(kept), len(shape)))
    total = _total(OPS[node.op.name](s), parts, trailing)
    if node.op.name == "Mean":
        total = s.div(total, s.const(len(parts), total))
    return [w.in_registers(total, result)]


def _total(join: Join, parts: list[Lanes], in_order: bool) -> Lanes:
    """The parts joined, in NumPy's order."""
    if not in_order or len(parts) < ABREAST:
        return _one_by_one(join, parts)
    whole = len(parts) - len(parts) % ABREAST
    sums = parts[:ABREAST]
    for i in range(ABREAST, whole):
        sums[i % ABREAST] = join(sums[i % ABREAST], parts[i])
    while len(sums) > 1:
        sums = [join(a, b) for a, b in zip(sums[::2], sums[1::2], strict=True)]
    return _one_by_one(join, [*sums, *parts[whole:]])


def _one_by_one(join: Join, parts: list[Lanes]) -> Lanes:
    total = parts[0]
    for part in parts[1:]:
        total = join(total, part)
    return total
