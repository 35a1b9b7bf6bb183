"""Lowering of ops that only copy elements, derived from their NumPy kernels.

The elements of a small result are a permutation of elements of small inputs, for which registers
are shuffled (`index_maps`). For an input in memory the kernel gets an array of its shape: if it
returns a view, its strides and offset describe the copy, or that none is needed. Other results are
copied in runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.ir.graph import Node
from intaglio.native.analysis.sizes import is_small
from intaglio.native.kernels.elementwise import row_major_strides
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Kind, Unsupported
from intaglio.native.lowering.elementwise import shared
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.index_maps import index_map_of, index_maps_of, permuted
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.lowering.rules import lowering
from intaglio.native.runtime import entry
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.runtime import interpreter

# Ops that concatenate their inputs, and the input that is the axis.
AXES: dict[Op, int | None] = {
    raw.Pack: None,
    raw.ConcatV2: -1,
    raw.Concat: 0,
    raw.ParallelConcat: None,
}


def data_of(op: Op) -> list[int]:
    """The indices of the op's inputs that are data; the others are parameters, and must be static."""
    return [op.input_names.index(name) for name in op.data_inputs]


def moved(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """Results that are copies of elements of one or several inputs."""
    data = data_of(node.op)
    sources = [inputs[i] for i in data]
    for i, operand in enumerate(inputs):
        if i not in data and operand.known is None:
            raise Unsupported(f"{node.op.name} whose {node.op.input_names[i]} is data")
    if not all(h.small for h in sources) or not _all_small(node):
        results = _large(w, node, inputs)
        if results is not None:
            return results
    found = index_maps_of(node, inputs, data)
    return [permuted(w, v, sources, o) for v, o in zip(node.outputs, found, strict=True)]


def _large(
    w: FunctionLowering, node: Node, inputs: Sequence[ArrayOperand]
) -> list[ArrayOperand] | None:
    """Results in memory that are strided copies or views of inputs; None for others."""
    write = BOXES.get(node.op)
    if write is not None:
        return write(w, node, inputs)
    if len(node.op.data_inputs) > 1 or node.op is raw.ScatterNd:
        return None
    return _from_memory(w, node, inputs)


def _all_small(node: Node) -> bool:
    """True if every result whose shape is known fits into registers."""
    forms = [v.dims for v in node.outputs]
    return not any(shapes.known(d) and not is_small(d) for d in forms)


def _like(operand: ArrayOperand) -> Any:
    """An array of a value's shape, with elements of its size."""
    return np.empty(operand.shape, "c16" if operand.kind.bytes == 16 else f"u{operand.kind.bytes}")


def _from_memory(
    w: FunctionLowering, node: Node, inputs: Sequence[ArrayOperand]
) -> list[ArrayOperand] | None:
    """Results that are views of the input's memory, or strided copies; None for others."""
    (at,) = data_of(node.op)
    source = inputs[at]
    whole = _like(source)
    arrays = [h.known for h in inputs]
    arrays[at] = whole
    form = FORMS.get(node.op)
    if form:
        view, shape = form(*arrays)
        views, forms = [view], [shape]
    else:
        views = index_map_of(node, arrays)
        forms = [v.shape for v in views]
    if any(not v.size for v in views):
        raise Unsupported("no elements")
    if not all(np.may_share_memory(v, whole) for v in views):
        return None
    base = w.pointer(source)
    results: list[ArrayOperand] = []
    for value, view, shape in zip(node.outputs, views, forms, strict=True):
        offset = view.ctypes.data - whole.ctypes.data
        if view.flags.c_contiguous:
            pointer = w.code.at("i8", base, str(offset)) if offset else base
            part = ArrayOperand(source.kind, shape, pointer=pointer, blocks=source.blocks)
            if source.pointer:
                results.append(w.retain(part))
                continue
            # Stored in memory for this node only.
            result = w.allocate(value, source.kind, shape)
            w.copy(pointer, result.pointer, result.bytes)
            results.append(result)
            continue
        result = w.allocate(value, source.kind, shape)
        steps = [s // source.kind.bytes for s in view.strides]
        start = w.code.at("i8", base, str(offset))
        copied(w, source.kind, start, result.pointer, view.shape, steps, None)
        results.append(result)
    return results


def _tiled(x: Any, multiples: Any) -> tuple[Any, tuple[int, ...]]:
    """Tile as a view: each axis split into one of its repetitions, with stride 0, and itself."""
    inner = [n for d in x.shape for n in (1, d)]
    outer = [n for m, d in zip(multiples.tolist(), x.shape, strict=True) for n in (m, d)]
    whole = [m * d for m, d in zip(multiples.tolist(), x.shape, strict=True)]
    return np.broadcast_to(x.reshape(inner), outer), tuple(whole)


def _broadcast_view(x: Any, shape: Any) -> tuple[Any, tuple[int, ...]]:
    """BroadcastTo and Fill as a view."""
    view = np.broadcast_to(x, shape.tolist())
    return view, view.shape


# Views that replace kernels that copy, and the shape of the result, which may differ from the
# view's.
FORMS: dict[Op, Callable[..., tuple[Any, tuple[int, ...]]]] = {
    raw.Tile: _tiled,
    raw.Fill: lambda dims, x: _broadcast_view(x, dims),
    raw.BroadcastTo: _broadcast_view,
}


# -- boxes of a larger value -------------------------------------------------------------


def _padded(
    w: FunctionLowering, node: Node, inputs: Sequence[ArrayOperand]
) -> list[ArrayOperand] | None:
    """Pad and PadV2: zeros or a constant, and the value inside."""
    source = inputs[0]
    amounts = inputs[1].known.tolist()
    shape = tuple([d + sum(a) for d, a in zip(source.shape, amounts, strict=True)])
    if 0 in shape or not source.count or np.any(inputs[1].known < 0):
        raise Unsupported(f"{node.op.name} of no elements")
    pointer = w.pointer(source)
    result = w.allocate(node.outputs[0], source.kind, shape)
    if len(inputs) > 2:
        copied(w, source.kind, w.pointer(inputs[2]), result.pointer, shape, (0,) * len(shape), None)
    else:
        zeroed(w, result)
    steps = row_major_strides(shape)
    first = sum(s * before for s, (before, _) in zip(steps, amounts, strict=True))
    target = w.code.at(source.kind.memory, result.pointer, str(first))
    copied(w, source.kind, pointer, target, source.shape, row_major_strides(source.shape), steps)
    return [result]


def _sliced_gradient(
    w: FunctionLowering, node: Node, inputs: Sequence[ArrayOperand]
) -> list[ArrayOperand] | None:
    """StridedSliceGrad: zeros, and the gradient in the slice."""
    gradient = inputs[4]
    shape = tuple(inputs[0].known.tolist())
    result = ArrayOperand(gradient.kind, shape)
    part = _part(node, result, inputs)
    if not result.count or part.shape != gradient.shape:
        raise Unsupported("a slice of another shape")
    pointer = w.pointer(gradient)
    result = w.allocate(node.outputs[0], gradient.kind, shape)
    zeroed(w, result)
    _into_part(w, result, part, pointer)
    return [result]


def _sliced_update(
    w: FunctionLowering, node: Node, inputs: Sequence[ArrayOperand]
) -> list[ArrayOperand] | None:
    """TensorStridedSliceUpdate: a copy of the value with another slice."""
    source, value = inputs[0], inputs[4]
    part = _part(node, source, inputs)
    if part.shape != value.shape:
        raise Unsupported("a slice of another shape")
    pointers = [w.pointer(source), w.pointer(value)]
    result = w.allocate(node.outputs[0], source.kind, source.shape)
    w.copy(pointers[0], result.pointer, result.bytes)
    _into_part(w, result, part, pointers[1])
    return [result]


def _part(node: Node, whole: ArrayOperand, inputs: Sequence[ArrayOperand]) -> Any:
    """The slice by begin, end and strides, as a view."""
    bounds = [h.known for h in inputs[1:4]]
    masks = {k: v for k, v in node.attrs.items() if k.endswith("_mask")}
    memory = _like(whole)
    # With one more axis a single element is a view as well, if no index counts from the end.
    last = 0 if masks["ellipsis_mask"] else 1
    shaped = memory[..., np.newaxis] if last else memory
    try:
        part = interpreter.call_kernel(raw.StridedSlice, [shaped, *bounds], masks)
        part = part[..., 0] if last else part
    except Exception:
        raise Unsupported(f"{node.op.name} that fails") from None
    if part.size and not np.may_share_memory(part, memory):
        raise Unsupported("a slice that is no view")
    return part


def _into_part(w: FunctionLowering, whole: ArrayOperand, part: Any, pointer: str) -> None:
    if not part.size:
        return
    kind = whole.kind
    offset = part.ctypes.data - part.base.ctypes.data if part.base is not None else 0
    target = w.code.at("i8", whole.pointer, str(offset))
    steps = [s // kind.bytes for s in part.strides]
    copied(w, kind, pointer, target, part.shape, row_major_strides(part.shape), steps)


def zeroed(w: FunctionLowering, operand: ArrayOperand) -> None:
    """Fills a value's memory with zeros."""
    w.code.zero(operand.pointer, str(operand.bytes))


BOXES: dict[Op, Callable[..., list[ArrayOperand] | None]] = {
    raw.Pad: _padded,
    raw.PadV2: _padded,
    raw.StridedSliceGrad: _sliced_gradient,
    raw.TensorStridedSliceUpdate: _sliced_update,
}


@lowering(*AXES)
def joined(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """Pack and ConcatV2: several values as one."""
    name, at = node.op.name, AXES[node.op]
    data = [h for i, h in enumerate(inputs) if at is None or i != at % len(inputs)]
    if at is not None and inputs[at].known is None:
        raise Unsupported(f"{name} along an axis that is data")
    if len({h.kind for h in data}) > 1 or not all(isinstance(h, ArrayOperand) for h in data):
        raise Unsupported(f"{name} of several kinds")
    arrays = [np.broadcast_to(np.int8(0), h.shape) for h in data]
    if at is not None:
        arrays.insert(at % len(inputs), inputs[at].known)
    (form,) = index_map_of(node, arrays)
    if not form.size:
        raise Unsupported("no elements")
    if is_small(form.shape):
        indices = [i for i in range(len(inputs)) if at is None or i != at % len(inputs)]
        (order,) = index_maps_of(node, inputs, indices)
        return [permuted(w, node.outputs[0], data, order)]
    stacked = node.op is raw.Pack
    axis = node.attrs["axis"] if stacked else 0 if at is None else int(inputs[at].known)
    axis %= form.ndim
    sources = [w.pointer(h) for h in data]
    result = w.allocate(node.outputs[0], data[0].kind, form.shape)
    steps, first = row_major_strides(form.shape), 0
    for operand, pointer in zip(data, sources, strict=True):
        shape = (*operand.shape[:axis], 1, *operand.shape[axis:]) if stacked else operand.shape
        if operand.count:
            target = w.code.at(operand.kind.memory, result.pointer, str(first))
            copied(w, operand.kind, pointer, target, shape, row_major_strides(shape), steps)
        first += shape[axis] * steps[axis]
    return [result]


@lowering(raw._View)
def view(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """_View outside of loops: a copy."""
    (source,) = inputs
    attrs = node.attrs
    start = w.within(w.pointer(source), attrs["offset"] * source.kind.bytes)
    result = w.allocate(node.outputs[0], source.kind, attrs["shape"])
    copied(w, source.kind, start, result.pointer, attrs["shape"], attrs["strides"], None)
    return [result]


@lowering(raw._Wrap)
def wrapped(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """_Wrap: the value inside, then along each axis, the last one first, borders from the opposite
    end; corners are copied from borders."""
    (source,) = inputs
    before, after, dims = node.attrs["before"], node.attrs["after"], source.shape
    pointer = w.pointer(source)
    whole = tuple([b + n + a for b, n, a in zip(before, dims, after, strict=True)])
    result = w.allocate(node.outputs[0], source.kind, whole)
    steps = row_major_strides(whole)

    def at(begin: Sequence[int]) -> str:
        first = sum(b * s for b, s in zip(begin, steps, strict=True))
        return w.within(result.pointer, first * source.kind.bytes)

    copied(w, source.kind, pointer, at(before), dims, row_major_strides(dims), steps)
    for axis in reversed(range(len(dims))):
        n, b = dims[axis], before[axis]
        for count, origin, there in ((b, n, 0), (after[axis], b, b + n)):
            box = (*dims[:axis], count, *whole[axis + 1 :])
            begin = [*before[:axis], origin, *[0] * (len(dims) - axis - 1)]
            target = [*before[:axis], there, *begin[axis + 1 :]]
            if count:
                copied(w, source.kind, at(begin), at(target), box, steps, steps)
    return [result]


# -- copying between strides -----------------------------------------------------------------


def copied(
    w: FunctionLowering,
    kind: Kind,
    source: str,
    target: str,
    shape: Sequence[int],
    steps: Sequence[int],
    target_steps: Sequence[int] | None,
) -> None:
    """Copies elements; `steps` are the strides of the source, the target is contiguous by default."""
    axes = _merged(list(zip(shape, steps, target_steps or row_major_strides(shape), strict=True)))
    rank = len(axes)
    form = _innermost(axes[-1], kind.bytes)
    name = w.kernel("copy", _copier, rank, kind.bytes, form)
    if math.prod(shape) >= entry.MIN_PARALLEL_ELEMENTS and axes[0][0] > 1:
        name = shared(w, name, 1)
        w.long = True
    lengths, froms, tos = zip(*axes, strict=True)
    w.call_function(name, [source], [target], [*lengths, *froms, *tos])
    w.how = "copy"


def _merged(axes: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Merges adjacent axes that are contiguous: length and strides."""
    found: list[tuple[int, int, int]] = []
    for length, step, to in axes:
        if length == 1:
            continue
        if found and found[-1][1] == step * length and found[-1][2] == to * length:
            found[-1] = (found[-1][0] * length, step, to)
        else:
            found.append((length, step, to))
    return found or [(1, 1, 1)]


def _innermost(axis: tuple[int, int, int], size: int) -> str:
    """The form of the copy along the last axis: contiguous runs, gathers or scatters, or single
    elements."""
    length, step, to = axis
    if step == to == 1:
        return "run"
    if size in (4, 8) and length >= jit.WIDTH // size:
        return "gather" if to == 1 and step else "scatter" if step == 1 else "single"
    return "single"


def _copier(name: str, rank: int, size: int, form: str) -> Code:
    """A kernel that copies elements of a size, along the last axis as `_innermost` says."""
    code = Code(name, entry.KERNEL, "internal void")
    dims = [code.load("i64", code.at("i64", "%dims", str(i)), 8) for i in range(3 * rank)]
    source, target = (code.load("ptr", table, 8) for table in ("%ins", "%outs"))
    kind = f"i{8 * size}"

    def level(d: int, source: str, target: str) -> None:
        last = d == rank - 1
        start, stop = ("%from", "%to") if d == 0 else ("0", dims[d])
        if last and form == "run":
            first, count = (
                code.integer("mul", n, size) for n in (start, code.integer("sub", stop, start))
            )
            code.copy(code.at("i8", target, first), code.at("i8", source, first), count)
            return
        if last and form != "single":
            steps = dims[rank + d], dims[2 * rank + d]
            start = _vectors_copied(code, kind, size, form, (source, target), steps, (start, stop))
        with code.loop(start, stop) as i:
            here = code.at(kind, source, code.integer("mul", i, dims[rank + d]))
            there = code.at(kind, target, code.integer("mul", i, dims[2 * rank + d]))
            if last:
                value = code.load(kind, here, size)
                code.do(f"store {kind} {value}, ptr {there}, align {size}")
            else:
                level(d + 1, here, there)

    level(0, source, target)
    code.do("ret void")
    return code


def _vectors_copied(
    code: Code,
    kind: str,
    size: int,
    form: str,
    pointers: tuple[str, str],
    steps: tuple[str, str],
    bounds: tuple[str, str],
) -> str:
    """Copies whole vectors of elements that are strided on one side; returns the first element that
    is left."""
    lanes = jit.WIDTH // size
    vector, indices = f"<{lanes} x {kind}>", f"<{lanes} x i64>"
    numbers = f"<{', '.join([f'i64 {i}' for i in range(lanes)])}>"
    there = f"<{lanes} x ptr>"
    start, stop = bounds
    whole = code.integer("sdiv", code.integer("sub", stop, start), lanes)
    middle = code.integer("add", start, code.integer("mul", whole, lanes))
    step = code.splat(lanes, "i64", steps[form == "scatter"])
    offset = code.let(f"mul {indices} {step}, {numbers}")
    with code.loop(start, middle, lanes) as i:
        tops = [
            code.at(kind, pointer, code.integer("mul", i, step))
            for pointer, step in zip(pointers, steps, strict=True)
        ]
        rest = ("i32", str(size)), (f"<{lanes} x i1>", "splat (i1 true)")
        suffix = f"v{lanes}{kind}.v{lanes}p0"
        apart = code.let(f"getelementptr {kind}, ptr {tops[form == 'scatter']}, {indices} {offset}")
        if form == "gather":
            passed = (vector, "poison")
            name = f"llvm.masked.gather.{suffix}"
            value = code.call(vector, name, (there, apart), *rest, passed)
            code.do(f"store {vector} {value}, ptr {tops[1]}, align {size}")
        else:
            value = code.load(vector, tops[0], size)
            name = f"llvm.masked.scatter.{suffix}"
            code.call("void", name, (vector, value), (there, apart), *rest)
    return middle
