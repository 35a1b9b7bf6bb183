"""Changes of dtype, and complex numbers with their parts.

Follows https://www.tensorflow.org/api_docs/python/tf/cast and
https://www.tensorflow.org/api_docs/python/tf/math.
"""

from __future__ import annotations

import math
from typing import Any, overload

import numpy as np

from intaglio.base import dtypes
from intaglio.base.composite import ActsAsTensor
from intaglio.base.dtypes import DType, as_dtype
from intaglio.base.log import logger
from intaglio.composite_ops.math.constants import constant_of
from intaglio.opdef import convert, door, operators, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.tensor import Tensor


@overload
def cast(x: ActsAsTensor, dtype: Any, name: str | None = None) -> Tensor: ...
@overload
def cast(x: Any, dtype: Any, name: str | None = None) -> Any: ...
@dispatchable
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """The elements of `x` in another dtype; `x` itself if it has that dtype.

    Floating-point numbers lose their fractions when they become integers, complex ones
    their imaginary parts when they become real (with a warning), and integers that do not
    fit wrap around. Infinities, NaN and floating-point numbers that do not fit become the number
    whose highest bit alone is set, of 32 bits (of whose low bits narrower integers are made) or 64.
    Raises TypeError for what is no dtype, UnimplementedError for strings.

    https://www.tensorflow.org/api_docs/python/tf/cast

    >>> print(tf.cast([1.7, -1.7], tf.int32).numpy())
    [ 1 -1]
    """
    wanted = as_dtype(dtype)
    if not isinstance(x, Tensor):
        if isinstance(x, IndexedSlices):
            if x.dtype is wanted:
                return x
            values = raw.Cast(x.values, DstT=wanted, name=name)
            return IndexedSlices(values, x.indices, x.dense_shape)
        x = convert.to_tensor(x)
    dtype_of_x = x.dtype
    if dtype_of_x is wanted:
        return x
    if dtype_of_x.is_complex and wanted.is_floating:
        logger().warning(
            "You are casting an input of type %s to an incompatible dtype %s.  This will "
            "discard the imaginary part and may not be what you intended.",
            dtype_of_x.name,
            wanted.name,
        )
    return raw.Cast(x, DstT=wanted, name=name)


@dispatchable
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """The elements of `value` in another dtype, limited to its lowest and highest number.

    Infinities too become the highest number that both dtypes have; NaN stays, or becomes what
    `tf.cast` makes of it. Raises TypeError for bools.

    https://www.tensorflow.org/api_docs/python/tf/saturate_cast

    >>> print(tf.saturate_cast([300, -5], tf.uint8).numpy())
    [255   0]
    """
    wanted = as_dtype(dtype)
    with door.level().scoped(name or "saturate_cast") as scope:
        value = convert.to_tensor(value)
        if value.dtype.is_complex and not wanted.is_complex:
            logger().warning("Casting complex to real discards imaginary part.")
            value = raw.Real(value, Tout=value.dtype.real_dtype)
        own = value.dtype
        low, high = _limits(own.real_dtype, wanted.real_dtype)
        if own.is_complex:
            if wanted.real_dtype.max < own.real_dtype.max:
                parts = (raw.Real(value, Tout=own.real_dtype), raw.Imag(value, Tout=own.real_dtype))
                parts = [raw.ClipByValue(part, low, high) for part in parts]
                value = raw.Complex(*parts, Tout=own)
        elif not own.is_integer or (int(low), int(high)) != (own.min, own.max):
            value = raw.ClipByValue(value, low, high, name="clamp")
        return raw.Cast(value, DstT=wanted, name=scope)


def _limits(own: DType, wanted: DType) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest number of `own` inside `wanted`, as scalars of `own`.

    Raises TypeError for dtypes without such.
    """
    low, high = wanted.min, wanted.max
    outside = _compared(own.min, low) < 0, _compared(own.max, high) > 0
    return (
        _inside(low, own, upwards=True) if outside[0] else np.asarray(own.min, own.numpy),
        _inside(high, own, upwards=False) if outside[1] else np.asarray(own.max, own.numpy),
    )


def _compared(x: Any, y: Any) -> float:
    """Less than 0, 0 or more, as x is to y; integers are not rounded."""
    whole = [v if isinstance(v, (int, np.integer)) else float(v) for v in (x, y)]
    a, b = (int(v) if isinstance(v, np.integer) else v for v in whole)
    return (a > b) - (a < b)


def _inside(limit: Any, own: DType, upwards: bool) -> np.ndarray:
    """A limit as a number of `own`, one step inwards if it has been rounded outwards."""
    if own.is_integer:
        return np.asarray(int(limit), own.numpy)
    near = own.numpy.type(float(limit))
    if _compared(near, limit) * (-1 if upwards else 1) > 0:
        near = np.nextafter(near, own.numpy.type(0))
    return np.asarray(near)


@dispatchable
def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The same bits as elements of another dtype.

    Wider elements split along a new last dimension; narrower ones join along the last,
    which must have the right length. Raises InvalidArgumentError if it has not.

    https://www.tensorflow.org/api_docs/python/tf/bitcast

    >>> print(tf.bitcast(tf.constant([1.0, 2.0]), tf.int32).numpy())
    [1065353216 1073741824]
    """
    return raw.Bitcast(input, type=type, name=name)


@dispatchable
def real(input: Any, name: str | None = None) -> Tensor:
    """The real parts of complex numbers; real numbers as they are.

    https://www.tensorflow.org/api_docs/python/tf/math/real

    >>> print(tf.math.real([1.0 + 2.0j]).numpy())
    [1.]
    """
    input = convert.to_tensor(input)
    if not input.dtype.is_complex:
        _numeric("real", input)
        return input
    return raw.Real(input, Tout=input.dtype.real_dtype, name=name)


@dispatchable
def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary parts of complex numbers; zeros for real ones.

    https://www.tensorflow.org/api_docs/python/tf/math/imag

    >>> print(tf.math.imag([1.0 + 2.0j]).numpy())
    [2.]
    """
    input = convert.to_tensor(input)
    if not input.dtype.is_complex:
        return raw.ZerosLike(input, name=name)
    return raw.Imag(input, Tout=input.dtype.real_dtype, name=name)


@dispatchable
def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugates; real numbers as they are. Raises TypeError for non-numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/conj

    >>> print(tf.math.conj([1.0 + 2.0j]).numpy())
    [1.-2.j]
    """
    x = convert.to_tensor(x)
    if x.dtype.is_complex or x.dtype is dtypes.variant:
        return raw.Conj(x, name=name)
    _numeric("conj", x)
    return x


def _numeric(what: str, x: Tensor) -> None:
    if not x.dtype.is_numeric:
        wanted = "numeric or variant tensor" if what == "conj" else "numeric tensor"
        raise TypeError(f"Expected {wanted}, got dtype {x.dtype!r}")


@dispatchable
def angle(input: Any, name: str | None = None) -> Tensor:
    """The angles of complex numbers; 0 or pi for real ones.

    https://www.tensorflow.org/api_docs/python/tf/math/angle

    >>> print(tf.math.angle([1.0 + 1.0j, -1.0 + 0.0j]).numpy().round(4))
    [0.7854 3.1416]
    """
    input = convert.to_tensor(input)
    if input.dtype.is_complex:
        return raw.Angle(input, Tout=input.dtype.real_dtype, name=name)
    with door.level().scoped(name or "Angle"):
        negative = raw.Less(input, constant_of(0, input))
        pi = raw.Mul(constant_of(math.pi, input), raw.OnesLike(input))
        return raw.SelectV2(negative, pi, raw.ZerosLike(input))


@dispatchable
def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """Complex numbers of real and imaginary parts: float32 or float64, broadcast.

    Raises TypeError for other dtypes.

    https://www.tensorflow.org/api_docs/python/tf/dtypes/complex

    >>> print(tf.complex([1.0], [2.0]).numpy())
    [1.+2.j]
    """
    real, imag = operators.in_order(real, imag)
    types = (real.dtype, imag.dtype)
    if types == (dtypes.float64, dtypes.float64):
        wanted = dtypes.complex128
    elif types == (dtypes.float32, dtypes.float32):
        wanted = dtypes.complex64
    else:
        raise TypeError(
            "The `real` and `imag` components have incorrect types: "
            f"{real.dtype.name} {imag.dtype.name}. They must be consistent, and one of"
            " [tf.float32, tf.float64]"
        )
    return raw.Complex(real, imag, Tout=wanted, name=name)


__all__ = ["angle", "bitcast", "cast", "complex", "conj", "imag", "real", "saturate_cast"]
