"""Reductions: of values in registers in NumPy's order of addition, of values in memory by kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base.dtypes import float32
from intaglio.base.errors import InvalidArgumentError
from intaglio.ir.graph import Graph, Node
from intaglio.ir.memo import memoized
from intaglio.native.kernels import reductions
from intaglio.native.kernels.elementwise import MAX_CACHED_SHAPES, canonical_axes
from intaglio.native.kernels.fused_reduction import FusedReduction, Loops, loops_of, ranges_of
from intaglio.native.kernels.loop_nest import numbers_of
from intaglio.native.kernels.reroll import form
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Kind, Lanes, Unsupported, part_of
from intaglio.native.lowering import elementwise
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.half import converted
from intaglio.native.lowering.kernel_calls import stepped
from intaglio.native.lowering.operands import ArrayOperand, known
from intaglio.native.lowering.rules import lowering
from intaglio.native.runtime import entry
from intaglio.native.vector_math.division import divided
from intaglio.native.vector_math.functions import Functions
from intaglio.opdef import raw
from intaglio.ops.math.reduction import axes_of

Join = Callable[[Lanes, Lanes], Lanes]
# By the trait `reduces`; the sum of a mean is divided at the end.
JOINS: dict[str, Callable[[Functions], Join]] = {
    "sum": lambda s: s.add,
    "mean": lambda s: s.add,
    "product": lambda s: s.mul,
    "maximum": lambda s: s.greatest,
    "minimum": lambda s: s.least,
    "all": lambda s: s.logical_and,
    "any": lambda s: s.logical_or,
}
# NumPy accumulates so many interleaved partial sums of contiguous elements.
PAIRWISE_LANES = 8


def reduction(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """A reduction over constant axes."""
    source, axes = _operand_and_axes(node, inputs)
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
    # A complex number is two values.
    partial_sums = PAIRWISE_LANES // 2 if kind.letter == "c" else PAIRWISE_LANES
    total = _total(JOINS[node.op.reduces](s), parts, partial_sums if trailing else 0)
    if node.op.reduces in ("sum", "mean") and total.kind.letter in "fc" and len(parts) > 1:
        total = s.add(total, s.const(0, total))  # sums start with 0: that of -0.0 is 0.0
    if node.op is raw.Mean:
        count = s.const(len(parts), total)
        if total.kind.letter in "iu":
            total = divided(s, raw.TruncateDiv, total, count)
        else:
            total = s.div(total, count)
    return [w.in_registers(s.converted(total, kind), result)]


def _widened(s: Functions, node: Node, x: Lanes) -> Lanes:
    """The values that are added: 16-bit floats as float32, integers of a mean as 64 bits."""
    if node.op is raw.Mean and x.kind.letter in "iu":
        return s.converted(x, Kind("i64", 64, x.kind.letter))
    return s.widened(x)


def _operand_and_axes(node: Node, inputs: list[Any]) -> tuple[ArrayOperand, tuple[int, ...]]:
    """The operand, and the axes."""
    source, axis = inputs
    if axis.known is None:
        raise Unsupported(f"{node.op.name} over axes that are data")
    try:
        return source, axes_of(axis.known, len(source.shape))
    except InvalidArgumentError:
        raise Unsupported(f"{node.op.name} that fails") from None


def of_memory(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """The same of a value in memory, by a kernel."""
    source, axes = _operand_and_axes(node, inputs)
    name, kind, keep = node.op.name, source.kind, node.attrs["keep_dims"]
    dtype, shape = node.inputs[0].dtype.numpy, source.shape
    result = tuple([1 if d in axes else n for d, n in enumerate(shape) if keep or d not in axes])
    if all(shape[d] == 1 for d in axes):
        return [w.retain(source.reshaped(result))]
    if kind.letter != "c":
        run = reductions.reduction(node.op.reduces, shape, axes, keep, dtype)
        return stepped(w, node, run, [source])
    # Real and imaginary parts are summed separately.
    part, form = part_of(kind), (*shape, 2)
    if node.op is not raw.Sum:
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


# -- with the elementwise ops before them ---------------------------------------------------------


class _Fusion(NamedTuple):
    """A body of elementwise ops and reductions: the operands of the reductions, their kinds, and
    the axes."""

    elementwise: Graph
    hows: tuple[str, ...]
    shape: tuple[int, ...]
    axes: tuple[int, ...]


@memoized
def _fusion_of(body: Graph) -> _Fusion:
    ends = [v.node for v in body.outputs]
    ended = {id(n) for n in ends}
    axes = {id(n.inputs[1].node) for n in ends}
    inner = [n for n in body.nodes if id(n) not in ended and id(n) not in axes]
    graph = Graph(body.name, body.inputs, inner, [n.inputs[0] for n in ends])
    first, axis = ends[0].inputs
    shape = tuple(first.dims or ())
    over = axes_of(axis.node.attrs["value"], len(shape))
    return _Fusion(graph, tuple([n.op.reduces for n in ends]), shape, over)


class _Kernel(NamedTuple):
    """The kernel of a fused reduction, without its graph."""

    code: Code
    lanes: int
    cost: int
    kinds: list[Kind]


_kernels: dict[Any, _Kernel] = {}


def _kernel(body: Graph, loops: Loops, hows: Sequence[str], numbers: Sequence[Any]) -> _Kernel:
    """The kernel of a graph; graphs that differ in constants share it."""
    alike = form(body, numbers)
    key = (alike, loops, tuple(hows))
    found = _kernels.get(key) if alike is not None else None
    if found is None:
        writer = FusedReduction(body, loops, hows, numbers)
        found = _Kernel(writer.write(), writer.lanes, writer.cost, writer.kinds)
        if alike is not None:
            if len(_kernels) >= MAX_CACHED_SHAPES:
                _kernels.clear()
            _kernels[key] = found
    return found


@lowering(raw._FusedReduction)
def fused(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """_FusedReduction: reductions with their elementwise producers."""
    body, hows, shape, axes = _fusion_of(node.attrs["body"])
    kept = tuple([1 if d in axes else n for d, n in enumerate(shape)])
    if elementwise.broadcast([*inputs, ArrayOperand(w.kind(node.outputs[0]), shape)]) != shape:
        raise Unsupported("a reduction of another shape than was declared")
    pattern, dims = canonical_axes([*[h.shape for h in inputs], kept, shape])
    *moves, stays, _ = pattern.moves
    numbers = numbers_of(body)
    loops = loops_of(moves, stays, dims)
    kernel = _kernel(body, loops, hows, numbers)
    ranges = ranges_of(loops, dims, kernel.lanes)
    name = elementwise.named(w, "reduction", kernel.code)
    count, outputs = math.prod(dims), math.prod(kept)
    if (
        count >= entry.MIN_PARALLEL_ELEMENTS
        or count // kernel.lanes * kernel.cost >= elementwise.MIN_PARALLEL_INSTRUCTIONS
    ):
        name = w.on_all_threads(name, 1)
        w.long = True
    pointers = [*[w.pointer(h) for h in inputs], *w.numbers(numbers)]
    results: list[ArrayOperand] = []
    for value, kind in zip(node.outputs, kernel.kinds, strict=True):
        # 16-bit floats are accumulated as float32, and rounded once.
        results.append(
            w.allocate(value if kind == w.kind(value) else None, kind, known(value.dims))
        )
    divisor = count // outputs
    sums = [h.pointer for h in results]
    if ranges.chunks > 1:
        sums = [w.scratch(ranges.chunks * outputs * kind.bytes) for kind in kernel.kinds]
    dims = (*ranges, divisor if ranges.chunks == 1 else 1, *dims)
    w.call_function(name, pointers, sums, dims)
    if ranges.chunks > 1:
        for how, chunks, result in zip(hows, sums, results, strict=True):
            _join_chunks(w, how, chunks, (ranges.chunks, outputs), divisor, result)
    for i, value in enumerate(node.outputs):
        if results[i].kind != w.kind(value):
            wide, results[i] = results[i], converted(w, results[i], float32, value.dtype, value)
            w.release(wide)
    w.how = "one loop"
    return results


def _join_chunks(
    w: FunctionLowering,
    how: str,
    pointer: str,
    shape: tuple[int, int],
    divisor: int,
    result: ArrayOperand,
) -> None:
    """Reduces the results of chunks (chunks, outputs) to a value."""
    run = reductions.over_chunks(how, shape, divisor, result.kind)
    for step in run.steps[:-1]:
        between = w.scratch(math.prod(step.results[0][0]) * result.kind.bytes)
        w.call_step(step, [pointer], [between])
        pointer = between
    w.call_step(run.steps[-1], [pointer], [result.pointer])


def _total(join: Join, parts: list[Lanes], partial_sums: int) -> Lanes:
    """The sum of the parts in NumPy's order: interleaved partial sums, if any."""
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
