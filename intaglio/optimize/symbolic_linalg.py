"""NumPy's functions of matrices and its Fourier transforms, of symbolic arrays: the ops that they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import from_numpy
from intaglio.opdef import raw
from intaglio.optimize.symbolic_arrays import NotSymbolic, SymbolicArray, tensor_of

_Rule = Callable[..., Any]


def _of(function: Callable[..., Any]) -> _Rule:
    """A function of arrays by an op of tensors."""

    def rule(*arrays: Any) -> Any:
        found = function(*map(tensor_of, arrays))
        return (
            tuple(map(SymbolicArray, found)) if isinstance(found, tuple) else SymbolicArray(found)
        )

    return rule


def _solve(a: Any, b: Any) -> Any:
    if len(b.dims) == 1:
        found = raw.MatrixSolve(a, raw.ExpandDims(b, np.int32(1)))
        return raw.Squeeze(found, axis=[1])
    return raw.MatrixSolve(a, b)


def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    s, u, v = raw.Svd(tensor_of(a), full_matrices=full_matrices, compute_uv=compute_uv)
    if not compute_uv:
        return SymbolicArray(s)
    return SymbolicArray(u), SymbolicArray(s), np.conj(SymbolicArray(v).mT)


def _pinv(a: Any, rcond: Any = None) -> Any:
    """The pseudo-inverse: singular values that are small beside the largest have none."""
    u, s, v = _svd(a, full_matrices=False)
    limit = max(a.shape[-2:]) * np.finfo(a.dtype).eps if rcond is None else rcond
    large = s > limit * np.max(s, axis=-1)[..., None]
    inverse = np.where(large, 1 / np.where(large, s, s.dtype.type(1)), s.dtype.type(0))
    return np.conj(v.mT) @ (inverse[..., None] * np.conj(u.mT))


def _qr(a: Any, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete"):
        raise NotSymbolic(f"factors of the mode {mode}")
    q, r = raw.Qr(tensor_of(a), full_matrices=mode == "complete")
    return SymbolicArray(q), SymbolicArray(r)


# -- transforms ----------------------------------------------------------------------------------------


def _along(x: Any, axis: int, count: int, op: Callable[[Any], Any]) -> Any:
    """An op of the last axis, of so many elements, along another one."""
    x = np.moveaxis(x, axis, -1)[..., :count]
    missing = count - x.shape[-1]
    if missing:
        x = np.concatenate([x, np.zeros((*x.shape[:-1], missing), x.dtype)], -1)
    found: Any = SymbolicArray(op(tensor_of(x)))
    return np.moveaxis(found, -1, axis)


def _axes(x: Any, s: Any, axes: Any) -> list[tuple[int, int]]:
    """The axes of a transform with their lengths, in the order of NumPy: the last one first."""
    axes = range(x.ndim)[-len(s) :] if axes is None and s is not None else axes
    axes = range(x.ndim) if axes is None else axes
    sizes = [x.shape[a] for a in axes] if s is None else s
    return [(int(a) % x.ndim, int(n)) for a, n in zip(axes, sizes, strict=True)][::-1]


def _complex(x: Any) -> Any:
    kind = np.complex64 if x.dtype.itemsize <= 4 or x.dtype == np.complex64 else np.complex128
    return x if x.dtype.kind == "c" else x.astype(kind)


def _whole(op: Any) -> _Rule:
    def rule(x: Any, s: Any = None, axes: Any = None) -> Any:
        x = _complex(x)
        for axis, count in _axes(x, s, axes):
            x = _along(x, axis, count, op)
        return x

    return rule


def _rfftn(x: Any, s: Any = None, axes: Any = None) -> Any:
    """Of real numbers: the last axis has the half that says all."""
    (last, count), *rest = _axes(x, s, axes)
    kind = from_numpy(np.dtype(np.complex128 if x.dtype == np.float64 else np.complex64))
    x = _along(x, last, count, lambda v: raw.RFFT(v, np.array([count], np.int32), Tcomplex=kind))
    for axis, length in rest:
        x = _along(x, axis, length, raw.FFT)
    return x


def _irfftn(x: Any, s: Any = None, axes: Any = None) -> Any:
    x = _complex(x)
    (last, count), *rest = _axes(x, s, axes)
    if s is None:
        count = 2 * (count - 1)
    for axis, length in reversed(rest):
        x = _along(x, axis, length, raw.IFFT)
    kind = from_numpy(np.dtype(np.float64 if x.dtype == np.complex128 else np.float32))
    half = count // 2 + 1
    return _along(x, last, half, lambda v: raw.IRFFT(v, np.array([count], np.int32), Treal=kind))


# -- single numbers --------------------------------------------------------------------------------------


def _logaddexp(x: Any, y: Any) -> Any:
    dtype = np.result_type(x, y) if not isinstance(x, SymbolicArray) else x.dtype
    most = np.maximum(x, y)
    apart = np.where(np.isfinite(most), np.minimum(x, y) - most, dtype.type(0))
    near = np.log1p(np.exp(apart))
    return np.where(np.isfinite(most), most + near, most)


def _nextafter(x: Any, y: Any) -> Any:
    """The next number in a direction: the next integer, of the bits."""
    if x.dtype.kind != "f":
        raise NotSymbolic("the next number of a dtype of 16 bits")
    signed = np.dtype(f"i{x.dtype.itemsize}")
    bits = x.view(signed)
    one = signed.type(1)
    away = np.equal(x < y, x > 0)
    moved = np.where(away, bits + one, bits - one)
    least = np.where(y < 0, one | signed.type(np.iinfo(signed).min), one)
    found = np.where(np.equal(x, 0), least, moved)
    found = SymbolicArray(raw.Bitcast(tensor_of(found), type=from_numpy(x.dtype)))
    found = np.where(np.equal(x, y), y, found)
    return np.where(np.isnan(x) | np.isnan(y), x + y, found)


LINALG: dict[Any, Any] = {
    np.linalg.cholesky: _of(raw.Cholesky), np.linalg.solve: _of(_solve),
    np.linalg.inv: _of(raw.MatrixInverse), np.linalg.det: _of(raw.MatrixDeterminant),
    np.linalg.slogdet: _of(raw.LogMatrixDeterminant), np.linalg.svd: _svd, np.linalg.pinv: _pinv,
    np.linalg.qr: _qr,
    np.linalg.eigh: _of(lambda a: tuple(raw.SelfAdjointEigV2(a, compute_v=True))),
    np.linalg.eigvalsh: _of(lambda a: raw.SelfAdjointEigV2(a, compute_v=False)[0]),
    np.fft.fftn: _whole(raw.FFT), np.fft.ifftn: _whole(raw.IFFT), np.fft.rfftn: _rfftn,
    np.fft.irfftn: _irfftn, np.logaddexp: _logaddexp, np.nextafter: _nextafter,
}  # fmt: skip
