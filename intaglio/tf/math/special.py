"""`tf.math.special`: Bessel functions and integrals without a closed form.

Follows https://www.tensorflow.org/api_docs/python/tf/math/special. All take floating-point
numbers of any shape and are computed in double precision.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor

__all__ = [
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "bessel_j0",
    "bessel_j1",
    "bessel_k0",
    "bessel_k0e",
    "bessel_k1",
    "bessel_k1e",
    "bessel_y0",
    "bessel_y1",
    "dawsn",
    "expint",
    "fresnel_cos",
    "fresnel_sin",
    "spence",
]


@dispatchable
def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind, order 0.

    >>> f"{tf.math.special.bessel_i0(1.5):.4f}"
    '1.6467'

    https://www.tensorflow.org/api_docs/python/tf/math/special/bessel_i0
    """
    with door.level().scoped(name or "bessel_i0"):
        return raw.BesselI0(x)


@dispatchable
def bessel_i0e(x: Any, name: str | None = None) -> Tensor:
    """exp(-|x|) times the modified Bessel function of the first kind, order 0.

    >>> f"{tf.math.special.bessel_i0e(1.5):.4f}"
    '0.3674'

    https://www.tensorflow.org/api_docs/python/tf/math/special/bessel_i0e
    """
    with door.level().scoped(name or "bessel_i0e"):
        return raw.BesselI0e(x)


@dispatchable
def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind, order 1.

    >>> f"{tf.math.special.bessel_i1(1.5):.4f}"
    '0.9817'

    https://www.tensorflow.org/api_docs/python/tf/math/special/bessel_i1
    """
    with door.level().scoped(name or "bessel_i1"):
        return raw.BesselI1(x)


@dispatchable
def bessel_i1e(x: Any, name: str | None = None) -> Tensor:
    """exp(-|x|) times the modified Bessel function of the first kind, order 1.

    >>> f"{tf.math.special.bessel_i1e(1.5):.4f}"
    '0.2190'

    https://www.tensorflow.org/api_docs/python/tf/math/special/bessel_i1e
    """
    with door.level().scoped(name or "bessel_i1e"):
        return raw.BesselI1e(x)


@dispatchable
def bessel_j0(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind, order 0.

    >>> f"{tf.math.special.bessel_j0(1.5):.4f}"
    '0.5118'

    https://www.tensorflow.org/api_docs/python/tf/math/special/bessel_j0
    """
    with door.level().scoped(name or "bessel_j0"):
        return raw.BesselJ0(x)


@dispatchable
def bessel_j1(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind, order 1.

    >>> f"{tf.math.special.bessel_j1(1.5):.4f}"
    '0.5579'

    https://www.tensorflow.org/api_docs/python/tf/math/special/bessel_j1
    """
    with door.level().scoped(name or "bessel_j1"):
        return raw.BesselJ1(x)


@dispatchable
def bessel_k0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind, order 0.

    >>> f"{tf.math.special.bessel_k0(1.5):.4f}"
    '0.2138'

    https://www.tensorflow.org/api_docs/python/tf/math/special/bessel_k0
    """
    with door.level().scoped(name or "bessel_k0"):
        return raw.BesselK0(x)


@dispatchable
def bessel_k0e(x: Any, name: str | None = None) -> Tensor:
    """exp(x) times the modified Bessel function of the second kind, order 0.

    >>> f"{tf.math.special.bessel_k0e(1.5):.4f}"
    '0.9582'

    https://www.tensorflow.org/api_docs/python/tf/math/special/bessel_k0e
    """
    with door.level().scoped(name or "bessel_k0e"):
        return raw.BesselK0e(x)


@dispatchable
def bessel_k1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind, order 1.

    >>> f"{tf.math.special.bessel_k1(1.5):.4f}"
    '0.2774'

    https://www.tensorflow.org/api_docs/python/tf/math/special/bessel_k1
    """
    with door.level().scoped(name or "bessel_k1"):
        return raw.BesselK1(x)


@dispatchable
def bessel_k1e(x: Any, name: str | None = None) -> Tensor:
    """exp(x) times the modified Bessel function of the second kind, order 1.

    >>> f"{tf.math.special.bessel_k1e(1.5):.4f}"
    '1.2432'

    https://www.tensorflow.org/api_docs/python/tf/math/special/bessel_k1e
    """
    with door.level().scoped(name or "bessel_k1e"):
        return raw.BesselK1e(x)


@dispatchable
def bessel_y0(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind, order 0.

    >>> f"{tf.math.special.bessel_y0(1.5):.4f}"
    '0.3824'

    https://www.tensorflow.org/api_docs/python/tf/math/special/bessel_y0
    """
    with door.level().scoped(name or "bessel_y0"):
        return raw.BesselY0(x)


@dispatchable
def bessel_y1(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind, order 1.

    >>> f"{tf.math.special.bessel_y1(1.5):.4f}"
    '-0.4123'

    https://www.tensorflow.org/api_docs/python/tf/math/special/bessel_y1
    """
    with door.level().scoped(name or "bessel_y1"):
        return raw.BesselY1(x)


@dispatchable
def dawsn(x: Any, name: str | None = None) -> Tensor:
    """Dawson's integral: exp(-x^2) times the integral of exp(t^2) from 0 to x.

    >>> f"{tf.math.special.dawsn(1.5):.4f}"
    '0.4282'

    https://www.tensorflow.org/api_docs/python/tf/math/special/dawsn
    """
    with door.level().scoped(name or "dawsn"):
        return raw.Dawsn(x)


@dispatchable
def expint(x: Any, name: str | None = None) -> Tensor:
    """The exponential integral Ei: of exp(t) / t up to x, for x > 0.

    >>> f"{tf.math.special.expint(1.5):.4f}"
    '3.3013'

    https://www.tensorflow.org/api_docs/python/tf/math/special/expint
    """
    with door.level().scoped(name or "expint"):
        return raw.Expint(x)


@dispatchable
def fresnel_cos(x: Any, name: str | None = None) -> Tensor:
    """Fresnel's integral of cos(pi t^2 / 2) from 0 to x.

    >>> f"{tf.math.special.fresnel_cos(1.5):.4f}"
    '0.4453'

    https://www.tensorflow.org/api_docs/python/tf/math/special/fresnel_cos
    """
    with door.level().scoped(name or "fresnel_cos"):
        return raw.FresnelCos(x)


@dispatchable
def fresnel_sin(x: Any, name: str | None = None) -> Tensor:
    """Fresnel's integral of sin(pi t^2 / 2) from 0 to x.

    >>> f"{tf.math.special.fresnel_sin(1.5):.4f}"
    '0.6975'

    https://www.tensorflow.org/api_docs/python/tf/math/special/fresnel_sin
    """
    with door.level().scoped(name or "fresnel_sin"):
        return raw.FresnelSin(x)


@dispatchable
def spence(x: Any, name: str | None = None) -> Tensor:
    """Spence's integral of log(t) / (1 - t) from 1 to x: the dilogarithm of 1 - x.

    >>> f"{tf.math.special.spence(1.5):.4f}"
    '-0.4484'

    https://www.tensorflow.org/api_docs/python/tf/math/special/spence
    """
    with door.level().scoped(name or "spence"):
        return raw.Spence(x)
