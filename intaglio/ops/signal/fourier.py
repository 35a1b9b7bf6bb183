"""Fourier transforms, complex and real, over the last axes or any; with NumPy's FFT."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import COMPLEX, DType, complex64, complex128, float32, float64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.opdef import machine_code, raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, numbers
from intaglio.ops.families import shape_of, spec_of

# Elements times the logarithm of the length: from so many on a kernel is compiled for the shape.
MIN_COMPILED_STEPS = 1 << 19
WIDE = {complex64: float32, complex128: float64}


def _check_rank(x: Spec, rank: int) -> None:
    if x.rank is not None and x.rank < rank:
        raise ShapeError(
            f"Shape must be at least rank {rank} but is rank {x.rank}",
            f"Input must have rank of at least {rank} but got: {list(x.shape or ())}",
        )


def _check_length(fft_length: Spec, rank: int) -> None:
    if not shapes.compatible(fft_length.shape, (rank,)):
        raise ShapeError(
            f"Dimension must be {rank} but is {shapes.text(fft_length.shape)}",
            f"fft_length must have shape [{rank}]",
        )


def _check_kinds(real: DType, wide: DType, direction: str) -> None:
    if WIDE[wide] is not real:
        raise invalid_argument(
            f"Wrong types for {direction} real FFT: {real.name} and {wide.name}: "
            "float32 goes with complex64, float64 with complex128"
        )


def _lengths(fft_length: Any, x: Any, axes: list[int], half: bool) -> list[int]:
    """The lengths of a transform. Raises InvalidArgumentError for more than there is."""
    if fft_length.shape != (len(axes),):
        raise invalid_argument(f"fft_length must have shape [{len(axes)}]")
    found = fft_length.tolist()
    for i, (length, axis) in enumerate(zip(found, axes, strict=True)):
        if length < 0:
            raise invalid_argument(f"fft_length[{i}] must >= 0, but got: {length}")
        needed = length // 2 + 1 if half and i == len(axes) - 1 else length
        if x.size and length and x.shape[axis] < needed:
            raise invalid_argument(
                f"Input dimension {axis} must have length of at least {needed} "
                f"but got: {x.shape[axis]}"
            )
    return found


def _transformed(
    function: Any, x: Any, lengths: Any, axes: list[int], shape: Any, dtype: DType
) -> np.ndarray:
    """NumPy's transform; zeros where a transform is of no elements."""
    if not x.size or 0 in lengths or not axes:
        check_allocated(shape, dtype.size, "A Fourier transform")
        return np.zeros(shape, dtype.numpy) if axes else x.astype(dtype.numpy)
    return function(x, s=lengths, axes=axes).astype(dtype.numpy, copy=False)


def _compiled(kind: str, x: Any, axes: int, length: int) -> Any:
    """A kernel for the last axes of a large array; None without one."""
    size = math.prod(x.shape[-axes:]) if x.ndim >= axes else 0
    if x.size * max(size, 1).bit_length() < MIN_COMPILED_STEPS:
        return None
    double = x.itemsize == (16 if x.dtype.kind == "c" else 8)
    return machine_code.kernel("fourier", kind, double, x.shape, axes, length)


def _last(x: Any, rank: int) -> list[int]:
    if x.ndim < rank:
        raise invalid_argument(f"Input must have rank of at least {rank} but got: {list(x.shape)}")
    return list(range(x.ndim - rank, x.ndim))


def _product(lengths: Any, dtype: DType) -> Any:
    """The number of elements of a transform, as a scalar of a complex dtype."""
    if isinstance(lengths, np.ndarray):
        return np.asarray(np.prod(lengths.astype(np.float64)), dtype.numpy)
    return raw.Cast(raw.Prod(lengths, [0]), DstT=dtype)


def _sizes(x: Spec, rank: int) -> Any:
    """The lengths of the last axes."""
    if x.shape is not None and None not in x.shape[-rank:]:
        return np.asarray(x.shape[-rank:], np.int32)
    whole = shape_of(x)
    size = raw.Size(whole)
    return raw.StridedSlice(
        whole, raw.Reshape(raw.Sub(size, np.int32(rank)), [1]), raw.Reshape(size, [1]), [1]
    )


# -- complex, over the last axes -------------------------------------------------------


class Complex(Op):
    """A transform of complex arrays over the last axes."""

    signature = "input: Tcomplex -> output: Tcomplex"
    Tcomplex: tuple[DType, ...] = COMPLEX
    axes: int = 1
    function: Any = None
    kind: str = "fft"
    back: str = ""
    batching = "leading"
    normwise_error = True

    def infer(self, input: Spec) -> Spec:
        _check_rank(input, self.axes)
        return Spec(input.dtype, input.shape)

    def kernel(self, input):
        axes = _last(input, self.axes)
        if not input.size:
            return np.zeros(input.shape, input.dtype)
        run = _compiled(self.kind, input, self.axes, input.shape[-1])
        if run is not None:
            return run(input)
        if self.axes == 1:
            result = self.function(input)
        else:
            result = self.function(input, axes=axes)
        return result.astype(input.dtype, copy=False)


class Forward(Complex):
    """A discrete Fourier transform of complex arrays."""

    def gradient(self, input: Spec, doutput) -> Any:
        count = _product(_sizes(input, self.axes), input.dtype)
        return raw.Mul(getattr(raw, self.back)(doutput), count)


class Backward(Complex):
    """The inverse discrete Fourier transform, divided by the number of elements."""

    kind = "ifft"

    def gradient(self, input: Spec, doutput) -> Any:
        count = _product(_sizes(input, self.axes), input.dtype)
        return raw.Div(getattr(raw, self.back)(doutput), count)


@op
class FFT(Forward):
    """The transform over the last axis."""

    function = staticmethod(np.fft.fft)
    back = "IFFT"


@op
class FFT2D(Forward):
    """The transform over the last two axes."""

    axes = 2
    function = staticmethod(np.fft.fftn)
    back = "IFFT2D"


@op
class FFT3D(Forward):
    """The transform over the last three axes."""

    axes = 3
    function = staticmethod(np.fft.fftn)
    back = "IFFT3D"


@op
class IFFT(Backward):
    """The inverse transform over the last axis."""

    function = staticmethod(np.fft.ifft)
    back = "FFT"


@op
class IFFT2D(Backward):
    """The inverse transform over the last two axes."""

    axes = 2
    function = staticmethod(np.fft.ifftn)
    back = "FFT2D"


@op
class IFFT3D(Backward):
    """The inverse transform over the last three axes."""

    axes = 3
    function = staticmethod(np.fft.ifftn)
    back = "FFT3D"


# -- real, over the last axes ----------------------------------------------------------


def _weights(length: Any, inner: float, dtype: DType) -> Any:
    """1 for the frequencies that occur once in a real signal's spectrum, `inner` for the others.

    These are 0 and, if the length is even, the last one; all others represent two.
    """
    if isinstance(length, np.ndarray):
        n = int(length[-1])
        weights = np.full(n // 2 + 1, inner, dtype.numpy)
        weights[0] = 1
        if n % 2 == 0:
            weights[-1] = 1
        return weights
    n = raw.StridedSlice(length, [-1], [0], [1], end_mask=1, shrink_axis_mask=1)
    zero, one, two = (np.int32(i) for i in range(3))
    steps = raw.Range(zero, raw.AddV2(raw.FloorDiv(n, two), one), one)
    # 0 and n / 2 are their own mirror images.
    alone = raw.Equal(raw.FloorMod(raw.Mul(steps, two), n), zero)
    single, double = np.asarray(1, dtype.numpy), np.asarray(inner, dtype.numpy)
    return raw.SelectV2(alone, single, double)


def _fitted(x: Any, like: Spec, rank: int) -> Any:
    """A gradient padded with zeros to the shape before truncation."""
    spec = spec_of(x)
    if shapes.known(spec.shape) and shapes.known(like.shape) and spec.shape == like.shape:
        return x
    missing = raw.Sub(shape_of(like), shape_of(spec))
    return raw.Pad(x, raw.Pack([raw.ZerosLike(missing), missing], axis=1))


def _declared_lengths(fft_length: Any) -> Any:
    """The data of a length input, as far as they are known when a gradient is recorded."""
    known = numbers(spec_of(fft_length)) if hasattr(fft_length, "dims") else None
    if known is None:
        known = getattr(fft_length, "_array", None)
    return fft_length if known is None else np.asarray(known, np.int32)


class RealForward(Op):
    """The non-redundant half of the transform of a real array."""

    signature = "input: Treal, fft_length: int32; Tcomplex: type = complex64 -> output: Tcomplex"
    Treal: tuple[DType, ...] = (float32, float64)
    Tcomplex: tuple[DType, ...] = COMPLEX
    axes: int = 1
    back: str = ""
    batching = "leading"
    normwise_error = True

    def infer(self, input: Spec, fft_length: Spec, Tcomplex: DType) -> Spec:
        _check_rank(input, self.axes)
        _check_length(fft_length, self.axes)
        if input.shape is None:
            return Spec(Tcomplex, None)
        known = fft_length.as_shape() or (None,) * self.axes
        half = None if known[-1] is None else known[-1] // 2 + 1 if known[-1] else 0
        lead = input.shape[: len(input.shape) - self.axes]
        return Spec(Tcomplex, (*lead, *known[:-1], half))

    def kernel(self, input, fft_length, Tcomplex: DType):
        _check_kinds(float64 if input.itemsize == 8 else float32, Tcomplex, "forward")
        axes = _last(input, self.axes)
        lengths = _lengths(fft_length, input, axes, False)
        half = lengths[-1] // 2 + 1 if lengths[-1] else 0
        shape = (*input.shape[: axes[0]], *lengths[:-1], half)
        if lengths == list(input.shape[axes[0] :]):
            run = _compiled("rfft", input, self.axes, lengths[-1])
            if run is not None:
                return run(input)
        return _transformed(np.fft.rfftn, input, lengths, axes, shape, Tcomplex)

    def gradient(self, input: Spec, fft_length, doutput, Tcomplex: DType) -> Any:
        length = _declared_lengths(fft_length)
        weighed = raw.Mul(doutput, _weights(length, 0.5, Tcomplex))
        result = getattr(raw, self.back)(weighed, fft_length, Treal=input.dtype)
        result = raw.Mul(result, _product(length, input.dtype))
        return _fitted(result, input, self.axes), None


class RealBackward(Op):
    """The real array of a half spectrum."""

    signature = "input: Tcomplex, fft_length: int32; Treal: type = float32 -> output: Treal"
    Treal: tuple[DType, ...] = (float32, float64)
    Tcomplex: tuple[DType, ...] = COMPLEX
    axes: int = 1
    back: str = ""
    batching = "leading"
    normwise_error = True

    def infer(self, input: Spec, fft_length: Spec, Treal: DType) -> Spec:
        _check_rank(input, self.axes)
        _check_length(fft_length, self.axes)
        if input.shape is None:
            return Spec(Treal, None)
        known = fft_length.as_shape() or (None,) * self.axes
        return Spec(Treal, (*input.shape[: len(input.shape) - self.axes], *known))

    def kernel(self, input, fft_length, Treal: DType):
        wide = complex128 if input.itemsize == 16 else complex64
        _check_kinds(Treal, wide, "backward")
        axes = _last(input, self.axes)
        lengths = _lengths(fft_length, input, axes, True)
        shape = (*input.shape[: axes[0]], *lengths)
        if [*lengths[:-1], _half(lengths[-1])] == list(input.shape[axes[0] :]):
            run = _compiled("irfft", input, self.axes, lengths[-1])
            if run is not None:
                return run(input)
        return _transformed(np.fft.irfftn, input, lengths, axes, shape, Treal)

    def gradient(self, input: Spec, fft_length, doutput) -> Any:
        length = _declared_lengths(fft_length)
        result = getattr(raw, self.back)(doutput, fft_length, Tcomplex=input.dtype)
        weights = _weights(length, 2.0, input.dtype)
        result = raw.Div(raw.Mul(result, weights), _product(length, input.dtype))
        return _fitted(result, input, self.axes), None


@op
class RFFT(RealForward):
    """The transform of real arrays over the last axis."""

    back = "IRFFT"


@op
class RFFT2D(RealForward):
    """The transform of real arrays over the last two axes."""

    axes = 2
    back = "IRFFT2D"


@op
class RFFT3D(RealForward):
    """The transform of real arrays over the last three axes."""

    axes = 3
    back = "IRFFT3D"


@op
class IRFFT(RealBackward):
    """The real arrays of spectra over the last axis."""

    back = "RFFT"


@op
class IRFFT2D(RealBackward):
    """The real arrays of spectra over the last two axes."""

    axes = 2
    back = "RFFT2D"


@op
class IRFFT3D(RealBackward):
    """The real arrays of spectra over the last three axes."""

    axes = 3
    back = "RFFT3D"


# -- over any axes ---------------------------------------------------------------------


def _axes_of(axes: Any, rank: int) -> list[int]:
    found = [a + rank if a < 0 else a for a in axes.tolist()]
    if any(not 0 <= a < rank for a in found):
        raise invalid_argument(
            f"axes must be in [{-rank}, {rank}) for input with {rank} dimensions, "
            f"but got: {axes.tolist()}"
        )
    if len(set(found)) != len(found):
        raise invalid_argument(f"axes must be different, but got: {axes.tolist()}")
    return found


def _transformed_shape(x: Spec, lengths: Any, axes: Spec, half: Callable[[int], int]) -> Any:
    """The shape of a transform over `axes`, as far as it is known."""
    known = numbers(axes)
    if x.shape is None or known is None:
        return None if x.shape is None else (None,) * len(x.shape)
    sizes = lengths.as_shape() or (None,) * len(known)
    dims = list(x.shape)
    for i, (axis, size) in enumerate(zip(known, sizes, strict=False)):
        last = i == len(known) - 1
        dims[axis] = half(size) if last and size is not None else size
    return tuple(dims)


def _same(size: int) -> int:
    return size


def _half(size: int) -> int:
    return size // 2 + 1 if size else 0


class AnyAxes(Op):
    """A transform over any axes."""

    Tcomplex: tuple[DType, ...] = COMPLEX
    Treal: tuple[DType, ...] = (float32, float64)
    function: Any = None
    back: str = ""
    normwise_error = True

    def transformed_array(self, x: Any, fft_length: Any, axes: Any, dtype: DType, kind: str) -> Any:
        """The transform of an array."""
        along = _axes_of(axes, x.ndim)
        lengths = _lengths(fft_length, x, along, kind == "irfft")
        shape = list(x.shape)
        for axis, length in zip(along, lengths, strict=True):
            shape[axis] = length
        if kind == "rfft" and along:
            shape[along[-1]] = _half(lengths[-1])
        return _transformed(self.function, x, lengths, along, shape, dtype)


class ComplexAnyAxes(AnyAxes):
    """A transform of complex arrays over any axes."""

    signature = "input: Tcomplex, fft_length: int32, axes: int32 -> output: Tcomplex"

    def infer(self, input: Spec, fft_length: Spec, axes: Spec) -> Spec:
        return Spec(input.dtype, _transformed_shape(input, fft_length, axes, _same))

    def kernel(self, input, fft_length, axes):
        kind = complex128 if input.itemsize == 16 else complex64
        return self.transformed_array(input, fft_length, axes, kind, "fft")


@op
class FFTND(ComplexAnyAxes):
    """The transform over any axes."""

    function = staticmethod(np.fft.fftn)

    def gradient(self, input: Spec, fft_length, axes, doutput) -> Any:
        count = _product(_declared_lengths(fft_length), input.dtype)
        result = raw.Mul(raw.IFFTND(doutput, fft_length, axes), count)
        return _fitted(result, input, 0), None, None


@op
class IFFTND(ComplexAnyAxes):
    """The inverse transform over any axes."""

    function = staticmethod(np.fft.ifftn)

    def gradient(self, input: Spec, fft_length, axes, doutput) -> Any:
        count = _product(_declared_lengths(fft_length), input.dtype)
        result = raw.Div(raw.FFTND(doutput, fft_length, axes), count)
        return _fitted(result, input, 0), None, None


def _along(weights: Any, axes: Any, x: Spec) -> Any:
    """Weights of the last of `axes`, in a shape that broadcasts along it."""
    last = raw.StridedSlice(axes, [-1], [0], [1], end_mask=1)
    rank = x.rank if x.rank is not None else raw.Rank(x.tensor)
    last_axis = raw.FloorMod(last, np.int32(rank) if isinstance(rank, int) else rank)
    ones = raw.Fill(
        raw.Reshape(np.int32(rank) if isinstance(rank, int) else rank, [1]), np.int32(1)
    )
    count = raw.Reshape(raw.Size(weights), [1])
    shape = raw.TensorScatterUpdate(ones, raw.Reshape(last_axis, [1, 1]), count)
    return raw.Reshape(weights, shape)


@op
class RFFTND(AnyAxes):
    """The transform of real arrays over any axes, half of the last."""

    signature = (
        "input: Treal, fft_length: int32, axes: int32; Tcomplex: type = complex64"
        " -> output: Tcomplex"
    )
    function = staticmethod(np.fft.rfftn)

    def infer(self, input: Spec, fft_length: Spec, axes: Spec, Tcomplex: DType) -> Spec:
        return Spec(Tcomplex, _transformed_shape(input, fft_length, axes, _half))

    def kernel(self, input, fft_length, axes, Tcomplex: DType):
        _check_kinds(float64 if input.itemsize == 8 else float32, Tcomplex, "forward")
        return self.transformed_array(input, fft_length, axes, Tcomplex, "rfft")

    def gradient(self, input: Spec, fft_length, axes, doutput, Tcomplex: DType) -> Any:
        length = _declared_lengths(fft_length)
        weights = _along(_weights(length, 0.5, Tcomplex), axes, input)
        result = raw.IRFFTND(raw.Mul(doutput, weights), fft_length, axes, Treal=input.dtype)
        result = raw.Mul(result, _product(length, input.dtype))
        return _fitted(result, input, 0), None, None


@op
class IRFFTND(AnyAxes):
    """The real arrays of half spectra over any axes."""

    signature = (
        "input: Tcomplex, fft_length: int32, axes: int32; Treal: type = float32 -> output: Treal"
    )
    function = staticmethod(np.fft.irfftn)

    def infer(self, input: Spec, fft_length: Spec, axes: Spec, Treal: DType) -> Spec:
        return Spec(Treal, _transformed_shape(input, fft_length, axes, _same))

    def kernel(self, input, fft_length, axes, Treal: DType):
        wide = complex128 if input.itemsize == 16 else complex64
        _check_kinds(Treal, wide, "backward")
        return self.transformed_array(input, fft_length, axes, Treal, "irfft")

    def gradient(self, input: Spec, fft_length, axes, doutput) -> Any:
        length = _declared_lengths(fft_length)
        result = raw.RFFTND(doutput, fft_length, axes, Tcomplex=input.dtype)
        weights = _along(_weights(length, 2.0, input.dtype), axes, input)
        result = raw.Div(raw.Mul(result, weights), _product(length, input.dtype))
        return _fitted(result, input, 0), None, None
