"""The same elements in another arrangement: reshape, transpose, broadcast, repeat."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import ALL, INDEX
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.base.shapes import Dims, brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, number, numbers, of_elements
from intaglio.ops.families import MAX_FOLDED_ELEMENTS, shape_of, unbroadcast
from intaglio.ops.shape_inputs import dims_of


def small(x: Spec) -> bool:
    """True if the value is known, integral and small: worth computing with in inference."""
    return (
        x.value is not None
        and x.dtype.is_numpy_compatible
        and np.size(x.value) <= MAX_FOLDED_ELEMENTS
    )


def vector_elements(x: Spec) -> bool:
    """True for a short integer vector of known length: perhaps a shape, partly known."""
    return x.rank == 1 and x.dtype.is_integer and 0 < (x.count or 0) <= MAX_FOLDED_ELEMENTS


@op
class Reshape(Op):
    """The elements in row-major order under another shape; one -1 is worked out."""

    signature = "tensor: T, shape: Tshape -> output: T"
    T = ALL
    Tshape = INDEX
    native_exact = True
    cheap = True
    free = True
    reported = False
    shape_input = "shape"
    data_inputs = ("tensor",)
    numerics_checked = False

    def infer(self, tensor: Spec, shape: Spec) -> Spec:
        if shape.rank not in (1, None):
            raise ShapeError(f"Shape must be rank 1 but is rank {shape.rank}")
        dims = reshaped(tensor, shape)
        value = None
        if small(tensor) and shapes.known(dims):
            value = np.reshape(tensor.value, dims)
        elif dims == tensor.shape and vector_elements(tensor):
            return of_elements(tensor.dtype, tensor.partial or ())
        return Spec(tensor.dtype, dims, value)

    def kernel(self, tensor, shape):
        if shape.ndim > 1:
            raise invalid_argument(f"sizes input must be 1-D, not {brackets(shape.shape)}")
        dims = shape.reshape(-1).tolist()  # a number is one size
        try:
            if dims and min(dims) < -1:  # NumPy takes any negative size for -1
                raise ValueError
            return tensor.reshape(dims)
        except (ValueError, TypeError):
            if tensor.size == 0 and dims.count(-1) == 1 and min(dims) == -1:
                return tensor.reshape(_size_found(dims, tensor.shape))
            raise _reshape_error(tensor, dims) from None

    def gradient(self, doutput, tensor: Spec) -> Any:
        return raw.Reshape(doutput, shape_of(tensor)), None


def _size_found(dims: list[int], old: Dims) -> list[int]:
    """`dims` with a size for -1 where both shapes have no elements: from their other sizes.

    NumPy leaves it undetermined; TensorFlow divides the sizes that are not 0.
    """
    count = math.prod([d for d in old or () if d])
    rest = math.prod([d for d in dims if d > 0])
    return [count // rest if d == -1 else d for d in dims]


def reshaped(tensor: Spec, shape: Spec) -> Dims:
    """The shape that Reshape gives, as far as it is known. Raises ShapeError if it cannot."""
    wanted = shape.partial
    if wanted is None:
        return None
    invalid = next((d for d in wanted if d is not None and d < -1), None)
    if invalid is not None:
        raise ShapeError(f"Invalid value in tensor used for shape: {invalid}")
    if sum(d == -1 for d in wanted) > 1:
        raise ShapeError("Only one input size may be -1")
    dims: list[int | None] = [None if d is None or d < 0 else d for d in wanted]
    count = tensor.count
    open_at = [i for i, d in enumerate(dims) if d is None]
    rest = 1
    for d in dims:
        rest *= 1 if d is None else d
    if count is None or len(open_at) > 1:
        return tuple(dims)
    if not open_at:
        if rest != count:
            raise ShapeError(
                f"Cannot reshape a tensor with {count} elements to shape {brackets(tuple(dims))} ({rest} elements)"
            )
        return tuple(dims)
    if rest == 0:
        if count:
            raise ShapeError(
                f"Cannot reshape a tensor with {count} elements to shape {brackets(tuple(dims))} (0 elements)"
            )
        return tuple(dims)
    if count % rest:
        raise ShapeError(f"Dimension size must be evenly divisible by {rest} but is {count}")
    dims[open_at[0]] = count // rest
    return tuple(dims)


def _reshape_error(tensor: Any, dims: list[int]) -> Exception:
    bad = next((d for d in dims if d < -1), None)
    if bad is not None:
        return invalid_argument(f"Size {dims.index(bad)} must be non-negative, not {bad}")
    opens = [i for i, d in enumerate(dims) if d == -1]
    if len(opens) > 1:
        return invalid_argument(
            f"Only one input size may be -1, not both {opens[0]} and {opens[1]}"
        )
    count = 1
    for d in dims:
        count *= 1 if d == -1 else d
    if not opens:
        return invalid_argument(
            f"Input to reshape is a tensor with {tensor.size} values, but the requested shape has {count}"
        )
    if count == 0:
        return invalid_argument(
            f"Input to reshape is a tensor with {tensor.size} values, but the requested shape has 0"
        )
    return invalid_argument(
        f"Input to reshape is a tensor with {tensor.size} values, but the requested shape requires a multiple of {count}"
    )


@op
class ExpandDims(Op):
    """A dimension of size 1 more, at `axis`."""

    graphdef_names = {"axis": "dim"}

    signature = "input: T, axis: Tdim -> output: T"
    T = ALL
    Tdim = INDEX
    native_exact = True
    cheap = True
    reported = False
    data_inputs = ("input",)
    numerics_checked = False

    def infer(self, input: Spec, axis: Spec) -> Spec:
        at = number(axis)
        if input.shape is None:
            return Spec(input.dtype, None)
        rank = len(input.shape)
        if at is None:
            return Spec(input.dtype, (None,) * (rank + 1))
        if not -rank - 1 <= at <= rank:
            raise ShapeError(f"dim {at} not in the interval [{-rank - 1}, {rank}].")
        at += rank + 1 if at < 0 else 0
        dims = (*input.shape[:at], 1, *input.shape[at:])
        value = np.expand_dims(input.value, at) if small(input) else None
        return Spec(input.dtype, dims, value)

    def kernel(self, input, axis):
        at = int(axis if axis.ndim == 0 else axis.reshape(()))
        rank = input.ndim
        if not -rank - 1 <= at <= rank:
            raise invalid_argument(
                f"Tried to expand dim index {at} for tensor with {rank} dimensions."
            )
        at += rank + 1 if at < 0 else 0
        return input.reshape((*input.shape[:at], 1, *input.shape[at:]))

    def gradient(self, doutput, input: Spec) -> Any:
        return raw.Reshape(doutput, shape_of(input)), None


@op
class Squeeze(Op):
    """Without the dimensions of size 1, or without those of them that `axis` lists."""

    signature = "input: T; axis: list(int) = [] -> output: T"
    graphdef_names = {"axis": "squeeze_dims"}
    T = ALL
    native_exact = True
    cheap = True
    reported = False
    data_inputs = ("input",)
    numerics_checked = False

    def infer(self, input: Spec, axis) -> Spec:
        if input.shape is None:
            return Spec(input.dtype, None)
        rank = len(input.shape)
        if not axis:
            if None in input.shape:
                return Spec(input.dtype, None)
            dims = tuple([d for d in input.shape if d != 1])
        else:
            drop = {_squeezed_axis(a, rank) for a in axis}
            for a in drop:
                if input.shape[a] not in (1, None):
                    raise ShapeError(
                        f"Can not squeeze dim[{a}], expected a dimension of 1, got {input.shape[a]}"
                    )
            dims = tuple([d for i, d in enumerate(input.shape) if i not in drop])
        value = np.reshape(input.value, dims) if small(input) else None  # type: ignore[call-overload,arg-type]  # small inputs have a known shape
        return Spec(input.dtype, dims, value)

    def kernel(self, input, axis):
        shape = input.shape
        if not axis:
            return input.reshape([d for d in shape if d != 1])
        drop = {_squeezed_axis(a, len(shape)) for a in axis}
        for a in drop:
            if shape[a] != 1:
                raise invalid_argument(
                    f"Can not squeeze dim[{a}], expected a dimension of 1, got {shape[a]}"
                )
        return input.reshape([d for i, d in enumerate(shape) if i not in drop])

    def gradient(self, doutput, input: Spec) -> Any:
        return raw.Reshape(doutput, shape_of(input))


def _squeezed_axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ShapeError(f"Tried to squeeze dim index {axis} for tensor with {rank} dimensions.")
    return axis + rank if axis < 0 else axis


@op
class Transpose(Op):
    """Dimension i of the result is dimension perm[i] of x."""

    signature = "x: T, perm: Tperm -> y: T"
    T = ALL
    Tperm = INDEX
    native_exact = True
    cheap = True
    data_inputs = ("x",)
    numerics_checked = False

    def infer(self, x: Spec, perm: Spec) -> Spec:
        if perm.rank not in (1, None):
            raise ShapeError(f"Shape must be rank 1 but is rank {perm.rank}")
        order = numbers(perm)
        length = perm.shape[0] if perm.shape else None
        if order is None:
            rank = length if x.shape is None else len(x.shape)
            return Spec(x.dtype, None if rank is None else (None,) * rank)
        if x.shape is None:
            return Spec(x.dtype, (None,) * len(order))
        if len(order) != len(x.shape):
            raise ShapeError(f"Dimension must be {len(x.shape)} but is {len(order)}")
        rank = len(order)
        if any(not -rank <= d < rank for d in order):
            bad = next(d for d in order if not -rank <= d < rank)
            raise ShapeError(f"perm dim {bad} is out of range of input rank {rank}")
        return Spec(x.dtype, tuple([x.shape[d] for d in order]))

    def kernel(self, x, perm):
        order = perm.tolist()
        try:
            return x.transpose(order)
        except ValueError:
            raise _transpose_error(x, order) from None

    def gradient(self, dy, perm) -> Any:
        return raw.Transpose(dy, raw.InvertPermutation(perm)), None


def _transpose_error(x: Any, order: list[int]) -> Exception:
    if len(order) != x.ndim:
        return invalid_argument(
            f"transpose expects a vector of size {x.ndim}. But input(1) is a vector of size {len(order)}"
        )
    bad = next((d for d in order if not -x.ndim <= d < x.ndim), None)
    if bad is not None:
        return invalid_argument(f"{bad} is out of range [0 .. {x.ndim})")
    missing = next(i for i in range(x.ndim) if i not in [d % x.ndim for d in order])
    return invalid_argument(f"{missing} is missing from {{{','.join(map(str, order))}}}.")


@op
class ConjugateTranspose(Transpose):
    """A transpose whose elements are conjugated."""

    cheap = False
    data_inputs = ("x",)
    numerics_checked = True

    def kernel(self, x, perm):
        y = Transpose.kernel(self, x, perm)
        return np.conjugate(y) if y.dtype.kind == "c" else y

    def gradient(self, dy, perm) -> Any:
        return raw.ConjugateTranspose(dy, raw.InvertPermutation(perm)), None


# Results of more elements than this are views that repeat the input: no memory is filled.
# NumPy takes longer to make such a view than to fill a small array.
MIN_VIEWED_ELEMENTS = 1 << 12


@op
class BroadcastTo(Op):
    """Repeated along dimensions of size 1 and new ones in front, to `shape`."""

    signature = "input: T, shape: Tidx -> output: T"
    T = ALL
    Tidx = INDEX
    native_exact = True
    cheap = True
    shape_input = "shape"
    data_inputs = ("input",)
    numerics_checked = False

    def infer(self, input: Spec, shape: Spec) -> Spec:
        if shape.rank not in (1, None):
            raise ShapeError(f"Shape must be rank 1 but is rank {shape.rank}")
        dims = shape.as_shape()
        if dims is not None and input.shape is not None:
            dims = _broadcast_to(input.shape, dims)
        return Spec(input.dtype, dims)

    def kernel(self, input, shape):
        dims = dims_of(shape, input.dtype.itemsize, "BroadcastTo")
        try:
            if input.ndim > len(dims):
                raise ValueError  # NumPy drops dimensions of 1 when it assigns
            if math.prod(dims) > MIN_VIEWED_ELEMENTS:
                return np.broadcast_to(input, dims)
            whole = np.empty(dims, input.dtype)
            whole[...] = input
            return whole
        except ValueError:
            raise invalid_argument(
                f"Incompatible shapes: {brackets(input.shape)} vs. {brackets(dims)}"
            ) from None

    def gradient(self, doutput, input: Spec, output: Spec) -> Any:
        return unbroadcast(doutput, input, output), None


def _broadcast_to(
    dims: tuple[int | None, ...], to: tuple[int | None, ...]
) -> tuple[int | None, ...]:
    """The shape `to`, completed by the number of elements of `dims`. Raises ShapeError if they do not fit."""
    if len(dims) > len(to):
        raise ShapeError(
            f"Rank of input ({len(dims)}) must be no greater than rank of output shape ({len(to)})."
        )
    lead = len(to) - len(dims)
    result = list(to)
    for i, x in enumerate(dims, lead):
        y = to[i]
        if y is None:
            result[i] = x if x != 1 else None
        elif x is not None and x not in (1, y):
            raise ShapeError(f"Dimensions must be equal, but are {x} and {y}")
    return tuple(result)


@op
class Tile(Op):
    """The input repeated `multiples[i]` times along dimension i."""

    signature = "input: T, multiples: Tmultiples -> output: T"
    T = ALL
    Tmultiples = INDEX
    native_exact = True
    data_inputs = ("input",)
    numerics_checked = False

    def infer(self, input: Spec, multiples: Spec) -> Spec:
        times = multiples.partial
        if input.shape is None or times is None:
            rank = input.rank if times is None else len(times)
            return Spec(input.dtype, None if rank is None else (None,) * rank)
        if len(times) != len(input.shape):
            raise ShapeError(f"Shape must be rank {len(input.shape)} but is rank {len(times)}")
        dims = [
            0 if 0 in (d, t) else None if d is None or t is None else d * t
            for d, t in zip(input.shape, times, strict=True)
        ]
        return Spec(input.dtype, tuple(dims))

    def kernel(self, input, multiples):
        times = multiples.tolist()
        if len(times) != input.ndim:
            raise invalid_argument(
                f"Expected multiples argument to be a vector of length {input.ndim} but got length {len(times)}"
            )
        for i, t in enumerate(times):
            if t < 0:
                raise invalid_argument(f"Expected multiples[{i}] >= 0, but got {t}")
        if not times:
            return input
        apart = [n for d in input.shape for n in (1, d)]
        whole = [n for t, d in zip(times, input.shape, strict=True) for n in (t, d)]
        check_allocated(whole, input.dtype.itemsize, "Tile")
        laid = np.broadcast_to(input.reshape(apart), whole)
        return laid.reshape([t * d for t, d in zip(times, input.shape, strict=True)])

    def gradient(self, doutput, input: Spec, multiples) -> Any:
        shape = shape_of(input)
        pairs = raw.Pack([raw.Cast(multiples, DstT="int32"), shape], axis=1)
        if input.rank is None:
            axes: Any = raw.Range(0, raw.Mul(raw.Size(shape), 2), 2)
        else:
            axes = np.arange(0, 2 * input.rank, 2, dtype=np.int32)
        split = raw.Reshape(doutput, raw.Reshape(pairs, [-1]))
        return raw.Reshape(raw.Sum(split, axes), shape), None


@op
class InvertPermutation(Op):
    """y[x[i]] = i."""

    signature = "x: T -> y: T"
    differentiable = False
    T = INDEX

    def infer(self, x: Spec) -> Spec:
        if x.rank not in (1, None):
            raise ShapeError(f"Shape must be rank 1 but is rank {x.rank}")
        value = self.kernel(x.value) if small(x) else None
        return Spec(x.dtype, x.shape, value)

    def kernel(self, x):
        size = len(x)
        y = np.full(size, -1, x.dtype)
        if size and not (x.min() > -1 and x.max() < size):
            bad = next(i for i in x.tolist() if not 0 <= i < size)
            raise invalid_argument(f"{bad} is not between 0 and {size}")
        y[x] = np.arange(size, dtype=x.dtype)
        if size and y.min() < 0:
            repeated = next(i for i in x.tolist() if (x == i).sum() > 1)
            raise invalid_argument(f"{repeated} is duplicated in the input.")
        return y
