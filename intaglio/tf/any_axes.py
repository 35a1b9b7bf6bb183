"""The transforms over any axes at the top level: the ops themselves, all arguments given.

`tf.signal` has the same names with defaults and `norm`.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import complex64, float32
from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def fftnd(input: Any, fft_length: Any, axes: Any, name: str | None = None) -> Tensor:
    """The discrete Fourier transform of a complex tensor over `axes`, cut or padded to `fft_length`.

    https://www.tensorflow.org/api_docs/python/tf/fftnd

    >>> tf.fftnd(tf.ones([2, 2], tf.complex64), [2], [0]).numpy().real
    array([[2., 2.],
           [0., 0.]], dtype=float32)
    """
    return raw.FFTND(input, fft_length, axes, name=name)


@dispatchable
def ifftnd(input: Any, fft_length: Any, axes: Any, name: str | None = None) -> Tensor:
    """The inverse of `fftnd`.

    >>> tf.ifftnd(tf.constant([2, 0], tf.complex64), [2], [0]).numpy().real
    array([1., 1.], dtype=float32)
    """
    return raw.IFFTND(input, fft_length, axes, name=name)


@dispatchable
def rfftnd(
    input: Any, fft_length: Any, axes: Any, Tcomplex: Any = complex64, name: str | None = None
) -> Tensor:
    """The transform of a real tensor: of the last of `axes` only the non-redundant half.

    `Tcomplex` is the dtype of the result.

    >>> tf.rfftnd(tf.ones([4]), [4], [0]).numpy().real
    array([4., 0., 0.], dtype=float32)
    """
    return raw.RFFTND(input, fft_length, axes, Tcomplex=Tcomplex, name=name)


@dispatchable
def irfftnd(
    input: Any, fft_length: Any, axes: Any, Treal: Any = float32, name: str | None = None
) -> Tensor:
    """The inverse of `rfftnd`.

    `Treal` is the dtype of the result.

    >>> tf.irfftnd(tf.constant([4, 0, 0], tf.complex64), [4], [0]).numpy()
    array([1., 1., 1., 1.], dtype=float32)
    """
    return raw.IRFFTND(input, fft_length, axes, Treal=Treal, name=name)


__all__ = ["fftnd", "ifftnd", "irfftnd", "rfftnd"]
