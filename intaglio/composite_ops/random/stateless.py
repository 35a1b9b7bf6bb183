"""Random functions of a seed: the same arguments always give the same numbers.

Follows https://www.tensorflow.org/api_docs/python/tf/random/stateless_uniform and its like.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import DType, as_dtype, float32, int32, int64
from intaglio.composite_ops.random.sampling import (
    STATELESS,
    check_dtype,
    shape_tensor,
    shifted,
    stretched,
)
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.ops.random.algorithm import Algorithm, algorithm


def _keyed(seed: Any, alg: Any) -> tuple[Tensor, Tensor, int]:
    key, counter = raw.StatelessRandomGetKeyCounter(seed)
    number = algorithm(alg)
    return key, counter, 1 if number == Algorithm.AUTO_SELECT.value else number


@dispatchable
def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Numbers in [minval, maxval) that depend on `seed` (two integers) alone.

    Integers with `minval` and `maxval` None cover the dtype's whole range. Raises ValueError
    for a dtype, range or algorithm that does not exist.

    `alg` is the generator: "philox", "threefry" or "auto_select".

    >>> tf.random.stateless_uniform([3], seed=[1, 2]).numpy().round(4)
    array([0.8441, 0.192 , 0.9962], dtype=float32)
    """
    kind = as_dtype(dtype)
    check_dtype(kind, STATELESS)
    if kind.is_integer:
        if (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer `dtype` argument {kind}, argument `minval` and `maxval` must be both "
                f"None or not None. Got `minval`={minval} and `maxval`={maxval}."
            )
        if minval is not None and kind.is_unsigned:
            raise ValueError(
                f"Argument `dtype` got invalid value {kind} when argument `minval` is not None. "
                "Please don't use unsigned integers in this case."
            )
    with door.level().scoped(name or "stateless_random_uniform") as scope:
        dims = shape_tensor(shape)
        if kind.is_integer:
            return _stateless_int(dims, seed, minval, maxval, kind, scope, alg)

        def draw() -> Tensor:
            return raw.StatelessRandomUniformV2(dims, *_keyed(seed, alg), dtype=kind)

        return stretched(draw, minval, 1 if maxval is None else maxval, kind, scope)


def _stateless_int(
    dims: Tensor, seed: Any, minval: Any, maxval: Any, kind: DType, scope: str, alg: Any
) -> Tensor:
    if minval is None:
        keyed = _keyed(seed, alg)
        return raw.StatelessRandomUniformFullIntV2(dims, *keyed, dtype=kind, name=scope)
    low, high = to_tensor(minval, kind, "min"), to_tensor(maxval, kind, "max")
    keyed = _keyed(seed, alg)
    return raw.StatelessRandomUniformIntV2(dims, *keyed, low, high, name=scope)


@dispatchable
def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Normals that depend on `seed` (two integers) alone.

    `mean` and `stddev` are the mean and the standard deviation; `alg` is the
    generator: "philox", "threefry" or "auto_select".

    >>> tf.random.stateless_normal([3], seed=[1, 2]).numpy().round(4)
    array([0.5441, 0.2074, 0.0736], dtype=float32)
    """
    kind = as_dtype(dtype or float32)

    def draw(dims: Tensor) -> Tensor:
        return raw.StatelessRandomNormalV2(dims, *_keyed(seed, alg), dtype=kind)

    return shifted(name or "stateless_random_normal", shape, mean, stddev, kind, draw)


@dispatchable
def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Normals within two standard deviations that depend on `seed` alone.

    `mean` and `stddev` are the mean and the standard deviation before truncation; `alg` is the
    generator: "philox", "threefry" or "auto_select".

    >>> tf.random.stateless_truncated_normal([3], seed=[1, 2]).numpy().round(4)
    array([0.5441, 0.2074, 0.0736], dtype=float32)
    """
    kind = as_dtype(dtype or float32)

    def draw(dims: Tensor) -> Tensor:
        return raw.StatelessTruncatedNormalV2(dims, *_keyed(seed, alg), dtype=kind)

    label = name or "stateless_truncated_normal"
    return shifted(label, shape, mean, stddev, kind, draw)


@dispatchable
def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = int64, name: str | None = None
) -> Tensor:
    """Draws from categorical distributions that depend on `seed` alone; see `categorical`.

    >>> print(
    ...     tf.random.stateless_categorical(
    ...         tf.math.log([[0.5, 0.5]]), 5, seed=[1, 2]
    ...     ).numpy()
    ... )
    [[1 1 0 1 1]]
    """
    kind = as_dtype(dtype or int64)
    check_dtype(kind, (int32, int64))
    with door.level().scoped(name or "stateless_categorical"):
        rows = to_tensor(logits, None, "logits")
        return raw.StatelessMultinomial(rows, num_samples, seed, output_dtype=kind)


@dispatchable
def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> Tensor:
    """`num` new seeds from one: shape [num, 2], of the seed's dtype.

    `alg` is the generator: "philox", "threefry" or "auto_select".

    >>> print(tf.random.split([1, 2], 2).numpy())
    [[1105988140 1738052849]
     [-335576002  370444179]]
    """
    tensor = to_tensor(seed)
    return stateless_uniform(
        [num, 2], tensor, minval=None, maxval=None, dtype=tensor.dtype, alg=alg
    )


@dispatchable
def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Tensor:
    """A new seed from a seed and an integer: shape [2], of the integer's dtype.

    `alg` is the generator: "philox", "threefry" or "auto_select".

    >>> print(tf.random.fold_in([1, 2], 3).numpy())
    [1105988140          3]
    """
    number = to_tensor(data)
    tensor = to_tensor(seed)
    result = stateless_uniform([], tensor, minval=None, maxval=None, dtype=number.dtype, alg=alg)
    return raw.Pack([result, number], axis=0, name="stack")


@dispatchable
def stateless_shuffle(
    value: Any, seed: Any, alg: Any = "auto_select", name: str | None = None
) -> Tensor:
    """The value with its first dimension in an order that depends on `seed` alone.

    `alg` is the generator: "philox", "threefry" or "auto_select".

    >>> print(tf.random.experimental.stateless_shuffle([1, 2, 3, 4], seed=[1, 2]).numpy())
    [1 4 3 2]
    """
    with door.level().scoped(name or "stateless_shuffle"):
        key, counter = raw.StatelessRandomGetKeyCounter(seed)
        return raw.StatelessShuffle(value, key, counter, algorithm(alg))
