"""Resizing of images: each new row or column is a weighted sum of a few old ones, in the kernel's
order.

Taps and weights are static: the maps of `ops/image/resampling.py` are data of a kernel that applies
any of them along any axis.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, float32, float64
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Kind, Lanes, Unsupported
from intaglio.native.lowering.elementwise import shared
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.half import converted
from intaglio.native.lowering.operands import ArrayOperand, constant
from intaglio.native.lowering.rules import lowering
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions
from intaglio.opdef import late
from intaglio.ops.image import resampling
from intaglio.ops.image.resampling import Taps

DIMS = ("parts", "size", "inner", "out", "taps")


@lowering(late.ResizeBilinear, late.ResizeBicubic, late.ResizeArea)
def resized(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """ResizeBilinear, ResizeBicubic and ResizeArea, to float32."""
    images, attrs = inputs[0], node.attrs
    outs = _size(node, images, inputs[1])
    if late.ResizeArea.is_op(node.op):
        maps = [
            resampling.area(n, m, attrs["align_corners"])
            for n, m in zip(images.shape[1:3], outs, strict=True)
        ]
    else:
        if images.shape[1:3] == outs:
            return [converted(w, images, node.inputs[0].dtype, float32, node.outputs[0])]
        maps = _maps(node, images.shape[1:3], outs)
    return [_resampled(w, node, images, maps, float32)]


@lowering(late.ResizeBilinearGrad, late.ResizeBicubicGrad)
def gradient(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """The gradients of resizing with respect to images."""
    grads, images = inputs
    if len(images.shape) != 4 or len(grads.shape) != 4 or not images.count * grads.count:
        raise Unsupported(f"{node.op.name} of no elements")
    maps = _maps(node, images.shape[1:3], grads.shape[1:3])
    wide = float64 if node.outputs[0].dtype is float64 else float32
    return [_resampled(w, node, grads, [resampling.transposed(t) for t in maps], wide)]


@lowering(late.ResizeNearestNeighborGrad)
def nearest_gradient(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """ResizeNearestNeighborGrad."""
    grads, dtype = inputs[0], node.outputs[0].dtype
    sizes, attrs = _size(node, grads, inputs[1]), node.attrs
    _check(node)
    maps = [
        resampling.transposed(
            resampling.nearest(n, m, attrs["align_corners"], attrs["half_pixel_centers"])
        )
        for n, m in zip(sizes, grads.shape[1:3], strict=True)
    ]
    return [_resampled(w, node, grads, maps, float32 if dtype.size == 2 else dtype)]


def _size(node: Node, images: ArrayOperand, size: ArrayOperand) -> tuple[int, int]:
    """The new height and width."""
    if size.known is None or size.shape != (2,):
        raise Unsupported(f"{node.op.name} whose size is data")
    height, width = size.known.tolist()
    if len(images.shape) != 4 or min(height, width) <= 0 or not images.count:
        raise Unsupported(f"{node.op.name} of no elements")
    return height, width


def _check(node: Node) -> None:
    if node.attrs["align_corners"] and node.attrs["half_pixel_centers"]:
        raise Unsupported(f"{node.op.name} that fails")


def _maps(node: Node, sizes: Any, outs: Any) -> list[Taps]:
    """The maps from one size to another, as in the op's kernel."""
    _check(node)
    taps: Any = getattr(node.op, "taps")  # noqa: B009  # resizing ops have it
    options = node.attrs["align_corners"], node.attrs["half_pixel_centers"]
    return [taps(n, m, *options) for n, m in zip(sizes, outs, strict=True)]


def _resampled(
    w: FunctionLowering, node: Node, images: ArrayOperand, maps: list[Taps], dtype: DType
) -> ArrayOperand:
    """The images resampled by both maps, in a dtype; the axis that leaves fewer rows comes first."""
    (value,), source = node.outputs, images
    if node.inputs[0].dtype is not dtype:
        source = converted(w, images, node.inputs[0].dtype, dtype)
    rows, columns = maps
    order = [(1, rows), (2, columns)]
    if rows.out >= rows.size:
        order.reverse()
    (axis, first), (other, second) = order
    middle = _along(w, None, source, axis, first, dtype)
    if source is not images:
        w.release(source)
    direct = value.dtype is dtype
    resized = _along(w, value if direct else None, middle, other, second, dtype)
    w.release(middle)
    if direct:
        return resized
    result = converted(w, resized, dtype, value.dtype, value)
    w.release(resized)
    w.how = "kernel"
    return result


def _along(
    w: FunctionLowering,
    value: SymbolicTensor | None,
    source: ArrayOperand,
    axis: int,
    taps: Taps,
    dtype: DType,
) -> ArrayOperand:
    """One map along an axis."""
    kind, shape = source.kind, source.shape
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    # The index of a tap with weight 0 is arbitrary.
    indices = np.clip(taps.indices.astype(np.int64), 0, taps.size - 1)
    tables = [constant(indices), constant(taps.weight.astype(dtype.numpy))]
    pointers = [w.pointer(h) for h in (source, *tables)]
    result = w.allocate(value, kind, (*shape[:axis], taps.out, *shape[axis + 1 :]))
    name = w.kernel("resized", _mapping, kind, taps.between)
    if result.count >= entry.MIN_PARALLEL_ELEMENTS:
        name = shared(w, name, 1)
        w.long = True
    dims = [outer * taps.out, taps.size, inner, taps.out, len(indices)]
    w.call_function(name, pointers, [result.pointer], dims)
    w.how = "kernel"
    return result


def _mapping(name: str, kind: Kind, between: bool) -> Code:
    """A kernel of new rows: weighted sums of old ones, or interpolations between two."""
    code = Code(name, entry.KERNEL, "internal void")
    source, indices, weights = (
        code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in range(3)
    )
    target = code.load("ptr", "%outs", 8)
    dims = entry.load_dims(code, DIMS)
    inner, out = dims["inner"], dims["out"]
    lanes = max(jit.WIDTH // kind.bytes, 1)

    def weight(s: Functions, at: str) -> Lanes:
        one = code.load(kind.llvm, code.at(kind.llvm, weights, at), kind.bytes)
        return Lanes(kind, (code.splat(s.lanes, kind.llvm, one),))

    def read(s: Functions, slab: str, at: str, j: str) -> Lanes:
        index = code.load("i64", code.at("i64", indices, at), 8)
        row = code.at(kind.llvm, slab, code.integer("mul", index, inner))
        return Lanes(kind, (code.load(s.vector(kind), code.at(kind.llvm, row, j), kind.bytes),))

    def element(s: Functions, slab: str, i: str, j: str) -> Lanes:
        first = read(s, slab, i, j)
        if between:
            other = code.integer("add", i, out)
            step = s.sub(read(s, slab, other, j), first)
            return s.add(s.mul(step, weight(s, other)), first)
        start = s.mul(first, weight(s, i))
        kinds = (s.vector(kind), start.names[0])
        with code.carrying("1", dims["taps"], 1, kinds) as state:
            at = code.integer("add", code.integer("mul", state.index, out), i)
            part = s.mul(read(s, slab, at, j), weight(s, at))
            state.following.append(s.add(Lanes(kind, (state.values[0],)), part).names[0])
        return Lanes(kind, (state.values[0],))

    size = code.integer("mul", dims["size"], inner)
    whole = code.integer("mul", code.integer("sdiv", inner, lanes), lanes)
    with code.loop("%from", "%to") as part:
        i = code.integer("srem", part, out)
        slab = code.integer("mul", code.integer("sdiv", part, out), size)
        slab = code.at(kind.llvm, source, slab)
        row = code.at(kind.llvm, target, code.integer("mul", part, inner))
        for start, stop, width in (("0", whole, lanes), (whole, inner, 1)):
            s = Functions(code, width, 1)
            with code.loop(start, stop, width) as j:
                interpolated = element(s, slab, i, j)
                code.do(
                    f"store {s.vector(kind)} {interpolated.names[0]}, ptr {code.at(kind.llvm, row, j)}, align {kind.bytes}"
                )
    code.do("ret void")
    return code
