"""Fourier transforms of `tf.signal`.

Follows https://www.tensorflow.org/api_docs/python/tf/signal/fft and its neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, complex64, complex128, float32, float64, int32
from intaglio.composite_ops.array import lengths
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.op import Op
from intaglio.opdef.tensor import Tensor

WIDE = {float32: complex64, float64: complex128}
NARROW = {complex64: float32, complex128: float64}
NORMS = ("backward", "ortho", "forward")


def _complex(input: Any) -> Tensor:
    """Real numbers become complex64, Python's complex ones complex128; tensors stay what they are.

    NumPy's arrays become complex64, in graphs too, where TensorFlow 2.21 keeps those of complex128.
    """
    if not isinstance(input, np.ndarray):
        found = to_tensor(input, None, "input")
        if isinstance(input, Tensor) or found.dtype in NARROW:
            return found
    return to_tensor(input, None, "input", dtype_hint=complex64)


@dispatchable
def fft(input: Any, name: str | None = None) -> Tensor:
    """The discrete Fourier transform over the last axis of a complex tensor.

    >>> tf.signal.fft(tf.constant([1, 0, 0, 0], tf.complex64)).numpy()
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return raw.FFT(_complex(input), name=name)


@dispatchable
def fft2d(input: Any, name: str | None = None) -> Tensor:
    """The discrete Fourier transform over the last two axes of a complex tensor.

    >>> tf.signal.fft2d(tf.ones([2, 2], tf.complex64)).numpy()[0, 0]
    np.complex64(4+0j)
    """
    return raw.FFT2D(_complex(input), name=name)


@dispatchable
def fft3d(input: Any, name: str | None = None) -> Tensor:
    """The discrete Fourier transform over the last three axes of a complex tensor.

    >>> tf.signal.fft3d(tf.ones([2, 2, 2], tf.complex64)).numpy()[0, 0, 0]
    np.complex64(8+0j)
    """
    return raw.FFT3D(_complex(input), name=name)


@dispatchable
def ifft(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.fft`.

    >>> tf.signal.ifft(tf.constant([4, 0, 0, 0], tf.complex64)).numpy()
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return raw.IFFT(_complex(input), name=name)


@dispatchable
def ifft2d(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.fft2d`.

    >>> tf.signal.ifft2d(tf.ones([2, 2], tf.complex64)).numpy()[0, 0]
    np.complex64(1+0j)
    """
    return raw.IFFT2D(_complex(input), name=name)


@dispatchable
def ifft3d(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.fft3d`.

    >>> tf.signal.ifft3d(tf.ones([2, 2, 2], tf.complex64)).numpy()[0, 0, 0]
    np.complex64(1+0j)
    """
    return raw.IFFT3D(_complex(input), name=name)


# -- real ------------------------------------------------------------------------------


def _last(x: Tensor, rank: int) -> list[Any]:
    if x.dims is not None and len(x.dims) < rank:
        raise ValueError(f"The input must have at least rank {rank}, not {len(x.dims)}.")
    return [lengths.of_axis(x, a) for a in range(-rank, 0)]


def _full(half: Any) -> Any:
    """The length of the signal whose spectrum has `half` elements: an even one."""
    if isinstance(half, int):
        return max(0, 2 * (half - 1))
    return raw.Maximum(np.int32(0), (half - 1) * 2)


def _known(fft_length: Tensor) -> list[int] | None:
    found = fft_length.spec.value if hasattr(fft_length, "spec") else fft_length.numpy()
    return None if found is None else np.asarray(found).tolist()


def _fitted(x: Tensor, fft_length: Tensor, rank: int, half: bool) -> Tensor:
    """`x` with zeros after it where the transform needs more than there is."""
    wanted = _known(fft_length)
    own: Any = None if x.dims is None else x.dims[-rank:]
    if wanted is not None and half and wanted:
        wanted = [*wanted[:-1], wanted[-1] // 2 + 1]
    if wanted is not None and own is not None and None not in own:
        missing = [max(0, w - d) for w, d in zip(wanted, own, strict=False)]
        if not any(missing) or 0 in own:
            return x
        pairs = [[0, 0]] * (len(x.dims or ()) - rank) + [[0, m] for m in missing]
        return raw.Pad(x, np.asarray(pairs, np.int32))
    need: Any = fft_length
    if half:
        tail = np.asarray([1] * (rank - 1) + [2], np.int32)
        more = np.asarray([0] * (rank - 1) + [1], np.int32)
        need = fft_length // tail + more
    have = lengths.vector(_last(x, rank))
    missing_now = raw.Maximum(need - have, np.int32(0))
    tail_pairs = raw.Pack([raw.ZerosLike(missing_now), missing_now], axis=1)
    lead = raw.Reshape(raw.Rank(x) - rank, [1])
    zeros = raw.Fill(raw.ConcatV2([lead, np.asarray([2], np.int32)], 0), np.int32(0))
    return raw.Pad(x, raw.ConcatV2([zeros, tail_pairs], 0))


def _forward(op: Op, input_tensor: Any, fft_length: Any, rank: int, name: Any) -> Tensor:
    with door.level().scoped(name or op.name.lower()) as scope:
        x = to_tensor(input_tensor, None, "input", dtype_hint=float32)
        if x.dtype not in WIDE:
            raise ValueError(f"RFFT requires tf.float32 or tf.float64 inputs, got: {x.dtype!r}")
        if fft_length is None:
            sizes: Any = lengths.vector(_last(x, rank))
        else:
            sizes = to_tensor(fft_length, int32, "fft_length")
            x = _fitted(x, sizes, rank, False)
        return op(x, sizes, Tcomplex=WIDE[x.dtype], name=scope)


def _backward(op: Op, input_tensor: Any, fft_length: Any, rank: int, name: Any) -> Tensor:
    with door.level().scoped(name or op.name.lower()) as scope:
        x = to_tensor(input_tensor, None, "input", dtype_hint=complex64)
        if x.dtype not in NARROW:
            raise ValueError(
                f"IRFFT requires tf.complex64 or tf.complex128 inputs, got: {x.dtype!r}"
            )
        if fft_length is None:
            own = _last(x, rank)
            sizes: Any = lengths.vector([*own[:-1], _full(own[-1])])
        else:
            sizes = to_tensor(fft_length, int32, "fft_length")
            x = _fitted(x, sizes, rank, True)
        return op(x, sizes, Treal=NARROW[x.dtype], name=scope)


def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The transform of real signals over the last axis: `fft_length // 2 + 1` frequencies.

    Signals are cut to `fft_length` (a vector of one) or filled up with zeros. float32 gives
    complex64, float64 complex128; ValueError for other dtypes.

    >>> tf.signal.rfft([1.0, 0.0, -1.0, 0.0]).numpy()
    array([0.+0.j, 2.+0.j, 0.+0.j], dtype=complex64)
    """
    return _forward(raw.RFFT, input_tensor, fft_length, 1, name)


def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The transform of real signals over the last two axes; see `tf.signal.rfft`.

    >>> tf.signal.rfft2d(tf.ones([2, 4])).shape
    TensorShape([2, 3])
    """
    return _forward(raw.RFFT2D, input_tensor, fft_length, 2, name)


def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The transform of real signals over the last three axes; see `tf.signal.rfft`.

    >>> tf.signal.rfft3d(tf.ones([2, 2, 4])).shape
    TensorShape([2, 2, 3])
    """
    return _forward(raw.RFFT3D, input_tensor, fft_length, 3, name)


def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.rfft`; without `fft_length` an even number of elements.

    >>> tf.signal.irfft(tf.constant([0, 2, 0], tf.complex64)).numpy()
    array([ 1.,  0., -1.,  0.], dtype=float32)
    """
    return _backward(raw.IRFFT, input_tensor, fft_length, 1, name)


def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.rfft2d`; see `tf.signal.irfft`.

    >>> tf.signal.irfft2d(tf.ones([2, 3], tf.complex64)).shape
    TensorShape([2, 4])
    """
    return _backward(raw.IRFFT2D, input_tensor, fft_length, 2, name)


def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.rfft3d`; see `tf.signal.irfft`.

    >>> tf.signal.irfft3d(tf.ones([2, 2, 3], tf.complex64)).shape
    TensorShape([2, 2, 4])
    """
    return _backward(raw.IRFFT3D, input_tensor, fft_length, 3, name)


# -- any axes --------------------------------------------------------------------------


def _plan(x: Tensor, fft_length: Any, axes: Any, half: bool) -> tuple[Any, Any]:
    """The lengths and axes of a transform, as int32 vectors."""
    if axes is not None:
        along: Any = to_tensor(axes, int32, "axes")
    elif fft_length is not None:
        count = to_tensor(fft_length, int32, "fft_length")
        size = lengths.of_axis(count, 0)
        along = raw.Range(0 - size, np.int32(0), np.int32(1))
    elif x.dims is not None:
        along = to_tensor(np.arange(len(x.dims), dtype=np.int32))
    else:
        along = raw.Range(np.int32(0), raw.Rank(x), np.int32(1))
    if fft_length is not None:
        return to_tensor(fft_length, int32, "fft_length"), along
    sizes = raw.GatherV2(raw.Shape(x), raw.FloorMod(along, raw.Rank(x)), 0)
    if half:
        front = raw.StridedSlice(sizes, [0], [-1], [1], begin_mask=1)
        last = raw.StridedSlice(sizes, [-1], [0], [1], end_mask=1)
        sizes = raw.ConcatV2([front, _full(last)], 0)
    return sizes, along


def _scaled(transformed: Tensor, sizes: Tensor, norm: Any, inverse: bool) -> Tensor:
    """The transform, scaled otherwise than by 1 forwards and 1 / n backwards."""
    if norm is None or norm == "backward":
        return transformed
    count = raw.Prod(sizes, [0])
    real = transformed.dtype.real_dtype
    factor = raw.Cast(count, DstT=real)
    if norm == "ortho":
        factor = raw.Sqrt(factor)
    factor = raw.Cast(factor, DstT=transformed.dtype)
    return transformed * factor if inverse else transformed / factor


def _check_norm(norm: Any) -> None:
    if norm is not None and norm not in NORMS:
        raise ValueError(
            f"norm must be one of {', '.join(map(repr, NORMS))} or None, not {norm!r}."
        )


def _over_axes(
    op: Op, x: Tensor, fft_length: Any, axes: Any, norm: Any, name: Any, **types: DType
) -> Tensor:
    _check_norm(norm)
    if x.dtype not in (op.slots[0][2] or ()):
        raise TypeError(f"{op.name} is not for tensors of {x.dtype.name}")
    sizes, along = _plan(x, fft_length, axes, op is raw.IRFFTND)
    if fft_length is not None:
        x = _fitted_along(x, sizes, along, op is raw.IRFFTND)
    result = op(x, sizes, along, name=name, **types)
    return _scaled(result, sizes, norm, op in (raw.IFFTND, raw.IRFFTND))


def _fitted_along(x: Tensor, sizes: Tensor, along: Tensor, half: bool) -> Tensor:
    """`x` with zeros after it where a transform over some axes needs more."""
    need: Any = sizes
    if half:
        front = raw.StridedSlice(sizes, [0], [-1], [1], begin_mask=1)
        last = raw.StridedSlice(sizes, [-1], [0], [1], end_mask=1)
        need = raw.ConcatV2([front, last // 2 + 1], 0)
    index = raw.FloorMod(along, raw.Rank(x))
    have = raw.Shape(x)
    missing = raw.Maximum(need - raw.GatherV2(have, index, 0), np.int32(0))
    ends = raw.ScatterNd(raw.ExpandDims(index, 1), missing, raw.Shape(have))
    return raw.Pad(x, raw.Pack([raw.ZerosLike(ends), ends], axis=1))


def fftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: Any = None,
    name: str | None = None,
) -> Tensor:
    """The discrete Fourier transform of a complex tensor over any axes; by default all.

    With `fft_length` alone it goes over the last axes. `norm` is "backward" (the default:
    the inverse is divided by the number of elements), "ortho" or "forward".

    >>> tf.signal.fftnd(tf.ones([2, 3], tf.complex64), axes=[0]).numpy()[0]
    array([2.+0.j, 2.+0.j, 2.+0.j], dtype=complex64)
    """
    x = to_tensor(input_tensor, None, "input", dtype_hint=complex64)
    return _over_axes(raw.FFTND, x, fft_length, axes, norm, name)


def ifftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: Any = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `tf.signal.fftnd`, with the same arguments.

    >>> tf.signal.ifftnd(tf.ones([2, 3], tf.complex64), norm="forward").numpy()[0, 0]
    np.complex64(6+0j)
    """
    x = to_tensor(input_tensor, None, "input", dtype_hint=complex64)
    return _over_axes(raw.IFFTND, x, fft_length, axes, norm, name)


def rfftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transform of a real tensor over any axes, half of the last; see `tf.signal.fftnd`.

    >>> tf.signal.rfftnd(tf.ones([2, 4])).shape
    TensorShape([2, 3])
    """
    x = to_tensor(input_tensor, None, "input", dtype_hint=float32)
    kind = WIDE.get(x.dtype, complex64)
    return _over_axes(raw.RFFTND, x, fft_length, axes, norm, name, Tcomplex=kind)


def irfftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: Any = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `tf.signal.rfftnd`, with the same arguments.

    `fft_length` are the lengths of the transformed axes of the real or result tensor: they are
    truncated, or padded with zeros. `norm` is "backward", "ortho" or "forward".

    >>> tf.signal.irfftnd(tf.ones([2, 3], tf.complex64)).shape
    TensorShape([2, 4])
    """
    x = to_tensor(input_tensor, None, "input", dtype_hint=complex64)
    kind = NARROW.get(x.dtype, float32)
    return _over_axes(raw.IRFFTND, x, fft_length, axes, norm, name, Treal=kind)


# -- shifts ----------------------------------------------------------------------------


def _shifted(x: Tensor, axes: Any, back: bool, name: str) -> Tensor:
    if axes is None:
        along: Any = (
            np.arange(len(x.dims), dtype=np.int32)
            if x.dims is not None
            else raw.Range(np.int32(0), raw.Rank(x), np.int32(1))
        )
    else:
        along = to_tensor(axes, int32, "axes")
    shift = raw.GatherV2(raw.Shape(x), raw.FloorMod(along, raw.Rank(x)), 0) // 2
    return raw.Roll(x, -shift if back else shift, along, name=name)


@dispatchable
def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Moves the zero frequency to the middle of all axes, or of `axes`.

    >>> tf.signal.fftshift([0, 1, 2, -2, -1]).numpy()
    array([-2, -1,  0,  1,  2], dtype=int32)
    """
    with door.level().scoped(name or "fftshift") as scope:
        return _shifted(to_tensor(x), axes, False, scope)


@dispatchable
def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.fftshift`.

    >>> tf.signal.ifftshift([-2, -1, 0, 1, 2]).numpy()
    array([ 0,  1,  2, -2, -1], dtype=int32)
    """
    with door.level().scoped(name or "ifftshift") as scope:
        return _shifted(to_tensor(x), axes, True, scope)


__all__ = [
    "fft",
    "fft2d",
    "fft3d",
    "fftnd",
    "fftshift",
    "ifft",
    "ifft2d",
    "ifft3d",
    "ifftnd",
    "ifftshift",
    "irfft",
    "irfft2d",
    "irfft3d",
    "irfftnd",
    "rfft",
    "rfft2d",
    "rfft3d",
    "rfftnd",
]
