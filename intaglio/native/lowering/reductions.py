"""Reductions of values in registers, in the order in which NumPy adds up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.errors import InvalidArgumentError
from intaglio.ir.graph import Node
from intaglio.native.kernels import reductions
from intaglio.native.llvm.vectors import Kind, Lanes, Unsupported, part_of
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.kernel_calls import stepped
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.vector_math.division import divided
from intaglio.native.vector_math.functions import Functions
from intaglio.opdef import raw
from intaglio.ops.math.reduction import axes_of

Join = Callable[[Lanes, Lanes], Lanes]
# By the trait `reduces`; the mean's sum is divided at the end.
JOINS: dict[str, Callable[[Functions], Join]] = {
    "sum": lambda s: s.add,
    "mean": lambda s: s.add,
    "product": lambda s: s.mul,
    "maximum": lambda s: s.maximum,
    "minimum": lambda s: s.minimum,
    "all": lambda s: s.logical_and,
    "any": lambda s: s.logical_or,
}
# NumPy accumulates so many sums of every so many elements in parallel, if they are contiguous.
PAIRWISE_LANES = 8


def reduction(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """A reduction over axes that are known."""
    source, axes = _over(node, inputs)
    kind, shape = source.kind, source.shape
    if kind.letter == "c" and node.op in (raw.Max, raw.Min):
        raise Unsupported(f"{node.op.name} of complex numbers")
    order = np.arange(source.count).reshape(shape)
    kept = [d for d in range(len(shape)) if d not in axes]
    columns = order.transpose([*kept, *axes]).reshape(int(np.prod([shape[d] for d in kept])), -1)
    result = tuple(
        [
            1 if d in axes else n
            for d, n in enumerate(shape)
            if node.attrs["keep_dims"] or d not in axes
        ]
    )
    s = w.builder(len(columns))
    lanes = w.lanes(source)
    parts = [
        _widened(s, node, w.shuffled(lanes, source.count, columns[:, i].tolist()))
        for i in range(columns.shape[1])
    ]
    trailing = list(axes) == list(range(len(kept), len(shape)))
    # Complex numbers are two.
    partial_sums = PAIRWISE_LANES // 2 if kind.letter == "c" else PAIRWISE_LANES
    total = _total(JOINS[node.op.reduces](s), parts, partial_sums if trailing else 0)
    if node.op is raw.Mean:
        count = s.const(len(parts), total)
        if total.kind.letter in "iu":
            total = divided(s, raw.TruncateDiv, total, count)
        else:
            total = s.div(total, count)
    return [w.in_registers(s.converted(total, kind), result)]


def _widened(s: Functions, node: Node, x: Lanes) -> Lanes:
    """What is added up: 16-bit floats as float32, integers of which a mean is wanted as 64 bits."""
    if node.op is raw.Mean and x.kind.letter in "iu":
        return s.converted(x, Kind("i64", 64, x.kind.letter))
    return s.widened(x)


def _over(node: Node, inputs: list[Any]) -> tuple[ArrayOperand, tuple[int, ...]]:
    """What is reduced, and the axes."""
    source, axis = inputs
    if axis.known is None:
        raise Unsupported(f"{node.op.name} over axes that are data")
    try:
        return source, axes_of(axis.known, len(source.shape))
    except InvalidArgumentError:
        raise Unsupported(f"{node.op.name} that fails") from None


def of_memory(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """The same of a value in memory: a kernel's work."""
    source, axes = _over(node, inputs)
    name, kind, keep = node.op.name, source.kind, node.attrs["keep_dims"]
    dtype, shape = node.inputs[0].dtype.numpy, source.shape
    result = tuple([1 if d in axes else n for d, n in enumerate(shape) if keep or d not in axes])
    if all(shape[d] == 1 for d in axes):
        return [w.retain(source.reshaped(result))]
    if kind.letter != "c":
        run = reductions.reduction(node.op.reduces, shape, axes, keep, dtype)
        return stepped(w, node, run, [source])
    # The parts of complex numbers are sums of their own.
    part, form = part_of(kind), (*shape, 2)
    if node.op not in (raw.Sum, raw.Mean):
        raise Unsupported(f"{name} of complex numbers")
    run = reductions.reduction(node.op.reduces, form, axes, keep, np.dtype(f"f{part.bytes}"))
    steps = getattr(run, "steps", [])
    if not steps:
        raise Unsupported(f"{name} of {shape}")
    reduced = w.allocate(node.outputs[0], kind, result)
    w.long = True
    pointer = w.pointer(source)
    for step in steps[:-1]:
        between = w.scratch(int(np.prod(step.results[0][0])) * part.bytes)
        w.call_step(step, [pointer], [between])
        pointer = between
    w.call_step(steps[-1], [pointer], [reduced.pointer])
    w.how = "kernel"
    return [reduced]


def _total(join: Join, parts: list[Lanes], partial_sums: int) -> Lanes:
    """The parts joined, in NumPy's order: so many sums side by side, if any."""
    if not partial_sums or len(parts) < partial_sums:
        return _one_by_one(join, parts)
    whole = len(parts) - len(parts) % partial_sums
    sums = parts[:partial_sums]
    for i in range(partial_sums, whole):
        sums[i % partial_sums] = join(sums[i % partial_sums], parts[i])
    while len(sums) > 1:
        sums = [join(a, b) for a, b in zip(sums[::2], sums[1::2], strict=True)]
    return _one_by_one(join, [*sums, *parts[whole:]])


def _one_by_one(join: Join, parts: list[Lanes]) -> Lanes:
    total = parts[0]
    for part in parts[1:]:
        total = join(total, part)
    return total
