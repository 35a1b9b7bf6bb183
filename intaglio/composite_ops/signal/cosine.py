"""Discrete cosine transforms of `tf.signal`.

Follows https://www.tensorflow.org/api_docs/python/tf/signal/dct.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType
from intaglio.composite_ops.array import lengths
from intaglio.composite_ops.signal import fourier
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor

INVERSES = {1: 1, 2: 3, 3: 2, 4: 4}


@dispatchable
def dct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: Any = None,
    name: str | None = None,
) -> Tensor:
    """The discrete cosine transform of type 1, 2, 3 or 4 over the last axis of a real tensor.

    Signals are cut to `n` or filled up with zeros. With norm="ortho" the transform is
    orthonormal (not for type 1). Raises ValueError and NotImplementedError for arguments
    that are not allowed.

    >>> tf.signal.dct([1.0, 2.0, 3.0]).numpy().round(3)
    array([12.   , -3.464,  0.   ], dtype=float32)
    """
    _check(type, n, axis, norm)
    with door.level().scoped(name or "dct"):
        return _transformed(to_tensor(input), type, n, norm)


@dispatchable
def idct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: Any = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `tf.signal.dct` of the same type, without `norm` up to a factor.

    >>> tf.signal.idct(tf.signal.dct([1.0, 2.0], norm="ortho"), norm="ortho").numpy().round(3)
    array([1., 2.], dtype=float32)
    """
    _check(INVERSES.get(type, type), n, axis, norm)
    with door.level().scoped(name or "idct"):
        return _transformed(to_tensor(input), INVERSES[type], n, norm)


def _check(type: Any, n: Any, axis: Any, norm: Any) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be an integer greater than 1 or None")
    if not isinstance(type, int) or type not in (1, 2, 3, 4):
        raise ValueError("Types I, II, III and IV (I)DCT are supported.")
    if type == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def _transformed(x: Tensor, type: int, n: int | None, norm: Any) -> Tensor:
    if n is not None:
        size = lengths.of_axis(x, -1)
        if isinstance(size, int):
            x = lengths.cut(x, n) if n <= size else lengths.padded(x, n - size)
        else:
            missing = raw.Maximum(n - size, np.int32(0))
            x = lengths.cut(lengths.padded(x, missing), n)
    count = lengths.of_axis(x, -1)
    if type == 1 and isinstance(count, int) and count < 2:
        raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    return TYPES[type](x, count, norm)


def _real_spectrum(x: Tensor, length: Any) -> Tensor:
    """The transform of real signals, filled up with zeros to a length."""
    return fourier.rfft(x, fft_length=lengths.vector([length]))


def _scalar(count: Any, kind: DType) -> Any:
    if isinstance(count, int):
        return np.asarray(count, kind.numpy)
    return raw.Cast(count, DstT=kind)


def _quarter_rotations(count: Any, kind: DType, sign: float) -> Tensor:
    """exp(i * sign * pi / 2 * k / count) for all k below count."""
    steps = raw.Cast(raw.Range(np.int32(0), count, np.int32(1)), DstT=kind)
    angle = steps * np.asarray(sign * np.pi / 2, kind.numpy) / _scalar(count, kind)
    return raw.Exp(raw.Complex(raw.ZerosLike(angle), angle, Tout=fourier.WIDE[kind]))


def _real(x: Tensor) -> Tensor:
    return raw.Real(x, Tout=x.dtype.real_dtype)


def _ortho(count: Any, kind: DType) -> Tensor:
    """What makes type 2 orthonormal: sqrt(1 / 4n), then sqrt(1 / 2n) for all the others."""
    half = np.asarray(0.5, kind.numpy) * raw.Rsqrt(_scalar(count, kind))
    first = raw.Equal(raw.Range(np.int32(0), count, np.int32(1)), 0)
    return raw.SelectV2(first, half, half * np.asarray(np.sqrt(2), kind.numpy))


def _first(x: Tensor, count: Any, norm: Any) -> Tensor:
    inner = raw.StridedSlice(x, [0, 1], [0, -1], [1, 1], ellipsis_mask=1)
    mirrored = raw.ReverseV2(inner, [-1])
    return _real(fourier.rfft(raw.ConcatV2([x, mirrored], -1)))


def _second(x: Tensor, count: Any, norm: Any) -> Tensor:
    kind = x.dtype
    spectrum = lengths.cut(_real_spectrum(x, count * 2), count)
    result = _real(spectrum * (_quarter_rotations(count, kind, -1) * 2))
    return result * _ortho(count, kind) if norm == "ortho" else result


def _third(x: Tensor, count: Any, norm: Any) -> Tensor:
    kind = x.dtype
    if norm == "ortho":
        two = np.asarray(2, kind.numpy)
        weights = _ortho(count, kind) * two * _scalar(count, kind)
        x = x * weights * _halved(count, kind)
    else:
        x = x * _scalar(count, kind)
    wide = raw.Complex(x, raw.ZerosLike(x), Tout=fourier.WIDE[kind])
    rotated = wide * (_quarter_rotations(count, kind, 1) * 2)
    whole = fourier.irfft(rotated, fft_length=lengths.vector([count * 2]))
    return lengths.cut(whole, count)


def _halved(count: Any, kind: DType) -> Tensor:
    """2 for the first element and 1 for the others, halved: type 3 counts the first once."""
    first = raw.Equal(raw.Range(np.int32(0), count, np.int32(1)), 0)
    return raw.SelectV2(first, np.asarray(1, kind.numpy), np.asarray(0.5, kind.numpy))


def _fourth(x: Tensor, count: Any, norm: Any) -> Tensor:
    kind = x.dtype
    double = _second(lengths.padded(x, count), count * 2, None)
    result = raw.StridedSlice(double, [0, 1], [0, 0], [1, 2], ellipsis_mask=1, end_mask=2)
    if norm == "ortho":
        half = np.asarray(np.sqrt(0.5), kind.numpy)
        result = result * (half * raw.Rsqrt(_scalar(count, kind)))
    return result


TYPES = {1: _first, 2: _second, 3: _third, 4: _fourth}

__all__ = ["dct", "idct"]
