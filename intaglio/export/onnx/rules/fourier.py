"""Fourier transforms by ONNX' DFT, whose last dimension has the real and the imaginary part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.export.onnx.registry import complex_rule
from intaglio.export.onnx.rules.complex_numbers import parts
from intaglio.export.onnx.scalars import Scalars
from intaglio.export.onnx.values import ComplexValue, Operand, Unexportable, known, rank_of
from intaglio.opdef import late

# The first version in which the axis is an input.
_AXIS_IS_INPUT = 20


def _dft(builder: Any, pairs: Operand, length: int | None, axis: int, **attributes: int) -> Operand:
    size = None if length is None else np.array(length, np.int64)
    if builder.model.opset < _AXIS_IS_INPUT:
        return builder.add("DFT", pairs, size, axis=axis, **attributes)
    return builder.add("DFT", pairs, size, np.array(axis, np.int64), **attributes)


def _paired(builder: Any, x: ComplexValue, rank: int) -> Operand:
    return builder.concat([builder.unsqueeze(v, [rank]) for v in x], rank)


def _unpaired(builder: Any, pairs: Operand, rank: int) -> ComplexValue:
    found = builder.several("Split", [pairs], [None, None], axis=rank, num_outputs=2)
    return ComplexValue(*[builder.squeeze(v, [rank]) for v in found])


def _transformed(
    builder: Any,
    x: ComplexValue,
    rank: int,
    lengths: Sequence[int | None],
    axes: Sequence[int],
    inverse: bool,
) -> ComplexValue:
    """The complex transform along each of the axes."""
    if not axes:
        return x
    pairs = _paired(builder, x, rank)
    for length, axis in zip(lengths, axes, strict=True):
        pairs = _dft(builder, pairs, length, axis, inverse=int(inverse))
    return _unpaired(builder, pairs, rank)


def _half(builder: Any, x: Operand, lengths: Sequence[int], axes: Sequence[int]) -> ComplexValue:
    """The half of a real array's transform that is not redundant."""
    rank = rank_of(x)
    pairs = _dft(builder, builder.unsqueeze(x, [rank]), lengths[-1], axes[-1], onesided=1)
    half = _unpaired(builder, pairs, rank)
    return _transformed(builder, half, rank, lengths[:-1], axes[:-1], False)


def _whole(builder: Any, x: ComplexValue, lengths: Sequence[int], axes: Sequence[int]) -> Operand:
    """The real array of half a transform, whose other half is the conjugate of it."""
    dims, length, axis = x.dims or (), lengths[-1], axes[-1]
    half = length // 2 + 1
    x = _transformed(builder, x, len(dims), lengths[:-1], axes[:-1], True)
    x = ComplexValue(*[_resized(builder, v, axis, dims[axis], half) for v in x])
    mirrored = np.arange(length - half, 0, -1)
    if mirrored.size:
        real, imag = (builder.add("Gather", v, mirrored, axis=axis) for v in x)
        rest = real, Scalars(builder).neg(imag)
        whole = [builder.concat([a, b], axis) for a, b in zip(x, rest, strict=True)]
        x = ComplexValue(*whole)
    return _transformed(builder, x, len(dims), [None], [axis], True).real


def _resized(builder: Any, x: Operand, axis: int, own: int | None, size: int) -> Operand:
    """Cut, or filled up with zeros."""
    if own is None:
        raise Unexportable("the length of a half spectrum must be known")
    if own > size:
        return builder.slice(x, np.array([0]), np.array([size]), np.array([axis]))
    if own == size:
        return x
    return builder.add("Pad", x, np.array([0, size - own]), None, np.array([axis]))


def _lengths(fft_length: Operand) -> list[int]:
    found = [int(n) for n in known(fft_length, "the length of a transform")]
    if 0 in found:
        raise Unexportable("a transform of no elements")
    return found


def _last(x: Operand, count: int) -> list[int]:
    rank = rank_of(x)
    return [*range(rank - count, rank)]


def _axes(x: Operand, axes: Operand) -> list[int]:
    return [int(a) % rank_of(x) for a in known(axes, "the axes")]


# -- over the last axes ------------------------------------------------------------------------


def _complex_transform(op: Any, count: int, inverse: bool) -> None:
    @complex_rule(op)
    def rule(builder, input) -> Any:
        x, axes = ComplexValue(*parts(input)), _last(input, count)
        return _transformed(builder, x, rank_of(x), [None] * count, axes, inverse)


def _real_transforms(forward: Any, backward: Any, count: int) -> None:
    @complex_rule(forward)
    def rule(builder, input, fft_length) -> Any:
        return _half(builder, input, _lengths(fft_length), _last(input, count))

    @complex_rule(backward)
    def inverse_rule(builder, input, fft_length) -> Any:
        x, axes = ComplexValue(*parts(input)), _last(input, count)
        return _whole(builder, x, _lengths(fft_length), axes)


for _op, _count, _inverse in (
    (late.FFT, 1, False),
    (late.FFT2D, 2, False),
    (late.FFT3D, 3, False),
    (late.IFFT, 1, True),
    (late.IFFT2D, 2, True),
    (late.IFFT3D, 3, True),
):
    _complex_transform(_op, _count, _inverse)
_real_transforms(late.RFFT, late.IRFFT, 1)
_real_transforms(late.RFFT2D, late.IRFFT2D, 2)
_real_transforms(late.RFFT3D, late.IRFFT3D, 3)


# -- over any axes -----------------------------------------------------------------------------


def _transform_of_axes(op: Any, inverse: bool) -> None:
    @complex_rule(op)
    def rule(builder, input, fft_length, axes) -> Any:
        x, along = ComplexValue(*parts(input)), _axes(input, axes)
        return _transformed(builder, x, rank_of(x), _lengths(fft_length), along, inverse)


_transform_of_axes(late.FFTND, False)
_transform_of_axes(late.IFFTND, True)


@complex_rule(late.RFFTND)
def _real_along_axes(builder, input, fft_length, axes) -> Any:
    return _half(builder, input, _lengths(fft_length), _axes(input, axes))


@complex_rule(late.IRFFTND)
def _inverse_real_along_axes(builder, input, fft_length, axes) -> Any:
    x = ComplexValue(*parts(input))
    return _whole(builder, x, _lengths(fft_length), _axes(x, axes))
