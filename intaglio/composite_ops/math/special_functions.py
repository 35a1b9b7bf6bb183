"""Special functions composed of several ops.

Follows https://www.tensorflow.org/api_docs/python/tf/math.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.composite_ops.math.constants import constant_of
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def erfcinv(x: Any, name: str | None = None) -> Tensor:
    """The number y for which 1 - erf(y) is x; NaN outside 0..2.

    https://www.tensorflow.org/api_docs/python/tf/math/erfcinv

    >>> print(tf.math.erfcinv([1.0, 0.5]).numpy().round(4))
    [-0.      0.4769]
    """
    with door.level().scoped(name or "erfcinv"):
        x = convert.to_tensor(x)
        quantile = raw.Neg(ndtri(raw.Mul(constant_of(0.5, x), x, name="mul")))
        return raw.Mul(quantile, constant_of(math.sqrt(0.5), x), name="mul")


@dispatchable
def lbeta(x: Any, name: str | None = None) -> Tensor:
    """log(|beta(x)|) over the last dimension, for floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/lbeta

    >>> print(tf.math.lbeta([1.0, 2.0, 3.0]).numpy().round(4))
    -4.0943
    """
    with door.level().scoped(name or "lbeta"):
        x = convert.to_tensor(x)
        last = np.asarray([-1], np.int32)
        return raw.Sub(raw.Sum(raw.Lgamma(x), last), raw.Lgamma(raw.Sum(x, last)), name="sub")


@dispatchable
def ndtri(x: Any, name: str | None = None) -> Tensor:
    """The quantile of the standard normal distribution at probability x.

    https://www.tensorflow.org/api_docs/python/tf/math/ndtri

    >>> print(tf.math.ndtri([0.5, 0.975]).numpy().round(4))
    [0.   1.96]
    """
    with door.level().scoped(name or "ndtri"):
        return raw.Ndtri(x)


__all__ = ["ndtri", "erfcinv", "lbeta"]
