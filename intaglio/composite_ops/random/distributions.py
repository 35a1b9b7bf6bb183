"""Gamma, Poisson, binomial and truncated normal numbers of `tf.random`.

Follows https://www.tensorflow.org/api_docs/python/tf/random. Gamma and Poisson numbers are
TensorFlow's own for the same seed, and so are binomial ones of mean 10 and more; binomial ones of
smaller means and `stateless_parameterized_truncated_normal` have the same distribution
but not the same numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import as_dtype, float16, float32, float64, int32
from intaglio.composite_ops.random.sampling import shape_tensor
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.runtime import random_state


def _seeds(seed: int | None) -> dict[str, Any]:
    first, second = random_state.op_seeds(seed)
    return {"seed": first, "seed2": second}


def _common_shape(*parameters: Tensor) -> Tensor:
    """The shape that parameters are broadcast to: that of all of them together."""
    whole = raw.Shape(parameters[0])
    for other in parameters[1:]:
        whole = raw.BroadcastArgs(whole, raw.Shape(other))
    return whole


def _scaled(numbers: Tensor, beta: Any) -> Tensor:
    """numbers / beta, but never 0."""
    least = np.asarray(np.finfo(numbers.dtype.numpy).tiny, numbers.dtype.numpy)
    return raw.Maximum(least, raw.RealDiv(numbers, beta))


@dispatchable
def gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`shape` gamma numbers for each pair of `alpha` (shape parameter) and `beta` (inverse scale).

    The result has the shape `shape + broadcast(alpha, beta).shape`; it is differentiable by
    both parameters. `dtype` is float16, float32 or float64.

    >>> tf.random.gamma([10], [0.5, 1.5]).shape
    TensorShape([10, 2])

    https://www.tensorflow.org/api_docs/python/tf/random/gamma
    """
    kind = as_dtype(dtype)
    with door.level().scoped(name or "random_gamma"):
        dims = to_tensor(shape, int32, "shape")
        alpha = to_tensor(alpha, kind, "alpha")
        beta = to_tensor(1 if beta is None else beta, kind, "beta")
        wide = raw.BroadcastTo(alpha, _common_shape(alpha, beta))
        return _scaled(raw.RandomGamma(dims, wide, **_seeds(seed)), beta)


@dispatchable
def poisson(
    shape: Any, lam: Any, dtype: Any = float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """`shape` Poisson numbers for each mean in `lam`.

    >>> tf.random.poisson([10], [0.5, 1.5]).shape
    TensorShape([10, 2])

    https://www.tensorflow.org/api_docs/python/tf/random/poisson
    """
    with door.level().scoped(name or "random_poisson"):
        dims = to_tensor(shape, int32, "shape")
        return raw.RandomPoissonV2(dims, lam, dtype=dtype, **_seeds(seed))


@dispatchable
def stateless_gamma(
    shape: Any,
    seed: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = float32,
    name: str | None = None,
) -> Tensor:
    """Gamma numbers that depend on `seed` (two integers) alone.

    `shape` ends with the shape that `alpha` and `beta` have together.

    >>> tf.random.stateless_gamma([3], seed=[1, 2], alpha=2.).shape
    TensorShape([3])

    https://www.tensorflow.org/api_docs/python/tf/random/stateless_gamma
    """
    kind = as_dtype(dtype)
    with door.level().scoped(name or "stateless_random_gamma"):
        dims = shape_tensor(shape)
        alpha = to_tensor(alpha, kind, "alpha")
        beta = to_tensor(1 if beta is None else beta, kind, "beta")
        wide = raw.BroadcastTo(alpha, _common_shape(alpha, beta))
        key, counter = raw.StatelessRandomGetKeyCounter(seed)
        result = raw.StatelessRandomGammaV3(dims, key, counter, np.int32(1), wide)
        return _scaled(result, beta)


@dispatchable
def stateless_poisson(
    shape: Any, seed: Any, lam: Any, dtype: Any = int32, name: str | None = None
) -> Tensor:
    """Poisson numbers that depend on `seed` alone; `shape` ends with the shape of `lam`.

    >>> tf.random.stateless_poisson([3], seed=[1, 2], lam=4.).shape
    TensorShape([3])

    https://www.tensorflow.org/api_docs/python/tf/random/stateless_poisson
    """
    with door.level().scoped(name or "stateless_random_poisson"):
        dims = shape_tensor(shape)
        return raw.StatelessRandomPoisson(dims, seed, lam, dtype=as_dtype(dtype))


@dispatchable
def stateless_binomial(
    shape: Any,
    seed: Any,
    counts: Any,
    probs: Any,
    output_dtype: Any = int32,
    name: str | None = None,
) -> Tensor:
    """How many of `counts` trials succeed, each with probability `probs`; of `seed` alone.

    `shape` ends with the shape that `counts` and `probs` have together.

    >>> tf.random.stateless_binomial([3], seed=[1, 2], counts=10., probs=1.).numpy()
    array([10, 10, 10], dtype=int32)

    https://www.tensorflow.org/api_docs/python/tf/random/stateless_binomial
    """
    with door.level().scoped(name or "stateless_random_binomial"):
        dims = shape_tensor(shape)
        probs = to_tensor(probs, None, "probs")
        counts = to_tensor(counts, probs.dtype, "counts")
        return raw.StatelessRandomBinomial(dims, seed, counts, probs, dtype=output_dtype)


@dispatchable
def stateless_parameterized_truncated_normal(
    shape: Any,
    seed: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    name: str | None = None,
) -> Tensor:
    """Normals between `minvals` and `maxvals` that depend on `seed` alone.

    The parameters broadcast to `shape`. float16, float32 and float64.

    `means` and `stddevs` are the parameters of the normal distribution.

    https://www.tensorflow.org/api_docs/python/tf/random/stateless_parameterized_truncated_normal

    >>> numbers = tf.random.stateless_parameterized_truncated_normal(
    ...     [50], seed=[1, 2], minvals=0.0, maxvals=1.0
    ... )
    >>> bool(tf.reduce_all((numbers >= 0) & (numbers <= 1)))
    True
    """
    with door.level().scoped(name or "stateless_parameterized_truncated_normal"):
        dims = shape_tensor(shape)
        parameters = [to_tensor(v) for v in (means, stddevs, minvals, maxvals)]
        kinds = [g.dtype for g in parameters]
        kind = next((k for k in (float64, float16) if k in kinds), float32)
        parameters = [g if g.dtype is kind else raw.Cast(g, DstT=kind) for g in parameters]
        return raw.StatelessParameterizedTruncatedNormal(dims, seed, *parameters)
