"""Reductions over axes: sums, means, products, extremes, logic, norms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import (
    COMPLEX,
    INDEX,
    NUMERIC,
    DType,
    bfloat16,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import Dims
from intaglio.opdef import machine_code, raw, short_floats
from intaglio.opdef.machine_code import exact_kernel
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, numbers
from intaglio.ops import compiled
from intaglio.ops.families import (
    MAX_FOLDED_ELEMENTS,
    conjugate,
    constant,
    shape_of,
    spec_of,
    truncated_quotient,
)
from intaglio.ops.math import chunked_sums, summation
from intaglio.ops.math.exact_reduction import SHORT, exact_reduce

# Products that are computed side by side along a row.
LANES = 64
# What NumPy does for an element of a sum, beside the products that `compiled` counts in; and the
# elements of the arrays for which a kernel may be worth it.
WORK_PER_ELEMENT = 4
MIN_COMPILED_ELEMENTS = machine_code.MIN_COMPILED_WORK // WORK_PER_ELEMENT
ORDERED = (
    float32,
    float64,
    int32,
    uint8,
    int16,
    int8,
    int64,
    bfloat16,
    uint16,
    float16,
    uint32,
    uint64,
)


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """The axes of a reduction, from 0 up. Raises InvalidArgumentError for wrong ones."""
    if axis.ndim == 0:
        found = int(axis)
        if -rank <= found < rank:
            return (found % rank,)
        raise invalid_argument(_outside(found, rank))
    axes: list[int] = []
    for a in axis.reshape(-1).tolist():
        if not -rank <= a < rank:
            raise invalid_argument(_outside(a, rank))
        a %= rank
        if a in axes:
            raise invalid_argument(
                f"Invalid reduction arguments: Axes contains duplicate dimension: {a}"
            )
        axes.append(a)
    return tuple(axes)


def _outside(axis: int, rank: int) -> str:
    return f"Invalid reduction dimension ({axis} for input with {rank} dimension(s)"


def reduced(dims: Dims, axis: Spec, keep_dims: bool) -> Dims:
    """The shape of a reduction's result, as far as it is known."""
    if dims is None:
        return None
    rank = len(dims)
    axes = numbers(axis)
    if axes is None:
        if keep_dims:
            return (None,) * rank
        count = axis.count
        return None if count is None or count > rank else (None,) * (rank - count)
    reduced_axes: set[int] = set()
    for a in axes:
        if not -rank <= a < rank:
            raise ShapeError(f"Invalid reduction dimension {a} for input with {rank} dimensions.")
        reduced_axes.add(a % rank)
    if keep_dims:
        return tuple([1 if i in reduced_axes else d for i, d in enumerate(dims)])
    return tuple([d for i, d in enumerate(dims) if i not in reduced_axes])


class Reduction(Op):
    """output = input reduced over the axes of a vector."""

    graphdef_names = {"axis": "reduction_indices"}
    signature = "input: T, axis: Tidx; keep_dims: bool = False -> output: T"
    T: tuple[DType, ...] = NUMERIC
    Tidx = INDEX

    def infer(self, input: Spec, axis: Spec, keep_dims: bool) -> Spec:
        dims = reduced(input.shape, axis, keep_dims)
        value = input.value
        if (
            value is not None
            and axis.value is not None
            and value.size <= MAX_FOLDED_ELEMENTS
            and input.dtype.is_integer
        ):
            result = self.kernel_fn(value, axis.value, keep_dims)
            return Spec(input.dtype, dims, np.asarray(result))
        return Spec(input.dtype, dims)


def kept_shape(x: Spec, axis: Any) -> Any:
    """The shape of `x` with 1 for the axes that are reduced, as a vector."""
    known = numbers_in(axis)
    if shapes.known(x.shape) and known is not None:
        dims = list(x.shape)
        for a in known:
            dims[a] = 1
        return np.asarray(dims, np.int32)
    whole = shape_of(x)
    rank = raw.Size(whole)
    axes = raw.Reshape(raw.FloorMod(raw.Cast(axis, DstT=int32), rank), [-1])
    one, zero = np.asarray(1, np.int32), np.asarray(0, np.int32)
    marks = raw.Sum(raw.OneHot(axes, rank, one, zero), zero)
    return raw.AddV2(raw.Mul(whole, raw.Sub(one, marks)), marks)


def numbers_in(axis: Any) -> list[int] | None:
    """The elements of an axis tensor that a gradient rule holds, None if not known."""
    spec = getattr(axis, "spec", None)
    if spec is not None:
        return numbers(spec)
    array = getattr(axis, "_array", None)
    return None if array is None else np.asarray(array).reshape(-1).tolist()


def expand_reduced(gradient: Any, x: Spec, axis: Any, keep_dims: bool) -> Any:
    """The gradient of a reduction, with the axes that it lost as dimensions of 1."""
    return gradient if keep_dims else raw.Reshape(gradient, kept_shape(x, axis))


@op
class Sum(Reduction):
    """The sum over the axes."""

    reduces = "sum"

    def kernel(self, input, axis, keep_dims):
        return total(input, axes_of(axis, input.ndim), keep_dims)

    def gradient(self, doutput, input: Spec, axis, keep_dims) -> Any:
        return (
            raw.BroadcastTo(expand_reduced(doutput, input, axis, keep_dims), shape_of(input)),
            None,
        )


def by_kernel(how: str, x: Any, axes: tuple[int, ...], keep_dims: bool) -> Any:
    """The sum, mean or product of a large array of floats in chunks; None for others.

    A compiled kernel computes it once there is one, until then NumPy with the same bits.
    """
    if x.dtype.char not in "fd" or x.size < MIN_COMPILED_ELEMENTS:
        return None
    if all([x.shape[a] == 1 for a in axes]):
        return None
    kind = "double reduction" if x.dtype.char == "d" else "reduction"
    run = exact_kernel(kind, x.size, how, x.shape, axes, keep_dims, quick=True)
    if run is None:
        found = chunked_sums.chunked(how, x, axes, keep_dims)
        if found is not None:
            return found
        work = WORK_PER_ELEMENT * x.size
        run = compiled.select_kernel("reduction", x.dtype, work, how, x.shape, axes, keep_dims)
    return None if run is None else run(x)


def total(x: Any, axes: tuple[int, ...], keep_dims: bool) -> Any:
    """The sum, with half precision added up in single precision."""
    if x.size >= MIN_COMPILED_ELEMENTS:
        found = by_kernel("sum", x, axes, keep_dims)
        if found is not None:
            return found
    return summation.add_reduce(x, axes, keep_dims)


def _complex_means(sums: Any, count: int) -> np.ndarray:
    """Complex sums divided by a count, as a complex number is by a real one in C and in TensorFlow: beside an
    infinite part or NaN, a finite part is NaN; two infinite parts stay so."""
    means = np.empty_like(sums)
    real, imaginary = np.isfinite(sums.real), np.isfinite(sums.imag)
    means.real = np.where(real & ~imaginary, np.nan, sums.real / count)
    means.imag = np.where(imaginary & ~real, np.nan, sums.imag / count)
    return means


@op
class Mean(Reduction):
    """The mean over the axes; of integers, rounded towards zero."""

    reduces = "mean"

    def kernel(self, input, axis, keep_dims):
        axes = axes_of(axis, input.ndim)
        count = 1
        for a in axes:
            count *= input.shape[a]
        dtype = input.dtype
        if dtype.kind in "iu":
            wide = np.dtype(np.uint64 if dtype.kind == "u" else np.int64)
            whole = exact_reduce(np.add, input.astype(wide, copy=False), axes, keep_dims, wide)
            if not count:
                return np.zeros_like(whole, dtype)
            return truncated_quotient(whole, wide.type(count)).astype(dtype)
        if input.size >= MIN_COMPILED_ELEMENTS:
            found = by_kernel("mean", input, axes, keep_dims)
            if found is not None:
                return found
        summed = summation.add_reduce(short_floats.widened(input), axes, keep_dims)
        if dtype.kind == "c":
            return _complex_means(summed, count)
        return np.divide(summed, count).astype(dtype)

    def native(self, input, axis: Spec, keep_dims) -> Any:
        """A complex mean as a sum whose parts are divided, as by `_complex_means`."""
        axes: list[int] | None = numbers(axis)
        dims: Any = spec_of(input).shape
        if axes is None or input.dtype not in COMPLEX:
            return NotImplemented
        summed = raw.Sum(input, np.asarray(axes, np.int32), keep_dims=keep_dims)
        real, imaginary = [
            part(summed, Tout=input.dtype.real_dtype) for part in (raw.Real, raw.Imag)
        ]
        finite = raw.IsFinite(real), raw.IsFinite(imaginary)
        one_only = raw.NotEqual(*finite)
        lost = constant(np.nan, real)
        count = constant(math.prod([dims[a] for a in axes]), real)
        means = [
            raw.SelectV2(raw.LogicalAnd(one_only, own), lost, raw.RealDiv(part, count))
            for part, own in ((real, finite[0]), (imaginary, finite[1]))
        ]
        return raw.Complex(*means, Tout=input.dtype)

    def gradient(self, doutput, input: Spec, output: Spec, axis, keep_dims) -> Any:
        expanded = raw.BroadcastTo(expand_reduced(doutput, input, axis, keep_dims), shape_of(input))
        if shapes.known(input.shape) and shapes.known(output.shape):
            factor = (input.count or 0) // max(output.count or 0, 1)
            count: Any = np.asarray(max(factor, 1)).astype(input.dtype.numpy)
            return raw.RealDiv(expanded, count), None
        factor = raw.FloorDiv(
            raw.Prod(shape_of(input), [0]),
            raw.Maximum(raw.Prod(shape_of(output), [0]), np.asarray(1, np.int32)),
        )
        return raw.RealDiv(expanded, raw.Cast(factor, DstT=input.dtype)), None


@op
class Prod(Reduction):
    """The product over the axes."""

    reduces = "product"

    def kernel(self, input, axis, keep_dims):
        axes, dtype = axes_of(axis, input.ndim), input.dtype
        if dtype.itemsize == 2 and dtype.kind not in "iu":
            wide = short_floats.widened(input)
            return np.asarray(self.kernel(wide, axis, keep_dims)).astype(dtype)[()]
        if dtype.kind in "iu":
            return exact_reduce(np.multiply, input, axes, keep_dims, dtype)
        short = input.ndim - 1 in axes and input.shape[-1] <= SHORT
        found = None if short else by_kernel("product", input, axes, keep_dims)
        if found is not None:
            return found
        if axes == (input.ndim - 1,) and input.shape[-1] > 4 * LANES:
            product = _folded(input)
            return product[..., None] if keep_dims else product
        if dtype.kind == "f":
            return exact_reduce(np.multiply, input, axes, keep_dims, dtype)
        if dtype.kind == "c" and input.size:
            # A product with 1 loses signs of zeros, and makes NaN of infinities.
            return np.multiply.reduce(
                input, axis=axes, dtype=dtype, keepdims=keep_dims, initial=None
            )
        return np.multiply.reduce(input, axis=axes, dtype=dtype, keepdims=keep_dims)

    def gradient(self, doutput, input, axis, keep_dims) -> Any:
        # The product of all others, found from both sides: right where elements are 0.
        spec = spec_of(input)
        shape = shape_of(spec)
        across = raw.BroadcastTo(expand_reduced(doutput, spec, axis, keep_dims), shape)
        moved, back, others = _reduced_first(input, spec, axis)
        flat = raw.Reshape(moved, raw.ConcatV2([[-1], others], 0))
        zero = np.asarray(0, np.int32)
        left = raw.Cumprod(flat, zero, exclusive=True)
        right = raw.Cumprod(flat, zero, exclusive=True, reverse=True)
        rest = raw.Reshape(conjugate(raw.Mul(left, right)), raw.Shape(moved))
        rest = raw.Transpose(rest, back)
        return raw.Reshape(raw.Mul(across, rest), shape), None


def _folded(x: Any) -> Any:
    """The products along the last axis: LANES of them side by side, as vector instructions go."""
    whole = x.shape[-1] // LANES
    main = x[..., : whole * LANES].reshape(*x.shape[:-1], whole, LANES)
    product = np.multiply.reduce(main, axis=-2, dtype=x.dtype, initial=None)
    product = np.multiply.reduce(product, axis=-1, dtype=x.dtype, initial=None)
    if whole * LANES == x.shape[-1]:
        return product
    return product * np.multiply.reduce(
        x[..., whole * LANES :], axis=-1, dtype=x.dtype, initial=None
    )


def _reduced_first(x: Any, spec: Spec, axis: Any) -> tuple[Any, Any, Any]:
    """`x` with the reduced axes in front, the permutation back, the other axes' shape."""
    known = numbers_in(axis)
    if known is not None and spec.rank is not None:
        rank = spec.rank
        front = [a % rank for a in known]
        rest = [i for i in range(rank) if i not in front]
        order: Any = np.asarray(front + rest, np.int32)
        back: Any = np.argsort(order).astype(np.int32)
        others = raw.GatherV2(shape_of(spec), np.asarray(rest, np.int32), 0)
    else:
        rank_now = raw.Rank(x)
        axes = raw.Reshape(raw.FloorMod(raw.Cast(axis, DstT=int32), rank_now), [-1])
        rest_now = raw.ListDiff(raw.Range(0, rank_now, 1), axes, out_idx=int32).out
        order = raw.ConcatV2([axes, rest_now], 0)
        back = raw.InvertPermutation(order)
        others = raw.GatherV2(shape_of(spec), rest_now, 0)
    return raw.Transpose(x, order), back, others


class ExtremeReduction(Reduction):
    """The largest or smallest element over the axes; NaN if there is one."""

    native_exact = True
    T = ORDERED

    def gradient(self, doutput, input, output, axis, keep_dims) -> Any:
        spec = spec_of(input)
        if not keep_dims:
            shape = kept_shape(spec, axis)
            output, doutput = raw.Reshape(output, shape), raw.Reshape(doutput, shape)
        # Elements that tie share the gradient.
        hits = raw.Cast(raw.Equal(output, input), DstT=doutput.dtype)
        count = raw.Reshape(raw.Sum(hits, axis, keep_dims=True), raw.Shape(output))
        return raw.Mul(raw.RealDiv(hits, count), doutput), None


@op
class Max(ExtremeReduction):
    """The largest element over the axes."""

    reduces = "maximum"

    def kernel(self, input, axis, keep_dims):
        axes = axes_of(axis, input.ndim)
        if input.size:
            return exact_reduce(np.maximum, input, axes, keep_dims, input.dtype)
        return _of_nothing(input, axes, keep_dims, lowest(input.dtype))


@op
class Min(ExtremeReduction):
    """The smallest element over the axes."""

    reduces = "minimum"

    def kernel(self, input, axis, keep_dims):
        axes = axes_of(axis, input.ndim)
        if input.size:
            return exact_reduce(np.minimum, input, axes, keep_dims, input.dtype)
        return _of_nothing(input, axes, keep_dims, highest(input.dtype))


def lowest(dtype: Any) -> Any:
    """The maximum of no elements."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def highest(dtype: Any) -> Any:
    """The minimum of no elements."""
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


def _of_nothing(x: Any, axes: tuple[int, ...], keep_dims: bool, value: Any) -> Any:
    dims = [1 if i in axes else d for i, d in enumerate(x.shape) if keep_dims or i not in axes]
    return np.full(dims, value, x.dtype)


@op
class EuclideanNorm(Reduction):
    """The square root of the sum of squares over the axes."""

    def kernel(self, input, axis, keep_dims):
        axes, dtype = axes_of(axis, input.ndim), input.dtype
        if dtype.kind in "iu":
            square = np.multiply(input, input)
            whole = np.add.reduce(square, axis=axes, dtype=dtype, keepdims=keep_dims)
            return np.sqrt(np.asarray(whole, np.float64)).astype(dtype)
        if dtype.kind == "c":
            square = np.multiply(input, np.conjugate(input))
            return np.sqrt(summation.add_reduce(square, axes, keep_dims))
        wide = short_floats.widened(input)
        square = summation.add_reduce(np.square(wide), axes, keep_dims)
        return np.sqrt(square).astype(dtype)

    def native(self, input, axis, keep_dims) -> Any:
        if not input.dtype.is_floating:
            return NotImplemented
        wide = raw.Cast(input, DstT=float32) if input.dtype.size == 2 else input
        total = raw.Sum(raw.Square(wide), axis, keep_dims=keep_dims)
        return raw.Cast(raw.Sqrt(total), DstT=input.dtype)

    def gradient(self, doutput, input, output, axis, keep_dims) -> Any:
        if not keep_dims:
            shape = kept_shape(spec_of(input), axis)
            output, doutput = raw.Reshape(output, shape), raw.Reshape(doutput, shape)
        return raw.Mul(raw.RealDiv(input, output), doutput), None
