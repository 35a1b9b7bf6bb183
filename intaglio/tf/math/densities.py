"""The error function, the gamma function and their relatives.

Follows https://www.tensorflow.org/api_docs/python/tf/math.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def erf(x: Any, name: str | None = None) -> Tensor:
    """The error function, for floating-point numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/erf

    >>> print(tf.math.erf([0.0, 0.5]).numpy().round(4))
    [0.     0.5205]
    """
    return raw.Erf(x, name=name)


@dispatchable
def erfc(x: Any, name: str | None = None) -> Tensor:
    """1 - erf(x), exact where it is small, for floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/erfc

    >>> print(tf.math.erfc([0.0, 0.5]).numpy().round(4))
    [1.     0.4795]
    """
    return raw.Erfc(x, name=name)


@dispatchable
def erfinv(x: Any, name: str | None = None) -> Tensor:
    """The number whose error function is x; NaN outside -1..1.

    https://www.tensorflow.org/api_docs/python/tf/math/erfinv

    >>> print(tf.math.erfinv([0.0, 0.5]).numpy().round(4))
    [0.     0.4769]
    """
    with door.level().scoped(name or "erfinv"):
        return raw.Erfinv(x)


@dispatchable
def lgamma(x: Any, name: str | None = None) -> Tensor:
    """log(|gamma(x)|), for floating-point numbers; infinite at 0, -1, -2, ...

    https://www.tensorflow.org/api_docs/python/tf/math/lgamma

    >>> print(tf.math.lgamma([1.0, 5.0]).numpy().round(4))
    [0.     3.1781]
    """
    return raw.Lgamma(x, name=name)


@dispatchable
def digamma(x: Any, name: str | None = None) -> Tensor:
    """The derivative of lgamma, for floating-point numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/digamma

    >>> print(tf.math.digamma([1.0, 2.0]).numpy().round(4))
    [-0.5772  0.4228]
    """
    return raw.Digamma(x, name=name)


@dispatchable
def polygamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The a-th derivative of digamma at x, for float32 and float64; shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/polygamma

    >>> print(tf.math.polygamma(1.0, [1.0, 2.0]).numpy().round(4))
    [1.6449 0.6449]
    """
    return raw.Polygamma(a, x, name=name)


@dispatchable
def zeta(x: Any, q: Any, name: str | None = None) -> Tensor:
    """The Hurwitz zeta function, for float32 and float64; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/zeta

    >>> print(tf.math.zeta(2.0, [1.0, 2.0]).numpy().round(4))
    [1.6449 0.6449]
    """
    return raw.Zeta(x, q, name=name)
