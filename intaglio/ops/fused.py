"""Several ops as one, for a compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from intaglio.base.dtypes import (
    FLOATING,
    NUMERIC,
    bool_,
    complex64,
    complex128,
    int16,
    int32,
    int64,
    uint8,
)
from intaglio.base.errors import invalid_argument
from intaglio.base.shapes import Dims
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec


class Fused(Op):
    """outputs = body(inputs). Compilers make these and bring a kernel; without one the body is interpreted."""

    signature = "inputs: *Tin; body: func, Tout: list(type) -> outputs: *Tout"
    differentiable = False
    internal = True

    def infer(self, inputs, body: Any, Tout) -> Any:
        return [list(body.output_specs)]

    def kernel(self, inputs, body, run):
        return run(body, inputs)


@op
class _FusedElementwise(Fused):
    """outputs = body(inputs), where `body` has elementwise ops only and its outputs one shape."""


@op
class _FusedReduction(Fused):
    """outputs = body(inputs), where `body` has elementwise ops, and its outputs are reductions of
    values of one shape over the same axes."""


@op
class _FusedRows(Fused):
    """outputs = body(inputs), where `body` has elementwise ops and reductions along rows."""


@op
class _FusedLayers(Fused):
    """outputs = body(inputs), where `body` is a layer of a network with its epilogue."""


@op
class _FusedCell(Fused):
    """outputs = body(inputs), where `body` is a product of matrices with an elementwise epilogue."""


@op
class _Program(Fused):
    """outputs = body(inputs), where a compiler generates one function for `body`.

    Without a compiled function the body is interpreted. Variables are passed as handles.
    """

    stateful = True


@op
class _AddAt(Op):
    """x with a row added at an index of an axis: what gradients of rows add up to.

    The index is the last number of `index`, as it is for slices that take all of the axes before.
    """

    signature = "x: T, index: int32, row: T; axis: int = 0 -> y: T"
    T = NUMERIC
    differentiable = False
    internal = True

    def infer(self, x: Spec) -> Spec:
        return Spec(x.dtype, x.shape)

    def kernel(self, x, index, row, axis):
        y = np.array(x)
        y[(slice(None),) * axis + (np.ravel(index)[-1],)] += row
        return y


@op
class _CheckIndices(Op):
    """Raises InvalidArgumentError unless coordinates, one for each of `lengths`, are below these."""

    signature = "indices: Tindices; lengths: object -> "
    Tindices = (int16, int32, int64)
    stateful = True
    differentiable = False
    internal = True
    reported = False

    def infer(self) -> None:
        return None

    def kernel(self, indices, lengths):
        rows = indices.reshape(-1, len(lengths))
        if np.any(rows < 0) or np.any(rows >= np.asarray(lengths)):
            raise invalid_argument(f"indices are not in [0, {list(lengths)})")


@op
class _View(Op):
    """Elements of an array from `offset` on, `strides` elements apart along the axes of `shape`."""

    signature = "x: T; offset: int, strides: object, shape: object -> y: T"
    T = (*NUMERIC, bool_)
    differentiable = False
    internal = True

    def infer(self, x: Spec, shape) -> Spec:
        return Spec(x.dtype, shape)

    def kernel(self, x, offset, strides, shape):
        flat = np.ascontiguousarray(x).reshape(-1)[offset:]
        steps = [s * x.dtype.itemsize for s in strides]
        return np.array(np.lib.stride_tricks.as_strided(flat, shape, steps))


@op
class _Wrap(Op):
    """x with wrapped borders: `before` and `after` elements from the opposite end along each axis."""

    signature = "x: T; before: object, after: object -> y: T"
    T = (*NUMERIC, bool_)
    differentiable = False
    internal = True

    def infer(self, x: Spec, before, after) -> Spec:
        dims = zip(before, x.shape or (), after, strict=False)
        return Spec(x.dtype, tuple([None if n is None else b + n + a for b, n, a in dims]))

    def kernel(self, x, before, after):
        return np.pad(x, list(zip(before, after, strict=True)), "wrap")


@op
class _Perturb(Op):
    """x with a random error of a few units in the last place of each element.

    Subnormal elements become 0 at random, because native code may flush them to 0.

    `generator` is the `np.random.Generator` of the errors, `ulps` their largest number of units:
    with `normwise` of the largest finite element.
    """

    signature = "x: T; generator: object, ulps: float = 4.0, normwise: bool = False -> y: T"
    internal = True
    T = (*FLOATING, complex64, complex128)
    differentiable = False

    def infer(self, x: Spec) -> Spec:
        return Spec(x.dtype, x.shape)

    def kernel(self, x, generator, ulps, normwise):
        eps = float(ml_dtypes.finfo(x.dtype).eps)
        errors = ulps * eps * generator.uniform(-1.0, 1.0, np.shape(x))
        wide = np.asarray(x, np.complex128 if x.dtype.kind == "c" else np.float64)
        if normwise:
            size = np.abs(wide)
            wide = wide + errors * np.max(size, initial=0.0, where=np.isfinite(size))
        else:
            wide = wide * (1.0 + errors)
        found = np.asarray(wide).astype(x.dtype)
        if x.dtype.kind == "c" or x.dtype == np.float16:  # their exponentials are not flushed to 0
            return found
        subnormal = np.abs(found) < ml_dtypes.finfo(x.dtype).smallest_normal
        if not subnormal.any():
            return found
        return np.where(subnormal & (generator.random(found.shape) < 0.5), x.dtype.type(0), found)


# The codes of maxima: the index of an element in its 2x2 window, row by row, 0 for nothing but NaN;
# `CUT` is added where Relu has no slope.
CUT = 4


def _windows(x: Any) -> Any:
    """The four elements of every window, first the number of the element."""
    return np.stack([x[:, i::2, j::2] for i in (0, 1) for j in (0, 1)])


def _sided(dims: Dims, change: Callable[[int], int]) -> Dims:
    """The dims of images whose heights and widths are changed."""
    if dims is None:
        return None
    images, height, width, channels = dims
    sides = [None if d is None else change(d) for d in (height, width)]
    return (images, *sides, channels)


@op
class _ReluMaxPool(Op):
    """The maxima of Relu in windows of 2x2 with strides 2, and the codes of their positions.

    Gradients need only these: the result of Relu is not kept. Images have their
    channels last, and even heights and widths.
    """

    signature = "x: float32 -> y: float32, argmax: uint8"
    differentiable = False
    internal = True

    def infer(self, x: Spec) -> Any:
        dims = _sided(x.shape, lambda side: side // 2)
        return Spec(x.dtype, dims), Spec(uint8, dims)

    def kernel(self, x):
        seen = _windows(np.maximum(x, 0))
        found = np.where(np.isnan(seen), np.finfo(x.dtype).min, seen)
        y, argmax = found.max(0), found.argmax(0)
        return y, np.where(y > 0, argmax, argmax | CUT).astype(np.uint8)


@op
class _ReluMaxPoolGrad(Op):
    """The gradient of `_ReluMaxPool` by x: that by y where the maxima were found."""

    signature = "argmax: uint8, gradients: float32 -> x_backprop: float32"
    differentiable = False
    internal = True

    def infer(self, gradients: Spec) -> Spec:
        return Spec(gradients.dtype, _sided(gradients.shape, lambda side: side * 2))

    def kernel(self, argmax, gradients):
        images, height, width, channels = gradients.shape
        result = np.zeros((images, height, 2, width, 2, channels), gradients.dtype)
        slope = gradients * (argmax < CUT)
        for number in range(4):
            at = result[:, :, number // 2, :, number % 2]
            np.copyto(at, slope, where=argmax & ~np.uint8(CUT) == number)
        return result.reshape(images, 2 * height, 2 * width, channels)
